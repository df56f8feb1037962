# SPDX-License-Identifier: Apache-2.0
"""Radial noise: a mixture of uniform laws on balls about 0, under (ε, δ) (ours).

Any mixture is private by its own curve (`privacy.radial_curve`); which is least is the solvers'
word. Around an ellipsoid E = F·B it is F times noise that is radial: the changes' lengths are then
those in the gauge of E.

How far numbers stray that are linear in a mixture of uniform points of ellipsoids about 0.

They all have one law but for their deviation: that of r·t, r the radius and t a coordinate of a
uniform point of the unit ball in d dimensions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import PACKED_ROW, POSITIVE, Field
from lownoise.noise.abstract import NOISES, AbstractNoise, Loss, quotient_up
from lownoise.noise.pure import FACTOR, ellipsoid_norm
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import grown
from lownoise.privacy import aside_curve
from lownoise.privacy.radial_curve import delta_up
from lownoise.samplers.ellipsoid import rounded_points
from lownoise.samplers.lazy import Composed, choices, chosen
from lownoise.samplers.uniform.abstract import dyadic, uniforms

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.norms import ImageNorm

_HALVINGS = 100


def ball_moment(dimension: int, radii: Vector, chances: Vector, order: float) -> float:
    """Return (E|X|^q)^{1/q}/σ.

    Of a uniform point of the unit ball E|t|^q = Γ((q+1)/2)Γ(d/2+1)/(√π·Γ((d+q)/2+1)).

    Args:
        dimension: d.
        radii: rising, shape (n,).
        chances: of these, shape (n,).
        order: q.
    """
    q, d = order, dimension
    relative = radii / radii[-1]
    log = math.lgamma((q + 1) / 2) + math.lgamma(d / 2 + 1) - math.lgamma(0.5)
    log -= math.lgamma((d + q) / 2 + 1)
    mean = float(chances @ relative**q)
    if not mean > 0:
        return math.inf
    square = float(chances @ np.square(relative)) / (d + 2)
    return grown(math.exp((math.log(mean) + log) / q) / math.sqrt(square))


def ball_quantile(dimension: int, radii: Vector, chances: Vector, chance: float) -> float:
    """Return t with P(|X| > t·σ) ≤ `chance`.

    In a ball of radius r, P(|X| > h) = I((d + 1)/2, 1/2) at 1 − (h/r)², a regularized incomplete
    beta function, for σ² = E r²/(d + 2).

    Args:
        dimension: d.
        radii: rising, shape (n,).
        chances: of these, shape (n,).
        chance: above 0.
    """
    from scipy.special import betainc

    def beyond(height: float) -> float:
        rest = np.maximum(1 - np.square(height / radii), 0.0)
        return float(chances @ betainc((dimension + 1) / 2, 0.5, rest))

    low, high = 0.0, float(radii[-1])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) <= chance else (middle, high)
    square = float(chances @ np.square(radii)) / (dimension + 2)
    return grown(high / math.sqrt(square))


MOST_RADII = 1 << 14  # of which a curve takes some seconds
_LARGEST = 2.0**300  # of radii, and the inverse of the least: their squares are numbers


def _made(_: AbstractBody, __: float, **fields: Any) -> RadialNoise:  # noqa: ANN401 (of a file)
    return RadialNoise(**fields)


@NOISES.kind(
    "radial",
    Field("epsilon", POSITIVE),
    Field("scale", POSITIVE),
    Field("factor", FACTOR),
    Field("radii", PACKED_ROW),
    Field("weights", PACKED_ROW),
    make=_made,
)
@final
@dataclass(frozen=True, eq=False)
class RadialNoise(AbstractNoise):
    """F·z·scale, z uniform in a ball of radius r, and r one of some radii with known chances.

    Args:
        epsilon: the ε at which δ is stated; any is a true statement.
        scale: above 0.
        factor: F, shape (d, d); or shape (d,), its diagonal.
        radii: of the balls, rising, shape (n,).
        weights: above 0, to which the chances of the balls are in proportion, exactly; shape (n,).

    Raises:
        PlanError: where they are not so, or F is not proved to have an inverse.

    Examples:
        >>> noise = RadialNoise(1.0, 2.0, np.ones(3), np.array([5.0]), np.array([1.0]))
        >>> noise.covariance()
        array([20., 20., 20.])
    """

    epsilon: float
    scale: float
    factor: Vector
    radii: Vector
    weights: Vector
    note: ClassVar[str] = "radial noise around the least ellipsoid, fitted to epsilon and delta"

    def __post_init__(self) -> None:
        if not (0 < self.scale < math.inf and 0 < self.epsilon < math.inf):
            raise PlanError("RadialNoise.scale or epsilon is not above 0; plan again")
        n = self.radii.size
        if not 1 <= n <= MOST_RADII or self.weights.shape != (n,) or self.radii.ndim != 1:
            raise PlanError(
                f"RadialNoise.radii has {n:,} numbers; give 1 to {MOST_RADII:,}, one a weight"
            )
        rising = bool(np.all(np.diff(self.radii) > 0))  # NaN is not
        if not (rising and self.radii[0] > 1 / _LARGEST and self.radii[-1] < _LARGEST):
            raise PlanError("RadialNoise.radii are not above 0 and rising; plan again")
        if not np.all((self.weights > 0) & (self.weights < math.inf)):
            raise PlanError("RadialNoise.weights are not all above 0; plan again")
        _ = self.gauge

    @cached_property
    def gauge(self) -> ImageNorm:
        """The norm whose unit ball is F·B, B the Euclidean ball."""
        return ellipsoid_norm(self.factor)

    @property
    def dimension(self) -> int:
        """The number of integers d."""
        return len(self.factor)

    @property
    def left_out(self) -> str:
        """Why a chance δ is left out, in words."""
        return "the density of the noise falls in steps, and a change may cross two of them"

    def loss(self, changes: AbstractBody) -> Loss:
        """Return ε, at least the δ of the longest change in the gauge, and the rest's ρ and μ.

        What that δ leaves is known by the total variation, which is the curve at ε = 0.
        """
        longest = quotient_up(self.gauge.sensitivity_up(changes), self.scale)
        radii, weights = self.radii.tolist(), self.weights.tolist()
        delta, variation = (
            delta_up(self.dimension, radii, weights, epsilon, longest)
            for epsilon in (self.epsilon, 0.0)
        )
        rho, mu = (of(self.epsilon, variation) for of in (aside_curve.rho_up, aside_curve.mu_up))
        return Loss(self.epsilon, delta, rho, mu)

    @cached_property
    def _cumulative(self) -> list[int]:
        """Return the sums of the first weights, in a common unit."""
        rows = dyadic(self.weights[:, None]).rows
        return list(accumulate(row[0] for row in rows))

    def draw(self, randomness: Randomness) -> Lazy:
        """Return the noise, known by its bits so far: a ball is chosen, then a point of it."""
        from flint import arb

        radius = float(self.radii[chosen(self._cumulative, randomness=randomness)])
        point = self.gauge.uniform.draw(randomness)

        def stretched(balls: list[Any]) -> list[Any]:
            length = arb(self.scale) * arb(radius)
            return [length * own for own in balls]

        return Composed(self.dimension, (point,), stretched)

    def block(self, count: int, randomness: Randomness) -> Integers:
        """Return the rounding of so many draws, shape (count, r)."""
        from flint import arb

        picks = choices(self._cumulative, count, randomness=randomness)
        own = self.radii[picks]
        return rounded_points(
            self.factor,
            self.scale * own,
            lambda k: arb(self.scale) * arb(float(own[k])),
            randomness=randomness,
        )

    @cached_property
    def _chances(self) -> Vector:
        return frozen(
            self.weights / np.max(self.weights) / np.sum(self.weights / np.max(self.weights))
        )

    def covariance(self) -> Vector:
        """Return E r²·scale²·FFᵀ/(d + 2)."""
        square = float(self._chances @ np.square(self.radii)) * self.scale * self.scale
        return frozen(self.gauge.uniform.second_moment() * square)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        levels = np.cumsum(self._chances)
        picks = np.searchsorted(levels, uniforms(randomness, count) * levels[-1])
        lengths = self.radii[np.minimum(picks, self.radii.size - 1)] * self.scale
        return np.asarray(lengths[:, None] * self.gauge.uniform.simulate(count, randomness))

    def moment(self, order: float) -> float:
        """Return (E|X|^q)^{1/q}/σ, the same for each number X that is linear in the noise."""
        return ball_moment(self.dimension, self.radii, self._chances, order)

    def quantile(self, chance: float) -> float:
        """Return t with P(|X| > t·σ) ≤ `chance` of each number X that is linear in the noise."""
        return ball_quantile(self.dimension, self.radii, self._chances, chance)
