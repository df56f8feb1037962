# SPDX-License-Identifier: Apache-2.0
"""A ledger's file: one SQLite database, opened anew for each decision, locked, and made durable.

Version 2 gave a ledger an identifier of its own, an account a reading, a spend its frozen pair
and its relation, and a stream the place that it has gone to. A file of version 1 becomes one of
version 2 in the transaction that opens it. Version 3 has spends that releases of one plan share; a
file becomes one in the transaction that reserves the first (see `uses`).
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from lownoise.errors import BudgetError, LedgerError
from lownoise.numbers.locked import LockedKind
from lownoise.privacy import entries
from lownoise.privacy.budget import Budget, budget_from_dict
from lownoise.privacy.choices import MixedReading, fitting
from lownoise.privacy.events import event_from_text
from lownoise.privacy.readings import BasicReading

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from lownoise.privacy.readings import AbstractReading

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
