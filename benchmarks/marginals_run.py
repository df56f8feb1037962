# SPDX-License-Identifier: Apache-2.0
"""One release of marginals in a process of its own, on one core: prints its figures as JSON.

`python -m benchmarks.marginals_run adult`, `adult-phases` or `wide`; `benchmarks.marginals` runs
them. Memory is the process's own peak; where integers lie in a mapped file, its pages in memory
count as well.
"""

from __future__ import annotations

import json
import os
import resource
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments
from benchmarks.marginals import ADULT, adult, even
from lownoise.engines.counts import records_query
from lownoise.numbers.randomness import SystemRandomness

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = 1_000
READ_BACK = 10_000


class Phases:
    """Seconds of wall clock and of CPU of each phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, tuple[float, float]] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.seconds[name] = (time.perf_counter() - wall, time.process_time() - cpu)

    def print(self, **others: float) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        found = {"seconds": self.seconds, "peak": peak, "mapped": _mapped(), **others}
        print(json.dumps(found))


def _mapped() -> int:
    """Return how many bytes of mapped files are in this process's memory: 0 where unknown."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    kept = [line.split()[1] for line in lines if line.startswith("RssFile:")]
    return int(kept[0]) * 1024 if kept else 0


def whole_adult() -> None:
    """From the CSV to all answers, as a user would."""
    run = Phases()
    with run.phase("plan"):
        plan = ln.plan(adult(), budget=ln.zcdp(0.5), relation="add_remove")
    with run.phase("release"):
        release = plan.release(ADULT)
    with run.phase("all marginals"):
        cells = sum(counts.size for _, counts in release.marginals())
    run.print(cells=cells)


def adult_phases() -> None:
    """The same work taken apart."""
    run = Phases()
    plan = ln.plan(adult(), budget=ln.zcdp(0.5), relation="add_remove")
    mechanism = plan.terms.mechanism
    with run.phase("reading"):
        records = records_query(plan.terms.question.attributes).of(ADULT)
    with run.phase("counting"):
        for space in mechanism.totals.layout.spaces:
            for chosen in space.sets:
                records.marginal(chosen)
    with run.phase("counting and exact noise"):
        for _ in mechanism.pieces(records, randomness=SystemRandomness()):
            pass
    run.print(integers=mechanism.length)


def wide() -> None:
    """10^100: a release streamed to a folder, and marginals read back from it."""
    import pyarrow as pa
    import pyarrow.csv

    run = Phases()
    question = even(100)
    values = np.random.default_rng(0).integers(0, 10, (100, ROWS))
    names = [a.name for a in question.attributes]
    with tempfile.TemporaryDirectory() as name:
        table, folder = Path(name) / "table.csv", Path(name) / "release"
        pyarrow.csv.write_csv(pa.table(dict(zip(names, values, strict=True))), table)
        with run.phase("plan"):
            plan = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
        with run.phase("release to a folder"):
            plan.release(table, path=folder)
        size = sum(file.stat().st_size for file in folder.iterdir())
        with run.phase("opening the folder"):
            release = ln.Release.load(folder)
        places = np.random.default_rng(1).integers(100, size=(2 * READ_BACK, 3)).tolist()
        chosen = [[names[i] for i in set(p)] for p in places if len(set(p)) == 3]
        with run.phase(f"{READ_BACK:,} marginals by name"):
            cells = sum(release.marginal(*c).size for c in chosen[:READ_BACK])
        with run.phase("all marginals, one after another"):
            cells += sum(counts.size for _, counts in release.marginals())
    run.print(cells=cells, folder=size)


if __name__ == "__main__":
    runs = {"adult": whole_adult, "adult-phases": adult_phases, "wide": wide}
    names = Arguments(__doc__).words(*runs)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for name in names:
        runs[name]()
