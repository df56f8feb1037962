# SPDX-License-Identifier: Apache-2.0
"""The change between two releases: its rows, as those of a release, and its page."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, final

from lownoise.report import margins, spelling
from lownoise.report.parts import Column, Estimate, Figures, Prose, Section, Table
from lownoise.report.spelling import shown
from lownoise.report.view import FEW, MOST_ROWS, AbstractView, Row, Wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.questions import Marginals
    from lownoise.release.change import Change

_OF_NOISE = (
    "Intervals include the noise of both releases, whose variances add up. They do not include "
    "sampling error: for a figure about a population, add the sampling variance of the change to "
    "the square of the standard deviation."
)


@final
@dataclass(frozen=True, kw_only=True)
class ChangeView:
    """What a change says of itself, as a question's view does of a release.

    Args:
        change: between which releases.
        view: of the later one.
        level: the chance with which each interval covers.
        chosen: as of the view.
    """

    change: Change
    view: AbstractView
    level: float
    chosen: Any = None

    @property
    def terms(self) -> Any:  # noqa: ANN401
        """Those of the later release."""
        return self.change.later.terms

    @property
    def release(self) -> Change:
        """What is shown."""
        return self.change

    @property
    def takes(self) -> str:
        """As of the view."""
        return self.view.takes

    @property
    def margins(self) -> Marginals:
        """As of the view of margins."""
        found: Marginals = self.view.margins  # type: ignore[attr-defined]
        return found

    @property
    def beside(self) -> tuple[str, ...]:
        """As of the view of margins."""
        found: tuple[str, ...] = self.view.beside  # type: ignore[attr-defined]
        return found

    @property
    def wording(self) -> Wording:
        """What the answers are called."""
        return replace(self.view.wording, number="change")

    def rows(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return what the labels of changes are called, and every change."""
        names, every = replace(self.view, chosen=self.chosen).rows()
        own = names[: len(names) - len(self.beside)] if self.takes == "marginals" else ()
        return names, self._rows([row.labels for row in every], own)

    def _rows(self, labels: list[tuple[str, ...]], names: tuple[str, ...]) -> Iterator[Row]:
        if (means := self.change.means(self.level)) is not None:
            yield from _in_order(labels, [means, *self.change.answers(names, self.level)])
            return
        every = self.change.answers(names, self.level)
        count = len(labels) // len(every)
        # of groups the answers of one stand together
        placed = [labels[k :: len(every)] for k in range(len(every))]
        rows = [_in_order(own, [each]) for own, each in zip(placed, every, strict=True)]
        for _ in range(count):
            for own in rows:
                yield next(own)


def _in_order(labels: list[tuple[str, ...]], answers: list[Any]) -> Iterator[Row]:
    """Yield answers of one kind after the other."""
    cells = (
        cell
        for own in answers
        for cell in zip(
            own.estimates.tolist(), own.intervals.tolist(), own.deviations.tolist(), strict=True
        )
    )
    for label, (value, (low, high), deviation) in zip(labels, cells, strict=True):
        yield Row(labels=label, estimate=value, low=low, high=high, deviation=deviation)


def sections(view: ChangeView) -> list[Section]:
    """Return what a report of a change says."""
    later, earlier = view.change.later, view.change.earlier
    names, every = margins.every(view) if view.takes == "marginals" else view.rows()
    rows: tuple[tuple[str | Estimate, ...], ...] = tuple(
        (
            *(shown(label) for label in row.labels),
            Estimate(row.estimate, row.low, row.high),
            "" if math.isnan(row.deviation) else spelling.significant(row.deviation),
        )
        for row in islice(every, MOST_ROWS)
    )
    percent = f"{100 * view.level:g}%"
    table = Table(
        columns=(
            *(Column(shown(name), "name") for name in names),
            Column("Change", "estimate", view.level, even=False),
            Column("Standard deviation"),
        ),
        rows=rows,
        caption=f"The later answer minus the earlier one, with {percent} intervals.",
        hidden=sum(1 for _ in every),
        rest="{hidden} more changes, which to_pandas() and export(file) have.",
        terminal=FEW,
    )
    made = (("Later", later), ("Earlier", earlier))
    facts = tuple((name, f"{own.created}, {own.terms.budget}") for name, own in made)
    title = f"{view.wording.asked}: from {earlier.created} to {later.created}."
    return [
        Section("head", title, (Figures(facts, large=True),), kicker="Change between two releases"),
        Section("answers", "Changes", (table, Prose(_OF_NOISE, "intervals", note=True))),
    ]
