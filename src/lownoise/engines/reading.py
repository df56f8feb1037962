# SPDX-License-Identifier: Apache-2.0
"""From a table of any engine to exact totals of codes, or to its rows in their order.

The codes of floats are made of batches by `AbstractCoding` itself, so that their meaning is the
reference's by construction. Where every column is of integers and its codes are exact multiples,
the engine sums the integers instead, which is faster still.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.engines.query import Totals
from lownoise.engines.quiet import alike
from lownoise.engines.source import AbstractSource, complete_rows
from lownoise.engines.tables import failed, named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.query import AbstractCoding, ScaledIntegers, TotalsQuery
    from lownoise.numbers.arrays import Vector


def source_of(table: Any, columns: Sequence[str]) -> AbstractSource:  # noqa: ANN401 (any frame)
    """Return the table as an engine reads it; DuckDB, where it is of no engine itself.

    Args:
        table: an `AbstractSource`, or as `lownoise.engines.reading.source_of` takes it.
        columns: the names that the question needs.

    Raises:
        TableError: where the table cannot be opened, or a column is absent or of a type that holds
            no numbers: known from its schema, before a row is read.
    """
    from lownoise.engines.duckdb import opened

    found = table if isinstance(table, AbstractSource) else opened(table, columns)
    found.kinds(columns)
    return found


def totals(query: TotalsQuery, table: Any) -> Totals:  # noqa: ANN401 (any frame)
    """Return the totals over the rows of `table`.

    Args:
        query: what is summed.
        table: as `source_of` takes it.

    Raises:
        TableError: where the table cannot be opened or does not fit the query: known from its
            schema, before a row is read.
        EngineError: where reading rows failed; the text is the same for every cause.
    """
    coding = query.coding
    source = source_of(table, coding.columns)
    with alike(failed(table, "summed")):
        integers = all(kind == "integers" for kind in source.kinds(coding.columns))
        scaled = coding.of_integers() if integers else None
        if scaled is None:
            return _of_batches(source, coding, complete=query.drops_missing)
        return _of_integers(source, coding, scaled, complete=query.drops_missing)


def _of_batches(source: AbstractSource, coding: AbstractCoding, *, complete: bool) -> Totals:
    """Sum the codes batch by batch."""
    count, sums = 0, [0] * coding.step.size
    for batch in source.batches(coding.columns):
        columns = complete_rows(batch.numbers) if complete else batch.numbers
        if len(columns[0]):
            count += len(columns[0])
            sums = [a + b for a, b in zip(sums, coding.sums(columns), strict=True)]
    return Totals(count, tuple(sums))


def _of_integers(
    source: AbstractSource,
    coding: AbstractCoding,
    scaled: Sequence[ScaledIntegers],
    *,
    complete: bool,
) -> Totals:
    """Sum clamped integers x: Σ codes = (Σ clamp(x) − n·center)/step, and the stand-ins' codes."""
    ranges = [(c, own.lower, own.upper) for c, own in zip(coding.columns, scaled, strict=True)]
    found = source.sums(ranges, complete=complete)
    missing = coding.encode(coding.missing).tolist()
    sums = []
    for i, own in enumerate(scaled):
        present = found.present[i]
        absent = found.count - present
        sums.append(found.sums[i] * own.scale - present * own.offset + absent * missing[i])
    return Totals(found.count, tuple(sums))


def rows_of(columns: Sequence[str], table: Any) -> Iterator[Vector]:  # noqa: ANN401 (any frame)
    """Return the rows of a table, batch by batch, in their order, shape (k, d); NaN where missing.

    Args:
        columns: d names.
        table: as `source_of` takes it.

    Raises:
        TableError: where the table cannot be opened or lacks a column: known from its schema,
            before a row is read.
        EngineError: later, where reading rows failed; the text is the same for every cause.
    """
    said = (
        f"table={named(table)} could not be read to its end; check that the file is complete, and "
        "that memory and temporary disk suffice"
    )
    return _rows(columns, source_of(table, columns), said)


def _rows(columns: Sequence[str], source: AbstractSource, said: str) -> Iterator[Vector]:
    with alike(said):
        batches = iter(source.batches(columns))
    while True:
        with alike(said):  # and not around `yield`: what the caller says is the caller's
            batch = next(batches, None)
            if batch is None:
                return
            found = np.stack(batch.numbers, axis=1)
        yield found
