# SPDX-License-Identifier: Apache-2.0
"""What a device sends: a report, in bytes, in a line of JSON, and in a table.

In bytes, all reports of one plan have one length: the version (1), the plan (8), the identifier
(16), and the integers one after the other, each in as many bits as its range needs, the lowest bit
first, with zeros up to a full byte.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, PlanError, TableError, quoted
from lownoise.numbers.readable import readable
from lownoise.release.codec import expect_format, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from lownoise.local_model.randomizer import AbstractRandomizer
    from lownoise.numbers.arrays import Chosen, Integers, Words
    from lownoise.numbers.randomness import Randomness

    Bytes = NDArray[np.uint8]

VERSION = 1  # of a report, in all its forms
_FORMAT = f"lownoise.report/{VERSION}"
_PLAN = 8  # bytes of the plan's SHA-256: two plans by accident alike, one pair in 2^64
_IDENTIFIER = 16  # bytes
_HEADER = 1 + _PLAN + _IDENTIFIER
_WIDEST = (
    56  # bits of an integer, so that eight bytes hold it, whichever bit of a byte it begins at
)
_BLOCK = 1 << 13  # reports, so that a block of them stays in the cache
_HEX = re.compile(r"[0-9a-f]*")
_LARGEST = 2**62  # of an integer in a table or a line


def shortened(digest: str) -> str:
    """Return what a report says of its plan: the first 16 hexadecimal digits of its SHA-256.

    So a report is not taken by accident for one of another plan. It proves nothing: whoever sends a
    report can write there what he likes.
    """
    return digest[: 2 * _PLAN]


def fresh_identifiers(count: int, *, randomness: Randomness) -> Words:
    """Return 128 random bits for each report, shape (n, 2): no two reports ever have the same."""
    return randomness.words(2 * count).reshape(count, 2)


@final
@readable
@dataclass(frozen=True)
class Report:
    """What one device sends of one record.

    Args:
        plan: the first 16 hexadecimal digits of the SHA-256 of the plan that it answers.
        id: 32 hexadecimal digits drawn with it, so that a report that comes twice is seen. They
            depend on nothing.
        values: the randomizer's integers, c of them.

    Raises:
        FileError: where they are not that.

    Examples:
        >>> report = Report("00" * 8, "ff" * 16, (3, -1))
        >>> Report.from_json(report.to_json()) == report
        True
    """

    plan: str
    id: str
    values: tuple[int, ...]

    def __post_init__(self) -> None:
        for field, text, size in (("plan", self.plan, _PLAN), ("id", self.id, _IDENTIFIER)):
            if not isinstance(text, str) or len(text) != 2 * size or not _HEX.fullmatch(text):
                raise FileError(
                    f"report.{field}={quoted(text)} is not {2 * size} hexadecimal digits; "
                    "give a report as the device made it"
                )
        if not isinstance(self.values, tuple) or not all(map(_is_integer, self.values)):
            raise FileError(
                f"report.values={quoted(self.values)} are no integers; "
                "give a report as the device made it"
            )

    def to_json(self) -> str:
        """Return it as one line of JSON, without its end."""
        fields = {"plan": self.plan, "id": self.id, "values": list(self.values)}
        return json.dumps({"format": _FORMAT, **fields})

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Return the report of a line of JSON.

        Raises:
            FileError: where it is none, or of a newer version.
        """
        try:
            document = parsed(text)
        except FileError:
            raise FileError(
                f"report={quoted(text)} is no JSON with each name once; "
                "give a line as `Report.to_json` writes it"
            ) from None
        expect_format(document, ("report",), VERSION)
        names = {"format", "plan", "id", "values"}
        if document.keys() != names or not isinstance(document["values"], list):
            raise FileError(
                f"report has the fields {quoted(sorted(document))}; "
                "give a line as `Report.to_json` writes it"
            )
        return cls(document["plan"], document["id"], tuple(document["values"]))


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST


@final
@dataclass(frozen=True, eq=False)
class Reports:
    """Many reports as arrays.

    Args:
        formed: which of them are well formed, shape (n,). What stands for the others means nothing.
        own: which of them are of the plan that was asked for, shape (n,).
        identifiers: shape (n, 2), 64 bits each.
        values: the randomizer's integers, shape (n, c). They are checked against no range.
    """

    formed: Chosen
    own: Chosen
    identifiers: Words
    values: Integers


@final
@dataclass(frozen=True, eq=False)
class ReportFormat:
    """How reports of one plan are written.

    Args:
        plan: the 16 hexadecimal digits of the plan.
        lowest: the least value of each integer, shape (c,).
        highest: the greatest, shape (c,).

    Raises:
        PlanError: where a range needs more than 56 bits.

    Examples:
        >>> form = ReportFormat("00" * 8, np.array([-4, 0]), np.array([3, 1]))
        >>> report = Report("00" * 8, "ff" * 16, (3, 1))
        >>> form.size, form.from_bytes(form.to_bytes(report)) == report
        (26, True)
    """

    plan: str
    lowest: Integers
    highest: Integers

    def __post_init__(self) -> None:
        if self.widths and max(self.widths) > _WIDEST:
            raise PlanError(
                f"randomizer has an integer of {max(self.widths)} bits; "
                f"use one whose ranges need at most {_WIDEST}"
            )

    @classmethod
    def of(cls, plan: str, randomizer: AbstractRandomizer) -> ReportFormat:
        """Return how reports of a randomizer are written.

        Args:
            plan: the SHA-256 of the plan's document, or its first 16 digits.
            randomizer: of the plan.
        """
        return cls(shortened(plan), randomizer.lowest, randomizer.highest)

    @cached_property
    def widths(self) -> list[int]:
        """How many bits each integer has, c of them."""
        ends = zip(self.lowest.tolist(), self.highest.tolist(), strict=True)
        return [(high - low).bit_length() for low, high in ends]

    @property
    def size(self) -> int:
        """How many bytes a report has."""
        return _HEADER + -(-sum(self.widths) // 8)

    def fresh(self, values: Integers, *, randomness: Randomness) -> Report:
        """Return a report of a randomizer's integers, shape (c,), with an identifier of its own."""
        identifier = fresh_identifiers(1, randomness=randomness)
        return Report(self.plan, _hex(identifier)[0], tuple(values.tolist()))

    def to_bytes(self, report: Report) -> bytes:
        """Return a report in bytes, `size` of them.

        Raises:
            FileError: where it is of another plan, or its integers are out of range.
        """
        if report.plan != self.plan:
            raise FileError(
                f"report.plan={report.plan} is not {self.plan}; give a report of this plan"
            )
        values = np.array([report.values], dtype=np.int64)
        shape_fits = values.shape[1] == len(self.widths)
        if not shape_fits or np.any((values < self.lowest) | (values > self.highest)):
            raise FileError(
                "report.values are out of the plan's ranges; give a report as the device made it"
            )
        return self.pack(_words([report.id]), values).tobytes()

    def from_bytes(self, content: bytes) -> Report:
        """Return the report of bytes.

        Raises:
            FileError: where they are none, or one of another plan.
        """
        if len(content) != self.size:
            raise FileError(
                f"report has {len(content)} bytes and not {self.size}; give one of this plan"
            )
        found = self.unpack(np.frombuffer(content, np.uint8)[None, :])
        values = found.values
        in_range = np.all((values >= self.lowest) & (values <= self.highest))
        if not (found.formed[0] and found.own[0] and in_range):
            reason = "is malformed" if found.own[0] else f"is not of the plan {self.plan}"
            raise FileError(f"report {reason}; give one of this plan as the device made it")
        return Report(self.plan, _hex(found.identifiers)[0], tuple(values[0].tolist()))

    def pack(self, identifiers: Words, values: Integers) -> Bytes:
        """Return many reports in bytes, shape (n, size).

        Args:
            identifiers: shape (n, 2).
            values: the randomizer's integers, within its ranges, shape (n, c).
        """
        count = len(values)
        found = np.zeros((count, self.size), np.uint8)
        found[:, 0] = VERSION
        found[:, 1 : 1 + _PLAN] = np.frombuffer(bytes.fromhex(self.plan), np.uint8)
        found[:, 1 + _PLAN : _HEADER] = _octets(identifiers)
        widths = np.array(self.widths, dtype=np.int64)
        column = np.repeat(np.arange(widths.size), widths)
        place = (np.arange(column.size) - (np.cumsum(widths) - widths)[column]).astype(np.uint64)
        for start in range(0, count, _BLOCK):
            block = slice(start, start + _BLOCK)
            above = (values[block] - self.lowest).astype(np.uint64)
            bits = ((above[:, column] >> place) & np.uint64(1)).astype(np.uint8)
            found[block, _HEADER:] = np.packbits(bits, axis=1, bitorder="little")
        return found

    def unpack(self, content: Bytes) -> Reports:
        """Return the reports of bytes, shape (n, size)."""
        count, size = content.shape
        content = np.ascontiguousarray(content)
        own = _read(content, 1, 1)[:, 0] == int.from_bytes(bytes.fromhex(self.plan), "little")
        formed = content[:, 0] == VERSION
        unused = 8 * size - 8 * _HEADER - sum(self.widths)
        if unused:
            formed &= (content[:, -1] >> (8 - unused)) == 0
        identifiers = _read(content, 1 + _PLAN, 2)
        values = np.empty((count, len(self.widths)), np.int64)
        runs = list(self._runs(alone=count > len(self.widths)))
        for start in range(0, count, _BLOCK):
            rows = min(_BLOCK, count - start)
            # eight bytes more, for the last integer is read with what follows it
            held = np.zeros(rows * size + 8, np.uint8)
            held[:-8] = content[start : start + rows].ravel()
            for columns, offset, stride, shift, width in runs:
                shape = (rows, len(range(*columns.indices(len(self.widths)))))
                read: Words = np.ndarray(shape, "<u8", held, offset, (size, stride))
                part = read >> np.uint64(shift)
                part &= np.uint64((1 << width) - 1)
                values[start : start + rows, columns] = part.view(np.int64) + self.lowest[columns]
        return Reports(formed, own, identifiers, values)

    def _runs(self, *, alone: bool) -> Iterator[tuple[slice, int, int, int, int]]:
        """Yield columns that are evenly far apart and begin at the same bit of a byte.

        Each with the byte that the first begins in, how many bytes the next is further, the bit,
        and the width.

        Args:
            alone: each column on its own, which is quicker where there are more reports than them.
        """
        column, bit = 0, 8 * _HEADER
        for width, run in groupby(self.widths):
            count = len(list(run))
            period = count if alone else 8 // math.gcd(width, 8)
            for first in range(min(period, count)):
                offset, shift = divmod(bit + first * width, 8)
                columns = slice(column + first, column + count, period)
                yield columns, offset, period * width // 8, shift, width
            column, bit = column + count, bit + count * width

    def to_columns(self, identifiers: Words, values: Integers) -> dict[str, Any]:
        """Return many reports as columns of a table: `plan`, `report`, `v0`, `v1`, ….

        Args:
            identifiers: shape (n, 2).
            values: shape (n, c).
        """
        plans = np.full(len(values), self.plan)
        own = {f"v{j}": values[:, j].copy() for j in range(values.shape[1])}
        return {"plan": plans, "report": np.array(_hex(identifiers), dtype="U32"), **own}

    def from_columns(self, columns: Mapping[str, Any]) -> Reports:
        """Return the reports of columns, such as `to_columns` returns, or a data frame has.

        Raises:
            TableError: where a column is missing.
        """
        names = ["plan", "report", *(f"v{j}" for j in range(len(self.widths)))]
        for name in names:
            if name not in columns:
                raise TableError(f"column={quoted(name)} is missing; give a table of reports")
        plans = _cells(columns["plan"])
        text: Any = self.plan.encode() if plans.dtype.kind == "S" else self.plan
        own: Chosen = np.asarray(plans == text, dtype=np.bool_)
        plans_formed = own.copy()
        if not np.all(own):
            plans_formed[~own] = _digits(plans[~own], _PLAN)[1]
        octets, formed = _digits(_cells(columns["report"]), _IDENTIFIER)
        formed &= plans_formed
        values = np.empty((len(formed), len(self.widths)), np.int64)
        for j, name in enumerate(names[2:]):
            values[:, j], whole = _integers(_cells(columns[name]))
            formed &= whole
        return Reports(formed, own, octets.view("<u8").astype(np.uint64), values)


def _read(content: Bytes, offset: int, words: int) -> Words:
    """Return so many words of each report, from a byte of it on; shapes (n, size), (n, words)."""
    rows, size = content.shape
    if not rows:
        return np.zeros((0, words), np.uint64)
    found: Words = np.ndarray((rows, words), "<u8", content, offset, (size, 8)).astype(np.uint64)
    return found


def _octets(identifiers: Words) -> Bytes:
    """Return the bytes of identifiers, shape (n, 16)."""
    return np.ascontiguousarray(identifiers, dtype="<u8").view(np.uint8)


def _hex(identifiers: Words) -> list[str]:
    """Return identifiers as texts, n of them."""
    text = _octets(identifiers).tobytes().hex()
    return [text[at : at + 2 * _IDENTIFIER] for at in range(0, len(text), 2 * _IDENTIFIER)]


def _words(texts: list[str]) -> Words:
    """Return the identifiers of texts, shape (n, 2)."""
    return np.frombuffer(bytes.fromhex("".join(texts)), "<u8").astype(np.uint64).reshape(-1, 2)


_NIBBLES = np.full(256, 255, np.uint8)
_NIBBLES[[*b"0123456789abcdef"]] = np.arange(16)


def _cells(column: Any) -> NDArray[Any]:  # noqa: ANN401
    """Return the cells of a column, shape (n,); those of a list each as it is."""
    listed = isinstance(column, (list, tuple))
    return np.array(column, dtype=object) if listed else np.asarray(column)


def _digits(texts: NDArray[Any], size: int) -> tuple[Bytes, Chosen]:
    """Return the bytes of hexadecimal texts, shape (n, size), and which texts are that, (n,)."""
    try:
        coded = texts.astype(f"S{2 * size + 1}")  # one more, by which longer texts are seen
    except (UnicodeEncodeError, ValueError, TypeError):
        ascii_texts = [str(text).encode("ascii", "replace") for text in texts.tolist()]
        coded = np.array(ascii_texts, dtype=f"S{2 * size + 1}")
    octets = coded.view(np.uint8).reshape(len(texts), 2 * size + 1)
    nibbles = _NIBBLES[octets[:, :-1]]
    formed = octets[:, -1] == 0
    if np.max(nibbles, initial=0) > 15:  # noqa: PLR2004 (rarely, and row by row it takes longer)
        formed &= np.all(nibbles < 16, axis=1)  # noqa: PLR2004
    found: Bytes = nibbles[:, ::2] * np.uint8(16) + (nibbles[:, 1::2] & np.uint8(15))
    return found, formed


def _integers(cells: NDArray[Any]) -> tuple[Integers, Chosen]:
    """Return the integers of a column, shape (n,), and which cells are that; 0 for the others."""
    if cells.dtype.kind in "iu":
        formed = cells < 2**63
        return np.where(formed, cells, 0).astype(np.int64), formed
    if cells.dtype.kind == "f":  # as a reader makes of integers where one is missing
        formed = (cells == np.rint(cells)) & (np.abs(cells) < 2.0**53)
        return np.where(formed, cells, 0).astype(np.int64), formed
    own = [value if _is_integer(value) else None for value in cells.tolist()]
    formed = np.array([value is not None for value in own], dtype=bool)
    return np.array([value or 0 for value in own], dtype=np.int64), formed
