"""K-norm noise of a cube in whole numbers: its law, what it reveals, and what plans make of it.

Statistical tests have an error of the first kind of 1e-6 each, and say their power.
"""

import itertools
import json
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import lownoise as ln
from frequencies import fits, ratio_seen
from lownoise.errors import FileError, PlanError
from lownoise.noise.discrete_cube import DiscreteCubeNoise
from lownoise.noise.discrete_k_norm import DiscreteCrossNoise, has_lattice, lattice_noise
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.sets.bodies import PointDifferences, SymmetricPoints
from refusals import refused_plan, sealed

ROWS = 50


@cache
def law(size, scale, far):
    """All vectors of whole numbers up to `far`, and their chances e^{−max|z|/b}, made 1 in all."""
    z = np.indices((2 * far + 1,) * size).reshape(size, -1).T - far
    chances = np.exp(-np.abs(z).max(axis=1) / scale)
    return z, chances / chances.sum()


LAWS = ((1, 0.7, 40), (2, 0.5, 24), (3, 0.4, 18))


def corners(size):
    return np.array(list(itertools.product([0.0, 1.0], repeat=size)))


def drawn(size, scale, count, seed):
    return DiscreteCubeNoise(size, scale).block(count, SimulationRandomness(seed))


@pytest.mark.parametrize(("size", "scale", "far"), LAWS)
def test_every_vector_has_the_chance_that_is_said(size, scale, far):
    """χ² over all that 40,000 draws are to have 20 of. Power: 8% of the scale is seen."""
    found = drawn(size, scale, 40_000, 3)
    assert fits(found, *law(size, scale, far))
    assert not fits(found, *law(size, scale * 1.08, far))


def test_a_record_that_becomes_another_moves_chances_by_one_step_at_most():
    """In whole numbers, over all vectors of three up to 3, and all pairs of corners."""
    z, _ = law(3, 1.0, 3)
    points = corners(3)
    moves = {tuple(x - y) for x in points for y in points}
    far = {
        own
        for move in moves
        for own in (np.abs(z + move).max(axis=1) - np.abs(z).max(axis=1)).tolist()
    }
    assert far == {-1, 0, 1}
    noise = DiscreteCubeNoise(3, 0.3)
    for body in (PointDifferences(points), SymmetricPoints(points), PointDifferences(points[:3])):
        assert 1 / 0.3 <= noise.loss(body).epsilon <= 1 / 0.3 * (1 + 1e-12)
    assert noise.loss(PointDifferences(points[:1])).epsilon == 0
    # integers that a record moves by two pay twice, whatever they are of
    two = noise.loss(PointDifferences(2 * points)).epsilon
    assert two == pytest.approx(2 / 0.3, rel=1e-12)


@pytest.mark.parametrize(("size", "scale", "far"), LAWS)
def test_spreads_moments_and_how_far_numbers_stray_are_those_of_the_law(size, scale, far):
    z, chances = law(size, scale, far)
    noise = DiscreteCubeNoise(size, scale)
    spread = (z * chances[:, None]).T @ z
    assert np.diag(noise.covariance()) == pytest.approx(spread, rel=1e-6, abs=1e-9)
    for outside in (0.5, 0.05, 1e-3):
        for t in noise.far(outside)[:1]:
            assert float(chances @ (np.abs(z[:, 0]) > t)) <= outside
            assert t == 0 or float(chances @ (np.abs(z[:, 0]) > t - 1)) > outside
    for weights in itertools.product([0, 1, 0.5], repeat=size):
        if any(weights):
            own = z @ weights
            deviation = math.sqrt(chances @ own**2)
            for order in (2.5, 4.0, 6.0):
                true = float(chances @ np.abs(own / deviation) ** order) ** (1 / order)
                assert true <= noise.moment(order) * (1 + 1e-9) <= 2.2 * true


@pytest.mark.parametrize(("size", "scale"), [(2, 0.25), (2, 1.0), (3, 0.5)])
def test_accounts_are_charged_no_less_than_the_law_reveals(size, scale):
    """Rényi divergences of the worst shift, and its trade-off, which ρ and μ are to hold."""
    far = math.ceil(30 * scale)
    z, chances = law(size, scale, far)
    moved = np.abs(z - np.ones(size)).max(axis=1)
    other = chances * np.exp((np.abs(z).max(axis=1) - moved) / scale)
    loss = DiscreteCubeNoise(size, scale).loss(PointDifferences(corners(size)))
    for alpha in (1.05, 1.5, 2.0, 4.0, 16.0):
        own = math.log(float(np.sum(chances**alpha * other ** (1 - alpha)))) / (alpha - 1)
        assert own <= alpha * loss.rho * (1 + 1e-6)
    for epsilon in np.linspace(0, 1 / scale, 7):
        delta = float(np.sum(np.maximum(chances - math.exp(epsilon) * other, 0)))
        mu = loss.mu
        far = norm.cdf(-mu / 2 - epsilon / mu)
        most = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * far
        assert delta <= most + 1e-9
    assert loss.rho < 1 / scale * math.tanh(1 / scale / 2)  # less than any noise that is ε-DP


@cache
def planned(size, epsilon, relation="substitute", mechanism=None, kind=ln.Mean):
    return ln.plan(
        kind([f"c{i}" for i in range(size)], ln.Points(corners(size))),
        budget=ln.pure_dp(epsilon),
        relation=relation,
        size=ROWS if relation == "substitute" else None,
        mechanism=mechanism,
    )


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("size", "epsilon", "most"),
    [(2, 1.0, 0.98), (2, 4.0, 0.61), (3, 4.0, 0.79), (4, 8.0, 0.23), (6, 8.0, 0.67)],
)
def test_columns_of_yes_and_no_have_less_than_with_other_noise(size, epsilon, most):
    plan = planned(size, epsilon)
    assert plan.mechanism == "discrete_k_norm"
    others = [o.error for o in plan.comparison if o.error and o.mechanism != plan.mechanism]
    assert plan.error**2 < most * min(others) ** 2
    assert epsilon * (1 - 1e-9) < plan.cost.epsilon <= epsilon
    z, chances = law(2, 1 / epsilon, 40) if size == 2 else (None, None)
    if size == 2:
        assert (plan.error * ROWS) ** 2 == pytest.approx(float(chances @ np.sum(z**2, axis=1)))
    assert ln.verify(plan.to_json())


def test_released_counts_are_whole_and_intervals_cover(tmp_path):
    """0.0175 is five deviations of a share of 4,000 draws."""
    plan = planned(2, 4.0)
    table = pd.DataFrame(corners(2)[np.arange(ROWS) % 3], columns=["c0", "c1"])
    release = plan.release(table)
    counts = np.asarray(release.estimate) * ROWS
    assert np.allclose(counts, np.rint(counts), rtol=0, atol=1e-9)
    release.save(tmp_path / "release")
    assert ln.verify(tmp_path / "release")
    strays = np.abs(plan.terms.mechanism.simulate(4_000, SimulationRandomness(8)))
    half = plan.terms.proof.half_widths(0.95)
    assert np.all(np.mean(strays <= half + 1e-12, axis=0) >= 0.95 - 0.0175)
    assert np.all(np.mean(strays <= half - 1 / ROWS, axis=0) < 0.95)
    exact = planned(2, 32.0).release(table)  # where a number is not 0 with a chance below 1e-12
    assert np.allclose(exact.estimate, table.mean().to_numpy(), rtol=0, atol=1e-9)


def test_no_more_is_seen_of_neighbours_than_is_claimed():
    """Of means of two columns after 100,000 runs each: from below, 80% of ε at least.

    Power: noise that is fitted to 1.3 times ε shows more than ε.
    """

    def seen(epsilon):
        noise = planned(2, epsilon).terms.mechanism.noise
        one, two = (noise.block(100_000, SimulationRandomness(seed)) for seed in (4, 5))
        two = two + np.array([1, 1])  # a record that says no twice becomes one that says yes
        return ratio_seen(one, two, ((0, 0), (-1, -1), (1, 1), (0, -1)))

    assert 1.5 * 0.8 < seen(1.5) <= 1.5
    assert seen(1.95) > 1.5


def test_units_pay_for_all_of_their_rows_and_larger_budgets_have_an_end():
    question = ln.Sum(["a", "b"], ln.Points(corners(2)))
    unit = {"privacy_unit": "who", "rows_per_unit": 2}
    asked = {"relation": "add_remove", "mechanism": "discrete_k_norm"}
    plan = ln.plan(question, budget=ln.pure_dp(6.0), **asked, **unit)
    one = ln.plan(question, budget=ln.pure_dp(3.0), **asked)
    assert plan.error == pytest.approx(one.error, rel=1e-6)
    assert 6.0 * (1 - 1e-9) < plan.cost.epsilon <= 6.0
    assert planned(3, 64.0).error <= planned(3, 32.0).error
    assert planned(3, 64.0).cost.epsilon <= 32.0


def test_counts_of_queries_of_yes_and_no_have_it_and_other_records_do_not():
    rows = [[0, 1, 0, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 0]]
    queries = ln.Queries(rows, {"x": 5}, outside={"x": 0})
    asked = {"budget": ln.pure_dp(6.0), "relation": "substitute", "size": ROWS}
    plan = ln.plan(queries, **asked)
    assert isinstance(plan.terms.mechanism.noise, DiscreteCubeNoise)
    assert ln.verify(plan.to_json())
    assert has_lattice(PointDifferences(corners(2)))
    assert not has_lattice(PointDifferences(np.vstack([corners(2), [[2.0, 0]]])))
    independent = SymmetricPoints(np.array([[0.0, 1], [1, 1]]))
    assert isinstance(lattice_noise(independent, 0.25), DiscreteCrossNoise)
    with pytest.raises(PlanError, match="columns of yes and no"):
        lattice_noise(PointDifferences(np.vstack([corners(2), [[2.0, 0]]])), 0.25)


def test_forged_files_are_refused_in_one_line():
    for scale, said in ((0.2499, "too small"), (0.0, "above 0"), (1e3, "not from")):
        document = json.loads(planned(2, 4.0).to_json())
        document["terms"]["noise"]["scale"] = scale
        refused_plan(sealed(document), said, error=(FileError, PlanError))
    for size, scale in ((0, 1.0), (2, 0.0), (2, math.inf), (2, 1 / 64)):
        with pytest.raises(PlanError):
            DiscreteCubeNoise(size, scale)
