# SPDX-License-Identifier: Apache-2.0
"""Staircase noise against K-norm noise of the same norm: `python -m benchmarks.staircase [speed]`.

Ratios of E‖z‖², by the number of integers that move and ε, whatever the norm. With `speed`: how
many vectors of integers are drawn a second, of one number and around a ball.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from lownoise.certificate.staircase import least_first, least_square_down, staircase_ratio
from lownoise.noise import KNormNoise, StaircaseNoise
from lownoise.noise.pure import ellipsoid_norm
from lownoise.numbers.randomness import SystemRandomness
from lownoise.samplers.steps import StepRadius

EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
SIZES = (1, 2, 3, 4, 6, 8, 16, 32)
HEAD = ("d", *(f"ε = {epsilon:g}" for epsilon in EPSILONS))
SCALE = 2.0**32  # grid steps of noise, as plans have
MANY = 20_000


def rows() -> list[list[str]]:
    """Return E‖z‖² of staircase noise over that of K-norm noise, a row a dimension."""
    return [[str(d), *(f"{staircase_ratio(d, e):.4f}" for e in EPSILONS)] for d in SIZES]


def gaps() -> list[list[str]]:
    """Return how far E‖z‖² around a ball is above what is proved of all additive noise."""
    found = []
    for d in SIZES:
        cells = []
        for epsilon in EPSILONS:
            own = StepRadius(d, epsilon, least_first(d, epsilon)).mean(2.0) * d / (d + 2)
            cells.append(f"{own / least_square_down(d, epsilon) - 1:.1e}")
        found.append([str(d), *cells])
    return found


def speed() -> list[list[str]]:
    """Return vectors of integers a second of CPU time, of K-norm and of staircase noise."""
    found = []
    for d in (1, 2, 4, 16):
        gauge = ellipsoid_norm(np.ones(d))
        cells = []
        for noise in (KNormNoise(gauge, SCALE), StaircaseNoise(gauge, SCALE, 2.0, 0.5)):
            noise.many(100, SystemRandomness())
            start = time.process_time()
            noise.many(MANY, SystemRandomness())
            cells.append(f"{MANY / (time.process_time() - start):,.0f}")
        found.append([str(d), *cells])
    return found


def main(asked: list[str]) -> int:
    """Print the tables."""
    if asked == ["speed"]:
        tables = [(("d", "K-norm", "staircase"), speed())]
    else:
        tables = [(HEAD, rows()), (HEAD, gaps())]
    for head, body in tables:
        for row in (head, *body):
            print("  ".join(f"{cell:>10}" for cell in row))
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
