# SPDX-License-Identifier: Apache-2.0
"""What a number of noise takes, by its parts: `python -m benchmarks.drawing [word …]`.

Nanoseconds of processor time of one thread for a number: the system's bytes, many words of one key,
normal numbers with their bounds, differences, roundings, what integers of tables become counts by,
and whole draws. With and without `lownoise[fast]`, in turn, of pieces of 2^16 numbers and of 10^6,
least of 7. Words choose the rows whose names hold one of them. Other work on the machine makes all
of them longer, those of many numbers most, as it takes the cache: ratios are what to read.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.arguments import Arguments
from lownoise.numbers import normals as normal_numbers
from lownoise.numbers import randomness
from lownoise.numbers.machine import Loader
from lownoise.numbers.normals import normals, settle
from lownoise.numbers.randomness import SystemRandomness, drawn_into
from lownoise.samplers import rounded_gaussian
from lownoise.samplers.laplace import rounded_laplace, two_sided_geometric
from lownoise.sensitivity.factors import DiagonalShape, tables
from lownoise.sensitivity.factors.tables import DifferenceFactor, centered, differences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 7
SECONDS = 0.02  # of a figure's round at least
SCALE = 1.37 * 2.0**19  # grid steps, as plans have: of more, more is left to ball arithmetic
SHAPES = ((16, 64, 64), (100, 100, 100))
gaussian = sys.modules["lownoise.samplers.gaussian"]
PLACES = ((normal_numbers, "LOADER"), (gaussian, "LOADER"), (tables, "LOADER"))
CIPHER = (randomness, "_keystreams")
SYSTEM = SystemRandomness()


def parts(shape: tuple[int, ...]) -> dict[str, Callable[[], Any]]:
    """Return what is timed of a table, each with room that is there already where it needs some."""
    count = int(np.prod(shape))
    words, room = SYSTEM.words(count).copy(), np.empty(count, dtype=np.uint64)
    z, bound = normals(words)
    settle(words, z, bound)
    numbers = (np.empty(count), np.empty(count))
    factor = DifferenceFactor(scale=SCALE, sizes=shape, copies=1)
    diagonal = DiagonalShape(np.full(count, SCALE))
    table, value, doubt = z.reshape(1, *shape), factor.apply(z), factor.apply_abs(bound)
    codes = np.random.default_rng(0).integers(0, 999, count)
    shared = np.zeros((1, *shape[1:]))
    few, wide = np.full(1 << 12, SCALE), np.full(1 << 12, 8.0)

    def looked_at() -> None:
        settle(words, z, bound)
        factor.apply_abs(bound)

    def rounded() -> None:
        gaussian._roundings(value.copy(), doubt)  # noqa: SLF001 (a part of what is drawn)

    return {
        "the system's words": lambda: os.urandom(8 * count),
        "words": lambda: drawn_into(room, SYSTEM),
        "normal numbers and their bounds": lambda: normals(words, 2.0**-50, numbers),
        "bounds looked at": looked_at,
        "differences along three axes": lambda: differences(table, 1),
        "the same of integers": lambda: differences(codes.reshape(1, *shape), 1),
        "centred along an axis": lambda: centered(table, 1, shared),
        "roundings, and a copy": rounded,
        "noise of a table, whole": lambda: rounded_gaussian(factor, randomness=SYSTEM),
        "independent noise, whole": lambda: rounded_gaussian(diagonal, randomness=SYSTEM),
        "Laplace noise, rounded (4096)": lambda: rounded_laplace(few, randomness=SYSTEM),
        "geometric noise (4096)": lambda: two_sided_geometric(wide, randomness=SYSTEM),
    }


def each(name: str, shape: tuple[int, ...]) -> int:
    """Return how many numbers one run of a row makes."""
    return 1 << 12 if "(4096)" in name else int(np.prod(shape))


def repeated(run: Callable[[], Any]) -> int:
    """Return how often it is run for a round to be long enough; and run it once before."""
    run()
    start = time.thread_time()
    run()
    return max(int(SECONDS / max(time.thread_time() - start, 1e-6)), 1)


def taken(run: Callable[[], Any], times: int) -> float:
    """Return the seconds of this thread for one run."""
    start = time.thread_time()
    for _ in range(times):
        run()
    return (time.thread_time() - start) / times


@contextmanager
def made_by(loaders: dict[Any, Any]) -> Iterator[None]:
    """Have these loaders in their places in the block."""
    held = {(room, name): getattr(room, name) for room, name in loaders}
    for (room, name), own in loaders.items():
        setattr(room, name, own)
    try:
        yield
    finally:
        for (room, name), own in held.items():
            setattr(room, name, own)


def loaders() -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return what makes noise without `lownoise[fast]`, and with it: made at once, where it is."""
    places = [*PLACES, CIPHER]
    without: dict[Any, Any] = {place: Loader(0, int, lambda _none: False) for place in places}
    fast = {place: getattr(*place) for place in places}
    for own in (*without.values(), *fast.values()):
        own.after(1 << 62)
    return without, fast


def main(words: list[str]) -> None:
    """Print a row for each part: nanoseconds a number, without and with `lownoise[fast]`."""
    without, fast = loaders()
    there = [own.after(0) is not None for own in fast.values()]
    print(f"kernels are there: {all(there[:-1])}, the cipher: {there[-1]}\n")
    print("| ns a number, of a thread | numbers | numpy | `[fast]` | ratio |")
    print("|---|---:|---:|---:|---:|")
    for shape in SHAPES:
        for name, run in parts(shape).items():
            if (words and not any(word in name for word in words)) or (
                shape != SHAPES[0] and "(4096)" in name
            ):
                continue
            least: list[tuple[int, list[float]]] = []
            for own in (without, fast):
                with made_by(own):
                    least.append((repeated(run), []))
            for _ in range(ROUNDS):
                for own, (times, found) in zip((without, fast), least, strict=True):
                    with made_by(own):
                        found.append(taken(run, times))
            count = each(name, shape)
            slow, quick = (min(found) / count * 1e9 for _, found in least)
            cells = (name, f"{count:,}", f"{slow:.2f}", f"{quick:.2f}", f"{quick / slow:.2f}")
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(Arguments(__doc__).words())
