# SPDX-License-Identifier: Apache-2.0
"""What a ledger's file records of an account: its spends, their uses, and where its streams stand.

*Spends* are entries, of which some add up. *Streams*: how far each has gone stands in the ledger
that paid for it, so that no copy of it goes on elsewhere. A batch is on disk in the stream's file
first, then its ledger moves, and only then is it answered. So the ledger stands where the file
does, or one batch behind, whose answers nobody has seen.

*Uses* of a plan whose releases share one spend are taken one by one, and by that plan alone. The
spend is an entry like any other. Beside it stands the plan's digest and how many releases it
pays for, and a row for each that was begun. A use that is taken counts whatever becomes of its
release; only one whose data were refused is given back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast, final

from lownoise.errors import LedgerError, quoted, quoted_number
from lownoise.numbers.arguments import checked_integer, is_integer
from lownoise.numbers.readable import readable
from lownoise.privacy.events import Event, event_from_text

if TYPE_CHECKING:
    import sqlite3

    from lownoise.privacy.readings import Pair, Spent

Known = Literal["substitute", "add_remove", "changes"]
RelationName = Known | str  # or such a one " per " a column, of units
RELATION_NAMES: tuple[Known, ...] = ("substitute", "add_remove", "changes")
_RELATIONS = (
    '"substitute", "add_remove" or "changes" (a body of them), or one of them per column of units, '
    'as "add_remove per COLUMN"'
)
_PER = " per "
_BITS = 62  # of a number that SQLite keeps
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
class Entry:
    """One spend: its number, what happened, its state, the user's note, and when (UTC).

    `pair` is the (ε, δ) that was frozen with it, where the account's reading adds those; `relation`
    what its neighbours are: "substitute", "add_remove", "changes" (a body of them), "add_remove per
    COLUMN" or "substitute per COLUMN" where all rows that hold the same there are hidden together,
    or None where it was charged without one; `uses` how many releases of which plan share it, None
    for a spend of its own.
    """

    id: int
    event: Event
    state: str
    note: str
    created: str
    pair: Pair | None = None
    relation: str | None = None
    uses: Uses | None = None


def entries_of(connection: sqlite3.Connection, dataset: str) -> list[Entry]:
    """Return every spend of a dataset, oldest first.

    Raises:
        LedgerError: where one is of no kind that this version knows.
    """
    rows = connection.execute(
        "SELECT id, event, state, note, created, relation, epsilon, delta FROM spend "
        "WHERE dataset = ? ORDER BY id",
        [dataset],
    ).fetchall()
    shared = shared_of(connection, dataset)
    return [
        Entry(number, own, state, note, created, pair, relation, shared.get(number))
        for number, event, state, note, created, relation, epsilon, delta in rows
        for own, pair in [spent_of(event, epsilon, delta)]
    ]


def spent_of(event: str, epsilon: float | None, delta: float | None) -> Spent:
    """Return what a row says was spent, and the pair that was frozen with it.

    Raises:
        LedgerError: as `entries_of`.
    """
    pair = None if epsilon is None or delta is None else (epsilon, delta)
    return event_from_text(event), pair


def numbered(field: str, value: object) -> int:
    """Return the number of an entry, or how many there are.

    Raises:
        LedgerError: where it is none.
    """
    return checked_integer(field, value, bits=_BITS, error=LedgerError)


def text(field: str, value: object, what: str = "text") -> str:
    """Return a text, which is kept as it is.

    Raises:
        LedgerError: where it is none.
    """
    if not isinstance(value, str):
        raise LedgerError(f"{field}={quoted_number(value)} is no {what}; give a text")
    return value


def check_relation(
    connection: sqlite3.Connection, dataset: str, relation: RelationName | None
) -> None:
    """Refuse a spend whose neighbours are not those of the account's other spends.

    Costs of unlike neighbours do not add up: where one record becomes another, one leaves and one
    comes, which a release under add_remove hides at twice its ε or μ; and rows of one person are
    not those of one household.

    Raises:
        LedgerError: as said, or where there is no such relation.
    """
    if relation is None:
        return
    word, per, column = relation.partition(_PER) if isinstance(relation, str) else ("", "", "")
    if word not in RELATION_NAMES or bool(per) != bool(column):
        raise LedgerError(f"relation={quoted(relation)} is unknown; use {_RELATIONS}")
    other = connection.execute(
        "SELECT relation FROM spend WHERE dataset = ? AND state != 'cancelled' AND relation != ?",
        [dataset, relation],
    ).fetchone()
    if other is not None:
        raise LedgerError(
            f"dataset={dataset!r} has spends with relation={other[0]!r}, to which one with "
            f"relation={relation!r} does not add up; open another account for it",
        )


def amounts(sums: dict[str, float]) -> str:
    """Return numbers by name as words.

    Examples:
        >>> amounts({"epsilon": 0.25, "delta": 1e-7})
        'epsilon 0.25, delta 1e-07'
    """
    return ", ".join(f"{name} {number:.6g}" for name, number in sums.items())


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
    row = [_own(at).stream, dataset, numbered("spend", spend), at.round, at.digest]
    connection.execute("INSERT INTO stream VALUES (?, ?, ?, ?, ?)", row)


def stand(connection: sqlite3.Connection, at: StreamPosition) -> StreamPosition | None:
    """Return where a stream stands by its row, None where it has none."""
    row = connection.execute(
        "SELECT round, digest FROM stream WHERE id = ?", [_own(at).stream]
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


def _own(at: object) -> StreamPosition:
    known = isinstance(at, StreamPosition) and isinstance(at.stream, str) and is_integer(at.round)
    if not known or not 0 <= cast("StreamPosition", at).round < 1 << _BITS:
        raise LedgerError(f"stream={quoted_number(at)} says no place of a stream; give one's own")
    return cast("StreamPosition", at)


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
    rows = connection.execute(_SHARED, [dataset]).fetchall()
    return {spend: Uses(plan, uses, taken) for spend, plan, uses, taken in rows}


def shared_by(connection: sqlite3.Connection, dataset: str, plan: str) -> int | None:
    """Return the number of the spend that a plan's releases share; None where there is none yet."""
    if not _renewed(connection):
        return None
    row = connection.execute(
        f"{_SHARED} AND plan = ? AND spend.state != 'cancelled'",
        [dataset, text("plan", plan)],
    ).fetchone()
    return None if row is None else int(row[0])


def share(connection: sqlite3.Connection, spend: int, plan: str, uses: int) -> None:
    """Say of a spend that so many releases of one plan share it.

    Args:
        connection: in a transaction.
        spend: its number.
        plan: the plan's digest.
        uses: how many.

    Raises:
        LedgerError: where it is no number of uses.
    """
    row = [spend, text("plan", plan), numbered("uses", uses)]
    if not _renewed(connection):
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("INSERT INTO shared VALUES (?, ?, ?)", row)


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
    changed, row = 0, [numbered("spend", spend), numbered("use", use)]
    if _renewed(connection):
        changed = connection.execute(
            "UPDATE use SET state = ? WHERE spend = ? AND number = ? AND state = 'reserved' AND "
            "EXISTS (SELECT 1 FROM spend WHERE id = ? AND dataset = ? AND state != 'cancelled')",
            [state, *row, row[0], dataset],
        ).rowcount
    if changed != 1:
        raise LedgerError(
            f"use={use} of spend={spend} of dataset={dataset!r} is not reserved; "
            "look at it with `lownoise ledger show`",
        )
    return bool(
        connection.execute(
            "SELECT 1 FROM use WHERE spend = ? AND number != ? AND state != 'cancelled'",
            row,
        ).fetchone()
    )


def _renewed(connection: sqlite3.Connection) -> bool:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version) >= VERSION
