# SPDX-License-Identifier: Apache-2.0
"""From a table to exact sums of codes by groups of its rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.categories import opened, places_of
from lownoise.engines.cells import alike
from lownoise.engines.source import HALF, AbstractFold, failed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.engines.categories import Reader
    from lownoise.engines.codings import TotalsQuery
    from lownoise.engines.source import Batch
    from lownoise.numbers.arrays import Integers
    from lownoise.questions import Attribute

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
        return wide[..., 0] * (1 << HALF) + wide[..., 1]


@final
@dataclass(frozen=True, eq=False)
class GroupCodes(AbstractFold):
    """Exact sums of codes in each joint group, shape (groups, r + 1, 2) as of `GroupSums`.

    Args:
        reader: of the columns that rows are grouped by.
        query: how records become integers, and whether rows that lack a value are left out.

    Examples:
        >>> from lownoise.engines.codings import Coding, TotalsQuery
        >>> from lownoise.engines.categories import opened
        >>> from lownoise.engines.memory import MemorySource
        >>> from lownoise.questions.attributes import attributes
        >>> one = np.ones(1)
        >>> coding = Coding(columns=("x",), lower=0 * one, upper=4 * one, center=0 * one,
        ...                 missing=0 * one, step=one / 2)
        >>> table = MemorySource({"x": np.array([1.5, 9.0, 2.0]), "g": np.array([1, 0, 1])})
        >>> source, reader = opened(attributes({"g": 2}), table)
        >>> found = source.fold(GroupCodes(reader, TotalsQuery(coding, drops_missing=False)))
        >>> GroupSums(found).table([0]).tolist()
        [[8, 1], [7, 2]]
    """

    reader: Reader
    query: TotalsQuery

    @property
    def numbers(self) -> Sequence[str]:
        """The columns that rows are grouped by, where they are numbers, and those of the codes."""
        return list(dict.fromkeys([*self.reader.numbers, *self.query.coding.columns]))

    @property
    def texts(self) -> Sequence[str]:
        """The columns of texts that rows are grouped by."""
        return self.reader.texts

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many groups there are of each column."""
        return tuple(a.size for a in self.reader.attributes)

    def zeros(self) -> Integers:
        """Return zeros."""
        width = self.query.coding.step.size + 1
        return np.zeros((math.prod(self.sizes), width, 2), dtype=np.int64)

    def add(self, found: Integers, batch: Batch) -> None:
        """Add the codes of rows to those of their groups."""
        places = places_of(self.reader.cells(batch), self.sizes)
        numbers = dict(zip(self.numbers, batch.numbers, strict=True))
        values = np.stack([numbers[name] for name in self.query.coding.columns], axis=1)
        kept = places >= 0
        if self.query.drops_missing:
            kept &= ~np.any(np.isnan(values), axis=1)
        if np.any(kept):
            add_at(found, self.query.coding.encode(values[kept]), places[kept])


def add_at(found: Integers, codes: Integers, places: Integers) -> None:
    """Add codes at their places, and count them, by their high and low bits.

    Args:
        found: shape (groups, r + 1, 2).
        codes: of at most 2^52, shape (n, r).
        places: of each row, shape (n,).

    Examples:
        >>> found = np.zeros((2, 2, 2), dtype=np.int64)
        >>> add_at(found, np.array([[2**52], [-1], [5]]), np.array([1, 1, 0]))
        >>> GroupSums(found).table([0]).tolist()
        [[5, 1], [4503599627370495, 2]]
    """
    groups = len(found)
    for start in range(0, len(codes), _ROWS):
        own, at = codes[start : start + _ROWS], places[start : start + _ROWS]
        found[:, -1, 1] += np.bincount(at, minlength=groups)
        for j, column in enumerate(own.T):
            for k, half in enumerate((column >> HALF, column & ((1 << HALF) - 1))):
                sums = np.bincount(at, weights=half, minlength=groups)
                found[:, j, k] += sums.astype(np.int64)


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
    source, reader = opened(attributes, table, query.coding.columns)
    work = GroupCodes(reader, query)
    with alike(failed(table, "summed")):
        return GroupSums(source.fold(work).reshape(*work.sizes, -1, 2))
