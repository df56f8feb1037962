# SPDX-License-Identifier: Apache-2.0
"""Means by groups: one margin's means and counts, drawn and in a table, and the noise of all."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.release.readable import free
from lownoise.report import spelling
from lownoise.report.group_totals import total_answers, total_rows
from lownoise.report.intervals import intervals
from lownoise.report.marginals import attributes_table
from lownoise.report.mean import RATIO, MeanView, variance_ratio
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

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.report.parts import Part

_MOST_COLUMNS = 6  # beside each other in a table
_DRAWN = 3  # columns with a chart


@final
@dataclass(frozen=True, kw_only=True)
class GroupsView(AbstractView):
    """What means by groups say of themselves."""

    @cached_property
    def _columns(self) -> list[str]:
        return [shown(name) for name in self.terms.question.columns]

    @cached_property
    def wording(self) -> Wording:
        """What the answers are called, all of them."""
        terms, question = self.terms, self.terms.question
        groups, count = question.groups, len(question.columns)
        asked = spelling.count(count, "sum") + " and the count" * question.counted
        worst = not self.gaussian and question.counted
        margins = spelling.count(groups.count, "margin")
        within = spelling.count(groups.cells, "group")
        return Wording(
            asked=f"{asked} in each of {within}, {margins}",
            measure=spelling.measure(terms.order, "weighted ", "", ""),
            noise="Gaussian, that of the columns times that of the groups, rounded to a grid",
            how=spelling.in_order(terms.order, weighted=bool(np.any(groups.weights != 1))),
            whose="the worst means, times the number of rows" if worst else "",
            unit="in the columns’ units",
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
    def table(self) -> Any:  # noqa: ANN401 (of means or of totals)
        """The margin that is shown: the one that was chosen, or the last."""
        question = self.terms.question
        names = self.chosen
        if names is None:
            names = question.groups.names(self.terms.view.spaces[-1])
        return self.release.groups(*names, level=self.level)

    def answers(self) -> Section:
        """Return counts and means, or totals, of one margin with their intervals."""
        if not self.terms.question.counted:
            return total_answers(self.table, self._labels(), self.intervals(), self.percent)
        found, counts = self.table, self._counts()
        shown_columns = self._columns[:_MOST_COLUMNS]
        means = np.where(found.bounded[:, None], found.means, np.nan)
        beside = [estimates(means[:, j], found.intervals[:, j]) for j in range(len(shown_columns))]
        labels = self._labels()
        table = Table(
            columns=(
                Column("Group", "name"),
                Column("Count", "estimate", self.level),
                *(
                    Column(f"Mean of {name}", "estimate", self.level, even=False)
                    for name in shown_columns
                ),
            ),
            rows=tuple(zip(labels, counts, *beside, strict=True))[:MOST_ROWS],
            caption=(
                f"Counts, and center + sum/count, with {self.percent} intervals by Fieller’s "
                f"method, by {', '.join(map(shown, found.by)) or 'no attribute'}."
            ),
            hidden=max(len(labels) - MOST_ROWS, 0),
            rest="{hidden} more groups; release.groups(…) has all.",
            terminal=FEW,
        )
        more = len(self._columns) - len(shown_columns)
        notes = [f"{spelling.count(more, 'more column')}: release.groups(…).to_pandas()."] * (
            more > 0
        )
        said = (
            f"{self.intervals()} Where a group’s count may be zero, its mean may be anything in "
            "the column’s range."
        )
        drawn = self._charts(labels) if len(labels) > 1 else ()
        return Section(
            "answers",
            "Answers",
            (
                *drawn,
                table,
                *(Prose(note, note=True) for note in notes),
                Prose(said, note=True),
                Prose(RATIO, label="means", note=True),
            ),
        )

    def _labels(self) -> list[str]:
        own = self.table
        if not own.by:
            return ["all rows"]
        return [", ".join(map(shown, label)) for label in own.labels]

    def _counts(self) -> list[Part]:
        own = self.table
        half = self._half(own.count_deviation)
        ends = np.stack([own.counts - half, own.counts + half], axis=1)
        return estimates(own.counts, ends)  # type: ignore[return-value]

    def _half(self, deviation: float) -> float:
        groups = self.terms.question.groups
        radius = self.terms.view.ratio_radius(groups.index(self.table.by), self.level)
        return float(np.max(radius) * deviation)

    def _charts(self, labels: Sequence[str]) -> tuple[Part, ...]:
        """Return a chart of the groups' means for each of the first columns."""
        own, domain = self.table, self.terms.question.mean.domain
        found: list[Part] = []
        for j, name in enumerate(self._columns[:_DRAWN]):
            known = own.bounded & ~np.isnan(own.means[:, j])
            if not np.any(known):
                continue
            ends = tuple(np.full(int(known.sum()), end[j]) for end in (domain.lower, domain.upper))
            chart = intervals(
                [label for label, k in zip(labels, known.tolist(), strict=True) if k],
                own.means[known, j],
                own.intervals[known, j],
                (ends[0], ends[1]),
            )
            found.append(replace(chart, caption=f"Mean of {name}. {chart.caption}"))
        return tuple(found)

    def rows(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return the numbers of one margin: of each group its count, means and sums."""
        counted = self.terms.question.counted
        rows = self._rows() if counted else total_rows(self.table)
        return (*self.table.by, free("answer", self.table.by)), rows

    def _rows(self) -> Iterator[Row]:
        own = self.table
        for i, label in enumerate(own.labels):
            half = self._half(own.count_deviation)
            count = float(own.counts[i])
            yield Row(
                labels=(*label, "count"),
                estimate=count,
                low=count - half,
                high=count + half,
                deviation=own.count_deviation,
            )
            for j, name in enumerate(own.columns):
                low, high = own.intervals[i, j].tolist()
                yield Row(
                    labels=(*label, f"mean({name})"),
                    estimate=float(own.means[i, j]),
                    low=low,
                    high=high,
                    deviation=float(own.mean_deviations[i, j]),
                )
                total, deviation = float(own.sums[i, j]), float(own.sum_deviations[j])
                yield Row(
                    labels=(*label, f"sum({name})"),
                    estimate=total,
                    low=total - self._half(deviation),
                    high=total + self._half(deviation),
                    deviation=deviation,
                )

    def noise(self) -> tuple[Section, ...]:
        """Return the deviations of each margin's sums and counts."""
        terms, groups = self.terms, self.terms.question.groups
        view = terms.view
        counted = terms.question.counted
        about = " - center" * counted
        listed = [f"sum({name}{about})" for name in self._columns[:_MOST_COLUMNS]]
        rows = []
        for chosen in view.spaces[:MOST_ROWS]:
            own = view.scales(chosen)[0]
            numbers = [*own[: len(listed)].tolist(), *own[own.size - counted :].tolist()]
            cells = math.prod(groups.attributes[i].size for i in chosen)
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
        return noise_section(self, "Noise of each margin", table)

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
        parts = (Prose(saved, label="i.i.d. noise"), table)
        return (Section("compared", "Compared with usual noise", parts),)

    def public(self) -> tuple[Part, ...]:
        """Return the groups, and the public points of each column."""
        inner = MeanView(terms=self.terms.view.mean_terms, release=None, level=self.level)
        groups = attributes_table("Groups", self.terms.question.groups.attributes)
        return (groups, *inner.public())
