# SPDX-License-Identifier: Apache-2.0
"""The page of the papers' claims: a table a paper, misprints, figures."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from lownoise.report import spelling
from lownoise.report.lines import line_chart
from lownoise.report.parts import Column, Figures, Items, Prose, Section, Table

if TYPE_CHECKING:
    from lownoise.report.reproduce import Comparison, Reproduction, Row

_VERDICTS = {"holds": "yes", "fails": "NO", "holds as corrected": "corrected"}


def reproduction(found: Reproduction, *, brief: bool = False) -> list[Section]:
    """Return the parts of the page; of a terminal's where `brief`, without words in tables.

    Examples:
        >>> from lownoise.report.reproduce import CLAIMS, reproduce
        >>> found = reproduce(quick=True, claims=CLAIMS[:2], figures=())
        >>> reproduction(found)[0].title
        'All 2 claims of the sources hold.'
    """
    corrected = [row for row in found.rows if row.claim.printed is not None]
    compared = sum(len(row.comparisons) + len(row.printed) for row in found.rows)
    wrong = len(found.failing)
    title = (
        f"{wrong} of {len(found.rows)} claims of the sources do not hold."
        if wrong
        else (
            f"All {len(found.rows)} claims of the sources hold"
            f"{f', {len(corrected)} of them once corrected' if corrected else ''}."
        )
    )
    head = Figures(
        (
            ("Claims", f"{len(found.rows)}"),
            ("Numbers compared", f"{compared:,}"),
            ("Corrected misprints", f"{len(corrected)}"),
            ("Failing", f"{wrong}"),
        ),
        large=True,
    )
    how = (
        "Each row compares what a source states with what this program computes. The case "
        "shown is the tightest; room is the factor by which the source's constant could be "
        "wrong and still hold in every case computed; an equality has none."
    )
    page = [Section("head", title, (head, Prose(how, note=True)), kicker="Claims, reproduced")]
    for source, rows in groupby(found.rows, key=lambda row: row.claim.source):
        page.append(_of_source(source, tuple(rows), brief=brief))
    if corrected:
        page.append(_misprints(corrected))
    page.append(Section("figures", "Figures", tuple(map(line_chart, found.figures))))
    return page


def _compared(own: Comparison) -> str:
    """Return what was found beside what was claimed."""
    found, claimed = (spelling.significant(value, 4) for value in (own.found, own.claimed))
    holds = {"=": "≠", "≤": ">", "≥": "<"} if not own.holds else {}
    return f"{found} {holds.get(own.relation, own.relation)} {claimed}"


def _room(row: Row) -> str:
    """Return by what factor a constant could be off, "" of an equality."""
    return "" if row.tightest.relation == "=" else f"{spelling.significant(row.room, 3)}×"


def _of_source(source: str, rows: tuple[Row, ...], *, brief: bool) -> Section:
    words = () if brief else (Column("Claim", "words"), Column("Tightest case", "words"))
    table = Table(
        columns=(
            Column("Where", "name"),
            *words,
            Column("Found, and claimed", "value"),
            Column("Room"),
            Column("Holds?", "value"),
        ),
        rows=tuple(
            (
                row.claim.place,
                *(() if brief else (row.claim.says, row.tightest.case)),
                _compared(row.tightest),
                _room(row),
                _VERDICTS[row.verdict],
            )
            for row in rows
        ),
        caption=(
            f"{sum(len(row.comparisons) for row in rows):,} numbers compared; the tightest of each "
            "claim."
        ),
        terminal=len(rows),
    )
    notes = tuple(f"{row.claim.place}: {row.claim.note}" for row in rows if row.claim.note)
    name = source.split(maxsplit=1)[0].lower()
    return Section(name, source, (table, Items(notes)) if notes else (table,))


def _misprints(rows: list[Row]) -> Section:
    refuted = [(row, row.counterexample) for row in rows]
    table = Table(
        columns=(
            Column("Where", "name"),
            Column("What is wrong", "words"),
            Column("Refuted by", "words"),
            Column("Found, and printed", "value"),
        ),
        rows=tuple(
            (row.claim.place, row.claim.correction, own.case, _compared(own))
            for row, own in refuted
            if own is not None
        ),
        caption="Statements that are false as printed, with a case that refutes each.",
        terminal=len(rows),
    )
    return Section("misprints", "Misprints, and what they should say", (table,))
