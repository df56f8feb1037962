# SPDX-License-Identifier: Apache-2.0
"""Radial noise: the staircase is least, the proof says so, and it is red where it must be."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta

from lownoise.errors import PlanError
from lownoise.solvers.radial import Staircase
from lownoise.solvers.radial_fit import RadialFit, fitted, least_profile, usual_moment

BUDGETS = [(3, 1.0, 1e-6), (16, 1.0, 1e-6), (24, 4.0, 1e-9)]

GAPS = {3: 1.008, 16: 1.001, 24: 1.001}


@pytest.fixture(scope="module", params=BUDGETS, ids=str)
def fit(request: pytest.FixtureRequest) -> RadialFit:
    return least_profile(*request.param)


@pytest.fixture(scope="module")
def one() -> RadialFit:
    return least_profile(16, 1.0, 1e-6)


def test_what_none_beats_is_close(fit: RadialFit) -> None:
    lower = fit.lower_bound()
    assert lower < fit.second_moment < GAPS[fit.dimension] * lower
    assert fit.second_moment < usual_moment(fit.dimension, fit.epsilon, fit.delta)


def test_a_bound_is_stated_in_the_plane() -> None:
    """Where the density of a cosine has no bound; 12.4% below what is had."""
    fit = least_profile(2, 2.0, 1e-6)
    assert fit.second_moment / 1.13 < fit.lower_bound() < fit.second_moment


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
        return np.where(above & (r <= proof.radii[-1]), proof.multiplier, 0.0)

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


@pytest.mark.parametrize("hole", [5, 150, -5])
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
