# SPDX-License-Identifier: Apache-2.0
"""Releases of records that are one of a list of points: covered exactly, flat where they are."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lownoise as ln
from exact_norms import coded_changes, square
from lownoise.engines import Totals
from lownoise.errors import FileError, PlanError, QuestionError
from lownoise.noise.gaussian import gaussian_mean
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.sensitivity.factors import DenseShape

RNG = np.random.default_rng(7)
LISTS = {
    "one-hot": np.eye(4),
    "pair": [[0.0], [1.0]],
    "one point": [[3.0, 4.0]],
    "scales": RNG.standard_normal((12, 3)) * [1e-12, 1.0, 1e12],
    "flat and far": 1e6 + RNG.standard_normal((9, 2)) @ RNG.standard_normal((2, 4)),
    "thin": (RNG.standard_normal((15, 3)) * [1, 1, 1e-7]) @ np.linalg.qr(np.eye(3) + 0.3)[0],
    "copies": np.repeat(RNG.standard_normal((5, 2)), 20, axis=0),
}
RELATIONS = ("substitute", "add_remove")


def question(points):
    domain = ln.Points(points) if isinstance(points, (list, np.ndarray)) else points
    return ln.Mean([f"c{i}" for i in range(domain.dimension)], domain)


def planned(points, relation, order=2.0, **extra):
    size = 50 if relation == "substitute" else None
    return ln.plan(
        question(points), budget=ln.zcdp(0.5), relation=relation, size=size, order=order, **extra
    )


def exact_square(mechanism):
    """max sᵀ(LLᵀ)⁻¹s over every change of the integers, in exact fractions."""
    codes = np.unique(mechanism.totals.query.coding.codes, axis=0)
    return square(mechanism.noise.shape.factor, coded_changes(mechanism, codes))


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", LISTS)
def test_what_is_revealed_is_covered_exactly_and_within_the_budget(name, relation, order):
    plan = planned(LISTS[name], relation, order)
    mechanism = plan.terms.mechanism
    square = exact_square(mechanism)
    assert square <= Fraction(mechanism.loss.mu) ** 2
    assert mechanism.loss.mu <= 1.0
    if square:
        assert float(square) >= 1 - 1e-5
    assert plan.certificate.gap < 2e-6
    assert plan.verify()


@given(st.floats(0.01, 100), st.integers(0, 10**6), st.sampled_from(RELATIONS))
def test_a_wrong_optimiser_costs_accuracy_never_privacy(parameter, seed, relation):
    """Any shape at all is enlarged until the recomputed radius is within the budget."""
    asked = question(LISTS["copies"])
    d = 2 if relation == "substitute" else 3
    wrong = np.tril(np.random.default_rng(seed).standard_normal((d, d))) + np.eye(d) * 3
    size = 10 if relation == "substitute" else None
    mechanism = gaussian_mean(
        asked, relation, size, DenseShape(wrong), parameter, asked.domain.coordinates()
    )
    assert exact_square(mechanism) <= Fraction(parameter) ** 2


def test_a_singular_shape_is_refused():
    asked = question(LISTS["copies"])
    with pytest.raises(PlanError, match="leaves a direction"):
        gaussian_mean(
            asked, "substitute", 10, DenseShape([[1.0, 0.0], [1.0, 0.0]]), 1.0,
            asked.domain.coordinates(),
        )  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_every_record_has_the_code_of_a_listed_point(name):
    """Whatever a row holds, and wherever it stands: its integers are those of one listed point."""
    coding = planned(LISTS[name], "substitute").terms.mechanism.totals.query.coding
    d = len(coding.columns)
    nasty = [0.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 2.0**-1074, 0.3, -7.0]
    rows = np.array(list(itertools.islice(itertools.product(nasty, repeat=d), 3000)))
    codes = coding.encode(rows)
    listed = {tuple(c) for c in coding.codes.tolist()}
    assert {tuple(c) for c in codes.tolist()} <= listed
    # one row at a time, or in another order: the same codes
    order = np.random.default_rng(1).permutation(len(rows))
    assert np.array_equal(coding.encode(rows[order]), codes[order])
    for i in order[:50]:
        assert np.array_equal(coding.encode(rows[i]), codes[i])
    points = coding.domain.points
    assert np.array_equal(coding.encode(points), coding.codes[coding.domain.nearest(points)])
    assert np.array_equal(points[coding.domain.nearest(points)], points)


def test_equally_near_points_give_one_of_them_always():
    domain = ln.Points([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    first = domain.nearest(np.array([[0.5, 0.5]]))[0]
    for count in (1, 7, 1000):
        assert np.all(domain.nearest(np.full((count, 2), 0.5)) == first)


@pytest.mark.grid(1)
@pytest.mark.parametrize("relation", RELATIONS)
def test_answers_are_unbiased_with_the_covariance_that_the_plan_states(relation):
    """20,000 draws; each check rejects the truth with chance below 1e-9 (6 standard errors) and a
    bias of 0.06 deviations or a covariance 10% off with chance above 0.999."""
    plan = planned(LISTS["one-hot"], relation)
    mechanism, n = plan.terms.mechanism, 50
    records = np.eye(4)[np.random.default_rng(3).integers(0, 4, n)]
    codes = mechanism.totals.query.coding.encode(records)
    totals = Totals(n, tuple(sum(column) for column in codes.T.tolist()))
    randomness = SimulationRandomness(11)
    draws = np.array(
        [mechanism.answers(mechanism.run(totals, randomness=randomness)) for _ in range(20_000)]
    )
    truth = records.mean(axis=0)
    if relation == "add_remove":
        truth = np.append((records - plan.terms.question.center).sum(axis=0), n)
    deviation = plan.standard_deviation
    assert np.all(np.abs(draws.mean(axis=0) - truth) <= 6 * deviation / math.sqrt(len(draws)))
    found = np.cov(draws.T) / np.outer(deviation, deviation)
    stated = plan.covariance / np.outer(deviation, deviation)
    assert np.all(np.abs(found - stated) <= 6 * math.sqrt(2 / len(draws)))


def test_noise_never_leaves_the_flat():
    """One-hot rows add up to 1, and so do the private means of every release."""
    plan = planned(LISTS["one-hot"], "substitute")
    assert plan.terms.mechanism.noise.dimension == 3
    table = pd.DataFrame(np.eye(4)[np.arange(50) % 4], columns=[f"c{i}" for i in range(4)])
    for _ in range(20):
        assert abs(plan.release(table).estimate.sum() - 1) < 1e-12


def test_a_single_point_needs_no_noise_and_says_why():
    plan = planned(LISTS["one point"], "substitute")
    table = pd.DataFrame({"c0": np.zeros(50), "c1": np.ones(50)})
    assert plan.release(table).estimate.tolist() == [3.0, 4.0]
    assert plan.cost.mu == plan.error == plan.objective == plan.certificate.upper == 0
    assert any("one point" in line for line in plan.terms.assumptions)


@pytest.mark.grid
@pytest.mark.parametrize("order", [2.0, 4.0, math.inf])
@pytest.mark.parametrize("name", [n for n in LISTS if n != "one point"])
def test_the_noise_is_that_of_the_difference_body(name, order):
    domain = ln.Points(LISTS[name])
    plan = planned(LISTS[name], "substitute", order)
    least = ln.theory.enclose(ln.difference_body(domain), order=order).certificate
    assert least.lower * (1 - 1e-9) <= 50 * plan.objective <= least.upper * (1 + 1e-5)
    twice = 2 * ln.theory.enclose(domain, order=order).certificate.upper
    assert 50 * plan.objective <= twice * (1 + 1e-5)


@pytest.mark.grid(3)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", LISTS)
def test_plans_and_releases_survive_their_files(name, relation):
    plan = planned(LISTS[name], relation)
    again = ln.Plan.from_json(plan.to_json())
    assert again.to_json() == plan.to_json()
    domain = plan.terms.question.domain
    table = pd.DataFrame(
        domain.points[np.arange(50) % len(domain.points)], columns=plan.terms.question.columns
    )
    release = plan.release(table)
    read = ln.Release.from_json(release.to_json())
    assert np.array_equal(read.estimate, release.estimate)
    assert ln.verify(release.to_json())
    assert read.region().contains(read.estimate)


def test_a_file_with_less_noise_or_another_flat_is_refused():
    text = planned(LISTS["one-hot"], "substitute").to_json()
    for change in (
        lambda t: t["noise"]["factor"][0].__setitem__(0, t["noise"]["factor"][0][0] * 0.9),
        lambda t: t["noise"]["embed"][0].__setitem__(0, 0.9),
        lambda t: t["noise"].__setitem__("pivots", [0, 1, 9]),
        lambda t: t["noise"].__setitem__("pivots", [[0, 1, 2]]),
        lambda t: t["noise"].__setitem__("pivots", [0, 1, 2**64 - 1]),
        lambda t: t["question"]["points"][0].__setitem__(0, 2.0),
    ):
        document = json.loads(text)
        change(document["terms"])
        with pytest.raises(FileError):
            ln.Plan.from_json(json.dumps(document))


@pytest.mark.parametrize("domain", [ln.Box([0] * 3, [1, 2, 3]), ln.Points(np.eye(3)), ln.Ball(3)])
def test_coordinates_of_a_file_must_be_of_the_domain(domain):
    document = json.loads(planned(domain, "substitute").to_json())
    whole = np.eye(3)
    for pivots, embed in [
        ([0, 1, 2], whole[:2]),
        ([0, 1, 2], whole[:, :2]),
        ([0, 1], whole),
        ([0, 1], whole[:2, :2]),
        ([0, 1, 2], 2 * whole),
        *([([0, 1, 2], whole)] if isinstance(domain, ln.Box) else []),
    ]:
        document["terms"]["noise"] |= {"pivots": pivots, "embed": np.asarray(embed).tolist()}
        with pytest.raises(FileError, match=r"noise.pivots and noise.embed do not describe"):
            ln.Plan.from_json(json.dumps(document))


def test_points_of_one_code_are_counted_once():
    """What one record can change is the set of codes, however often the list repeats one."""
    rows = np.random.default_rng(5).normal(size=(4, 2))
    once = planned(rows, "substitute")
    often = planned(np.tile(rows, (3000, 1)), "substitute")
    assert len(often.terms.mechanism.totals.changes.points) == len(rows)
    assert often.certificate.upper == pytest.approx(once.certificate.upper, rel=1e-6)


def test_an_interrupted_search_is_as_private_and_says_so():
    seen = []

    def stop(progress):
        seen.append(progress)
        if len(seen) == 2:
            raise KeyboardInterrupt

    plan = planned(LISTS["scales"], "substitute", progress=stop)
    assert plan.status.startswith("interrupted")
    assert exact_square(plan.terms.mechanism) <= 1
    assert plan.verify()
    assert plan.certificate.gap > 1e-4


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: ln.Mean(["a"], ln.Points([[0.0, 1.0]])), "2 coordinates"),
        (lambda: ln.Mean(["a"], ln.Points([[0.0], [1.0]]), missing=[0.5]), "not a point of"),
        (lambda: ln.Mean(["a"], ln.Points([[0.0], [1.0]]), center=[2.0]), "outside"),
        (lambda: ln.Mean(["a"], ln.difference_body(ln.Points([[0.0]]))), "no domain of records"),
    ],
)  # fmt: skip
def test_questions_that_do_not_fit_are_refused_in_one_line(build, words):
    with pytest.raises(QuestionError, match=words) as refused:
        build()
    assert "\n" not in str(refused.value)


@pytest.mark.grid(3)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", LISTS)
def test_exact_totals_give_exact_answers_about_any_center(name, relation):
    """Without noise the answers are the truth, also where the center is off the flat."""
    domain = ln.Points(LISTS[name])
    center = domain.lower + 0.3 * (domain.upper - domain.lower)
    columns = [f"c{i}" for i in range(domain.dimension)]
    size = 50 if relation == "substitute" else None
    plan = ln.plan(
        ln.Mean(columns, domain, center=center), budget=ln.zcdp(0.5), relation=relation, size=size
    )
    mechanism = plan.terms.mechanism
    records = domain.points[np.random.default_rng(5).integers(0, len(domain.points), 50)]
    codes = mechanism.totals.query.coding.encode(records)
    exact = tuple(sum(column) for column in codes.T.tolist())
    truth = records.mean(axis=0)
    if relation == "add_remove":
        exact = (*exact, 50 * int(1 / mechanism.totals.count_step))
        truth = np.append((records - center).sum(axis=0), 50)
    off = np.abs(mechanism.answers(exact) - truth)
    width = np.append(domain.upper - domain.lower, 1.0)[: truth.size]
    assert np.all(off <= 1e-9 * (plan.standard_deviation + 50 * width))
