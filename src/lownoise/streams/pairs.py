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
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import PACKED, PACKED_ROW, Field, Kinds
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth, up
from lownoise.streams.convolution import causal_error, causal_product, norm2_up, product, sum_up
from lownoise.streams.normals import CLOSE, close_normals

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions.streams import AbstractStreamWorkload

LARGEST = 7.0  # a normal number beyond it, one in 4·10^11, is handled apart
_MARGIN = 1 + 2.0**-40


@dataclass(frozen=True)
class Excess:
    """A normal number beyond `LARGEST`: where it stands, and by how much it is beyond."""

    source: int
    coordinate: int
    beyond: float


class Noise(ABC):
    """B·z for the rounds to come, in order."""

    @abstractmethod
    def take(self, count: int) -> Vector:
        """Return the next `count` rows, shape (count, r)."""


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

    @abstractmethod
    def variances(self, first: int, count: int) -> Vector:
        """Return the squared length of `count` rows of B from `first`, shape (count,)."""

    @property
    @abstractmethod
    def mean_variance(self) -> float:
        """The mean of all squared lengths of rows of B."""

    @property
    @abstractmethod
    def largest_variance(self) -> float:
        """The greatest of them."""


PAIRS: Kinds[AbstractPair] = Kinds("pair")


def _second(pair: Any) -> Vector | None:  # noqa: ANN401
    return None if np.array_equal(pair.noise, pair.strategy) else pair.strategy


# the first columns of both factors, of which a document names one where they are one
COLUMNS = (
    Field("noise", PACKED_ROW),
    Field("strategy", PACKED_ROW, attribute=_second, optional=True),
)


class AbstractKeptPair(AbstractPair):
    """A pair whose noise is drawn for all rounds before the first one."""

    @property
    @abstractmethod
    def sources(self) -> int:
        """How many normal numbers B takes."""

    @abstractmethod
    def apply(self, z: Vector) -> Vector:
        """Return B·z, shapes (sources, r) and (n, r); row t sees only what round t may use."""

    @abstractmethod
    def column(self, source: int) -> list[Fraction]:
        """Return a column of B exactly, n numbers."""

    def variances(self, first: int, count: int) -> Vector:
        """Return the squared length of `count` rows of B from `first`, shape (count,)."""
        return self._variances[first : first + count]

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
        beyond = [
            Excess(int(i), int(k), float(z[i, k] - cut[i, k])) for i, k in np.argwhere(z != cut)
        ]
        return self.apply(cut), beyond


def _columns(
    workload: AbstractStreamWorkload, noise: Vector, strategy: Vector | None = None
) -> ToeplitzPair:
    return ToeplitzPair(workload, noise, noise if strategy is None else strategy)


@PAIRS.kind("toeplitz", *COLUMNS, make=_columns)
@final
@dataclass(frozen=True, eq=False)
class ToeplitzPair(AbstractKeptPair):
    """B and C are lower-triangular Toeplitz matrices.

    Args:
        workload: W, Toeplitz.
        noise: B's first column, shape (n,).
        strategy: C's first column, shape (n,).

    Raises:
        PlanError: where the columns are not n finite numbers.
    """

    workload: AbstractStreamWorkload
    noise: Vector
    strategy: Vector

    def __post_init__(self) -> None:
        for own in (self.noise, self.strategy):
            if own.shape != (self.rounds,) or not np.all(np.isfinite(own)):
                raise PlanError("ToeplitzPair needs a finite number a round; plan again")
        if not self.workload.toeplitz:
            raise PlanError("ToeplitzPair needs a workload that depends on t - s alone")

    @property
    def sources(self) -> int:
        """One normal number a round."""
        return self.rounds

    @cached_property
    def column_up(self) -> float:
        """At least ‖c‖₂: the first column is the longest."""
        return norm2_up(self.strategy)

    @cached_property
    def residual_up(self) -> float:
        """At least ‖w − b∗c‖₂."""
        made, off = product(self.noise, self.strategy)
        wanted = self.workload.first_column()
        apart = np.abs(wanted - made) + 2.0**-50 * (np.abs(wanted) + np.abs(made))
        return up((norm2_up(apart) + off) * _MARGIN)

    @cached_property
    def error_up(self) -> float:
        """At least ‖computed B·z − B·ξ‖₂ for one column of numbers."""
        total, n = sum_up(self.noise), self.rounds
        # Young: ‖B·δ‖₂ ≤ ‖b‖₁·‖δ‖₂
        return up(
            (causal_error(total, n, LARGEST) + total * CLOSE * math.sqrt(n)) * _MARGIN,
        )

    @cached_property
    def size_up(self) -> float:
        """At least ‖B·z‖₂."""
        return up(sum_up(self.noise) * LARGEST * math.sqrt(self.rounds) * _MARGIN)

    def apply(self, z: Vector) -> Vector:
        """Return B·z."""
        return causal_product(self.noise, z)

    def column(self, source: int) -> list[Fraction]:
        """Return a column of B exactly, n numbers."""
        return [Fraction(0)] * source + fractions(self.noise[: self.rounds - source])

    @cached_property
    def _variances(self) -> Vector:
        return frozen(np.cumsum(np.square(self.noise)))


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

    @cached_property
    def residual_up(self) -> float:
        """At least the longest column of W − B·C."""
        B, C = self.noise, self.strategy
        wanted = self.workload.matrix()
        off = growth(len(C) + 3) * (np.abs(B) @ np.abs(C)) + 2.0**-50 * np.abs(wanted)
        return up(_longest(np.abs(wanted - B @ C) + off * _MARGIN))

    @cached_property
    def _lengths(self) -> float:
        return norm2_up(np.abs(self.noise).sum(axis=1)) * _MARGIN

    @cached_property
    def error_up(self) -> float:
        """At least ‖computed B·z − B·ξ‖₂ for one column of numbers."""
        return up((growth(self.sources + 2) * LARGEST + CLOSE) * self._lengths * _MARGIN)

    @cached_property
    def size_up(self) -> float:
        """At least ‖B·z‖₂."""
        return up(LARGEST * self._lengths * _MARGIN)

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
