"""Means and totals of records of a list have whole noise: what is summed, added and charged.

Statistical tests have an error of the first kind of 1e-6 each, and say their power.
"""

import json
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from frequencies import fits, ratio_seen
from lownoise.errors import FileError, PlanError
from lownoise.noise.discrete_k_norm import DiscreteCrossNoise, has_lattice, lattice_noise
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.sets.bodies import PointDifferences, SymmetricPoints
from refusals import refused_plan, sealed

ROWS = 60
CORNERS = np.array([[0.0, 0, 1], [1, 0, 1], [0, 3, 1]])  # sums of two columns, and the count
LISTS = {
    "categories": np.eye(5),
    "all but one": np.eye(4)[:, :3],
    "yes or no": np.array([[0.0], [1]]),
    "steps of three from a half": np.array([[1.5], [4.5], [10.5]]),
    "corners": np.array([[i, j] for i in (0.0, 1) for j in (0.0, 1)]),
    "a column that follows": np.array([[0.0, 0, 0], *[[1, 0, 0.5]] * 4, [0, 1, 1]]),
    "two columns of one category": np.array([[2.0, 5, 1], [0, 1, 1], [0, 1, 3]]),
}
CELLS = "discrete_k_norm"
RELATIONS = ("substitute", "add_remove")


def names(points):
    return [f"c{i}" for i in range(points.shape[1])]


def asked(points, kind=ln.Mean):
    return kind(names(points), ln.Points(points))


@cache
def planned(name, relation, epsilon=4.0, mechanism=None, kind=ln.Mean):
    return ln.plan(
        asked(LISTS[name], kind),
        budget=ln.pure_dp(epsilon),
        relation=relation,
        size=ROWS if relation == "substitute" else None,
        mechanism=mechanism,
    )


def table_of(points, seed=1):
    chosen = np.random.default_rng(seed).integers(0, len(points), ROWS)
    return pd.DataFrame(points[chosen], columns=names(points))


def test_lists_in_tenths_of_several_columns_are_planned():
    """Their floats are whole multiples of 2^-55 or so: codes on that grid would be too large."""
    points = np.array([[0.0, 0.1], [0.7, 0.3], [-0.4, -0.9]])
    for epsilon in (1.0, 20.0):
        plan = ln.plan(asked(points), budget=ln.pure_dp(epsilon), relation="substitute", size=ROWS)
        assert ln.verify(plan.to_json())


@pytest.mark.grid
@pytest.mark.parametrize("kind", [ln.Mean, ln.Sum])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", LISTS)
def test_where_noise_is_nothing_the_exact_answers_are_released(name, relation, kind):
    """At ε = 900, of 7 steps a record, a number is other than 0 with a chance below 1e-20."""
    points = LISTS[name]
    plan = planned(name, relation, 900.0, "geometric", kind)
    table, release = table_of(points), plan.release(table_of(points))
    exact = table.sum().to_numpy()
    if kind is ln.Mean and relation == "substitute":
        exact = exact / ROWS
    elif kind is ln.Mean:
        exact = np.append(exact - ROWS * plan.terms.question.center, ROWS)
    assert np.allclose(release.estimate, exact, rtol=0, atol=1e-9)
    assert ln.verify(plan.to_json())
    assert ln.verify(release.to_json())


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", ["categories", "all but one", "yes or no"])
def test_means_of_categories_have_the_noise_of_their_counts(name, relation):
    """And less than any other that is compared; yes or no no more than any mechanism at all."""
    plan = planned(name, relation)
    errors = {own.mechanism: own.error for own in plan.comparison if own.error}
    least = min(error for own, error in errors.items() if own != plan.mechanism)
    assert plan.mechanism == ("geometric" if plan.terms.mechanism.length == 1 else CELLS)
    assert plan.error < 0.77 * least
    assert 4.0 * (1 - 1e-9) < plan.cost.epsilon <= 4.0
    if name == "yes or no":
        assert plan.error < 1.08 * plan.lower_bound
    if name == "categories" and relation == "substitute":
        counts = ln.Histogram("c", 5, outside={"c": 0})
        of_counts = ln.plan(counts, budget=ln.pure_dp(4.0), relation=relation, size=ROWS)
        assert plan.error * ROWS == pytest.approx(of_counts.error, rel=1e-9)
    one = plan.release(table_of(LISTS[name]))
    seen = np.asarray(one.estimate) * (ROWS if relation == "substitute" else 1)
    if relation == "add_remove":
        seen = seen[:-1] + seen[-1] * plan.terms.question.center
    assert np.allclose(seen, np.rint(seen), rtol=0, atol=1e-9)


def test_independent_records_have_whole_multiples_of_each_with_the_chances_that_are_said():
    """χ² over the multiples of three vectors. Power: 8% of the scale is seen."""
    found = DiscreteCrossNoise(CORNERS, 0.6).block(40_000, SimulationRandomness(5))
    multiples = found @ np.linalg.inv(CORNERS)
    assert np.allclose(multiples, np.rint(multiples), rtol=0, atol=1e-9)
    z = np.indices((9, 9, 9)).reshape(3, -1).T - 4
    for scale in (0.6, 0.6 * 1.08):
        q = math.exp(-1 / scale)
        chances = np.prod((1 - q) / (1 + q) * q ** np.abs(z), axis=1)
        assert fits(np.rint(multiples).astype(int), z, chances) == (scale == 0.6)


def test_a_record_moves_one_multiple_and_that_is_what_is_charged():
    """Sums of all changes as units make them, too; the law's moments are no greater than said."""
    noise = DiscreteCrossNoise(CORNERS, 0.25)
    for corner in (*CORNERS, *-CORNERS):
        (at,) = np.flatnonzero(np.abs(corner @ np.linalg.inv(CORNERS)) > 1e-9)
        assert abs((corner @ np.linalg.inv(CORNERS))[at]) == pytest.approx(1.0)
    assert 4.0 <= noise.loss(SymmetricPoints(CORNERS)).epsilon <= 4.0 * (1 + 1e-9)
    both = PointDifferences(np.array([CORNERS[0], CORNERS[1]]))  # one goes and another comes
    assert noise.loss(both).epsilon == pytest.approx(8.0, rel=1e-9)
    q, z = math.exp(-4.0), np.arange(-40, 41)
    chances = (1 - q) / (1 + q) * q ** np.abs(z)
    one = float(chances @ z**2)
    assert noise.covariance() == pytest.approx(one * CORNERS.T @ CORNERS, rel=1e-9)
    fourth = float(chances @ z**4) / one**2
    # a sum of two of them, its fourth moment from cumulants, and of one alone, which has the most
    for kurtosis in (fourth, 3 + (fourth - 3) / 2):
        assert kurtosis**0.25 <= noise.moment(4.0) * (1 + 1e-9)


def test_no_more_is_seen_of_a_record_that_comes_than_is_claimed():
    """A yes beside none, after 100,000 runs each: from below, 80% of ε at least.

    Power: noise that is fitted to 1.3 times ε shows more than ε.
    """
    corners = np.array([[0.0, 1], [1, 1]])

    def seen(epsilon):
        noise = DiscreteCrossNoise(corners, 1 / epsilon)
        one, two = (noise.block(100_000, SimulationRandomness(seed)) for seed in (4, 5))
        return ratio_seen(one, two + np.ones(2), ((0, 0), (0, -1)))

    assert 1.5 * 0.8 < seen(1.5) <= 1.5
    assert seen(1.95) > 1.5


def test_units_pay_for_all_of_their_rows_and_several_releases_share():
    question = asked(LISTS["categories"])
    unit = {"privacy_unit": "who", "rows_per_unit": 3}
    plan = ln.plan(question, budget=ln.pure_dp(6.0), relation="add_remove", **unit)
    assert plan.mechanism == "discrete_k_norm"
    assert 6.0 * (1 - 1e-9) < plan.cost.epsilon <= 6.0
    one = ln.plan(question, budget=ln.pure_dp(2.0), relation="add_remove")
    assert plan.error == pytest.approx(one.error, rel=1e-6)
    assert ln.verify(plan.to_json())


@pytest.mark.parametrize("relation", RELATIONS)
def test_intervals_of_means_of_categories_cover(relation):
    """Of 4,000 draws of noise; 0.0175 is five deviations of a share."""
    plan = planned("categories", relation)
    drawn = np.abs(plan.terms.mechanism.simulate(4_000, SimulationRandomness(8)))
    for half, own in ((plan.terms.proof.half_widths(0.95), drawn),):
        assert np.all(np.mean(own <= half + 1e-12, axis=0) >= 0.95 - 0.0175)


def test_lists_without_such_steps_have_none():
    """Differences that floats do not hold, steps without end, and ranges that are no lists."""
    tenths = ln.Mean(["x"], ln.Points([[0.1], [0.4]]))
    odd = ln.Mean(["x", "y"], ln.Points([[0.0, 0], [math.pi, 1], [math.e, 2]]))
    for question in (tenths, odd, ln.Mean(["x"], ln.Box([0], [1]))):
        plan = ln.plan(question, budget=ln.pure_dp(4.0), relation="substitute", size=ROWS)
        made = {own.mechanism for own in plan.comparison}
        assert not made & {CELLS, "discrete_staircase", *(["geometric"] * (question is not odd))}
    assert not has_lattice(SymmetricPoints(np.array([[0.0, 1], [1, 1], [2, 1]])))
    with pytest.raises(PlanError, match="independent vectors"):
        lattice_noise(SymmetricPoints(np.array([[0.5, 1], [1, 1]])), 0.25)
    with pytest.raises(PlanError, match="counts of the cells"):
        planned("a column that follows", "substitute", 4.0, "discrete_k_norm")


def test_forged_files_are_refused_in_one_line():
    def forged(plan, **changed):
        document = json.loads(plan.to_json())
        noise = document["terms"]["noise"]
        for name, value in changed.items():
            noise.pop(name, None)
            if value is not None:
                noise[name] = value
        return sealed(document)

    both, private = planned("categories", "substitute"), planned("categories", "add_remove")
    threes = planned("steps of three from a half", "substitute", 4.0, "geometric")
    box = ln.Mean(["x"], ln.Box([0], [1]))
    other = ln.plan(box, budget=ln.pure_dp(4.0), relation="substitute", size=ROWS)
    follows = planned("a column that follows", "substitute", 4.0, "geometric")
    for document, said in (
        (forged(both, about="domain"), "noise.about is for sums"),
        (forged(other, about="start"), "noise.about"),
        (forged(both, about="middle"), "noise.about"),
        (forged(both, scale=both.terms.mechanism.noise.scale * 0.999), "too small"),
        (forged(private, scale=private.terms.mechanism.noise.scale * 0.999), "too small"),
        (forged(both, step=[0.5] * 4), "it is for the cells of one table"),
        (forged(threes, step=[1.5]), "steps? are not|powers of two"),
        (forged(threes, step=[0.0]), "powers of two"),
        (forged(threes, step=[1.0]), "too small"),
    ):
        refused_plan(document, said, error=(FileError, PlanError))
    document = json.loads(follows.to_json())
    document["terms"]["mechanism"] = "discrete_k_norm"
    document["terms"]["compared"] = [
        {**own, "mechanism": "discrete_k_norm"} for own in document["terms"]["compared"]
    ]
    document["terms"]["noise"].pop("scales")
    document["terms"]["noise"]["scale"] = 0.5
    refused_plan(sealed(document), "counts of a table", error=(FileError, PlanError))


def test_a_float32_list_is_of_the_decimals_that_it_prints():
    """As floats, 0.1 in float32 is 0.10000000149, and no grid of steps in common is in reach."""
    points = np.float32([[0.1], [0.2]])
    given = ln.Points(points)
    assert given.points.tolist() == [[0.1], [0.2]]
    assert not given.points.flags.writeable
    asked = {"budget": ln.pure_dp(4.0), "relation": "add_remove", "mechanism": "geometric"}
    plan = ln.plan(ln.Sum(["x"], given), **asked)
    totals = plan.terms.mechanism.totals
    rows = pd.DataFrame(points[[0, 1, 1, 0]], columns=["x"])  # of float32, too
    integers = totals.exact(totals.read(rows))
    assert [int(k) for k in integers] == [6]
    assert np.allclose(totals.answers(integers), 0.6, rtol=1e-14)
    with pytest.raises(ln.errors.DomainError, match="is not finite"):
        ln.Points(np.float32([[np.nan]]))
