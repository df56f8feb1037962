# SPDX-License-Identifier: Apache-2.0
"""Opening a table: from a path or a frame to an ibis table whose schema comes from no row.

A CSV file is read as text, names from its first line; a row with too few fields lacks the last
ones, and fields too many are ignored. Text becomes a number where it spells one and is missing
otherwise. No error text of the engine is shown, because it may quote a value.
"""

from __future__ import annotations

import csv
import gzip
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lownoise.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PARQUET = (".parquet", ".pq")
_MOST_NAMES = 20  # in a message
_CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


def open_table(table: Any, columns: Sequence[str]) -> tuple[Any, Any]:  # noqa: ANN401 (any frame)
    """Return an embedded DuckDB of the table's own, and an ibis table that has `columns`.

    Args:
        table: the path of a CSV (.csv, .tsv, also .gz) or Parquet file, a pandas DataFrame, or
            anything that speaks Arrow's C stream (pyarrow, polars, …).
        columns: the names that the question needs.

    Raises:
        TableError: where it cannot be read, or a column is absent or of a type that holds no
            numbers.
    """
    import ibis

    connection = ibis.duckdb.connect()
    if isinstance(table, (str, Path)):
        opened = _open_path(connection, Path(table), columns)
    else:
        opened = ibis.memtable(_arrow(table, columns))
    schema = opened.schema()
    _require(list(schema.names), columns)
    for column in columns:
        kind = schema[column]
        if not (kind.is_numeric() or kind.is_boolean() or kind.is_string()):
            raise TableError(
                f"column={column!r} has type {kind}; give a column of numbers, or of text "
                "that spells numbers",
            )
    return connection, opened


def _require(names: Sequence[str], columns: Sequence[str]) -> None:
    for column in columns:
        if column not in names:
            known = ", ".join(map(repr, names[:_MOST_NAMES]))
            more = ", …" if len(names) > _MOST_NAMES else ""
            raise TableError(f"column={column!r} is not in the table; it has {known}{more}")
        if names.count(column) > 1:
            raise TableError(f"column={column!r} stands twice in the table; rename one of the two")


def _open_path(connection: Any, path: Path, columns: Sequence[str]) -> Any:  # noqa: ANN401
    if not path.is_file():
        raise TableError(f"table={path} is no file; give the path of a CSV or Parquet file")
    name = path.name.lower()
    if name.endswith(_PARQUET):
        return _guarded(path, lambda: connection.read_parquet(_literal(path)))
    if not name.endswith(_CSV):
        raise TableError(
            f"table={path} has an unknown ending; give one of {', '.join(_CSV + _PARQUET)}",
        )
    delimiter = "\t" if ".tsv" in name else ","
    header = _guarded(path, lambda: _header(path, delimiter))
    _require(header, columns)
    return _guarded(
        path,
        lambda: connection.read_csv(
            _literal(path),
            auto_detect=False,
            header=True,
            columns={f"c{i}": "VARCHAR" for i in range(len(header))},
            delim=delimiter,
            quote='"',
            escape='"',
            encoding="latin-1",  # every byte is a letter: no row can be unreadable
            null_padding=True,
            strict_mode=False,
            ignore_errors=True,
            parallel=False,  # with padding, only one thread reads quoted line breaks correctly
        ).select(**{c: f"c{header.index(c)}" for c in columns}),
    )


def _header(path: Path, delimiter: str) -> list[str]:
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as lines:
        return next(csv.reader(lines, delimiter=delimiter), [])


def _literal(path: Path) -> str:
    """Return the path with the letters that the engine would expand as a pattern made literal."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))


def _guarded(path: Path, read: Callable[[], Any]) -> Any:  # noqa: ANN401
    try:
        return read()
    except TableError:
        raise
    except Exception:  # noqa: BLE001 (the engine's own text may quote a value)
        raise TableError(
            f"table={path} cannot be read; check that it is a readable, complete file of the kind "
            "that its ending says",
        ) from None


def _arrow(table: Any, columns: Sequence[str]) -> Any:  # noqa: ANN401
    import pyarrow as pa

    if hasattr(table, "__dataframe__") and hasattr(table, "iloc"):
        _require([str(c) for c in table.columns], columns)
        return pa.table({c: _pandas_column(table[c], c) for c in columns})
    if hasattr(table, "__arrow_c_stream__"):
        try:
            arrow = pa.table(table)
        except Exception:  # noqa: BLE001 (Arrow's own text may quote a value)
            raise TableError("table does not convert to Arrow; give a path or a frame") from None
        _require(list(arrow.column_names), columns)
        return arrow.select(list(columns))
    raise TableError(
        f"table={type(table).__name__} is no table; give a path, a pandas DataFrame or an Arrow "
        "table",
    )


def _pandas_column(series: Any, name: str) -> Any:  # noqa: ANN401
    """Return the column by its declared type; one of objects is text, item by item."""
    import pyarrow as pa

    kind = getattr(series.dtype, "kind", "O")
    if kind in "Mmc":
        raise TableError(f"column={name!r} has type {series.dtype}; give a column of numbers")
    if kind in "iufb" and hasattr(series.dtype, "itemsize"):
        return pa.array(series, from_pandas=True)
    return pa.array([_text(item) for item in series], type=pa.string())


def _text(item: Any) -> str | None:  # noqa: ANN401
    """Return what the item spells, or None; whatever the item is, without an error."""
    try:
        if isinstance(item, str):
            return item.encode("utf-8", "replace").decode("utf-8")
        number = float(item)
        return None if math.isnan(number) else repr(number)
    except OverflowError:
        return "inf" if item > 0 else "-inf"
    except Exception:  # noqa: BLE001 (an object's own error would speak about a value)
        return None
