# SPDX-License-Identifier: Apache-2.0
"""The ledger: a total budget for each dataset and every spend against it, in one SQLite file.

A spend is *reserved* before the data are read and *settled* before the noise is drawn; only a
reservation can be *cancelled*, where the data were refused. Both count as spent, so a crash can
waste budget and never lose a spend. Every decision is one immediate transaction on disk, so
two processes cannot both take the last of a budget.
"""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike, fspath
from typing import TYPE_CHECKING, final

from lownoise.errors import (
    BudgetError,
    LedgerError,
    OverspentError,
    ReadingNotice,
    quoted,
)
from lownoise.errors.credentials import bare, may_hold_a_secret
from lownoise.numbers.readable import readable
from lownoise.privacy import entries
from lownoise.privacy.budget import Budget, checked_budget
from lownoise.privacy.events import Event, event_from_text, event_to_text
from lownoise.privacy.ledger_account import Account, accounts_text
from lownoise.privacy.readings import first_reading

if TYPE_CHECKING:
    import sqlite3

    from lownoise.privacy.choices import Numbered, ReadingName
    from lownoise.privacy.entries import RelationName, StreamPosition
    from lownoise.privacy.readings import AbstractReading


_LONGEST = 1000  # letters of a path, and of a dataset behind it


@final
@readable
@dataclass(frozen=True, init=False)
class Ledger(Account):
    """The account of one dataset in a ledger file. `create` makes it; it pays for `plan.release`.

    Args:
        path: the ledger file.
        dataset: the dataset's name in it.

    Each use opens and closes the file, so a Ledger may be shared between threads and processes.
    """

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        dataset: str,
        budget: Budget,
        *,
        reading: ReadingName | Numbered | None = None,
    ) -> Ledger:
        """Open an account for `dataset` with a total `budget`, in a new or an existing file.

        Args:
            path: the file.
            dataset: the dataset's name in it.
            budget: the total budget of all spends. They must have one neighbouring relation, which
                the first spend fixes.
            reading: how spends add up: "gaussian" (Σμ²), "zcdp" (Σρ), "basic" (Σε and Σδ),
                `ln.Caps` or `ln.Aside`. Only approx_dp has a choice. If it is not given, the first
                spend fixes it, with an `ln.ReadingNotice`.

        Raises:
            BudgetError: where the budget is out of range, or the reading does not fit it.
            LedgerError: where the dataset already has an account or the file cannot be written.

        Examples:
            >>> import tempfile
            >>> folder = tempfile.mkdtemp()
            >>> from lownoise import approx_dp
            >>> ledger = Ledger.create(
            ...     folder + "/privacy.ledger", "flights", approx_dp(1.0, 1e-6), reading="basic"
            ... )
            >>> ledger.budget(), ledger.remaining()
            (ApproxDP(epsilon=1.0, delta=1e-06), {'epsilon': 1.0, 'delta': 1e-06})
        """
        ledger = cls(path, dataset)
        total, found = ledger._asked(budget, reading)
        with ledger._transaction(create=True) as connection:
            if dataset in ledger._held(connection):
                raise LedgerError(
                    f"dataset={dataset!r} already has an account in {ledger.path}; "
                    "open it with Ledger(path, dataset), or choose another name",
                )
            ledger._begin(connection, _now(), total, found)
        return ledger

    @classmethod
    def open_or_create(
        cls,
        path: str | PathLike[str],
        dataset: str,
        budget: Budget,
        *,
        reading: ReadingName | Numbered | None = None,
    ) -> Ledger:
        """Return the account of `dataset`: in an existing file, or else in a new one.

        Use it at the start of a program: the first run makes the account, later runs use it, and a
        different budget or reading is refused. A file with other accounts gets no new one.

        Args:
            path: the file.
            dataset: the dataset's name in it.
            budget: the total budget; an existing account must have the same.
            reading: as for `create`; an existing account must have the same, unless it is None.

        Raises:
            BudgetError: as `create`.
            LedgerError: where the account has another budget or reading, or the file's accounts are
                of other datasets, or it cannot be written.

        Examples:
            >>> import tempfile
            >>> path = tempfile.mkdtemp() + "/privacy.ledger"
            >>> from lownoise import zcdp
            >>> Ledger.open_or_create(path, "flights", zcdp(0.5)).charge(zcdp(0.25), "of May")
            1
            >>> Ledger.open_or_create(path, "flights", zcdp(0.5)).remaining()
            {'rho': 0.25}
        """
        ledger = cls(path, dataset)
        total, found = ledger._asked(budget, reading)
        with ledger._transaction(create=True) as connection:
            held = ledger._held(connection)
            if not held:
                ledger._begin(connection, _now(), total, found)
            elif dataset not in held:
                raise LedgerError(
                    f"dataset={dataset!r} has no account in {ledger.path}, which has "
                    f"{accounts_text(held)}; give one of these, or open another with Ledger.create"
                )
            else:
                ledger._expect(connection, total, None if reading is None else found)
        return ledger

    def reserve(
        self,
        event: Event,
        note: str = "",
        *,
        asked: Budget | None = None,
        relation: RelationName | None = None,
    ) -> int:
        """Take `event` from the budget, on disk, and return its number.

        Args:
            event: what will be revealed.
            note: what the ledger says of it.
            asked: the budget that it was asked with, whose (ε, δ) a basic reading counts where the
                event has none of its own.
            relation: what its neighbours are, None where that is not known.

        Raises:
            BudgetError: where the account's reading cannot pay for such an event, or `asked` is out
                of range.
            LedgerError: where it would overspend, or other spends are of another relation; then
                nothing is taken. Where the file cannot be used, nothing is, either, unless the disk
                fails when all is written: then the spend may stand reserved, as after a crash.
        """
        own = None if asked is None else checked_budget(asked)  # an ε below 0 would give some back
        with self._transaction() as connection:
            return self._take(connection, event, "reserved", note, own, relation)

    def settle(self, number: int, *, stream: StreamPosition | None = None) -> None:
        """Make a reservation final: from now on an answer may be seen.

        Args:
            number: the reservation.
            stream: where the stream stands that it paid for, if it lives in a file.

        Raises:
            LedgerError: where there is no such reservation.
        """
        self._move(number, "settled", stream)

    def reserve_use(
        self,
        event: Event,
        plan: str,
        uses: int,
        *,
        note: str = "",
        asked: Budget | None = None,
        relation: RelationName | None = None,
    ) -> tuple[int, int]:
        """Take one of the uses of a plan, on disk; the first takes all of them from the budget.

        Args:
            event: what all uses reveal together.
            plan: the plan's digest: no other plan spends them.
            uses: how many there are.
            note: as of `reserve`.
            asked: the budget that all uses share.
            relation: as of `reserve`.

        Returns:
            The number of the spend, and which use of it was taken, from 1.

        Raises:
            BudgetError, LedgerError: as `reserve`; and where no use is left.
        """
        own = None if asked is None else checked_budget(asked)
        with self._transaction() as connection:
            self._budget(connection)
            number = entries.shared_by(connection, self.dataset, plan)
            if number is None:
                number = self._take(connection, event, "reserved", note, own, relation)
                entries.share(connection, number, plan, uses)
            return number, entries.take(connection, self.dataset, number, _now())

    def settle_use(self, number: int, use: int) -> None:
        """Make a use final, and with the first the spend: from now on an answer may be seen.

        Raises:
            LedgerError: where the use is not reserved.
        """
        with self._transaction() as connection:
            entries.move_use(connection, self.dataset, number, use, "settled")
            self._changed(connection, number, "settled")

    def cancel_use(self, number: int, use: int) -> None:
        """Give a use back whose data were refused, and the spend with it where there is no other.

        Raises:
            LedgerError: where the use is not reserved.
        """
        with self._transaction() as connection:
            if not entries.move_use(connection, self.dataset, number, use, "cancelled"):
                self._changed(connection, number, "cancelled")

    def stream_entered(self, number: int, at: StreamPosition) -> None:
        """Record where a stream stands of which the ledger knows nothing, once.

        Args:
            number: the settled spend that paid for it.
            at: where its file stands.

        Raises:
            LedgerError: where it is known to stand elsewhere.
        """
        with self._transaction() as connection:
            if entries.stand(connection, at) is None:
                entries.enter(connection, self.dataset, number, at)
            else:
                entries.move(connection, None, at)

    def stream_moved(self, before: str | None, at: StreamPosition) -> None:
        """Record that a batch of a stream is on disk, before anybody sees its answers.

        Args:
            before: the digest of its file before the batch, None before the first.
            at: where the file stands now.

        Raises:
            LedgerError: where the stream stands elsewhere by the ledger: another copy went on.
        """
        with self._transaction() as connection:
            entries.move(connection, before, at)

    def cancel(self, number: int) -> None:
        """Give a reservation back: only for one whose data were never answered from.

        A reading that the account's first spend has fixed is open again where no other spend is
        reserved or settled: what data have answered, or refused, is never cancelled.

        Raises:
            LedgerError: where there is no such reservation.
        """
        self._move(number, "cancelled")

    def charge(self, budget: Budget, note: str, *, relation: RelationName | None = None) -> int:
        """Record a spend made elsewhere on the same dataset, and return its number.

        Args:
            budget: what it took.
            note: a text for the ledger; secrets in addresses are removed.
            relation: its neighbouring relation; None is that of the account.

        Raises:
            BudgetError: where the account's reading cannot pay for it, or it is out of range.
            LedgerError: where it would overspend, or other spends are of another relation; then
                nothing is recorded.
        """
        event = checked_budget(budget).event
        with self._transaction() as connection:
            return self._take(connection, event, "settled", note, budget, relation)

    def _take(
        self,
        connection: sqlite3.Connection,
        event: Event,
        state: str,
        note: str,
        asked: Budget | None = None,
        relation: RelationName | None = None,
    ) -> int:
        if not isinstance(event, Event):
            raise BudgetError(f"event={quoted(event)} is none; give one of lownoise.privacy")
        event = event_from_text(event_to_text(event))  # what is decided on is what is recorded
        budget = self._budget(connection)
        entries.check_relation(connection, self.dataset, relation)
        note = bare(entries.text("note", note))
        spends = self._counted(connection)
        fixed = self._reading(connection, budget)
        reading = fixed or first_reading(budget, event)
        pair = reading.pair(event, asked)
        if not reading.within(budget, [*spends, (event, pair)]):
            asks = entries.amounts(reading.taken(budget, [(event, pair)]))
            left = entries.amounts(reading.remaining(budget, spends))
            own = "" if asked is None else f", asked with {asked}"
            raise OverspentError(
                f"dataset={self.dataset!r} has too little of its {budget} left for this spend"
                f"{own}: it asks for {asks}, and {left} is left; ask for less, or stop releasing "
                "from it",
                reading.like,
            )
        if fixed is None:
            self._announce(reading)
        cursor = connection.execute(
            "INSERT INTO spend (dataset, event, state, note, created, relation, epsilon, delta) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                *(self.dataset, event_to_text(event), state, note, _now(), relation),
                *(pair or (None, None)),
            ],
        )
        number = int(cursor.lastrowid or 0)
        if fixed is None:
            connection.execute(
                "UPDATE dataset SET reading = ?, fixed_by = ? WHERE name = ?",
                [reading.to_text(), number, self.dataset],
            )
        return number

    def _announce(self, reading: AbstractReading) -> None:
        """Say which reading a first spend fixes, before it is spent."""
        _notify(
            f"dataset={self.dataset!r} has no reading yet: this spend fixes reading="
            f"{reading.kind!r}, where {reading.adds}, which rules out {reading.rules_out}; name "
            "one where the account is opened, with reading= (--reading on the command line)",
        )

    def _move(self, number: int, state: str, stream: StreamPosition | None = None) -> None:
        with self._transaction() as connection:
            if not self._changed(connection, number, state):
                raise LedgerError(
                    f"spend={number} of dataset={self.dataset!r} is not reserved; "
                    "look at it with `lownoise ledger show`",
                )
            if stream is not None:
                entries.enter(connection, self.dataset, number, stream)

    def _changed(self, connection: sqlite3.Connection, number: int, state: str) -> bool:
        """Settle or cancel a spend, and return whether it was reserved."""
        changed = connection.execute(
            "UPDATE spend SET state = ? WHERE id = ? AND dataset = ? AND state = 'reserved'",
            [state, entries.numbered("spend", number), self.dataset],
        ).rowcount
        connection.execute(
            "UPDATE dataset SET reading = NULL, fixed_by = NULL "
            "WHERE name = ? AND fixed_by IS NOT NULL AND NOT EXISTS "
            "(SELECT 1 FROM spend WHERE dataset = ? AND state != 'cancelled')",
            [self.dataset, self.dataset],
        )
        return bool(changed == 1)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _notify(text: str) -> None:
    """Warn with a `ReadingNotice` at the place where the library was called.

    Each time: `warnings.warn` says one text at one place once, whichever account it is of.
    """
    frame = inspect.currentframe()
    while frame and frame.f_back and _is_own(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    name, line = (frame.f_code.co_filename, frame.f_lineno) if frame else (__name__, 0)
    warnings.warn_explicit(text, ReadingNotice, name, line, registry={})


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]


Payer = Ledger | str | PathLike[str]
"""An account, or the path of a ledger's file that is there: `checked_ledger` says which of it."""


def checked_ledger(ledger: object) -> Ledger | None:
    """Return the account that is to pay, None where there is none to be.

    Args:
        ledger: an account; or the path of a file that holds one, or "path::dataset" of one that
            holds several. Nothing is made where there is no file.

    Raises:
        LedgerError: where there is no such account, or it is anything else: what merely counts as
            false pays for nothing.
    """
    if ledger is None or isinstance(ledger, Ledger):
        return ledger
    if not isinstance(ledger, (str, PathLike)) or not isinstance(own := fspath(ledger), str):
        raise LedgerError(
            f"ledger={quoted(ledger)} is no ledger; give ln.Ledger(path, dataset), or its path"
        )
    path, _, dataset = own.partition("::")
    if may_hold_a_secret(own):
        raise LedgerError(
            "ledger may hold a password or a key; give the path of a file without one"
        )
    if len(own) > _LONGEST or not own.isprintable():  # messages have it in one line
        raise LedgerError(f"ledger={quoted(own)} is no path of a ledger; give that of its file")
    if not path:
        raise LedgerError("ledger='' is no path of a file; leave it out to record nothing")
    held = Ledger.datasets(path)
    if dataset in held or (len(held) == 1 and not dataset):
        return Ledger(path, dataset or held[0])
    raise LedgerError(
        f'ledger={path} has {accounts_text(held)}; name one that it has as "{path}::DATASET"'
    )
