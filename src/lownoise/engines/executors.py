# SPDX-License-Identifier: Apache-2.0
"""What Spark's executors run of this package, so that a cell means what it means to the reference.

Rows come as Arrow batches, and what comes back are Arrow batches: of rows with their numbers read,
of such batches packed, or of the few integers that rows add up to. Whatever fails fails with one
text, because an executor writes what failed to its log, and a failure's own text may quote a cell.
"""

from __future__ import annotations

from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.engines.cells import quiet
from lownoise.engines.files import open_rows
from lownoise.engines.folds import Batch
from lownoise.engines.units import floats_of, part_of
from lownoise.numbers.values import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lownoise.engines.codings import TotalsQuery
    from lownoise.engines.folds import AbstractFold
    from lownoise.engines.source import Columns
    from lownoise.engines.tables import File, Table
    from lownoise.numbers.arrays import Vector

_EXACT = 2**53  # floats hold integers up to here
_WIDEST = 64  # bits of an integer
_POWERS = 22  # powers of ten that are floats


class ExecutorError(Exception):
    """A failure on an executor, of which nothing is said."""


def _bare(task: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    """Return the same task, whose failures and warnings speak of no cell."""

    @wraps(task)
    def run(*given: Any) -> Iterator[Any]:  # noqa: ANN401
        with quiet():
            try:
                yield from task(*given)
            except Exception:  # noqa: BLE001 (whatever it is, its text may quote a cell)
                raise ExecutorError("rows could not be read") from None

    return run


def version() -> str:
    """Return which version of this package this is."""
    return str(import_module("lownoise").__version__)


@_bare
def probe(_batches: Iterable[Any]) -> Iterator[Any]:
    """Give back which version of this package an executor has."""
    import pyarrow as pa

    yield pa.record_batch([pa.array([version()])], names=["version"])


@_bare
def numbered(count: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Give back the rows with the first `count` columns made floats, NaN where they spell none."""
    import pyarrow as pa

    for batch in batches:
        columns = [pa.array(floats(column)) for column in batch.columns[:count]]
        yield pa.record_batch([*columns, *batch.columns[count:]], names=batch.schema.names)


@_bare
def packed(count: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Give back each batch of `numbered` as bytes, which come to the driver as they are."""
    import pyarrow as pa

    for batch in numbered(count, batches):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield pa.record_batch([pa.array([sink.getvalue().to_pybytes()])], names=["rows"])


@_bare
def folded(work: AbstractFold, batches: Iterable[Any]) -> Iterator[Any]:
    """Give back what the rows of a partition add up to, by the places where that is not zero."""
    import pyarrow as pa

    found, count = work.zeros(), len(work.numbers)
    for batch in batches:
        if batch.num_rows:
            numbers = [floats(column) for column in batch.columns[:count]]
            work.add(found, Batch(numbers, list(batch.columns[count:])))
    flat = found.reshape(-1)
    places = np.flatnonzero(flat)
    yield pa.record_batch([pa.array(places), pa.array(flat[places])], names=["place", "value"])


@_bare
def unit_parts(each: TotalsQuery, batches: Iterable[Any]) -> Iterator[Any]:
    """Give back what the rows of each batch add to their units, which are its first column."""
    for batch in batches:
        columns = [floats(column) for column in batch.columns[1:]]
        yield from part_of(each, batch.columns[0], columns).to_batches()


@_bare
def units(each: TotalsQuery, batches: Iterable[Any]) -> Iterator[Any]:
    """Give back what rows of units add up to, of the sums of their parts."""
    import pyarrow as pa

    for batch in batches:
        own = floats_of(each, [column.to_numpy() for column in batch.columns])
        yield pa.record_batch([pa.array(c) for c in own], names=[f"c{i}" for i in range(len(own))])


@_bare
def rows(
    table: Table,
    files: Sequence[File],
    columns: Columns,
    batches: Iterable[Any],
) -> Iterator[Any]:
    """Give back the rows of those of a table's files whose places come."""
    for batch in batches:
        for place in batch.columns[0].to_pylist():
            yield from of_spark(table, [files[place]], columns)


def of_spark(
    table: Table,
    files: Sequence[File],
    columns: Columns,
) -> Any:  # noqa: ANN401
    """Return an Arrow reader of files' rows, of types that Spark has.

    Raises:
        TableError, EngineError: as `lownoise.engines.files.open_rows`.
    """
    import ibis
    import pyarrow as pa

    reader = open_rows(ibis.duckdb.connect(), table, files, columns)
    kinds = pa.schema([(field.name, _spark_type(field.type)) for field in reader.schema])
    batches = (
        pa.record_batch([own.cast(k) for own, k in zip(b.columns, kinds.types, strict=True)], kinds)
        for b in reader
    )
    return pa.RecordBatchReader.from_batches(kinds, batches)


def _spark_type(kind: Any) -> Any:  # noqa: ANN401
    """Return the type of Spark's that holds all values of an Arrow type."""
    import pyarrow as pa

    if pa.types.is_unsigned_integer(kind):
        return pa.decimal128(20) if kind.bit_width == _WIDEST else pa.int64()
    return pa.string() if pa.types.is_large_string(kind) else kind


def floats(column: Any) -> Vector:  # noqa: ANN401 (pyarrow has no types)
    """Return an Arrow column as numbers, shape (n,): NaN where a cell is none and spells none.

    Examples:
        >>> import pyarrow as pa
        >>> floats(pa.array(["0x10", None, " 1_0 ", "x"])), floats(pa.array([True, None]))
        (array([16., nan, 10., nan]), array([ 1., nan]))
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_decimal(kind):
        return _decimals(column)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        own = column.cast(pa.large_binary()).dictionary_encode()  # bytes: they may be no UTF-8
        spelt = [number(text) for text in own.dictionary.to_pylist()]
        places = own.indices.fill_null(len(spelt)).to_numpy()
        values: Vector = np.array([*spelt, np.nan])
        return np.asarray(values[places])
    wide = column.cast(pa.float64(), safe=False)  # 2^63 is a float, if not exactly
    return np.asarray(wide.to_numpy(zero_copy_only=False))


def _decimals(column: Any) -> Vector:  # noqa: ANN401
    """Return decimals as the floats nearest to them."""
    kind, start, count = column.type, column.offset, len(column)
    lacks = column.is_null().to_numpy(zero_copy_only=False)
    if kind.bit_width != 128 or not 0 <= kind.scale <= _POWERS:  # noqa: PLR2004
        return np.array([number(value) for value in column.to_pylist()], dtype=np.float64)
    words = np.frombuffer(column.buffers()[1], dtype="<i8", count=2 * (start + count))
    low, high = words[2 * start :: 2], words[2 * start + 1 :: 2]
    # a quotient of two floats is rounded once
    found = np.where(lacks, np.nan, low / 10.0**kind.scale)
    wide = ~lacks & ((high != low >> 63) | (np.abs(low) > _EXACT))
    for place in np.flatnonzero(wide).tolist():
        found[place] = float(column[place].as_py())
    return found
