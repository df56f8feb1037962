# SPDX-License-Identifier: Apache-2.0
"""Frames in memory: a pandas or Arrow table becomes one whose columns hold numbers or text.

The types of its columns are public, and refused before a row is read where they hold neither; text
becomes a number where it spells one, later, and is missing otherwise.
"""

from __future__ import annotations

import datetime as dt
import math
import uuid
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any, final
from weakref import WeakSet

import numpy as np

from lownoise.engines.cells import alike
from lownoise.engines.source import no_numbers, require
from lownoise.engines.tables import named
from lownoise.errors import TableError
from lownoise.numbers.values import REAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lownoise.engines.source import Columns

_READ: WeakSet[Any] = WeakSet()  # readers that a release has read


def kept(table: Any, asked: Iterable[Columns]) -> Any:  # noqa: ANN401
    """Return a table that may be read several times: what gives its rows once is read here.

    Args:
        table: as `lownoise.engines.opening.opened` takes it.
        asked: what it must have, or else no row of it is read.

    Raises:
        TableError: where it is a reader that a release has read, or lacks a column that is asked.
        EngineError: where reading rows failed; the text is the same for every cause.
    """
    import pyarrow as pa

    once = hasattr(table, "__arrow_c_stream__")
    if not once or hasattr(table, "iloc") or isinstance(table, pa.Table) or _of_ibis(table):
        return table
    reader = _reader_of(table, asked)
    with alike(_unread(table)):
        return _all_of(reader, table)


def _reader_of(table: Any, asked: Iterable[Columns]) -> Any:  # noqa: ANN401
    """Return an Arrow reader of a table that has what is asked, of which no row was read."""
    import pyarrow as pa

    if _is_column(table):
        raise _no_table(table)
    _require_unread(table)
    with alike(_unread(table)):  # a query that waits for its reader computes its rows here
        reader = pa.RecordBatchReader.from_stream(table)
        schema = reader.schema
    for columns in asked:
        require(list(schema.names), columns.names)
        for c in columns.names:
            require_arrow(schema.field(c).type, c, dated=c in columns.ordered)
    return reader


@final
class ArrowRows:
    """Rows that are read anew as often as an engine asks for them.

    A reader gives its rows once, and to whoever asks again none: a table without rows, in silence.

    Args:
        read: returns a new Arrow reader; the first one is asked for now, so that it fails here.
    """

    def __init__(self, read: Callable[[], Any]) -> None:
        self._read, self._first = read, [read()]
        self._schema = self._first[0].schema

    def __arrow_c_schema__(self) -> Any:  # noqa: ANN401 (Arrow's own)
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, asked: Any = None) -> Any:  # noqa: ANN401 (Arrow's own)
        try:
            reader = self._first.pop()
        except IndexError:
            reader = self._read()
        return reader.__arrow_c_stream__(asked)


def _of_ibis(table: object) -> bool:
    """Return whether it is a query, which runs anew for each reader."""
    return type(table).__module__.partition(".")[0] == "ibis"


_NEARLY = (  # what a class that is no table can do, and how its own becomes one
    ("collect_schema", "table.collect()"),
    ("to_pyarrow_table", "table.to_pyarrow_table()"),
    ("scanner", "table.to_table(columns=[…])"),
    ("to_table", "table.to_table()"),
    ("scan", "table.scan().to_arrow()"),
    ("read_row_group", "table.read()"),
    ("to_frame", "table.to_frame()"),
    ("to_arrow", "table.to_arrow()"),
    ("fromkeys", "pandas.DataFrame(table)"),
    ("__array__", "pandas.DataFrame(table, columns=[…])"),
    ("to_pandas", "table.to_pandas()"),
)


def _no_table(table: object) -> TableError:
    """Return the refusal of what is no table, by its class alone: no engine is loaded for it."""
    own = (remedy for has, remedy in _NEARLY if hasattr(type(table), has))
    remedy = next(own, "a path, a pandas DataFrame or an Arrow table")
    return TableError(f"table={named(table)} is no table; give {remedy}")


def _is_column(table: object) -> bool:
    """Return whether it is one column, not of records: streams of such are of no table."""
    import pyarrow as pa

    has = "type" if isinstance(table, pa.ChunkedArray) else "dtype"
    return hasattr(type(table), has) and not str(getattr(table, has)).lower().startswith("struct")


def _require_unread(table: object) -> None:
    """Refuse a reader whose rows an earlier release had: it would be a table without any."""
    if _is_reader(table) and table in _READ:
        raise TableError(
            f"table={named(table)} has been read by an earlier release, and gives its rows once; "
            "give the table, not a reader"
        )


def _all_of(reader: Any, table: object) -> Any:  # noqa: ANN401
    """Return the rows that are read of a table, and remember a reader that has none left."""
    if _is_reader(table):
        _READ.add(table)
    return reader.read_all()


def _is_reader(table: object) -> bool:
    import pyarrow as pa

    return isinstance(table, pa.RecordBatchReader)


def _unread(table: object) -> str:
    return (
        f"table={named(table)} could not be read, and a spend on it stays reserved; check that all "
        "of its rows can be, and are of types that Arrow has"
    )


def arrow_of(table: Any, columns: Columns) -> Any:  # noqa: ANN401
    """Return the columns as an Arrow table of floats, integers, decimals, booleans and text.

    Args:
        table: a pandas DataFrame, or what speaks Arrow's C stream.
        columns: which ones; dates and times, where they may be there, become integers.
    """
    import pyarrow as pa

    # once the types are known, whatever fails may depend on a value
    text = _unread(table)
    if hasattr(table, "iloc") and hasattr(table, "dtypes") and not _is_column(table):
        names = [str(c) for c in table.columns]
        require(names, columns.names)
        places = {c: names.index(c) for c in columns.names}
        keys = [c for c in places if c == columns.unit and _keyed(table.dtypes, places[c], columns)]
        series = {c: table.iloc[:, place] for c, place in places.items()}
        for c, s in series.items():
            if c not in keys:
                _require_kind(s.dtype, c, dated=c in columns.ordered)
        with alike(text):
            return pa.table(
                {c: (_keys if c in keys else _pandas_column)(s) for c, s in series.items()}
            )
    if hasattr(table, "__arrow_c_stream__"):
        reader = _reader_of(table, [columns])
        with alike(text):
            arrow = _all_of(reader, table)
            return pa.table({c: plain(arrow.column(c)) for c in columns.names})
    raise _no_table(table)


def _require_kind(kind: Any, name: str, *, dated: bool) -> None:  # noqa: ANN401
    """Refuse a pandas column of a type that holds no numbers and no text."""
    import pandas as pd

    if isinstance(kind, pd.ArrowDtype):
        require_arrow(kind.pyarrow_dtype, name, dated=dated)
        return
    text = isinstance(kind, (pd.CategoricalDtype, pd.StringDtype)) or kind == np.dtype(object)
    if not text and getattr(kind, "kind", "O") not in ("iufbM" if dated else "iufb"):
        raise no_numbers(name, kind)


def _pandas_column(series: Any) -> Any:  # noqa: ANN401
    """Return the column by its declared type; one of objects or categories is text."""
    import pandas as pd
    import pyarrow as pa

    kind = series.dtype
    if isinstance(kind, pd.SparseDtype):
        series, kind = series.sparse.to_dense(), kind.subtype
    if isinstance(kind, np.dtype) and kind.kind in "iufb":
        return plain(pa.array(series.to_numpy(dtype=_NATIVE[kind.kind])))
    if isinstance(kind, pd.CategoricalDtype):
        each = pa.array([*map(_text, kind.categories), None], type=pa.string())  # last, of none
        return each.take(pa.array(series.cat.codes.to_numpy().astype(np.int64) % len(each)))
    if isinstance(kind, pd.StringDtype) or kind == np.dtype(object):
        return _texts(series)
    return plain(pa.array(series, from_pandas=True))  # nullable, or backed by Arrow


_FAR = 400  # decimal places
_NATIVE = {"i": "int64", "u": "uint64", "f": "float64", "b": "bool"}


def plain(column: Any) -> Any:  # noqa: ANN401
    """Return an Arrow column as numbers or text: no categories, half floats, nulls or dates."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        own = column.type
        if pa.types.is_string_view(own.value_type):  # as polars has them: Arrow takes two steps
            column = column.cast(pa.dictionary(own.index_type, pa.string(), own.ordered))
        column = column.cast(column.type.value_type)
    if pa.types.is_float16(column.type) or pa.types.is_null(column.type):
        return column.cast(pa.float64())
    return undated(column)


def undated(column: Any) -> Any:  # noqa: ANN401
    """Return days, milliseconds (`date64`) or microseconds as integers; others as they are.

    No value stops that: what 64 bits do not hold goes around.
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_date32(kind):
        return column.cast(pa.int32()).cast(pa.int64())
    if pa.types.is_timestamp(kind):
        column = column.cast(pa.timestamp("us", kind.tz), safe=False)
    return column.cast(pa.int64()) if pa.types.is_temporal(kind) else column


def require_arrow(kind: Any, name: str, *, dated: bool) -> None:  # noqa: ANN401
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
        *((pa.types.is_date, pa.types.is_timestamp) if dated else ()),
    )
    if not any(is_kind(kind) for is_kind in known):
        raise no_numbers(name, kind)


def _texts(series: Any) -> Any:  # noqa: ANN401
    """Return what the items spell: at once, where all of them are texts that UTF-8 has."""
    import pandas as pd
    import pyarrow as pa

    with suppress(Exception):  # one that is none is read with all others, item by item
        if pd.api.types.infer_dtype(series, skipna=True) in {"string", "empty"}:
            return pa.array(series.to_numpy(dtype=object), type=pa.string(), from_pandas=True)
    return pa.array([_text(item) for item in series], type=pa.string())


def _text(item: Any) -> str | None:  # noqa: ANN401
    """Return what the item spells, or None; whatever the item is, without an error or a warning."""
    try:
        if isinstance(item, str):
            return str.encode(item, "utf-8", "replace").decode("utf-8")
        if not isinstance(item, REAL):
            return None
        number = float(item)
    except OverflowError:
        number = math.inf if _positive(item) else -math.inf
    except Exception:  # noqa: BLE001 (an object's own error would speak about a value)
        return None
    return None if math.isnan(number) else repr(number)


def _keyed(kinds: Any, place: int, columns: Columns) -> bool:  # noqa: ANN401
    """Return whether units are told apart by texts of their own, no two of which are merged.

    A column of objects, or of categories that are no texts, is read by what its items spell, as
    floats do where they are numbers: ids of 2^60 and 2^60 + 1 would be one unit.

    Raises:
        TableError: where the column is such a one and asked or ordered by as well.
    """
    import pandas as pd

    own = kinds.iloc[place]
    kind = own.categories.dtype if isinstance(own, pd.CategoricalDtype) else own
    if isinstance(kind, pd.StringDtype) or (kind != np.dtype(object) and own == kind):
        return False
    if columns.asked_too:
        raise TableError(
            f"column={columns.unit!r} holds objects or categories, and cannot tell units apart and "
            "be asked or ordered by as well; give a copy of it under another name"
        )
    return True


def _keys(series: Any) -> Any:  # noqa: ANN401
    """Return texts that tell the items apart, missing where they are."""
    import pyarrow as pa

    return pa.array([_key(item) for item in series], type=pa.string())


def _key(item: Any) -> str | None:  # noqa: ANN401
    """Return a text that tells the item from every other; None where it is missing or unknown."""
    try:
        if isinstance(item, str):
            return _letters(str.__str__(item))
        if item != item:  # noqa: PLR0124 (NaN, and no time)
            return None
        if isinstance(item, dt.date):
            return f"\0{item.isoformat()}"
        if isinstance(item, (bytes, uuid.UUID)):
            return f"\0{item!r}"
        return f"\0{_digits(item)}" if isinstance(item, REAL) else None
    except Exception:  # noqa: BLE001 (an object's own error would speak about a value)
        return None


def _letters(text: str) -> str:
    odd = text.startswith("\0") or any("\ud800" <= letter <= "\udfff" for letter in text)
    return f"\0{text!a}" if odd else text


def _digits(item: Any) -> str:  # noqa: ANN401 (a real number)
    """Return the same of numbers that are equal, whatever their types, and of no others."""
    number = int(item) if isinstance(item, (np.bool_, np.integer)) else item
    if number in (math.inf, -math.inf):
        return f"{number > 0}"
    if isinstance(number, Decimal) and number and abs(number.adjusted()) > _FAR:  # beyond floats
        sign, digits, _ = number.as_tuple()
        return f"{sign} {''.join(map(str, digits)).rstrip('0')} {number.adjusted()}"
    above, below = number.as_integer_ratio()
    return f"{int(above):x}/{int(below):x}"


def _positive(item: Any) -> bool:  # noqa: ANN401
    try:
        return bool(item > 0)
    except Exception:  # noqa: BLE001 (as above)
        return False
