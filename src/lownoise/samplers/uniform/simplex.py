# SPDX-License-Identifier: Apache-2.0
"""Uniform points of the differences of a simplex.

For the simplex T with corners 0, e₁, …, e_d, T − T = {x : Σ x⁺ ≤ 1, Σ x⁻ ≤ 1}: of x = Σ λᵢeᵢ, with
λ₀ = −Σ λᵢ, the positive and the negative λ have the same sum. Where the coordinates in A are
positive and all others negative it is the product of two simplices of volumes 1/|A|! and
1/(d − |A|)!. So A has a probability ∝ C(d, |A|), which is how often a random half of 2d things
meets the first d in A; then Dirichlet numbers fill each of the two (ours).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.samplers.lazy import Composed, UniformBits, chosen
from lownoise.samplers.uniform.abstract import AbstractUniform
from lownoise.samplers.uniform.floats import uniforms

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy


@final
@dataclass(frozen=True)
class UniformSimplexDifferences(AbstractUniform):
    """Uniform points of {x : Σ max(xᵢ, 0) ≤ 1, Σ max(−xᵢ, 0) ≤ 1}.

    Args:
        size: the number of coordinates d.

    Raises:
        PlanError: where d < 1.

    Examples:
        >>> UniformSimplexDifferences(1).second_moment()
        array([[0.33333333]])
        >>> UniformSimplexDifferences(2).second_moment()  # a hexagon
        array([[ 0.27777778, -0.13888889],
               [-0.13888889,  0.27777778]])
    """

    size: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise PlanError(
                f"UniformSimplexDifferences.size={self.size} is below 1; give 1 or more"
            )

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.size

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        signs = [1 if own else -1 for own in _half(self.size, randomness)]

        def place(logs: list[Any]) -> list[Any]:
            # of each sign one exponential number more than coordinates: what is left of the sum
            own = [u.log() for u in logs]
            total = {1: own[-2], -1: own[-1]}
            for sign, number in zip(signs, own[:-2], strict=True):
                total[sign] = total[sign] + number
            pairs = zip(signs, own[:-2], strict=True)
            return [arb(sign) * number / total[sign] for sign, number in pairs]

        return Composed(self.size, (UniformBits(randomness.words(self.size + 2)),), place)

    def second_moment(self) -> Vector:
        """Return E u·uᵀ, shape (d, d).

        Dirichlet numbers have E tᵢtⱼ = (1 + [i = j])/((p + 1)(p + 2)), and E tᵢ = 1/(p + 1).
        """
        d = self.size
        p = np.arange(d + 1.0)
        q = d - p
        logs = [2 * (math.lgamma(d + 1) - math.lgamma(k + 1) - math.lgamma(d - k + 1)) for k in p]
        share = np.exp(np.array(logs) - max(logs))
        share /= np.sum(share)
        up, down = share / ((p + 1) * (p + 2)), share / ((q + 1) * (q + 2))
        own = float(np.sum(2 * p * up + 2 * q * down)) / d
        both = p * (p - 1) * up + q * (q - 1) * down - 2 * p * q * share / ((p + 1) * (q + 1))
        other = float(np.sum(both)) / (d * (d - 1)) if d > 1 else 0.0
        return frozen(np.full((d, d), other) + (own - other) * np.eye(d))

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""
        d = self.size
        order = np.argsort(uniforms(randomness, count, 2 * d), axis=1)
        positive = np.zeros((count, 2 * d), dtype=np.bool_)
        np.put_along_axis(positive, order[:, :d], values=True, axis=1)
        signs = np.where(positive[:, :d], 1.0, -1.0)
        logs = np.log(uniforms(randomness, count, d + 2))
        own, rest = logs[:, :d], logs[:, d:]
        above = np.sum(np.where(signs > 0, own, 0.0), axis=1) + rest[:, 0]
        below = np.sum(np.where(signs < 0, own, 0.0), axis=1) + rest[:, 1]
        return np.asarray(signs * own / np.where(signs > 0, above[:, None], below[:, None]))


def _half(size: int, randomness: Randomness) -> list[bool]:
    """Return which of the first of 2·size things are in a random half of them, exactly uniform."""
    left, found = size, []
    for i in range(size):
        # of the 2·size − i things left, `left` are to be taken
        taken = _one_of(left, 2 * size - i, randomness)
        found.append(taken)
        left -= taken
    return found


def _one_of(taken: int, whole: int, randomness: Randomness) -> bool:
    """Return True with probability taken/whole, exactly; 0 < taken ≤ whole or 0."""
    if taken in (0, whole):
        return bool(taken)
    return chosen([taken, whole], randomness=randomness) == 0
