# SPDX-License-Identifier: Apache-2.0
"""Lists that are all sums of a point of one short list and a point of another, as corners are.

Of a + b, a of m points and b of n, ‖Xa + Xb‖² = ‖Xa‖² + ‖Xb‖² + 2⟨Xa, Xb⟩: a product of two short
tables says how long all m·n images are, where the list itself takes r products a number. It is told
from the list alone, whatever made it, and how far the list is off is a part of what is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

_MANY = 1 << 14  # points from which on two short lists pay
_OFF = 2.0**-44  # of a coordinate's greatest size: what sums may have been rounded by


@final
@dataclass(frozen=True, eq=False)
class Halves:
    """Two short lists, of whose sums a list is made.

    Args:
        low: the first m points, shape (m, d).
        high: what is added to them, shape (n, d): point i + m·j is low[i] + high[j], nearly.
        off: at least how far that is off in each coordinate, shape (d,).
    """

    low: Vector
    high: Vector
    off: Vector

    def squares(self, matrix: Vector, center: Vector) -> Vector:
        """Return ‖matrix·(x − center)‖² for each point of the list in floats, shape (m·n,)."""
        low, high = (self.low - center) @ matrix.T, self.high @ matrix.T
        found = (2 * high) @ low.T
        found += np.einsum("ij,ij->i", low, low)
        found += np.einsum("ij,ij->i", high, high)[:, None]
        return found.ravel()

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(x − center)| over the list, row by row, shape (r,)."""
        low, high = (self.low - center) @ matrix.T, self.high @ matrix.T
        above = np.max(low, axis=0) + np.max(high, axis=0)
        below = np.min(low, axis=0) + np.min(high, axis=0)
        d = matrix.shape[1]
        hidden = np.abs(matrix) @ (growth(d + 9) * self._size(center) + self.off)
        far: Vector = np.maximum(np.abs(above), np.abs(below)) + hidden
        return far * (1 + growth(d + 9))

    def _size(self, center: Vector) -> Vector:
        return np.asarray(
            np.max(np.abs(self.low - center), axis=0) + np.max(np.abs(self.high), axis=0)
        )

    def loss(self, matrix: Vector, center: Vector) -> float:
        """Return at least how far any of `squares` is from the square that is meant.

        With V = |matrix|·(|low − center| + |high|) every product and sum is of numbers that V
        holds, each within γ of what it stands for, and a list that is off by o has images off by
        |matrix|·o: so a square is within γ‖V‖² + 2‖V‖·‖|matrix|o‖ + ‖|matrix|o‖², γ of 2d + r + 9
        operations; there is room for those of a comparison.
        """
        r, d = matrix.shape
        whole = float(np.linalg.norm(np.abs(matrix) @ self._size(center)))
        moved = float(np.linalg.norm(np.abs(matrix) @ self.off))
        return (growth(8 * (d + r) + 99) * whole**2 + 3 * moved * (whole + moved)) * (
            1 + growth(99)
        )

    def outer(self, matrix: Vector, center: Vector) -> Integers:
        """Return where in the list a point may be whose image is the longest; others are not.

        Shape (k,), rising: those whose square is within twice the loss of the greatest.
        """
        squares = self.squares(matrix, center)
        # what is no number, or has no finite loss, rules nothing out
        out = squares < np.max(squares) - 2 * self.loss(matrix, center) * (1 + growth(9))
        return np.flatnonzero(~out)

    @property
    def cross(self) -> Vector:
        """The points of the list in which one of the two is its first: they span all others."""
        return frozen(np.vstack([self.low, self.low[0] + self.high[1:]]))


def halves(points: Vector) -> Halves | None:
    """Return the two short lists that a long one is made of; None where there are none.

    Args:
        points: shape (N, d).

    Examples:
        >>> steps = np.arange(2.0**14)[:, None]
        >>> found = halves(steps)
        >>> found.low.shape, found.high[1], float(np.max(found.squares(np.eye(1), np.zeros(1))))
        ((128, 1), array([128.]), 268402689.0)
        >>> halves(np.square(steps)) is None
        True
    """
    count = len(points)
    if count < _MANY or count & (count - 1):
        return None
    m = 1 << (count.bit_length() // 2)
    low, high = points[:m], points[::m] - points[0]
    size = np.max(np.abs(low), axis=0) + np.max(np.abs(high), axis=0)
    off = np.zeros(points.shape[1])
    for j, more in enumerate(high):
        np.maximum(off, np.max(np.abs(points[j * m : (j + 1) * m] - (low + more)), axis=0), out=off)
        if not np.all(off <= _OFF * size):
            return None
    # the differences that were taken are rounded as well
    return Halves(frozen(low.copy()), frozen(high), frozen(off + growth(9) * size))
