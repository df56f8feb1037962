# SPDX-License-Identifier: Apache-2.0
"""What norms of images and inverses add for rounding, against fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from exact_norms import solved, zonotope_norm
from lownoise.sets.bodies import SymmetricBox
from lownoise.sets.norms import ImageNorm
from lownoise.sets.norms.abstract import Form
from lownoise.sets.norms.combination import Combination, inverse_of
from lownoise.sets.unit_balls import NormBall

EPS = Fraction(1, 2**51)
RNG = np.random.default_rng(20260109)


def exact(matrix, point):
    """|X·s| in fractions."""
    rows = [[Fraction(a) for a in row] for row in matrix.tolist()]
    own = [Fraction(x) for x in point.tolist()]
    return [abs(sum(a * x for a, x in zip(row, own, strict=True))) for row in rows]


def cancelling():
    """A matrix and points whose images are far below what they are sums of."""
    matrix = RNG.normal(size=(3, 4))
    points = RNG.normal(size=(30, 4))
    points[:, 3] = -(points[:, :3] @ matrix[0, :3]) / matrix[0, 3]
    points[:10] = np.outer(RNG.normal(size=10), np.linalg.svd(matrix)[2][3])
    return matrix, points


@pytest.mark.parametrize(("order", "combine"), [(1.0, sum), (math.inf, max)])
def test_images_are_rounded_outward(order, combine):
    matrix, points = cancelling()
    found = Form(matrix, order).norm_up(points)
    for s, norm in zip(points, found, strict=True):
        sizes = exact(matrix, s)
        assert combine(sizes) <= Fraction(float(norm)) <= combine(sizes) + Fraction(1, 10**13)


@pytest.mark.parametrize(("order", "combine"), [(1.0, sum), (math.inf, max)])
def test_differences_are_rounded_outward(order, combine):
    """Points far from 0, of which pairs are near."""
    matrix, points = cancelling()
    points = points + 2.0**20
    found = Fraction(Form(matrix, order).differences_up(points))
    most = max(combine(exact_difference(matrix, x, y)) for x in points for y in points)
    assert most <= found <= most * (1 + Fraction(1, 10**9))


def exact_difference(matrix, x, y):
    apart = [Fraction(a) - Fraction(b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    rows = [[Fraction(a) for a in row] for row in matrix.tolist()]
    return [abs(sum(a * b for a, b in zip(row, apart, strict=True))) for row in rows]


@pytest.mark.parametrize("order", [1.0, 3.0])
def test_the_farthest_pair_is_found_whatever_is_left_out(order):
    """Long and short points, and a point that is far from all others."""
    points = RNG.normal(size=(200, 4)) * 10.0 ** RNG.uniform(-2, 0, (200, 1)) + 5.0
    points[17] += 3.0
    matrix = RNG.normal(size=(4, 4))
    images = points @ matrix.T
    apart = images[:, None] - images[None]
    brute = np.max(np.linalg.norm(apart.reshape(-1, 4), order, axis=1))
    found = Form(matrix, order).differences_up(points)
    assert brute <= found <= brute * (1 + 1e-9)


def test_what_a_combination_leaves_over_is_added():
    """Generators that are nearly flat: what is left of s is small, and its norm is not."""
    generators = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-12], [2.0, 2.0 - 2.0**-11]])
    points = RNG.normal(size=(20, 2))
    found = Combination(generators.T, math.inf).norm_up(points)
    for s, norm in zip(points, found, strict=True):
        own = zonotope_norm(generators.tolist(), s.tolist())
        assert own <= Fraction(float(norm)) <= own * (1 + Fraction(1, 10**6))


def test_quotients_are_rounded_up():
    for a, b in RNG.uniform(0.1, 10, (40, 2)):
        found = ImageNorm(np.array([b]), NormBall(1, 1.0)).sensitivity_up(
            SymmetricBox(np.array([a]))
        )
        assert Fraction(a) / Fraction(b) <= Fraction(found) <= Fraction(a) / Fraction(b) * (1 + EPS)


def test_what_two_zonotopes_differ_by_is_added():
    """Generators that are nearly a multiple: every corner is within what is said of them."""
    generators = RNG.integers(-99, 99, (4, 2)).astype(float)
    near = generators / 3 * (1 + RNG.uniform(-1e-8, 1e-8, (4, 2)))
    found = Fraction(Combination(generators.T, math.inf).near_up(near.T))
    corners = np.array(list(product([-1.0, 1.0], repeat=4)))
    for signs in corners.tolist():
        s = [sum(Fraction(x) * Fraction(g) for x, g in zip(signs, c, strict=True)) for c in near.T]
        assert zonotope_norm(generators.tolist(), s) <= found
    assert found <= Fraction(1, 3) * (1 + Fraction(1, 10**6))
    assert Combination(generators.T, math.inf).near_up(2 * near.T[:, ::-1]) == math.inf


def test_a_stretch_covers_what_the_inverse_is_off_by():
    """‖F⁻¹s‖ ≤ stretch·‖Xs‖ with all of it in fractions; X alone is not enough."""
    below = 0
    for k in range(20, 44, 4):
        factor = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-k]]) * RNG.uniform(0.5, 1, (1, 2))
        found = inverse_of(factor, NormBall(2, 1.0))
        for s in RNG.normal(size=(5, 2)):
            own = sum(map(abs, solved(factor.T.tolist(), s.tolist())))
            bare = sum(exact(found.matrix, s))
            assert own <= Fraction(found.stretch) * bare
            below += bare < own
        with np.errstate(all="raise"):
            assert found.stretch < 1 + 2.0 ** (k - 46)
    assert below > 0
