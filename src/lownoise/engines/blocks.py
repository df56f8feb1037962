# SPDX-License-Identifier: Apache-2.0
"""Bytes of a text table in blocks of whole records, and which of their lines a fast parser reads.

Where quotes open right behind a separator and close right before one, or are doubled, a line feed
with an even number of quotes before it ends a record: there a block ends. A block that the parser
refuses is sorted line by line: those of another number of fields than most, empty ones, those with
bytes that are no UTF-8 and records whose quotes stand elsewhere are read as `cells` reads every
record.
"""

from __future__ import annotations

from codecs import utf_8_decode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.cells import decoded, records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from lownoise.engines.cells import Dialect
    from lownoise.numbers.arrays import Integers

    Letters = NDArray[np.uint8]
    Mask = NDArray[np.bool_]

LARGEST = 1 << 26  # bytes: a block with a record as long has few others, and no line is sorted
_FEED, _QUOTE, _ASCII = ord("\n"), ord('"'), 127


@final
@dataclass(frozen=True, eq=False)
class Block:
    """Records, by what reads them.

    Args:
        plain: bytes of lines for the parser.
        size: how many bytes all records have.
        width: how many fields each of those lines has.
        odd: the fields of all other records.
        order: the place of each record among the plain ones with the odd ones behind them; None
            where no line has been looked at, and all are taken for plain.
    """

    plain: bytes
    size: int
    width: int = 0
    odd: Sequence[list[str]] = ()
    order: Integers | None = None


def blocks(file: Any, dialect: Dialect, size: int) -> Iterator[Block]:  # noqa: ANN401
    """Yield the rest of the file as whole records, without carriage returns.

    What belongs to a record that has not ended is looked at again once there is twice as much of
    it, so that the end of a long one is found in linear time.
    """
    data, held, more = b"", b"", size
    while read := file.read(more):
        read, held = held + read, b""
        if read.endswith(b"\r"):  # a line feed may follow
            read, held = read[:-1], b"\r"
        data += _returned(read)
        block = _complete(data, dialect, last=False)
        if block.size:
            yield block
            data = data[block.size :]
        more = max(size, len(data))
    if data := data + _returned(held):
        yield _complete(data, dialect, last=True)


def _returned(read: bytes) -> bytes:
    return read.replace(b"\r\n", b"\n").replace(b"\r", b" ") if b"\r" in read else read


def _complete(data: bytes, dialect: Dialect, *, last: bool) -> Block:
    """Return the records that end in `data`, or with it where it is the last."""
    end = len(data) if last else data.rfind(b"\n") + 1
    if dialect.quoted and b'"' in data:
        letters = np.frombuffer(data, np.uint8)
        quotes = np.flatnonzero(letters == _QUOTE)
        opens = np.arange(quotes.size) % 2 == 0
        if (last and quotes.size % 2) or not np.all(_regular(letters, quotes, opens, dialect)):
            return by_lines(data, dialect, last=last)
        if not last:
            end = _last_end(data, quotes)
    return Block(data[:end], end)


def _regular(letters: Letters, quotes: Integers, opens: Mask, dialect: Dialect) -> Mask:
    """Return whether each quote opens behind a separator, closes before one, or is doubled.

    Args:
        letters: bytes, of which the first begins a record.
        quotes: where quotes stand.
        opens: whether each of them opens what is quoted, or closes it.
        dialect: what separates.
    """
    beside = np.where(opens, quotes - 1, quotes + 1)
    ends = (beside < 0) | (beside >= letters.size)
    found = letters[np.where(ends, 0, beside)]
    separates = (found == ord(dialect.separator)) | (found == _FEED)
    regular: Mask = ends | separates | (found == _QUOTE)
    return regular


def _last_end(data: bytes, quotes: Integers) -> int:
    """Return where the last line feed outside quotes ends; 0 where there is none."""
    at = data.rfind(b"\n")
    while at >= 0 and (before := int(np.searchsorted(quotes, at))) % 2:
        at = data.rfind(b"\n", 0, int(quotes[before - 1]))
    return at + 1


def by_lines(data: bytes, dialect: Dialect, *, last: bool) -> Block:
    """Return the records that end in `data`, or with it, line by line by what reads them."""
    letters = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(letters == _FEED) + 1
    if last and not data.endswith(b"\n"):
        ends = np.append(ends, letters.size)
    if not ends.size:
        return Block(b"", 0)
    letters, lengths = letters[: ends[-1]], np.diff(ends, prepend=0)
    fields, odd = np.zeros_like(ends), np.ones(ends.size, dtype=bool)
    if letters.size <= LARGEST:
        fields, odd = _fields(letters, ends, dialect)
        odd |= letters[ends - lengths] == _FEED
    try:
        utf_8_decode(memoryview(data)[: letters.size], "strict", True)  # noqa: FBT003 (it has no keywords)
    except UnicodeDecodeError:
        odd[np.searchsorted(ends, np.flatnonzero(letters > _ASCII), side="right")] = True
    width = int(np.bincount(fields[~odd], minlength=2).argmax())
    odd |= fields != width
    rows, places, whole = _odd_records(data, ends, odd, dialect, last=last)
    plain = np.flatnonzero(~odd[:whole])
    odd[whole:] = True
    kept = letters[np.repeat(~odd, lengths)].tobytes()
    order = np.argsort(np.concatenate([plain, places]), kind="stable")
    return Block(kept, int(ends[whole - 1]) if whole else 0, width, rows, order)


def _fields(letters: Letters, ends: Integers, dialect: Dialect) -> tuple[Integers, Mask]:
    """Return how many fields each line has, were it a record, and whether its quotes are irregular.

    Args:
        letters: the bytes of the lines.
        ends: where each ends, shape (n,).
        dialect: what separates and quotes.
    """
    separators = np.flatnonzero(letters == ord(dialect.separator))
    odd = np.zeros(ends.size, dtype=bool)
    quotes = np.flatnonzero(letters == _QUOTE) if dialect.quoted else separators[:0]
    line = np.searchsorted(ends, quotes, side="right")
    if quotes.size:
        before = np.searchsorted(quotes, np.append(0, ends[:-1]))  # those of all lines before
        opens = (np.arange(quotes.size) - before[line]) % 2 == 0
        odd |= np.diff(before, append=quotes.size) % 2 == 1
        odd[line[~_regular(letters, quotes, opens, dialect)]] = True
    if not np.all(odd[line]):  # of others it does not matter
        line = np.searchsorted(ends, separators, side="right")
        inside = (np.searchsorted(quotes, separators) - before[line]) % 2 == 1
        separators = separators[~inside]
    return np.diff(np.searchsorted(separators, ends), prepend=0) + 1, odd


def _odd_records(
    data: bytes, ends: Integers, odd: Mask, dialect: Dialect, *, last: bool
) -> tuple[list[list[str]], list[int], int]:
    """Return the records that begin with odd lines, these lines, and how many lines end in `data`.

    Args:
        data: the lines.
        ends: where each ends, shape (n,).
        odd: which lines are odd where they begin a record; all that such records have become so.
        dialect: what separates and quotes.
        last: whether no line follows.
    """
    rows: list[list[str]] = []
    places: list[int] = []
    at = 0

    def lines() -> Iterator[str]:
        nonlocal at
        while at < ends.size:
            at += 1
            yield decoded(data[int(ends[at - 2]) if at > 1 else 0 : int(ends[at - 1])])
        at += 1  # a record asks for more

    reader = records(lines(), dialect)
    for place in np.flatnonzero(odd).tolist():
        if place >= at:  # and is not of a record before it
            at = place
            row = next(reader)
            if at > ends.size and not last:
                return rows, places, place
            rows.append(row)
            places.append(place)
            if at > place + 1:
                odd[place:at] = True
    return rows, places, ends.size
