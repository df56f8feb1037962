# SPDX-License-Identifier: Apache-2.0
"""Rows of units: which of each one's are kept, and what they add up to, where no engine does so.

Rows of a unit are ordered by columns, each by the numbers that its cells are or spell, then by
their texts, byte by byte; what is missing is last, as a text without letters is, and −0 is 0.
Columns that the question reads end the order, so rows alike in all of it add the same, and which of
them is kept makes no difference. A unit's own rows alone decide which of them are kept.

Codes of rows are added up as integers, by high and low bits, so that those of 2^37 rows fit; what a
unit's add up to is made a float once, so that no order of its rows and no engine matters.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.engines.adding import HALF
from lownoise.engines.folds import complete_rows

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from lownoise.engines.codings import TotalsQuery
    from lownoise.engines.source import AbstractSource
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.privacy.units import PrivacyUnit

KEY = "key"
_PENDING = 1 << 20  # rows of parts, before those of one unit are added up


def order_of(unit: PrivacyUnit, columns: Sequence[str]) -> list[str]:
    """Return the columns that rows of a unit are ordered by, the first of them first.

    The question's columns come by their names, so that no order of a table's columns matters.
    """
    return list(dict.fromkeys([*unit.order_by, *sorted(columns)]))


def kept_rows(
    source: AbstractSource,
    unit: PrivacyUnit,
    columns: Sequence[str],
    keys: Sequence[Hashable],
) -> Vector:
    """Return which rows of a source are kept, shape (n,).

    Args:
        source: the table.
        unit: which rows are one unit's, and how many count.
        columns: that the question reads.
        keys: the unit of each row, None or a text without letters where it has none.
    """
    names = order_of(unit, columns)
    words = [n for n, kind in zip(names, source.kinds(names), strict=True) if kind == "texts"]
    ranks: list[tuple[Any, ...]] = []
    for batch in source.batches(names, words):
        texts = dict(zip(words, (own.to_pylist() for own in batch.texts), strict=True))
        cells = [
            [_rank(*cell) for cell in zip(own.tolist(), texts[name], strict=True)]
            if name in texts
            else [_rank(number, None) for number in own.tolist()]
            for name, own in zip(names, batch.numbers, strict=True)
        ]
        ranks += zip(*cells, strict=True)
    places = defaultdict(list)
    for i, key in enumerate(keys):
        known = None if key == "" else key
        if known is not None or unit.null == "one":
            places[known].append(i)
    kept = np.zeros(len(keys), dtype=bool)
    for rows in places.values():
        kept[sorted(rows, key=lambda i: ranks[i])[: unit.rows]] = True
    return kept


def _rank(number: float, text: str | None) -> tuple[bool, float, bool, bool, bytes]:
    """Return what cells are ordered by: numbers first, then texts, then what is missing."""
    lacks = math.isnan(number)
    raw = (text or "").encode("utf-8", "surrogatepass")
    return lacks, 0.0 if lacks else number, not text, text is None, raw


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


def added_up(each: TotalsQuery, parts: Iterable[Any], *, lacking: bool) -> list[Vector]:
    """Return what the rows of each unit add up to, by columns of shape (u,), a row a unit.

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
        return [np.zeros(0) for _ in each.coding.columns]
    found = merged(pending)
    if not lacking:
        found = found.filter(pc.is_valid(found[KEY]))
    halves = [found[name].to_numpy() for name in names_of(each)]
    return floats_of(each, halves)
