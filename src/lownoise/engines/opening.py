# SPDX-License-Identifier: Apache-2.0
"""Whatever a user gives as a table becomes a source, on the engine that it is of.

Nothing is opened twice, and no row is read: what is wrong with a table is known from its schema.
Files that somebody writes to while they are read are refused: rows of two tables are no table.

A pass over a file opens it several times (its header, its row groups, in threads), and a question
may take several passes. Where the file is another in between, a person who is once in each of both
may count twice, and more noise than there is would hide that.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lownoise.engines import spark
from lownoise.engines.cells import alike, quiet
from lownoise.engines.delimited import TextFile, TextSource
from lownoise.engines.duckdb import NO_BAR, DuckSource, connected
from lownoise.engines.files import fit, open_files, plain_files
from lownoise.engines.frames import arrow_of
from lownoise.engines.parts import PlainSource, PlainTable
from lownoise.engines.source import AbstractSource, Columns
from lownoise.engines.tables import (
    CSV,
    Table,
    UnitTable,
    failed,
    found_files,
    guarded,
    kind_of,
    named,
)
from lownoise.errors import EngineError, LownoiseError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lownoise.numbers.arrays import Vector

_DATABASE = (".duckdb", ".db")
_MOST_NAMES = 20  # of tables, in a message
T = TypeVar("T")


def on_spark(table: object) -> bool:
    """Return whether it is of Spark, which is not loaded to find out."""
    if isinstance(table, Table):
        return table.engine == "spark"
    frames = sys.modules.get("pyspark.sql.dataframe")
    return frames is not None and isinstance(table, frames.DataFrame)


def source_of(table: Any, columns: Sequence[str]) -> AbstractSource:  # noqa: ANN401 (any frame)
    """Return the table as an engine reads it; DuckDB, where it is of no engine itself.

    Args:
        table: an `AbstractSource`, a Spark DataFrame, or as `opened` takes it.
        columns: the names that the question needs.

    Raises:
        TableError: where the table cannot be opened, or a column is absent or of a type that holds
            no numbers: known from its schema, before a row is read.
        EngineError: where its schema could not be read; the text is the same for every cause.
    """
    own, unit = (table.table, table.unit) if isinstance(table, UnitTable) else (table, None)
    every = Columns.of(columns, unit)
    if isinstance(own, AbstractSource):
        found = own
    else:
        found = spark.opened(own, every) if on_spark(own) else opened(own, every)
    with alike(failed(own, "opened"), TableError):
        found.kinds(every.names)
        if unit is not None and found.kinds([unit.column])[0] not in found.unit_kinds:
            raise TableError(
                f"column={unit.column!r} holds numbers, and this engine tells units apart by "
                "texts; give it as texts, or let the engine bound units itself"
            )
    if unit is None:
        return found
    with alike(failed(own, "read")):  # it may read rows, of which nothing is said
        kept = found if unit.rows is None else found.bounded(unit, columns)
        return kept if table.each is None else kept.added_up(unit, table.each)


def rows_of(columns: Sequence[str], table: Any) -> Iterator[Vector]:  # noqa: ANN401 (any frame)
    """Return the rows of a table, batch by batch, in their order, shape (k, d); NaN where missing.

    Args:
        columns: d names.
        table: as `source_of` takes it.

    Raises:
        TableError: where the table cannot be opened or lacks a column: known from its schema,
            before a row is read.
        EngineError: later, where reading rows failed; the text is the same for every cause.
    """
    text = (
        f"table={named(table)} could not be read to its end; check that the file is complete and "
        "nobody writes to it, and that memory and temporary disk suffice"
    )
    return _rows(columns, source_of(table, columns), text)


def _rows(columns: Sequence[str], source: AbstractSource, text: str) -> Iterator[Vector]:
    with alike(text):
        batches = iter(source.batches(columns))
    while True:
        with alike(text):  # and not around `yield`: what the caller says is the caller's
            batch = next(batches, None)
            if batch is None:
                return
            found = np.stack(batch.numbers, axis=1)
        yield found


def opened(
    table: Any,  # noqa: ANN401 (any frame)
    columns: Columns,
) -> AbstractSource:
    """Return a table on an embedded DuckDB of its own, or on the one that it is on; text by itself.

    Args:
        table: a path, a pattern, a folder or a list of files, or a `Table` of them; the path of a
            DuckDB database with one table, or "path::table"; a pandas DataFrame; anything that
            speaks Arrow's C stream (pyarrow, polars, …); an ibis table on DuckDB.
        columns: those that the question needs.

    Raises:
        TableError: where it cannot be read, or a column is absent or of a type that holds no
            numbers.
    """
    folded = {c.casefold() for c in columns.names}
    if len(folded) < len(columns.names):  # DuckDB would take one for the other
        raise TableError("columns whose names differ only in case; rename one of them")
    try:
        with quiet():
            if files := _text_files(table):
                text: AbstractSource = guarded(
                    named(table), lambda: TextSource(files, tuple(columns.names))
                )
                return text
            return _opened(table, columns)
    except (TableError, EngineError):
        raise
    except Exception:  # noqa: BLE001 (whatever it is, no row has been read)
        raise TableError(
            f"table={named(table)} cannot be opened; give a path, a pandas DataFrame or an Arrow "
            "table",
        ) from None


def _text_files(table: Any) -> tuple[TextFile, ...]:  # noqa: ANN401
    """Return files of delimited text that need no engine; none where folders are values as well.

    Args:
        table: anything; what is no path of such files is none.

    Raises:
        TableError: where there is no such file.
    """
    if isinstance(table, (str, PathLike, list, tuple)):
        table = Table(table)
    if not isinstance(table, Table) or table.partitions or table.decimal != ".":
        return ()
    paths = table.path if isinstance(table.path, tuple) else (table.path,)
    if not paths or not all(str(path).lower().endswith(CSV) for path in paths):
        return ()
    files = found_files(table)
    kind_of(table, files)
    return tuple(TextFile(file.path, table.dialect(file.path), shown=file.shown) for file in files)


def _opened(table: Any, columns: Columns) -> AbstractSource:  # noqa: ANN401
    ibis = sys.modules.get("ibis")
    if ibis is not None and isinstance(table, ibis.Table):
        return _fitting(_open_expression(table), columns)
    if isinstance(table, (str, PathLike, list, tuple)):
        table = Table(table)
    if isinstance(table, Table):
        path, _, name = str(table.path).partition("::")
        if path.lower().endswith(_DATABASE):
            if table != Table(table.path):
                raise TableError(
                    "separator, quotes, decimal and partitions are for files; leave them out"
                )
            return _fitting(DuckSource(*_open_database(Path(path), name, columns)), columns)
        plain, rows = plain_files(table, columns), partial(open_files, table, columns)
    else:
        arrow = arrow_of(table, columns)
        plain, rows = PlainTable.of(arrow), partial(_registered, arrow)

    @cache
    def engine() -> AbstractSource:  # which takes a while to open
        connection = connected()
        return _fitting(DuckSource(connection, rows(connection)), columns)

    if plain is None:
        return engine()
    if not plain.covers(columns.names):
        engine()  # which refuses what it does not read
    return PlainSource(plain, engine)


def _fitting(source: DuckSource, columns: Columns) -> AbstractSource:
    fit(source.rows, columns)
    return source


def _registered(arrow: Any, _connection: Any) -> Any:  # noqa: ANN401
    import ibis

    return ibis.memtable(arrow)


def _open_expression(table: Any) -> DuckSource:  # noqa: ANN401
    backends = table._find_backends()[0]  # noqa: SLF001 (ibis has no public question for it)
    connection = backends[0] if backends else connected()
    if connection.name != "duckdb":
        raise TableError(
            f"table is on the engine {connection.name}, whose sums are not verified; "
            "give table.to_pyarrow(), or the table on DuckDB",
        )
    with suppress(Exception):  # where its settings are locked, it draws what they say
        connection.con.execute(NO_BAR)
    return DuckSource(connection, table, shared=bool(backends))


def _open_database(path: Path, name: str, columns: Columns) -> tuple[Any, Any]:
    if not path.is_file():
        raise TableError(f"table={path} is no file; give the path of a DuckDB database")
    connection = guarded(str(path), lambda: connected(path, read_only=True))
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
        fit(view, columns)
    return connection, view


def unchanged(table: Any, read: Callable[[], T]) -> T:  # noqa: ANN401 (any frame)
    """Return what is read of a table whose files are the same before and after.

    Which files there are, and of each the place on its disk, its size and when it was last changed.
    A file of the same size that changes twice within a tick of the file system's clock, before the
    first look and after it, is not found out; nor is what an address serves.

    Args:
        table: as `source_of` takes it; what is open already is for its owner to keep as it is.
        read: reads it, in as many passes as it takes.

    Raises:
        TableError: as `read` does.
        EngineError: as `read` does; where a file changed, of the same text.
    """
    before = _seen(table)
    try:
        found = read()
    except TableError:
        if _seen(table) == before:
            raise
    else:
        if _seen(table) == before:
            return found
    raise EngineError(failed(table, "read"))


def _seen(table: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
    """Return what tells the files of a table from others; nothing where it is not of files."""
    return [(str(path), *_stamp(path)) for path in _paths(table)]


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        own = path.stat()
    except (OSError, ValueError):
        return ()
    return own.st_dev, own.st_ino, own.st_size, own.st_mtime_ns, own.st_ctime_ns


def _paths(table: Any) -> list[Path]:  # noqa: ANN401
    """Return the paths of a table's files; of a database's table, the database."""
    try:
        if isinstance(table, (str, PathLike, list, tuple)):
            table = Table(table)
        if not isinstance(table, Table):
            return []
        return [file.path for file in found_files(table) if file.address is None]
    except (LownoiseError, OSError):
        one = isinstance(table, Table) and not isinstance(table.path, tuple)
        return [Path(str(table.path).partition("::")[0])] if one else []
