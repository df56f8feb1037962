# SPDX-License-Identifier: Apache-2.0
"""How far each stream has gone, in the ledger that paid for it: no copy of it goes on elsewhere.

A batch is on disk in the stream's file first, then its ledger moves, and only then is it answered.
So the ledger stands where the file does, or one batch behind, whose answers nobody has seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from lownoise.errors import LedgerError

if TYPE_CHECKING:
    import sqlite3


@final
@dataclass(frozen=True)
class StreamPosition:
    """Where the file of a stream stands.

    Args:
        stream: what tells the stream from every other, in every copy of its file.
        round: how many rounds have been answered.
        digest: of what the file holds of them and of random marks, with a key that it alone has.
    """

    stream: str
    round: int
    digest: str


def enter(connection: sqlite3.Connection, dataset: str, spend: int, at: StreamPosition) -> None:
    """Record where a stream stands that is in no row yet.

    Args:
        connection: in a transaction.
        dataset: of the account that paid.
        spend: the number of what was paid.
        at: where the stream stands.
    """
    row = [at.stream, dataset, spend, at.round, at.digest]
    connection.execute("INSERT INTO stream VALUES (?, ?, ?, ?, ?)", row)


def stand(connection: sqlite3.Connection, at: StreamPosition) -> StreamPosition | None:
    """Return where a stream stands by its row, None where it has none."""
    row = connection.execute(
        "SELECT round, digest FROM stream WHERE id = ?", [at.stream]
    ).fetchone()
    return row and StreamPosition(at.stream, *row)


def move(connection: sqlite3.Connection, before: str | None, at: StreamPosition) -> None:
    """Move a stream's row to where its file stands, from one batch before or from there.

    Args:
        connection: in a transaction.
        before: the digest of the file before its last batch, None where there is none.
        at: where the file stands.

    Raises:
        LedgerError: where the row is elsewhere, or there is none.
    """
    found = stand(connection, at)
    if found == at:
        return
    if found is None:
        raise LedgerError(
            "the ledger does not know how far the stream in this file has gone; restore the ledger "
            "that was left last, or start another stream, which is a release of its own",
        )
    if before is None or found.digest != before:
        raise LedgerError(_elsewhere(found, at))
    connection.execute(
        "UPDATE stream SET round = ?, digest = ? WHERE id = ?", [at.round, at.digest, at.stream]
    )


def _elsewhere(found: StreamPosition, at: StreamPosition) -> str:
    said = f"the stream has gone to round {found.round:,} by its ledger, and this file"
    if at.round > found.round:
        return (
            f"{said} beyond, to round {at.round:,}: it was gone on with apart from the ledger, or "
            "the ledger is an old copy; restore the one that was left last"
        )
    return (
        f"{said} stands elsewhere, at round {at.round:,}: it is a copy, and another went on; use "
        "that one, or start another stream, which is a release of its own"
    )
