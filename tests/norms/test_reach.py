# SPDX-License-Identifier: Apache-2.0
"""How far bodies reach in norms: 1 in their own, and what sampled changes say in others."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from drawn import in_ball
from lownoise.errors import PlanError
from lownoise.sets.bodies import (
    ImageBody,
    JointBody,
    PointDifferences,
    RoundedBody,
    Section,
    SectionBody,
    SymmetricBox,
    SymmetricPoints,
    image_body,
)
from lownoise.sets.norms import (
    HullNorm,
    ImageNorm,
    PlacedNorm,
    ProductNorm,
    SimplexNorm,
    ZonotopeNorm,
    norm_of,
)
from lownoise.sets.unit_balls import CappedBall, NormBall, product_ball

RNG = np.random.default_rng(20260108)
CUBE3, CUBE6 = NormBall(3, math.inf), NormBall(6, math.inf)


def integers(*shape, bits=20):
    return RNG.integers(-(2**bits), 2**bits, shape).astype(float)


def cube(d):
    return np.array(list(product([-1.0, 1.0], repeat=d)))


POINTS = integers(12, 3, bits=51)
SQUARE = integers(3, 3, bits=51)
# each body, the kind of its gauge, and points of it, all its vertices among them where it has any
OWN = {
    "box": (SymmetricBox(np.array([3.0, 2.0**52, 0.1])), ImageNorm),
    "diagonal ball": (ImageBody(np.array([3.0, 2.0**52, 0.1]), NormBall(3, 1.5)), ImageNorm),
    "dense ball": (ImageBody(SQUARE, NormBall(3, 2.0)), ImageNorm),
    "parallelepiped": (image_body(SQUARE, CUBE3), ImageNorm),
    "product": (
        ImageBody(SQUARE, product_ball([NormBall(2, 2.0), NormBall(1, 1.0)])),
        ImageNorm,
    ),
    "cross-polytope": (SymmetricPoints(SQUARE), ImageNorm),
    "cross-polytope with points inside": (
        SymmetricPoints(np.vstack([SQUARE * 2, SQUARE, SQUARE[:1] + SQUARE[1:2], -SQUARE])),
        ImageNorm,
    ),
    "boxed signs": (SymmetricPoints(cube(3) * 5), ImageNorm),
    "histogram": (SymmetricPoints(np.eye(40) * 2.0**40), ImageNorm),
    "hull": (SymmetricPoints(POINTS), HullNorm),
    "hull of points on its faces": (
        SymmetricPoints(
            np.array([[4, 0], [2, 4], [-2, 4], [3, 2], [0, 4], [-3, 2], [1, 1.0], [0, 0]]) * 2.0**50
        ),
        HullNorm,
    ),
    "zonotope": (image_body(integers(3, 6), CUBE6), ZonotopeNorm),
    "zonotope of a lifted box": (
        image_body(np.hstack([integers(3, 3), integers(3, 1)]), NormBall(4, math.inf)),
        ZonotopeNorm,
    ),
    "differences": (PointDifferences(integers(6, 3)), HullNorm),
    "differences of a grid": (
        PointDifferences(np.array(list(product([1.0, 2.0, 5.0], repeat=3)))),
        ImageNorm,
    ),
    "differences about a center": (
        PointDifferences(np.vstack([POINTS[:3], -POINTS[:3]]) + 7.0),
        ImageNorm,
    ),
    "differences of a simplex": (PointDifferences(integers(4, 3)), SimplexNorm),
    "one of 30 categories": (
        PointDifferences(np.vstack([np.zeros(30), np.eye(30)]) * 2.0**40),
        SimplexNorm,
    ),
    "a column that never moves": (SymmetricBox(np.array([0.0, 4.0, 0.0, 1.0])), PlacedNorm),
    "points in some columns": (
        SymmetricPoints(np.hstack([POINTS[:, :2], np.zeros((12, 1)), POINTS[:, 2:]])),
        PlacedNorm,
    ),
    "image in some columns": (
        ImageBody(np.array([2.0, 0.0, 5.0]), product_ball([NormBall(2, 2.0), NormBall(1, 2.0)])),
        PlacedNorm,
    ),
}


# another form of the body was found, in which some of its vertices are sums
FOUND = ("boxed signs", "cross-polytope with points inside", "differences about a center")


@pytest.mark.grid
@pytest.mark.parametrize("name", OWN)
def test_a_body_reaches_1_in_its_own_norm(name):
    """Exactly: what is claimed is what is paid for."""
    body, kind = OWN[name]
    gauge = norm_of(body)
    assert type(gauge) is kind
    reach = gauge.sensitivity_up(body)
    if name in FOUND:
        assert 1 <= reach <= 1 + 1e-12
    else:
        assert reach == 1
    assert gauge.sensitivity_up(body.scaled(0.5) if hasattr(body, "scaled") else body) <= 1
    doubled = gauge.scaled(3.0).sensitivity_up(body)
    assert doubled == pytest.approx(1 / 3, rel=1e-9)


def changes_of(body, count=400):
    """Return points of a body, its vertices among them where it has any."""
    if isinstance(body, RoundedBody):
        own = changes_of(body.body, count)
        return own + RNG.choice([-1.0, 1.0], own.shape) * body.slack
    if isinstance(body, SymmetricBox):
        return cube(body.dimension) * body.half_width
    if isinstance(body, SymmetricPoints):
        return body.points
    if isinstance(body, PointDifferences):
        return np.array([x - y for x, y in combinations(body.points, 2)])
    if isinstance(body, JointBody):
        return np.hstack([RNG.permuted(changes_of(p, 400)[:20], axis=0) for p in body.parts])
    base, at, parts = body.base, 0, []
    for ball in base.parts if hasattr(base, "parts") else (base,):
        x = in_ball(ball.size, ball.order)(RNG, count)
        if math.isinf(ball.order) and ball.size <= 8:
            x = cube(ball.size)[RNG.integers(0, 2**ball.size, count)]
        parts.append(x)
        at += ball.size
    return np.hstack(parts) @ body.dense.T


@pytest.mark.parametrize("name", [name for name in OWN if "40" not in name and "30" not in name])
def test_the_unit_ball_is_the_body(name):
    """No smaller gauge would do: the unit ball's points are where the body's support allows."""
    from lownoise.numbers.randomness import SimulationRandomness

    body, _ = OWN[name]
    inside = norm_of(body).uniform.simulate(300, SimulationRandomness(3))
    widths = np.maximum(body.widths(), 1e-300)
    directions = RNG.normal(size=(40, inside.shape[1])) / widths
    if isinstance(body, SymmetricBox):
        support = np.abs(directions) @ body.half_width
    else:
        support = body.extent_up(directions, np.zeros(inside.shape[1]))
    assert np.all(np.abs(inside @ directions.T) <= support * (1 + 1e-9))


GAUGES = {
    "cross-polytope": ImageNorm(integers(3, 3), NormBall(3, 1.0)),
    "ellipsoid": ImageNorm(integers(3, 3), NormBall(3, 2.0)),
    "order 3": ImageNorm(integers(3, 3), NormBall(3, 3.0)),
    "cube": ImageNorm(integers(3, 3), CUBE3),
    "box": ImageNorm(integers(3), CUBE3),
    "octahedron": ImageNorm(integers(3), NormBall(3, 1.0)),
    "cylinder": ImageNorm(integers(3, 3), product_ball([NormBall(2, 2.0), NormBall(1, 2.0)])),
    "hull": HullNorm(integers(7, 3)),
    "zonotope": ZonotopeNorm(integers(5, 3)),
    "simplex": SimplexNorm(integers(3, 3)),
    "product": ProductNorm(
        (ImageNorm(integers(2, 2), NormBall(2, 2.0)), ImageNorm(integers(1), NormBall(1, 1.0)))
    ),
    "product with a hull": ProductNorm(
        (ImageNorm(integers(1), NormBall(1, 1.0)), HullNorm(integers(4, 2)))
    ),
}
OTHERS = {
    "box": SymmetricBox(np.abs(integers(3))),
    "flat box": SymmetricBox(np.array([0.0, 5.0, 3.0])),
    "points": SymmetricPoints(integers(20, 3)),
    "differences": PointDifferences(integers(12, 3) + 2.0**40),
    "many differences": PointDifferences(integers(300, 3)),
    "corners": image_body(integers(3, 4), NormBall(4, math.inf)),
    "ball": ImageBody(integers(3, 3), NormBall(3, 2.0)),
    "diagonal ball": ImageBody(np.abs(integers(3)), NormBall(3, 2.0)),
    "order 1": ImageBody(integers(3, 5), NormBall(5, 1.0)),
    "rounded": RoundedBody(SymmetricPoints(integers(20, 3)), np.array([900.0, 0.0, 70000.0])),
}


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("gauge", GAUGES)
@pytest.mark.parametrize("body", OTHERS)
def test_no_change_is_beyond_the_reach(body, gauge):
    """And the greatest norm is nearly reached where vertices are known."""
    own, norm = OTHERS[body], GAUGES[gauge]
    try:
        reach = norm.sensitivity_up(own)
    except PlanError:
        # a zonotope says nothing of curved bodies, and of many differences
        assert "zonotope" in gauge
        assert body in ("ball", "diagonal ball", "many differences")
        return
    greatest = float(np.max(norm.norm_up(changes_of(own, 60 if gauge == "zonotope" else 400))))
    assert greatest <= reach * (1 + 1e-9)
    if body in ("ball", "diagonal ball"):
        assert reach <= greatest * (1.35 if norm.forms[0].order == 2 else 2.5)
    elif body == "rounded":
        assert reach <= greatest * 1.3
    else:
        assert reach <= greatest * (1 + 1e-6)


def test_curved_bodies_in_boxes_reach_what_their_support_says():
    """Facets ask for supports: those of a ball are lengths."""
    for norm in (GAUGES["cube"], GAUGES["box"], GAUGES["hull"]):
        factor = integers(3, 3)
        exact = np.max(np.linalg.norm(norm.forms[0].matrix @ factor, axis=1))
        assert norm.sensitivity_up(ImageBody(factor, NormBall(3, 2.0))) == pytest.approx(
            exact, rel=1e-9
        )


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", ["dense ball", "product", "zonotope", "hull", "parallelepiped"])
def test_rounding_of_records_enlarges_the_ball_by_what_it_takes(name):
    body, _ = OWN[name]
    size = np.max(np.abs(changes_of(body)), axis=0)
    rounded = RoundedBody(body, size * 2.0**-20)
    gauge = norm_of(rounded)
    assert gauge.sensitivity_up(rounded) <= 1
    assert float(np.max(gauge.norm_up(changes_of(rounded)))) <= 1 + 1e-12
    grown = 1 / gauge.sensitivity_up(body)
    axes = norm_of(body).norm_up(np.diag(size * 2.0**-20))
    assert 1 + float(np.max(axes)) * 0.99 <= grown <= 1 + float(np.sum(axes)) * 1.01


def test_products_reach_as_far_as_their_parts():
    from lownoise.sets.domains import Ball, Points, Product

    domain = Product([Ball(2, radius=3.0), Points([[0.0, 0.0], [4.0, 1.0], [0.0, 5.0]])])
    pivots, step = np.arange(4), np.full(4, 2.0**-20)
    body = domain.differences(pivots, step)
    gauge = norm_of(body)
    assert isinstance(gauge, ProductNorm)
    assert [type(part) for part in gauge.parts] == [ImageNorm, SimplexNorm]
    assert gauge.sensitivity_up(body) == 1
    lifted = domain.lifted(pivots, step, np.array([0.0, 0.0, 1.0, 1.0]))
    gauge = norm_of(lifted)
    assert isinstance(gauge, ProductNorm)
    assert [part.dimension for part in gauge.parts] == [2, 2, 1]
    assert gauge.parts[2].factor == 1
    x = np.hstack([in_ball(2, 2.0)(RNG, 90) * 3, domain.parts[1].points[RNG.integers(0, 3, 90)]])
    moved = np.hstack([(x - [0, 0, 1, 1]) / step, np.ones((90, 1))])
    assert 0.999 < float(np.max(gauge.norm_up(moved))) <= 1 + 1e-12
    assert gauge.sensitivity_up(lifted) == 1


def test_an_ellipsoid_of_more_numbers_than_answers():
    body = ImageBody(integers(3, 7), NormBall(7, 2.0))
    gauge = norm_of(body)
    assert 1 - 1e-9 <= gauge.sensitivity_up(body) <= 1
    directions = RNG.normal(size=(30, 3))
    ours = np.linalg.norm(directions @ gauge.factor, axis=1)
    assert np.allclose(ours, np.linalg.norm(directions @ body.factor, axis=1), rtol=1e-9)


def test_large_lists_are_not_paired():
    """4,000 points and their 8 million differences: facets look at each point once."""
    points = np.round(RNG.normal(size=(4000, 2)) * 2.0**30)
    gauge = norm_of(PointDifferences(points))
    assert isinstance(gauge, HullNorm)
    assert 1 <= gauge.sensitivity_up(PointDifferences(points)) <= 1 + 1e-12
    big = ImageNorm(np.eye(300) + 0.1 * RNG.normal(size=(300, 300)), NormBall(300, 1.0))
    rows = integers(3000, 300)
    reach = big.sensitivity_up(PointDifferences(rows))
    some = [np.max(big.norm_up(rows - rows[i])) for i in range(5)]
    assert max(some) <= reach <= 2 * float(np.max(big.norm_up(rows))) * (1 + 1e-9)


def test_wide_cross_polytopes_are_fast():
    points = integers(600, 600, bits=40)
    gauge = norm_of(SymmetricPoints(points))
    assert gauge.sensitivity_up(SymmetricPoints(points)) == 1


SECTION = Section(np.vstack([np.eye(2), [[1.0, 1.0]]]), np.zeros(3), CUBE3)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (SymmetricBox(np.zeros(2)), "without noise"),
        (SymmetricPoints(np.array([[1.0, 1.0, 1.0]])), "flat"),
        (SymmetricPoints(np.array([[1.0, 1.0], [2.0, 2.0]])), "flat"),
        (SymmetricPoints(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])), "flat"),
        (PointDifferences(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])), "flat"),
        (PointDifferences(np.array([[1.0, 1.0], [2.0, 2.0]])), "flat"),
        (ImageBody(np.ones((3, 2)), NormBall(2, 2.0)), "flat"),
        (ImageBody(np.ones((2, 2)), NormBall(2, 2.0)), "flat"),
        (ImageBody(np.ones((2, 3)), CappedBall(np.ones(3))), "no exact sampler"),
        (ImageBody(integers(2, 3), NormBall(3, 1.5)), "order 1.5"),
        (ImageBody(integers(2, 3), product_ball([NormBall(2, 2.0), NormBall(1, 1.0)])), "mixed"),
        (SymmetricPoints(integers(400, 25)), "25 dimensions"),
        (PointDifferences(integers(400, 25)), "25 dimensions"),
        (ImageBody(integers(10, 60), NormBall(60, math.inf)), "60 in 10 dimensions"),
    ],
)
def test_what_cannot_be_sampled_is_refused_in_one_line(body, said):
    with pytest.raises(PlanError, match=said) as caught:
        norm_of(body)
    assert "\n" not in str(caught.value)
    assert any(
        way in str(caught.value) for way in ("; use", "; leave", "; publish", "; give", "; ask")
    )


def test_bodies_that_nothing_is_known_of():
    placed = norm_of(SymmetricBox(np.array([0.0, 4.0])))
    with pytest.raises(PlanError, match="no known size"):
        placed.sensitivity_up(SymmetricBox(np.array([1.0, 4.0])))
    # what a section says of its supports is enough in a norm with facets
    box = ImageNorm(np.array([1.0, 0.25]), NormBall(2, math.inf))
    assert box.sensitivity_up(SectionBody(SECTION, "differences")) == pytest.approx(8, rel=1e-6)
    with pytest.raises(PlanError, match="has 2 coordinates"):
        GAUGES["box"].sensitivity_up(SectionBody(SECTION, "differences"))


def test_corners_keep_their_generators_when_they_are_scaled():
    body = image_body(integers(3, 6), CUBE6)
    for own in (body, body.scaled(2.0**20)):
        gauge = norm_of(own)
        greatest = float(np.max(gauge.norm_up(own.points)))
        assert greatest == pytest.approx(1, rel=1e-9)
        assert gauge.sensitivity_up(own) == 1
    assert gauge.sensitivity_up(body) == pytest.approx(2.0**-20, rel=1e-9)


def test_coordinates_of_different_balls_are_not_exchanged():
    """In a product the order of columns matters: a turned cylinder is another body."""
    base = product_ball([NormBall(2, 2.0), NormBall(1, 2.0)])
    turned = np.eye(3)[[2, 1, 0]] * np.array([3.0, 4.0, 5.0])
    body = ImageBody(turned, base)
    gauge = norm_of(body)
    changes = changes_of(body)
    assert float(np.max(gauge.norm_up(changes))) <= 1 + 1e-9
    straight = ImageNorm(np.array([5.0, 4.0, 3.0]), base)
    assert float(np.max(straight.norm_up(changes))) <= straight.sensitivity_up(body)
    assert straight.sensitivity_up(body) > 1.2


def test_as_many_points_as_a_cube_has_corners_are_no_cube():
    points = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, -1.0], [1.0, -1.0, 1.0], [3.0, -1.0, -1.0]])
    gauge = norm_of(SymmetricPoints(points))
    assert isinstance(gauge, HullNorm)
    skew = np.array([[4.0, 0.0, 0.0], [3.0, 1.0, 0.0], [2.0, 0.0, 1.0], [1.0, 1.0, 2.0]])
    assert isinstance(norm_of(SymmetricPoints(skew)), HullNorm)


@pytest.mark.parametrize("rows", [[1.0, -3.0, 2.0], [3.0, 1.0], [-3.0]])
def test_changes_on_a_line_are_an_interval_to_the_farthest(rows):
    gauge = norm_of(SymmetricPoints(np.array(rows)[:, None]))
    assert gauge.factor.tolist() == [3.0]
    assert 1.0 <= gauge.sensitivity_up(SymmetricPoints(np.array([[3.0]]))) < 1 + 1e-12


def test_the_same_columns_under_another_ball_are_another_body():
    """An image of a cube is beyond the hull of its columns, though those are the same numbers."""
    columns = integers(5, 3)
    norm, body = HullNorm(columns), ImageBody(columns.T, NormBall(5, math.inf))
    corners = np.array(list(product([-1.0, 1.0], repeat=5))) @ columns
    most = float(np.max(norm.norm_up(corners)))
    assert most > 1.5
    assert norm.sensitivity_up(body) >= most * (1 - 1e-12)
