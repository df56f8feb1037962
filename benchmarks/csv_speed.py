# SPDX-License-Identifier: Apache-2.0
"""CSV beside DuckDB's own reader: `python -m benchmarks.csv_speed [ROWS] [word …]`.

The exact totals of two means from a file of ROWS rows (3,000,000 by default), beside DuckDB's
average of the same columns by `read_csv`, in pairs: A B A B, in one process, with as many threads
as either takes. A figure is the median of the rounds' own ratios. Lines that are odd have no last
field, stray quotes or bytes that are no UTF-8 in turn; there DuckDB reads the same file without
them, as its reader refuses some or takes them for something else. Words choose the rows whose names
hold one of them. Last, Adult from its CSV to the noisy counts of all 21,043,262 cells.
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv

import lownoise as ln
from benchmarks.arguments import Arguments
from lownoise.engines.codings import Coding, TotalsQuery
from lownoise.engines.queries import totals_query

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS, TARGET, SECONDS = 7, 3.0, 1.0
ADULT = Path(__file__).parents[1] / "tests" / "data"
ODD = (b"1.5", b'1.5,2"5"', b'1.5,2,"x"y', b"1.5,2,\xff", b'"1.5"x,2')
ONE = np.ones(2)
QUERY = TotalsQuery(
    Coding(
        columns=("a", "b"),
        lower=-500 * ONE,
        upper=500 * ONE,
        center=0 * ONE,
        missing=0 * ONE,
        step=ONE * 2.0**-20,
    ),
    drops_missing=False,
)


def floats(rows: int) -> dict[str, object]:
    rng = np.random.default_rng(0)
    return {"a": rng.normal(size=rows) * 100, "b": rng.random(rows)}


def texts(rows: int) -> dict[str, object]:
    return floats(rows) | {"note": [f"{i % 997}, of 'it'" for i in range(rows)]}


def integers(rows: int) -> dict[str, object]:
    rng = np.random.default_rng(0)
    return {"a": rng.integers(-500, 500, rows), "b": rng.integers(0, 9, rows)}


def wide(rows: int) -> dict[str, object]:
    rng = np.random.default_rng(0)
    return floats(rows) | {f"c{i}": rng.integers(0, 10**6, rows) for i in range(18)}


def odd(share: int) -> Callable[[Path], Path]:
    """Return what makes every so manieth line of a file an odd one, in a copy beside it."""

    def made(path: Path) -> Path:
        lines = path.read_bytes().splitlines()
        for k, i in enumerate(range(share, len(lines), share)):
            lines[i] = ODD[k % len(ODD)]
        (path.parent / "odd.csv").write_bytes(b"\n".join(lines) + b"\n")
        return path.parent / "odd.csv"

    return made


def same(path: Path) -> Path:
    return path


def carriages(path: Path) -> Path:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    return path


def packed(path: Path) -> Path:
    """Compress the file, and leave no other to either reader."""
    found = path.with_name("t.csv.gz")
    found.write_bytes(gzip.compress(path.read_bytes(), 6))
    path.unlink()
    return found


CASES: dict[str, tuple[Callable[[int], dict[str, object]], Callable[[Path], Path]]] = {
    "floats": (floats, same),
    "integers": (integers, same),
    "floats and a quoted text": (texts, same),
    "20 columns, 2 of them asked": (wide, same),
    "lines that end in CR LF": (floats, carriages),
    "gzip": (floats, packed),
    "1% odd lines": (floats, odd(100)),
    "10% odd lines": (floats, odd(10)),
}


def taken(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def case(name: str, rows: int) -> None:
    table, change = CASES[name]
    with TemporaryDirectory() as folder:
        plain = Path(folder) / "t.csv"
        pa.csv.write_csv(pa.table(table(rows)), plain)
        path = change(plain)
        bare = plain if plain.exists() else path
        average = f"SELECT avg(a), avg(b) FROM read_csv('{bare}')"  # noqa: S608
        own, other = [], []
        for _ in range(ROUNDS + 1):  # the first is not counted
            own.append(taken(lambda: totals_query(QUERY).of(path)))
            other.append(taken(lambda: duckdb.connect().execute(average).fetchall()))
        size = path.stat().st_size / 1e6
    ratio = statistics.median(a / b for a, b in zip(own[1:], other[1:], strict=True))
    good = "PASS" if ratio <= TARGET else "FAIL"
    seconds = f"{statistics.median(own[1:]):8.2f} s{statistics.median(other[1:]):9.2f} s"
    print(f"{name:30}{size:7.0f} MB{seconds}{ratio:8.2f}   <= {TARGET:.0f}: {good}", flush=True)


def adult() -> None:
    """Print the seconds from the file to the counts of all cells, and of the reading alone."""
    from lownoise.engines.counts import records_query

    sizes = json.loads((ADULT / "adult-domain.json").read_text())
    question = ln.Marginals(sizes, way=3, outside=dict.fromkeys(sizes, 0))
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")

    def released() -> None:
        release = plan.release(ADULT / "adult.csv")
        assert sum(counts.size for _, counts in release.marginals()) == question.cells

    read = [
        taken(lambda: records_query(question.attributes).of(ADULT / "adult.csv")) for _ in range(5)
    ]
    released()  # not counted, as above: where llvmlite is installed kernels are made in it
    before = time.process_time()
    found = [taken(released) for _ in range(3)]
    busy = (time.process_time() - before) / len(found)
    whole, alone = statistics.median(found), statistics.median(read)
    good = "PASS" if whole <= SECONDS else "FAIL"
    print(f"Adult, CSV to {question.cells:,} noisy counts: {whole:.2f} s", end="")
    print(f"   <= {SECONDS:.0f} s: {good}, {busy:.2f} s of processors; reading takes {alone:.3f} s")


def main() -> None:
    words = Arguments(__doc__).words()
    rows = int(words.pop(0)) if words and words[0].isdigit() else 3_000_000
    print(f"{rows:,} rows, {os.cpu_count()} cores, medians of {ROUNDS} pairs")
    print(f"{'':30}{'size':>10}{'ours':>10}{'DuckDB':>11}{'ratio':>8}")
    for name in CASES:
        if not words or any(word in name for word in words):
            case(name, rows)
    if not words or "adult" in words:
        adult()


if __name__ == "__main__":
    main()
