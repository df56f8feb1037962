# SPDX-License-Identifier: Apache-2.0
"""True standard normal numbers, each told to within 2^-46."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.intervals import precision
from lownoise.samplers.gaussian import normals

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness

CLOSE = 2.0**-46
_BITS = 400
_BLOCK = 1 << 15


def close_normals(count: int, randomness: Randomness) -> Vector:
    """Return `count` floats, each within 2^-46 of an independent true normal number.

    The numbers in the far tails, one in 2^20, take ball arithmetic and more bits.

    Args:
        count: how many.
        randomness: where the bits come from.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> close_normals(3, SimulationRandomness(1)).shape
        (3,)
    """
    words = randomness.words(count)
    z = np.empty(count)
    far: list[int] = []
    for start in range(0, count, _BLOCK):  # blocks that stay in the cache
        block = slice(start, start + _BLOCK)
        z[block], error = normals(words[block])
        far += (start + np.flatnonzero(~(error <= CLOSE))).tolist()
    for j in far:
        z[j] = _tail(int(words[j]), randomness)
    return z


def _tail(word: int, randomness: Randomness) -> float:
    from lownoise.samplers.gaussian import Tail

    tail = Tail(word)
    with precision(_BITS):
        while True:
            ball = tail.ball()
            if ball.is_finite() and ball.rad() < CLOSE / 4:
                # rounding to a float moves a number below 64 by at most 2^-48
                return float(ball.mid())
            tail.refine(randomness)
