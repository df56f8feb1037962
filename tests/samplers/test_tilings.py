# SPDX-License-Identifier: Apache-2.0
"""The tilings of hulls and zonotopes, checked without the claims that made them."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from lownoise.errors import PlanError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.uniform import UniformHull, UniformZonotope
from lownoise.samplers.uniform import star as module
from lownoise.samplers.uniform.abstract import dyadic
from lownoise.samplers.uniform.star import star
from uniform_cases import GENERATORS, HULL, PRISM, Scripted, middles

RNG = np.random.default_rng(1)
TURN = np.linalg.qr(RNG.normal(size=(4, 4)))[0]


def grid(values, d):
    return np.array(list(product(values, repeat=d)), dtype=float)


def nearly_flat(count, d):
    x = RNG.normal(size=(count, d))
    return np.column_stack([x, x.sum(axis=1) + 1e-13 * RNG.normal(size=count)])


HULLS = {
    "square": grid([-1, 1], 2),
    "hull": HULL,
    "prism": PRISM,
    "cube": grid([-1, 0, 1], 3),
    "tesseract": grid([-1, 1], 4),
    "turned cube": grid([-1, 1], 4) @ TURN,
    "turned grid": grid([-1, 0, 1], 3) @ TURN[:3, :3],
    "cross": np.eye(5),
    "normal": RNG.normal(size=(40, 4)),
    "ill": RNG.normal(size=(12, 3)) * [1.0, 1e-8, 1e150],
    "nearly flat": nearly_flat(10, 2),
    "circle": np.array([[math.cos(t), math.sin(t)] for t in range(60)]),
    "segment": np.array([[1.0], [3.0], [-2.0]]),
}


def determinant(rows):
    """Bareiss, in integers."""
    rows = [list(row) for row in rows]
    n, sign, before = len(rows), 1, 1
    for k in range(n - 1):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            rows[k], rows[pivot], sign = rows[pivot], rows[k], -sign
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                rows[i][j] = (rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j]) // before
        before = rows[k][k]
    return sign * rows[-1][-1]


def check_star(points, simplices, exact):
    """Assert that these simplices and their opposites are the boundary of the hull, seen from 0.

    No simplex is flat with 0; each ridge belongs to two, which lie on its two sides; no corner
    lies beyond a plane, and no point does; a ray meets one. Exact all the way.
    """
    d = simplices.shape[1]
    both = np.vstack([simplices, -simplices]).tolist()
    corner = {
        k: [int(math.copysign(1, k)) * x for x in exact.rows[abs(k) - 1]]
        for k in {k for own in both for k in own}
    }
    level = [determinant([corner[k] for k in own]) for own in both]
    assert all(level)
    ridges = {}
    for f, own in enumerate(both):
        for i in range(d):
            ridges.setdefault(frozenset(own[:i] + own[i + 1 :]), []).append((f, i))
    assert all(len(sharing) == 2 for sharing in ridges.values())
    for own in both:
        assert len(set(map(abs, own))) == d
    for (f, i), (g, j) in ridges.values():
        apex = corner[both[g][j]]
        swapped = [apex if k == i else corner[c] for k, c in enumerate(both[f])]
        # the other apex has a negative share of the one it is put for: the other side of the ridge
        assert determinant(swapped) * level[f] < 0 or d == 1
    middle = [sum(column) for column in zip(*[corner[k] for k in both[0]], strict=True)]
    ray = [10**6 * x + 1 + y for x, y in zip(middle, (1, 59, 677, 7919, 97), strict=False)]
    met = 0
    for f, own in enumerate(both):
        shares = [
            determinant([ray if k == i else corner[c] for k, c in enumerate(own)]) for i in range(d)
        ]
        assert all(shares)  # else the ray is not generic
        met += all(share * level[f] > 0 for share in shares)
        # the plane is where the shares add up to the level
        for row in exact.rows:
            height = sum(
                determinant([row if k == i else corner[c] for k, c in enumerate(own)])
                for i in range(d)
            )
            assert abs(height) <= abs(level[f])
    assert met == 1


@pytest.mark.parametrize("name", [name for name in HULLS if name not in {"circle", "normal"}])
def test_stars_tile_their_hulls(name):
    found = star(HULLS[name])
    check_star(found.points, found.simplices, found.exact)


ONION = np.vstack(
    [size * np.array(list(layer)) for size in (1, 2, 4) for layer in (grid([-1, 0, 1], 3), HULL)]
)


def test_the_order_of_the_points_changes_no_hull(monkeypatch):
    """The nearest first: layers that are swallowed by fewer simplices, and coplanar ones."""
    plain = star(ONION)
    monkeypatch.setattr(module, "_farthest_first", lambda points: list(range(len(points))))
    found = star(ONION)
    check_star(found.points, found.simplices, found.exact)
    assert sum(found.weights()) == sum(plain.weights())
    assert np.array_equal(found.normals([0, 0, 0]), plain.normals([0, 0, 0]))


def test_a_star_without_a_simplex_or_with_a_false_one_is_seen():
    found = star(HULLS["hull"])
    with pytest.raises(AssertionError):
        check_star(found.points, found.simplices[1:], found.exact)
    inner = found.simplices.copy()
    inner[0, 0] = 5  # a point inside
    with pytest.raises(AssertionError):
        check_star(found.points, inner, found.exact)


@pytest.mark.parametrize("name", ["normal", "hull", "prism", "cube", "tesseract", "circle"])
def test_hulls_have_the_volume_that_qhull_finds(name):
    points = HULLS[name]
    expected = ConvexHull(np.vstack([points, -points])).volume
    assert math.isclose(float(UniformHull(points).volume), expected, rel_tol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_volumes_are_exact(d):
    assert UniformHull(grid([-1, 1], d)).volume == 2**d
    assert UniformHull(0.75 * np.eye(d)).volume == Fraction(3, 2) ** d / math.factorial(d)
    assert UniformZonotope(0.75 * np.eye(d)).volume == Fraction(3, 2) ** d


def test_zonotopes_have_the_volume_of_the_hull_of_their_corners():
    corners = grid([-1, 1], len(GENERATORS)) @ GENERATORS
    assert UniformZonotope(GENERATORS).volume == UniformHull(corners).volume


@pytest.mark.parametrize("name", ["hull", "cube", "turned cube", "normal", "ill", "nearly flat"])
def test_norms_are_rounded_up_and_hardly(name):
    points = HULLS[name]
    hull = UniformHull(points)
    more = 0.05 if name == "nearly flat" else 1e-9  # planes at 1e13: floats see no more
    assert np.all(hull.norm_up(points) <= 1 + more)
    exact = hull._tiling.exact
    units = [Fraction(2) ** e for e in exact.exponents]
    for own in hull._tiling.simplices[:30].tolist():
        # a corner has the norm 1, a mixture of a facet's corners too
        rows = [[math.copysign(1, k) * x for x in hull._tiling.points[abs(k) - 1]] for k in own]
        assert np.all(hull.norm_up(np.array(rows)) >= 1)
        plane = module._plane(exact, own)
        a = [Fraction(int(x.p), int(x.q)) / unit for x, unit in zip(plane, units, strict=True)]
        x = 3.7 * np.mean(rows, axis=0)
        true = abs(sum(Fraction(float(v)) * c for v, c in zip(x, a, strict=True)))
        up = hull.norm_up(x[None])[0]
        assert true <= Fraction(up) <= true * Fraction(1 + more)
    assert hull.norm_up(np.zeros((1, points.shape[1])))[0] == 0.0


def test_facets_hold_the_hull():
    hull = UniformHull(HULLS["cube"])
    assert np.array_equal(np.sort(hull.facets, axis=0), np.sort(np.eye(3), axis=0))
    reach = np.abs(HULL @ UniformHull(HULL).facets.T)
    assert np.all(reach <= 1 + 1e-12)
    assert np.all(np.sum(reach > 1 - 1e-12, axis=0) >= 3)


def test_facets_beyond_floats_are_refused_but_norms_are_known():
    for size in (1e-310, 1e308):
        hull = UniformHull(np.diag([1.0, size]))
        assert 3 <= hull.norm_up(np.array([[2.0, size]]))[0] < 3 + 1e-9
        with pytest.raises(PlanError, match="beyond the range of floats"):
            _ = hull.facets


@pytest.mark.parametrize("share", [1, 2])
def test_floats_and_integers_decide_alike(monkeypatch, share):
    """Every simplex asks for integers, or every other one does."""
    monkeypatch.setattr(module, "_farthest_first", lambda points: list(range(len(points))))
    quick = star(ONION)
    own_planes = module._Growing._planes

    def useless(growing, simplices):
        normals, errors = own_planes(growing, simplices)
        blind = simplices.sum(axis=1) % share == 0
        normals[blind], errors[blind] = 1.0, np.inf
        return normals, errors

    monkeypatch.setattr(module._Growing, "_planes", useless)
    assert np.array_equal(star(ONION).simplices, quick.simplices)


def test_too_many_simplices_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(module, "MOST_SIMPLICES", 50)
    with pytest.raises(PlanError, match="over 100 simplices"):
        UniformHull(HULLS["normal"])


def test_a_point_of_a_hull_is_what_its_words_say():
    hull = UniformHull(HULL)
    shares = [abs(np.linalg.det(V)) for V in hull.simplices]
    levels = np.cumsum(shares) / np.sum(shares)
    for seed in range(50):
        source = Scripted([], SimulationRandomness(seed))
        found = middles(hull.draw(source))
        (pick, sign, rest) = [(own.astype(float) + 0.5) * 2.0**-64 for own in source.served]
        corners = hull.simplices[np.searchsorted(levels, pick[0])]
        e = -np.log(rest)
        expected = np.where(sign[0] >= 0.5, 1, -1) * (e[1:] @ corners) / e.sum()
        assert np.allclose(found, expected, rtol=1e-10, atol=1e-12)


ZONOTOPES = {
    "generators": GENERATORS,
    "parallel": np.array([[1.0, 0], [2, 0], [0, 1], [-1, 0], [1, 1], [2, 2]]),
    "many": np.sign(RNG.normal(size=(7, 3))),
    "line": np.array([[1.0], [-2.0], [0.5]]),
    "cell": np.array([[1.0, 2.0], [0.0, 1.0]]),
    "ill": RNG.normal(size=(5, 3)) * [1.0, 1e-9, 1e60],
}


@pytest.mark.parametrize("name", ZONOTOPES)
def test_tiles_cover_a_zonotope_once(name):
    """Every point lies in one tile: generic sums of the segments, each solved in each basis."""
    G = ZONOTOPES[name]
    zonotope = UniformZonotope(G)
    scale = np.max(np.abs(G), axis=0)
    bases = [
        b
        for b in combinations(range(len(G)), G.shape[1])
        if determinant([dyadic(G).rows[i] for i in b])
    ]
    assert zonotope._pieces == bases
    points = RNG.uniform(-1, 1, (300, len(G))) @ (G / scale)
    inside = np.zeros(300, dtype=int)
    for basis in bases:
        signs = np.array(zonotope._signs(basis), dtype=float)
        signs[list(basis)] = 0
        rest = points - signs @ (G / scale)
        inside += np.all(np.abs(rest @ np.linalg.inv(G[list(basis)] / scale)) < 1, axis=1)
    assert np.all(inside == 1)


def test_a_point_of_a_zonotope_is_what_its_words_say():
    zonotope = UniformZonotope(GENERATORS)
    shares = [abs(np.linalg.det(GENERATORS[list(b)])) for b in zonotope._pieces]
    levels = np.cumsum(shares) / np.sum(shares)
    for seed in range(50):
        source = Scripted([], SimulationRandomness(seed))
        found = middles(zonotope.draw(source))
        (pick, rest) = [(own.astype(float) + 0.5) * 2.0**-64 for own in source.served]
        basis = list(zonotope._pieces[np.searchsorted(levels, pick[0])])
        share = np.array(zonotope._signs(tuple(basis)), dtype=float)
        share[basis] = 2 * rest - 1
        assert np.allclose(found, share @ GENERATORS, rtol=1e-10, atol=1e-12)


def test_floats_become_integers_exactly():
    rows = np.array([[0.1, -(2.0**-1074), 3e300], [0.0, 5.0, 1e-300], [-7.25, 0.0, -0.0]])
    found = dyadic(rows)
    for own, row in zip(found.rows, rows.tolist(), strict=True):
        for n, e, x in zip(own, found.exponents, row, strict=True):
            assert n * Fraction(2) ** e == Fraction(x)
    assert found.unit() == Fraction(2) ** sum(found.exponents)


def test_which_points_are_seen_first_does_not_follow_the_units():
    """The farthest is the farthest of the body made round: no linear map changes the order."""
    drawn = np.random.default_rng(3)
    for d in (2, 3, 5):
        points = drawn.normal(size=(4 * d, d))
        order = module._farthest_first(points)
        assert sorted(order) == list(range(4 * d))
        for _ in range(5):
            turned = points @ (drawn.normal(size=(d, d)) + 2 * d * np.eye(d))
            assert module._farthest_first(turned) == order
            assert module._farthest_first(points * 10.0 ** drawn.integers(-3, 4, d)) == order
