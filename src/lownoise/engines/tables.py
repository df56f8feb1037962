# SPDX-License-Identifier: Apache-2.0
"""Files become rows: what a path names, what its files are, and what their folders say.

What a user wrote is public, and all that a message names. Which files a folder holds or a pattern
finds may follow from rows, as the folder `state=TX` is there only where a row is: its name is a
value, which is a cell of text like every other, and what is wrong with files beyond the first of
such a table fails as reading rows does.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from glob import glob, has_magic
from os import PathLike, fspath
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, cast, final
from urllib.parse import unquote, unquote_to_bytes

from lownoise.engines.cells import Dialect, alike, decoded, dialect_of
from lownoise.engines.logs import PARQUET, require_no_log
from lownoise.errors import TableError, quoted
from lownoise.errors.credentials import bare, may_hold_a_secret
from lownoise.numbers.readable import readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lownoise.engines.codings import TotalsQuery
    from lownoise.privacy.units import PrivacyUnit

ARROW = (".feather", ".arrow", ".ipc")
CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
JSON = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_KINDS = (CSV, JSON, PARQUET, ARROW)
_LITERAL = re.compile(r"\[([*?\[])\]")
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html, and older hosts
_AMAZON = re.compile(
    r"((?P<bucket>.+)\.)?s3(-accelerate|-fips)?([.-](dualstack\.)?[a-z0-9-]+)?\.amazonaws\.com(\.cn)?"
)
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+(?=:/)|md|motherduck):")
_REMOTE = ("s3", "https", "env")
_VARIABLE = re.compile(r"env://([A-Za-z_][A-Za-z0-9_]*)")
_NULL = "__HIVE_DEFAULT_PARTITION__"  # what Hive, Spark and Arrow call the folder of no value


@final
@readable
@dataclass(frozen=True)
class Table:
    """Files of one kind whose rows are one table, with options for reading them.

    Args:
        path: a file; a pattern ("2024-*.parquet", "**" for all folders below); a folder of
            Parquet files; the address of a Parquet file (s3://, https://), for s3:// also a
            pattern; "env://NAME", an address in an environment variable, which is never shown or
            stored; or a list of files.
        separator: the separator of text files: a comma, a semicolon, a bar, a colon or a tab. By
            default a tab in .tsv, else a comma, or a semicolon where decimals have commas.
        quotes: whether fields may be quoted; by default not in .tsv.
        decimal: the decimal mark of text files: "." or ",".
        partitions: columns whose values are in the names of folders, as `state=TX`. They are texts,
            and missing if no folder of a file has a value. Which values count follows from the
            question's categories.
        engine: "duckdb"; or "spark", which uses the running session, or else a new one on this
            machine.

    Raises:
        TableError: where a field is none of these, or an address holds what may be secret.

    Examples:
        >>> Table("people.csv", separator=";", decimal=",").separator
        ';'
        >>> Table("https://me:word@office.example/t.parquet")
        Traceback (most recent call last):
        lownoise.errors.TableError: table is an address with a user, a query or a fragment, which...
    """

    path: str | PathLike[str] | Sequence[str | PathLike[str]]
    separator: str | None = None
    quotes: bool | None = None
    decimal: str = "."
    partitions: Sequence[str] = ()
    engine: str = "duckdb"

    def __post_init__(self) -> None:
        several = isinstance(self.path, (list, tuple))
        paths: list[Any] = list(cast("Any", self.path)) if several else [self.path]
        for number, path in enumerate(paths):  # what is no path may be a row: it is not quoted
            own = fspath(path) if isinstance(path, PathLike) else path
            if not isinstance(own, str) or "\0" in own:
                raise TableError(
                    f"table={type(self.path).__name__} is no path, nor a list of some; give one, "
                    "a frame or an Arrow table"
                )
            shown = f"table[{number}]" if several else "table"
            if not own:  # pathlib takes it for the folder that one is in
                raise TableError(f"{shown} is an empty path; name a file, a pattern or a folder")
            if "\n" in own:
                raise TableError(
                    f"{shown} is a text of several lines, and no path; write it to a file"
                )
            _open_address(own, shown)
            if not isinstance(path, PurePath):
                paths[number] = own
        object.__setattr__(self, "path", tuple(paths) if several else paths[0])
        _either("decimal", self.decimal, ".", ",")
        _either("engine", self.engine, "duckdb", "spark")
        if self.quotes not in (None, True, False):
            raise TableError(f"quotes={quoted(self.quotes)} is no truth value; give True or False")
        if self.separator is not None:
            Dialect(self.separator)
        if self.decimal == self.separator:
            raise TableError("decimal and separator are one letter; give another of them")
        columns = self.partitions
        named = isinstance(columns, (list, tuple)) and all(
            isinstance(c, str) and c for c in columns
        )
        if not named or len({*columns}) < len(columns):
            raise TableError(
                f"partitions={quoted(columns)} are no names; give a list of columns, each once"
            )
        object.__setattr__(self, "partitions", tuple(columns))

    @property
    def of_text(self) -> bool:
        """Whether it says what only text has: what stands between fields, or before decimals."""
        return (self.separator, self.quotes, self.decimal) != (None, None, ".")

    def dialect(self, path: Path) -> Dialect:
        """Return what a file of it is written in."""
        usual = dialect_of(path)
        between = self.separator or (";" if usual.separator == self.decimal else usual.separator)
        quoted = usual.quoted if self.quotes is None else self.quotes
        return Dialect(between, quoted=quoted)


def _either(name: str, own: str, one: str, other: str) -> None:
    if own not in (one, other):
        raise TableError(f'{name}={quoted(own)} is none; give "{one}" or "{other}"')


@final
@dataclass(frozen=True)
class File:
    """A file of a table.

    Args:
        path: where it is, the text of an address where it is remote.
        shown: how messages call it: as the user did.
        values: what its folders say of the table's partitions.
        address: where it is remote, its own as the engine is to have it, or until `located` a
            pattern of several or the name of a variable.
    """

    path: Path
    shown: str
    values: tuple[str | None, ...] = ()
    address: str | None = field(default=None, repr=False)  # it may hold a secret


@final
@dataclass(frozen=True, eq=False)
class UnitTable:
    """A table of which the first rows of each unit count; `source_of` opens it.

    Args:
        table: as `source_of` takes it.
        unit: which rows are one unit's, and how many count.
        each: what each of them adds to a unit's total; None where rows are read as they are.
    """

    table: Any
    unit: PrivacyUnit
    each: TotalsQuery | None = None


def named(table: Any) -> str:  # noqa: ANN401
    """Return how messages call the table; of an address nothing that may be secret."""
    table = table.table if isinstance(table, UnitTable) else table
    own = table.path if isinstance(table, Table) else table
    if isinstance(own, (str, PathLike)):
        return bare(str(own))
    return "list" if isinstance(own, tuple) else type(own).__name__


def failed(table: Any, what: str) -> str:  # noqa: ANN401
    """Return what is said where rows could not be `what`, whatever the cause."""
    return (
        f"table={named(table)} could not be {what}, and a spend on it stays reserved; check that "
        "the file is complete and nobody writes to it, and that memory and temporary disk suffice"
    )


def guarded(shown: str, read: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Return read(), with every way to fail turned into one that quotes no value."""
    try:
        return read()
    except TableError:
        raise
    except Exception:  # noqa: BLE001 (the engine's own text may quote a value)
        raise TableError(
            f"table={shown} cannot be read; check that it is a readable, complete file of the kind "
            "that its ending says",
        ) from None


def found_files(table: Table) -> list[File]:
    """Return the files of a table, in their order."""
    if isinstance(table.path, tuple):
        if not table.path:
            raise TableError("table=[] names no file; give the paths of files")
        files = [_of_list(table, n, str(path)) for n, path in enumerate(table.path)]
        require_no_log("list", [str(file.path) for file in files if file.address is None])
        return once(files)
    shown = str(table.path)
    if _URL.match(shown):
        return [_file(table, shown, shown)]
    path = Path(shown)
    if path.is_file():
        require_no_log(shown, [shown])
        return [_file(table, shown, shown)]
    if path.is_dir():
        return _in_folder(table, path)
    if not has_magic(shown):
        raise TableError(
            f"table={shown} is no file; give the path of a CSV, JSON lines, Parquet, Arrow or "
            "DuckDB file, a pattern, or a folder of Parquet files"
        )
    require_no_log(shown, [f"{_public(path)}/{path.name}"])
    paths = sorted(own for own in map(Path, glob(shown, recursive=True)) if own.is_file())  # noqa: PTH207 (of any root)
    if not paths and not (table.partitions and _public(path).is_dir()):
        raise TableError(f"table={shown} finds no file; give a pattern that does")
    return _found(table, paths, shown)


def _found(table: Table, paths: Sequence[Path], shown: str) -> list[File]:
    """Return files that a pattern or a folder has, of which none is another by a link."""
    with beyond_the_first(table):
        require_no_log(shown, map(str, paths))
        return once([_file(table, str(own), shown) for own in paths])


def _of_list(table: Table, number: int, path: str) -> File:
    """Return a file of a list."""
    if _ending(path) is None and not _VARIABLE.fullmatch(path):  # it may be a row: it is not quoted
        raise TableError(f"table[{number}] is no path of one; give a list of files only")
    if not _URL.match(path) and not Path(path).is_file():
        raise TableError(f"table={path} is no file; give a list of files only")
    return _file(table, path, path)


def once(files: list[File]) -> list[File]:
    """Return files of which none stands twice, as its rows would count twice.

    An object of S3 has a name in s3:// and several in https://. Those of Amazon's hosts are read as
    they are declared there, the bucket before the host or first in the path; any other host may
    serve a bucket of its name or of its path, and then two names that could be one object's are
    taken to be.

    Raises:
        TableError: where one does.
    """
    met: set[str] = set()
    served: set[str] = set()  # objects that addresses of other hosts may be of
    for file in files:
        own, objects = _rows_of(file)
        if own in met | served or objects & met:
            raise TableError(
                f"table={file.shown} has a file twice, by one name or another; give files once, "
                "without links to them, and objects of one bucket by one kind of address"
            )
        met.add(own)
        served |= objects
    return files


def _rows_of(file: File) -> tuple[str, set[str]]:
    """Return what files of the same rows have in common, and objects that it may be: never shown.

    What a variable's address has behind its "?" does not count: a file may be signed many times.

    Examples:
        >>> def rows(address):
        ...     return _rows_of(File(Path("x.parquet"), "x", address=address))
        >>> rows("https://s3.eu-west-1.amazonaws.com/b/k%20.parquet")
        ('s3://b/k .parquet', set())
        >>> rows("https://my.b.s3.amazonaws.com:443/k"), rows("https://my%2Eb.S3.amazonaws.com.:/k")
        (('s3://my.b/k', set()), ('s3://my.b/k', set()))
        >>> found, objects = rows("https://b.example/c/k")
        >>> found, sorted(objects)
        ('b.example/c/k', ['s3://b.example/c/k', 's3://b/c/k', 's3://c/k'])
    """
    if file.address is None:
        seen = file.path.stat()  # one for all links to a file; some disks number none
        one = f"{seen.st_dev}:{seen.st_ino}" if seen.st_ino else os.path.realpath(file.path)
        return one, set()
    own = file.address.partition("?")[0] if _VARIABLE.fullmatch(file.shown) else file.address
    if not own.startswith("https://"):
        return _LITERAL.sub(r"\1", own), set()
    # host in any case and with the root's dot, the usual port, letters by their numbers
    host, slash, path = own.removeprefix("https://").partition("/")
    name, _, port = unquote(host).lower().partition(":")
    port = port.lstrip("0")
    host = name.rstrip(".") + (f":{port}" if port not in ("", "443") else "")
    path = unquote(path)
    if amazon := _AMAZON.fullmatch(host):
        bucket = amazon["bucket"]
        return f"s3://{path}" if bucket is None else f"s3://{bucket}/{path}", set()
    labels = host.split(".")
    buckets = [".".join(labels[:k]) for k in range(1, len(labels) + 1)]
    return f"{host}{slash}{path}", {f"s3://{path}", *(f"s3://{name}/{path}" for name in buckets)}


def located(file: File, table: Table, found_by: Callable[[str], list[str]]) -> list[File]:
    """Return the files that an address names: those of a pattern, or the one of a variable.

    Args:
        file: one of the table's.
        table: what it is of.
        found_by: returns the addresses that a pattern finds.

    Raises:
        TableError: where a variable holds no address, or a pattern finds no file.
    """
    address = str(file.address)
    if variable := _VARIABLE.fullmatch(address):
        return [replace(file, address=_held(variable[1], file.shown))]
    if not has_magic(address):
        return [file]
    if not address.startswith("s3://"):
        raise TableError(
            f"table={file.shown} is a pattern, and https:// lists no files; give a list of "
            "addresses"
        )
    found = sorted(found_by(address))
    if not found and not table.partitions:
        raise TableError(f"table={file.shown} finds no file; give a pattern that does")
    return [replace(_file(table, own, file.shown), address=literal(own)) for own in found]


def literal(path: str) -> str:
    """Return a path with the letters that the engine would expand as a pattern made literal."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


def _held(name: str, shown: str) -> str:
    """Return the address that a variable holds; nothing of it is said, nor how it is wrong."""
    address = os.environ.get(name, "")
    scheme, _, rest = address.partition("://")
    one = scheme in ("s3", "https") and rest and not has_magic(rest.partition("?")[0])
    if not one or any(letter.isspace() or not letter.isprintable() for letter in address):
        raise TableError(
            f"table={shown} needs the environment variable {name} to hold the address of one file, "
            "s3://… or https://…; set it to that"
        )
    return address


def _file(table: Table, path: str, shown: str) -> File:
    """Return a file with the values that its folders say, the innermost of each name."""
    values: dict[str, str | None] = {}
    for part in Path(path).parts[:-1]:
        name, equals, value = part.partition("=")
        if equals:
            text = decoded(unquote_to_bytes(os.fsencode(value)))
            values[name] = None if value in (_NULL, "") else text
    own = tuple(values.get(name) for name in table.partitions)
    if variable := _VARIABLE.fullmatch(path):  # of the one kind that is read, whatever its ending
        return File(Path(f"{variable[1]}{PARQUET[0]}"), shown, own, path)
    return File(Path(path), shown, own, path if _URL.match(path) else None)


def _in_folder(table: Table, folder: Path) -> list[File]:
    """Return the Parquet files below a folder, but for those that a name hides."""
    require_no_log(str(folder), [f"{folder}/{PARQUET[0]}"])
    below = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    hidden = re.compile(r"(^|/)[_.]")
    seen = [own for own in below if not hidden.search(own.relative_to(folder).as_posix())]
    found = [own for own in seen if own.name.lower().endswith(PARQUET)]
    if not found and (seen or not table.partitions):
        raise TableError(
            f"table={folder} is a folder without Parquet files; give a pattern for others"
        )
    return _found(table, found, str(folder))


def _public(pattern: Path) -> Path:
    """Return the folder that a pattern names before its first letter that stands for others."""
    parts = pattern.parts
    at = next(i for i, part in enumerate(parts) if has_magic(part))
    return Path(*parts[:at])


def _ending(path: str) -> tuple[str, ...] | None:
    return next((own for own in _KINDS if path.lower().endswith(own)), None)


@contextmanager
def beyond_the_first(table: Table) -> Iterator[None]:
    """Make what fails a failure to read rows, where files are there as rows are."""
    if not table.partitions:
        yield
        return
    with alike(failed(table, "opened")):
        yield


def kind_of(table: Table, files: Sequence[File]) -> tuple[str, ...]:
    """Return the endings of the one kind that the files are of."""
    kinds = list(dict.fromkeys(_ending(file.path.name) for file in files)) or [PARQUET]
    if kinds[0] is None:
        known = ", ".join(ending for own in _KINDS for ending in own)
        raise TableError(
            f"table={files[0].shown} has an unknown ending; give one of {known}, .duckdb, .db, or "
            "the frame that pandas reads of it, as pandas.read_excel(path, dtype=str)"
        )
    if len(kinds) > 1:
        with beyond_the_first(table):
            raise TableError(f"table={named(table)} has files of several kinds; give those of one")
    if table.of_text and files and kinds[0] is not CSV:
        raise TableError("separator, quotes and decimal are for CSV files; leave them out")
    remote = any(file.address for file in files)
    if remote and kinds[0] is not PARQUET:
        raise TableError(f"table={files[0].shown} is no Parquet file; give a local copy of it")
    return kinds[0]


def _open_address(path: str, shown: str) -> None:
    """Refuse an address that holds what may be secret, or is of a scheme that is not read."""
    match = _URL.match(path)
    if may_hold_a_secret(path):  # nor is it quoted: where a secret ends is not known
        raise TableError(
            f"{shown} is an address with a user, a query or a fragment, which may be a "
            "secret; give the address alone, and the secret to DuckDB (CREATE PERSISTENT SECRET), "
            "or env://NAME and the address in the environment variable NAME"
            if match
            else f"{shown} may hold a password or a key; give a path without one, and of a "
            "database its rows, as an Arrow table"
        )
    if match is None:
        return
    scheme, shown = match[1], f"{shown}={path}" if shown == "table" else shown
    if scheme not in _REMOTE or not path.startswith(f"{scheme}://"):
        raise TableError(f"{shown} cannot be read; give a text s3://… or https://…, or a path")
    if scheme == "env" and not _VARIABLE.fullmatch(path):
        raise TableError(f"{shown} names no environment variable; give env:// and its name")
