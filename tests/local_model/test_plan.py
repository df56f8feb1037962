# SPDX-License-Identifier: Apache-2.0
"""A local plan is what it says: within its budget, unbiased, above its bound, and read as written.

The laws run on every domain of `cases.MEMBERS`, on every randomizer that fits it, at small and
large ε, and on one randomizer from outside the package.
"""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from tests.toys.randomizer import ToySigns

import lownoise as ln
from cases import MEMBERS
from lownoise.errors import BudgetError, FileError, LownoiseError, PlanError, TableError
from lownoise.local_model import FULL, RANDOMIZERS, DirectResponse, NearestEncoder, SphereCap
from lownoise.local_model.terms import LocalTerms
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.comparison import Alternative

WIDE = [m for m in MEMBERS if np.any(m.domain.upper > m.domain.lower) and not m.slow]
EPSILONS = (0.1, 1.0, 6.0)
TABLES = {
    "one attribute": ln.Marginals({"city": ["A", "B", "C"]}, way=1, outside="extra"),
    "two": ln.Marginals({"city": 3, "sex": ["F", "M"]}, way=2, outside={"city": 0, "sex": "M"}),
}


def planned(question, epsilon=1.0, **more):
    return ln.local(question, ln.local_dp(epsilon), **more)


def read_again(plan):
    """The plan of a device's document."""
    return ln.LocalPlan.from_json(plan.to_json())


def plans(question, epsilon):
    """One plan for each randomizer that fits the question."""
    own = planned(question, epsilon)
    fitting = [row.mechanism for row in own.comparison if row.error is not None]
    return [planned(question, epsilon, mechanism=name) for name in dict.fromkeys(fitting)]


@pytest.mark.grid(3)
@pytest.mark.parametrize("member", WIDE, ids=lambda m: m.name)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_plan_is_within_its_budget_and_above_its_bound(member, epsilon):
    plan = planned(member.domain, epsilon)
    loss = plan.randomizer.loss
    assert Fraction(loss.epsilon) <= Fraction(str(epsilon))
    assert loss.delta == 0
    assert 0 < plan.lower_bound <= plan.error * (1 + 1e-12)
    errors = [row.error for row in plan.comparison if row.error is not None]
    assert plan.error == errors[0] <= min(errors) * (1 + 1e-8)
    assert {row.mechanism for row in plan.comparison} <= set(RANDOMIZERS.names)


@pytest.mark.grid(3)
@pytest.mark.parametrize("member", WIDE[:6], ids=lambda m: m.name)
@pytest.mark.parametrize("order", [3.0, math.inf])
def test_other_orders(member, order):
    plan = planned(member.domain, order=order)
    assert 0 < plan.lower_bound <= plan.error * (1 + 1e-12)
    assert plan.error >= float(np.max(plan.standard_deviation)) * (1 - 1e-12)


def error_at(plan, encoded, count, seed):
    """The mean of so many reports' estimates of one record, and twice its standard errors."""
    randomness = SimulationRandomness(seed)
    reports = plan.randomizer.reports(np.repeat(encoded, count, axis=0), randomness=randomness)
    sums = plan.randomizer.sums(reports)
    mean = plan.encoder.decode(plan.randomizer.mean(sums, count))
    A, inner = plan.encoder.answers, plan.randomizer.covariance(sums, count)
    own = A[:, None] * inner * A if A.ndim == 1 else A @ inner @ A.T
    return mean, np.sqrt(np.maximum(np.diag(own), 0))


QUESTIONS = {
    "box": ln.Box([-1.0, 0.0], [1.0, 10.0]),
    "ball": ln.Ball(4, 2.0),
    "points": ln.Points([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]]),
}


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_every_randomizer_is_unbiased_on_the_domains_own_records(name, epsilon):
    """20,000 reports of one record, by each randomizer: extreme ones and the center's nearest.

    Of the first kind at most 1e-6 in all: fewer than 200 comparisons, each beyond 6.2 standard
    errors with a chance of 6e-10. A bias of 10 of them is seen with a chance above 0.999.
    """
    domain = QUESTIONS[name]
    eye = np.eye(domain.dimension)
    records = [*domain.extreme(np.vstack([eye, -eye])[:3]), domain.clamp(domain.center)]
    for i, plan in enumerate(plans(domain, epsilon)):
        for j, record in enumerate(records):
            encoded = plan.encoder.encode(np.array([record]))
            mean, deviations = error_at(plan, encoded, 20_000, 100 * i + j)
            grid = 1e-5 * np.max(domain.extent) / FULL
            assert np.all(np.abs(mean - record) <= 6.2 * deviations + grid + 1e-7)
            greatest = plan.standard_deviation / math.sqrt(20_000)
            assert np.all(deviations <= greatest * 1.1)  # of 20,000 squares, far within a tenth


@pytest.mark.grid
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_tables_of_labels(name, epsilon):
    for plan in plans(TABLES[name], epsilon):
        assert Fraction(plan.randomizer.loss.epsilon) <= Fraction(str(epsilon))
        assert 0 < plan.lower_bound <= plan.error * (1 + 1e-12)
        assert plan.verify()
        record = {"city": "A" if name == "one attribute" else 2, "sex": "F"}
        encoded = plan.encoder.encode([record])
        mean, deviations = error_at(plan, encoded, 20_000, 7)
        exact = plan.encoder.decode(np.eye(plan.encoder.dimension)[encoded[0, 0]])
        assert np.all(np.abs(mean - exact) <= 6.2 * deviations + 1e-9)


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", QUESTIONS)
def test_documents(name):
    for plan in plans(QUESTIONS[name], 1.0):
        small, large = plan.to_json(), plan.to_json(proof=True)
        for text in (small, large):
            again = ln.LocalPlan.from_json(text)
            assert again.digest == plan.digest
            assert again.error == plan.error
            assert np.array_equal(again.standard_deviation, plan.standard_deviation)
            assert ln.verify(text)
        assert len(small) < len(large)
        assert ln.LocalPlan.from_json(large).lower_bound == plan.lower_bound
        assert ln.LocalPlan.from_json(small).lower_bound == 0
        assert ln.LocalPlan.from_json(small).to_json() == small


def forged(plan, **changes):
    """The document of the plan with other terms, and a digest that fits them."""
    document = json.loads(plan.to_json(proof=True))
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = document
        for own in parents:
            place = place[own]
        place[last] = value
    from lownoise.release.codec import digest

    document["digest"] = digest(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    "changes",
    [
        {"terms__budget__epsilon": 0.9},
        {"terms__order": 3.0},
        {"terms__weights": [1.0, 2.0]},
        {"terms__encoder__lower": [-3.0, 0.0]},
        {"terms__encoder__columns": ["a", "b"]},
        {"terms__alternatives": [["toy_signs", 0.1, ""]]},
        {"derived__error": 0.1},
        {"derived__epsilon": 0.5},
        {"derived__lower_bound": 99.0},
        {"derived__more": 1},
        {"more": 1},
        {"terms__more": 1},
        {"curator__terms__question__upper": [2.0, 10.0]},
    ],
)
def test_what_a_forger_changes_is_refused(changes):
    plan = planned(QUESTIONS["box"], mechanism="toy_signs")
    assert ln.verify(plan.to_json(proof=True))
    assert not ln.verify(forged(plan, **changes))


AXES = [[1.0, 0], [-1, 0], [0, 1], [0, -1]]
AROUND = np.array([*AXES, [0.9, 0.9], [-0.9, 0.9], [0.9, -0.9], [-0.9, -0.9]])


@pytest.mark.parametrize(
    "smaller",
    [
        lambda own: replace(own, factor=np.ones(2)),  # a disc that leaves four points out
        lambda own: NearestEncoder(columns=own.columns, points=AROUND[:4], missing=own.missing),
    ],
)
def test_an_encoder_that_moves_some_records_is_not_of_the_question(smaller):
    """Its error would be below what the question's records give."""
    plan = planned(ln.Points(AROUND), 3.0, mechanism="cap")
    encoder = smaller(plan.encoder)
    fitting = {"ball": SphereCap, "label": DirectResponse}[encoder.makes]
    own = fitting.fitted(encoder.dimension, 3.0)
    other = replace(plan.terms, encoder=encoder, randomizer=own, alternatives=())
    assert plan.error > other.error > other.lower_bound
    assert ln.verify(plan.to_json(proof=True))
    failed = [
        check.name for check in ln.verify(other.document(proof=True)).checks if not check.holds
    ]
    assert failed == ["proof is of this question"]


def test_an_ellipsoid_that_holds_what_is_furthest_along_the_columns_alone_is_not_of_the_question():
    """The ball of order 4: points between the axes are up to 3^(1/4) from the center."""
    plan = planned(ln.Ball(3, 1.0, 4.0), 3.0, mechanism="cap")
    assert ln.verify(plan.to_json(proof=True))
    smaller = replace(plan.encoder, factor=np.ones(3))
    other = replace(plan.terms, encoder=smaller, alternatives=())
    assert plan.error > other.error > other.lower_bound
    failed = [own.name for own in ln.verify(other.document(proof=True)).checks if not own.holds]
    assert failed == ["proof is of this question"]


@pytest.mark.parametrize(("name", "factor"), [("cap", 1e9), ("cap", 0.1), ("half_space", 1.01)])
def test_a_comparison_that_other_numbers_stand_in_is_refused(name, factor):
    """Else a plan could name a worse randomizer the best."""
    plan = planned(ln.Ball(2), mechanism="k_norm")
    error = planned(ln.Ball(2), mechanism=name).error
    rows = (*plan.comparison, Alternative(name, error * factor, ""))
    failed = ln.verify(replace(plan.terms, alternatives=rows).document(proof=True))
    assert [own.name for own in failed.checks if not own.holds] == ["randomizer as compared"]


def test_a_device_that_keeps_less_than_the_budget_is_refused():
    """The randomizer's own number says more than the budget: neither verified nor used."""
    plan = planned(QUESTIONS["box"], mechanism="toy_signs")
    keep = plan.randomizer.keep
    louder = forged(plan, terms__randomizer__keep=keep + 2.0**-30)
    assert not ln.verify(louder)
    with pytest.raises(PlanError, match=r"^plan reveals more than its budget"):
        ln.LocalPlan.from_json(louder).randomize([0.0, 0.0])


HELD = [m for m in MEMBERS if m.domain.as_image() is not None]


@pytest.mark.grid(0, least=4)
@pytest.mark.parametrize("member", HELD, ids=lambda m: m.name)
def test_the_inscribed_ellipsoid_is_in_the_domain(member):
    """Along the singular vectors of the image, half axes of any weights: 200 points of its rim."""
    domain = member.domain
    image = domain.as_image()
    for weights in (np.ones(domain.dimension), np.linspace(1, 4, domain.dimension)):
        axes = domain.inscribed(weights)
        assert np.all(np.diff(axes) <= 0)
        factor = np.diag(image.factor) if image.factor.ndim == 1 else image.factor
        vectors = np.linalg.svd(weights[:, None] * factor)[0][:, : axes.size]
        if image.factor.ndim == 1:
            vectors = np.eye(domain.dimension)[:, np.argsort(-np.abs(weights * image.factor))]
        rng = np.random.default_rng(3)
        rim = rng.normal(size=(200, axes.size))
        rim /= np.maximum(np.linalg.norm(rim, axis=1, keepdims=True), 1e-300)
        for point in (rim * axes) @ vectors[:, : axes.size].T / weights + domain.center:
            assert domain.contains(point)
    known = image.base.ball_order is not None
    assert (axes.size > 0) == known


@pytest.mark.parametrize(("epsilon", "most"), [(0.5, 1.01), (1.0, 1.02), (2.0, 1.04), (4.0, 1.2)])
def test_on_a_ball_the_plan_is_nearly_the_least_of_all(epsilon, most):
    """The bound is the cap's own error on the sphere: what is left is what the center costs."""
    plan = planned(ln.Ball(10), epsilon)
    assert plan.mechanism == "cap"
    assert 1 <= plan.error / plan.lower_bound <= most


def test_names_of_collections_tell_reports_apart():
    first, second = (planned(ln.Ball(2), name=name) for name in ("2026-10", "2026-11"))
    report = first.randomize([0.1, 0.2])
    with pytest.raises(FileError, match="plan"):
        second.aggregate([report])
    assert first.aggregate([report]).count == 1


def test_weights_are_the_lower_bounds_too():
    plan = planned(ln.Box([0, 0], [1, 1000]), weights=[1.0, 1e-3])
    even = planned(ln.Box([0, 0], [1, 1]))
    assert plan.error == pytest.approx(even.error, rel=1e-6)
    assert plan.lower_bound == pytest.approx(even.lower_bound, rel=1e-6)
    assert planned(ln.Box([0, 0], [1, 1000]), weights="range").error == pytest.approx(
        even.error, rel=1e-6
    )


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (lambda: ln.local_dp(0), BudgetError),
        (lambda: ln.local_dp(math.inf), BudgetError),
        (lambda: ln.local_dp(-1.0), BudgetError),
        (lambda: ln.local_dp(1.0, 1.0), BudgetError),
        (lambda: ln.local_dp("1"), BudgetError),
        (lambda: ln.local(ln.Ball(2), ln.pure_dp(1.0)), BudgetError),
        (lambda: ln.plan(ln.Ball(2), budget=ln.local_dp(1.0), relation="substitute"), BudgetError),
        (lambda: planned(5), PlanError),
        (lambda: planned(ln.Ball(2, 0.0)), PlanError),
        (lambda: planned(ln.Ball(2), mechanism="shout"), PlanError),
        (lambda: planned(ln.Ball(9), mechanism="toy_signs"), PlanError),
        (lambda: planned(ln.Ball(2), mechanism="direct"), PlanError),
        (lambda: planned(ln.Ball(2), order=1.0), PlanError),
        (lambda: planned(ln.Ball(2), weights=[1.0]), PlanError),
        (lambda: planned(ln.Ball(2), name=5), PlanError),
        (lambda: planned(ln.Mean(["a"], ln.Box([0], [1]), missing="drop")), PlanError),
        (lambda: planned(ln.Marginals({"a": 2}, way=1)), PlanError),
        (lambda: planned(ln.Ball(2)).randomize([1.0]), TableError),
        (lambda: planned(ln.Ball(2)).aggregate([]), PlanError),
        (lambda: planned(ln.Ball(2)).aggregate([1]), LownoiseError),
        (lambda: ln.LocalPlan.from_json("{}"), FileError),
        (lambda: planned(ln.Ball(2)).central_equivalent(0), PlanError),
        (lambda: read_again(planned(ln.Ball(2))).central_equivalent(9), PlanError),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(arguments, error):
    with pytest.raises(error) as found:
        arguments()
    assert "\n" not in str(found.value)
    assert len(str(found.value)) < 300


def test_terms_fit_together():
    plan = planned(ln.Ball(2))
    with pytest.raises(FileError):
        replace(plan.terms, randomizer=ToySigns.fitted(3, 1.0))
    with pytest.raises(FileError):
        replace(plan.terms, weights=np.ones(3))
    with pytest.raises(FileError):
        LocalTerms.from_dict({"name": ""})


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_a_device_sends_is_counted(name):
    for plan in plans(QUESTIONS[name], 1.0):
        own = ln.device.read(plan.to_json())
        assert own.digest == plan.digest == ln.device.read(plan.to_json(proof=True)).digest
        assert own.verify() == plan.randomizer.loss
        record = QUESTIONS[name].center
        sent = [own.randomize(record) for _ in range(3)]
        lines = [report.to_json() for report in sent]
        assert plan.aggregate(lines).sums == plan.aggregate(sent).sums


def test_a_table_of_people_is_reported_row_by_row():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"b": rng.uniform(0, 10, 5000), "a": rng.uniform(-1, 1, 5000)})
    plan = planned(ln.Mean(["a", "b"], QUESTIONS["box"]), 4.0)
    tally = plan.tally()
    for block in plan.simulate(table):
        tally.add(block)
    found = tally.result()
    assert found.count == 5000
    exact = table[["a", "b"]].mean().to_numpy()
    # 6.2 deviations: a chance of 1e-9 for two answers; a column taken for the other is 20 away
    assert np.all(np.abs(found.estimate - exact) <= 6.2 * plan.standard_deviation / 5000**0.5)
    with pytest.raises(TableError):
        plan.simulate(table[["a"]])


def test_a_trusted_curator_does_better_with_the_same_people():
    plan = planned(QUESTIONS["box"], weights=[1.0, 0.1])
    found = plan.central_equivalent(10_000)
    assert found.local_error == pytest.approx(plan.error / 100)
    central = ln.plan(
        ln.Mean(["a", "b"], QUESTIONS["box"]),
        budget=ln.pure_dp(1.0),
        relation="substitute",
        size=10_000,
        weights=[1.0, 0.1],
    )
    assert found.central_error == central.error < found.local_error
    again = ln.LocalPlan.from_json(plan.to_json(proof=True))
    assert again.central_equivalent(10_000) == found
