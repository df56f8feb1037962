# SPDX-License-Identifier: Apache-2.0
"""Marginals for a terminal: of a plan their noise, of a release one marginal with its intervals."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from lownoise.report import numbers, sentences
from lownoise.report.cells import cell_rows, first_marginal
from lownoise.report.names import shown
from lownoise.report.said import error, full_table, like, marginal_name, round_noise
from lownoise.report.spread import spreads, totals
from lownoise.report.text import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from lownoise.release.tables import TableRelease, TableTerms

_MOST_KINDS = 20
MOST_CELLS = 1000
_FEW_CELLS = 30


def plan_table(terms: TableTerms) -> RenderableType:
    """Return the marginals with the largest noise beside round noise, then what is promised."""
    found = spreads(terms)
    rows = [
        (
            marginal_name(s.names),
            like(s.count),
            numbers.significant(s.typical),
            numbers.significant(s.isotropic),
            numbers.significant(s.histogram),
        )
        for s in found[:_MOST_KINDS]
    ]
    notes = _promises(terms)
    if len(found) > _MOST_KINDS:
        hidden = f"{len(found) - _MOST_KINDS:,} more kinds of marginals have less noise."
        notes.insert(0, ("not shown", hidden))
    headings = ("marginal", "like it", f"sd of a {sentences.one(terms)}", "i.i.d.", "full table")
    return grouped(sentences.headline(terms, None), headings, rows, notes)


def release_table(release: TableRelease, level: float = 0.95) -> RenderableType:
    """Return the first one-way marginal with its intervals, then what was promised and who paid."""
    names = first_marginal(release)
    notes = [*_promises(release.terms), ("ledger", sentences.ledger(release))]
    headings, rows, hidden = _cells(release, names, level, _FEW_CELLS)
    if hidden:
        notes.insert(0, ("not shown", f"{hidden:,} more cells of this marginal."))
    return grouped(sentences.headline(release.terms, release), headings, rows, notes)


def marginal_table(
    release: TableRelease, names: Sequence[str], level: float = 0.95
) -> RenderableType:
    """Return a marginal, one row a cell, with its intervals; at most 1,000 cells.

    Args:
        release: what was released.
        names: of the attributes.
        level: the chance with which each interval covers.

    Raises:
        QuestionError: where the marginal does not follow from what was released.
        PlanError: where `level` is not between 0 and 1.
    """
    headings, rows, hidden = _cells(release, names, level, MOST_CELLS)
    notes = [("note", sentences.INTERVALS.format(level=f"{100 * level:g}%"))]
    if hidden:
        more = f"{hidden:,} more cells; --out FILE.csv writes all of them."
        notes.insert(0, ("not shown", more))
    title = f"Counts by {marginal_name(names)}" if names else "The number of rows"
    return grouped(title, headings, rows, notes)


def _cells(
    release: TableRelease, names: Sequence[str], level: float, most: int
) -> tuple[tuple[str, ...], list[tuple[str, ...]], int]:
    """Return headings, the first rows, and how many rows are left out."""
    headings = (*map(shown, names or ("all",)), f"count ± {100 * level:g}%", "standard deviation")
    every = cell_rows(release, names, level)
    rows = [
        (
            *map(shown, row.labels or ("rows",)),
            numbers.beside(row.count, (row.high - row.low) / 2),
            numbers.significant(row.deviation),
        )
        for row in itertools.islice(every, most)
    ]
    return headings, rows, sum(1 for _ in every)


def _promises(terms: TableTerms) -> list[tuple[str, str]]:
    over = totals(spreads(terms))
    return [
        ("error", error(terms, over, sentences.one(terms))),
        ("i.i.d. noise", round_noise(over, sentences.one(terms))),
        ("full table", full_table(over, sentences.one(terms))),
        ("certificate", sentences.certificate(terms)),
        ("lower bound", sentences.lower_bound(terms)),
        ("cost", sentences.cost(terms)),
    ]
