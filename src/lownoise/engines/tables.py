# SPDX-License-Identifier: Apache-2.0
"""Opening a table: from a path or a frame to an ibis table whose schema comes from no row.

Text becomes a number where it spells one and is missing otherwise. No error text of the engine is
shown, because it may quote a value.
"""

from __future__ import annotations

import functools
import math
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lownoise.engines.quiet import alike, quiet
from lownoise.engines.text import open_text
from lownoise.errors import EngineError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PARQUET = (".parquet", ".pq")
_DATABASE = (".duckdb", ".db")
_MOST_NAMES = 20  # in a message
# DuckDB would draw one of its own, at the pace of the data
_NO_BAR = "SET enable_progress_bar = false"
_CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


def open_table(table: Any, columns: Sequence[str]) -> tuple[Any, Any]:  # noqa: ANN401 (any frame)
    """Return an embedded DuckDB of the table's own, and an ibis table that has `columns`.

    Args:
        table: the path of a CSV (.csv, .tsv, also .gz) or Parquet file; a list of paths of
            Parquet files, whose rows are taken together; the path of a DuckDB database with one
            table, or "path::table"; a pandas DataFrame; anything that speaks Arrow's C stream
            (pyarrow, polars, …); an ibis table on DuckDB.
        columns: the names that the question needs.

    Raises:
        TableError: where it cannot be read, or a column is absent or of a type that holds no
            numbers.
    """
    folded = {c.casefold() for c in columns}
    if len(folded) < len(columns):  # DuckDB would take one for the other
        raise TableError("columns whose names differ only in case; rename one of them")
    try:
        with quiet():
            connection, opened = _opened(table, columns)
    except (TableError, EngineError):
        raise
    except Exception:  # noqa: BLE001 (whatever it is, no row has been read)
        raise TableError(
            f"table={named(table)} cannot be opened; give a path, a pandas DataFrame or an Arrow "
            "table",
        ) from None
    _fit(opened, columns)
    return connection, opened


def _fit(opened: Any, columns: Sequence[str]) -> None:  # noqa: ANN401
    """Refuse a table that lacks a column, or has one of a type that holds no numbers."""
    schema = opened.schema()
    _require(list(schema.names), columns)
    for column in columns:
        kind = schema[column]
        if not (kind.is_numeric() or kind.is_boolean() or kind.is_string()):
            raise _no_numbers(column, kind)


def named(table: Any) -> str:  # noqa: ANN401
    """Return how messages call the table."""
    return str(table) if isinstance(table, (str, Path)) else type(table).__name__


def failed(table: Any, what: str) -> str:  # noqa: ANN401
    """Return what is said where rows could not be `what`, whatever the cause."""
    return (
        f"table={named(table)} could not be {what}, and a spend on it stays reserved; check that "
        "the file is complete, and that memory and temporary disk suffice"
    )


def _opened(table: Any, columns: Sequence[str]) -> tuple[Any, Any]:  # noqa: ANN401
    import ibis

    if isinstance(table, ibis.Table):
        return _open_expression(table)
    connection = _embedded()
    if isinstance(table, (list, tuple)):
        return connection, _open_parquet(connection, [Path(p) for p in table], columns)
    if isinstance(table, (str, Path)):
        if "\n" in str(table):
            raise TableError("table is a text of several lines, and no path; write it to a file")
        path, _, name = str(table).partition("::")
        if path.lower().endswith(_DATABASE):
            return _open_database(Path(path), name, columns)
        return connection, _open_path(connection, Path(table), columns)
    return connection, ibis.memtable(_arrow(table, columns))


def _embedded(*arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401
    import ibis

    connection = ibis.duckdb.connect(*arguments, **keywords)
    connection.con.execute(_NO_BAR)
    return connection


def _open_expression(table: Any) -> tuple[Any, Any]:  # noqa: ANN401

    backends = table._find_backends()[0]  # noqa: SLF001 (ibis has no public question for it)
    connection = backends[0] if backends else _embedded()
    if connection.name != "duckdb":
        raise TableError(
            f"table is on the engine {connection.name}, whose sums are not verified; "
            "give table.to_pyarrow(), or the table on DuckDB",
        )
    with suppress(Exception):  # where its settings are locked, it draws what they say
        connection.con.execute(_NO_BAR)
    return connection, table


def _open_parquet(connection: Any, paths: list[Path], columns: Sequence[str]) -> Any:  # noqa: ANN401
    """Return the rows of all files; each must have the columns, with the first one's types."""
    import ibis

    if not paths:
        raise TableError("table=[] names no file; give the paths of Parquet files")
    parts: list[Any] = []
    for number, path in enumerate(paths):
        if not path.name.lower().endswith(_PARQUET):  # it may be a row: it is not quoted
            raise TableError(
                f"table[{number}] is no path of one; give a list of Parquet files only"
            )
        if not path.is_file():
            raise TableError(f"table={path} is no file; give a list of Parquet files only")
        # folders called name=value would replace columns
        read = partial(connection.read_parquet, _literal(path), hive_partitioning=False)
        part = _guarded(path, read)
        _require(list(part.columns), columns)
        if any(part[c].type().is_string() for c in columns):
            part = _guarded(path, partial(_text_parquet, connection, path, columns, len(parts)))
        parts.append(part.select(*columns))
        if parts[-1].schema() != parts[0].schema():
            raise TableError(f"table={path} has other types than {paths[0]}; make them the same")
    return ibis.union(*parts, distinct=False) if len(parts) > 1 else parts[0]


def _text_parquet(connection: Any, path: Path, columns: Sequence[str], number: int) -> Any:  # noqa: ANN401
    """Return the file through Arrow, which does not stop where text is not UTF-8."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    schema = pa.schema([file.schema_arrow.field(c) for c in columns])
    batches = file.iter_batches(columns=list(columns))
    reader = pa.RecordBatchReader.from_batches(schema, batches)
    connection.con.register(f"records{number}", reader)
    return connection.table(f"records{number}")


def _open_database(path: Path, name: str, columns: Sequence[str]) -> tuple[Any, Any]:
    if not path.is_file():
        raise TableError(f"table={path} is no file; give the path of a DuckDB database")
    connection = _guarded(path, lambda: _embedded(path, read_only=True))
    tables = [row[0] for row in connection.con.execute("SHOW TABLES").fetchall()]
    if not name and len(tables) == 1:
        name = tables[0]
    if name not in tables:
        known = ", ".join(map(repr, tables[:_MOST_NAMES])) or "none"
        raise TableError(f'table={path} has the tables {known}; name one as "{path}::TABLE"')
    views = connection.con.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal")
    if (name,) not in views.fetchall():
        return connection, connection.table(name)
    with alike(
        f"table={path}::{name} is a view without the columns of numbers or text that are asked "
        "for, and a spend on it stays reserved: what a view's columns are may follow from rows; "
        "give a table",
    ):
        view = connection.table(name)
        _fit(view, columns)
    return connection, view


def _require(names: Sequence[str], columns: Sequence[str]) -> None:
    for column in columns:
        if column not in names:
            known = ", ".join(map(repr, names[:_MOST_NAMES])) or "no columns"
            more = ", …" if len(names) > _MOST_NAMES else ""
            raise TableError(f"column={column!r} is not in the table; it has {known}{more}")
        if names.count(column) > 1:
            raise TableError(f"column={column!r} stands twice in the table; rename one of the two")


def _open_path(connection: Any, path: Path, columns: Sequence[str]) -> Any:  # noqa: ANN401
    if not path.is_file():
        raise TableError(f"table={path} is no file; give the path of a CSV, Parquet or DuckDB file")
    name = path.name.lower()
    if name.endswith(_PARQUET):
        return _open_parquet(connection, [path], columns)
    if not name.endswith(_CSV):
        raise TableError(
            f"table={path} has an unknown ending; give one of "
            f"{', '.join(_CSV + _PARQUET + _DATABASE)}",
        )
    reader = _guarded(path, lambda: open_text(path, columns))
    connection.con.register("records", reader)
    return connection.table("records")


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
    """Return the columns as an Arrow table of floats, integers, decimals, booleans and text."""
    import pyarrow as pa

    # once the types are known, whatever fails may depend on a value
    said = (
        f"table={named(table)} could not be read, and a spend on it stays reserved; check that all "
        "of its rows can be, and are of types that Arrow has"
    )
    if hasattr(table, "iloc") and hasattr(table, "dtypes"):
        names = [str(c) for c in table.columns]
        _require(names, columns)
        places = [names.index(c) for c in columns]
        series = [table.iloc[:, place] for place in places]
        for c, s in zip(columns, series, strict=True):
            _require_kind(s.dtype, c)
        with alike(said):
            return pa.table({c: _pandas_column(s) for c, s in zip(columns, series, strict=True)})
    if hasattr(table, "__arrow_c_stream__"):
        with alike(said):  # a query that waits for its reader computes its rows here
            reader = pa.RecordBatchReader.from_stream(table)
            schema = reader.schema
        _require(list(schema.names), columns)
        for c in columns:
            _require_arrow(schema.field(c).type, c)
        with alike(said):
            arrow = reader.read_all()
            return pa.table({c: _arrow_column(arrow.column(c)) for c in columns})
    raise TableError(
        f"table={type(table).__name__} is no table; give a path, a pandas DataFrame or an Arrow "
        "table",
    )


def _require_kind(kind: Any, name: str) -> None:  # noqa: ANN401
    """Refuse a pandas column of a type that holds no numbers and no text."""
    import numpy as np
    import pandas as pd

    if isinstance(kind, pd.ArrowDtype):
        _require_arrow(kind.pyarrow_dtype, name)
        return
    text = isinstance(kind, (pd.CategoricalDtype, pd.StringDtype)) or kind == np.dtype(object)
    if not text and getattr(kind, "kind", "O") not in "iufb":
        raise _no_numbers(name, kind)


def _pandas_column(series: Any) -> Any:  # noqa: ANN401
    """Return the column by its declared type; one of objects or categories is text."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    kind = series.dtype
    if isinstance(kind, np.dtype) and kind.kind in "iufb":
        return _arrow_column(pa.array(series.to_numpy(dtype=_NATIVE[kind.kind])))
    if isinstance(kind, (pd.CategoricalDtype, pd.StringDtype)) or kind == np.dtype(object):
        return pa.array([_text(item) for item in series], type=pa.string())
    return _arrow_column(pa.array(series, from_pandas=True))  # nullable, or backed by Arrow


_NATIVE = {"i": "int64", "u": "uint64", "f": "float64", "b": "bool"}


def _arrow_column(column: Any) -> Any:  # noqa: ANN401
    """Return the column, half floats and null made floats."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray) and pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_float16(column.type) or pa.types.is_null(column.type):
        return column.cast(pa.float64())
    return column


def _require_arrow(kind: Any, name: str) -> None:  # noqa: ANN401
    """Refuse an Arrow column of a type that holds no numbers and no text."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    known = (
        pa.types.is_float16,
        pa.types.is_null,
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_boolean,
        pa.types.is_decimal128,
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_string_view,
    )
    if not any(is_kind(kind) for is_kind in known):
        raise _no_numbers(name, kind)


def _no_numbers(name: str, kind: object) -> TableError:
    return TableError(
        f"column={name!r} has type {kind}; give a column of numbers, or of text that spells "
        "numbers",
    )


def _text(item: Any) -> str | None:  # noqa: ANN401
    """Return what the item spells, or None; whatever the item is, without an error or a warning."""
    if isinstance(item, str):
        return str.encode(item, "utf-8", "replace").decode("utf-8")
    if not isinstance(item, _numbers()):
        return None
    try:
        number = float(item)  # type: ignore[arg-type]
    except OverflowError:
        number = math.inf if _positive(item) else -math.inf
    except Exception:  # noqa: BLE001 (an object's own error would speak about a value)
        return None
    return None if math.isnan(number) else repr(number)


def _positive(item: Any) -> bool:  # noqa: ANN401
    try:
        return bool(item > 0)
    except Exception:  # noqa: BLE001 (as above)
        return False


@functools.cache
def _numbers() -> tuple[type, ...]:
    import numpy as np

    return (bool, int, float, Decimal, Fraction, np.bool_, np.integer, np.floating)
