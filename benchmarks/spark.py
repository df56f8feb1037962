# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.spark [ROWS [PART OF A NAME]]`: from a table on Spark to exact totals.

Both read the same Parquet files, in turn, several times; a figure is the median of the ratios of
pairs. Bare is Spark's own query for the same columns, without clipping, quantising, or care for
what is missing. A rate is rows a second and core of all that a release reads.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.tables import REALS, TARGET, in_turn, rows, table
from lownoise.engines import sessions

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = 5_000_000
FILES = 8
PAIRS = 3


def left(batches: Iterator[Any]) -> Iterator[Any]:
    """Take what Spark hands to Python, and do nothing with it."""
    yield pa.record_batch([pa.array([sum(batch.num_rows for batch in batches)])], names=["n"])


def main(count: int, only: str) -> None:
    """Print a row for each figure: ours, bare, the median of the ratios of pairs, and the rate."""
    cores = os.cpu_count() or 1
    session = sessions.running({"spark.sql.shuffle.partitions": str(2 * cores)})
    print("| totals | ours, s | bare, s | ratio | target | | rows/s and core |")
    print("|---|---:|---:|---:|---:|---|---:|")
    with TemporaryDirectory() as folder:
        held = table(count)
        for part in range(FILES):
            own = held.slice(part * count // FILES, count // FILES)
            pq.write_table(own, Path(folder) / f"{part}.parquet")
        frame = session.read.parquet(folder)
        frame.createOrReplaceTempView("held")
        every = rows("held")
        least = ("ten columns handed to Python, which leaves them", _handed, every[0][2])
        for label, ours, bare in [*every, least]:
            if only not in label:
                continue
            a, b, ratio, _ = in_turn(
                lambda: ours(frame),  # noqa: B023 (run at once)
                lambda: session.sql(bare).collect(),  # noqa: B023
                PAIRS,
            )
            verdict = "PASS" if ratio <= TARGET else "FAIL"
            cells = (label, f"{a:.2f}", f"{b:.2f}", f"{ratio:.2f}", TARGET, verdict)
            print("| " + " | ".join(map(str, cells)) + f" | {count / a / cores:,.0f} |", flush=True)


def _handed(frame: Any) -> None:  # noqa: ANN401
    frame.select(*REALS).mapInArrow(left, "n bigint").collect()


if __name__ == "__main__":
    main(int(float((*sys.argv, str(ROWS))[1])), (*sys.argv, "", "")[2])
