# SPDX-License-Identifier: Apache-2.0
"""What the command line prints and writes: tables, progress, and files that are claimed first."""

from __future__ import annotations

import math
import os
import shlex
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, final

import typer

from lownoise.errors import FileError, LedgerError, LownoiseError, path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from lownoise.engines.tables import Table
    from lownoise.privacy import Ledger
    from lownoise.release.readable import Exported
    from lownoise.release.release import Release
    from lownoise.report.parts import Section
    from lownoise.solvers import Progress
    from lownoise.spec.files import DataSpec

_RELEASED = ("head", "answers", "cost")  # of a report; the other sections are as the plan's

Engine = Annotated[str | None, typer.Option(help="What reads the table: duckdb or spark.")]
Separator = Annotated[
    str | None,
    typer.Option(help="The separator of a written CSV file: , ; | : or a tab."),
]
Decimal = Annotated[
    str, typer.Option(help='Its decimal mark: "." or ","; with "," cells are separated by ";".')
]


@final
@dataclass(frozen=True)
class AnswersFile:
    """A file of answers beside a release, in the dialect that it is written in."""

    path: Path
    separator: str | None = None
    decimal: str = "."

    @classmethod
    def of(
        cls, path: Path | None, separator: str | None, decimal: str, option: str = "--answers"
    ) -> AnswersFile | None:
        """Return the file that was asked for, before anything is spent; None where none was.

        Raises:
            FileError, TableError: where an ending or a dialect is not written, or is of no file.
        """
        if path is not None:
            from lownoise.release.answer_table import form_of

            form_of(path, separator, decimal)
            return cls(path, separator, decimal)
        if (separator, decimal) != (None, "."):
            raise FileError(f"separator and decimal are of {option}; give it, or leave them out")
        return None

    def write(self, release: Exported, kept: Path | None) -> None:
        """Write the answers; where that fails, say where their release is and how to go on.

        Args:
            release: what was released, and is whole.
            kept: where it is; None where it is printed.

        Raises:
            FileError: where they cannot be written.
        """
        try:
            release.export(self.path, separator=self.separator, decimal=self.decimal)
        except (LownoiseError, OSError) as error:
            said = str(error)
            if isinstance(error, OSError):
                said = f"file={self.path} cannot be written ({error.strerror})"
            file, where = "release.json", "printed here whole: save it as release.json"
            if kept is not None:
                file, where = shlex.quote(str(kept)), f"whole in {kept}"
            raise FileError(
                f"{said}; the release is {where}, and `lownoise answers {file} FILE` writes its "
                "answers without spending again"
            ) from None


def write(path: Path, text: str) -> None:
    """Write a file, all of it or nothing."""
    from lownoise.release import codec

    codec.write(path, text)


def table_of(spec: DataSpec | None, data: str | None, engine: str | None = None) -> Table | None:
    """Return the table that a command reads: the specification's, or such files at another path.

    Raises:
        TableError: where an address holds what may be secret, or there is no such engine.
    """
    from lownoise.engines.tables import Table

    if spec is None:
        return None if data is None else Table(data, engine=engine or "duckdb")
    return spec.table(data, engine)


@contextmanager
def claimed(
    folder: Path | None, names: tuple[str, ...], remedy: str = "--out a new folder"
) -> Iterator[None]:
    """Claim the files that will be written, before anything is spent; leave no trace of a refusal.

    Raises:
        FileError: where a file exists, be it another release's claim, cannot be made, or is an
            address, whose secret would be a folder's name.
    """
    if folder is None:
        yield
        return
    for own in (folder, *(folder / name for name in names)):
        path_of(own, "out")
    made = False
    claims: list[Path] = []
    try:
        try:
            made = not folder.exists()
            folder.mkdir(parents=True, exist_ok=True)
            for name in names:
                (folder / name).open("x").close()
                claims.append(folder / name)
        except FileExistsError as error:
            raise FileError(f"file={error.filename} exists; give {remedy}") from None
        except OSError as error:
            raise FileError(
                f"folder={folder} cannot be written ({error.strerror}); give another folder",
            ) from None
        yield
    finally:
        with suppress(OSError):  # what is left of a disk that failed is no more than empty
            for claim in claims:  # what was written in full is no longer empty
                if claim.exists() and claim.stat().st_size == 0:
                    claim.unlink()
            if made and folder.exists() and not any(folder.iterdir()):
                folder.rmdir()


def unused(folder: Path) -> Path:
    """Return the folder, or the first of its numbered names that does not exist."""
    number = 1
    found = folder
    while found.exists():
        number += 1
        found = folder.with_name(f"{folder.name}-{number}")
    return found


def unwritten(error: OSError) -> str:
    """Return what is wrong with a file, or with standard output, which then drops what it holds.

    Raises:
        SystemExit: where whoever read standard output is gone, as `head` is.
    """
    if error.filename is not None:  # where nothing else says what for
        return f"file={error.filename} cannot be used ({error.strerror}); give another path"
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if isinstance(error, BrokenPipeError):
        sys.exit(1)
    return f"standard output cannot be written ({error.strerror}); send it where there is room"


def show(what: str) -> None:
    """Print for people; what users wrote is not taken for markup."""
    from rich.console import Console

    Console(highlight=False, soft_wrap=True).print(what, markup=False)


def show_report(sections: Sequence[Section], rows: int | None = None) -> None:
    """Print a report as wide as the terminal is; `rows` as in `render_text`."""
    from rich.console import Console

    from lownoise.report import render_text

    console = Console()
    styled = console.is_terminal and not console.no_color
    text = render_text(sections, width=console.width, rows=rows, styled=styled)
    print(text, end="")  # noqa: T201


def show_release(release: Release) -> None:
    """Print what a release says that its plan did not."""
    show_report(released(release))


def released(release: Release) -> list[Section]:
    """Return answers, their errors and what they cost: all that the plan did not say."""
    from lownoise import report

    return [s for s in report.sections(release) if s.name in _RELEASED]


def show_account(account: Ledger | None) -> None:
    """Print what is spent of the account that paid, if any did; a release is whole without it."""
    from lownoise.report.records import reading_text, spent_text

    if account is not None:
        with suppress(LedgerError):
            show(f"Ledger: {account.path}, {spent_text(account)}; {reading_text(account)}.")


def deliver(
    answer: Release,
    out: Path | None,
    account: Ledger | None,
    *,
    as_json: bool,
    answers: AnswersFile | None = None,
) -> None:
    """Write and print a release; where it cannot be kept it is printed whole: it is paid for."""
    from lownoise import report

    kept = None
    try:
        if out is not None:
            answer.save(out / "release.json")
            kept = out / "release.json"
            write(out / "report.html", report.render_html(report.sections(answer)))
        if answers is not None:
            answers.write(answer, kept)
        if as_json:
            print(answer.to_json(), end="")  # noqa: T201
        else:
            show_release(answer)
        sys.stdout.flush()
    except BaseException as error:  # an OSError is of standard output, as files have refusals
        place = sys.stderr if isinstance(error, OSError) else sys.stdout
        if kept is None:
            print(answer.to_json(), end="", file=place)
        raise
    if as_json:
        return
    show_account(account)
    if answers is not None:
        show(f"Answers: {answers.path}")
    if out is not None:
        show(f"Release: {out / 'release.json'}")
        show(f"Report: {out / 'report.html'}")


def deliver_tables(
    answer: Release,
    out: Path,
    account: Ledger | None,
    *,
    as_json: bool,
    answers: AnswersFile | None,
) -> None:
    """Report a release that is already whole in its folder, and say so where that fails."""
    from lownoise import report
    from lownoise.release import folders

    if answers is not None:
        answers.write(answer, out)
    try:
        write(out / "report.html", report.render_html(report.sections(answer)))
        if as_json:
            print(folders.read_document(out), end="")  # noqa: T201
        else:
            show_release(answer)
            show_account(account)
            if answers is not None:
                show(f"Answers: {answers.path}")
            show(f"Release: {out}, every marginal by `lownoise marginal {out} NAME…`")
            show(f"Report: {out / 'report.html'}")
    except BaseException:
        print(f"the release is whole in {out}; its report failed", file=sys.stderr)  # noqa: T201
        raise


@contextmanager
def solving(what: str) -> Iterator[Callable[[Progress], None]]:
    """Show on a terminal how far a search is; Ctrl-C takes the best found so far."""
    with reporting(what) as show_part:

        def tell(progress: Progress) -> None:
            gap = "open" if progress.gap == math.inf else f"{progress.gap:.1e}"
            show_part(f"step {progress.iteration}, gap {gap}")

        yield tell


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal that work goes on; quiet elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as p:
        p.add_task(what, total=None)
        yield


@contextmanager
def explained() -> Iterator[None]:
    """Say what an interrupt leaves behind."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(
            "interrupted: a spend that had begun stays reserved, and counts; "
            "see `lownoise ledger show`",
            err=True,
        )
        raise typer.Exit(130) from None


@contextmanager
def reporting(what: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal which part is under way; quiet elsewhere."""
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), TimeElapsedColumn())
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(what, total=None)
        yield lambda part: bars.update(task, description=f"{what}: {part}")
