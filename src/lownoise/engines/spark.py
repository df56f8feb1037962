# SPDX-License-Identifier: Apache-2.0
"""The engine of clusters: Spark bounds units, groups rows and sums integers where the rows are.

What a cell means, and what a record becomes, is no word of Spark's: texts and decimals are read,
and codes made, by this package's own Python on the executors. Spark compares bytes, orders floats
and adds integers. Columns go by their places, so that no rule about names or their case is asked;
and no sum comes near 64 bits, so that it does not matter what a session does about those that do.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines import executors, sessions, spark_sums, spark_tasks
from lownoise.engines.cells import quiet
from lownoise.engines.folds import Batch, CodeSums
from lownoise.engines.sessions import unsettled
from lownoise.engines.source import AbstractSource, Groups, Sums, no_numbers, require
from lownoise.engines.tables import Table, named
from lownoise.engines.units import KEY, names_of, order_of
from lownoise.errors import TableError
from lownoise.numbers.readable import brief
from lownoise.numbers.values import LONGEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.codings import TotalsQuery
    from lownoise.engines.folds import AbstractFold, CodedColumns, Range
    from lownoise.engines.source import Columns, Kind
    from lownoise.numbers.arrays import Integers
    from lownoise.privacy.units import PrivacyUnit

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("boolean", "byte", "short", "integer", "long"), "integers"),
    **dict.fromkeys(("float", "double", "decimal", "void"), "numbers"),
    **dict.fromkeys(("string", "varchar", "char"), "texts"),
}
_SPELT = ("decimal", "string", "varchar", "char")  # what Python reads the numbers of
_DATES = ("date", "timestamp", "timestamp_ntz")
_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
_MET: set[str] = set()  # applications whose executors have this package


@final
@dataclass(frozen=True, eq=False, repr=False)
class SparkSource(AbstractSource):
    """A table on Spark.

    Args:
        rows: a DataFrame whose columns are called c0, c1, ….
        names: what the table calls them.
    """

    unit_kinds = ("integers", "numbers", "texts")
    near = False
    rows: Any
    names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"SparkSource(columns {brief(list(self.names))})"

    def kinds(self, columns: Sequence[str]) -> tuple[Kind, ...]:
        """Return what each column holds; `opened` has refused what holds neither."""
        require(self.names, columns)
        return tuple(_KINDS.get(self._type(name), "numbers") for name in columns)

    def batches(self, numbers: Sequence[str], texts: Sequence[str] = ()) -> Iterator[Batch]:
        """Return all rows in their order; two partitions of them are here at once."""
        frame = self.rows.select(*self._cells(numbers, texts))
        for columns in _arriving(frame, len(numbers)):
            yield _batch(columns, len(numbers))

    def fold(self, work: AbstractFold) -> Integers:
        """Return what all rows add up to: by partitions where they are, then by places.

        Only what is not zero travels. Where 64 bits do not hold it, it is Python's integers. Codes
        of columns of floats are summed by Spark's own operators, where they are all there is.
        """
        from pyspark.sql import functions as sql

        asked = work.coded
        if asked is not None and (coded := self._coded(asked, work.zeros())) is not None:
            return coded
        if isinstance(work, CodeSums) and (own := self._by_tasks(work.query)) is not None:
            return own
        frame = self.rows.select(*self._cells(work.numbers, work.texts))
        parts = frame.mapInArrow(partial(executors.folded, work), "place bigint, value bigint")
        pieces = spark_sums.sums("value", 63)
        added = parts.groupBy("place").agg(*map(sql.expr, pieces))
        found = work.zeros()
        for places, *sums in _unpacked(_collected(_packed(added))):
            own = spark_sums.joined(sums)
            if own.dtype != found.dtype:
                found = found.astype(object)
            found.reshape(-1)[places.to_numpy()] = own
        return found

    def _coded(self, asked: CodedColumns, zeros: Integers) -> Integers | None:
        """Return what codes of columns add up to; None where Spark alone does not say it."""
        names = [name for name, _ in asked.codes]
        if any(self._type(name) in _SPELT for name in names):
            return None
        texts = [self._cell(n).cast("binary").alias(f"t{i}") for i, n in enumerate(asked.words)]
        added = spark_sums.by_words(self.rows.select(*self._cells(names, ()), *texts), asked)
        if not spark_sums.of_spark_alone(added):
            return None
        if not spark_sums.as_numpy(self.rows.sparkSession, _collected):
            return None
        return spark_sums.found(_collected(added), asked, zeros)

    def _by_tasks(self, query: TotalsQuery) -> Integers | None:
        """Return what codes of products add up to; None where Spark alone does not say it."""
        asked, names = query.coding.products, query.coding.columns
        if asked is None or any(self._type(name) in _SPELT for name in names):
            return None
        rows = self.rows.select(*self._cells(names, ()))
        return spark_tasks.added(rows, asked, _collected, complete=query.drops_missing)

    def bounded(self, unit: PrivacyUnit, columns: Sequence[str]) -> SparkSource:
        """Return the first rows of each unit, which are numbered in every query's own run."""
        from pyspark.sql import Window
        from pyspark.sql import functions as sql

        order = order_of(unit, columns)
        names = list(dict.fromkeys([unit.column, *order]))
        ranked = [name for name in order if self._type(name) not in _DATES]
        held = {name: sql.col(f"c{i}") for i, name in enumerate(names)}
        cells = [self._cell(name).alias(f"c{i}") for i, name in enumerate(names)]
        rows = self._numbered(ranked, *cells)
        by = [rank for name in order for rank in self._ranks(name, held[name], ranked)]
        key = self._key(unit.column, held[unit.column])
        if unit.null == "drop":
            rows = rows.where(key.isNotNull())
        place = sql.row_number().over(Window.partitionBy(key).orderBy(*by))
        kept = rows.withColumn("place", place).where(sql.col("place") <= unit.rows)
        return SparkSource(kept.select(*held.values()), tuple(names))

    def added_up(self, unit: PrivacyUnit, each: TotalsQuery) -> SparkSource:
        """Return a table of what the rows of each unit add up to: by batches, then by units."""
        from pyspark.sql import functions as sql
        from pyspark.sql.types import DoubleType, LongType, StructType

        columns = each.coding.columns
        key = self._key(unit.column, self._cell(unit.column)).alias(KEY)
        rows = self.rows.select(key, *self._cells(columns, ()))
        if unit.null == "drop":
            rows = rows.where(sql.col(KEY).isNotNull())
        schema, units = StructType().add(rows.schema[KEY]), StructType()
        for name in names_of(each):
            schema.add(name, LongType())
        for i in range(len(columns)):
            units.add(f"c{i}", DoubleType())
        parts = rows.mapInArrow(partial(executors.unit_parts, each), schema)
        sums = [sql.sum(name).alias(name) for name in names_of(each)]
        added = parts.groupBy(KEY).agg(*sums).select(*names_of(each))
        return SparkSource(added.mapInArrow(partial(executors.units, each), units), tuple(columns))

    def sums(self, ranges: Sequence[Range], *, complete: bool) -> Sums:
        """Return the exact sums of clipped integers, by one query."""
        rows = self.rows.select(*self._integers(ranges))
        if complete:
            rows = rows.dropna()
        (found,) = _collected(rows.selectExpr(*_aggregates(ranges)))
        count, *others = [np.array([own]) for own in found]
        present, sums = _by_ranges(others, ranges, count)
        return Sums(
            int(count[0]), tuple(int(k[0]) for k in present), tuple(int(s[0]) for s in sums)
        )

    def group_sums(
        self, numbers: Sequence[str], texts: Sequence[str] = (), ranges: Sequence[Range] = ()
    ) -> Iterator[Groups]:
        """Return each group once, by one query."""
        from pyspark.sql import functions as sql

        words = [self._cell(n).cast("binary").alias(f"t{i}") for i, n in enumerate(texts)]
        rows = self._numbered(numbers, *words, *self._integers(ranges))
        keys = rows.columns[: len(numbers) + len(texts)]
        grouped = rows.groupBy(*keys).agg(*map(sql.expr, _aggregates(ranges)))
        for columns in _arriving(grouped, len(numbers)):
            counts, *others = [column.to_numpy() for column in columns[len(keys) :]]
            present, sums = _by_ranges(others, ranges, counts)
            yield Groups(
                _batch(columns[: len(keys)], len(numbers)),
                counts,
                [(k, s.astype(object)) for k, s in zip(present, sums, strict=True)],
            )

    def _type(self, name: str) -> str:
        kind: str = self.rows.schema[self.names.index(name)].dataType.typeName()
        return kind

    def _cell(self, name: str) -> Any:  # noqa: ANN401 (pyspark's columns)
        """Return the column, texts without the rules by which a session compares them."""
        column = self.rows[f"c{self.names.index(name)}"]
        plain = {"texts": "string", "void": "double"}
        kind = self._type(name)
        other = plain.get(_KINDS.get(kind, kind), plain.get(kind))
        return column if other is None else column.cast(other)

    def _spelt(self, name: str) -> Any:  # noqa: ANN401
        """Return the column as a float, or as what Python reads the number of."""
        from pyspark.sql import functions as sql

        column = self._cell(name)
        if self._type(name) not in _SPELT:
            return column.cast("double")
        if self._type(name) == "decimal":
            return column
        return sql.when(sql.octet_length(column) <= LONGEST, column)  # a longer text spells none

    def _cells(self, numbers: Sequence[str], texts: Sequence[str]) -> list[Any]:
        own = [self._spelt(name).alias(f"n{i}") for i, name in enumerate(numbers)]
        return own + [self._cell(name).alias(f"t{i}") for i, name in enumerate(texts)]

    def _integers(self, ranges: Sequence[Range]) -> list[Any]:
        from pyspark.sql import functions as sql

        places = [self.names.index(name) for name, _, _ in ranges]
        return [sql.expr(f"cast(c{k} as bigint) as x{i}") for i, k in enumerate(places)]

    def _numbered(self, numbers: Sequence[str], *others: Any) -> Any:  # noqa: ANN401
        """Return the rows with some columns as floats n0, n1, …, and others after them."""
        from pyspark.sql.types import DoubleType, StructType

        frame = self.rows.select(*self._cells(numbers, ()), *others)
        if all(self._type(name) not in _SPELT for name in numbers):
            return frame
        schema = StructType()
        for i, field in enumerate(frame.schema):
            schema.add(field.name, DoubleType() if i < len(numbers) else field.dataType)
        return frame.mapInArrow(partial(executors.numbered, len(numbers)), schema)

    def _ranks(self, name: str, column: Any, ranked: Sequence[str]) -> list[Any]:  # noqa: ANN401
        """Return what cells are ordered by: their numbers, and of texts their bytes.

        Spark has NaN after all other numbers, which missing ones are here.
        """
        from pyspark.sql import functions as sql

        if name not in ranked:
            return [column.isNull().asc(), column.asc()]
        number = sql.col(f"n{ranked.index(name)}")
        ranks = [sql.coalesce(number + sql.lit(0.0), sql.lit(float("nan"))).asc()]
        if _KINDS[self._type(name)] == "texts":
            lacks = sql.coalesce(sql.octet_length(column) == 0, sql.lit(True))  # noqa: FBT003
            ranks += [lacks.asc(), column.isNull().asc(), column.cast("binary").asc()]
        return ranks

    def _key(self, name: str, column: Any) -> Any:  # noqa: ANN401
        """Return what tells units apart, null where it is missing."""
        from pyspark.sql import functions as sql

        kind = self._type(name)
        if _KINDS[kind] == "texts":
            return sql.when(sql.octet_length(column) > 0, column.cast("binary"))
        if kind in ("float", "double"):  # −0 and 0 are one
            return sql.when(~sql.isnan(column), column + sql.lit(0.0))
        return column


def _aggregates(ranges: Sequence[Range]) -> list[str]:
    """Return how many rows there are, and of each column how many integers, and their sums."""
    found = ["count(1) as n"]
    for i, (_, lower, upper) in enumerate(ranges):
        found.append(f"count(x{i}) as k{i}")
        clipped = spark_sums.clipped(f"x{i}", lower, upper)
        pieces = spark_sums.sums(clipped, spark_sums.bits(lower, upper))
        found += [f"{piece} as s{i}_{j}" for j, piece in enumerate(pieces)]
    return found


def _by_ranges(
    columns: Sequence[Any], ranges: Sequence[Range], counts: Integers
) -> tuple[list[Any], list[Any]]:
    """Return how many integers each column has, and their sums, by rows of `_aggregates`.

    Raises:
        EngineError: where there are so many rows that sums of pieces might not fit.
    """
    spark_sums.require_few(counts)
    present, sums, left = [], [], list(columns)
    for _, lower, upper in ranges:
        many = spark_sums.count(spark_sums.bits(lower, upper))
        own, left = left[: 1 + many], left[1 + many :]
        present.append(own[0])
        sums.append(spark_sums.joined(own[1:]))
    return present, sums


@contextmanager
def _unsaid() -> Iterator[None]:
    """Let what fails in this thread not be logged, as pyspark does: its text may quote a cell."""
    from pyspark.logger import PySparkLogger

    own = get_ident()

    def elsewhere(_record: object) -> bool:
        return get_ident() != own

    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(elsewhere)
    try:
        with quiet():
            yield
    finally:
        for logger in loggers:
            logger.removeFilter(elsewhere)


def _collected(frame: Any) -> list[Any]:  # noqa: ANN401
    with _unsaid():
        return list(frame.collect())


def _arriving(frame: Any, count: int) -> Iterator[list[Any]]:  # noqa: ANN401
    """Return a frame's batches by their columns, the first `count` of them read as numbers."""
    with _unsaid():
        packed = iter(_packed(frame, count).toLocalIterator(prefetchPartitions=True))
    while True:
        with _unsaid():  # and not around `yield`
            rows = next(packed, None)
        if rows is None:
            return
        yield from _unpacked([rows])


def _packed(frame: Any, count: int = 0) -> Any:  # noqa: ANN401
    return frame.mapInArrow(partial(executors.packed, count), "rows binary")


def _unpacked(packed: Any) -> Iterator[list[Any]]:  # noqa: ANN401
    """Return batches by their columns, as executors packed them."""
    import pyarrow as pa

    for (rows,) in packed:
        with pa.ipc.open_stream(rows) as stream:
            for batch in stream:
                yield batch.columns


def _batch(columns: Sequence[Any], numbers: int) -> Batch:
    import pyarrow as pa
    import pyarrow.compute as pc

    # what is no UTF-8 stops nothing
    texts = pc.CastOptions(target_type=pa.string(), allow_invalid_utf8=True)
    return Batch(
        [np.asarray(column.to_numpy(zero_copy_only=False)) for column in columns[:numbers]],
        [pc.cast(column, options=texts) for column in columns[numbers:]],
    )


def opened(
    table: Any,  # noqa: ANN401
    columns: Columns,
) -> SparkSource:
    """Return a table on Spark.

    Args:
        table: files, or a DataFrame of a session in this process; not one of Spark Connect.
        columns: those that the question needs.

    Raises:
        TableError: where it lacks a column or one is of a type that holds no numbers, where its
            rows may differ each time, or where its executors lack this package.
    """
    if isinstance(table, Table):
        table = sessions.frame_of(table, columns)
    if "connect" in type(table).__module__:
        raise TableError(
            "table=DataFrame is of Spark Connect, whose server alone knows its plan; give one of a "
            "session in this process, or write it to Parquet files and give those"
        )
    try:
        names, kinds = table.columns, [field.dataType for field in table.schema]
        other = "a stream" if table.isStreaming else unsettled(table)
        rows = table.toDF(*(f"c{i}" for i in range(len(names))))
        function = sessions.replaced(table.sparkSession)
        context = table.sparkSession.sparkContext
        application = context.applicationId
    except Exception:  # noqa: BLE001 (the plan alone was asked)
        raise TableError(
            f"table={named(table)} cannot be opened; check that its Spark session is running"
        ) from None
    require(names, columns.names)
    for column in columns.names:
        kind = kinds[names.index(column)]
        dated = column in columns.ordered and kind.typeName() in _DATES
        if not dated and kind.typeName() not in _KINDS:
            raise no_numbers(column, kind.typeName())
    if other is not None:
        raise TableError(
            f"table={named(table)} has {other}, which may give other rows each time that Spark "
            "computes it; write it to a file first, and give that"
        )
    if function is not None:
        raise TableError(
            f"table={named(table)} is of a session whose {function}() is a function of its user's, "
            "and would add up rows; run DROP TEMPORARY FUNCTION there, or give another session's"
        )
    if application not in _MET:
        _require_package(table.sparkSession)
        _MET.add(application)
    return SparkSource(rows, tuple(names))


def _require_package(session: Any) -> None:  # noqa: ANN401
    """Refuse executors that cannot run what is asked of them; no table is read."""
    own = executors.version()
    try:
        asked = session.range(1).mapInArrow(executors.probe, "version string")
        (there,) = {row[0] for row in _collected(asked)}
    except Exception:  # noqa: BLE001 (of executors, not of rows)
        there = "none"
    if there != own:
        raise TableError(
            f"Spark's executors have lownoise {there}, and this is {own}; install lownoise=={own}, "
            "with the same Python, on each of them (PYSPARK_PYTHON names the Python that they run)"
        )
