# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.large [ROWS] [--engine spark]`: many rows of ten columns, released once.

Writes a Parquet file of ROWS rows (one hundred million without it: 8 GB, of the disk), releases the
means of its columns, and prints the seconds and the most memory that the process held, beside those
of the bare averages. Spark's memory is its own and not counted.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import lownoise as ln
from benchmarks.arguments import Arguments

ROWS = 100_000_000
GROUP = 1_000_000
COLUMNS = [f"x{i}" for i in range(10)]
GIB = 2**20  # of kilobytes


def written(path: Path, rows: int) -> None:
    """Write rows of normal numbers, a million at a time."""
    rng = np.random.default_rng(1)
    schema = pa.schema([(name, pa.float64()) for name in COLUMNS])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as file:
        for start in range(0, rows, GROUP):
            own = rng.normal(size=(len(COLUMNS), min(GROUP, rows - start)))
            file.write_table(pa.table(dict(zip(COLUMNS, own, strict=True)), schema=schema))


def released(path: str, engine: str) -> None:
    """Release the means once, and print what it took."""
    plan = ln.plan(
        ln.Mean(COLUMNS, ln.Box([-4.0] * 10, [4.0] * 10)),
        budget=ln.zcdp(0.5),
        relation="add_remove",
    )
    table = ln.Table(path, engine=engine) if engine != "duckdb" else path
    before = time.perf_counter()
    release = plan.release(table)
    seconds = time.perf_counter() - before
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GIB
    off = float(np.abs(release.mean).max())
    print(f"{engine}: {seconds:.1f} s, {memory:.2f} GiB, means within {off:.1e} of 0")


def bare(path: str) -> None:
    """Take the averages alone, and print the same."""
    before = time.perf_counter()
    query = ", ".join(f"avg({name})" for name in COLUMNS)
    duckdb.sql(f"SELECT {query} FROM read_parquet('{path}')").fetchall()  # noqa: S608
    seconds = time.perf_counter() - before
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GIB
    print(f"bare averages by DuckDB: {seconds:.1f} s, {memory:.2f} GiB")


def main(rows: int, engine: str) -> None:
    """Write the table, and take each in a process of its own, twice: the second finds it read."""
    with TemporaryDirectory(dir=".") as folder:
        path = Path(folder) / "rows.parquet"
        written(path, rows)
        print(f"{rows:,} rows of {len(COLUMNS)} columns, {path.stat().st_size / 2**30:.1f} GiB")
        for _ in range(2):
            for what in ("bare", engine):
                run = [sys.executable, "-m", "benchmarks.large", "--of", str(path), what]
                subprocess.run(run, check=True)


if __name__ == "__main__":
    taken = Arguments(__doc__)
    taken.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb")
    taken.add_argument("--of", nargs=2, help=argparse.SUPPRESS)
    rows = taken.number("rows", ROWS)
    given = taken.parse_args()
    if given.of:
        own, what = given.of
        bare(own) if what == "bare" else released(own, what)
    else:
        main(rows, given.engine)
