# SPDX-License-Identifier: Apache-2.0
"""Where the exact values lie, all at once: an ellipsoid, and intervals that hold together."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arguments import checked_level
from lownoise.numbers.arrays import frozen
from lownoise.numbers.intervals import precision

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Mean
    from lownoise.sensitivity.factors import AbstractShape

MISSED = 1e-6  # the chance with which draws do not cover


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Region:
    """The ellipsoid {x : (x − center)ᵀ Σ⁻¹ (x − center) ≤ radius²}.

    Args:
        center: the released answers, shape (m,).
        noise: the shape Σ of their noise.
        radius: in standard deviations.
    """

    center: Vector
    noise: AbstractShape
    radius: float

    def contains(self, point: ArrayLike) -> bool:
        """Return whether `point`, shape (m,), lies in the region.

        Raises:
            PlanError: where the point has another number of coordinates.
        """
        x = np.asarray(point, dtype=np.float64)
        if x.shape != self.center.shape:
            raise PlanError(f"point has shape {x.shape}; give one of shape {self.center.shape}")
        return self.noise.quadratic_form(x - self.center) <= self.radius**2

    @property
    def box(self) -> Vector:
        """The ends of the region in each coordinate, shape (m, 2): valid together, as it is."""
        extent = self.radius * np.sqrt(self.noise.diagonal())
        return frozen(np.stack([self.center - extent, self.center + extent], axis=1))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Ratios:
    """d ratios of one denominator, as they were observed, and what is known of their noise.

    Args:
        numerator: what was observed, shape (…, d).
        denominator: what was observed, shape (…).
        variance: of each numerator's noise, shape (d,).
        covariance: of each numerator's noise with the denominator's, shape (d,).
        scale: the standard deviation of the denominator's noise.
    """

    numerator: Vector
    denominator: Vector
    variance: Vector
    covariance: Vector
    scale: float

    @classmethod
    def of(cls, estimate: Vector, deviations: Vector, beside: Vector) -> Ratios:
        """Return the ratios of all answers to the last.

        Args:
            estimate: shape (…, d + 1).
            deviations: of each, shape (d + 1,).
            beside: the covariance of each with the last, shape (d + 1,).
        """
        return cls(
            numerator=estimate[..., :-1],
            denominator=estimate[..., -1],
            variance=np.square(deviations[:-1]),
            covariance=beside[:-1],
            scale=float(deviations[-1]),
        )

    def variance_at(self, ratio: Vector) -> Vector:
        """Return the variance of numerator − ratio·denominator, shape (…, d)."""
        found = self.variance - 2 * ratio * self.covariance + np.square(ratio * self.scale)
        return np.asarray(np.maximum(found, 0.0))

    @property
    def deviations(self) -> Vector:
        """How far each ratio strays, to first order; NaN where the denominator is not above 0."""
        count = np.where(self.denominator > 0, self.denominator, np.nan)[..., None]
        return np.asarray(np.sqrt(self.variance_at(self.numerator / count)) / count)

    def interval(self, radius: Vector | float) -> Vector:
        """Return what `ratio_interval` does, shape (…, d, 2)."""
        return ratio_interval(
            self.numerator,
            self.denominator,
            variance=self.variance,
            covariance=self.covariance,
            scale=self.scale,
            radius=radius,
        )


def normal_quantile(level: float) -> float:
    """Return z with P(|g| ≤ z) = level for a standard normal g.

    Raises:
        PlanError: where `level` is not between 0 and 1.

    Examples:
        >>> round(normal_quantile(0.95), 6)
        1.959964
    """
    return normal_tail(1 - checked_level(level))


def normal_tail(outside: float) -> float:
    """Return z with P(|g| > z) = `outside`, above 0, for a standard normal g."""
    return -NormalDist().inv_cdf(outside / 2)


def simultaneous_quantile(level: float, answers: int) -> float:
    """Return z with P(max |gᵢ| ≤ z) ≥ level over `answers` standard normals, dependent or not.

    Šidák's inequality: the chance is least where they are independent, level^{1/m} each.

    Raises:
        PlanError: where `level` is not between 0 and 1.

    Examples:
        >>> round(simultaneous_quantile(0.95, 4), 4)
        2.4909
    """
    level = checked_level(level)
    # 1 − level^{1/m} without cancellation
    beyond = -np.expm1(np.log(level) / answers)
    return -NormalDist().inv_cdf(float(beyond) / 2)


def chi_quantile(level: float, dimension: int) -> float:
    """Return r with P(‖g‖₂ ≤ r) = level for a standard normal vector, to 40 bits, rounded up.

    Raises:
        PlanError: where `level` is not between 0 and 1.

    Examples:
        >>> round(chi_quantile(0.95, 2), 6)
        2.447747
    """
    level = checked_level(level)
    return _chi_radius(float(level), dimension)


@lru_cache  # an answer's regions are asked for again and again at one level
def _chi_radius(level: float, dimension: int) -> float:
    from flint import arb

    def inside(radius: float) -> bool:
        half = arb(radius) ** 2 / 2
        return bool(half.gamma_lower(arb(dimension) / 2, regularized=1) < level)

    low, high = 0.0, 2.0
    with precision(256 + 2 * dimension):  # the series cancels about that much
        while inside(high):
            low, high = high, 2 * high
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if inside(middle) else (low, middle)
    return high


@lru_cache(maxsize=64)
def covering_rank(count: int, outside: float, missed: float = MISSED) -> int:
    """Return which of `count` rising numbers is above the quantile but with chance `missed`.

    The number of draws beyond the quantile is binomial with mean count·outside; the one that is
    taken has k draws beyond it, with P(Binomial ≤ k) ≤ `missed`.

    Raises:
        PlanError: where `count` is not `enough`.
    """
    from scipy.special import betaincc

    if not enough(count, outside, missed):
        raise PlanError("the level is too high for an interval from draws; give a lower level")
    beyond = bisect_left(  # the least k with P(Binomial ≤ k) ≥ `missed`
        range(count), missed, key=lambda k: betaincc(k + 1, count - k, outside)
    )
    return count - max(beyond, 1)


def enough(count: int, outside: float, missed: float = MISSED) -> bool:
    """Return whether the greatest of `count` is above the quantile but with chance `missed`."""
    return (1 - outside) ** count <= missed


def ratio_interval(
    numerator: Vector,
    denominator: Vector | float,
    *,
    variance: Vector,
    covariance: Vector,
    scale: Vector | float,
    radius: Vector | float,
) -> Vector:
    """Return Fieller's interval for each of d ratios of one denominator, shape (…, d, 2).

    It holds every t whose numerator − t·denominator is within `radius` deviations of its noise.
    About the ratio θ that was observed, with the noise of numerator − θ·denominator of variance a²
    and covariance k with the denominator's, those are the t = θ + u with
    u²n² ≤ radius²(a² − 2uk + u²b²): an interval where n > radius·b, and unbounded otherwise.
    Nothing here depends on the point that numerators are taken about.

    Args:
        numerator: what was observed, shape (…, d).
        denominator: n, what was observed, shape (…).
        variance: of each numerator's noise, shape (d,).
        covariance: of each numerator's noise with the denominator's, shape (d,).
        scale: b, the standard deviation of the denominator's noise, or one of each ratio's.
        radius: in standard deviations, a number or one a ratio.

    Returns:
        The ends; NaN where one of the d is unbounded: the denominator may be zero, and nothing
        is excluded.

    Examples:
        >>> one = np.ones(1)
        >>> ends = ratio_interval(
        ...     6 * one, 3.0, variance=one, covariance=0 * one, scale=0.0, radius=3.0
        ... )
        >>> ends.tolist()
        [[1.0, 3.0]]
    """
    n = np.asarray(denominator, dtype=np.float64)[..., None]
    left = n**2 - np.square(np.multiply(radius, scale))
    bounded = (n > 0) & np.all(left > 0, axis=-1, keepdims=True)
    n, left = np.where(bounded, n, np.nan), np.where(bounded, left, np.nan)
    ratio = numerator / n
    about = np.maximum(variance - 2 * ratio * covariance + np.square(ratio * scale), 0.0)
    tilt = np.square(radius) * (covariance - ratio * scale**2)
    half = radius * np.sqrt(tilt * (covariance - ratio * scale**2) + left * about)
    ends = [ratio + (-tilt - half) / left, ratio + (half - tilt) / left]
    return np.stack(ends, axis=-1)


def ratio(estimate: Vector, center: Vector) -> Vector:
    """Return center + sum/count, shape (…, d); NaN where the count, last, is not above 0."""
    sums, count = estimate[..., :-1], estimate[..., -1:]
    return frozen(center + sums / np.where(count > 0, count, np.nan))


def within_bounds(question: Mean, ends: Vector) -> Vector:
    """Return intervals about the center cut to the bounds; the bounds where there are none."""
    box = question.domain
    bounds = np.stack([box.lower, box.upper], axis=1)
    cut = np.clip(question.center[:, None] + ends, bounds[:, :1], bounds[:, 1:])
    return frozen(np.where(np.isnan(cut), bounds, cut))
