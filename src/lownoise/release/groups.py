# SPDX-License-Identifier: Apache-2.0
"""Released means by groups, read one margin at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.release.group_view import GroupView
from lownoise.release.readable import frame, free
from lownoise.release.regions import ratio, ratio_interval, within_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas import DataFrame

    from lownoise.numbers.arrays import Vector
    from lownoise.release.terms import Terms


@final
@readable
@dataclass(frozen=True, eq=False)
class GroupTable:
    """The released numbers of one margin, a row a group.

    Args:
        by: the attributes.
        labels: the group of each row, a text an attribute, shape (g, k).
        columns: that were summed, d names.
        counts: how many rows each group has, unbiased, so that small ones may be negative; (g,).
        sums: of the columns, unbiased, shape (g, d).
        means: sum over count, which is not exactly unbiased, cut to nothing; NaN where the noisy
            count is not positive; shape (g, d).
        intervals: of the means, by Fieller, each with chance `level`, cut to the columns' bounds:
            all of these where the count may be zero; shape (g, d, 2).
        bounded: whether each group's intervals follow from its noise, its count being surely above
            zero; shape (g,).
        mean_deviations: how far each mean strays, to first order; NaN as they; shape (g, d).
        count_deviation: the standard deviation of the noise of each count.
        sum_deviations: that of the sums, shape (d,).
        level: over the noise.

    Examples:
        >>> import pandas as pd
        >>> import lownoise as ln
        >>> pay = ln.Mean(["pay"], ln.Box([0], [10]), by={"sex": ["F", "M"]}, way=1)
        >>> plan = ln.plan(pay, budget=ln.zcdp(1e5), relation="add_remove")
        >>> release = plan.release(pd.DataFrame({"sex": ["F", "M", "M"], "pay": [3, 4, 6]}))
        >>> found = release.groups("sex")
        >>> found.labels, found.means.round(1).ravel().tolist()
        ((('F',), ('M',)), [3.0, 5.0])
    """

    by: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...]
    counts: Vector
    sums: Vector
    means: Vector
    intervals: Vector
    bounded: Vector
    mean_deviations: Vector
    count_deviation: float
    sum_deviations: Vector
    level: float

    def to_pandas(self) -> DataFrame:
        """Return a row a group: its labels, its count, and of each column mean, ends and sum.

        Raises:
            PlanError: where pandas is not installed.
        """
        found = {name: [own[i] for own in self.labels] for i, name in enumerate(self.by)}
        numbers: dict[str, object] = {"count": self.counts}
        for j, name in enumerate(self.columns):
            numbers[f"mean({name})"] = self.means[:, j]
            numbers[f"low({name})"] = self.intervals[:, j, 0]
            numbers[f"high({name})"] = self.intervals[:, j, 1]
            numbers[f"sum({name})"] = self.sums[:, j]
        return frame({**found, **{free(name, self.by): own for name, own in numbers.items()}})


@final
@readable
@dataclass(frozen=True, eq=False)
class TotalTable:
    """The released totals of one margin, a row a group.

    Args:
        by: the attributes.
        labels: the group of each row, a text an attribute, shape (g, k).
        columns: that were summed, d names.
        sums: of the columns, unbiased, shape (g, d).
        intervals: of the sums, each with chance `level`, shape (g, d, 2).
        sum_deviations: the standard deviation of the noise of each, shape (d,).
        level: over the noise.
    """

    by: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...]
    sums: Vector
    intervals: Vector
    sum_deviations: Vector
    level: float

    def to_pandas(self) -> DataFrame:
        """Return a row a group: its labels, and of each column its total and ends.

        Raises:
            PlanError: where pandas is not installed.
        """
        found = {name: [own[i] for own in self.labels] for i, name in enumerate(self.by)}
        numbers: dict[str, object] = {}
        for j, name in enumerate(self.columns):
            numbers[f"sum({name})"] = self.sums[:, j]
            numbers[f"low({name})"] = self.intervals[:, j, 0]
            numbers[f"high({name})"] = self.intervals[:, j, 1]
        return frame({**found, **{free(name, self.by): own for name, own in numbers.items()}})


@final
class Groups:
    """Released means by groups.

    Args:
        terms: of the release.
        integers: the release itself.
    """

    def __init__(self, terms: Terms, integers: Any) -> None:  # noqa: ANN401 (a row of them)
        self._terms, self._integers, self._view = terms, integers, GroupView(terms)

    def table(self, names: Sequence[str], level: float) -> GroupTable | TotalTable:
        """Return one margin; see `Release.groups`."""
        if self._view.question.counted:
            return self._means(names, level)
        return self._totals(names, level)

    def _labels(self, chosen: Sequence[int]) -> tuple[tuple[str, ...], ...]:
        own = [self._view.question.groups.attributes[i] for i in chosen]
        return tuple(
            tuple(a.label(k) for a, k in zip(own, place, strict=True))
            for place in np.ndindex(*(a.size for a in own))
        )

    def _totals(self, names: Sequence[str], level: float) -> TotalTable:
        view, question = self._view, self._view.question
        chosen = question.groups.index(names)
        deviations = view.scales(chosen)[0]
        half = np.asarray(view.ratio_radius(chosen, level) * deviations)
        sums = self._terms.mechanism.totals.sums(self._integers, chosen)
        sums = sums.reshape(-1, question.length)
        return TotalTable(
            by=question.groups.names(chosen),
            labels=self._labels(chosen),
            columns=question.columns,
            sums=frozen(sums),
            intervals=frozen(np.stack([sums - half, sums + half], axis=-1)),
            sum_deviations=frozen(np.asarray(deviations)),
            level=float(level),
        )

    def _means(self, names: Sequence[str], level: float) -> GroupTable:
        view, question = self._view, self._view.question
        groups, mean = question.groups, question.mean
        chosen = groups.index(names)
        by = groups.names(chosen)
        deviations, beside = view.scales(chosen)
        radius = view.ratio_radius(chosen, level)
        found = self._terms.mechanism.totals.sums(self._integers, chosen)
        found = found.reshape(-1, question.length)
        counts = found[:, -1]
        means = ratio(found, mean.center)
        ends = ratio_interval(
            found[:, :-1],
            counts,
            variance=np.square(deviations[:-1]),
            covariance=beside[:-1],
            scale=float(deviations[-1]),
            radius=radius,
        )
        slope = means - mean.center
        square = np.square(deviations[:-1]) - 2 * slope * beside[:-1]
        square += np.square(slope * deviations[-1])
        strays = np.sqrt(np.maximum(square, 0.0)) / counts[:, None]
        return GroupTable(
            by=by,
            labels=self._labels(chosen),
            columns=question.columns,
            counts=frozen(counts.copy()),
            sums=frozen(found[:, :-1] + counts[:, None] * mean.center),
            means=means,
            intervals=within_bounds(mean, ends),
            bounded=frozen(~np.isnan(ends[:, 0, 0])),
            mean_deviations=frozen(strays),
            count_deviation=float(deviations[-1]),
            sum_deviations=self._sum_deviations(deviations, beside),
            level=float(level),
        )

    def _sum_deviations(self, deviations: Vector, beside: Vector) -> Vector:
        """Return the deviations of sums about 0, for one group: of s + center·count."""
        center = self._view.question.mean.center
        square = np.square(deviations[:-1]) + 2 * center * beside[:-1]
        square += np.square(center * deviations[-1])
        return frozen(np.sqrt(np.maximum(square, 0.0)))
