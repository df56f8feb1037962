# SPDX-License-Identifier: Apache-2.0
"""Terms of marginals and a table become a release: reserve, read, settle, count, add noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lownoise.release.release import charged, now, unseen, versions
from lownoise.release.tables import files
from lownoise.release.tables.release import TableRelease

if TYPE_CHECKING:
    from os import PathLike

    from lownoise.engines.categories import Records
    from lownoise.numbers.randomness import Randomness
    from lownoise.privacy import Ledger
    from lownoise.release.tables.terms import TableTerms


def execute(
    terms: TableTerms,
    table: Any,  # noqa: ANN401
    ledger: Ledger | None,
    *,
    randomness: Randomness,
    path: str | PathLike[str] | None = None,
) -> TableRelease:
    """Return the released marginals.

    Args:
        terms: what is guaranteed.
        table: as `engines.reading.source_of` takes it.
        ledger: the account that pays, or None.
        randomness: where the noise comes from; `SystemRandomness()` for anything that is published.
        path: a new folder for the release; its integers are then never all in memory.

    Raises:
        FileError: where the folder cannot be made; then nothing is spent.
        LedgerError: where the account cannot pay; then no record has been read.
        TableError: where the table cannot be opened, lacks a column or has not the public number
            of rows; then nothing is spent.
        EngineError: where reading its rows failed; then the spend stays reserved.
        PlanError: where the terms reveal more than their budget.
    """
    from lownoise.engines.categories import read_records

    mechanism, question = terms.mechanism, terms.question
    terms.check_budget()

    def read() -> Records:
        records = read_records(question.attributes, table)
        mechanism.check(records.count)
        return records

    note = f"{question.count:,} marginals of {len(question.attributes)} attributes"
    spare = 0 if path is None else files.room_for(terms)
    with files.room(path, mechanism.length, spare=spare) as integers:
        records, spend = charged(
            ledger, mechanism.event, note, read, asked=terms.budget, relation=terms.relation
        )
        with unseen():
            for start, piece in mechanism.run(records, randomness=randomness):
                integers[start : start + piece.size] = piece
        integers.setflags(write=False)
        release = TableRelease(
            terms=terms, integers=integers, spend=spend, created=now(), versions=versions()
        )
        if path is not None:
            files.seal(release, path)
    return release
