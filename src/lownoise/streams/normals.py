# SPDX-License-Identifier: Apache-2.0
"""True standard normal numbers, each told to within 2^-46."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.balls import precision
from lownoise.samplers.normal_quantile import normals

if TYPE_CHECKING:
    from lownoise.arrays import Vector
    from lownoise.entropy import Entropy

CLOSE = 2.0**-46
_BITS = 400
_BLOCK = 1 << 15


def close_normals(count: int, entropy: Entropy) -> Vector:
    """Return `count` floats, each within 2^-46 of an independent true normal number.

    The numbers in the far tails, one in 2^20, take ball arithmetic and more bits.

    Args:
        count: how many.
        entropy: where the bits come from.

    Examples:
        >>> from lownoise.entropy import SimulationEntropy
        >>> close_normals(3, SimulationEntropy(1)).shape
        (3,)
    """
    words = entropy.words(count)
    z = np.empty(count)
    far: list[int] = []
    for start in range(0, count, _BLOCK):  # blocks that stay in the cache
        block = slice(start, start + _BLOCK)
        z[block], error = normals(words[block])
        far += (start + np.flatnonzero(~(error <= CLOSE))).tolist()
    for j in far:
        z[j] = _tail(int(words[j]), entropy)
    return z


def _tail(word: int, entropy: Entropy) -> float:
    from lownoise.samplers.tail import Tail

    tail = Tail(word)
    with precision(_BITS):
        while True:
            ball = tail.ball()
            if ball.is_finite() and ball.rad() < CLOSE / 4:
                # rounding to a float moves a number below 64 by at most 2^-48
                return float(ball.mid())
            tail.refine(entropy)
