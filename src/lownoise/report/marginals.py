# SPDX-License-Identifier: Apache-2.0
"""Marginals: one of them with its intervals, and the noise of all, by those that are alike."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.questions.ordered import answer_count
from lownoise.report import charts, sentences, spelling
from lownoise.report.parts import Column, Estimate, Prose, Section, Table
from lownoise.report.spelling import shown
from lownoise.report.view import (
    HOLDS,
    MOST_ROWS,
    AbstractView,
    Row,
    Totals,
    attributes_table,
    comparison,
    like_it,
    totals,
    weighed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lownoise.report.parts import Part

_MOST_KINDS = 40
_FEW = 30  # rows in a terminal
_VARIED = 1.005  # a largest deviation beyond that many times the typical one is shown beside it


@final
@dataclass(frozen=True, kw_only=True)
class Spread:
    """The noise of one marginal, and of those like it.

    Args:
        names: the attributes of one of them.
        count: how many there are.
        cells: how many cells each has, or counts along its ordered attributes.
        typical: the root mean square of the standard deviations of its cells, in rows.
        largest: the largest of them.
        isotropic: the deviation of i.i.d. noise on all cells at the same budget.
        histogram: that of sums over the full table of all attributes, each cell with i.i.d. noise.
    """

    names: tuple[str, ...]
    count: int
    cells: int
    typical: float
    largest: float
    isotropic: float
    histogram: float


def spreads(terms: Any) -> list[Spread]:  # noqa: ANN401
    """Return the noise of each orbit of marginals, the largest first."""
    question, found = terms.question, []
    for names, count, deviation in terms.deviations():
        chosen = question.index(names)
        attributes = [question.attributes[i] for i in chosen]
        ordered = any(a.ordered for a in attributes)
        # along an ordered attribute each answer has a deviation of its own
        deviations = terms.standard_deviation(*names, answers=True) if ordered else deviation
        public = terms.size is not None and not chosen
        found.append(
            Spread(
                names=names,
                count=count,
                cells=math.prod(answer_count(a.ordered, a.size) for a in attributes),
                typical=totals(np.atleast_1d(deviations)).typical,
                largest=float(np.max(deviations)),
                isotropic=0.0 if public else terms.isotropic,
                histogram=0.0 if public else terms.histogram(chosen),
            )
        )
    return sorted(found, key=lambda s: (-s.largest, len(s.names)))


def totals_of(found: Sequence[Spread]) -> dict[str, Totals]:
    """Return the totals over all cells of this plan's noise, "plan", and of the two others."""
    counts = np.array([float(s.count) * s.cells for s in found])
    return {
        "plan": totals(np.array([s.typical for s in found]), counts, max(s.largest for s in found)),
        "isotropic": totals(np.array([s.isotropic for s in found]), counts),
        "histogram": totals(np.array([s.histogram for s in found]), counts),
    }


@final
@dataclass(frozen=True, kw_only=True)
class MarginalsView(AbstractView):
    """What marginals say of themselves."""

    @property
    def one(self) -> str:
        """What an answer is: a cell, or a count, along an order."""
        return "count" if self.terms.question.ordered else "cell"

    @property
    def number(self) -> str:
        """What the number of an answer is called in a file."""
        return "count"

    def asked(self) -> str:
        """Return "3 marginals of 2 attributes"."""
        question = self.terms.question
        attributes = sentences.count(len(question.attributes), "attribute")
        return f"{sentences.count(question.count, 'marginal')} of {attributes}"

    def measure(self, *, plain: bool = False) -> str:
        """Return what the plan makes small."""
        even = plain or bool(np.all(self.terms.question.weights == 1))
        weighted = "" if even else "weighted "
        one = self.one
        return sentences.measure(self.terms.order, weighted, f" of a {one}", f" of all {one}s")

    def weight(self) -> str:
        """Return how weights on marginals count."""
        return weighed(self, self.terms.question.weights, "marginal")

    def count(self) -> int:
        """Return how many cells there are."""
        return int(self.terms.question.cells)

    def totals(self) -> Totals:
        """Return the totals of this plan's noise."""
        return totals_of(spreads(self.terms))["plan"]

    def answers(self) -> Section:
        """Return the marginal that was chosen, or the first one-way one, with its intervals."""
        names, every = self.rows()
        rows: list[tuple[str | Estimate, ...]] = [
            (
                *map(shown, row.labels or ("all rows",)),
                Estimate(row.estimate, row.low, row.high),
                spelling.significant(row.deviation),
            )
            for row in itertools.islice(every, MOST_ROWS)
        ]
        table = Table(
            columns=(
                *(Column(shown(name), "name") for name in names or ("Rows",)),
                Column("Count", "estimate", self.level),
                Column("Standard deviation"),
            ),
            rows=tuple(rows),
            caption=f"Numbers of rows with {self.percent} intervals.",
            hidden=sum(1 for _ in every),
            rest=(
                "{hidden} more cells of this marginal are in the release; `lownoise marginal DIR "
                "NAME… --out FILE.csv` writes all of them."
            ),
            terminal=_FEW,
        )
        said = (
            "A small count may come out below 0: counts are unbiased, so that sums of them are "
            "right. `lownoise marginal DIR NAME…` prints any other marginal of this release."
        )
        covers = Prose(sentences.covers(self.percent, "count"), "intervals", note=True)
        title = f"Counts: {marginal_name(names)}" if names else "Counts: The number of rows"
        return Section("answers", title, (table, covers, Prose(said, note=True)))

    def names(self) -> Iterable[str]:
        """Refuse: no one row holds them."""
        raise PlanError(
            "a plan of marginals has a table a marginal; use terms.standard_deviation(*names)"
        )

    def rows(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return the cells of the marginal, the last attribute running fastest."""
        release, question = self.release, self.terms.question
        names = first_marginal(release) if self.chosen is None else tuple(self.chosen)
        chosen = [question.attributes[question.index([name])[0]] for name in names]
        counts = release.marginal(*names)
        low, high = release.interval(*names, level=self.level)
        deviations = np.broadcast_to(np.asarray(release.standard_deviation(*names)), counts.shape)
        cells = (
            Row(
                labels=tuple(a.label(k) for a, k in zip(chosen, cell, strict=True)),
                estimate=float(counts[cell]),
                low=float(low[cell]),
                high=float(high[cell]),
                deviation=float(deviations[cell]),
            )
            for cell in np.ndindex(counts.shape)
        )
        return names, cells

    def noise(self) -> tuple[Section, ...]:
        """Return the noise of all marginals, the largest first, and a map of it by pairs."""
        found, one = spreads(self.terms), self.one
        varied = any(s.largest > s.typical * _VARIED for s in found)
        rows = [
            (
                marginal_name(s.names),
                like_it(s.count),
                f"{s.cells:,}",
                spelling.significant(s.typical),
                *([spelling.significant(s.largest)] if varied else []),
                spelling.significant(s.isotropic),
                spelling.significant(s.histogram),
            )
            for s in found[:_MOST_KINDS]
        ]
        headings = [
            Column("Marginal", "name"),
            Column("Like it", "words"),
            Column(f"{one.capitalize()}s"),
            Column("This plan", "value"),
            *([Column("Largest")] if varied else []),
        ]
        table = Table(
            columns=(*headings, Column("i.i.d."), Column("Full table")),
            rows=tuple(rows),
            caption=(
                f"Standard deviation of a {one}, in rows, at the same budget. Marginals with the "
                "same noise are named once."
            ),
            title="Largest noise first",
            hidden=max(len(found) - _MOST_KINDS, 0),
            rest="{hidden} more kinds of marginals have less noise.",
            terminal=_FEW if self.release is None else 0,
        )
        note = (Prose(HOLDS, note=True),) if self.release is None else ()
        drawn = charts.heatmap(self.terms, one)
        return (Section("noise", "Noise of the marginals", (*drawn, table, *note)),)

    def compared(self) -> tuple[Section, ...]:
        """Return how i.i.d. noise on the cells, or on the full table, compares."""
        over, one = totals_of(spreads(self.terms)), self.one
        return comparison(
            self,
            [
                ("", "This plan", "", over["plan"]),
                (
                    "i.i.d. noise",
                    "i.i.d. on these marginals",
                    f"i.i.d. Gaussian noise on every {one} of these marginals",
                    over["isotropic"],
                ),
                (
                    "full table",
                    "i.i.d. on the full table, summed",
                    "i.i.d. noise on the full table of all attributes, summed up",
                    over["histogram"],
                ),
            ],
        )

    def details(self) -> list[tuple[str, str]]:
        """Return how many marginals there are."""
        question = self.terms.question
        return [("Marginals", f"{question.count:,}, with {question.cells:,} {self.one}s")]

    def gaussian_noise(self) -> str:
        """Return what Gaussian noise it is."""
        return "Gaussian, independent on residual spaces, rounded to a grid"

    def weighted(self) -> bool:
        """Return whether the error counts some answers more than others."""
        return bool(np.any(self.terms.question.weights != 1))

    def public(self) -> tuple[Part, ...]:
        """Return the attributes with their categories."""
        attributes = self.terms.question.attributes
        return (attributes_table("Attributes and their categories", attributes),)


def marginal_name(names: Sequence[str]) -> str:
    """Return what a marginal is called: "age × sex", or the number of rows."""
    return " × ".join(map(shown, names)) if names else "(number of rows)"


def first_marginal(release: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return the attribute of the first one-way marginal that was asked for, else a smallest."""
    question = release.terms.question
    best: tuple[int, ...] | None = None
    for chosen in question.sets():
        if len(chosen) == 1:
            return tuple(question.names(chosen))
        if best is None or not best or 0 < len(chosen) < len(best):
            best = chosen
    return tuple(question.names(best or ()))
