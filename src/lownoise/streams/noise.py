# SPDX-License-Identifier: Apache-2.0
"""The integer noise of the rounds to come."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError
from lownoise.numbers.randomness import SystemRandomness
from lownoise.streams.pairs import AbstractKeptPair
from lownoise.streams.recursive import Recursion, RecursivePair

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers
    from lownoise.numbers.randomness import Randomness
    from lownoise.streams.mechanism import StreamMechanism


_AHEAD = 1 << 12  # numbers


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
        """Return what the rounds to come need, as JSON values or arrays; `noise_from` reads it."""


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

    def __deepcopy__(self, memo: dict[int, Any]) -> KeptNoise:
        """Return the same, to go on apart; the integers never change."""
        return KeptNoise(self._integers, self._next)

    def take(self, count: int) -> Integers:
        """Return the noise of the next rounds."""
        own = self._integers[self._next : self._next + count]
        self._next += count
        return own

    def state(self) -> dict[str, Any]:
        """Return what is left of it."""
        return {"kept": self._integers[self._next :]}


@final
class RecursiveNoise(AbstractNoise):
    """Noise that is drawn as rounds come, some rounds ahead; what has been handed out is forgotten.

    Args:
        mechanism: what is published.
        randomness: where the noise comes from.
        sums: the running sums, where it goes on from a state.
        ahead: noise that was drawn and not handed out, shape (k, r).
    """

    def __init__(
        self,
        mechanism: StreamMechanism,
        randomness: Randomness,
        sums: list[list[int]] | None = None,
        ahead: Integers | None = None,
    ) -> None:
        assert isinstance(mechanism.pair, RecursivePair)  # noqa: S101 (others are kept)
        self._mechanism, self._entropy = mechanism, randomness
        r = mechanism.shape.sources
        self._recursion = Recursion(mechanism.pair, r, sums)
        self._ahead = np.zeros((0, r), dtype=np.int64) if ahead is None else ahead
        self._next = 0
        self._block = max(1, _AHEAD // r)

    def __deepcopy__(self, memo: dict[int, Any]) -> RecursiveNoise:
        """Return the same, to go on apart."""
        randomness, ahead = copy.deepcopy(self._entropy, memo), self._ahead[self._next :]
        return RecursiveNoise(self._mechanism, randomness, self._recursion.sums, ahead)

    def take(self, count: int) -> Integers:
        """Return the noise of the next rounds."""
        left = len(self._ahead) - self._next
        if count > left:
            unit = self._recursion.take(max(count - left, self._block), self._entropy)
            drawn = self._mechanism.integers(unit, self._entropy)
            self._ahead = np.concatenate([self._ahead[self._next :], drawn])
            self._next = 0
        own = self._ahead[self._next : self._next + count]
        self._next += count
        return own

    def state(self) -> dict[str, Any]:
        """Return the running sums, and what was drawn ahead."""
        sums = [[str(k) for k in own] for own in self._recursion.sums]
        return {"sums": sums, "ahead": self._ahead[self._next :]}


def noise_of(mechanism: StreamMechanism, randomness: Randomness) -> AbstractNoise:
    """Return the noise before the first round."""
    if isinstance(mechanism.pair, AbstractKeptPair):
        integers = mechanism.all_noise(randomness)
        integers.setflags(write=False)
        return KeptNoise(np.ascontiguousarray(integers))
    return RecursiveNoise(mechanism, randomness)


def noise_from(mechanism: StreamMechanism, state: dict[str, Any], first: int) -> AbstractNoise:
    """Return the noise whose `state` was taken after `first` rounds.

    Args:
        mechanism: the final integers and the final noise.
        state: what `AbstractNoise.state` returned.
        first: how many rounds had been answered.

    Raises:
        FileError: where there is not the noise of every round that is left.
    """
    rounds, r = mechanism.workload.rounds - first, mechanism.shape.dimension
    if isinstance(mechanism.pair, AbstractKeptPair):
        kept = state["kept"]
        if not _is_noise(kept, r) or len(kept) != rounds:
            raise FileError("noise is not that of the rounds that are left")
        return KeptNoise(kept)
    ahead = state["ahead"]
    if not _is_noise(ahead, r):
        raise FileError("noise that was drawn ahead is no table of integers")
    sums = [[int(k) for k in own] for own in state["sums"]]
    return RecursiveNoise(mechanism, SystemRandomness(), sums, ahead)


def _is_noise(values: object, coordinates: int) -> bool:
    return (
        isinstance(values, np.ndarray)
        and values.dtype == np.int64
        and values.shape[1:] == (coordinates,)
    )
