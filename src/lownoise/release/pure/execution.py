# SPDX-License-Identifier: Apache-2.0
"""Pure terms and a table become a release: reserve, read, settle, add noise."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

from lownoise.errors import PlanError
from lownoise.noise.grid import MeanGrid
from lownoise.noise.pure import (
    AdditiveMechanism,
    HistogramTotals,
    QueryTotals,
    ResponseMechanism,
)
from lownoise.noise.size import check_rows
from lownoise.questions import Mean
from lownoise.release import codec
from lownoise.release.pure.release import PureRelease
from lownoise.release.release import charged, now, unseen, versions

if TYPE_CHECKING:
    from lownoise.engines import Totals
    from lownoise.engines.histogram import Histogram
    from lownoise.numbers.randomness import Randomness
    from lownoise.privacy import Ledger
    from lownoise.release.pure.terms import PureTerms


def execute(
    terms: PureTerms,
    table: Any,  # noqa: ANN401
    ledger: Ledger | None,
    *,
    randomness: Randomness,
) -> PureRelease:
    """Return the released answers.

    Args:
        terms: what is guaranteed.
        table: as `engines.reading.source_of` takes it.
        ledger: the account that pays, or None.
        randomness: where the noise comes from; `SystemRandomness()` for anything that is published.

    Raises:
        LedgerError: where the account cannot pay; then no record has been read.
        TableError: where the table cannot be opened, lacks a column or has not the public number
            of rows; then nothing is spent.
        EngineError: where reading its rows failed; then the spend stays reserved.
        PlanError: where the terms reveal more than their budget.
    """
    terms.check_budget()
    if codec.program(terms) is not None:
        codec.derived(terms)  # a program that fails must do so before anything is paid
    question = terms.question
    count = len(question.columns) if isinstance(question, Mean) else question.count
    what = "means" if isinstance(question, Mean) else "queries of records"
    note = f"{terms.name}: {count:,} {what}"
    totals, spend = charged(
        ledger,
        terms.cost.event,
        note,
        lambda: _read(terms.mechanism, table),
        asked=terms.budget,
        relation=terms.relation,
    )
    with unseen():
        integers = terms.mechanism.run(totals, randomness=randomness)
    return PureRelease(
        terms=terms, integers=integers, spend=spend, created=now(), versions=versions()
    )


@singledispatch
def _read(grid: object, table: Any) -> Any:  # noqa: ANN401 (totals or counts)
    """Read the rows and refuse a table that does not fit."""
    raise PlanError(f"grid={type(grid).__name__} is of no known kind; plan again")


@_read.register(AdditiveMechanism)
def _(mechanism: AdditiveMechanism, table: Any) -> Any:  # noqa: ANN401
    return _read(mechanism.grid, table)


@_read.register(MeanGrid)
def _(grid: MeanGrid, table: Any) -> Totals:  # noqa: ANN401
    from lownoise.engines import reading

    totals = reading.totals(grid.query, table)
    grid.check(totals)
    return totals


@_read.register(QueryTotals)
@_read.register(HistogramTotals)
@_read.register(ResponseMechanism)
def _(grid: QueryTotals | HistogramTotals | ResponseMechanism, table: Any) -> Histogram:  # noqa: ANN401
    from lownoise.engines.histogram import read_histogram

    records = read_histogram(grid.question.universe, table)
    check_rows(grid.size, records.count)
    return records
