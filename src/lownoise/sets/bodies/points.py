# SPDX-License-Identifier: Apache-2.0
"""The three bodies of a point set: itself up to translation, its symmetric hull, its differences.

What they say of their reach is rounded up: a product of n terms in floats is within γ_n = nu/(1−nu)
of the product of absolute values, in any order of summation (Higham 2002, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth
from lownoise.sets.bodies.abstract import AbstractPointBody
from lownoise.sets.bodies.diameter import farthest_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies.image import ImageBody

_BLOCK = 1 << 21  # numbers


@final
@dataclass(frozen=True, eq=False)
class TranslatedPoints(AbstractPointBody):
    """The hull K of the points, wherever it may stand: what Γ_p(K) is of; `points` is (N, d)."""

    points: Vector

    @property
    def moves(self) -> bool:
        """An ellipsoid may choose its center."""
        return True

    @property
    def directions(self) -> Vector:
        """The first point."""
        return np.asarray(self.points[0])

    def vertices(self, indices: Integers) -> Vector:
        """Return those points."""
        return self.points[indices]

    def knows(self, indices: Integers) -> bool:
        """Return whether `indices` has shape (k,) and is in range."""
        return _in_range(indices, len(self.points), 1)

    def reach_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·(x − center)‖."""
        longest, extent = _longest(self.points, matrix, center)
        return _outward(longest, matrix, extent)

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(x − center)|, row by row."""
        return _extent(self.points, matrix, center)

    def replaced(self, points: Vector) -> Self:
        """Return the body of other points."""
        return type(self)(points)


@final
@dataclass(frozen=True, eq=False)
class SymmetricPoints(AbstractPointBody):
    """The hull of the points and of their opposites.

    Args:
        points: shape (N, d).
        image: the same hull as an image of a cube, where the points are the corners of one.
    """

    points: Vector
    image: ImageBody | None = None

    @property
    def moves(self) -> bool:
        """Its best center is 0."""
        return False

    @property
    def directions(self) -> Vector:
        """Zero."""
        return np.zeros(self.dimension)

    def vertices(self, indices: Integers) -> Vector:
        """Return those points."""
        return self.points[indices]

    def knows(self, indices: Integers) -> bool:
        """Return whether `indices` has shape (k,) and is in range."""
        return _in_range(indices, len(self.points), 1)

    def reach_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·s‖; `center` is 0."""
        longest, extent = _longest(self.points, matrix, np.zeros(self.dimension))
        return _outward(longest, matrix, extent)

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·s|, row by row; `center` is 0."""
        return _extent(self.points, matrix, np.zeros(self.dimension))

    def replaced(self, points: Vector) -> Self:
        """Return the body of other points."""
        return type(self)(points)

    def scaled(self, factor: float) -> Self:
        """Return factor·S; `factor` is a power of two, so nothing is rounded."""
        image = None if self.image is None else self.image.scaled(factor)
        return type(self)(frozen(factor * self.points), image)


@final
@dataclass(frozen=True, eq=False)
class PointDifferences(AbstractPointBody):
    """The hull of all x − y; `points` has shape (N, d)."""

    points: Vector

    @property
    def moves(self) -> bool:
        """Its best center is 0."""
        return False

    @property
    def directions(self) -> Vector:
        """The first point."""
        return np.asarray(self.points[0])

    def vertices(self, indices: Integers) -> Vector:
        """Return x − y for pairs of indices, shape (k, 2)."""
        return self.points[indices[:, 0]] - self.points[indices[:, 1]]

    def knows(self, indices: Integers) -> bool:
        """Return whether `indices` has shape (k, 2) and is in range."""
        return _in_range(indices, len(self.points), 2)

    def reach_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·(x − y)‖; `center` is 0."""
        # about one of them first: a mean of numbers far from zero drifts away from all of them
        about = self.points - self.points[0]
        extent = np.max(np.abs(about), axis=0)
        about -= np.mean(about, axis=0)
        np.maximum(extent, np.max(np.abs(about), axis=0), out=extent)
        # each of the two images is off by half of what `_outward` adds to a difference
        return _outward(farthest_pairs(about @ matrix.T).longest, matrix, 2 * extent)

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(x − y)|, row by row; `center` is 0."""
        return 2 * _extent(self.points, matrix, self.points[0])

    def replaced(self, points: Vector) -> Self:
        """Return the body of other points."""
        return type(self)(points)


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


def _outward(longest: float, matrix: Vector, extent: Vector) -> float:
    """Return `longest` plus what rounding of the images can have hidden.

    Args:
        longest: the greatest float norm of an image.
        matrix: shape (r, d).
        extent: the greatest absolute coordinates that were multiplied, shape (d,).
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
