# SPDX-License-Identifier: Apache-2.0
"""The ledger: a total budget for each dataset and every spend against it, in one SQLite file.

A spend is *reserved* before the data are read and *settled* before the noise is drawn; only a
reservation can be *cancelled*, where the data were refused. Both count as spent, so a crash can
waste budget and never lose a spend. Every decision is one immediate transaction on disk, so
two processes cannot both take the last of a budget.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, final

from lownoise.errors import BudgetError, LedgerError, LownoiseError
from lownoise.privacy.accountant import event_of, spent, within
from lownoise.privacy.budget import Budget, budget_from_dict, budget_to_dict
from lownoise.privacy.events import Event, event_from_text, event_to_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

_APPLICATION = 0x6C6F776E  # "lown", so that another program's database is never taken for a ledger
_VERSION = 1
_PATIENCE = 30.0  # seconds to wait for another process's transaction
_SCHEMA = (
    """CREATE TABLE dataset (
        name TEXT PRIMARY KEY,
        budget TEXT NOT NULL,
        created TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE spend (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        dataset TEXT NOT NULL REFERENCES dataset (name),
        event TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('reserved', 'settled', 'cancelled')),
        note TEXT NOT NULL,
        created TEXT NOT NULL
    ) STRICT""",
)


@final
@dataclass(frozen=True)
class Entry:
    """One spend: its number, what happened, its state, the user's note, and when (UTC)."""

    id: int
    event: Event
    state: str
    note: str
    created: str


@final
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
        object.__setattr__(self, "path", Path(path))
        object.__setattr__(self, "dataset", dataset)

    @classmethod
    def create(cls, path: str | PathLike[str], dataset: str, budget: Budget) -> Ledger:
        """Open an account for `dataset` with a total `budget`, in a new or an existing file.

        Raises:
            LedgerError: where the dataset already has an account or the file cannot be written.

        Examples:
            >>> import tempfile
            >>> folder = tempfile.mkdtemp()
            >>> from lownoise import zcdp
            >>> ledger = Ledger.create(folder + "/privacy.ledger", "flights", zcdp(1.0))
            >>> ledger.budget()
            Zcdp(rho=1.0)
        """
        ledger = cls(path, dataset)
        if not dataset.strip() or not dataset.isprintable():
            raise LedgerError(f"dataset={dataset!r} is no name; give one of letters that print")
        with ledger._transaction(create=True) as connection:
            if connection.execute("SELECT 1 FROM dataset WHERE name = ?", [dataset]).fetchone():
                raise LedgerError(
                    f"dataset={dataset!r} already has an account in {ledger.path}; "
                    "open it with Ledger(path, dataset), or choose another name",
                )
            connection.execute(
                "INSERT INTO dataset VALUES (?, ?, ?)",
                [dataset, json.dumps(budget_to_dict(budget)), _now()],
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

    def spent(self) -> Budget:
        """Return what is spent, in the budget's own terms: ε, ρ, μ, or δ at the budget's ε.

        Raises:
            LedgerError: as `budget`.
        """
        with self._transaction() as connection:
            budget = self._budget(connection)
            events = self._counted(connection)
        return spent(budget, events)

    def reserve(self, event: Event, note: str = "") -> int:
        """Take `event` from the budget, on disk, and return its number.

        Raises:
            LedgerError: where it would overspend; then nothing is taken.
        """
        with self._transaction() as connection:
            return self._take(connection, event, "reserved", note)

    def settle(self, number: int) -> None:
        """Make a reservation final: from now on an answer may be seen.

        Raises:
            LedgerError: where there is no such reservation.
        """
        self._move(number, "settled")

    def cancel(self, number: int) -> None:
        """Give a reservation back: only for one whose data were never answered from.

        Raises:
            LedgerError: where there is no such reservation.
        """
        self._move(number, "cancelled")

    def charge(self, budget: Budget, note: str) -> int:
        """Record a spend made elsewhere on the same dataset, and return its number.

        Raises:
            LedgerError: where it would overspend; then nothing is recorded.
        """
        event = event_of(budget)
        with self._transaction() as connection:
            return self._take(connection, event, "settled", note)

    def _take(self, connection: sqlite3.Connection, event: Event, state: str, note: str) -> int:
        event_from_text(event_to_text(event))  # refuses what could not be read back
        budget = self._budget(connection)
        events = self._counted(connection)
        if not within(budget, [*events, event]):
            raise LedgerError(
                f"dataset={self.dataset!r} has too little of its {budget} left for this release; "
                "ask for less, or stop releasing from it",
            )
        cursor = connection.execute(
            "INSERT INTO spend (dataset, event, state, note, created) VALUES (?, ?, ?, ?, ?)",
            [self.dataset, event_to_text(event), state, note, _now()],
        )
        return int(cursor.lastrowid or 0)

    def _move(self, number: int, state: str) -> None:
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
        return _budget_from_text(row[0])

    def _counted(self, connection: sqlite3.Connection) -> list[Event]:
        """Return what counts as spent: reserved or settled."""
        return [e.event for e in self._entries(connection) if e.state != "cancelled"]

    def _entries(self, connection: sqlite3.Connection) -> list[Entry]:
        rows = connection.execute(
            "SELECT id, event, state, note, created FROM spend WHERE dataset = ? ORDER BY id",
            [self.dataset],
        )
        return [
            Entry(number, event_from_text(event), state, note, created)
            for number, event, state, note, created in rows
        ]

    @contextmanager
    def _transaction(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """Open the file, hold its write lock for the block, and commit unless the block raises."""
        try:
            if not create and not self.path.is_file():
                raise LedgerError(
                    f"ledger={self.path} does not exist; open one with `lownoise ledger create`",
                )
            connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from None
        try:
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            self._check_version(connection, create=create)
            yield connection
            connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from None
        finally:
            connection.close()  # rolls back what was not committed

    def _check_version(self, connection: sqlite3.Connection, *, create: bool) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if create and (application, version, tables) == (0, 0, 0):
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {_VERSION}")
            return
        if application != _APPLICATION:
            raise LedgerError(f"ledger={self.path} is not a lownoise ledger; give another path")
        if version != _VERSION:
            raise LedgerError(
                f"ledger={self.path} has version {version} and this lownoise reads {_VERSION}; "
                "upgrade lownoise",
            )
        # SQLite fills a short last page with zeros, which would forget the newest spends
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        if self.path.stat().st_size < pages * page:
            raise LedgerError(f"ledger={self.path} is cut short; restore it from a backup")

    def _unusable(self, error: sqlite3.Error | OSError) -> LownoiseError:
        reason = getattr(error, "sqlite_errorname", type(error).__name__)
        return LedgerError(
            f"ledger={self.path} cannot be used ({reason}); "
            "check that it is a lownoise ledger, its folder can be written and its disk has room",
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _budget_from_text(text: str) -> Budget:
    try:
        return budget_from_dict(json.loads(text))
    except (ValueError, TypeError, BudgetError):
        raise LedgerError(
            "ledger budget is of no kind that this version knows; upgrade lownoise",
        ) from None
