# SPDX-License-Identifier: Apache-2.0
"""`lownoise ledger`: open and read the accounts of datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from lownoise.cli.output import show, show_report

if TYPE_CHECKING:
    from lownoise.privacy import Budget
    from lownoise.privacy.choices import Numbered, ReadingName

ledger_app = typer.Typer(no_args_is_help=True, help="Open and show the accounts of datasets.")

_Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
_Dataset = Annotated[str, typer.Option(help="The dataset's name in the ledger.")]
_LedgerPath = Annotated[Path, typer.Argument(help="The ledger file.")]
_Rho = Annotated[float | None, typer.Option(help="ρ of zero-concentrated privacy.")]
_Mu = Annotated[float | None, typer.Option(help="μ of Gaussian privacy.")]
_Epsilon = Annotated[float | None, typer.Option(help="ε; also give --delta or --pure.")]
_Delta = Annotated[float | None, typer.Option(help="δ; also give --epsilon.")]
_Pure = Annotated[bool, typer.Option("--pure", help="ε without a δ: pure privacy.")]


@ledger_app.command("create")
def ledger_create(  # noqa: PLR0913 (options)
    path: _LedgerPath,
    dataset: _Dataset,
    *,
    rho: _Rho = None,
    mu: _Mu = None,
    epsilon: _Epsilon = None,
    delta: _Delta = None,
    pure: _Pure = False,
    reading: Annotated[
        str | None,
        typer.Option(
            help="What an account with a δ adds up: gaussian (μ²), zcdp (ρ) or basic (ε and δ). "
            "If left out, the first spend fixes it.",
        ),
    ] = None,
    caps: Annotated[
        tuple[float, float, float] | None,
        typer.Option(
            metavar="ε δ μ",
            help="Instead of --reading: at most this μ for Gaussian releases, and this ε and δ "
            "for others.",
        ),
    ] = None,
    aside: Annotated[
        float | None,
        typer.Option(
            metavar="δ",
            help="With --reading gaussian or zcdp: the δ set aside for noise that spends δ.",
        ),
    ] = None,
) -> None:
    """Open an account with a total budget: --rho, --mu, or --epsilon and --delta or --pure."""
    from lownoise.errors import BudgetError
    from lownoise.privacy import Aside, Caps, Ledger
    from lownoise.privacy.choices import named
    from lownoise.report.records import reading_text

    budget = _budget(rho, mu, epsilon, delta, pure=pure)
    if reading is not None and caps is not None:
        raise BudgetError("give either --reading or --caps")
    if reading is not None:
        named(reading)
    chosen: ReadingName | Numbered | None = cast("ReadingName | None", reading)
    if aside is not None:
        if reading not in ("gaussian", "zcdp"):
            raise BudgetError("--aside needs --reading gaussian or zcdp; give one of them")
        chosen = Aside(aside, cast("Any", reading))
    elif caps is not None:
        chosen = Caps(*caps)
    account = Ledger.create(path, dataset, budget, reading=chosen)
    show(f"{path}: opened an account for {dataset!r} with {budget}; {reading_text(account)}.")


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
    pure: _Pure = False,
    relation: Annotated[
        str | None,
        typer.Option(
            help="The relation of neighbouring tables: substitute, add_remove or changes; for "
            'people with several rows "add_remove per COLUMN" or "substitute per COLUMN".'
        ),
    ] = None,
) -> None:
    """Record what another tool spent: --rho, --mu, or --epsilon and --delta or --pure."""
    from lownoise.privacy import Ledger

    budget = _budget(rho, mu, epsilon, delta, pure=pure)
    number = Ledger(path, dataset).charge(budget, note, relation=relation)
    show(f"{path}: recorded as spend {number} of {dataset!r}.")


@ledger_app.command("show")
def ledgershow(
    path: _LedgerPath,
    dataset: Annotated[str | None, typer.Option(help="One dataset; if left out, all.")] = None,
    *,
    as_json: _Json = False,
) -> None:
    """Show the budget of each dataset, what is spent, and on what."""
    from lownoise import report
    from lownoise.privacy import Ledger
    from lownoise.report.records import account_dict

    names = [dataset] if dataset is not None else Ledger.datasets(path)
    accounts = [Ledger(path, name) for name in names]
    if as_json:
        print(json.dumps([account_dict(a) for a in accounts], indent=2))  # noqa: T201
        return
    for account in accounts:
        show_report(report.sections(account))


def _budget(
    rho: float | None, mu: float | None, epsilon: float | None, delta: float | None, *, pure: bool
) -> Budget:
    from lownoise.errors import BudgetError
    from lownoise.privacy import approx_dp, gaussian_dp, pure_dp, zcdp

    match rho, mu, epsilon, delta, pure:
        case float(), None, None, None, False:
            return zcdp(rho)
        case None, float(), None, None, False:
            return gaussian_dp(mu)
        case None, None, float(), float(), False:
            return approx_dp(epsilon, delta)
        case None, None, float(), None, True:
            return pure_dp(epsilon)
    raise BudgetError("give either --rho, or --mu, or --epsilon and one of --delta and --pure")
