# SPDX-License-Identifier: Apache-2.0
"""Sums of coordinates of pure noise stray as their law says: exact tails, beside other formulas.

Mutants, each seen red: steps of three times the length; Newton's first step taken for its last; a
triangular part of (d − 1)/d; other coefficients of a series, and too few; any zonotope taken for
that of a box with a corner at 0.
"""

import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy.integrate import quad
from scipy.special import gammaincc

from lownoise.noise.coordinates import LAPLACE, CoordinateLaw
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.release.tails import coordinate_quantile
from lownoise.sets.norms import ImageNorm, ZonotopeNorm
from lownoise.sets.unit_balls import NormBall

LEVELS = (1e-3, 0.1, 0.5, 0.95, 0.999, 1 - 1e-6, 1 - 1e-9)
_WIDER = 1e-6  # of a chance and of a quantile


def outside(scales, t):
    """Return P(|Σ Laplace numbers of different scales| > t) by partial fractions, in balls."""
    before, ctx.prec = ctx.prec, 600
    try:
        total = arb(0)
        for b in scales:
            weight = arb(1)
            for c in scales:
                if c != b:
                    weight *= arb(b) ** 2 / (arb(b) ** 2 - arb(c) ** 2)
            total += weight * (-arb(t) / arb(b)).exp()
        return float(total)
    finally:
        ctx.prec = before


@pytest.mark.parametrize("spread", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("count", [2, 6, 24])
def test_sums_of_laplace_numbers_stray_as_partial_fractions_say(spread, count):
    scales = np.exp(np.random.default_rng(count).normal(0, spread, count))
    for level in LEVELS:
        t = coordinate_quantile(LAPLACE, scales, np.ones(count), level) / (1 + _WIDER)
        assert outside(scales.tolist(), t) == pytest.approx((1 - level) * (1 - _WIDER), rel=1e-9)


@pytest.mark.parametrize("even", [1.0, None], ids=["box", "corner"])
@pytest.mark.parametrize("d", [2, 3, 5, 40])
def test_one_number_strays_as_its_radius_times_its_place_does(d, even):
    law = CoordinateLaw(d, 2 / (d + 1) if even is None else even)

    def density(y):
        return law.even + (1 - law.even) * 2 * (1 - y)

    for level in (0.1, 0.95, 1 - 1e-6):
        t = coordinate_quantile(law, np.ones(1), np.ones(1), level) / (1 + _WIDER)
        found = quad(
            lambda y, t=t: density(y) * gammaincc(d + 1, t / y), 0, 1, epsabs=0, epsrel=1e-11
        )[0]
        assert found == pytest.approx((1 - level) * (1 - _WIDER), rel=1e-8)


@pytest.mark.parametrize("law", [CoordinateLaw(2, 2 / 3), CoordinateLaw(7), CoordinateLaw(40, 0.1)])
def test_transforms_are_one_function_near_and_far(law):
    ends = np.array([law._close * (1 - 1e-9), law._close * (1 + 1e-9)])
    for turn in (1, 1j, np.exp(0.8j)):
        near, far = law.transform(ends * turn + 0j)
        assert near == pytest.approx(far, rel=1e-6)
    small = np.array([1e-3])
    assert law.transform(small)[0] - 1 == pytest.approx(law.variance * 1e-6 / 2, rel=0.01)


@pytest.mark.parametrize("d", [2, 5])
def test_many_alike_are_nearly_normal_however_small(d):
    law, count = CoordinateLaw(d, 2 / (d + 1)), 1e6
    found = coordinate_quantile(law, np.array([1e-9]), np.array([count]), 0.95)
    assert found == pytest.approx(1.959964e-9 * math.sqrt(law.variance * count), rel=1e-5)


def _corner(widths):
    return ZonotopeNorm(np.vstack([np.diag(widths), widths])[::-1].copy())


@pytest.mark.parametrize(
    "norm",
    [
        ImageNorm(np.array([2.0, 0.5, 1.0]), NormBall(3, math.inf)),
        _corner(np.array([2.0, 0.5])),
        _corner(np.array([1.0, -3.0, 0.25, 1.0])),
    ],
    ids=["box", "corner", "corners"],
)
def test_coordinates_of_uniform_points_lie_as_is_said(norm):
    """The covariance to all digits; and their distribution functions, of 20,000 points each.

    A point's place strays by 2.7/√n nowhere but with a chance below 10^-6; a law that leaves a
    fifth of the triangular part to the even one is seen off by 0.02 with chance 0.99.
    """
    widths, even = norm.axes
    second = norm.uniform.second_moment()
    second = np.diag(second) if second.ndim > 1 else second
    assert np.allclose(second, np.square(widths) * (even / 3 + (1 - even) / 6), rtol=1e-12)
    count = 20_000
    points = np.abs(norm.uniform.simulate(count, SimulationRandomness(5))) / widths
    rank = (np.arange(count) + 0.5)[:, None] / count
    y = np.sort(points, axis=0)
    assert np.max(np.abs(even * y + (1 - even) * y * (2 - y) - rank)) < 2.7 / math.sqrt(count)


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]],
        [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]],
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]],
    ],
)
def test_other_zonotopes_have_no_such_law(rows):
    assert ZonotopeNorm(np.array(rows)).axes is None


def test_nor_has_a_round_ball():
    assert ImageNorm(np.ones(2), NormBall(2, 2.0)).axes is None
