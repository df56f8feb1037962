# SPDX-License-Identifier: Apache-2.0
"""The reference engine: columns in memory, Python's integers; the others are judged against it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.adding import HALF
from lownoise.engines.codings import Totals
from lownoise.engines.folds import Batch
from lownoise.engines.source import AbstractSource, Groups, UnitRows, require
from lownoise.engines.units import floats_of, kept_rows
from lownoise.numbers.readable import brief
from lownoise.numbers.values import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from lownoise.engines.codings import TotalsQuery
    from lownoise.engines.folds import Range
    from lownoise.engines.source import Kind
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy.units import PrivacyUnit

_KINDS: dict[str, Kind] = {"i": "integers", "b": "integers", "f": "numbers", "u": "numbers"}


@final
@dataclass(frozen=True, eq=False, repr=False)
class MemorySource(AbstractSource):
    """A table by its columns, which are arrays of one length; those of objects hold texts.

    Args:
        columns: arrays by their names.

    Examples:
        >>> source = MemorySource({"x": np.array([1, 5]), "y": np.array(["0x10", None], object)})
        >>> source
        MemorySource(columns ['x', 'y'])
        >>> source.kinds(["x", "y"]), [b.numbers[0].tolist() for b in source.batches(["y"])]
        (('integers', 'texts'), [[16.0, nan]])
        >>> source.sums([("x", 0, 3)], complete=True)
        Sums(count=2, present=(2,), sums=(4,))
    """

    unit_kinds = ("integers", "numbers", "texts")
    columns: Mapping[str, NDArray[Any]]

    def __repr__(self) -> str:
        return f"MemorySource(columns {brief(list(self.columns))})"

    def kinds(self, columns: Sequence[str]) -> tuple[Kind, ...]:
        """Return what each column holds, by the type of its array."""
        require(list(self.columns), columns)
        return tuple(_KINDS.get(self.columns[name].dtype.kind, "texts") for name in columns)

    def batches(self, numbers: Sequence[str], texts: Sequence[str] = ()) -> Iterator[Batch]:
        """Return all rows, in one batch."""
        import pyarrow as pa

        yield Batch(
            [np.array([number(v) for v in self.columns[name]], float) for name in numbers],
            [pa.array(list(self.columns[name]), pa.string()) for name in texts],
        )

    def bounded(self, unit: PrivacyUnit, columns: Sequence[str]) -> MemorySource:
        """Return the first rows of each unit, ordered row by row and in Python's own values."""
        kept = kept_rows(self, unit, columns, self._units(unit.column))
        return MemorySource({name: own[kept] for name, own in self.columns.items()})

    def _units(self, column: str) -> list[Any]:
        # NaN is a unit that is missing; equal numbers are one key, and −0 is 0
        held = self.columns[column].tolist()
        return [None if isinstance(v, float) and math.isnan(v) else v for v in held]

    def added_up(self, unit: PrivacyUnit, each: TotalsQuery) -> UnitRows:
        """Return what the rows of each unit add up to, row by row and in Python's integers."""
        (batch,) = self.batches(each.coding.columns)
        rows = np.stack(batch.numbers, axis=1)
        found: dict[Any, list[int]] = {}
        for key, row in zip(self._units(unit.column), rows, strict=True):
            known = None if key == "" else key
            missing = known is None and unit.null == "drop"
            if missing or (each.drops_missing and np.isnan(row).any()):
                continue
            codes = each.coding.encode(row).tolist()
            sums = found.get(known, [0] * len(codes))
            found[known] = [k + own for k, own in zip(codes, sums, strict=True)]
        totals = zip(*found.values(), strict=True) if found else [() for _ in each.coding.columns]
        halves = [
            np.array(half, dtype=np.int64)
            for own in totals
            for half in ([k >> HALF for k in own], [k & ((1 << HALF) - 1) for k in own])
        ]
        return UnitRows(each.coding.columns, floats_of(each, halves))

    def group_sums(
        self, numbers: Sequence[str], texts: Sequence[str] = (), ranges: Sequence[Range] = ()
    ) -> Iterator[Groups]:
        """Return each group once, row by row and in Python's integers."""
        import pyarrow as pa

        held = [[number(v) for v in self.columns[name]] for name in numbers]
        keys = [[None if math.isnan(v) else v for v in column] for column in held]
        keys += [list(self.columns[name]) for name in texts]
        rows: dict[tuple[Any, ...], list[int]] = {}
        for i, key in enumerate(zip(*keys, strict=True)):
            rows.setdefault(key, []).append(i)
        sums = []
        for name, lower, upper in ranges:
            own = [[self.columns[name][i] for i in at] for at in rows.values()]
            known = [[int(v) for v in values if v is not None] for values in own]
            clipped = [sum(min(max(v, lower), upper) for v in values) for values in known]
            counts = np.array([len(values) for values in known], dtype=np.int64)
            sums.append((counts, np.array(clipped, dtype=object)))
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in keys]
        yield Groups(
            Batch(
                [np.array(column, dtype=np.float64) for column in columns[: len(numbers)]],
                [pa.array(column, pa.string()) for column in columns[len(numbers) :]],
            ),
            np.array([len(at) for at in rows.values()], dtype=np.int64),
            sums,
        )


def totals(query: TotalsQuery, records: Vector) -> Totals:
    """Return the totals over `records`, shape (n, d), in the query's column order; NaN is missing.

    Examples:
        >>> from lownoise.engines.codings import Coding, TotalsQuery
        >>> one = np.ones(1)
        >>> coding = Coding(columns=("x",), lower=0 * one, upper=one, center=0 * one,
        ...                 missing=0 * one, step=one / 4)
        >>> totals(TotalsQuery(coding, drops_missing=False), np.array([[0.5], [2.0], [np.nan]]))
        Totals(count=3, sums=(6,))
    """
    rows = records[~np.isnan(records).any(axis=1)] if query.drops_missing else records
    codes = query.coding.encode(rows)
    return Totals(len(rows), tuple(sum(column) for column in codes.T.tolist()))
