# SPDX-License-Identifier: Apache-2.0
"""Text tables at the speed of the machine, a block of records at a time, by the meaning of `cells`.

Arrow's parser, told to guess nothing, finds the fields of a block whose records are alike. One that
it refuses is sorted by how many fields records have, as `blocks` says: each of the usual numbers
goes to the parser again, what is rare is read as `cells` reads every record, and the rows come back
in their order. So which rows stand together makes a table faster or slower, and changes no cell.
"""

from __future__ import annotations

import gzip
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.blocks import LARGEST, alike, blocks
from lownoise.engines.cells import columns_of, decoded, dialect_of, first_record, records
from lownoise.engines.duckdb import registered
from lownoise.engines.folds import AbstractFold, Batch, floats_of
from lownoise.engines.frames import ArrowRows
from lownoise.engines.parts import Part, fold
from lownoise.engines.source import AbstractSource, require
from lownoise.errors import TableError
from lownoise.numbers.threads import in_order
from lownoise.numbers.values import LONGEST, number_of_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from lownoise.engines.blocks import Alike, Mask
    from lownoise.engines.cells import Dialect
    from lownoise.engines.source import Kind
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.privacy.units import PrivacyUnit

_BLOCK = 1 << 23  # bytes read at once, which a record may go beyond
_MARK = b"\xef\xbb\xbf"  # of UTF-8, which a parser leaves out where its bytes begin
# what is a number to Arrow and to `number_of` alike, and is nearly every number of a file
_PLAIN = r"\A[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\z"
_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", ":": "colons"}


@final
@dataclass(frozen=True)
class TextFile:
    """A file of text, which is opened anew whenever it is read.

    Args:
        path: the file, compressed where its name ends with .gz.
        dialect: what it is written in.
        block: how many bytes are read at once.
        shown: how messages call it, where its own name may follow from rows; "" for its path.
    """

    path: Path
    dialect: Dialect
    block: int = _BLOCK
    shown: str = ""

    def blocks(self, columns: Sequence[str]) -> Iterator[tuple[Parser, bytes]]:
        """Yield blocks of rows, and what finds `columns` in them.

        Raises:
            TableError: where the first line does not name each column once; nothing of the file is
                in the message.
            OSError, EOFError, zlib.error: where the file cannot be read, or is cut or damaged.
        """
        with self._open() as file:
            parser = self.parser(first_record(file, self.shown or self.path, self.dialect), columns)
            for block in blocks(file, self.dialect, self.block):
                yield parser, block

    def header(self) -> list[str]:
        """Return the names in the first line."""
        with self._open() as file:
            return first_record(file, self.shown or self.path, self.dialect)

    def parser(self, header: list[str], columns: Sequence[str]) -> Parser:
        """Return what finds the columns, of which each must stand once in the first line."""
        shown = self.shown or self.path
        if columns and not any(header):
            raise TableError(
                f"table={shown} has no names in its first line, or is empty; name each column there"
            )
        for column in columns:
            if column not in header and any("\ufffd" in name for name in header):
                raise TableError(
                    f"column={column!r} is not found in the first line of {shown}, which is not "
                    "UTF-8; save the table as UTF-8"
                )
            if column not in header:
                raise TableError(
                    f"column={column!r} is not in the first line of {shown}; spell it as there, "
                    "with its capitals and blanks, or, if names are not separated by "
                    f"{_NAMES[self.dialect.separator]}, give lownoise.Table(path, separator=…), in "
                    "a specification data.separator",
                )
            if header.count(column) > 1:
                raise TableError(
                    f"column={column!r} is in the first line of {shown} twice; name each column "
                    "once there"
                )
        places = tuple(map(header.index, columns)) or (0,)  # whichever, to know how many rows
        return Parser(places, max(len(header), 1), self.dialect)

    def _open(self) -> Any:  # noqa: ANN401
        packed = self.path.name.lower().endswith(".gz")
        return gzip.open(self.path, "rb") if packed else self.path.open("rb")


@final
@dataclass(frozen=True, eq=False, repr=False)
class TextSource(AbstractSource):
    """The rows of text files, one file after the other.

    Args:
        files: at least one.
        columns: the names that are read.

    Raises:
        TableError, OSError, EOFError, zlib.error: as `TextFile.blocks`, of each file's first line.
    """

    files: tuple[TextFile, ...]
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        for file in self.files:
            file.parser(file.header(), self.columns)

    def __repr__(self) -> str:
        return f"TextSource(columns {list(self.columns)})"

    def kinds(self, columns: Sequence[str]) -> tuple[Kind, ...]:
        """Return that each column holds texts."""
        require(self.columns, columns)
        return tuple("texts" for _ in columns)

    def batches(self, numbers: Sequence[str], texts: Sequence[str] = ()) -> Iterator[Batch]:
        """Return all rows in their order, batch by batch."""
        names = list(dict.fromkeys([*numbers, *texts]))
        return self._read(names, partial(_batch, names, numbers, texts))

    def fold(self, work: AbstractFold) -> Integers:
        """Return what all rows add up to, in threads that parse what they add."""
        parsing = _Parsing(work)
        blocks_of: list[Any] = [partial(file.blocks, parsing.names) for file in self.files]
        return fold(parsing, [Part(own) for own in blocks_of])

    def reader(self) -> Any:  # noqa: ANN401 (pyarrow carries no types)
        """Return an Arrow reader of the columns as texts, null where a row has no such field."""
        import pyarrow as pa

        schema = pa.schema([(name, pa.string()) for name in self.columns or [""]])

        def batch(columns: list[Column]) -> Any:  # noqa: ANN401
            return pa.record_batch([column.texts() for column in columns], schema=schema)

        return pa.RecordBatchReader.from_batches(schema, self._read(self.columns, batch))

    def bounded(self, unit: PrivacyUnit, columns: Sequence[str]) -> AbstractSource:
        """Return the first rows of each unit, as the embedded engine numbers them."""
        return registered(ArrowRows(self.reader)).bounded(unit, columns)

    def _read(self, columns: Sequence[str], made: Callable[[list[Column]], Any]) -> Iterator[Any]:
        """Yield what is made of each block, in order; blocks are parsed in threads."""
        found = (own for file in self.files for own in file.blocks(columns))
        return in_order(lambda own: made(own[0].columns(own[1])), found)


def _batch(
    names: Sequence[str], numbers: Sequence[str], texts: Sequence[str], columns: list[Column]
) -> Batch:
    own = dict(zip(names, columns, strict=True))
    return Batch([own[n].numbers() for n in numbers], [own[n].texts() for n in texts])


@final
@dataclass(frozen=True, eq=False)
class _Parsing(AbstractFold):
    """What blocks add up to, which are parsed for it.

    Args:
        work: what their rows add up to.
    """

    work: AbstractFold

    @property
    def columns(self) -> tuple[Sequence[str], Sequence[str]]:
        """Those of the work."""
        return self.work.columns

    @property
    def names(self) -> list[str]:
        """All columns, each once."""
        return list(dict.fromkeys([*self.numbers, *self.texts]))

    def zeros(self) -> Integers:
        """Return what no rows add up to."""
        return self.work.zeros()

    def add(self, found: Integers, batch: Any) -> None:  # noqa: ANN401 (no rows yet)
        """Add a block to `found`, given with its parser."""
        parser, block = batch
        columns = parser.columns(block)
        self.work.add(found, _batch(self.names, self.numbers, self.texts, columns))


@final
@dataclass(frozen=True, eq=False)
class Column:
    """What some records say in one place.

    Args:
        parts: Arrow arrays of texts, null where a record has no such field.
        order: the place of each record in all parts together; None where they are in their order.
    """

    parts: tuple[Any, ...]
    order: Integers | None = None

    def texts(self) -> Any:  # noqa: ANN401
        """Return an Arrow array of texts."""
        import pyarrow as pa

        found = pa.concat_arrays(self.parts) if len(self.parts) > 1 else self.parts[0]
        return found if self.order is None else found.take(pa.array(self.order))

    def numbers(self) -> Vector:
        """Return the numbers that the texts spell, NaN where they spell none, shape (n,)."""
        found = np.concatenate([numbers_of(part) for part in self.parts])
        return found if self.order is None else found[self.order]


def open_text(
    path: Path, columns: Sequence[str], dialect: Dialect | None = None, shown: str = ""
) -> Any:  # noqa: ANN401
    """Return an Arrow reader of `columns` as text, null where a row has no such field.

    Args:
        path: a file of text, compressed where its name ends with .gz.
        columns: the names that are read; without one the reader has some column called "".
        dialect: what it is written in; None for what its name says.
        shown: as of a `TextFile`.

    Raises:
        TableError, OSError, EOFError, zlib.error: as `TextSource`, and from the reader later.
    """
    file = TextFile(path, dialect or dialect_of(path), shown=shown)
    return TextSource((file,), tuple(columns)).reader()


def numbers_of(texts: Any) -> Vector:  # noqa: ANN401
    """Return the number that each text of an Arrow array spells, NaN where it spells none.

    Examples:
        >>> import pyarrow as pa
        >>> numbers_of(pa.array(["1", " 2", "0x10", "", None, "inf"])).tolist()
        [1.0, 2.0, 16.0, nan, nan, inf]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for likely in (_like_numbers, _numerals):
        known = likely(texts)
        own = texts if known.all() else pc.if_else(pa.array(known), texts, None)
        with suppress(pa.ArrowInvalid):  # it takes no spaces, no words and no other base
            own = pc.cast(own, pa.float64())
            break
    floats = floats_of(own)
    if known.all():
        return floats
    odd = pc.filter(texts, pa.array(~known)).dictionary_encode("encode")
    spelled = [np.nan if t is None else number_of_text(t) for t in odd.dictionary.to_pylist()]
    floats = floats.copy()
    floats[~known] = np.array(spelled)[odd.indices.to_numpy()]
    return floats


def _like_numbers(texts: Any) -> Mask:  # noqa: ANN401
    """Return which texts end with a digit, as what is no number seldom does, shape (n,)."""
    ends = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1]
    letters = np.frombuffer(texts.buffers()[2] or b"", np.uint8)
    if not letters.size:
        return np.zeros(len(texts), dtype=bool)
    last = letters[ends[1:] - 1]  # of one without letters whichever
    return (last >= ord("0")) & (last <= ord("9")) & (ends[1:] > ends[:-1])


def _numerals(texts: Any) -> Mask:  # noqa: ANN401
    """Return which texts are decimal numerals that Arrow reads, shape (n,)."""
    import pyarrow.compute as pc

    found: Mask = pc.fill_null(pc.match_substring_regex(texts, _PLAIN), False).to_numpy(  # noqa: FBT003
        zero_copy_only=False
    )
    return found


@final
@dataclass(frozen=True)
class Parser:
    """What makes Arrow arrays of records.

    Args:
        places: of the fields that are asked for.
        width: how many the header has.
        dialect: what separates and quotes.
    """

    places: tuple[int, ...]
    width: int
    dialect: Dialect

    def columns(self, data: bytes) -> list[Column]:
        """Return the fields of some records, a column a place."""
        import pyarrow as pa

        # an empty line would have all fields, and what Arrow takes has an end
        if not (data.startswith(b"\n") or b"\n\n" in data or len(data) > LARGEST):
            with suppress(pa.ArrowInvalid):
                return [Column((texts,)) for texts in self._parsed(data, self.width)]
        runs, order = alike(data, self.dialect)
        parts = zip(*map(self._of, runs), strict=True)
        return [Column(part, order) for part in parts]

    def _of(self, run: Alike) -> list[Any]:
        import pyarrow as pa

        if run.width is None:
            lines = records(map(decoded, BytesIO(run.data)), self.dialect)
            own = columns_of(list(lines), self.places)
            return [pa.array(column, type=pa.string()) for column in own]
        if not run.width:
            return [pa.nulls(run.count, pa.string())] * len(self.places)
        return self._parsed(run.data, run.width)

    def _parsed(self, plain: bytes, width: int) -> list[Any]:
        """Return the fields of lines with as many each as `width`; refuse others, and odd bytes."""
        import pyarrow as pa
        import pyarrow.csv

        asked = [place for place in self.places if place < width]
        names = [str(place) for place in asked] or ["0"]
        own = BytesIO(_MARK + plain if plain.startswith(_MARK) else plain)
        found = pyarrow.csv.read_csv(
            own,
            pyarrow.csv.ReadOptions(
                use_threads=False,
                block_size=len(plain) + 4,
                column_names=list(map(str, range(width))),
            ),
            pyarrow.csv.ParseOptions(
                delimiter=self.dialect.separator,
                quote_char='"' if self.dialect.quoted else False,
                double_quote=self.dialect.quoted,
                newlines_in_values=self.dialect.quoted,
                ignore_empty_lines=False,
            ),
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=names,
                null_values=[],
                strings_can_be_null=False,
            ),
        )
        none = pa.nulls(found.num_rows, pa.string())
        return [
            _short(found.column(str(place)).combine_chunks()) if place < width else none
            for place in self.places
        ]


def _short(texts: Any) -> Any:  # noqa: ANN401
    """Return the texts without those that are too long to spell a number."""
    import pyarrow.compute as pc

    if (pc.max(pc.binary_length(texts)).as_py() or 0) <= LONGEST:
        return texts
    return pc.if_else(pc.less_equal(pc.utf8_length(texts), LONGEST), texts, None)
