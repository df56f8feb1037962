# SPDX-License-Identifier: Apache-2.0
"""A Euclidean ball cut by a range for each coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.bases.abstract import AbstractBase
from lownoise.bases.norm import NormBase

if TYPE_CHECKING:
    from lownoise.arrays import Integers, Vector

_SLACK = 2.0**-44
_STEPS = 200  # halvings of a bracket: more than a float has


@final
@dataclass(frozen=True, eq=False)
class CappedBase(AbstractBase):
    """{x : ‖x‖₂ ≤ 1 and |xᵢ| ≤ capᵢ}, with 0 < cap ≤ 1, shape (k,).

    Its squares fill {z : z ≤ cap², Σz ≤ 1}, which is convex.

    Examples:
        >>> base = CappedBase(np.array([0.6, 1.0]))
        >>> round(base.energy_up(np.array([2.0, 1.0])), 9)
        1.36
        >>> base.extreme(np.array([[3.0, 1.0]])).round(9)
        array([[0.6, 0.8]])
    """

    cap: Vector

    @property
    def dimension(self) -> int:
        """The number of coordinates k."""
        return self.cap.size

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the greater of ‖x‖₂ and max |xᵢ|/capᵢ."""
        k = self.dimension
        return np.maximum(
            NormBase(k, 2.0).norm_up(points),
            NormBase(k, np.inf).norm_up(points / self.cap),
        )

    def support_up(self, directions: Vector) -> Vector:
        """Return at least max ⟨θ, x⟩: the length of what no cap binds, the caps for the rest."""
        size, top = _scaled(directions)
        level = self._levels(size)
        # for every split θ = a + b the support is at most ‖a‖₂ + Σ cap·|b|
        inside = np.minimum(size, level[:, None] * self.cap)
        beyond = (size - inside) @ self.cap
        found = np.linalg.norm(inside, axis=1) + beyond
        return np.asarray(top * found * (1 + _SLACK + self.dimension * 2.0**-50))

    def extreme(self, directions: Vector) -> Vector:
        """Return x = ±min(cap, |θ|/t), of length 1 where the caps allow it."""
        size, _ = _scaled(directions)
        level = self._levels(size)
        whole = level <= 0
        safe = np.where(whole, 1.0, level)[:, None]
        found = np.where(whole[:, None], self.cap * (size > 0), np.minimum(self.cap, size / safe))
        return np.asarray(np.where(directions < 0, -found, found))

    def energy_up(self, coefficients: Vector) -> float:
        """Return at least the greatest Σ yz with z ≤ cap² and Σz ≤ 1: the largest y first."""
        order = np.argsort(-coefficients)
        room = np.square(self.cap[order])
        used = np.minimum(np.cumsum(room), 1.0)
        z = np.diff(used, prepend=0.0)
        return float(coefficients[order] @ z) * (1 + _SLACK + self.dimension * 2.0**-50)

    def moment_up(self, squares: Vector) -> float:
        """Return at least the greater of Σz and max z/cap²."""
        most = max(float(np.sum(squares)), float(np.max(squares / np.square(self.cap))))
        return most * (1 + _SLACK + self.dimension * 2.0**-50)

    def spread(self, gains: Vector) -> Vector:
        """Return z = min(cap², t²g): Σ√(gz) is ⟨√g, √z⟩ with √z in this very body."""
        return np.asarray(np.square(self.extreme(np.sqrt(gains)[None])[0]))

    def widths(self) -> Vector:
        """Return the caps."""
        return self.cap

    def restricted(self, kept: Integers) -> AbstractBase:
        """Return the ball with those coordinates' caps."""
        return CappedBase(self.cap[kept])

    def _levels(self, size: Vector) -> Vector:
        """Return t with ‖min(cap, |θ|/t)‖ = 1, row by row; 0 where the caps bind before."""
        bounded = np.sum(np.square(self.cap * (size > 0)), axis=1) <= 1
        high = np.where(bounded, 0.0, np.linalg.norm(size, axis=1))
        low = np.zeros(len(size))
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if np.all((middle <= low) | (middle >= high)):
                break
            with np.errstate(divide="ignore", invalid="ignore"):
                x = np.minimum(self.cap, size / middle[:, None])
            over = np.sum(np.square(np.nan_to_num(x)), axis=1) > 1
            low, high = np.where(over, middle, low), np.where(over, high, middle)
        return np.asarray(high)


def _scaled(directions: Vector) -> tuple[Vector, Vector]:
    """Return |θ| in parts of its greatest entry, whose squares neither vanish nor overflow."""
    size = np.abs(directions)
    top = np.max(size, axis=1)
    return size / np.where(top > 0, top, 1.0)[:, None], top
