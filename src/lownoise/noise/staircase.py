# SPDX-License-Identifier: Apache-2.0
"""Staircase noise: its density falls by e^ε wherever its norm grows by the longest change.

Geng & Viswanath (2014) have it for one number; of a norm it is ours. It is scale·r·u like K-norm
noise, u uniform in the unit ball of the norm, and r of another law (`samplers.steps`): where K-norm
noise is drawn, so is this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.kinds import POSITIVE, Field
from lownoise.noise.abstract import (
    NOISES,
    Loss,
    quotient_up,
    sampling_loss,
)
from lownoise.noise.coordinates import log_concave_moment
from lownoise.noise.pure import FACTOR, AbstractNormNoise, ellipsoid_norm
from lownoise.noise.radial import ball_moment, ball_quantile
from lownoise.numbers.rounding import fraction_up
from lownoise.privacy import aside_curve, pure_curve
from lownoise.privacy.radial_curve import variation_up
from lownoise.samplers.ellipsoid import rounded_points
from lownoise.samplers.lazy import Composed
from lownoise.samplers.steps import StepRadius
from lownoise.samplers.uniform.abstract import uniforms
from lownoise.sets.norms import norm_of

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.norms import AbstractNorm


def _made(
    changes: AbstractBody, distance: float, factor: Vector | None = None, **fields: float
) -> StaircaseNoise:
    gauge = norm_of(changes, distance) if factor is None else ellipsoid_norm(factor)
    return StaircaseNoise(gauge, **fields)


@NOISES.kind(
    "staircase",
    Field("scale", POSITIVE),
    Field("epsilon", POSITIVE),
    Field("first", POSITIVE),
    Field("factor", FACTOR, attribute=lambda noise: noise.gauge.ellipsoid, optional=True),
    make=_made,
)
@final
@dataclass(frozen=True, eq=False)
class StaircaseNoise(AbstractNormNoise):
    """Noise of density ∝ e^{−εk} where γ + k − 1 < ‖z‖/scale ≤ γ + k, for k = 0, 1, 2 and so on.

    Where one neighbour moves the integers by s, ‖z‖ and ‖z − s‖ differ by ‖s‖ at most, so that
    densities differ by ⌈‖s‖/scale⌉ steps at most: by e^ε where ‖s‖ ≤ scale.

    Args:
        gauge: the norm.
        scale: how wide a step is, above 0.
        epsilon: ε of a step, from 2^−7 to 32.
        first: γ, in (0, 1]: how wide the first step is, of the others.

    Raises:
        PlanError: where they are not so.

    Examples:
        >>> noise = StaircaseNoise(ellipsoid_norm(np.ones(1)), 1.0, 4.0, 0.2)
        >>> noise.covariance().round(4), 2 / 4.0**2  # and of Laplace noise
        (array([0.065]), 0.125)
    """

    gauge: AbstractNorm
    scale: float
    epsilon: float
    first: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.steps

    @cached_property
    def steps(self) -> StepRadius:
        """The law of r."""
        return StepRadius(self.gauge.uniform.rank, self.epsilon, self.first)

    @property
    def _euclidean(self) -> bool:
        return self.gauge.ellipsoid is not None

    @property
    def square(self) -> float:
        """E r²."""
        return self.steps.mean(2.0)

    def revealed(self, changes: AbstractBody) -> float:
        """Return at least ε of such changes where points are exactly uniform: whole steps of it."""
        shift = self._shift(changes)
        return fraction_up(self._steps_of(shift)) if math.isfinite(shift) else shift

    def _shift(self, changes: AbstractBody) -> float:
        return quotient_up(self.gauge.sensitivity_up(changes), self.scale)

    def _steps_of(self, shift: float) -> Fraction:
        return math.ceil(shift) * Fraction(self.epsilon)

    def loss(self, changes: AbstractBody) -> Loss:
        """Return what integers reveal that one neighbour moves by points of `changes`."""
        shift = self._shift(changes)
        if not math.isfinite(shift):
            return Loss(math.inf)
        if shift <= 1:
            variation = variation_up(self.steps, shift, euclidean=self._euclidean)
            rho, mu = (
                of(self.epsilon, variation) for of in (aside_curve.rho_up, aside_curve.mu_up)
            )
            own = Loss(self.epsilon if shift else 0.0, 0.0, rho, mu)
        else:
            whole = self._steps_of(shift)
            rho, mu = map(fraction_up, (pure_curve.rho_up(whole), pure_curve.mu_up(whole)))
            own = Loss(fraction_up(whole), 0.0, rho, mu)
        return sampling_loss(own, self.gauge.uniform)

    def scaled(self, factor: float) -> StaircaseNoise:
        """Return so many times this noise."""
        return StaircaseNoise(self.gauge, self.scale * factor, self.epsilon, self.first)

    def draw(self, randomness: Randomness) -> Lazy:
        """Return the noise, known by its bits so far: a radius is chosen, then a point."""
        from flint import arb

        k, point = self.steps.draw(randomness), self.gauge.uniform.draw(randomness)

        def stretched(balls: list[Any]) -> list[Any]:
            length = arb(self.scale) * (arb(self.first) + k)
            return [length * own for own in balls]

        return Composed(self.dimension, (point,), stretched)

    def block(self, count: int, randomness: Randomness) -> Integers | None:
        """Return the rounding of so many draws around an ellipsoid, shape (count, r)."""
        from flint import arb

        if (factor := self.gauge.ellipsoid) is None:
            return None
        picks = self.steps.many(count, randomness)
        return rounded_points(
            factor,
            np.asarray(self.scale * (self.first + picks)),
            lambda i: arb(self.scale) * (arb(self.first) + int(picks[i])),
            randomness=randomness,
        )

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        radii = self.scale * self.steps.simulate(uniforms(randomness, count))
        return np.asarray(radii[:, None] * self.gauge.uniform.simulate(count, randomness))

    def moment(self, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of each number X that is linear in the noise.

        X is r times what is linear in u, which is symmetric and log-concave.
        """
        radii, chances = self.steps.law(order)
        if self._euclidean:
            return ball_moment(self.dimension, radii, chances, order)
        relative = radii / radii[-1]
        mean, square = float(chances @ relative**order), float(chances @ relative**2)
        if not mean > 0:
            return math.inf
        return float(mean ** (1 / order) / math.sqrt(square) * log_concave_moment(order))

    def quantile(self, chance: float) -> float | None:
        """Return t with P(|X| > t·σ) ≤ `chance` of each such X around an ellipsoid; else None."""
        if not self._euclidean:
            return None
        return ball_quantile(self.dimension, *self.steps.law(), chance)
