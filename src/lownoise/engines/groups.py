# SPDX-License-Identifier: Apache-2.0
"""From a table to exact sums of codes by groups of its rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.adding import HALF
from lownoise.engines.categories import GROUPED, Reader, places_of
from lownoise.engines.folds import AbstractTurns, CodedColumns
from lownoise.engines.queries import TableQuery

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.engines.codings import TotalsQuery
    from lownoise.engines.folds import Batch, Turn
    from lownoise.engines.source import AbstractSource
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Attribute


@final
@dataclass(frozen=True, eq=False)
class GroupSums:
    """The rows of a table by groups.

    Args:
        halves: the sums of the codes of the rows in each joint group, and last how many rows those
            are, by high and low bits; shape (n₁, …, n_k, r + 1, 2).
    """

    halves: Integers

    @property
    def count(self) -> int:
        """The number of rows, less those that were left out."""
        return int(self.table(())[-1])

    def table(self, chosen: Sequence[int]) -> Any:  # noqa: ANN401 (Python's integers)
        """Return the sums by the attributes `chosen`, rising, shape (n, …, r + 1)."""
        others = tuple(i for i in range(self.halves.ndim - 2) if i not in chosen)
        wide = np.asarray(self.halves.sum(axis=others)).astype(object)
        return wide[..., 0] * (1 << HALF) + wide[..., 1]


@final
@dataclass(frozen=True, eq=False)
class GroupCodes(AbstractTurns):
    """Exact sums of codes in each joint group, shape (groups, r + 1, 2) as of `GroupSums`.

    Args:
        reader: of the columns that rows are grouped by.
        query: how records become integers, and whether rows that lack a value are left out.

    Examples:
        >>> from lownoise.engines.codings import Coding, TotalsQuery
        >>> from lownoise.engines.memory import MemorySource
        >>> from lownoise.questions.attributes import attributes
        >>> one = np.ones(1)
        >>> coding = Coding(columns=("x",), lower=0 * one, upper=4 * one, center=0 * one,
        ...                 missing=0 * one, step=one / 2)
        >>> table = MemorySource({"x": np.array([1.5, 9.0, 2.0]), "g": np.array([1, 0, 1])})
        >>> reader = Reader.of(attributes({"g": 2}), table)
        >>> found = table.fold(GroupCodes(reader, TotalsQuery(coding, drops_missing=False)))
        >>> GroupSums(found).table([0]).tolist()
        [[8, 1], [7, 2]]
    """

    reader: Reader
    query: TotalsQuery

    @property
    def columns(self) -> tuple[Sequence[str], Sequence[str]]:
        """Those that rows are grouped by, where they are numbers, and of the codes; and texts."""
        numbers = dict.fromkeys([*self.reader.numbers, *self.query.coding.columns])
        return list(numbers), self.reader.texts

    @property
    def in_turn(self) -> bool:
        """Whether a code is of one column, and no row is left out for another."""
        return self.query.in_turn

    @property
    def coded(self) -> CodedColumns | None:
        """The codes, by groups of few words; None where a group may be of numbers."""
        if self.reader.numbers or math.prod(self.sizes) > GROUPED:
            return None
        words = {a.name: tuple(a.words) for a in self.reader.attributes}
        return CodedColumns.of(
            self.query, words, lambda own: places_of(self.reader.cells(own), self.sizes)
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many groups there are of each column."""
        return tuple(a.size for a in self.reader.attributes)

    def zeros(self) -> Integers:
        """Return zeros."""
        width = self.query.coding.step.size + 1
        return np.zeros((math.prod(self.sizes), width, 2), dtype=np.int64)

    def turns(self, found: Integers, batch: Batch) -> dict[int, Turn]:
        """Find the groups of rows, and return what adds the codes of each column to theirs."""
        coding, names = self.query.coding, list(self.numbers)
        at = places_of(self.reader.cells(batch), self.sizes)
        at += 1  # at 0 what is left out
        own = [names.index(name) for name in coding.columns]
        columns = [] if self.in_turn else [batch.numbers[place] for place in own]
        if self.query.drops_missing:
            at[np.any([np.isnan(column) for column in columns], axis=0)] = 0
        # which refuses what is no place, before kernels are given it
        found[:, -1, 1] += np.bincount(at, minlength=len(found) + 1)[1:]

        def add(first: int, *columns: Vector) -> None:
            coding.add_at(found, columns, at, first)

        if self.in_turn:
            return {place: partial(add, j) for j, place in enumerate(own)}
        add(0, *columns)
        return {}


def groups_query(attributes: Sequence[Attribute], query: TotalsQuery) -> TableQuery[GroupSums]:
    """Return what is asked of a table for the exact sums of codes in each joint group of its rows.

    Args:
        attributes: the columns that rows are grouped by, and their categories.
        query: how records become integers, and whether rows that lack a value are left out.
    """

    def work(source: AbstractSource) -> tuple[GroupCodes, Callable[[Integers], GroupSums]]:
        own = GroupCodes(Reader.of(attributes, source), query)
        return own, lambda found: GroupSums(found.reshape(*own.sizes, -1, 2))

    columns = dict.fromkeys([*(a.name for a in attributes), *query.coding.columns])
    return TableQuery(tuple(columns), work, "summed")
