# SPDX-License-Identifier: Apache-2.0
"""LAW: but for δ no noise of an (ε, δ) has a ρ or μ above what its total variation implies.

Against divergences of three outcomes summed at many orders, the curves of mixtures of balls and
integrals of them, and draws of radial noise as plans have it.

Mutants, each seen red: the total variation halved, ρ at the limit α → 1, cosh for sinh, the corner
of the trade-off curve without e^−ε, ρ and μ of a shorter shift.
"""

import math
from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr, ndtri

import lownoise as ln
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.privacy.aside_curve import mu_up, rho_up
from lownoise.privacy.radial_curve import delta_up

PAIRS = [(0.1, 0.04), (0.1, 1e-5), (1.0, 0.12), (1.0, 0.4), (4.0, 0.3), (20.0, 0.5)]
ORDERS = 1 + np.geomspace(1e-7, 1e5, 4000)


def chances(epsilon, variation):
    """Of the losses ε and −ε, with no more total variation."""
    high = variation / -math.expm1(-epsilon)
    return high, high * math.exp(-epsilon)


@pytest.mark.parametrize(("epsilon", "variation"), PAIRS)
def test_rho_is_the_greatest_divergence_of_three_outcomes(epsilon, variation):
    high, low = chances(epsilon, variation)
    logs = np.logaddexp.reduce(
        [
            math.log(high) + (ORDERS - 1) * epsilon,
            math.log(low) - (ORDERS - 1) * epsilon,
            np.full_like(ORDERS, math.log1p(-high - low)),
        ]
    )
    near = ORDERS - 1 < 1e-4  # there the logarithm has no digits left: the limit
    found = np.where(near, (high - low) * epsilon, logs / (ORDERS - 1) / ORDERS).max()
    assert found * (1 - 1e-9) <= rho_up(epsilon, variation) <= found * 1.003


@pytest.mark.parametrize(("epsilon", "variation"), PAIRS)
def test_mu_is_the_least_whose_curve_is_nowhere_better(epsilon, variation):
    """δ_μ(u) = Φ(μ/2 − u/μ) − e^u·Φ(−μ/2 − u/μ), against the curve of three outcomes."""
    high, low = chances(epsilon, variation)
    at = np.linspace(0, epsilon, 2001)
    own = high - np.exp(at) * low
    mu = mu_up(epsilon, variation)

    def beyond(mu):
        return (ndtr(mu / 2 - at / mu) - np.exp(at) * ndtr(-mu / 2 - at / mu) - own).min()

    assert beyond(mu) >= -1e-12 * variation
    assert beyond(mu * (1 - 1e-4)) < 0
    assert mu == pytest.approx(ndtri(high) - ndtri(low), rel=1e-6)


def test_both_grow_with_what_is_told_and_end_at_what_epsilon_implies():
    for of in (rho_up, mu_up):
        for epsilon in (0.2, 1.0, 6.0):
            found = [of(epsilon, v) for v in (0.0, 1e-9, 1e-3, 0.05, 0.9, 1.0)]
            assert found == sorted(found)
            assert found[0] > 0
        assert of(1001.0, 0.5) == math.inf


PROFILES = {
    "two": ([1.0, 2.5], [1.0, 3.0]),
    "steps of one": ([0.5 + k for k in range(9)], [math.exp(-k) * (0.5 + k) for k in range(9)]),
    "close": ([3.0, 3.25, 3.5, 4.0, 6.0], [5.0, 1.0, 1.0, 2.0, 0.25]),
}


@pytest.mark.grid
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("epsilon", [0.5, 1.5])
def test_mixtures_of_balls_reveal_no_more_but_for_delta(d, name, epsilon):
    """D_α by its integral over the curve, of what is left where it is cut at ε."""
    cut = delta_up(d, *PROFILES[name], epsilon)

    def left(u):
        return max(delta_up(d, *PROFILES[name], u) - cut, 0.0) / (1 - cut)

    variation = delta_up(d, *PROFILES[name], 0.0)
    for alpha in (1.001, 1.5, 3.0, 12.0):
        moment = quad(
            lambda u, a=alpha: (math.exp((a - 1) * u) + math.exp(-a * u)) * left(u),
            0,
            epsilon,
            limit=60,
            epsrel=1e-5,
        )[0]
        own = math.log1p(alpha * (alpha - 1) * moment) / (alpha * (alpha - 1))
        assert own <= rho_up(epsilon, variation) * (1 + 1e-4)
    mu = mu_up(epsilon, variation)
    for u in np.linspace(0, epsilon, 9):
        assert left(u) <= ndtr(mu / 2 - u / mu) - math.exp(u) * ndtr(-mu / 2 - u / mu) + 1e-9


DRAWS = 100_000


@cache
def planned(d, epsilon, delta):
    names = [f"x{i}" for i in range(d)]
    budget = ln.approx_dp(epsilon, delta)
    question = ln.Mean(names, ln.Ball(d))
    return ln.plan(question, budget=budget, relation="substitute", size=10, mechanism="radial")


@pytest.mark.parametrize(
    ("d", "epsilon", "delta"), [(1, 1.0, 1e-6), (4, 2.0, 1e-2), (16, 1.0, 1e-6)]
)
def test_draws_of_a_plans_noise_tell_no_more_than_it_is_charged(d, epsilon, delta):
    """The loss ln f(z)/f(z − s) of draws z, from its definition, for the longest change s.

    Every mean is within 5.5 of its deviations with chance 1 − 4·10⁻⁸. Claims a tenth less would
    be red.
    """
    plan = planned(d, epsilon, delta)
    noise, cost = plan.terms.mechanism.noise, plan.cost
    drawn = noise.simulate(DRAWS, SimulationRandomness(np.random.SeedSequence(d)))
    scaled = drawn / (np.asarray(noise.factor) * noise.scale)
    length = noise.gauge.sensitivity_up(plan.terms.mechanism.totals.changes) / noise.scale
    pieces = noise.weights / noise.weights.sum() / (noise.radii / noise.radii[-1]) ** d
    falling = np.append(np.cumsum(pieces[::-1])[::-1], 0.0)

    def density(points):
        return falling[np.searchsorted(noise.radii, np.linalg.norm(points, axis=1))]

    moved = scaled.copy()
    moved[:, 0] -= length
    with np.errstate(divide="ignore"):
        loss = np.log(density(scaled)) - np.log(density(moved))
    out = loss > epsilon * (1 + 1e-9)
    assert out.mean() <= cost.delta + 5.5 * math.sqrt(cost.delta / DRAWS) + 20 / DRAWS
    # what is left: where f is more than e^ε times the other it is cut to that
    kept = np.exp(np.minimum(epsilon - loss, 0.0))
    within = np.minimum(loss, epsilon)
    greatest = 0.0
    for alpha in (1.01, 1.5, 2.0, 4.0, 8.0):
        terms = kept * np.exp((alpha - 1) * within)
        mean, off = terms.mean(), 5.5 * terms.std() / math.sqrt(DRAWS)
        scale = (alpha - 1) * alpha
        assert math.log(mean - off) / scale <= cost.rho
        greatest = max(greatest, math.log((mean + off) / (1 - cost.delta)) / scale)
    assert greatest >= 0.9 * cost.rho
    told = ((within > 1e-9) * kept).mean()
    low = told * math.exp(-epsilon)
    assert ndtri(told) - ndtri(low) == pytest.approx(cost.mu, rel=0.05)
