# SPDX-License-Identifier: Apache-2.0
"""Sums of rounds that have pure noise of their own, and what follows of it for every round's value.

C has a row for each sum; k is the integer noise on the sums, and y = E(k) what follows for the
values, with

    E(k + C·z) = E(k) + z   for all whole numbers z, exactly (modulo 2^64, as all that is added).

So values that are published as z + E(k) are E(C·z + k): a function of the sums with their noise
(post-processing), whatever weights the estimate has. What one person moves is C·z, in every noise
that a sum has: Σ ‖change‖/scale over the sums that hold the round.

C need not be lower triangular. An answer uses rounds up to its own alone, so two neighbours that
part in round s have the same answers before it for k and for k − C·δ: what is chosen after these
answers, s and δ among it, is the same, and the densities of both are within e^ε (ours; the theory
page has the proof).

*Trees.* Level 0 has a sum a round, level l a sum of `arities[l − 1]` neighbours of the level below.
With variances σ_l² of the noise, sums from below and from above are joined by least squares in two
passes (Hay, Rastogi, Miklau & Suciu 2010, for unequal variances): upwards 1/v = 1/σ² + 1/Σv_child,
and downwards what a sum is off from its children is theirs in the ratio of their variances.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from operator import mul
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import NONNEGATIVE, PACKED_ROW, Field, Form, Kinds, whole_numbers
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import up
from lownoise.questions.streams import Prefix

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions.streams import AbstractStreamWorkload

    Cost = Callable[[float], float]

MOST_DENSE = 2048  # rounds of a workload that is no running sum
MOST_TOEPLITZ = 1024  # rounds, whose noise takes n² products of whole numbers
_MOST_LEVELS = 64
_GRID = 1 << 20  # of the numbers of a column
_WORDS = 1 << 64
SUMS: Kinds[AbstractSums] = Kinds("sums")


class AbstractSums(ABC):
    """Which sums of rounds have noise, how wide it is, and what follows for the values."""

    workload: AbstractStreamWorkload

    @property
    def rounds(self) -> int:
        """The number of rounds n."""
        return self.workload.rounds

    @property
    @abstractmethod
    def levels(self) -> list[tuple[int, float]]:
        """How many sums have noise of each width, and that width: the base noise's `scaled`."""

    @property
    def deviations(self) -> Vector:
        """How far the noise of each level strays beside the base noise, shape (levels,)."""
        return np.array([width for _, width in self.levels])

    @property
    def numbers_kept(self) -> int:
        """How many numbers of noise are kept for each coordinate before the first round."""
        return self.rounds

    @abstractmethod
    def charged(self, move: Cost, step: Cost) -> list[float]:
        """Return what one round's change costs in each level; their sum is ε.

        Args:
            move: of a width: what a change of one round reveals in base noise so much wider.
            step: of a width: what a change of one step in every coordinate reveals.
        """

    @abstractmethod
    def values(self, drawn: list[Any]) -> Integers:
        """Return the noise of the values, modulo 2^64, shape (n, r).

        Args:
            drawn: of each level the noise of its sums, whole numbers of any size, shape (count, r).
        """

    @abstractmethod
    def linear(self, drawn: list[Vector]) -> Vector:
        """Return the same without rounding: the linear function that `values` is near."""

    @abstractmethod
    def weights(self, t: int) -> list[Vector]:
        """Return what an answer takes of each level's noise by `linear`, shape (count,) each.

        Args:
            t: which answer, from 0.
        """

    @property
    @abstractmethod
    def off_up(self) -> float:
        """At least how far answers are from those of `linear`, in steps, nearly always."""

    def variances(self, first: int, count: int) -> Vector:
        """Return the variance of some answers where the base noise has one of 1, shape (count,)."""
        return self._variances[first : first + count]

    @cached_property
    def _variances(self) -> Vector:
        """By the matrix of all sources."""
        counts, own = [count for count, _ in self.levels], []
        for level, (count, wide) in enumerate(zip(counts, self.deviations.tolist(), strict=True)):
            unit = [np.zeros((other, count)) for other in counts]
            unit[level] = np.eye(count) * wide
            own.append(self.linear(unit))
        answers = self.workload.matrix() @ np.hstack(own)
        return frozen(np.einsum("ij,ij->i", answers, answers))

    @property
    def mean_variance(self) -> float:
        """The mean of all variances."""
        return float(np.mean(self._variances))

    @property
    def largest_variance(self) -> float:
        """The greatest of them."""
        return float(np.max(self._variances))


def _arities(value: Any, field: str) -> tuple[int, ...]:  # noqa: ANN401 (a file)
    return tuple(whole_numbers(value, field, (1,)).tolist()) if value else ()


@SUMS.kind("tree", Field("arities", Form(list, _arities)), Field("widths", NONNEGATIVE), "fitted")
@final
@dataclass(frozen=True, eq=False)
class TreeSums(AbstractSums):
    """A tree of sums: each of a level holds so many neighbours of the level below.

    Args:
        workload: W.
        arities: of each level above the single rounds, from the bottom, at least 2 each.
        widths: of the noise of each level, from the single rounds on, one more than arities.
        fitted: whether sums are joined by least squares; otherwise an answer adds the fewest sums
            that make it up.
        strays: how far the noise of each level strays beside the base noise, where that is not its
            width; what least squares takes, and what no privacy rests on.

    Raises:
        PlanError: where the numbers are out of range.
    """

    workload: AbstractStreamWorkload
    arities: tuple[int, ...]
    widths: Vector
    fitted: bool = True
    strays: Vector | None = None

    def __post_init__(self) -> None:
        a = self.arities
        integral = all(isinstance(own, int) and own >= 2 for own in a)  # noqa: PLR2004
        given = (self.widths, self.deviations)
        above = all(bool(np.all((own > 0) & np.isfinite(own))) for own in given)
        fits = len(a) < _MOST_LEVELS and all(own.shape == (len(a) + 1,) for own in given)
        useful = all(before > 1 for before in self._counts[:-1]) if integral else False
        if not (integral and above and fits and useful and isinstance(self.fitted, bool)):
            raise PlanError("TreeSums needs arities of at least 2, and widths above 0; plan again")
        if self.rounds > MOST_DENSE and not isinstance(self.workload, Prefix):
            raise PlanError(
                f"a tree of {self.rounds:,} rounds is for ln.Prefix; for others it goes to "
                f"{MOST_DENSE:,}"
            )

    @cached_property
    def _counts(self) -> list[int]:
        found = [self.rounds]
        for arity in self.arities:
            found.append(-(-found[-1] // arity))
        return found

    @property
    def levels(self) -> list[tuple[int, float]]:
        """The sums of each level."""
        return list(zip(self._counts, self.widths.tolist(), strict=True))

    @property
    def deviations(self) -> Vector:
        """The widths, or what is said of how far noise strays."""
        return self.widths if self.strays is None else self.strays

    def with_deviations(self, deviations: Vector) -> TreeSums:
        """Return the same sums, fitted to noise that strays so far."""
        if np.array_equal(deviations, self.deviations):
            return self
        return replace(self, strays=frozen(np.asarray(deviations)))

    def charged(self, move: Cost, step: Cost) -> list[float]:
        """Return what one round's change costs: it is in one sum of every level."""
        return [move(width) for width in self.widths.tolist()]

    @property
    def off_up(self) -> float:
        """Halves of two passes, over what a prefix adds of them."""
        return 4.0 * len(self.widths) ** 2 if self.fitted else 0.0

    @cached_property
    def _fit(self) -> list[tuple[Vector, Vector]]:
        """Of each level above the first: the weight of its own noise, and its children's shares.

        Shapes (count,) and, before each child and up to its end, (2, children).
        """
        own = np.full(self.rounds, float(self.deviations[0]) ** 2)
        found = []
        for arity, width in zip(self.arities, self.deviations[1:].tolist(), strict=True):
            ends = np.cumsum(_grouped(own, arity), axis=1)
            below = ends[:, -1]
            shares = ends / below[:, None]
            both = np.stack([np.c_[np.zeros(len(ends)), shares[:, :-1]], shares])
            found.append((below / (below + width**2), both.reshape(2, -1)[:, : own.size]))
            own = below * (1 - found[-1][0])
        return found

    def values(self, drawn: list[Any]) -> Integers:
        """Return the noise of the values: whole numbers at each step, so that sums are exact."""
        drawn = [wrapped(own) for own in drawn]
        if not self.fitted:
            return np.asarray(np.diff(self._added(drawn), axis=0, prepend=0))
        estimates, sums = [drawn[0]], []
        for arity, own, (weight, _) in zip(self.arities, drawn[1:], self._fit, strict=True):
            below = _grouped(estimates[-1], arity).sum(axis=1)
            off = own - below
            estimates.append(below + np.rint(weight[:, None] * off).astype(np.int64))
            sums.append(below)
        found: Integers = estimates[-1]
        for level in range(len(self.arities) - 1, -1, -1):
            arity, own = self.arities[level], estimates[level]
            parent = np.arange(len(own)) // arity
            off = (found - sums[level])[parent]
            # what is handed out ends at the whole: shares from one child's end to the next's
            after = self._fit[level][1][1]
            cuts = np.rint(after[:, None] * off).astype(np.int64)
            last = np.arange(1, len(own) + 1) % arity == 0
            last[-1] = True
            cuts[last] = off[last]
            begin = np.zeros_like(cuts)
            begin[1:] = np.where(parent[1:, None] == parent[:-1, None], cuts[:-1], 0)
            found = own + cuts - begin
        return found

    def linear(self, drawn: list[Vector]) -> Vector:
        """Return the same without rounding."""
        if not self.fitted:
            return np.diff(self._added(drawn), axis=0, prepend=0.0)
        estimates, sums = [drawn[0]], []
        for arity, own, (weight, _) in zip(self.arities, drawn[1:], self._fit, strict=True):
            below = _grouped(estimates[-1], arity).sum(axis=1)
            estimates.append(below + weight[:, None] * (own - below))
            sums.append(below)
        found = estimates[-1]
        for level in range(len(self.arities) - 1, -1, -1):
            own = estimates[level]
            parent = np.arange(len(own)) // self.arities[level]
            before, after = self._fit[level][1]
            found = own + (after - before)[:, None] * (found - sums[level])[parent]
        return found

    def weights(self, t: int) -> list[Vector]:
        """Return them by both passes backwards, of sums by what children hand on."""
        own = self.workload.row(t)
        if not self.fitted:
            return self._covers(own)
        handed, offs = own, []  # to a sum by its children: of the estimate, and of what is off
        for level, arity in enumerate(self.arities):
            before, after = self._fit[level][1]
            above = _grouped((after - before) * handed, arity).sum(axis=1)
            offs.append(handed - np.repeat(above, arity)[: handed.size])
            handed = above
        found = []
        for level in range(len(self.arities) - 1, -1, -1):
            weight = self._fit[level][0]
            found.append(weight * handed)
            below = np.repeat((1 - weight) * handed, self.arities[level])
            handed = offs[level] + below[: offs[level].size]
        return [handed, *reversed(found)]

    def _covers(self, own: Vector) -> list[Vector]:
        """Return how often the fewest sums that make up running sums are in Σ own·(the values)."""
        running = own - np.append(own[1:], 0.0)
        t, size, found = np.arange(1, self.rounds + 1), 1, []
        for level, count in enumerate(self._counts):
            arity = self.arities[level] if level < len(self.arities) else count + 1
            steps, done = np.zeros(count + 1), t // size
            np.add.at(steps, done // arity * arity, running)
            np.add.at(steps, done, -running)
            found.append(np.cumsum(steps)[:count])
            size *= arity
        return found

    def _added(self, drawn: list[Any]) -> Any:  # noqa: ANN401 (of integers, or of floats)
        """Return the noise of running sums that add the fewest sums of the tree, shape (n, r)."""
        t, size = np.arange(1, self.rounds + 1), 1
        found = np.zeros_like(drawn[0])
        for level, own in enumerate(drawn):
            running = np.concatenate([np.zeros_like(own[:1]), np.cumsum(own, axis=0)])
            done = t // size
            if level < len(self.arities):
                arity = self.arities[level]
                found += running[done] - running[done // arity * arity]
                size *= arity
            else:
                found += running[done]
        return found

    @cached_property
    def _variances(self) -> Vector:
        if not isinstance(self.workload, Prefix):
            return super()._variances
        squares = np.square(self.deviations)
        if not self.fitted:
            parts = [np.full((count, 1), s) for count, s in zip(self._counts, squares, strict=True)]
            return frozen(self._added(parts)[:, 0])
        own, estimates = np.full(self.rounds, squares[0]), []
        for arity, (weight, _) in zip(self.arities, self._fit, strict=True):
            estimates.append(_grouped(own, arity).sum(axis=1))
            own = estimates[-1] * (1 - weight)
        # of what is before a sum, of that and the sum, and of the sum
        before, beside = np.cumsum(own) - own, np.zeros_like(own)
        for level in range(len(self.arities) - 1, -1, -1):
            arity, below = self.arities[level], estimates[level]
            start, end = self._fit[level][1]
            parent = np.arange(start.size) // arity
            before, beside, own, below = (a[parent] for a in (before, beside, own, below))
            share = end - start
            before = before + 2 * start * beside + start**2 * own + below * start * (1 - start)
            beside = share * beside + start * share * (own - below)
            own = share**2 * own + below * share * (1 - share)
        return frozen(before + 2 * beside + own)


def _grouped(values: Any, arity: int) -> Any:  # noqa: ANN401 (integers or floats)
    """Return groups of `arity` neighbours, the last filled with zeros, shape (groups, arity, …)."""
    short = -len(values) % arity
    filled = np.concatenate([values, np.zeros((short, *values.shape[1:]), dtype=values.dtype)])
    return filled.reshape(-1, arity, *values.shape[1:])


@SUMS.kind("toeplitz", Field("column", PACKED_ROW))
@final
@dataclass(frozen=True, eq=False)
class ToeplitzSums(AbstractSums):
    """C is a lower-triangular Toeplitz matrix with ones on its diagonal.

    Values have y_t = k_t − R_t, R_t the integer nearest Σ_{j<t} c_{t−j}·y_j, in whole numbers that
    have no end: with what was published, a change δ of round s moves k_t by c_{t−s}·δ and less than
    one step.

    Args:
        workload: W, Toeplitz, of few rounds.
        column: c_0 = 1, c_1, …, multiples of 2^-20, shape (n,).

    Raises:
        PlanError: where they are anything else.
    """

    workload: AbstractStreamWorkload
    column: Vector

    def __post_init__(self) -> None:
        c = self.column
        fits = c.shape == (self.rounds,) and bool(np.all(np.abs(c) <= 1)) and c[0] == 1
        if not fits or np.any(c * _GRID != np.rint(c * _GRID)) or not self.workload.toeplitz:
            raise PlanError("ToeplitzSums needs 1 and multiples of 2^-20 up to 1; plan again")
        if self.rounds > MOST_TOEPLITZ:
            raise PlanError(f"strategy goes to {MOST_TOEPLITZ:,} rounds under a pure budget")

    @property
    def levels(self) -> list[tuple[int, float]]:
        """One a round, all alike."""
        return [(self.rounds, 1.0)]

    def charged(self, move: Cost, step: Cost) -> list[float]:
        """Return what one round's change costs in its own and all later sums: the first one's."""
        own, rounding = move(1.0), step(1.0)
        later = [up(up(abs(c) * own) + rounding) for c in self.column[1:].tolist() if c]
        return [own, *later]

    @cached_property
    def _answers(self) -> Vector:
        """The first column of W·C⁻¹."""
        return frozen(divided(self.workload.first_column(), self.column))

    @property
    def off_up(self) -> float:
        """What half a step in every round adds up to."""
        return float(np.sum(np.abs(self._answers)))

    def values(self, drawn: list[Any]) -> Integers:
        """Return the noise of the values."""
        (own,) = drawn
        back = [int(c) for c in (self.column[::-1] * _GRID).tolist()]
        found = []
        for noise in np.asarray(own, dtype=object).T:
            y: list[int] = []
            for t, k in enumerate(noise.tolist()):
                recalled = sum(map(mul, back[len(back) - 1 - t : -1], y))
                y.append(k - (recalled + _GRID // 2) // _GRID)
            found.append(y)
        return wrapped(np.array(found, dtype=object).T)

    def linear(self, drawn: list[Vector]) -> Vector:
        """Return C⁻¹·k."""
        inverse = divided(np.eye(1, self.rounds)[0], self.column)
        lag = np.subtract.outer(np.arange(self.rounds), np.arange(self.rounds))
        return np.asarray(np.where(lag >= 0, inverse[np.maximum(lag, 0)], 0.0) @ drawn[0])

    def weights(self, t: int) -> list[Vector]:
        """Return row t of W·C⁻¹."""
        return [np.append(self._answers[t::-1], np.zeros(self.rounds - t - 1))]

    @cached_property
    def _variances(self) -> Vector:
        return frozen(np.cumsum(np.square(self._answers)))


def divided(series: Vector, divisor: Vector) -> Vector:
    """Return the first numbers of a quotient of two series, the second of which begins with 1."""
    found = np.array(series, dtype=np.float64)
    for t in range(1, found.size):
        found[t] -= divisor[t:0:-1] @ found[:t]
    return found


def wrapped(numbers: Any) -> Integers:  # noqa: ANN401 (whole numbers of any size)
    """Return whole numbers modulo 2^64."""
    found: Integers = (
        (np.asarray(numbers, dtype=object) % _WORDS).astype(np.uint64).astype(np.int64)
    )
    return found
