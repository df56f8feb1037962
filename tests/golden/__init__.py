# SPDX-License-Identifier: Apache-2.0
"""What every plan charged, cost and summed before the house was rebuilt."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
STORED = Path(__file__).parent / "facts.json"


def stored():
    """Return the stored facts of each row, by its name."""
    return json.loads(STORED.read_text()) if STORED.exists() else {}


def write(facts):
    """Store the facts, a line a row."""
    rows = (f"{json.dumps(name)}: {json.dumps(own)}" for name, own in facts.items())
    STORED.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def chosen(facts, rows):
    """Return the names of quick rows in which each case occurs once, the rest taking turns.

    A member with a body of changes occurs beside that: its lower bound stands on whether some
    record has room for all of them, which no other relation asks.
    """
    of_case = {}
    for name, row in rows.items():
        if name in facts and facts[name]["quick"]:
            roomy = name.startswith("member ") and ", change, " in name
            of_case.setdefault((row.case, roomy), []).append(name)
    return [names[turn % len(names)] for turn, names in enumerate(of_case.values())]
