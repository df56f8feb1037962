# SPDX-License-Identifier: Apache-2.0
"""How fast noise is drawn and tables are released: `python -m benchmarks.release`.

Each line prints a figure, its target, and PASS or FAIL. Times are medians of several runs in one
process, after one that is not counted; comparisons are made in turn, A B A B.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments
from lownoise.numbers.randomness import SystemRandomness
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors import DiagonalShape

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 5
ROWS = 5_000_000
COLUMNS = [f"c{i}" for i in range(10)]


def cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def paired(
    a: Callable[[], object], b: Callable[[], object], clock: Callable[[Callable[[], object]], float]
) -> list[float]:
    clock(a), clock(b)
    pairs = [(clock(a), clock(b)) for _ in range(RUNS)]
    return [statistics.median(p) for p in zip(*pairs, strict=True)] + [
        statistics.median(x / y for x, y in pairs)
    ]


def verdict(name: str, figure: str, target: str, *, good: bool) -> bool:
    print(f"{name:46} {figure:44} target {target:22} {'PASS' if good else 'FAIL'}", flush=True)
    return good


def noise() -> bool:
    count = 3_000_000
    shape = DiagonalShape(np.full(count, 1.3 * 2.0**32))
    randomness = SystemRandomness()
    rounded_gaussian(shape, randomness=randomness)
    rates = [
        count / cpu_seconds(lambda: rounded_gaussian(shape, randomness=randomness))
        for _ in range(RUNS)
    ]
    rate = statistics.median(rates)
    peer = opendp_rate()
    beside = f", opendp {peer / 1e6:.3f} million" if peer else ", opendp not installed"
    return verdict(
        "exact noise, one core",
        f"{rate / 1e6:.1f} million values a second{beside}",
        ">= 3 million",
        good=rate >= 3e6,
    )


def opendp_rate() -> float | None:
    """Values a second of opendp's vector Gaussian, where whoever runs this installed it."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    gaussian = dp.m.make_gaussian(*space, scale=1.3 * 2.0**32)
    zeros = [0] * 50_000
    gaussian(zeros)
    return statistics.median(len(zeros) / cpu_seconds(lambda: gaussian(zeros)) for _ in range(3))


def tables(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    for kind in ("int64", "float64"):
        values = {c: (rng.normal(size=ROWS) * 100).astype(kind) for c in COLUMNS}
        pq.write_table(pa.table(values), folder / f"{kind}.parquet")


def release(path: Path, target: float | None) -> bool:
    import duckdb

    plan = ln.plan(
        ln.Mean(COLUMNS, ln.Box([-500] * 10, [500] * 10)),
        budget=ln.approx_dp(1, 1e-6),
        relation="substitute",
        size=ROWS,
    )
    ledger = ln.Ledger.create(path.with_suffix(".ledger"), "b", ln.zcdp(1e6))
    sums = ", ".join(f"sum({c})" for c in COLUMNS)
    bare = f"SELECT {sums} FROM read_parquet('{path}')"  # noqa: S608
    ours, theirs, ratio = paired(
        lambda: plan.release(path, ledger),
        lambda: duckdb.connect().sql(bare).fetchall(),
        seconds,
    )
    return verdict(
        f"release of {ROWS:,} × 10 {path.stem} Parquet",
        f"{ours:.2f} s, bare DuckDB sums {theirs:.2f} s, ratio {ratio:.2f}",
        f"ratio <= {target}" if target else "none: measured",
        good=target is None or ratio <= target,
    )


def text(folder: Path) -> bool:
    import pyarrow as pa
    import pyarrow.csv

    rows = 500_000
    rng = np.random.default_rng(1)
    path = folder / "t.csv"
    pyarrow.csv.write_csv(pa.table({c: rng.normal(size=rows) * 100 for c in COLUMNS}), path)
    question = ln.Mean(COLUMNS, ln.Box([-500] * 10, [500] * 10))
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="substitute", size=rows)
    plan.release(path)
    took = statistics.median(seconds(lambda: plan.release(path)) for _ in range(3))
    rate = rows / took / 1e6
    return verdict(
        f"release of {rows:,} × 10 CSV",
        f"{rate:.2f} million rows a second",
        "none: measured",
        good=True,
    )


def memory(path: Path) -> bool:
    code = (
        "import sys, lownoise as ln;"
        f"p = ln.plan(ln.Mean({COLUMNS!r}, ln.Box([-500] * 10, [500] * 10)),"
        f"budget=ln.zcdp(0.5), relation='substitute', size={ROWS});"
        "p.release(sys.argv[1])"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    return verdict("peak memory of that release", f"{peak:.2f} GiB", "< 2 GiB", good=peak < 2)


def start() -> bool:
    def launch(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    ours, bare, _ = paired(launch("import lownoise"), launch(""), seconds)
    cost = ours - bare
    light = verdict(
        "import lownoise, beyond Python's own start",
        f"{cost:.3f} s",
        "< 0.3 s",
        good=cost < 0.3,
    )
    command = [sys.executable, "-m", "lownoise.cli", "--help"]

    def ask_for_help() -> None:
        subprocess.run(command, check=True, capture_output=True)

    ask_for_help()
    took = statistics.median(seconds(ask_for_help) for _ in range(RUNS))
    quick = verdict("lownoise --help", f"{took:.2f} s", "< 0.4 s", good=took < 0.4)
    return light and quick


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables(folder)
        results = [
            noise(),
            release(folder / "int64.parquet", 1.5),
            release(folder / "float64.parquet", None),
            text(folder),
            memory(folder / "float64.parquet"),
            start(),
        ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    Arguments(__doc__).parse_args()
    sys.exit(main())
