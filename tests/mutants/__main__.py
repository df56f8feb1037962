# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.mutants`: how many small faults of the core do the tests notice?

The same mutants are drawn each time: those of `chosen.json`, and of each file those whose names
have the least hashes. Those that change nothing that the code does, and those that live for a
reason, stand in `verdicts.json`; the score is of all but the equivalent ones.
"""

from __future__ import annotations

import argparse
import json
import sys
from fnmatch import fnmatch
from pathlib import Path

from tests.mutants import campaign
from tests.mutants.operators import Mutant, chosen, mutants

VERDICTS = Path(__file__).parent / "verdicts.json"
GOAL = 0.97


def main() -> int:
    """Run the campaign, print the mutants that live, and return whether the goal is reached."""
    asked = _arguments()
    verdicts = json.loads(VERDICTS.read_text())
    equivalent, excused = verdicts["equivalent"], verdicts["lives"]
    files = [f for f in campaign.core() if any(fnmatch(f, f"*{p}") for p in asked.files)]
    drawn = [m for m in chosen(campaign.ROOT) if m.file in files]
    drawn += [m for f in files for m in _drawn(f, asked.per_file)]
    drawn = [m for m in drawn if asked.name in m.name]
    if asked.list:
        for m in drawn:
            print(f"{m.line:5d} {m.name}")
        return 0
    campaign.load()
    found = campaign.remembered(asked.outcomes) if asked.outcomes else {}
    known: dict[str, float] = {}
    outcomes = []
    for number, m in enumerate(drawn, 1):
        if m.name in equivalent:
            continue
        if m.name not in found or (asked.again and not found[m.name].killed):
            found[m.name] = campaign.judge(m, known)
            if asked.outcomes:
                campaign.remember(found[m.name], asked.outcomes)
        outcome = found[m.name]
        outcomes.append(outcome)
        word = "killed" if outcome.killed else "LIVES"
        print(f"{number}/{len(drawn)} {word} {outcome.seconds:.0f} s {m.name}", flush=True)
        if outcome.killed:
            print(f"        by {outcome.how}", flush=True)
    return _told(outcomes, len(drawn), excused)


def _drawn(file: str, count: int) -> list[Mutant]:
    found = mutants(file, (campaign.ROOT / file).read_bytes())
    return sorted(sorted(found, key=lambda m: m.draw)[:count], key=lambda m: m.start)


def _told(outcomes: list[campaign.Outcome], drawn: int, excused: dict[str, str]) -> int:
    living = [o for o in outcomes if not o.killed]
    killed = len(outcomes) - len(living)
    print(
        f"\n{drawn} drawn, {drawn - len(outcomes)} equivalent, {killed} killed, {len(living)} live"
    )
    for o in living:
        print(f"  line {o.line}: {o.name}\n    {excused.get(o.name, 'NO REASON GIVEN')}")
    score = killed / len(outcomes) if outcomes else 1.0
    print(f"score {score:.1%} of what is not equivalent; goal {GOAL:.0%}")
    return int(score < GOAL)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("files", nargs="*", default=["*"], help="patterns of files of the core")
    parser.add_argument("--per-file", type=int, default=3, help="how many mutants of each file")
    parser.add_argument("--name", default="", help="only those whose name has this text")
    parser.add_argument(
        "--outcomes", type=Path, help="a file to keep outcomes in, and to go on from"
    )
    parser.add_argument("--again", action="store_true", help="judge again those that lived")
    parser.add_argument("--list", action="store_true", help="only print which mutants are drawn")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
