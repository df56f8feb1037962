# SPDX-License-Identifier: Apache-2.0
"""Radial noise: the staircase is least, the proof says so, and it is red where it must be."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta

from lownoise.certificate.radial import RadialProof, _Check
from lownoise.errors import PlanError
from lownoise.numbers.intervals import precision
from lownoise.solvers.radial import RadialFit, Staircase, usual_moment
from lownoise.solvers.radial_fit import fitted, least_profile

BUDGETS = [(3, 1.0, 1e-6), (16, 1.0, 1e-6), (24, 4.0, 1e-9)]

GAP = 1.0005


@pytest.fixture(scope="module", params=BUDGETS, ids=str)
def fit(request: pytest.FixtureRequest) -> RadialFit:
    return least_profile(*request.param)


@pytest.fixture(scope="module")
def one() -> RadialFit:
    return least_profile(16, 1.0, 1e-6)


@pytest.mark.grid(1)
def test_what_none_beats_is_close(fit: RadialFit) -> None:
    lower = fit.lower_bound()
    assert lower < fit.second_moment < GAP * lower
    assert fit.second_moment < usual_moment(fit.dimension, fit.epsilon, fit.delta)


FEW = [(2, 1.0, 1e-9), (2, 4.0, 1e-9), (3, 8.0, 1e-6), (8, 8.0, 1e-9), (16, 8.0, 1e-6)]


@pytest.mark.grid(3)
@pytest.mark.parametrize("asked", FEW, ids=str)
def test_nothing_is_left_where_few_steps_hold_the_mass(asked: tuple[int, float, float]) -> None:
    """Without what shorter changes move, 2 to 90% were."""
    fit = fitted(*asked)
    assert fit.proof is not None
    assert any(fit.proof.transfer)
    lower = fit.lower_bound()
    assert lower < fit.second_moment < 1.002 * lower
    assert not replace(fit.proof, transfer=()).holds()


@pytest.fixture(scope="module")
def few() -> RadialProof:
    found = fitted(3, 4.0, 1e-9).proof
    assert isinstance(found, RadialProof)
    return found


def test_what_is_moved_is_what_the_test_says(few: RadialProof) -> None:
    """Its gains, losses and cost again, by sums over points of the ball from their definition."""
    d, radii, transfer = few.dimension, np.array(few.radii), np.array(few.transfer)
    size = transfer.size

    def t(r: np.ndarray) -> np.ndarray:
        return np.interp(r, radii[:size], transfer, right=0.0)

    grid = np.linspace(0, radii[size - 1], 40_001)
    grid = (grid[1:] + grid[:-1]) / 2
    width = grid[1] - grid[0]
    lost = d * float(np.sum(np.maximum(-t(grid), 0) * grid ** (d - 1))) * width
    rng = np.random.default_rng(5)
    changes = rng.standard_normal((400_000, d))
    changes *= (rng.random(len(changes)) ** (1 / d) / np.linalg.norm(changes, axis=1))[:, None]

    def psi(r: np.ndarray, u: np.ndarray) -> np.ndarray:
        cosines = (r * r + u * u - 1) / (2 * r * u)
        chance = np.where(cosines < -1, 1.0, (1 - np.clip(cosines, -1, 1)) / 2)  # d = 3
        both = np.maximum(t(r), 0) * np.maximum(-t(u), 0)
        return np.where(both > 0, both / np.maximum(chance, 1e-300) / lost, 0.0)

    end = radii[size - 1]
    for r in np.linspace(0.05, 0.95, 7) * end:
        at = np.zeros(d)
        at[0] = r
        there = np.full(len(changes), r)
        gained = psi(there, np.linalg.norm(at - changes, axis=1))
        counted = psi(np.linalg.norm(at + changes, axis=1), there)
        value = gained - math.exp(few.epsilon) * counted
        deviation = value.std() / math.sqrt(value.size)
        assert value.mean() >= t(np.array(r)) - 6 * deviation - 1e-12
        cost = (few.level - few.lower) / few.delta - few.multiplier
        assert max(gained.max(), counted.max()) <= cost * (1 + 1e-6)


@pytest.mark.parametrize("factor", [0.99, 1.01])
@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_moved_and_is_not_had_is_red(few: RadialProof, sign: int, factor: float) -> None:
    transfer = tuple(t * factor if sign * t > 0 else t for t in few.transfer)
    assert not replace(few, transfer=transfer).holds()


@pytest.mark.grid(1)
@pytest.mark.parametrize("asked", [(2, 4.0, 1e-9), (3, 4.0, 1e-9), (16, 1.0, 1e-6)], ids=str)
def test_the_slope_of_what_is_counted_off(asked: tuple[int, float, float]) -> None:
    """By differences of the cap itself, within the lines of a proof."""
    from flint import arb

    proof = least_profile(*asked).proof
    assert isinstance(proof, RadialProof)
    with precision(96):
        check = _Check(proof, math.inf)
        for k in range(0, len(proof.radii) - 1, 7):
            low, high = proof.radii[k], proof.radii[k + 1]
            v, step = (0.6 * low + 0.4 * high), 1e-6 * (high - low)
            caps = [check.caps.cap(check._state(k, arb(x))[2]) for x in (v - step, v + step)]
            slope = (caps[1] - caps[0]) / (arb(v + step) - arb(v - step))
            at = check._counted(k, arb(v), check._state(k, arb(v)))
            assert float(slope) == pytest.approx(float(at), rel=1e-6)
            across = arb(low).union(arb(high))
            wide = check._counted(k, across, check._state(k, across))
            assert not wide.is_finite() or wide.overlaps(at)


def test_moves_of_no_known_cost_bound_nothing(few: RadialProof) -> None:
    """From 0 to radii above 1 no change leads: the cost has no bound."""
    transfer = tuple(1e-9 if r == 0 else t for r, t in zip(few.radii, few.transfer, strict=False))
    assert replace(few, transfer=transfer).lower == -math.inf


def test_the_weights_are_those_of_a_mixture(fit: RadialFit) -> None:
    d = fit.dimension
    assert np.all(np.diff(fit.radii) > 0)
    assert np.all(fit.weights >= 0)
    assert math.isclose(fit.weights.sum(), 1)
    assert math.isclose(fit.second_moment, fit.weights @ fit.radii**2 * d / (d + 2))


def test_the_condition_is_that_of_all_noise(one: RadialFit) -> None:
    """r² + A(r) again, by quadrature over the angle from the definition of A, at many r."""
    proof = one.proof
    assert proof is not None
    angles = (np.arange(20_000) + 0.5) * (math.pi / 20_000)
    nodes, weights = np.cos(angles), np.sin(angles) ** (proof.dimension - 2)
    weights /= weights.sum()

    def psi(r: np.ndarray, u: np.ndarray) -> np.ndarray:
        c = np.interp(r, proof.radii, proof.cosines)
        above = u * u > r * r + 1 - 2 * r * c
        return np.where(above, proof.multiplier, 0.0)

    for r in np.linspace(0.01, 1.1 * proof.radii[-1], 100):
        there = np.full(nodes.size, r)
        nearer, farther = (np.sqrt(r * r + 1 + sign * 2 * r * nodes) for sign in (-1, 1))
        gained, lost = weights @ psi(there, nearer), weights @ psi(farther, there)
        value = r * r + gained - math.exp(proof.epsilon) * lost
        assert value >= proof.level - 0.02 * (r * r + gained)  # the quadrature of a jump


def test_delta_is_that_of_the_definition(one: RadialFit) -> None:
    """δ again, from densities at ‖z‖ and ‖z − s‖, by sums over the two and by draws of z."""
    d, rng = one.dimension, np.random.default_rng(0)
    heights = one.weights / one.radii**d / (one.weights / one.radii**d).max()
    falling = np.append(np.cumsum(heights[::-1])[::-1], 0.0)

    def density(r: np.ndarray) -> np.ndarray:
        return falling[np.searchsorted(one.radii, r)]

    # of importance: an angle that points away from s, so that a law of δ's size is seen
    count = 400_000
    r = one.radii[rng.choice(one.radii.size, count, p=one.weights)] * rng.random(count) ** (1 / d)
    shape = (d - 1) / 2
    drawn = 2 * rng.beta(shape, 7 * shape, count) - 1
    chance = beta(shape, shape).pdf((1 + drawn) / 2) / beta(shape, 7 * shape).pdf((1 + drawn) / 2)
    u = np.sqrt(r * r + 1 - 2 * r * drawn)
    loss = np.maximum(1 - math.exp(one.epsilon) * density(u) / density(r) * (1 - 1e-9), 0)
    loss = np.where(loss < 1e-6, 0.0, loss) * chance  # steps of e^ε are no loss
    deviation = loss.std() / math.sqrt(count)
    assert deviation < 0.03 * one.delta
    assert abs(loss.mean() - one.delta) < 5 * deviation  # 6e-7; δ off by a sixth is seen


@pytest.mark.parametrize("shorter", [0.2, 0.5, 0.9, 0.99])
def test_the_longest_change_is_the_worst(fit: RadialFit, shorter: float) -> None:
    heights = fit.weights * np.exp(-fit.dimension * np.log(fit.radii / fit.radii[-1]))
    logs = np.log(np.cumsum(heights[::-1])[::-1])
    staircase = Staircase(fit.dimension, fit.radii, logs)
    assert math.isclose(staircase.delta(fit.epsilon), fit.delta, rel_tol=1e-6)
    assert staircase.scaled(1 / shorter).delta(fit.epsilon) < fit.delta


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    "broken",
    [
        pytest.param({"level": 1.002}, id="level raised"),
        pytest.param({"multiplier": 1.01}, id="psi scaled"),
        pytest.param({"multiplier": 0.99}, id="multiplier lowered"),
        pytest.param({"epsilon": 1.001}, id="epsilon raised"),
    ],
)
def test_a_proof_that_says_more_than_it_shows_is_red(
    one: RadialFit, broken: dict[str, float]
) -> None:
    assert one.proof is not None
    changed = {name: getattr(one.proof, name) * factor for name, factor in broken.items()}
    assert not replace(one.proof, **changed).holds()


@pytest.mark.parametrize("hole", [5, 30, 60])
def test_a_hole_in_the_range_of_radii_is_red(one: RadialFit, hole: int) -> None:
    assert one.proof is not None
    cosines = list(one.proof.cosines)
    cosines[hole] = -1.0
    assert not replace(one.proof, cosines=tuple(cosines)).holds()


@pytest.mark.parametrize("end", [10, -10])
def test_a_range_of_radii_cut_short_is_red(one: RadialFit, end: int) -> None:
    assert one.proof is not None
    short = replace(one.proof, radii=one.proof.radii[:end], cosines=one.proof.cosines[:end])
    assert not short.holds()


def test_a_thousand_dimensions_stay_within_floats() -> None:
    fit = fitted(1000, 4.0, 1e-9)
    assert 0.95 < fit.second_moment / usual_moment(1000, 4.0, 1e-9) < 1
    assert fit.proof is not None
    assert fit.second_moment < 1.002 * fit.proof.lower


@pytest.mark.parametrize(
    ("wrong", "field"),
    [((0, 1.0, 1e-6), "dimension"), ((16, 0.0, 1e-6), "epsilon"), ((16, 1.0, 0.5), "delta")],
)
def test_what_is_out_of_range_is_named(wrong: tuple[int, float, float], field: str) -> None:
    with pytest.raises(PlanError, match=f"^{field}=.*another mechanism$"):
        least_profile(*wrong)


def test_a_transfer_that_is_none_or_costs_everything_proves_nothing():
    none = RadialProof(2, 1.0, 1e-6, (0.0, 1.0, 2.0), (-1.0,) * 3, 1.0, -10.0, (0.0,))
    assert not none.holds()
    assert none.lower == -math.inf
    endless = (1.0, 0.0, -200.0, 0.0)
    radii = (0.0, 0.2, 1.5, 2.5, 3.0)
    assert RadialProof(2, 1.0, 0.0, radii, (-1.0,) * 5, 1.0, -1e4, endless).lower == -math.inf
