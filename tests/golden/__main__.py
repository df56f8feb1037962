# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.golden`: does every plan charge, cost and sum what it did at the freeze?

`--write` stores what is found; that is for new members, or with a decision record that proves the
change. `--only TEXT` looks at the rows whose name holds it.
"""

from __future__ import annotations

import argparse
import sys

from tests.golden import ROOT, stored, write

sys.path.insert(0, str(ROOT / "tests"))  # as pytest has it


def main():
    """Return 1 where a law is broken."""
    from tests.golden.facts import differences, facts_of
    from tests.golden.members import members

    asked = _arguments()
    rows = {name: row for name, row in members().items() if asked.only in name}
    known = stored()
    found, broken = dict(known) if asked.only else {}, 0
    for number, (name, row) in enumerate(rows.items(), 1):
        now = facts_of(row)
        if asked.write:  # a row of seconds is to say that it is not quick, by hand
            found[name] = {"quick": known.get(name, {}).get("quick", True), **now}
            continue
        lines = (
            list(differences(known[name], now, name))
            if name in known
            else ["is not stored; --write"]
        )
        broken += any(not line.startswith("note: ") for line in lines)
        for line in lines:
            print(f"{number}/{len(rows)} {name}: {line}", flush=True)
    if asked.write:
        write(found)
    elif not asked.only:
        for name in known.keys() - rows.keys():
            broken += 1
            print(f"{name}: is stored and in no table any more")
    print(f"{len(rows)} rows, {broken} of them broken")
    return int(broken > 0)


def _arguments():
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--write", action="store_true", help="store what is found")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name holds it")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
