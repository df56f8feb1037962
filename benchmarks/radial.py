# SPDX-License-Identifier: Apache-2.0
"""Gaussian, K-norm and radial noise, and what none beats: `python -m benchmarks.radial [d …]`.

Errors are (E‖z‖²/d)^{1/2} for changes of length at most 1. A bound is stated only where its proof
was decided in intervals, here and now. With `speed` before the dimensions: how fast it is drawn.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lownoise.noise import RadialNoise
from lownoise.numbers.randomness import SystemRandomness
from lownoise.solvers.radial import gaussian_scale
from lownoise.solvers.radial_fit import fitted, least_profile

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def main(arguments: tuple[str, ...]) -> int:
    """Print the table of errors, or that of speeds."""
    fast = arguments[:1] == ("speed",)
    sizes = tuple(int(d) for d in arguments[fast:]) or SIZES
    print(" | ".join(FAST if fast else HEAD))
    for own in map(speed, sizes) if fast else rows(sizes):
        print(" | ".join(own), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:])))
