# SPDX-License-Identifier: Apache-2.0
"""The uses of a plan whose releases share one spend: taken one by one, and by that plan alone.

The spend is an entry like any other. Beside it stands the plan's digest and how many releases it
pays for, and a row for each that was begun. A use that is taken counts whatever becomes of its
release; only one whose data were refused is given back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from lownoise.errors import LedgerError
from lownoise.numbers.readable import readable

if TYPE_CHECKING:
    import sqlite3

VERSION = 3  # of a ledger's file that has such spends; made so when the first is reserved
_TABLES = (
    """CREATE TABLE shared (
        spend INTEGER PRIMARY KEY REFERENCES spend (id),
        plan TEXT NOT NULL,
        uses INTEGER NOT NULL CHECK (uses >= 1)
    ) STRICT""",
    """CREATE TABLE use (
        spend INTEGER NOT NULL REFERENCES shared (spend),
        number INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('reserved', 'settled', 'cancelled')),
        created TEXT NOT NULL,
        PRIMARY KEY (spend, number)
    ) STRICT""",
)
_SHARED = (
    "SELECT shared.spend, plan, uses, "
    "(SELECT count(*) FROM use WHERE use.spend = shared.spend AND use.state != 'cancelled') "
    "FROM shared JOIN spend ON spend.id = shared.spend WHERE dataset = ?"
)


@final
@readable
@dataclass(frozen=True)
class Uses:
    """What a shared spend pays for: of which plan, by its digest, how many uses, how many taken."""

    plan: str
    uses: int
    taken: int


def shared_of(connection: sqlite3.Connection, dataset: str) -> dict[int, Uses]:
    """Return what a dataset's shared spends pay for, by their numbers."""
    if not _renewed(connection):
        return {}
    rows = connection.execute(_SHARED, [dataset])
    return {spend: Uses(plan, uses, taken) for spend, plan, uses, taken in rows}


def shared_by(connection: sqlite3.Connection, dataset: str, plan: str) -> int | None:
    """Return the number of the spend that a plan's releases share; None where there is none yet."""
    if not _renewed(connection):
        return None
    row = connection.execute(
        f"{_SHARED} AND plan = ? AND spend.state != 'cancelled'",
        [dataset, plan],
    ).fetchone()
    return None if row is None else int(row[0])


def share(connection: sqlite3.Connection, spend: int, plan: str, uses: int) -> None:
    """Say of a spend that so many releases of one plan share it.

    Args:
        connection: in a transaction.
        spend: its number.
        plan: the plan's digest.
        uses: how many.
    """
    if not _renewed(connection):
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("INSERT INTO shared VALUES (?, ?, ?)", [spend, plan, uses])


def take(connection: sqlite3.Connection, dataset: str, spend: int, created: str) -> int:
    """Take one use of a shared spend, and return which it is, from 1.

    Args:
        connection: in a transaction.
        dataset: of the account.
        spend: the number of the spend.
        created: when.

    Raises:
        LedgerError: where none is left.
    """
    own = shared_of(connection, dataset)[spend]
    if own.taken >= own.uses:
        raise LedgerError(
            f"spend={spend} of dataset={dataset!r} has none of its {own.uses:,} uses left for this "
            "plan; plan anew with another number of uses, which is a spend of its own",
        )
    (last,) = connection.execute(
        "SELECT coalesce(max(number), 0) FROM use WHERE spend = ?", [spend]
    ).fetchone()
    connection.execute(
        "INSERT INTO use VALUES (?, ?, 'reserved', ?)", [spend, int(last) + 1, created]
    )
    return int(last) + 1


def move_use(
    connection: sqlite3.Connection, dataset: str, spend: int, use: int, state: str
) -> bool:
    """Settle or cancel a use that is reserved, and return whether its spend has others.

    Args:
        connection: in a transaction.
        dataset: of the account.
        spend: the number of the spend.
        use: which use of it.
        state: "settled" or "cancelled".

    Raises:
        LedgerError: where it is not reserved, or the spend was given back.
    """
    changed = 0
    if _renewed(connection):
        changed = connection.execute(
            "UPDATE use SET state = ? WHERE spend = ? AND number = ? AND state = 'reserved' AND "
            "EXISTS (SELECT 1 FROM spend WHERE id = ? AND dataset = ? AND state != 'cancelled')",
            [state, spend, use, spend, dataset],
        ).rowcount
    if changed != 1:
        raise LedgerError(
            f"use={use} of spend={spend} of dataset={dataset!r} is not reserved; "
            "look at it with `lownoise ledger show`",
        )
    return bool(
        connection.execute(
            "SELECT 1 FROM use WHERE spend = ? AND number != ? AND state != 'cancelled'",
            [spend, use],
        ).fetchone()
    )


def _renewed(connection: sqlite3.Connection) -> bool:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version) >= VERSION
