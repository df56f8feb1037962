# SPDX-License-Identifier: Apache-2.0
"""Sets over which squares of lengths can be bounded: what every oracle body asks.

They give points of their own and upper bounds on ‖A(x − c)‖². Of a user's program both are that
program's word; of the sets in `compound` both are proved. A point is encoded as a row of numbers,
and `place` decodes it: a point of F·B is encoded as its x in B, so that it is one for certain.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.rounding import LAST, grown

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape


@final
@dataclass(frozen=True, eq=False)
class Farthest:
    """What is known of a greatest value.

    Args:
        point: the code of a point of the set that is far out, shape (w,); or of two, shape (2, w),
            or of several pairs, shape (n, 2, w).
        upper: at least the greatest value over the set.
    """

    point: Vector
    upper: float


class AbstractSet(ABC):
    """A bounded set K ⊂ R^d that says how far it reaches."""

    center: Vector
    extent: Vector

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.center.size)

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers encode a point."""

    @property
    @abstractmethod
    def spanning(self) -> Vector:
        """Codes of points that span the flat that K fills, shape (n, w)."""

    @property
    def bounds_differences(self) -> bool:
        """Whether it bounds differences of its points, too: it does, as a rule."""
        return True

    @property
    def sides(self) -> tuple[Vector, Vector] | None:
        """The least and greatest of each coordinate, where these are known without a search."""
        return None

    def length_up(self, step: Vector, origin: Vector | None = None, count: float = 0.0) -> float:
        """Return at least the greatest length of what `radius_up` is of, in steps, shape (d,).

        Asked where `sides` are known.
        """
        return math.inf

    def sums_up(self, step: Vector, origin: Vector) -> Farthest | None:
        """Return at least the greatest Σ|sᵢ|/stepᵢ, s = x − origin, and not a code but sizes |s|.

        None where it is not known. Asked where `length_up` is finite.
        """
        return None

    def radius_up(
        self, shape: AbstractShape, origin: Vector | None = None, count: float = 0.0
    ) -> float | None:
        """Return at least max √(sᵀM⁻¹s) where that is bounded otherwise than by lengths; else None.

        Args:
            shape: of the noise M on all coordinates, and on the count where there is one.
            origin: where s is (x − origin, count), shape (d,); None where s is a difference.
            count: what a record counts; 0 where that is none of the coordinates.
        """
        return None

    @property
    def points(self) -> Vector:
        """Codes of points to start a search from, shape (n, w): those that span it, as a rule."""
        return self.spanning

    @property
    def doubt(self) -> Vector:
        """How far off `place` is, shape (d,)."""
        return np.zeros(self.dimension)

    @abstractmethod
    def place(self, encoded: Vector) -> Vector:
        """Return the points of those codes, shapes (..., w) and (..., d)."""

    def knows(self, encoded: Vector) -> bool:
        """Return whether a row, shape (w,), is the code of a point of K.

        Where `place` brings whatever is encoded into K, every row of numbers is.
        """
        return bool(np.all(np.isfinite(encoded)))

    def far(self, center: Vector) -> Vector:
        """Return at least |x − center| over K, shape (d,)."""
        return np.asarray(grown(self.extent + np.abs(self.center - center), LAST))

    @abstractmethod
    def farthest(self, matrix: Vector, center: Vector) -> Farthest:
        """Return a point far out under a map, and at least max ‖matrix·(x − center)‖²."""

    @abstractmethod
    def farthest_pair(self, matrix: Vector) -> Farthest:
        """Return two points far apart, and at least max ‖matrix·(x − y)‖²."""

    @property
    def effort(self) -> float:
        """About how many numbers are looked at for one direction; infinite: do not ask for many."""
        return math.inf

    @property
    def loose(self) -> bool:
        """Whether widths say much more than its bounds on lengths, which take a search."""
        return False

    def sorted_parts(self) -> tuple[AbstractSet | None, AbstractSet | None]:
        """Return two sets that together reach as far, the second loose; None for an empty one."""
        return (None, self) if self.loose else (self, None)

    @abstractmethod
    def support_up(self, direction: Vector, about: Vector) -> float:
        """Return at least max ⟨θ, x − about⟩ over K; shapes (d,)."""

    def supports_up(self, directions: Vector, about: Vector) -> Vector:
        """Return the same of each row of directions, shapes (n, d) and (n,)."""
        return np.array([self.support_up(direction, about) for direction in directions])

    @abstractmethod
    def extreme(self, direction: Vector) -> Vector:
        """Return the code of a point that should be extreme along θ, shape (w,)."""

    def extremes(self, directions: Vector) -> Vector:
        """Return the same of each row of directions, shapes (n, d) and (n, w)."""
        return np.array([self.extreme(direction) for direction in directions])
