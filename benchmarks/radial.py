# SPDX-License-Identifier: Apache-2.0
"""Gaussian, K-norm and radial noise, and what none beats: `python -m benchmarks.radial [d …]`.

Errors are (E‖z‖²/d)^{1/2} for changes of length at most 1. A bound is stated only where its proof
was decided in intervals, here and now. With `speed` before the dimensions: how fast it is drawn;
with `kept`: milliseconds of a kept fit, of a plan that names radial noise and of one that compares
all, from a cache that holds the fit, in a folder of its own.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import lownoise as ln
from benchmarks.arguments import Arguments
from lownoise.noise import RadialNoise
from lownoise.numbers.randomness import SystemRandomness
from lownoise.release.guarantees import allowed
from lownoise.solvers.radial import gaussian_scale
from lownoise.solvers.radial_fit import fitted, least_profile
from lownoise.solvers.radial_kept import recalled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BUDGETS = ((1.0, 1e-6), (0.1, 1e-6), (4.0, 1e-9))
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 100, 150, 200)
HEAD: tuple[str, ...] = (
    "ε",
    "δ",
    "d",
    "Gaussian",
    "K-norm",
    "radial",
    "proved",
    "gap",
    "E‖z‖² over the better",
)
HEAD += ("balls", "seconds")
UNKNOWN = "none"
FAST = ("d", "integers a second, one draw", "a thousand together", "floats a second")
KEPT = ("d", "ε", "δ", "kept fit", "radial plan", "plan", "radial over the next best")
KEPT_SIZES = (1, 2, 3, 4, 8, 16, 32, 64, 128, 200)
EPSILONS, DELTAS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0), (1e-9, 1e-6)
TIMES = 3
SCALE = 2.0**32  # grid steps of noise, as plans have
SECONDS = 0.5


def row(dimension: int, epsilon: float, delta: float) -> tuple[str, ...]:
    """Return one row of the table."""
    start = time.process_time()
    fit = fitted(dimension, epsilon, delta)
    took = time.process_time() - start
    lower = fit.lower_bound()
    gaussian = gaussian_scale(epsilon, delta)
    k_norm = (dimension + 1) ** 0.5 / epsilon
    radial = (fit.second_moment / dimension) ** 0.5
    return (
        f"{epsilon:g}",
        f"{delta:g}",
        str(dimension),
        f"{gaussian:.4f}",
        f"{k_norm:.4f}",
        f"{radial:.4f}",
        f"{(lower / dimension) ** 0.5:.4f}" if lower > 0 else UNKNOWN,
        f"{100 * (fit.second_moment / lower - 1):.2f}%" if lower > 0 else UNKNOWN,
        f"{(radial / min(gaussian, k_norm)) ** 2:.4f}",
        str(fit.radii.size),
        f"{took:.1f}",
    )


def rows(sizes: tuple[int, ...] = SIZES) -> Iterator[tuple[str, ...]]:
    """Yield the table, a row at a time."""
    for epsilon, delta in BUDGETS:
        for dimension in sizes:
            yield row(dimension, epsilon, delta)


def speed(dimension: int) -> tuple[str, ...]:
    """Return how many integers a second are drawn, and how many floats are simulated."""
    fit = least_profile(dimension, 1.0, 1e-6)
    noise = RadialNoise(1.0, SCALE, np.ones(dimension), fit.radii, fit.weights)
    randomness, found = SystemRandomness(), []
    many, floats = partial(noise.many, 1000), partial(noise.simulate, 1000)
    for draw in (noise.integers, many, floats):
        start, made = time.process_time(), 0
        while time.process_time() < start + SECONDS:
            made += np.size(draw(randomness))
        found.append(made / (time.process_time() - start))
    return (str(dimension), *(f"{own:,.0f}" for own in found))


def kept(sizes: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
    """Yield what takes how long where the fit is kept, a budget and a dimension a row."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for d, epsilon, delta in itertools.product(sizes, EPSILONS, DELTAS):
            question = ln.Mean([f"x{i}" for i in range(d)], ln.Ball(d))
            plan = partial(
                ln.plan,
                question,
                budget=ln.approx_dp(epsilon, delta),
                relation="substitute",
                size=1000,
            )
            errors = {row.mechanism: row.error for row in plan().comparison if row.error}
            own = errors.pop("radial")
            done = (
                partial(recalled, d, allowed(ln.approx_dp(epsilon, delta)), delta),
                partial(plan, mechanism="radial"),
                plan,
            )
            took = [f"{1e3 * least_of(each):.1f}" for each in done]
            beside = own / min(errors.values())
            yield (str(d), f"{epsilon:g}", f"{delta:g}", *took, f"{beside:.7f}")


def least_of(done: Callable[[], object]) -> float:
    """Return the seconds of the processor that it takes: the least of a few times."""
    found = []
    for _ in range(TIMES):
        start = time.process_time()
        done()
        found.append(time.process_time() - start)
    return min(found)


def main(arguments: tuple[str, ...]) -> int:
    """Print the table of errors, that of speeds, or that of kept fits."""
    named = arguments[0] if arguments and not arguments[0].isdigit() else ""
    sizes = tuple(int(d) for d in arguments[bool(named) :])
    head = {"": HEAD, "speed": FAST, "kept": KEPT}[named]
    made: Iterator[tuple[str, ...]] = rows(sizes or SIZES)
    if named:
        made = kept(sizes or KEPT_SIZES) if named == "kept" else map(speed, sizes or SIZES)
    print(" | ".join(head))
    for own in made:
        print(" | ".join(own), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(tuple(Arguments(__doc__).words("speed", "kept", numbers=True))))
