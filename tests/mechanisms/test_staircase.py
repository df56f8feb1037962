# SPDX-License-Identifier: Apache-2.0
"""Staircase noise: what it states of itself, its law, and what is refused.

Seeds are fixed; each statistical test fails with chance below 1e-6 where the code is right, and
says what it would see. Mutants, each seen red: points drawn with steps a tenth narrower, one by
one, in floats and in balls; γ half as large there; steps rounded down or a second one free; the
total variation halved; (E r)² for E r².
"""

import math

import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import beta, chi2
from scipy.stats import norm as normal

from lownoise.errors import PlanError
from lownoise.noise import KNormNoise, StaircaseNoise
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.privacy.radial_curve import variation_up
from lownoise.samplers.steps import StepRadius
from lownoise.sets.bodies import SymmetricBox
from lownoise.sets.norms import ImageNorm
from lownoise.sets.unit_balls import NormBall

ERROR = 1e-6
NORMS = {"box": math.inf, "ball": 2.0, "cross-polytope": 1.0, "a ball of order 3": 3.0}


def noise(d=1, epsilon=1.0, scale=1.0, order=2.0, first=0.4):
    return StaircaseNoise(ImageNorm(np.ones(d), NormBall(d, order)), scale, epsilon, first)


def heights(own, norms):
    """ln f at points of these norms, up to a constant: −ε for each step that is passed."""
    return -own.epsilon * np.ceil(norms / own.scale - own.first).clip(min=0)


def norm(own, points):
    return np.linalg.norm(points, axis=1, ord=own.gauge.base.ball_order)


def cells(own, most):
    """P(round(z) = n) of one number, |n| ≤ most: integrals of f in closed form."""
    radii, chances = StepRadius(1, own.epsilon, own.first).law()
    ends = np.arange(-most, most + 2) - 0.5
    below = np.clip(ends[:, None] / (own.scale * radii), -1, 1) @ chances
    return np.diff((1 + below) / 2)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_no_change_of_integers_up_to_a_step_moves_a_chance_by_more_than_epsilon(epsilon):
    """All integers of one number, enumerated; a change of 8 moves some by ε, one of 9 by more."""
    p = cells(noise(epsilon=epsilon, scale=8.0), 26)
    found = [float(np.max(np.abs(np.log(p[s:] / p[:-s])))) for s in range(1, 10)]
    assert max(found[:8]) <= epsilon * (1 + 1e-9)
    assert found[7] == pytest.approx(epsilon)
    assert found[8] > epsilon * 1.01
    own = noise(epsilon=epsilon, scale=8.0)
    claims = [own.loss(SymmetricBox(np.array([float(s)]))).epsilon for s in (1, 8, 9, 16, 17)]
    assert claims == pytest.approx([epsilon, epsilon, 2 * epsilon, 2 * epsilon, 3 * epsilon])
    assert own.loss(SymmetricBox(np.zeros(1))).epsilon == 0


@pytest.mark.parametrize("name", NORMS)
def test_densities_are_within_e_to_the_epsilon_on_all_of_a_grid(name):
    own = noise(d=2, epsilon=2.0, scale=4.0, order=NORMS[name])
    grid = np.stack(np.meshgrid(np.arange(-14, 15), np.arange(-14, 15)), axis=-1).reshape(-1, 2)
    shifts = grid[norm(own, grid) <= 4.0]
    at = heights(own, norm(own, grid))
    most = max(np.max(np.abs(at - heights(own, norm(own, grid - s)))) for s in shifts)
    assert most == own.loss(SymmetricBox(np.array([1.0, 1.0]))).epsilon == 2.0


def seen(own, drawn, shift, least=1e-9):
    """A lower bound on ε from draws, but with chance 1e-6: of where ln f falls by more."""

    def count(points):
        ahead = heights(own, norm(own, points)) > heights(own, norm(own, points - shift)) + least
        return int(ahead.sum())

    n, (p, q) = len(drawn), (count(drawn), count(drawn + shift))
    return math.log(beta.ppf(ERROR / 2, p, n - p + 1) / beta.ppf(1 - ERROR / 2, q + 1, n - q))


@pytest.mark.parametrize("name", ["box", "ball", "cross-polytope"])
def test_no_more_is_seen_than_is_claimed_and_hardly_less(name):
    """Of 100,000 draws 90% of ε are seen; of noise of 95% of its size more than all of it."""
    own = noise(d=2, epsilon=2.0, order=NORMS[name], first=0.59)
    drawn = own.simulate(100_000, SimulationRandomness(3))
    way = np.array([0.6, 0.8])
    way = way / norm(own, way[None])[0]
    assert 0.9 * own.epsilon < seen(own, drawn, way) <= own.epsilon
    narrow = noise(d=2, epsilon=2.0, scale=0.95, order=NORMS[name], first=0.59)
    assert seen(narrow, 0.95 * drawn, way, 1.5 * own.epsilon) > own.epsilon


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", NORMS)
def test_integers_have_the_law_of_the_staircase(name):
    """χ² over shells of equal chance of ‖z‖, 6 of them: 4% of length is seen of 2,000 draws."""
    own = noise(d=2, epsilon=2.0, scale=2.0**24, order=NORMS[name], first=0.59)
    drawn = np.array(own.many(2000, SimulationRandomness(5)), dtype=float)
    length = norm(own, drawn / 2.0**24)
    radii, chances = own.steps.law()

    def shells(lengths):
        inside = np.minimum(lengths[:, None] / radii, 1.0) ** 2 @ chances
        counts = np.bincount((inside * 6).astype(int).clip(max=5), minlength=6)
        return float(np.sum((counts - len(lengths) / 6) ** 2 / (len(lengths) / 6)))

    assert shells(length) < chi2.ppf(1 - ERROR, 5)
    assert shells(length * 0.9) > chi2.ppf(1 - ERROR, 5)
    quarters = np.bincount(2 * (drawn[:, 0] > 0) + (drawn[:, 1] > 0), minlength=4)
    assert np.all(np.abs(quarters - 500) < 5.3 * math.sqrt(375))


@pytest.mark.parametrize("scale", [2.0**24, 2.0**70])
def test_integers_around_an_ellipsoid_have_the_law_of_the_staircase(scale):
    """χ² over 6 shells of equal chance; where steps are beyond floats no float decides anything."""
    own = noise(d=2, epsilon=2.0, scale=scale, first=0.59)
    drawn = np.array(own.many(1000, SimulationRandomness(8)), dtype=float)
    inside = np.minimum(norm(own, drawn / scale)[:, None] / own.steps.law()[0], 1.0) ** 2
    counts = np.bincount((inside @ own.steps.law()[1] * 6).astype(int).clip(max=5), minlength=6)
    assert float(np.sum((counts - 1000 / 6) ** 2 / (1000 / 6))) < chi2.ppf(1 - ERROR, 5)


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", NORMS)
def test_draws_have_the_covariance_and_the_moments(name):
    d, order = 3, NORMS[name]
    own = noise(d=d, epsilon=3.0, order=order, first=0.7)
    drawn = own.simulate(200_000, SimulationRandomness(6))
    covariance = own.covariance()
    assert np.mean(np.square(drawn), axis=0) == pytest.approx(covariance, rel=0.03)
    line = drawn @ np.array([3.0, -1.0, 0.3])
    sigma = math.sqrt(np.array([9.0, 1.0, 0.09]) @ covariance)
    for power in (2.0, 3.0, 6.0):
        mean = float(np.mean(np.abs(line) ** power)) ** (1 / power) / sigma
        assert mean <= own.moment(power) * 1.02
        assert order != 2 or own.moment(power) == pytest.approx(mean, rel=0.03)
    known = own.quantile(0.05)
    assert (known is None) == (order != 2)
    assert known is None or np.mean(np.abs(line) > known * sigma) == pytest.approx(0.05, abs=0.004)
    assert not own.log_concave


@pytest.mark.parametrize(("d", "epsilon", "first"), [(1, 1.0, 0.4), (1, 4.0, 0.2), (3, 2.0, 0.9)])
def test_what_accounts_are_charged_is_that_of_the_worst_change(d, epsilon, first):
    """T by the overlap of cubes along a diagonal and of balls; ρ and μ from the three losses."""
    steps = StepRadius(d, epsilon, first)
    radii, chances = steps.law()
    half = np.minimum(0.5 / radii, 1.0)
    overlaps = {2.0: 1 - betainc(0.5, (d + 1) / 2, half**2), math.inf: (1 - half) ** d}
    for order, overlap in overlaps.items():
        own = noise(d=d, epsilon=epsilon, order=order, first=first)
        apart = float(chances @ (1 - overlap))
        found = variation_up(steps, 1.0, euclidean=order == 2)
        assert apart * (1 - 1e-9) <= found <= apart * (1 + 1e-9)
        way = np.zeros(d) + (np.arange(d) == 0) if order == 2 else np.ones(d)
        loss = own.loss(SymmetricBox(way))
        high = apart / (1 - math.exp(-epsilon))
        low = high * math.exp(-epsilon)
        for alpha in (1.001, 1.5, 2.0, 4.0, 16.0, 64.0):
            moment = high**alpha * low ** (1 - alpha) + low**alpha * high ** (1 - alpha)
            divergence = math.log(moment + 1 - high - low) / (alpha - 1)
            assert divergence <= alpha * loss.rho * (1 + 1e-9)
        assert loss.rho == pytest.approx((high - low) * epsilon, rel=0.1)
        assert loss.mu == pytest.approx(normal.ppf(high) - normal.ppf(low), rel=1e-9)
        nearer = own.loss(SymmetricBox(way / 2))
        assert nearer.rho < loss.rho
        assert nearer.mu < loss.mu


@pytest.mark.parametrize(
    "wrong", [{"scale": 0.0}, {"scale": math.inf}, {"epsilon": 0.0}, {"first": 0.0}, {"first": 1.1}]
)
def test_what_is_no_staircase_is_refused(wrong):
    with pytest.raises(PlanError) as refusal:
        noise(**wrong)
    assert "\n" not in str(refusal.value)


def test_many_steps_at_once_cost_as_many_epsilon_and_what_that_implies():
    own = noise(epsilon=0.5, scale=1.0)
    far = own.loss(SymmetricBox(np.array([2.5])))
    assert far.epsilon == 1.5
    assert far.rho == pytest.approx(1.5 * math.tanh(0.75))
    assert KNormNoise(own.gauge, 2.0).loss(SymmetricBox(np.array([2.5]))).rho < far.rho
