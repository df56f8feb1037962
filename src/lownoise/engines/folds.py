# SPDX-License-Identifier: Apache-2.0
"""What rows add up to, whoever reads them: exact integers, in whatever parts and order.

Sums are kept by high and low bits, so that those of 2^37 rows fit 64 bits.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.engines.adding import HALF, ColumnCode
from lownoise.engines.codings import Totals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lownoise.engines.codings import TotalsQuery
    from lownoise.numbers.arrays import Integers, Vector

    Turn = Callable[[Vector], None]

_MEMBERS = 8  # each of which may keep the place of every row from column to column
_ROWS = 1 << 17  # that are added at once where a fold does not ask for columns in turn
Range = tuple[str, int, int]  # a column of integers, and the ends that its values are clipped to


@final
@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a table, by columns of one length.

    Args:
        numbers: an array of floats, shape (n,), a column: NaN where a cell is no number. A fold
            that asks for them in turn may be given what reads each when it is asked for.
        texts: an Arrow array of strings a column: null where a cell is no text.
    """

    numbers: Sequence[Vector]
    texts: list[Any]


@final
class InTurn(Sequence[Any]):
    """Columns that are read when they are asked for, of which the last is kept.

    So each is unpacked, coded and added up while it is in the cache, and one alone is held.

    Args:
        read: returns the column of a key.
        keys: of all columns, in their order.

    Examples:
        >>> columns = InTurn(lambda name: print("read", name) or np.zeros(2), ["x", "y"])
        >>> len(columns[0]), [len(column) for column in columns]
        read x
        read y
        (2, [2, 2])
    """

    def __init__(self, read: Callable[[Any], Vector], keys: Sequence[Any]) -> None:
        self._read, self._keys = read, keys
        self._last: tuple[int, Vector] | None = None

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 (an integer, and a vector)
        key, last = self._keys[place], self._last  # another thread may read one meanwhile
        if last is None or last[0] != place:
            last = self._last = None  # no second one is held while it is read
            last = self._last = place, self._read(key)
        return last[1]


@final
@dataclass(frozen=True, eq=False)
class CodedColumns:
    """What rows add up to where that is codes of columns, by groups of rows that have some words.

    Args:
        codes: a column's name, and what makes its codes, each.
        complete: leave out every row that lacks a value in one of these columns.
        words: columns of texts that rows are grouped by, and the words that are told apart there.
        places: from the texts of groups to the place of each, −1 where its rows are left out; where
            there are no `words` all rows are one group, and it is not asked.
    """

    codes: Sequence[tuple[str, ColumnCode]]
    complete: bool
    words: Mapping[str, Sequence[str]]
    places: Callable[[Batch], Integers]

    @classmethod
    def of(
        cls,
        query: TotalsQuery,
        words: Mapping[str, Sequence[str]],
        places: Callable[[Batch], Integers],
    ) -> CodedColumns | None:
        """Return what a query's rows add up to; None where codes are of several columns."""
        each, columns = query.coding.each, query.coding.columns
        if each is None:
            return None
        return cls(tuple(zip(columns, each, strict=True)), query.drops_missing, words, places)

    def found(
        self, texts: list[Any], counts: Integers, sums: Sequence[Any], zeros: Integers
    ) -> Integers:
        """Return what groups of rows add up to; Python's integers where 64 bits do not hold it.

        Args:
            texts: an Arrow array a column of `words`, of its texts in each group.
            counts: how many rows those are, shape (g,).
            sums: of their codes, a column each, shape (g,); those of no column where g is 0.
            zeros: of what shape it is: by high and low bits, (…, r + 1, 2).
        """
        at = self.places(Batch([], texts)) if texts else np.zeros(len(counts), dtype=np.int64)
        kept = at >= 0
        wide = np.zeros((zeros.size // (2 * len(self.codes) + 2), len(self.codes) + 1, 2), object)
        for j, own in enumerate(sums):
            total = own[kept].astype(object)
            np.add.at(wide[:, j, 0], at[kept], total >> HALF)
            np.add.at(wide[:, j, 1], at[kept], total & ((1 << HALF) - 1))
        np.add.at(wide[:, -1, 1], at[kept], counts[kept].astype(object))
        fits = np.all(np.abs(wide) < 1 << 62)
        return (wide.astype(np.int64) if fits else wide).reshape(zeros.shape)


class AbstractFold(ABC):
    """Exact integers that rows add up to, whoever reads them, in whatever parts and order.

    It can be pickled, so that an engine takes it to where the rows are; one that `keeps` rows stays
    in the process that asks, and sees them one batch after the other.
    """

    keeps: ClassVar[bool] = False

    @property
    @abstractmethod
    def columns(self) -> tuple[Sequence[str], Sequence[str]]:
        """Which are read as numbers, and which as texts, as of `AbstractSource.batches`."""

    @property
    def numbers(self) -> Sequence[str]:
        """The columns that are read as numbers."""
        return self.columns[0]

    @property
    def texts(self) -> Sequence[str]:
        """The columns of texts that are read as they are."""
        return self.columns[1]

    @property
    def in_turn(self) -> bool:
        """Whether `add` asks for the columns of numbers in turn, each once, or again at once."""
        return False

    @property
    def by_columns(self) -> bool:
        """Whether `turns` needs no column of numbers beforehand, but what rows are grouped by."""
        return len(self.numbers) <= 1

    @property
    def coded(self) -> CodedColumns | None:
        """The same where it is codes of columns, which an engine may sum itself; None elsewhere."""
        return None

    @abstractmethod
    def zeros(self) -> Integers:
        """Return what no rows add up to: 0 everywhere, in 64 bits, in a shape that no row moves."""

    @abstractmethod
    def add(self, found: Integers, batch: Batch) -> None:
        """Add some rows to `found`, of the shape of `zeros`, so that 2^37 rows fit its 64 bits."""

    def turns(self, found: Integers, batch: Batch) -> dict[int, Turn]:
        """Add what no column of numbers says by itself, and return what adds the rest.

        That is given each column once, in any order, by its place among `numbers`; two threads may
        give two of them at once, as what columns add up to stands apart. Where rows are not added
        up `by_columns`, nothing is left to add.
        """

        def add(*columns: Vector) -> None:
            for start in range(0, len((*columns, *texts)[0]), _ROWS):
                own = slice(start, start + _ROWS)
                self.add(found, Batch([c[own] for c in columns], [t[own] for t in texts]))

        texts = batch.texts
        if len(self.numbers) == 1:
            return {0: add}
        add(*batch.numbers)
        return {}


class AbstractTurns(AbstractFold):
    """A fold that adds up columns one by one, where it is `in_turn`."""

    @property
    @final
    def by_columns(self) -> bool:
        """Whether it is `in_turn`."""
        return self.in_turn

    @final
    def add(self, found: Integers, batch: Batch) -> None:
        """Add rows, column after column."""
        for place, turn in self.turns(found, batch).items():
            turn(batch.numbers[place])

    @abstractmethod
    def turns(self, found: Integers, batch: Batch) -> dict[int, Turn]:
        """As of `AbstractFold`."""


@final
@dataclass(frozen=True, eq=False)
class Folds(AbstractTurns):
    """What several questions add up of the same rows, which are read once: all in a row.

    Each column of numbers is handed to all of them before the next.

    Args:
        members: what each adds up.

    Examples:
        >>> both = Folds((RangeSums((("x", 0, 3),), False), RangeSums((("x", 0, 9),), False)))
        >>> both.add(found := both.zeros(), Batch([np.array([2.0, 5.0])], []))
        >>> both.columns, [own.tolist() for own in both.parts(found)]
        ((['x'], []), [[[0, 5, 2], [0, 0, 2]], [[0, 7, 2], [0, 0, 2]]])
    """

    members: tuple[AbstractFold, ...]

    @cached_property
    def columns(self) -> tuple[Sequence[str], Sequence[str]]:
        """Those of all members, each once as numbers and once as texts."""
        numbers = dict.fromkeys(name for own in self.members for name in own.numbers)
        texts = dict.fromkeys(name for own in self.members for name in own.texts)
        return list(numbers), list(texts)

    @cached_property
    def _shapes(self) -> list[tuple[int, ...]]:
        return [own.zeros().shape for own in self.members]

    def zeros(self) -> Integers:
        """Return zeros, shape (k,)."""
        return np.zeros(sum(map(math.prod, self._shapes)), dtype=np.int64)

    def parts(self, found: Integers) -> list[Integers]:
        """Return what is each member's, in its shape; nothing is copied."""
        ends = np.cumsum([0, *map(math.prod, self._shapes)]).tolist()
        own = [found[start:end] for start, end in itertools.pairwise(ends)]
        return [part.reshape(shape) for part, shape in zip(own, self._shapes, strict=True)]

    @property
    def in_turn(self) -> bool:
        """Whether few members take the columns of numbers, each one by one in any order."""
        return len(self.members) <= _MEMBERS and all(own.by_columns for own in self.members)

    def turns(self, found: Integers, batch: Batch) -> dict[int, Turn]:
        """Return what adds each column to what every member has, in the order of `numbers`."""
        places = {name: place for place, name in enumerate(self.numbers)}
        texts = dict(zip(self.texts, batch.texts, strict=True))
        every: list[list[Turn]] = [[] for _ in places]
        for own, part in zip(self.members, self.parts(found), strict=True):
            mine = [places[name] for name in own.numbers]
            columns = InTurn(batch.numbers.__getitem__, mine)
            given = Batch(columns, [texts[name] for name in own.texts])
            for place, turn in own.turns(part, given).items():
                every[mine[place]].append(turn)
        return {place: partial(_taken, turns) for place, turns in enumerate(every) if turns}


def floats_of(column: Any) -> Vector:  # noqa: ANN401 (pyarrow has no types)
    """Return the numbers of an Arrow array of doubles, null as NaN, shape (n,).

    Where no cell is null, its own memory: Arrow's way to numpy loads pandas, if there is one.
    """
    if column.null_count or not len(column):
        found: Vector = column.to_numpy(zero_copy_only=False)
        return found
    return np.frombuffer(column.buffers()[1], np.float64)[column.offset :][: len(column)]


def _taken(turns: Iterable[Turn], column: Vector) -> None:
    for turn in turns:
        turn(column)


def folded(work: AbstractFold, batches: Iterable[Batch]) -> Integers:
    """Return what batches add up to, one after the other."""
    found = work.zeros()
    for batch in batches:
        work.add(found, batch)
    return found


def complete_rows(columns: Sequence[Vector]) -> list[Vector]:
    """Return the rows that lack no value, by columns of shape (n,).

    Examples:
        >>> complete_rows([np.array([1.0, np.nan, 3.0]), np.array([4.0, 5.0, np.nan])])
        [array([1.]), array([4.])]
    """
    kept = ~np.any([np.isnan(column) for column in columns], axis=0)
    return list(columns) if kept.all() else [column[kept] for column in columns]


@final
@dataclass(frozen=True, eq=False)
class CodeSums(AbstractTurns):
    """The sums of codes and how many rows those are, by high and low bits, shape (r + 1, 2).

    Args:
        query: what is summed.

    Examples:
        >>> from lownoise.engines.codings import Coding, TotalsQuery
        >>> one = np.ones(1)
        >>> coding = Coding(columns=("x",), lower=0 * one, upper=4 * one, center=2 * one,
        ...                 missing=2 * one, step=one / 2)
        >>> work = CodeSums(TotalsQuery(coding, drops_missing=False))
        >>> work.add(found := work.zeros(), Batch([np.array([-9.0, 0.9, np.nan])], []))
        >>> CodeSums.totals(found)
        Totals(count=3, sums=(-6,))
    """

    query: TotalsQuery

    @property
    def columns(self) -> tuple[Sequence[str], Sequence[str]]:
        """Those of the coding, as numbers."""
        return self.query.coding.columns, ()

    @property
    def in_turn(self) -> bool:
        """Whether a code is of one column, and no row is left out for another."""
        return self.query.in_turn

    @property
    def coded(self) -> CodedColumns | None:
        """The codes of its columns, of all rows."""
        return CodedColumns.of(self.query, {}, lambda _none: np.zeros(0, dtype=np.int64))

    def zeros(self) -> Integers:
        """Return zeros, a pair a code and one for the count."""
        return np.zeros((self.query.coding.step.size + 1, 2), dtype=np.int64)

    def turns(self, found: Integers, batch: Batch) -> dict[int, Turn]:
        """Return what adds the codes of each column."""

        def add(first: int, *columns: Vector) -> None:
            if not first:
                found[-1, 1] += len(columns[0])
            for i, total in enumerate(self.query.coding.sums(columns, first), first):
                found[i] += (total >> HALF, total & ((1 << HALF) - 1))

        if self.in_turn:
            return {i: partial(add, i) for i in range(len(self.numbers))}
        complete = self.query.drops_missing
        add(0, *(complete_rows(batch.numbers) if complete else batch.numbers))
        return {}

    @staticmethod
    def totals(found: Integers) -> Totals:
        """Return what was found as whole numbers."""
        *sums, count = [(high << HALF) + low for high, low in found.tolist()]
        return Totals(count, tuple(sums))


@final
@dataclass(frozen=True, eq=False)
class RangeSums(AbstractTurns):
    """Sums of columns of integers, each clipped to its range, and how many there are of each.

    A row of high bits, low bits and values that are there for each column, and last one of rows:
    shape (k + 1, 3).

    Args:
        ranges: the columns, and their ends.
        complete: leave out every row that lacks a value in one of the columns.

    Examples:
        >>> work = RangeSums((("x", 0, 3),), complete=False)
        >>> work.add(found := work.zeros(), Batch([np.array([-9.0, 5.0, np.nan])], []))
        >>> found.tolist()
        [[0, 3, 2], [0, 0, 3]]
    """

    ranges: tuple[Range, ...]
    complete: bool

    @property
    def columns(self) -> tuple[Sequence[str], Sequence[str]]:
        """Those of the ranges, as numbers."""
        return [name for name, _, _ in self.ranges], ()

    @property
    def in_turn(self) -> bool:
        """Whether no row is left out for another column."""
        return not self.complete

    @cached_property
    def _each(self) -> list[ColumnCode]:
        ends = [(float(lower), float(upper)) for _, lower, upper in self.ranges]
        return [ColumnCode(*own, 0.0, 1.0, 0, max(map(abs, own)), integral=True) for own in ends]

    def zeros(self) -> Integers:
        """Return zeros."""
        return np.zeros((len(self.ranges) + 1, 3), dtype=np.int64)

    def turns(self, found: Integers, batch: Batch) -> dict[int, Turn]:
        """Return what adds the integers of each column."""

        def add(i: int, column: Vector) -> None:
            if not i:
                found[-1, 2] += len(column)
            total, lacks = self._each[i].sum(column)
            found[i] += (total >> HALF, total & ((1 << HALF) - 1), len(column) - lacks)

        if self.in_turn:
            return {i: partial(add, i) for i in range(len(self.ranges))}
        for i, column in enumerate(complete_rows(batch.numbers)):
            add(i, column)
        return {}
