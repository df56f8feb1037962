# SPDX-License-Identifier: Apache-2.0
"""Reports that are a random vector on a grid: what they say together, and how far off it is.

A device draws V with E V = m·u and E V Vᵀ = a·uuᵀ + b(I − uuᵀ), u a unit vector with E u = y/FULL,
and reports the integers ⌊sV + U⌋, U uniform in [0, 1)^r: their mean is sV, whatever V, and each
differs from it by a variance of at most 1/4, independent of the others. So report/(s·m) is an
unbiased estimate of y/FULL, with

    Var⟨x, estimate⟩ ≤ (a⟨x, u⟩² + b(|x|² − ⟨x, u⟩²))/m² + |x|²/(4s²m²) − ⟨x, y/FULL⟩².
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lownoise.local_model.moments import covariance_of, mean_of, moment_sums
from lownoise.local_model.randomizer import AbstractRandomizer
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import grown

if TYPE_CHECKING:
    from lownoise.local_model.randomizer import Takes
    from lownoise.numbers.arrays import Integers, Vector


class AbstractVectorRandomizer(AbstractRandomizer):
    """Reports ⌊sV + U⌋ of a vector V no longer than a whole number."""

    takes: ClassVar[Takes] = "ball"
    scale: int  # s

    @property
    @abstractmethod
    def longest(self) -> int:
        """At least the length of V."""

    @property
    @abstractmethod
    def moments(self) -> tuple[float, float, float]:
        """The numbers m, a and b of V's mean and second moments."""

    @property
    def lowest(self) -> Integers:
        """The least value of each integer of a report, shape (r,)."""
        return np.full(self.dimension, -self.scale * self.longest, dtype=np.int64)

    @property
    def highest(self) -> Integers:
        """The greatest value of each integer of a report, shape (r,)."""
        return np.full(self.dimension, self.scale * self.longest, dtype=np.int64)

    @property
    def _longest_square(self) -> int:
        """The square of a report's length at most: |⌊sV + U⌋ − sV| < √r, so it is (sL + √r)²."""
        inside, r = self.scale * self.longest, self.dimension
        return inside**2 + r + math.isqrt(4 * inside**2 * r)

    def allowed(self, reports: Integers) -> Any:  # noqa: ANN401
        """Return which rows can be reports: within the ranges, and no longer than honest ones."""
        inside = super().allowed(reports)
        squares = np.sum(np.where(inside[:, None], reports, 0) ** 2, axis=1)
        return inside & (squares <= self._longest_square)

    def sums(self, reports: Integers) -> Any:  # noqa: ANN401
        """Return the sums of reports and of their products, shape (r + r(r + 1)/2,).

        Exact: 64-bit integers, or Python's where there are too many reports for those.
        """
        return moment_sums(reports, self.scale * self.longest)

    def mean(self, sums: Any, count: int) -> Vector:  # noqa: ANN401
        """Return the estimate of the mean of points in the unit ball, shape (r,)."""
        return mean_of(sums, self.dimension, count, self.scale * self.moments[0])

    def covariance(self, sums: Any, count: int) -> Vector:  # noqa: ANN401
        """Return the sample covariance of estimates over n, shape (r, r), of n ≥ 2 reports."""
        return covariance_of(sums, self.dimension, count, self.scale * self.moments[0])

    def variances(self, answers: Vector) -> Vector:
        """Return the greatest variance of each answer, of one report, rounded up; shape (m,).

        It is that of records near the center, whose direction is the answer's.
        """
        m, a, b = self.moments
        squares = answers**2 if answers.ndim == 1 else np.sum(answers**2, axis=1)
        return frozen(squares * grown((max(a, b) + self._rounding) / m**2))

    def total_variance(self, answers: Vector) -> float:
        """Return at least the greatest sum of all answers' variances."""
        m, a, b = self.moments
        squares = answers**2 if answers.ndim == 1 else np.sum(answers**2, axis=0)
        if a <= b:
            longest = 0.0
        elif answers.ndim == 1:
            longest = float(np.max(squares))
        else:
            longest = float(np.linalg.norm(answers, 2)) ** 2
        total = (b + self._rounding) * float(np.sum(squares)) + max(a - b, 0.0) * longest
        return grown(total / m**2)

    @property
    def _rounding(self) -> float:
        """The variance that rounding adds to a coordinate of V, at most."""
        return 0.25 / self.scale**2

    def influence(self, answers: Vector) -> Vector:
        """Return at least how far one report for another moves n times each answer, shape (m,).

        Both are at most as long as an honest one, and within the ranges.
        """
        size = np.abs(answers)
        length = size if size.ndim == 1 else np.sqrt(np.sum(size**2, axis=1))
        along = size if size.ndim == 1 else np.sum(size, axis=1)
        inside = self.scale * self.longest
        furthest = np.minimum(length * math.sqrt(self._longest_square + 1), along * inside)
        return frozen(grown(2 * furthest / (self.scale * self.moments[0])))
