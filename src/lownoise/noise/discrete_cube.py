# SPDX-License-Identifier: Apache-2.0
"""K-norm noise on the lattice of yes and no: whole numbers of chances ∝ e^{−ε·max|zᵢ|}.

One record that becomes another moves each of d counts of yes by −1, 0 or 1. z is uniform on the
whole numbers from −k to k in each coordinate, k of chances ∝ (2k + 1)^d·e^{−εk}: Σ_{k ≥ m} e^{−εk}
is e^{−εm} times a constant, m = max|zᵢ|. These are the radii k + ½ that a staircase of the cube has
for γ = ½, whose rounding z is; so it is drawn by them, and its loss is no more (ours).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Self, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import AbstractNoise, Loss, pure_loss
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import fraction_up, grown
from lownoise.privacy import aside_curve
from lownoise.privacy.radial_curve import variation_up
from lownoise.samplers.lazy import below
from lownoise.samplers.steps import StepRadius
from lownoise.sets.bodies import PointDifferences, SymmetricPoints
from lownoise.sets.norms import ImageNorm
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.sets.bodies import AbstractBody

_OFF = 2.0**-36  # of sums of chances in floats


@final
@dataclass(frozen=True, eq=False)
class DiscreteCubeNoise(AbstractNoise):
    """Whole numbers z₁, …, z_d of chances ∝ e^{−max|zᵢ|/b}; a change s reveals max|sᵢ|/b.

    Args:
        size: d, at least 1.
        scale: b, from 1/32 to 128.

    Raises:
        PlanError: where they are out of range.

    Examples:
        >>> noise = DiscreteCubeNoise(2, 0.25)  # ε = 4
        >>> noise.covariance().round(4)  # of real numbers, (d + 1)(d + 2)/(3ε²), 0.25
        array([0.109, 0.109])
    """

    size: int
    scale: float
    integer_valued = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise PlanError("noise.scale is not above 0 and finite; take another mechanism")
        _ = self.steps

    @cached_property
    def steps(self) -> StepRadius:
        """The law of k + ½."""
        return StepRadius(self.size, 1 / Fraction(self.scale), Fraction(1, 2))

    @property
    def dimension(self) -> int:
        """The number of integers d."""
        return self.size

    def loss(self, changes: AbstractBody) -> Loss:
        """Return the greatest max|sᵢ|/b, and what that implies.

        Integers move by whole steps, so a bound on these may be rounded down.
        """
        cube = ImageNorm(frozen(np.ones(self.size)), NormBall(self.size, math.inf))
        most = cube.sensitivity_up(changes)
        if not math.isfinite(most):
            return Loss(math.inf)
        steps = math.floor(most)
        if steps != 1:
            return pure_loss(steps / Fraction(self.scale))
        epsilon = fraction_up(1 / Fraction(self.scale))
        variation = variation_up(self.steps, 1.0, euclidean=False)
        rho, mu = (of(epsilon, variation) for of in (aside_curve.rho_up, aside_curve.mu_up))
        return Loss(epsilon, 0.0, rho, mu)

    def scaled(self, factor: float) -> Self:
        """Return it with so many times the scale."""
        return replace(self, scale=self.scale * factor)

    def _law(self, order: float = 2.0) -> tuple[Vector, Vector]:
        """Return k, and its chances, as far as moments of an order need."""
        radii, chances = self.steps.law(order)
        return radii - 0.5, chances

    @property
    def _variance(self) -> float:
        k, chances = self._law()
        return float(chances @ (k * (k + 1) / 3))

    def covariance(self) -> Vector:
        """Return the variances, all one; different numbers are uncorrelated, shape (d,)."""
        return frozen(np.full(self.size, self._variance))

    def moment(self, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of every X that is linear in the numbers.

        z plus uniform numbers of ±½ is uniform in the cube of k + ½, with no lesser moments; there
        even moments of X are no greater than a normal number's of its variance, k given, as those
        of each number are, and (E|X|^q)^{1/q} grows with q. That of a sum is at most √d times the
        greatest of one number, too, which is less where most numbers are 0.
        """
        k, chances = self._law(order)
        if (variance := self._variance) == 0:
            return math.inf
        most = float(k[-1]) + 0.5
        half = np.power((k + 0.5) / most, order)
        even = 2 * math.ceil(order / 2)
        normal = math.lgamma((even + 1) / 2) - math.lgamma(0.5)
        cube = math.sqrt(2 / 3) * math.pow(float(chances @ half), 1 / order)
        one = float(chances @ np.minimum(np.power(k / most, order), half / (order + 1)))
        found = min(cube * math.exp(normal / even), math.pow(one, 1 / order) * math.sqrt(self.size))
        return max(grown(most * found / math.sqrt(variance), _OFF), 1.0)

    def far(self, outside: float) -> Vector:
        """Return the least whole number that each strays beyond with chance `outside` at most."""
        k, chances = self._law()
        # of |z| > t, t = 0, 1, …: 2(k − t) numbers of 2k + 1
        share = chances / (2 * k + 1)
        above, sums = (np.cumsum(own[::-1])[::-1] for own in (share, share * k))
        tails = grown(2.0, _OFF) * (sums - k * above)
        return frozen(np.full(self.size, float(np.argmax(tails <= outside))))

    def block(self, count: int, randomness: Randomness) -> Integers:
        """Return so many draws, shape (count, d): a k, and where from −k to k each number is."""
        k = np.repeat(self.steps.many(count, randomness), self.size)
        drawn = below((2 * k + 1).astype(np.uint64), k.size, randomness) - k
        return drawn.reshape(count, self.size)


def is_cube(changes: AbstractBody) -> bool:
    """Return whether one neighbour moves each of several whole numbers by 1 at most.

    Examples:
        >>> is_cube(PointDifferences(np.array([[0.0, 0], [1, 1], [1, 0]])))
        True
        >>> is_cube(SymmetricPoints(np.array([[0.0, 2], [1, 1]])))
        False
    """
    if not isinstance(changes, (PointDifferences, SymmetricPoints)) or changes.dimension < 2:  # noqa: PLR2004
        return False
    points, apart = changes.points, isinstance(changes, PointDifferences)
    far = np.ptp(points, axis=0) if apart else np.max(np.abs(points), axis=0)
    return np.array_equal(points, np.rint(points)) and bool(np.all(far <= 1))
