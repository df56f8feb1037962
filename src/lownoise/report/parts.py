# SPDX-License-Identifier: Apache-2.0
"""What every report is made of: sections, and the few kinds of parts that stand in them.

Parts hold words and numbers, and nothing of how they look: `render_text` and `render_html` decide
that. A part with a label is one that a terminal shows too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, final

from lownoise.report import spelling

if TYPE_CHECKING:
    from markupsafe import Markup

Kind = Literal["name", "words", "value", "other", "estimate"]


@final
@dataclass(frozen=True)
class Estimate:
    """An answer with the ends of its interval, to be written to the digits that it leaves."""

    value: float
    low: float
    high: float

    @property
    def _half(self) -> float:
        return (self.high - self.low) / 2

    def ends(self) -> tuple[str, str, str]:
        """Return value, low and high."""
        value, low, high = (
            spelling.with_uncertainty(number, self._half)
            for number in (self.value, self.low, self.high)
        )
        return value, low, high

    def beside(self) -> str:
        """Return "value ± half", for an interval that is its own estimate ± half."""
        return spelling.beside(self.value, self._half)


@final
@dataclass(frozen=True)
class Column:
    """A column: its heading, and what stands in it.

    Args:
        heading: "" in a table of names and values, which has no row of headings.
        kind: a row's name, words that are read, the number that matters, another number, or an
            `Estimate`.
        level: of the intervals of an "estimate".
        even: whether its intervals are each their own estimate ± half.
    """

    heading: str
    kind: Kind = "other"
    level: float = 0.95
    even: bool = True

    @property
    def percent(self) -> str:
        """The level, as "95%"."""
        return f"{100 * self.level:g}%"


@final
@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows under headings.

    Args:
        columns: their headings.
        rows: a text a column, or an `Estimate`.
        caption: what the numbers are.
        title: a heading above it, "" for none.
        hidden: how many more rows there are.
        rest: where these are, a sentence that begins with their number: "{hidden} more …".
        terminal: how many rows a terminal shows; 0 where it shows only on a page.
        folded: what a reader opens to see it, "" where it is always seen.
        own: which row is this plan's among others', where that is told.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str | Estimate, ...], ...]
    caption: str = ""
    title: str = ""
    hidden: int = 0
    rest: str = ""
    terminal: int = 0
    folded: str = ""
    own: int | None = None

    @property
    def headed(self) -> bool:
        """Whether it has a row of headings."""
        return any(column.heading for column in self.columns)


@final
@dataclass(frozen=True)
class Figures:
    """Names with their values: the few that come first, or, not `large`, a list of facts."""

    rows: tuple[tuple[str, str], ...]
    large: bool = False


@final
@dataclass(frozen=True)
class Prose:
    """A sentence or more.

    Args:
        text: the sentence.
        label: what a terminal calls it; "" where it shows only on a page.
        note: whether it explains rather than tells.
    """

    text: str
    label: str = ""
    note: bool = False


@final
@dataclass(frozen=True)
class Caution:
    """A sentence that must not be overlooked."""

    text: str
    label: str = ""


@final
@dataclass(frozen=True)
class Items:
    """Sentences of equal rank."""

    items: tuple[str, ...]


@final
@dataclass(frozen=True)
class Chart:
    """A drawing, and what it shows.

    Args:
        drawn: SVG elements, escaped where they were drawn.
        caption: under it.
        legend: an opacity and its range, one a shade.
        name: what it is called where it scrolls; "" where it fits.
    """

    drawn: tuple[Markup, ...]
    caption: str
    legend: tuple[tuple[str, str], ...] = ()
    name: str = ""


Part = Table | Figures | Prose | Caution | Items | Chart


@final
@dataclass(frozen=True)
class Section:
    """Parts under a title.

    Args:
        name: one word, which no other section of the report has.
        title: its heading; of the first section the sentence that says it all.
        parts: in order.
        kicker: a few words above the title.
    """

    name: str
    title: str
    parts: tuple[Part, ...]
    kicker: str = ""


def pairs(caption: str, rows: list[tuple[str, str]]) -> Table:
    """Return a table of names and values, without headings."""
    return Table(
        columns=(Column("", "name"), Column("", "value")), rows=tuple(rows), caption=caption
    )
