# SPDX-License-Identifier: Apache-2.0
"""What several rows change together: m times what one does (`docs/theory.md`, units).

The change of one row is a point of S, which is convex, holds 0, and holds the opposite of each
point; that of at most m rows is a point of m·S, and m rows alike make each. What noise reveals of
a change is convex and the same of the opposite, so m times the worst of one row is the worst.

Where a unit has any other rows, or none, let L be the hull of 0 and of what a row adds: the totals
change by a point of m·(L − L), which is the hull of what a row changes that comes or goes and of
what one changes that becomes another. So the worst of either is the worst.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import fraction_up, grown, up
from lownoise.sensitivity.factors import BlockShape, DenseShape, DiagonalShape
from lownoise.sets.bodies import (
    AbstractBody,
    ImageBody,
    PointDifferences,
    RoundedBody,
    SymmetricBox,
    SymmetricPoints,
)
from lownoise.sets.norms import norm_of
from lownoise.sets.norms.choice import enlarged

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.norms import AbstractNorm


def times_up(times: int, value: float) -> float:
    """Return times·value where that is a float, else the float above it.

    Examples:
        >>> times_up(3, 0.25), times_up(1, 0.1)
        (0.75, 0.1)
        >>> Fraction(times_up(3, 0.1)) >= 3 * Fraction(0.1)
        True
    """
    if times == 1 or not math.isfinite(value):
        return value
    return fraction_up(times * Fraction(value))


@final
@dataclass(frozen=True, eq=False)
class Repeated(AbstractBody):
    """The changes of so many rows: `times` those of one.

    Args:
        body: what one row changes: a body, or what has a `radius_up` of its own.
        times: m, at least 1.

    Examples:
        >>> from lownoise.sets.bodies import SymmetricBox
        >>> Repeated(SymmetricBox(np.array([1.0, 0.0])), 3).widths()
        array([3., 0.])
    """

    body: Any
    times: int

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        found: int = self.body.dimension
        return found

    @property
    def spanning(self) -> Vector:
        """What spans the body of one row."""
        return np.asarray(self.times * self.body.spanning)

    @property
    def base_point(self) -> Vector:
        """That of the body of one row, as many times."""
        return np.asarray(self.times * self.body.base_point)

    def length_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·(s − center)‖."""
        found = times_up(self.times, self.body.length_up(matrix, np.zeros(self.dimension)))
        return found if not np.any(center) else up(found + self._off(matrix, center).sum())

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(s − center)|, row by row, shape (r,)."""
        found = self._all_up(self.body.extent_up(matrix, np.zeros(self.dimension)))
        return found if not np.any(center) else np.asarray(found + self._off(matrix, center))

    def _off(self, matrix: Vector, center: Vector) -> Vector:
        return np.asarray(grown(np.abs(matrix) @ np.abs(center)))

    def radius_up(self, shape: AbstractShape) -> float:
        """Return at least the greatest length in noise of this shape."""
        return times_up(self.times, self.body.radius_up(shape))

    def sensitivity_up(self, norm: AbstractNorm) -> float:
        """Return at least the greatest norm."""
        return times_up(self.times, self.body.sensitivity_up(norm))

    def norm(self, distance: float) -> AbstractNorm:
        """Return that of one row: a multiple of its unit ball is the body."""
        found: AbstractNorm = self.body.norm(distance)
        return found

    def widths(self) -> Vector:
        """Return the greatest change of each coordinate, shape (d,), rounded up."""
        return self._all_up(self.body.widths())

    def _all_up(self, values: Vector) -> Vector:
        return frozen(np.array([times_up(self.times, v) for v in values.tolist()]))

    def mapped(self, rows: Vector) -> Repeated:
        """Return rows·S."""
        return Repeated(self.body.mapped(rows), self.times)


def repeated(changes: Any, times: int) -> Repeated:  # noqa: ANN401 (a body, or a structure)
    """Return the changes of so many rows, of changes that may be those of several already.

    Examples:
        >>> from lownoise.sets.bodies import SymmetricBox
        >>> repeated(Repeated(SymmetricBox(np.ones(1)), 2), 3).times
        6
    """
    one, own = of_one_row(changes)
    return Repeated(one, own * times)


def standing(body: AbstractBody) -> AbstractBody:
    """Return a body in one coordinate more, the last, in which it does not move.

    Examples:
        >>> from lownoise.sets.bodies import SymmetricBox
        >>> standing(SymmetricBox(np.array([2.0]))).widths()
        array([2., 0.])
    """
    if isinstance(body, RoundedBody):
        return RoundedBody(standing(body.body), frozen(np.append(body.slack, 0.0)))
    if isinstance(body, PointDifferences):
        return body.replaced(np.pad(body.points, ((0, 0), (0, 1))))
    return Standing(body)


@final
@dataclass(frozen=True, eq=False)
class Standing(AbstractBody):
    """A body in one coordinate more, the last, in which it does not move.

    Args:
        body: in all coordinates but the last.
    """

    body: AbstractBody

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return self.body.dimension + 1

    @property
    def spanning(self) -> Vector:
        """What spans the body."""
        return np.pad(self.body.spanning, ((0, 0), (0, 1)))

    @property
    def base_point(self) -> Vector:
        """That of the body."""
        return np.append(self.body.base_point, 0.0)

    def length_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·(s − center)‖."""
        if center[-1]:  # which no body of changes is asked
            return math.inf
        return self.body.length_up(matrix[:, :-1], center[:-1])

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(s − center)|, row by row."""
        if center[-1]:
            return np.full(len(matrix), math.inf)
        return self.body.extent_up(matrix[:, :-1], center[:-1])

    def radius_up(self, shape: AbstractShape) -> float:
        """Return at least the greatest length in noise of this shape.

        Where the last number has noise of its own, the others' alone matters.
        """
        own = leading(shape)
        return super().radius_up(shape) if own is None else self.body.radius_up(own)

    def widths(self) -> Vector:
        """Return the greatest change of each coordinate, rounded up."""
        return np.append(self.body.widths(), 0.0)

    def mapped(self, rows: Vector) -> AbstractBody:
        """Return rows·S, to which the last number adds nothing."""
        return self.body.mapped(np.ascontiguousarray(rows[:, :-1]))


def leading(shape: AbstractShape) -> AbstractShape | None:
    """Return the noise of all numbers but the last where it is independent of that; else None.

    Examples:
        >>> leading(DiagonalShape([1.0, 2.0])).scale
        array([1.])
    """
    if isinstance(shape, DiagonalShape):
        return DiagonalShape(frozen(shape.scale[:-1].copy()))
    if isinstance(shape, BlockShape) and shape.places[-1] < shape.dimension - 1:
        return BlockShape(frozen(shape.scale[:-1].copy()), shape.places, shape.block)
    if not isinstance(shape, DenseShape):
        return None
    rows = shape.factor
    if rows.shape[0] != rows.shape[1] or np.any(rows[-1, :-1]) or np.any(rows[:-1, -1]):
        return None
    return DenseShape(np.ascontiguousarray(rows[:-1, :-1]))


def exchange(coming: AbstractBody, becoming: AbstractBody) -> AbstractBody:
    """Return the hull of what a row changes that comes or goes, and that becomes another.

    Args:
        coming: the one.
        becoming: the other, in the same coordinates.

    Examples:
        >>> from lownoise.sets.bodies import SymmetricPoints
        >>> one = SymmetricPoints(np.array([[0.0, 1.0], [2.0, 1.0]]))
        >>> exchange(one, standing(PointDifferences(one.points[:, :1]))).points.tolist()
        [[0.0, 0.0], [0.0, 1.0], [2.0, 1.0]]
    """
    if isinstance(coming, SymmetricPoints):  # differences of these and 0
        return PointDifferences(frozen(np.pad(coming.points, ((1, 0), (0, 0)))))
    return Exchanged(coming, becoming)


@final
@dataclass(frozen=True, eq=False)
class Exchanged(AbstractBody):
    """The hull of what a row changes that comes or goes, and of what one does that becomes another.

    Args:
        coming: the one body.
        becoming: the other, in the same coordinates.
    """

    coming: AbstractBody
    becoming: AbstractBody

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return self.coming.dimension

    @property
    def spanning(self) -> Vector:
        """What spans the one body, which the other lies in the span of."""
        return self.coming.spanning

    def length_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·(s − center)‖."""
        return max(own.length_up(matrix, center) for own in (self.coming, self.becoming))

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(s − center)|, row by row."""
        both = [own.extent_up(matrix, center) for own in (self.coming, self.becoming)]
        return np.asarray(np.maximum(*both))

    def radius_up(self, shape: AbstractShape) -> float:
        """Return at least the greatest length in noise of this shape."""
        return max(self.coming.radius_up(shape), self.becoming.radius_up(shape))

    def sensitivity_up(self, norm: AbstractNorm) -> float:
        """Return at least the greatest norm."""
        return max(self.coming.sensitivity_up(norm), self.becoming.sensitivity_up(norm))

    def norm(self, distance: float) -> AbstractNorm:
        """Return that of one that becomes another; beside a count that of a cylinder about both."""
        inner = self.becoming
        inner = inner.body if isinstance(inner, RoundedBody) else inner
        whole = _wider(self.coming) if isinstance(inner, Standing) else self.becoming
        return enlarged(norm_of(whole, distance), self)

    def widths(self) -> Vector:
        """Return the greatest change of each coordinate, rounded up."""
        return np.asarray(np.maximum(self.coming.widths(), self.becoming.widths()))

    def mapped(self, rows: Vector) -> AbstractBody:
        """Return rows·S."""
        return Exchanged(self.coming.mapped(rows), self.becoming.mapped(rows))


def _wider(body: AbstractBody) -> AbstractBody:
    """Return a body twice as wide in all coordinates but the last where that is known, or itself.

    Of records that are symmetric about the point that sums are about that holds all differences.
    """
    if isinstance(body, SymmetricBox):
        return SymmetricBox(frozen(body.half_width * _twice(body.dimension)))
    if not isinstance(body, RoundedBody) or not isinstance(body.body, ImageBody):
        return body
    image, times = body.body, _twice(body.dimension)
    factor = image.factor * (times if image.diagonal else times[:, None])
    return ImageBody(frozen(factor), image.base)


def _twice(dimension: int) -> Vector:
    return np.append(np.full(dimension - 1, 2.0), 1.0)


def of_one_row(changes: Any) -> tuple[Any, int]:  # noqa: ANN401 (a body, or a structure)
    """Return what one row changes, and how many rows are hidden together."""
    return (changes.body, changes.times) if isinstance(changes, Repeated) else (changes, 1)
