# SPDX-License-Identifier: Apache-2.0
"""JSON lines: a line is a row, whatever it holds, and every cell is a text.

Bytes become letters, and lines are found, as `engines.cells` says. A line that holds one JSON
object is the row of its members; of members of one name the last counts. A number is the text that
spells it, which is then the float that it spells; true and false are these words; null, an array
and an object are missing, as is a text too long to spell a number. Any other line, an empty one
too, is a row that lacks all values. No row decides the type of a column, nor that there is one: a
column that no line has is missing in every row.
"""

from __future__ import annotations

import gzip
import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from lownoise.engines.cells import decoded
from lownoise.numbers.values import LONGEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_ROWS = 1 << 14  # a batch
_DEEPEST = 64  # arrays and objects within each other: beyond, a reader would run out of its stack
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"?')
_WORDS = {True: "true", False: "false"}
# half of a letter, which no UTF-8 has: two letters that tell it from every other
_HALVES = {0xD800 + i: "\ufffd" + chr(0xE000 + i) for i in range(0x800)}
# numbers as they are spelled; Python's NaN and Infinity, which are no JSON, too
_READ = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str).decode


def open_lines(path: Path, columns: Sequence[str]) -> Any:  # noqa: ANN401 (pyarrow carries no types)
    """Return an Arrow reader of `columns` as text, null where a row has no such value.

    Raises:
        OSError, EOFError, zlib.error: later, from the reader, where the file is cut or damaged.
    """
    import pyarrow as pa

    schema = pa.schema([(c, pa.string()) for c in columns])
    return pa.RecordBatchReader.from_batches(schema, _batches(path, columns, schema))


def _batches(path: Path, columns: Sequence[str], schema: Any) -> Iterator[Any]:  # noqa: ANN401
    import pyarrow as pa

    packed = path.name.lower().endswith(".gz")
    with gzip.open(path, "rb") if packed else path.open("rb") as file:
        lines = _unmarked(file)
        while rows := [values_of(line, columns) for line in islice(lines, _ROWS)]:
            arrays = [pa.array(own, type=pa.string()) for own in zip(*rows, strict=True)]
            yield pa.record_batch(arrays, schema=schema)


def _unmarked(file: Any) -> Iterator[bytes]:  # noqa: ANN401
    """Yield the lines, the first without the mark of UTF-8."""
    for number, line in enumerate(file):
        if own := line if number else line.removeprefix(b"\xef\xbb\xbf"):
            yield own


def values_of(line: bytes, columns: Sequence[str]) -> list[str | None]:
    r"""Return the texts of a line, None for what is missing.

    Examples:
        >>> values_of(b'{"a": 1.50, "b": "x", "a": 1e400, "c": true}\n', ["a", "b", "c", "d"])
        ['1e400', 'x', 'true', None]
        >>> values_of(b'["a"]', ["a"]), values_of(b'{"a": [1]}', ["a"]), values_of(b"", ["a"])
        ([None], [None], [None])
    """
    text = decoded(line)
    try:
        found = None if _deep(text) else _READ(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        return [None] * len(columns)
    return [_text(found.get(column)) for column in columns]


def _deep(text: str) -> bool:
    """Return whether arrays and objects are more than so many within each other."""
    if text.count("{") + text.count("[") <= _DEEPEST:
        return False
    depth = 0
    for letter in _TEXT.sub("", text):
        depth += (letter in "{[") - (letter in "}]")
        if depth > _DEEPEST:
            return True
    return False


def _text(value: Any) -> str | None:  # noqa: ANN401 (whatever JSON has)
    if isinstance(value, bool):
        return _WORDS[value]
    if not isinstance(value, str) or len(value) > LONGEST:
        return None
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.translate(_HALVES)
    return value
