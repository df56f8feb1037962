# SPDX-License-Identifier: Apache-2.0
"""What a question adds to every report: what was asked, its answers, and their noise."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.report import spelling
from lownoise.report.parts import Column, Estimate, Prose, Section, Table
from lownoise.sensitivity.relations import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.release.answer_table import AnswerTable
    from lownoise.report.parts import Part

MOST_ROWS = 1000
FEW = 30  # rows in a terminal
_MOST_KINDS = 40
_VARIED = 1.005  # a largest deviation beyond that many times the typical one is shown beside it
FILE_HAS = "{hidden} more answers; the file of the plan or the release has all."
HOLDS = "These numbers do not depend on the data: a plan reads none."
NOTHING = "No answer needs noise, so there is nothing to compare."


@final
@dataclass(frozen=True, kw_only=True)
class Row:
    """One answer: its labels, its estimate, the ends of its interval, and its deviation."""

    labels: tuple[str, ...]
    estimate: float
    low: float
    high: float
    deviation: float


@final
@dataclass(frozen=True, kw_only=True)
class Wording:
    """What the answers of a question are called, wherever a report speaks of them.

    Args:
        asked: what the answers are: "4 means".
        measure: what the plan makes small.
        noise: what Gaussian noise it is.
        one: what an answer is called.
        number: what the number of an answer is called in a file.
        brief: what the error is of, in few words; all answers by default.
        whose: the same as a sentence has it.
        how: in which norm the error is, and whether it is weighted; "" for the usual one.
        unit: in which unit errors, bounds and deviations are.
        weight: how weights count in `measure`, "" where nothing is weighted.
        least: what the certificate is about: noise of this kind.
        together: of what a cost is, where that is not one release.
        details: what was asked, as facts.
    """

    asked: str
    measure: str
    noise: str
    one: str = "answer"
    number: str = "estimate"
    brief: str = ""
    whose: str = ""
    how: str = ""
    unit: str = "in rows"
    weight: str = ""
    least: str = "Gaussian noise"
    together: str = ""
    details: tuple[tuple[str, str], ...] = ()

    @property
    def article(self) -> str:
        """An answer with its article: "a cell", "an answer"."""
        return f"{'an' if self.one[0] in 'aeiou' else 'a'} {self.one}"


@dataclass(frozen=True, kw_only=True)
class AbstractView(ABC):
    """What a question says of a plan or a release of it.

    Args:
        terms: what is promised.
        release: what was released, None for a plan.
        level: the chance with which each interval covers.
        gaussian: whether the noise is Gaussian, so that terms have that of i.i.d. noise too.
        chosen: which answers are shown, as the question names them; None for the first ones.
        by_rows: what the error would be if rows alone bounded a unit; None where it is not known.
    """

    takes: ClassVar[str] = ""  # of what releases a reader chooses which answers are shown
    terms: Any
    release: Any
    level: float = 0.95
    gaussian: bool = True
    chosen: Any = None
    by_rows: float | None = None

    @cached_property
    @abstractmethod
    def wording(self) -> Wording:
        """What the answers are called."""

    @abstractmethod
    def answers(self) -> Section:
        """Return the section of the released answers, of a release."""

    def names(self) -> Iterable[str]:
        """Return what the answers are called, in order.

        Raises:
            PlanError: where they do not stand in a row.
        """
        return tuple(self.terms.names)

    def noises(self) -> dict[str, Any]:
        """Return the noise of a plan's answers, by the headings of a table.

        Raises:
            PlanError: where they do not stand in a row.
        """
        deviations = self.terms.standard_deviation
        return {"answer": list(self.names()), "standard_deviation": deviations}

    def last(self) -> AnswerTable | None:
        """Return the last answers of what is no release but a stream; None where it has none."""
        return None

    @abstractmethod
    def noise(self) -> tuple[Section, ...]:
        """Return the section of the answers' noise: of a plan, or where the answers lack it."""

    def compared(self) -> tuple[Section, ...]:
        """Return how other Gaussian noise compares, where it serves at all."""
        return ()

    def public(self) -> tuple[Part, ...]:
        """Return what is public of the records."""
        return ()

    def rows(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return what the labels of a release's answers are called, and every answer.

        Raises:
            QuestionError: where what was chosen is no answer of the release.
            PlanError: where the level is not between 0 and 1.
        """
        release = self.release
        numbers = (release.estimate, *release.interval(self.level).T, release.standard_deviation)
        columns = zip(self.names(), *(each.tolist() for each in numbers), strict=True)
        return ("answer",), (
            Row(labels=(name,), estimate=value, low=low, high=high, deviation=deviation)
            for name, value, low, high, deviation in columns
        )

    def count(self) -> int:
        """Return how many answers there are."""
        return len(self.terms.names)

    @property
    def kinds(self) -> Kinds | None:
        """The answers by their noise, None where they have units of their own."""
        return None

    @property
    def asking(self) -> str:
        """How another mechanism is asked for, in a sentence."""
        return '`mechanism="…"` selects any that is available.'

    @property
    def changed(self) -> str:
        """What a neighbour's data have otherwise, in words that follow "if"."""
        if self.unit is not None:
            return f"one {spelling.shown(self.unit.column)} {self.unit.becomes}"
        return "one row " + (
            "takes another value" if self.terms.size is not None else "is added or removed"
        )

    @property
    def brief(self) -> str:
        """What the error is of, in few words."""
        return self.wording.brief or f"all {self.wording.one}s"

    @property
    def whose(self) -> str:
        """What the error is of, and in which norm."""
        return (self.wording.whose or f"{self.brief} together") + self.wording.how

    @property
    def percent(self) -> str:
        """The level, as "95%"."""
        return f"{100 * self.level:g}%"

    def figures(self) -> list[tuple[str, str]]:
        """Return the few numbers about one answer's noise that a report begins with."""
        if self.kinds is None:
            return []
        own, one = self.kinds.totals()[0], self.wording.article.capitalize()
        return [
            (f"{one}, root mean square", spelling.significant(own.typical)),
            (f"{one}, largest deviation", spelling.significant(own.largest)),
        ]

    def typical(self) -> str:
        """Return a sentence on the noise of one answer, after that on all of them; "" for none."""
        if self.kinds is None:
            return ""
        own = self.kinds.totals()[0]
        typical, largest = spelling.significant(own.typical), spelling.at_most(own.largest, 3)
        return (
            f"The standard deviation of one {self.wording.one} is {typical} in root mean square, "
            f"and at most {largest}."
        )

    def error(self) -> float:
        """Return the error of the answers."""
        return float(self.terms.error)

    def exact(self) -> bool:
        """Return whether that is the error, and no bound of it."""
        return bool(self.terms.order == 2) or self.count() == 1  # noqa: PLR2004

    @property
    def unit(self) -> PrivacyUnit | None:
        """Whose rows are hidden together; None where each row is."""
        found: PrivacyUnit | None = getattr(self.terms, "privacy_unit", None)
        return found

    @property
    def budget(self) -> str:
        """The budget, and of whom where that is not a row."""
        of = "" if self.unit is None else f" per {spelling.shown(self.unit.column)}"
        return f"{self.terms.budget}{of}"

    @property
    def size(self) -> int | None:
        """The public number of rows, None where it is none of the question's or not public."""
        size: int | None = self.terms.size
        return size

    def neighbours(self) -> list[tuple[str, str]]:
        """Return what the terms hide, and from whom, as facts."""
        public = self.size is not None
        return [
            ("Neighbours", "one row changes" if public else self.changed),
            ("Relation", self.relation()),
            ("Rows", f"{self.size:,} (public)" if public else "private; the count has noise, too"),
            *(() if self.unit is None else self.unit.facts),
            ("Order of the error", spelling.shortest(self.terms.order)),
        ]

    def relation(self) -> str:
        """Return what a neighbour is: a word, or how far a body reaches in each column."""
        if self.unit is not None:
            return self.unit.relation
        if not isinstance(self.terms.relation, Change):
            return str(self.terms.relation)
        return spelling.change(self.terms.relation, self.terms.question.columns)

    def intervals(self) -> str:
        """Return what the intervals of answers are, where noise alone makes them."""
        least = "" if self.gaussian else " at least"
        covers = spelling.covers(self.percent, least=least)
        return (
            f"{covers} Numbers are rounded to the digits that the noise leaves certain; the "
            "release file has all digits."
        )


@final
@dataclass(frozen=True)
class Totals:
    """One kind of noise over all answers: the root mean square of its deviations, the largest."""

    typical: float
    largest: float

    def ratio(self, other: Totals) -> float:
        """Return the total variance of another noise over this one's; NaN where this is none."""
        return (other.typical / self.typical) ** 2 if self.typical > 0 else math.nan


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Kinds:
    """Answers by their noise, the largest first.

    Args:
        label: of a kind by its place, the name of one of its answers and what else a table says.
        counts: how many answers are of each kind, shape (k,).
        typical: the root mean square of the standard deviations of each kind's answers.
        largest: the largest of them.
        others: the standard deviations of the other noises that are compared, a row a noise.
    """

    label: Callable[[int], tuple[str, ...]]
    counts: Vector
    typical: Vector
    largest: Vector
    others: tuple[Vector, ...]

    def totals(self) -> list[Totals]:
        """Return the totals over all answers: of this plan's noise, then of the others."""
        own = totals(self.typical, self.counts, float(np.max(self.largest)))
        return [own, *(totals(other, self.counts) for other in self.others)]

    def table(self, headings: Sequence[Column], others: Sequence[str], **more: Any) -> Table:  # noqa: ANN401
        """Return the first kinds as a table, with what is in no column under it.

        Args:
            headings: of the labels, and of this plan's deviations.
            others: of the other noises.
            more: `caption`, `title`, `rest` and `terminal` of the table.
        """
        varied = bool(np.any(self.largest > self.typical * _VARIED))
        columns = (self.typical, *((self.largest,) if varied else ()), *self.others)
        shown_kinds = range(min(self.counts.size, _MOST_KINDS))
        return Table(
            columns=(*headings, *map(Column, (*(("Largest",) if varied else ()), *others))),
            rows=tuple(
                (*self.label(k), *(spelling.significant(float(own[k])) for own in columns))
                for k in shown_kinds
            ),
            hidden=self.counts.size - len(shown_kinds),
            **more,
        )


def totals(
    deviations: Vector, counts: Vector | None = None, largest: float | None = None
) -> Totals:
    """Return the totals of deviations.

    Args:
        deviations: shape (k,).
        counts: how many answers have each of them; one by default.
        largest: of all answers, where a deviation is a mean of several.
    """
    top = float(np.max(deviations))
    most = top if largest is None else largest
    if top == 0 or math.isinf(top):
        return Totals(top, most)
    # by the largest, so that no square leaves the floats
    return Totals(top * math.sqrt(np.average(np.square(deviations / top), weights=counts)), most)


def columns(*headings: str, words: Sequence[str] = ()) -> tuple[Column, ...]:
    """Return columns: a name, those of `words`, the number that matters, other numbers."""
    found: list[Column] = []
    for heading in headings:
        if not found:
            found.append(Column(heading, "name"))
        elif heading in words:
            found.append(Column(heading, "words"))
        else:
            first = all(column.kind != "value" for column in found)
            found.append(Column(heading, "value" if first else "other"))
    return tuple(found)


def estimates(values: Vector, interval: Vector) -> list[Estimate]:
    """Return values with the ends of their intervals, of shapes (m,) and (m, 2)."""
    return [
        Estimate(value, low, high)
        for value, (low, high) in zip(values.tolist(), interval.tolist(), strict=True)
    ]


def noise_section(
    view: AbstractView, title: str, table: Table, drawn: tuple[Part, ...] = ()
) -> tuple[Section, ...]:
    """Return the section of the answers' noise: charts, a table, and of a plan that it holds.

    Args:
        view: of what.
        title: of the section.
        table: deviations.
        drawn: what stands above it: the same as charts, or what must not be overlooked.
    """
    note = (Prose(HOLDS, note=True),) if view.release is None else ()
    return (Section("noise", title, (*drawn, table, *note)),)


def comparison(
    view: AbstractView, kinds: Kinds, others: Sequence[tuple[str, str, str]]
) -> tuple[Section, ...]:
    """Return how other noise compares: a sentence each, then the totals in a table.

    Args:
        view: of what.
        kinds: its answers by their noise.
        others: of each other noise what a terminal calls it, its name in the table, and what it
            is in a sentence.
    """
    (own, *found), one = kinds.totals(), view.wording.article
    if not own.largest > 0:
        return (Section("compared", "Compared with usual noise", (Prose(NOTHING),)),)
    parts: list[Part] = []
    for (label, _, words), other in zip(others, found, strict=True):
        said = spelling.times(own.ratio(other), f"{words}, at the same budget").removesuffix(".")
        typical = spelling.significant(other.typical)
        text = f"{said} ({one}’s deviation would be {typical} in root mean square)."
        parts.append(Prose(text, label=label))
    names = ("This plan", *(name for _, name, _ in others))
    table = Table(
        columns=columns(
            "Noise", "Total variance", f"Deviation of {one}, root mean square", "Largest"
        ),
        rows=tuple(
            (
                name,
                f"{spelling.significant(own.ratio(each))}×",
                spelling.significant(each.typical),
                spelling.significant(each.largest),
            )
            for name, each in zip(names, [own, *found], strict=True)
        ),
        caption=f"Over all {view.wording.one}s, at the same budget.",
    )
    return (Section("compared", "Compared with usual noise", (*parts, table)),)


def weighed(weights: Vector, article: str, by: str) -> str:
    """Return how weights on variances count, "" where all are one.

    Args:
        weights: on variances.
        article: an answer, with its article.
        by: what they belong to.
    """
    if np.all(weights == 1):
        return ""
    low, high = (spelling.significant(float(w)) for w in (weights.min(), weights.max()))
    ends = low if low == high else f"{low} to {high}"
    return f"A unit of variance in {article} counts {ends} times, by its {by}."


def like_it(count: int) -> str:
    """Return how many are like the one that is named."""
    return "this one only" if count == 1 else f"{count - 1:,} more"
