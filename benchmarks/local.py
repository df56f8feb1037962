# SPDX-License-Identifier: Apache-2.0
"""How fast devices randomize and reports are counted: `python -m benchmarks.local`.

Each line prints a figure, its target, and PASS or FAIL. Times are wall time on whatever else the
machine does. The 10⁷ reports are those of 10⁶ simulated people ten times over, each time with
identifiers of their own, so that what is timed is reading, checking and counting them.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import lownoise as ln
from benchmarks.arguments import Arguments
from benchmarks.release import paired, seconds, verdict
from lownoise.local_model.report import Reports, fresh_identifiers
from lownoise.local_model.simulate import write
from lownoise.numbers.randomness import SystemRandomness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ADULT = Path(__file__).parents[1] / "tests" / "data" / "adult.csv"
COLUMNS = {  # of codes, and the greatest
    "age": 99,
    "workclass": 8,
    "education-num": 15,
    "marital-status": 6,
    "occupation": 14,
    "relationship": 5,
    "race": 4,
    "sex": 1,
    "hours-per-week": 99,
    "income>50K": 1,
}
PEOPLE = 10**6
TIMES = 10
RUNS = 3
EPSILON = 1.0


def adult() -> ln.Mean:
    """Return the question of the mean of ten columns."""
    upper = list(COLUMNS.values())
    return ln.Mean(list(COLUMNS), ln.Box([0] * len(upper), upper))


def people() -> pa.Table:
    """Return a million people: those of the Adult table, one after the other, again and again."""
    with ADULT.open() as file:
        names = file.readline().strip().split(",")
    rows = np.loadtxt(ADULT, delimiter=",", skiprows=1, dtype=np.int64)
    rows = rows[np.arange(PEOPLE) % len(rows)]
    return pa.table({name: rows[:, names.index(name)] for name in COLUMNS})


def randomize(dimension: int) -> bool:
    plan = ln.local(ln.Ball(dimension), ln.local_dp(EPSILON))
    record = np.full((1, dimension), 0.5 / dimension**0.5)
    plan.randomize_all(record)
    one = statistics.median(seconds(lambda: plan.randomize_all(record)) for _ in range(200))
    target = 1e-3 if dimension >= 1000 else None
    return verdict(
        f"one report, d={dimension}, {plan.mechanism}, {plan.report_bytes:,} bytes",
        f"{one * 1e3:.3f} ms",
        "< 1 ms" if target else "none: measured",
        good=target is None or one < target,
    )


def simulated(plan: ln.LocalPlan, table: pa.Table) -> tuple[list[Reports], bool]:
    found: list[Reports] = []
    took = seconds(lambda: found.extend(plan.simulate(table)))
    estimate = plan.tally()

    def add() -> None:
        for block in found:
            estimate.add(block)

    count = seconds(add)
    exact = np.array([table[name].to_numpy().mean() for name in COLUMNS])
    result = estimate.result()
    wrong = np.abs(result.estimate - exact) / result.standard_deviation
    covered = (result.interval()[:, 0] <= exact) & (exact <= result.interval()[:, 1])
    good = verdict(
        f"{PEOPLE:,} people of Adult, 10 columns, ε = {EPSILON:g}",
        f"randomized in {took:.1f} s, counted in {count:.1f} s",
        "none: measured",
        good=True,
    )
    for name, own, true in zip(COLUMNS, result.to_pandas().itertuples(), exact, strict=True):
        print(
            f"    {name:18} {own.estimate:9.4f} ± {own.standard_deviation:.4f}, in truth {true:.4f}"
        )
    largest = verdict(
        "largest error in standard deviations",
        f"{np.max(wrong):.2f}; {int(np.sum(covered))} of 10 intervals at 95% hold the truth",
        "< 5",
        good=bool(np.max(wrong) < 5),
    )
    return found, good and largest


def again(found: list[Reports]) -> Iterator[Reports]:
    """Yield the same values ten times, each with an identifier of its own."""
    randomness = SystemRandomness()
    for _ in range(TIMES):
        for block in found:
            identifiers = fresh_identifiers(len(block.values), randomness=randomness)
            yield Reports(block.formed, block.own, identifiers, block.values)


def counting(plan: ln.LocalPlan, path: Path, policies: dict[str, str]) -> tuple[float, float]:
    """Return the seconds that counting took, and those of all cores."""
    start = time.process_time()
    took = seconds(lambda: plan.aggregate(path, **policies))
    return took, time.process_time() - start


def counted(plan: ln.LocalPlan, found: list[Reports], folder: Path) -> bool:
    good, size = True, float(plan.report_bytes)
    for name in ("r.reports", "r.parquet"):
        path = folder / name
        count = write(plan, again(found), path)
        size = path.stat().st_size / count
        for policies in ({}, {"duplicates": "drop", "replays": "drop"}):
            took, cores = min(counting(plan, path, policies) for _ in range(RUNS))
            kept = plan.tally(**policies).kept
            what = "repeats dropped" if policies else "repeats refused"
            good &= verdict(
                f"{count:,} reports of d=10, {path.suffix[1:]}, {what}",
                f"{took:.1f} s, {cores:.1f} of CPU; {size:.0f} bytes a report, {kept} in memory",
                "< 10 s",
                good=took < 10,
            )
        path.unlink()
    return good


def start() -> bool:
    def launch(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    ours, bare, _ = paired(launch("import lownoise.device"), launch("import numpy"), seconds)
    return verdict(
        "import lownoise.device, beyond numpy's own",
        f"{ours - bare:.3f} s",
        "< 0.1 s",
        good=ours - bare < 0.1,
    )


def main() -> int:
    results = [start(), *(randomize(d) for d in (10, 100, 1000))]
    plan = ln.local(adult(), ln.local_dp(EPSILON))
    print(plan)
    with tempfile.TemporaryDirectory() as name:
        found, good = simulated(plan, people())
        results += [good, counted(plan, found, Path(name))]
    return 0 if all(results) else 1


if __name__ == "__main__":
    Arguments(__doc__).parse_args()
    sys.exit(main())
