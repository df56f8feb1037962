# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608
"""`python -m benchmarks.spark [ROWS [PART OF A NAME]]`: from a table on Spark to exact totals.

Both read the same Parquet files, in turn, several times; a figure is the median of the ratios of
pairs, of the time on the clock, and of that of processors (of this process and all that it began,
Java and Python), which others at work on the machine move less. Bare is Spark's own query for the
same columns, without clipping, quantising, or care for what is missing. A rate is rows a second and
core of all that a release reads. Last what handing rows to Python takes, and what Spark's own SQL
does for integers of moments: a floor and a sum each, and two sums, as many rows' do not fit one.
"""

from __future__ import annotations

import os
from itertools import combinations_with_replacement
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.arguments import Arguments
from benchmarks.tables import REALS, TARGET, in_turn, rows, table
from lownoise.engines import sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROWS = 5_000_000
FILES = 8
PAIRS = 3


def left(batches: Iterator[Any]) -> Iterator[Any]:
    """Take what Spark hands to Python, and do nothing with it."""
    yield pa.record_batch([pa.array([sum(batch.num_rows for batch in batches)])], names=["n"])


def processors_time() -> float:
    """Return the processors' seconds of this process and of all below it that are still there."""
    found: dict[int, tuple[int, int]] = {}
    for own in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = own.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it ended
            continue
        found[int(own.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    below, ticks = [os.getpid()], 0
    while below:
        own_id = below.pop()
        ticks += found[own_id][1]
        below += [other for other, (parent, _) in found.items() if parent == own_id]
    return ticks / os.sysconf("SC_CLK_TCK")


def moments(pieces: int) -> str:
    """Return a query that rounds 55 products and ten columns to integers, and sums their pieces."""
    each = [*REALS, *(f"{a} * {b}" for a, b in combinations_with_replacement(REALS, 2))]
    codes = [f"floor({own} * {2.0**35}D + 0.5D)" for own in each]
    if pieces == 1:
        return f"select {', '.join(f'sum({code})' for code in codes)} from held"
    sums = [f"sum({code} & 1048575L), sum(shiftright({code}, 20))" for code in codes]
    return f"select {', '.join(sums)} from held"


def main(count: int, only: str) -> None:
    """Print a row for each figure: ours, bare, the median of the ratios of pairs, and the rate."""
    cores = os.cpu_count() or 1
    settings = {
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.sql.codegen.maxFields": "200",
    }
    session = sessions.running(settings)
    print("| totals | ours, s | bare, s | ratio | of processors | target | | rows/s and core |")
    print("|---|---:|---:|---:|---:|---:|---|---:|")
    with TemporaryDirectory() as folder:
        held = table(count)
        for part in range(FILES):
            own = held.slice(part * count // FILES, count // FILES)
            pq.write_table(own, Path(folder) / f"{part}.parquet")
        frame = session.read.parquet(folder)
        frame.createOrReplaceTempView("held")
        every = rows("held")
        second = next(bare for label, _, bare in every if "moments" in label)
        least = [
            ("ten columns handed to Python, which leaves them", _handed, every[0][2]),
            *(
                (f"integers of 55 moments, {name} each", _asked(moments(many)), second)
                for many, name in ((1, "a sum"), (2, "two sums"))
            ),
        ]
        for label, ours, bare in [*every, *least]:
            if only not in label:
                continue
            a, b, *both = in_turn(
                lambda: ours(frame),  # noqa: B023 (run at once)
                lambda: session.sql(bare).collect(),  # noqa: B023
                PAIRS,
                processors_time,
            )
            verdict = "PASS" if both[0] <= TARGET else "FAIL"
            cells = (label, *(f"{own:.2f}" for own in (a, b, *both)), TARGET, verdict)
            print("| " + " | ".join(map(str, cells)) + f" | {count / a / cores:,.0f} |", flush=True)


def _handed(frame: Any) -> None:  # noqa: ANN401
    frame.select(*REALS).mapInArrow(left, "n bigint").collect()


def _asked(query: str) -> Callable[[Any], None]:
    return lambda frame: frame.sparkSession.sql(query).collect()


if __name__ == "__main__":
    taken = Arguments(__doc__)
    taken.add_argument("part", nargs="?", default="", help="of a row's name")
    main(taken.number("rows", ROWS), taken.parse_args().part)
