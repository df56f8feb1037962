# SPDX-License-Identifier: Apache-2.0
"""Terms of linear queries and a table become a release: reserve, read, settle, add noise."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

from lownoise.errors import PlanError
from lownoise.noise import ParityMechanism, QueryMechanism
from lownoise.release.linear.release import LinearRelease
from lownoise.release.release import charged, now, unseen, versions

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.engines.histogram import Histogram
    from lownoise.engines.parities import Bits
    from lownoise.numbers.randomness import Randomness
    from lownoise.privacy import Ledger
    from lownoise.release.linear.terms import LinearTerms

    Run = Callable[[Randomness], tuple[int, ...]]


def execute(
    terms: LinearTerms,
    table: Any,  # noqa: ANN401
    ledger: Ledger | None,
    *,
    randomness: Randomness,
) -> LinearRelease:
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
    mechanism = terms.mechanism
    terms.check_budget()
    note = f"{terms.question.count:,} {type(terms.question).__name__.lower()} of records"
    run, spend = charged(
        ledger,
        mechanism.event,
        note,
        lambda: _read(mechanism, table),
        asked=terms.budget,
        relation=terms.relation,
    )
    with unseen():
        integers = run(randomness)
    return LinearRelease(
        terms=terms, integers=integers, spend=spend, created=now(), versions=versions()
    )


@singledispatch
def _read(mechanism: object, table: Any) -> Run:  # noqa: ANN401
    """Read the rows, refuse a table that does not fit, and return what adds the noise."""
    raise PlanError(f"mechanism={type(mechanism).__name__} is of no known kind; plan again")


@_read.register(QueryMechanism)
def _(mechanism: QueryMechanism, table: Any) -> Run:  # noqa: ANN401
    from lownoise.engines.histogram import read_histogram

    records: Histogram = read_histogram(mechanism.question.universe, table)
    mechanism.check(records.count)
    return lambda randomness: mechanism.run(records, randomness=randomness)


@_read.register(ParityMechanism)
def _(mechanism: ParityMechanism, table: Any) -> Run:  # noqa: ANN401
    from lownoise.engines.parities import read_bits

    records: Bits = read_bits(mechanism.question.attributes, table)
    mechanism.check(records.count)
    return lambda randomness: mechanism.run(records, randomness=randomness)
