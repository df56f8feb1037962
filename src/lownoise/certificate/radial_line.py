# SPDX-License-Identifier: Apache-2.0
"""What no noise that is added to one number under (ε, δ) can beat (ours).

Let Z be any noise on the line with P(Z ∈ B) ≤ e^ε P(Z + s ∈ B) + δ for all sets B and all |s| ≤ 1.
For R > 1 and ν < R² let λ = (R² − ν)/(e^ε − 1) and

    V(z) = z² − ν + λ for R − 1 ≤ z ≤ R,   V(z) = z² − ν + e^{−ε}V(z + 1) for 0 ≤ z ≤ R − 1.

V is continuous and rises. If V is below 0 on (0, γ) and above it on (γ, 1), and
∫₀^γ V + e^{−ε}∫_γ¹ V ≥ 0, then

    E Z² ≥ ν − 2(λ + Λ)δ,   Λ = V(0)·V(1)/∫_γ¹ V in absolute value:

see docs/theory.md, "Radial noise: one number". λ pays for changes of length 1 and Λ for shorter
ones, without which there is less noise that covers changes of length 1: a lattice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, final

from lownoise.numbers.intervals import precision

_BITS = 192
_MOST_STEPS = 1 << 16


@final
@dataclass(frozen=True)
class LineProof:
    """Data from which E Z² ≥ `lower` follows for all additive noise on the line, if `holds`.

    Args:
        epsilon: ε > 0.
        delta: δ.
        end: R, above 1.
        level: ν.
        below: a number in (0, 1) at which V is at most 0.
        above: a number from there to 1 at which V is above 0.
    """

    epsilon: float
    delta: float
    end: float
    level: float
    below: float
    above: float
    dimension: ClassVar[int] = 1

    @property
    def lower(self) -> float:
        """ν − 2(λ + Λ)δ rounded down: what E Z² is at least, if `holds`."""
        if not self._is_sound():
            return -math.inf
        with precision(_BITS):
            value = _Check(self).bound()
            return math.nextafter(float(value.lower()), -math.inf) if value.is_finite() else -1.0

    def holds(self, most: float = math.inf) -> bool:
        """Whether the conditions hold, decided in intervals; `most` as of proofs about balls."""
        if not self._is_sound():
            return False
        with precision(_BITS):
            return _Check(self).holds()

    def fields(self) -> dict[str, Any]:
        """Return what is kept of it in a file, beside ε and δ."""
        return {
            "end": self.end,
            "level": self.level,
            "below": self.below,
            "above": self.above,
        }

    def _is_sound(self) -> bool:
        numbers = (self.epsilon, self.delta, self.end, self.level, self.below, self.above)
        return (
            all(math.isfinite(x) for x in numbers)
            and self.epsilon > 0
            and self.delta >= 0
            and 1 < self.end < _MOST_STEPS
            and 0 < self.below < self.above < 1
        )


class _Check:
    """V on [0, 1] in balls: two parabolas, that meet where z and R differ by a whole number."""

    def __init__(self, proof: LineProof) -> None:
        from flint import arb

        self.proof = proof
        self.fall = (-arb(proof.epsilon)).exp()
        self.level = arb(proof.level)
        self.end = arb(proof.end)
        self.multiplier = (self.end**2 - self.level) * self.fall / (1 - self.fall)
        steps = math.floor(proof.end)
        self.meeting = self.end - steps  # exact
        self.pieces = (self._parabola(steps), self._parabola(steps - 1))

    def holds(self) -> bool:
        """Whether V changes its sign where it is said to, and the shorter changes have room."""
        below, above = self.proof.below, self.proof.above
        value = self._value(below)
        if not (bool(self.multiplier >= 0) and bool(value <= 0) and bool(self._value(above) > 0)):
            return False
        # Between the two V is at least what it is at the first.
        missing = self._integral(0.0, below) + value * (self._number(above) - below)
        return bool(missing + self.fall * self._integral(above, 1.0) >= 0)

    def bound(self) -> Any:  # noqa: ANN401 (flint carries no types)
        """Return ν − 2(λ + Λ)δ."""
        most = abs(self._value(0.0) * self._value(1.0)) / self._integral(self.proof.above, 1.0)
        return self.level - 2 * (self.multiplier + most) * self.proof.delta

    def _parabola(self, steps: int) -> tuple[Any, Any, Any]:
        """Return coefficients of V where z + `steps` is in [R − 1, R], the constant first."""
        from flint import arb

        sums, fall = [arb(0), arb(0), arb(0)], arb(1)
        for j in range(steps + 1):
            sums[0] += fall * (j * j - self.level)
            sums[1] += fall * (2 * j)
            sums[2] += fall
            fall *= self.fall
        return sums[0] + fall / self.fall * self.multiplier, sums[1], sums[2]

    def _number(self, value: float) -> Any:  # noqa: ANN401
        from flint import arb

        return arb(value)

    def _value(self, at: float) -> Any:  # noqa: ANN401
        z = self._number(at)
        a, b, c = self.pieces[bool(z > self.meeting)]
        return a + z * (b + z * c)

    def _integral(self, low: float, high: float) -> Any:  # noqa: ANN401
        start, end = self._number(low), self._number(high)
        middle = self.meeting.max(start).min(end)

        def over(piece: tuple[Any, Any, Any], at: Any) -> Any:  # noqa: ANN401
            a, b, c = piece
            return at * (a + at * (b / 2 + at * c / 3))

        first, second = self.pieces
        return over(first, middle) - over(first, start) + over(second, end) - over(second, middle)
