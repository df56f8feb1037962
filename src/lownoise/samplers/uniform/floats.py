# SPDX-License-Identifier: Apache-2.0
"""Uniform numbers in floats, for simulations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lownoise.arrays import Vector
    from lownoise.entropy import Entropy

_KEPT = 52  # bits of a word, so that a half more still fits a float


def uniforms(entropy: Entropy, *shape: int) -> Vector:
    """Return floats in the open interval (0, 1), of the given shape.

    Examples:
        >>> from lownoise.entropy import SimulationEntropy
        >>> u = uniforms(SimulationEntropy(1), 1000)
        >>> bool(np.all((u > 0) & (u < 1)))
        True
    """
    words = entropy.words(math.prod(shape)) >> np.uint64(64 - _KEPT)
    return np.asarray((words + 0.5) * 2.0**-_KEPT).reshape(shape)
