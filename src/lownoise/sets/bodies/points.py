# SPDX-License-Identifier: Apache-2.0
"""The three bodies of a point set: itself up to translation, its symmetric hull, its differences.

What they say of their reach is rounded up: a product of n terms in floats is within γ_n = nu/(1−nu)
of the product of absolute values, in any order of summation (Higham 2002, section 3.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import grown, growth
from lownoise.sets.bodies.abstract import AbstractBody
from lownoise.sets.halves import Halves, halves
from lownoise.sets.norms.choice import of_differences, of_points
from lownoise.sets.pairs import farthest_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies.image import ImageBody
    from lownoise.sets.norms import AbstractNorm

    Single = np.ndarray[tuple[int, ...], np.dtype[np.float32]]

_BLOCK = 1 << 21  # numbers
_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class AbstractPointBody(AbstractBody):
    """A hull whose vertices are made of a list of points; none of them is ever formed at once.

    Args:
        points: shape (N, d).
    """

    points: Vector

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.points.shape[1])

    @property
    def spanning(self) -> Vector:
        """The points themselves, or of a long list of sums some that span as much."""
        return self.points if self._halves is None else self._halves.cross

    @cached_property
    def _halves(self) -> Halves | None:
        return halves(self.points)

    def vertices(self, indices: Integers) -> Vector:
        """Return the vertices of those indices, shape (k, d)."""
        return self.points[indices]

    def knows(self, indices: Integers) -> bool:
        """Return whether `indices` are of the right shape and in range: (k,), one a vertex."""
        return _in_range(indices, len(self.points), 1)

    def length_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·(x − center)‖ over the points."""
        if self._halves is None:
            return _outward(*_longest(self.points, matrix, center), matrix)
        # no other point has the longest image
        outer = self.points[self._halves.outer(matrix, center)]
        longest, _ = _longest(outer, matrix, center)
        return _outward(longest, self._halves.extent_up(np.eye(self.dimension), center), matrix)

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(x − center)| over the points, row by row."""
        if self._halves is None:
            return _extent(self.points, matrix, center)
        return self._halves.extent_up(matrix, center)

    def replaced(self, points: Vector) -> Self:
        """Return the same kind of body of other points, shape (N, r)."""
        return type(self)(points)

    def scaled(self, factor: float) -> Self:
        """Return factor·S; `factor` is a power of two, so nothing is rounded."""
        return self.replaced(frozen(factor * self.points))

    def mapped(self, rows: Vector) -> AbstractBody:
        """Return the body of the points' images; around it what rounding hides where any is."""
        images = exact_images(self.points, rows)
        return self.replaced(images) if images is not None else self._nearly(rows)

    def _nearly(self, rows: Vector) -> AbstractBody:
        off = growth(rows.shape[1] + 3) * (np.abs(rows) @ np.max(np.abs(self.points), axis=0))
        # a difference is of two of them
        return self.replaced(frozen(self.points @ rows.T)).rounded(grown(2 * off))

    def projected(self, kept: Integers) -> Self:
        """Return the body of the points' projections."""
        return self.replaced(frozen(np.ascontiguousarray(self.points[:, kept])))


@final
@dataclass(frozen=True, eq=False)
class TranslatedPoints(AbstractPointBody):
    """The hull K of the points, wherever it may stand: what Γ_p(K) is of."""

    @property
    def moves(self) -> bool:
        """An ellipsoid may choose its center."""
        return True

    @property
    def base_point(self) -> Vector:
        """The first point."""
        return np.asarray(self.points[0])


@final
@dataclass(frozen=True, eq=False)
class SymmetricPoints(AbstractPointBody):
    """The hull of the points and of their opposites.

    Args:
        points: shape (N, d).
        image: the same hull as an image of a cube, where the points are the corners of one.
    """

    image: ImageBody | None = None

    def around(self) -> tuple[Vector, bool]:
        """Return the points."""
        return self.points, True

    def scaled(self, factor: float) -> Self:
        """Return factor·S; `factor` is a power of two, so nothing is rounded."""
        image = None if self.image is None else self.image.scaled(factor)
        return type(self)(frozen(factor * self.points), image)

    def radius_up(self, shape: AbstractShape) -> float:
        """Return at least max √(sᵀ M⁻¹ s).

        Of independent noise it is that of the box around them, where one of them is its corner.
        """
        if self.image is not None and shape.independent is not None:
            far = np.max(np.abs(self.points), axis=0)
            if np.any(np.all(np.abs(self.points) == far, axis=1)):
                return shape.box_radius_up(far)
        return super().radius_up(shape)

    def sensitivity_up(self, norm: AbstractNorm) -> float:
        """Return at least max ‖s‖: what the norm says of points."""
        return norm.points_up(self)

    def norm(self, distance: float) -> AbstractNorm:
        """Return that of the hull of points, or of the image that it is."""
        return of_points(self.points) if self.image is None else self.image.norm(distance)

    def mapped(self, rows: Vector) -> AbstractBody:
        """Return the hull of the points' images, or the image that it is, as exactly as known."""
        images = exact_images(self.points, rows)
        if images is None:
            return self._nearly(rows) if self.image is None else self.image.mapped(rows)
        return type(self)(images, None if self.image is None else self.image.selected(rows))

    def projected(self, kept: Integers) -> Self:
        """Return the hull of the points' projections."""
        image = None if self.image is None else self.image.projected(kept)
        return type(self)(frozen(np.ascontiguousarray(self.points[:, kept])), image)


@final
@dataclass(frozen=True, eq=False)
class PointDifferences(AbstractPointBody):
    """The hull of all x − y."""

    @property
    def base_point(self) -> Vector:
        """The first point."""
        return np.asarray(self.points[0])

    @property
    def moment(self) -> Vector:
        """The covariance of the points, shape (d, d)."""
        about = self.points - self.points.mean(axis=0)
        return np.asarray(about.T @ about / len(about))

    def vertices(self, indices: Integers) -> Vector:
        """Return x − y for pairs of indices, shape (k, 2)."""
        return self.points[indices[:, 0]] - self.points[indices[:, 1]]

    def knows(self, indices: Integers) -> bool:
        """Return whether `indices` has shape (k, 2) and is in range."""
        return _in_range(indices, len(self.points), 2)

    def length_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·(x − y)‖; `center` is 0."""
        # about one of them first: a mean of numbers far from zero drifts away from all of them
        about = self.points - self.points[0]
        extent = np.max(np.abs(about), axis=0)
        about -= np.mean(about, axis=0)
        np.maximum(extent, np.max(np.abs(about), axis=0), out=extent)
        # each of the two images is off by half of what `_outward` adds to a difference
        return _outward(farthest_pairs(about @ matrix.T).longest, 2 * extent, matrix)

    def sensitivity_up(self, norm: AbstractNorm) -> float:
        """Return at least max ‖x − y‖: what the norm says of differences."""
        return norm.differences_up(self)

    def norm(self, distance: float) -> AbstractNorm:
        """Return that of all x − y in the simplest form."""
        return of_differences(self.points)

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(x − y)|, row by row; `center` is 0."""
        return 2 * _extent(self.points, matrix, self.points[0])


def _blocks(points: Vector) -> Iterator[Vector]:
    step = max(_BLOCK // max(points.shape[1], 1), 1)
    return (points[start : start + step] for start in range(0, len(points), step))


def _longest(points: Vector, matrix: Vector, center: Vector) -> tuple[float, Vector]:
    """Return the float value of max ‖matrix·(x − center)‖, and max |x − center|, shape (d,)."""
    longest, extent = 0.0, np.zeros(points.shape[1])
    for block in _blocks(points):
        about = block - center
        np.maximum(extent, np.max(np.abs(about), axis=0), out=extent)
        image = about @ matrix.T
        longest = max(longest, float(np.max(np.einsum("ij,ij->i", image, image), initial=0.0)))
    return float(np.sqrt(longest)), extent


def _outward(longest: float, extent: Vector, matrix: Vector) -> float:
    """Return `longest` plus what rounding of the images can have hidden.

    Args:
        longest: the greatest float norm of an image.
        extent: the greatest absolute coordinates that were multiplied, shape (d,).
        matrix: shape (r, d).
    """
    r, d = matrix.shape
    hidden = growth(d + 3) * float(np.linalg.norm(np.abs(matrix) @ extent))
    return (longest * (1 + growth(2 * r + 60)) + hidden * (1 + growth(d + r + 9))) * (1 + growth(9))


def _extent(points: Vector, matrix: Vector, center: Vector) -> Vector:
    found, size = np.zeros(len(matrix)), np.zeros(points.shape[1])
    for block in _blocks(points):
        about = block - center
        np.maximum(size, np.max(np.abs(about), axis=0), out=size)
        np.maximum(found, np.max(np.abs(about @ matrix.T), axis=0), out=found)
    n = points.shape[1]
    return (found + growth(n + 3) * (np.abs(matrix) @ size)) * (1 + growth(n + 9))


def _in_range(indices: Integers, count: int, columns: int) -> bool:
    shaped = indices.ndim == columns and (columns == 1 or indices.shape[1] == columns)
    whole = np.issubdtype(indices.dtype, np.integer)
    return bool(shaped and whole and np.all((indices >= 0) & (indices < count)))


def exact_images(points: Vector, rows: Vector) -> Vector | None:
    """Return rows·x for each point, shape (N, k), where floats hold every sum of the products.

    None where they may not.
    """
    finest = _denominator(rows) * _denominator(points)
    most = float(np.max(np.abs(rows).sum(axis=1), initial=0.0) * np.max(np.abs(points), initial=0))
    if not most * finest < _EXACT:
        return None
    return frozen(np.ascontiguousarray(points @ rows.T))


def _denominator(numbers: Vector) -> float:
    """Return the least power of two that makes all of them whole, at least 1."""
    scale = 1.0
    while not np.array_equal(np.floor(numbers * scale), numbers * scale):
        scale *= 2
        if scale > _EXACT:
            return math.inf
    return scale
