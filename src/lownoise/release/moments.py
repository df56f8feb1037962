# SPDX-License-Identifier: Apache-2.0
"""Variances, covariances, correlations and least squares from released moments, at no cost.

With means a and m of columns and of products about the middles c, the covariance of two columns is
m − (aᵢ − cᵢ)(aⱼ − cⱼ), of all rows, divided by n. Noise makes the product of two means too great,
on average, by the covariance of their noise. That is public, and where the number of rows is, it is
added again: covariances are unbiased then. Other numbers here are not exactly unbiased.

Intervals are by the delta method: a smooth function of the answers strays about as its gradient
times their noise does, whose deviation is known. They hold where noise is small beside variances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast, final

import numpy as np

from lownoise.errors import PlanError, quoted
from lownoise.numbers.arguments import checked_level
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.release.guarantees import tail_quantile
from lownoise.release.readable import frame
from lownoise.release.regions import normal_quantile
from lownoise.sets.domains import MomentBox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas import DataFrame

    from lownoise.numbers.arrays import Vector
    from lownoise.release.terms import Terms


@final
@readable
@dataclass(frozen=True, eq=False)
class Coefficients:
    """A line through all rows, by least squares: target = intercept + Σ slopes·columns.

    Args:
        target: the column that is explained.
        columns: those that explain it, k of them.
        slopes: of each column, shape (k,); NaN where their covariances are those of no columns, or
            of columns that follow from each other.
        intercept: what is added; NaN likewise.
        lower: ends of an interval for each coefficient,
        upper: shapes (k,).
        level: of each interval, over the noise.
    """

    target: str
    columns: tuple[str, ...]
    slopes: Vector
    intercept: float
    lower: Vector
    upper: Vector
    level: float


@final
@readable
@dataclass(frozen=True, eq=False)
class MomentAnswers:
    """What follows from the moments of d columns; see `ln.Moments`.

    Args:
        terms: of the release.
        estimate: its answers.
    """

    terms: Terms
    estimate: Vector

    def __post_init__(self) -> None:
        if not isinstance(getattr(self.terms.question, "domain", None), MomentBox):
            raise PlanError("moments are of ln.Moments; other answers have estimate and interval")

    @property
    def columns(self) -> tuple[str, ...]:
        """The d columns, in the order of all that follows."""
        return tuple(self.terms.question.sources)

    @property
    def _domain(self) -> MomentBox:
        return cast("MomentBox", self.terms.question.domain)

    @cached_property
    def _means(self) -> tuple[Vector, Vector]:
        """The means of all moments, shape (D,), and their covariance, to first order."""
        covariance = np.asarray(self.terms.covariance)
        if self.terms.size is not None:
            return self.estimate, covariance
        sums, count = self.estimate[:-1], float(self.estimate[-1])
        if count <= 0:
            return np.full(sums.size, math.nan), covariance[:-1, :-1]
        slope = np.hstack([np.eye(sums.size), -(sums / count)[:, None]]) / count
        return self.terms.question.center + sums / count, slope @ covariance @ slope.T

    @property
    def mean(self) -> Vector:
        """The mean of each column, shape (d,)."""
        return frozen(self._means[0][: len(self.columns)].copy())

    @property
    def second_moments(self) -> Vector:
        """The mean of xxᵀ about 0, shape (d, d): unbiased where the number of rows is public."""
        middle = self._domain.middle
        across = np.outer(middle, self.mean)
        return frozen(
            self._means[0][self._domain.places] + across + across.T - np.outer(middle, middle)
        )

    @cached_property
    def covariance(self) -> Vector:
        """The covariances of columns over all rows, divided by n, shape (d, d).

        Unbiased where the number of rows is public. Noise may make a variance negative, and the
        matrix that of no table; nothing is repaired here.
        """
        found, noise = self._means
        d = len(self.columns)
        away = self.mean - self._domain.middle
        own = found[self._domain.places] - np.outer(away, away)
        return frozen(own + noise[:d, :d] if self.terms.size is not None else own)

    @property
    def variance(self) -> Vector:
        """The variance of each column, shape (d,): may be negative, see `covariance`."""
        return frozen(np.diag(self.covariance).copy())

    @property
    def correlation(self) -> Vector:
        """The correlations, cut to [−1, 1], shape (d, d); NaN where a variance is not above 0."""
        return frozen(np.clip(self._correlation()[0], -1.0, 1.0))

    def covariance_interval(self, level: float = 0.95) -> Vector:
        """Return an interval for each covariance, shape (d, d, 2): lower, upper.

        Variances are cut at 0.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        found = self._around(self.covariance, self._slopes, level)
        diagonal = np.arange(len(self.columns))
        found[diagonal, diagonal] = np.maximum(found[diagonal, diagonal], 0.0)
        return frozen(found)

    def correlation_interval(self, level: float = 0.95) -> Vector:
        """Return an interval for each correlation, shape (d, d, 2), cut to [−1, 1].

        Where a variance is not above 0 it is all of [−1, 1].

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        found = self._around(*self._correlation(), level)
        whole = np.where(np.isnan(found), np.array([-1.0, 1.0]), found)
        return frozen(np.clip(whole, -1.0, 1.0))

    def coefficients(
        self, target: str, on: Sequence[str] | None = None, *, level: float = 0.95
    ) -> Coefficients:
        """Return the coefficients of a line by least squares.

        Args:
            target: the column that is explained.
            on: those that explain it; by default all others.
            level: of each interval, between 0 and 1.

        Raises:
            PlanError: where a name is unknown or given twice, none is left, or the level is out of
                range.
        """
        others = [name for name in self.columns if name != target] if on is None else list(on)
        names = [target, *others]
        for name in names:
            if name not in self.columns or names.count(name) > 1:
                raise PlanError(
                    f"column={quoted(name)} is unknown or given twice; give some of "
                    f"{', '.join(self.columns)}, each once"
                )
        if not others:
            raise PlanError("on names no column; give at least one beside the target")
        y, *x = (self.columns.index(name) for name in names)
        known = self.covariance[np.ix_(x, x)]
        values = np.full(len(x), math.nan)
        slopes = np.full((len(x), self._means[0].size), math.nan)
        if np.all(np.isfinite(known)) and np.min(np.linalg.eigvalsh(known)) > 0:
            values = np.linalg.solve(known, self.covariance[x, y])
            rest = self._slopes[x, y] - np.einsum("ijk,j->ik", self._slopes[np.ix_(x, x)], values)
            slopes = np.linalg.solve(known, rest)
        ends = self._around(values, slopes, level)
        return Coefficients(
            target,
            tuple(others),
            frozen(values),
            float(self.mean[y] - values @ self.mean[x]),
            frozen(ends[:, 0].copy()),
            frozen(ends[:, 1].copy()),
            level,
        )

    def to_pandas(self, level: float = 0.95) -> DataFrame:
        """Return a row a pair of columns: covariance and correlation, with their intervals.

        Raises:
            PlanError: where pandas is not installed, or the level is out of range.
        """
        left, right = np.triu_indices(len(self.columns))
        pairs = {"covariance": self.covariance, "correlation": self.correlation}
        ends = {
            "covariance": self.covariance_interval(level),
            "correlation": self.correlation_interval(level),
        }
        made: dict[str, object] = {
            "column": [self.columns[i] for i in left],
            "with": [self.columns[j] for j in right],
        }
        for name, table in pairs.items():
            made[name] = table[left, right]
            made[f"{name}_low"], made[f"{name}_high"] = ends[name][left, right].T
        return frame(made)

    @cached_property
    def _slopes(self) -> Vector:
        """The gradient of each covariance along the means of moments, shape (d, d, D)."""
        d, places = len(self.columns), self._domain.places
        away = self.mean - self._domain.middle
        found = np.zeros((d, d, self._means[0].size))
        for i in range(d):
            for j in range(d):
                found[i, j, places[i, j]] = 1.0
                found[i, j, i] -= away[j]
                found[i, j, j] -= away[i]
        return found

    def _correlation(self) -> tuple[Vector, Vector]:
        """Return the correlations, not cut, and their gradients."""
        d = len(self.columns)
        with np.errstate(invalid="ignore"):
            own = np.where(self.variance > 0, self.variance, math.nan)
        size = np.sqrt(np.outer(own, own))
        found = self.covariance / size
        each = self._slopes[np.arange(d), np.arange(d)] / own[:, None]
        slopes = self._slopes / size[:, :, None]
        slopes = slopes - found[:, :, None] * (each[:, None] + each[None]) / 2
        known = np.flatnonzero(~np.isnan(own))
        found[known, known], slopes[known, known] = 1.0, 0.0
        return found, slopes

    def _around(self, values: Vector, slopes: Vector, level: float) -> Vector:
        """Return values less and plus what they stray by with chance `level`."""
        outside = 1 - checked_level(level)
        if self.terms.gaussian:
            far = normal_quantile(level)
        else:
            noise = self.terms.mechanism.noise
            known = noise.quantile(outside)
            far = tail_quantile(outside, noise.moment) if known is None else known
        squares = np.einsum("...i,ij,...j->...", slopes, self._means[1], slopes)
        half = far * np.sqrt(np.maximum(squares, 0.0))
        return np.stack([values - half, values + half], axis=-1)
