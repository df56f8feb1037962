# SPDX-License-Identifier: Apache-2.0
"""Many random words of one key of the operating system's, where `cryptography` is installed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.numbers.machine import Loader

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Words

LEAST = 1 << 13  # words at once: fewer are as fast without
ENOUGH = 1 << 20  # words: the system takes as much longer for them as importing does
_KEY = 32  # bytes
_BLOCK = 16  # bytes of AES
_ZEROS = bytes(1 << 16)

# NIST SP 800-38A (2001), F.5.5, CTR-AES256.Encrypt: the key, the first counter, text and cipher
_KEY_GIVEN = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
_FIRST = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
_TEXT = """6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
           30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710"""
_CIPHER = """601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
             2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6"""


@final
class Keystream:
    """AES-256 in counter mode, each time under a key of the operating system's own.

    No key is kept and no counter goes on: neither a thread nor a fork can repeat a word.

    Raises:
        ImportError: where `cryptography` is not installed.
    """

    def __init__(self) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        def made(key: bytes, counter: bytes) -> Any:  # noqa: ANN401 (of a library without types)
            return Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()

        self._encryptor: Callable[[bytes, bytes], Any] = made

    def fill(self, room: Words) -> None:
        """Put fresh words into the room, in a row and of two words or more."""
        self._fill(os.urandom(_KEY), bytes(_BLOCK), room)

    def right(self) -> bool:
        """Return whether it is the standard's cipher, and words are its blocks in their order."""
        given = (bytes.fromhex(each) for each in (_KEY_GIVEN, _FIRST, _TEXT, _CIPHER))
        key, counter, text, cipher = given
        expected = np.frombuffer(text, dtype=np.uint64) ^ np.frombuffer(cipher, dtype=np.uint64)
        found = np.zeros_like(expected)
        self._fill(key, counter, found)
        return bool((found == expected).all())

    def _fill(self, key: bytes, counter: bytes, room: Words) -> None:
        encryptor = self._encryptor(key, counter)
        with room.data.cast("B") as view:
            # it asks for a block more than it fills, less a byte: the last block comes by itself
            last = len(view) - _BLOCK
            for start in range(0, last, len(_ZEROS)):
                size = min(len(_ZEROS), last - start)
                encryptor.update_into(_ZEROS[:size], view[start : start + size + _BLOCK - 1])
            view[last:] = encryptor.update(_ZEROS[:_BLOCK])


def loader() -> Loader[Keystream]:
    """Return what has the cipher once it pays, if it is the standard's."""
    return Loader(ENOUGH, Keystream, Keystream.right)
