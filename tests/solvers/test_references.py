# SPDX-License-Identifier: Apache-2.0
"""Three slow methods for the least noise: published optima, and each other's brackets."""

import itertools
import math

import numpy as np
import pytest
from tests.references import ellipsoid_method, fixed_point
from tests.references.ellipsoid_method import _cut

from lownoise.errors import PlanError
from solvers.semidefinite import least

ORDERS = (2.0, 3.0, 8.0, math.inf)
FLOAT = 1e-10  # the brackets are in plain floats
PROGRAMME = 1e-6  # what the interior-point solver promises, and then some


def root_norm(covariance, queries, order):
    deviations = np.sqrt(np.diag(queries @ covariance @ queries.T))
    return np.linalg.norm(deviations, order)


def excess(covariance, shift, points):
    moved = points - shift
    return np.max(np.sum((moved @ np.linalg.pinv(covariance, rcond=1e-9)) * moved, axis=1))


def problem(seed, dimension, *, asked):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(3 * dimension, dimension)) + 1
    return points, rng.normal(size=(2 * dimension + 1, dimension)) if asked else None


def corners(lower, upper):
    return np.array(list(itertools.product(*zip(lower, upper, strict=True))))


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", ORDERS)
def test_a_box_costs_the_published_value(order):
    """002 (27): Γ_p = ½‖b−a‖_{2p/(p+2)} under a free shift."""
    lower, upper = np.array([-1.0, 0.0, 3.0]), np.array([1.0, 5.0, 3.5])
    r = 2.0 if math.isinf(order) else 2 * order / (order + 2)
    published = np.linalg.norm(upper - lower, r) / 2
    points = corners(lower, upper)
    for found in (
        fixed_point(points, order=order, centered=False),
        ellipsoid_method(points, order=order),
    ):
        assert found.lower <= published * (1 + FLOAT)
        assert published <= found.upper * (1 + FLOAT)
        assert found.gap <= 1e-4
        assert found.shift == pytest.approx((lower + upper) / 2, abs=0.02)
    assert least(points, order=order, centered=False) == pytest.approx(published, rel=PROGRAMME)


@pytest.mark.parametrize("n", [2, 4, 5])
def test_a_simplex_costs_the_published_value(n):
    """Γ₂ = (N−1)/√N, in the hyperplane where the simplex lies."""
    published = (n - 1) / math.sqrt(n)
    for found in (fixed_point(np.eye(n), centered=False), ellipsoid_method(np.eye(n))):
        assert found.lower <= published * (1 + FLOAT)
        assert published <= found.upper * (1 + FLOAT)
        assert found.gap <= 1e-4
        assert found.covariance @ np.ones(n) == pytest.approx(np.zeros(n), abs=1e-12)
    assert least(np.eye(n), centered=False) == pytest.approx(published, rel=PROGRAMME)


@pytest.mark.parametrize(
    ("order", "variance", "digits"),
    [(2.0, 4.409397203944 * 64, 1e-12), (math.inf, 4.457869, 2e-7)],
)
def test_prefix_sums_cost_the_published_value(order, variance, digits):
    """γ_F² and γ₂² of the lower triangular ones, n = 64, to the digits they are known to."""
    found = fixed_point(np.tril(np.ones((64, 64))).T, order=order, rtol=1e-9)
    assert found.gap <= 1e-9
    assert found.lower**2 <= variance * (1 + digits)
    assert variance * (1 - digits) <= found.upper**2


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_the_three_agree(dimension, order, centered, asked):
    points, queries = problem(dimension, dimension, asked=asked)
    ask = {"queries": queries, "order": order, "centered": centered}
    fast = fixed_point(points, **ask)
    cuts = ellipsoid_method(points, **ask)
    third = least(points, **ask)
    assert fast.gap <= 1e-6
    assert cuts.gap <= 1e-4
    assert fast.lower <= cuts.upper * (1 + FLOAT)
    assert cuts.lower <= fast.upper * (1 + FLOAT)
    for found in (fast, cuts):
        assert found.lower <= third * (1 + PROGRAMME)
        assert third <= found.upper * (1 + PROGRAMME)


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("method", [fixed_point, ellipsoid_method])
def test_the_noise_has_the_upper_bound_and_covers(method, centered, order):
    """Whatever a method says of itself, its covariance is a feasible point of that value."""
    points, queries = problem(7, 3, asked=True)
    found = method(points, queries=queries, order=order, centered=centered)
    assert excess(found.covariance, found.shift, points) <= 1 + FLOAT
    assert root_norm(found.covariance, queries, order) == pytest.approx(found.upper, rel=FLOAT)
    if centered:
        assert not np.any(found.shift)


@pytest.mark.grid(1)
@pytest.mark.parametrize("rtol", [0.5, 0.1, 0.02])
@pytest.mark.parametrize("centered", [True, False])
def test_bounds_hold_wherever_the_ellipsoid_method_stops(centered, rtol):
    """A lower bound that is wrong shows when the ellipsoid is still large."""
    for seed, order in itertools.product(range(6), (2.0, 3.0, math.inf)):
        points, queries = problem(seed, 1 + seed % 2, asked=seed % 3 == 0)
        ask = {"queries": queries, "order": order, "centered": centered}
        found = ellipsoid_method(points, rtol=rtol, **ask)
        fine = fixed_point(points, rtol=1e-5, **ask)
        assert found.lower <= fine.upper * (1 + FLOAT)
        assert fine.lower <= found.upper * (1 + FLOAT)


@pytest.mark.parametrize("depth", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_cut_keeps_what_is_below_it_and_touches(n, depth):
    """All of {|y| ≤ 1, ⟨s, y⟩ ≤ −depth} stays inside; its pole and its rim are on the border."""
    rng = np.random.default_rng(n)
    B, z = np.eye(n) + 0.3 * rng.normal(size=(n, n)), rng.normal(size=n)
    s = rng.normal(size=n)
    s /= np.linalg.norm(s)
    after, narrowed = _cut(z, B, s, depth)
    across = rng.normal(size=(200, n))
    across -= np.outer(across @ s, s)
    lengths = np.linalg.norm(across, axis=1, keepdims=True)
    across = across / lengths if n > 1 else np.zeros((200, 1))
    height = np.linspace(depth, 1, 200)[:, None]
    kept = -height * s + np.sqrt(1 - height**2) * across
    reached = np.linalg.norm(np.linalg.solve(narrowed, (z + kept @ B.T - after).T), axis=0)
    assert np.all(reached <= 1 + FLOAT)
    assert reached[[0, -1]] == pytest.approx([1, 1])


def test_four_dimensions_of_the_ellipsoid_method_are_within_reach():
    points, queries = problem(4, 4, asked=True)
    cuts = ellipsoid_method(points, queries=queries, order=3.0)
    fast = fixed_point(points, queries=queries, order=3.0, centered=False)
    assert cuts.lower <= fast.upper * (1 + FLOAT)
    assert fast.lower <= cuts.upper * (1 + FLOAT)


@pytest.mark.parametrize("method", [fixed_point, ellipsoid_method])
@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
def test_flat_bodies_are_solved_where_they_lie(method, order):
    """A segment far from 0, twice: half its length in every coordinate, and nothing across."""
    ends = np.array([[1e6, 1.0, 0.0], [1e6, 1.0, 0.0], [1e6 + 6.0, 9.0, 0.0]])
    found = method(ends, order=order, centered=False)
    assert found.upper == pytest.approx(np.linalg.norm([3.0, 4.0], order), rel=1e-4)
    one = method(ends[:2], order=order, centered=False)
    assert (one.lower, one.upper) == (0.0, 0.0)
    assert one.shift == pytest.approx(ends[0])


@pytest.mark.parametrize("order", [4.0, math.inf])
@pytest.mark.parametrize("method", [fixed_point, ellipsoid_method])
def test_sides_that_cost_nothing_do_not_break_it(method, order):
    """±sⱼeⱼ cost ‖s‖_p. At p = ∞ the short are free: weights vanish and M is not unique."""
    sides = np.array([1.0, 0.1, 0.01])
    found = method(np.diag(sides), order=order, centered=True)
    least_cost = np.linalg.norm(sides, order)
    assert found.lower <= least_cost * (1 + FLOAT)
    assert least_cost <= found.upper * (1 + FLOAT)
    assert found.gap <= 1e-4


@pytest.mark.grid
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("centered", [True, False])
def test_no_round_of_the_fixed_point_goes_back(centered, order):
    """`lower` is the fidelity of the last weights: a longer run has no less than a shorter."""
    points, queries = problem(11, 3, asked=True)
    values = [
        fixed_point(
            points, queries=queries, order=order, centered=centered, rtol=0.0, rounds=r
        ).lower
        for r in (1, 2, 3, 5, 8, 13, 21, 34, 55)
    ]
    assert all(a <= b * (1 + FLOAT) for a, b in itertools.pairwise(values))


def test_two_points_do_not_swap_their_weights_for_ever():
    """w ← w·g would, under a free shift; w ← w·√g is done in one step from any start."""
    found = fixed_point([[0.0], [0.0], [0.0], [2.0]], centered=False, rtol=1e-9)
    assert found.upper == pytest.approx(1.0)
    assert found.rounds == 2


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"points": [[1.0, 0.0]], "order": 1.5}, "order=1.5"),
        ({"points": [[1.0, 0.0]], "order": math.nan}, "order=nan"),
        ({"points": [1.0, 0.0]}, "points"),
        ({"points": [[math.inf, 0.0]]}, "points"),
        ({"points": [[1.0, 0.0]], "queries": [[1.0]]}, "queries"),
        ({"points": np.eye(2), "queries": [[1.0, 1.0]], "centered": True}, "queries"),
    ],
)
@pytest.mark.parametrize("method", [fixed_point, ellipsoid_method])
def test_refuses_in_one_line(method, arguments, field):
    with pytest.raises(PlanError, match=f"^{field}.*; .+") as error:
        method(**arguments)
    assert "\n" not in str(error.value)


def test_the_ellipsoid_method_refuses_five_dimensions():
    with pytest.raises(PlanError, match=r"points span 5 dimensions.*; use fixed_point"):
        ellipsoid_method(np.eye(5), centered=True)
    assert ellipsoid_method(np.eye(5)[:4], centered=True).upper == pytest.approx(2, rel=1e-4)
