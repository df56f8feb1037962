# SPDX-License-Identifier: Apache-2.0
"""Moments: how far they reach, that noise covers and is near the least, and what follows."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.errors import DomainError, FileError, PlanError, QuestionError, SpecError, TableError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.moments import MomentAnswers
from lownoise.sets.bodies import LiftedOracle, MomentSet, OracleDifferences, SymmetricPoints
from lownoise.sets.bodies.moment_forms import greatest
from lownoise.sets.domains import MomentBox
from lownoise.solvers import solve
from lownoise.spec.files import read_spec

RELATIONS = ("substitute", "add_remove")
BUDGETS = [ln.zcdp(0.5), ln.approx_dp(1.0, 1e-6), ln.pure_dp(1.0)]
BOXES = {
    "one": ([-1.0], [1.0]),
    "two, unlike": ([0.0, -3.0], [10.0, 1e3]),
    "far from 0": ([1e6, 1e6 + 1], [1e6 + 3, 1e6 + 2]),
    "three": ([-1.0, 0.0, 5.0], [1.0, 1e-3, 6.0]),
    "four": (np.zeros(4), np.ones(4)),
}
ROWS = 40
SEED = 20_261_123


def planned(low, high, relation="substitute", budget=None, rows=ROWS, **more):
    names = [f"c{i}" for i in range(len(low))]
    size = rows if relation == "substitute" else None
    question = ln.Moments(names, ln.Box(low, high))
    given = {"budget": budget or ln.zcdp(0.5), "weights": "range", **more}
    return ln.plan(question, relation=relation, size=size, **given)


def rows_of(random, low, high, count):
    """Rows of which many are at the ends, and some beyond."""
    at = random.choice([-0.2, 0.0, 0.37, 0.5, 1.0, 1.2], (count, len(low)))
    own = np.where(random.random((count, len(low))) < 0.5, at, random.random((count, len(low))))
    return np.asarray(low) + own * (np.asarray(high) - np.asarray(low))


def moments_in_plain_numbers(rows, low, high):
    """Means of columns, and of products about the middles, row by row."""
    clipped = np.clip(rows, low, high)
    about = clipped - (np.asarray(low) + np.asarray(high)) / 2
    d = len(low)
    products = [about[:, i] * about[:, j] for i in range(d) for j in range(i, d)]
    return np.append(clipped.mean(axis=0), [np.mean(each) for each in products])


@pytest.mark.grid(3)
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_no_difference_or_moment_reaches_beyond_its_bound(d):
    random = np.random.default_rng(SEED + d)
    low, high = -random.random(d) - 0.1, random.random(d) * 3 + 0.1
    known = MomentSet(low, high)
    first = known.place(random.choice([-1, -0.24, 0, 0.1, 1.0], (4000, d)))
    second = known.place(np.clip(random.uniform(-1.5, 1.5, (4000, d)), -1, 1))
    for trial in range(6):
        n = known.dimension
        # of any kind, of few rows, and along the coordinates, where nothing is lost
        matrix = [random.normal(size=(n, n)), random.normal(size=(2, n)), None][trial % 3]
        if matrix is None:
            matrix = np.diag(random.random(n) + 0.05)
        matrix = matrix / known.scale
        far = known.farthest_pair(matrix)
        apart = np.linalg.norm((first - second) @ matrix.T, axis=1)
        assert np.max(apart) <= math.sqrt(far.upper)
        own = known.place(far.point[:, 0]) - known.place(far.point[:, 1])
        if trial % 3 == 2:
            assert np.max(np.linalg.norm(own @ matrix.T, axis=1)) >= math.sqrt(far.upper) * 0.99999
        about = first[trial]
        alone = known.farthest(matrix, about)
        assert np.max(np.linalg.norm((second - about) @ matrix.T, axis=1)) <= math.sqrt(alone.upper)
        for row in matrix:
            assert np.max((first - about) @ row) <= known.support_up(row, about) + 1e-12
            best = known.place(known.extreme_up(row)) - about
            assert best @ row >= known.support_up(row, about) - 1e-4 * np.sum(
                np.abs(row) * known.scale
            )


def test_the_search_ends_above_the_greatest_value_wherever_it_ends(monkeypatch):
    def value(u):
        return np.sum(np.cos(9 * u + 1), axis=1)

    def bend(middle, half):
        return np.full(middle.shape, 81.0)

    exact = 3.0  # 9u + 1 = 0 within the cube
    found = greatest(value, bend, 3, 3.0)
    assert exact <= found.upper + 1e-12 < exact + 1e-4
    monkeypatch.setattr("lownoise.sets.bodies.moment_forms._MOST_ROUNDS", 5)
    assert greatest(value, bend, 3, 3.0).upper >= exact


@pytest.mark.grid(3)
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_noise_is_within_a_hundredth_of_the_least_where_errors_matter_alike(d):
    """Some differences alone need nearly as much noise, of whatever shape."""
    known = MomentSet(-np.ones(d), np.ones(d))
    n = known.dimension
    own = solve(OracleDifferences(known, np.arange(n), np.ones(n)), order=2.0, weights=np.ones(n))
    ends = [1.0, -1.0, 0.0] if d == 3 else [1.0, -1.0]
    signs = np.array(list(itertools.product(ends, repeat=d)))
    inner = {1: [0.236], 2: [0.057], 3: [0.0, 0.1, 0.2], 4: [0.0, 0.116]}[d]
    inner = [*inner, *(-own for own in inner)]
    inside = np.array(list(itertools.product([1.0, -1.0, *inner], repeat=d)))
    pairs = known.place(np.repeat(signs, len(inside), 0)) - known.place(
        np.tile(inside, (len(signs), 1))
    )
    pairs = np.unique(pairs[np.any(pairs != 0, axis=1)], axis=0)
    some = solve(SymmetricPoints(pairs), order=2.0, weights=np.ones(n), rtol=1e-4)
    assert own.claim.certificate().upper <= 1.01 * some.claim.certificate().lower
    # and what is proved of all noise is true of this one
    assert own.claim.certificate().lower <= own.claim.certificate().upper
    lifted = solve(
        LiftedOracle(known, np.arange(n), np.ones(n), known.center),
        order=2.0,
        weights=np.ones(n + 1),
    )
    assert lifted.claim.certificate().gap < 1e-5


@pytest.mark.grid(1)
@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_weights_and_orders_have_bounds_on_both_sides(d, order):
    known = MomentSet(-np.ones(d), np.ones(d))
    n = known.dimension
    weights = 1.0 + np.arange(n) % 3
    body = OracleDifferences(known, np.arange(n), np.ones(n))
    found = solve(body, order=order, weights=weights).claim
    assert (
        found.certificate().lower <= found.certificate().upper <= 1.003 * found.certificate().lower
    )
    # no other noise is less: neither of other deviations of one coordinate nor of its block
    shape = found.shape
    for factor in (1.02, 0.98):
        for k in range(n):
            rows = np.ones(n)
            rows[k] = factor
            other = body.covering_up(shape.scaled(rows), order, weights)
            assert other >= found.certificate().upper * (1 - 1e-4)


# one or two columns with every budget; of more, Gaussian noise: the others are around its ellipsoid
ASKED = [(n, b) for n in BOXES for b in (BUDGETS if len(BOXES[n][0]) <= 2 else BUDGETS[:1])]


@pytest.mark.grid(0)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("name", "budget"), ASKED, ids=str)
def test_whatever_plans_releases_what_was_asked_and_verifies(name, relation, budget, tmp_path):
    low, high = BOXES[name]
    plan = planned(low, high, relation, budget)
    random = np.random.default_rng(SEED)
    rows = rows_of(random, low, high, ROWS)
    table = pd.DataFrame(rows, columns=plan.terms.question.sources)
    expected = moments_in_plain_numbers(rows, low, high)
    mechanism = plan.terms.mechanism
    exact = mechanism.totals.answers(mechanism.totals.exact(mechanism.read(table)))
    if relation == "add_remove":
        assert exact[-1] == ROWS
        exact = plan.terms.question.center + exact[:-1] / ROWS
    size = MomentSet(np.asarray(low), np.asarray(high)).scale
    assert np.max(np.abs(exact - expected) / size) < 1e-5
    release = plan.release(table)
    assert ln.Release.from_json(release.to_json()).moments.columns == release.moments.columns
    for file in (release.to_json(), plan.to_json()):
        assert ln.verify(file)
    path = tmp_path / "rows.csv"
    table.to_csv(path, index=False)
    assert plan.release(path).terms.names == plan.terms.names


@pytest.mark.grid
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", BOXES)
def test_one_row_moves_the_integers_by_no_more_than_the_noise_covers(name, relation):
    low, high = BOXES[name]
    plan = planned(low, high, relation)
    mechanism = plan.terms.mechanism
    coding = mechanism.totals.query.coding
    random = np.random.default_rng(SEED)
    d = len(low)
    ends = np.array(list(itertools.product([0.0, 1.0], repeat=d)))
    inner = np.array(list(itertools.product([0.0, 0.38, 0.5, 1.0], repeat=d)))
    low, wide = np.asarray(low), np.asarray(high) - np.asarray(low)
    first = coding.encode(np.vstack([low + ends * wide, rows_of(random, low, high, 300)]))
    second = coding.encode(np.vstack([low + inner * wide, rows_of(random, low, high, 300)]))
    if relation == "substitute":
        moved = (first[:, None] - second[None]).reshape(-1, first.shape[1]).astype(float)
    else:
        count = np.full((len(second), 1), int(1 / mechanism.totals.count_step))
        moved = np.hstack([second, count]).astype(float)
    factor = mechanism.noise.shape.dense()
    unit = np.sqrt(np.diag(factor))
    white = np.linalg.inv(np.linalg.cholesky(factor / np.outer(unit, unit)))
    lengths = np.linalg.norm((moved / unit) @ white.T, axis=1)
    allowed = mechanism.loss.mu
    assert np.max(lengths) <= allowed
    # nothing is wasted: some row moves them nearly as far
    assert np.max(lengths) >= 0.99 * allowed


def test_missing_values_text_and_values_outside_count_as_declared():
    question = ln.Moments(["a", "b"], ln.Box([0, 0], [2, 4]), missing=[1.5, 1.0])
    plan = ln.plan(question, budget=ln.zcdp(1e5), relation="substitute", size=3, weights="range")
    table = pd.DataFrame({"a": [None, "x", "7"], "b": ["1", None, "-3"]}, dtype=object)
    found = plan.release(table).moments
    assert np.allclose(found.mean, [(1.5 + 1.5 + 2) / 3, (1 + 1 + 0) / 3], atol=0.02)
    expected = np.cov([[1.5, 1.5, 2], [1, 1, 0]], bias=True)
    assert np.allclose(found.covariance, expected, atol=0.05)
    left_out = ln.Moments(["a"], ln.Box([0], [2]), missing="drop")
    counted = ln.plan(left_out, budget=ln.zcdp(1e5), relation="add_remove", weights="range")
    assert round(counted.release(pd.DataFrame({"a": [1.0, None, 2.0]})).estimate[-1]) == 2


CORRELATED = np.random.default_rng(SEED).normal(size=(4000, 2)) @ [[1.0, 0.6], [0.0, 0.5]]
LOW, HIGH = np.array([-3.0, -3.0]), np.array([5.0, 4.0])


def simulated(relation, budget, draws, columns=CORRELATED):
    """What follows from runs on one table, and what is exact of it."""
    plan = planned(LOW, HIGH, relation, budget, rows=len(columns))
    mechanism = plan.terms.mechanism
    rows = pd.DataFrame(columns, columns=plan.terms.question.sources)
    records = mechanism.read(rows)
    randomness = SimulationRandomness(SEED)
    found = [
        MomentAnswers(plan.terms, mechanism.answers(mechanism.run(records, randomness=randomness)))
        for _ in range(draws)
    ]
    return found, np.clip(columns, LOW, HIGH)


# 2,200 draws: a standard error of a coverage of 0.95 is 0.0047, and 0.025 is 5.3 of them
@pytest.mark.grid(0)
@pytest.mark.parametrize(
    ("relation", "budget"),
    [("substitute", ln.zcdp(0.02)), ("add_remove", ln.zcdp(0.02)), ("substitute", ln.pure_dp(1.0))],
    ids=str,
)
def test_intervals_cover_at_their_level(relation, budget):
    found, rows = simulated(relation, budget, 2200)
    covariance, correlation = np.cov(rows.T, bias=True), np.corrcoef(rows.T)
    slope = covariance[0, 1] / covariance[0, 0]
    inside = np.array(
        [
            [
                *_holds(own.covariance_interval(), covariance)[[0, 0, 1], [0, 1, 1]],
                _holds(own.correlation_interval(), correlation)[0, 1],
                own.coefficients("c1").lower[0] <= slope <= own.coefficients("c1").upper[0],
            ]
            for own in found
        ]
    )
    share = inside.mean(axis=0)
    assert np.all(share >= 0.925)
    if isinstance(budget, type(ln.zcdp(1))):  # others take as many deviations as they may need
        assert np.all(share <= 0.975)


def _holds(interval, value):
    return (interval[..., 0] <= value) & (value <= interval[..., 1])


def test_covariances_are_unbiased_where_the_number_of_rows_is_public():
    small = CORRELATED[:40]
    found, rows = simulated("substitute", ln.zcdp(0.02), 4000, small)
    every = np.array([own.covariance for own in found])
    exact = np.cov(rows.T, bias=True)
    error = every.std(axis=0) / math.sqrt(len(found))
    assert np.all(np.abs(every.mean(axis=0) - exact) <= 6 * error)
    # without what is added again the mean would be off by more than that
    noise = found[0].terms.covariance[0, 0]
    assert noise > 13 * error[0, 0]
    raw = np.array([own.second_moments for own in found])
    off = np.abs(raw.mean(axis=0) - rows.T @ rows / len(rows))
    assert np.all(off <= 6 * raw.std(axis=0) / math.sqrt(len(found)))


def test_negative_variances_and_singular_designs_have_declared_outputs():
    plan = planned([0.0, 0.0], [1.0, 1.0])
    answers = np.array([0.5, 0.5, -0.2, 0.0, 0.1])  # E[(x − ½)²] below 0
    found = MomentAnswers(plan.terms, answers)
    assert found.variance[0] < 0
    assert np.isnan(found.correlation[0]).all()
    assert found.correlation[1, 1] == 1.0
    assert found.correlation_interval()[0, 1].tolist() == [-1.0, 1.0]
    assert found.covariance_interval()[0, 0, 0] == 0.0
    line = found.coefficients("c1")
    assert np.isnan([*line.slopes, line.intercept, *line.lower, *line.upper]).all()
    counted = planned([0.0], [1.0], "add_remove")
    lost = MomentAnswers(counted.terms, np.array([1.0, 1.0, -3.0]))
    assert np.isnan(lost.covariance).all()
    assert lost.correlation_interval()[0, 0].tolist() == [-1.0, 1.0]


def test_least_squares_are_those_of_all_rows():
    random = np.random.default_rng(SEED)
    x = random.random((500, 3))
    x[:, 2] = 0.3 * x[:, 0] - 0.2 * x[:, 1] + 0.5 + 0.1 * x[:, 2]
    plan = planned(np.zeros(3), np.ones(3), budget=ln.zcdp(1e5), rows=500)
    release = plan.release(pd.DataFrame(x, columns=["c0", "c1", "c2"]))
    line = release.moments.coefficients("c2", level=1 - 1e-9)
    design = np.hstack([x[:, :2], np.ones((500, 1))])
    expected = np.linalg.lstsq(design, x[:, 2])[0]
    assert np.allclose([*line.slopes, line.intercept], expected, atol=1e-3)
    assert np.all((line.lower <= expected[:2]) & (expected[:2] <= line.upper))
    one = release.moments.coefficients("c0", on=["c1"])
    assert one.columns == ("c1",)
    table = release.moments.to_pandas()
    assert len(table) == 6
    assert (table["covariance_low"] <= table["covariance"]).all()


def test_a_ledger_names_the_columns_and_not_their_products(tmp_path):
    asked = ln.Moments(["a", "b"], ln.Box([0, 0], [1, 1]))
    plan = ln.plan(asked, budget=ln.zcdp(1), relation="add_remove")
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    plan.release(pd.DataFrame({"a": [0.5], "b": [0.5]}), ledger)
    assert [own.note for own in ledger.entries()] == ["moments of a, b"]


def test_mistakes_have_one_line_and_a_remedy():
    box = ln.Box([0, 0], [1, 1])
    with pytest.raises(QuestionError, match=r"is no box and no .*; give ln\.Box"):
        ln.Moments(["a", "b"], ln.Ball(2, order=3))
    with pytest.raises(QuestionError, match="one name a coordinate"):
        ln.Moments(["a"], box)
    with pytest.raises(QuestionError, match="rename one"):
        ln.Moments(["a", "a·a"], box)
    with pytest.raises(DomainError, match="at most 200"):
        ln.Moments([f"c{i}" for i in range(201)], ln.Box(np.zeros(201), np.ones(201)))
    with pytest.raises(DomainError, match=r"leave columns of one value out"):
        ln.Moments(["a", "b"], ln.Box([0, 1], [1, 1]))
    with pytest.raises(DomainError, match="units of moderate size"):
        ln.Moments(["a"], ln.Box([0], [1e100]))
    with pytest.raises(DomainError, match="subtract a public number"):
        ln.Moments(["x"], ln.Box([1e16], [1e16 + 2]))
    for degree in (1, 3, True, "2"):
        with pytest.raises(QuestionError, match=r"^Moments\.degree=.* is not 2; ln\.Mean has"):
            ln.Moments(["a", "b"], box, degree=degree)
    assert ln.Moments(["a", "b"], box, degree=2).columns == ln.Moments(["a", "b"], box).columns
    plan = planned([0.0, 0.0], [1.0, 1.0])
    with pytest.raises(TableError, match="c1"):
        plan.release(pd.DataFrame({"c0": np.zeros(ROWS)}))
    means = ln.plan(ln.Mean(["a"], ln.Box([0], [1])), budget=ln.zcdp(1), relation="add_remove")
    counts = ln.plan(ln.Count({"a": 2}), budget=ln.zcdp(1), relation="add_remove")
    for other in (means, counts):
        with pytest.raises(PlanError, match=r"moments need ln\.Moments"):
            _ = other.release(pd.DataFrame({"a": [0.0]})).moments
    own = MomentAnswers(plan.terms, np.zeros(5))
    for wrong in ({"target": "x"}, {"target": "c0", "on": ["c0"]}, {"target": "c0", "on": []}):
        with pytest.raises(PlanError, match=r"unknown|no column"):
            own.coefficients(**wrong)
    with pytest.raises(PlanError, match="are not reported by devices"):
        ln.local(ln.Moments(["a", "b"], box), ln.local_dp(1.0))


def test_a_document_reads_back_and_a_box_of_other_bounds_is_another_file():
    plan = planned([0.0, 1.0], [1.0, 3.0])
    again = ln.Plan.from_json(plan.to_json())
    assert again.to_json() == plan.to_json()
    domain = again.terms.question.domain
    assert isinstance(domain, MomentBox)
    assert domain.box.upper.tolist() == [1.0, 3.0]
    fields = json.loads(plan.to_json())
    fields["terms"]["question"]["moments"]["upper"][1] = 3.5
    with pytest.raises(FileError):
        ln.Plan.from_json(json.dumps(fields))


ASKED_IN_TOML = """
[question]
kind = "moments"
relation = "add_remove"
{more}

[question.columns]
a = {{ lower = 0, upper = 2{weight} }}
b = {{ lower = -1, upper = 1, missing = 0.5 }}

[budget]
rho = 0.5
"""


def test_a_specification_asks_for_the_same(tmp_path):
    path = tmp_path / "asked.toml"
    path.write_text(ASKED_IN_TOML.format(more="", weight=", weight = 3"))
    own = read_spec(path).plan()
    question = ln.Moments(["a", "b"], ln.Box([0, -1], [2, 1]), missing=[1.0, 0.5])
    weights = [3.0, 1.0, 9.0, 3.0, 1.0]
    other = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove", weights=weights)
    assert own.to_json() == other.to_json()
    path.write_text(ASKED_IN_TOML.format(more='by = { s = ["f", "m"] }', weight=""))
    grouped = ln.Moments(
        ["a", "b"], ln.Box([0, -1], [2, 1]), missing=[1.0, 0.5], by={"s": ["f", "m"]}
    )
    assert read_spec(path).plan().terms.question.labels() == grouped.labels()
    for more, said in (('points = "x.csv"', "moments"), ("way = 1", "give by")):
        path.write_text(ASKED_IN_TOML.format(more=more, weight=""))
        with pytest.raises(SpecError, match=said):
            read_spec(path)
    path.write_text(ASKED_IN_TOML.format(more="", weight=", center = 1"))
    with pytest.raises(SpecError, match="drop center"):
        read_spec(path)
