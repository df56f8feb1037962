# SPDX-License-Identifier: Apache-2.0
"""Moment tensors of the Euclidean ball, and their differences, up to rotations (ours).

Averaged over all rotations, an ellipsoid around {x ⊗ … ⊗ x : |x| ≤ 1} has one variance mₖ for each
harmonic part of the tensors. With yₖ = aₖ/mₖ the length of x ⊗ … ⊗ x is Σ yₖ·|x|^{2ℓ}; where ℓ is
even the part of degree 0, fixed by all rotations, is taken about a center, and x = 0 counts too.
For differences it is Σ yₖ·(s² + t² − 2stPₖ(u)) with s, t = |x|^ℓ, |y|^ℓ and u the cosine between x
and y: convex in (s, t), so greatest where each is 0 or 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies.harmonics import Harmonics, harmonics
from lownoise.sets.unit_balls.mixing import best_mixture

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_SLACK = 2.0**-40
_FIRST = 17
_NEAR = 1e-9
_NODES = 5000  # in parts of the power


@final
@dataclass(frozen=True)
class TensorBall:
    """The hull of x ⊗ … ⊗ x, |x|^power ≤ value, wherever it may stand; or of all differences.

    Args:
        size: d ≥ 2.
        power: ℓ.
        value: the greatest length of a tensor.
        differences: whether it holds differences of tensors.
    """

    size: int
    power: int
    value: float
    differences: bool

    @property
    def parts(self) -> Harmonics:
        """The parts of symmetric tensors."""
        return harmonics(self.size, self.power)

    @property
    def dimension(self) -> int:
        """The number of entries d^ℓ."""
        return int(self.size**self.power)

    @property
    def odd(self) -> bool:
        """Whether it is symmetric as it is."""
        return self.power % 2 == 1

    @cached_property
    def angles(self) -> Vector:
        """Cosines between x and y that are looked at, shape (n,): Chebyshev's nodes."""
        nodes = _NODES * self.power
        return frozen(np.cos((np.arange(nodes) + 0.5) * math.pi / (2 * nodes)))

    @cached_property
    def table(self) -> Vector:
        """What multiplies each yₖ: of x alone, then of pairs at each angle, shape (1 + n, c)."""
        first = np.ones((1, len(self.parts.degrees)))
        return frozen(np.vstack([first, self.pairs(self.angles)]))

    def pairs(self, angles: Vector) -> Vector:
        """Return 2(1 − Pₖ(u)) for each angle and part, shape (n, c)."""
        return np.asarray(2 * (1 - self.parts.zonal(angles)))

    def energy_up(self, y: Vector) -> float:
        """Return at least the greatest length, squared, where value is 1; y ≥ 0, shape (c,).

        Between nodes a polynomial of degree ℓ is at most 1/cos(ℓπ/2M) times as far from any number
        as at M Chebyshev nodes of [−1, 1] (Ehlich and Zeller 1964).
        """
        total = float(np.sum(y))
        if self.odd:
            return (4 if self.differences else 1) * total * (1 + _SLACK)
        still = float(y[-1])
        if not self.differences:
            rest = total - still
            found = rest if rest >= still else total * total / (4 * still)
            return found * (1 + _SLACK)
        far = self.pairs(self.angles) @ y
        high, low = float(np.max(far)), float(np.min(far))
        beyond = (high - low) / 2 * (1 / math.cos(math.pi / (4 * _NODES)) - 1)
        return max(total, high + beyond) * (1 + _SLACK)

    def share(self, y: Vector) -> float:
        """Return how far along the mean over the sphere the best center of K stands, of 1."""
        if self.odd or self.differences:
            return 0.0
        total, still = float(np.sum(y)), float(y[-1])
        return min(1.0, total / (2 * still))

    def mixture(self, gains: Vector) -> Vector:
        """Return the measure that makes Σ √(gains·squares) greatest, nearly; shape (c,) of gains.

        Of K the mass of the sphere, the rest being at 0; of differences the masses of the rows of
        `table`.
        """
        if self.odd:
            return np.ones(1)
        roots = np.sqrt(gains)
        if self.differences:
            return self._paired(roots)
        rest, still = float(np.sum(roots[:-1])), float(roots[-1])
        if not still > 0:
            return np.ones(1)
        # √w·(rest + still·√(1 − w)) is greatest at this s = √(1 − w)
        s = (math.hypot(rest, math.sqrt(8) * still) - rest) / (4 * still)
        return np.array([1 - s * s])

    def _paired(self, roots: Vector) -> Vector:
        """Return the best measure on rows of `table`, found on a few rows, more where one binds."""
        rows = np.unique(np.linspace(0, len(self.table) - 1, _FIRST).round().astype(int))
        measure, least = np.zeros(len(self.table)), math.inf
        for _ in range(_FIRST):
            omega = best_mixture(self.table[rows], roots)
            squares = omega @ self.table[rows]
            reach = self.table @ (roots / np.sqrt(squares))
            worst = int(np.argmax(reach))
            off = float(reach[worst] / (roots @ np.sqrt(squares)))
            if off < least:  # rows that nearly agree can spoil a later mixture
                least = off
                measure = np.zeros(len(self.table))
                measure[rows] = omega
            if off <= 1 + _NEAR or worst in rows:
                break
            rows = np.append(rows, worst)
        return measure

    def squares(self, alone: float, weights: Vector, angles: Vector) -> Vector:
        """Return the squared lengths of the parts under a measure, in parts of aₖ, shape (c,).

        Args:
            alone: the mass of single tensors, at most 1.
            weights: the masses of pairs, shape (n,).
            angles: the cosines of those, shape (n,).
        """
        count = len(self.parts.degrees)
        if self.odd:
            return np.full(count, 4.0 if self.differences else 1.0)
        if self.differences:
            return np.asarray(alone + weights @ np.maximum(self.pairs(angles), 0.0))
        return np.append(np.full(count - 1, alone), alone * (1 - alone))

    def spread(self, gains: Vector) -> Vector:
        """Return the squares that make Σ √(gains·squares) greatest, nearly; shapes (c,)."""
        measure = self.mixture(gains)
        if self.differences and not self.odd:
            return np.asarray(measure @ self.table)
        return self.squares(float(measure[0]), np.zeros(0), np.zeros(0))

    def norm(self, variances: Vector, order: float) -> float:
        """Return ‖deviations‖_p of entries whose kinds have these variances."""
        deviations = np.sqrt(variances)
        top = float(np.max(deviations))
        if math.isinf(order) or not top:
            return top
        total = math.fsum(self.parts.counts * (deviations / top) ** order)
        return float(top * total ** (1 / order))
