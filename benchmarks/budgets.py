# SPDX-License-Identifier: Apache-2.0
"""Which noise is least under which budget: `python -m benchmarks.budgets`.

Every question is asked of d columns under every ε and δ; each mechanism's ‖standard deviations‖₂ is
printed over the lower bound that the best of them is bound by. `--quick` takes few columns at
ε = 1; `--asked`, `--columns`, `--epsilon` and `--delta` choose rows; `--rows FILE` keeps every row
as soon as it is there, and goes on where it was stopped; `--peer PYTHON` names an interpreter that
has opendp and diffprivlib: what they add to means of [0, 1] stands beside ours.

One cell of docs/budgets.md is one row; those of categories at ε = 8 are

    python -m benchmarks.budgets --asked categories --columns 16 128 --epsilon 8
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from lownoise.planning import Plan
    from lownoise.privacy import ApproxDP, PureDP
    from lownoise.sets.domains import AbstractDomain

SIZES = (1, 2, 4, 8, 16, 32, 48, 64, 128, 200)
EPSILONS = (0.1, 0.5, 1.0, 2.0, 8.0)
DELTAS = (0.0, 1e-9, 1e-6)
QUICK = (1, 4, 16, 64)
QUESTIONS: dict[str, Callable[[int], AbstractDomain]] = {
    "means of [0, 1]": lambda d: ln.Box(np.zeros(d), np.ones(d)),
    "a vector of length 1": ln.Ball,
    "one of d + 1 categories": lambda d: ln.Points(np.eye(d + 1)),
}
PEERS = ("opendp_laplace", "opendp_gaussian", "diffprivlib")
PROGRAM = Path(__file__).with_name("budgets_peer.py")
HEAD = ("asked", "d", "ε", "δ", "least", "its error", "over the bound", "others over the bound")


@dataclass(frozen=True)
class Row:
    """A question under a budget.

    Args:
        asked: what is asked.
        d: how many columns, or categories but one.
        epsilon: ε.
        delta: δ, 0 where the budget is pure.
        bound: what binds the best mechanism; 0 where nothing is proved.
        errors: each mechanism's error, the least first, in the unit of one record (n = 1).
        seconds: of one core, that planning took; of the page's tables none.
    """

    asked: str
    d: int
    epsilon: float
    delta: float
    bound: float
    errors: dict[str, float]
    seconds: float = 0.0

    def cells(self) -> list[str]:
        """Return the row of the table."""
        best, *others = self.errors
        over = {name: self._over(error) for name, error in self.errors.items()}
        beside = ", ".join(f"{name} {over[name]}" for name in others)
        delta = f"{self.delta:g}".replace("e-0", "e-")
        head = [self.asked, str(self.d), f"{self.epsilon:g}", delta]
        return [*head, best, f"{self.errors[best]:.4g}", over[best], beside]

    def _over(self, error: float) -> str:
        return f"{error / self.bound:.3g}" if self.bound > 0 else f"{error:.3g} (no bound)"


def budget_of(epsilon: float, delta: float) -> ApproxDP | PureDP:
    return ln.approx_dp(epsilon, delta) if delta else ln.pure_dp(epsilon)


def planned(asked: str, d: int, epsilon: float, delta: float) -> Plan:
    domain = QUESTIONS[asked](d)
    names = [f"x{i}" for i in range(domain.dimension)]
    budget = budget_of(epsilon, delta)
    return ln.plan(ln.Mean(names, domain), budget=budget, relation="substitute", size=1)


def row_of(asked: str, d: int, epsilon: float, delta: float) -> Row:
    start = time.process_time()
    plan = planned(asked, d, epsilon, delta)
    errors = {own.mechanism: own.error for own in plan.comparison if own.error is not None}
    bound = plan.lower_bound
    return Row(asked, d, epsilon, delta, bound, errors, time.process_time() - start)


def peers_of(rows: list[Row], python: str) -> Iterator[Row]:
    """Yield the rows of means with what the other libraries add."""
    asked = json.dumps([[row.d, row.epsilon, row.delta] for row in rows])
    command = [python, str(PROGRAM), asked]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for row, own in zip(rows, json.loads(done.stdout), strict=True):
        more = {name.replace("_", " "): own[name] for name in PEERS if own[name] is not None}
        yield Row(row.asked, row.d, row.epsilon, row.delta, row.bound, {**row.errors, **more})


@dataclass(frozen=True)
class Chosen:
    """Which rows: every question that is named, of so many columns, under every budget."""

    asked: tuple[str, ...] = tuple(QUESTIONS)
    sizes: tuple[int, ...] = SIZES
    epsilons: tuple[float, ...] = EPSILONS
    deltas: tuple[float, ...] = DELTAS


def rows_of(chosen: Chosen, kept: Path | None = None) -> Iterator[Row]:
    """Yield the chosen rows; `kept` has those that need not be made again.

    Args:
        chosen: which.
        kept: a file of rows, a JSON object a line, which is added to.
    """
    known = {}
    if kept is not None and kept.exists():
        for line in kept.read_text(encoding="utf-8").splitlines():
            row = Row(**json.loads(line))
            known[row.asked, row.d, row.epsilon, row.delta] = row
    for own in product(chosen.asked, chosen.sizes, chosen.epsilons, chosen.deltas):
        if own not in known and kept is not None:
            known[own] = row_of(*own)
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(known[own]), ensure_ascii=False) + "\n")
        yield known[own] if own in known else row_of(*own)


def chosen_by(given: argparse.Namespace) -> Chosen:
    """Return the rows that a command line asks for.

    Raises:
        SystemExit: where no question has a word that was given.
    """
    words = given.asked or [""]
    asked = tuple(name for name in QUESTIONS if any(word in name for word in words))
    if not asked:
        raise SystemExit(f"--asked {' '.join(words)} names none of {', '.join(QUESTIONS)}")
    return Chosen(
        asked=asked,
        sizes=tuple(given.columns or (QUICK if given.quick else SIZES)),
        epsilons=tuple(given.epsilon or ((1.0,) if given.quick else EPSILONS)),
        deltas=tuple(given.delta or DELTAS),
    )


def parser_of() -> Arguments:
    parser = Arguments(__doc__)
    parser.add_argument("--peer", metavar="PYTHON", help="an interpreter with opendp, diffprivlib")
    parser.add_argument("--quick", action="store_true", help="few columns, ε = 1")
    parser.add_argument("--rows", metavar="FILE", type=Path, help="where rows are kept")
    parser.add_argument("--asked", metavar="WORD", nargs="+", help="questions that have a word")
    parser.add_argument("--columns", metavar="D", nargs="+", type=int, help="how many columns")
    for name in ("--epsilon", "--delta"):
        parser.add_argument(name, metavar="X", nargs="+", type=float, help="of the budgets")
    return parser


def main() -> int:
    given = parser_of().parse_args()
    chosen, rows = chosen_by(given), []
    print(" | ".join(HEAD))
    for row in rows_of(chosen, given.rows):
        rows.append(row)
        print(" | ".join(row.cells()), flush=True)
    if given.peer:
        means = [row for row in rows if row.asked == next(iter(QUESTIONS))]
        for row in peers_of(means, given.peer):
            print(" | ".join(row.cells()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
