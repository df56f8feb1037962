# SPDX-License-Identifier: Apache-2.0
"""A table of answers, whose columns say what they are: in pandas, or as CSV, Parquet or JSON.

A spreadsheet runs a cell that begins with = + - @, some after white space and letters that are not
seen, and what follows a semicolon may be a cell where there are no quotes. Labels come from a
specification, which need not be the reader's own: every text is in quotes, and an apostrophe goes
before one that would run and is no number, and before one that begins with an apostrophe. To read
labels back, take one apostrophe away wherever a cell begins with one (`label_of`).
"""

from __future__ import annotations

import json
import re
import unicodedata
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, path_of
from lownoise.release import codec
from lownoise.release.readable import frame, free

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike
    from typing import IO

    from pandas import DataFrame

    from lownoise.numbers.arrays import Vector

_PRINTED = 40  # rows
_AT_ONCE = 1 << 16  # rows that are Python's numbers at once
_RUN = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp", "Cn", "Co", "Cs", "Mn")  # categories of Unicode
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@final
@dataclass(frozen=True, eq=False)
class AnswerColumn:
    """One column: its cells, and what a reader has to know of them.

    Args:
        name: its heading.
        cells: texts, or an array of floats or of integers.
        meaning: what a cell says, public words alone.
        unit: of numbers; None of texts.
    """

    name: str
    cells: Any
    meaning: str
    unit: str | None = None

    @property
    def kind(self) -> str:
        """The type of its cells: "text", "float64" or "int64"."""
        return "text" if self.unit is None else str(self.cells.dtype)

    @property
    def described(self) -> dict[str, str]:
        """Its entry in the data dictionary."""
        own = {"name": self.name, "type": self.kind, "meaning": self.meaning}
        return own if self.unit is None else {**own, "unit": self.unit}


@final
@dataclass(frozen=True, eq=False)
class AnswerTable:
    """Columns of one length, each of its own name.

    Args:
        columns: in their order.
    """

    columns: tuple[AnswerColumn, ...]

    @classmethod
    def of_answers(
        cls,
        labels: Mapping[str, Sequence[str]],
        numbers: tuple[Vector, Vector, Vector, Vector],
        *,
        called: tuple[str, str, str],
        chance: str,
        about: str = "",
    ) -> AnswerTable:
        """Return a row an answer: what it is, its number, the ends of its interval, its deviation.

        Args:
            labels: columns that say which answer a row is.
            numbers: of each answer four.
            called: what an answer is called, and its number, and in which unit that is.
            chance: with which an interval covers, in words.
            about: what else is said of labels, behind what they mean.
        """
        one, number, unit = called
        meant = {
            number: f"the released {number}: the exact value and noise",
            **ends_of("value", chance),
            "standard_deviation": "the standard deviation of the noise",
        }
        return cls(
            (
                *(
                    AnswerColumn(n, own, f"which {one} it is: {n}{about}")
                    for n, own in labels.items()
                ),
                *(
                    AnswerColumn(free(name, list(labels)), own, meaning, unit)
                    for (name, meaning), own in zip(meant.items(), numbers, strict=True)
                ),
            )
        )

    def to_pandas(self) -> DataFrame:
        """Return it as a pandas table.

        Raises:
            PlanError: where pandas is not installed.
        """
        return frame({own.name: own.cells for own in self.columns})

    def export(
        self, path: str | PathLike[str], *, separator: str | None = None, decimal: str = "."
    ) -> None:
        """Write it in the form that the path's ending says, all of it or nothing.

        Args:
            path: of the file.
            separator: of CSV, as that of `lownoise.Table`: by default a comma, or a semicolon where
                that stands before decimals.
            decimal: of CSV, what stands before the decimals of numbers: "." or ",".

        Raises:
            FileError: where the ending is another, or the file cannot be written.
            TableError: where `lownoise.Table` would read no such file.
        """
        write = _FORMS[form_of(path, separator, decimal)]
        with codec.drafted(path) as draft:
            write(draft, self, separator, decimal)

    def __str__(self) -> str:
        """Return its first rows in columns of text, six digits of each number."""
        rows = [tuple(_printed(own.name) for own in self.columns)]
        rows += [tuple(map(_printed, row)) for row in islice(self._rows(), _PRINTED)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        sides = ["<" if own.unit is None else ">" for own in self.columns]
        lines = [
            "  ".join(f"{c:{s}{w}}" for c, s, w in zip(row, sides, widths, strict=True)).rstrip()
            for row in rows
        ]
        rest = len(self.columns[0].cells) - _PRINTED
        if rest > 0:
            lines.append(f"and {rest:,} more rows, which to_pandas() and export(file) have")
        return "\n".join(lines)

    def csv(self, separator: str | None = None, decimal: str = ".") -> Iterator[str]:
        """Yield its lines as CSV without formulas; numbers stay numbers, every digit.

        Args:
            separator: as of `export`.
            decimal: as of `export`.
        """
        between = separator or (";" if decimal == "," else ",")
        yield between.join(_cell(own.name) for own in self.columns) + "\n"
        cell = lru_cache(1 << 16)(_cell)

        def spelled(own: object) -> str:
            return cell(own) if isinstance(own, str) else repr(own).replace(".", decimal)

        for row in self._rows():
            yield between.join(map(spelled, row)) + "\n"

    def json(self) -> Iterator[str]:
        """Yield its lines as JSON: the data dictionary, then a list a row; no number is null."""
        described = [own.described for own in self.columns]
        yield f'{{"columns": {json.dumps(described, ensure_ascii=False, indent=1)},\n"rows": ['
        between = "\n"
        for row in self._rows():
            known = [None if isinstance(c, float) and not isfinite(c) else c for c in row]
            yield between + json.dumps(known, ensure_ascii=False)
            between = ",\n"
        yield "\n]}\n"

    def arrow(self) -> Any:  # noqa: ANN401 (pyarrow has no types)
        """Return it as an Arrow table, whose fields have the data dictionary as their metadata."""
        import pyarrow as pa

        kinds = {"text": pa.string(), "float64": pa.float64(), "int64": pa.int64()}
        fields = [pa.field(c.name, kinds[c.kind], metadata=c.described) for c in self.columns]
        made = [
            pa.array(own.cells, type=field.type)
            for own, field in zip(self.columns, fields, strict=True)
        ]
        return pa.Table.from_arrays(made, schema=pa.schema(fields))

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(self.columns[0].cells), _AT_ONCE):
            parts = [own.cells[start : start + _AT_ONCE] for own in self.columns]
            lists = [p.tolist() if isinstance(p, np.ndarray) else p for p in parts]
            yield from zip(*lists, strict=True)


class AbstractTabular(ABC):
    """What is one table of answers, and is printed as one."""

    def __str__(self) -> str:
        return str(self.table())

    @abstractmethod
    def table(self) -> AnswerTable:
        """Return it, its columns described."""

    def to_pandas(self) -> DataFrame:
        """Return it as a pandas table.

        Raises:
            PlanError: where pandas is not installed.
        """
        return self.table().to_pandas()

    def export(
        self, path: str | PathLike[str], *, separator: str | None = None, decimal: str = "."
    ) -> None:
        """Write it as `Release.export` does: a .csv, .parquet or .json file, all of it or nothing.

        Raises:
            FileError, TableError: as that.
        """
        self.table().export(path, separator=separator, decimal=decimal)


def _printed(cell: object) -> str:
    """Return a cell as it is printed, in one line."""
    if isinstance(cell, str):
        return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in cell)
    large = not isinstance(cell, float) or 1e5 <= abs(cell) < 1e15  # noqa: PLR2004 (as many digits)
    return f"{cell:,.0f}" if large else f"{cell:,.6g}"


def ends_of(what: str, chance: str) -> dict[str, str]:
    """Return the names of an interval's ends, and what they mean.

    Args:
        what: that the interval covers.
        chance: with which it does, in words.
    """
    covers = f"end of an interval that covers the exact {what} with chance {chance}"
    return {"low": f"the lower {covers}", "high": f"the upper {covers}"}


def form_of(path: str | PathLike[str], separator: str | None = None, decimal: str = ".") -> str:
    """Return the ending of a table's path.

    Args:
        path: of the table.
        separator: as of `AnswerTable.export`.
        decimal: as of `AnswerTable.export`.

    Raises:
        FileError: where it is none that is written, or has no such dialect.
        TableError: where no file of text has.
    """
    ending = path_of(path).suffix.lower()
    if ending not in _FORMS:
        raise FileError(f"file={path} has an unknown ending; give {', '.join(_FORMS)}")
    if (separator, decimal) != (None, "."):
        from lownoise.engines.tables import Table

        Table("answers.csv", separator=separator, decimal=decimal)
        if ending != ".csv":
            raise FileError("separator and decimal are for CSV files; leave them out")
    return ending


def _to_csv(draft: IO[bytes], table: AnswerTable, *dialect: Any) -> None:  # noqa: ANN401
    draft.writelines(line.encode() for line in table.csv(*dialect))


def _to_json(draft: IO[bytes], table: AnswerTable, *_: object) -> None:
    draft.writelines(line.encode() for line in table.json())


def _to_parquet(draft: IO[bytes], table: AnswerTable, *_: object) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table.arrow(), draft)


_FORMS = {".csv": _to_csv, ".parquet": _to_parquet, ".json": _to_json}


def harmless(cell: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula; different texts differ.

    Examples:
        >>> [harmless(cell) for cell in ("=1+1", "-1.5", "-x", "a=b", "'quoted'")]
        ["'=1+1", '-1.5', "'-x", 'a=b', "''quoted'"]
    """
    runs = cell.startswith(("'", "\t", "\r", "\n")) or _runs(cell)
    return f"'{cell}" if runs and not _NUMBER.fullmatch(cell) else cell


def _runs(cell: str) -> bool:
    """Return whether the first letter that is seen, and is no quote, begins a formula."""
    seen = (letter for letter in cell if letter != '"' and not _unseen(letter))
    return next(seen, "").startswith(_RUN)


def _unseen(letter: str) -> bool:
    """Return whether it is white space, a control, or a letter of no width."""
    return letter.isspace() or unicodedata.category(letter) in _UNSEEN


def label_of(cell: str) -> str:
    """Return the text that `harmless` made this cell of.

    Examples:
        >>> [label_of(cell) for cell in ("'=1+1", "-1.5", "''quoted'")]
        ['=1+1', '-1.5', "'quoted'"]
    """
    return cell.removeprefix("'")


def _cell(text: str) -> str:
    """Return a cell of CSV, harmless and in quotes whatever it holds."""
    return '"' + harmless(text).replace('"', '""') + '"'
