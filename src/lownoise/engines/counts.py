# SPDX-License-Identifier: Apache-2.0
"""From a table to exact counts: values become the numbers of cells, and cells are counted.

`Records` are counted by sets of attributes. Where all of these together have few cells, one table
of all of them is kept, however many rows there are; else the codes of all rows are kept, a byte or
two each. Where cells of words are fewer still the engine groups the rows. Which of these it is
follows from the declared sizes and the table's schema alone.

A `Histogram` is how often each record of a declared universe occurs.

`Bits` are rows of bits, in packed columns that are combined and counted. The parity of a set of
bits is n − 2·(rows with an odd number of them set); that number is how many bits the exclusive or
of their columns has. 64 rows take one operation, so nothing of size 2^D is ever made.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar, final

import numpy as np

from lownoise.engines.categories import GROUPED, Reader, RowCells, places_of
from lownoise.engines.folds import AbstractFold, folded
from lownoise.engines.queries import TableQuery
from lownoise.numbers.arrays import stacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from lownoise.engines.folds import Batch
    from lownoise.engines.source import AbstractSource
    from lownoise.numbers.arrays import Integers, Words
    from lownoise.questions import Attribute, Universe

    Codes = NDArray[np.integer]
    Mask = NDArray[np.bool_]

T = TypeVar("T")

_WHOLE = 1 << 22  # cells of a table that is kept instead of its rows
_MOST_AXES = 32
_FEW_ROWS = 1 << 13  # so few are counted for many sets at once
_AT_ONCE = 1 << 16  # codes that stay in the cache
_PART = 18  # bits of a code at a time: sums of 2^44 rows of them fit 64 bits
_BLOCK = 1 << 13  # words that are combined at once


class Records(ABC):
    """The rows of a table as cells of its attributes, whichever way they are kept."""

    @cached_property
    def count(self) -> int:
        """The number of rows, less those that were left out: asked of every piece of a release."""
        return int(self.marginal(()))

    @abstractmethod
    def marginal(self, chosen: Sequence[int]) -> Integers:
        """Return the exact counts over the attributes `chosen`, rising, shape (n, …), made anew."""

    def marginals(self, sets: Sequence[Sequence[int]]) -> Integers:
        """Return the counts over several sets of attributes of the same sizes, shape (k, n, …)."""
        return stacked([self.marginal(chosen) for chosen in sets])


@final
@dataclass(frozen=True, eq=False)
class CellTable(Records):
    """How many rows each cell of all attributes together has.

    Args:
        table: the counts, an axis an attribute.
    """

    table: Integers

    def marginal(self, chosen: Sequence[int]) -> Integers:
        """Return the sums along all other axes."""
        others = tuple(i for i in range(self.table.ndim) if i not in chosen)
        return np.asarray(self.table.sum(axis=others))


@final
@dataclass(frozen=True, eq=False)
class CodedRows(Records):
    """The cell of each row.

    Args:
        sizes: the number of cells of each attribute, shape (D,).
        codes: one array an attribute, all of one length.
    """

    sizes: tuple[int, ...]
    codes: tuple[Codes, ...]

    def marginal(self, chosen: Sequence[int]) -> Integers:
        """Return the counts over the attributes `chosen`, rising, shape (n, …).

        Examples:
            >>> rows = CodedRows((2, 3), (np.array([0, 1, 1]), np.array([2, 0, 0])))
            >>> rows.marginal((0, 1)).tolist(), rows.marginal(()).tolist()
            ([[0, 0, 1], [2, 0, 0]], 3)
        """
        return self.counted(chosen)

    def counted(self, chosen: Sequence[int], repeats: Integers | None = None) -> Integers:
        """Return the same, each row as often as it stands for."""
        shape = [self.sizes[i] for i in chosen]
        first = self.codes[chosen[0]] if chosen else np.zeros(len(self.codes[0]))
        flat = first.astype(np.int64)
        for i, size in zip(chosen[1:], shape[1:], strict=True):
            flat *= size
            flat += self.codes[i]
        found = np.bincount(flat, repeats, math.prod(shape))  # exact to 2^53 rows
        return found.astype(np.int64, copy=False).reshape(shape)

    def marginals(self, sets: Sequence[Sequence[int]]) -> Integers:
        """Return the counts over several sets; few rows are counted for many sets at once.

        Examples:
            >>> rows = CodedRows((2, 2), (np.array([0, 1, 1]),) * 2)
            >>> rows.marginals([(0,), (1,)]).tolist()
            [[1, 2], [1, 2]]
        """
        shape, count = [self.sizes[i] for i in sets[0]], len(self.codes[0])
        if not shape or count > _FEW_ROWS:
            return stacked([self.marginal(chosen) for chosen in sets])
        codes = np.stack(self.codes)
        many = max(_AT_ONCE // max(count, 1), 1)
        found = [np.zeros(0, dtype=np.int64)]
        for start in range(0, len(sets), many):
            columns = np.array(sets[start : start + many]).T
            flat = np.repeat(np.arange(columns.shape[1])[:, None], count, axis=1)
            for column, size in zip(columns, shape, strict=True):
                flat *= size
                flat += codes[column]
            cells = columns.shape[1] * math.prod(shape)
            found.append(np.bincount(flat.reshape(-1), minlength=cells))
        return np.concatenate(found).reshape(len(sets), *shape)


@final
@dataclass(frozen=True, eq=False)
class DistinctRows(Records):
    """Rows that may be alike, once each, and how many of them there are.

    Args:
        rows: once each.
        repeats: how many each of them stands for, shape (k,).
    """

    rows: CodedRows
    repeats: Integers

    def marginal(self, chosen: Sequence[int]) -> Integers:
        """Return the counts over the attributes `chosen`, each row as often as it stands for."""
        return self.rows.counted(chosen, self.repeats)


def records_query(attributes: Sequence[Attribute]) -> TableQuery[Records]:
    """Return what is asked of a table for its rows as cells of its attributes.

    Args:
        attributes: the columns and their categories.
    """
    sizes = tuple(a.size for a in attributes)
    if math.prod(sizes) <= _WHOLE and len(sizes) <= _MOST_AXES:

        def tabled(counts: Integers) -> Records:
            return CellTable(counts.reshape(sizes))

        return _counted(attributes, math.prod(sizes), partial(places_of, sizes=sizes), tabled)

    def work(source: AbstractSource) -> tuple[RowCells, Callable[[Integers], Records]]:
        own = RowCells(Reader.of(attributes, source))
        return own, lambda _found: CodedRows(sizes, own.codes())

    def alone(source: AbstractSource) -> Records:
        own = RowCells(Reader.of(attributes, source))
        if source.near:
            folded(own, source.batches(*own.columns))
            return CodedRows(sizes, own.codes())
        groups = source.group_sums(*own.columns)
        none = np.zeros(0, dtype=np.int64)
        each = np.concatenate([none, *(one.counts[own.keep(one.keys)] for one in groups)])
        return DistinctRows(CodedRows(sizes, own.codes()), each)

    return TableQuery(tuple(a.name for a in attributes), work, "counted", alone)


def _counted(
    attributes: Sequence[Attribute],
    size: int,
    places: Callable[[list[Integers]], Integers],
    made: Callable[[Integers], T],
) -> TableQuery[T]:
    """Return what is asked of a table for how many of its rows are at each place, shape (size,).

    Args:
        attributes: the columns and their categories.
        size: the number of places.
        places: from cells, one array an attribute, to the place of each, −1 where it has none.
        made: from the counts to what is said of them.
    """

    def work(source: AbstractSource) -> tuple[CellCounts, Callable[[Integers], T]]:
        return CellCounts(Reader.of(attributes, source), size, places), made

    def alone(source: AbstractSource) -> T:
        own, _ = work(source)
        reader = own.reader
        if not (reader.worded and size <= GROUPED):
            return made(source.fold(own))
        found = own.zeros()
        for groups in source.group_sums(reader.numbers, reader.texts):
            at = places(reader.cells(groups.keys))
            np.add.at(found, at[at >= 0], groups.counts[at >= 0])
        return made(found)

    return TableQuery(tuple(a.name for a in attributes), work, "counted", alone)


@final
@dataclass(frozen=True, eq=False)
class CellCounts(AbstractFold):
    """How many rows are at each place, shape (size,).

    Args:
        reader: of the rows' cells.
        size: the number of places.
        places: from cells, one array an attribute, to the place of each, −1 where it has none.
    """

    reader: Reader
    size: int
    places: Callable[[list[Integers]], Integers]

    @property
    def columns(self) -> tuple[Sequence[str], Sequence[str]]:
        """Those in which a category is a number, and those in which one is a word."""
        return self.reader.numbers, self.reader.texts

    def zeros(self) -> Integers:
        """Return zeros."""
        return np.zeros(self.size, dtype=np.int64)

    def add(self, found: Integers, batch: Batch) -> None:
        """Count rows."""
        at = self.places(self.reader.cells(batch))
        found += np.bincount(at[at >= 0], minlength=self.size)


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


def histogram_query(universe: Universe) -> TableQuery[Histogram]:
    """Return what is asked of a table for how often each record of `universe` occurs in it.

    Args:
        universe: the records, and where others go.
    """
    return _counted(universe.attributes, universe.size, universe.places, Histogram)


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


@final
@dataclass(frozen=True, eq=False)
class ParityCounts(AbstractFold):
    """The sums over rows of (−1)^(sum of a set's bits), and last how many rows, shape (m + 1,).

    Args:
        reader: of the rows' cells, two of each attribute.
        degrees: the sizes of the sets, as of `Bits.parities`.
    """

    reader: Reader
    degrees: tuple[int, ...]

    @property
    def columns(self) -> tuple[Sequence[str], Sequence[str]]:
        """Those in which a category is a number, and those in which one is a word."""
        return self.reader.numbers, self.reader.texts

    def zeros(self) -> Integers:
        """Return zeros."""
        every = len(self.reader.attributes)
        return np.zeros(sum(math.comb(every, k) for k in self.degrees) + 1, dtype=np.int64)

    def add(self, found: Integers, batch: Batch) -> None:
        """Add rows."""
        cells = self.reader.cells(batch)
        kept = np.all([c >= 0 for c in cells], axis=0)
        bits = bits_of([c[kept] for c in cells])
        found[:-1] += bits.parities(self.degrees)
        found[-1] += bits.count


def parities_query(attributes: Sequence[Attribute], degrees: Sequence[int]) -> TableQuery[Parities]:
    """Return what is asked of a table for the parities of its rows.

    Args:
        attributes: the columns, of two categories each.
        degrees: the sizes of the sets, as of `Bits.parities`.
    """

    def work(source: AbstractSource) -> tuple[ParityCounts, Callable[[Integers], Parities]]:
        own = ParityCounts(Reader.of(attributes, source), tuple(degrees))
        return own, lambda found: Parities(int(found[-1]), tuple(found[:-1].tolist()))

    return TableQuery(tuple(a.name for a in attributes), work, "counted")


@final
@dataclass(frozen=True)
class Parities:
    """What is asked of rows of bits.

    Args:
        count: the number of rows, less those that were left out.
        sums: over them of (−1)^(sum of the set's bits), a set each.
    """

    count: int
    sums: tuple[int, ...]
