# SPDX-License-Identifier: Apache-2.0
"""The nearest point of an image proves itself, and no record's answer hangs on another's."""

import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.sets.unit_balls import IntersectionBall, NormBall
from lownoise.sets.unit_balls.limits import factored, solved

RNG = np.random.default_rng(17)
DOMAINS = {
    "zonotope": ln.Zonotope(RNG.normal(size=(6, 3)), [5.0, -1.0, 100.0]),
    "zonotope of many": ln.Zonotope(RNG.normal(size=(25, 3))),
    "flat zonotope": ln.Zonotope(RNG.normal(size=(5, 2)) @ RNG.normal(size=(2, 3))),
    "box and ball": ln.minkowski_sum(ln.Box([-1] * 4, [1] * 4), ln.Ball(4, radius=0.3)),
    "three ellipsoids": ln.minkowski_sum(
        *[ln.Ellipsoid(RNG.normal(size=(4, 4))) for _ in range(3)]
    ),
    "orders 1 and 2": ln.minkowski_sum(ln.Ball(5), ln.Ball(5, order=1)),
    "orders 1.5 and 3": ln.minkowski_sum(ln.Ball(3, order=1.5), ln.Ball(3, order=3)),
    "clipped and round": ln.minkowski_sum(
        ln.intersection(ln.Ball(3), ln.Box([-0.6] * 3, [0.6] * 3)),
        ln.intersection(ln.Ball(3, order=1), ln.Ball(3, radius=0.8)),
    ),
}
every = pytest.mark.parametrize("domain", DOMAINS.values(), ids=list(DOMAINS))


def outside(domain, count):
    return domain.center + 3 * domain.extent * RNG.normal(size=(count, domain.dimension))


@pytest.mark.grid(3)
@every
def test_what_is_left_is_at_right_angles_to_the_body(domain):
    """x is the nearest point if and only if ⟨g − x, y − x⟩ ≤ 0 for all y: one support says it."""
    rows = outside(domain, 40)
    unit = np.where(domain.extent > 0, domain.extent, 1.0)
    near = (domain.clamp(rows) - domain.center) / unit
    left = np.where(domain.extent > 0, np.clip((rows - domain.center) / unit, -2, 2), 0.0) - near
    assert np.count_nonzero(np.linalg.norm(left, axis=1) > 0.01) > 20  # most of them are outside
    for rest, x in zip(left, near, strict=True):
        most = domain.support(rest / unit) - (rest / unit) @ domain.center
        assert most - rest @ x <= 1e-11 * np.linalg.norm(rest) + 1e-15


@pytest.mark.grid(3)
@every
def test_points_of_the_body_stay_and_those_beyond_do_not(domain):
    ends = domain.extreme(RNG.normal(size=(30, domain.dimension)))
    share = RNG.dirichlet(np.ones(3), size=10)
    mixed = np.einsum("ij,ijk->ik", share, ends.reshape(10, 3, -1))
    for rows, room in ((ends, 3e-7), (mixed, 3e-7)):
        assert np.all(np.abs(domain.clamp(rows) - rows) <= room * domain.extent + 1e-12)
    for end in ends[:5]:
        assert domain.contains(end)
        assert not domain.contains(domain.center + (end - domain.center) * (1 + 1e-5))


@pytest.mark.grid(0, least=3)
@every
def test_no_row_hangs_on_another_row(domain):
    """Also where others are no numbers, or have equations that cannot be solved."""
    rows = np.vstack(
        [outside(domain, 150), domain.extreme(RNG.normal(size=(50, domain.dimension)))]
    )
    known = domain.clamp(rows)
    order = RNG.permutation(len(rows))
    assert np.array_equal(domain.clamp(rows[order]), known[order])
    for wild in (np.nan, np.inf, 0.0):
        changed = rows.copy()
        changed[::7] = wild
        found = domain.clamp(changed)
        same = np.arange(len(rows)) % 7 != 0
        assert np.array_equal(found[same], known[same])
    for i in (0, 199):
        assert np.array_equal(domain.clamp(rows[i]), known[i])


@pytest.mark.grid(3)
@every
def test_nearest_points_are_their_own_nearest_points(domain):
    """On a face between two faces distances and multipliers vanish together."""
    near = domain.clamp(outside(domain, 200))
    assert np.all(np.abs(domain.clamp(near) - near) <= 3e-7 * domain.extent + 1e-12)


def test_corners_of_zonotopes_stay_to_the_last_digits():
    for name in ("zonotope", "flat zonotope"):
        domain = DOMAINS[name]
        ends = domain.extreme(RNG.normal(size=(40, domain.dimension)))
        room = 1e-11 * (domain.extent + np.abs(domain.center))
        assert np.all(np.abs(domain.clamp(ends) - ends) <= room + 1e-12)


def test_a_general_optimiser_comes_no_nearer():
    from scipy.optimize import lsq_linear

    factor = RNG.normal(size=(4, 9))
    domain = ln.Zonotope(factor.T)
    rows = outside(domain, 20)
    near = domain.clamp(rows) / domain.extent
    scaled = factor / domain.extent[:, None]
    for goal, x in zip(np.clip(rows / domain.extent, -2, 2), near, strict=True):
        best = scaled @ lsq_linear(scaled, goal, (-1, 1), method="bvls").x
        np.testing.assert_allclose(x, best, atol=1e-9)


def test_systems_are_solved_each_alone():
    root = RNG.normal(size=(5, 6, 6))
    systems = root @ root.transpose(0, 2, 1)
    systems[2] = 0.0
    right = RNG.normal(size=(5, 6))
    with np.errstate(all="ignore"):
        found = solved(factored(systems), right)
    kept = [0, 1, 3, 4]
    wanted = np.linalg.solve(systems[kept], right[kept][:, :, None])[:, :, 0]
    np.testing.assert_allclose(found[kept], wanted, rtol=1e-6)
    assert not np.any(np.isfinite(found[2]))


def test_too_many_norms_are_left_to_the_search():
    pairs = ln.product(*[ln.Ball(2)] * 17).base
    assert pairs.limits is None
    few = IntersectionBall((NormBall(4, 2.0), NormBall(4, math.inf)), np.ones((2, 4)))
    assert few.limits.orders.tolist() == [2.0]
