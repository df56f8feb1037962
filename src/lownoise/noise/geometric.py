# SPDX-License-Identifier: Apache-2.0
"""Geometric noise: whole numbers whose chances fall by e^{1/b} with every step away from 0.

It is the least noise of a count, which one record moves by 1 (`docs/theory.md`): there is no grid
that is finer than what records change. On a fine grid it is nearly Laplace noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from lownoise.noise.independent import AbstractIndependentNoise, independent_kind
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import fraction_up, grown, sqrt_up
from lownoise.privacy import pure_curve
from lownoise.samplers.laplace import MOST, two_sided_geometric

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness

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

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        return self.block(count, randomness).astype(np.float64)


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
