# SPDX-License-Identifier: Apache-2.0
"""What a stream is asked for at the end of each round: a lower-triangular workload."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import QuestionError
from lownoise.kinds import PACKED, Field, Form, Kinds
from lownoise.numbers.arguments import checked_integer
from lownoise.numbers.arrays import frozen, matrix, number
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import LAST, grown, growth, shrunk
from lownoise.questions.answers import (
    BITS,
    DecayedAnswers,
    MatrixAnswers,
    PrefixAnswers,
    WindowAnswers,
)
from lownoise.questions.encoding import QUESTIONS, AbstractQuestion, Parts
from lownoise.questions.mean import Mean
from lownoise.sets.domains.encoding import MEMBER

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector
    from lownoise.questions.answers import AbstractAnswers
    from lownoise.sets.domains import AbstractDomain

_BITS = 40  # of a number of rounds: a sum of so many numbers on a fine grid still has 64 bits
LARGEST_DENSE = 1 << 13  # rounds of a workload that is held as a matrix
_LARGEST, _SMALLEST = 2.0**100, 2.0**-100
_EXACT = 1 << 16  # singular values that are added up one by one
_SLACK = 2.0**-36  # downward: sines and logarithms are not directed


class AbstractStreamWorkload(ABC):
    """Answer t is Σ_{s ≤ t} W_ts·x_s for a lower-triangular W of n rounds."""

    rounds: int
    toeplitz = True  # whether W_ts is a function of t − s alone

    @property
    def kind(self) -> str:
        """What a document calls it."""
        return WORKLOADS.of(self).name

    @property
    @abstractmethod
    def longest(self) -> float:
        """At least the greatest Σ_s |W_ts|."""

    @property
    def trace_norm_down(self) -> float:
        """At most ‖W‖_*/n, which no factorization's error is below at unit change.

        Both errors, √(‖B‖_F²/n)·‖C‖_{1→2} and the largest row of B for the first factor, are at
        least that: γ_F(W) ≥ ‖W‖_*/√n (003, Lemma 1), and a maximum is no less than a mean. 0 where
        no closed form is known.
        """
        return 0.0

    def nuclear_norm_down(self, count: int) -> float:
        """Return at most ‖·‖_* of W's first `count` rows and columns; 0 where it is not known."""
        return 0.0

    @abstractmethod
    def exact(self, coordinates: int) -> AbstractAnswers:
        """Return the exact answers before the first round, of so many numbers a round."""

    def slack(self, largest: float) -> float:
        """Return how far an exact total can be from W·codes, in steps, if no |code| is larger."""
        return 0.0

    @abstractmethod
    def first_column(self, count: int | None = None) -> Vector:
        """Return W's first column, or its first `count` numbers, rounded to nearest."""

    def matrix(self) -> Vector:
        """Return W, shape (n, n).

        Raises:
            QuestionError: beyond 2^13 rounds.
        """
        if self.rounds > LARGEST_DENSE:
            raise QuestionError(
                f"workload of {self.rounds:,} rounds is no matrix that fits the memory; "
                f"ask for at most {LARGEST_DENSE:,} rounds, or a strategy that needs none",
            )
        return self.leading(self.rounds)

    def leading(self, count: int) -> Vector:
        """Return W's first `count` rows and columns, shape (count, count)."""
        column = self.first_column(count)
        lag = np.subtract.outer(np.arange(count), np.arange(count))
        return frozen(np.where(lag >= 0, column[np.maximum(lag, 0)], 0.0))

    def row(self, t: int) -> Vector:
        """Return row t of W, from 0, rounded to nearest, shape (n,)."""
        return np.append(self.first_column(t + 1)[::-1], np.zeros(self.rounds - t - 1))

    def row_sums(self, first: int, count: int) -> Vector:
        """Return Σ_s W_ts for `count` rounds from t = `first` (from 0), rounded to nearest."""
        total: Vector = np.cumsum(self.first_column(first + count))[first:]
        return total


WORKLOADS: Kinds[AbstractStreamWorkload] = Kinds("workload")


@WORKLOADS.kind("prefix", "rounds")
@final
@readable
@dataclass(frozen=True, init=False)
class Prefix(AbstractStreamWorkload):
    """Running sums: answer t is x_1 + … + x_t.

    Args:
        rounds: n ≥ 1, how many rounds there will be at most.

    Raises:
        QuestionError: where `rounds` is no whole number from 1 to 2^40.

    Examples:
        >>> Prefix(3).matrix()
        array([[1., 0., 0.],
               [1., 1., 0.],
               [1., 1., 1.]])
    """

    rounds: int

    def __init__(self, rounds: int) -> None:
        object.__setattr__(self, "rounds", checked_rounds("Prefix.rounds", rounds))

    @property
    def longest(self) -> float:
        """The number of rounds n."""
        return float(self.rounds)

    @property
    def trace_norm_down(self) -> float:
        """From the singular values 1/(2 sin((2j − 1)π/(4n + 2))), j = 1 … n (003), rounded down.

        Examples:
            >>> round(Prefix(1).trace_norm_down, 6)
            1.0
        """
        n = self.rounds
        few = min(n, _EXACT)
        angle = math.pi / (4 * n + 2)
        total = math.fsum(0.5 / np.sin((2 * np.arange(1, few + 1) - 1) * angle))
        if few < n:
            # 1/sin falls, so the sum over j > few is at least the integral from few + 1 to n + 1,
            # and ∫ du/sin u = log tan(u/2)
            start, end = (2 * few + 1) * angle, min((2 * n + 1) * angle, math.pi / 2)
            whole = math.log(math.tan(end / 2)) - math.log(math.tan(start / 2))
            total += whole / (4 * angle)
        return shrunk(total / n, _SLACK)

    def nuclear_norm_down(self, count: int) -> float:
        """Return that of running sums of so many rounds.

        Examples:
            >>> round(Prefix(9).nuclear_norm_down(1), 6)
            1.0
        """
        return shrunk(Prefix(count).trace_norm_down * count, LAST)

    def exact(self, coordinates: int) -> AbstractAnswers:
        """Return running sums before the first round: one total a number."""
        return PrefixAnswers(coordinates)

    def first_column(self, count: int | None = None) -> Vector:
        """Return ones."""
        return np.ones(self.rounds if count is None else count)

    def row_sums(self, first: int, count: int) -> Vector:
        """Return 1, 2, … up to n."""
        return np.arange(first + 1, first + count + 1, dtype=np.float64)


@WORKLOADS.kind("sliding_window", "rounds", "width")
@final
@readable
@dataclass(frozen=True, init=False)
class SlidingWindow(AbstractStreamWorkload):
    """Sums over the last rounds: answer t is x_{t−width+1} + … + x_t.

    Args:
        rounds: n ≥ 1, how many rounds there will be at most.
        width: how many rounds are summed, from 1 to n.

    Raises:
        QuestionError: where a number is out of range.

    Examples:
        >>> SlidingWindow(4, 2).first_column()
        array([1., 1., 0., 0.])
    """

    rounds: int
    width: int

    def __init__(self, rounds: int, width: int) -> None:
        object.__setattr__(self, "rounds", checked_rounds("SlidingWindow.rounds", rounds))
        object.__setattr__(self, "width", checked_rounds("SlidingWindow.width", width))
        if self.width > self.rounds:
            raise QuestionError(
                f"SlidingWindow.width={width} is beyond its {self.rounds} rounds; use ln.Prefix",
            )

    @property
    def longest(self) -> float:
        """The width."""
        return float(self.width)

    def exact(self, coordinates: int) -> AbstractAnswers:
        """Return running sums before the first round: of the last rounds, whose codes are kept."""
        return WindowAnswers(self.width, coordinates)

    def first_column(self, count: int | None = None) -> Vector:
        """Return as many ones as the window is wide, then zeros."""
        return (np.arange(self.rounds if count is None else count) < self.width).astype(float)

    def row_sums(self, first: int, count: int) -> Vector:
        """Return 1, 2, … width, width and so on."""
        return np.minimum(np.arange(first + 1, first + count + 1, dtype=np.float64), self.width)


@WORKLOADS.kind("decayed", "rounds", "rate")
@final
@readable
@dataclass(frozen=True, init=False)
class Decayed(AbstractStreamWorkload):
    """Exponentially decayed sums: answer t is x_t plus rate times answer t − 1.

    Args:
        rounds: n ≥ 1, how many rounds there will be at most.
        rate: between 0 and 1, the factor by which a sum decays per round.

    Raises:
        QuestionError: where a number is out of range.

    Examples:
        >>> Decayed(3, 0.5).first_column()
        array([1.  , 0.5 , 0.25])
    """

    rounds: int
    rate: float

    def __init__(self, rounds: int, rate: float) -> None:
        object.__setattr__(self, "rounds", checked_rounds("Decayed.rounds", rounds))
        object.__setattr__(self, "rate", checked_rate("Decayed.rate", rate))

    @property
    def longest(self) -> float:
        """At least 1/(1 − rate)."""
        return min(float(self.rounds), grown(1.0, LAST) / (1 - self.rate))

    def exact(self, coordinates: int) -> AbstractAnswers:
        """Return running sums before the first round: in units of 2^-64 of a step."""
        return DecayedAnswers(self.rate, coordinates)

    def slack(self, largest: float) -> float:
        """Return a half, and what each round loses: less than a unit."""
        return 0.5 + 2.0**-BITS * self.longest

    def first_column(self, count: int | None = None) -> Vector:
        """Return the powers of the rate."""
        powers: Vector = self.rate ** np.arange(
            self.rounds if count is None else count, dtype=float
        )
        return powers

    def row_sums(self, first: int, count: int) -> Vector:
        """Return (1 − rate^t)/(1 − rate)."""
        t = np.arange(first + 1, first + count + 1, dtype=np.float64)
        return -np.expm1(t * math.log(self.rate)) / (1 - self.rate)


@WORKLOADS.kind("lower_triangular", Field("entries", PACKED))
@final
@readable
@dataclass(frozen=True, eq=False, init=False)
class LowerTriangular(AbstractStreamWorkload):
    """Any lower-triangular workload.

    Args:
        entries: W, shape (n, n), zeros above the diagonal; answer t may use rounds to t only.

    Raises:
        QuestionError: where it is no such matrix, or has more than 2^13 rounds.

    Examples:
        >>> LowerTriangular([[1, 0], [0.5, 0.5]]).rounds
        2
    """

    entries: Vector
    toeplitz = False  # what is given as a matrix is kept as one

    def __init__(self, entries: ArrayLike) -> None:
        W = matrix(entries, field="workload", error=QuestionError)
        n = len(W)
        if W.shape != (n, n) or not n:
            raise QuestionError(
                f"workload has shape {W.shape}; give a square matrix, a row a round"
            )
        if n > LARGEST_DENSE:
            raise QuestionError(
                f"workload has {n:,} rounds; give a matrix of at most {LARGEST_DENSE:,}, or "
                "ln.Prefix, ln.SlidingWindow or ln.Decayed",
            )
        above = np.argwhere(np.triu(W, 1))
        if len(above):
            i, j = (int(k) for k in above[0])
            raise QuestionError(
                f"workload[{i}, {j}]={W[i, j]:g} is above the diagonal: an answer cannot use a "
                "later round; give zeros there",
            )
        size = np.abs(W[W != 0])
        if not size.size or size.max() > _LARGEST or size.min() < _SMALLEST:
            raise QuestionError(
                "workload has no number at all, or one beyond 2^100 or below 2^-100; "
                "use another unit",
            )
        object.__setattr__(self, "entries", W)

    @property
    def rounds(self) -> int:  # type: ignore[override]
        """The number of rounds n."""
        return len(self.entries)

    @property
    def longest(self) -> float:
        """The greatest Σ|W_ts|, rounded up."""
        return float(np.max(np.abs(self.entries).sum(axis=1))) * (1 + self.rounds * 2.0**-52)

    def exact(self, coordinates: int) -> AbstractAnswers:
        """Return running sums before the first round: rows of the matrix times all codes so far."""
        return MatrixAnswers(self.entries, coordinates)

    def slack(self, largest: float) -> float:
        """Return a half, and what a product of so many floats rounds."""
        off = 0.5 + growth(self.rounds + 2) * self.longest * largest
        return off if math.isfinite(off) else math.inf

    def first_column(self, count: int | None = None) -> Vector:
        """Return the first column."""
        return self.entries[:count, 0]

    def leading(self, count: int) -> Vector:
        """Return W's first `count` rows and columns, shape (count, count)."""
        return self.entries if count == self.rounds else self.entries[:count, :count].copy()

    def row(self, t: int) -> Vector:
        """Return row t."""
        found: Vector = self.entries[t]
        return found

    def row_sums(self, first: int, count: int) -> Vector:
        """Return Σ_s W_ts."""
        total: Vector = self.entries[first : first + count].sum(axis=1)
        return total


def _written(workload: AbstractStreamWorkload, **values: Any) -> Running:  # noqa: ANN401 (a file)
    return Running(workload, Mean(**values))


@QUESTIONS.kind(
    "stream",
    Field("workload", Form(WORKLOADS.write, lambda fields, _: WORKLOADS.read(fields))),
    "columns",
    Field("domain", MEMBER, inlined=True),
    Field("center", attribute=lambda own: own.values.center),
    Field("missing", attribute=lambda own: own.values.missing),
    make=_written,
)
@final
@dataclass(frozen=True, eq=False)
class Running(AbstractQuestion):
    """The question of a stream: an answer after every round.

    Args:
        workload: W, one row a round.
        values: the columns of a round's value, their domain, center and stand-in.
    """

    parts: ClassVar[Parts] = Parts(
        view="streams.view:StreamView",
        page="report.streams:StreamView",
        codec="streams.codec:TERMS",
    )

    workload: AbstractStreamWorkload
    values: Mean

    @property
    def columns(self) -> tuple[str, ...]:
        """What the numbers of an answer are."""
        return self.values.columns

    @property
    def domain(self) -> AbstractDomain:
        """The values of a round."""
        return self.values.domain


def checked_rate(field: str, value: object) -> float:
    """Return a rate.

    Raises:
        QuestionError: where it is not between 0 and 1.
    """
    share = number(value, field=field, error=QuestionError)
    if not 0 < share < 1:
        raise QuestionError(
            f"{field}={share} is not between 0 and 1; for running sums use ln.Prefix"
        )
    return share


def checked_rounds(field: str, value: object) -> int:
    """Return a number of rounds.

    Raises:
        QuestionError: where it is no whole number from 1 to 2^40.
    """
    return checked_integer(field, value, bits=_BITS, error=QuestionError)
