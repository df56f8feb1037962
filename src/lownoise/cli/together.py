# SPDX-License-Identifier: Apache-2.0
"""The command that asks several questions on one budget."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lownoise.cli.output import (
    AnswersFile,
    Decimal,
    Engine,
    Separator,
    claimed,
    explained,
    released,
    show,
    show_account,
    show_report,
    table_of,
    working,
    write,
)
from lownoise.errors import FileError

if TYPE_CHECKING:
    from lownoise.planning.joint import JointPlan, JointRelease


def together(
    spec: Annotated[Path, typer.Argument(help="A TOML file with several questions.")],
    *,
    data: Annotated[
        str | None,
        typer.Option(help="The table, instead of the spec's: a path, a pattern or a folder."),
    ] = None,
    engine: Engine = None,
    out: Annotated[
        Path | None, typer.Option(help="Release to this new folder; if left out, plan only.")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="Also write each question's answers to a new file with this name and the "
            "question's: .csv, .parquet or .json."
        ),
    ] = None,
    separator: Separator = None,
    decimal: Decimal = ".",
) -> None:
    """Plan several questions on one budget; with --out, release them. One ledger entry pays."""
    from lownoise import report
    from lownoise.release.members import once, place_of
    from lownoise.release.progress import ProgressBar
    from lownoise.report.sections import payment_apart
    from lownoise.spec import read_together

    read = read_together(spec)
    table = table_of(read.data, data, engine)
    if out is not None and table is None:
        raise FileError("data.path is not in the spec; add it, or give --data PATH")
    with working("fitting the noise"):
        made = read.plan()
    file = AnswersFile.of(answers, separator, decimal)
    beside = _answers_of(made, out, file)
    if out is None:
        show(str(made))
        for names, plan in once(made.plans).items():
            show(f"\n{', '.join(names)}\n")
            show_report(report.sections(plan))
        return
    if out.exists():
        raise FileError(f"folder={out} exists; give --out a new folder")
    account = read.account()
    files_beside = tuple(own.path.name for own in beside.values())
    claims = claimed(answers and answers.parent, files_beside, "--answers a new file")
    with claimed(out, ()), claims:  # made before anything is spent
        with explained(), ProgressBar() as bar:
            found = made.release(table, account, progress=bar)
        try:
            found.write(out)
        except BaseException:
            _keep(found)
            raise
        places = {}
        for number, (names, own) in enumerate(once(found.releases).items(), start=1):
            places[names] = place_of(number, names, folder=own.terms.view.folder)
        for names, own_file in beside.items():  # the releases are whole in their folder
            own_file.write(found[names[0]], out / places[names])
    show(str(made))
    files = []
    for names, own in once(found.releases).items():
        show(f"\n{', '.join(names)}\n")
        rest, paid = payment_apart(released(own))
        show_report(rest)
        place = places[names]
        page = out / f"{place.removesuffix('.json')}.html"
        write(page, report.render_html(report.sections(own)))
        also = [str(file.path) for own_names, file in beside.items() if own_names == names]
        files.append(f"{', '.join(names)}: {', '.join([place, page.name, *also])}")
    show("")
    show_report(paid)
    show_account(account)
    show("\n".join([f"Releases and reports in {out}:", *files]))


def _answers_of(
    made: JointPlan, out: Path | None, answers: AnswersFile | None
) -> dict[tuple[str, ...], AnswersFile]:
    """Return the file of each question's answers, refused before anything is spent."""
    from lownoise.release.members import once, place_of
    from lownoise.report.answers import check

    if answers is None:
        return {}
    if out is None:
        raise FileError(
            f"answers={answers.path} needs a release, which a plan is not; give --out DIR"
        )
    found = {}
    for number, (names, own) in enumerate(once(made.plans).items(), start=1):
        check(own)
        place = place_of(number, names, folder=True)
        path = answers.path.with_name(f"{answers.path.stem}-{place}{answers.path.suffix}")
        found[names] = replace(answers, path=path)
    return found


def _keep(found: JointRelease) -> None:
    """Print what is paid for and could not be written; what is a folder goes to a temporary one."""
    from lownoise.release.members import once

    for names, own in once(found.releases).items():
        if not own.terms.view.folder:
            print(own.to_json(), end="")  # noqa: T201
            continue
        with suppress(FileError, OSError):
            kept = Path(tempfile.mkdtemp(prefix="lownoise-")) / "release"
            own.save(kept)
            typer.echo(f"{', '.join(names)}: paid for, and kept in {kept}", err=True)
