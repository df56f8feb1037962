# SPDX-License-Identifier: Apache-2.0
"""Pairs of lower-triangular Toeplitz matrices, their columns as they are or scaled to one length.

Number t of a product with such a matrix is computed from the first t numbers of the vector alone,
rounding and all: what is released at a round must not depend, not even in its last bit, on noise
that a later round will use.

A Fourier transform of length N = 2^k is k layers of butterflies, so each output is a sum of inputs
times k roundings of relative size η: it is off by at most ε_N·Σ|input|, and all outputs together by
ε_N·√N·‖input‖₂, with ε_N = kη/(1 − kη) and η ≤ 6.7·2^-53 for exactly rounded roots of unity
(Higham 2002, Theorem 24.2, for radix 2; higher radices round less). We take η = 8·2^-53 and three
layers more, for transforms of real numbers. A product by way of transforms of a and x and one back,
each output of the first off by ε_N·‖a‖₁, is then off by 3ε_N·‖a‖₁·‖x‖₂ in ‖·‖₂, and what is of
second order.

Later columns of a lower-triangular Toeplitz T(c) are shorter: a change in a late round would be
hidden more than is asked for. With N_j = ‖T(c)e_j‖, C = T(c)·N⁻¹ hides all rounds alike, and with
∇ = W⁻¹ and b∗c = w, B = W·N·∇·T(b) has shorter rows. Summing by parts,

    (B·ξ)_t = N_t·v_t − Σ_{s<t} (N_{s+1} − N_s)·v_s,   v = T(b)·ξ,

has small numbers only: N falls from ‖c‖ to c_0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import PACKED_ROW, Field
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import scaled_row_squares
from lownoise.numbers.rounding import grown, growth, up
from lownoise.questions.streams import Prefix
from lownoise.sensitivity.toeplitz import toeplitz_up
from lownoise.streams.pairs import (
    CLOSE,
    LARGEST,
    PAIRS,
    AbstractKeptPair,
    fractions,
    norm2_up,
    sum_up,
)

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.questions.streams import AbstractStreamWorkload
    from lownoise.sensitivity.participation import Participation

_LEAF = 32
_RADIX = 16
_LAYER = 8 * 2.0**-53
_THRICE = 3 + 2.0**-20
_RUN = 1 << 10  # numbers summed one after another


def _second(pair: Any) -> Vector | None:  # noqa: ANN401
    return None if np.array_equal(pair.noise, pair.strategy) else pair.strategy


# the first columns of both factors, of which a document names one where they are one
_COLUMNS = (
    Field("noise", PACKED_ROW),
    Field("strategy", PACKED_ROW, attribute=_second, optional=True),
)


def _toeplitz(
    workload: AbstractStreamWorkload, noise: Vector, strategy: Vector | None = None
) -> ToeplitzPair:
    return ToeplitzPair(workload, noise, noise if strategy is None else strategy)


@PAIRS.kind("toeplitz", *_COLUMNS, make=_toeplitz)
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

    @cached_property
    def column_up(self) -> float:
        """At least ‖c‖₂: the first column is the longest."""
        return norm2_up(self.strategy)

    def _patterned_up(self, participation: Participation) -> float:
        return toeplitz_up(self.strategy, participation)

    @cached_property
    def residual_up(self) -> float:
        """At least ‖w − b∗c‖₂."""
        made, off = product(self.noise, self.strategy)
        wanted = self.workload.first_column()
        apart = np.abs(wanted - made) + 2.0**-50 * (np.abs(wanted) + np.abs(made))
        return up(grown(norm2_up(apart) + off))

    @cached_property
    def error_up(self) -> float:
        """At least ‖computed B·z − B·ξ‖₂ for one column of numbers."""
        total, n = sum_up(self.noise), self.rounds
        # Young: ‖B·δ‖₂ ≤ ‖b‖₁·‖δ‖₂
        return up(grown(causal_error(total, n, LARGEST) + total * CLOSE * math.sqrt(n)))

    @cached_property
    def size_up(self) -> float:
        """At least ‖B·z‖₂."""
        return up(grown(sum_up(self.noise) * LARGEST * math.sqrt(self.rounds)))

    def apply(self, z: Vector) -> Vector:
        """Return B·z."""
        return causal_product(self.noise, z)

    def column(self, source: int) -> list[Fraction]:
        """Return a column of B exactly, n numbers."""
        return [Fraction(0)] * source + fractions(self.noise[: self.rounds - source])

    @cached_property
    def _variances(self) -> Vector:
        return frozen(np.cumsum(np.square(self.noise)))


def _normalized(
    workload: Prefix, noise: Vector, lengths: Vector, strategy: Vector | None = None
) -> NormalizedPair:
    return NormalizedPair(workload, noise, noise if strategy is None else strategy, lengths)


@PAIRS.kind("normalized", *_COLUMNS, Field("lengths", PACKED_ROW), make=_normalized)
@final
@dataclass(frozen=True, eq=False)
class NormalizedPair(AbstractKeptPair):
    """C = T(c)·N⁻¹ and B = W·N·∇·T(b).

    Args:
        workload: running sums.
        noise: b, shape (n,).
        strategy: c, shape (n,).
        lengths: N, shape (n,), falling and above 0; any such numbers are factors.

    Raises:
        PlanError: where the numbers are out of range, or the workload is another.
    """

    workload: Prefix
    noise: Vector
    strategy: Vector
    lengths: Vector

    def __post_init__(self) -> None:
        if not isinstance(self.workload, Prefix):
            raise PlanError("NormalizedPair is for running sums; use ln.Prefix")
        for own in (self.noise, self.strategy, self.lengths):
            if own.shape != (self.rounds,) or not np.all(np.isfinite(own)):
                raise PlanError("NormalizedPair needs a finite number a round; plan again")
        if not (self.lengths[-1] > 0 and np.all(np.diff(self.lengths) <= 0)):
            raise PlanError("NormalizedPair.lengths must fall and be above 0; plan again")

    @cached_property
    def column_up(self) -> float:
        """At least max_j ‖T(c)e_j‖/N_j."""
        squares = np.cumsum(np.square(self.strategy)) * (1 + growth(self.rounds + 4))
        lengths = np.sqrt(squares)[::-1] + 2.0**-511 * math.sqrt(self.rounds)
        return up(float(np.max(lengths / self.lengths)) * (1 + growth(4)))

    def _patterned_up(self, participation: Participation) -> float:
        return toeplitz_up(self.strategy, participation, self.lengths)

    @cached_property
    def _steps(self) -> Vector:
        """N_{s+1} − N_s, shape (n − 1,)."""
        return np.diff(self.lengths)

    @cached_property
    def _parts_up(self) -> float:
        """At least ‖W·N·∇‖₂: N, and what is summed by parts, row by row (Cauchy and Schwarz)."""
        before = np.cumsum(np.square(self._steps)) * (1 + growth(self.rounds + 4))
        return up(grown(float(self.lengths[0]) + math.sqrt(float(np.sum(before)))))

    @cached_property
    def residual_up(self) -> float:
        """At least the longest column of W − B·C = −W·N·∇·T(r)·N⁻¹, r = b∗c − w."""
        made, off = product(self.noise, self.strategy)
        apart = np.abs(1.0 - made) + 2.0**-50 * (1.0 + np.abs(made))
        short = float(self.lengths[-1])
        return up(grown(self._parts_up * (norm2_up(apart) + off) / short))

    @cached_property
    def error_up(self) -> float:
        """At least ‖computed B·z − B·ξ‖₂ for one column of numbers."""
        total, n = sum_up(self.noise), self.rounds
        off = causal_error(total, n, LARGEST) + total * CLOSE * math.sqrt(n)
        # the sums by parts go through runs, and then through the totals of runs
        roundings = growth(_RUN + n // _RUN + 16)
        size = total * LARGEST * (float(self.lengths[0]) + sum_up(self._steps))
        return up(grown(off * self._parts_up + roundings * size * math.sqrt(n)))

    @cached_property
    def size_up(self) -> float:
        """At least ‖B·z‖₂."""
        size = sum_up(self.noise) * LARGEST * math.sqrt(self.rounds)
        return up(grown(size * self._parts_up))

    def apply(self, z: Vector) -> Vector:
        """Return B·z; row t sees the first t numbers only."""
        v = causal_product(self.noise, z)
        found = self.lengths[:, None] * v
        found[1:] -= _running(self._steps[:, None] * v[:-1])
        return found

    def column(self, source: int) -> list[Fraction]:
        """Return a column of B exactly, n numbers."""
        found = [Fraction(0)] * source
        lengths, parts = fractions(self.lengths[source:]), Fraction(0)
        for i, b in enumerate(fractions(self.noise[: self.rounds - source])):
            found.append(lengths[i] * b - parts)
            if i + 1 < len(lengths):
                parts += (lengths[i + 1] - lengths[i]) * b
        return found

    @cached_property
    def _variances(self) -> Vector:
        series = np.diff(self.noise, prepend=0.0)
        return frozen(scaled_row_squares(np.ones(self.rounds), series, self.lengths))


def _running(values: Vector) -> Vector:
    """Return running sums, shape (m, r), each of at most `_RUN` + m/`_RUN` additions."""
    m, r = values.shape
    runs = -(-m // _RUN)
    whole = np.zeros((runs * _RUN, r))
    whole[:m] = values
    blocks = np.cumsum(whole.reshape(runs, _RUN, r), axis=1)
    blocks[1:] += np.cumsum(blocks[:-1, -1], axis=0)[:, None]
    return blocks.reshape(-1, r)[:m]


def causal_product(column: Vector, vector: Vector) -> Vector:
    """Return y_t = Σ_{s ≤ t} column_{t−s}·vector_s, shape (n, r); number t sees the first t only.

    Args:
        column: the matrix's first column, shape (n,).
        vector: shape (n, r).

    Examples:
        >>> causal_product(np.array([1.0, 2.0, 4.0]), np.array([[1.0], [1.0], [0.0]])).ravel()
        array([1., 3., 6.])
    """
    n, r = vector.shape
    size = _block(n)
    count = -(-n // size)
    x = np.zeros((r, count * size))
    x[:, :n] = vector.T
    a = np.zeros(count * size)
    a[:n] = column
    return np.ascontiguousarray(_triangle(a, x, size)[:, :n].T)


def causal_error(column_sum: float, rounds: int, largest: float) -> float:
    """Return at least ‖computed − exact‖₂ of a `causal_product` of one vector of n numbers.

    On each level every block of outputs is a sum over blocks of inputs, each a product with two
    neighbouring stretches of the column: twice its sum at most.

    Args:
        column_sum: at least Σ|column|.
        rounds: n.
        largest: at least each |vector_s|.
    """
    length = largest * math.sqrt(rounds)
    levels, size, off = 1, _block(rounds), 0.0
    while size > _LEAF:
        levels, size = levels + 1, size // _RADIX
    size = _block(rounds)
    while size >= _LEAF and rounds > _LEAF:
        # the products, and adding up to _RADIX of them in the domain of frequencies
        off += 2 * (_THRICE * _transform(2 * size) + growth(2 * (_RADIX + 4)))
        size //= _RADIX
    off += growth(_LEAF + 2) + growth(levels + 2)
    return up(grown(off * up(column_sum) * length))


def product(first: Vector, second: Vector) -> tuple[Vector, float]:
    """Return the first n numbers of a product of two series, and at least its error in ‖·‖₂.

    Args:
        first: shape (n,).
        second: shape (n,).

    Examples:
        >>> found, off = product(np.array([1.0, 1.0]), np.array([1.0, 2.0]))
        >>> bool(np.allclose(found, [1.0, 3.0])), off < 1e-12
        (True, True)
    """
    n = first.size
    length = 1 << max(2 * n - 1, 2).bit_length()
    found = np.fft.irfft(np.fft.rfft(first, length) * np.fft.rfft(second, length), length)[:n]
    norms = [(sum_up(a), norm2_up(b)) for a, b in ((first, second), (second, first))]
    off = (_THRICE * _transform(length) + growth(8)) * min(a * b for a, b in norms)
    return frozen(found), up(grown(off))


def _transform(length: int) -> float:
    """Return at least ε_N."""
    layers = (length.bit_length() + 3) * _LAYER
    return layers / (1 - layers)


def _block(rounds: int) -> int:
    """Return the size of the blocks that the first level cuts n rounds into."""
    size = _LEAF
    while size * _RADIX < rounds:
        size *= _RADIX
    return size


def _triangle(a: Vector, x: Vector, size: int) -> Vector:
    """Return the products of rows of x, shape (m, L), with blocks of `size`, which divides L."""
    m, length = x.shape
    if length <= _LEAF:
        lag = np.subtract.outer(np.arange(length), np.arange(length))
        triangle = np.where(lag >= 0, a[np.maximum(lag, 0)], 0.0)
        small: Vector = x @ triangle.T
        return small
    count = length // size
    blocks = x.reshape(m * count, size)
    y = _triangle(a[:size], blocks, max(size // _RADIX, 1)).reshape(m, count, size)
    if count > 1:
        seen = np.fft.rfft(blocks, 2 * size).reshape(m, count, size + 1)
        total = np.zeros_like(seen)
        for d in range(1, count):
            stretch = np.fft.rfft(a[(d - 1) * size : (d + 1) * size], 2 * size)
            total[:, d:] += seen[:, :-d] * stretch
        y += np.fft.irfft(total, 2 * size)[..., size:]
    return y.reshape(m, length)
