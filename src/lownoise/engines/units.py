# SPDX-License-Identifier: Apache-2.0
"""The first rows of each unit: what every engine means by them, and how one does that cannot.

Rows of a unit are ordered by columns, each by the numbers that its cells are or spell, then by
their texts, byte by byte; what is missing is last, as a text without letters is, and −0 is 0.
Columns that the question reads end the order, so rows alike in all of it add the same, and which of
them is kept makes no difference. A unit's own rows alone decide which of them are kept.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.folds import Batch
from lownoise.engines.source import AbstractSource

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from lownoise.engines.codings import TotalsQuery
    from lownoise.engines.source import Kind
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy.units import PrivacyUnit


@final
@dataclass(frozen=True, eq=False)
class UnitTable:
    """A table of which the first rows of each unit count; `source_of` opens it.

    Args:
        table: as `source_of` takes it.
        unit: which rows are one unit's, and how many count.
        each: what each of them adds to a unit's total; None where rows are read as they are.
    """

    table: Any
    unit: PrivacyUnit
    each: TotalsQuery | None = None


def order_of(unit: PrivacyUnit, columns: Sequence[str]) -> list[str]:
    """Return the columns that rows of a unit are ordered by, the first of them first.

    The question's columns come by their names, so that no order of a table's columns matters.
    """
    return list(dict.fromkeys([*unit.order_by, *sorted(columns)]))


def first_rows(source: AbstractSource, unit: PrivacyUnit, columns: Sequence[str]) -> KeptRows:
    """Return the first rows of each unit of a source that gives its rows in order, twice."""
    keys = [
        key for batch in source.batches([], [unit.column]) for key in batch.texts[0].to_pylist()
    ]
    return KeptRows(source, kept_rows(source, unit, columns, keys))


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
