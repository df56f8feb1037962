# SPDX-License-Identifier: Apache-2.0
"""What every report is made of, and its two renderers: text for a terminal, and HTML.

Parts hold words and numbers, and nothing of how they look: `render_text` and `render_html` decide
that. A part with a label is one that a terminal shows too. HTML fetches nothing.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, final

from lownoise.errors import PlanError
from lownoise.report import spelling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Template
    from markupsafe import Markup
    from rich.table import Table as RichTable

_EMPTY = re.compile(r"\n{3,}")
_CODE = re.compile(r"`([^`]*)`")

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
        terminal: how many rows a terminal shows; 0 where it shows only on a page, and all of them,
            printed briefly too, where it is exactly so many.
        folded: what a reader opens to see it, "" where it is always seen.
        own: which row is this plan's among others', where that is told.
        shares: from −1 to 1, how strongly each cell of a row is shaded on a page, in the colour of
            its sign; empty where none is.
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
    shares: tuple[tuple[float, ...], ...] = ()

    def most(self, rows: int) -> int:
        """Return how many rows are shown where there is room for so many and a line about others.

        Where one row alone would be left, it stands in the place of that line.
        """
        return rows + (not self.hidden and len(self.rows) == rows + 1)

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


# --- the two renderers


def render_text(
    sections: Sequence[Section], *, width: int = 80, rows: int | None = None, styled: bool = False
) -> str:
    """Return a report for a terminal: its sentence, its tables, and named sentences under them.

    Args:
        sections: as `sections` returns them.
        width: in columns of text.
        rows: the most that are shown of a table; of each its own number by default.
        styled: whether to set the sentence in bold, by the codes that terminals know.

    Examples:
        >>> import lownoise as ln
        >>> from lownoise import report
        >>> plan = ln.plan(ln.Mean(["age"], ln.Box([0], [100])), budget=ln.zcdp(0.5),
        ...                relation="substitute", size=1000)
        >>> print(report.render_text(report.sections(plan)).splitlines()[0])
        1 mean of 1,000 rows, planned under 0.5-zCDP.
    """
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    _check(sections)
    file = io.StringIO()
    console = Console(file=file, width=width, highlight=False, force_terminal=styled)
    notes = RichTable.grid(padding=(0, 2))
    notes.add_column(style="bold", no_wrap=True)
    notes.add_column(overflow="fold")
    console.print(Text(sections[0].title, style="bold"))
    for part in (part for section in sections for part in section.parts):
        match part:
            case Table(terminal=few) if few:
                most = part.most(few if rows is None or few == len(part.rows) else rows)
                if part.title:
                    console.print(Text(f"\n{part.title}"))
                console.print(_text_table(part, most))
                hidden = part.hidden + max(len(part.rows) - most, 0)
                if hidden and part.rest:
                    notes.add_row(Text("not shown"), Text(part.rest.format(hidden=f"{hidden:,}")))
            case Prose(label=label) | Caution(label=label) if label:
                notes.add_row(Text(label), Text(part.text))
            case _:
                pass
    console.print(notes)
    lines = (line.rstrip() for line in file.getvalue().splitlines())
    return _EMPTY.sub("\n\n", "\n".join(lines)).strip("\n") + "\n"


def _text_table(table: Table, most: int) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    made = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        left = column.kind in ("name", "words")
        heading = column.heading
        if column.kind == "estimate":
            heading += f" ± {column.percent}" if column.even else f" ({column.percent})"
        made.add_column(heading, justify="left" if left else "right", overflow="fold")
    for row in table.rows[:most]:
        made.add_row(*(Text(_in_text(*pair)) for pair in zip(row, table.columns, strict=True)))
    return made


def _in_text(cell: str | Estimate, column: Column) -> str:
    if isinstance(cell, str):
        return cell
    if column.even:
        return cell.beside()
    value, low, high = cell.ends()
    return f"{value} ({low} to {high})"


def render_html(sections: Sequence[Section], *, whole: bool = True) -> str:
    """Return a report as HTML; the same sections, the same text. It fetches nothing.

    Args:
        sections: as `sections` returns them.
        whole: a page; otherwise an element that stands in another page, with its own style.

    Examples:
        >>> import lownoise as ln
        >>> from lownoise import report
        >>> plan = ln.plan(ln.Mean(["age"], ln.Box([0], [100])), budget=ln.zcdp(0.5),
        ...                relation="substitute", size=1000)
        >>> report.render_html(report.sections(plan)).startswith("<!doctype html>")
        True
    """
    _check(sections)
    return _template().render(head=sections[0], sections=sections[1:], whole=whole)


def _check(sections: object) -> None:
    """Refuse what is no report, such as the release that one is of."""
    if not isinstance(sections, (list, tuple)):
        raise PlanError(
            f"sections={type(sections).__name__} is no report; give report.sections(release)"
        )


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("lownoise.report", package_path=""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = _code
    environment.tests["text"] = lambda cell: isinstance(cell, str)
    environment.filters["kind"] = lambda part: type(part).__name__
    return environment.get_template("report.html")


def _code(text: str) -> Markup:
    """Return a text, escaped, in which `this` is shown as code."""
    from markupsafe import Markup, escape

    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 (escaped)
