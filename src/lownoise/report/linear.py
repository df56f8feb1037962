# SPDX-License-Identifier: Apache-2.0
"""Linear queries and parities: how answers are called, what they count, and their noise."""

from __future__ import annotations

import bisect
import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import QuestionError, told
from lownoise.kinds import row_of
from lownoise.questions import AbstractQueries, Parity
from lownoise.report import charts, sentences, spelling
from lownoise.report.parts import Column, Prose, Section, Table
from lownoise.report.spelling import shown
from lownoise.report.view import (
    HOLDS,
    MOST_ROWS,
    AbstractView,
    Totals,
    attributes_table,
    columns,
    comparison,
    estimates,
    like_it,
    rows_of,
    totals,
    weighed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lownoise.numbers.arrays import Integers
    from lownoise.report.parts import Part
    from lownoise.report.view import Row

NO_BITS = "(number of rows)"
_FEW_DIGITS = 8
_MOST_KINDS = 40
_FEW = 30  # rows in a terminal
_FIRST = 50  # answers that are shown where none are chosen


class AbstractWords(ABC):
    """How the answers of one kind of question are called."""

    @abstractmethod
    def asked(self) -> str:
        """Return what the answers are."""

    @abstractmethod
    def kinds(self) -> tuple[Integers, Integers]:
        """Return one answer of each kind, all of one noise, and how many are of it."""

    @abstractmethod
    def name(self, place: int) -> str:
        """Return what an answer is called."""

    @abstractmethod
    def about(self, place: int) -> str:
        """Return what an answer counts."""

    @abstractmethod
    def details(self) -> list[tuple[str, str]]:
        """Return what was asked, as facts."""

    @abstractmethod
    def gaussian_noise(self) -> str:
        """Return what Gaussian noise it is."""

    @abstractmethod
    def public(self) -> tuple[Part, ...]:
        """Return what the records can be."""


@final
@dataclass(frozen=True)
class QueryWords(AbstractWords):
    """Linear queries by the numbers of their rows."""

    question: AbstractQueries

    def asked(self) -> str:
        """Return "3 linear queries over 8 kinds of record"."""
        asked = sentences.count(self.question.count, "linear query", "linear queries")
        return f"{asked} over {sentences.count(self.question.record_count, 'kind')} of record"

    def kinds(self) -> tuple[Integers, Integers]:
        """Return each answer as one of its own."""
        count = self.question.count
        return np.arange(count), np.ones(count, dtype=np.int64)

    def name(self, place: int) -> str:
        """Return "query 3"."""
        return shown(self.question.names[place])

    def about(self, place: int) -> str:
        """Return which records a query counts, and how often."""
        row = self.question.matrix[place]
        used = row[row != 0]
        if not used.size:
            return "nothing"
        which = f"{used.size:,} of {row.size:,} records"
        if used.size == 1:
            labels = self.question.record(int(np.flatnonzero(row)[0]))
            which = ", ".join(map(shown, labels))
        low, high = float(np.min(used)), float(np.max(used))
        if low == high:
            return which if low == 1 else f"{which}, {_brief(low)} each"
        return f"{which}, {_brief(low)} to {_brief(high)} each"

    def details(self) -> list[tuple[str, str]]:
        """Return how many queries and records there are."""
        return [
            ("Queries", f"{self.question.count:,}, numbered as the rows of the matrix, from 0"),
            ("Records", f"{self.question.record_count:,} kinds"),
        ]

    def gaussian_noise(self) -> str:
        """Return what Gaussian noise it is."""
        return "Gaussian, correlated between answers, rounded to a grid"

    def public(self) -> tuple[Part, ...]:
        """Return the columns with their categories, or that records are listed."""
        universe = self.question.universe
        if universe is None:
            return (Prose(shown(self.question.rows), note=True),)
        if universe.listed is None:
            return (attributes_table("Columns and their categories", universe.attributes),)
        note = "A row that is not among them is left out."
        if universe.outside is not None:
            labels = ", ".join(map(shown, universe.record(universe.outside)))
            note = f"A row that is not among them counts as ({labels})."
        size = f"{universe.size:,}"
        listed = f"The {size} records are listed one by one in the file beside this page."
        # a record as a whole is listed or not
        return (
            attributes_table("Columns of the records", universe.attributes, outside="see below"),
            Prose(f"{listed} {note}", note=True),
        )


@final
@dataclass(frozen=True)
class ParityWords(AbstractWords):
    """Parities by their bits."""

    question: Parity

    def asked(self) -> str:
        """Return "9 parities of 3 bits"."""
        bits = sentences.count(len(self.question.attributes), "bit")
        return f"{sentences.count(self.question.count, 'parity', 'parities')} of {bits}"

    def kinds(self) -> tuple[Integers, Integers]:
        """Return the first parity of each degree: those of one degree have the same noise."""
        counts = np.array(self.question.counts)
        return np.cumsum(counts) - counts, counts

    def name(self, place: int) -> str:
        """Return "a ⊕ b"."""
        bits = [shown(bit) for bit in self.question.names(_bits(self.question, place))]
        return " ⊕ ".join(bits) if bits else NO_BITS

    def about(self, place: int) -> str:
        """Return of how many bits a parity is."""
        degree = len(_bits(self.question, place))
        return f"parity of {sentences.count(degree, 'bit')}" if degree else "every row"

    def details(self) -> list[tuple[str, str]]:
        """Return how many parities there are, of which degrees."""
        degrees = ", ".join(map(str, self.question.degrees))
        bits = f"{len(self.question.attributes):,} bits"
        return [("Parities", f"{self.question.count:,}, of {degrees} of {bits}")]

    def gaussian_noise(self) -> str:
        """Return what Gaussian noise it is."""
        return "Gaussian, independent, one variance a degree, rounded to a grid"

    def public(self) -> tuple[Part, ...]:
        """Return the bits with their two values."""
        return (attributes_table("Bits", self.question.attributes),)


_WORDS: dict[type, Callable[[Any], AbstractWords]] = {
    AbstractQueries: QueryWords,
    Parity: ParityWords,
}


def words_of(question: Any) -> AbstractWords:  # noqa: ANN401 (a question)
    """Return how the answers of linear queries or parities are called."""
    return (row_of(_WORDS, question) or QueryWords)(question)


@final
@dataclass(frozen=True, kw_only=True)
class LinearView(AbstractView):
    """What linear queries and parities say of themselves."""

    @property
    def words(self) -> AbstractWords:
        """How the answers are called."""
        return words_of(self.terms.question)

    def asked(self) -> str:
        """Return "3 linear queries over 8 kinds of record", or "9 parities of 3 bits"."""
        return self.words.asked()

    def measure(self, *, plain: bool = False) -> str:
        """Return what the plan makes small."""
        even = plain or bool(np.all(self.terms.question.weights == 1))
        weighted = "" if even else "weighted "
        return sentences.measure(self.terms.order, weighted, " of an answer", " of all answers")

    def weight(self) -> str:
        """Return how weights on the degrees of parities count."""
        return weighed(self, np.square(self.terms.question.weights), "degree")

    def count(self) -> int:
        """Return how many answers there are."""
        return int(self.terms.question.count)

    def totals(self) -> Totals:
        """Return the totals of this plan's noise."""
        return totals(self.terms.standard_deviation)

    def answers(self) -> Section:
        """Return the answers that were chosen, or the first ones, with their intervals."""
        release, words = self.release, self.words
        places = places_of(self.count(), self.chosen)
        deviations = release.standard_deviation
        found = estimates(release.estimate[places], release.interval(self.level)[places])
        table = Table(
            columns=(
                Column("Answer", "name"),
                Column("Counts", "words"),
                Column("Estimate", "estimate", self.level),
                Column("Standard deviation"),
            ),
            rows=tuple(
                (
                    words.name(place),
                    words.about(place),
                    estimate,
                    spelling.significant(float(deviations[place])),
                )
                for place, estimate in zip(places, found, strict=True)
            ),
            caption=(
                f"Sums over all rows with {self.percent} intervals, and the standard deviation of "
                "the noise."
            ),
            hidden=self.count() - len(places),
            rest=(
                "{hidden} more answers are in the release file; "
                "sections(release, answers=[…]) shows any of them."
            ),
            terminal=_FEW,
        )
        least = "" if self.gaussian else " at least"
        said = (
            f"{sentences.covers(self.percent, least=least)} Numbers are rounded to their "
            "uncertainty; the release file holds every digit. Answers are unbiased: a small count "
            "may come out below 0."
        )
        return Section("answers", "Answers", (table, Prose(said, note=True)))

    def names(self) -> Iterable[str]:
        """Return what the answers are called."""
        return map(self.words.name, range(self.count()))

    def rows(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return every answer."""
        return ("answer",), rows_of(self)

    def noise(self) -> tuple[Section, ...]:
        """Return the noise of the answers, the largest first."""
        terms, words = self.terms, self.words
        places, counts = words.kinds()
        own = terms.standard_deviation[places]
        order = np.argsort(-own, kind="stable")
        alike = bool(np.any(counts > 1))
        rows = []
        for k in order[:_MOST_KINDS].tolist():
            place, like = int(places[k]), int(counts[k])
            noises = [float(own[k])]
            if self.gaussian:
                noises.append(terms.isotropic if own[k] > 0 else 0.0)
                noises.append(float(terms.histogram[place]))
            what = words.about(place) if like == 1 else like_it(like)
            rows.append((words.name(place), what, *map(spelling.significant, noises)))
        others = ("i.i.d.", "All records") if self.gaussian else ()
        second = "Like it" if alike else "Counts"
        once = " Answers with the same noise are named once." if alike else ""
        table = Table(
            columns=columns("Answer", second, "Standard deviation", *others, words=(second,)),
            rows=tuple(rows),
            caption=f"Standard deviations of the noise, at the same budget.{once}",
            title="Largest noise first",
            hidden=order.size - len(rows),
            rest="{hidden} more answers have no more noise.",
            terminal=_FEW if self.release is None else 0,
        )
        curve = charts.curve(terms.standard_deviation, terms.isotropic) if self.gaussian else ()
        note = (Prose(HOLDS, note=True),) if self.release is None else ()
        return (Section("noise", "Noise of the answers", (*curve, table, *note)),)

    def compared(self) -> tuple[Section, ...]:
        """Return how i.i.d. noise on the answers, or on all records, compares."""
        terms = self.terms
        return comparison(
            self,
            [
                ("", "This plan", "", self.totals()),
                (
                    "i.i.d. noise",
                    "i.i.d. on these answers",
                    "i.i.d. Gaussian noise on every answer",
                    totals(np.where(terms.standard_deviation > 0, terms.isotropic, 0.0)),
                ),
                (
                    "all records",
                    "i.i.d. on the count of every record",
                    "i.i.d. noise on the count of every possible record, summed up",
                    totals(terms.histogram),
                ),
            ],
        )

    def details(self) -> list[tuple[str, str]]:
        """Return what was asked, as facts."""
        return self.words.details()

    def gaussian_noise(self) -> str:
        """Return what Gaussian noise it is."""
        return self.words.gaussian_noise()

    def weighted(self) -> bool:
        """Return whether the error counts some answers more than others."""
        weights = self.terms.question.weights if self.gaussian else self.terms.weights
        return bool(np.any(weights != 1))

    def public(self) -> tuple[Part, ...]:
        """Return what the records can be."""
        return self.words.public()


def places_of(count: int, answers: Sequence[int] | None) -> list[int]:
    """Return the places of answers that are shown: those chosen, or the first ones.

    Raises:
        QuestionError: where there is no such answer.
    """
    places = list(range(min(count, _FIRST))) if answers is None else list(answers)
    for place in places:
        whole = isinstance(place, (int, np.integer)) and not isinstance(place, bool)
        if not whole or not 0 <= place < count:
            raise QuestionError(
                f"answers has {told(place)}, which is no place of an answer; give numbers from 0 "
                f"to {count - 1}",
            )
    return places[:MOST_ROWS]


def _brief(value: float) -> str:
    text = spelling.shortest(value)
    return text if len(text) <= _FEW_DIGITS else spelling.significant(value)


def _bits(question: Parity, place: int) -> Sequence[int]:
    """Return the bits of the parity at `place`, without a walk through those before it."""
    ends = list(itertools.accumulate(question.counts))
    degree = bisect.bisect_right(ends, place)
    left = place - (ends[degree] - question.counts[degree])
    size, bits, first = question.degrees[degree], len(question.attributes), 0
    found: list[int] = []
    while len(found) < size:
        block = math.comb(bits - first - 1, size - len(found) - 1)  # sets that begin with `first`
        if left < block:
            found.append(first)
        else:
            left -= block
        first += 1
    return found
