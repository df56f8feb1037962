# SPDX-License-Identifier: Apache-2.0
"""The integer noise of the rounds to come."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.streams.pairs import AbstractKeptPair

if TYPE_CHECKING:
    from lownoise.arrays import Integers
    from lownoise.entropy import Entropy
    from lownoise.streams.mechanism import StreamMechanism


class AbstractNoise(ABC):
    """Noise that is handed out once, round by round."""

    @abstractmethod
    def take(self, count: int) -> Integers:
        """Return the noise of the next `count` rounds, shape (count, r)."""

    def take_one(self) -> int:
        """Return the noise of the next round, of one coordinate."""
        return int(self.take(1)[0, 0])

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return what the rounds to come need, as JSON values or arrays."""


@final
class KeptNoise(AbstractNoise):
    """Noise that was drawn for all rounds at once.

    Args:
        integers: shape (n, r).
        first: how many rounds have been handed out.
    """

    def __init__(self, integers: Integers, first: int = 0) -> None:
        self._integers = integers
        self._next = first

    def take(self, count: int) -> Integers:
        """Return the noise of the next rounds."""
        own = self._integers[self._next : self._next + count]
        self._next += count
        return own

    def state(self) -> dict[str, Any]:
        """Return what is left of it."""
        return {"kept": self._integers[self._next :]}


def noise_of(mechanism: StreamMechanism, entropy: Entropy) -> AbstractNoise:
    """Return the noise before the first round."""
    if isinstance(mechanism.pair, AbstractKeptPair):
        integers = mechanism.all_noise(entropy)
        integers.setflags(write=False)
        return KeptNoise(np.ascontiguousarray(integers))
    raise PlanError(f"pair={type(mechanism.pair).__name__} is of no known kind; plan again")
