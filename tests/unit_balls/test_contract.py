# SPDX-License-Identifier: Apache-2.0
"""What every unit ball promises, held to points of it: one row in `MEMBERS`, and all laws run."""

import json
import math

import numpy as np
import pytest

from lownoise.sets.unit_balls import UNIT_BALLS, NormBall, product_ball
from unit_ball_cases import MATRICES, MEETS, MEMBERS, PAIRS

NEAR = 1e-8
# how far what is proved, or found, may be from what points of the unit ball reach
SEARCHED = {"capped and sorted"}  # where parts are no norms a split is searched for
SUPPORT = dict.fromkeys(SEARCHED, 0.1) | dict.fromkeys(PAIRS, 0.7)
LOOSE_ENERGIES = {"capped 1.0", "capped 1.4", "even 1.4", "cross and ball", "capped and sorted"}
LOOSE_ENERGIES |= {"pairs and cube", *PAIRS, *MATRICES}
LOOSE_MOMENTS = {"capped and sorted", *MATRICES, *PAIRS}


@pytest.fixture(params=MEMBERS, scope="module")
def case(request):
    """Return a name, its unit ball, and points of it: extreme ones, and on many rays."""
    base = MEMBERS[request.param]
    rng = np.random.default_rng(12)
    shape = (300, base.dimension)
    rows = rng.normal(size=shape) * 3.0 ** rng.integers(-3, 4, shape)
    rows[:40] *= rng.random((40, base.dimension)) < 0.5
    ends = base.extreme(rng.normal(size=(30, base.dimension)))
    points = np.vstack([rows[np.any(rows, axis=1)], ends])
    sizes = base.norm_up(points)
    sizes[-len(ends) :] = np.maximum(sizes[-len(ends) :], 1.0)
    return request.param, base, points / sizes[:, None]


@pytest.mark.grid(least=3)
def test_no_point_is_beyond_the_support_and_extreme_points_come_near_it(case):
    name, base, points = case
    theta = np.random.default_rng(1).normal(size=(8, base.dimension))
    support, ends = base.support_up(theta), base.extreme(theta)
    assert np.all(points @ theta.T <= support * (1 + 1e-12))
    assert np.all(base.norm_up(ends) <= 1 + 1e-9)
    reached = np.sum(ends * theta, axis=1)
    assert np.all(reached <= support * (1 + 1e-9))
    assert np.all(reached >= support * (1 - SUPPORT.get(name, NEAR)))
    assert np.all(np.abs(base.support_up(-theta) - support) <= 1e-9 * support)


@pytest.mark.grid
def test_no_point_is_wider_than_the_widths_and_each_is_reached(case):
    _, base, points = case
    axes = np.eye(base.dimension)
    assert np.all(np.abs(points) <= base.widths() * (1 + 1e-12))
    assert np.sum(axes * base.extreme(axes), axis=1) == pytest.approx(base.widths(), rel=1e-3)
    assert base.norm_up(np.diag(base.widths())) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.grid(least=3)
def test_no_point_is_out_of_the_balls_around_and_no_ball_inside_is_out(case):
    _, base, points = case
    lengths = np.linalg.norm(points, axis=1)
    assert np.max(lengths) <= base.outer_radius * (1 + 1e-12)
    if base.inner_radius > 0:
        rows = np.vstack([points, np.eye(base.dimension), np.ones((1, base.dimension))])
        rows /= np.linalg.norm(rows, axis=1)[:, None] / base.inner_radius
        assert np.max(base.norm_up(rows)) <= 1 + 1e-9


@pytest.mark.grid(least=3)
def test_no_point_has_more_energy_than_is_said(case):
    name, base, points = case
    rng = np.random.default_rng(2)
    for _ in range(3):
        y = rng.exponential(size=base.dimension) ** 2
        energy = base.energy_up(y)
        assert float(np.max(np.square(points) @ y)) <= energy * (1 + 1e-12)
        starts = points
        for _ in range(0 if name in SEARCHED else 6):  # the sum is convex: uphill, by its gradient
            starts = base.extreme(starts[-30:] * y)
        best = float(np.max(np.square(starts) @ y))
        assert best <= energy * (1 + 1e-9)
        assert energy <= best * (2.0 if name in LOOSE_ENERGIES else 1.02)


@pytest.mark.grid(least=3)
def test_moments_are_no_less_than_energies_say_and_no_more_than_a_point_needs(case):
    # z in t·hull{x²} means Σyz ≤ t·energy(y) for every y
    name, base, points = case
    rng = np.random.default_rng(3)
    for _ in range(2):
        z = rng.exponential(size=base.dimension)
        t = base.moment_up(z)
        for _ in range(4):
            y = rng.exponential(size=base.dimension) ** 3
            assert float(y @ z) <= t * base.energy_up(y) * (1 + 1e-9)
        assert base.moment_up(2 * z) == pytest.approx(2 * t, rel=1e-9)
    sorted_one = "sorted" in name or "largest" in name or "ordered" in name
    if name not in LOOSE_MOMENTS and not sorted_one and base.unconditional:
        assert max(base.moment_up(np.square(x)) for x in points[:20]) <= 1 + 1e-6


@pytest.mark.grid(least=3)
def test_the_best_squares_are_in_the_hull_and_reach_farther_than_points(case):
    name, base, points = case
    rng = np.random.default_rng(4)
    for _ in range(2):
        gains = rng.exponential(size=base.dimension) + 0.01
        z = base.best_squares(gains)
        assert base.moment_up(z) <= 1 + NEAR
        assert np.all(z >= 0)
        most = float(np.max(np.abs(points) @ np.sqrt(gains)))
        short = 0.4 if name in (*PAIRS, *MEETS) else 0.15 if name in MATRICES else 1e-6
        assert float(np.sum(np.sqrt(gains * z))) >= most * (1 - short)


@pytest.mark.grid
def test_no_change_of_signs_is_larger_than_the_signed_norm(case):
    _, base, points = case
    rng = np.random.default_rng(5)
    for x in np.abs(points[:3]):
        signs = rng.choice([-1.0, 1.0], (40, base.dimension))
        bound = float(base.signed_norm_up(x[None])[0])
        if base.unconditional:
            assert base.norm_up(signs * x) == pytest.approx(bound, rel=1e-12)
        assert np.max(base.norm_up(signs * x)) <= bound * (1 + 1e-12)
        pair = product_ball([base, NormBall(1, math.inf)])
        assert pair.signed_norm_up(np.append(x, 0.0)[None])[0] >= bound


@pytest.mark.grid
def test_a_row_has_the_same_norm_wherever_it_stands(case):
    """To the last bit: or records would tell on each other by their codes."""
    _, base, points = case
    rows = 1.3 * points[:64]
    known = base.norm_up(rows)
    assert np.array_equal(base.norm_up(rows[::-1])[::-1], known)
    assert np.array_equal(base.norm_up(np.vstack([0 * rows[:7], rows[:57]]))[7:], known[:57])


@pytest.mark.grid(least=3)
def test_it_comes_back_from_its_form_in_a_file(case):
    _, base, points = case
    fields = UNIT_BALLS.write(base)
    again = UNIT_BALLS.read(json.loads(json.dumps(fields)))
    assert type(again) is type(base)
    assert UNIT_BALLS.write(again) == fields
    assert np.array_equal(again.norm_up(points), base.norm_up(points))
    assert np.array_equal(again.support_up(points[:9]), base.support_up(points[:9]))
