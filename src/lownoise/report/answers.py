# SPDX-License-Identifier: Apache-2.0
"""Answers with every digit: as CSV without formulas, Parquet, JSON, and as a pandas table."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import PlanError
from lownoise.questions import AbstractGrouped
from lownoise.release import codec
from lownoise.release.answer_table import AnswerTable, form_of
from lownoise.release.change import Change
from lownoise.release.readable import frame
from lownoise.report import margins
from lownoise.report.sections import changed, view_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from typing import TextIO

    from pandas import DataFrame


# an error is in others, where columns have weights
_UNITS = "the columns’ units; of the product of two, their product; of a count, rows"
_MEANS = (
    "a mean is center + sum/count, not exactly unbiased, and has no number where by the released "
    "count there may be no rows"
)
_MOST_COLUMNS = 1000  # whose center is said


def write_csv(
    release: object,
    file: str | PathLike[str] | TextIO,
    *,
    marginal: Sequence[str] | None = None,
    level: float = 0.95,
    separator: str | None = None,
    decimal: str = ".",
) -> None:
    """Write a release's answers as CSV, a row each: labels, number, interval, standard deviation.

    Labels and names are as `release.answer_table.harmless` makes them; numbers stay numbers, every
    digit.

    Args:
        release: what was released.
        file: a path, of which all is written or nothing, or an open text file.
        marginal: of a release of marginals, the names of the attributes, which name the first
            columns; a number's column whose name one of them has taken ends in "_". All that were
            asked for by default, "(all)" where one is not split by an attribute.
        level: the chance with which each interval covers.
        separator: what stands between cells, as `Release.export` has it.
        decimal: what stands before decimals.

    Raises:
        QuestionError: where the marginal does not follow from what was released.
        PlanError: where `level` is not between 0 and 1, or it is no release.
        TableError: where the dialect is none.
        FileError: where the path cannot be written.
    """
    form_of("answers.csv", separator, decimal)
    lines = _table(release, marginal, level).csv(separator, decimal)
    if hasattr(file, "writelines"):
        file.writelines(lines)
        return
    with codec.drafted(file) as draft:
        draft.writelines(line.encode() for line in lines)


def export(
    release: object,
    path: str | PathLike[str],
    *,
    marginal: Sequence[str] | None = None,
    level: float = 0.95,
    separator: str | None = None,
    decimal: str = ".",
) -> None:
    """Write a release's answers as a table, a row each, in the form that the path's ending says.

    `.csv` is what `write_csv` writes. `.parquet` has texts and floats by their types, and what each
    column means, in which unit, in its metadata. `.json` has rows as lists under a dictionary of
    the columns, which says the same; what is no number there is null. All of the file is written,
    or nothing.

    Args:
        release: what was released, and so was paid for; of a stream its last answers.
        path: the file, which is replaced where it exists, but for a release, a ledger or a stream.
        marginal: as that of `write_csv`.
        level: the chance with which each interval covers.
        separator: of CSV, as of `write_csv`.
        decimal: of CSV, as of `write_csv`.

    Raises:
        QuestionError, PlanError, TableError: as `write_csv`.
        FileError: where the ending is another, or the path cannot be written.
    """
    _table(release, marginal, level).export(path, separator=separator, decimal=decimal)


def check(plan: object) -> None:
    """Refuse a plan whose answers are too many for one file, before its release is paid for.

    Raises:
        QuestionError: the same.
    """
    view: Any = view_of(plan)
    if view.takes == "marginals":
        margins.check(view.margins)


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
    if not isinstance(subject, Change):
        view = view_of(subject, marginal=marginal, level=level)
        if view.release is None and view.last() is None:
            return frame(view.noises())
    return _table(subject, marginal, level).to_pandas()


def _table(release: object, marginal: Sequence[str] | None, level: float) -> AnswerTable:
    """Return a row an answer: what it is, its number, its interval and its deviation."""
    view: Any
    if isinstance(release, Change):
        view = changed(release, marginal=marginal, level=level)
    else:
        view = view_of(release, marginal=marginal, level=level)
    if view.release is None:
        found: AnswerTable | None = view.last()
        if found is None:
            raise PlanError(f"release={type(release).__name__} has no answers yet; give a release")
        return found
    names, every = margins.every(view) if view.takes == "marginals" else view.rows()
    labels: list[tuple[str, ...]] = []
    numbers = array("d")
    for row in every:
        labels.append(row.labels)
        numbers.extend((row.estimate, row.low, row.high, row.deviation))
    value, low, high, deviation = np.array(numbers).reshape(-1, 4).T
    own = view.wording
    called = {name: [label[i] for label in labels] for i, name in enumerate(names)}
    return AnswerTable.of_answers(
        called,
        (value, low, high, deviation),
        called=(own.one, own.number, "rows" if own.unit.endswith("rows") else _UNITS),
        chance=f"{level:g}",
        about=_about(view, called[names[-1]]) if names else "",
    )


def _about(view: Any, labels: Sequence[str]) -> str:  # noqa: ANN401
    """Return about which public point sums are taken, what has no number, what stands for all."""
    question = view.terms.question
    if view.takes == "marginals" and view.chosen is None and view.margins.count > 1:
        whole = f"; {margins.ALL} where the row is of a table that is not split by it"
    else:
        whole = ""
    if isinstance(question, AbstractGrouped) and question.counted:
        return (
            f"{whole}; a mean has no number where by the released count the group may have no rows"
        )
    if not any(label.endswith(" - center)") for label in labels):
        return whole
    point = zip(question.columns[:_MOST_COLUMNS], question.center.tolist(), strict=False)
    said = ", ".join(f"{name} {value!r}" for name, value in point)
    said += ", …" * (len(question.columns) > _MOST_COLUMNS)
    return f"; {_MEANS}; center is {said}"
