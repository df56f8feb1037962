# SPDX-License-Identifier: Apache-2.0
"""Strategies for people in several rounds: `python -m benchmarks.participations [row …]`.

Rows are "n,k,b,pattern". Each strategy of running sums is made in a process of its own, with one
thread; its figure is the mean squared error times the squared sensitivity that would be charged,
beside the bound of its kind: for banded strategies of columns of any length, for Toeplitz and
rational ones of all coefficients at least 0, for the optimum of all. Seconds are CPU seconds,
medians of `RUNS`.

`--peer PYTHON` also runs jax-privacy by an interpreter that has it, in turns with ours: one of
ours, one of theirs, and again. What it compiles is counted, what it imports is not.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments
from benchmarks.nonnegative_bound import MOST, nonnegative_bound
from benchmarks.solver import ONE_THREAD, ROOT
from lownoise.planning.strategies import STRATEGIES, Choice, choose
from lownoise.sensitivity.participation import Participation
from lownoise.solvers.streams import banded_bound
from lownoise.streams import ORDERS, StreamEvidence

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 3
LONGEST = 600  # seconds for a peer
LARGEST = 256  # rounds for the optimum of patterns that are not spaced: it takes minutes beyond
OURS = (
    "input",
    "square_root",
    "normalized_square_root",
    "rational",
    "toeplitz",
    "banded",
    "optimal",
)
BESIDE = ("rational", "toeplitz", "banded", "optimal")  # what a peer has too
ROWS = (
    "256,4,64,separated",
    "256,4,64,spaced",
    "512,8,64,separated",
    "512,8,64,spaced",
    "512,4,64,separated",
    "256,4,1,any",
    "1024,16,64,spaced",
    "4096,16,256,separated",
)


@dataclass(frozen=True)
class Row:
    """n rounds, of which one person adds to k."""

    rounds: int
    participation: Participation

    @classmethod
    def of(cls, text: str) -> Row:
        """Return the row of "n,k,b,pattern"."""
        n, k, b, pattern = text.split(",")
        return cls(int(n), Participation(int(k), int(b), pattern))  # type: ignore[arg-type]

    @property
    def title(self) -> str:
        own = self.participation
        return f"n={self.rounds:,}, k={own.count}, b={own.separation}, {own.pattern}"


def measure(text: str, strategy: str) -> dict[str, Any]:
    """Return what a strategy reaches, and its CPU seconds, in this process."""
    row = Row.of(text)
    choice = Choice(error="mean", participation=row.participation)
    workload = ln.Prefix(row.rounds)
    own = STRATEGIES[strategy]
    if own.refuses(workload):
        return {"value": None, "seconds": 0.0}
    warm = Choice(error="mean", participation=Participation(2, 8, "separated"))
    STRATEGIES[strategy].make(ln.Prefix(16), warm)  # imports are not counted
    start = time.process_time()
    pair = own.make(workload, choice).pair
    moved = pair.sensitivity_up(row.participation)
    seconds = time.process_time() - start
    return {"value": pair.mean_variance * moved**2, "seconds": seconds}


def bound(text: str, strategy: str) -> float | None:
    """Return what no strategy of this kind is below."""
    row = Row.of(text)
    own, ones = row.participation, np.ones(row.rounds)
    if strategy in ("toeplitz", "rational") and row.rounds <= MOST:
        return nonnegative_bound(ones, "mean", own)
    if strategy == "banded" and row.rounds <= MOST and own.separation > 1:
        choice = Choice(error="mean", participation=own)
        pair: Any = STRATEGIES["banded"].make(ln.Prefix(row.rounds), choice).pair
        return banded_bound(ones, pair.strategy, own.separation, "mean", own)
    if strategy == "optimal":
        made = STRATEGIES[strategy].make(
            ln.Prefix(row.rounds), Choice(error="mean", participation=own)
        )
        assert made.dual is not None
        evidence = StreamEvidence(made.dual, made.dual, row.rounds, made.patterns)
        return evidence.factor_norm(ln.Prefix(row.rounds), own, ORDERS["mean"], signed=True) ** 2
    return None


def in_process(command: list[str]) -> dict[str, Any]:
    """Run a program that prints JSON."""
    done = subprocess.run(
        command,
        env={**os.environ, **ONE_THREAD, "JAX_PLATFORMS": "cpu"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise SystemExit(f"{' '.join(command)}: {last}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def ours(text: str, strategy: str) -> Callable[[], dict[str, Any]]:
    command = [sys.executable, "-m", "benchmarks.participations", "--measure", text, strategy]
    return lambda: in_process(command)


def theirs(text: str, strategy: str, python: str) -> Callable[[], dict[str, Any]]:
    row = Row.of(text)
    asked = {"strategy": strategy, "n": row.rounds}
    asked |= {"k": row.participation.count, "b": row.participation.separation}
    program = str(Path(__file__).with_name("participations_peer.py"))
    return lambda: in_process([python, program, json.dumps(asked)])


def has(row: Row, strategy: str) -> bool:
    """Return whether the peer's strategy is for these patterns."""
    own = row.participation
    if strategy == "optimal":
        return own.pattern == "spaced" and row.rounds == own.count * own.separation
    return strategy in BESIDE and own.pattern == "separated" and row.rounds <= MOST


def cells(text: str, strategy: str, python: str | None) -> list[str]:
    """Return a line: value, bound, seconds, and the peer's value and seconds."""
    row = Row.of(text)
    if strategy == "optimal" and row.participation.pattern != "spaced" and row.rounds > LARGEST:
        return []
    mine, other = [ours(text, strategy)()], []
    first = mine[0]
    if first["value"] is None:
        return []
    beside = python is not None and has(row, strategy)
    for turn in range(RUNS if beside else 1):
        if turn:
            mine.append(ours(text, strategy)())
        if beside and python is not None:
            other.append(theirs(text, strategy, python)())
    low = bound(text, strategy)
    return [
        f"{first['value']:.8g}",
        "" if low is None else f"{low:.8g}",
        f"{statistics.median(run['seconds'] for run in mine):.2g}",
        f"{other[0]['value']:.8g}" if other else "",
        f"{statistics.median(run['seconds'] for run in other):.2g}" if other else "",
    ]


def lines(rows: list[str], python: str | None) -> list[list[str]]:
    """Return the table's lines, the row and the strategy first."""
    found = []
    for text in rows:
        row = Row.of(text)
        chosen = choose(ln.Prefix(row.rounds), "mean", row.participation)[0]
        for strategy in OURS:
            own = cells(text, strategy, python)
            if own:
                name = f"`{strategy}`" + (" (auto)" if strategy == chosen else "")
                found.append([row.title, name, *own])
                print(" | ".join(found[-1]), flush=True)
    return found


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("rows", nargs="*", default=list(ROWS))
    parser.add_argument("--peer", help="an interpreter that has jax-privacy")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(*given.measure)))
        return
    lines(given.rows, given.peer)


if __name__ == "__main__":
    main()
