# SPDX-License-Identifier: Apache-2.0
"""Uniform points of the unit ball of a norm of sorted sizes, in any number of dimensions.

Where x₁ ≥ x₂ ≥ … ≥ x_d ≥ 0, {x : Σ wᵢxᵢ ≤ 1} is a simplex: x = Σ tⱼvⱼ with tⱼ = Wⱼ(xⱼ − xⱼ₊₁) ≥ 0,
Σ tⱼ = Σ wᵢxᵢ ≤ 1 and vⱼ = (e₁ + … + eⱼ)/Wⱼ, Wⱼ = w₁ + … + wⱼ. The other orders and signs are its
mirror images. So a uniform point has Dirichlet numbers tⱼ, an order and signs at random (ours).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, vector
from lownoise.samplers.lazy import WORD, Composed, UniformBits
from lownoise.samplers.uniform.abstract import AbstractUniform, uniforms

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy


@final
@dataclass(frozen=True, eq=False)
class UniformSorted(AbstractUniform):
    """Uniform points of {x : Σ wᵢ·|x|₍ᵢ₎ ≤ 1}, |x|₍₁₎ the largest.

    Args:
        weights: w, shape (d,), falling, the first above 0, none below; exactly the stored floats.

    Raises:
        PlanError: where they are not.

    Examples:
        >>> UniformSorted(np.array([1.0, 1.0])).second_moment()  # as of a cross-polytope
        array([0.16666667, 0.16666667])
        >>> UniformSorted(np.array([1.0, 0.0])).second_moment()  # as of a cube
        array([0.33333333, 0.33333333])
    """

    weights: ArrayLike

    def __post_init__(self) -> None:
        given = vector(self.weights, field="UniformSorted.weights", error=PlanError)
        if not given.size or np.any(np.diff(given) > 0) or not (given[0] > 0 and given[-1] >= 0):
            raise PlanError(
                "UniformSorted.weights do not fall from above 0 to 0 or more; sort them"
            )
        object.__setattr__(self, "weights", given)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(np.size(self.weights))

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        d = self.dimension
        order = _shuffled(d, randomness)
        signs = (randomness.words(d) >> np.uint64(WORD - 1)).tolist()

        def place(balls: list[Any]) -> list[Any]:
            logs = [u.log() for u in balls]
            total = sum(logs, arb(0))
            found: list[Any] = [None] * d
            size, whole = arb(0), self._totals()
            for j in range(d - 1, -1, -1):
                size = size + logs[j] / whole[j]
                found[order[j]] = (size if signs[j] else -size) / total
            return found

        return Composed(d, (UniformBits(randomness.words(d + 1)),), place)

    def _totals(self) -> list[Any]:
        """Return Wⱼ in balls, at the precision that is set."""
        sums, found = arb(0), []
        for weight in np.asarray(self.weights).tolist():
            sums += arb(weight)
            found.append(sums)
        return found

    @cached_property
    def _shares(self) -> Vector:
        return 1 / np.cumsum(self.weights)

    def second_moment(self) -> Vector:
        """Return the diagonal of E u·uᵀ, shape (d,).

        E tⱼtₖ = (1 + [j = k])/((d + 1)(d + 2)) for such numbers, and every order is as likely.
        """
        d = self.dimension
        sums = np.cumsum(self._shares[::-1])
        squares = np.cumsum(np.square(self._shares[::-1]))
        each = float(np.mean(np.square(sums) + squares)) / ((d + 1) * (d + 2))
        return frozen(np.full(d, each))

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""
        d = self.dimension
        logs = np.log(uniforms(randomness, count, d + 1))
        parts = logs[:, :d] / logs.sum(axis=1, keepdims=True) * self._shares
        sizes = np.cumsum(parts[:, ::-1], axis=1)[:, ::-1]
        signs = np.where(uniforms(randomness, count, d) < 0.5, -1.0, 1.0)  # noqa: PLR2004
        order = np.argsort(uniforms(randomness, count, d), axis=1)
        return np.take_along_axis(sizes * signs, order, axis=1)


def _shuffled(size: int, randomness: Randomness) -> list[int]:
    """Return an order of 0 … size − 1, each with the same chance exactly (Fisher & Yates 1938)."""
    found = list(range(size))
    for i in range(size - 1, 0, -1):
        j = _below(i + 1, randomness)
        found[i], found[j] = found[j], found[i]
    return found


def _below(size: int, randomness: Randomness) -> int:
    """Return one of 0 … size − 1, each with the same chance exactly.

    Words past the last multiple of `size` are drawn again.
    """
    room = (1 << WORD) // size * size
    while True:
        word = int(randomness.words(1)[0])
        if word < room:
            return word % size
