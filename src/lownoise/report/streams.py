# SPDX-License-Identifier: Apache-2.0
"""Streams: the noise of the answers round by round, and what is promised of all rounds together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from lownoise.errors import PlanError
from lownoise.report import sentences, spelling
from lownoise.report.parts import Column, Prose, Section, Table, pairs
from lownoise.report.proofs import ANEW, AbstractNoiseWords, currencies
from lownoise.report.spelling import shown
from lownoise.report.view import HOLDS, AbstractView
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
        parts: tuple[Part, ...] = (table, Prose(HOLDS, note=True))
        if len(names) > _FEW:
            parts += (Prose(f"{len(names) - _FEW:,} more coordinates.", "not shown", note=True),)
        return (Section("noise", "Noise of the answers", parts),)

    def compared(self) -> tuple[Section, ...]:
        """Return nothing: noise that is independent over the rounds serves no stream."""
        return ()

    def unit(self) -> str:
        """Return in which unit errors, bounds and deviations are."""
        return "in the columns’ units"

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


@final
@dataclass(frozen=True)
class StreamWords(AbstractNoiseWords):
    """The noise of a factorization: a certificate among such, and a bound for unbiased streams."""

    @property
    def _error(self) -> float:
        return float(self.terms.error_reached)

    def error(self) -> str:
        """Return the error of an answer."""
        return spelling.significant(self._error)

    def figures(self) -> list[tuple[str, str]]:
        """Return error, rounds and strategy."""
        return [
            ("Error of an answer", self.error()),
            ("Rounds", f"{self.terms.workload.rounds:,}"),
            ("Strategy", self.terms.strategy),
        ]

    def proofs(self) -> tuple[Section, ...]:
        """Return the certificate and the bound."""
        return self._certificate(), self._bound()

    def _certificate(self) -> Section:
        title = "Certificate: how close to the least noise"
        found, measure = self.terms.certificate, self.view.measure()
        strategy = Prose(f"{self.terms.strategy}: {self.terms.reason}.", "strategy")
        if self._error == 0:
            parts = (strategy, Prose(sentences.NO_NOISE, "certificate"))
            return Section("certificate", title, parts)
        rows = [
            ("This stream’s noise has", spelling.significant(found.upper, 6)),
            ("No factorization has less than", spelling.significant(found.lower, 6)),
            ("Gap (upper/lower − 1)", spelling.at_most(found.gap, 2)),
        ]
        said = sentences.better(found.gap, "factorization mechanism", measure)
        caption = f"{sentences.capital(measure)}, bounded from both sides."
        lead = (strategy, Prose(said, "certificate"))
        return Section("certificate", title, (*lead, pairs(caption, rows), Prose(ANEW, note=True)))

    def _bound(self) -> Section:
        title = "Lower bound: what no unbiased mechanism beats"
        error, least = self._error, self.terms.lower_bound
        if error == 0:
            return Section("bound", title, (Prose(sentences.NO_ERROR, "lower bound"),))
        over = spelling.significant(error / least if least > 0 else math.nan)
        said = sentences.NO_BOUND
        if least > 0:
            said = (
                "No unbiased mechanism with this zCDP cost has an error below "
                f"{spelling.at_least(least)}; this one's is {over} times the bound."
            )
        rows = [
            ("Error of this stream", spelling.significant(error)),
            ("Lower bound", spelling.at_least(least)),
            ("Error over lower bound", over),
        ]
        note = (
            "The bound holds for every unbiased mechanism with this zCDP guarantee, Gaussian or "
            "not; the best of them lies between the two numbers."
        )
        caption = f"Root mean squared error of {self.view.whose()}."
        parts = (Prose(said, "lower bound"), pairs(caption, rows), Prose(note, note=True))
        return Section("bound", title, parts)

    def cost(self) -> tuple[Part, ...]:
        """Return the cost of all rounds in three currencies."""
        return (
            Prose(sentences.cost(self.terms, ", for all rounds together"), "cost"),
            currencies(self.terms, "of all rounds together", "of all rounds together"),
        )

    def named(self) -> str:
        """Return what noise it is."""
        return f"{self.terms.strategy}: {self.terms.reason}"
