# SPDX-License-Identifier: Apache-2.0
"""A released marginal as CSV, every digit, and no formula.

A spreadsheet runs a cell that begins with = + - @, a tab or a line's end. Labels come from a
specification, which need not be the reader's own: an apostrophe goes before such a cell where it is
no number, and before one that begins with an apostrophe. To read labels back, take one apostrophe
away wherever a cell begins with one (`label_of`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lownoise.report.cells import cell_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.release.tables import TableRelease

_RUN = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_COLUMNS = ("count", "low", "high", "standard_deviation")


def marginal_csv(release: TableRelease, names: Sequence[str], level: float = 0.95) -> str:
    """Return a marginal as CSV, a row a cell: labels, count, interval, standard deviation.

    Labels and names are as `harmless` makes them; numbers stay numbers.

    Args:
        release: what was released.
        names: of the attributes, which name the first columns; a number's column whose name one of
            them has taken ends in "_".
        level: the chance with which each interval covers.

    Raises:
        QuestionError: where the marginal does not follow from what was released.
        PlanError: where `level` is not between 0 and 1.
    """
    heads = [*names, *(_free(column, names) for column in _COLUMNS)]
    lines = [_line([harmless(head) for head in heads])]
    for row in cell_rows(release, names, level):
        numbers = (row.count, row.low, row.high, row.deviation)
        lines.append(_line([*map(harmless, row.labels), *map(repr, numbers)]))
    return "".join(lines)


def harmless(cell: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula; different texts differ.

    Examples:
        >>> [harmless(cell) for cell in ("=1+1", "-1.5", "-x", "a=b", "'quoted'")]
        ["'=1+1", '-1.5', "'-x", 'a=b', "''quoted'"]
    """
    return f"'{cell}" if cell.startswith(_RUN) and not _NUMBER.fullmatch(cell) else cell


def label_of(cell: str) -> str:
    """Return the text that `harmless` made this cell of.

    Examples:
        >>> [label_of(cell) for cell in ("'=1+1", "-1.5", "''quoted'")]
        ['=1+1', '-1.5', "'quoted'"]
    """
    return cell.removeprefix("'")


def _line(cells: Sequence[str]) -> str:
    """Return a row of CSV; a carriage return is quoted too, which csv.writer leaves bare."""
    quoted = [
        '"' + cell.replace('"', '""') + '"' if any(c in cell for c in ',"\r\n') else cell
        for cell in cells
    ]
    return ",".join(quoted) + "\n"


def _free(column: str, names: Sequence[str]) -> str:
    while column in names:
        column += "_"
    return column
