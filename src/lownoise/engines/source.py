# SPDX-License-Identifier: Apache-2.0
"""What a table is to an engine, and what is read of one: totals of codes, or its rows in order.

An engine is one class of `AbstractSource`, and the memory one judges it. What a cell means follows
from the cell alone, as `engines.cells.number` says it; codes are made of the batches by the
package, so that their meaning is the reference's by construction. Where every column is of integers
and its codes are exact multiples, the engine sums the integers instead, which is faster still.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from lownoise.engines.adding import HALF
from lownoise.engines.folds import Batch, RangeSums, folded
from lownoise.engines.units import added_up, kept_rows, part_of
from lownoise.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.codings import TotalsQuery
    from lownoise.engines.folds import AbstractFold, Range
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.privacy.units import PrivacyUnit

Kind = Literal["integers", "numbers", "texts"]  # what a column holds: 64 bits with a sign, or less
_MOST_NAMES = 20  # in a message
_BATCH = 1 << 17  # units


@final
@dataclass(frozen=True)
class Columns:
    """Which columns of a table are read, and what they may hold.

    Args:
        names: of all of them.
        ordered: those that rows are only ordered by, which may hold dates and times, too.
        unit: the one that tells units apart, of which objects of any kind are told apart; None
            for rows.
        asked_too: whether units are told apart by a column that is asked or ordered by as well.
    """

    names: Sequence[str]
    ordered: frozenset[str] = frozenset()
    unit: str | None = None
    asked_too: bool = False

    @classmethod
    def of(cls, asked: Sequence[str], unit: PrivacyUnit | None) -> Columns:
        """Return those that a question needs, and which rows of a unit count needs beside them."""
        if unit is None:
            return cls(asked)
        return cls(
            list(dict.fromkeys([*asked, *unit.columns])),
            frozenset(unit.order_by) - {*asked, unit.column},
            unit.column,
            unit.column in {*asked, *unit.order_by},
        )

    def without(self, others: Sequence[str]) -> Columns:
        """Return them but for some."""
        return replace(self, names=[name for name in self.names if name not in others])


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

    @classmethod
    def of(cls, found: Integers) -> Sums:
        """Return what a `RangeSums` found."""
        *columns, (_, _, count) = found.tolist()
        return cls(
            count,
            tuple(present for _, _, present in columns),
            tuple((high << HALF) + low for high, low, _ in columns),
        )


@final
@dataclass(frozen=True, eq=False)
class Groups:
    """Some groups of rows that hold the same in their key columns; a group may come again.

    Args:
        keys: what the rows of each group hold there, a row a group.
        counts: how many rows those are, shape (g,).
        sums: of each column of integers how many of those rows have a number, and the exact sum of
            those numbers, clipped; shape (g,) each, the sums Python's integers.
    """

    keys: Batch
    counts: Integers
    sums: list[tuple[Integers, Any]]


class AbstractSource(ABC):
    """A table, as one engine reads it; every release takes one, of this package or of another.

    What it shows of itself holds no cell, and not how many rows there are.

    No word of an engine about its rows is shown. Whatever `batches`, `sums` or `group_sums` raises,
    an `EngineError` or a `TableError` too, is replaced by one `EngineError` with a text of ours,
    and the spend stays reserved. `kinds` may say what it finds in the schema, by a `TableError`,
    which is shown as it is and gives the spend back; anything else of it is replaced, too.

    `unit_kinds` are the kinds of columns that `bounded` tells units apart by without loss. Batches
    have floats, and two integers may be one float, so that by default they are texts alone. It is
    `near` where rows are handed over at the pace at which they are read; from one that is not, only
    distinct records come where all of them are needed.
    """

    unit_kinds: ClassVar[tuple[Kind, ...]] = ("texts",)
    near: ClassVar[bool] = True

    @property
    def held(self) -> bool:
        """Whether all rows are in memory, so that no two reads differ and each may have its way."""
        return False

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

    def bounded(self, unit: PrivacyUnit, columns: Sequence[str]) -> AbstractSource:
        """Return the first rows of each unit, as `engines.units` orders them.

        An engine that does so without rows leaving it does so here; by default all are read twice.

        Args:
            unit: which rows are one unit's, in a column of one of `unit_kinds`, and how many count.
            columns: that the question reads, by which rows alike in the unit's order are ordered.
        """
        keys = [
            key for batch in self.batches([], [unit.column]) for key in batch.texts[0].to_pylist()
        ]
        return KeptRows(self, kept_rows(self, unit, columns, keys))

    def keyed(self, column: str, columns: Sequence[str]) -> Iterator[tuple[Any, Sequence[Vector]]]:
        """Return all rows with their units, batch by batch.

        Args:
            column: what tells units apart, of one of `unit_kinds`.
            columns: that are read as numbers.

        Returns:
            An Arrow array of the units, null where a row has none, and columns of shape (n,).
        """
        import pyarrow.compute as pc

        for batch in self.batches(columns, [column]):
            texts = batch.texts[0]
            yield pc.if_else(pc.equal(texts, ""), None, texts), batch.numbers

    def added_up(self, unit: PrivacyUnit, each: TotalsQuery) -> AbstractSource:
        """Return a table of what the rows of each unit add up to, a row a unit, in no order.

        An engine that has units far away does so there; by default they come here.

        Args:
            unit: which rows are one unit's, all of which count.
            each: what a row adds; its columns are the table's.
        """
        columns = each.coding.columns
        parts = (part_of(each, *rows) for rows in self.keyed(unit.column, columns))
        return UnitRows(columns, added_up(each, parts, lacking=unit.null == "one"))

    def fold(self, work: AbstractFold) -> Integers:
        """Return what all rows add up to, each once, in no order.

        An engine that reads in several threads, or far away, does so here; by default rows come
        here in their order.

        Args:
            work: what a row adds.
        """
        return folded(work, self.batches(work.numbers, work.texts))

    def sums(self, ranges: Sequence[Range], *, complete: bool) -> Sums:
        """Return the exact sums of columns of integers, each clipped to its range.

        An engine that sums integers without the rows leaving it does so here.

        Args:
            ranges: of columns of integers; their ends are at most 2^52 from 0.
            complete: leave out every row that lacks a value in one of the columns.
        """
        return Sums.of(self.fold(RangeSums(tuple(ranges), complete)))

    def group_sums(
        self, numbers: Sequence[str], texts: Sequence[str] = (), ranges: Sequence[Range] = ()
    ) -> Iterator[Groups]:
        """Return rows by what they hold in some columns, and exact sums over each group.

        An engine that groups rows without their leaving it does so here; by default every row is a
        group, which whoever reads adds to its like.

        Args:
            numbers: key columns that are read as numbers, as of `batches`.
            texts: key columns of texts that are read as they are.
            ranges: of columns of integers that are summed, as of `sums`.
        """
        for batch in self.batches([*numbers, *(name for name, _, _ in ranges)], texts):
            columns = batch.numbers[len(numbers) :]
            length = len((batch.numbers or batch.texts)[0])
            yield Groups(
                Batch(batch.numbers[: len(numbers)], batch.texts),
                np.ones(length, dtype=np.int64),
                [
                    (known.astype(np.int64), np.array(clipped, dtype=object))
                    for known, clipped in map(_clipped, columns, ranges)
                ],
            )


def _clipped(column: Vector, own: Range) -> tuple[Any, list[int]]:
    """Return which values there are, shape (n,), and all, clipped to their range; 0 for none."""
    known = ~np.isnan(column)
    return known, list(map(int, np.where(known, np.clip(column, *own[1:]), 0.0).tolist()))


def require(names: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse a table that does not have each column once.

    Raises:
        TableError: where it does not.
    """
    for column in columns:
        if column not in names:
            known = ", ".join(map(repr, names[:_MOST_NAMES])) or "no columns"
            more = ", …" if len(names) > _MOST_NAMES else ""
            raise TableError(f"column={column!r} is not in the table; it has {known}{more}")
        if names.count(column) > 1:
            raise TableError(f"column={column!r} is in the table twice; rename one of the two")


def no_numbers(name: str, kind: object) -> TableError:
    """Return what is said of a column of a type that holds neither numbers nor text."""
    return TableError(
        f"column={name!r} has type {kind}; give a column of numbers or of text, such as dates as "
        "they are written",
    )


@final
@dataclass(frozen=True, eq=False, repr=False)
class KeptRows(AbstractSource):
    """Some rows of a source.

    Args:
        source: the table, whose rows come in the same order again.
        kept: which rows, shape (n,).
    """

    source: AbstractSource
    kept: Vector

    def kinds(self, columns: Sequence[str]) -> tuple[Kind, ...]:
        """Return what each column holds."""
        return self.source.kinds(columns)

    def batches(self, numbers: Sequence[str], texts: Sequence[str] = ()) -> Iterator[Batch]:
        """Return the rows that are kept, in their order, batch by batch."""
        import pyarrow as pa

        start = 0
        for batch in self.source.batches(numbers, texts):
            length = len((batch.numbers or batch.texts)[0])
            own = self.kept[start : start + length]
            start += length
            yield Batch(
                [column[own] for column in batch.numbers],
                [column.filter(pa.array(own)) for column in batch.texts],
            )


@final
@dataclass(frozen=True, eq=False, repr=False)
class UnitRows(AbstractSource):
    """A table of units, each with one row.

    Args:
        names: of the columns.
        columns: what rows of units add up to, shape (u,) each.
    """

    names: Sequence[str]
    columns: list[Vector]

    def kinds(self, columns: Sequence[str]) -> tuple[Kind, ...]:
        """Return that all are numbers."""
        return tuple("numbers" for _ in columns)

    def batches(self, numbers: Sequence[str], texts: Sequence[str] = ()) -> Iterator[Batch]:
        """Return all units, batch by batch; they have no texts."""
        own = [self.columns[self.names.index(name)] for name in numbers]
        for start in range(0, len(self.columns[0]), _BATCH):
            yield Batch([column[start : start + _BATCH] for column in own], [])
