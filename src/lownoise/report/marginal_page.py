# SPDX-License-Identifier: Apache-2.0
"""Marginals as one page of HTML that needs nothing else."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from lownoise.report import numbers, said, sentences
from lownoise.report.cells import cell_rows, first_marginal
from lownoise.report.declared import attribute_row
from lownoise.report.frame import made, making, rendered
from lownoise.report.heatmap import heatmap
from lownoise.report.names import shown
from lownoise.report.spread import spreads, totals, variance_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.release.tables import TableRelease, TableTerms
    from lownoise.report.spread import Spread, Totals

_LEVEL = 0.95
_MOST_KINDS = 40
_MOST_CELLS = 1000


def page(terms: TableTerms, release: TableRelease | None, marginal: Sequence[str] | None) -> str:
    """Return the page of marginals.

    Args:
        terms: what is promised.
        release: what was released, None for a plan.
        marginal: the attributes whose marginal is shown, of a release.

    Raises:
        QuestionError: where the marginal does not follow from what was released.
    """
    found, what = spreads(terms), sentences.one(terms)
    over = totals(found)
    names = None
    if release is not None:
        names = first_marginal(release) if marginal is None else tuple(marginal)
    return rendered(
        "marginals.html",
        terms,
        release,
        facts=_facts(terms, release, over),
        what=what,
        noisy=over["plan"].largest > 0,
        level=f"{100 * _LEVEL:g}%",
        chosen=None if release is None or names is None else _chosen(release, names),
        error_said=said.error(terms, over, sentences.one(terms)),
        kinds=[_kind(s) for s in found[:_MOST_KINDS]],
        hidden=max(len(found) - _MOST_KINDS, 0),
        varied=any(s.largest > s.typical * 1.005 for s in found),
        map=heatmap(terms),
        saving=said.round_noise(over, what),
        full=said.full_table(over, what),
        comparison=_comparison(over),
        making=[
            *making(terms),
            ("Marginals", f"{terms.question.count:,}, with {terms.question.cells:,} {what}s"),
            ("Noise", "Gaussian, independent on residual spaces, rounded to a grid"),
            *made(release),
        ],
        attributes=[attribute_row(a) for a in terms.question.attributes],
    )


def _facts(
    terms: TableTerms, release: TableRelease | None, over: dict[str, Totals]
) -> list[tuple[str, str]]:
    what = sentences.one(terms)
    facts = [
        ("Budget", str(terms.budget)),
        (f"Error of all {what}s", sentences.error(terms)),
        (f"A {what}, root mean square", numbers.significant(over["plan"].typical)),
        (f"A {what}, largest deviation", numbers.significant(over["plan"].largest)),
        ("Gap to the least noise", sentences.gap(terms)),
    ]
    if release is not None:
        facts.append(("Ledger", f"entry {release.spend.number}" if release.spend else "none"))
    return facts


def _chosen(release: TableRelease, names: Sequence[str]) -> dict[str, Any]:
    """Return a marginal's headings and rows, and how many rows are left out."""
    every = cell_rows(release, names, _LEVEL)
    rows = []
    for row in itertools.islice(every, _MOST_CELLS):
        half = (row.high - row.low) / 2
        values = [numbers.with_uncertainty(v, half) for v in (row.count, row.low, row.high)]
        rows.append(([shown(label) for label in row.labels or ("all rows",)], values))
    return {
        "title": said.marginal_name(names) if names else "The number of rows",
        "headings": [shown(name) for name in names] or ["Rows"],
        "rows": rows,
        "hidden": sum(1 for _ in every),
    }


def _kind(spread: Spread) -> tuple[str, ...]:
    noises = (spread.typical, spread.largest, spread.isotropic, spread.histogram)
    return (
        said.marginal_name(spread.names),
        said.like(spread.count),
        f"{spread.cells:,}",
        *map(numbers.significant, noises),
    )


def _comparison(over: dict[str, Totals]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, kind in (
        ("This plan", "plan"),
        ("i.i.d. on these marginals", "isotropic"),
        ("i.i.d. on the full table, summed", "histogram"),
    ):
        own = over[kind]
        cells = (numbers.significant(own.typical), numbers.significant(own.largest))
        rows.append((name, f"{numbers.significant(variance_ratio(over, kind))}×", *cells))
    return rows
