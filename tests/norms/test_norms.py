# SPDX-License-Identifier: Apache-2.0
"""Norms against fractions, definitions and programs; never below, and hardly above."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog

from exact_norms import hull_norm, solved, zonotope_norm
from lownoise.errors import PlanError
from lownoise.noise.pure import KNormNoise
from lownoise.sets.bodies import SymmetricBox
from lownoise.sets.norms import (
    HullNorm,
    ImageNorm,
    PlacedNorm,
    ProductNorm,
    SimplexNorm,
    ZonotopeNorm,
)
from lownoise.sets.norms.combination import Combination
from lownoise.sets.unit_balls import CappedBall, MixedBall, NormBall, product_ball

RNG = np.random.default_rng(20260107)
POINTS_LEFT = np.random.default_rng(12).normal(size=(50, 3))
NEAR = 1e-9
UNITS = [1.0, 2.0**-40, 2.0**50]
BASES = [
    NormBall(3, 1.0),
    NormBall(3, 1.5),
    NormBall(3, 2.0),
    NormBall(3, math.inf),
    product_ball([NormBall(2, 1.0), NormBall(1, 2.0)]),
    product_ball([NormBall(1, 1.0), NormBall(2, 2.0)]),
]


def integers(*shape, bits=20):
    return RNG.integers(-(2**bits), 2**bits, shape).astype(float)


def close(found, exact):
    """At least the exact value, a fraction or a number of 60 digits, and hardly more."""
    value = mpmath.mpf(found)
    if isinstance(exact, Fraction):
        exact = mpmath.mpf(exact.numerator) / exact.denominator
    return exact * (1 - mpmath.mpf(10) ** -50) <= value <= exact * (1 + NEAR)


def norm(base, fractions):
    """The norm of fractions in a ball or a product of them, to 60 digits."""
    sizes = [abs(mpmath.mpf(x.numerator) / x.denominator) for x in fractions]
    found, at = [], 0
    for ball in base.factors:
        own, at = sizes[at : at + ball.size], at + ball.size
        r = mpmath.mpf(ball.order)
        found.append(max(own) if mpmath.isinf(r) else mpmath.fsum(x**r for x in own) ** (1 / r))
    return max(found)


@pytest.mark.grid(3)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("base", BASES, ids=str)
def test_images_of_balls(base, unit):
    """F⁻¹s in fractions, then the norm to 60 digits."""
    with mpmath.workdps(60):
        for factor in (integers(3, 3) * unit, integers(3) * unit):
            gauge = ImageNorm(factor, base)
            points = np.vstack([integers(6, 3), integers(2, 3, bits=2), np.eye(3)]) * unit
            dense = np.diag(factor) if factor.ndim == 1 else factor
            for s, found in zip(points, gauge.norm_up(points), strict=True):
                assert close(found, norm(base, solved(dense.T.tolist(), s.tolist())))


@pytest.mark.grid(3)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("d", [2, 3])
def test_hulls(d, unit):
    points = integers(6, d) * unit
    gauge = HullNorm(points)
    asked = np.vstack([integers(5, d) * unit, points, np.eye(d) * unit])
    with mpmath.workdps(60):
        for s, found in zip(asked, gauge.norm_up(asked), strict=True):
            assert close(found, hull_norm(points.tolist(), s.tolist()))


@pytest.mark.grid
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("d", [2, 3])
def test_zonotopes(d, unit):
    generators = integers(6, d) * unit
    gauge = ZonotopeNorm(generators)
    asked = np.vstack([integers(5, d) * unit, generators, generators.sum(axis=0, keepdims=True)])
    with mpmath.workdps(60):
        for s, found in zip(asked, gauge.norm_up(asked), strict=True):
            assert close(found, zonotope_norm(generators.tolist(), s.tolist()))


@pytest.mark.grid(3)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_differences_of_a_simplex_are_a_hull(d, unit):
    edges = integers(d, d) * unit
    corners = np.vstack([np.zeros(d), edges])
    apart = [(corners[i] - corners[j]).tolist() for i, j in combinations(range(d + 1), 2)]
    gauge = SimplexNorm(edges)
    asked = np.vstack([integers(6, d) * unit, edges, np.array(apart)])
    with mpmath.workdps(60):
        for s, found in zip(asked, gauge.norm_up(asked), strict=True):
            assert close(found, hull_norm(apart, s.tolist()))


@pytest.mark.parametrize("d", [4, 6])
def test_hulls_and_zonotopes_in_more_dimensions(d):
    """The same by a linear program in floats."""
    rows = integers(d + 4, d)
    asked = integers(10, d)
    scale = 2.0**-20
    for s, found in zip(asked, HullNorm(rows).norm_up(asked), strict=True):
        least = linprog(
            np.ones(2 * len(rows)), A_eq=np.hstack([rows.T, -rows.T]) * scale, b_eq=s * scale
        )
        assert least.fun * (1 - 1e-7) <= found <= least.fun * (1 + 1e-7)
    for s, found in zip(asked, ZonotopeNorm(rows).norm_up(asked), strict=True):
        # the dual: max ⟨a, s⟩ with Σ|⟨a, gᵢ⟩| ≤ 1
        n = len(rows)
        grown = linprog(
            np.concatenate([-s * scale, np.zeros(n)]),
            A_ub=np.vstack(
                [
                    np.hstack([rows * scale, -np.eye(n)]),
                    np.hstack([-rows * scale, -np.eye(n)]),
                    np.concatenate([np.zeros(d), np.ones(n)])[None],
                ]
            ),
            b_ub=np.append(np.zeros(2 * n), 1.0),
            bounds=[(None, None)] * d + [(0, None)] * n,
        )
        assert -grown.fun * (1 - 1e-7) <= found <= -grown.fun * (1 + 1e-7)


def test_products_and_coordinates_that_never_move():
    disc = ImageNorm(integers(2, 2), NormBall(2, 2.0))
    line = ImageNorm(np.array([3.0]), NormBall(1, 2.0))
    both = ProductNorm((disc, line))
    asked = np.hstack([integers(20, 2), integers(20, 1)])
    own = np.maximum(disc.norm_up(asked[:, :2]), line.norm_up(asked[:, 2:]))
    assert np.array_equal(both.norm_up(asked), own)
    assert np.allclose(np.max([form.norm_up(asked) for form in both.forms], axis=0), own)
    placed = PlacedNorm(both, np.array([0, 2, 3]), 5)
    wide = np.zeros((20, 5))
    wide[:, [0, 2, 3]] = asked
    assert np.array_equal(placed.norm_up(wide), own)
    assert np.all(np.isinf(placed.norm_up(wide + np.eye(5)[1])))
    assert placed.uniform.rank == 3
    still = SymmetricBox(np.array([1.0, 0, 1, 1, 0]))
    assert math.isfinite(placed.akin_up(still))
    assert math.isfinite(placed.akin_box_up(still.half_width))
    for i in (1, 4):  # whatever moves where there is no noise reaches beyond all bounds
        more = still.half_width + 1e-9 * np.eye(5)[i]
        assert placed.akin_up(SymmetricBox(more)) == placed.akin_box_up(more) == math.inf
    assert np.array_equal(placed.scaled(2.0).norm_up(wide), placed.norm_up(wide / 2))


@pytest.mark.parametrize(
    "gauge",
    [
        ImageNorm(np.array([[1.0, 2.0], [0.0, 3.0]]), NormBall(2, 1.5)),
        HullNorm(np.array([[1.0, 2.0], [0.0, 3.0], [4.0, 1.0]])),
        ZonotopeNorm(np.array([[1.0, 2.0], [0.0, 3.0], [4.0, 1.0]])),
        SimplexNorm(np.array([[1.0, 2.0], [0.0, 3.0]])),
    ],
    ids=lambda gauge: type(gauge).__name__,
)
def test_scaled_gauges_and_nothing(gauge):
    asked = integers(5, 2, bits=4)
    assert np.allclose(gauge.scaled(1.25).norm_up(asked) * 1.25, gauge.norm_up(asked), rtol=1e-9)
    assert np.array_equal(gauge.norm_up(np.zeros((1, 2))), [0.0])


def test_a_factor_that_is_nearly_flat_costs_a_wider_bound_or_is_refused():
    """The inverse of a matrix of condition 2^40 is off by 2^-12, and the norm never below."""
    with mpmath.workdps(60):
        factor = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-40]])
        gauge = ImageNorm(factor, NormBall(2, 1.0))
        for s in integers(10, 2, bits=6):
            own = sum(map(abs, solved(factor.T.tolist(), s.tolist())))
            found = Fraction(float(gauge.norm_up(s[None])[0]))
            assert own <= found <= own * Fraction(11, 10)
    with pytest.raises(PlanError, match="flat, or too nearly so"):
        ImageNorm(np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-51]]), NormBall(2, 1.0))


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: ImageNorm(np.ones(2), CappedBall(np.ones(2))), "no exact sampler"),
        (lambda: ImageNorm(np.ones(2), MixedBall((NormBall(1, 1.0),) * 2, 1.5)), "no exact"),
        (lambda: ImageNorm(np.ones(3), NormBall(2, 1.0)), "shape"),
        (lambda: ImageNorm(np.array([1.0, 0.0]), NormBall(2, 1.0)), "flat"),
        (lambda: ImageNorm(np.array([1.0, np.nan]), NormBall(2, 1.0)), "flat"),
        (lambda: ImageNorm(np.ones((2, 2)), NormBall(2, 1.0)), "flat"),
        (lambda: HullNorm(np.ones((3, 2))), "flat"),
        (lambda: HullNorm(np.ones((1, 2))), "flat"),
        (lambda: HullNorm(integers(60, 20)), "too many|simplices"),
        (lambda: ZonotopeNorm(np.ones((3, 2))), "flat"),
        (lambda: ZonotopeNorm(integers(60, 10)), "more than"),
        (lambda: SimplexNorm(np.ones((2, 2))), "flat"),
        (lambda: ProductNorm(()), "empty"),
        (lambda: PlacedNorm(SimplexNorm(np.eye(2)), np.array([1, 0]), 3), "rise"),
        (lambda: PlacedNorm(SimplexNorm(np.eye(2)), np.array([0, 3]), 3), "rise"),
    ],
)
def test_refusals(build, said):
    with pytest.raises(PlanError, match=said) as caught:
        build()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "gauge",
    [
        ImageNorm(np.array([[1.0, 2.0], [0.0, 3.0]]), NormBall(2, 2.0)),
        PlacedNorm(SimplexNorm(np.array([[1.0, 2.0], [0.0, 3.0]])), np.array([0, 2]), 3),
    ],
    ids=["ellipse", "placed"],
)
def test_covariance_of_the_noise(gauge):
    """E z·zᵀ of simulated noise, with the radius of as many dimensions as there are."""
    from lownoise.numbers.randomness import SimulationRandomness
    from lownoise.samplers.gamma import simulated_noise

    n = 200_000
    noise = simulated_noise(gauge.uniform, 0.5, n, SimulationRandomness(5))
    found = KNormNoise(gauge, 0.5).covariance()
    products = noise[:, :, None] * noise[:, None, :]
    off = np.std(products, axis=0) / math.sqrt(n)
    assert np.all(np.abs(np.mean(products, axis=0) - found) <= 6 * off)
    own, moving = np.diag(np.mean(products, axis=0)), np.diag(found) > 0
    assert np.all((np.abs(own - 1.05 * np.diag(found)) > 6 * np.diag(off))[moving])


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, math.inf])
def test_what_is_left_over_is_measured_hardly_above_its_norm(order):
    """Of an image along its axes the rough bound is the norm itself."""
    scale = np.array([3.0, 0.5, 2.0**20])
    found = Combination(np.diag(scale), order).rough_up(np.abs(POINTS_LEFT))
    exact = np.linalg.norm(POINTS_LEFT / scale, order, axis=1)
    assert np.all(found >= exact * (1 - 1e-15))
    assert np.all(found <= exact * (1 + 1e-12))
