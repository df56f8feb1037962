# SPDX-License-Identifier: Apache-2.0
"""Long lists of sums of two short ones: no image is longer than what the short ones say.

Mutants seen: what a list is off, or what rounding takes, left out of the loss; only the first block
of a list looked at; the least squares in place of the greatest.
"""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import SymmetricPoints
from lownoise.sets.bodies.image import image_body
from lownoise.sets.halves import Halves, halves
from lownoise.sets.unit_balls import NormBall
from lownoise.solvers import solve

SEED = st.integers(0, 2**32 - 1)


def square(matrix, x):
    """‖matrix·x‖² in fractions."""
    rows = [[Fraction(float(a)) for a in row] for row in matrix]
    return sum(sum(a * Fraction(b) for a, b in zip(row, x, strict=True)) ** 2 for row in rows)


@settings(max_examples=60)
@given(SEED)
def test_squares_are_off_by_no_more_than_their_loss(seed):
    """Also where the two parts nearly cancel, and of lists that are off by as much as is said."""
    rng = np.random.default_rng(seed)
    m, n, d, r = (int(k) for k in rng.integers(1, 6, size=4))
    low = rng.normal(size=(m, d)) * 10.0 ** rng.uniform(-3, 3)
    high = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3) - low[0] * rng.choice([0, 1])
    center = rng.normal(size=d) * rng.choice([0, 1, 1e6])
    off = rng.exponential(size=d) * rng.choice([0, 1e-12, 1e-3, 1])
    matrix = rng.normal(size=(r, d))
    both = Halves(low, high, off)
    found, loss = both.squares(matrix, center), Fraction(both.loss(matrix, center))
    extent = both.extent_up(matrix, center)
    for _ in range(6):
        i, j = int(rng.integers(m)), int(rng.integers(n))
        for signs in (
            rng.choice([-1, 1], d),
            np.sign(matrix[0] * (matrix[0] @ (low[i] + high[j] - center))),
        ):
            parts = zip(low[i], high[j], off * signs, -center, strict=True)
            x = [sum(map(Fraction, map(float, own))) for own in parts]
            assert abs(square(matrix, x) - Fraction(float(found[i + m * j]))) <= loss
            assert all(
                square(row[None], x) <= Fraction(e) ** 2
                for row, e in zip(matrix, extent, strict=True)
            )
    longest = max(range(m * n), key=lambda k: found[k])
    assert longest in both.outer(matrix, center)


def corners(generators):
    """Corners of Σ [−g, g], one of each and its opposite; and the same as any list."""
    body = image_body(frozen(generators), NormBall(generators.shape[1], math.inf))
    assert isinstance(body, SymmetricPoints)
    alone = SymmetricPoints(body.points)
    alone.__dict__["_halves"] = None  # as if it were no sums
    return body, alone


KINDS = {
    "any": lambda rng: rng.normal(size=(4, 15)),
    "orthogonal, all alike": lambda _: np.eye(15),
    "of all scales": lambda rng: rng.normal(size=(5, 15)) * 10.0 ** rng.uniform(-12, 12, 15),
    "some vanish": lambda rng: rng.normal(size=(3, 15)) * (rng.random(15) < 0.5),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_of_corners_reaches_as_far_as_all_of_its_points(kind):
    rng = np.random.default_rng(5)
    generators = KINDS[kind](rng)
    body, alone = corners(generators)
    assert halves(body.points) is not None
    zero = np.zeros(len(generators))
    for _ in range(4):
        matrix = rng.normal(size=(3, len(generators))) / np.max(np.abs(generators), axis=1)
        assert body.length_up(matrix, zero) == pytest.approx(
            alone.length_up(matrix, zero), rel=1e-14
        )
        assert body.extent_up(matrix, zero) == pytest.approx(
            alone.extent_up(matrix, zero), rel=1e-12
        )
    span = np.linalg.matrix_rank(body.spanning / np.max(np.abs(generators)))
    assert span == np.linalg.matrix_rank(generators / np.max(np.abs(generators)))
    assert len(body.spanning) < len(body.points) / 50


@pytest.mark.parametrize("at", [3, 5000, -1])
def test_a_list_with_a_point_elsewhere_is_no_list_of_sums(at):
    points = corners(KINDS["any"](np.random.default_rng(1)))[0].points.copy()
    zero, matrix = np.zeros(4), np.eye(4)
    points[at] *= 3
    moved = SymmetricPoints(frozen(points))
    assert halves(points) is None
    assert moved.length_up(matrix, zero) >= np.max(np.linalg.norm(points, axis=1))
    assert halves(points[:-1]) is None


@cache
def enclosed(name):
    """What the solver says of 15 generators in four dimensions, as sums and as any list."""
    body, alone = corners(KINDS["any"](np.random.default_rng(9)))
    own = {
        "sums": body,
        "any": SymmetricPoints(
            frozen(alone.points[np.random.default_rng(3).permutation(len(alone.points))])
        ),
    }
    return solve(own[name], order=2.0, weights=np.ones(4)).claim.certificate()


def test_the_solver_finds_the_same_noise_of_sums_as_of_any_list():
    sums, listed = enclosed("sums"), enclosed("any")
    assert max(sums.gap, listed.gap) <= 1e-6
    assert sums.lower <= listed.upper
    assert listed.lower <= sums.upper
