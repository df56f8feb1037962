# SPDX-License-Identifier: Apache-2.0
"""From a table to the exact number of rows at each record of a declared universe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.categories import each_batch

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers
    from lownoise.questions import Universe

_PART = 18  # bits of a code at a time: sums of 2^44 rows of them fit 64 bits


@final
@dataclass(frozen=True, eq=False)
class Histogram:
    """How often each record of a universe occurs.

    Args:
        counts: of each record, shape (N,).
    """

    counts: Integers

    @property
    def count(self) -> int:
        """The number of rows, less those that were left out."""
        return int(self.counts.sum())

    def totals(self, codes: Integers) -> list[int]:
        """Return Σ over rows of their record's codes, exactly.

        Args:
            codes: of each record, shape (N, r), at most 2^53 in size.

        Examples:
            >>> Histogram(np.array([2, 0, 3])).totals(np.array([[1, -(2**52)], [7, 7], [0, 2**52]]))
            [2, 4503599627370496]
        """
        found, left, shift = [0] * codes.shape[1], codes, 0
        while shift <= 2 * _PART:
            # the lowest bits, and at the end all that is left with its sign
            part = left & ((1 << _PART) - 1) if shift < 2 * _PART else left
            sums = (self.counts @ part).tolist()
            found = [total + (own << shift) for total, own in zip(found, sums, strict=True)]
            left, shift = left >> _PART, shift + _PART
        return found


def read_histogram(universe: Universe, table: Any) -> Histogram:  # noqa: ANN401 (any frame)
    """Return how often each record of `universe` occurs in `table`.

    Args:
        universe: the records, and where others go.
        table: as `lownoise.engines.reading.source_of` takes it.

    Raises:
        TableError: where the table cannot be opened or lacks a column: known from its schema,
            before a row is read.
        EngineError: where reading rows failed; the text is the same for every cause.
    """
    counts = np.zeros(universe.size, dtype=np.int64)

    def add(cells: list[Integers]) -> None:
        places = universe.places(cells)
        counts[:] += np.bincount(places[places >= 0], minlength=universe.size)

    each_batch(universe.attributes, table, add)
    return Histogram(counts)
