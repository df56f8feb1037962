# SPDX-License-Identifier: Apache-2.0
"""Geometric noise in multiples of what integers are apart by, on a grid that is finer.

Where a change moves an integer by whole multiples of some number of steps alone, noise in such
multiples hides it: q and q + s with noise have the same support. Least squares on sums of such
integers has fractions, for which there is room between the multiples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import AbstractNoise, Loss
from lownoise.noise.independent import GeometricNoise
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import down
from lownoise.samplers.uniform.abstract import uniforms
from lownoise.sets.norms import ImageNorm
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.sets.bodies import AbstractBody


@final
@dataclass(frozen=True)
class Shared:
    """How far geometric numbers stray that share ε, level by level.

    Args:
        rate: ε, over the multiples that a change makes.

    Examples:
        >>> Shared(4.0).deviations(np.array([1.0, 1.0])).round(4)  # each with ε = 2
        array([0.6017, 0.6017])
    """

    rate: float

    def deviations(self, widths: Vector) -> Vector:
        """Return those of levels whose shares of ε are as 1/width; shape (levels,)."""
        shares = 1 / np.asarray(widths)
        rates = self.rate * shares / np.sum(shares)
        return np.asarray(1 / np.sqrt(GeometricNoise.precision(rates)[0]))


@final
@dataclass(frozen=True, eq=False)
class LatticeNoise(AbstractNoise):
    """Independent whole numbers of one law, each times so many steps.

    It is private where changes are multiples of the spacing: `loss` speaks of these alone, and who
    adds the noise sees to it.

    Args:
        multiples: of the law, one scale for all.
        spacing: the steps of each, at least 1, shape (r,).

    Raises:
        PlanError: where they do not fit.

    Examples:
        >>> noise = LatticeNoise(GeometricNoise(np.array([0.25])), np.array([1024]))
        >>> (noise.covariance() / 1024**2).round(5)
        array([0.03801])
    """

    multiples: GeometricNoise
    spacing: Integers
    whole = True

    def __post_init__(self) -> None:
        scales = self.multiples.scales
        if scales.shape != self.spacing.shape or not scales.size or np.ptp(scales):
            raise PlanError("noise in whole numbers has not one scale for all; plan again")
        if not np.all(self.spacing >= 1):
            raise PlanError("noise in whole numbers is for values that all move; plan again")

    @property
    def dimension(self) -> int:
        """The number of integers r."""
        return self.multiples.dimension

    def loss(self, changes: AbstractBody) -> Loss:
        """Return the greatest Σ|sᵢ|/(spacingᵢ·bᵢ) over `changes`, rounded up; of it ε alone."""
        pairs = zip(self.multiples.scales.tolist(), self.spacing.tolist(), strict=True)
        scales = frozen(np.array([_product_down(b, steps) for b, steps in pairs]))
        return Loss(ImageNorm(scales, NormBall(self.dimension, 1.0)).sensitivity_up(changes))

    def scaled(self, factor: float) -> LatticeNoise:
        """Return that of so many times the scale: not so many times this noise."""
        return replace(self, multiples=self.multiples.scaled(factor))

    def growth(self, factors: Vector) -> Vector:
        """Return how many times as far `scaled` by each factor strays, shape (k,)."""
        b = float(self.multiples.scales[0])
        own = GeometricNoise.variances(np.append(b * factors, b))
        return frozen(np.sqrt(own[:-1] / own[-1]))

    def covariance(self) -> Vector:
        """Return the variances, shape (r,)."""
        return frozen(self.multiples.covariance() * np.square(self.spacing.astype(np.float64)))

    def block(self, count: int, randomness: Randomness) -> Integers:
        """Return so many draws, whole numbers of any size; shape (count, r)."""
        drawn = self.multiples.block(count, randomness).astype(object)
        found: Integers = drawn * self.spacing.astype(object)
        return found

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats: differences of two geometric numbers."""
        sizes = -np.log(uniforms(randomness, 2, count, self.dimension)) * self.multiples.scales
        first, second = np.floor(sizes)
        return np.asarray((first - second) * self.spacing)


def _product_down(scale: float, steps: int) -> float:
    """Return b·steps where that is a float, else one below it."""
    found = scale * steps
    return found if Fraction(found) <= Fraction(scale) * steps else down(found)
