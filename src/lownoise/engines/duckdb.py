# SPDX-License-Identifier: Apache-2.0
"""The embedded engine: DuckDB, through ibis, reads, parses and filters; the codes are summed here.

Columns stream out in batches and `Coding` itself makes their integers, so that the meaning is the
reference's by construction. Where every column is of integers and its codes are exact multiples,
one aggregate query sums them inside instead, which is faster still.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lownoise.engines.cells import number
from lownoise.engines.query import Coding, Totals
from lownoise.engines.quiet import alike
from lownoise.engines.tables import failed, open_table

if TYPE_CHECKING:
    from lownoise.engines.query import AbstractCoding, TotalsQuery

_BATCH = 1 << 17  # rows
_EXACT = 2.0**52  # floats up to here hold integers exactly, and halves


def totals(query: TotalsQuery, table: Any) -> Totals:  # noqa: ANN401 (any frame)
    """Return the totals over the rows of `table`.

    Args:
        query: what is summed.
        table: as `lownoise.engines.tables.open_table` takes it.

    Raises:
        TableError: where the table cannot be opened or does not fit the query: known from its
            schema, before a row is read.
        EngineError: where reading rows failed; the text is the same for every cause.
    """
    coding = query.coding
    connection, rows = open_table(table, coding.columns)
    with alike(failed(table, "summed")):
        rows = rows.select(**{f"x{i}": _number(rows[c]) for i, c in enumerate(coding.columns)})
        if query.drops_missing:
            rows = rows.filter([_present(rows[x]) for x in rows.columns])
        if isinstance(coding, Coding):
            scales = [_integer_scale(rows[x], coding, i) for i, x in enumerate(rows.columns)]
            if all(scales):
                return _aggregate(connection, rows, coding, scales)
        return _stream(connection, rows, coding)


def _number(column: Any) -> Any:  # noqa: ANN401
    """Return the column as 64-bit integers or as floats, null or NaN where there is no number."""
    kind = column.type()
    if kind.is_boolean() or (kind.is_integer() and not kind.is_uint64()):
        return column.cast("int64")
    return number(column)


def _present(value: Any) -> Any:  # noqa: ANN401
    known = value.notnull()
    return known & ~value.isnan() if value.type().is_floating() else known


def _stream(connection: Any, rows: Any, coding: AbstractCoding) -> Totals:  # noqa: ANN401
    """Sum the codes batch by batch."""
    count, sums = 0, [0] * coding.step.size
    floats = rows.select(**{x: rows[x].cast("float64") for x in rows.columns})
    for batch in batches(connection, floats):
        count += batch.num_rows
        # null becomes NaN, which is what a coding calls missing
        found = coding.sums([c.to_numpy(zero_copy_only=False) for c in batch.columns])
        sums = [a + b for a, b in zip(sums, found, strict=True)]
    return Totals(count, tuple(sums))


def batches(connection: Any, rows: Any) -> Any:  # noqa: ANN401
    """Return an Arrow reader of the rows of an ibis table on `connection`, batch by batch."""
    # what ibis's to_pyarrow_batches does, less a call that DuckDB deprecates
    connection._run_pre_execute_hooks(rows)  # noqa: SLF001
    return connection.con.sql(connection.compile(rows)).to_arrow_reader(_BATCH)


def _aggregate(connection: Any, rows: Any, coding: Coding, scales: list[int]) -> Totals:  # noqa: ANN401
    """Sum clamped integers x in one query: Σ codes = (Σ clamp(x) − n·center)/step."""
    import ibis

    wanted: dict[str, Any] = {"n": rows.count()}
    for i, x in enumerate(rows.columns):
        lower, upper = int(coding.lower[i]), int(coding.upper[i])
        clamped = ibis.greatest(ibis.least(rows[x].fill_null(lower), upper), lower)
        # DuckDB sums 64-bit integers in 128 bits; the cast keeps them through the way out
        wanted[f"s{i}"] = clamped.sum().cast("decimal(38, 0)")
        wanted[f"k{i}"] = rows[x].count()
    answer = connection.to_pyarrow(rows.aggregate(**wanted)).to_pylist()[0]
    count, missing = int(answer["n"]), coding.encode(coding.missing).tolist()
    sums = []
    for i, scale in enumerate(scales):
        present = int(answer[f"k{i}"])
        absent = count - present  # these were summed as the lower bound
        total = int(answer[f"s{i}"] or 0) - absent * int(coding.lower[i])  # no rows: null
        offset = int(float(coding.center[i]) * scale)
        sums.append(total * scale - present * offset + absent * missing[i])
    return Totals(count, tuple(sums))


def _integer_scale(value: Any, coding: Coding, i: int) -> int:  # noqa: ANN401
    """Return 1/step where the code of each integer x is exactly (x − center)/step, else 0."""
    lower, upper, center, step = (
        float(a[i]) for a in (coding.lower, coding.upper, coding.center, coding.step)
    )
    largest = max(-lower, upper, abs(center))
    whole = lower.is_integer() and upper.is_integer() and (center / step).is_integer()
    exact = step <= 1 and largest / step <= _EXACT
    return int(1 / step) if value.type().is_integer() and whole and exact else 0
