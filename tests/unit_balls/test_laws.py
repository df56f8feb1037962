# SPDX-License-Identifier: Apache-2.0
"""What every unit ball says of itself is true, rounded outward and hardly more."""

import math
from itertools import permutations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lownoise.sets.unit_balls import CappedBall, MixedBall, NormBall, SortedBall, product_ball
from unit_ball_cases import BASES, best_spread, exact_norm, least_multiple, parts, random_points

SEED = st.integers(0, 2**32 - 1)
NEAR = 1e-9
every = pytest.mark.parametrize("base", BASES.values(), ids=list(BASES))


def rows(base, seed, count=24):
    """Directions of every size, some coordinates 0 or equal, some rows 0."""
    rng = np.random.default_rng(seed)
    k = base.dimension
    found = rng.normal(size=(count, k)) * 10.0 ** rng.uniform(-150, 150, (count, 1))
    found[::3] *= 10.0 ** rng.uniform(-12, 0, (len(found[::3]), k))
    found[1::3] *= rng.integers(0, 2, (len(found[1::3]), k))
    found[2] = 0.0
    found[5] = 2.5e-162 * rng.integers(-1, 2, k)  # whose squares vanish
    found[8] = 1.0
    return found


def exact(base):
    """Whether `moment_up` is the least multiple: a sorted norm mixes corners of one size only."""
    return not any(isinstance(part, SortedBall) for part, _ in parts(base))


@pytest.mark.grid(3)
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_the_norm_is_the_defined_one_rounded_up(base, seed):
    points = rows(base, seed)
    found = base.norm_up(points)
    for x, norm in zip(points, found, strict=True):
        exact = exact_norm(base, x)
        assert mpmath.mpf(float(norm)) >= exact
        assert float(norm) <= exact * (1 + mpmath.mpf(NEAR))


@pytest.mark.grid(3)
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_the_norm_is_a_norm_that_no_sign_changes(base, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 40, base.dimension))
    a = 10.0 ** rng.uniform(-9, 9, 40)
    signs = rng.choice([-1.0, 1.0], x.shape)
    assert np.array_equal(base.norm_up(signs * x), base.norm_up(x))
    assert base.norm_up(a[:, None] * x) == pytest.approx(a * base.norm_up(x), rel=1e-12)
    assert np.all(base.norm_up(x + y) <= (base.norm_up(x) + base.norm_up(y)) * (1 + 1e-12))
    assert np.all(base.norm_up(x * rng.random(x.shape)) <= base.norm_up(x) * (1 + 1e-12))


@pytest.mark.grid
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_the_support_is_reached_and_never_exceeded(base, seed):
    rng = np.random.default_rng(seed)
    directions = rows(base, seed)
    support = base.support_up(directions)
    ends = base.extreme(directions)
    assert ends.shape == directions.shape
    with mpmath.workdps(40):
        for theta, x, most in zip(directions, ends, support, strict=True):
            norm = exact_norm(base, x)
            assert norm <= 1 + mpmath.mpf(2) ** -44
            pairs = zip(theta, x, strict=True)
            value = mpmath.fsum(mpmath.mpf(float(a)) * mpmath.mpf(float(b)) for a, b in pairs)
            assert value <= mpmath.mpf(float(most)) * max(norm, 1)
            assert value >= mpmath.mpf(float(most)) * (1 - NEAR)
    plain = rng.normal(size=(20, base.dimension))
    inside = random_points(base, rng, 30)
    assert np.all((plain @ inside.T).max(axis=1) <= base.support_up(plain))


@pytest.mark.grid(3)
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_energy_is_reached_and_never_exceeded(base, seed):
    """Σ yx² is convex: over a polytope it is greatest at a corner, over others where x² aligns."""
    rng = np.random.default_rng(seed)
    y = rng.exponential(size=base.dimension) * 10.0 ** rng.uniform(-6, 6, base.dimension)
    most = base.energy_up(y)
    inside = random_points(base, rng, 60)
    assert np.all(np.square(inside) @ y <= most)
    starts = np.vstack([inside, np.eye(base.dimension), rng.random((30, base.dimension))])
    for _ in range(12):  # uphill: to the point that is extreme along the gradient
        starts = base.extreme(starts * y)
    reached = float(np.max(np.square(starts) @ y))
    assert reached <= most * (1 + 1e-12)
    assert reached >= most * (1 - 1e-6)


@pytest.mark.grid(3)
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_moments_are_in_the_hull_of_squares(base, seed):
    rng = np.random.default_rng(seed)
    z = rng.exponential(size=base.dimension) ** 2 * 10.0 ** rng.uniform(-4, 4)
    most, least = base.moment_up(z), least_multiple(base, z)
    assert most >= least * (1 - 1e-9)  # the linear program's own tolerance
    assert most <= least * (1 + 1e-9 if exact(base) else 2)
    for _ in range(20):
        y = rng.exponential(size=base.dimension) ** 3
        assert y @ z <= most * base.energy_up(y) * (1 + 1e-12)


@pytest.mark.grid(3)
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_the_moment_of_a_point_is_at_most_its_squared_norm(base, seed):
    for x in random_points(base, np.random.default_rng(seed), 10):
        assert base.moment_up(np.square(x)) <= (1 + 1e-9 if exact(base) else 2)


@pytest.mark.grid
@every
@settings(max_examples=2)
@given(seed=SEED)
def test_the_spread_is_in_the_hull_and_nearly_the_best(base, seed):
    g = np.random.default_rng(seed).exponential(size=base.dimension) ** 2 + 1e-3
    z = base.best_squares(g)
    assert base.moment_up(z) <= 1 + 1e-9
    value, best = float(np.sum(np.sqrt(g * z))), best_spread(base, g)
    assert value >= best * (1 - 1e-5)


@every
def test_widths_are_the_supports_of_the_axes(base):
    axes = base.support_up(np.eye(base.dimension))
    assert base.widths() == pytest.approx(axes, rel=1e-12)
    with mpmath.workdps(40):
        for i, width in enumerate(base.widths()):
            unit = np.eye(base.dimension)[i]
            assert mpmath.mpf(float(width)) * exact_norm(base, unit) >= 1 - mpmath.mpf(10) ** -35


@pytest.mark.grid
@every
@settings(max_examples=3)
@given(seed=SEED)
def test_a_row_has_the_same_norm_wherever_it_stands(base, seed):
    """To the last bit: or records would tell on each other by their codes."""
    rng = np.random.default_rng(seed)
    points = rows(base, seed, 37)
    known = base.norm_up(points)
    order = rng.permutation(len(points))
    assert np.array_equal(base.norm_up(points[order]), known[order])
    padded = np.vstack([points, rng.normal(size=(int(rng.integers(1, 90)), base.dimension))])
    assert np.array_equal(base.norm_up(padded)[: len(points)], known)
    i = int(rng.integers(0, len(points)))
    assert np.array_equal(base.norm_up(np.repeat(points[i : i + 1], 16, axis=0)), [known[i]] * 16)
    wide = np.asfortranarray(np.hstack([points, points]))[:, : base.dimension]
    assert np.array_equal(base.norm_up(wide), known)


WIDE = {
    **{f"ball of order {r:g}": NormBall(37, r) for r in (1.0, 1.5, 2.0, 3.0, math.inf)},
    "capped": CappedBall(np.linspace(0.1, 1.0, 37)),
    "sorted": SortedBall(np.linspace(1.0, 0.0, 37)),
    "hull": MixedBall((NormBall(20, 3.0), NormBall(17, 1.5)), 1.0),
    "mixed": MixedBall(tuple(NormBall(2, 3.0) for _ in range(18)), 1.5),
}


@pytest.mark.parametrize("base", WIDE.values(), ids=list(WIDE))
def test_many_coordinates_are_summed_in_one_order(base):
    """Where a sum of many could be taken in several ways, by the layout or the number of rows."""
    points = np.random.default_rng(0).normal(size=(300, base.dimension))
    known = base.norm_up(points)
    assert np.array_equal(base.norm_up(np.asfortranarray(points)), known)
    for rows in (2, 3, 17, 255):
        assert np.array_equal(base.norm_up(points[:rows]), known[:rows])
        assert np.array_equal(base.norm_up(points[-rows:]), known[-rows:])


def test_an_ordered_norm_is_the_most_over_permutations():
    weights = BASES["ordered ℓ₁"].weights
    x = np.random.default_rng(0).normal(size=(50, 4))
    most = np.max([np.abs(x[:, p]) @ weights for p in map(list, permutations(range(4)))], axis=0)
    assert BASES["ordered ℓ₁"].norm_up(x) == pytest.approx(most, rel=1e-12)


def test_published_norms_of_one_vector():
    x = np.array([[3.0, -4.0, 12.0]])
    for base, norm in (
        (NormBall(3, 1.0), 19.0),
        (NormBall(3, 2.0), 13.0),
        (NormBall(3, 3.0), 1819 ** (1 / 3)),
        (NormBall(3, math.inf), 12.0),
        (SortedBall(np.array([1.0, 1.0, 0.0])), 16.0),
        (CappedBall(np.array([0.5, 0.5, 0.5])), 24.0),
        (product_ball([NormBall(2, 2.0), NormBall(1, 5.0)]), 12.0),
    ):
        assert base.norm_up(x)[0] == pytest.approx(norm, rel=1e-12)


def test_cubes_side_by_side_are_one_cube_and_others_stay():
    cube, ball = NormBall(2, math.inf), NormBall(2, 2.0)
    assert product_ball([cube, NormBall(1, 1.0), cube]) == NormBall(5, math.inf)
    assert product_ball([ball]) is ball
    mixed = product_ball([cube, product_ball([ball, cube]), NormBall(1, 2.0)])
    assert [part.dimension for part in mixed.parts] == [2, 2, 3]
    assert mixed.dimension == 7
