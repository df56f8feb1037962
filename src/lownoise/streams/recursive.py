# SPDX-License-Identifier: Apache-2.0
"""Factors whose columns are sums of a few exponentials: noise of any length in a few numbers.

b_t = Σ_j β_j μ_j^t, so B·z is a sum of running sums that forget, S_j ← μ_j·S_j + z_t. They are kept
as integers, in units of 2^-64: a product is cut to an integer, and what that loses is known. Past
noise is not kept, and nothing is lost by that: the same argument as for kept noise covers it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import VECTOR, Field
from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import grown, growth, up
from lownoise.questions.streams import Decayed, Prefix
from lownoise.sensitivity.patterns import fitting
from lownoise.streams.pairs import CLOSE, PAIRS, AbstractPair, close_normals

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.sensitivity.participation import Participation

FARTHEST = 64.0  # a normal number beyond it has a chance below 10^-890
_BITS = 400  # of balls
_UNIT = 64  # bits of a running sum below 1
_SHIFT = 128  # bits of a decay
_SCALE = 80  # bits of a weight
_MOST = 64  # exponentials


@PAIRS.kind(
    "recursive",
    Field("gaps", VECTOR),
    Field("weights", VECTOR),
    Field("answer_gaps", VECTOR),
    Field("answer_weights", VECTOR),
)
@final
@dataclass(frozen=True, eq=False)
class RecursivePair(AbstractPair):
    """B and C are lower-triangular Toeplitz, and their columns sums of exponentials.

    With ρ the workload's rate (1 for running sums), c_0 = 1 and c_t = Σ_i ω_i·(ρ(1 − g_i))^{t−1};
    b_t = Σ_j β_j·(ρ(1 − h_j))^t. All numbers are taken as the exact floats.

    Args:
        workload: running sums, or sums that forget.
        gaps: g, in (0, 2), shape (k,).
        weights: ω, shape (k,).
        answer_gaps: h, in [0, 2), shape (m,); 0 the first.
        answer_weights: β, shape (m,).

    Raises:
        PlanError: where the numbers are out of range, or the workload is another.
    """

    workload: Prefix | Decayed
    gaps: Vector
    weights: Vector
    answer_gaps: Vector
    answer_weights: Vector

    def __post_init__(self) -> None:
        if not isinstance(self.workload, (Prefix, Decayed)):
            raise PlanError("rational factors are for ln.Prefix and ln.Decayed; use another")
        k, m = self.gaps.size, self.answer_gaps.size
        fits = self.gaps.shape == self.weights.shape == (k,) and 1 <= k < m <= _MOST
        fits = fits and self.answer_gaps.shape == self.answer_weights.shape == (m,)
        numbers = np.concatenate([self.weights, self.answer_weights])
        all_gaps = np.concatenate([self.gaps, self.answer_gaps[1:]])
        if not (
            fits
            and np.all(np.isfinite(numbers))
            and np.all((all_gaps > 0) & (all_gaps < 2))  # noqa: PLR2004
            and self.answer_gaps[0] == 0
            and np.unique(all_gaps).size == all_gaps.size
        ):
            raise PlanError("RecursivePair has numbers out of range; plan again")

    @property
    def rate(self) -> float:
        """ρ."""
        return self.workload.rate if isinstance(self.workload, Decayed) else 1.0

    @property
    def numbers_kept(self) -> int:
        """One a running sum."""
        return self.answer_gaps.size

    @cached_property
    def decays(self) -> list[Fraction]:
        """The exact decays of B."""
        return [Fraction(self.rate) * (1 - Fraction(h)) for h in self.answer_gaps.tolist()]

    @cached_property
    def column_up(self) -> float:
        """At least ‖c‖₂: 1 and a sum over pairs of exponentials."""
        from flint import arb

        with precision(_BITS):
            own = self._balls(self.gaps)
            weights = [arb(w) for w in self.weights.tolist()]
            total = arb(1) + _pair_sum(own, weights, self.rounds - 1)
            found = float(total.sqrt().upper())
        # a decay so near 1 that balls do not tell it apart proves nothing
        return up(grown(found, 2.0**-50)) if math.isfinite(found) else math.inf

    def _patterned_up(self, participation: Participation) -> float:
        """At least how far one person moves C·x: ‖Σ_l C_{lb}‖ with |c_t| in place of c_t, or more.

        Where all weights and decays are at least 0, c is, and does not rise from c_1 on. Elsewhere
        |c_t| ≤ Σ|ω_i|·|τ_i|^{t−1}, which is so.
        """
        from flint import arb

        n, count = self.rounds, fitting(participation, self.rounds)
        with precision(_BITS):
            decays = [abs(own) for own in self._balls(self.gaps)]
            weights = [abs(arb(w)) for w in self.weights.tolist()]
            total = _strided_sum(decays, weights, (n, count, participation.separation))
            found = float(total.sqrt().upper())
        return up(grown(found, 2.0**-50)) if math.isfinite(found) else math.inf

    @cached_property
    def residual_up(self) -> float:
        """At least ‖w − b∗c‖₂, from the partial fractions of B·C."""
        from flint import arb

        with precision(_BITS):
            below, above = self._balls(self.gaps), self._balls(self.answer_gaps)
            beta = [arb(w) for w in self.answer_weights.tolist()]
            omega = [arb(w) for w in self.weights.tolist()]
            left = [
                b * (1 + sum((w / (m - t) for w, t in zip(omega, below, strict=True)), arb(0)))
                for b, m in zip(beta, above, strict=True)
            ]
            left[0] -= 1
            right = [
                w * sum((b / (m - t) for b, m in zip(beta, above, strict=True)), arb(0))
                for w, t in zip(omega, below, strict=True)
            ]
            total = arb(0)
            for part, base in zip([*left, *right], [*above, *below], strict=True):
                total += abs(part) * _geometric(base * base, self.rounds).sqrt()
            found = float(total.upper())
        return up(grown(found, 2.0**-50)) if math.isfinite(found) else math.inf

    @cached_property
    def _column_sum(self) -> float:
        """At least Σ|b_t|."""
        sizes = np.abs(self.answer_weights).tolist()
        return grown(math.fsum(b * own for b, own in zip(sizes, self._memory, strict=True)))

    @cached_property
    def _memory(self) -> list[float]:
        """At least Σ_t |μ_j|^t, for each j."""
        found = []
        for decay in self.decays:
            left = 1 - abs(decay)
            few = Fraction(self.rounds) if left == 0 else min(Fraction(self.rounds), 1 / left)
            found.append(grown(float(few)))
        return found

    @cached_property
    def error_up(self) -> float:
        """At least ‖computed B·z − B·ξ‖₂ for one column of numbers."""
        # a running sum loses a unit a round, and its decay's last bit; so do products with weights
        far = FARTHEST * 2.0**-_SHIFT
        lost = math.fsum(
            b * (2 * 2.0**-_UNIT + far * own) * own + 2.0**-_SCALE * FARTHEST * own
            for b, own in zip(np.abs(self.answer_weights).tolist(), self._memory, strict=True)
        )
        most = self._column_sum * (CLOSE + FARTHEST * growth(2)) + lost
        return up(grown(most * math.sqrt(self.rounds)))

    @cached_property
    def size_up(self) -> float:
        """At least ‖B·z‖₂."""
        return up(grown(self._column_sum * FARTHEST * math.sqrt(self.rounds)))

    def variances(self, first: int, count: int) -> Vector:
        """Return the squared length of `count` rows of B from `first`, shape (count,)."""
        t = np.arange(first + 1, first + count + 1, dtype=np.float64)
        found = np.zeros(count)
        decays = [float(d) for d in self.decays]
        away = [float(1 - d * e) for d in self.decays for e in self.decays]
        for j, (b, own) in enumerate(zip(self.answer_weights, decays, strict=True)):
            for i, (c, other) in enumerate(zip(self.answer_weights, decays, strict=True)):
                left = away[j * len(decays) + i]
                found += b * c * _lengths(own * other, left, t)
        return np.asarray(np.maximum(found, 0.0))

    def linear(self, z: Vector) -> Vector:
        """Return B·z by its column's Fourier transform."""
        t, length = np.arange(self.rounds, dtype=np.float64), 2 * self.rounds
        decays = [float(d) for d in self.decays]
        own = sum(b * d**t for b, d in zip(self.answer_weights.tolist(), decays, strict=True))
        both = np.fft.rfft(own, length)[:, None] * np.fft.rfft(z, length, axis=0)
        return np.asarray(np.fft.irfft(both, length, axis=0)[: self.rounds])

    @cached_property
    def mean_variance(self) -> float:
        """The mean of all squared lengths of rows of B, in balls."""
        from flint import arb

        with precision(_BITS):
            own = self._balls(self.answer_gaps)
            beta = [arb(w) for w in self.answer_weights.tolist()]
            total, n = arb(0), self.rounds
            for b, m in zip(beta, own, strict=True):
                for c, o in zip(beta, own, strict=True):
                    q = m * o
                    if q == 1:
                        total += b * c * arb(n + 1) / 2
                    else:
                        # Σ_{s<n} (n − s)·q^s = (n − q·(1 − q^n)/(1 − q))/(1 − q)
                        total += b * c * (n - q * _geometric(q, n)) / (1 - q) / n
            return float(total.mid())

    @cached_property
    def largest_variance(self) -> float:
        """The squared length of the last row of B, in balls."""
        from flint import arb

        with precision(_BITS):
            beta = [arb(w) for w in self.answer_weights.tolist()]
            return float(_pair_sum(self._balls(self.answer_gaps), beta, self.rounds).mid())

    def _balls(self, gaps: Vector) -> list[Any]:
        from flint import arb

        return [arb(self.rate) * (1 - arb(g)) for g in gaps.tolist()]


@final
class Recursion:
    """B·z as it goes, in integers.

    Args:
        pair: the factors.
        coordinates: r.
        sums: each coordinate's running sums, where it goes on from a state.
    """

    def __init__(
        self, pair: RecursivePair, coordinates: int, sums: list[list[int]] | None = None
    ) -> None:
        self._decays = [round(d * (1 << _SHIFT)) for d in pair.decays]
        self._weights = [round(Fraction(b) * (1 << _SCALE)) for b in pair.answer_weights.tolist()]
        start = [[0] * len(self._decays) for _ in range(coordinates)]
        self.sums = start if sums is None else [list(own) for own in sums]
        if len(self.sums) != coordinates or {len(own) for own in self.sums} != {len(self._decays)}:
            raise ValueError

    def take(self, count: int, randomness: Randomness) -> Vector:
        """Draw noise for the next `count` rounds and return B·z for them, shape (count, r)."""
        r = len(self.sums)
        z = close_normals(count * r, randomness).reshape(count, r)
        found = np.empty((count, r))
        decays, weights = self._decays, self._weights
        down = 2.0 ** -(_UNIT + _SCALE)
        for j, own in enumerate(self.sums):
            said = []
            for value in np.ldexp(z[:, j], _UNIT).tolist():
                push = int(value)
                total = 0
                for i, decay in enumerate(decays):
                    own[i] = ((own[i] * decay) >> _SHIFT) + push
                    total += weights[i] * own[i]
                said.append(total * down)
            found[:, j] = said
        return found


def _geometric(base: Any, count: int) -> Any:  # noqa: ANN401 (flint carries no types)
    """Return Σ_{t<count} base^t in balls."""
    from flint import arb

    return arb(count) if base == 1 else (1 - base**count) / (1 - base)


def _pair_sum(ratios: list[Any], weights: list[Any], count: int) -> Any:  # noqa: ANN401
    """Return Σ_{t<count} (Σ_j weight_j·base_j^t)² in balls."""
    from flint import arb

    total = arb(0)
    for v, a in zip(weights, ratios, strict=True):
        for w, b in zip(weights, ratios, strict=True):
            total += v * w * _geometric(a * b, count)
    return total


def _strided_sum(decays: list[Any], weights: list[Any], shape: tuple[int, int, int]) -> Any:  # noqa: ANN401
    """Return ‖Σ_{l<k} C_{lb}‖² in balls, c_0 = 1 and c_t = Σ_i weight_i·decay_i^{t−1}.

    With A_im = Σ_{l≤m} x_i^l, x_i = decay_i^b, the sum's rows in stretch m, of b rounds but for the
    last, are 1 + Σ_i weight_i·decay_i^{b−1}·A_{i,m−1}, and after it Σ_i weight_i·decay_i^s·A_im
    with s = 0, 1, ….

    Args:
        decays: below 1, distinct.
        weights: as many.
        shape: n, k and b; all k members fit.
    """
    from flint import arb

    n, k, b = shape
    last = n - (k - 1) * b
    powers = [decay**b for decay in decays]
    ends = [w * decay ** (b - 1) for w, decay in zip(weights, decays, strict=True)]
    total = arb(k)
    for w, t, x, e in zip(weights, decays, powers, ends, strict=True):
        total += 2 * e * (k - 1 - x * _geometric(x, k - 1)) / (1 - x)
        for v, u, y, f in zip(weights, decays, powers, ends, strict=True):
            parts = k - 1 - x * _geometric(x, k - 1) - y * _geometric(y, k - 1)
            whole = (parts + x * y * _geometric(x * y, k - 1)) / ((1 - x) * (1 - y))
            total += (e * f + w * v * _geometric(t * u, b - 1)) * whole
            total += w * v * _geometric(t * u, last - 1) * _geometric(x, k) * _geometric(y, k)
    return total


def _lengths(base: float, away: float, counts: Vector) -> Vector:
    """Return Σ_{s<t} base^s for each t, 1 − base being `away`."""
    if away == 0:
        return counts
    if base <= 0:
        return np.asarray((1 - base**counts) / away)
    return np.asarray(-np.expm1(counts * math.log1p(-away)) / away)
