# SPDX-License-Identifier: Apache-2.0
"""What every kind of body of changes promises: nothing that it holds is beyond what it says."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import PlanError
from lownoise.sensitivity.factors import DenseShape, DiagonalShape
from lownoise.sets.bodies import (
    AbstractBody,
    ImageBody,
    OracleBody,
    PointDifferences,
    RoundedBody,
    SymmetricBox,
    SymmetricPoints,
    TranslatedPoints,
    image_body,
)
from lownoise.sets.norms import HullNorm, ImageNorm, PlacedNorm, ProductNorm
from lownoise.sets.unit_balls import NormBall, product_ball

RNG = np.random.default_rng(7)
SIGNS = np.array(list(product([-1.0, 1.0], repeat=3)))
SPHERE = RNG.normal(size=(300, 3))
SPHERE /= np.linalg.norm(SPHERE, axis=1)[:, None]
TURN = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, -1.0], [0.5, 0.0, 3.0]])
LIST = np.array([[0.0, 0.0, 1.0], [3.0, 0.0, 2.0], [0.0, 4.0, -1.0], [1.0, 1.0, 5.0]])
PAIRS = (LIST[:, None] - LIST).reshape(-1, 3)
SLACK = np.array([0.5, 0.0, 0.25])
STEP = np.array([0.5, 2.0, 1.0])
CUBE = NormBall(3, math.inf)


def between(points):
    return (points[:, None] - points).reshape(-1, points.shape[1])


def lifted(points):
    about = np.hstack([points, np.ones((len(points), 1))])
    return np.vstack([about, -about])


def of_domain(domain, relation, center=(0.0, 0.0, 0.0)):
    """Return the body of a domain's changes in steps."""
    if relation == "substitute":
        return domain.differences(np.arange(3), STEP)
    return domain.lifted(np.arange(3), STEP, np.array(center))


CUT = ln.intersection(ln.Box([0, 0, 0], [4, 4, 4]), ln.Slab([1.0, 1.0, 1.0], -99.0, 4.0))
CORNERS = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]])
SIDE = ln.product(ln.Ball(2, radius=3.0), ln.Points([[0.0], [2.0], [5.0]]))
CIRCLE = np.array([[math.cos(t), math.sin(t)] for t in np.linspace(0, 2 * math.pi, 60)])
IN_SIDE = np.vstack([np.hstack([3 * CIRCLE, np.full((60, 1), z)]) for z in (0.0, 2.0, 5.0)])
# each kind: a body, and changes that it holds, extreme ones among them
BODIES = {
    "box": (SymmetricBox(np.array([1.0, 0.0, 3.0])), SIGNS * [1.0, 0.0, 3.0]),
    "diagonal ball": (ImageBody(np.array([2.0, 1.0, 0.0]), NormBall(3, 2.0)), SPHERE * [2, 1, 0]),
    "dense ball": (ImageBody(TURN, NormBall(3, 2.0)), SPHERE @ TURN.T),
    "cylinder": (
        ImageBody(np.array([2.0, 3.0, 5.0]), product_ball([NormBall(2, 2.0), NormBall(1, 2.0)])),
        np.hstack([CIRCLE, np.tile([[1.0], [-1.0]], (30, 1))]) * [2, 3, 5],
    ),
    "corners": (image_body(TURN, CUBE), SIGNS @ TURN.T),
    "points": (SymmetricPoints(LIST), np.vstack([LIST, -LIST])),
    "differences": (PointDifferences(LIST), PAIRS),
    "translates": (TranslatedPoints(LIST), LIST),
    "section": (of_domain(CUT, "substitute"), between(CORNERS / STEP)),
    "lifted section": (of_domain(CUT, "add_remove"), lifted(CORNERS / STEP)),
    "product": (of_domain(SIDE, "substitute"), between(IN_SIDE / STEP)[::7]),
    "lifted product": (of_domain(SIDE, "add_remove"), lifted(IN_SIDE / STEP)),
    "oracle": (OracleBody(SIDE.bounding_set(), np.arange(3), STEP), IN_SIDE / STEP),
}
BODIES |= {
    f"rounded {name}": (
        RoundedBody(BODIES[name][0], SLACK),
        (BODIES[name][1][:, None] + SIGNS * SLACK).reshape(-1, 3),
    )
    for name in ("diagonal ball", "points", "translates", "section")
}
every = pytest.mark.parametrize("name", BODIES)


def center_of(body):
    """Return what lengths are about: 0, but for what stands for all its translates."""
    return np.full(body.dimension, 0.25) if body.moves else np.zeros(body.dimension)


def rows_for(body):
    return np.vstack([np.eye(body.dimension), RNG.normal(size=(5, body.dimension))])


@pytest.mark.grid
@every
def test_no_change_is_longer_than_the_body_says(name):
    body, held = BODIES[name]
    rows, center = rows_for(body), center_of(body)
    seen = (held - center) @ rows.T
    for matrix, image in ((rows, seen), (rows[:1], seen[:, :1]), (1e-9 * rows, 1e-9 * seen)):
        length = np.max(np.linalg.norm(image, axis=1))
        assert length <= body.length_up(matrix, center) * (1 + 1e-12)
    extents = np.max(np.abs(seen), axis=0)
    found = body.extent_up(rows, center)
    assert np.all(extents <= found * (1 + 1e-12))
    assert np.all(found <= 2.2 * extents + 1e-9)  # a list's differences are looked at from a point
    assert np.all(np.max(np.abs(held - body.base_point), axis=0) <= body.widths() * (1 + 1e-12))


@pytest.mark.grid
@every
def test_no_change_is_beyond_the_radius(name):
    body, held = BODIES[name]
    d = body.dimension
    dense = np.tril(RNG.normal(size=(d, d))) + 2 * np.eye(d)
    for shape, factor in (
        (DiagonalShape(np.arange(1.0, d + 1)), np.diag(np.arange(1.0, d + 1))),
        (DenseShape(dense), dense),
    ):
        truth = np.max(np.linalg.norm(np.linalg.solve(factor, held.T), axis=0))
        radius = body.radius_up(shape)
        assert truth * (1 - 1e-12) <= radius <= 1.75 * truth
        assert body.scaled(0.25).radius_up(shape) == pytest.approx(radius / 4, rel=1e-6)
        more = body.rounded(np.full(d, 0.5)).radius_up(shape)
        assert radius + 0.4 * np.linalg.norm(np.linalg.solve(factor, np.ones(d) / 2)) <= more
        assert more <= radius + shape.box_radius_up(np.full(d, 0.5)) * (1 + 1e-12)


@every
def test_no_answer_changes_by_more_than_is_said(name):
    body, held = BODIES[name]
    for answers in (None, rows_for(body)):
        seen = held if answers is None else held @ answers.T
        assert np.max(np.linalg.norm(seen, axis=1)) <= body.answer_length(answers) * (1 + 1e-12)
        assert np.all(np.max(np.abs(seen), axis=0) <= body.answer_widths(answers) * (1 + 1e-12))


@every
def test_what_spans_a_body_spans_its_changes(name):
    body, held = BODIES[name]
    rows = body.spanning - body.base_point
    for change in held[:: max(len(held) // 20, 1)] - body.base_point:
        left = change - np.linalg.lstsq(rows.T, change, rcond=None)[0] @ rows
        assert np.linalg.norm(left) <= 1e-9 * (1 + np.linalg.norm(change))


@pytest.mark.grid(least=3)
@every
@pytest.mark.parametrize("kind", ["one coordinate", "signs", "sums"])
def test_an_image_holds_the_images(name, kind):
    body, held = BODIES[name]
    d = body.dimension
    rows = {
        "one coordinate": np.eye(d)[1:],
        "signs": -np.eye(d)[::-1],
        "sums": np.tril(np.ones((2, d))) / 2,
    }[kind]
    image = body.mapped(rows)
    seen = held @ rows.T
    turned = np.vstack([np.eye(len(rows)), RNG.normal(size=(4, len(rows)))])
    zero = np.zeros(len(rows))
    found, length = image.extent_up(turned, zero), image.length_up(turned, zero)
    assert np.all(np.max(np.abs(seen @ turned.T), axis=0) <= found * (1 + 1e-12))
    assert np.max(np.linalg.norm(seen @ turned.T, axis=1)) <= length * (1 + 1e-12)
    assert image.scaled(2.0).extent_up(turned, zero) == pytest.approx(2 * found, rel=1e-12)


@pytest.mark.grid
@every
@pytest.mark.parametrize("kept", [[0], [2], [0, 2], [1, 2]])
def test_a_projection_holds_the_projections(name, kept):
    body, held = BODIES[name]
    found = body.projected(np.array(kept))
    if found is None:
        assert any(word in name for word in ("section", "product", "oracle"))
        return  # no form of it is known
    turned = np.vstack([np.eye(len(kept)), RNG.normal(size=(4, len(kept)))])
    seen = np.max(np.abs(held[:, kept] @ turned.T), axis=0)
    assert np.all(seen <= found.extent_up(turned, np.zeros(len(kept))) * (1 + 1e-12))


def norms_of(dimension):
    yield ImageNorm(np.arange(1.0, dimension + 1), NormBall(dimension, math.inf))
    yield ImageNorm(np.arange(1.0, dimension + 1), NormBall(dimension, 2.0))
    yield HullNorm(np.vstack([np.eye(dimension), np.ones(dimension)]))
    line = ImageNorm(np.array([2.0]), NormBall(1, 1.0))
    yield ProductNorm((line, ImageNorm(np.ones(dimension - 1), NormBall(dimension - 1, 2.0))))


@pytest.mark.grid
@every
def test_no_change_is_larger_in_a_norm_than_is_said(name):
    body, held = BODIES[name]
    for norm in norms_of(body.dimension):
        found = norm.sensitivity_up(body)
        assert np.max(norm.norm_up(held)) <= found * (1 + 1e-9)
    still = PlacedNorm(ImageNorm(np.ones(1), NormBall(1, 1.0)), np.array([1]), body.dimension)
    with pytest.raises(PlanError, match=r"has no known size in the norm of a PlacedNorm .*; use"):
        still.sensitivity_up(body)  # it moves elsewhere


@pytest.mark.grid
@every
def test_any_multipliers_are_a_proof(name):
    body, held = BODIES[name]
    inner = body.body if isinstance(body, RoundedBody) else body
    count = getattr(inner, "base", NormBall(1, 1.0)).dimension
    if "section" in name:
        count = 2 * len(inner.section.rows)
    rows, center = rows_for(body), center_of(body)
    own = body.with_multipliers(RNG.uniform(0.1, 9, count))
    truth = np.max(np.linalg.norm((held - center) @ rows.T, axis=1))
    assert truth <= own.length_up(rows, center) * (1 + 1e-12)
    assert own.length_up(rows, center) <= body.length_up(rows, center) * (1 + 1e-12)


@dataclass(frozen=True, eq=False)
class Segment(AbstractBody):
    """All t·end, |t| ≤ 1: a kind that this package does not know."""

    end: np.ndarray

    @property
    def dimension(self):
        return self.end.size

    @property
    def spanning(self):
        return self.end[None]

    def length_up(self, matrix, center):
        return float(np.linalg.norm(matrix @ self.end)) * (1 + 1e-12)

    def extent_up(self, matrix, center):
        return np.abs(matrix @ self.end)  # exact for rows of the identity, as here


def test_a_kind_from_outside_says_all_that_follows_from_lengths():
    body = Segment(np.array([3.0, 4.0]))
    assert body.radius_up(DenseShape(2 * np.eye(2))) == pytest.approx(2.5, rel=1e-9)
    assert body.rounded(np.ones(2)).widths() == pytest.approx([4.0, 5.0])
    norm = ImageNorm(np.ones(2), NormBall(2, math.inf))
    assert norm.sensitivity_up(body) == pytest.approx(4, rel=1e-9)
    assert body.projected(np.array([0])) is None
    assert body.with_multipliers(np.ones(2)) is body
    assert body.multipliers is None
    assert body.mapped(np.ones((1, 2))).widths() == pytest.approx([7.0])
    with pytest.raises(PlanError, match=r"Segment has no known .*; use"):
        body.scaled(2.0)
    with pytest.raises(PlanError, match="no known size"):  # no facets, and no list of vertices
        PlacedNorm(ImageNorm(np.ones(1), NormBall(1, 1.0)), np.array([0]), 2).sensitivity_up(body)


def test_rounding_goes_outward_by_the_last_bit():
    """In fractions: sums of widths, and images whose products floats do not hold."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        half, slack = rng.uniform(0, 1, 2), rng.uniform(0, 1e-3, 2)
        wide = SymmetricBox(half).rounded(slack).half_width
        around = RoundedBody(ImageBody(half, NormBall(2, math.inf)), slack)
        rows = np.array([[1.0, 3.0], [0.125, -1.0], [7.0, 0.5]])
        mapped = ImageBody(np.diag(half), NormBall(2, math.inf)).mapped(rows)
        for i in range(2):
            truth = Fraction(half[i]) + Fraction(slack[i])
            assert truth <= Fraction(wide[i]) <= truth * (1 + Fraction(2.0**-50))
            assert truth <= Fraction(float(around.widths()[i]))
            alone = Segment(half).rounded(slack).extent_up(np.eye(2), np.zeros(2))
            assert truth <= Fraction(float(alone[i]))
        for row, found in zip(rows, mapped.widths(), strict=True):
            truth = sum(abs(Fraction(a)) * Fraction(h) for a, h in zip(row, half, strict=True))
            assert truth <= Fraction(float(found))
        # what is rounded beside its own width: each entry of the factor, towards zero at worst
        assert isinstance(mapped, RoundedBody)
        exact = [[Fraction(a) * Fraction(h) for a, h in zip(r, half, strict=True)] for r in rows]
        for row, floats, off in zip(exact, mapped.body.dense, mapped.slack, strict=True):
            lost = sum(abs(a - Fraction(b)) for a, b in zip(row, floats.tolist(), strict=True))
            assert lost <= Fraction(float(off))


def test_a_box_is_exact_where_that_is_known():
    box = SymmetricBox(np.array([3.0, 4.0]))
    assert np.array_equal(box.widths(), [3.0, 4.0])
    assert np.array_equal(box.rounded(np.zeros(2)).half_width >= box.half_width, [True, True])
    assert np.array_equal(SymmetricBox(np.zeros(2)).rounded(np.zeros(2)).half_width, [0.0, 0.0])
    assert np.array_equal(box.mapped(np.array([[0.0, -1.0]])).half_width, [4.0])
    assert 5 <= box.radius_up(DiagonalShape([1, 1])) <= 5 * (1 + 1e-12)


@pytest.mark.parametrize("kind", [SymmetricBox, SymmetricPoints, PointDifferences])
def test_images_that_floats_do_not_hold_have_what_rounding_hides_around_them(kind):
    """In fractions: no point's image is beyond what is known of them, and hardly less is known."""
    rng = np.random.default_rng(4)
    rows = np.rint(rng.uniform(-1, 1, (2, 3)) * 2**12) / 2**12
    points = rng.uniform(0, 1, (5, 3)) * np.array([1.0, 2.0**-30, 2.0**-60])
    given = np.max(points, axis=0) if kind is SymmetricBox else points
    mapped = kind(given).mapped(rows)
    assert isinstance(mapped, RoundedBody)
    images = [
        [sum(Fraction(a) * Fraction(x) for a, x in zip(r, own, strict=True)) for r in rows.tolist()]
        for own in points.tolist()
    ]
    for i, row in enumerate(rows.tolist()):
        along = [own[i] for own in images]
        most = max(map(abs, along))
        if kind is SymmetricBox:
            most = sum(abs(Fraction(a)) * Fraction(h) for a, h in zip(row, given, strict=True))
        elif kind is PointDifferences:
            most = max(along) - min(along)
        known = Fraction(float(mapped.widths()[i])) / (
            1 + (kind is PointDifferences)
        )  # a pair's sum
        assert known <= most * (1 + Fraction(2.0**-40))
        assert most <= Fraction(float(mapped.widths()[i]))
        if kind is not SymmetricBox:  # each point's image is as near as is said
            lost = [
                abs(a - Fraction(b[i]))
                for a, b in zip(along, mapped.body.points.tolist(), strict=True)
            ]
            assert 0 < max(lost) <= Fraction(float(mapped.slack[i])) / 2
