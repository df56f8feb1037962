# SPDX-License-Identifier: Apache-2.0
"""Noise in multiples of what integers are apart by, or of the longest change of one integer.

Where a change moves an integer by whole multiples of some number of steps alone, noise in such
multiples hides it: q and q + s with noise have the same support. Least squares on sums of such
integers has fractions, for which there is room between the multiples.

A change of any length up to one multiple is hidden by a staircase, which is such noise and what
fills the room between: z = width·(k + v), k of geometric chances ∝ e^{−ε|k|}, and v independent of
it, uniform on ±γ with chance ∝ γ, otherwise on ±(1 − γ) (ours, `docs/theory.md`). Both are laws of
which ε alone is scaled, so that they stray by other than its inverse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import AbstractNoise, Loss
from lownoise.noise.independent import GeometricNoise
from lownoise.noise.pure import ellipsoid_norm
from lownoise.noise.staircase import StaircaseNoise
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import down, grown
from lownoise.samplers.uniform.abstract import uniforms
from lownoise.sets.norms import ImageNorm
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.sets.bodies import AbstractBody

_OFF = 2.0**-20  # of γ, which processors compute to the last digits
_GROWN = 1 + 2.0**-30  # of sums of few floats
_WIDER = 2.0**-40


@final
@dataclass(frozen=True)
class Shared:
    """How far numbers of a law stray that share ε, level by level.

    Args:
        rate: ε, over the multiples that a change makes.
        law: of the numbers.

    Examples:
        >>> Shared(4.0).deviations(np.array([1.0, 1.0])).round(4)  # each with ε = 2
        array([0.6017, 0.6017])
        >>> Shared(4.0, Stairs).deviations(np.array([1.0, 1.0])).round(4)
        array([0.6502, 0.6502])
    """

    rate: float
    law: type[GeometricNoise | Stairs] = GeometricNoise

    def deviations(self, widths: Vector) -> Vector:
        """Return those of levels whose shares of ε are as 1/width; shape (levels,)."""
        shares = 1 / np.asarray(widths)
        rates = self.rate * shares / np.sum(shares)
        return np.asarray(1 / np.sqrt(self.law.precision(rates)[0]))


class Stairs:
    """The law of least variance of one number that any change up to 1 moves by ε at most.

    Geng & Viswanath (2014) have γ and the variance in closed form; here with c³ = q(1 + q)/2 and
    q = e^{−ε}, γ = (c − q)/(1 − q) and (c² + q)/(1 − q)².
    """

    @staticmethod
    def firsts(rates: Vector) -> Vector:
        """Return γ for each ε, shape (k,).

        Examples:
            >>> Stairs.firsts(np.array([1.0, 4.0])).round(6)
            array([0.416737, 0.195757])
        """
        q = np.exp(-rates)
        return np.asarray((np.cbrt(q * (1 + q) / 2) - q) / -np.expm1(-rates))

    @staticmethod
    def precision(rates: Vector) -> tuple[Vector, Vector]:
        """Return the inverse of the variance for each ε, and nothing of its slope; shapes (k,)."""
        q = np.exp(-rates)
        found = np.square(np.expm1(-rates)) / (np.square(np.cbrt(q * (1 + q) / 2)) + q)
        return np.asarray(found), np.full(np.shape(rates), np.nan)

    @staticmethod
    def between(rates: Vector) -> tuple[Vector, Vector]:
        """Return γ, and the chance that v is uniform on ±γ, for each ε; shapes (k,)."""
        first = Stairs.firsts(rates)
        return first, first / (first + np.exp(-rates) * (1 - first))

    @staticmethod
    def moment_of(scales: Vector, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of every X that is linear in numbers of these 1/ε.

        X = Σ wᵢkᵢ + Σ wᵢvᵢ. Of the second sum, given all |vᵢ|, the moment is at most a normal
        number's of variance Σ wᵢ²vᵢ² (Haagerup 1981), and |vᵢ| ≤ max(γ, 1 − γ); the two add by
        Minkowski, and their variances are σ² together.
        """
        first, chance = Stairs.between(1 / scales)
        square = (chance * np.square(first) + (1 - chance) * np.square(1 - first)) / 3
        most = float(np.max(np.maximum(first, 1 - first) / np.sqrt(square)))
        logs = math.lgamma((order + 1) / 2) - math.lgamma(0.5)
        inside = most * math.sqrt(2) * math.exp(logs / order)
        return math.hypot(GeometricNoise.moment_of(scales, order), inside) * _GROWN


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

    law: ClassVar[type[GeometricNoise]] = GeometricNoise  # of its multiples
    apart: ClassVar[float] = 0.0  # how many multiples a number may be from a whole one
    multiples: GeometricNoise
    spacing: Integers
    integer_valued = True

    @property
    def scale(self) -> float:
        """1/ε of one multiple."""
        return float(self.multiples.scales[0])

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
        own = GeometricNoise.variances(np.append(self.scale * factors, self.scale))
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


@final
@dataclass(frozen=True, eq=False)
class SteppedNoise(AbstractNoise):
    """Staircases of one number whose steps are as wide, whatever their ε: that is what is scaled.

    Args:
        own: the staircase, of the number itself and of the γ that is best for its ε.

    Raises:
        PlanError: where it is not so.

    Examples:
        >>> noise = SteppedNoise.least(1024.0, 4.0)
        >>> (noise.covariance() / 1024**2).round(5), noise.scaled(2.0).own.epsilon
        (array([0.06498]), 2.0)
    """

    law: ClassVar[type[Stairs]] = Stairs
    apart: ClassVar[float] = 1.0
    own: StaircaseNoise

    def __post_init__(self) -> None:
        factor, first = self.own.gauge.ellipsoid, self._first(self.own.epsilon)
        alone = factor is not None and np.array_equal(factor, np.ones(1))
        if not alone or not abs(self.own.first - first) <= _OFF * first:
            raise PlanError("a staircase of a stream is of one number and the best γ; plan again")

    @classmethod
    def least(cls, width: float, epsilon: float) -> SteppedNoise:
        """Return the noise of least variance of steps of a width and an ε."""
        gauge = ellipsoid_norm(frozen(np.ones(1)))
        return cls(StaircaseNoise(gauge, width, epsilon, cls._first(epsilon)))

    @classmethod
    def hiding(cls, changes: AbstractBody, epsilon: float) -> SteppedNoise:
        """Return that of which each change costs one step, and 2^-40 wider.

        So it does where another processor finds the longest change longer by a last bit.
        """
        one = cls.least(1.0, epsilon).own.gauge.sensitivity_up(changes)
        return cls.least(grown(one, _WIDER), epsilon)

    @staticmethod
    def _first(epsilon: float) -> float:
        return float(Stairs.firsts(np.array([epsilon]))[0])

    @property
    def scale(self) -> float:
        """1/ε of a step."""
        return 1 / self.own.epsilon

    @property
    def spacing(self) -> Vector:
        """How wide a step is, shape (1,)."""
        return np.array([self.own.scale])

    @property
    def dimension(self) -> int:
        """One."""
        return 1

    def loss(self, changes: AbstractBody) -> Loss:
        """Return ε of as many steps as the longest change takes, exactly; of it ε alone."""
        return Loss(self.own.revealed(changes))

    def scaled(self, factor: float) -> SteppedNoise:
        """Return that of 1/factor of the ε of a step: not so many times this noise."""
        return self if factor == 1 else self.least(self.own.scale, self.own.epsilon / factor)

    def growth(self, factors: Vector) -> Vector:
        """Return how many times as far `scaled` by each factor strays, shape (k,)."""
        found, _ = Stairs.precision(self.own.epsilon / np.append(factors, 1.0))
        return frozen(np.sqrt(found[-1] / found[:-1]))

    @cached_property
    def _variances(self) -> Vector:
        return frozen(np.square(self.spacing) / Stairs.precision(1 / np.array([self.scale]))[0])

    def far(self, outside: float) -> Vector:
        """Return how far it strays but with chance `outside`, shape (1,)."""
        known = self.own.quantile(outside)
        assert known is not None  # noqa: S101 (one number is of a ball)
        return frozen(known * np.sqrt(self._variances))

    def covariance(self) -> Vector:
        """Return the variance, shape (1,)."""
        return self._variances

    def block(self, count: int, randomness: Randomness) -> Integers | None:
        """Return the rounding of so many draws, shape (count, 1)."""
        return self.own.block(count, randomness)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        return self.own.simulate(count, randomness)
