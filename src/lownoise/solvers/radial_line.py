# SPDX-License-Identifier: Apache-2.0
"""The least noise for one number under (ε, δ): a staircase of intervals with an end (ours).

Its density falls by e^{−ε} at γ, γ + 1, γ + 2, … and to 0 at R, whatever of a step is left there.
R and ν fix λ and with it V (certificate/radial_line.py). ν is the one at which the shorter changes
just have room, γ is where V is 0, and R is such that δ, the mass of (R − 1, R), is the one asked
for. E z² is then ν − 2λδ: least but for the share Λ of δ, which is some parts of δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.radial_line import LineProof
from lownoise.solvers.radial import Staircase

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_STEP = 1 + 2.0**-38  # a hair above 1: no rounding lets a change cross two falls
_ROOMS = (1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)  # parts of ν left to the check in intervals
_APART = 1e-9  # parts of γ to either side of it


@final
@dataclass(frozen=True)
class _Line:
    """What R and ν fix.

    Args:
        epsilon: ε.
        end: R, above 1.
        level: ν.
    """

    epsilon: float
    end: float
    level: float

    def parabolas(self) -> tuple[Vector, Vector]:
        """Return coefficients of V on [0, R mod 1] and on [R mod 1, 1], the constant first."""
        fall = math.exp(-self.epsilon)
        multiplier = (self.end**2 - self.level) / math.expm1(self.epsilon)
        steps = math.floor(self.end)

        def parabola(steps: int) -> Vector:
            j = np.arange(steps + 1.0)
            falls = fall**j
            last = falls[-1] * multiplier
            return np.array(
                [falls @ (j * j - self.level) + last, 2 * falls @ j, float(falls.sum())]
            )

        return parabola(steps), parabola(steps - 1)

    def room(self) -> tuple[float, float]:
        """Return ∫₀^γ V + e^{−ε}∫_γ¹ V, and γ: 0 or 1 where V has one sign."""
        from scipy.optimize import brentq

        meeting, pieces = self.end - math.floor(self.end), self.parabolas()

        def value(z: float) -> float:
            a, b, c = pieces[z > meeting]
            return float(a + z * (b + z * c))

        def integral(low: float, high: float) -> float:
            total = 0.0
            for (a, b, c), start, end in zip(pieces, (0, meeting), (meeting, 1), strict=True):
                first, last = min(max(low, start), high), max(min(high, end), low)
                if first < last:
                    total += (last - first) * a + (last**2 - first**2) * b / 2
                    total += (last**3 - first**3) * c / 3
            return total

        if value(0.0) >= 0 or value(1.0) <= 0:
            return (math.inf, 0.0) if value(0.0) >= 0 else (-math.inf, 1.0)
        zero = float(brentq(value, 0.0, 1.0, xtol=1e-15))
        return integral(0.0, zero) + math.exp(-self.epsilon) * integral(zero, 1.0), zero

    def staircase(self) -> Staircase:
        """Return the density that falls at γ, γ + 1, … and to 0 at R."""
        _, zero = self.room()
        radii = zero + _STEP * np.arange(math.ceil(self.end) + 1)
        radii = np.append(radii[radii < self.end * (1 - 1e-12)], self.end)
        logs = -self.epsilon * np.arange(radii.size, dtype=np.float64)
        return Staircase(1, radii.astype(np.float64), logs)


def fitted_line(epsilon: float, delta: float) -> tuple[Staircase, LineProof | None]:
    """Return the least noise for one number, δ in floats, and why none adds less.

    Args:
        epsilon: ε.
        delta: δ.
    """
    from scipy.optimize import brentq

    def excess(end: float) -> float:
        return math.log(max(tail_of(line_at(epsilon, end).staircase()), 1e-300) / delta)

    low, high = 1 + 1e-6, 2.0
    while excess(high) > 0:
        low, high = high, 2 * high
    if excess(low) < 0:  # at the largest δ and ε alone
        low = 1 + 1e-9
    line = line_at(epsilon, float(brentq(excess, low, high, xtol=1e-14, rtol=1e-14)))
    return line.staircase(), _proof(line, delta)


def line_at(epsilon: float, end: float) -> _Line:
    """Return the line of the largest ν that leaves the shorter changes room."""
    low, high = 0.0, end**2
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if _Line(epsilon, end, middle).room()[0] >= 0 else (low, middle)
    return _Line(epsilon, end, low)


def tail_of(staircase: Staircase) -> float:
    """Return the mass of (R − 1, R): the δ of a change by 1, as no other fall is crossed twice."""
    radii, masses = staircase.radii, np.exp(staircase.logs)
    edges = np.append(0.0, radii)
    widths = np.minimum(edges[1:], radii[-1]) - np.maximum(edges[:-1], radii[-1] - 1)
    return float(masses @ np.maximum(widths, 0.0) / (2 * (masses @ np.diff(edges))))


def _proof(line: _Line, delta: float) -> LineProof | None:
    for room in _ROOMS:
        lower = replace(line, level=line.level * (1 - room))
        zero = lower.room()[1]
        ends = (zero * (1 - _APART), zero * (1 + _APART))
        proof = LineProof(lower.epsilon, delta, lower.end, lower.level, *ends)
        if proof.holds():
            return proof
    return None
