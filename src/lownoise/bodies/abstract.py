# SPDX-License-Identifier: Apache-2.0
"""What every body with vertices can say of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from lownoise.arrays import Integers, Vector


class AbstractPointBody(ABC):
    """A hull whose vertices are made of a list of points; none of them is ever formed at once."""

    points: Vector

    @property
    @abstractmethod
    def moves(self) -> bool:
        """Whether it stands for all its translates: an ellipsoid may choose its center."""

    @property
    @abstractmethod
    def directions(self) -> Vector:
        """The point that differences are taken from to span the body, shape (d,)."""

    @abstractmethod
    def vertices(self, indices: Integers) -> Vector:
        """Return the vertices of those indices, shape (k, d)."""

    @abstractmethod
    def knows(self, indices: Integers) -> bool:
        """Return whether `indices` are of the right shape and in range."""

    @abstractmethod
    def reach_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·(s − center)‖ over the body; shapes (r, d) and (d,)."""

    @abstractmethod
    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(s − center)|, row by row, shape (r,)."""

    @abstractmethod
    def replaced(self, points: Vector) -> Self:
        """Return the same kind of body of other points, shape (N, r)."""

    def widths(self) -> Vector:
        """Return the greatest change of each coordinate, shape (d,), rounded up."""
        return self.extent_up(np.eye(self.dimension), self.directions)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.points.shape[1])
