# SPDX-License-Identifier: Apache-2.0
"""From a table to exact sums of codes by groups of its rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.cells import alike
from lownoise.engines.counts import Reader, places_of
from lownoise.engines.source import Batch, failed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.engines.codings import TotalsQuery
    from lownoise.numbers.arrays import Integers
    from lownoise.questions import Attribute

_HALF = 26  # bits: sums of 2^37 rows of them fit 64 bits
_ROWS = 1 << 16  # summed at once, so that sums of halves are exact as floats


@final
@dataclass(frozen=True, eq=False)
class GroupSums:
    """The rows of a table by groups.

    Args:
        halves: the sums of the codes of the rows in each joint group, and last how many rows those
            are, by high and low bits; shape (n₁, …, n_k, r + 1, 2).
    """

    halves: Integers

    def table(self, chosen: Sequence[int]) -> Any:  # noqa: ANN401 (Python's integers)
        """Return the sums by the attributes `chosen`, rising, shape (n, …, r + 1)."""
        others = tuple(i for i in range(self.halves.ndim - 2) if i not in chosen)
        wide = np.asarray(self.halves.sum(axis=others)).astype(object)
        return wide[..., 0] * (1 << _HALF) + wide[..., 1]


@final
class Halves:
    """Exact sums of codes at each place, by their high and low bits, while a table is read.

    Args:
        groups: how many places there are.
        width: r, how many codes a row has.

    Examples:
        >>> own = Halves(2, 1)
        >>> own.add(np.array([[2**52], [-1], [5]]), np.array([1, 1, 0]))
        >>> GroupSums(own.found).table([0]).tolist()
        [[5, 1], [4503599627370495, 2]]
    """

    def __init__(self, groups: int, width: int) -> None:
        self.found = np.zeros((groups, width + 1, 2), dtype=np.int64)

    def add(self, codes: Integers, places: Integers) -> None:
        """Add rows.

        Args:
            codes: of at most 2^52, shape (n, r).
            places: of each row, shape (n,).
        """
        groups = len(self.found)
        for start in range(0, len(codes), _ROWS):
            own, at = codes[start : start + _ROWS], places[start : start + _ROWS]
            self.found[:, -1, 1] += np.bincount(at, minlength=groups)
            for j, column in enumerate(own.T):
                for k, half in enumerate((column >> _HALF, column & ((1 << _HALF) - 1))):
                    sums = np.bincount(at, weights=half, minlength=groups)
                    self.found[:, j, k] += sums.astype(np.int64)


def read_groups(attributes: Sequence[Attribute], query: TotalsQuery, table: Any) -> GroupSums:  # noqa: ANN401 (any frame)
    """Return the exact sums of codes in each joint group of the rows of `table`.

    Args:
        attributes: the columns that rows are grouped by, and their categories.
        query: how records become integers, and whether rows that lack a value are left out.
        table: as `lownoise.engines.source.source_of` takes it.

    Raises:
        TableError: where the table cannot be opened or lacks a column: known from its schema,
            before a row is read.
        EngineError: where reading rows failed; the text is the same for every cause.
    """
    sizes = tuple(a.size for a in attributes)
    groups, coding = math.prod(sizes), query.coding
    found = Halves(groups, coding.step.size)
    reader = Reader(attributes, table, coding.columns)
    columns = list(dict.fromkeys([*reader.numbers, *coding.columns]))
    with alike(failed(table, "summed")):
        for batch in reader.source.batches(columns, reader.texts):
            numbers = dict(zip(columns, batch.numbers, strict=True))
            keys = Batch([numbers[name] for name in reader.numbers], batch.texts)
            places = places_of(reader.cells(keys), sizes)
            values = np.stack([numbers[name] for name in coding.columns], axis=1)
            kept = places >= 0
            if query.drops_missing:
                kept &= ~np.any(np.isnan(values), axis=1)
            if np.any(kept):
                found.add(coding.encode(values[kept]), places[kept])
    return GroupSums(found.found.reshape(*sizes, -1, 2))
