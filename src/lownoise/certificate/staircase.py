# SPDX-License-Identifier: Apache-2.0
"""The least staircase noise of d numbers under ε, and that no other has less around a ball (ours).

Let Z be any noise in d dimensions with P(Z ∈ B) ≤ e^ε·P(Z + s ∈ B) for all sets B and all ‖s‖ ≤ 1,
‖·‖ Euclidean. Then E‖Z‖² ≥ d/(d + 2)·min N(γ)/D(γ) over 0 ≤ γ ≤ 1, with

    N(γ) = Σ e^{−εk}(γ + k)^{d+2},   D(γ) = Σ e^{−εk}(γ + k)^d,   k = 0, 1, 2, …,

which a staircase attains: see docs/theory.md, "Staircases". What is decided here, in balls, is a
number that F = N − νD is at least 0 for on all of [0, 1]: on an interval about c of half width h

    F ≥ F(c) − h·|F'(c)| + h²/2·min(0, inf F''),

F'' being a difference of two sums that grow with γ. Intervals are halved until each says so.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import shrunk
from lownoise.samplers.steps import LEAST_EPSILON, MOST_EPSILON, StepRadius

_BITS = 128
_GRID = 48
_HALVINGS = 60
_GOLDEN = 0.6180339887498949
_WIDTH_BITS = 24  # of a width: it is a float with few bits, and what it is off by is no loss
_LESS = shrunk(1.0, 2.0**-17)  # of the least that is found in floats: what is proved
_MOST_INTERVALS = 2000


@lru_cache(maxsize=1024)
def least_first(dimension: int, epsilon: float) -> float:
    """Return γ in (0, 1] with the least E r² of radii γ + k with chances ∝ (γ + k)^d·e^{−εk}.

    Any width is private: only the error follows from it.

    Args:
        dimension: d.
        epsilon: ε.

    Raises:
        PlanError: where no staircase has such steps.

    Examples:
        >>> least_first(1, 1.0), least_first(3, 1.0)
        (0.41673743724823, 0.9198876619338989)
    """

    def square(width: float) -> float:
        return StepRadius(dimension, epsilon, width).mean(2.0)

    grid = np.concatenate([np.geomspace(1e-7, 0.02, 12), np.linspace(0.03, 1.0, _GRID)]).tolist()
    found = [square(width) for width in grid]
    best = int(np.argmin(found))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    for _ in range(_HALVINGS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, right) if square(left) <= square(right) else (left, high)
    middle, exponent = np.frexp((low + high) / 2)
    return min(float(np.ldexp(np.rint(middle * 2.0**_WIDTH_BITS), exponent - _WIDTH_BITS)), 1.0)


def staircase_ratio(dimension: int, epsilon: float) -> float:
    """Return E r² of the least staircase over that of K-norm noise of the same norm.

    Args:
        dimension: d.
        epsilon: ε.

    Raises:
        PlanError: where no staircase has such steps.

    Examples:
        >>> round(staircase_ratio(1, 1.0), 4), round(staircase_ratio(2, 4.0), 4)
        (0.9591, 0.727)
    """
    own = StepRadius(dimension, epsilon, least_first(dimension, epsilon)).mean(2.0)
    return own * epsilon**2 / ((dimension + 1) * (dimension + 2))


@lru_cache(maxsize=256)
def least_square_down(dimension: int, epsilon: float) -> float:
    """Return at most E‖Z‖² of any such Z, for changes of length 1; 0 where nothing is proved.

    Args:
        dimension: d.
        epsilon: ε, at least that of the noise.

    Examples:
        >>> round(least_square_down(1, 1.0), 4), round(least_square_down(3, 4.0), 4)
        (1.9181, 0.6324)
    """
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        return 0.0
    level = StepRadius(dimension, epsilon, least_first(dimension, epsilon)).mean(2.0) * _LESS
    if not _Sums(dimension, epsilon, level).above():
        return 0.0
    return shrunk(level * dimension / (dimension + 2))


class _Sums:
    """F and its derivatives in balls, for one ν."""

    def __init__(self, dimension: int, epsilon: float, level: float) -> None:
        self._d, self._epsilon, self._level = dimension, epsilon, level

    def above(self) -> bool:
        """Whether F ≥ 0 on [0, 1] is decided."""
        from flint import arb

        with precision(_BITS):
            self._fall = (-arb(self._epsilon)).exp()
            open_parts, tried = [(0, 0)], 0  # of [0, 1]: the first or second half, and so on
            while open_parts:
                place, depth = open_parts.pop()
                tried += 1
                if tried > _MOST_INTERVALS:
                    return False
                if not self._sure(arb(place) / 2**depth, arb(place + 1) / 2**depth):
                    open_parts += [(2 * place, depth + 1), (2 * place + 1, depth + 1)]
        return True

    def _sure(self, low: Any, high: Any) -> bool:  # noqa: ANN401 (flint carries no types)
        d, level = self._d, self._level
        middle, half = (low + high) / 2, (high - low) / 2
        value = self._sum(middle, d + 2) - level * self._sum(middle, d)
        slope = (d + 2) * self._sum(middle, d + 1) - d * level * self._sum(middle, d - 1)
        bend = (d + 2) * (d + 1) * self._sum(low, d)
        if d > 1:
            bend -= d * (d - 1) * level * self._sum(high, d - 2)
        return bool(value - half * abs(slope) + half**2 / 2 * bend.min(0) >= 0)

    def _sum(self, start: Any, power: int) -> Any:  # noqa: ANN401
        """Return a ball of Σ e^{−εk}(start + k)^power."""
        from flint import arb

        total, factor, k = arb(0), arb(1), 0
        little = arb(2) ** -_BITS
        while True:
            radius = start + k
            own = radius**power * factor
            total += own
            if radius > 0:
                ratio = (1 + 1 / radius) ** power * self._fall
                if ratio < 1:
                    rest = own * ratio / (1 - ratio)
                    if rest < total * little:
                        return total.union(total + rest)
            factor, k = factor * self._fall, k + 1
