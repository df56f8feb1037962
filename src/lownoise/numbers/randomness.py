# SPDX-License-Identifier: Apache-2.0
"""The one door to randomness.

A release draws from the operating system and from nothing else, or, of many words at once, from a
cipher under a key that the operating system gives for them alone: no seed reaches a release path,
and a forked or threaded process cannot repeat another's draws because no state is kept here.
"""

from __future__ import annotations

import hashlib
import os
import struct
from typing import TYPE_CHECKING, Protocol, final

import numpy as np

from lownoise.numbers import keystream

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Words


_AT_ONCE = 1 << 15  # words that stay in the cache
_keystreams = keystream.loader()


class Randomness(Protocol):
    """A source of independent uniform 64-bit words."""

    def words(self, count: int) -> Words:
        """Return `count` fresh words, shape (count,)."""
        ...


def _cipher(count: int) -> keystream.Keystream | None:
    """Return what makes so many words at once; None where the system gives them itself."""
    return _keystreams.after(count) if count >= keystream.LEAST else None


@final
class SystemRandomness:
    """The operating system's cryptographic generator.

    Many words at once are AES-256 under a key of it, where `cryptography` is installed.
    """

    def words(self, count: int) -> Words:
        """Return `count` fresh words, shape (count,)."""
        cipher = _cipher(count)
        if cipher is None:
            return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)
        room = np.empty(count, dtype=np.uint64)
        cipher.fill(room)
        return room

    def fill(self, room: Words) -> None:
        """Put fresh words into the room, in a row: what it holds is lost."""
        for start in range(0, room.size, _AT_ONCE):
            part = room[start : start + _AT_ONCE]
            cipher = _cipher(part.size)
            if cipher is None:
                part[:] = np.frombuffer(os.urandom(part.nbytes), dtype=np.uint64)
            else:
                cipher.fill(part)


def orderless(randomness: Randomness) -> bool:
    """Return whether threads may draw of it at once: no word depends on which came before.

    Examples:
        >>> orderless(SystemRandomness()), orderless(SimulationRandomness(1))
        (True, False)
    """
    return type(randomness) is SystemRandomness


def drawn_into(room: Words, randomness: Randomness) -> Words:
    """Return fresh words, as many as there is room for: there, if no word depends on others.

    A thread that fills the same room again needs no new pages of memory.

    Args:
        room: what it holds is lost.
        randomness: where they come from.
    """
    if not isinstance(randomness, SystemRandomness):  # as of `orderless`
        return randomness.words(room.size)
    randomness.fill(room)
    return room


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


@final
class KeyedRandomness:
    """Words that a secret key and a place decide, for noise that is made again bit for bit.

    SHAKE-128 of both, which nobody tells from uniform words who has not the key.

    Args:
        key: 32 bytes of the operating system's, used for nothing else.
        place: numbers of which no two uses of a key share all.

    Examples:
        >>> words = KeyedRandomness(bytes(32), 1, 2).words(8)
        >>> bool((KeyedRandomness(bytes(32), 1, 2).words(8) == words).all())
        True
    """

    def __init__(self, key: bytes, *place: int) -> None:
        own = struct.pack(f"<{len(place) + 1}Q", len(place), *place)
        self._start = b"lownoise words\0" + key + own
        self._calls = 0

    def words(self, count: int) -> Words:
        """Return the next `count` words, shape (count,)."""
        seed = self._start + struct.pack("<Q", self._calls)
        self._calls += 1
        return np.frombuffer(hashlib.shake_128(seed).digest(8 * count), dtype="<u8").astype(
            np.uint64, copy=False
        )
