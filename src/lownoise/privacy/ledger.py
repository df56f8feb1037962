# SPDX-License-Identifier: Apache-2.0
"""The ledger: a total budget for each dataset and every spend against it, in one SQLite file.

A spend is *reserved* before the data are read and *settled* before the noise is drawn; only a
reservation can be *cancelled*, where the data were refused. Both count as spent, so a crash can
waste budget and never lose a spend. Every decision is one immediate transaction on disk, so
two processes cannot both take the last of a budget.
"""

from __future__ import annotations

import inspect
import json
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, final

from lownoise.errors import BudgetError, LedgerError, ReadingNotice, quoted
from lownoise.numbers.readable import readable
from lownoise.privacy.budget import Budget, budget_to_dict, checked_budget
from lownoise.privacy.choices import Caps, ReadingName, chosen, named, reading_from_text
from lownoise.privacy.entries import Entry, RelationName, amounts, check_relation, entries_of
from lownoise.privacy.events import Event, event_from_text, event_to_text
from lownoise.privacy.ledger_file import budget_from_text, transaction
from lownoise.privacy.positions import StreamPosition, enter, move, stand
from lownoise.privacy.readings import first_reading, only_reading

if TYPE_CHECKING:
    import sqlite3
    from contextlib import AbstractContextManager

    from lownoise.privacy.readings import AbstractReading, Spent


@final
@readable
@dataclass(frozen=True)
class Ledger:
    """One dataset's account in a ledger file.

    Args:
        path: the ledger file.
        dataset: the dataset's name in it.

    Nothing is opened until it is used; each use opens the file anew, so a Ledger may be shared
    between threads and processes.
    """

    path: Path
    dataset: str

    def __init__(self, path: str | PathLike[str], dataset: str) -> None:
        if not isinstance(path, (str, PathLike)):
            raise LedgerError(f"ledger={quoted(path)} is no path of a file; give one")
        object.__setattr__(self, "path", Path(path))
        object.__setattr__(self, "dataset", dataset)

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        dataset: str,
        budget: Budget,
        *,
        reading: ReadingName | Caps | None = None,
    ) -> Ledger:
        """Open an account for `dataset` with a total `budget`, in a new or an existing file.

        Args:
            path: the file.
            dataset: the dataset's name in it.
            budget: the most that all spends together may take. They add up for neighbours of one
                relation, which the first spend fixes.
            reading: what adds up over them: "gaussian" (Σμ²), "zcdp" (Σρ), "basic" (Σε and Σδ) or
                `ln.Caps`. Only approx_dp has a choice; there the first spend fixes it, with an
                `ln.ReadingNotice`, where it is not named.

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
        total = checked_budget(budget)
        if not isinstance(dataset, str) or not dataset.strip() or not dataset.isprintable():
            raise LedgerError(
                f"dataset={quoted(dataset)} is no name; give one of letters that print"
            )
        found = only_reading(total) if reading is None else chosen(reading, total)
        if ledger.path.name == ":memory:" or (ledger.path.exists() and not ledger.path.is_file()):
            raise LedgerError(f"ledger={ledger.path} keeps nothing; give the path of a file")
        with ledger._transaction(create=True) as connection:
            if connection.execute("SELECT 1 FROM dataset WHERE name = ?", [dataset]).fetchone():
                raise LedgerError(
                    f"dataset={dataset!r} already has an account in {ledger.path}; "
                    "open it with Ledger(path, dataset), or choose another name",
                )
            connection.execute(
                "INSERT INTO dataset (name, budget, created, reading) VALUES (?, ?, ?, ?)",
                [dataset, json.dumps(budget_to_dict(total)), _now(), found and found.to_text()],
            )
        return ledger

    @classmethod
    def datasets(cls, path: str | PathLike[str]) -> list[str]:
        """Return the names of the datasets with an account in the file.

        Raises:
            LedgerError: where the file is no ledger.
        """
        with cls(path, "")._transaction() as connection:  # noqa: SLF001 (its own class)
            return [
                name for (name,) in connection.execute("SELECT name FROM dataset ORDER BY name")
            ]

    def budget(self) -> Budget:
        """Return the dataset's total budget.

        Raises:
            LedgerError: where the file is no ledger or the dataset has no account in it.
        """
        with self._transaction() as connection:
            return self._budget(connection)

    def entries(self) -> list[Entry]:
        """Return every spend, oldest first, cancelled ones too.

        Raises:
            LedgerError: as `budget`.
        """
        with self._transaction() as connection:
            self._budget(connection)
            return self._entries(connection)

    def reading(self) -> str | Caps | None:
        """Return what adds up over the account's spends: its name, or the `ln.Caps`.

        None where no spend has fixed it yet; "mixed" where an older version took spends of several
        kinds, so that nothing more is paid.

        Raises:
            LedgerError: as `budget`.
        """
        with self._transaction() as connection:
            found = self._reading(connection, self._budget(connection))
        if found is None or isinstance(found, Caps):
            return found
        return found.kind

    def spent(self) -> Budget:
        """Return what is spent: ρ, μ, ε, or under approx_dp the (ε, δ) that its reading comes to.

        Raises:
            LedgerError: as `budget`.
        """
        reading, budget, spends = self._standing()
        return reading.spent(budget, spends)

    def remaining(self) -> dict[str, float]:
        """Return what is left of each sum of the reading, rounded down: a spend of it is taken.

        It is "rho", "mu", "epsilon", "epsilon" and "delta", or all but "rho" for `ln.Caps`; the
        budget itself where the reading is open, and nothing where it is "mixed".

        Raises:
            LedgerError: as `budget`.
        """
        reading, budget, spends = self._standing()
        return reading.remaining(budget, spends)

    def taken(self) -> dict[str, float]:
        """Return what is spent of each sum of the reading, rounded up: beside `remaining`.

        Numbers of "mu" add up by their squares.

        Raises:
            LedgerError: as `budget`.
        """
        reading, budget, spends = self._standing()
        return reading.taken(budget, spends)

    def identifier(self) -> str:
        """Return what tells this ledger from every other, wherever its file is and by any name.

        Raises:
            LedgerError: where the file is no ledger.
        """
        with self._transaction() as connection:
            (found,) = connection.execute("SELECT identifier FROM ledger").fetchone()
        return str(found)

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
                nothing is taken.
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

    def stream_entered(self, number: int, at: StreamPosition) -> None:
        """Record where a stream stands of which the ledger knows nothing, once.

        Args:
            number: the settled spend that paid for it.
            at: where its file stands.

        Raises:
            LedgerError: where it is known to stand elsewhere.
        """
        with self._transaction() as connection:
            if stand(connection, at) is None:
                enter(connection, self.dataset, number, at)
            else:
                move(connection, None, at)

    def stream_moved(self, before: str | None, at: StreamPosition) -> None:
        """Record that a batch of a stream is on disk, before anybody sees its answers.

        Args:
            before: the digest of its file before the batch, None before the first.
            at: where the file stands now.

        Raises:
            LedgerError: where the stream stands elsewhere by the ledger: another copy went on.
        """
        with self._transaction() as connection:
            move(connection, before, at)

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
            note: what the ledger says of it.
            relation: what its neighbours are; None takes it for those of the account.

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
        check_relation(connection, self.dataset, relation)
        spends = self._counted(connection)
        fixed = self._reading(connection, budget)
        reading = fixed or first_reading(budget, event)
        pair = reading.pair(event, asked)
        if not reading.within(budget, [*spends, (event, pair)]):
            asks = amounts(reading.taken(budget, [(event, pair)]))
            left = amounts(reading.remaining(budget, spends))
            raise LedgerError(
                f"dataset={self.dataset!r} has too little of its {budget} left for this spend: it "
                f"asks for {asks}, and {left} is left; ask for less, or stop releasing from it",
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
            changed = connection.execute(
                "UPDATE spend SET state = ? WHERE id = ? AND dataset = ? AND state = 'reserved'",
                [state, number, self.dataset],
            ).rowcount
            if changed != 1:
                raise LedgerError(
                    f"spend={number} of dataset={self.dataset!r} is not reserved; "
                    "look at it with `lownoise ledger show`",
                )
            if stream is not None:
                enter(connection, self.dataset, number, stream)
            connection.execute(
                "UPDATE dataset SET reading = NULL, fixed_by = NULL "
                "WHERE name = ? AND fixed_by IS NOT NULL AND NOT EXISTS "
                "(SELECT 1 FROM spend WHERE dataset = ? AND state != 'cancelled')",
                [self.dataset, self.dataset],
            )

    def _standing(self) -> tuple[AbstractReading, Budget, list[Spent]]:
        """Return the reading, basic where none is fixed, the budget and what counts as spent."""
        with self._transaction() as connection:
            budget = self._budget(connection)
            spends = self._counted(connection)
            return self._reading(connection, budget) or named("basic"), budget, spends

    def _budget(self, connection: sqlite3.Connection) -> Budget:
        row = connection.execute(
            "SELECT budget FROM dataset WHERE name = ?",
            [self.dataset],
        ).fetchone()
        if row is None:
            raise LedgerError(
                f"dataset={self.dataset!r} has no account in {self.path}; "
                "open one with Ledger.create or `lownoise ledger create`",
            )
        return budget_from_text(row[0])

    def _reading(self, connection: sqlite3.Connection, budget: Budget) -> AbstractReading | None:
        (text,) = connection.execute(
            "SELECT reading FROM dataset WHERE name = ?", [self.dataset]
        ).fetchone()
        return only_reading(budget) or (None if text is None else reading_from_text(text))

    def _counted(self, connection: sqlite3.Connection) -> list[Spent]:
        """Return what counts as spent: reserved or settled."""
        return [(e.event, e.pair) for e in self._entries(connection) if e.state != "cancelled"]

    def _entries(self, connection: sqlite3.Connection) -> list[Entry]:
        return entries_of(connection, self.dataset)

    def _transaction(self, *, create: bool = False) -> AbstractContextManager[sqlite3.Connection]:
        return transaction(self.path, create=create)


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


def checked_ledger(ledger: object) -> Ledger | None:
    """Return the account that is to pay, None where there is none to be.

    Raises:
        LedgerError: where it is anything else: what merely counts as false pays for nothing.
    """
    if ledger is None or isinstance(ledger, Ledger):
        return ledger
    raise LedgerError(f"ledger={quoted(ledger)} is no ledger; give ln.Ledger(path, dataset)")
