# SPDX-License-Identifier: Apache-2.0
"""The two renderers of sections: text for a terminal, and HTML that fetches nothing."""

from __future__ import annotations

import io
import re
from functools import cache
from typing import TYPE_CHECKING

from lownoise.report.parts import Caution, Estimate, Prose, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Template
    from markupsafe import Markup
    from rich.table import Table as RichTable

    from lownoise.report.parts import Column, Section

_EMPTY = re.compile(r"\n{3,}")
_CODE = re.compile(r"`([^`]*)`")


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

    file = io.StringIO()
    console = Console(file=file, width=width, highlight=False, force_terminal=styled)
    notes = RichTable.grid(padding=(0, 2))
    notes.add_column(style="bold", no_wrap=True)
    notes.add_column(overflow="fold")
    console.print(Text(sections[0].title, style="bold"))
    for part in (part for section in sections for part in section.parts):
        match part:
            case Table(terminal=few) if few:
                most = few if rows is None else rows
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
    return _template().render(head=sections[0], sections=sections[1:], whole=whole)


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
