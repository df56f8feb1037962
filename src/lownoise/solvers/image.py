# SPDX-License-Identifier: Apache-2.0
"""Solutions for images F·B of unit balls: the best of their own form, and what points of them add.

A convex function on B is greatest at an extreme point, and going to the point that is extreme along
its gradient never loses. From many starts that finds points far out in the metric of an ellipsoid;
the best weights on such points are a lower bound, whether or not farther ones were missed.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import ImageDual, SignsDual, SquaresDual, order_norm
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.factors import DenseShape, DiagonalShape
from lownoise.sets.bodies import ImageBody, signed
from lownoise.sets.bodies.lengths import image_length, most_cones
from lownoise.sets.frames import find_frame
from lownoise.sets.unit_balls import MixedBall, NormBall, ParityBall, signed_corners
from lownoise.solvers.generation import generate
from lownoise.solvers.majorant import Majorant, closed_majorant, folded, least_majorant
from lownoise.solvers.newton import Problem
from lownoise.solvers.odd_sums import least_sums
from lownoise.solvers.pricing import AbstractVertices, Priced
from lownoise.solvers.solution import NO_WIDTH, Solution, honest, lower_triangle

if TYPE_CHECKING:
    from lownoise.certificate import Claim
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.frames import Frame
    from lownoise.sets.unit_balls import AbstractUnitBall
    from lownoise.solvers.solution import Asked

_NEARLY = 1e-4  # how near evidence first is: mostly ellipsoids that can be proved are farther
_WITHIN = 3.0
_MOST_FITTED = 33  # columns of a box off its middle beyond which a search takes long for little
_LITTLE, _MOST_NEAR = 1e-2, 48  # a gap, and columns beyond which it is not made smaller
_MOST_TRIED = 25  # coordinates of a diagonal image whose far points are looked for
_CLIMBS = 30
_STARTS = 4  # in parts of the dimension
_BEYOND = 1e-9
_TURNS = 2  # of one sign after another, in parts of their number
_LEANS = (1.0, 0.9, 1.1)
_MOST_LEANING = 1024  # columns, each of which is compared with each
_ROUNDS = 200
_MANY = 500  # numbers beyond which evidence is not looked for more closely than to `_NEARLY`
_MOST_TURNED, _FEWER = 2000, 100  # numbers; and rounds where they are many: later ones take longest
_MOST_SUMMED = 128  # columns
_LARGEST = 2.0e8  # products a climb takes


def image_solution(body: ImageBody, asked: Asked) -> Solution:
    """Return the least ellipsoid around an image of a unit ball that can be proved to cover it."""
    if body.diagonal and asked.queries is None:
        return _diagonal_image(body, asked)
    frame = find_frame(body, asked.queries, in_order=asked.in_order)
    if not frame.rank:
        ones = frozen(np.ones(asked.weights.size))
        return asked.nothing(body, frame, SquaresDual(frozen(np.zeros(body.base.dimension)), ones))
    columns, rows = frame.down(body.spanning), asked.seen(frame)
    rows = np.diag(rows) if rows.ndim == 1 else rows
    images = rows @ columns.T
    unit = float(np.max(np.abs(images)))
    own = folded(images / unit, asked.order) if len(columns) == frame.rank else None
    if own is None:
        found = least_majorant(
            np.square(images / unit),
            body.base,
            asked.order,
            rtol=asked.rtol,
            only_near=body.base.only_near,
            progress=asked.heard(unit),
        )
    else:
        size, shares = own
        found = _separate(size, body.base, asked, unit)
        found = replace(found, query_weights=frozen(shares @ found.query_weights))
    # a lower triangle whose product with its transpose is F diag(1/y) Fᵀ
    shape = DenseShape(lower_triangle((columns / np.sqrt(found.coefficients)[:, None]).T))
    claim = _image_claim(body, asked, frame, shape, found)
    if claim.proved.gap > asked.rtol:
        claim = _leaning(claim, images)
    gap = claim.proved.gap
    most = _MOST_FITTED if signed(body) is not None else math.inf if gap > _LITTLE else _MOST_NEAR
    if gap > asked.rtol and len(columns) <= most:
        claim = _tight(_better_proved(claim, columns, rows, unit, asked.rtol), rows)
    if asked.odd_sums and body.base.ball_order == math.inf:
        claim = _summed(claim, columns, images)
    return Solution(claim, honest(found.status, claim, asked.rtol), found.rounds)


def _diagonal_image(body: ImageBody, asked: Asked) -> Solution:
    """Return the best ellipsoid along the coordinates; nothing of d × d is formed."""
    size = asked.weights * np.abs(body.factor)
    unit = float(np.max(size))
    if not unit:
        ones = np.ones(body.dimension)
        found = Majorant(ones, ones, ones, NO_WIDTH, 0)
    else:
        found = _separate(size / unit, body.base, asked, unit)
    shape = DiagonalShape(np.abs(body.factor) / np.sqrt(found.coefficients))
    claim = _image_claim(body, asked, None, shape, found)
    if unit and size.size <= _MOST_TRIED and claim.proved.gap > asked.rtol:
        claim = _better_proved(claim, np.diag(body.factor), asked.rows, unit, asked.rtol)
        claim = _tight(claim, asked.rows) if isinstance(claim.shape, DenseShape) else claim
    return Solution(claim, honest(found.status, claim, asked.rtol), found.rounds)


def _separate(size: Vector, base: AbstractUnitBall, asked: Asked, unit: float) -> Majorant:
    """Return the best coefficients where each answer is a multiple of one coordinate."""
    known = _order_of(base)
    if known is not None:
        return closed_majorant(size, known, asked.order)
    return least_majorant(
        np.square(size),
        base,
        asked.order,
        rtol=asked.rtol,
        only_near=base.only_near,
        progress=asked.heard(unit),
    )


def _order_of(base: AbstractUnitBall) -> float | None:
    """Return r where squares of the base reach as far as those of a ball of ℓ_r."""
    if isinstance(base, NormBall):
        return base.order if base.size > 1 else math.inf
    if isinstance(base, ParityBall):
        return math.inf
    parts = base.parts if isinstance(base, MixedBall) and base.order == math.inf else ()
    if parts and all(_order_of(part) == math.inf for part in parts):
        return math.inf
    return None


def _image_claim(
    body: ImageBody, asked: Asked, frame: Frame | None, shape: AbstractShape, found: Majorant
) -> Claim:
    dual = SquaresDual(found.squares, found.query_weights)
    return asked.claim(body.with_multipliers(found.coefficients), frame, shape, dual)


def _leaning(claim: Claim, images: Vector) -> Claim:
    """Return the claim about a cube with signs that lean to one column, where they prove more.

    The best signs for the ellipsoid at hand would be as correlated as the columns are seen to be,
    and independent ones are so with one of them, the one that is the most like the others.

    Args:
        claim: with evidence about squares.
        images: ωLF, shape (m, k).
    """
    assert isinstance(claim.body, ImageBody)  # noqa: S101 (the caller made it)
    if claim.body.base.ball_order != math.inf or images.shape[1] > _MOST_LEANING:
        return claim
    c = claim.dual.query_weights
    seen = np.sqrt(c)[:, None] * images / np.max(np.abs(images))
    lengths = np.linalg.norm(seen, axis=0)
    if not np.all(lengths > 0):
        return claim
    unit = seen / lengths
    alike = unit.T @ unit
    first = int(np.argmax(np.linalg.norm(alike, axis=0)))
    for more in _LEANS:
        means = np.clip(more * alike[first], -1.0, 1.0)
        means[first] = 1.0
        other = replace(claim, dual=SignsDual(frozen(means), c))
        claim = max(claim, other, key=lambda own: own.proved.lower)
    return claim


def _better_proved(
    claim: Claim,
    columns: Vector,
    asked: Vector,
    unit: float,
    rtol: float,
) -> Claim:
    """Return the claim with points of the body as its evidence, where they prove more.

    The ellipsoid around those points is taken where it can be proved to cover the body and is less.
    """
    body, dual = claim.body, claim.dual
    assert isinstance(body, ImageBody)  # noqa: S101 (the caller made it)
    for near in dict.fromkeys((max(rtol, _NEARLY), rtol)):
        try:
            found = far_points(
                columns / unit, body.base, asked, claim.order, near, dual.query_weights
            )
        except KeyboardInterrupt:
            return claim
        if found is None:
            return claim
        points, factor = found
        other = replace(claim, dual=points)
        if other.proved.lower > claim.proved.lower:
            claim = other
        if factor is not None:
            least = replace(claim, shape=DenseShape(unit * factor))
            if least.proved.upper < claim.proved.upper:
                claim = least
        # what is left of the evidence is at most `near`, and takes as long again
        if columns.size > _MANY or not rtol < claim.proved.gap < _WITHIN * _NEARLY:
            break
    return claim


def _summed(claim: Claim, columns: Vector, images: Vector) -> Claim:
    """Return the claim with noise that odd sums of signs prove of a cube, where that is much less.

    Args:
        claim: the best that squares prove.
        columns: the columns of F as rows, shape (k, r).
        images: ωLF, shape (m, k).
    """
    assert isinstance(claim.body, ImageBody)  # noqa: S101 (the caller made it)
    k, r = columns.shape
    y, c = claim.body.multipliers, claim.dual.query_weights
    if not r < k <= _MOST_SUMMED or claim.proved.gap <= _LITTLE or y is None:
        return claim
    try:
        found, precision = least_sums(images / np.max(np.abs(images)), y, claim.order, c)
    except (KeyboardInterrupt, np.linalg.LinAlgError):
        return claim
    root = np.linalg.solve(np.linalg.cholesky(precision), columns)
    shape = DenseShape(lower_triangle(root.T))
    other = replace(claim, body=claim.body.with_multipliers(found), shape=shape)
    return other if other.proved.upper < claim.proved.upper else claim


def _tight(claim: Claim, asked: Vector) -> Claim:
    """Return the claim with its ellipsoid shrunk to what covers the body, as far as is proved."""
    assert isinstance(claim.shape, DenseShape)  # noqa: S101 (what framed images have)
    size = order_norm(np.linalg.norm(asked @ claim.shape.factor, axis=1), claim.order)
    ratio = claim.proved.upper / size if size else 1.0
    return replace(claim, shape=claim.shape.scaled(ratio)) if 0 < ratio < 1 else claim


def far_points(
    columns: Vector,
    base: AbstractUnitBall,
    asked: Vector,
    order: float,
    rtol: float,
    query_weights: Vector,
) -> tuple[ImageDual, Vector | None] | None:
    """Return points of F·B with the weights that prove the most, and a factor that covers them.

    None where it would take too long; no factor where none is better than what is known.

    Args:
        columns: the columns of F as rows, shape (k, r).
        base: B, k coordinates.
        asked: ωL, shape (m, r).
        order: p in [2, ∞].
        rtol: the relative gap asked for.
        query_weights: c where the best ones are known from elsewhere, shape (m,).
    """
    k, r = columns.shape
    if isinstance(base, NormBall) and base.order == 2:  # noqa: PLR2004
        # every second moment of trace 1 is one of the ball; FᵀGF is in proportion to the best
        seen = (np.sqrt(query_weights)[:, None] * asked) @ columns.T
        _, lengths, axes = np.linalg.svd(seen, full_matrices=False)
        return ImageDual(frozen(axes.copy()), frozen(np.square(lengths)), query_weights), None
    if float(k) * r * _STARTS * (r + 8) > _LARGEST:
        return None
    problem = Problem(queries=asked, order=order, moves=False, floor=0.1 * rtol)
    vertices = ImageVertices(columns, base)
    found = generate(problem, vertices, rtol=rtol, most=_ROUNDS if k * r <= 2 * _MANY else _FEWER)
    points = vertices.atoms[found.indices]
    dual = ImageDual(frozen(points), frozen(found.weights), frozen(found.query_weights))
    return dual, found.factor


def _turned(signs: Vector, image: Vector) -> Vector:
    """Return choices of signs, one of which is turned as long as ‖signs·image‖ grows by that.

    Where a gradient leads no farther that may: turning xⱼ adds 4(‖aⱼ‖² − xⱼ⟨aⱼ, x·image⟩) to the
    square of the length.

    Args:
        signs: shape (n, k).
        image: of rows a, shape (k, r).
    """
    x = signs.copy()
    squares = np.sum(np.square(image), axis=1)
    rows = np.arange(len(x))
    for _ in range(_TURNS * image.shape[0]):
        seen = x @ image
        gain = squares - x * (seen @ image.T)
        best = np.argmax(gain, axis=1)
        more = gain[rows, best] > _BEYOND * np.sum(np.square(seen), axis=1)
        if not np.any(more):
            break
        x[rows[more], best[more]] *= -1
    return x


@final
class ImageVertices(AbstractVertices):
    """Extreme points of F·B, as they are found.

    Args:
        columns: the columns of F as rows, shape (k, r).
        base: B.
    """

    def __init__(self, columns: Vector, base: AbstractUnitBall) -> None:
        self._columns = columns
        self._base = base
        self._corners = signed_corners(base)
        cones = most_cones(columns.shape[1], base.dimension)  # by which all directions are seen
        few = columns.size <= _MOST_TURNED
        self._turns = base.ball_order == math.inf and not cones and few
        self._random = np.random.default_rng(0)  # starts only: nothing that is released
        self.atoms = np.zeros((0, len(columns)))

    @property
    def dimension(self) -> int:
        """The number of coordinates r."""
        return int(self._columns.shape[1])

    def first(self, wanted: int) -> Integers:
        """Return points that are extreme along random directions, until they span R^r."""
        size = np.linalg.norm(self._columns, axis=0)
        while True:
            directions = self._random.standard_normal((wanted, self.dimension)) / size
            self._add(self._base.extreme(directions @ self._columns.T))
            rows = (self.atoms @ self._columns) / size
            if np.linalg.matrix_rank(rows) == self.dimension:
                return np.arange(len(self.atoms))

    def gather(self, indices: Integers) -> Vector:
        """Return those points' images."""
        return np.asarray(self.atoms[indices] @ self._columns)

    def price(self, inverse: Vector, mean: Vector, beyond: float, wanted: int) -> Priced:
        """Return points that stick out, climbing from the known ones, the axes and at random.

        Where the corners are few, all of them are looked at; in few dimensions, all directions.
        """
        image = self._columns @ inverse.T
        if self._corners is not None:
            value = np.linalg.norm(self._corners @ image, axis=1)
            out = np.flatnonzero(value > beyond * (1 + _BEYOND))
            out = out[np.argsort(-value[out])][:wanted]
            return Priced(float(np.max(value)), self._add(self._corners[out]))
        axes = np.linalg.svd(image, full_matrices=False)[0].T
        known = np.linalg.norm(self.atoms @ image, axis=1)
        far = self.atoms[np.argsort(-known)[: 2 * self.dimension]]
        random = self._random.standard_normal((2 * self.dimension, self.dimension)) @ image.T
        x = np.vstack([far, self._base.extreme(axes), self._base.extreme(random)])
        value = np.linalg.norm(x @ image, axis=1)
        for _ in range(_CLIMBS):
            higher = self._base.extreme((x @ image) @ image.T)
            lengths = np.linalg.norm(higher @ image, axis=1)
            if not np.any(lengths > value * (1 + _BEYOND)):
                break
            x, value = higher, lengths
        if self._turns:
            x = _turned(x, image)
            value = np.linalg.norm(x @ image, axis=1)
        if max(np.max(value), np.max(known)) <= beyond * (1 + _BEYOND):  # this may be the end
            along = image_length(image.T, self._base).direction
            if along is not None:
                x = self._base.extreme((along @ image.T)[None])
                value = np.linalg.norm(x @ image, axis=1)
        out = np.flatnonzero(value > beyond * (1 + _BEYOND))
        out = out[np.argsort(-value[out])][:wanted]
        added = self._add(x[out])
        return Priced(float(max(np.max(value), np.max(known))), added)

    def _add(self, points: Vector) -> Integers:
        """Return the indices of points, up to a change of all signs; those that are new join."""
        found = []
        for x in points:
            same = np.abs(self.atoms - x).max(axis=1, initial=0.0) < _BEYOND
            opposite = np.abs(self.atoms + x).max(axis=1, initial=0.0) < _BEYOND
            known = np.flatnonzero(same | opposite)
            found.append(known[0] if known.size else len(self.atoms))
            if not known.size:
                self.atoms = np.vstack([self.atoms, x])
        return np.unique(np.array(found, dtype=np.int64))
