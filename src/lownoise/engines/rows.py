# SPDX-License-Identifier: Apache-2.0
"""The rows of a table in their order, as floats: rounds of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.engines.cells import number
from lownoise.engines.duckdb import batches
from lownoise.engines.numbers import number_of_text
from lownoise.engines.quiet import alike
from lownoise.engines.tables import named, open_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.numbers.arrays import Vector


def rows_of(columns: Sequence[str], table: Any) -> Iterator[Vector]:  # noqa: ANN401 (any frame)
    """Return the rows of a table, batch by batch, in their order, shape (k, d); NaN where missing.

    Args:
        columns: d names.
        table: as `lownoise.engines.tables.open_table` takes it.

    Raises:
        TableError: where the table cannot be opened or lacks a column: known from its schema,
            before a row is read.
        EngineError: later, where reading rows failed; the text is the same for every cause.
    """
    return _read(columns, table, *open_table(table, columns))


def _read(columns: Sequence[str], table: Any, connection: Any, rows: Any) -> Iterator[Vector]:  # noqa: ANN401
    said = (
        f"table={named(table)} could not be read to its end; check that the file is complete, and "
        "that memory and temporary disk suffice"
    )
    with alike(said):
        chosen = {f"x{i}": number(rows[name]) for i, name in enumerate(columns)}
        reader = iter(batches(connection, rows.select(**chosen)))
    while True:
        with alike(said):  # and not around `yield`: what the caller says is the caller's
            batch = next(reader, None)
            if batch is None:
                return
            found = np.stack([c.to_numpy(zero_copy_only=False) for c in batch.columns], axis=1)
        yield found


def row_of(line: str, count: int) -> list[float]:
    """Return the numbers of a line, NaN for what spells none; all of them where there are others.

    Args:
        line: numbers, a comma between two.
        count: how many there must be.

    Examples:
        >>> row_of(" 1,2e3", 2), row_of("one", 1), row_of("1,2", 1)
        ([1.0, 2000.0], [nan], [nan])
    """
    fields = line.split(",", count)
    if len(fields) != count:
        return [np.nan] * count
    return [number_of_text(field) for field in fields]
