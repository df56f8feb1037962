# SPDX-License-Identifier: Apache-2.0
"""The command line: parse, call, print."""

from __future__ import annotations

import io
import json
import sys
import warnings
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NoReturn, TextIO

import typer
from typer.main import get_command

from lownoise.cli.accounts import ledger_app
from lownoise.cli.change import answers, change
from lownoise.cli.inverse import budget_for, size_for
from lownoise.cli.local import local_app
from lownoise.cli.output import (
    AnswersFile,
    Decimal,
    Engine,
    Separator,
    claimed,
    deliver,
    deliver_tables,
    explained,
    reporting,
    show,
    show_report,
    solving,
    table_of,
    unused,
    unwritten,
    working,
    write,
)
from lownoise.cli.streaming import stream
from lownoise.cli.together import together
from lownoise.errors import FileError, LownoiseError, ReadingNotice
from lownoise.errors.credentials import bare

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # which fills the lines of a paragraph
)
app.add_typer(ledger_app, name="ledger")
app.add_typer(local_app, name="local")


def _version(asked: bool) -> None:  # noqa: FBT001 (an option's value)
    """Print the version and leave, where it is asked for."""
    if asked:
        import lownoise

        show(f"lownoise {lownoise.__version__}")
        raise typer.Exit


@app.callback()
def described(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Publish statistics about people with the least noise that protects their privacy.

    A specification, a TOML file, states the question, the budget and the table. Then:

    1. `lownoise plan survey.toml` shows how much noise there will be; it reads no data.
    2. `lownoise ledger create office.ledger --dataset survey --rho 0.5` opens an account.
    3. `lownoise release survey.toml --out published --answers answers.csv` reads the table.
    4. `lownoise verify published` checks what was published.

    The README has an example, docs/specification.md has all fields. `lownoise demo` needs none.
    """


_Spec = Annotated[Path, typer.Argument(help="A specification, a TOML file.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
_Folder = Annotated[Path, typer.Argument(help="The folder that `release --out` made.")]
_NEW_ANSWERS = "--answers a new file"
# what no command takes: typer names only one kind of it, a value that is wrong
_Misuse: type[typer.BadParameter] = typer.BadParameter.__mro__[1]
_commands = cache(get_command)  # an `app` itself would read all signatures anew at every call


def main() -> None:
    """Run the command line; a refusal is one line on standard error and status 2."""
    for pipe in (sys.stdout, sys.stderr):
        if isinstance(pipe, io.TextIOWrapper):  # what it cannot spell must not lose a release
            pipe.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", ReadingNotice)
            warnings.showwarning = notice
            status = _commands(app)(prog_name="lownoise", standalone_mode=False)
            sys.stdout.flush()
            sys.exit(status)
    except LownoiseError as error:
        refuse(str(error))
    except OSError as error:
        refuse(unwritten(error))
    except _Misuse as error:
        if not (said := " ".join(error.format_message().split()).removesuffix(".")):
            sys.exit(2)  # a name of commands alone, whose help was shown
        command = "lownoise" if error.ctx is None else error.ctx.command_path
        said = bare(said, goes_on=True)
        refuse(f"{said[0].lower()}{said[1:]}; see `{command} --help`")


def refuse(text: str) -> NoReturn:
    """Print what is wrong, and leave with status 2."""
    shown = "".join(
        c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text
    )
    print(f"error: {shown}", file=sys.stderr)  # noqa: T201
    sys.exit(2)


def notice(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print what a user must hear as one line, and what a programmer must as Python does."""
    if issubclass(category, ReadingNotice):
        print(f"notice: {message}", file=sys.stderr)  # noqa: T201
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


@app.command()
def plan(
    spec: _Spec,
    *,
    as_json: _Json = False,
    out: Annotated[Path | None, typer.Option(help="Write plan.json and report.html here.")] = None,
) -> None:
    """Show the noise, its error, its proof and its cost. Reads no data, spends nothing.

    If the budget allows several kinds of noise, all are compared and the least is used.
    """
    from lownoise import report
    from lownoise.spec import read_spec

    with solving("fitting the noise") as progress:
        made = read_spec(spec).plan(progress)
    with claimed(out, ("plan.json", "report.html")):
        if out is not None:
            made.save(out / "plan.json")
            write(out / "report.html", report.render_html(report.sections(made)))
    if as_json:
        print(made.to_json(), end="")  # noqa: T201
    else:
        show_report(report.sections(made))


app.command("budget-for")(budget_for)
app.command("size-for")(size_for)


@app.command()
def release(
    spec: _Spec,
    *,
    data: Annotated[
        str | None,
        typer.Option(help="The table, instead of the spec's: a path, a pattern or a folder."),
    ] = None,
    engine: Engine = None,
    out: Annotated[
        Path | None,
        typer.Option(help="A folder for release.json and report.html; a new one for counts."),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(help="A new file for all answers as a table: .csv, .parquet or .json."),
    ] = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    as_json: _Json = False,
) -> None:
    """Read the table, spend from the ledger, and print the private answers.

    Without a ledger in the specification, the spend is not recorded. `lownoise plan` and the
    report show how close the noise is to the least.
    """
    from lownoise.planning import Plan
    from lownoise.release.progress import ProgressBar
    from lownoise.report.answers import check
    from lownoise.spec import read_spec

    read = read_spec(spec)
    if read.question.kind == "stream":
        raise FileError("question.kind is stream, which runs round by round; use `lownoise stream`")
    table = table_of(read.data, data, engine)
    if table is None:
        raise FileError("data.path is not in the spec; add it, or give --data PATH")
    if read.question.kind == "marginals" and out is None:
        raise FileError("out is missing; marginals are released to a folder: give --out DIR")
    file = AnswersFile.of(answers, separator, decimal)
    with solving("fitting the noise") as progress:
        made = read.plan(progress)
    assert isinstance(made, Plan)  # noqa: S101 (streams do not come here)
    account = read.account()
    beside: tuple[Path | None, tuple[str, ...]] = (None, ())
    if answers is not None:
        check(made)
        beside = answers.parent, (answers.name,)
    if out is not None and made.terms.view.folder:
        if answers is not None and out.absolute() in answers.absolute().parents:
            raise FileError(f"answers={answers} is in --out, a new folder; name a file elsewhere")
        with claimed(*beside, _NEW_ANSWERS), explained(), ProgressBar() as bar:
            tables = made.release(table, account, path=out, progress=bar)
            deliver_tables(tables, out, account, as_json=as_json, answers=file)
        return
    with claimed(out, ("release.json", "report.html")), claimed(*beside, _NEW_ANSWERS):
        with explained(), ProgressBar() as bar:
            answer = made.release(table, account, progress=bar)
        deliver(answer, out, account, as_json=as_json, answers=file)


app.command()(stream)
app.command()(together)
app.command()(change)
app.command()(answers)


@app.command()
def verify(
    file: Annotated[
        Path, typer.Argument(help="A plan.json, a release.json, their folder, or a stream's file.")
    ],
    *,
    largest: Annotated[
        int | None, typer.Option(help="The most numbers of a stream to read.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """Recompute noise, cost, proof and answers from files alone; status 2 if any differs."""
    from lownoise import report
    from lownoise.release import verification

    with working("recomputing"):
        found = (
            verification.verify(file)
            if largest is None
            else verification.verify(file, largest=largest)
        )
    if as_json:
        print(json.dumps([asdict(c) for c in found.checks], indent=2))  # noqa: T201
    else:
        show_report(report.sections(found))
    if not found:
        wrong = ", ".join(c.name for c in found.checks if not c.holds)
        raise FileError(f"file={file} does not hold: {wrong}; do not rely on it")


@app.command()
def marginal(
    folder: _Folder,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Columns of the table of counts; none for the number of rows."),
    ] = None,
    *,
    level: Annotated[float, typer.Option(help="The probability that an interval covers.")] = 0.95,
    out: Annotated[Path | None, typer.Option(help="A new file: .parquet, .json, or CSV.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with all digits.")] = False,
    separator: Separator = None,
    decimal: Decimal = ".",
) -> None:
    """Print the released counts by some columns, each with its interval. Spends nothing."""
    from lownoise import report
    from lownoise.release.release import Release
    from lownoise.report.sections import view_of

    if out is None and not as_csv:
        AnswersFile.of(None, separator, decimal, "--out or --csv")
    answer = Release.load(folder.parent if folder.is_file() else folder)
    if view_of(answer).takes != "marginals":
        raise FileError(
            f"folder={folder} has no marginals; all answers are in its report.html, and `lownoise "
            f"answers {folder} FILE` writes them"
        )
    chosen: Any = tuple(names or ())
    dialect: Any = {"separator": separator, "decimal": decimal}
    if out is not None:
        with claimed(out.parent, (out.name,)):
            typed = out.suffix.lower() in (".parquet", ".json")
            write_table = report.export if typed else report.write_csv
            write_table(answer, out, marginal=chosen, level=level, **dialect)
    elif as_csv:
        report.write_csv(answer, sys.stdout, marginal=chosen, level=level, **dialect)
    else:
        found = report.sections(answer, marginal=chosen, level=level)
        show_report([s for s in found if s.name == "answers"], rows=1000)


@app.command()
def quantile(
    folder: _Folder,
    shares: Annotated[list[float], typer.Argument(help="From 0 to 1; 0.5 is the median.")],
    *,
    column: Annotated[
        str | None, typer.Option(help="The ordered column; may be left out if there is one.")
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="NAME=CATEGORY: these rows only; may be repeated.")
    ] = None,
    level: Annotated[float, typer.Option(help="The probability that an interval covers.")] = 0.95,
    as_json: _Json = False,
) -> None:
    """Print quantiles of a released column, each with its interval. Spends nothing."""
    from lownoise.release.release import Release

    answer = Release.load(folder.parent if folder.is_file() else folder)
    group = {name: label for name, _, label in (pair.partition("=") for pair in where or ())}
    found = [answer.quantile(q, column, where=group, level=level) for q in shares]
    if as_json:
        print(json.dumps([asdict(own) for own in found]))  # noqa: T201
        return
    for own in found:
        show(f"{own.q:<8g}{own.value:<12.6g}[{own.lower:.6g}, {own.upper:.6g}]")


@app.command()
def enclose(
    domain: Annotated[
        Path, typer.Argument(help="A CSV file of points with a header, or a TOML file.")
    ],
    *,
    order: Annotated[float, typer.Option(help="p in [2, inf], the norm of the error.")] = 2.0,
    rtol: Annotated[float, typer.Option(help="The relative gap to reach.")] = 1e-6,
    difference: Annotated[
        bool, typer.Option("--difference", help="Enclose all differences of two points.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Find the least ellipsoid around a public domain, and prove how close to least it is."""
    from lownoise import report
    from lownoise.report.records import enclosure_dict
    from lownoise.sets.domains import difference_body
    from lownoise.spec import read_domain
    from lownoise.theory.enclosure import enclose as least

    names, given = read_domain(domain)
    with solving("enclosing the domain") as progress:
        found = least(
            difference_body(given) if difference else given,
            order=order,
            rtol=rtol,
            progress=progress,
        )
    found.certificate.verify()
    if as_json:
        print(json.dumps(enclosure_dict(names, found), indent=2))  # noqa: T201
    else:
        show_report(report.sections(found, names=names))


@app.command()
def reproduce(
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller and fewer cases: seconds, not minutes.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="A new HTML file for the table and the figures.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """Check every claim of the papers that this program implements; status 2 if one fails."""
    from lownoise import report
    from lownoise.report.claims import reproduction
    from lownoise.report.reproduce import reproduce as checked

    with claimed(*((out.parent, (out.name,)) if out else (None, ()))):
        with reporting("checking") as tell:
            found = checked(quick=quick, progress=tell)
        if out is not None:
            write(out, report.render_html(reproduction(found)))
    if as_json:
        print(json.dumps(found.as_dict(), indent=2, ensure_ascii=False))  # noqa: T201
    else:
        show_report(reproduction(found, brief=True), rows=1000)
        if out is not None:
            show(f"Report: {out}")
    if not found:
        wrong = ", ".join(row.claim.place for row in found.failing)
        raise FileError(f"claims do not hold: {wrong}; see their rows")


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="A new folder for the results.")] = Path("demo-release"),
) -> None:
    """Release four means of all 336,776 flights from New York City in 2013."""
    from lownoise.cli.demo import demonstrate

    folder = unused(out)
    with claimed(folder, ("release.json", "report.html")):
        with working("summing 336,776 flights"):
            shown = demonstrate(folder / "privacy.ledger")
        deliver(shown.release, folder, shown.ledger, as_json=False)
    terms = shown.release.terms
    saved = float((terms.isotropic**2).sum() / (terms.standard_deviation**2).sum())
    show(f"Total variance: {saved:.3f} times smaller than with i.i.d. Gaussian noise.")
