# SPDX-License-Identifier: Apache-2.0
"""The unit ball of a norm of sorted sizes: ordered ℓ₁, and the sum of the k largest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.sets.unit_balls.abstract import AbstractUnitBall
from lownoise.sets.unit_balls.capped import CappedBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

_SLACK = 2.0**-44


@final
@dataclass(frozen=True, eq=False)
class SortedBall(AbstractUnitBall):
    """{x : Σ weightᵢ·|x|₍ᵢ₎ ≤ 1}, |x|₍₁₎ the largest; weights fall, the first is above 0, (k,).

    With Wⱼ = Σ_{i≤j} weightᵢ its extreme points have j entries ±1/Wⱼ and the others 0 (the dual
    ball is an intersection of the balls S_j(θ) ≤ W_j of the sums of j largest).

    Examples:
        >>> top_two = SortedBall(np.array([1.0, 1.0, 0.0]))
        >>> top_two.norm_up(np.array([[1.0, -2.0, 3.0]])).round(9)
        array([5.])
    """

    weights: Vector

    @property
    def dimension(self) -> int:
        """The number of coordinates k."""
        return self.weights.size

    @cached_property
    def _totals(self) -> Vector:
        return np.cumsum(self.weights)

    @property
    def _slack(self) -> float:
        return _SLACK + self.dimension * 2.0**-50

    def norm_up(self, points: Vector) -> Vector:
        """Return at least Σ weightᵢ·|x|₍ᵢ₎."""
        falling = -np.sort(-np.abs(points), axis=1)
        total = np.zeros(len(points))
        for weight, column in zip(self.weights, falling.T, strict=True):
            total += weight * column
        return total * (1 + self._slack)

    def support_up(self, directions: Vector) -> Vector:
        """Return at least max over j of the sum of the j largest |θᵢ|, over Wⱼ."""
        falling = -np.sort(-np.abs(directions), axis=1)
        return np.asarray(
            np.max(np.cumsum(falling, axis=1) / self._totals, axis=1) * (1 + self._slack)
        )

    def extreme(self, directions: Vector) -> Vector:
        """Return ±1/Wⱼ on the j largest, for the best j."""
        order = np.argsort(-np.abs(directions), axis=1)
        falling = np.take_along_axis(np.abs(directions), order, axis=1)
        best = np.argmax(np.cumsum(falling, axis=1) / self._totals, axis=1)
        sizes = np.where(np.arange(self.dimension) <= best[:, None], 1.0, 0.0)
        sizes /= self._totals[best][:, None]
        found = np.empty_like(sizes)
        np.put_along_axis(found, order, sizes, axis=1)
        return np.where(directions < 0, -found, found)

    def energy_up(self, coefficients: Vector) -> float:
        """Return at least max over j of the sum of the j largest yᵢ, over Wⱼ²."""
        sums = np.cumsum(-np.sort(-coefficients))
        return float(np.max(sums / np.square(self._totals))) * (1 + self._slack)

    def moment_up(self, squares: Vector) -> float:
        """Return at least the least t for one j: z ≤ t/Wⱼ² and Σz ≤ t·j/Wⱼ²."""
        j = np.arange(1, self.dimension + 1)
        need = np.square(self._totals) * np.maximum(np.max(squares), np.sum(squares) / j)
        return float(np.min(need)) * (1 + self._slack)

    def spread(self, gains: Vector) -> Vector:
        """Return the best z that mixes extreme points of one j."""
        found, most = np.zeros_like(gains), -1.0
        for j, total in enumerate(self._totals, start=1):
            part = CappedBall(np.full(self.dimension, j**-0.5)).spread(gains) * (j / total**2)
            value = float(np.sum(np.sqrt(gains * part)))
            if value > most:
                found, most = part, value
        return found

    def widths(self) -> Vector:
        """Return 1/W₁ for each coordinate."""
        return np.full(self.dimension, np.nextafter(1 / self.weights[0], np.inf))

    def restricted(self, kept: Integers) -> AbstractUnitBall:
        """Return the ball of the largest weights: the others meet zeros."""
        return SortedBall(self.weights[: kept.size])
