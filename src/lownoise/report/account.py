# SPDX-License-Identifier: Apache-2.0
"""A ledger's account as a table for people and as JSON for machines."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from lownoise.privacy import Ledger


def account_table(account: Ledger) -> Table:
    """Return what the dataset may spend, has spent, and each spend."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    title = Text(f"{account.dataset}: spent {account.spent()} of {account.budget()}")
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for heading in ("spend", "state", "what", "note", "when"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("state", "when"))
    for entry in account.entries():
        numbers = ", ".join(f"{k}={v:.6g}" for k, v in asdict(entry.event).items())
        what = f"{entry.event.kind} {numbers}"
        row = (str(entry.id), entry.state, what, entry.note, entry.created[:16].replace("T", " "))
        table.add_row(*(Text(cell) for cell in row))
    return table


def account_dict(account: Ledger) -> dict[str, Any]:
    """Return the same as JSON values."""
    return {
        "dataset": account.dataset,
        "budget": asdict(account.budget()),
        "spent": asdict(account.spent()),
        "entries": [
            {
                "id": entry.id,
                "state": entry.state,
                "event": {"kind": entry.event.kind, **asdict(entry.event)},
                "note": entry.note,
                "created": entry.created,
            }
            for entry in account.entries()
        ],
    }
