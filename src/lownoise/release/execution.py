# SPDX-License-Identifier: Apache-2.0
"""Terms and a table become a release: reserve, read, settle, add noise."""

from __future__ import annotations

import math
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, final

from lownoise.errors import (
    BudgetError,
    LedgerError,
    LownoiseError,
    OverspentError,
    PlanError,
    TableError,
    path_of,
)
from lownoise.noise.totals import table_of
from lownoise.privacy import checked_ledger
from lownoise.release import folders
from lownoise.release.codec import Spend, now, versions
from lownoise.release.comparison import GAUSSIAN
from lownoise.release.members import check_joint, joint_note
from lownoise.release.progress import Part, listener
from lownoise.release.release import Release
from lownoise.release.stored import derived, plan_digest, plan_document
from lownoise.sensitivity.relations import relation_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from os import PathLike

    from lownoise.engines.codings import TotalsQuery
    from lownoise.numbers.randomness import Randomness
    from lownoise.privacy import Budget, Event, Ledger, Payer
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.release.progress import Listener
    from lownoise.release.terms import Terms
    from lownoise.sensitivity.relations import Relation

T = TypeVar("T")
_READING, _ADDING = "reading the table", "adding noise"


def execute(
    terms: Terms,
    table: Any,  # noqa: ANN401
    ledger: Payer | None,
    *,
    randomness: Randomness,
    path: str | PathLike[str] | None = None,
    progress: Listener | None = None,
) -> Release:
    """Reserve the cost, read the table, settle the cost, add the noise, and return the answers.

    Args:
        terms: what was guaranteed.
        table: as `engines.opening.source_of` takes it.
        ledger: the account that pays, or None.
        randomness: where the noise comes from; `SystemRandomness()` for anything that is published.
        path: of marginals, a new folder for the release; its integers are then never all in memory.
        progress: told which part is under way, before it begins; what it raises is the caller's.

    Raises:
        FileError: where the folder cannot be made; then nothing is spent.
        LedgerError: where the account cannot pay; then no record has been read.
        TableError: where the table cannot be opened, lacks a column or has not the public number
            of rows; then nothing is spent.
        EngineError: where reading its rows failed; then the spend stays reserved.
        PlanError: where the terms reveal more than their budget, a path is given for answers in a
            row, or progress cannot be called; then nothing is spent.
    """
    if path is not None and not terms.view.folder:
        raise PlanError(
            f"path={path_of(path)} is for marginals, whose release is a folder; leave it out, and "
            "save the answers with release.save(path)",
        )
    ledger = checked_ledger(ledger)
    terms.check_budget()
    if terms.view.program is not None:
        derived(terms)  # a program that fails must do so before anything is paid
    mechanism, tell = terms.mechanism, listener(progress)

    def paid() -> tuple[Any, Spend | None]:
        from lownoise.engines.opening import unchanged

        tell(Part(_READING))
        with advised(terms, ledger):
            return charged(
                ledger,
                terms.charged,
                terms.view.note,
                lambda: unchanged(table, lambda: mechanism.read(table)),
                asked=terms.asked,
                relation=terms.relation,
                unit=terms.privacy_unit,
                uses=None if terms.shared is None else (plan_digest(terms), terms.shared.uses),
            )

    if not terms.view.folder:
        records, spend = paid()
        tell(Part(_ADDING, 0, mechanism.length))
        with unseen():
            integers = mechanism.run(records, randomness=randomness)
        return _release(terms, integers, spend)
    spare = 0 if path is None else len(plan_document(terms).encode()) + folders.SLACK
    with folders.room(path, mechanism.length, spare=spare) as room:
        records, spend = paid()
        tell(Part(_ADDING, 0, mechanism.length))
        _fill(room, terms, records, randomness, partial(_report, tell, 0, mechanism.length))
        release = _release(terms, room, spend)
        if path is not None:
            folders.seal(release._document, room, path)  # noqa: SLF001 (its own file)
    return release


def _report(tell: Listener, before: int, total: int, done: int) -> None:
    tell(Part(_ADDING, before + done, total))


def _fill(
    room: Any,  # noqa: ANN401
    terms: Terms,
    records: Any,  # noqa: ANN401
    randomness: Randomness,
    tell: Callable[[int], None],
) -> None:
    """Fill the room with noisy integers, and tell how many; what that raises is the caller's."""
    done, raised = 0, None
    with unseen():
        for _, piece in terms.mechanism.pieces(records, randomness=randomness, room=room):
            done += piece.size
            try:
                tell(done)
            except Exception as error:  # noqa: BLE001 (the caller's own, of which we say nothing)
                raised = error
                break
    if raised is not None:
        raise raised
    room.setflags(write=False)


@final
@dataclass(eq=False)
class _Pass:
    """What one pass over a table tells.

    Args:
        unit: whose rows count; None where all do.
        added: what a row adds to its unit's total; None where rows are read as they are.
        members: the places of the questions that it answers.
    """

    unit: PrivacyUnit | None
    added: TotalsQuery | None
    members: list[int]

    def takes(self, place: int, terms: Terms) -> bool:
        """Return whether it answers one more question, and then do so."""
        own, added = terms.privacy_unit, terms.mechanism.added
        if self.added is None or added is None:
            same = self.added is added and self.unit == own
        else:
            both = self.added.beside(added) if _rows_of(self.unit) == _rows_of(own) else None
            same, self.added = both is not None, both or self.added
        if same:
            self.members.append(place)
        return same


def _rows_of(unit: PrivacyUnit | None) -> tuple[Any, ...] | None:
    """Return which rows of which units count, whatever their totals are clipped to."""
    return None if unit is None else (unit.column, unit.rows, unit.order_by, unit.null)


def _each(every: Sequence[Terms], table: Any) -> list[Any]:  # noqa: ANN401
    """Return what each reads of a table, whose rows are read once for all that say what they ask.

    Of others, of which `read` alone knows how, and of other units it is read again, and where a
    unit's rows add up to other integers; where a table gives its rows once, all are kept.
    """
    from lownoise.engines.frames import kept
    from lownoise.engines.queries import read_all
    from lownoise.engines.source import Columns

    found: dict[int, Any] = {}
    passes: list[_Pass] = []
    apart = [i for i, own in enumerate(every) if own.mechanism.reading is None]
    for i, own in enumerate(every):
        if i not in apart and not any(one.takes(i, own) for one in passes):
            passes.append(_Pass(own.privacy_unit, own.mechanism.added, [i]))
    asked = [(own.mechanism.reading, own.privacy_unit) for own in every]
    columns = [Columns.of(query.columns, unit) for query, unit in asked if query is not None]
    rows = kept(table, columns) if len(apart) + len(passes) > 1 else table
    for one in passes:
        queries = [every[i].mechanism.reading for i in one.members]
        read = read_all(queries, table_of(rows, one.unit, one.added))
        found |= zip(one.members, read, strict=True)
    return [
        own.mechanism.read(rows) if i in apart else own.mechanism.checked(found[i])
        for i, own in enumerate(every)
    ]


def execute_together(
    every: Sequence[Terms],
    table: Any,  # noqa: ANN401
    ledger: Payer | None,
    *,
    event: Event,
    asked: Budget,
    randomness: Randomness,
    progress: Listener | None = None,
) -> list[Release]:
    """Reserve what all cost together, read once, settle, and then add noise to each.

    Args:
        every: what was guaranteed, of one relation.
        table: as of `execute`; its rows are read once for all of them.
        ledger: the account that pays, or None.
        event: what all reveal together.
        asked: the budget that they were asked with.
        randomness: as of `execute`.
        progress: likewise.

    Raises:
        FileError, LedgerError, TableError, EngineError, PlanError: as `execute`.
    """
    from lownoise.engines.opening import unchanged

    check_joint(every, asked)
    tell = listener(progress)
    for own in every:
        own.check_budget()
        if own.view.program is not None:
            derived(own)
    with ExitStack() as rooms:
        room = [
            rooms.enter_context(folders.room(None, terms.mechanism.length))
            if terms.view.folder
            else None
            for terms in every
        ]
        tell(Part(_READING))
        records, spend = charged(
            ledger,
            event,
            joint_note(every) if ledger is not None else "",
            lambda: unchanged(table, lambda: _each(every, table)),
            asked=asked,
            relation=every[0].relation,
            unit=every[0].privacy_unit,
        )
        found: list[Release] = []
        done, total = 0, sum(terms.mechanism.length for terms in every)
        for terms, own, place in zip(every, records, room, strict=True):
            tell(Part(_ADDING, done, total))
            integers: Any = place
            if place is None:
                with unseen():
                    integers = terms.mechanism.run(own, randomness=randomness)
            else:
                report = partial(_report, tell, done, total)
                _fill(place, terms, own, randomness, report)
            done += terms.mechanism.length
            found.append(_release(terms, integers, spend))
    return found


_PRICES = {"gaussian": "mu", "zcdp": "rho"}  # what accounts add up, by their readings


@contextmanager
def advised(terms: Terms, ledger: Ledger | None) -> Iterator[None]:
    """Say in a refusal by the account that it pays for the Gaussian noise that was compared.

    Raises:
        OverspentError, BudgetError: as the block does, with that.
    """
    try:
        yield
    except OverspentError as error:
        raise OverspentError(f"{error}{_cheaper(terms, error.reading)}", error.reading) from None
    except BudgetError as error:
        raise BudgetError(f"{error}{_payable(terms, ledger)}") from None


def _cheaper(terms: Terms, reading: str) -> str:
    """Return that the Gaussian noise of the plan's comparison asks this account for less, or ""."""
    currency = _PRICES.get(reading)
    own = {row.mechanism: row for row in terms.alternatives}
    if currency is None or terms.gaussian or GAUSSIAN not in own:
        return ""
    gaussian, taken = own[GAUSSIAN].paid(currency), own[terms.name].paid(currency)
    if gaussian is None or taken is None or gaussian >= taken:
        return ""
    price = own[GAUSSIAN].mu if currency == "mu" else own[GAUSSIAN].rho
    if price is not None and terms.shared is not None:  # rows are of one release
        uses = terms.shared.uses
        price *= math.sqrt(uses) if currency == "mu" else uses
    return f'; mechanism="gaussian" asks for {currency} {price:.6g} here'


def _payable(terms: Terms, ledger: Ledger | None) -> str:
    """Return that this account pays for the Gaussian noise of the plan's comparison, or "".

    Others that such an account can pay for ask it for more than the plan's whole budget allows.
    """
    reading = None if ledger is None else ledger.reading()
    if not isinstance(reading, str) or reading in terms.readings:
        return ""
    own = terms.alternatives.gaussian
    paid = own is not None and reading in own.readings
    return ', or plan with mechanism="gaussian"' if paid else ""


def _release(terms: Terms, integers: Any, spend: Spend | None) -> Release:  # noqa: ANN401
    return Release(terms=terms, integers=integers, spend=spend, created=now(), versions=versions())


def charged(
    ledger: Payer | None,
    event: Event,
    note: str,
    read: Callable[[], T],
    *,
    asked: Budget | None = None,
    relation: Relation | str | None = None,
    unit: PrivacyUnit | None = None,
    uses: tuple[str, int] | None = None,
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
        unit: whose rows are hidden together; None where each row is.
        uses: where releases of a plan share the spend, its digest and how many do; then `event` is
            of all of them, and one is taken.

    Raises:
        BudgetError: where the account's reading cannot pay for such an event; likewise.
        LedgerError: where it is no account, cannot pay, has no use left, or has paid for spends of
            another relation; then nothing has been read.
        EngineError: where reading failed; then the spend stays reserved.
    """
    ledger = checked_ledger(ledger)
    name: str | None = None if relation is None else relation_name(relation)
    if name is not None and unit is not None:
        name = unit.neighbours
    paying = _Paying(ledger, 0)
    if ledger and uses:
        plan, count = uses
        paying = _Paying(
            ledger,
            *ledger.reserve_use(event, plan, count, note=note, asked=asked, relation=name),
        )
    elif ledger:
        paying = _Paying(ledger, ledger.reserve(event, note, asked=asked, relation=name))
    try:
        with unseen():
            found = read()
        paying.settle()  # from here on nothing gives the spend back
    except (TableError, LedgerError):
        with suppress(LedgerError):  # what cannot be cancelled counts
            paying.cancel()
        raise
    return found, paying.spend


@final
@dataclass(frozen=True)
class _Paying:
    """A reservation: of a spend of its own, or of one use of a spend; of nothing without ledger."""

    ledger: Ledger | None
    number: int
    use: int | None = None

    def settle(self) -> None:
        if self.ledger and self.use is not None:
            self.ledger.settle_use(self.number, self.use)
        elif self.ledger:
            self.ledger.settle(self.number)

    def cancel(self) -> None:
        if self.ledger and self.use is not None:
            self.ledger.cancel_use(self.number, self.use)
        elif self.ledger:
            self.ledger.cancel(self.number)

    @property
    def spend(self) -> Spend | None:
        return Spend(self.ledger.dataset, self.number, self.use) if self.ledger else None


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
