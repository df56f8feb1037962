# SPDX-License-Identifier: Apache-2.0
"""Terms and a table become a release: reserve, read, settle, add noise."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from lownoise.errors import LedgerError, LownoiseError, PlanError, TableError
from lownoise.privacy import checked_ledger
from lownoise.release import folders
from lownoise.release.codec import Spend, now, versions
from lownoise.release.release import Release
from lownoise.release.stored import derived, plan_document
from lownoise.sensitivity.relations import relation_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from os import PathLike

    from lownoise.numbers.randomness import Randomness
    from lownoise.privacy import Budget, Event, Ledger
    from lownoise.release.terms import Terms
    from lownoise.sensitivity.relations import Relation

T = TypeVar("T")


def execute(
    terms: Terms,
    table: Any,  # noqa: ANN401
    ledger: Ledger | None,
    *,
    randomness: Randomness,
    path: str | PathLike[str] | None = None,
) -> Release:
    """Reserve the cost, read the table, settle the cost, add the noise, and return the answers.

    Args:
        terms: what was guaranteed.
        table: as `engines.source.source_of` takes it.
        ledger: the account that pays, or None.
        randomness: where the noise comes from; `SystemRandomness()` for anything that is published.
        path: of marginals, a new folder for the release; its integers are then never all in memory.

    Raises:
        FileError: where the folder cannot be made; then nothing is spent.
        LedgerError: where the account cannot pay; then no record has been read.
        TableError: where the table cannot be opened, lacks a column or has not the public number
            of rows; then nothing is spent.
        EngineError: where reading its rows failed; then the spend stays reserved.
        PlanError: where the terms reveal more than their budget, or a path is given for answers in
            a row; then nothing is spent.
    """
    if path is not None and not terms.view.folder:
        raise PlanError(
            f"path={path} is for marginals, whose release is a folder; leave it out, and save the "
            "answers with release.save(path)",
        )
    terms.check_budget()
    if terms.view.program is not None:
        derived(terms)  # a program that fails must do so before anything is paid
    mechanism = terms.mechanism

    def paid() -> tuple[Any, Spend | None]:
        return charged(
            ledger,
            terms.cost.event,
            terms.view.note,
            lambda: mechanism.read(table),
            asked=terms.budget,
            relation=terms.relation,
        )

    if not terms.view.folder:
        records, spend = paid()
        with unseen():
            integers = mechanism.run(records, randomness=randomness)
        return _release(terms, integers, spend)
    spare = 0 if path is None else len(plan_document(terms).encode()) + folders.SLACK
    with folders.room(path, mechanism.length, spare=spare) as room:
        records, spend = paid()
        with unseen():
            for start, piece in mechanism.pieces(records, randomness=randomness):
                room[start : start + piece.size] = piece
        room.setflags(write=False)
        release = _release(terms, room, spend)
        if path is not None:
            folders.seal(release._document, room, path)  # noqa: SLF001 (its own file)
    return release


def _release(terms: Terms, integers: Any, spend: Spend | None) -> Release:  # noqa: ANN401
    return Release(terms=terms, integers=integers, spend=spend, created=now(), versions=versions())


def charged(
    ledger: Ledger | None,
    event: Event,
    note: str,
    read: Callable[[], T],
    *,
    asked: Budget | None = None,
    relation: Relation | str | None = None,
) -> tuple[T, Spend | None]:
    """Reserve the cost, read the table, settle the cost; return what was read, and who paid.

    Args:
        ledger: the account that pays, or None.
        event: what will be revealed.
        note: what the ledger says of it.
        read: reads the table; a `TableError` of it must follow from the schema alone, for it gives
            the spend back.
        asked: the budget that the release was asked with.
        relation: what its neighbours are.

    Raises:
        BudgetError: where the account's reading cannot pay for such an event; likewise.
        LedgerError: where it is no account, cannot pay, or has paid for spends of another relation;
            then nothing has been read.
        EngineError: where reading failed; then the spend stays reserved.
    """
    ledger = checked_ledger(ledger)
    name = None if relation is None else relation_name(relation)
    number = ledger.reserve(event, note, asked=asked, relation=name) if ledger else 0
    try:
        with unseen():
            found = read()
        if ledger:
            ledger.settle(number)  # from here on nothing gives the spend back
    except (TableError, LedgerError):
        if ledger:
            with suppress(LedgerError):  # what cannot be cancelled counts
                ledger.cancel(number)
        raise
    return found, Spend(ledger.dataset, number) if ledger else None


def unseen() -> AbstractContextManager[None]:
    """Return a block that sees records, and says nothing of them whatever happens in it.

    No warning comes out of it, and of errors only our own, which say what is public; any other
    becomes one `EngineError`.
    """
    from lownoise.engines.cells import alike

    return alike(
        "release failed while it saw records, and its spend stays; check that memory and temporary "
        "disk suffice",
        LownoiseError,
    )
