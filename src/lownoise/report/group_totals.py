# SPDX-License-Identifier: Apache-2.0
"""Totals by groups: one margin's, drawn and in a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lownoise.report.intervals import intervals
from lownoise.report.parts import Column, Prose, Section, Table
from lownoise.report.spelling import count, shown
from lownoise.report.view import FEW, MOST_ROWS, Row, estimates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.release.groups import TotalTable
    from lownoise.report.parts import Part

_MOST_COLUMNS = 6  # beside each other in a table
_DRAWN = 3  # columns with a chart


def total_answers(own: TotalTable, labels: Sequence[str], covers: str, percent: str) -> Section:
    """Return the totals of one margin with their intervals.

    Args:
        own: the margin.
        labels: of its groups.
        covers: what the intervals are.
        percent: their level.
    """
    names = [shown(name) for name in own.columns]
    kept, by = names[:_MOST_COLUMNS], ", ".join(map(shown, own.by))
    beside = [estimates(own.sums[:, j], own.intervals[:, j]) for j in range(len(kept))]
    table = Table(
        columns=(
            Column("Group", "name"),
            *(Column(f"Total of {name}", "estimate", own.level) for name in kept),
        ),
        rows=tuple(zip(labels, *beside, strict=True))[:MOST_ROWS],
        caption=f"Totals with {percent} intervals, by {by or 'no attribute'}.",
        hidden=max(len(labels) - MOST_ROWS, 0),
        rest="{hidden} more groups; release.groups(…) has all.",
        terminal=FEW,
    )
    more = len(names) - len(kept)
    notes = [f"{count(more, 'more column')}: release.groups(…).to_pandas()."] * (more > 0)
    drawn: list[Part] = []
    for j, name in enumerate(names[:_DRAWN] if len(labels) > 1 else []):
        least, most = float(own.intervals[:, j].min()), float(own.intervals[:, j].max())
        ends = np.full(len(labels), min(least, 0.0)), np.full(len(labels), max(most, 0.0))
        chart = intervals(labels, own.sums[:, j], own.intervals[:, j], ends)
        drawn.append(replace(chart, caption=f"Total of {name}. {chart.caption}"))
    prose = (Prose(note, note=True) for note in (*notes, covers))
    return Section("answers", "Answers", (*drawn, table, *prose))


def total_rows(own: TotalTable) -> Iterator[Row]:
    """Yield the totals of one margin, group by group."""
    for i, label in enumerate(own.labels):
        for j, name in enumerate(own.columns):
            low, high = own.intervals[i, j].tolist()
            yield Row(
                labels=(*label, f"sum({name})"),
                estimate=float(own.sums[i, j]),
                low=low,
                high=high,
                deviation=float(own.sum_deviations[j]),
            )
