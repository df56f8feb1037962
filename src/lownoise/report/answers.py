# SPDX-License-Identifier: Apache-2.0
"""Answers with every digit: as CSV without formulas, Parquet, JSON, and as a pandas table.

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
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lownoise.errors import FileError, PlanError
from lownoise.local_model.estimate import LocalEstimate
from lownoise.release.readable import free
from lownoise.report.sections import view_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike
    from typing import IO, TextIO

    from pandas import DataFrame

    _Answer = tuple[tuple[str, ...], tuple[float, ...]]  # labels, and numbers
    _Columns = list[dict[str, str]]

_NUMBERS = ("low", "high", "standard_deviation")  # after that of the answer itself
_RUN = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp", "Cn", "Co", "Cs", "Mn")  # categories of Unicode
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
    text = _csv(*_rows(release, marginal, level))
    if isinstance(file, (str, Path)) or hasattr(file, "__fspath__"):
        from lownoise.release import codec

        codec.write(Path(file), text)
    else:
        file.write(text)


def export(
    release: object,
    path: str | PathLike[str],
    *,
    marginal: Sequence[str] | None = None,
    level: float = 0.95,
) -> None:
    """Write a release's answers as a table, a row each, in the form that the path's ending says.

    `.csv` is what `write_csv` writes. `.parquet` has texts and floats by their types, and what each
    column means, in which unit, in its metadata. `.json` has rows as lists under a dictionary of
    the columns, which says the same; what is no number there is null. All of the file is written,
    or nothing.

    Args:
        release: what was released, and so was paid for; or an estimate from devices' reports.
        path: the file, which is replaced where it exists.
        marginal: as that of `write_csv`.
        level: the chance with which each interval covers.

    Raises:
        QuestionError, PlanError: as `write_csv`.
        FileError: where the ending is another, or the path cannot be written.
    """
    from lownoise.release import codec

    write = _FORMS[form_of(path)]
    if isinstance(release, LocalEstimate):
        heads, rows = _of_devices(release, level)
        described = _described(
            heads, ("answer", "estimate", "the answer’s unit"), f"about {level:g}"
        )
    else:
        heads, rows = _rows(release, marginal, level)
        own = view_of(release, marginal=marginal, level=level).wording
        called = (own.one, own.number, own.unit.removeprefix("in "))
        described = _described(heads, called, f"{level:g}")
    with codec.drafted(Path(path)) as draft:
        write(draft, described, list(rows))


def form_of(path: str | PathLike[str]) -> str:
    """Return the ending of a table's path.

    Raises:
        FileError: where it is none that is written.
    """
    ending = Path(path).suffix.lower()
    if ending not in _FORMS:
        raise FileError(f"file={path} has an unknown ending; give {', '.join(_FORMS)}")
    return ending


def _of_devices(found: LocalEstimate, level: float) -> tuple[list[str], list[_Answer]]:
    """Return the headings, and of every answer of people's own devices its name and numbers."""
    numbers = (found.estimate, *found.interval(level).T, found.standard_deviation)
    rows = zip(found.names, *(own.tolist() for own in numbers), strict=True)
    return ["answer", "estimate", *_NUMBERS], [((name,), tuple(own)) for name, *own in rows]


def _described(
    heads: Sequence[str], called: tuple[str, str, str], chance: str
) -> list[dict[str, str]]:
    """Return what each column is: the data dictionary, public words alone.

    Args:
        heads: the names of the columns.
        called: what an answer is called, and its number, and in which unit that is.
        chance: with which an interval covers.
    """
    labels = len(heads) - len(_NUMBERS) - 1
    one, number, unit = called
    meanings = (
        f"the released {number}: the exact value and noise",
        f"the lower end of an interval that covers the exact value with chance {chance}",
        f"the upper end of an interval that covers the exact value with chance {chance}",
        "the standard deviation of the noise",
    )
    texts = [
        {"name": head, "type": "text", "meaning": f"which {one} it is: {head}"}
        for head in heads[:labels]
    ]
    numbers = [
        {"name": head, "type": "float64", "unit": unit, "meaning": meaning}
        for head, meaning in zip(heads[labels:], meanings, strict=True)
    ]
    return [*texts, *numbers]


def _csv(heads: Sequence[str], rows: Iterable[_Answer]) -> str:
    lines = [",".join(_quoted(harmless(head)) for head in heads)]
    for labels, numbers in rows:
        cells = [*(_quoted(harmless(label)) for label in labels), *map(repr, numbers)]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def _to_csv(draft: IO[bytes], described: _Columns, rows: list[_Answer]) -> None:
    draft.write(_csv([own["name"] for own in described], rows).encode())


def _to_json(draft: IO[bytes], described: _Columns, rows: list[_Answer]) -> None:
    table = [[*labels, *(v if isfinite(v) else None for v in own)] for labels, own in rows]
    document = {"columns": described, "rows": table}
    draft.write((json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode())


def _to_parquet(draft: IO[bytes], described: _Columns, rows: list[_Answer]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = list(zip(*((*labels, *numbers) for labels, numbers in rows), strict=True))
    columns = columns or [() for _ in described]
    fields = [
        pa.field(own["name"], pa.string() if own["type"] == "text" else pa.float64(), metadata=own)
        for own in described
    ]
    made = [pa.array(c, type=f.type) for c, f in zip(columns, fields, strict=True)]
    pq.write_table(pa.Table.from_arrays(made, schema=pa.schema(fields)), draft)


_FORMS = {".csv": _to_csv, ".parquet": _to_parquet, ".json": _to_json}


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
) -> tuple[list[str], list[_Answer]]:
    """Return the headings, and of every answer its labels and its numbers."""
    view = view_of(release, marginal=marginal, level=level)
    if view.release is None:
        raise PlanError(f"release={type(release).__name__} has no answers yet; give a release")
    names, every = view.rows()
    numbers = (view.wording.number, *_NUMBERS)
    heads = [*names, *(free(column, names) for column in numbers)]
    return heads, [(r.labels, (r.estimate, r.low, r.high, r.deviation)) for r in every]


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


def _quoted(cell: str) -> str:
    """Return a cell of CSV, in quotes whatever it holds."""
    return '"' + cell.replace('"', '""') + '"'
