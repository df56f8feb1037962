# SPDX-License-Identifier: Apache-2.0
"""Capped balls and meets of unit balls keep every law of a unit ball, by sampling."""

import math

import numpy as np
import pytest

from lownoise.errors import FileError
from lownoise.sets.unit_balls import (
    UNIT_BALLS,
    CappedBall,
    IntersectionBall,
    NormBall,
    SortedBall,
    product_ball,
)

RANDOM = np.random.default_rng(11)
CAP = np.array([0.3, 0.5, 0.7, 0.9])
EVEN = np.full(4, 0.45)
SCALES = np.array([[1.0, 0.8, 1.2, 0.9], [0.9, 1.1, 0.7, 1.0]])
BASES = {
    **{f"capped {r}": CappedBall(CAP, r) for r in (1.0, 1.4, 2.0, 3.0, 8.0)},
    **{f"even {r}": CappedBall(EVEN, r) for r in (1.0, 1.4, 2.0)},
    "two balls": IntersectionBall((NormBall(4, 2.0), NormBall(4, 2.0)), SCALES),
    "two orders": IntersectionBall((NormBall(4, 2.0), NormBall(4, 4.0)), SCALES),
    "three orders": IntersectionBall(
        (NormBall(4, 2.5), CappedBall(np.array([0.9, 0.4, 0.8, 1.0]), 4.0), NormBall(4, 2.0)),
        np.vstack([SCALES, [[0.8, 1.0, 1.0, 1.3]]]),
    ),
    "cross and ball": IntersectionBall(
        (NormBall(4, 1.0), NormBall(4, 2.0)), SCALES * [[0.6], [1.0]]
    ),
    "capped and sorted": IntersectionBall(
        (CappedBall(CAP), SortedBall(np.array([1, 0.5, 0.2, 0]))), SCALES
    ),
    "pairs and cube": IntersectionBall(
        (product_ball([NormBall(2, 2.0), NormBall(2, 1.0)]), NormBall(4, math.inf)), SCALES
    ),
}
EXACT = {"capped 2.0", "capped 3.0", "capped 8.0", "even 1.0", "even 2.0"}
EXACT |= {"two balls", "two orders", "three orders"}
SEARCHED = {"capped and sorted"}  # where parts are no norms a split is searched for


def inside(base, count=4000):
    """Points of the boundary: random ones and extreme ones, the same whichever test asks first."""
    rng = np.random.default_rng(12)
    rows = rng.standard_normal((count, base.dimension)) * 3.0 ** rng.integers(
        -3, 4, (count, base.dimension)
    )
    rows /= base.norm_up(rows)[:, None]
    ends = base.extreme(rng.standard_normal((60, base.dimension)))
    return np.vstack([rows, ends / np.maximum(base.norm_up(ends), 1.0)[:, None]])


@pytest.fixture(params=BASES, scope="module")
def case(request):
    base = BASES[request.param]
    return request.param, base, inside(base)


def test_supports_are_above_points_and_extreme_points_are_near_them(case):
    name, base, points = case
    directions = RANDOM.standard_normal((25, base.dimension))
    support = base.support_up(directions)
    assert np.all(points @ directions.T <= support * (1 + 1e-12))
    ends = base.extreme(directions)
    assert np.all(base.norm_up(ends) <= 1 + 1e-9)
    reached = np.sum(ends * directions, axis=1)
    assert np.all(reached >= support * (1 - (0.1 if name in SEARCHED else 1e-8)))


def test_the_split_of_norms_gives_what_a_general_optimiser_gives():
    from scipy.optimize import minimize

    for name in ("two balls", "two orders", "three orders", "cross and ball", "pairs and cube"):
        base = BASES[name]
        theta = RANDOM.uniform(0.2, 1.0, (6, base.dimension))
        support = base.support_up(theta)
        for direction, bound in zip(theta, support, strict=True):
            held = {"type": "ineq", "fun": lambda x, own=base: 1 - _norms(own, x)}
            found = minimize(
                lambda x, t=direction: -float(t @ x), np.full(4, 0.2), method="SLSQP",
                bounds=[(1e-9, 2)] * 4, constraints=[held], options={"ftol": 1e-13, "maxiter": 999},
            )  # fmt: skip
            assert bound == pytest.approx(-found.fun, rel=1e-6)


def _norms(base, x):
    """The norm of each part of a meet, by the definition, for x ≥ 0."""
    found = []
    for part, scale in zip(base.parts, base.scales, strict=True):
        y = scale * x
        if isinstance(part, CappedBall):
            found += [*(y / part.cap), np.sum(y**part.order) ** (1 / part.order)]
        elif isinstance(part, NormBall):
            found += list(y) if math.isinf(part.order) else [np.linalg.norm(y, part.order)]
        else:
            found += [np.linalg.norm(y[:2]), np.sum(y[2:])]
    return np.array(found)


@pytest.mark.parametrize("orders", [(1.0, 2.0), (1.05, 1.9), (2.0, 7.0), (3.0, 900.0), (1.0, 1.0)])
def test_bounds_of_two_norms_are_met_at_every_scale(orders):
    """A bound and a point of the body that comes near it prove each other."""
    k = 9
    for spread, near in ((0.3, 1e-8), (3.0, 5e-3)):
        scales = 10.0 ** RANDOM.uniform(-spread, spread, (2, k))
        base = IntersectionBall((NormBall(k, orders[0]), NormBall(k, orders[1])), scales)
        theta = RANDOM.standard_normal((40, k)) * 10.0 ** RANDOM.uniform(-spread, spread, (40, k))
        theta[0], theta[1], theta[2, 1:] = 0.0, 1.0, 0.0
        theta[3] *= 2.0**-500
        theta[4] *= 2.0**500
        ends = base.extreme(theta)
        bounds, reached = base.support_up(theta), np.sum(ends * theta, axis=1)
        assert np.all(base.norm_up(ends) <= 1 + 1e-12)
        assert np.all(reached <= bounds)
        assert np.all(reached >= bounds * (1 - near))
        assert np.all(inside(base, 500) @ theta.T <= bounds * (1 + 1e-12))


def test_energy_is_above_every_point_and_near_the_best(case):
    name, base, points = case
    for _ in range(8):
        y = RANDOM.uniform(size=base.dimension) ** 2
        energy = base.energy_up(y)
        best = float(np.max(np.square(points) @ y))
        assert best <= energy * (1 + 1e-12)
        assert energy <= best * (1.02 if name in EXACT else 1.4)


def test_moments_are_not_below_what_energies_say(case):
    # z in t·hull{x²} means Σyz ≤ t·energy(y) for every y
    _, base, points = case
    for _ in range(3):
        z = RANDOM.uniform(size=base.dimension)
        t = base.moment_up(z)
        for _ in range(4):
            y = RANDOM.uniform(size=base.dimension) ** 3
            assert float(y @ z) <= t * base.energy_up(y) * (1 + 1e-9)
        assert base.moment_up(2 * z) == pytest.approx(2 * t, rel=1e-9)
    single = np.square(points[0])
    assert base.moment_up(single) <= 1 + 1e-6


def test_what_is_spread_is_in_the_hull_and_full(case):
    _, base, _ = case
    gains = RANDOM.uniform(0.1, 1.0, base.dimension)
    z = base.best_squares(gains)
    assert base.moment_up(z) <= 1 + 1e-9
    assert np.all(z > 0)


def test_widths_are_reached_along_each_axis(case):
    _, base, points = case
    assert np.all(np.abs(points) <= base.widths() * (1 + 1e-12))
    np.testing.assert_allclose(base.norm_up(np.diag(base.widths())), 1.0, rtol=1e-9)


def test_is_written_and_read_back(case):
    _, base, points = case
    again = UNIT_BALLS.read(UNIT_BALLS.write(base))
    assert np.array_equal(again.norm_up(points), base.norm_up(points))


@pytest.mark.parametrize("order", [1.0, 1.5])
def test_moments_of_even_caps_are_exact(order):
    # by linear programming over all arrangements of the extreme squares
    from itertools import permutations

    from scipy.optimize import linprog

    base = CappedBall(EVEN, order)
    filled = np.sort(np.abs(base.extreme(np.array([[4.0, 3.0, 2.0, 1.0]]))[0]))
    squares = np.array(sorted(set(permutations(np.square(filled)))))
    for _ in range(10):
        z = RANDOM.uniform(size=4)
        found = linprog(np.ones(len(squares)), A_ub=-squares.T, b_ub=-z)
        assert base.moment_up(z) == pytest.approx(found.fun, rel=1e-8)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "meet", "parts": [], "scales": [[1.0]]},
        {"kind": "meet", "parts": [{"kind": "norm", "size": 2, "order": 2}], "scales": [[1.0]]},
        {"kind": "meet", "parts": [{"kind": "norm", "size": 1, "order": 2}], "scales": [[0.0]]},
        {"kind": "capped", "cap": [0.5], "order": 0.5},
    ],
)
def test_refuses_damaged_files(fields):
    with pytest.raises(FileError):
        UNIT_BALLS.read(fields)
