# SPDX-License-Identifier: Apache-2.0
"""What correlated noise of increments remembers of the rounds before, coordinate by coordinate.

C is lower triangular with ones on its diagonal. Round t needs R_t, near Σ_{j<t} c_tj·N_j, from what
is kept of N_1, …, N_{t−1}. Every operation on arrays is one rounded multiplication or addition of
doubles, in a fixed order, so that R_t has the same bits on every machine.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import VECTOR, Field, Form, Kinds
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import SLACK, grown, growth, up
from lownoise.questions.streams import WORKLOADS, Prefix
from lownoise.streams.pairs import PAIRS, sum_up
from lownoise.streams.recursive import RecursivePair
from lownoise.streams.toeplitz import ToeplitzPair, product

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.participation import Participation
    from lownoise.streams.pairs import AbstractPair

GRID = 2.0**-16  # of the coefficients of a band
_EXACT = 2.0**53
_INTEGER = 2.0**31
_ROUNDED = 2.0**-53
CARRIED: Kinds[AbstractCarried] = Kinds("carried")


class AbstractCarried(ABC):
    """C − I, as a computation that goes round by round with few numbers a coordinate."""

    @property
    @abstractmethod
    def buffers(self) -> int:
        """How many numbers are kept for each coordinate."""

    @abstractmethod
    def kept_as(self, largest: float) -> np.dtype[Any]:
        """Return what kind of numbers they are, where no |N| is above `largest`."""

    @abstractmethod
    def pair(self, rounds: int) -> AbstractPair:
        """Return factors whose C this is, for so many rounds."""

    @abstractmethod
    def first_column(self, rounds: int) -> Vector:
        """Return c, nearly: C's first column, shape (n,)."""

    @abstractmethod
    def inverse_up(self, rounds: int) -> float:
        """Return at least Σ_t |(C⁻¹e_1)_t|: how far bounded numbers grow under C⁻¹."""

    @property
    @abstractmethod
    def most(self) -> float:
        """The greatest |N| for which `off_up` is known."""

    @abstractmethod
    def off_up(self, rounds: int, largest: float) -> float:
        """Return at least |R_t − Σ_{j<t} c_tj·N_j| of any coordinate, infinite where none is known.

        Args:
            rounds: n.
            largest: at least every |N|.
        """

    @abstractmethod
    def touched(self, rounds: int, participation: Participation) -> int:
        """Return in how many rounds at most R_t depends on a round that one person adds to."""

    @abstractmethod
    def recalled(self, kept: Vector, done: int, work: Vector) -> Vector:
        """Return R_t for a block of m coordinates, integers in doubles, shape (m,).

        Args:
            kept: shape (buffers, m).
            done: how many rounds there were.
            work: room, shape (2, m); what is returned is a part of it.
        """

    @abstractmethod
    def keep(self, kept: Vector, done: int, noise: Vector) -> None:
        """Take the noise of round `done`, shape (m,), into what is kept."""


def _banded(coefficients: Vector) -> BandedCarried:
    return BandedCarried(coefficients)


@CARRIED.kind("banded", Field("coefficients", VECTOR), make=_banded)
@final
@dataclass(frozen=True, eq=False)
class BandedCarried(AbstractCarried):
    """C is Toeplitz with a band: the last few rounds' noise is kept as it is; [1] keeps none.

    With coefficients on a grid of 2^-16 and |N| up to about 2^33 all sums are exact in doubles, so
    R_t is the integer nearest Σ c_tj·N_j.

    Args:
        coefficients: c_0 = 1, c_1, …, multiples of 2^-16, shape (band,).

    Raises:
        PlanError: where they are anything else.
    """

    coefficients: Vector

    def __post_init__(self) -> None:
        c = self.coefficients
        fits = c.ndim == 1 and c.size and np.all(np.isfinite(c)) and c[0] == 1
        if not fits or np.any(c / GRID != np.rint(c / GRID)):
            raise PlanError("BandedCarried needs 1 and multiples of 2^-16; plan again")

    @property
    def buffers(self) -> int:
        """The noise of band − 1 rounds."""
        return self.coefficients.size - 1

    def kept_as(self, largest: float) -> np.dtype[Any]:
        """Return integers of 4 bytes where they are wide enough, else doubles."""
        return np.dtype(np.int32 if largest < _INTEGER else np.float64)

    def pair(self, rounds: int) -> AbstractPair:
        """Return C, and no other factor: what is made of increments is no matter here."""
        first = np.zeros(rounds)
        first[0] = 1.0
        column = frozen(self.first_column(rounds))
        return ToeplitzPair(Prefix(rounds), frozen(first), column)

    def first_column(self, rounds: int) -> Vector:
        """Return the coefficients, and zeros."""
        column = np.zeros(rounds)
        column[: self.coefficients.size] = self.coefficients[:rounds]
        return column

    def inverse_up(self, rounds: int) -> float:
        """Return at least the sum of |c⁻¹|, from an inverse that is checked."""
        inverse, back = np.zeros(rounds), self.coefficients[:0:-1]
        inverse[0] = 1.0
        for t in range(1, rounds if back.size else 1):
            few = min(t, back.size)
            inverse[t] = -(back[back.size - few :] @ inverse[t - few : t])
        return _inverse_up(self.first_column(rounds), inverse, 0.0)

    @property
    def most(self) -> float:
        """Below it all sums are exact."""
        return _EXACT * GRID / sum_up(self.coefficients) if self.buffers else math.inf

    def off_up(self, rounds: int, largest: float) -> float:
        """Return the half that the nearest integer is off by, 0 where nothing is kept."""
        if not self.buffers:
            return 0.0
        return 0.5 if largest <= self.most else math.inf

    def touched(self, rounds: int, participation: Participation) -> int:
        """Return the rounds of a band after each that one person adds to."""
        return min(participation.count * self.buffers, rounds - 1)

    def recalled(self, kept: Vector, done: int, work: Vector) -> Vector:
        """Return the integers nearest to the sums over the rounds before."""
        total: Vector = work[0]
        part: Vector = work[1]
        total.fill(0.0)
        for lag in range(1, min(self.buffers, done) + 1):
            if self.coefficients[lag]:
                np.multiply(kept[(done - lag) % self.buffers], self.coefficients[lag], out=part)
                np.add(total, part, out=total)
        np.rint(total, out=total)
        return total

    def keep(self, kept: Vector, done: int, noise: Vector) -> None:
        """Write it over the oldest."""
        if self.buffers:
            kept[done % self.buffers] = noise


def _write_factors(pair: RecursivePair) -> dict[str, Any]:
    return {"workload": WORKLOADS.write(pair.workload), "factors": PAIRS.write(pair)}


def _read_factors(fields: Any, _: str) -> AbstractPair:  # noqa: ANN401
    return PAIRS.read(fields["factors"], WORKLOADS.read(fields["workload"]))


@CARRIED.kind("recursive", Field("pair", Form(_write_factors, _read_factors), attribute="factors"))
@final
@dataclass(frozen=True, eq=False)
class RecursiveCarried(AbstractCarried):
    """C's columns are sums of exponentials, c_t = Σ_i ω_i·λ_i^{t−1}: a running sum for each.

    S_i ← λ_i·S_i + N, R_t = the integer nearest Σ_i ω_i·S_i, in doubles.

    Args:
        factors: of which C is taken.

    Raises:
        PlanError: where they are of another kind.
    """

    factors: RecursivePair

    def __post_init__(self) -> None:
        if not isinstance(self.factors, RecursivePair):
            raise PlanError("RecursiveCarried needs rational factors; plan again")

    @cached_property
    def decays(self) -> Vector:
        """The doubles nearest to λ, shape (k,)."""
        rate = Fraction(self.factors.rate)
        return frozen(
            np.array([float(rate * (1 - Fraction(g))) for g in self.factors.gaps.tolist()])
        )

    @property
    def buffers(self) -> int:
        """A running sum an exponential."""
        return self.factors.gaps.size

    def kept_as(self, largest: float) -> np.dtype[Any]:
        """Return doubles."""
        return np.dtype(np.float64)

    def pair(self, rounds: int) -> AbstractPair:
        """Return the factors.

        Raises:
            PlanError: where they are for another number of rounds.
        """
        if rounds != self.factors.rounds:
            raise PlanError(f"rounds={rounds:,} is not what the factors are for; plan again")
        return self.factors

    def first_column(self, rounds: int) -> Vector:
        """Return 1 and the sums of exponentials."""
        column = np.ones(rounds)
        t = np.arange(float(rounds - 1))
        column[1:] = _exponentials(self.factors.weights, self.decays, t)
        return column

    def inverse_up(self, rounds: int) -> float:
        """Return at least the sum of |c⁻¹|, from the other factor, which is near W·C⁻¹."""
        t = np.arange(float(rounds))
        own = [float(mu) for mu in self.factors.decays]
        answers = _exponentials(self.factors.answer_weights, np.array(own), t)
        inverse = answers.copy()
        inverse[1:] -= self.factors.rate * answers[:-1]
        column = self.first_column(rounds)
        sizes = _exponentials(np.abs(self.factors.weights), np.abs(self.decays), t)
        return _inverse_up(column, inverse, SLACK * (1 + sum_up(sizes)))

    def _memory(self, rounds: int) -> Vector:
        """At least Σ_t |λ|^t over the rounds, shape (k,)."""
        with np.errstate(divide="ignore"):
            left = 1 / (1 - np.minimum(np.abs(self.decays) * (1 + growth(4)), 1.0))
        return np.asarray(np.minimum(left * (1 + growth(4)), float(rounds)))

    @property
    def most(self) -> float:
        """Any: roundings are relative."""
        return math.inf

    def off_up(self, rounds: int, largest: float) -> float:
        """Return what roundings of running sums add up to, and a half."""
        memory = self._memory(rounds)
        most = grown(largest * memory)  # of a running sum
        # its decay is a rounded number, its product and its sum are rounded
        lost = 3 * _ROUNDED * most * memory
        sizes = np.abs(self.factors.weights)
        rounded = growth(2 * self.buffers + 2) * most
        return grown(float(sizes @ (lost + rounded))) + 0.5

    def touched(self, rounds: int, participation: Participation) -> int:
        """Return all rounds but the first: nothing is forgotten."""
        return rounds - 1

    def recalled(self, kept: Vector, done: int, work: Vector) -> Vector:
        """Return the integers nearest to the weighted running sums."""
        total: Vector = work[0]
        part: Vector = work[1]
        total.fill(0.0)
        for own, weight in zip(kept, self.factors.weights.tolist(), strict=True):
            np.multiply(own, weight, out=part)
            np.add(total, part, out=total)
        np.rint(total, out=total)
        return total

    def keep(self, kept: Vector, done: int, noise: Vector) -> None:
        """Let every running sum forget, and add the noise."""
        for own, decay in zip(kept, self.decays.tolist(), strict=True):
            np.multiply(own, decay, out=own)
            np.add(own, noise, out=own)


def _exponentials(weights: Vector, ratios: Vector, t: Vector) -> Vector:
    found = np.zeros(t.size)
    for weight, base in zip(weights.tolist(), ratios.tolist(), strict=True):
        found += weight * np.power(base, t)
    return found


def _inverse_up(column: Vector, inverse: Vector, loose: float) -> float:
    """Return at least Σ|c⁻¹|, from some i near c⁻¹: with c·i = 1 − ρ it is i/(1 − ρ).

    Args:
        column: c, shape (n,).
        inverse: i, shape (n,).
        loose: at least how far the computed c is from the true one, summed up.
    """
    made, off = product(column, inverse)
    rest = np.array(made)
    rest[0] -= 1.0
    size = sum_up(inverse)
    left = up(sum_up(rest) + off * math.sqrt(column.size) + loose * size)
    return grown(size / (1 - left)) if left < 1 else math.inf
