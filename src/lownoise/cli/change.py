# SPDX-License-Identifier: Apache-2.0
"""What is made of releases that are there: a table of answers, and the change between two."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 (annotations of options are read)
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lownoise.cli.output import AnswersFile, Decimal, Separator, claimed, show, show_report

if TYPE_CHECKING:
    from collections.abc import Sequence

_Level = Annotated[float, typer.Option(help="The probability that an interval covers.")]
_Names = Annotated[
    list[str] | None, typer.Argument(help="Attributes of one table; if left out, all tables.")
]
_HELP = "A release.json, or the folder of a release."


def change(
    later: Annotated[Path, typer.Argument(help=_HELP)],
    earlier: Annotated[Path, typer.Argument(help="An earlier release of the same question.")],
    names: _Names = None,
    *,
    level: _Level = 0.95,
    answers: Annotated[
        Path | None, typer.Option(help="Write all to this new file: .csv, .parquet or .json.")
    ] = None,
    separator: Separator = None,
    decimal: Decimal = ".",
) -> None:
    """Print the change of answers since an earlier release, with intervals. Spends nothing."""
    from lownoise import report
    from lownoise.release.release import Release

    file = AnswersFile.of(answers, separator, decimal)
    now, then = map(Release.load, (later, earlier))
    found = now - then
    shown = report.sections(found, marginal=tuple(names or ()) or None, level=level)
    if file is not None:
        _write(found, file, names, level)
    show_report(shown, rows=1000)
    if answers is not None:
        show(f"Answers: {answers}")


def answers(
    release: Annotated[Path, typer.Argument(help=_HELP)],
    file: Annotated[Path, typer.Argument(help="A new file: .csv, .parquet or .json.")],
    names: _Names = None,
    *,
    level: _Level = 0.95,
    separator: Separator = None,
    decimal: Decimal = ".",
) -> None:
    """Write the answers of a release, with intervals, as a table. Spends nothing."""
    from lownoise.release.release import Release

    _write(Release.load(release), AnswersFile(file, separator, decimal), names, level)
    show(f"Answers: {file}")


def _write(found: Any, file: AnswersFile, names: Sequence[str] | None, level: float) -> None:  # noqa: ANN401
    said = {"level": level, "separator": file.separator, "decimal": file.decimal}
    with claimed(file.path.parent, (file.path.name,), "a new file"):
        found.export(file.path, *(names or ()), **said)
