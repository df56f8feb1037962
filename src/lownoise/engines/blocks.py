# SPDX-License-Identifier: Apache-2.0
"""Bytes of a text table in blocks of whole records, and which records have fields alike.

What a quote does follows from the byte before it and from the quotes before it, as in the csv
module: one begins a quoted text behind a separator, a line feed or the beginning; in a quoted text
one ends it, or is half of a doubled one; elsewhere it is a letter. So an automaton of three states
walks over the quotes alone, and tells of every line feed whether a record ends there, and of every
separator whether a field does.
"""

from __future__ import annotations

import math
from codecs import utf_8_decode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.cells import in_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lownoise.engines.cells import Dialect
    from lownoise.numbers.arrays import Integers

    Letters = NDArray[np.uint8]
    Mask = NDArray[np.bool_]

LARGEST = 1 << 26  # bytes: a block with a record as long has few others, and none is sorted
_WIDTHS = 8  # numbers of fields that get a run of the parser each, those of most records
_LINES = 64  # fields of a record, for each record of that width, at most
_FEED, _QUOTE, _ASCII = ord("\n"), ord('"'), 127
# a quote in no quoted text; in one, or the second half of a doubled quote; maybe the end of one
_OUTSIDE, _INSIDE, _AFTER = range(3)
# behind what ends a field, behind a quote, behind anything else, and no quote at all
_BEHIND_END, _BEHIND_QUOTE, _BEHIND_LETTER, _NOTHING = range(4)
_NEXT = np.array(
    [
        [_INSIDE, _AFTER, _INSIDE],
        [_OUTSIDE, _AFTER, _INSIDE],
        [_OUTSIDE, _AFTER, _OUTSIDE],
        [_OUTSIDE, _INSIDE, _AFTER],
    ]
).ravel()


@final
@dataclass(frozen=True, eq=False)
class Alike:
    """Records by how many fields they have.

    Args:
        data: bytes of some of them, in their order.
        width: how many fields each has, none where they are empty; None for any number, to be read
            one by one.
        count: how many they are; 0 where that is not known.
    """

    data: bytes
    width: int | None
    count: int = 0


def blocks(file: Any, dialect: Dialect, size: int) -> Iterator[bytes]:  # noqa: ANN401
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
        if end := _ended(data, dialect):
            yield data[:end]
            data = data[end:]
        more = max(size, len(data))
    if data := data + _returned(held):
        yield _closed(data, dialect)


def _returned(read: bytes) -> bytes:
    return read.replace(b"\r\n", b"\n").replace(b"\r", b" ") if b"\r" in read else read


def _ended(data: bytes, dialect: Dialect) -> int:
    """Return where the last record that has ended does; 0 where none has."""
    at = data.rfind(b"\n")
    if at < 0 or not dialect.quoted or b'"' not in data:
        return at + 1
    letters = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(letters == _QUOTE)
    states = _states(letters, quotes, dialect)
    feeds = np.array([at])
    if _inside(states, np.searchsorted(quotes, feeds))[0]:
        feeds = np.flatnonzero(letters == _FEED)
    outside = feeds[~_inside(states, np.searchsorted(quotes, feeds))]
    return int(outside[-1]) + 1 if outside.size else 0


def _closed(data: bytes, dialect: Dialect) -> bytes:
    """Return the last records, with a quote where the last text lacks the one that ends it."""
    if not dialect.quoted or b'"' not in data:
        return data
    letters = np.frombuffer(data, np.uint8)
    states = _states(letters, np.flatnonzero(letters == _QUOTE), dialect)
    return data + b'"' if states[-1] == _INSIDE else data


def _inside(states: Letters, before: Integers) -> Mask:
    """Return what is in a quoted text, of what stands behind so many quotes each."""
    found: Mask = np.append(states, _OUTSIDE)[before - 1] == _INSIDE
    return found


def _states(letters: Letters, quotes: Integers, dialect: Dialect) -> Letters:
    """Return what the automaton is in behind each quote, shape (n,).

    The quotes stand in rows of about √n, through which it walks side by side: from all three
    states, as nobody knows yet in which a row begins, and then from that one.

    Args:
        letters: bytes, of which the first begins a record.
        quotes: where quotes stand, shape (n,).
        dialect: what separates.
    """
    rows = max(math.isqrt(quotes.size), 1)
    steps = -(-quotes.size // rows)
    behind = np.full((rows, steps), _NOTHING, dtype=np.uint8)
    beside = np.where(quotes > 0, letters[quotes - 1], _FEED)
    kinds = behind.reshape(-1)[: quotes.size]
    kinds[:] = _BEHIND_LETTER
    kinds[(beside == _FEED) | (beside == ord(dialect.separator))] = _BEHIND_END
    kinds[beside == _QUOTE] = _BEHIND_QUOTE
    moves = np.ascontiguousarray(behind.T) * np.intp(3)
    ends = np.repeat(np.arange(3)[:, None], rows, axis=1)
    for move in moves:
        ends = _NEXT.take(move + ends)
    starts, state = np.empty(rows, dtype=np.intp), _OUTSIDE
    for row, end in enumerate(ends.T.tolist()):
        starts[row], state = state, end[state]
    found = np.empty((steps, rows), dtype=np.uint8)
    for step, move in enumerate(moves):
        found[step] = starts = _NEXT.take(move + starts)
    return found.T.reshape(-1)[: quotes.size]


def alike(data: bytes, dialect: Dialect) -> tuple[list[Alike], Integers | None]:
    r"""Return records by how many fields they have, in UTF-8, and where each of all is there.

    Those of widths that few have are left to be read one by one, as are all where a record is
    longer than `LARGEST`.

    Args:
        data: whole records, of which the last may lack its line feed.
        dialect: what separates and quotes.

    Returns:
        The records in runs, and the place of each record of `data` in all runs together, shape
        (n,); None where that is its place in `data`.

    Examples:
        >>> from lownoise.engines.cells import Dialect
        >>> runs, order = alike(b'1,2\n"3\n,",4\n\n5\n', Dialect())
        >>> [(own.width, own.data) for own in runs], order.tolist()
        ([(2, b'1,2\n"3\n,",4\n'), (0, b'\n'), (1, b'5\n')], [0, 1, 2, 3])
    """
    if len(data) > LARGEST:
        return [Alike(data, None)], None
    letters = np.frombuffer(data, np.uint8)
    ends, widths = _records(letters, dialect)
    often = np.bincount(widths)
    most = np.argsort(-often, kind="stable")[:_WIDTHS]
    most = most[(often[most] > 0) & (often[most] * _LINES >= most)]
    kinds = np.zeros(often.size, dtype=np.intp)
    kinds[most] = np.arange(1, most.size + 1)
    kinds = 2 * kinds[widths]
    if not _is_utf8(data):  # what is not ASCII is looked at apart, as making it so takes its time
        kinds[np.searchsorted(ends, np.flatnonzero(letters > _ASCII), side="right")] |= 1
    runs, places = [], []
    for kind, width in enumerate(np.repeat([None, *most.tolist()], 2).tolist()):
        own = kinds == kind
        if own.any():
            found = _joined(data, ends, own)
            places.append(np.flatnonzero(own))
            runs.append(Alike(in_utf8(found) if kind % 2 else found, width, places[-1].size))
    if len(runs) == 1:
        return runs, None
    order = np.empty(ends.size, dtype=np.intp)
    order[np.concatenate(places)] = np.arange(ends.size)
    return runs, order


def _is_utf8(data: bytes) -> bool:
    try:
        return data.isascii() or bool(utf_8_decode(data, "strict", True))  # noqa: FBT003 (no keywords)
    except UnicodeDecodeError:
        return False


def _records(letters: Letters, dialect: Dialect) -> tuple[Integers, Integers]:
    """Return where records end, and how many fields each has, 0 where it is empty, (n,) each."""
    stops = letters == ord(dialect.separator)
    stops |= letters == _FEED
    if dialect.quoted:
        stops |= letters == _QUOTE
    at = np.flatnonzero(stops)
    found = letters[at]
    if dialect.quoted and (quotes := found == _QUOTE).any():
        inside = _inside(_states(letters, at[quotes], dialect), np.cumsum(quotes))
        at = at[~(quotes | inside)]
        found = letters[at]
    feeds = np.flatnonzero(found == _FEED)
    ends = at[feeds] + 1
    if not feeds.size or ends[-1] < letters.size:  # the last has no line feed
        feeds, ends = np.append(feeds, at.size), np.append(ends, letters.size)
    widths = np.diff(feeds, prepend=-1)
    starts = ends - np.diff(ends, prepend=0)
    widths[letters[starts] == _FEED] = 0
    return ends, widths


def _joined(data: bytes, ends: Integers, own: Mask) -> bytes:
    """Return some of the records.

    Args:
        data: all of them.
        ends: where each ends, shape (n,).
        own: which are returned, shape (n,).
    """
    turns = np.flatnonzero(np.diff(own, prepend=False, append=False))
    at = np.append(0, ends)[turns].reshape(-1, 2)
    return b"".join(map(data.__getitem__, map(slice, *at.T.tolist())))
