# SPDX-License-Identifier: Apache-2.0
"""Two checkouts side by side: `python -m benchmarks.pairs PATH_A PATH_B [--rounds N] [word …]`.

Runs what a user does by public names, from each checkout in turn, A B A B, in a process of its own
with one thread, and prints for each row the medians of CPU and wall seconds and B over A. A ratio
is the median of the rounds' own, so that what else the machine does falls on both. Words choose
the rows whose names hold one of them; `--rounds` is 5 by default.

Within a process a row runs until half a second has passed, after one run that is not counted, and
the least time counts: what disturbs a run only ever makes it longer.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    Row = Callable[[Path], Callable[[], Any]]

ROOT = Path(__file__).parents[1]
ADULT = ROOT / "tests" / "data"
SECONDS, MOST = 0.5, 200  # of one row in one process
SLOWER = 1.05  # what is said to be slower
COLUMNS = [f"c{i}" for i in range(10)]
SIZE = 200_000


def theory(name: str) -> Callable[..., Any]:
    """Return a researcher's tool, wherever the checkout has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return cast("Callable[..., Any]", getattr(ln, name))


def enclosed(dimension: int, count: int) -> Row:
    def row(_: Path) -> Callable[[], Any]:
        points = ln.Points(np.random.default_rng(0).standard_normal((count, dimension)))
        solve = theory("enclose")
        return lambda: solve(points)

    return row


def prefix(size: int, order: float) -> Row:
    def row(_: Path) -> Callable[[], Any]:
        solve, ones = theory("factorize"), np.tril(np.ones((size, size)))
        return lambda: solve(ones, order=order)

    return row


def box(d: int, budget: str = "zcdp", **more: Any) -> Row:  # noqa: ANN401 (what `ln.plan` takes)
    """Plan the mean of a box."""

    def row(_: Path) -> Callable[[], Any]:
        names = [f"c{i}" for i in range(d)]
        spent = getattr(ln, budget)(0.5)

        def run() -> object:
            question = ln.Mean(names, ln.Box([0.0] * d, [1.0] * d))
            return ln.plan(question, budget=spent, relation="substitute", size=1000, **more)

        return run

    return row


def checked(folder: Path) -> Callable[[], Any]:
    plan = box(10)(folder)()
    text = plan.to_json()
    return lambda: ln.verify(text)


def marginals(sizes: dict[str, int] | str, order: float, relation: str, **more: Any) -> Row:  # noqa: ANN401 (what `ln.plan` takes)
    def row(_: Path) -> Callable[[], Any]:
        known = sizes
        if isinstance(known, str):
            known = json.loads((ADULT / known).read_text())
        asked: dict[str, Any] = {"way": 3, "outside": dict.fromkeys(known, 0), **more}
        size = 48_842 if relation == "substitute" else None
        chosen: dict[str, Any] = {
            "budget": ln.zcdp(0.5),
            "relation": relation,
            "size": size,
            "order": order,
        }
        return lambda: ln.plan(ln.Marginals(known, **asked), **chosen)

    return row


def adult(folder: Path) -> Callable[[], Any]:
    """Release every marginal of up to two attributes of the Adult table."""
    plan = marginals("adult-domain.json", 2.0, "add_remove", way=2)(folder)()
    return lambda: plan.release(ADULT / "adult.csv")


def means(kind: str) -> Row:
    """Release ten means of a table in a file."""

    def row(folder: Path) -> Callable[[], Any]:
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.parquet

        rng, path = np.random.default_rng(0), folder / f"table.{kind}"
        table = pa.table({name: rng.normal(size=SIZE) * 100 for name in COLUMNS})
        (pa.csv.write_csv if kind == "csv" else pa.parquet.write_table)(table, path)
        question = ln.Mean(COLUMNS, ln.Box([-500.0] * 10, [500.0] * 10))
        plan = ln.plan(question, budget=ln.zcdp(0.5), relation="substitute", size=SIZE)
        return lambda: plan.release(path)

    return row


def few(budget: str, count: int, **more: Any) -> Row:  # noqa: ANN401 (what `ln.plan` takes)
    """Release the means of a table of three rows in memory, under pure or Gaussian noise."""

    def row(_: Path) -> Callable[[], Any]:
        import pyarrow as pa

        names = [f"c{i}" for i in range(count)]
        question = ln.Mean(names, ln.Box([0.0] * count, [1.0] * count))
        spent = getattr(ln, budget)(0.5)
        plan = ln.plan(question, budget=spent, relation="substitute", size=3, **more)
        table = pa.table({name: [0.0, 0.5, 1.0] for name in names})
        return lambda: plan.release(table)

    return row


def queries(d: int, kinds: int, **more: Any) -> Row:  # noqa: ANN401 (what `ln.plan` takes)
    """Plan queries of random signs under a pure budget."""

    def row(_: Path) -> Callable[[], Any]:
        matrix = np.random.default_rng(d).choice([-1.0, 1.0], size=(d, kinds))
        question = ln.Queries(matrix, {"x": kinds})
        return lambda: ln.plan(
            question, budget=ln.pure_dp(1.0), relation="add_remove", size=None, **more
        )

    return row


def begun(rounds: int, strategy: str) -> Row:
    def row(_: Path) -> Callable[[], Any]:
        return lambda: ln.stream(ln.Prefix(rounds), budget=ln.zcdp(0.5), strategy=strategy)

    return row


def updated(strategy: str, count: int, *, at_once: bool) -> Row:
    """Answer rounds of a stream of ten million, all at once or one by one."""

    def row(_: Path) -> Callable[[], Any]:
        running = ln.stream(ln.Prefix(10**7), budget=ln.zcdp(0.5), strategy=strategy)
        ones = np.ones(count)
        if at_once:
            return lambda: running.update_many(ones)
        return lambda: [running.update(1) for _ in range(count)]

    return row


TEN = {f"x{i}": 10 for i in range(10)}
FIFTY = {f"x{i}": 10 for i in range(50)}
AGES = {"age": 24, "income": 24}
ROWS: dict[str, Row] = {
    "solver: d=20, N=500": enclosed(20, 500),
    "solver: d=50, N=1000": enclosed(50, 1000),
    "solver: d=20, N=30,000": enclosed(20, 30_000),
    "solver: prefix 256, p=2": prefix(256, 2.0),
    "solver: prefix 256, p=inf": prefix(256, math.inf),
    "plan: box of 2, zCDP": box(2),
    "plan: box of 100, zCDP": box(100),
    "plan: box of 2, Laplace named": box(2, "pure_dp", mechanism="laplace"),
    "plan: box of 2, K-norm named": box(2, "pure_dp", mechanism="k_norm"),
    "plan: verify": checked,
    "marginals: 10^10, p=2": marginals(TEN, 2.0, "add_remove"),
    "marginals: 10^10, p=inf, substitute": marginals(TEN, math.inf, "substitute"),
    "marginals: 10^50, p=2": marginals(FIFTY, 2.0, "add_remove"),
    "marginals: Adult, p=2": marginals("adult-domain.json", 2.0, "add_remove"),
    "marginals: Adult, p=inf": marginals("adult-domain.json", math.inf, "add_remove"),
    "marginals: 24 x 24 ordered": marginals(
        AGES, 2.0, "add_remove", way=2, ordered=dict.fromkeys(AGES, "prefix")
    ),
    "marginals: release of Adult": adult,
    "streams: begin square_root 10^6": begun(10**6, "square_root"),
    "streams: begin toeplitz 10^4": begun(10**4, "toeplitz"),
    "streams: begin rational 10^8": begun(10**8, "rational"),
    "streams: rational, 10^4 at once": updated("rational", 10**4, at_once=True),
    "streams: rational, 1,000 one by one": updated("rational", 1000, at_once=False),
    "streams: tree, 1,000 one by one": updated("binary_tree", 1000, at_once=False),
    "release: Parquet, 2*10^5 x 10": means("parquet"),
    "release: CSV, 2*10^5 x 10": means("csv"),
    "release: 3 rows, Gaussian": few("zcdp", 2),
    "release: 3 rows, 2,000 answers": few("zcdp", 2000),
    "pure: queries 8 x 64": queries(8, 64),
    "pure: queries 8 x 64, Laplace named": queries(8, 64, mechanism="laplace"),
    "pure: box of 64": box(64, "pure_dp"),
    "pure: release, Laplace": few("pure_dp", 64, mechanism="laplace"),
    "pure: release, K-norm": few("pure_dp", 64, mechanism="k_norm"),
    "start: import lownoise": lambda _: lambda: launched("import lownoise"),
    "start: first plan": lambda _: (
        lambda: launched(
            "import lownoise as ln; ln.plan(ln.Mean(['a'], ln.Box([0], [1])), budget=ln.zcdp(1),"
            "relation='substitute', size=9)"
        )
    ),
    "start: lownoise --help": lambda _: (
        lambda: launched(
            "import sys; sys.argv[1:] = ['--help']; from lownoise.cli import main; main()"
        )
    ),
}


def launched(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def cpu() -> float:
    """Return the CPU seconds of this process and of those that it has waited for."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


def timed(name: str) -> dict[str, float]:
    """Run a row in this process, which is one of its own."""
    clocks = {"cpu": cpu, "wall": time.perf_counter}
    with tempfile.TemporaryDirectory() as folder:
        run = ROWS[name](Path(folder))
        run()
        found: list[dict[str, float]] = []
        begin = time.perf_counter()
        while not found or (time.perf_counter() < begin + SECONDS and len(found) < MOST):
            at = {kind: clock() for kind, clock in clocks.items()}
            run()
            found.append({kind: clock() - at[kind] for kind, clock in clocks.items()})
    return {kind: min(each[kind] for each in found) for kind in clocks}


def apart(name: str, checkout: Path) -> dict[str, float]:
    """Run a row in its own process, with a checkout's source."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.pairs", "--row", name],
        env={
            **os.environ,
            "PYTHONPATH": str(checkout / "src"),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        },
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{name} with {checkout}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def compared(name: str, checkouts: list[Path], rounds: int) -> dict[str, float]:
    """Return medians of a row in both checkouts, and of the rounds' ratios."""
    pairs = [[apart(name, checkout) for checkout in checkouts] for _ in range(rounds)]
    found = {}
    for kind in ("cpu", "wall"):
        for side, label in enumerate("AB"):
            found[f"{kind} {label}"] = statistics.median(pair[side][kind] for pair in pairs)
        ratios = [b[kind] / max(a[kind], 1e-9) for a, b in pairs]
        found[kind] = statistics.median(ratios)
    return found


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--row"]:
        print(json.dumps(timed(arguments[1])))
        return 0
    parser = Arguments(__doc__)
    parser.add_argument("checkouts", nargs=2, type=Path, metavar="PATH")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_intermixed_args(arguments)
    checkouts = [path.resolve() for path in asked.checkouts]
    names = [n for n in ROWS if not asked.words or any(word in n for word in asked.words)]
    print(f"{'milliseconds':38}{'CPU A':>10}{'B':>10}{'B/A':>7}{'wall A':>10}{'B':>10}{'B/A':>7}")
    slower = []
    for name in names:
        found = compared(name, checkouts, asked.rounds)
        cells = "".join(
            f"{1000 * found[f'{kind} A']:10.2f}{1000 * found[f'{kind} B']:10.2f}{found[kind]:7.2f}"
            for kind in ("cpu", "wall")
        )
        print(f"{name:38}{cells}", flush=True)
        slower += [name] if found["cpu"] > SLOWER else []
    print(f"slower by more than {SLOWER - 1:.0%}: {'; '.join(slower) or 'none'}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
