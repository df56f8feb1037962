# SPDX-License-Identifier: Apache-2.0
"""What the rows of each unit add up to: a table of units, each with one row.

Codes of rows are added up as integers, by high and low bits, so that those of 2^37 rows fit; what a
unit's add up to is made a float once, so that no order of its rows and no engine matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.folds import HALF, Batch, complete_rows
from lownoise.engines.source import AbstractSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lownoise.engines.codings import TotalsQuery
    from lownoise.engines.source import Kind
    from lownoise.numbers.arrays import Integers, Vector

KEY = "key"
_PENDING = 1 << 20  # rows of parts, before those of one unit are added up
_BATCH = 1 << 17  # units


def names_of(each: TotalsQuery) -> list[str]:
    """Return how the high and the low bits of each column's sums are called."""
    return [f"{half}{i}" for i in range(len(each.coding.columns)) for half in "hl"]


def part_of(each: TotalsQuery, keys: Any, columns: Sequence[Vector]) -> Any:  # noqa: ANN401
    """Return an Arrow table of what some rows add to each of their units.

    Args:
        each: what a row adds.
        keys: an Arrow array of the units of rows, null where a row has none.
        columns: the rows, by columns of shape (n,); NaN where a value is missing.
    """
    import pyarrow as pa

    if each.drops_missing:
        known = ~np.any([np.isnan(column) for column in columns], axis=0)
        keys, columns = keys.filter(pa.array(known)), complete_rows(columns)
    halves = []
    for codes in each.coding.coordinates(columns):
        high = np.floor(codes * 2.0**-HALF)
        halves += [high.astype(np.int64), (codes - high * 2.0**HALF).astype(np.int64)]
    return merged([pa.table([keys, *map(pa.array, halves)], names=[KEY, *names_of(each)])])


def merged(parts: Sequence[Any]) -> Any:  # noqa: ANN401
    """Return an Arrow table of what parts add up to by unit; rows without one are one unit."""
    import pyarrow as pa

    own = pa.concat_tables(parts)
    names = own.schema.names[1:]
    found = own.group_by(KEY).aggregate([(name, "sum") for name in names])
    return found.select([KEY, *(f"{name}_sum" for name in names)]).rename_columns([KEY, *names])


def floats_of(each: TotalsQuery, halves: Sequence[Integers]) -> list[Vector]:
    """Return what units' rows add up to, by columns of shape (u,), as the floats nearest to it."""
    pairs = zip(halves[::2], halves[1::2], each.coding.step, strict=True)
    return [
        ((high + (low >> HALF)) * 2.0**HALF + (low & ((1 << HALF) - 1))) * step
        for high, low, step in pairs
    ]


def added_up(each: TotalsQuery, parts: Iterable[Any], *, lacking: bool) -> UnitRows:
    """Return the table of units.

    Args:
        each: what a row adds.
        parts: as `part_of` returns them.
        lacking: whether rows without a unit are one; else they are left out.
    """
    import pyarrow.compute as pc

    pending: list[Any] = []
    least = _PENDING
    for part in parts:
        pending.append(part)
        if sum(map(len, pending)) > least:
            pending = [merged(pending)]
            least = max(_PENDING, 2 * len(pending[0]))
    if not pending:
        return UnitRows(each.coding.columns, [np.zeros(0) for _ in each.coding.columns])
    found = merged(pending)
    if not lacking:
        found = found.filter(pc.is_valid(found[KEY]))
    halves = [found[name].to_numpy() for name in names_of(each)]
    return UnitRows(each.coding.columns, floats_of(each, halves))


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
