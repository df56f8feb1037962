# SPDX-License-Identifier: Apache-2.0
"""Corners of what slabs share: all of them, outward; and what compounds of such sets reach."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import lownoise as ln
from lownoise.sets.bodies.vertices import CornerSet, section_corners
from lownoise.sets.domains import Intersection, Polytope

RNG = np.random.default_rng(20261123)


def polytope(d, slabs, scale=1.0):
    normals = RNG.normal(size=(slabs, d)) * scale
    ends = RNG.uniform(0.4, 1.2, size=(slabs, 2)) * scale
    own = [ln.Slab(a, -low, up) for a, (low, up) in zip(normals, ends, strict=True)]
    return ln.intersection(ln.Box(-np.ones(d), np.ones(d) * 1.5), *own)


def sides(section):
    """Return ⟨a, x⟩ ≤ b for each side, in fractions."""
    for row, offset in zip(section.rows, section.offsets, strict=True):
        a, at = [Fraction(float(x)) for x in row], Fraction(float(offset))
        yield a, 1 - at
        yield [-x for x in a], 1 + at


def corners_by_pairs(section):
    """Return every corner of a polygon, exactly: where two sides meet and no other is left."""
    known = list(sides(section))
    found = set()
    for (a, b), (c, e) in itertools.combinations(known, 2):
        bent = a[0] * c[1] - a[1] * c[0]
        if bent:
            x = ((b * c[1] - e * a[1]) / bent, (a[0] * e - c[0] * b) / bent)
            if all(side[0] * x[0] + side[1] * x[1] <= most for side, most in known):
                found.add(x)
    return found


@pytest.mark.grid(3)
@pytest.mark.parametrize("slabs", [1, 2, 3, 6])
def test_the_hull_of_the_corners_holds_every_exact_corner(slabs):
    """In fractions: no rounding may leave a corner outside, and none is far out."""
    for trial in range(20):
        section = polytope(2, slabs, scale=3.0**trial).section
        listed = section_corners(section, np.zeros(2))
        exact = corners_by_pairs(section)
        points = sorted(listed.tolist(), key=lambda x: math.atan2(x[1], x[0]))
        given = [tuple(map(Fraction, x)) for x in points]
        ring = list(zip(given, given[1:] + given[:1], strict=True))
        for x in exact:
            for a, b in ring:  # counterclockwise: to the left of every edge
                turn = (b[0] - a[0]) * (x[1] - a[1]) - (b[1] - a[1]) * (x[0] - a[0])
                assert turn >= 0 or math.dist(a, b) < 1e-12
        assert section.gauge(listed).max() < 1 + 1e-12
        assert len(exact) <= len(listed)


@pytest.mark.grid(3)
@pytest.mark.parametrize(("d", "slabs"), [(2, 1), (3, 4), (4, 3), (5, 2), (6, 4)])
def test_corners_reach_as_far_as_the_section_in_every_direction(d, slabs):
    domain = polytope(d, slabs)
    listed = section_corners(domain.section, domain.middle)
    directions = RNG.normal(size=(300, d))
    far = np.max(directions @ listed.T, axis=1)
    upper = domain.section.support_up(directions)
    inside = np.sum(domain.section.extreme(directions)[0] * directions, axis=1)
    assert np.all(inside <= far)
    assert np.all(far <= upper * (1 + 1e-9))


def test_far_from_zero_corners_leave_room_for_the_middle():
    domain = ln.intersection(ln.Box([1e5, 1e5], [1e5 + 1, 1e5 + 2]), ln.Slab([1, 1], 0, 2e5 + 2.1))
    found = domain.corners()
    for x in corners_by_pairs(domain.section):
        for direction in RNG.normal(size=(50, 2)):
            at = sum(
                Fraction(t) * (y + Fraction(m))
                for t, y, m in zip(direction.tolist(), x, domain.middle.tolist(), strict=True)
            )
            assert at <= max(
                sum(Fraction(t) * Fraction(y) for t, y in zip(direction.tolist(), c, strict=True))
                for c in found.tolist()
            )


def test_what_is_round_or_has_many_corners_has_no_list():
    lens = ln.intersection(ln.Ball(3), ln.Ball(3, center=[1, 0, 0]))
    assert section_corners(lens.section, lens.middle) is None
    assert lens.corners() is None
    wide = ln.intersection(ln.Box([0] * 14, [1] * 14), ln.Slab([1] * 14, 0, 7))
    assert section_corners(wide.section, wide.middle) is None
    assert not isinstance(wide.bounding_set(), CornerSet)
    many = ln.intersection(ln.Box([0] * 40, [1] * 40), ln.Slab([1] * 40, 0, 7))
    assert section_corners(many.section, many.middle) is None


COUNTS = ln.intersection(ln.Box([0, 0, 0], [1, 1.5, 2]), ln.Slab([1, 1, 1], 0, 1.8))
LENS = ln.intersection(ln.Ball(2), ln.Ball(2, center=[1, 0]))
FLAT = ln.intersection(ln.Box([0, 0], [1, 1.5]), ln.Slab([1, 1], 0, 1.2))
TURN = np.linalg.qr(np.random.default_rng(2).standard_normal((2, 2)))[0]
COMPOUNDS = {  # and the gaps at p = 2 and p = ∞ before corners and cones, of K or of K − K
    "hull of a product and counts": ln.hull(  # 0.34, 0.42
        ln.product(ln.Box([0], [1]), ln.Ball(2)), COUNTS
    ),
    "hull of a list and a lens": ln.hull(  # 0.16, 0.15
        ln.product(ln.Points([[-0.5], [0.2], [1.4]]), ln.Ball(1, center=[1])), LENS
    ),
    "counts and a ball": ln.minkowski_sum(FLAT, ln.Ball(2, 0.5)),  # 0.23, 0.20
    "counts and a box": ln.minkowski_sum(COUNTS, ln.Box([0] * 3, [0.5] * 3)),  # 0.29, 0.26
    "lens and a box": ln.minkowski_sum(LENS, ln.Box([0, 0], [0.5, 0.5])),  # 0.34, 0.18
    "box and ellipsoid, and a cross": ln.minkowski_sum(  # 0.28, 0.27
        ln.intersection(ln.Box([-1, -1], [1, 1]), ln.Ellipsoid(TURN * [2, 0.6], [0.2, 0])),
        ln.Ball(2, order=1),
    ),
    "image of counts": ln.image([[1.0, 2, -1], [0.5, 0, 1]], COUNTS),  # 0.30, 0.40
    "image of a lens": ln.image([[1.0, 2], [-1, 0.5]], LENS),  # 0.35, 0.12
}


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", COMPOUNDS)
@pytest.mark.parametrize("order", [2.0, math.inf])
def test_compounds_of_intersections_have_nearly_the_least_noise(name, order):
    for domain in (COMPOUNDS[name], ln.difference_body(COMPOUNDS[name])):
        found = ln.theory.enclose(domain, order=order).certificate
        assert found.gap <= 1.2e-5
        found.verify()


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", COMPOUNDS)
def test_lengths_over_compounds_are_those_of_their_points_or_hardly_more(name):
    """Reach is never below that of points: of differences, and of one record with its count."""
    domain = COMPOUNDS[name]
    d = domain.dimension
    ends = domain.extreme(RNG.normal(size=(400, d)))
    pivots, step = np.arange(d), np.ones(d)
    bodies = {
        "differences": (domain.differences(pivots, step), None),
        "lifted": (domain.lifted(pivots, step, np.zeros(d)), None),
    }
    for kind, (body, _) in bodies.items():
        changes = ends[:, None] - ends if kind == "differences" else np.insert(ends, d, 1, axis=1)
        changes = changes.reshape(-1, body.dimension)
        for _ in range(2):
            matrix = RNG.normal(size=(body.dimension, body.dimension))
            upper = body.length_up(matrix, np.zeros(body.dimension))
            longest = float(np.max(np.linalg.norm(changes @ matrix.T, axis=1)))
            assert longest * (1 - 1e-9) <= upper
            if len(matrix) <= 3 or isinstance(domain, Polytope):
                assert upper <= longest * (1 + 5e-3)  # 400 directions


def test_a_hull_reaches_as_far_as_its_firm_part_and_as_its_loose_one():
    """The parts whose lengths are known are not asked for widths; neither may be left out."""
    about = np.array([0.5, 0.0])  # the middle of the lens
    for radius in (0.1, 3.0):
        domain = ln.hull(ln.Ball(2, radius, center=about), LENS)
        body, at = domain.enclosed()
        found = body.length_up(np.eye(2), about - at)
        assert found == pytest.approx(max(radius, math.sqrt(0.75)), rel=2e-5)
        assert found >= max(radius, math.sqrt(0.75))


@pytest.mark.sweep("test_compounds_of_intersections_have_nearly_the_least_noise")
def test_intersections_off_their_center_have_nearly_the_least_noise():
    """Of corners to 10⁻⁶, of round ones in two and three dimensions to 10⁻⁵."""
    five = ln.intersection(ln.Box([0] * 5, [3, 4, 5, 2, 6]), ln.Slab([1] * 5, 0, 10))
    cap = ln.intersection(ln.Ball(2), ln.Slab([1, 1], -0.2, 2))
    for domain, most in ((five, 1e-6), (COUNTS, 1e-6), (cap, 1.2e-5), (LENS, 1.2e-5)):
        assert isinstance(domain, Intersection)
        for order, body in ((2.0, domain), (math.inf, ln.difference_body(domain))):
            found = ln.theory.enclose(body, order=order).certificate
            assert found.gap <= most  # 0.04, 0.08, 0.06, 0.13
            found.verify()
    for domain, relation, size in (
        (five, "substitute", 100),
        (cap, "add_remove", None),
    ):
        plan = ln.plan(
            ln.Mean([f"x{i}" for i in range(domain.dimension)], domain),
            budget=ln.zcdp(0.1),
            relation=relation,
            **({} if size is None else {"size": size}),
        )
        assert plan.certificate.gap <= 2e-5  # 0.04, 0.05, 0.06, 0.02
