# SPDX-License-Identifier: Apache-2.0
"""Uniform numbers in floats, for simulations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness

_KEPT = 52  # bits of a word, so that a half more still fits a float


def uniforms(randomness: Randomness, *shape: int) -> Vector:
    """Return floats in the open interval (0, 1), of the given shape.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> u = uniforms(SimulationRandomness(1), 1000)
        >>> bool(np.all((u > 0) & (u < 1)))
        True
    """
    words = randomness.words(math.prod(shape)) >> np.uint64(64 - _KEPT)
    return np.asarray((words + 0.5) * 2.0**-_KEPT).reshape(shape)
