# SPDX-License-Identifier: Apache-2.0
"""Numbers of the spherical cap randomizer, held against integrals, closed forms and simulation."""

import math
from fractions import Fraction
from functools import lru_cache

import mpmath
import numpy as np
import pytest
from scipy.special import betainc, gammaln

from lownoise.errors import PlanError
from lownoise.local_model.cap_law import best, greatest_mean_up, loss_up, mass_down, moments
from lownoise.numbers.rounding import exact

DIMENSIONS = [2, 3, 4, 7, 30, 200, 1000]
EPSILONS = [1e-6, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 30.0]
CAPS = [(r, g) for r in (2, 3, 4, 7, 30, 1000) for g in (2**-26, 0.05, 0.3, 0.7)]


@lru_cache
def integrals(dimension, threshold):
    """Chance, first and second moment of the height in the cap, by quadrature over its angle."""
    with mpmath.workdps(30):
        most = mpmath.acos(threshold)

        def integral(end, power):
            """∫ (sin/sin end)^{r−2} cos^power up to the end, near which its mass is."""
            cuts = [*(end * (1 - mpmath.mpf(2) ** -k) for k in range(12)), end]
            scale = mpmath.sin(end)
            return mpmath.quad(
                lambda a: (mpmath.sin(a) / scale) ** (dimension - 2) * mpmath.cos(a) ** power, cuts
            )

        share = mpmath.sin(most) ** (dimension - 2) / (2 * integral(mpmath.pi / 2, 0))
        return tuple(share * integral(most, power) for power in (0, 1, 2))


@pytest.mark.grid(3)
@pytest.mark.parametrize(("dimension", "threshold"), CAPS)
def test_the_mass_is_the_integral_and_below_it(dimension, threshold):
    true, _, _ = integrals(dimension, threshold)
    assert true * (1 - mpmath.mpf(2) ** -50) < mass_down(dimension, threshold) <= true


@pytest.mark.parametrize("threshold", [2**-26, 0.1, 0.5, 0.75, 1 - 2**-26])
def test_masses_of_two_and_three_dimensions_are_arcs_and_heights(threshold):
    with mpmath.workdps(40):
        arc = mpmath.acos(threshold) / mpmath.pi
        assert arc * (1 - mpmath.mpf(2) ** -50) < mass_down(2, threshold) <= arc
    height = (1 - Fraction(threshold)) / 2
    assert height * (1 - Fraction(1, 2**50)) < Fraction(mass_down(3, threshold)) <= height
    assert mass_down(1, threshold) == 0.5


@pytest.mark.grid(1)
@pytest.mark.parametrize("dimension", [10, 1000, 100_000])
def test_masses_stay_right_to_the_least(dimension):
    """log q by the series of positive terms, x^a √(1−x)/(2a B(a, ½))·(1 + …), x = 1 − γ²."""
    found = 0
    for threshold in (0.05, 0.1, 0.3, 0.6, 0.8):
        q = mass_down(dimension, threshold)
        if q < 1e-300:
            continue
        found += 1
        with mpmath.workdps(40):
            a, x = mpmath.mpf(dimension - 1) / 2, 1 - mpmath.mpf(threshold) ** 2
            series, term, k = mpmath.mpf(0), mpmath.mpf(1), 0
            while term > series * mpmath.mpf(10) ** -30:
                series += term
                term *= x * (a + k + mpmath.mpf(1) / 2) / (a + k + 1)
                k += 1
            beta = mpmath.beta(a, mpmath.mpf(1) / 2)
            true = x**a * threshold / (2 * a * beta) * series
            assert true * (1 - mpmath.mpf(2) ** -50) < q <= true
    assert found >= 2


def test_no_float_is_left_and_that_is_said():
    assert mass_down(100_000, 0.5) == 0.0
    for threshold in (5e-324, 1e-300, 1e-20):  # whose intervals tell little or nothing
        assert 0 <= mass_down(3, threshold) <= 0.5
        assert loss_up(3, threshold, 0.5) >= math.log(3) * (1 - 1e-15)
    assert loss_up(100_000, 0.5, 0.5) == math.inf
    with pytest.raises(PlanError, match=r"threshold=0\.5 leaves less than 1e-300"):
        moments(100_000, 0.5, 0.5)


# ---------------------------------------------------------------- moments


@pytest.mark.grid
@pytest.mark.parametrize(("dimension", "threshold"), CAPS)
@pytest.mark.parametrize("uniform", [0.0, 2.0**-52, 0.25, 1.0])
def test_moments_are_those_of_the_integrals(dimension, threshold, uniform):
    mass, first, second = integrals(dimension, threshold)
    with mpmath.workdps(40):
        mean = (1 - mpmath.mpf(uniform)) * first / mass
        along = mpmath.mpf(uniform) / dimension + (1 - mpmath.mpf(uniform)) * second / mass
        across = (1 - along) / (dimension - 1)
    for number, true in zip(
        moments(dimension, threshold, uniform), (mean, along, across), strict=True
    ):
        assert abs(number - true) <= true * mpmath.mpf(2) ** -51


def test_moments_are_those_of_points_that_are_drawn():
    """100,000 points of the law; each mean is within 5.5 deviations (all: below 1e-6).

    A threshold moved by 0.02, or λ by 0.02, moves one of them by 10 deviations.
    """
    draws = np.random.default_rng(7)
    dimension, threshold, uniform, count = 5, 0.4, 0.3, 100_000
    points = draws.standard_normal((20 * count, dimension))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    caps = points[count:][points[count:, 0] >= threshold][:count]
    flat = draws.random(count) < uniform
    drawn = np.where(flat[:, None], points[:count], caps[:count])
    mean, along, across = moments(dimension, threshold, uniform)
    assert len(caps) == count
    for values, true in (
        (drawn[:, 0], mean),
        (drawn[:, 0] ** 2, along),
        (drawn[:, 1] ** 2, across),
        (drawn[:, 1] * drawn[:, 2], 0.0),
        (drawn[:, 1], 0.0),
    ):
        assert abs(values.mean() - true) < 5.5 * values.std() / math.sqrt(count)


# ---------------------------------------------------------------- what is revealed


@pytest.mark.parametrize("threshold", [2**-26, 0.3, 0.5, 1 - 2**-20])
@pytest.mark.parametrize("uniform", [2.0**-52, 0.01, 0.5, 0.999, 1 - 2.0**-53])
def test_the_loss_is_above_the_ratio_of_three_dimensions_in_exact_rationals(threshold, uniform):
    mass, share = (1 - Fraction(threshold)) / 2, Fraction(uniform)
    inside, outside = (1 - share) / mass + share, share
    ratio = inside / outside
    loss = loss_up(3, threshold, uniform)
    with mpmath.workdps(60):
        log = mpmath.log1p(mpmath.mpf((ratio - 1).numerator) / (ratio - 1).denominator)
        for meant in (Fraction(loss), exact(loss)):
            stated = mpmath.mpf(meant.numerator) / meant.denominator
            assert log <= stated <= log * (1 + mpmath.mpf(2) ** -49)


@pytest.mark.grid
@pytest.mark.parametrize("dimension", [1, *DIMENSIONS])
@pytest.mark.parametrize("epsilon", [*EPSILONS, 0.1 + 0.2, 2 / 3])
def test_the_best_parameters_keep_epsilon_and_waste_none(dimension, epsilon):
    threshold, uniform = best(dimension, epsilon)
    allowed = min(Fraction(epsilon), exact(epsilon))
    loss = loss_up(dimension, threshold, uniform)
    assert max(Fraction(loss), exact(loss)) <= max(Fraction(epsilon), exact(epsilon))
    assert min(Fraction(loss), exact(loss)) <= allowed
    grains = uniform * 2**52
    assert grains == int(grains) >= 1
    if grains > 1:
        assert loss_up(dimension, threshold, (grains - 1) / 2**52) > epsilon


@pytest.mark.grid
@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("epsilon", EPSILONS[1:-1])
def test_no_other_threshold_has_a_greater_mean(dimension, epsilon):
    """hE/(1 + qE) on a grid of thresholds, in scipy's functions."""
    grid = np.linspace(0, 1, 4001)[1:-1]
    a = (dimension - 1) / 2
    mass = betainc(a, 0.5, 1 - grid**2) / 2
    log_scale = gammaln(dimension / 2) - gammaln(a) - 0.5 * math.log(math.pi)
    height = np.exp(log_scale + a * np.log1p(-(grid**2))) / (dimension - 1)
    odds = math.expm1(epsilon)
    others = height * odds / (1 + mass * odds)
    threshold, uniform = best(dimension, epsilon)
    mean = moments(dimension, threshold, uniform)[0]
    assert others.max() <= mean * (1 + 1e-12)
    assert others.max() >= mean * (1 - 1e-2)
    assert threshold == pytest.approx(mean, abs=2**-25)


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("dimension", [1, *DIMENSIONS, 100_000])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_private_report_has_a_longer_mean_and_the_best_cap_has_that(dimension, epsilon):
    mean = moments(dimension, *best(dimension, epsilon))[0]
    most = greatest_mean_up(dimension, epsilon)
    assert mean <= most <= mean * (1 + (1e-9 if epsilon < 20 else 1e-7)) + 2.0**-50
    if dimension == 3:
        assert math.tanh(epsilon / 4) <= most


@pytest.mark.grid(1)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("dimension", [2, 5])
def test_densities_of_any_shape_within_epsilon_have_no_longer_mean(dimension, epsilon):
    """Densities of the height that are 1 or e^ε on random sets, on a fine grid of angles."""
    draws = np.random.default_rng(9)
    angle = (np.arange(20_000) + 0.5) * math.pi / 20_000
    weight = np.sin(angle) ** (dimension - 2)
    most = greatest_mean_up(dimension, epsilon)
    for _ in range(300):
        chance = np.clip(draws.normal(0.5, 1) + draws.normal(0, 3) * np.cos(angle), 0, 1)
        level = np.exp(epsilon * (draws.random(angle.size) < chance))
        found = (weight * level * np.cos(angle)).sum() / (weight * level).sum()
        assert found <= most * (1 + 1e-6)


def test_one_dimension_is_randomized_response():
    for epsilon in EPSILONS:
        threshold, uniform = best(1, epsilon)
        mean, along, across = moments(1, threshold, uniform)
        # λ is a multiple of 2^-52 above the least
        assert math.tanh(epsilon / 2) - 2.0**-51 <= mean <= math.tanh(epsilon / 2) + 2.0**-53
        assert (along, across) == (1.0, 0.0)


def test_three_dimensions_have_closed_forms():
    """Of r = 3, q = (1−γ)/2 and h = (1−γ²)/4 give λ = e^{−ε/2} and m = tanh(ε/4) (ours)."""
    for epsilon in EPSILONS[:-1]:
        threshold, uniform = best(3, epsilon)
        assert uniform == pytest.approx(math.exp(-epsilon / 2), abs=1e-6)
        assert moments(3, threshold, uniform)[0] == pytest.approx(
            math.tanh(epsilon / 4), rel=1e-12, abs=1e-14
        )


# ---------------------------------------------------------------- limits of the error 1/m²


@pytest.mark.parametrize("dimension", [1000, 10_000])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.03])
def test_for_small_epsilon_the_error_is_that_of_half_spheres(dimension, epsilon):
    odds = (math.exp(epsilon) + 1) / math.expm1(epsilon)
    limit = math.pi / 2 * dimension * odds**2
    threshold, uniform = best(dimension, epsilon)
    error = 1 / moments(dimension, threshold, uniform)[0] ** 2
    assert error < limit
    # Γ((r+1)/2)²/Γ(r/2)² is (r − ½)/2 up to a share of 1/r²; what γ > 0 gains is of order ε²
    assert error == pytest.approx(limit * (1 - 1 / (2 * dimension)), rel=1e-4 + epsilon**2)


@pytest.mark.parametrize("dimension", [1, 2, 3, 10])
def test_for_large_epsilon_the_error_is_that_of_no_privacy(dimension):
    threshold, uniform = best(dimension, 1000.0)
    mean = moments(dimension, threshold, uniform)[0]
    assert 1 <= 1 / mean**2 < 1 + 1e-6


def test_more_privacy_is_more_error():
    for dimension in DIMENSIONS:
        means = [moments(dimension, *best(dimension, epsilon))[0] for epsilon in EPSILONS]
        assert means == sorted(means)


def test_what_is_out_of_range_is_refused_in_one_line():
    for call, match in [
        (lambda: best(0, 1.0), "dimension=0 is out of range for a spherical cap"),
        (lambda: best(10**6, 1.0), "dimension=1000000 is out of range"),
        (lambda: greatest_mean_up(0, 1.0), "dimension=0 is out of range"),
        (lambda: best(3, 0.0), "epsilon=0 is out of range; give at least 1e-06"),
        (lambda: best(3, math.inf), "epsilon=inf is out of range"),
        (lambda: best(3, math.nan), "epsilon=nan is out of range"),
        (lambda: mass_down(3, 1.0), "threshold=1.0 is out of range"),
        (lambda: mass_down(3, math.nan), "threshold=nan is out of range"),
        (lambda: loss_up(3, 0.5, 1.5), "uniform=1.5 is out of range"),
        (lambda: moments(3, 0.5, math.nan), "uniform=nan is out of range"),
    ]:
        with pytest.raises(PlanError, match=match) as caught:
            call()
        assert "\n" not in str(caught.value)
