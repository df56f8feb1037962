# SPDX-License-Identifier: Apache-2.0
"""The embedded engine: one aggregate query through ibis on DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lownoise.engines.query import Totals
from lownoise.engines.tables import open_table
from lownoise.errors import TableError

if TYPE_CHECKING:
    from lownoise.engines.query import Coding, TotalsQuery


def totals(query: TotalsQuery, table: Any) -> Totals:  # noqa: ANN401 (any frame)
    """Return the totals over the rows of `table`.

    Args:
        query: what is summed.
        table: as `lownoise.engines.tables.open_table` takes it.

    Raises:
        TableError: where the table cannot be read or does not fit the query; the text depends on
            the schema, never on a row.
    """
    connection, rows = open_table(table, query.coding.columns)
    try:
        rows = rows.select(
            **{f"x{i}": _number(rows[c]) for i, c in enumerate(query.coding.columns)},
        )
        names = list(rows.columns)
        if query.drops_missing:
            rows = rows.drop_null(names, how="any")
        sums = {c: _sum(rows[c], query.coding, i) for i, c in enumerate(names)}
        answer = connection.to_pyarrow(rows.aggregate(n=rows.count(), **sums)).to_pylist()[0]
    except Exception:  # noqa: BLE001 (the engine's own text may quote a value)
        raise TableError(
            f"table={_named(table)} could not be summed; check that the file is complete, and "
            "that memory and temporary disk suffice",
        ) from None
    # the sum of no rows is null
    return Totals(int(answer["n"]), tuple(int(answer[c] or 0) for c in names))


def _number(column: Any) -> Any:  # noqa: ANN401
    """Return the column as floats, null where there is no number."""
    value = column.try_cast("float64") if column.type().is_string() else column.cast("float64")
    return value.isnan().ifelse(None, value)


def _sum(value: Any, coding: Coding, i: int) -> Any:  # noqa: ANN401
    import ibis

    scaled = (value.fill_null(_literal(coding.missing[i])) - _literal(coding.center[i])) * _literal(
        1 / coding.step[i],
    ) + 0.5
    # clamping the code is clamping the value, because every step is monotone; done here, it bounds
    # a record's reach by integers, whatever the engine's arithmetic
    most, least = _literal(coding.greatest()[i]), _literal(coding.least()[i])
    code = ibis.greatest(ibis.least(scaled, most), least).floor().cast("int64")
    # DuckDB sums 64-bit integers in 128 bits; the cast keeps them through the way out
    return code.sum().cast("decimal(38, 0)")


def _named(table: Any) -> str:  # noqa: ANN401
    return str(table) if isinstance(table, str) or hasattr(table, "__fspath__") else "frame"


def _literal(number: float) -> Any:  # noqa: ANN401
    """Return the number as a float; spelled as decimals it would be read as a decimal type."""
    import ibis

    return ibis.literal(repr(float(number))).cast("float64")
