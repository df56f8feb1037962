# SPDX-License-Identifier: Apache-2.0
"""Streams: the noise of the answers round by round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from lownoise.errors import PlanError
from lownoise.report import sentences, spelling
from lownoise.report.parts import Column, Prose, Section, Table
from lownoise.report.spelling import shown
from lownoise.report.view import HOLDS, AbstractView
from lownoise.sensitivity.relations import Change
from lownoise.streams.codec import shown_rounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lownoise.report.parts import Part
    from lownoise.report.view import Row

_FEW = 8  # columns of a table
_NAMES = {
    "prefix": "running sums",
    "sliding_window": "sums over a window",
    "decayed": "sums that forget",
    "lower_triangular": "answers by a matrix",
}


@final
@dataclass(frozen=True, kw_only=True)
class StreamView(AbstractView):
    """What a stream says of itself before it starts."""

    def asked(self) -> str:
        """Return "365 running sums, one a round"."""
        workload = self.terms.workload
        return f"{workload.rounds:,} {_NAMES[workload.kind]}, one a round"

    def measure(self, *, plain: bool = False) -> str:
        """Return what the stream makes small; it has no weights."""
        which = "mean" if self.terms.error == "mean" else "largest"
        return f"root of the {which} variance of an answer over the rounds"

    def answers(self) -> Section:
        """Refuse: answers come round by round, and are printed as they come."""
        raise PlanError("a stream's answers come round by round; ask for the report of its terms")

    def names(self) -> Iterable[str]:
        """Refuse: no one row holds them."""
        raise PlanError("a stream has a deviation a round; use terms.deviations(first, count)")

    def rows(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Refuse, as `answers`."""
        raise PlanError("a stream's answers come round by round; ask for the report of its terms")

    def noise(self) -> tuple[Section, ...]:
        """Return the deviations of a few rounds."""
        terms = self.terms
        names = [shown(name) for name in terms.question.columns]
        headings = ["Standard deviation"] if len(names) == 1 else names[:_FEW]
        rows = [
            (
                f"{t:,}",
                *map(spelling.significant, terms.deviations(t - 1, 1)[0][:_FEW].tolist()),
            )
            for t in shown_rounds(terms.workload.rounds)
        ]
        table = Table(
            columns=(Column("Round", "name"), *(Column(heading, "value") for heading in headings)),
            rows=tuple(rows),
            caption="Standard deviation of the answer after some rounds.",
            terminal=len(rows),
        )
        why = Prose(f"{terms.strategy}: {terms.reason}.", "strategy", note=True)
        parts: tuple[Part, ...] = (table, Prose(HOLDS, note=True), why)
        if len(names) > _FEW:
            parts += (Prose(f"{len(names) - _FEW:,} more coordinates.", "not shown", note=True),)
        return (Section("noise", "Noise of the answers", parts),)

    def compared(self) -> tuple[Section, ...]:
        """Return nothing: noise that is independent over the rounds serves no stream."""
        return ()

    def error(self) -> float:
        """Return the error of an answer."""
        return float(self.terms.error_reached)

    def exact(self) -> bool:
        """Return that it is the error."""
        return True

    def figures(self) -> list[tuple[str, str]]:
        """Return rounds and strategy."""
        rounds = f"{self.terms.workload.rounds:,}"
        return [("Rounds", rounds), ("Strategy", self.terms.strategy)]

    def least(self) -> str:
        """Return what the certificate is about."""
        return "factorization mechanism"

    def where(self) -> str:
        """Return on which streams the lower bound holds."""
        if isinstance(self.terms.relation, Change):
            return "a stream whose rounds all have room in the domain for every change"
        return "any stream" if self.terms.relation == "substitute" else "the stream of zeros"

    def together(self) -> str:
        """Return of what a cost is."""
        return "for all rounds together"

    def gaussian_noise(self) -> str:
        """Return which factorization it is."""
        return f"{self.terms.strategy}: {self.terms.reason}"

    def unit(self) -> str:
        """Return in which unit errors, bounds and deviations are."""
        return "in the columns’ units"

    def brief(self) -> str:
        """Return what the error is of, in few words."""
        return "an answer"

    def whose(self) -> str:
        """Return what the error is of."""
        return f"an answer: the {self.measure()}"

    def how(self) -> str:
        """Return nothing: the measure says it."""
        return ""

    @property
    def size(self) -> None:
        """The rounds, and not rows, are counted."""
        return

    def neighbours(self) -> list[tuple[str, str]]:
        """Return what a neighbour is, and what is made small."""
        return [
            ("Relation", self.relation()),
            ("Error that is made small", self.measure()),
            ("Columns", ", ".join(shown(name) for name in self.terms.question.columns[:_FEW])),
        ]

    def relation(self) -> str:
        """Return what a neighbour is: a word, or how far a body reaches in each column."""
        return sentences.relation(self.terms.relation, self.terms.question.columns)

    def public(self) -> tuple[Part, ...]:
        """Return nothing: the columns are among the facts."""
        return ()
