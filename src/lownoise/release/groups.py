# SPDX-License-Identifier: Apache-2.0
"""Released means by groups, read one margin at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.release.answer_table import AbstractTabular, AnswerColumn, AnswerTable, ends_of
from lownoise.release.group_view import GroupView
from lownoise.release.group_words import group_of, labels_of
from lownoise.release.readable import free
from lownoise.release.regions import Ratios, ratio, within_bounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.release.terms import Terms


@final
@readable
@dataclass(frozen=True, eq=False)
class GroupTable(AbstractTabular):
    """The released numbers of one margin, a row a group.

    Of `ln.Sum` it has totals and their intervals, and nothing of counts and means: those are None.

    Args:
        by: the attributes.
        labels: the group of each row, a text an attribute, shape (g, k).
        columns: that were summed, d names.
        sums: of the columns, unbiased, shape (g, d).
        sum_intervals: of the sums, each with chance `level`, shape (g, d, 2).
        sum_deviations: the standard deviation of the noise of each sum, shape (d,).
        level: over the noise.
        counts: how many rows each group has, unbiased, so that small ones may be negative; (g,).
        count_intervals: of the counts, each with chance `level`, shape (g, 2).
        count_deviation: the standard deviation of the noise of each count.
        means: sum over count, which is not exactly unbiased, cut to nothing; NaN where the noisy
            count is not positive; shape (g, d).
        mean_intervals: of the means, by Fieller, each with chance `level`, cut to the columns'
            bounds: all of these where the count may be zero; shape (g, d, 2).
        mean_deviations: how far each mean strays, to first order; NaN as they; shape (g, d).
        bounded: whether each group's intervals follow from its noise, its count being surely above
            zero; shape (g,).
        ratios: what the means are made of, about the center.

    Examples:
        >>> import pandas as pd
        >>> import lownoise as ln
        >>> pay = ln.Mean(["pay"], ln.Box([0], [10]), by={"sex": ["F", "M"]}, way=1)
        >>> plan = ln.plan(pay, budget=ln.zcdp(1e5), relation="add_remove")
        >>> release = plan.release(pd.DataFrame({"sex": ["F", "M", "M"], "pay": [3, 4, 6]}))
        >>> found = release.groups("sex")
        >>> found.labels, found.means.round(1).ravel().tolist()
        ((('F',), ('M',)), [3.0, 5.0])
        >>> {name: round(number, 1) for name, number in found["M"].items()}
        {'count': 2.0, 'mean(pay)': 5.0, 'low(pay)': 5.0, 'high(pay)': 5.0, 'sum(pay)': 10.0}
    """

    by: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...]
    sums: Vector
    sum_intervals: Vector
    sum_deviations: Vector
    level: float
    counts: Vector | None = None
    count_intervals: Vector | None = None
    count_deviation: float | None = None
    means: Vector | None = None
    mean_intervals: Vector | None = None
    mean_deviations: Vector | None = None
    bounded: Vector | None = None
    ratios: Ratios | None = field(default=None, repr=False)

    def __getitem__(self, group: str | tuple[str, ...]) -> dict[str, float]:
        """Return the numbers of one group, by the names of the columns of `to_pandas`.

        Args:
            group: its labels, an attribute each in the order of `by`; of one attribute a text.

        Raises:
            QuestionError: where there is no such group.
        """
        row = self.labels.index(group_of(group, self.labels))
        return {own.name: float(own.cells[row]) for own in self.table().columns[len(self.by) :]}

    @property
    def intervals(self) -> Vector:
        """The intervals of the means, or of the sums where there are none, shape (g, d, 2)."""
        return self.sum_intervals if self.mean_intervals is None else self.mean_intervals

    def answers(self) -> Iterator[Answers]:
        """Yield what there is of each group: its count, and of each column its mean and sum.

        Where the count may be zero its noise bounds no mean, and none is said: NaN, as reports.
        """
        every = len(self.labels)
        if self.counts is not None and self.count_intervals is not None:
            deviations = np.full(every, self.count_deviation)
            yield Answers("count", None, self.counts, self.count_intervals, deviations)
        for j, name in enumerate(self.columns):
            if self.means is not None and self.mean_deviations is not None:
                known = np.where(np.asarray(self.bounded), 1.0, np.nan)
                means, strays = known * self.means[:, j], known * self.mean_deviations[:, j]
                yield Answers("mean", name, means, self.intervals[:, j], strays)
            deviations = np.full(every, self.sum_deviations[j])
            yield Answers("sum", name, self.sums[:, j], self.sum_intervals[:, j], deviations)

    def table(self) -> AnswerTable:
        """Return a row a group: its labels, its count, and of each column mean, ends and sum.

        Of totals the ends are those of the sum.
        """
        found = [
            AnswerColumn(name, [own[i] for own in self.labels], f"which group it is: {name}")
            for i, name in enumerate(self.by)
        ]
        for own in self.answers():
            unit = "rows" if own.column is None else "the column’s unit"
            numbers = {own.name: (own.meaning, own.estimates)}
            if own.kind != "count" and (own.kind == "mean" or self.means is None):
                ends = zip(
                    ends_of(own.kind, f"{self.level:g}").items(), own.intervals.T, strict=True
                )
                numbers |= {f"{end}({own.column})": (said, v) for (end, said), v in ends}
            found += [
                AnswerColumn(free(name, self.by), cells, meaning, unit)
                for name, (meaning, cells) in numbers.items()
            ]
        return AnswerTable(tuple(found))


@final
@dataclass(frozen=True, eq=False)
class Answers:
    """One number of every group.

    Args:
        kind: "count", "mean" or "sum".
        column: of which; None of counts.
        estimates: shape (g,).
        intervals: shape (g, 2).
        deviations: shape (g,).
    """

    kind: str
    column: str | None
    estimates: Vector
    intervals: Vector
    deviations: Vector

    @property
    def name(self) -> str:
        """What it is called: "count", "mean(pay)", "sum(pay)"."""
        return self.kind if self.column is None else f"{self.kind}({self.column})"

    @property
    def meaning(self) -> str:
        """What it is, in words."""
        if self.kind == "mean":
            return (
                "the mean that follows from the released sum and count, not exactly unbiased; no "
                "number where by the released count the group may have no rows"
            )
        return f"the released {self.kind}: the exact value and noise"


@final
class Groups:
    """Released means by groups.

    Args:
        terms: of the release.
        integers: the release itself.
    """

    def __init__(self, terms: Terms, integers: Any) -> None:  # noqa: ANN401 (a row of them)
        self._terms, self._integers, self._view = terms, integers, GroupView(terms)

    def table(self, names: Sequence[str], level: float) -> GroupTable:
        """Return one margin; see `Release.groups`."""
        if self._view.question.counted:
            return self._means(names, level)
        return self._totals(names, level)

    def _totals(self, names: Sequence[str], level: float) -> GroupTable:
        view, question = self._view, self._view.question
        chosen = question.groups.index(names)
        deviations = view.scales(chosen)[0]
        half = np.asarray(view.ratio_radius(chosen, level) * deviations)
        sums = self._terms.mechanism.totals.sums(self._integers, chosen)
        sums = sums.reshape(-1, question.length)
        return GroupTable(
            by=question.groups.names(chosen),
            labels=labels_of(question.groups, chosen),
            columns=question.columns,
            sums=frozen(sums),
            sum_intervals=_around(sums, half),
            sum_deviations=frozen(np.asarray(deviations)),
            level=float(level),
        )

    def _means(self, names: Sequence[str], level: float) -> GroupTable:
        view, question = self._view, self._view.question
        groups, mean = question.groups, question.mean
        chosen = groups.index(names)
        deviations, beside = view.scales(chosen)
        radius = view.ratio_radius(chosen, level)
        found = self._terms.mechanism.totals.sums(self._integers, chosen)
        found = found.reshape(-1, question.length)
        counts, means = found[:, -1], ratio(found, mean.center)
        ratios = Ratios.of(found, deviations, beside)
        ends = ratios.interval(radius)
        sums = found[:, :-1] + counts[:, None] * mean.center
        own, far = self._sum_deviations(deviations, beside), float(np.max(radius))
        return GroupTable(
            by=groups.names(chosen),
            labels=labels_of(question.groups, chosen),
            columns=question.columns,
            sums=frozen(sums),
            sum_intervals=_around(sums, far * own),
            sum_deviations=own,
            level=float(level),
            counts=frozen(counts.copy()),
            count_intervals=_around(counts, np.asarray(far * deviations[-1])),
            count_deviation=float(deviations[-1]),
            means=means,
            mean_intervals=within_bounds(mean, ends),
            mean_deviations=frozen(ratios.deviations),
            ratios=ratios,
            bounded=frozen(~np.isnan(ends[:, 0, 0])),
        )

    def _sum_deviations(self, deviations: Vector, beside: Vector) -> Vector:
        """Return the deviations of sums about 0, for one group: of s + center·count."""
        center = self._view.question.mean.center
        square = np.square(deviations[:-1]) + 2 * center * beside[:-1]
        square += np.square(center * deviations[-1])
        return frozen(np.sqrt(np.maximum(square, 0.0)))


def _around(values: Vector, half: Vector) -> Vector:
    return frozen(np.stack([values - half, values + half], axis=-1))
