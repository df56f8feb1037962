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
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from lownoise.errors import PlanError, quoted
from lownoise.numbers.arguments import checked_level
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.questions import GroupedMean
from lownoise.release.answer_table import AbstractTabular, AnswerColumn, AnswerTable, ends_of
from lownoise.release.group_view import GroupView
from lownoise.release.group_words import ByGroup, labels_of
from lownoise.release.guarantees import farthest
from lownoise.release.regions import normal_quantile
from lownoise.sets.domains import AbstractMoments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from pandas import DataFrame

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.release.terms import Terms
    from lownoise.sensitivity.factors import AbstractShape


@final
@readable
@dataclass(frozen=True, eq=False)
class Coefficients(AbstractTabular):
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

    def table(self) -> AnswerTable:
        """Return a row a column that explains: its slope, with its interval, and the intercept."""
        unit = "the target’s unit a unit of the column"
        ends = ends_of("slope", f"about {self.level:g}")
        every = len(self.columns)
        return AnswerTable(
            (
                AnswerColumn("target", [self.target] * every, "the column that is explained"),
                AnswerColumn("column", self.columns, "a column that explains it"),
                AnswerColumn("slope", self.slopes, "what follows from released moments", unit),
                AnswerColumn("low", self.lower, ends["low"], unit),
                AnswerColumn("high", self.upper, ends["high"], unit),
                AnswerColumn(
                    "intercept",
                    np.full(every, self.intercept),
                    "what is added, the same in every row",
                    "the target’s unit",
                ),
            )
        )


@final
@readable
@dataclass(frozen=True, eq=False)
class MomentAnswers(AbstractTabular):
    """What follows from the moments of d columns; see `ln.Moments`.

    Args:
        terms: of the release, or of one group.
        estimate: its answers.
        times: what the noise of the terms is multiplied by, in the group.
        summed: noise of several groups that theirs is the sum of; None where it is one's own.
        beside: what else is added, independent of it: its factor; None where nothing is.
    """

    terms: Terms
    estimate: Vector
    times: float = 1.0
    summed: Any = None
    beside: AbstractShape | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The d columns, in the order of all that follows."""
        return tuple(self.terms.question.sources)

    @property
    def _domain(self) -> AbstractMoments:
        return cast("AbstractMoments", self.terms.question.domain)

    @cached_property
    def _means(self) -> Vector:
        """The means of all moments, shape (D,)."""
        if self.terms.size is not None:
            return self.estimate
        sums, count = self.estimate[:-1], float(self.estimate[-1])
        if count <= 0:
            return np.full(sums.size, math.nan)
        return np.asarray(self.terms.question.center + sums / count)

    @cached_property
    def _noise(self) -> Callable[[Integers, Integers], Vector]:
        """What returns covariances of answers, by the places of two."""
        if self.terms.gaussian:
            own: AbstractShape = self.terms.mechanism.answer_noise.scaled(self.times)
            beside = self.beside
            if beside is None:
                return own.entries
            return lambda rows, columns: own.entries(rows, columns) + beside.entries(rows, columns)
        covariance, more = self.terms.covariance * self.times**2, self.beside
        if more is not None:
            return lambda rows, columns: covariance[rows, columns] + more.entries(rows, columns)
        return lambda rows, columns: np.asarray(covariance[rows, columns])

    def _variances(self, places: Integers, slopes: Vector) -> Vector:
        """Return the variances of functions of the means of moments, to first order.

        Args:
            places: of the moments that each depends on, shape (…, k).
            slopes: along those, shape (…, k).
        """
        if self.terms.size is None:
            sums, count = self.estimate[:-1], float(self.estimate[-1])
            with np.errstate(divide="ignore", invalid="ignore"):
                along = -np.sum(slopes * sums[places], axis=-1, keepdims=True) / count**2
                slopes = np.concatenate([slopes / count, along], axis=-1)
            last = np.full((*places.shape[:-1], 1), sums.size)
            places = np.concatenate([places, last], axis=-1)
        found = self._noise(places[..., :, None], places[..., None, :])
        return np.asarray(np.einsum("...i,...ij,...j->...", slopes, found, slopes))

    @property
    def mean(self) -> Vector:
        """The mean of each column, shape (d,)."""
        return frozen(self._means[: len(self.columns)].copy())

    @property
    def second_moments(self) -> Vector:
        """The mean of xxᵀ about 0, shape (d, d): unbiased where the number of rows is public."""
        middle = self._domain.middle
        across = np.outer(middle, self.mean)
        return frozen(
            self._means[self._domain.places] + across + across.T - np.outer(middle, middle)
        )

    @cached_property
    def covariance(self) -> Vector:
        """The covariances of columns over all rows, divided by n, shape (d, d).

        Unbiased where the number of rows is public. Noise may make a variance negative, and the
        matrix that of no table; nothing is repaired here.
        """
        away = self.mean - self._domain.middle
        own = self._means[self._domain.places] - np.outer(away, away)
        if self.terms.size is None:
            return frozen(own)
        of = np.arange(len(self.columns))
        return frozen(own + self._noise(of[:, None], of[None, :]))

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
        found = self._around(self.covariance, *self._slopes, level)
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
        variances = values
        if np.all(np.isfinite(known)) and np.min(np.linalg.eigvalsh(known)) > 0:
            values = np.asarray(np.linalg.solve(known, self.covariance[x, y]), float)
            inverse = np.asarray(np.linalg.inv(known), float)
            variances = self._coefficient_variances(x, y, values, inverse)
        ends = self._within(values, variances, level)
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
        return self.table(level).to_pandas()

    def export(self, path: str | PathLike[str], *, level: float = 0.95, **dialect: Any) -> None:  # noqa: ANN401
        """Write the same as `Release.export` does, in its forms and dialects.

        Raises:
            PlanError: where the level is out of range.
            FileError: where the ending is another, or the file cannot be written.
        """
        self.table(level).export(path, **dialect)

    def table(self, level: float = 0.95) -> AnswerTable:
        """Return a row a pair of columns, as `to_pandas`."""
        left, right = np.triu_indices(len(self.columns))
        made = [
            AnswerColumn("column", [self.columns[i] for i in left], "one column"),
            AnswerColumn("with", [self.columns[j] for j in right], "the other; or the same one"),
        ]
        product = "the product of both columns’ units"
        for name, unit, values, ends in (
            ("covariance", product, self.covariance, self.covariance_interval(level)),
            ("correlation", "none", self.correlation, self.correlation_interval(level)),
        ):
            said = f"the {name} of both over all rows, from released moments"
            made.append(AnswerColumn(name, values[left, right], said, unit))
            named = ends_of(name, f"about {level:g}")
            made += [
                AnswerColumn(f"{name}_{end}", ends[left, right, k], meaning, unit)
                for k, (end, meaning) in enumerate(named.items())
            ]
        return AnswerTable(tuple(made))

    def _coefficient_variances(
        self, x: list[int], y: int, slopes: Vector, inverse: Vector
    ) -> Vector:
        """Return the variances of slopes: K⁻¹(dc − dK·slopes), K and c what they are made of."""
        away, places = self.mean - self._domain.middle, self._domain.places
        left = away[y] - float(slopes @ away[x])
        at = np.append(np.append(places[x, y], places[np.ix_(x, x)].ravel()), [*x, y])
        k = len(x)
        rows = np.zeros((k, at.size))  # of dc − dK·slopes
        rows[:, :k] = np.eye(k)
        rows[:, k : k + k * k] = -np.kron(np.eye(k), slopes)
        # means: cᵢ less Σ Kᵢⱼ·slopeⱼ is −(xᵢ)(y − Σ slopeⱼxⱼ) in them
        rows[:, k + k * k : -1] = -left * np.eye(k) + np.outer(away[x], slopes)
        rows[:, -1] = -away[x]
        used, where = np.unique(at, return_inverse=True)
        summed = np.zeros((k, used.size))
        np.add.at(summed.T, where, rows.T)
        return self._forms(used, inverse @ summed)

    def _forms(self, places: Integers, slopes: Vector) -> Vector:
        """Return the same variances of many functions of the same moments, shapes (k,), (n, k)."""
        rows = np.zeros((len(slopes), self.estimate.size))
        rows[:, places] = slopes
        if self.terms.size is None:
            sums, count = self.estimate[:-1], float(self.estimate[-1])
            rows[:, -1] = -rows[:, :-1] @ sums / count
            rows /= count
        if self.terms.gaussian:
            seen = cast("Any", self.terms.mechanism.answer_noise).seen(rows)
            found = self.times**2 * np.sum(seen * seen, axis=1)
        else:
            found = self.times**2 * np.sum((rows @ self.terms.covariance) * rows, axis=1)
        seen = rows if self.beside is None else self.beside.seen(rows)
        return np.asarray(found if self.beside is None else found + np.sum(seen**2, axis=1))

    @cached_property
    def _slopes(self) -> tuple[Integers, Vector]:
        """Which moments each covariance depends on, shape (d, d, 3), and its gradient there."""
        d, places = len(self.columns), self._domain.places
        away = np.broadcast_to(self.mean - self._domain.middle, (d, d))
        left, right = np.indices((d, d))
        at = np.stack([places, left, right], axis=-1)
        return at, np.stack([np.ones((d, d)), -away, -away.T], axis=-1)

    def _correlation(self) -> tuple[Vector, Integers, Vector]:
        """Return the correlations, not cut, which moments each depends on, and gradients."""
        d, places = len(self.columns), self._domain.places
        with np.errstate(invalid="ignore"):
            own = np.where(self.variance > 0, self.variance, math.nan)
        size = np.sqrt(np.outer(own, own))
        found = self.covariance / size
        away = self.mean - self._domain.middle
        left, right = np.indices((d, d))
        squares = np.diag(places)
        at = np.stack([places, squares[left], squares[right], left, right], axis=-1)
        along = found * (away / own)[:, None] - away[None, :] / size
        slopes = np.stack(
            [1 / size, -found / 2 / own[:, None], -found / 2 / own, along, along.T], axis=-1
        )
        known = np.flatnonzero(~np.isnan(own))
        found[known, known], slopes[known, known] = 1.0, 0.0
        return found, at, slopes

    def _around(self, values: Vector, places: Integers, slopes: Vector, level: float) -> Vector:
        """Return values less and plus what they stray by with chance `level`."""
        return self._within(values, self._variances(places, slopes), level)

    def _within(self, values: Vector, variances: Vector, level: float) -> Vector:
        outside = 1 - checked_level(level)
        if self.terms.gaussian:
            far = normal_quantile(level)
        else:
            far = farthest(self.summed or self.terms.mechanism.noise, outside)
        half = far * np.sqrt(np.maximum(variances, 0.0))
        return np.stack([values - half, values + half], axis=-1)


@final
class MomentGroups:
    """What follows from moments by groups, one margin at a time.

    Args:
        terms: of the release.
        integers: the release itself.
    """

    def __init__(self, terms: Terms, integers: Any) -> None:  # noqa: ANN401 (a row of them)
        self._terms, self._integers, self._view = terms, integers, GroupView(terms)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Say where a group's own numbers are.

        Raises:
            AttributeError: always; what is here is found without it.
        """
        if name.startswith("_") or not hasattr(MomentAnswers, name):
            raise AttributeError(f"moments by groups have no {name}; they have groups()")
        raise AttributeError(
            f"{name} is of one group; give release.moments.groups(…)[labels].{name}"
        )

    def groups(self, *names: str) -> ByGroup[MomentAnswers]:
        """Return what follows in each group of one margin, by its labels.

        Args:
            names: of the attributes that rows are grouped by, of any margin that follows; none for
                all rows.

        Raises:
            QuestionError: where the margin does not follow from what was asked.
        """
        view, question = self._view, self._view.question
        chosen = question.groups.index(names)
        times, beside = view.factors(chosen)
        summed = None if view.one_noise(chosen) else self._terms.mechanism.noise
        found = self._terms.mechanism.totals.sums(self._integers, chosen)
        rows = found.reshape(-1, question.length)
        return ByGroup(
            {
                own: MomentAnswers(view.mean_terms, frozen(row.copy()), times, summed, beside)
                for own, row in zip(labels_of(question.groups, chosen), rows, strict=True)
            }
        )


def moments_of(terms: Terms, estimate: Callable[[], Vector], integers: Any) -> Any:  # noqa: ANN401
    """Return what follows from moments, of all rows or by groups.

    Args:
        terms: of the release.
        estimate: returns its answers.
        integers: the release itself.

    Raises:
        PlanError: where the question was not `ln.Moments`.
    """
    question = terms.question
    domain = getattr(getattr(question, "mean", question), "domain", None)
    if not isinstance(domain, AbstractMoments):
        raise PlanError("moments need ln.Moments; use estimate and interval")
    if isinstance(question, GroupedMean):
        return MomentGroups(terms, integers)
    return MomentAnswers(terms, estimate())
