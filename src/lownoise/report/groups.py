# SPDX-License-Identifier: Apache-2.0
"""Means by groups: one margin's means and counts, drawn and in a table, and the noise of all."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from lownoise.release.readable import free
from lownoise.report import spelling
from lownoise.report.lines import intervals
from lownoise.report.marginals import attributes_table
from lownoise.report.margins import others
from lownoise.report.mean import RATIO, MeanView, too_wide, variance_ratio
from lownoise.report.parts import Column, Prose, Section, Table
from lownoise.report.spelling import shown
from lownoise.report.view import (
    FEW,
    MOST_ROWS,
    AbstractView,
    Row,
    Wording,
    columns,
    estimates,
    noise_section,
)
from lownoise.sets.domains import AbstractMoments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Marginals
    from lownoise.release.groups import GroupTable
    from lownoise.report.parts import Part

_MOST_COLUMNS = 6  # beside each other in a table
_DRAWN = 3  # columns with a chart


@final
@dataclass(frozen=True, kw_only=True)
class GroupsView(AbstractView):
    """What means by groups say of themselves."""

    takes: ClassVar[str] = "marginals"
    beside: ClassVar[tuple[str, ...]] = ("answer",)  # what names a row, beside its categories

    @property
    def margins(self) -> Marginals:
        """What was asked for."""
        asked: Marginals = self.terms.question.groups
        return asked

    @cached_property
    def _columns(self) -> list[str]:
        return [shown(name) for name in self.terms.question.columns]

    @property
    def _moments(self) -> bool:
        return isinstance(self.terms.question.mean.domain, AbstractMoments)

    @property
    def _read(self) -> list[str]:
        """The columns whose means are read: of moments not those of products."""
        if not self._moments:
            return self._columns
        return self._columns[: self.terms.question.mean.domain.source.dimension]

    @cached_property
    def wording(self) -> Wording:
        """What the answers are called, all of them."""
        terms, question = self.terms, self.terms.question
        groups, count = question.groups, len(question.columns)
        asked = spelling.count(count, "sum") + " and the count" * question.counted
        worst = not self.gaussian and question.counted
        weighted = bool(np.any(groups.weights != 1))
        pure = not self.gaussian and bool(np.any(terms.weights != 1))
        margins = spelling.count(groups.count, "margin")
        within = spelling.count(groups.cells, "group")
        return Wording(
            asked=f"{asked} in each of {within}, {margins}",
            measure=spelling.measure(terms.order, "weighted ", "", ""),
            noise="Gaussian, that of the columns times that of the groups, rounded to a grid",
            how=spelling.in_order(terms.order, weighted=weighted or pure),
            whose="the worst means, times the number of rows" if worst else "",
            unit=spelling.in_units(weighted=pure),
            weight=self._weight(),
            details=(("Grouped by", ", ".join(shown(a.name) for a in groups.attributes)),),
        )

    def _weight(self) -> str:
        if not self.gaussian or not self.terms.question.counted:
            return ""
        times = spelling.significant(self.terms.weights[-1])
        return (
            f"The count’s standard deviation enters {times} times, so that a set share of the "
            "privacy is spent on the count."
        )

    def count(self) -> int:
        """Return how many answers there are."""
        return int(self.terms.question.count)

    @cached_property
    def table(self) -> GroupTable:
        """The margin that is shown: the one that was chosen, or the last."""
        question = self.terms.question
        names = self.chosen
        if names is None:
            names = question.groups.names(self.terms.view.spaces[-1])
        found: GroupTable = self.release.groups(*names, level=self.level)
        return found

    def answers(self) -> Section:
        """Return counts and means, or totals, of one margin with their intervals; then others."""
        table, labels, counted = self.counts(), self._labels(), self.terms.question.counted
        notes, more = [self.intervals()], len(self._read) - _MOST_COLUMNS
        if counted:
            notes[0] += (
                " Where a group’s count may be zero, its mean may be anything in the column’s "
                "range."
            )
        if more > 0:
            rest = f"{spelling.count(more, 'more column')}: release.groups(…).to_pandas()."
            notes.insert(0, rest)
        parts = [*(self._charts(labels) if len(labels) > 1 else ()), table]
        parts += (Prose(note, note=True) for note in notes)
        if counted:
            parts.append(Prose(RATIO, label="means", note=True))
        if self._moments:
            parts += self._variances()
        if counted:
            parts.append(self._sums())
        return Section("answers", "Answers", (*parts, *others(self, self.table.by)))

    @property
    def _kind(self) -> str:
        return "Mean" if self.terms.question.counted else "Total"

    @property
    def _cells(self) -> list[tuple[str, ...]]:
        """What each group is called."""
        own = self.table
        return [tuple(map(shown, label)) for label in own.labels] if own.by else [("all rows",)]

    def counts(self) -> Table:
        """Return counts and means, or totals, of the margin that is shown, with their intervals."""
        found, counted, kind = self.table, self.terms.question.counted, self._kind
        names, cells = self._read[:_MOST_COLUMNS], self._cells
        beside = [estimates(self._values[:, j], found.intervals[:, j]) for j in range(len(names))]
        if found.counts is not None and found.count_intervals is not None:
            beside.insert(0, estimates(found.counts, found.count_intervals))
        by = f", by {', '.join(map(shown, found.by))}" if found.by else ""
        return Table(
            columns=(
                *(Column(shown(name), "name") for name in found.by or ("Rows",)),
                *[Column("Count", "estimate", self.level)] * counted,
                *(
                    Column(f"{kind} of {name}", "estimate", self.level, even=not counted)
                    for name in names
                ),
            ),
            rows=tuple((*own, *row) for own, *row in zip(cells, *beside, strict=True))[:MOST_ROWS],
            caption=(
                f"Counts, and center + sum/count, with {self.percent} intervals by Fieller’s "
                f"method{by}."
                if counted
                else f"Totals with {self.percent} intervals{by}."
            ),
            hidden=max(len(cells) - MOST_ROWS, 0),
            rest="{hidden} more groups; release.groups(…) has all.",
            terminal=FEW,
        )

    def _sums(self) -> Table:
        """Return the sums that means are made of."""
        cells = self._cells
        sums = [own for own in self.table.answers() if own.kind == "sum"][: len(self._read)]
        kept = sums[:_MOST_COLUMNS]
        beside = [estimates(own.estimates, own.intervals) for own in kept]
        return Table(
            columns=(
                *(Column(shown(name), "name") for name in self.table.by or ("Rows",)),
                *(Column(shown(own.name), "estimate", self.level) for own in kept),
            ),
            rows=tuple((*own, *row) for own, *row in zip(cells, *beside, strict=True))[:MOST_ROWS],
            caption=f"In each column’s unit, with {self.percent} intervals.",
            title="What means are made of, beside the counts: the sums",
            hidden=max(len(cells) - MOST_ROWS, 0),
            rest="{hidden} more groups; release.groups(…) has all.",
        )

    def _variances(self) -> Iterator[Part]:
        """Yield what follows from the moments of each group: variances, and correlations."""
        cells = self._cells
        groups = list(self.release.moments.groups(*self.table.by).values())[:MOST_ROWS]
        names, d = self._read, len(self._read)
        pairs = [(i, j) for i in range(d) for j in range(i + 1, d)]
        yield self._follows(
            "Variances",
            cells,
            {f"Variance of {names[i]}": (i, i) for i in range(d)},
            [(own.covariance, own.covariance_interval(self.level)) for own in groups],
        )
        if pairs:
            yield self._follows(
                "Correlations",
                cells,
                {f"{names[i]} and {names[j]}": (i, j) for i, j in pairs},
                [(own.correlation, own.correlation_interval(self.level)) for own in groups],
            )
        said = "A negative variance is caused by noise; release.moments has the covariances."
        yield Prose(said, label="moments", note=True)

    def _follows(
        self,
        title: str,
        cells: Sequence[tuple[str, ...]],
        asked: dict[str, tuple[int, int]],
        found: Sequence[tuple[Vector, Vector]],
    ) -> Table:
        """Return a table of what follows in each group.

        Args:
            title: what follows.
            cells: what each group is called.
            asked: the places of what is shown, by its heading.
            found: of each group a matrix, and the ends of its entries' intervals.
        """
        kept = dict(list(asked.items())[:_MOST_COLUMNS])
        at = tuple(np.array(list(kept.values())).T)
        rows = [estimates(values[at], ends[at]) for values, ends in found]
        return Table(
            columns=(
                *(Column(shown(name), "name") for name in self.table.by or ("Rows",)),
                *(Column(name, "estimate", self.level, even=False) for name in kept),
            ),
            rows=tuple((*cell, *row) for cell, row in zip(cells, rows, strict=False)),
            caption=f"In each group, with {self.percent} intervals by the delta method.",
            title=title,
            hidden=max(len(cells) - MOST_ROWS, 0),
            rest="{hidden} more groups; release.moments.groups(…) has all.",
            terminal=FEW,
        )

    def _labels(self) -> list[str]:
        own = self.table
        if not own.by:
            return ["all rows"]
        return [", ".join(map(shown, label)) for label in own.labels]

    @property
    def _values(self) -> Vector:
        """The means that their noise bounds, NaN for others; or the totals; shape (g, d)."""
        own = self.table
        if own.means is None or own.bounded is None:
            return own.sums
        return np.where(own.bounded[:, None], own.means, np.nan)

    def _charts(self, labels: Sequence[str]) -> Iterator[Part]:
        """Yield a chart of what the groups have of each of the first columns."""
        own, domain = self.table, self.terms.question.mean.domain
        by = ", ".join(map(shown, own.by))
        for j, name in enumerate(self._read[:_DRAWN]):
            values, ends = self._values[:, j], own.intervals[:, j]
            known = ~np.isnan(values)
            if not np.any(known):
                continue
            within = (domain.lower[j], domain.upper[j])
            if own.means is None:
                within = (min(float(ends.min()), 0.0), max(float(ends.max()), 0.0))
            low, high = (np.full(int(known.sum()), end) for end in within)
            kept = [label for label, k in zip(labels, known.tolist(), strict=True) if k]
            chart = intervals(kept, values[known], ends[known], (low, high))
            yield replace(chart, caption=f"{self._kind} of {name} by {by}. {chart.caption}")

    def rows(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return the numbers of one margin: of each group its count, means and sums."""
        return (*self.table.by, free("answer", self.table.by)), self._rows()

    def _rows(self) -> Iterator[Row]:
        answers = list(self.table.answers())
        for i, label in enumerate(self.table.labels):
            for own in answers:
                low, high = own.intervals[i].tolist()
                yield Row(
                    labels=(*label, own.name),
                    estimate=float(own.estimates[i]),
                    low=low,
                    high=high,
                    deviation=float(own.deviations[i]),
                )

    def noise(self) -> tuple[Section, ...]:
        """Return the deviations of each margin's sums and counts."""
        terms, groups = self.terms, self.terms.question.groups
        view = terms.view
        counted = terms.question.counted
        about = " - center" * counted
        listed = [f"sum({name}{about})" for name in self._columns[:_MOST_COLUMNS]]
        rows, deviations, most = [], [], []
        for chosen in view.spaces[:MOST_ROWS]:
            own = view.scales(chosen)[0]
            numbers = [*own[: len(listed)].tolist(), *own[own.size - counted :].tolist()]
            cells = math.prod(groups.attributes[i].size for i in chosen)
            deviations.append(own[: len(self._columns)])
            most.append([(terms.size or 0) / cells])
            by = ", ".join(map(shown, groups.names(chosen))) or "all rows"
            rows.append((by, f"{cells:,}", *map(spelling.significant, numbers)))
        table = Table(
            columns=columns("By", "Groups", *listed, *["count"] * counted, words=("Groups",)),
            rows=tuple(rows),
            caption="Standard deviations of the noise in each group, in each column’s unit.",
            hidden=max(len(view.spaces) - MOST_ROWS, 0),
            rest="{hidden} more margins; the file of the plan or the release has all.",
            terminal=FEW if self.release is None else 0,
        )
        wide = too_wide(
            self,
            terms.question.mean.domain,
            np.array(deviations),
            None if terms.size is None else np.array(most),
            "groups of ",
        )
        return noise_section(self, "Noise of each margin", table, wide)

    def compared(self) -> tuple[Section, ...]:
        """Return how i.i.d. and Laplace noise on the same answers compare in total."""
        terms = self.terms
        own: Vector = terms.standard_deviation
        noises = {
            "This plan": own,
            "i.i.d. Gaussian": terms.isotropic,
            "Laplace, budget split": terms.laplace,
        }
        table = Table(
            columns=columns("Noise", "Total variance"),
            rows=tuple(
                (name, f"{spelling.significant(variance_ratio(own, noise))}×")
                for name, noise in noises.items()
            ),
            caption="Totals over all answers, as a multiple of this plan’s.",
        )
        found = variance_ratio(own, terms.isotropic)
        saved = spelling.times(found, "i.i.d. Gaussian noise on all answers at the same budget")
        weighted = np.any(terms.weights[: len(terms.question.columns)] != 1)
        saved += spelling.UNWEIGHTED * bool(weighted)
        parts = (Prose(saved, label="i.i.d. noise"), table)
        return (Section("compared", "Compared with usual noise", parts),)

    def public(self) -> tuple[Part, ...]:
        """Return the groups, and the public points of each column."""
        inner = MeanView(terms=self.terms.view.mean_terms, release=None, level=self.level)
        groups = attributes_table("Groups", self.terms.question.groups.attributes)
        return (groups, *inner.public())
