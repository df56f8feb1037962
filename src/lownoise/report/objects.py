# SPDX-License-Identifier: Apache-2.0
"""How a plan or a release shows itself: in a line, printed, in a notebook.

What `release.readable` asks for by name, so that no room below this one imports it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lownoise.report import sentences
from lownoise.report.parts import Chart, Section, Table
from lownoise.report.render import render_html, render_text
from lownoise.report.sections import RECORDS, noise_words, sections, view_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_PRINTED = ("head", "answers", "noise", "certificate", "bound", "cost")
_FEW = 6  # rows of a table


def line(subject: object) -> str:
    """Return `repr`: what it is, and its error.

    Examples:
        >>> import lownoise as ln
        >>> plan = ln.plan(ln.Mean(["age"], ln.Box([0], [100])), budget=ln.zcdp(0.5),
        ...                relation="substitute", size=1000)
        >>> line(plan)
        '<Plan: 1 mean of 1,000 rows, planned under 0.5-zCDP; error 0.100>'
    """
    if type(subject) in RECORDS:
        return f"<{type(subject).__name__}: {sections(subject)[0].title.removesuffix('.')}>"
    view = view_of(subject)
    said = sentences.headline(view).removesuffix(".")
    return f"<{type(subject).__name__}: {said}; error {noise_words(view).error()}>"


def printed(subject: object) -> str:
    """Return what `print` shows: a few answers, the error, how good it is, what it costs."""
    return render_text(list(_brief(subject)), rows=_FEW).rstrip()


def notebook(subject: object) -> str:
    """Return the same as an element of HTML."""
    return render_html(list(_brief(subject)), whole=False)


def _brief(subject: object) -> Iterator[Section]:
    for section in sections(subject):
        tables = [p for p in section.parts if isinstance(p, Table) and p.terminal]
        if section.name in _PRINTED or tables:
            shown = [p for p in section.parts if not isinstance(p, Chart)]
            parts = [_cut(p) if isinstance(p, Table) else p for p in shown]
            yield Section(section.name, section.title, tuple(parts), section.kicker)


def _cut(table: Table) -> Table:
    """Return a table of a few rows, which says how many there are."""
    hidden = table.hidden + max(len(table.rows) - _FEW, 0)
    own = table.own if table.own is not None and table.own < _FEW else None
    return replace(table, rows=table.rows[:_FEW], hidden=hidden, own=own)
