# SPDX-License-Identifier: Apache-2.0
"""A plan or a release for a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lownoise.report import numbers, sentences
from lownoise.report.names import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from lownoise.release.pure import PureRelease
    from lownoise.release.release import Release
    from lownoise.release.terms import Terms
    from lownoise.verification import Verification

_LONG = re.compile(r"-?\d+\.\d{6,}(e-?\d+)?|-?\d\.\d+e-?\d+")
_WIDE = 90  # letters


def plan_table(terms: Terms) -> RenderableType:
    """Return each answer's noise beside round noise, then what the plan promises."""
    rows: list[tuple[str, ...]] = [
        (shown(name), numbers.significant(own), numbers.significant(round_noise))
        for name, own, round_noise in zip(
            terms.names,
            terms.standard_deviation.tolist(),
            terms.isotropic.tolist(),
            strict=True,
        )
    ]
    return grouped(
        sentences.headline(terms, None),
        ("answer", "standard deviation", "one noise for all (i.i.d.)"),
        rows,
        _promises(terms),
    )


def release_table(release: Release, level: float = 0.95) -> RenderableType:
    """Return each answer with its interval, then what was promised and who paid."""
    terms = release.terms
    # each interval is its own estimate ± half: said once, so that no rounding disagrees
    halves = ((release.interval(level)[:, 1] - release.interval(level)[:, 0]) / 2).tolist()
    rows = [
        (shown(name), numbers.beside(value, half), numbers.significant(deviation))
        for name, value, half, deviation in zip(
            release.names,
            release.estimate.tolist(),
            halves,
            release.standard_deviation.tolist(),
            strict=True,
        )
    ]
    notes = _promises(terms)
    if terms.size is None:
        notes.append(("means", means(release, terms.question.columns, level)))
        notes.append(("", sentences.ratio()))
    return grouped(
        sentences.headline(terms, release),
        ("answer", f"estimate ± {100 * level:g}%", "standard deviation"),
        rows,
        [*notes, ("ledger", sentences.ledger(release))],
    )


def means(release: Release | PureRelease, columns: Sequence[str], level: float) -> str:
    """Return the means that follow, each with its interval, one a line."""
    lines = []
    intervals = release.mean_interval(level).tolist()
    for name, value, (low, high) in zip(columns, release.mean.tolist(), intervals, strict=True):
        half = (high - low) / 2
        ends = " to ".join(numbers.with_uncertainty(end, half) for end in (low, high))
        lines.append(f"{shown(name)}: {numbers.with_uncertainty(value, half)} ({ends})")
    return "\n".join(lines)


def _promises(terms: Terms) -> list[tuple[str, str]]:
    return [
        ("certificate", sentences.certificate(terms)),
        ("lower bound", sentences.lower_bound(terms)),
        ("cost", sentences.cost(terms)),
    ]


def grouped(
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[tuple[str, str]],
    more: Sequence[RenderableType] = (),
) -> RenderableType:
    """Return a title, a table, more tables, and named sentences under them."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    said = Table.grid(padding=(0, 2))
    said.add_column(style="bold", no_wrap=True)
    said.add_column(overflow="fold")
    for name, text in notes:
        said.add_row(Text(name), Text(text))
    return Group(Text(title, style="bold"), listed(headings, rows), *more, said)


def listed(
    headings: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[str] = ()
) -> RenderableType:
    """Return a table: its first column and those of `words` to the left, numbers to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, heading in enumerate(headings):
        left = not i or heading in words
        table.add_column(heading, justify="left" if left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def checks_table(verification: Verification) -> RenderableType:
    """Return each check with its verdict."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("check", "verdict", "computed"):
        table.add_column(heading, overflow="fold")
    for check in verification.checks:
        verdict = Text("holds") if check.holds else Text("DOES NOT HOLD", style="bold red")
        table.add_row(Text(shown(check.name)), verdict, Text(_brief(shown(check.found))))
    return table


def _brief(found: str) -> str:
    """Return the numbers of a check to six digits, and not too many of them."""
    text = _LONG.sub(lambda number: f"{float(number[0]):.6g}", found)
    return text if len(text) <= _WIDE else f"{text[:_WIDE]}…"
