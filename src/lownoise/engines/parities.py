# SPDX-License-Identifier: Apache-2.0
"""From a table of bits to exact parities: columns of packed bits are combined and counted.

The parity of a set of bits is n − 2·(rows with an odd number of them set); that number is how many
bits the exclusive or of their columns has. 64 rows take one operation, so nothing of size 2^D is
ever made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.categories import each_batch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.numbers.arrays import Integers, Words
    from lownoise.questions import Attribute

_BLOCK = 1 << 13  # words that are combined at once


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Bits:
    """The rows of a table of bits.

    Args:
        count: the number of rows n, less those that were left out.
        words: the bits of each column, 64 rows a word; bits that are no row's are 0. Shape (D, k).
    """

    count: int
    words: Words

    def parities(self, degrees: Sequence[int]) -> Integers:
        """Return the sum over rows of (−1)^(sum of the set's bits), shape (m,).

        Args:
            degrees: the sizes of the sets; the sets of each come in the order of
                `itertools.combinations`.

        Examples:
            >>> rows = bits_of([np.array([0, 0, 1]), np.array([0, 1, 1])])
            >>> rows.parities([0, 1, 2]).tolist()  # rows 00, 01, 11
            [3, 1, -1, 1]
        """
        total: list[Integers] = []
        for degree in degrees:
            if not degree:
                total.append(np.zeros(1, dtype=np.int64))
                continue
            odd = None
            for start in range(0, max(self.words.shape[1], 1), _BLOCK):
                part = self.words[:, start : start + _BLOCK]
                none = np.zeros(part.shape[1], dtype=np.uint64)
                found = np.concatenate(list(_odd(part, none, 0, degree)))
                odd = found if odd is None else odd + found
            assert odd is not None  # noqa: S101 (there is a first block)
            total.append(odd)
        return self.count - 2 * np.concatenate(total)


def _odd(words: Words, combined: Words, first: int, left: int) -> Iterator[Integers]:
    """Yield how many rows are odd in `combined` and `left` more of the columns from `first` on."""
    if left == 1:
        counted = np.bitwise_count(words[first:] ^ combined)
        yield counted.sum(axis=1, dtype=np.int64)
        return
    for i in range(first, len(words) - left + 1):
        yield from _odd(words, words[i] ^ combined, i + 1, left - 1)


def bits_of(columns: Sequence[Integers]) -> Bits:
    """Return rows given by their bits, one array of shape (n,) a column: 0 or 1."""
    packed = np.packbits(np.stack(columns).astype(np.uint8), axis=1)
    words = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return Bits(count=len(columns[0]), words=words.view(np.uint64))


def read_bits(attributes: Sequence[Attribute], table: Any) -> Bits:  # noqa: ANN401 (any frame)
    """Return the rows of `table` as bits.

    Args:
        attributes: the columns, of two categories each.
        table: as `lownoise.engines.reading.source_of` takes it.

    Raises:
        TableError, EngineError: as `engines.categories.read_records`.
    """
    parts: list[Bits] = []

    def add(cells: list[Integers]) -> None:
        kept = np.all([c >= 0 for c in cells], axis=0)
        parts.append(bits_of([c[kept] for c in cells]))

    each_batch(attributes, table, add)
    none = np.zeros((len(attributes), 0), dtype=np.uint64)
    return Bits(
        count=sum(part.count for part in parts),
        words=np.concatenate([none, *(part.words for part in parts)], axis=1),
    )
