# SPDX-License-Identifier: Apache-2.0
"""The embedded engine: DuckDB, through ibis, opens, reads, parses, filters, groups and sums.

A path or a frame becomes an ibis table whose schema comes from no row. No error text of the engine
is shown, because it may quote a value. What a cell means is what `numerals.number_of` says, as SQL:
a typed column and the texts it was made of give the same numbers, so that it matters to no other
row which type one row left its column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, reduce
from operator import and_
from threading import Lock
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.folds import Batch
from lownoise.engines.parts import Part, fold
from lownoise.engines.source import AbstractSource, Groups, Sums
from lownoise.engines.units import order_of
from lownoise.numbers.readable import brief
from lownoise.numbers.values import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.folds import AbstractFold, Range
    from lownoise.engines.frames import ArrowRows
    from lownoise.engines.source import Kind
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.privacy.units import PrivacyUnit

_BATCH = 1 << 17  # rows
# what DuckDB reads as truth values and as integers, but not as floats
_ODD = rf"^((?i:{'|'.join(WORDS)})$|[ \t\n\v\f\r]*0[xXbB])"
# DuckDB would draw one of its own, at the pace of the data
NO_BAR = "SET enable_progress_bar = false"
# several batches: with less, 1 MB by default, its threads would wait until each has been taken
_AHEAD = "SET streaming_buffer_size = '64MB'"
# where rows of units are sorted, and made again one by one as soon as it is full
_FAR_AHEAD = "SET streaming_buffer_size = '512MB'"
_ONE_AT_A_TIME = Lock()  # of our own queries, on connections of users


@final
@dataclass(frozen=True, eq=False, repr=False)
class DuckSource(AbstractSource):
    """A table on DuckDB.

    Args:
        connection: to the database.
        rows: an ibis table on it.
        shared: whether the connection is a user's, who may run other queries on it meanwhile.
    """

    unit_kinds = ("integers", "numbers", "texts")
    connection: Any
    rows: Any
    shared: bool = False

    def __repr__(self) -> str:
        return f"DuckSource(columns {brief(list(self.rows.schema().names))})"

    def kinds(self, columns: Sequence[str]) -> tuple[Kind, ...]:
        """Return what each column holds; `open_table` has refused what holds neither."""
        schema = self.rows.schema()
        return tuple(_kind(schema[column]) for column in columns)

    def batches(self, numbers: Sequence[str], texts: Sequence[str] = ()) -> Iterator[Batch]:
        """Return all rows in their order, batch by batch."""
        for batch in self._read(self.rows.select(**self._keys(numbers, texts))):
            yield _batch(batch.columns, len(numbers))

    def fold(self, work: AbstractFold) -> Integers:
        """Return what all rows add up to, in threads."""
        return fold(work, [Part(lambda: self.batches(work.numbers, work.texts))])

    def sums(self, ranges: Sequence[Range], *, complete: bool) -> Sums:
        """Return the exact sums of clipped integers, by one query."""
        rows = self.rows.select(**self._integers(ranges))
        if complete:
            rows = rows.filter(reduce(and_, [rows[x].notnull() for x in rows.columns]))
        query = rows.aggregate(**_aggregates(rows, ranges))
        (found,) = [row for batch in self._read(query) for row in batch.to_pylist()]
        every = range(len(ranges))
        return Sums(
            int(found["n"]),
            tuple(int(found[f"k{i}"]) for i in every),
            tuple(int(found[f"s{i}"] or 0) for i in every),  # no rows: null
        )

    def bounded(self, unit: PrivacyUnit, columns: Sequence[str]) -> DuckSource:
        """Return the first rows of each unit, which the engine numbers in every query's own run."""
        import ibis

        if not self.shared:
            self.connection.con.execute(_FAR_AHEAD)
        names = order_of(unit, columns)
        # floats as they are ordered and read, so that a sort carries each of them once
        floats = {n: _ordered(self.rows[n]) for n in names if self.rows[n].type().is_floating()}
        rows = self.rows.mutate(**floats)
        key = _key(rows[unit.column])
        order = [by for n in names for by in ([rows[n].asc()] if n in floats else _ranks(rows[n]))]
        place = ibis.row_number().over(ibis.window(group_by=key, order_by=order))
        kept = place < unit.rows
        if unit.null == "drop":
            rows = rows.filter(key.notnull())
        rows = rows.filter(kept).select(*rows.columns)
        return DuckSource(self.connection, rows, shared=self.shared)

    def keyed(self, column: str, columns: Sequence[str]) -> Iterator[tuple[Any, Sequence[Vector]]]:
        """Return all rows with their units, as the engine has them, batch by batch."""
        key = _key(self.rows[column])
        if not (key.type().is_binary() or key.type().is_floating() or key.type().is_int64()):
            key = key.cast("string")  # digits, which tell all others apart
        for batch in self._read(self.rows.select(key=key, **self._keys(columns, ()))):
            yield batch.columns[0], _batch(batch.columns[1:], len(columns)).numbers

    def group_sums(
        self, numbers: Sequence[str], texts: Sequence[str] = (), ranges: Sequence[Range] = ()
    ) -> Iterator[Groups]:
        """Return each group once, by one query."""
        keys = self._keys(numbers, texts)
        rows = self.rows.select(**keys, **self._integers(ranges))
        # by their bytes: a collation would make texts one, and name them by whichever row is first
        by = {k: _encoded()(rows[k]) if k[0] == "t" else rows[k] for k in keys}
        query = rows.group_by(**by).aggregate(**_aggregates(rows, ranges))
        for batch in self._read(query):
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            counts = [columns[f"k{i}"].to_numpy() for i in range(len(ranges))]
            totals = [list(map(int, columns[f"s{i}"].to_pylist())) for i in range(len(ranges))]
            yield Groups(
                _batch([_decoded(columns[name]) for name in keys], len(numbers)),
                columns["n"].to_numpy(),
                [(k, np.array(s, dtype=object)) for k, s in zip(counts, totals, strict=True)],
            )

    def _keys(self, numbers: Sequence[str], texts: Sequence[str]) -> dict[str, Any]:
        keys = {f"n{i}": number(self.rows[name]) for i, name in enumerate(numbers)}
        return keys | {f"t{i}": self.rows[name] for i, name in enumerate(texts)}

    def _integers(self, ranges: Sequence[Range]) -> dict[str, Any]:
        return {f"x{i}": self.rows[name].cast("int64") for i, (name, _, _) in enumerate(ranges)}

    def _read(self, rows: Any) -> Iterator[Any]:  # noqa: ANN401
        """Yield the record batches of a query, all of them or an error."""
        if not self.shared:
            yield from self._asked(rows).to_arrow_reader(_BATCH)
            return
        # Any other query on the connection would end a reader as if there were no more rows, and
        # what a cursor sees is not what the connection does (its own transaction, temporary
        # tables, settings): so all rows at once, which another query stops with an error.
        with _ONE_AT_A_TIME:
            found = self._asked(rows).to_arrow_table()
        yield from found.to_batches(max_chunksize=_BATCH)

    def _asked(self, rows: Any) -> Any:  # noqa: ANN401
        # what ibis's to_pyarrow_batches does, less a call that DuckDB deprecates
        self.connection._run_pre_execute_hooks(rows)  # noqa: SLF001
        return self.connection.con.sql(self.connection.compile(rows))


def _key(column: Any) -> Any:  # noqa: ANN401
    """Return what tells units apart, null where it is missing."""
    import ibis

    kind = column.type()
    if kind.is_string():
        # as bytes: no collation of the database makes two texts one
        return ibis.ifelse(column.length() > 0, _encoded()(column), None)
    if kind.is_floating():  # −0 and 0 are one
        return ibis.ifelse(column.isnan(), None, column + 0.0)
    return column


def _ordered(column: Any) -> Any:  # noqa: ANN401
    """Return the numbers of cells, −0 as 0 and missing ones as NaN, which is after all others."""
    import ibis

    return ibis.coalesce(number(column) + 0.0, float("nan"))


def _ranks(column: Any) -> list[Any]:  # noqa: ANN401
    """Return what cells are ordered by: their numbers, and of texts their bytes.

    Missing ones have the number NaN, which is after all others, and no database's setting of where
    nulls are placed is asked.
    """
    import ibis

    if column.type().is_temporal():
        return [column.isnull().asc(), column.asc()]
    found = [_ordered(column).asc()]
    if column.type().is_string():
        lacks = ibis.coalesce(column.length() == 0, ibis.literal(value=True))
        found += [lacks.asc(), column.isnull().asc(), _encoded()(column).asc()]
    return found


@cache
def _encoded() -> Any:  # noqa: ANN401
    """Return the engine's function from a text to its bytes."""
    import ibis

    def encode(text: str) -> bytes:
        raise NotImplementedError(text)  # the engine's own, of that name

    encode.__annotations__ = {"text": str, "return": bytes}  # ibis reads them as types
    return ibis.udf.scalar.builtin(encode)


def _decoded(column: Any) -> Any:  # noqa: ANN401
    """Return the texts of an Arrow column of their bytes, and any other as it is."""
    import pyarrow as pa

    texts = {pa.binary(): pa.string(), pa.large_binary(): pa.large_string()}
    return column.view(texts.get(column.type, column.type))


def _batch(columns: Sequence[Any], numbers: int) -> Batch:
    # null becomes NaN
    floats = [column.to_numpy(zero_copy_only=False) for column in columns[:numbers]]
    return Batch(floats, list(columns[numbers:]))


def _aggregates(rows: Any, ranges: Sequence[Range]) -> dict[str, Any]:  # noqa: ANN401
    """Return how many rows there are, and of each column of integers how many, and their sum."""
    import ibis

    wanted: dict[str, Any] = {"n": rows.count()}
    for i, (_, lower, upper) in enumerate(ranges):
        x = rows[f"x{i}"]
        clipped = ibis.greatest(ibis.least(x, upper), lower)  # of null alone: an end
        wanted[f"k{i}"] = x.count()
        # DuckDB sums 64-bit integers in 128 bits; the cast keeps them through the way out
        wanted[f"s{i}"] = ibis.ifelse(x.isnull(), 0, clipped).sum().cast("decimal(38, 0)")
    return wanted


def _kind(kind: Any) -> Kind:  # noqa: ANN401 (ibis has no types)
    if kind.is_string():
        return "texts"
    whole = kind.is_boolean() or (kind.is_integer() and not kind.is_uint64())
    return "integers" if whole else "numbers"


def number(column: Any) -> Any:  # noqa: ANN401
    """Return an ibis column as floats, null or NaN where a cell is no number and spells none.

    Args:
        column: of numbers, booleans or texts.
    """
    import ibis

    if column.type().is_decimal():  # 128 bits or digits, which DuckDB does not round to nearest
        return column.cast("string").try_cast("float64")
    if not column.type().is_string():
        return column.cast("float64")
    # what may stop on bytes that are no UTF-8 (as a change of case does) must not stand here
    odd = ibis.ifelse(column.re_search(_ODD), column, None)
    truth, whole = odd.try_cast("boolean"), odd.try_cast("int64")
    return ibis.coalesce(column.try_cast("float64"), truth.cast("float64"), whole.cast("float64"))


def registered(rows: ArrowRows) -> DuckSource:
    """Return a table of these rows, on an embedded DuckDB of its own."""
    connection = connected()
    connection.con.register("records", rows)
    return DuckSource(connection, connection.table("records"))


def connected(*arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401
    """Return a connection to a DuckDB in memory, or to the file that is given."""
    import ibis

    connection = ibis.duckdb.connect(*arguments, **keywords)
    connection.con.execute(NO_BAR)
    connection.con.execute(_AHEAD)
    return connection
