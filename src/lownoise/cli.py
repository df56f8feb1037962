# SPDX-License-Identifier: Apache-2.0
"""The command line: parse, call, print."""

from __future__ import annotations

import io
import json
import math
import sys
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lownoise.errors import FileError, LownoiseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType

    from lownoise.privacy import Budget
    from lownoise.release import Release
    from lownoise.solvers import Progress

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Publish statistics about people with the least noise that keeps them private.",
)
ledger_app = typer.Typer(no_args_is_help=True, help="Open and read the accounts of datasets.")
app.add_typer(ledger_app, name="ledger")

_Spec = Annotated[Path, typer.Argument(help="A TOML specification.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
_Dataset = Annotated[str, typer.Option(help="The dataset's name in the ledger.")]
_LedgerPath = Annotated[Path, typer.Argument(help="The ledger file.")]
_Rho = Annotated[float | None, typer.Option(help="ρ of zero-concentrated privacy.")]
_Mu = Annotated[float | None, typer.Option(help="μ of Gaussian privacy.")]
_Epsilon = Annotated[float | None, typer.Option(help="ε; give --delta too.")]
_Delta = Annotated[float | None, typer.Option(help="δ; give --epsilon too.")]


def main() -> None:
    """Run the command line; a refusal is one line on standard error and status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what it cannot spell must not lose a release
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except LownoiseError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(2)


@app.command()
def plan(
    spec: _Spec,
    *,
    as_json: _Json = False,
    out: Annotated[Path | None, typer.Option(help="Write plan.json and report.html here.")] = None,
) -> None:
    """Show the noise, its error, its proof and its cost. Reads no data, spends nothing."""
    from lownoise import report
    from lownoise.spec import read_spec

    with _solving("fitting the noise") as progress:
        made = read_spec(spec).plan(progress)
    with _claimed(out, ("plan.json", "report.html")):
        if out is not None:
            made.save(out / "plan.json")
            _write(out / "report.html", report.html(made.terms))
    if as_json:
        print(made.to_json(), end="")  # noqa: T201
    else:
        _show(report.plan_table(made.terms))


@app.command()
def release(
    spec: _Spec,
    *,
    data: Annotated[Path | None, typer.Option(help="The table, instead of the spec's.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write release.json and report.html.")] = None,
    as_json: _Json = False,
) -> None:
    """Read the table, spend from the ledger, and print the private answers."""
    from lownoise.spec import read_spec

    read = read_spec(spec)
    table = data or (read.data.path if read.data else None)
    if table is None:
        raise FileError("data.path is not in the spec; add it, or give --data PATH")
    with _solving("fitting the noise") as progress:
        made = read.plan(progress)
    with _claimed(out, ("release.json", "report.html")):
        try:
            with _working("summing the table"):
                answer = made.release(table, read.account())
        except KeyboardInterrupt:
            print(  # noqa: T201
                "interrupted: a spend that had begun stays reserved, and counts; "
                "see `lownoise ledger show`",
                file=sys.stderr,
            )
            raise typer.Exit(130) from None
        _deliver(answer, out, as_json=as_json)


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A plan.json or release.json.")],
    *,
    as_json: _Json = False,
) -> None:
    """Recompute noise, cost, proof and answers from the file alone; status 2 if one is off."""
    from lownoise import report
    from lownoise.verification import verify as check

    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise FileError(f"file={file} cannot be read; give a plan.json or release.json") from None
    try:
        found = check(text)
    except FileError as error:
        raise FileError(f"file={file}: {error}") from None
    if as_json:
        print(json.dumps([asdict(c) for c in found.checks], indent=2))  # noqa: T201
    else:
        _show(report.checks_table(found))
        if found:
            _show("Everything holds.")
    if not found:
        wrong = ", ".join(c.name for c in found.checks if not c.holds)
        raise FileError(f"file={file} does not hold: {wrong}; do not rely on it")


@app.command()
def enclose(
    domain: Annotated[
        Path, typer.Argument(help="A CSV file of points under a header, or a TOML file.")
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
    from lownoise.domains import difference_body
    from lownoise.enclosure import enclose as least
    from lownoise.spec import read_domain

    names, known = read_domain(domain)
    with _solving("enclosing the domain") as progress:
        found = least(
            difference_body(known) if difference else known,
            order=order,
            rtol=rtol,
            progress=progress,
        )
    found.certificate.verify()
    if as_json:
        print(json.dumps(report.enclosure_dict(names, found), indent=2))  # noqa: T201
    else:
        _show(report.enclosure_table(names, found))


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="A new folder for the results.")] = Path("demo-release"),
) -> None:
    """Release four means of all 336,776 flights from New York City in 2013."""
    from lownoise.demo import demonstrate

    folder = _unused(out)
    with _claimed(folder, ("release.json", "report.html")):
        with _working("summing 336,776 flights"):
            shown = demonstrate(folder / "privacy.ledger")
        _deliver(shown.release, folder, as_json=False)
    terms = shown.release.terms
    saved = float((terms.isotropic**2).sum() / (terms.standard_deviation**2).sum())
    _show(f"Total variance: {saved:.3f} times smaller than with i.i.d. Gaussian noise.")
    _show(f"Ledger: {shown.ledger.path}, spent {shown.ledger.spent()} of {shown.ledger.budget()}.")


@ledger_app.command("create")
def ledger_create(
    path: _LedgerPath,
    dataset: _Dataset,
    *,
    rho: _Rho = None,
    mu: _Mu = None,
    epsilon: _Epsilon = None,
    delta: _Delta = None,
) -> None:
    """Open an account with a total budget: --rho, or --mu, or --epsilon and --delta."""
    from lownoise.privacy import Ledger

    budget = _budget(rho, mu, epsilon, delta)
    Ledger.create(path, dataset, budget)
    _show(f"{path}: opened an account for {dataset!r} with {budget}.")


@ledger_app.command("charge")
def ledger_charge(
    path: _LedgerPath,
    dataset: _Dataset,
    note: Annotated[str, typer.Option(help="What was released, and with what.")],
    *,
    rho: _Rho = None,
    mu: _Mu = None,
    epsilon: _Epsilon = None,
    delta: _Delta = None,
) -> None:
    """Record what another tool spent on the dataset: --rho, or --mu, or --epsilon and --delta."""
    from lownoise.privacy import Ledger

    number = Ledger(path, dataset).charge(_budget(rho, mu, epsilon, delta), note)
    _show(f"{path}: recorded as spend {number} of {dataset!r}.")


@ledger_app.command("show")
def ledger_show(
    path: _LedgerPath,
    dataset: Annotated[str | None, typer.Option(help="One dataset; all without it.")] = None,
    *,
    as_json: _Json = False,
) -> None:
    """Show what each dataset may spend, has spent, and on what."""
    from lownoise.privacy import Ledger
    from lownoise.report.account import account_dict, account_table

    names = [dataset] if dataset is not None else Ledger.datasets(path)
    accounts = [Ledger(path, name) for name in names]
    if as_json:
        print(json.dumps([account_dict(a) for a in accounts], indent=2))  # noqa: T201
        return
    for account in accounts:
        _show(account_table(account))


def _budget(
    rho: float | None, mu: float | None, epsilon: float | None, delta: float | None
) -> Budget:
    from lownoise.errors import BudgetError
    from lownoise.privacy import approx_dp, gaussian_dp, zcdp

    match rho, mu, epsilon, delta:
        case float(), None, None, None:
            return zcdp(rho)
        case None, float(), None, None:
            return gaussian_dp(mu)
        case None, None, float(), float():
            return approx_dp(epsilon, delta)
    raise BudgetError("give either --rho, or --mu, or both --epsilon and --delta")


def _deliver(answer: Release, out: Path | None, *, as_json: bool) -> None:
    """Write and print a release; where that fails it is printed whole, for it is paid for."""
    from lownoise import report

    try:
        if out is not None:
            answer.save(out / "release.json")
            _write(out / "report.html", report.html(answer))
        if not as_json:
            _show(report.release_table(answer))
    except BaseException:
        print(answer.to_json(), end="")  # noqa: T201
        raise
    if as_json:
        print(answer.to_json(), end="")  # noqa: T201
    elif out is not None:
        _show(f"Report: {out / 'report.html'}")


def _write(path: Path, text: str) -> None:
    from lownoise import codec

    codec.write(path, text)


@contextmanager
def _claimed(folder: Path | None, names: tuple[str, ...]) -> Iterator[None]:
    """Claim the files that will be written, before anything is spent; leave no trace of a refusal.

    Raises:
        FileError: where a file exists, be it another release's claim, or cannot be made.
    """
    if folder is None:
        yield
        return
    made = not folder.exists()
    claims: list[Path] = []
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in names:
                (folder / name).open("x").close()
                claims.append(folder / name)
        except FileExistsError as error:
            raise FileError(f"file={error.filename} exists; give --out a new folder") from None
        except OSError as error:
            raise FileError(
                f"folder={folder} cannot be written ({error.strerror}); give --out another",
            ) from None
        yield
    finally:
        for claim in claims:  # what was written in full is no longer empty
            if claim.exists() and claim.stat().st_size == 0:
                claim.unlink()
        if made and folder.exists() and not any(folder.iterdir()):
            folder.rmdir()


def _unused(folder: Path) -> Path:
    """Return the folder, or the first of its numbered names that does not exist."""
    number = 1
    found = folder
    while found.exists():
        number += 1
        found = folder.with_name(f"{folder.name}-{number}")
    return found


def _show(what: RenderableType) -> None:
    from rich.console import Console

    Console(highlight=False, soft_wrap=isinstance(what, str)).print(what, markup=False)


@contextmanager
def _solving(what: str) -> Iterator[Callable[[Progress], None]]:
    """Show on a terminal how far a search is; Ctrl-C takes the best found so far."""
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), TimeElapsedColumn())
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(what, total=None)

        def tell(progress: Progress) -> None:
            gap = "open" if progress.gap == math.inf else f"{progress.gap:.1e}"
            bars.update(task, description=f"{what}: step {progress.iteration}, gap {gap}")

        yield tell


@contextmanager
def _working(what: str) -> Iterator[None]:
    """Show on a terminal that work goes on; quiet elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as p:
        p.add_task(what, total=None)
        yield


if __name__ == "__main__":
    main()
