# SPDX-License-Identifier: Apache-2.0
"""Steps each walk needs by dimension: `python -m lownoise.samplers.walks.table`."""

from __future__ import annotations

import sys

from lownoise.samplers.walks.grid_walk import Grid
from lownoise.samplers.walks.walk import steps_needed


def rows(dimensions: tuple[int, ...] = (1, 2, 3, 5, 8, 10, 15, 20)) -> list[tuple[int, int, int]]:
    """Return dimension, proximal steps with √h = 4/d, grid steps; r = 1, R = √d, η = 10⁻⁹.

    Examples:
        >>> rows((2, 5))
        [(2, 13, 2428896), (5, 105, 1914018253)]
    """
    return [
        (
            d,
            steps_needed(d, 1.0, d**0.5, deviation=4 / d),
            Grid(dimension=d, inner=1.0, outer=d**0.5).steps_needed(1e-9),
        )
        for d in dimensions
    ]


if __name__ == "__main__":
    for row in rows():
        sys.stdout.write("  ".join(f"{number:>14,}" for number in row) + "\n")
