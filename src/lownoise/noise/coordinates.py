# SPDX-License-Identifier: Apache-2.0
"""The law of one coordinate of pure noise: what sums of such numbers have a transform by.

Noise b·r·u has r of the law Gamma(d + 1, 1) and u uniform in the unit ball of a norm in d
dimensions. In a cube, each coordinate of u is uniform in [−1, 1]. In the hull of a box with a
corner at 0 and of its opposite, halved: of the other coordinates those differ by 1 at most that fit
with y, 1 + (d − 1)(1 − |y|) in volume; so u is uniform with chance 2/(d + 1), and of the triangular
density 1 − |y| otherwise (ours). With E e^{zrY} = E(1 − zY)^{−d−1}, these integrate to

    uniform:    ((1 − z)^{−d} − (1 + z)^{−d})/2dz,
    triangular: ((1 − z)^{1−d} + (1 + z)^{1−d} − 2)/d(d − 1)z².

In one dimension both are Laplace numbers, 1/(1 − z²).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_LAST = 2.0**-58  # of a series


@final
@dataclass(frozen=True)
class CoordinateLaw:
    """That of one coordinate of noise of scale 1.

    Args:
        dimension: d, of all of the noise.
        even: the chance with which a coordinate of a uniform point is uniform; else it is
            triangular.

    Examples:
        >>> law = CoordinateLaw(1)
        >>> law.variance, law.transform(np.array([0.6])).round(12)  # 1/(1 − 0.36)
        (2.0, array([1.5625]))
    """

    dimension: int
    even: float = 1.0

    @property
    def variance(self) -> float:
        """Its variance."""
        d = self.dimension
        return (d + 1) * (d + 2) * (self.even / 3 + (1 - self.even) / 6)

    def transform(self, z: Any) -> Any:  # noqa: ANN401 (real or complex)
        """Return E e^{zX}, as its analytic continuation has it beyond the poles ±1."""
        d, even = self.dimension, self.even
        if d == 1:
            return 1 / (1 - np.square(z))
        near = np.abs(z) < self._close
        found, far, square = np.empty_like(z), z[~near], np.square(z[near])
        above, below = (1 - far) ** -d, (1 + far) ** -d
        own = even * (above - below) / (2 * d * far)
        if even < 1:
            corners = (1 - far) * above + (1 + far) * below - 2
            own += (1 - even) * corners / (d * (d - 1) * np.square(far))
        found[~near] = own
        total = np.zeros_like(square)
        for coefficient in self._series[::-1]:
            total = total * square + coefficient
        found[near] = total
        return found

    @cached_property
    def _close(self) -> float:
        """How near to 0 closed forms cancel, and few terms of a series are enough."""
        return min(0.5, 4 / self.dimension)

    @cached_property
    def _series(self) -> list[float]:
        """E X^{2k}/(2k)!, the coefficients of z^{2k}, as many as count there."""
        found: list[float] = []
        rising, k = 1.0, 0
        while not found or found[-1] * self._close ** (2 * k - 2) > _LAST:
            found.append(rising / (2 * k + 1) * (self.even + (1 - self.even) / (k + 1)))
            for j in (2 * k + 1, 2 * k + 2):  # of d + j over j
                rising *= (self.dimension + j) / j
            k += 1
        return found


LAPLACE = CoordinateLaw(1)


@final
@dataclass(frozen=True, eq=False)
class Coordinates:
    """Numbers of one law, each of a scale.

    Args:
        law: of each; in one dimension they are independent.
        scales: b of each, 0 where there is no noise, shape (r,).
    """

    law: CoordinateLaw
    scales: Vector

    def weighted(self, row: Vector) -> Vector | None:
        """Return the scales of independent numbers that Σ aᵢXᵢ is the sum of.

        Args:
            row: a, shape (r,).

        Returns:
            Shape (r,), or None where numbers are added that depend on each other.
        """
        found: Vector = np.abs(row) * self.scales
        apart = self.law.dimension == 1 or np.count_nonzero(found) <= 1
        return found if apart else None


def log_concave_moment(order: float) -> float:
    """Return the most that (E|X|^q)^{1/q}/σ is for symmetric log-concave X (Borell 1973), q ≥ 2.

    As p ↦ ln(E|X|^p/Γ(p + 1)) is concave and 0 at 0, (E|X|^p/Γ(p + 1))^{1/p} falls: no moments
    exceed a Laplace number's.

    Examples:
        >>> round(log_concave_moment(4.0), 6) == round(6**0.25, 6)
        True
    """
    return math.exp(math.lgamma(order + 1) / order) / math.sqrt(2)
