# SPDX-License-Identifier: Apache-2.0
"""The binary tree: sums of 2^l rounds, each with its own noise; a running sum adds few of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth, up
from lownoise.questions.streams import Prefix
from lownoise.streams.normals import CLOSE
from lownoise.streams.pairs import LARGEST, PAIRS, AbstractKeptPair

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.numbers.arrays import Chosen, Integers, Vector

_MARGIN = 1 + 2.0**-40


@PAIRS.kind("tree", "weighted")
@final
@dataclass(frozen=True)
class TreePair(AbstractKeptPair):
    """C says which rounds each complete sum of 2^l rounds holds; B adds few of these sums.

    A plain running sum adds the sums of the binary digits of t. A weighted one first estimates each
    of them by least squares from all sums inside it: its own noisy value and its halves, with the
    variance s_l, 1/s_l = 1 + 1/(2s_{l−1}), s_0 = 1 (Honaker 2015). Both add up to the running sum
    exactly, so nothing is left of W − B·C.

    Args:
        workload: running sums.
        weighted: whether sums are estimated by least squares.

    Raises:
        PlanError: where the workload is another.
    """

    workload: Prefix
    weighted: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.workload, Prefix) or not isinstance(self.weighted, bool):
            raise PlanError("the binary tree is for running sums; use ln.Prefix")

    @property
    def _counts(self) -> list[int]:
        """The number of complete sums of 1, 2, 4, … rounds."""
        return [self.rounds >> level for level in range(self.rounds.bit_length())]

    @property
    def _estimates(self) -> list[float]:
        """The variance of the estimate of a sum of 1, 2, 4, … rounds."""
        levels = range(len(self._counts))
        return [1 / (2 - 2.0**-level) if self.weighted else 1.0 for level in levels]

    @property
    def sources(self) -> int:
        """One normal number a complete sum."""
        return sum(self._counts)

    @property
    def column_up(self) -> float:
        """At least the square root of how many sums hold a round: one a level."""
        return up(math.sqrt(len(self._counts)))

    @property
    def residual_up(self) -> float:
        """Nothing: a running sum is the sum of its parts."""
        return 0.0

    @property
    def _row_sum(self) -> float:
        """At least Σ|B_ti| in any row: every estimate is a mean of sums, with weights above 0."""
        own = total = 1.0
        before = 1.0
        for variance in self._estimates[1:]:
            own = variance * (1 + own / before) if self.weighted else 1.0
            before = variance
            total += own
        return total * _MARGIN

    @property
    def error_up(self) -> float:
        """At least ‖computed B·z − B·ξ‖₂ for one column of numbers."""
        roundings = 8 * len(self._counts) + 8
        most = growth(roundings) * LARGEST + CLOSE
        return up(self._row_sum * most * math.sqrt(self.rounds) * _MARGIN)

    @property
    def size_up(self) -> float:
        """At least ‖B·z‖₂."""
        return up(self._row_sum * LARGEST * math.sqrt(self.rounds) * _MARGIN)

    def apply(self, z: Vector) -> Vector:
        """Return B·z; z is ordered by level, and within it by round."""
        found, start = np.zeros((self.rounds, z.shape[1])), 0
        estimates, before = z[:0], 1.0
        parts = zip(self._digits(), self._counts, self._estimates, strict=True)
        for level, ((uses, place), count, variance) in enumerate(parts):
            own = z[start : start + count]
            start += count
            if self.weighted and level:
                halves = estimates[: 2 * count : 2] + estimates[1 : 2 * count : 2]
                own = variance * (own + halves / (2 * before))
            estimates, before = own, variance
            found[uses] += own[place]
        return found

    def _digits(self) -> Iterator[tuple[Chosen, Integers]]:
        """Yield, level by level, which rounds add a sum of that level, and which one."""
        t = np.arange(1, self.rounds + 1)
        for level in range(len(self._counts)):
            uses = (t >> level) & 1 == 1
            yield uses, (t[uses] >> level) - 1

    def column(self, source: int) -> list[Fraction]:
        """Return a column of B exactly, n numbers."""
        level = 0
        for count in self._counts:
            if source < count:
                break
            source, level = source - count, level + 1
        found = [Fraction(0)] * self.rounds
        share = 1 / (2 - Fraction(1, 1 << level)) if self.weighted else Fraction(1)
        for own in range(level, len(self._counts) if self.weighted else level + 1):
            if own > level:  # the sum that this one is a half of: s·(half)/(2·its own s)
                below = 1 / (2 - Fraction(1, 1 << (own - 1)))
                share *= 1 / (2 - Fraction(1, 1 << own)) / (2 * below)
                source //= 2
            first = (source + 1) << own
            # rounds whose digit `own` is this very sum
            for t in range(first, min(first + (1 << own), self.rounds + 1)):
                if (t >> own) & 1:
                    found[t - 1] = share
        return found

    @cached_property
    def _variances(self) -> Vector:
        found = np.zeros(self.rounds)
        for (uses, _), variance in zip(self._digits(), self._estimates, strict=True):
            found[uses] += variance
        return frozen(found)
