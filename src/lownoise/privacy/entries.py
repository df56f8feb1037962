# SPDX-License-Identifier: Apache-2.0
"""The spends of an account, as a ledger's file records them, and which of them add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, final

from lownoise.errors import LedgerError, quoted
from lownoise.numbers.readable import readable
from lownoise.privacy.events import Event, event_from_text
from lownoise.privacy.uses import Uses, shared_of

if TYPE_CHECKING:
    import sqlite3

    from lownoise.privacy.readings import Pair

Known = Literal["substitute", "add_remove", "changes"]
RelationName = Known | str  # or such a one " per " a column, of units
RELATION_NAMES: tuple[Known, ...] = ("substitute", "add_remove", "changes")
_RELATIONS = (
    '"substitute", "add_remove" or "changes" (a body of them), or one of them per column of units, '
    'as "add_remove per COLUMN"'
)
_PER = " per "


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
    )
    shared = shared_of(connection, dataset)
    return [
        Entry(
            number,
            event_from_text(event),
            state,
            note,
            created,
            None if epsilon is None or delta is None else (epsilon, delta),
            relation,
            shared.get(number),
        )
        for number, event, state, note, created, relation, epsilon, delta in rows
    ]


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
    word, per, column = relation.partition(_PER)
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
