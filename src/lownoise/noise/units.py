# SPDX-License-Identifier: Apache-2.0
"""What several rows change together: m times what one does (`docs/theory.md`, units).

The change of one row is a point of S, which is convex, holds 0, and holds the opposite of each
point; that of at most m rows is a point of m·S, and m rows alike make each. What noise reveals of
a change is convex and the same of the opposite, so m times the worst of one row is the worst.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import fraction_up, up
from lownoise.sets.bodies import AbstractBody

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
        return np.asarray(np.abs(matrix) @ np.abs(center) * (1 + 2.0**-40))

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


def of_one_row(changes: Any) -> tuple[Any, int]:  # noqa: ANN401 (a body, or a structure)
    """Return what one row changes, and how many rows are hidden together."""
    return (changes.body, changes.times) if isinstance(changes, Repeated) else (changes, 1)
