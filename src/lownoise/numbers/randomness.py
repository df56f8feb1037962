# SPDX-License-Identifier: Apache-2.0
"""The one door to randomness.

A release draws from the operating system and from nothing else: no seed reaches a release path,
and a forked or threaded process cannot repeat another's draws because no state is kept here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol, final

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Words


class Randomness(Protocol):
    """A source of independent uniform 64-bit words."""

    def words(self, count: int) -> Words:
        """Return `count` fresh words, shape (count,)."""
        ...


@final
class SystemRandomness:
    """The operating system's cryptographic generator."""

    def words(self, count: int) -> Words:
        """Return `count` fresh words, shape (count,)."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


@final
class SimulationRandomness:
    """A repeatable source for tests and simulations: whoever knows the seed can undo the noise.

    Examples:
        >>> int(SimulationRandomness(1).words(1)[0]) == int(SimulationRandomness(1).words(1)[0])
        True
    """

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def words(self, count: int) -> Words:
        """Return `count` pseudo-random words, shape (count,)."""
        return np.asarray(self._bits.random_raw(count), dtype=np.uint64)
