# SPDX-License-Identifier: Apache-2.0
"""How long the columns of a strategy may be, where those of one pattern are orthogonal.

A person in the rounds π then moves C·x by √Σ_{i∈π} ℓ_i, ℓ_i = ‖C_i‖². All ℓ with no pattern above
1 are, for patterns of at most k rounds at least b apart, those with

    ℓ_i ≤ Σ_{w: w ≤ i < w+b} u_w + v,   u, v ≥ 0,   Σ u_w + k·v = 1,

(ours: the incidence of rounds in windows of b rounds, and in all rounds, has in each row of its
transpose consecutive ones, so the linear program over patterns has vertices that are patterns, and
this is its dual). For patterns of every b-th round, rounds b·k apart are in no common pattern: the
shares of a class of k in it are free, and repeat after b·k rounds.

Both are smooth in u = x², with no constraint left.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.participation import Participation

_REST = 0.1  # where x starts that even lengths do not need


class AbstractLengths(ABC):
    """A family of squared lengths that no pattern adds up to more than 1."""

    @property
    @abstractmethod
    def start(self) -> Vector:
        """X at which the lengths are about even."""

    @abstractmethod
    def squares(self, x: Vector) -> Vector:
        """Return ℓ, shape (n,)."""

    @abstractmethod
    def slopes(self, x: Vector, gradient: Vector) -> Vector:
        """Return the gradient in x of what has this one in ℓ."""


def lengths_of(size: int, participation: Participation) -> AbstractLengths:
    """Return the family for these patterns.

    Args:
        size: n.
        participation: the rounds that one person may add to.

    Examples:
        >>> from lownoise.sensitivity.participation import Participation
        >>> own = lengths_of(6, Participation(2, 3, "spaced"))
        >>> own.squares(own.start)
        array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    """
    count, separation = participation.count, participation.separation
    if participation.pattern == "spaced":
        return _Classes(size, count, separation)
    return _Windows(size, count, separation)


def largest_share(values: Vector, participation: Participation) -> float:
    """Return the least Σ_π p_π with `values` ≤ Σ_π p_π·1_π, p ≥ 0: what they weigh in patterns.

    So Σ values·ℓ is at most this where no pattern's ℓ add up to more than 1. For rounds at least b
    apart it is the largest sum of b rounds in a row, or the sum of all over k; for every b-th
    round runs are laid from the left, each where something is left uncovered.

    Args:
        values: at least 0, shape (n,).
        participation: the rounds that one person may add to.

    Examples:
        >>> from lownoise.sensitivity.participation import Participation
        >>> largest_share(np.array([3.0, 0.0, 1.0, 2.0]), Participation(2, 2, "separated"))
        3.0
        >>> largest_share(np.array([3.0, 0.0, 1.0, 2.0]), Participation(2, 2, "spaced"))
        5.0
    """
    n, count, separation = len(values), participation.count, participation.separation
    if participation.pattern != "spaced":
        sums = np.concatenate([[0.0], np.cumsum(values)])
        ends = np.minimum(np.arange(n) + separation, n)
        windows = sums[ends] - sums[:-1]
        return max(float(np.max(windows)), float(sums[-1]) / count)
    total = 0.0
    for first in range(min(separation, n)):
        own = values[first::separation]
        laid = np.zeros(len(own))
        for i, wanted in enumerate(own.tolist()):
            laid[i] = max(wanted - float(np.sum(laid[max(i - count + 1, 0) : i])), 0.0)
        total += float(np.sum(laid))
    return total


@final
@dataclass(frozen=True)
class _Windows(AbstractLengths):
    """ℓ_i = (Σ_{w ≤ i < w+b} u_w + v)/(Σ u + k·v), u and v squares of x; windows may overhang."""

    size: int
    count: int
    separation: int

    @property
    def start(self) -> Vector:
        x = np.full(self.size + self.separation, _REST)
        if self.size <= self.count * self.separation:
            x[self.separation - 1 : -1 : self.separation] = 1.0
        else:
            x[-1] = 1.0
        return x

    def squares(self, x: Vector) -> Vector:
        found: Vector = self._sums(x) / self._total(x)
        return found

    def slopes(self, x: Vector, gradient: Vector) -> Vector:
        total = self._total(x)
        own = gradient / total
        whole = -float(own @ self._sums(x)) / total
        sums = np.concatenate([[0.0], np.cumsum(own)])
        w = np.arange(len(x) - 1)
        first = np.clip(w - self.separation + 1, 0, self.size)
        by_windows = sums[np.clip(w + 1, 0, self.size)] - sums[first] + whole
        by_all = sums[-1] + self.count * whole
        found: Vector = 2 * x * np.concatenate([by_windows, [by_all]])
        return found

    def _sums(self, x: Vector) -> Vector:
        sums = np.concatenate([[0.0], np.cumsum(x[:-1] ** 2)])
        b = self.separation
        found: Vector = sums[b : b + self.size] - sums[: self.size] + float(x[-1]) ** 2
        return found

    def _total(self, x: Vector) -> float:
        return float(x[:-1] @ x[:-1]) + self.count * float(x[-1]) ** 2


@final
@dataclass(frozen=True)
class _Classes(AbstractLengths):
    """ℓ_i = u_j/Σ u over the k rounds of a class, j = i modulo b·k, u squares of x."""

    size: int
    count: int
    separation: int

    @property
    def start(self) -> Vector:
        return np.ones(min(self.size, self.count * self.separation))

    def squares(self, x: Vector) -> Vector:
        shares = x**2 / self._totals(x)
        found: Vector = np.resize(shares, self.size)
        return found

    def slopes(self, x: Vector, gradient: Vector) -> Vector:
        period = len(x)
        folded = np.zeros(-(-self.size // period) * period)
        folded[: self.size] = gradient
        own = folded.reshape(-1, period).sum(axis=0)
        totals = self._totals(x)
        spent = self._classwise(own * x**2 / totals)
        found: Vector = 2 * x * (own - spent) / totals
        return found

    def _totals(self, x: Vector) -> Vector:
        return self._classwise(x**2)

    def _classwise(self, values: Vector) -> Vector:
        """Return each round's sum over its class, shape of x."""
        b = self.separation
        rows = np.zeros(-(-len(values) // b) * b)
        rows[: len(values)] = values
        found: Vector = np.resize(rows.reshape(-1, b).sum(axis=0), len(values))
        return found
