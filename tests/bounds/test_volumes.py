# SPDX-License-Identifier: Apache-2.0
import math
from itertools import combinations

import numpy as np
import pytest
import scipy.spatial

from lownoise.bounds import log_volume_down
from lownoise.bounds.volumes import hulls
from lownoise.bounds.volumes.hulls import inverse_up, log_gram_down, sizes_of_determinants
from lownoise.bounds.volumes.projected import base_log_volume
from lownoise.sets.bodies import ImageBody, PointDifferences, SymmetricBox, SymmetricPoints
from lownoise.sets.unit_balls import MixedBall, NormBall, SortedBall, product_ball

RNG = np.random.default_rng(2027)


def signs(n, k):
    return RNG.choice([-1.0, 1.0], size=(n, k))


def rounded(points):
    return points / np.linalg.norm(points, axis=1)[:, None]


POINTS = {
    f"{name}, {n} × {k}": draw(n, k)
    for name, draw in {
        "normal": lambda n, k: RNG.normal(size=(n, k)),
        "signs": signs,
        "round": lambda n, k: rounded(RNG.normal(size=(n, k))),
        "uneven": lambda n, k: RNG.normal(size=(n, k)) * 10.0 ** np.arange(k),
    }.items()
    for n, k in [(5, 2), (40, 2), (12, 3), (60, 3), (30, 4), (25, 5), (20, 6)]
}


@pytest.mark.grid
@pytest.mark.parametrize("points", POINTS.values(), ids=POINTS)
def test_hulls_are_exact_in_few_dimensions(points):
    exact = scipy.spatial.ConvexHull(np.vstack([points, -points])).volume
    found = math.exp(hulls.log_hull_down(points, 0.0))
    assert exact * (1 - 1e-5) <= found <= exact * (1 + 1e-12)


def test_hulls_against_points_drawn_at_random():
    points = RNG.normal(size=(9, 3))
    hull = scipy.spatial.Delaunay(np.vstack([points, -points]))
    most = np.max(np.abs(points), axis=0)
    drawn = RNG.uniform(-most, most, size=(100_000, 3))
    share = np.mean(hull.find_simplex(drawn) >= 0)
    off = 6 * math.sqrt(share * (1 - share) / 100_000)
    assert abs(math.exp(hulls.log_hull_down(points, 0.0)) / np.prod(2 * most) - share) < off


def test_what_is_off_is_taken_off():
    points = RNG.normal(size=(12, 3))
    for off in (1e-6, 1e-3):
        moved = points + off * RNG.uniform(-1, 1, size=points.shape) / math.sqrt(3)
        shrunk = points * (1 - off / np.linalg.norm(points, axis=1))[:, None]
        for meant in (moved, shrunk):
            exact = scipy.spatial.ConvexHull(np.vstack([meant, -meant])).volume
            assert math.exp(hulls.log_hull_down(points, off)) <= exact
    near = math.exp(hulls.log_hull_down(points, 1e-6) - hulls.log_hull_down(points, 0.0))
    assert near > 1 - 1e-3
    assert hulls.log_hull_down(points, 10.0) == -math.inf


class Lying:
    """A hull as Qhull gives it, with something wrong."""

    def __init__(self, true, wrong):
        self.simplices, self.equations = true.simplices.copy(), true.equations.copy()
        wrong(self)


def dropped(hull):
    hull.simplices, hull.equations = hull.simplices[1:], hull.equations[1:]


def swapped(hull):
    hull.simplices[0, 0] = next(i for i in range(99) if i not in hull.simplices[0])


def inwards(hull):
    hull.equations[0] *= -1


def turned(hull):
    hull.equations[:, :-1] = np.roll(hull.equations[:, :-1], 1, axis=0)


@pytest.mark.parametrize("wrong", [dropped, swapped, inwards, turned])
def test_wrong_facets_prove_nothing(monkeypatch, wrong):
    points = RNG.normal(size=(10, 3))
    assert hulls._log_cycle(points, "Qt") > -math.inf
    true = scipy.spatial.ConvexHull
    monkeypatch.setattr(
        scipy.spatial,
        "ConvexHull",
        lambda points, **options: Lying(true(points, **options), wrong),
    )
    assert hulls._log_cycle(points, "Qt") == -math.inf


def test_a_cycle_that_winds_twice_is_refused():
    """A hexagon gone around twice has two facets over each ray, and twice the area."""
    angles = np.pi / 3 * np.arange(12)
    twice = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    facets = np.sort(np.stack([np.arange(12), (np.arange(12) + 1) % 12], axis=1), axis=1)
    assert hulls.cycle_signs(facets) is not None
    middles = twice[facets].mean(axis=1)
    normals = middles / np.sum(middles**2, axis=1)[:, None]
    assert not hulls._meets_once(twice, facets, normals, 1e-9)
    assert hulls._meets_once(twice[:6], np.sort(facets % 6, axis=1)[:6], normals[:6], 1e-9)


def test_projective_planes_have_no_signs():
    """Six vertices, ten triangles, each edge on two of them, and no orientation."""
    triangles = "012 023 034 045 015 124 235 134 245 135"
    facets = np.array([[int(c) for c in t] for t in triangles.split()])
    edges = [e for t in facets for e in combinations(sorted(t), 2)]
    assert {edges.count(e) for e in edges} == {2}
    assert hulls.cycle_signs(np.sort(facets, axis=1)) is None


@pytest.mark.parametrize(("count", "k"), [(2, 2), (5, 2), (6, 3), (8, 5)])
def test_zonotopes_are_sums_of_determinants(count, k):
    generators = RNG.normal(size=(count, k))
    exact = 2**k * sum(
        abs(np.linalg.det(generators[list(c)])) for c in combinations(range(count), k)
    )
    found = math.exp(hulls.log_zonotope_down(generators, 0.0))
    assert exact * (1 - 1e-9) <= found <= exact
    image = ImageBody(generators.T.copy(), NormBall(count, math.inf))
    assert math.exp(log_volume_down(image, np.eye(k))) == pytest.approx(exact, rel=1e-8)


def test_many_segments_have_a_bound_by_their_squares():
    generators = RNG.normal(size=(60, 6))
    square = np.linalg.slogdet(generators.T @ generators)[1] / 2 + 6 * math.log(2)
    assert hulls.log_zonotope_down(generators, 0.0) == pytest.approx(square, rel=1e-9)


def test_ellipsoids_by_their_projections():
    factor, matrix = RNG.normal(size=(5, 4)), RNG.normal(size=(3, 5))
    body = ImageBody(factor, NormBall(4, 2.0))
    gram = matrix @ factor @ factor.T @ matrix.T
    exact = math.sqrt(np.linalg.det(gram)) * 4 * math.pi / 3
    found = math.exp(log_volume_down(body, matrix))
    assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-13)


@pytest.mark.grid(3)
@pytest.mark.parametrize("order", [1.5, 2.0, 3.0, 7.0])
def test_balls_of_other_norms_by_points_drawn_at_random(order):
    drawn = RNG.uniform(-1, 1, size=(100_000, 3))
    share = np.mean(np.sum(np.abs(drawn) ** order, axis=1) <= 1)
    off = 6 * math.sqrt(share * (1 - share) / 100_000)
    body = ImageBody(np.ones(3), NormBall(3, order))
    assert abs(math.exp(log_volume_down(body, np.eye(3))) / 8 - share) < off
    # of a plane through them, a part; of two coordinates, all
    plane = np.linalg.qr(RNG.normal(size=(3, 2)))[0].T
    image = drawn[np.sum(np.abs(drawn) ** order, axis=1) <= 1] @ plane.T
    shown = scipy.spatial.ConvexHull(image).volume
    assert 0.3 * shown < math.exp(log_volume_down(body, plane)) <= shown * 1.03
    two = math.exp(base_log_volume(NormBall(2, order)))
    assert math.exp(log_volume_down(body, np.eye(3)[1:])) == pytest.approx(two, rel=1e-9)


def test_products_and_what_has_no_form():
    lifted = product_ball([NormBall(2, 2.0), NormBall(1, math.inf)])
    body = ImageBody(np.array([[3.0, 0, 1], [0, 2, 0], [0, 0, 1]]), lifted)
    assert math.exp(log_volume_down(body, np.eye(3))) == pytest.approx(12 * math.pi, rel=1e-9)
    top = SortedBall(np.array([1.0, 1.0]))  # |x₁| + |x₂| ≤ 1: a square on its corner
    assert math.exp(log_volume_down(ImageBody(np.ones(2), top), np.eye(2))) == pytest.approx(2.0)
    assert log_volume_down("a body", np.eye(2)) == -math.inf


def test_boxes_along_their_sides_and_across():
    box = SymmetricBox(np.array([1.0, 2.0, 3.0]))
    assert math.exp(log_volume_down(box, np.eye(3)[[2, 0]])) == pytest.approx(12, rel=1e-9)
    across = np.array([[1.0, 1.0, 1.0]]) / math.sqrt(3)
    assert math.exp(log_volume_down(box, across)) == pytest.approx(12 / math.sqrt(3), rel=1e-9)
    assert log_volume_down(SymmetricBox(np.array([1.0, 0.0])), np.eye(2)) == -math.inf


def test_differences_by_their_pairs():
    points = RNG.normal(size=(6, 2))
    pairs = np.array([x - y for x in points for y in points])
    exact = scipy.spatial.ConvexHull(pairs).volume
    found = math.exp(log_volume_down(PointDifferences(points), np.eye(2)))
    assert found == pytest.approx(exact, rel=1e-8)
    many = RNG.normal(size=(300, 2))
    all_pairs = scipy.spatial.ConvexHull((many[:, None] - many[None]).reshape(-1, 2)).volume
    assert (
        0.2 * all_pairs < math.exp(log_volume_down(PointDifferences(many), np.eye(2))) < all_pairs
    )


def test_many_dimensions_have_a_cross_polytope():
    points = signs(200, 24)
    found = log_volume_down(SymmetricPoints(points), np.eye(24))
    # no more than Hadamard's determinant, no less than a random one's
    hadamard = 12 * math.log(24) + 24 * math.log(2) - math.lgamma(25)
    assert hadamard - 6 < found <= hadamard
    flat = np.hstack([points[:, :3], points[:, :1]])
    assert log_volume_down(SymmetricPoints(flat), np.eye(4)) == -math.inf


def test_determinants_are_within_what_is_said():
    rows = RNG.normal(size=(200, 4, 4)) * 10.0 ** RNG.integers(-3, 3, size=(200, 4, 1))
    rows[:50, 3] = rows[:50, 2] + rows[:50, 1]
    values, off = sizes_of_determinants(rows)
    for one, value, most in zip(rows, values, off, strict=True):
        exact = log_gram_down(one)
        assert abs((0.0 if math.isinf(exact) else math.exp(exact)) - abs(value)) <= most * 1.01
    assert np.all(off[50:] < 1e-5 * np.prod(np.linalg.norm(rows[50:], axis=2), axis=1))
    assert inverse_up(np.ones((2, 2))) == math.inf
    square = RNG.normal(size=(6, 6))
    true = 1 / np.linalg.svd(square, compute_uv=False)[-1]
    assert true <= inverse_up(square) <= true * (1 + 1e-6)


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 7.0])
def test_balls_joined_by_their_own_order_are_a_ball(order):
    for sizes in [(1, 1), (2, 1), (3, 2, 1), (4, 4)]:
        joined = MixedBall(tuple(NormBall(k, order) for k in sizes), order=order)
        assert base_log_volume(joined) == pytest.approx(
            base_log_volume(NormBall(sum(sizes), order))
        )


def test_a_disc_and_a_segment_joined_by_sums_are_two_cones():
    cones = MixedBall((NormBall(2, 2.0), NormBall(1, 2.0)), order=1.0)
    assert math.exp(base_log_volume(cones)) == pytest.approx(2 * math.pi / 3)
