# SPDX-License-Identifier: Apache-2.0
"""What a cell says, whatever stands beside it: lines of text, numbers, and nothing of what fails.

No field of a well-formed file can speak for another row. Bytes are decoded as UTF-8, and what is
none becomes a letter of its own. A line ends at a line feed or with the file: a line feed that the
file ends with begins no other line. A carriage return before the line feed goes, one anywhere else
is a space. A record is a line, in CSV all lines that quotes hold together (RFC 4180); tab-separated
text has no quotes, and a `Dialect` that the caller names may have another separator. The first
record names the columns, and every later one is a row, whatever it holds: an empty line is a row
that lacks all values, a short one lacks its last fields, surplus fields are ignored, and a field
too long to spell a number is missing. There is nothing here that a value could stop, and no row
that it could take away.

What rows do is not said: they cause no warning, and whatever fails for them fails alike.
"""

from __future__ import annotations

import csv
import sys
import warnings
from codecs import utf_8_decode
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import EngineError, TableError
from lownoise.numbers.values import LONGEST, number_of_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from lownoise.errors import LownoiseError


@contextmanager
def quiet() -> Iterator[None]:
    """Let no value warn, nor fail for what the caller made of warnings: either would tell of it."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def alike(text: str, passing: type[LownoiseError] | None = None) -> Iterator[None]:
    """Turn whatever fails in the block into one error, which gives no spend back; nothing warns.

    What failed may depend on a row, and its own text may quote one, or how many there are.

    Args:
        text: the error's text, of what is public alone.
        passing: errors that say nothing of rows, and are left as they are; None leaves none, as
            what an engine raises may quote a cell, whatever its class.

    Raises:
        EngineError: where anything else fails.

    Examples:
        >>> with alike("table=t.csv could not be read"):
        ...     int("SECRET")
        Traceback (most recent call last):
        lownoise.errors.EngineError: table=t.csv could not be read
    """
    try:
        with quiet():
            yield
    except Exception as error:  # whatever it is, its text may quote a value
        if passing is not None and isinstance(error, passing):
            raise
        raise EngineError(text) from None


def row_of(line: str, count: int) -> list[float]:
    """Return the numbers of a line, NaN for what spells none; all of them where there are others.

    Args:
        line: numbers, a comma between two.
        count: how many there must be.

    Examples:
        >>> row_of(" 1,2e3", 2), row_of("one", 1), row_of("1,2", 1)
        ([1.0, 2000.0], [nan], [nan])
    """
    fields = line.split(",", count)
    if len(fields) != count:
        return [np.nan] * count
    return [number_of_text(field) for field in fields]


@final
@dataclass(frozen=True)
class Dialect:
    """What stands between the fields of a line, and whether quotes hold some together.

    Args:
        separator: a comma, a semicolon, a bar, a colon or a tab.
        quoted: whether quotes hold separators, line feeds and, doubled, quotes (RFC 4180); where
            they do not, they are letters like all others.

    Raises:
        TableError: where the separator is none of , ; | : and a tab.

    Examples:
        >>> Dialect(";")
        Dialect(separator=';', quoted=True)
        >>> Dialect("0")
        Traceback (most recent call last):
        lownoise.errors.TableError: separator='0' is no separator; give , ; | : or a tab
    """

    separator: str = ","
    quoted: bool = True

    def __post_init__(self) -> None:
        if self.separator not in _SEPARATORS:
            raise TableError(f"separator={self.separator!r} is no separator; give , ; | : or a tab")


_SEPARATORS = (",", ";", "|", ":", "\t")
_COMMAS, _TABS = Dialect(), Dialect("\t", quoted=False)


def dialect_of(path: Path) -> Dialect:
    """Return what a file is written in by its name alone: .tsv in tabs without quotes, or commas.

    Examples:
        >>> from pathlib import Path
        >>> dialect_of(Path("t.tsv.gz")).quoted, dialect_of(Path("t.csv"))
        (False, Dialect(separator=',', quoted=True))
    """
    return _TABS if path.name.lower().removesuffix(".gz").endswith(".tsv") else _COMMAS


_UNITS = 6  # bytes that tell of UTF-16 without its mark: every second is none
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "ZIP, as sheets of Excel are",
    b"BZh91AY&SY": "bzip2",
    b"\xfd7zXZ\x00": "xz",
}


def first_record(file: Any, path: Path | str, dialect: Dialect) -> list[str]:  # noqa: ANN401
    """Return the fields of the first record of a file of bytes, which is read as far.

    Args:
        file: the file at its beginning.
        path: how messages call it.
        dialect: what it is written in.

    Raises:
        TableError: where its first line ends with a carriage return alone, or begins as UTF-16
            and packed files do.
    """
    found: list[str] = next(records(_first_lines(file, path), dialect), [])
    return found


def _expect_text(raw: bytes, path: Path | str) -> None:
    """Refuse a file by how its first line begins: as none of this kind does."""
    head = raw[:_UNITS]
    wide = len(head) == _UNITS and any(
        all(head[i::2]) and not any(head[1 - i :: 2]) for i in (0, 1)
    )
    if wide or raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TableError(f"table={path} is text in UTF-16; save it as UTF-8")
    for begins, name in _PACKED.items():
        if raw.startswith(begins):
            raise TableError(
                f"table={path} is packed by {name}, and no text; unpack it, or give a .csv.gz"
            )


def _first_lines(file: Any, path: Path | str) -> Iterator[str]:  # noqa: ANN401
    """Yield the lines, each ending at its line feed, without carriage returns."""
    first = True
    for raw in file:
        line = decoded(raw)
        if first:
            _expect_text(raw, path)
            line = line.removeprefix("\ufeff")
            # the last line of a file with none but carriage returns, too: rows, or no row
            if b"\r" in (raw.rstrip(b"\r\n") if raw.endswith(b"\n") else raw):
                raise TableError(
                    f"table={path} ends lines with carriage returns alone; convert it",
                )
            first = False
        yield line


def in_utf8(raw: bytes) -> bytes:
    r"""Return bytes of UTF-8: a byte that is none is two letters that tell it from every other.

    No number has the first of them, and no category.

    Examples:
        >>> in_utf8(b"M\xfcller") == "M\ufffd\uf7fcller".encode(), in_utf8("ü".encode()).decode()
        (True, 'ü')
    """
    try:
        utf_8_decode(raw, "strict", True)  # noqa: FBT003 (it has no keywords)
    except UnicodeDecodeError:  # or texts that tell people apart would be one
        # U+DC80 to U+DCFF, which no UTF-8 has, and the bytes that they are encoded to
        halves = raw.decode("utf-8", "surrogateescape").encode("utf-8", "surrogatepass")
        for half, letters in _LETTERS:
            halves = halves.replace(half, letters)
        return halves
    return raw


_LETTERS = [
    (b"\xed\xb2", b"\xef\xbf\xbd\xef\x9e"),  # then U+FFFD and U+F780 to U+F7BF
    (b"\xed\xb3", b"\xef\xbf\xbd\xef\x9f"),  # and U+F7C0 to U+F7FF
]


def decoded(raw: bytes) -> str:
    r"""Return a line as text, in the letters of `in_utf8`.

    Args:
        raw: the line with the line feed that ends it, if one does.

    Examples:
        >>> decoded(b"1,2\r\n"), decoded(b"a\rb"), decoded(b"1\n")
        ('1,2\n', 'a b', '1\n')
        >>> decoded(b"M\xfcller") == decoded(b"M\xf6ller")
        False
    """
    line = in_utf8(raw).decode()
    return line.replace("\r\n", "\n").replace("\r", " ") if "\r" in line else line


def records(lines: Iterator[str], dialect: Dialect) -> Any:  # noqa: ANN401 (a type of csv's own)
    """Return the reader of the records that lines, as `decoded` returns them, hold.

    Examples:
        >>> list(records(iter(['a,"b', '"",c"', "", 'a"b"']), Dialect()))
        [['a', 'b",c'], [], ['a"b"']]
    """
    csv.field_size_limit(sys.maxsize)  # the default refuses long fields by an error
    if not dialect.quoted:
        return csv.reader(lines, delimiter=dialect.separator, quoting=csv.QUOTE_NONE)
    return csv.reader(lines, delimiter=dialect.separator)


def columns_of(rows: Sequence[list[str]], places: Sequence[int]) -> list[list[str | None]]:
    """Return the fields at `places`, None where a row is short or a field long.

    Examples:
        >>> columns_of([["a", "b"], ["c"], []], [1, 0])
        [['b', None, None], ['a', 'c', None]]
    """
    width = max(places) + 1
    full: list[list[Any]] = [r if len(r) >= width else r + [None] * (width - len(r)) for r in rows]
    columns = []
    for place in places:
        column: list[str | None] = list(map(itemgetter(place), full))
        if max(map(len, filter(None, column)), default=0) > LONGEST:
            column = [f if f is not None and len(f) <= LONGEST else None for f in column]
        columns.append(column)
    return columns
