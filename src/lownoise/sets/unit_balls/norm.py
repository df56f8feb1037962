# SPDX-License-Identifier: Apache-2.0
"""The unit ball of an ℓ_r norm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.sets.unit_balls.abstract import AbstractUnitBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

_MOST_PIECES = 64
_SLACK = 2.0**-44  # outward, for powers


@final
@dataclass(frozen=True)
class NormBall(AbstractUnitBall):
    """{x : ‖x‖_order ≤ 1} in k coordinates.

    Its squares fill {z : ‖z‖_{order/2} ≤ 1} where the order is at least 2, and the simplex below.

    Args:
        size: k ≥ 1.
        order: in [1, ∞].

    Examples:
        >>> NormBall(2, 1.0).norm_up(np.array([[3.0, -4.0]])).round(9)
        array([7.])
        >>> round(NormBall(2, math.inf).energy_up(np.array([3.0, 4.0])), 9)
        7.0
    """

    size: int
    order: float

    @property
    def dimension(self) -> int:
        """The number of coordinates k."""
        return self.size

    def norm_up(self, points: Vector) -> Vector:
        """Return at least ‖x‖_order, row by row."""
        return _norms(points, self.order) * (1 + _slack(self.size))

    def support_up(self, directions: Vector) -> Vector:
        """Return at least the dual norm of each row."""
        return _norms(directions, _dual(self.order)) * (1 + _slack(self.size))

    def extreme(self, directions: Vector) -> Vector:
        """Return the points where Hölder's inequality is tight."""
        size = np.abs(directions)
        signs = np.where(directions < 0, -1.0, 1.0)
        if math.isinf(self.order):
            return signs
        if self.order == 1:
            found = np.zeros_like(directions)
            rows = np.arange(len(directions))
            best = np.argmax(size, axis=1)
            found[rows, best] = signs[rows, best]
            return found
        top = np.max(size, axis=1, keepdims=True)
        share = (size / np.where(top > 0, top, 1.0)) ** (1 / (self.order - 1))
        share = np.where(top > 0, share, 1.0)
        return np.asarray(signs * share / _norms(share, self.order)[:, None])

    def energy_up(self, coefficients: Vector) -> float:
        """Return at least ‖y‖_{r/(r−2)}, the greatest entry where r ≤ 2."""
        order = self.order / (self.order - 2) if self.order > 2 else math.inf  # noqa: PLR2004
        order = 1.0 if math.isinf(self.order) else order
        return float(_norms(coefficients[None], order)[0]) * (1 + _slack(self.size))

    def moment_up(self, squares: Vector) -> float:
        """Return at least ‖z‖_{r/2}, the sum where r ≤ 2."""
        return float(_norms(squares[None], max(self.order / 2, 1.0))[0]) * (1 + _slack(self.size))

    def spread(self, gains: Vector) -> Vector:
        """Return z where √g and √z are dual in ℓ_r, exactly."""
        dual = NormBall(self.size, max(self.order, 2.0)).extreme(np.sqrt(gains)[None])
        return np.asarray(np.square(dual[0]))

    def widths(self) -> Vector:
        """Return ones."""
        return np.ones(self.size)

    def pieces(self) -> list[tuple[Integers, AbstractUnitBall]]:
        """Return the segments along the coordinates, where they are few and B is their hull."""
        if self.order > 1 or not 1 < self.size <= _MOST_PIECES:
            return super().pieces()
        return [(np.array([i]), NormBall(1, math.inf)) for i in range(self.size)]

    def restricted(self, kept: Integers) -> AbstractUnitBall:
        """Return the ball in fewer coordinates."""
        return NormBall(kept.size, self.order)


def _slack(size: int) -> float:
    return _SLACK + size * 2.0**-50


def _dual(order: float) -> float:
    if order == 1:
        return math.inf
    return 1.0 if math.isinf(order) else order / (order - 1)


def _norms(rows: Vector, order: float) -> Vector:
    """Return ‖row‖_order without overflow, columns added one by one where rows are several."""
    size = np.abs(rows)
    top = np.max(size, axis=1)  # the same in any order
    if math.isinf(order):
        return np.asarray(top)
    if len(rows) == 1:  # nothing to be alike with
        part = size[0] / top[0] if top[0] > 0 else size[0]
        power = part if order == 1 else np.square(part) if order == 2 else part**order  # noqa: PLR2004
        return np.asarray(top * float(np.sum(power)) ** (1 / order))
    scale = np.where(top > 0, top, 1.0)
    total = np.zeros(len(rows))
    for column in size.T:
        part = np.ascontiguousarray(column) / scale
        if order == 1:
            total += part
        elif order == 2:  # noqa: PLR2004
            total += part * part
        else:
            total += part**order
    root = np.sqrt(total) if order == 2 else total ** (1 / order)  # noqa: PLR2004
    return np.asarray(scale * root * (top > 0))
