# SPDX-License-Identifier: Apache-2.0
"""Streams: the noise of the answers round by round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.release.answer_table import AnswerColumn, AnswerTable, ends_of
from lownoise.report import spelling
from lownoise.report.parts import Column, Prose, Section, Table
from lownoise.report.spelling import shown
from lownoise.report.view import HOLDS, AbstractView, Wording
from lownoise.sensitivity.participation import ONE
from lownoise.streams.view import shown_rounds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lownoise.numbers.arrays import Vector
    from lownoise.report.parts import Part

_FEW = 8  # columns of a table
_NAMES = {
    "prefix": "running sums",
    "sliding_window": "sums over a window",
    "decayed": "sums that forget",
    "momentum": "running sums of sums that forget",
    "lower_triangular": "answers by a matrix",
}


@final
@dataclass(frozen=True, kw_only=True)
class StreamView(AbstractView):
    """What a stream says of itself before it starts."""

    @cached_property
    def wording(self) -> Wording:
        """What the answers are called."""
        terms, workload = self.terms, self.terms.question.workload
        which = "mean" if terms.view.measure == "mean" else "largest"
        measure = f"root of the {which} variance of an answer over the rounds"
        asked = f"{workload.rounds:,} {_NAMES[workload.kind]}, one a round"
        participation = terms.mechanism.participation
        if participation != ONE:
            asked += f", one person in {participation.phrase}"
        return Wording(
            asked=asked,
            measure=measure,
            noise=f"{terms.mechanism.strategy}: {terms.mechanism.reason}",
            brief="an answer",
            whose=f"an answer: the {measure}",
            unit="in the columns’ units",
            least="factorization mechanism",
            together="for all rounds together",
        )

    def answers(self) -> Section:
        """Refuse: answers come round by round, and are printed as they come."""
        raise PlanError("a stream's answers come round by round; ask for the report of its terms")

    def names(self) -> Iterable[str]:
        """Return the columns of a round's answer."""
        names: tuple[str, ...] = self.terms.names
        return names

    def noises(self) -> dict[str, Any]:
        """Return the rounds, of a stream those of its last batch with their answers, and noise."""
        batch, names = self.chosen, self.terms.names
        first, count = (1, None) if batch is None else (batch.first, len(batch.answers))
        deviations = self.terms.view.standard_deviations(first, count)
        found: dict[str, Any] = {"round": range(first, first + len(deviations))}
        if batch is not None:
            found |= zip(names, batch.answers.reshape(len(deviations), -1).T, strict=True)
        heads = [f"standard_deviation of {name}" for name in names]
        heads = heads if len(heads) > 1 else ["standard_deviation"]
        return found | dict(zip(heads, deviations.T, strict=True))

    def last(self) -> AnswerTable | None:
        """Return the last batch's rounds, answers, deviations and intervals; None before one."""
        if self.chosen is None:
            return None
        heads, unit, names = self.noises(), "the column’s unit", self.terms.names
        one = len(names) == 1 and names[0] not in ("low", "high")
        ends = ends_of("answer", f"{self.level:g}")
        rounds = AnswerColumn("round", np.array(heads.pop("round")), "which round it is", "rounds")
        return AnswerTable(
            (
                rounds,
                *(
                    AnswerColumn(
                        name,
                        own,
                        "the released answer of that round: the exact one and noise"
                        if name in names
                        else "the standard deviation of its noise",
                        unit,
                    )
                    for name, own in heads.items()
                ),
                *(
                    AnswerColumn(end if one else f"{end} of {name}", own, ends[end], unit)
                    for end, columns in self._ends().items()
                    for name, own in zip(names, columns, strict=True)
                ),
            )
        )

    def _ends(self) -> dict[str, Vector]:
        """Return the ends of the intervals of the last batch, each alone, shape (d, k)."""
        own = self.chosen.answers.reshape(len(self.chosen.answers), -1)
        wide = self.terms.view.ranges(self.chosen.first, len(own), level=self.level)
        return {"low": (own - wide).T, "high": (own + wide).T}

    def noise(self) -> tuple[Section, ...]:
        """Return the deviations of a few rounds."""
        terms = self.terms
        names = [shown(name) for name in terms.question.columns]
        headings = ["Standard deviation"] if len(names) == 1 else names[:_FEW]
        rows = [
            (
                f"{t:,}",
                *map(spelling.significant, terms.view.deviations(t - 1, 1)[0][:_FEW].tolist()),
            )
            for t in shown_rounds(terms.question.workload.rounds)
        ]
        table = Table(
            columns=(Column("Round", "name"), *(Column(heading, "value") for heading in headings)),
            rows=tuple(rows),
            caption="Standard deviation of the answer after some rounds.",
            terminal=len(rows),
        )
        why = Prose(f"{terms.mechanism.strategy}: {terms.mechanism.reason}.", "strategy", note=True)
        parts: tuple[Part, ...] = (table, Prose(HOLDS, note=True), why)
        if len(names) > _FEW:
            parts += (Prose(f"{len(names) - _FEW:,} more coordinates.", "not shown", note=True),)
        return (Section("noise", "Noise of the answers", parts),)

    def exact(self) -> bool:
        """Return that it is the error."""
        return True

    @property
    def asking(self) -> str:
        """Nothing: which sums have noise is asked for, and the noise follows."""
        return ""

    @property
    def changed(self) -> str:
        """What one person changes."""
        if self.terms.mechanism.participation == ONE:
            return "the value of one round changes as one person may change it"
        return "values change as one person may change them"

    def figures(self) -> list[tuple[str, str]]:
        """Return rounds and strategy."""
        rounds = f"{self.terms.question.workload.rounds:,}"
        return [("Rounds", rounds), ("Strategy", self.terms.mechanism.strategy)]

    @property
    def size(self) -> None:
        """The rounds, and not rows, are counted."""
        return

    def neighbours(self) -> list[tuple[str, str]]:
        """Return what a neighbour is, and what is made small."""
        names = [shown(name) for name in self.terms.question.columns]
        more = f", … ({len(names):,})" if len(names) > _FEW else ""
        return [
            ("Relation", self.relation()),
            ("Error that is made small", self.wording.measure),
            ("Columns", ", ".join(names[:_FEW]) + more),
        ]
