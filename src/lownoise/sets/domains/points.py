# SPDX-License-Identifier: Apache-2.0
"""A finite list of points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen, matrix
from lownoise.sets.domains.abstract import AbstractDomain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector

_LARGEST = 2.0**250  # products of coordinates, and sums of them, stay finite
_NARROWEST = 2.0**-250


@final
@dataclass(frozen=True, eq=False, init=False)
class Points(AbstractDomain):
    """A finite set: every record is one of these points.

    The noise depends on their convex hull alone, so repeated and interior points cost nothing. A
    record that is not in the list is clipped to the nearest point of it, each coordinate measured
    in parts of its own range, also where it lies between two of them. Where records may be mixtures
    of the points, give their hull: `ln.hull(ln.Points(…))`.

    Args:
        points: shape (N, d), one row a point, each column in its unit. An array that is read-only
            and owns its numbers is not copied.

    Raises:
        DomainError: where it is not a table of finite numbers, is empty, or has a number beyond
            2^250 or a column whose range is positive and below 2^-250.

    Examples:
        >>> triangle = Points([[0, 0], [1, 0], [0, 1]])
        >>> triangle.support(np.array([1.0, 2.0]))
        2.0
        >>> triangle.clamp(np.array([0.9, -3.0]))
        array([1., 0.])
    """

    points: Vector

    def __init__(self, points: ArrayLike) -> None:
        checked = matrix(points, field="Points.points", error=DomainError)
        if checked.size == 0:
            raise DomainError(
                f"Points.points has shape {checked.shape}; give at least one point of one number",
            )
        low, high = np.min(checked, axis=0), np.max(checked, axis=0)
        large = np.flatnonzero((high > _LARGEST) | (low < -_LARGEST))
        if large.size:
            j = int(large[0])
            most = high[j] if high[j] > _LARGEST else low[j]
            raise DomainError(
                f"Points.points has {most} in column {j}, beyond 2^250; use a larger unit",
            )
        width = high - low
        narrow = np.flatnonzero((width > 0) & (width < _NARROWEST))
        if narrow.size:
            j = int(narrow[0])
            raise DomainError(
                f"Points.points spans {width[j]} in column {j}, below 2^-250; use a smaller unit",
            )
        object.__setattr__(self, "points", checked)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.points.shape[1])

    @cached_property
    def lower(self) -> Vector:
        """The least value of each coordinate, shape (d,)."""
        return frozen(np.min(self.points, axis=0))

    @cached_property
    def upper(self) -> Vector:
        """The greatest value of each coordinate, shape (d,)."""
        return frozen(np.max(self.points, axis=0))

    @cached_property
    def center(self) -> Vector:
        """The mean of the list, shape (d,); it need not be in it."""
        middle = self.points[0] + np.mean(self.points - self.points[0], axis=0)
        return frozen(np.clip(middle, self.lower, self.upper))

    def support(self, direction: Vector) -> float:
        """Return max ⟨θ, x⟩ over the points, for direction θ, shape (d,)."""
        return float(np.max(self.points @ direction))

    def extreme(self, directions: Vector) -> Vector:
        """Return the point of the list that is extreme along each row, shapes (n, d)."""
        found = np.empty((len(directions), self.dimension))
        for i, direction in enumerate(directions):
            found[i] = self.points[np.argmax(self.points @ direction)]
        return found

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), is one of the points, to the last bit."""
        return bool(np.any(np.all(self.points == point, axis=1)))

    def clamp(self, points: Vector) -> Vector:
        """Return `points`, shape (..., d), each clipped to the nearest point of the list."""
        rows = np.reshape(points, (-1, self.dimension))
        return frozen(self.points[self.nearest(rows)].reshape(np.shape(points)))

    def nearest(self, rows: Vector) -> Integers:
        """Return the index of the nearest point of each row, shapes (n, d) and (n,).

        Each value is first clamped into its column's range; distances are then in parts of the
        ranges, and of equally near points one is always chosen for the same row. A column of one
        value counts for nothing. Each row's answer depends on that row alone.
        """
        if not self._wide.size:
            return np.zeros(len(rows), dtype=np.int64)
        _, indices = self._tree.query(self._scaled(rows))
        return np.asarray(indices, dtype=np.int64)

    @cached_property
    def _wide(self) -> Integers:
        return np.flatnonzero(self.upper > self.lower)

    def _scaled(self, rows: Vector) -> Vector:
        """Return the rows in parts of each range, shape (n, k), columns of one value left out."""
        low, high = self.lower[self._wide], self.upper[self._wide]
        return (np.clip(rows[:, self._wide], low, high) - low) / (high - low)

    @cached_property
    def _tree(self) -> Any:  # noqa: ANN401
        from scipy.spatial import KDTree

        return KDTree(self._scaled(self.points))
