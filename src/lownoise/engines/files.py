# SPDX-License-Identifier: Apache-2.0
"""What files hold becomes rows on the embedded engine, a file after the other.

Types come from what is no row: a Parquet or Arrow file's own schema, and texts alone elsewhere.
Numbers of Parquet files the engine reads itself; texts go through Arrow, which none of them stops.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, final

from lownoise.engines.delimited import open_text
from lownoise.engines.frames import ArrowRows, plain, require_arrow
from lownoise.engines.json_lines import open_lines
from lownoise.engines.logs import PARQUET, require_no_log
from lownoise.engines.parts import PlainTable
from lownoise.engines.source import no_numbers, require
from lownoise.engines.tables import (
    ARROW,
    CSV,
    JSON,
    Table,
    beyond_the_first,
    found_files,
    guarded,
    kind_of,
    literal,
    located,
    named,
    once,
)
from lownoise.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from lownoise.engines.source import Columns
    from lownoise.engines.tables import File

# how files begin that have an Arrow file's name and are none: what they are, how they are read
_NO_ARROW_FILES = {
    b"\xff\xff\xff\xff": ("an Arrow stream", "pyarrow.ipc.open_stream(path).read_all()"),
    b"FEA1": ("a Feather file of version 1", "pyarrow.feather.read_table(path)"),
}
_DIGITS = 38  # of decimals in 128 bits
# texts that spell numbers, but for the one point or comma in them
_COMMA, _POINT = (rf"^[-+0-9eE_ \t\n\v\f\r]*{c}[-+0-9eE_ \t\n\v\f\r]*$" for c in (",", r"\."))


def plain_files(table: Table, columns: Columns) -> PlainTable | None:
    """Return the rows of Parquet files that Arrow has as they are; None where an engine is asked.

    Raises:
        TableError: where there is no such file.
    """
    if table.partitions:
        return None
    files = found_files(table)
    if any(file.address for file in files) or kind_of(table, files) is not PARQUET:
        return None
    found = PlainTable.of_files([file.path for file in files])
    return found if found is not None and found.covers(columns.names) else None


def open_files(
    table: Table,
    columns: Columns,
    connection: Any,  # noqa: ANN401 (ibis has no types)
) -> Any:  # noqa: ANN401
    """Return the rows of all files as an ibis table; each must have the columns, of one type.

    Args:
        table: which files.
        columns: those that the question needs.
        connection: to the database that reads them.

    Raises:
        TableError: where there is no such file, or one cannot be read, lacks a column or has one
            that holds no numbers.
        EngineError: where that is so of a file beyond the first whose folders are values.
    """
    files = _located(connection, table)
    form, native = _opened(connection, table, files, columns)
    if native:
        return guarded(files[0].shown, lambda: _native(connection, files))
    read = partial(_rows, table, columns.names, files, form.read)
    connection.con.register("records", guarded(named(table), lambda: ArrowRows(read)))
    return connection.table("records")


def open_rows(
    connection: Any,  # noqa: ANN401
    table: Table,
    files: Sequence[File],
    columns: Columns,
) -> Any:  # noqa: ANN401
    """Return an Arrow reader of the rows that `open_files` has of some of a table's files.

    Args:
        connection: to the database that reads them.
        table: what their names do not say.
        files: as `found_files` found them: nothing is read off their paths again.
        columns: those that the question needs.

    Raises:
        TableError, EngineError: as `open_files`.
    """
    form, _ = _opened(connection, table, files, columns)
    return guarded(named(table), lambda: _rows(table, columns.names, files, form.read))


def _opened(
    connection: Any,  # noqa: ANN401
    table: Table,
    files: Sequence[File],
    columns: Columns,
) -> tuple[_Format, bool]:
    """Return how files are read, and whether the engine reads them itself."""
    own = columns.without(table.partitions)
    kind = kind_of(table, files)
    form = (
        _parquet(connection, own)
        if kind is PARQUET
        else _arrow(own)
        if kind is ARROW
        else _text(table, kind, own.names)
    )
    found = [guarded(file.shown, partial(form.types, file)) for file in files[:1]]
    for file in files[1:]:
        with beyond_the_first(table):
            if guarded(file.shown, partial(form.types, file)) != found[0]:
                raise _unlike(file, files[0])
    plain_numbers = kind is PARQUET and not any(
        held.is_string() or held.is_temporal() for held in (*found, [])[0]
    )
    return form, bool(files) and plain_numbers and not table.partitions


def fit(rows: Any, columns: Columns) -> None:  # noqa: ANN401
    """Refuse a table that lacks a column, or has one of a type that holds no numbers."""
    schema = rows.schema()
    require(list(schema.names), columns.names)
    for column in columns.names:
        kind = schema[column]
        if column in columns.ordered and (kind.is_date() or kind.is_timestamp()):
            continue
        if not (kind.is_numeric() or kind.is_boolean() or kind.is_string()):
            raise no_numbers(column, kind)


def _unlike(file: File, first: File) -> TableError:
    before = first.shown if first.shown != file.shown else "its first file"
    return TableError(f"table={file.shown} has other types than {before}; make them the same")


@final
@dataclass(frozen=True)
class _Format:
    """How files of a kind are read.

    Args:
        types: returns the types of the columns of a file, which all files must have, from what is
            no row; or refuses it.
        read: returns an Arrow reader of its rows.
    """

    types: Callable[[File], Any]
    read: Callable[[File], Any]


def _text(table: Table, kind: tuple[str, ...], own: Sequence[str]) -> _Format:
    def read(file: File) -> Any:  # noqa: ANN401
        if kind is JSON:
            return open_lines(file.path, own or [""])
        return open_text(file.path, own, table.dialect(file.path), shown=file.shown)

    def types(file: File) -> None:
        if kind is CSV:
            read(file)  # its first line must name the columns

    return _Format(types, read)


def _arrow(columns: Columns) -> _Format:
    import pyarrow as pa

    own = list(columns.names)

    def opened(file: File) -> Any:  # noqa: ANN401
        with file.path.open("rb") as own_bytes:
            found = _NO_ARROW_FILES.get(own_bytes.read(4))
        if found is not None:
            raise TableError(
                f"table={file.shown} is {found[0]}, and no Arrow file; give {found[1]}, or write "
                "that by pyarrow.feather.write_feather"
            )
        return pa.ipc.open_file(pa.OSFile(str(file.path)))

    def types(file: File) -> list[Any]:
        schema = opened(file).schema
        require(list(schema.names), own)
        for c in own:
            require_arrow(schema.field(c).type, c, dated=c in columns.ordered)
        return [plain(column).type for column in schema.empty_table().select(own).columns]

    def read(file: File) -> Any:  # noqa: ANN401
        source = opened(file)
        places = range(source.num_record_batches)
        batches = (source.get_batch(place).select(own) for place in places)
        return _reader(source.schema, own, batches)

    return _Format(types, read)


def _parquet(connection: Any, columns: Columns) -> _Format:  # noqa: ANN401
    import pyarrow.parquet as pq

    own = list(columns.names)

    def types(file: File) -> list[Any]:
        rows = _native(connection, [file])
        _require_own(connection, file, own)
        fit(rows, columns)
        return [rows.schema()[c] for c in own]

    def read(file: File) -> Any:  # noqa: ANN401
        source = pq.ParquetFile(_bytes(connection, file) if file.address else file.path)
        batches = source.iter_batches(columns=own)  # of a struct "a", too, for a column "a.b"
        return _reader(source.schema_arrow, own, (batch.select(own) for batch in batches))

    return _Format(types, read)


def _require_own(connection: Any, file: File, own: Sequence[str]) -> None:  # noqa: ANN401
    """Refuse what the engine reads as something else: a name like another's, and wide decimals."""
    found = connection.con.execute(
        f"SELECT name, num_children, coalesce(precision, 0) FROM parquet_schema({_literal(file)})"  # noqa: S608 (of a literal)
    ).fetchall()
    columns: list[tuple[str, int]] = []
    inner = 0  # how many nodes are left below the column that began last
    for name, children, digits in found[1:]:  # behind the root, each before those below it
        if not inner:
            columns.append((name, digits))
        inner = max(inner - 1, 0) + (children or 0)
    names = [name for name, _ in columns]
    require(names, own)
    folded = [name.casefold() for name in names]
    for name, digits in columns:
        if name in own and folded.count(name.casefold()) > 1:
            raise TableError(f"column={name!r} is in the table twice, except for case; rename one")
        if name in own and digits > _DIGITS:
            raise no_numbers(name, f"decimal of {digits} digits")


def _reader(schema: Any, own: Sequence[str], batches: Iterator[Any]) -> Any:  # noqa: ANN401
    """Return batches as they go to the engine: which no text and no date stops."""
    import pyarrow as pa

    none = schema.empty_table().select(list(own))
    kinds = pa.schema([(c, plain(none[c]).type) for c in own])
    if not own:  # their number alone; what has no column has no length in a batch that is made
        kinds = pa.schema([("", pa.null())])
    made = (
        pa.record_batch(
            [plain(column) for column in batch.columns] or [pa.nulls(batch.num_rows)], schema=kinds
        )
        for batch in batches
    )
    return pa.RecordBatchReader.from_batches(kinds, made)


def _native(connection: Any, files: Sequence[File]) -> Any:  # noqa: ANN401
    """Return the rows of Parquet files as the engine itself reads them."""
    from ibis.util import gen_name

    paths = ", ".join(_literal(file) for file in files)
    name = gen_name("files")
    # folders called name=value would replace columns
    connection.con.execute(
        f"CREATE TEMP VIEW {name} AS "  # noqa: S608 (of literals)
        f"SELECT * FROM read_parquet([{paths}], hive_partitioning = false)"
    )
    return connection.table(name)


def _located(connection: Any, table: Table) -> list[File]:  # noqa: ANN401
    """Return the files of a table, each of those that are remote by its address."""
    files = found_files(table)
    remote = [file for file in files if file.address]
    if not remote:
        return files
    kind_of(table, files)
    _require_remote(connection, remote[0])

    def found_by(pattern: str) -> list[str]:
        rows = connection.con.execute("SELECT file FROM glob(?)", [pattern]).fetchall()
        return [address for (address,) in rows]

    found: list[File] = []
    for file in files:
        if file.address and file.address.startswith("s3://"):  # of https:// none is listed
            require_no_log(file.shown, [file.address], found_by)
        own = partial(located, file, table, found_by)
        found += guarded(file.shown, own) if file.address else [file]
    with beyond_the_first(table):
        return once(found)


def _require_remote(connection: Any, file: File) -> None:  # noqa: ANN401
    """Load what reads addresses, where the user has installed it; nothing is installed here."""
    try:
        connection.con.execute("SET autoinstall_known_extensions = false")
        connection.con.execute("LOAD httpfs")
    except Exception:  # noqa: BLE001 (its text has paths of this machine)
        raise TableError(
            f"table={file.shown} needs DuckDB's extension httpfs, which is not installed here; run "
            "`INSTALL httpfs` in DuckDB once, or give a copy of the file"
        ) from None


def _bytes(connection: Any, file: File) -> Any:  # noqa: ANN401
    """Return a remote file as a whole: the engine's own reader stops at bytes that are no text."""
    import pyarrow as pa

    query = f"SELECT content FROM read_blob({_literal(file)})"  # noqa: S608 (of a literal)
    # on a connection of its own: the other one waits for these rows in a query, and for no second
    ((content,),) = connection.con.cursor().execute(query).fetchall()
    return pa.BufferReader(content)


def _literal(file: File) -> str:
    """Return a path or an address as SQL has it."""
    own = literal(str(file.path)) if file.address is None else file.address
    return "'" + own.replace("'", "''") + "'"


# ---------------------------------------------------------------- rows


def _rows(
    table: Table,
    columns: Sequence[str],
    files: Sequence[File],
    read: Callable[[File], Any],
) -> Any:  # noqa: ANN401
    """Return the rows of files, one file after the other; their partitions are texts."""
    import pyarrow as pa

    first = [read(file) for file in files[:1]]
    kinds = {field.name: field.type for reader in first for field in reader.schema}
    of_folders = set(table.partitions)
    schema = pa.schema(
        [(c, pa.string() if c in of_folders else kinds.get(c, pa.string())) for c in columns]
    )

    def batches() -> Iterator[Any]:
        for file in files:
            values = dict(zip(table.partitions, file.values, strict=True))
            for batch in first.pop() if first else read(file):
                own = [
                    pa.repeat(pa.scalar(values[f.name], pa.string()), batch.num_rows)
                    if f.name in of_folders
                    else batch.column(f.name).cast(f.type)
                    for f in schema
                ]
                made = pa.record_batch(own, schema=schema)
                yield made if table.decimal == "." else _pointed(made, of_folders)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _pointed(batch: Any, spared: Collection[str]) -> Any:  # noqa: ANN401
    """Return texts with the comma of a number made a point, and the point of one a comma.

    Two texts that differ do so afterwards; what has both, or several, spells no number.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    made = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        found = column
        for own, other, number in ((",", ".", _COMMA), (".", ",", _POINT)):
            if name not in spared and pc.any(pc.match_substring(column, own)).as_py():
                is_one = pc.match_substring_regex(column, number)
                found = pc.if_else(is_one, pc.replace_substring(column, own, other), found)
        made.append(found)
    return pa.record_batch(made, schema=batch.schema)
