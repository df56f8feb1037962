# SPDX-License-Identifier: Apache-2.0
"""The rows of a table in their order, as floats: rounds of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.engines.cells import number
from lownoise.engines.duckdb import batches
from lownoise.engines.numbers import number_of_text
from lownoise.engines.tables import named, open_table
from lownoise.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.arrays import Vector


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
    try:
        chosen = {f"x{i}": number(rows[name]) for i, name in enumerate(columns)}
        for batch in batches(connection, rows.select(**chosen)):
            yield np.stack([c.to_numpy(zero_copy_only=False) for c in batch.columns], axis=1)
    except Exception:  # noqa: BLE001 (the engine's own text may quote a value)
        raise EngineError(
            f"table={named(table)} could not be read to its end; check that the file is complete, "
            "and that memory and temporary disk suffice",
        ) from None


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
