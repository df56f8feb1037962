# SPDX-License-Identifier: Apache-2.0
"""Answers with every digit: as CSV without formulas, and as a pandas table.

A spreadsheet runs a cell that begins with = + - @, a tab or a line's end. Labels come from a
specification, which need not be the reader's own: an apostrophe goes before such a cell where it is
no number, and before one that begins with an apostrophe. To read labels back, take one apostrophe
away wherever a cell begins with one (`label_of`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lownoise.errors import PlanError
from lownoise.release.readable import free
from lownoise.report.sections import view_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from typing import TextIO

    from pandas import DataFrame

_RUN = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def write_csv(
    release: object,
    file: str | PathLike[str] | TextIO,
    *,
    marginal: Sequence[str] | None = None,
    level: float = 0.95,
) -> None:
    """Write a release's answers as CSV, a row each: labels, number, interval, standard deviation.

    Labels and names are as `harmless` makes them; numbers stay numbers, every digit.

    Args:
        release: what was released.
        file: a path, of which all is written or nothing, or an open text file.
        marginal: of a release of marginals, the names of the attributes, which name the first
            columns; a number's column whose name one of them has taken ends in "_". The first
            one-way marginal by default.
        level: the chance with which each interval covers.

    Raises:
        QuestionError: where the marginal does not follow from what was released.
        PlanError: where `level` is not between 0 and 1, or it is no release.
        FileError: where the path cannot be written.
    """
    heads, rows = _rows(release, marginal, level)
    lines = [",".join(_quoted(harmless(head)) for head in heads)]
    for labels, numbers in rows:
        cells = [*(_quoted(harmless(label)) for label in labels), *map(repr, numbers)]
        lines.append(",".join(cells))
    text = "\n".join(lines) + "\n"
    if isinstance(file, (str, Path)) or hasattr(file, "__fspath__"):
        from lownoise.release import codec

        codec.write(Path(file), text)
    else:
        file.write(text)


def to_pandas(
    subject: Any,  # noqa: ANN401
    *,
    marginal: Sequence[str] | None = None,
    level: float = 0.95,
) -> DataFrame:
    """Return a release's answers, or the noise of a plan's, as a pandas table, a row each.

    Args:
        subject: a release; or a plan or terms whose answers stand in a row.
        marginal: as that of `write_csv`.
        level: the chance with which each interval covers.

    Raises:
        PlanError: where pandas is not installed, or there is no such table.
        QuestionError: where the marginal does not follow from what was released.

    Examples:
        >>> import lownoise as ln
        >>> plan = ln.plan(ln.Mean(["age"], ln.Box([0], [100])), budget=ln.zcdp(0.5),
        ...                relation="substitute", size=1000)
        >>> to_pandas(plan)["standard_deviation"].round(6).tolist()
        [0.1]
    """
    try:
        import pandas as pd
    except ImportError:
        raise PlanError("pandas is not installed; run `pip install pandas`") from None
    view = view_of(subject, marginal=marginal, level=level)
    if view.release is None:
        return pd.DataFrame(view.noises())
    heads, rows = _rows(subject, marginal, level)
    return pd.DataFrame([(*labels, *numbers) for labels, numbers in rows], columns=heads)


def _rows(
    release: object, marginal: Sequence[str] | None, level: float
) -> tuple[list[str], list[tuple[tuple[str, ...], tuple[float, ...]]]]:
    """Return the headings, and of every answer its labels and its numbers."""
    view = view_of(release, marginal=marginal, level=level)
    if view.release is None:
        raise PlanError(f"release={type(release).__name__} has no answers yet; give a release")
    names, every = view.rows()
    numbers = (view.wording.number, "low", "high", "standard_deviation")
    heads = [*names, *(free(column, names) for column in numbers)]
    return heads, [(r.labels, (r.estimate, r.low, r.high, r.deviation)) for r in every]


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


def _quoted(cell: str) -> str:
    """Return a cell of CSV; a carriage return is quoted too, which csv.writer leaves bare."""
    return '"' + cell.replace('"', '""') + '"' if any(c in cell for c in ',"\r\n') else cell
