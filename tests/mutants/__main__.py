# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.mutants`: how many small faults of the core do the tests notice?

The same mutants are judged each time, wherever their code is now: those of `chosen.json`, which
matter or once lived, and those of `drawn.json`, drawn one a file (`--per-file` draws others, those
of each file whose names have the least hashes). Those that change nothing that the code does, and
those that live for a reason, stand in `verdicts.json`; the score is of all but the equivalent ones.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

from tests.mutants import campaign
from tests.mutants.coverage import Coverage, test_files
from tests.mutants.operators import Mutant, chosen, mutants, standing

DRAWN = Path(__file__).parent / "drawn.json"
VERDICTS = Path(__file__).parent / "verdicts.json"
GOAL = 0.97


def main() -> int:
    """Run the campaign, print the mutants that live, and return whether the goal is reached."""
    asked = _arguments()
    verdicts = json.loads(VERDICTS.read_text())
    equivalent = {m.name for m in standing(campaign.ROOT, verdicts["equivalent"]).values()}
    excused = {
        m.name: verdicts["lives"][name]
        for name, m in standing(campaign.ROOT, verdicts["lives"]).items()
    }
    drawn = [m for m in _asked(asked) if any(part in m.name for part in asked.name)]
    if asked.list:
        for m in drawn:
            print(f"{m.line:5d} {m.name}")
        return 0
    judged = [m for m in drawn if m.name not in equivalent]
    found = campaign.remembered(asked.outcomes) if asked.outcomes else {}
    waiting = [m for m in judged if m.name not in found]
    if asked.again:
        waiting = [m for m in judged if m.name not in found or found[m.name].fate != "killed"]
    campaign.load()
    coverage = Coverage(asked.coverage)
    coverage.complete(asked.tests or test_files())
    with campaign.compiled() as sources:
        for number, m in enumerate(waiting, 1):
            outcome = campaign.judge(m, sources, coverage, asked.most)
            if asked.outcomes:
                campaign.remember(outcome, asked.outcomes)
            found[m.name] = outcome
            print(f"{number}/{len(waiting)} {outcome.fate} {outcome.seconds:.0f} s {m.name}")
            print(f"        {outcome.tests} tests: {outcome.how}", flush=True)
    return _report([found[m.name] for m in judged], len(drawn), excused)


def _asked(asked: argparse.Namespace) -> list[Mutant]:
    files = [f for f in campaign.core() if any(fnmatch(f, f"*{p}") for p in asked.files)]
    known = [m for m in chosen(campaign.ROOT) if m.file in files]
    if asked.per_file is not None:
        return known + [m for f in files for m in _drawn(f, asked.per_file)]
    names = json.loads(DRAWN.read_text())
    there = standing(campaign.ROOT, names)
    for name in names:
        if name not in there and "*" in asked.files:
            print(f"no longer in the sources: {name}")
    return known + [m for m in there.values() if m.file in files or "*" in asked.files]


def _drawn(file: str, count: int) -> list[Mutant]:
    found = mutants(file, (campaign.ROOT / file).read_bytes())
    return sorted(sorted(found, key=lambda m: m.draw)[:count], key=lambda m: m.start)


def _report(outcomes: list[campaign.Outcome], drawn: int, excused: dict[str, str]) -> int:
    living = [o for o in outcomes if o.fate == "lives"]
    cut = [o for o in outcomes if o.fate == "not finished"]
    killed = len(outcomes) - len(living) - len(cut)
    print(
        f"\n{drawn} drawn, {drawn - len(outcomes)} equivalent, {killed} killed, "
        f"{len(living)} live, {len(cut)} not finished"
    )
    for o in living:
        print(f"  line {o.line}: {o.name}\n    {excused.get(o.name, 'NO REASON GIVEN')}")
    for o in cut:
        print(f"  not finished, {o.how}: line {o.line}: {o.name}")
    score = killed / len(outcomes) if outcomes else 1.0
    print(f"score {score:.1%} of what is not equivalent; goal {GOAL:.0%}")
    return int(score < GOAL)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("files", nargs="*", default=["*"], help="patterns of files of the core")
    parser.add_argument(
        "--per-file", type=int, help="draw so many mutants of each file, not those of drawn.json"
    )
    parser.add_argument(
        "--name", nargs="+", default=[""], help="only those whose name has one of these texts"
    )
    parser.add_argument(
        "--coverage",
        type=Path,
        default=Path(tempfile.gettempdir()) / "lownoise-mutants.db",
        help="the record of which test reaches which statement; made where it lacks",
    )
    parser.add_argument("--tests", nargs="+", help="judge by these files of tests only")
    parser.add_argument(
        "--most",
        type=float,
        default=600.0,
        help="recorded seconds of tests a mutant; one that passes them is not finished",
    )
    parser.add_argument(
        "--outcomes", type=Path, help="a file to keep outcomes in, and to go on from"
    )
    parser.add_argument("--again", action="store_true", help="judge again those not killed")
    parser.add_argument("--list", action="store_true", help="only print which mutants are drawn")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
