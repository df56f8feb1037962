# SPDX-License-Identifier: Apache-2.0
"""Staircases on a lattice: whole numbers whose chances fall by e^ε with every m steps from 0.

Where one neighbour moves a number by at most m whole steps, chances that stay the same for r steps
and fall by e^ε there, and again with every m more, are as private as those that fall with each
step, and more of them are near 0. Geng & Viswanath have the staircase for real and for whole
numbers; that whole numbers are drawn from `StepRadius` is ours: z is uniform on |z| < r + mk, and
r + mk − ½ = m(γ + k) for γ = (r − ½)/m, so k has chances ∝ (γ + k)·e^{−εk}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Self, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import NONNEGATIVE, WHOLES, Field
from lownoise.noise.abstract import NOISES, AbstractNoise, Loss, composed, pure_loss
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import fraction_up, grown
from lownoise.privacy import aside_curve
from lownoise.privacy.radial_curve import variation_up
from lownoise.samplers.laplace import MOST
from lownoise.samplers.lazy import below
from lownoise.samplers.steps import StepRadius

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.sets.bodies import AbstractBody

MOST_WIDTH = 1 << 20
_OFF = 2.0**-36  # of sums of chances in floats
_FINE = 64  # firsts of which each is tried


@final
@dataclass(frozen=True)
class DiscreteStairs:
    """The law of whole numbers z of chances ∝ e^{−εk}, k the steps that |z| is beyond.

    k is 0 for |z| < r, 1 for r ≤ |z| < r + m, and so on; ε = m/b for the scale b, exactly. |k(z) −
    k(z − s)| ≤ ⌈|s|/m⌉ for all whole z and s, so that m steps reveal ε and fewer no more.

    Args:
        width: m, from 1 to 2^20.
        first: r, from 1 to m.

    Raises:
        PlanError: where they are not so.

    Examples:
        >>> law = DiscreteStairs(2, 1)
        >>> round(law.variance(0.5), 4), 2 * 0.5**2  # ε = 4; and of Laplace noise
        (0.1868, 0.5)
    """

    width: int
    first: int
    on_lattice: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.width <= MOST_WIDTH:
            raise PlanError(
                "a discrete staircase has steps of 1 to 2^20, and a first one no wider; plan again"
            )

    def epsilon(self, scale: float) -> Fraction:
        """Return ε of a step, exactly."""
        return Fraction(self.width) / Fraction(scale)

    def steps(self, scale: float) -> StepRadius:
        """Return the law of k.

        Raises:
            PlanError: where ε is out of range.
        """
        return _steps(self, scale)

    def _ends(self, scale: float, order: float = 2.0) -> tuple[Vector, Vector]:
        """Return r + mk, and the chances of k, in floats, as far as moments of an order need."""
        chances = self.steps(scale).law(order)[1]
        return self.first + self.width * np.arange(chances.size, dtype=np.float64), chances

    def variance(self, scale: float) -> float:
        """Return the variance of a number."""
        ends, chances = self._ends(scale)
        return float(chances @ (ends * (ends - 1) / 3))

    def moment(self, scale: float, order: float) -> float:
        """Return at least (E|z|^q)^{1/q}/σ.

        z on |z| < n plus a uniform number of ±½ is one on ±(n − ½), with no lesser moments.
        """
        ends, chances = self._ends(scale, order)
        if (variance := self.variance(scale)) == 0:
            return math.inf
        relative = ends / ends[-1]
        half = (ends - 0.5) / ends[-1]
        most = np.minimum((relative - 1 / ends[-1]) ** order, half**order / (order + 1))
        found = math.pow(float(chances @ most), 1 / order) * float(ends[-1])
        return max(grown(found / math.sqrt(variance), _OFF), 1.0)

    def far(self, scale: float, outside: float) -> float:
        """Return the least whole number that one strays beyond with chance `outside` at most."""
        ends, chances = self._ends(scale)
        share = chances / (2 * ends - 1)

        def beyond(t: int) -> float:
            return grown(float(share @ np.maximum(2 * (ends - 1 - t), 0.0)), _OFF)

        low, high = -1, int(ends[-1])
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if beyond(middle) <= outside else (middle, high)
        return float(high)

    def loss(self, scale: float, most: float) -> Loss:
        """Return what a number reveals that moves by so many steps at most, rounded up.

        It is a whole number and moves by whole steps, so a bound on these may be rounded down.
        """
        if not math.isfinite(most):
            return Loss(math.inf)
        own, steps = self.epsilon(scale), math.floor(most)
        if steps == 0:
            return Loss(0.0, 0.0, 0.0, 0.0)
        whole = own * -(-steps // self.width)
        if whole > own:
            return pure_loss(whole)
        epsilon = fraction_up(whole)
        variation = variation_up(self.steps(scale), 1.0, euclidean=True)
        mu = aside_curve.mu_up(epsilon, variation)
        return Loss(epsilon, 0.0, aside_curve.rho_up(epsilon, variation), mu)

    def draw(self, scale: float, count: int, randomness: Randomness) -> Integers:
        """Return so many numbers, exactly: which k, and where on |z| < r + mk."""
        ends = self.first + self.width * self.steps(scale).many(count, randomness)
        return below((2 * ends - 1).astype(np.uint64), count, randomness) - (ends - 1)


@lru_cache(maxsize=256)
def _steps(law: DiscreteStairs, scale: float) -> StepRadius:
    return StepRadius(1, law.epsilon(scale), Fraction(2 * law.first - 1, 2 * law.width))


@lru_cache(maxsize=1024)
def least_stairs(width: int, scale: float) -> DiscreteStairs:
    """Return the staircase of steps of m with the least variance, or hardly more where m > 64.

    Any r is as private.

    Args:
        width: m.
        scale: b, of which ε = m/b.

    Raises:
        PlanError: where no staircase has such steps.

    Examples:
        >>> least_stairs(8, 2.0).first, least_stairs(8, 16.0).first
        (2, 4)
    """

    def variance(first: int) -> float:
        return DiscreteStairs(width, first).variance(scale)

    low, high = 1, width
    while high - low > _FINE:
        third = (high - low) // 3
        if variance(low + third) <= variance(high - third):
            high -= third
        else:
            low += third
    return DiscreteStairs(width, min(range(low, high + 1), key=variance))


@NOISES.kind(
    "discrete_staircase",
    Field("scales", NONNEGATIVE),
    Field("widths", WHOLES),
    Field("firsts", WHOLES),
    make=lambda _, __, **fields: DiscreteStaircaseNoise(**fields),
)
@final
@dataclass(frozen=True, eq=False)
class DiscreteStaircaseNoise(AbstractNoise):
    """Independent whole numbers, each of a discrete staircase of its own.

    A change s of the integers reveals Σ ⌈|sᵢ|/mᵢ⌉·mᵢ/bᵢ at most.

    Args:
        scales: b, at most 2^52, shape (r,).
        widths: m, shape (r,).
        firsts: r of each, shape (r,).

    Raises:
        PlanError: where one is out of range.

    Examples:
        >>> noise = DiscreteStaircaseNoise(np.array([2.0]), np.array([8]), np.array([2]))
        >>> noise.covariance().round(3), 2 * 2.0**2  # of steps up to 8 at ε = 4; of Laplace noise
        (array([4.08]), 8.0)
    """

    scales: Vector
    widths: Integers
    firsts: Integers
    integer_valued = True

    def __post_init__(self) -> None:
        shapes = {own.shape for own in (self.scales, self.widths, self.firsts)}
        if len(shapes) > 1 or self.scales.ndim != 1:
            raise PlanError("noise.scales, widths and firsts are not as many; plan again")
        if not np.all((self.scales > 0) & (self.scales <= MOST)):
            raise PlanError("noise.scales are not above 0 and at most 2^52; plan again")
        for law, scale in self._laws:
            law.steps(scale)

    @property
    def _laws(self) -> list[tuple[DiscreteStairs, float]]:
        parts = zip(*(own.tolist() for own in (self.widths, self.firsts)), strict=True)
        return list(zip([DiscreteStairs(*own) for own in parts], self.scales.tolist(), strict=True))

    @classmethod
    def least(cls, widths: Integers, scales: Vector) -> Self:
        """Return the noise of least variance that m steps of each number reveal m/b of."""
        pairs = zip(widths.tolist(), scales.tolist(), strict=True)
        firsts = [least_stairs(width, scale).first for width, scale in pairs]
        return cls(frozen(scales), widths, np.array(firsts, dtype=np.int64))

    @property
    def dimension(self) -> int:
        """The number of integers r."""
        return int(self.scales.size)

    def loss(self, changes: AbstractBody) -> Loss:
        """Return what is revealed where each number moves as far as it can, rounded up."""
        parts = zip(self._laws, changes.widths().tolist(), strict=True)
        found = [law.loss(scale, most) for (law, scale), most in parts]
        return found[0] if len(found) == 1 else composed(found)

    def scaled(self, factor: float) -> Self:
        """Return it with so many times the scales."""
        return replace(self, scales=frozen(self.scales * factor))

    def covariance(self) -> Vector:
        """Return the variances, shape (r,)."""
        return frozen(np.array([law.variance(scale) for law, scale in self._laws]))

    def moment(self, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of every X that is linear in the numbers.

        That of a sum is at most the sum of those, and σ no less than theirs over √r.
        """
        most = max((law.moment(scale, order) for law, scale in self._laws), default=1.0)
        return most * math.sqrt(max(self.dimension, 1))

    def far(self, outside: float) -> Vector:
        """Return the least whole numbers that each strays beyond with chance `outside` at most."""
        return frozen(np.array([law.far(scale, outside) for law, scale in self._laws]))

    def block(self, count: int, randomness: Randomness) -> Integers:
        """Return so many draws, shape (count, r)."""
        drawn = [law.draw(scale, count, randomness) for law, scale in self._laws]
        return np.stack(drawn, axis=1) if drawn else np.zeros((count, 0), dtype=np.int64)
