# SPDX-License-Identifier: Apache-2.0
"""What a device takes: `python -m benchmarks.device`. Imports, one report, and reading many."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.arguments import Arguments
from lownoise.errors import PlanError
from lownoise.local_model import ENCODERS, FULL, RANDOMIZERS
from lownoise.local_model.report import ReportFormat, fresh_identifiers
from lownoise.numbers.randomness import SystemRandomness

if TYPE_CHECKING:
    from lownoise.local_model import AbstractRandomizer

SIZES = (2, 10, 100, 1000)
TIMES = 200
MANY = 1_000_000
IMPORT = (
    "import sys, time; import numpy; before = time.perf_counter(); import lownoise.device; "
    "print(time.perf_counter() - before, 'flint' in sys.modules)"
)


def import_times(count: int = 9) -> list[float]:
    """Seconds that the device's module takes beyond numpy, each in a process of its own."""
    command = [sys.executable, "-c", IMPORT]
    found = []
    for _ in range(count):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, heavy = done.stdout.split()
        assert heavy == "False"
        found.append(float(seconds))
    return sorted(found)


def report_seconds(own: AbstractRandomizer) -> float:
    """Seconds of one report, its identifier and its bytes; the median of many."""
    form = ReportFormat.of("00" * 32, own)
    label = own.takes == "label"
    encoded = np.zeros((1, 1 if label else own.dimension), np.int64)
    if not label:
        encoded[0, 0] = FULL
    found = []
    for _ in range(TIMES):
        start = time.perf_counter()
        randomness = SystemRandomness()
        values = own.reports(encoded, randomness=randomness)[0]
        form.to_bytes(form.fresh(values, randomness=randomness))
        found.append(time.perf_counter() - start)
    return sorted(found)[TIMES // 2]


def reading_seconds(columns: int = 10, width: int = 9) -> tuple[float, int]:
    """Seconds in which ten million reports' bytes become integers, and bytes a report."""
    low = np.full(columns, -(2 ** (width - 1)))
    form = ReportFormat("00" * 8, low, -low - 1)
    values = np.random.default_rng(1).integers(low, -low, (MANY, columns))
    content = form.pack(fresh_identifiers(MANY, randomness=SystemRandomness()), values)
    start = time.perf_counter()
    for _ in range(10):
        found = form.unpack(content)
    seconds = time.perf_counter() - start
    assert np.array_equal(found.values, values)
    return seconds, form.size


def main() -> None:
    times = import_times()
    print(f"import lownoise.device beyond numpy: {1e3 * times[len(times) // 2]:.0f} ms (median)")
    print(f"kinds: {', '.join(RANDOMIZERS.names)}; {', '.join(ENCODERS.names)}")
    print(f"one report, its identifier and bytes at ε = 1, the median of {TIMES}, and its size:")
    for name in RANDOMIZERS.names:
        cells = []
        for dimension in SIZES:
            try:
                own = RANDOMIZERS[name].of.fitted(dimension, 1.0, 1e-6)
            except PlanError:
                cells.append(f"d={dimension} —")
                continue
            size = ReportFormat.of("00" * 32, own).size
            cells.append(f"d={dimension} {1e3 * report_seconds(own):.3f} ms, {size} bytes")
        print(f"  {name:12s} {'; '.join(cells)}")
    seconds, size = reading_seconds()
    print(f"reading 10 million reports of 10 integers, {size} bytes each: {seconds:.2f} s")


if __name__ == "__main__":
    Arguments(__doc__).parse_args()
    main()
