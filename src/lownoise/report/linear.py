# SPDX-License-Identifier: Apache-2.0
"""Linear queries and parities: how answers are called, what they count, and their noise."""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import QuestionError, quoted
from lownoise.kinds import row_of
from lownoise.numbers.arguments import is_integer
from lownoise.questions import AbstractQueries, AbstractSummed, Parity
from lownoise.report import charts, spelling
from lownoise.report.marginals import attributes_table
from lownoise.report.parts import Column, Prose, Section, Table
from lownoise.report.spelling import shown
from lownoise.report.view import (
    FEW,
    MOST_ROWS,
    AbstractView,
    Kinds,
    Wording,
    columns,
    comparison,
    estimates,
    like_it,
    noise_section,
    weighed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.report.parts import Part

NO_BITS = "(number of rows)"
_FEW_DIGITS = 8
_FIRST = 50  # answers that are shown where none are chosen


@final
@dataclass(frozen=True, kw_only=True)
class Names:
    """How the answers of one kind of question are called.

    Args:
        asked: what the answers are.
        name: what an answer is called, by its place.
        about: what an answer counts, by its place.
        kinds: one answer of each kind, all of one noise, and how many are of it.
        details: what was asked, as a fact.
        noise: what Gaussian noise it is.
        public: what the records can be.
    """

    asked: str
    name: Callable[[int], str]
    about: Callable[[int], str]
    kinds: tuple[Integers, Integers]
    details: tuple[tuple[str, str], ...]
    noise: str
    public: tuple[Part, ...]


def names_of_sums(question: AbstractSummed) -> Names:
    """Return sums by their own names."""
    count = question.count
    return Names(
        asked=spelling.count(count, "sum"),
        name=lambda place: shown(question.names[place]),
        about=lambda _: "every row",
        kinds=(np.arange(count), np.ones(count, dtype=np.int64)),
        details=(("Sums", f"{count:,}"),),
        noise="correlated between answers",
        public=(Prose(shown(question.rows), note=True),),
    )


def names_of_queries(question: AbstractQueries) -> Names:
    """Return linear queries by the numbers of their rows."""
    count, size = question.count, question.record_count
    asked = spelling.count(count, "linear query", "linear queries")
    return replace(
        names_of_sums(question),
        asked=f"{asked} over {spelling.count(size, 'kind')} of record",
        about=lambda place: _counted(question, place),
        details=(
            ("Queries", f"{count:,}, numbered as the rows of the matrix, from 0"),
            ("Records", f"{size:,} kinds"),
        ),
        public=_records(question),
    )


def _counted(question: AbstractQueries, place: int) -> str:
    """Return which records a query counts, and how often."""
    row = question.matrix[place]
    used = row[row != 0]
    if not used.size:
        return "nothing"
    which = f"{used.size:,} of {row.size:,} records"
    if used.size == 1:
        labels = question.record(int(np.flatnonzero(row)[0]))
        which = f"records of {', '.join(map(shown, labels))}"
    low, high = float(np.min(used)), float(np.max(used))
    if low == high:
        return which if low == 1 else f"{which}, {_brief(low)} each"
    return f"{which}, {_brief(low)} to {_brief(high)} each"


def _records(question: AbstractQueries) -> tuple[Part, ...]:
    """Return the columns with their categories, or that records are listed."""
    universe = question.universe
    if universe is None:
        return (Prose(shown(question.rows), note=True),)
    if universe.rows is None:
        return (attributes_table("Columns and their categories", universe.attributes),)
    note = "A row that is not among them is left out."
    if universe.outside is not None:
        labels = ", ".join(map(shown, universe.record(universe.outside)))
        note = f"A row that is not among them counts as ({labels})."
    listed = f"The {universe.size:,} records are listed one by one in the file beside this page."
    # a record as a whole is listed or not
    return (
        attributes_table("Columns of the records", universe.attributes, outside="see below"),
        Prose(f"{listed} {note}", note=True),
    )


def names_of_parities(question: Parity) -> Names:
    """Return parities by their bits; those of one degree have the same noise."""
    counts, bits = np.array(question.counts), len(question.attributes)
    degrees = ", ".join(map(str, question.degrees))

    def name(place: int) -> str:
        own = [shown(bit) for bit in question.names(_bits(question, place))]
        return " ⊕ ".join(own) if own else NO_BITS

    def about(place: int) -> str:
        degree = len(_bits(question, place))
        return f"parity of {spelling.count(degree, 'bit')}" if degree else "every row"

    asked = spelling.count(question.count, "parity", "parities")
    return Names(
        asked=f"{asked} of {spelling.count(bits, 'bit')}",
        name=name,
        about=about,
        kinds=(np.cumsum(counts) - counts, counts),
        details=(("Parities", f"{question.count:,}, of {degrees} of {bits:,} bits"),),
        noise="independent, one variance a degree",
        public=(attributes_table("Bits", question.attributes),),
    )


_NAMES: dict[type, Callable[[Any], Names]] = {  # of what has counts of records behind it
    AbstractQueries: names_of_queries,
    Parity: names_of_parities,
}


@final
@dataclass(frozen=True, kw_only=True)
class LinearView(AbstractView):
    """What linear queries and parities say of themselves."""

    takes: ClassVar[str] = "linear queries"

    @cached_property
    def called(self) -> Names:
        """How the answers are called."""
        question = self.terms.question
        return (row_of(_NAMES, question) or names_of_sums)(question)

    @property
    def _of_records(self) -> bool:
        """Whether noise on the count of every record would give the answers, too."""
        return row_of(_NAMES, self.terms.question) is not None

    @cached_property
    def wording(self) -> Wording:
        """What the answers are called, all of them."""
        terms, called = self.terms, self.called
        weights = terms.question.weights
        uneven, weighted = (
            bool(np.any(own != 1)) for own in (weights, weights if self.gaussian else terms.weights)
        )
        of = (" of an answer", " of all answers")
        return Wording(
            asked=called.asked,
            measure=spelling.measure(terms.order, "weighted " if uneven else "", *of),
            noise=f"Gaussian, {called.noise}, rounded to a grid",
            how=spelling.in_order(terms.order, weighted=weighted),
            weight=weighed(np.square(weights), "an answer", "degree"),
            details=called.details,
        )

    def count(self) -> int:
        """Return how many answers there are."""
        return int(self.terms.question.count)

    @cached_property
    def kinds(self) -> Kinds:
        """The answers by their noise, the largest first."""
        terms, called = self.terms, self.called
        places, counts = called.kinds
        order = np.argsort(-terms.standard_deviation[places], kind="stable")
        places, counts = places[order], counts[order]
        own = terms.standard_deviation[places]
        others: tuple[Vector, ...] = ()
        if self.gaussian:
            others = (np.where(own > 0, terms.isotropic, 0.0),)
            others += (terms.histogram[places],) if self._of_records else ()

        def label(k: int) -> tuple[str, str]:
            place, like = int(places[k]), int(counts[k])
            return called.name(place), called.about(place) if like == 1 else like_it(like)

        return Kinds(
            label=label, counts=counts.astype(float), typical=own, largest=own, others=others
        )

    def answers(self) -> Section:
        """Return the answers that were chosen, or the first ones, with their intervals."""
        release, called = self.release, self.called
        places = places_of(self.count(), self.chosen)
        found = estimates(release.estimate[places], release.interval(self.level)[places])
        deviations = release.standard_deviation[places].tolist()
        table = Table(
            columns=(
                Column("Answer", "name"),
                Column("Counts", "words"),
                Column("Estimate", "estimate", self.level),
                Column("Standard deviation"),
            ),
            rows=tuple(
                (called.name(place), called.about(place), estimate, spelling.significant(own))
                for place, estimate, own in zip(places, found, deviations, strict=True)
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
            terminal=FEW,
        )
        said = f"{self.intervals()} Answers are unbiased: a small count may come out below 0."
        return Section("answers", "Answers", (table, Prose(said, note=True)))

    def names(self) -> Iterable[str]:
        """Return what the answers are called, in order."""
        return map(self.called.name, range(self.count()))

    def noise(self) -> tuple[Section, ...]:
        """Return the noise of the answers, the largest first."""
        terms, kinds = self.terms, self.kinds
        alike = bool(np.any(kinds.counts > 1))
        second = "Like it" if alike else "Counts"
        once = " Answers with the same noise are named once." if alike else ""
        table = kinds.table(
            columns("Answer", second, "Standard deviation", words=(second,)),
            ("i.i.d.", "All records")[: 1 + self._of_records] if self.gaussian else (),
            caption=f"Standard deviations of the noise, at the same budget.{once}",
            title="Largest noise first",
            rest="{hidden} more answers have no more noise.",
            terminal=FEW if self.release is None else 0,
        )
        curve = charts.curve(terms.standard_deviation, terms.isotropic) if self.gaussian else ()
        return noise_section(self, "Noise of the answers", table, curve)

    def compared(self) -> tuple[Section, ...]:
        """Return how i.i.d. noise on the answers, or on all records, compares."""
        others = (
            ("i.i.d. noise", "i.i.d. on these answers", "i.i.d. Gaussian noise on every answer"),
            (
                "all records",
                "i.i.d. on the count of every record",
                "i.i.d. noise on the count of every possible record, summed up",
            ),
        )
        return comparison(self, self.kinds, others[: 1 + self._of_records])

    def public(self) -> tuple[Part, ...]:
        """Return what the records can be."""
        return self.called.public


def places_of(count: int, answers: Sequence[int] | None) -> list[int]:
    """Return the places of answers that are shown: those chosen, or the first ones.

    Raises:
        QuestionError: where there is no such answer.
    """
    places = list(range(min(count, _FIRST))) if answers is None else list(answers)
    for place in places:
        if not is_integer(place) or not 0 <= place < count:
            raise QuestionError(
                f"answers has {quoted(place)}, which is no place of an answer; give numbers from 0 "
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
