# SPDX-License-Identifier: Apache-2.0
"""Independent numbers of one law, a scale each: Laplace noise, and geometric noise.

A change s reveals Σ|sᵢ|/bᵢ, b the scales. A law says the rest: how its numbers are drawn, how far
they stray, and what one of them reveals that moves. Noise on tables and on parities is made of
such numbers, too, and takes a law as it is. Laplace noise is of 001, Theorem 2.6.

*Geometric noise* is whole numbers whose chances fall by e^{1/b} with every step away from 0. It is
the least noise of a count, which one record moves by 1 (`docs/theory.md`): there is no grid that is
finer than what records change. On a fine grid it is nearly Laplace noise.
"""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import NONNEGATIVE, Field
from lownoise.noise.abstract import (
    NOISES,
    AbstractNoise,
    Loss,
    quotient_up,
)
from lownoise.noise.coordinates import log_concave_moment
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import fraction_up, grown, sqrt_up
from lownoise.privacy import noise_curve, pure_curve
from lownoise.samplers.gamma import laplace, simulated_noise
from lownoise.samplers.laplace import MOST, rounded_laplace, two_sided_geometric
from lownoise.samplers.lazy import rounded
from lownoise.samplers.uniform import UniformNormBall
from lownoise.sets.norms import ImageNorm
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy
    from lownoise.sets.bodies import AbstractBody


@dataclass(frozen=True, eq=False)
class AbstractIndependentNoise(AbstractNoise):
    """Independent numbers of a law, the split of ε over the integers in their scales.

    Args:
        scales: b, above `least`, shape (r,).

    Raises:
        PlanError: where a scale is out of range.
    """

    scales: Vector

    on_lattice: ClassVar[bool] = False  # whether its numbers are whole, so that grids are coarse
    least: ClassVar[float] = 0.0  # which scales are above
    most: ClassVar[float] = sys.float_info.max  # and at most

    def __post_init__(self) -> None:
        name, least = type(self).__name__, self.least
        if not np.all(self.scales > least):
            raise PlanError(f"{name}.scales are not all above {least:g}; plan again")
        if not np.all(self.scales <= self.most):
            raise PlanError(f"{name}.scales are beyond {self.most:g}; plan again")

    @staticmethod
    @abstractmethod
    def variances(scales: Vector) -> Vector:
        """Return the variance of a number of each scale, shape (k,)."""

    @staticmethod
    @abstractmethod
    def precision(rates: Vector) -> tuple[Vector, Vector]:
        """Return the inverse of the variance for each 1/b, and its slope there; shapes (k,)."""

    @staticmethod
    @abstractmethod
    def rounded(scales: Vector, randomness: Randomness) -> Integers:
        """Return the rounding of a number of each scale, at most 2^52; shape (k,)."""

    @staticmethod
    @abstractmethod
    def rho_up(move: float) -> float:
        """Return at least the ρ of one number that moves by so many of its scales."""

    @staticmethod
    @abstractmethod
    def mu_up(move: float) -> float:
        """Return at least its μ."""

    @staticmethod
    @abstractmethod
    def moment_of(scales: Vector, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of every X that is linear in numbers of these scales."""

    @property
    def dimension(self) -> int:
        """The number of integers r."""
        return int(self.scales.size)

    @property
    def integer_valued(self) -> bool:
        """As of its law."""
        return self.on_lattice

    def loss(self, changes: AbstractBody) -> Loss:
        """Return the greatest Σ|sᵢ|/bᵢ over `changes`, and ρ and μ of such changes, rounded up."""
        gauge = ImageNorm(self.scales, NormBall(self.dimension, 1.0))
        found = gauge.sensitivity_up(changes)
        if not math.isfinite(found):
            return Loss(math.inf)
        moves = map(quotient_up, changes.widths().tolist(), self.scales.tolist())
        return independent_loss(list(moves), found, type(self))

    def scaled(self, factor: float) -> Self:
        """Return so many times this noise."""
        return type(self)(frozen(self.scales * factor))

    def covariance(self) -> Vector:
        """Return the variances, shape (r,)."""
        return frozen(self.variances(self.scales))

    def moment(self, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of every answer's noise X."""
        return self.moment_of(self.scales, order)


def independent_loss(
    moves: Sequence[float], epsilon: float, law: type[AbstractIndependentNoise]
) -> Loss:
    """Return what independent numbers reveal that move by t of their scales, Σt ≤ ε.

    ρ and μ² add over the numbers. Of Laplace numbers they are convex in each t, so the most is
    where the largest moves are made in full, one after the other, until ε is used up. Of numbers
    on a lattice ρ/t and μ²/t grow with t (`docs/theory.md`), so no more is revealed than where the
    last of those moves is made in full, too.

    Args:
        moves: the most that each number may move.
        epsilon: the most that all may move together.
        law: of the numbers.

    Examples:
        >>> half = independent_loss([0.5, 0.5], 1.0, LaplaceNoise)
        >>> 0.2130 < half.rho < 0.2131 < 0.367
        True
        >>> 0.367 < independent_loss([1.0, 1.0], 1.0, LaplaceNoise).rho < 0.368
        True
    """
    if not math.isfinite(epsilon):
        return Loss(math.inf)
    left, made = Fraction(epsilon), Counter[float]()
    for most in sorted(moves, reverse=True):
        if left <= 0 or most <= 0:
            break
        full = math.isfinite(most) and (law.on_lattice or Fraction(most) <= left)
        own = most if full else fraction_up(left)
        made[own] += 1
        left -= Fraction(own)
    rho = sum((n * Fraction(law.rho_up(t)) for t, n in made.items()), Fraction(0))
    square = sum((n * Fraction(law.mu_up(t)) ** 2 for t, n in made.items()), Fraction(0))
    return Loss(epsilon, 0.0, fraction_up(rho), sqrt_up(fraction_up(square)))


Law = TypeVar("Law", bound=AbstractIndependentNoise)


def independent_kind(name: str) -> Callable[[type[Law]], type[Law]]:
    """Return a decorator that declares a law as noise on answers and as noise on all counts."""

    def declare(law: type[Law]) -> type[Law]:
        for own in (name, f"{name}_histogram"):
            field = Field("scales", NONNEGATIVE)
            NOISES.kind(own, field, make=lambda _, __, scales: law(scales))(law)
        return law

    return declare


@independent_kind("laplace")
@final
@dataclass(frozen=True, eq=False)
class LaplaceNoise(AbstractIndependentNoise):
    """Independent numbers of density exp(−|z|/bᵢ)/2bᵢ.

    A change s of the integers reveals Σ|sᵢ|/bᵢ: the K-norm mechanism of the cross-polytope with
    corners ±bᵢeᵢ. The split of ε over the integers is in the scales.

    Args:
        scales: b, above 0, shape (r,).

    Raises:
        PlanError: where a scale is no number above 0.
    """

    @property
    def independent_scales(self) -> Vector:
        """The scales, shape (r,)."""
        return self.scales

    @staticmethod
    def variances(scales: Vector) -> Vector:
        """Return 2b², shape (k,)."""
        return np.asarray(2 * np.square(scales))

    @staticmethod
    def precision(rates: Vector) -> tuple[Vector, Vector]:
        """Return t²/2 and its slope for t = 1/b."""
        return np.square(rates) / 2, rates

    @staticmethod
    def rounded(scales: Vector, randomness: Randomness) -> Integers:
        """Return the rounding of a number of each scale, at most 2^52; shape (k,)."""
        return rounded_laplace(scales, randomness=randomness)

    @staticmethod
    def rho_up(move: float) -> float:
        """Return at least the ρ of one number that moves by so many of its scales."""
        return noise_curve.laplace_rho_up(move)

    @staticmethod
    def mu_up(move: float) -> float:
        """Return at least its μ."""
        return noise_curve.laplace_mu_up(move)

    @staticmethod
    def moment_of(scales: Vector, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of every log-concave X."""
        del scales
        return log_concave_moment(order)

    def draw(self, randomness: Randomness) -> Lazy:
        """Return the noise, known by its bits so far."""
        return laplace(self.scales, randomness=randomness)

    def block(self, count: int, randomness: Randomness) -> Integers:
        """Return the rounding of so many draws, shape (count, r)."""
        scales = np.tile(self.scales, count)
        if np.all(scales <= MOST):
            return rounded_laplace(scales, randomness=randomness).reshape(count, -1)
        drawn = rounded(laplace(scales, randomness=randomness), randomness=randomness)
        return np.array(drawn, dtype=object).reshape(count, -1)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        cross = UniformNormBall(self.dimension, 1.0)  # whose noise is independent Laplace
        return simulated_noise(cross, 1.0, count, randomness) * self.scales


_FASTEST = 512.0  # 1/b: beyond it variances are near the least float
_FEW = 8  # scales of which each is looked at
_PARTS = 64.0  # in a factor of e, of which the ends are looked at where there are more
_MOST_MOMENTS = 200  # that tails are bounded by
_SUMMED = 0.5  # 1/b from which cumulants are summed term by term
_OFF = 2.0**-36  # of sums of many logarithms


@independent_kind("geometric")
@final
@dataclass(frozen=True, eq=False)
class GeometricNoise(AbstractIndependentNoise):
    """Independent whole numbers of chances (1 − qᵢ)/(1 + qᵢ)·qᵢ^|z|, qᵢ = e^{−1/bᵢ}.

    A change s of the integers reveals Σ|sᵢ|/bᵢ, and no less of a change of one of them.

    Args:
        scales: b, from 1/512 to 2^52, shape (r,).

    Raises:
        PlanError: where a scale is out of range.

    Examples:
        >>> noise = GeometricNoise(np.array([0.25]))
        >>> noise.covariance().round(5), 2 / 4.0**2  # and of Laplace noise
        (array([0.03801]), 0.125)
    """

    on_lattice: ClassVar[bool] = True
    least: ClassVar[float] = 1 / _FASTEST
    most: ClassVar[float] = MOST

    @staticmethod
    def variances(scales: Vector) -> Vector:
        """Return 2q/(1 − q)², shape (k,)."""
        return 1 / GeometricNoise.precision(1 / scales)[0]

    @staticmethod
    def precision(rates: Vector) -> tuple[Vector, Vector]:
        """Return cosh t − 1 and its slope for t = 1/b."""
        rates = np.minimum(rates, _FASTEST)
        return 2 * np.square(np.sinh(rates / 2)), np.sinh(rates)

    @staticmethod
    def rounded(scales: Vector, randomness: Randomness) -> Integers:
        """Return a number of each scale, shape (k,)."""
        return two_sided_geometric(scales, randomness=randomness)

    @staticmethod
    def rho_up(move: float) -> float:
        """Return at least ρ of randomised response, which a move by one step is."""
        return fraction_up(pure_curve.rho_up(Fraction(move)))

    @staticmethod
    def mu_up(move: float) -> float:
        """Return at least its μ."""
        return sqrt_up(fraction_up(pure_curve.mu_square_up(Fraction(move))))

    @staticmethod
    def moment_of(scales: Vector, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of every X that is linear in numbers of these scales.

        Cumulants of even order are above 0 and add over the numbers; over the right power of X's
        variance none exceeds the greatest of any one of them. Moments of even order grow with
        cumulants, and (E|X|^q)^{1/q} with q.
        """
        found = np.unique(scales)
        ends = [(b, b) for b in found.tolist()]
        if len(ends) > _FEW:
            parts = _PARTS * max(1.0, 1 / float(found[0]))
            places = np.unique(np.floor(np.log(found) * parts)).tolist()
            ends = [(math.exp(k / parts), math.exp((k + 1) / parts)) for k in places]
        half = min(max(math.ceil(order / 2), 1), _MOST_MOMENTS)
        if order > 2 * _MOST_MOMENTS:
            return math.inf
        return grown(math.exp(_log_moments(tuple(ends))[half] / (2 * half)), _OFF)

    def far(self, outside: float) -> Vector:
        """Return the least whole numbers that each strays beyond with chance `outside` at most."""
        q = np.exp(-1 / self.scales)
        steps = grown(self.scales * np.log(2 / (outside * (1 + q))), _OFF)
        return frozen(np.maximum(np.ceil(steps) - 1, 0.0))

    def block(self, count: int, randomness: Randomness) -> Integers:
        """Return so many draws, shape (count, r)."""
        return self.rounded(np.tile(self.scales, count), randomness).reshape(count, -1)


@lru_cache(maxsize=64)
def _log_moments(ends: tuple[tuple[float, float], ...]) -> Vector:
    """Return ln of at least E X^{2m}/σ^{2m} for m = 0, 1, …, each scale between two ends."""
    j = np.arange(1, _MOST_MOMENTS + 1)
    cumulants = np.max(
        [_log_cumulants(high) - j * _log_cumulants(low)[0] for low, high in ends], axis=0
    )
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 2 * _MOST_MOMENTS + 1)))])
    found = np.zeros(_MOST_MOMENTS + 1)
    for m in range(1, _MOST_MOMENTS + 1):
        i = j[:m]
        # μ_2m = Σ (2m − 1 over 2i − 1)·κ_2i·μ_{2m − 2i}
        parts = logs[2 * m - 1] - logs[2 * i - 1] - logs[2 * (m - i)]
        parts = parts + cumulants[:m] + found[m - i]
        most = float(np.max(parts))
        found[m] = most + math.log(float(np.sum(np.exp(parts - most))))
    return frozen(found)


@lru_cache(maxsize=256)
def _log_cumulants(scale: float) -> Vector:
    """Return ln of at least κ_2, κ_4, … of one number; κ_2 to all digits.

    κ_{2j} = 2·Σ n^{2j−1}·e^{−n/b} over n ≥ 1, and by Lipschitz' formula that is
    2·(2j − 1)!·Σ (1/b + 2πik)^{−2j} over all whole k, all but k = 0 less than 4·(2πb)^{−2j} of it.
    """
    x, j = 1 / scale, np.arange(1, _MOST_MOMENTS + 1)
    if x >= _SUMMED:
        far = 2 * _MOST_MOMENTS
        n = np.arange(1, math.ceil((far + 12 * math.sqrt(far) + 60) / x) + 2)
        parts = np.multiply.outer(2 * j - 1, np.log(n)) - x * n
        most = np.max(parts, axis=1)
        found = math.log(2) + most + np.log(np.sum(np.exp(parts - most[:, None]), axis=1))
    else:
        logs = np.cumsum(np.log(np.arange(1, 2 * _MOST_MOMENTS)))[2 * j - 2]  # (2j − 1)!
        found = math.log(2) + logs - 2 * j * math.log(x)
        found += np.log1p(4 * (x / (2 * math.pi)) ** (2 * j))
    found[0] = math.log(float(GeometricNoise.variances(np.array([scale]))[0]))
    return frozen(found)
