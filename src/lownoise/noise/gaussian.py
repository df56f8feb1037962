# SPDX-License-Identifier: Apache-2.0
"""Gaussian noise of a given shape: its loss is the radius of what moves, rounded up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import AbstractNoise, AbstractStructure, gaussian_loss
from lownoise.numbers.arrays import frozen
from lownoise.samplers import rounded_gaussian

if TYPE_CHECKING:
    from lownoise.noise.abstract import Loss
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies import AbstractBody

_LARGEST_DENSE = 10_000
_WORDS = 2.0**64


@final
@dataclass(frozen=True, eq=False)
class GaussianNoise(AbstractNoise):
    """Noise L·ξ, ξ standard normal.

    A change s of the integers is μ-GDP with μ = ‖L⁻¹s‖ (002, Lemma 22): the loss is the greatest
    over all changes, whatever solver proposed L.

    Args:
        shape: the factor L of the covariance, in grid steps; its entries are the exact numbers.
    """

    shape: AbstractShape

    @property
    def dimension(self) -> int:
        """The number of integers r."""
        return self.shape.dimension

    @property
    def estimated(self) -> bool:
        """It is known."""
        return False

    def loss(self, changes: AbstractBody | AbstractStructure) -> Loss:
        """Return μ of the greatest change, and the ρ = μ²/2 that follows, rounded up."""
        return gaussian_loss(changes.radius_up(self.shape))

    def integers(self, randomness: Randomness) -> list[int]:
        """Return the rounding of one draw, r integers."""
        found: list[int] = rounded_gaussian(self.shape, randomness=randomness).tolist()
        return found

    def covariance(self) -> Vector:
        """Return L·Lᵀ, shape (r, r)."""
        return frozen(self.shape.dense())

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        from scipy.special import ndtri

        words = (randomness.words(self.shape.sources) for _ in range(count))
        own = (ndtri((w.astype(np.float64) + 0.5) / _WORDS) for w in words)
        return np.array([self.shape.apply(z) for z in own]).reshape(count, self.dimension)

    def answer_factor(self, unit: Vector, embed: Vector | None) -> AbstractShape:
        """Return a factor of the answers' covariance; arguments as of `deviations`."""
        own = self.shape.scaled(unit)
        return own if embed is None else own.mapped(embed)

    def deviations(self, unit: Vector, embed: Vector | None) -> Vector:
        """Return the standard deviations of the answers, shape (m,)."""
        return frozen(self.answer_factor(unit, embed).deviations())

    def answer_scales(self, unit: Vector, embed: Vector | None) -> tuple[Vector, Vector]:
        """Return the answers' deviations, and the covariance of each with the last."""
        factor = self.answer_factor(unit, embed)
        places, entries = factor.row(factor.dimension - 1)
        last = np.zeros(factor.sources)
        last[places] = entries
        return frozen(factor.deviations()), frozen(factor.apply(last))

    def answer_covariance(self, unit: Vector, embed: Vector | None) -> Vector:
        """Return the covariance of the answers, shape (m, m).

        Raises:
            PlanError: beyond 10,000 answers; ask `standard_deviation`.
        """
        factor = self.answer_factor(unit, embed)
        if factor.dimension > _LARGEST_DENSE:
            raise PlanError(
                f"covariance of {factor.dimension} answers would fill the memory; "
                "use standard_deviation, or mechanism.answer_noise for a factor of it",
            )
        return frozen(factor.dense())
