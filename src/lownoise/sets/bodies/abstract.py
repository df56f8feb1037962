# SPDX-License-Identifier: Apache-2.0
"""What every body can say of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

import numpy as np

from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector


class AbstractBody(ABC):
    """A bounded convex set of changes, known by how far it reaches in any direction."""

    @property
    @abstractmethod
    def spanning(self) -> Vector:
        """Rows that together with `directions` span what the body spans, shape (n, d)."""

    @property
    @abstractmethod
    def moves(self) -> bool:
        """Whether it stands for all its translates: an ellipsoid may choose its center."""

    @property
    @abstractmethod
    def directions(self) -> Vector:
        """The point that differences are taken from to span the body, shape (d,)."""

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.spanning.shape[1])

    @abstractmethod
    def reach_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·(s − center)‖ over the body; shapes (r, d) and (d,)."""

    @abstractmethod
    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(s − center)|, row by row, shape (r,)."""

    @abstractmethod
    def scaled(self, factor: float) -> AbstractBody:
        """Return factor·S; `factor` is a power of two, so nothing is rounded."""

    def widths(self) -> Vector:
        """Return the greatest change of each coordinate, shape (d,), rounded up."""
        return self.extent_up(np.eye(self.dimension), self.directions)


class AbstractPointBody(AbstractBody):
    """A hull whose vertices are made of a list of points; none of them is ever formed at once."""

    points: Vector

    @property
    def spanning(self) -> Vector:
        """The points themselves."""
        return self.points

    @abstractmethod
    def vertices(self, indices: Integers) -> Vector:
        """Return the vertices of those indices, shape (k, d)."""

    @abstractmethod
    def knows(self, indices: Integers) -> bool:
        """Return whether `indices` are of the right shape and in range."""

    @abstractmethod
    def replaced(self, points: Vector) -> Self:
        """Return the same kind of body of other points, shape (N, r)."""

    def scaled(self, factor: float) -> Self:
        """Return factor·S; `factor` is a power of two, so nothing is rounded."""
        return self.replaced(frozen(factor * self.points))
