# SPDX-License-Identifier: Apache-2.0
"""Toeplitz factors of running sums whose columns are scaled to one length.

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
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import PACKED_ROW, Field
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth, up
from lownoise.numbers.row_norms import scaled_row_squares
from lownoise.questions.streams import Prefix
from lownoise.streams.convolution import causal_error, causal_product, norm2_up, product, sum_up
from lownoise.streams.normals import CLOSE
from lownoise.streams.pairs import COLUMNS, LARGEST, PAIRS, AbstractKeptPair, fractions

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_MARGIN = 1 + 2.0**-40
_RUN = 1 << 10  # numbers summed one after another


def _columns(
    workload: Prefix, noise: Vector, lengths: Vector, strategy: Vector | None = None
) -> NormalizedPair:
    return NormalizedPair(workload, noise, noise if strategy is None else strategy, lengths)


@PAIRS.kind("normalized", *COLUMNS, Field("lengths", PACKED_ROW), make=_columns)
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

    @property
    def sources(self) -> int:
        """One normal number a round."""
        return self.rounds

    @cached_property
    def column_up(self) -> float:
        """At least max_j ‖T(c)e_j‖/N_j."""
        squares = np.cumsum(np.square(self.strategy)) * (1 + growth(self.rounds + 4))
        lengths = np.sqrt(squares)[::-1] + 2.0**-511 * math.sqrt(self.rounds)
        return up(float(np.max(lengths / self.lengths)) * (1 + growth(4)))

    @cached_property
    def _steps(self) -> Vector:
        """N_{s+1} − N_s, shape (n − 1,)."""
        return np.diff(self.lengths)

    @cached_property
    def _parts_up(self) -> float:
        """At least ‖W·N·∇‖₂: N, and what is summed by parts, row by row (Cauchy and Schwarz)."""
        before = np.cumsum(np.square(self._steps)) * (1 + growth(self.rounds + 4))
        return up((float(self.lengths[0]) + math.sqrt(float(np.sum(before)))) * _MARGIN)

    @cached_property
    def residual_up(self) -> float:
        """At least the longest column of W − B·C = −W·N·∇·T(r)·N⁻¹, r = b∗c − w."""
        made, off = product(self.noise, self.strategy)
        apart = np.abs(1.0 - made) + 2.0**-50 * (1.0 + np.abs(made))
        short = float(self.lengths[-1])
        return up(self._parts_up * (norm2_up(apart) + off) / short * _MARGIN)

    @cached_property
    def error_up(self) -> float:
        """At least ‖computed B·z − B·ξ‖₂ for one column of numbers."""
        total, n = sum_up(self.noise), self.rounds
        off = causal_error(total, n, LARGEST) + total * CLOSE * math.sqrt(n)
        # the sums by parts go through runs, and then through the totals of runs
        roundings = growth(_RUN + n // _RUN + 16)
        size = total * LARGEST * (float(self.lengths[0]) + sum_up(self._steps))
        return up((off * self._parts_up + roundings * size * math.sqrt(n)) * _MARGIN)

    @cached_property
    def size_up(self) -> float:
        """At least ‖B·z‖₂."""
        size = sum_up(self.noise) * LARGEST * math.sqrt(self.rounds)
        return up(size * self._parts_up * _MARGIN)

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
