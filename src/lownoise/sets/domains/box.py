# SPDX-License-Identifier: Apache-2.0
"""A range for each coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen, vector
from lownoise.sets.domains.abstract import AbstractDomain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector

_LARGEST = 2.0**500  # squares of bounds, and their sums over any number of coordinates, stay finite
_NARROWEST = 2.0**-400  # squares of widths stay normal numbers


@final
@dataclass(frozen=True, eq=False, init=False)
class Box(AbstractDomain):
    """The box {x : lower ≤ x ≤ upper}.

    Args:
        lower: least value of each coordinate, shape (d,), in the unit of that coordinate.
        upper: greatest value of each coordinate, shape (d,), in the same units.

    Raises:
        DomainError: where a bound is not finite, is beyond 2^500, crosses its partner, or where a
            range is positive but narrower than 2^-400.

    Examples:
        >>> ages_and_incomes = Box([0, 0], [120, 1e6])
        >>> ages_and_incomes.center
        array([6.e+01, 5.e+05])
    """

    lower: Vector
    upper: Vector

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        low = vector(lower, field="Box.lower", error=DomainError)
        high = vector(upper, field="Box.upper", error=DomainError)
        if low.shape != high.shape:
            raise DomainError(
                f"Box.lower has {low.size} coordinates and Box.upper has {high.size}; "
                "give both the same number",
            )
        for name, bound in (("lower", low), ("upper", high)):
            large = np.flatnonzero(np.abs(bound) > _LARGEST)
            if large.size:
                i = int(large[0])
                raise DomainError(
                    f"Box.{name}[{i}]={bound[i]} is beyond 2^500; use a larger unit",
                )
        crossed = np.flatnonzero(low > high)
        if crossed.size:
            i = int(crossed[0])
            raise DomainError(
                f"Box.lower[{i}]={low[i]} exceeds Box.upper[{i}]={high[i]}; swap them",
            )
        width = high - low
        narrow = np.flatnonzero((width > 0) & (width < _NARROWEST))
        if narrow.size:
            i = int(narrow[0])
            raise DomainError(
                f"Box.upper[{i}]-Box.lower[{i}]={width[i]} is below 2^-400; use a smaller unit",
            )
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.lower.size

    @property
    def center(self) -> Vector:
        """The middle of each range, shape (d,)."""
        return frozen(np.clip(self.lower / 2 + self.upper / 2, self.lower, self.upper))

    def support(self, direction: Vector) -> float:
        """Return Σ max(θᵢ lowerᵢ, θᵢ upperᵢ) for direction θ, shape (d,).

        Examples:
            >>> Box([0, -1], [1, 1]).support(np.array([1.0, -2.0]))
            3.0
        """
        return math.fsum(np.maximum(direction * self.lower, direction * self.upper))

    def extreme(self, directions: Vector) -> Vector:
        """Return the corner that is extreme along each row, shapes (n, d)."""
        return np.where(directions < 0, self.lower, self.upper)

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), lies in the box.

        Examples:
            >>> Box([0], [1]).contains(np.array([1.0]))
            True
        """
        return bool(np.all((self.lower <= point) & (point <= self.upper)))

    def clamp(self, points: Vector) -> Vector:
        """Return `points`, shape (..., d), each coordinate clipped to its range.

        Examples:
            >>> Box([0, 0], [1, 1]).clamp(np.array([-3.0, 0.5]))
            array([0. , 0.5])
        """
        return np.clip(points, self.lower, self.upper)
