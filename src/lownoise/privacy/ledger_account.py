# SPDX-License-Identifier: Apache-2.0
"""A ledger's file, and what an account in it says: its budget, reading and spends, what is left.

The file is one SQLite database, opened anew for each decision, locked, and made durable.
Version 2 gave a ledger an identifier of its own, an account a reading, a spend its frozen pair
and its relation, and a stream the place that it has gone to. A file of version 1 becomes one of
version 2 in the transaction that opens it. Version 3 has spends that releases of one plan share; a
file becomes one in the transaction that reserves the first (see `uses`).
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING
from uuid import uuid4

from lownoise.errors import BudgetError, LedgerError, LownoiseError, path_of, quoted
from lownoise.errors.credentials import may_hold_a_secret
from lownoise.numbers.locked import LockedKind
from lownoise.numbers.readable import readable
from lownoise.privacy import entries
from lownoise.privacy.budget import Budget, budget_from_dict, budget_to_dict, checked_budget
from lownoise.privacy.choices import (
    MixedReading,
    Numbered,
    chosen,
    fitting,
    named,
    reading_from_text,
)
from lownoise.privacy.entries import Entry, entries_of, spent_of
from lownoise.privacy.events import event_from_text
from lownoise.privacy.readings import BasicReading, only_reading

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from os import PathLike
    from pathlib import Path

    from lownoise.privacy.budget import Budget
    from lownoise.privacy.choices import ReadingName
    from lownoise.privacy.readings import AbstractReading, Spent


_LEDGER = LockedKind(
    "ledger", LedgerError, 0x6C6F776E, "is not a lownoise ledger", "restore it from a backup"
)  # "lown"
_VERSION = 2
_FIRST = (
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
_SECOND = (
    "CREATE TABLE ledger (identifier TEXT NOT NULL) STRICT",
    # NULL until the first spend fixes it; its number is then in fixed_by, NULL where one was named
    "ALTER TABLE dataset ADD COLUMN reading TEXT",
    "ALTER TABLE dataset ADD COLUMN fixed_by INTEGER",
    # the pair that was frozen with the spend, where the reading adds pairs
    "ALTER TABLE spend ADD COLUMN epsilon REAL",
    "ALTER TABLE spend ADD COLUMN delta REAL",
    # what its neighbours are; NULL where nobody said, as of every spend of version 1
    "ALTER TABLE spend ADD COLUMN relation TEXT",
    # how far each stream has gone that lives in a file
    """CREATE TABLE stream (
        id TEXT PRIMARY KEY,
        dataset TEXT NOT NULL REFERENCES dataset (name),
        spend INTEGER NOT NULL REFERENCES spend (id),
        round INTEGER NOT NULL,
        digest TEXT NOT NULL
    ) STRICT""",
)


@contextmanager
def transaction(path: Path, *, create: bool = False) -> Iterator[sqlite3.Connection]:
    """Open the file, hold its write lock for the block, and commit unless the block raises.

    Args:
        path: the file.
        create: make it where it does not exist.

    Raises:
        LedgerError: where it does not exist, is no ledger, is cut short or cannot be written.
    """
    with _LEDGER.usable(path):
        if path.is_dir():
            raise LedgerError(f"ledger={path} is a folder; give the path of a ledger's file")
        if not create and not path.is_file():
            raise LedgerError(
                f"ledger={path} does not exist; open an account in it with Ledger.create, "
                "Ledger.open_or_create or `lownoise ledger create`",
            )
    check = partial(_check, path, create=create)
    with _LEDGER.transaction(path, check, create=create) as connection:
        yield connection


def budget_from_text(text: str) -> Budget:
    """Return the budget of an account.

    Raises:
        LedgerError: where it is of no kind that this version knows.
    """
    try:
        return budget_from_dict(json.loads(text))
    except (ValueError, TypeError, BudgetError, RecursionError):
        raise LedgerError(
            "ledger budget is of no kind that this version knows; upgrade lownoise",
        ) from None


def _check(path: Path, connection: sqlite3.Connection, *, create: bool) -> None:
    if create and _LEDGER.empty(connection):
        _LEDGER.make(connection, _FIRST, version=1)
        _second(connection)
        return
    version = _LEDGER.expect(path, connection, range(1, entries.VERSION + 1))
    _LEDGER.expect_one_name(path)
    if version < _VERSION:
        _second(connection)


def _second(connection: sqlite3.Connection) -> None:
    """Make a file of version 1 one of version 2, whose accounts have the reading that fits them.

    What is not understood is left for the account's own use to refuse.
    """
    for statement in _SECOND:
        connection.execute(statement)
    connection.execute("INSERT INTO ledger VALUES (?)", [str(uuid4())])
    for name, budget in connection.execute("SELECT name, budget FROM dataset").fetchall():
        rows = connection.execute(
            "SELECT id, event FROM spend WHERE dataset = ? AND state != 'cancelled' ORDER BY id",
            [name],
        ).fetchall()
        reading = _fitted(budget, [event for _, event in rows])
        if isinstance(reading, BasicReading):
            for number, event in rows:
                pair = reading.pair(event_from_text(event), None)
                connection.execute(
                    "UPDATE spend SET epsilon = ?, delta = ? WHERE id = ?",
                    [*(pair or (None, None)), number],
                )
        connection.execute(
            "UPDATE dataset SET reading = ?, fixed_by = ? WHERE name = ?",
            [reading and reading.to_text(), rows[0][0] if rows else None, name],
        )
    connection.execute(f"PRAGMA user_version = {_VERSION}")


def _fitted(budget: str, events: list[str]) -> AbstractReading | None:
    """Return the reading of an old account; one that cannot be understood pays for nothing more."""
    try:
        return fitting(budget_from_text(budget), [(event_from_text(e), None) for e in events])
    except (LedgerError, BudgetError):
        return MixedReading()


_MOST_NAMES = 20  # of accounts, in a message


@readable
@dataclass(frozen=True)
class Account:
    """One dataset's account in a ledger file, as it is read.

    Args:
        path: the ledger file.
        dataset: the dataset's name in it.
    """

    path: Path
    dataset: str

    def __init__(self, path: str | PathLike[str], dataset: str) -> None:
        object.__setattr__(self, "path", path_of(path, "ledger", LedgerError))
        object.__setattr__(self, "dataset", entries.text("dataset", dataset, "name"))

    def __str__(self) -> str:
        """Say what is spent, what is left, and each spend, or the fields where no account is."""
        report = import_module("lownoise.report")  # which lies above, as of plans and releases
        try:
            return str(report.render_text(report.sections(self))).rstrip()
        except LownoiseError:
            return repr(self)

    @classmethod
    def datasets(cls, path: str | PathLike[str]) -> list[str]:
        """Return the names of the datasets with an account in the file.

        Raises:
            LedgerError: where the file is no ledger.
        """
        own = cls(path, "")
        with own._transaction() as connection:
            return own._held(connection)

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
            return entries_of(connection, self.dataset)

    def reading(self) -> str | Numbered | None:
        """Return what adds up over the account's spends: its name, or the `ln.Caps` or `ln.Aside`.

        None if no spend has fixed it yet; "mixed" if an older version recorded spends of several
        kinds, so that the account pays for nothing more.

        Raises:
            LedgerError: as `budget`.
        """
        with self._transaction() as connection:
            found = self._reading(connection, self._budget(connection))
        if found is None or isinstance(found, Numbered):
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
        """Return what is left of each sum of the reading, rounded down, so that it can be spent.

        The keys depend on the reading: "rho", "mu", "epsilon", "epsilon" and "delta", all but "rho"
        for `ln.Caps`, or "delta" and one of "rho" and "mu" for `ln.Aside`. It is the budget itself
        if no reading is fixed, and empty if it is "mixed".

        Raises:
            LedgerError: as `budget`.
        """
        reading, budget, spends = self._standing()
        return reading.remaining(budget, spends)

    def taken(self) -> dict[str, float]:
        """Return what is spent of each sum of the reading, rounded up; keys as for `remaining`.

        Values of "mu" add up by their squares.

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

    def _standing(self) -> tuple[AbstractReading, Budget, list[Spent]]:
        """Return the reading, basic where none is fixed, the budget and what counts as spent."""
        with self._transaction() as connection:
            budget = self._budget(connection)
            spends = self._counted(connection)
            return self._reading(connection, budget) or named("basic"), budget, spends

    def _held(self, connection: sqlite3.Connection) -> list[str]:
        rows = connection.execute("SELECT name FROM dataset ORDER BY name").fetchall()
        return [name for (name,) in rows]

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
        rows = connection.execute(
            "SELECT event, epsilon, delta FROM spend WHERE dataset = ? AND state != 'cancelled' "
            "ORDER BY id",
            [self.dataset],
        ).fetchall()
        read = cache(spent_of)  # an account of a million spends has few that differ
        return [read(*row) for row in rows]

    def _transaction(self, *, create: bool = False) -> AbstractContextManager[sqlite3.Connection]:
        return transaction(self.path, create=create)

    def _asked(
        self, budget: Budget, reading: ReadingName | Numbered | None
    ) -> tuple[Budget, AbstractReading | None]:
        """Return what an account is to have, checked; nothing is opened."""
        total, dataset = checked_budget(budget), self.dataset
        if not dataset.strip() or not dataset.isprintable():
            raise LedgerError(
                f"dataset={quoted(dataset)} is no name; give one of letters that print"
            )
        if may_hold_a_secret(dataset):
            raise LedgerError(
                "dataset may hold a password or a key, and a ledger keeps it; give a name"
            )
        found = only_reading(total) if reading is None else chosen(reading, total)
        with _LEDGER.usable(self.path):
            if self.path.name == ":memory:" or (self.path.exists() and not self.path.is_file()):
                raise LedgerError(f"ledger={self.path} keeps nothing; give the path of a file")
        return total, found

    def _begin(
        self,
        connection: sqlite3.Connection,
        when: str,
        total: Budget,
        found: AbstractReading | None,
    ) -> None:
        connection.execute(
            "INSERT INTO dataset (name, budget, created, reading) VALUES (?, ?, ?, ?)",
            [self.dataset, json.dumps(budget_to_dict(total)), when, found and found.to_text()],
        )

    def _expect(
        self, connection: sqlite3.Connection, total: Budget, asked: AbstractReading | None
    ) -> None:
        """Refuse another budget than the account has, or another reading than it is asked with."""
        budget = self._budget(connection)
        reading = self._reading(connection, budget)
        if budget != total:
            raise LedgerError(
                f"dataset={self.dataset!r} in {self.path} has {budget!r}, and {total!r} is "
                "asked for; give the first, or another path",
            )
        if asked not in (None, reading):
            has = "no reading yet" if reading is None else f"the reading {reading.kind!r}"
            raise LedgerError(
                f"dataset={self.dataset!r} in {self.path} has {has}, and another is asked for; "
                "leave reading out",
            )


def accounts_text(names: list[str]) -> str:
    """Return which accounts a file has, not too many of them."""
    more = ", …" if len(names) > _MOST_NAMES else ""
    return f"accounts of {', '.join(map(repr, names[:_MOST_NAMES])) or 'nothing'}{more}"
