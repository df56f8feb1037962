# SPDX-License-Identifier: Apache-2.0
"""What a question adds to every report: what was asked, its answers, and their noise."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.report import sentences, spelling
from lownoise.report.parts import Column, Estimate, Prose, Section, Table
from lownoise.report.spelling import shown
from lownoise.sensitivity.relations import Change

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Attribute
    from lownoise.report.parts import Part

MOST_ROWS = 1000
_MOST_LABELS, _MOST_LETTERS = 50, 200  # of an attribute's categories
FILE_HAS = "{hidden} more answers; the file of the plan or the release has all."
HOLDS = "These numbers hold whatever the data are: a plan reads no data."
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


@dataclass(frozen=True, kw_only=True)
class AbstractView(ABC):
    """What a question says of a plan or a release of it.

    Args:
        terms: what is promised.
        release: what was released, None for a plan.
        level: the chance with which each interval covers.
        gaussian: whether the noise is Gaussian, so that terms have that of i.i.d. noise too.
        chosen: which answers are shown, as the question names them; None for the first ones.
    """

    terms: Any
    release: Any
    level: float = 0.95
    gaussian: bool = True
    chosen: Any = None

    @property
    def one(self) -> str:
        """What an answer is called."""
        return "answer"

    @property
    def number(self) -> str:
        """What the number of an answer is called in a file."""
        return "estimate"

    @property
    def percent(self) -> str:
        """The level, as "95%"."""
        return f"{100 * self.level:g}%"

    @abstractmethod
    def asked(self) -> str:
        """Return what the answers are: "4 means"."""

    @abstractmethod
    def measure(self, *, plain: bool = False) -> str:
        """Return what the plan makes small, or the same with all weights one where `plain`."""

    @abstractmethod
    def answers(self) -> Section:
        """Return the section of the released answers, of a release."""

    @abstractmethod
    def names(self) -> Iterable[str]:
        """Return what the answers are called, in order.

        Raises:
            PlanError: where they do not stand in a row.
        """

    @abstractmethod
    def rows(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return what the labels of a release's answers are called, and every answer.

        Raises:
            QuestionError: where what was chosen is no answer of the release.
            PlanError: where the level is not between 0 and 1.
        """

    @abstractmethod
    def noise(self) -> tuple[Section, ...]:
        """Return the section of the answers' noise: of a plan, or where the answers lack it."""

    @abstractmethod
    def compared(self) -> tuple[Section, ...]:
        """Return how other Gaussian noise compares."""

    @abstractmethod
    def public(self) -> tuple[Part, ...]:
        """Return what is public of the records."""

    def count(self) -> int:
        """Return how many answers there are."""
        return len(self.terms.names)

    def brief(self) -> str:
        """Return what the error is of, in few words."""
        return f"all {self.one}s"

    def whose(self) -> str:
        """Return what the error is of."""
        return f"all {self.one}s together"

    def unit(self) -> str:
        """Return in which unit errors, bounds and deviations are."""
        return "in rows"

    def weight(self) -> str:
        """Return how weights count in `measure`, "" where nothing is weighted."""
        return ""

    def totals(self) -> Totals | None:
        """Return the totals of this plan's noise, None where answers have units of their own."""
        return None

    def figures(self) -> list[tuple[str, str]]:
        """Return the few numbers about one answer's noise that a report begins with."""
        own = self.totals()
        if own is None:
            return []
        one = f"{_article(self.one).capitalize()} {self.one}"
        return [
            (f"{one}, root mean square", spelling.significant(own.typical)),
            (f"{one}, largest deviation", spelling.significant(own.largest)),
        ]

    def typical(self) -> str:
        """Return a sentence on the noise of one answer, after that on all of them; "" for none."""
        own = self.totals()
        if own is None:
            return ""
        typical, largest = spelling.significant(own.typical), spelling.at_most(own.largest, 3)
        return (
            f"One {self.one}’s standard deviation is {typical} in root mean square, {largest} at "
            "most."
        )

    def error(self) -> float:
        """Return the error of the answers."""
        return float(self.terms.error)

    def exact(self) -> bool:
        """Return whether that is the error, and no bound of it."""
        return bool(self.terms.order == 2) or self.count() == 1  # noqa: PLR2004

    def least(self) -> str:
        """Return what the certificate is about, and the bound in words: noise of this kind."""
        return "Gaussian noise"

    def where(self) -> str:
        """Return on which data the lower bound holds."""
        if isinstance(self.terms.relation, Change):
            return "a table with a row that has room in its domain for every change"
        return "any dataset"

    def together(self) -> str:
        """Return of what a cost is, where that is not one release."""
        return ""

    @property
    def size(self) -> int | None:
        """The public number of rows, None where it is none of the question's or not public."""
        size: int | None = self.terms.size
        return size

    def neighbours(self) -> list[tuple[str, str]]:
        """Return what the terms hide, and from whom, as facts."""
        public = self.size is not None
        return [
            ("Neighbours", "one row changes" if public else "one row comes or goes"),
            ("Relation", self.relation()),
            ("Rows", f"{self.size:,} (public)" if public else "private; counted"),
            ("Order of the error", spelling.shortest(self.terms.order)),
        ]

    def details(self) -> list[tuple[str, str]]:
        """Return what was asked, as facts."""
        return []

    def gaussian_noise(self) -> str:
        """Return what Gaussian noise it is."""
        return "Gaussian, correlated between answers, rounded to a grid"

    def relation(self) -> str:
        """Return what a neighbour is."""
        return str(self.terms.relation)

    def weighted(self) -> bool:
        """Return whether the error counts some answers more than others."""
        return False

    def how(self) -> str:
        """Return in which norm the error is, and whether it is weighted; "" for the usual one."""
        return sentences.in_order(self.terms.order) + ", weighted" * self.weighted()


@final
@dataclass(frozen=True)
class Totals:
    """One kind of noise over all answers: the root mean square of its deviations, the largest."""

    typical: float
    largest: float

    def ratio(self, other: Totals) -> float:
        """Return the total variance of another noise over this one's; NaN where this is none."""
        return (other.typical / self.typical) ** 2 if self.typical > 0 else math.nan


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


def rows_of(view: AbstractView) -> Iterator[Row]:
    """Yield every answer of a release whose answers stand in a row.

    Args:
        view: of what.
    """
    release = view.release
    columns = (release.estimate, *release.interval(view.level).T, release.standard_deviation)
    for name, *numbers in zip(view.names(), *(column.tolist() for column in columns), strict=True):
        value, low, high, deviation = numbers
        yield Row(labels=(name,), estimate=value, low=low, high=high, deviation=deviation)


def comparison(
    view: AbstractView, found: Sequence[tuple[str, str, str, Totals]]
) -> tuple[Section, ...]:
    """Return how other noise compares: a sentence each, then the totals in a table.

    Args:
        view: of what.
        found: of each noise, this plan's first: what a terminal calls it, its name in the table,
            what it is in a sentence, its totals.
    """
    own, one = found[0][3], view.one
    if not own.largest > 0:
        return (Section("compared", "Compared with usual noise", (Prose(NOTHING),)),)
    parts: list[Part] = []
    for label, _, words, other in found[1:]:
        said = sentences.times(own.ratio(other), f"{words}, at the same budget").removesuffix(".")
        typical = spelling.significant(other.typical)
        article = _article(one)
        parts.append(
            Prose(
                f"{said} ({article} {one}’s deviation would be {typical} in root mean square).",
                label=label,
            )
        )
    headings = (
        "Noise",
        "Total variance",
        f"Deviation of {article} {one}, root mean square",
        "Largest",
    )
    rows = [
        (
            name,
            f"{spelling.significant(own.ratio(each))}×",
            spelling.significant(each.typical),
            spelling.significant(each.largest),
        )
        for _, name, _, each in found
    ]
    table = Table(
        columns=columns(*headings),
        rows=tuple(rows),
        caption=f"Over all {one}s, at the same budget.",
    )
    return (Section("compared", "Compared with usual noise", (*parts, table)),)


def _article(one: str) -> str:
    return "an" if one[0] in "aeiou" else "a"


def weighed(view: AbstractView, weights: Vector, by: str) -> str:
    """Return how weights on variances count, "" where all are one.

    Args:
        view: of what.
        weights: on variances.
        by: what they belong to.
    """
    if np.all(weights == 1):
        return ""
    low, high = (spelling.significant(float(w)) for w in (weights.min(), weights.max()))
    spread = low if low == high else f"{low} to {high}"
    article = _article(view.one)
    return f"A unit of variance in {article} {view.one} counts {spread} times, by its {by}."


def like_it(count: int) -> str:
    """Return how many are like the one that is named."""
    return "this one only" if count == 1 else f"{count - 1:,} more"


def attributes_table(title: str, attributes: Sequence[Attribute], outside: str = "") -> Table:
    """Return declared attributes, a row each: name, number of cells, categories, other values.

    Args:
        title: what a reader opens.
        attributes: what was declared.
        outside: where other values go, where that is no attribute's own.
    """
    return Table(
        columns=(
            Column("Name", "name"),
            Column("Cells"),
            Column("Categories", "words"),
            Column("Missing or other", "words"),
        ),
        rows=tuple(
            (shown(a.name), f"{a.size:,}", _labels(a), outside or _outside(a)) for a in attributes
        ),
        caption="Public categories, and where a missing value or any other goes.",
        folded=title,
    )


def _labels(attribute: Attribute) -> str:
    if attribute.labels is None:
        return f"0 to {attribute.categories - 1:,}"
    labels = [shown(attribute.label(k)) for k in range(min(attribute.categories, _MOST_LABELS))]
    listed = ", ".join(labels)
    if len(listed) > _MOST_LETTERS or attribute.categories > len(labels):
        return f"{listed[:_MOST_LETTERS]}…"
    return listed


def _outside(attribute: Attribute) -> str:
    if attribute.outside is None:
        return "row left out"
    if attribute.outside == attribute.categories:
        return "a cell of their own"
    return f"counted as {shown(attribute.label(attribute.outside))}"
