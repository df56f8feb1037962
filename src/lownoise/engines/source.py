# SPDX-License-Identifier: Apache-2.0
"""What a table is to an engine: its schema, batches of its rows, and exact sums of integers.

An engine is one class of these, and the memory one judges it. What a cell means follows from the
cell alone, as `engines.numbers.number` says it; codes are made of the batches by the package.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.numbers.arrays import Vector

Kind = Literal["integers", "numbers", "texts"]  # what a column holds: 64 bits with a sign, or less
Range = tuple[str, int, int]  # a column of integers, and the ends that its values are clipped to


@final
@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a table, by columns of one length.

    Args:
        numbers: an array of floats, shape (n,), a column: NaN where a cell is no number.
        texts: an Arrow array of strings a column: null where a cell is no text.
    """

    numbers: list[Vector]
    texts: list[Any]


@final
@dataclass(frozen=True)
class Sums:
    """Exact sums of columns of integers over the rows.

    Args:
        count: the number of rows.
        present: how many of them have a number, by columns.
        sums: of those numbers, clipped, by columns.
    """

    count: int
    present: tuple[int, ...]
    sums: tuple[int, ...]


class AbstractSource(ABC):
    """A table, as one engine reads it; every release takes one, of this package or of another.

    Where reading rows fails, whatever is raised is replaced by one error that says nothing of them.
    """

    @abstractmethod
    def kinds(self, columns: Sequence[str]) -> tuple[Kind, ...]:
        """Return what each column holds, from the schema alone: no row decides it.

        Raises:
            TableError: where a column is not there, or holds neither numbers nor texts.
        """

    @abstractmethod
    def batches(self, numbers: Sequence[str], texts: Sequence[str] = ()) -> Iterator[Batch]:
        """Return all rows in their order, batch by batch; a row never decides over another's cells.

        Args:
            numbers: columns that are read as numbers; a text is the number that it spells.
            texts: columns of texts that are read as they are.
        """

    def sums(self, ranges: Sequence[Range], *, complete: bool) -> Sums:
        """Return the exact sums of columns of integers, each clipped to its range.

        An engine that sums integers without the rows leaving it does so here.

        Args:
            ranges: of columns of integers; their ends are at most 2^52 from 0.
            complete: leave out every row that lacks a value in one of the columns.
        """
        count, present, sums = 0, [0] * len(ranges), [0] * len(ranges)
        for batch in self.batches([name for name, _, _ in ranges]):
            columns = complete_rows(batch.numbers) if complete else batch.numbers
            count += len(columns[0])
            for i, ((_, lower, upper), column) in enumerate(zip(ranges, columns, strict=True)):
                known = np.clip(column[~np.isnan(column)], lower, upper)
                present[i] += known.size
                sums[i] += sum(map(int, known.tolist()))
        return Sums(count, tuple(present), tuple(sums))


def complete_rows(columns: Sequence[Vector]) -> list[Vector]:
    """Return the rows that lack no value, by columns of shape (n,).

    Examples:
        >>> complete_rows([np.array([1.0, np.nan, 3.0]), np.array([4.0, 5.0, np.nan])])
        [array([1.]), array([4.])]
    """
    kept = ~np.any([np.isnan(column) for column in columns], axis=0)
    return [column[kept] for column in columns]
