# SPDX-License-Identifier: Apache-2.0
"""A ledger's account as a table for people and as JSON for machines."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lownoise.privacy.entries import amounts

if TYPE_CHECKING:
    from rich.console import Group

    from lownoise.privacy import Ledger


def account_table(account: Ledger) -> Group:
    """Return what the dataset may spend, has spent, and each spend."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    # above the table, not its title, which would be folded to the width of the columns
    said = f"{spent_text(account)}; {reading_text(account)}{relation_text(account)}"
    title = Text(f"{account.dataset}: {said}", style="bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("spend", "state", "what", "note", "when"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("state", "when"))
    for entry in account.entries():
        numbers = ", ".join(f"{k}={v:.6g}" for k, v in asdict(entry.event).items())
        what = f"{entry.event.kind} {numbers}"
        row = (str(entry.id), entry.state, what, entry.note, entry.created[:16].replace("T", " "))
        table.add_row(*(Text(cell) for cell in row))
    return Group(title, table)


def spent_text(account: Ledger) -> str:
    """Return what is spent of the budget, in what adds up: of an (ε, δ) not the δ at all of ε."""
    budget, taken = account.budget(), account.taken()
    if account.reading() == "mixed" or len(asdict(budget)) == len(taken) == 1:
        return f"spent {account.spent()} of {budget}"
    if not any(taken.values()):
        return f"nothing spent of {budget}"
    return f"spent {amounts(taken)} of {budget}"


def reading_text(account: Ledger) -> str:
    """Return what adds up over the account's spends, and what is left of it."""
    reading, left = account.reading(), account.remaining()
    if reading is None:
        return "its first spend fixes what adds up"
    if reading == "mixed":
        return (
            "an older version took its spends by no one reading, so it pays for nothing more; "
            "what still holds is the sum of their (epsilon, delta)"
        )
    kind = reading if isinstance(reading, str) else reading.kind
    squares = " (its squares add up)" if "mu" in left else ""
    return f"reading {kind}, {amounts(left)} left{squares}"


def relation_text(account: Ledger) -> str:
    """Return what the neighbours are of all spends, and nothing where none says it."""
    found = {e.relation for e in account.entries() if e.state != "cancelled"} - {None}
    return "".join(f"; relation {name}" for name in sorted(filter(None, found)))


def account_dict(account: Ledger) -> dict[str, Any]:
    """Return the same as JSON values."""
    reading = account.reading()
    return {
        "ledger": account.identifier(),
        "dataset": account.dataset,
        "budget": asdict(account.budget()),
        "spent": asdict(account.spent()),
        "reading": reading if reading is None or isinstance(reading, str) else asdict(reading),
        "taken": account.taken(),
        "remaining": account.remaining(),
        "entries": [
            {
                "id": entry.id,
                "state": entry.state,
                "event": {"kind": entry.event.kind, **asdict(entry.event)},
                "pair": entry.pair,
                "relation": entry.relation,
                "note": entry.note,
                "created": entry.created,
            }
            for entry in account.entries()
        ],
    }
