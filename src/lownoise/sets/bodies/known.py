# SPDX-License-Identifier: Apache-2.0
"""Sets over which squares of lengths can be bounded: what every oracle body asks of its set.

A set is told by points of its own and by upper bounds on ‖A(x − c)‖². Of a user's program both are
that program's word; of the sets in `compound` both are proved. A point is told by a row of numbers,
`place` says which point it is: a point of F·B is told by its x in B, so that it is one for certain.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.rounding import growth

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


@final
@dataclass(frozen=True, eq=False)
class Told:
    """What is known of a greatest value.

    Args:
        point: what tells a point of the set that is far out, shape (w,); or two, shape (2, w).
        upper: at least the greatest value over the set.
    """

    point: Vector
    upper: float


class AbstractKnown(ABC):
    """A bounded set K ⊂ R^d that says how far it reaches."""

    center: Vector
    reach: Vector

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.center.size)

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers tell a point."""

    @property
    @abstractmethod
    def spread(self) -> Vector:
        """What tells points that span the flat that K fills, shape (n, w)."""

    @property
    def tells_differences(self) -> bool:
        """Whether it bounds differences of its points, too: it does, as a rule."""
        return True

    @property
    def points(self) -> Vector:
        """What tells points to start a search from, shape (n, w): those that span it, as a rule."""
        return self.spread

    @property
    def doubt(self) -> Vector:
        """How far off `place` is, shape (d,)."""
        return np.zeros(self.dimension)

    @abstractmethod
    def place(self, told: Vector) -> Vector:
        """Return the points that rows of numbers tell, shapes (..., w) and (..., d)."""

    def knows(self, told: Vector) -> bool:
        """Return whether a row, shape (w,), tells a point of K.

        Where `place` brings whatever is told into K, every row of numbers does.
        """
        return bool(np.all(np.isfinite(told)))

    def far(self, center: Vector) -> Vector:
        """Return at least |x − center| over K, shape (d,)."""
        return np.asarray((self.reach + np.abs(self.center - center)) * (1 + 2.0**-50))

    @abstractmethod
    def farthest(self, matrix: Vector, center: Vector) -> Told:
        """Return a point far out under a map, and at least max ‖matrix·(x − center)‖²."""

    @abstractmethod
    def farthest_pair(self, matrix: Vector) -> Told:
        """Return two points far apart, and at least max ‖matrix·(x − y)‖²."""

    @abstractmethod
    def support_up(self, direction: Vector, about: Vector) -> float:
        """Return at least max ⟨θ, x − about⟩ over K; shapes (d,)."""

    @abstractmethod
    def extreme(self, direction: Vector) -> Vector:
        """Return what tells a point that should be extreme along θ, shape (w,)."""


def affine_farthest(known: AbstractKnown, linear: Vector, origin: Vector, constant: Vector) -> Told:
    """Return a point far out, and at least max ‖A(x − origin) + a‖², the square completed.

    With e = A(c − origin) + a and a center c that makes Aᵀe vanish, it is the greatest
    ‖A(x − c)‖² plus ‖e‖².

    Args:
        known: the set.
        linear: A, shape (r, d).
        origin: shape (d,).
        constant: a, shape (r,).
    """
    middle = _middle(known, linear, origin, constant)
    told = known.farthest(linear, middle)
    shift = middle - origin
    rest = linear @ shift + constant
    d, m = shift.size, len(linear)
    off = growth(d + 4) * (np.abs(linear) @ np.abs(shift) + np.abs(constant))
    # ‖Az + e‖² = ‖Az‖² + 2⟨z, Aᵀe⟩ + ‖e‖², and Aᵀe is nearly 0
    pull = np.abs(rest @ linear) + np.abs(linear).T @ (off + growth(m + 2) * np.abs(rest))
    cross = 2 * float(known.far(middle) @ pull)
    length = float(np.linalg.norm(rest)) + float(np.linalg.norm(off))
    return Told(told.point, told.upper + (cross + length**2) * (1 + growth(d + m + 60)))


_BEYOND = 2.0**20  # of the reach: a center farther out says nothing in floats


def _middle(known: AbstractKnown, linear: Vector, origin: Vector, constant: Vector) -> Vector:
    """Return the center about which the length has no linear term, shape (d,)."""
    reach = known.reach
    used = reach > 0
    scaled = linear[:, used] * reach[used]
    found = known.center.copy()
    if not np.any(scaled):
        return found
    parts = np.linalg.lstsq(scaled, constant + linear @ (found - origin))[0]
    if np.all(np.abs(parts) < _BEYOND):
        found[used] -= parts * reach[used]
    return found


def root_up(square: float) -> float:
    """Return at least the root of a bound on a square."""
    return math.sqrt(square) * (1 + growth(20))


def longer(square: float, more: float) -> float:
    """Return at least the square of a length that is `more` longer."""
    length = np.sqrt(square) * (1 + 2.0**-50) + more * (1 + 2.0**-30)
    return float(length * length * (1 + 2.0**-50))
