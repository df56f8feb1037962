# SPDX-License-Identifier: Apache-2.0
"""Pairs of matrices B, C with W ≈ B·C: noise B·ξ hides a change of one round in C·x + ξ.

A pair is known by bounds that hold for its stored floats, whatever made them: how long a column of
C is, how far B·C is from W, and how far the computed B·z can be from B·ξ. Row t of B uses ξ_i only
where row i of C uses no round after t.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import PACKED, Field, Kinds
from lownoise.numbers.arrays import frozen
from lownoise.numbers.intervals import precision
from lownoise.numbers.normals import Tail, normals
from lownoise.numbers.rounding import grown, growth, up
from lownoise.questions.streams import Prefix
from lownoise.sensitivity.patterns import fitting, gram_up, worst
from lownoise.sensitivity.toeplitz import tree_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions.streams import AbstractStreamWorkload
    from lownoise.sensitivity.participation import Participation

LARGEST = 7.0  # a normal number beyond it, one in 4·10^11, is handled apart
CLOSE = 2.0**-46  # how far a number that is drawn is from a true normal number
_BITS = 400  # of balls
_BLOCK = 1 << 15


@dataclass(frozen=True)
class Excess:
    """A normal number beyond `LARGEST`: where it stands, and by how much it is beyond."""

    source: int
    coordinate: int
    beyond: float


class AbstractPair(ABC):
    """A factorization of a workload, in unit noise."""

    workload: AbstractStreamWorkload

    @property
    def rounds(self) -> int:
        """The number of rounds n."""
        return self.workload.rounds

    @property
    @abstractmethod
    def column_up(self) -> float:
        """At least the longest column of C."""

    def sensitivity_up(self, participation: Participation) -> float:
        """At least how far one person moves C·x: ‖Σ_{i∈π} C_i ⊗ u_i‖, every |u_i| at most 1.

        That is over all patterns π of rounds, and all u_i, each chosen when its round comes: by the
        triangle inequality, or what the pair knows of its patterns.
        """
        if participation.count == 1:
            return self.column_up
        known = self._sensitivities
        if participation not in known:
            most = up(fitting(participation, self.rounds) * self.column_up)
            known[participation] = min(most, self._patterned_up(participation))
        return known[participation]

    @cached_property
    def _sensitivities(self) -> dict[Participation, float]:
        return {}

    @abstractmethod
    def _patterned_up(self, participation: Participation) -> float:
        """At least the same for two rounds or more, infinite where nothing is known."""

    @property
    @abstractmethod
    def residual_up(self) -> float:
        """At least the longest column of W − B·C."""

    @property
    @abstractmethod
    def error_up(self) -> float:
        """At least ‖computed B·z − B·ξ‖₂ over all rounds, ξ a column of true normal numbers."""

    @property
    @abstractmethod
    def size_up(self) -> float:
        """At least ‖B·z‖₂ over all rounds, where no |z| is beyond `LARGEST`."""

    @property
    @abstractmethod
    def numbers_kept(self) -> int:
        """How many numbers of noise are kept for each coordinate before the first round."""

    @abstractmethod
    def variances(self, first: int, count: int) -> Vector:
        """Return the squared length of `count` rows of B from `first`, shape (count,)."""

    @abstractmethod
    def linear(self, z: Vector) -> Vector:
        """Return B·z in floats, for simulation; shape (n, k), and (sources, k) of z."""

    @property
    @abstractmethod
    def mean_variance(self) -> float:
        """The mean of all squared lengths of rows of B."""

    @property
    @abstractmethod
    def largest_variance(self) -> float:
        """The greatest of them."""


PAIRS: Kinds[AbstractPair] = Kinds("pair")


class AbstractKeptPair(AbstractPair):
    """A pair whose noise is drawn for all rounds before the first one."""

    @property
    def sources(self) -> int:
        """How many normal numbers B takes: one a round."""
        return self.rounds

    @property
    def numbers_kept(self) -> int:
        """One a round."""
        return self.rounds

    @abstractmethod
    def apply(self, z: Vector) -> Vector:
        """Return B·z, shapes (sources, r) and (n, r); row t sees only what round t may use."""

    @abstractmethod
    def column(self, source: int) -> list[Fraction]:
        """Return a column of B exactly, n numbers."""

    def variances(self, first: int, count: int) -> Vector:
        """Return the squared length of `count` rows of B from `first`, shape (count,)."""
        return self._variances[first : first + count]

    def linear(self, z: Vector) -> Vector:
        """Return B·z."""
        return self.apply(z)

    @property
    @abstractmethod
    def _variances(self) -> Vector: ...

    @property
    def mean_variance(self) -> float:
        """The mean of all squared lengths of rows of B."""
        return float(np.mean(self._variances))

    @property
    def largest_variance(self) -> float:
        """The greatest of them."""
        return float(np.max(self._variances))

    def draw(self, coordinates: int, randomness: Randomness) -> tuple[Vector, list[Excess]]:
        """Return B·z for all rounds, shape (n, r), and what was cut off from z."""
        z = close_normals(self.sources * coordinates, randomness).reshape(self.sources, coordinates)
        cut = np.clip(z, -LARGEST, LARGEST)
        far, over = np.argwhere(z != cut).tolist(), z - cut
        return self.apply(cut), [Excess(i, k, float(over[i, k])) for i, k in far]


@PAIRS.kind("dense", Field("noise", PACKED), Field("strategy", PACKED))
@final
@dataclass(frozen=True, eq=False)
class DensePair(AbstractKeptPair):
    """B and C are matrices.

    Args:
        workload: W.
        noise: B, shape (n, m).
        strategy: C, shape (m, n).

    Raises:
        PlanError: where shapes do not fit, a number is not finite, or an answer would use noise of
            a measurement that needs a later round.
    """

    workload: AbstractStreamWorkload
    noise: Vector
    strategy: Vector

    def __post_init__(self) -> None:
        n = self.rounds
        B, C = self.noise, self.strategy
        fits = B.ndim == C.ndim == 2 and B.shape == (n, len(C)) and C.shape[1] == n  # noqa: PLR2004
        if not fits or not (np.all(np.isfinite(B)) and np.all(np.isfinite(C))):
            raise PlanError("DensePair has factors of shapes that do not fit; plan again")
        uses = C != 0
        last = np.where(uses.any(axis=1), n - 1 - np.argmax(uses[:, ::-1], axis=1), 0)
        if np.any((B != 0) & (last[None, :] > np.arange(n)[:, None])):
            raise PlanError("DensePair would use a later round in an answer; give lower triangles")

    @property
    def sources(self) -> int:
        """One normal number a row of C."""
        return len(self.strategy)

    @cached_property
    def column_up(self) -> float:
        """At least the longest column of C."""
        return _longest(self.strategy)

    def _patterned_up(self, participation: Participation) -> float:
        return worst(gram_up(self.strategy), participation).length_up

    @cached_property
    def residual_up(self) -> float:
        """At least the longest column of W − B·C."""
        B, C = self.noise, self.strategy
        wanted = self.workload.matrix()
        off = growth(len(C) + 3) * (np.abs(B) @ np.abs(C)) + 2.0**-50 * np.abs(wanted)
        return up(_longest(np.abs(wanted - B @ C) + grown(off)))

    @cached_property
    def _lengths(self) -> float:
        return grown(norm2_up(np.abs(self.noise).sum(axis=1)))

    @cached_property
    def error_up(self) -> float:
        """At least ‖computed B·z − B·ξ‖₂ for one column of numbers."""
        return up(grown((growth(self.sources + 2) * LARGEST + CLOSE) * self._lengths))

    @cached_property
    def size_up(self) -> float:
        """At least ‖B·z‖₂."""
        return up(grown(LARGEST * self._lengths))

    def apply(self, z: Vector) -> Vector:
        """Return B·z; what a row does not use is 0 exactly, so later numbers leave no trace."""
        found: Vector = self.noise @ z
        return found

    def column(self, source: int) -> list[Fraction]:
        """Return a column of B exactly, n numbers."""
        return fractions(self.noise[:, source])

    @cached_property
    def _variances(self) -> Vector:
        return frozen(np.einsum("ij,ij->i", self.noise, self.noise))


def fractions(numbers: Vector) -> list[Fraction]:
    """Return what floats stand for."""
    return [Fraction(x) for x in numbers.tolist()]


def _longest(columns: Vector) -> float:
    """Return at least the greatest length of a column."""
    squares = np.einsum("ij,ij->j", columns, columns)
    length = math.sqrt(float(np.max(squares))) * (1 + growth(len(columns) + 4))
    return up(length + 2.0**-511 * math.sqrt(len(columns)))  # of squares that vanish


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

    def _patterned_up(self, participation: Participation) -> float:
        return tree_up(self.rounds, participation)

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
        return grown(total)

    @property
    def error_up(self) -> float:
        """At least ‖computed B·z − B·ξ‖₂ for one column of numbers."""
        roundings = 8 * len(self._counts) + 8
        most = growth(roundings) * LARGEST + CLOSE
        return up(grown(self._row_sum * most * math.sqrt(self.rounds)))

    @property
    def size_up(self) -> float:
        """At least ‖B·z‖₂."""
        return up(grown(self._row_sum * LARGEST * math.sqrt(self.rounds)))

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


def close_normals(count: int, randomness: Randomness) -> Vector:
    """Return `count` floats, each within 2^-46 of an independent true normal number.

    The numbers in the far tails, one in 2^20, take ball arithmetic and more bits.

    Args:
        count: how many.
        randomness: where the bits come from.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> close_normals(3, SimulationRandomness(1)).shape
        (3,)
    """
    words = randomness.words(count)
    z = np.empty(count)
    far: list[int] = []
    for start in range(0, count, _BLOCK):  # blocks that stay in the cache
        block = slice(start, start + _BLOCK)
        z[block], error = normals(words[block])
        far += (start + np.flatnonzero(~(error <= CLOSE))).tolist()
    for j in far:
        z[j] = _tail(int(words[j]), randomness)
    return z


def _tail(word: int, randomness: Randomness) -> float:
    tail = Tail(word)
    with precision(_BITS):
        while True:
            ball = tail.ball()
            if ball.is_finite() and ball.rad() < CLOSE / 4:
                # rounding to a float moves a number below 64 by at most 2^-48
                return float(ball.mid())
            tail.refine(randomness)


def sum_up(numbers: Vector) -> float:
    """Return at least Σ|number|."""
    return up(float(np.sum(np.abs(numbers))) * (1 + growth(numbers.size + 1)))


def norm2_up(numbers: Vector) -> float:
    """Return at least ‖numbers‖₂; a square that vanishes is of a number below 2^-511."""
    length = math.sqrt(float(np.sum(np.square(numbers)))) * (1 + growth(numbers.size + 4))
    return up(length + 2.0**-511 * math.sqrt(numbers.size))
