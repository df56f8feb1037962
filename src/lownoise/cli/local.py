# SPDX-License-Identifier: Apache-2.0
"""`lownoise local`: what people's own devices send, and what their reports say together."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lownoise.cli.output import claimed, show, show_report, working, write
from lownoise.errors import FileError
from lownoise.errors.credentials import bare

if TYPE_CHECKING:
    from lownoise.planning import LocalPlan

local_app = typer.Typer(
    no_args_is_help=True,
    help="Local privacy: each person's device sends one report, and nobody sees a record.",
)

_Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
_Plan = Annotated[Path, typer.Argument(help="A plan.json or device.json of `local plan`.")]
_FILES = ("plan.json", "device.json", "report.html")


@local_app.command("plan")
def local_plan(
    spec: Annotated[Path, typer.Argument(help='A TOML specification, budget.kind = "local_dp".')],
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="Write plan.json, device.json (all that devices need) and report.html."),
    ] = None,
    as_json: _Json = False,
) -> None:
    """Compare randomizers, use the one with the least error, and prove how good it is.

    No data are read.
    """
    from lownoise import report
    from lownoise.spec import read_local

    read = read_local(spec)
    with working("fitting the randomizers"):
        made = read.plan()
    with claimed(out, _FILES):
        if out is not None:
            write(out / "plan.json", made.to_json(proof=True))
            write(out / "device.json", made.to_json())
            write(out / "report.html", report.render_html(report.sections(made)))
    if as_json:
        print(made.to_json(proof=True), end="")  # noqa: T201
    else:
        show_report(report.sections(made))


@local_app.command("keep")
def local_keep(
    file: Annotated[Path, typer.Argument(help="A new file, which stays on the device.")],
    *,
    epsilon: Annotated[
        float | None, typer.Option(help="The most that all answers of a person may cost.")
    ] = None,
    delta: Annotated[float, typer.Option(help="The most of their δ; also give --epsilon.")] = 0.0,
) -> None:
    """Make the file in which a device stores its answers, so that none is drawn twice."""
    from lownoise.device import Keeper
    from lownoise.errors import BudgetError

    if epsilon is None and delta:
        raise BudgetError("delta is given without --epsilon; give both, or neither for no limit")
    Keeper.create(file, epsilon=epsilon, delta=delta)
    limit = "no limit" if epsilon is None else f"a limit of {epsilon:g}"
    show(f"{file}: keeps the answers of this device, with {limit} on the ε of each person.")


@local_app.command("randomize")
def local_randomize(
    plan: _Plan,
    *,
    record: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help="This device's record, by the columns' names or in order; - reads it from "
            "standard input, which no list of processes shows.",
        ),
    ] = None,
    keeper: Annotated[
        Path | None,
        typer.Option(help="The device's file of `local keep`: a stored answer is sent again."),
    ] = None,
    person: Annotated[str, typer.Option(help="Whose record it is, for --keeper.")] = "",
    again: Annotated[
        bool, typer.Option("--again", help="Draw a new answer despite --keeper, and pay again.")
    ] = False,
    table: Annotated[
        Path | None,
        typer.Option(help="A simulation: one row per person, all seen by whoever runs this."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="With --table: a new file, .reports or .parquet.")
    ] = None,
) -> None:
    """Make the report of one record, a line of JSON; or of a whole table, as a simulation.

    Two answers of one record cost twice. With --keeper, the first answer is sent every time, even
    if the record has changed.
    """
    if (record is None) == (table is None):
        raise FileError("record is missing, or given beside --table; give one of the two")
    if table is not None:
        _simulate(plan, table, out, alone=keeper is None and not person and not again)
        return
    if out is not None:
        raise FileError("out is for --table; a report of --record is printed")
    if (keeper is None) == bool(person) or (again and keeper is None):
        raise FileError("keeper and person go together, and --again with them; give both or none")
    from lownoise import device

    read = device.read(plan)
    read.verify()
    values = _record(record or "")
    if keeper is None:
        report = read.randomize(values)
    else:
        report = device.Keeper(keeper).randomize(read, values, person=person, again=again)
    print(report.to_json())  # noqa: T201


def _record(text: str) -> Any:  # noqa: ANN401 (what a device's record is)
    """Return the record of a command line; nothing of it is ever said."""
    try:
        return json.loads(sys.stdin.read() if text == "-" else text)
    except (ValueError, RecursionError):
        raise FileError('record is no JSON; give such as {"age": 31}') from None


def _simulate(plan: Path, table: Path, out: Path | None, *, alone: bool) -> None:
    """Write the reports of a table."""
    from lownoise import device
    from lownoise.local_model.simulate import simulate, write
    from lownoise.numbers.randomness import SystemRandomness

    if out is None or not alone:
        raise FileError("table needs --out, and goes with neither --keeper, --person nor --again")
    read = device.read(plan)
    read.verify()
    print(  # noqa: T201
        f"notice: whoever runs this sees every row of {bare(str(table))}, and is trusted with it; "
        "the reports are private as if each person's device had made them",
        file=sys.stderr,
    )
    with claimed(out.parent, (out.name,)), working("randomizing the table"):
        count = write(read, simulate(read, table, randomness=SystemRandomness()), out)
    show(f"{out}: {count:,} reports, {read.form.size:,} bytes each on the wire.")


@local_app.command("aggregate")
def local_aggregate(
    plan: _Plan,
    reports: Annotated[
        list[Path],
        typer.Argument(help="Files of reports: .jsonl, .reports, or a table."),
    ],
    *,
    malformed: Annotated[str, typer.Option(help="If broken: refuse, drop or clip.")] = "refuse",
    duplicates: Annotated[str, typer.Option(help="If sent twice: refuse or drop.")] = "refuse",
    replays: Annotated[
        str, typer.Option(help="Different reports with one identifier: refuse or drop.")
    ] = "refuse",
    foreign: Annotated[str, typer.Option(help="If of another plan: refuse or drop.")] = "refuse",
    level: Annotated[float, typer.Option(help="The probability that an interval covers.")] = 0.95,
    out: Annotated[
        Path | None, typer.Option(help="Write estimate.json and report.html here.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """Print the estimates from all reports, with intervals. Their order does not matter.

    "refuse" counts nothing at all; "drop" leaves such reports out and states how many.
    """
    from lownoise import report

    made = _read(plan)
    policies = {
        "malformed": malformed,
        "duplicates": duplicates,
        "replays": replays,
        "foreign": foreign,
    }
    tally = made.tally(**policies)
    with working("counting the reports"):
        for file in reports:
            tally.add(file)
        found = tally.result()
    sections = report.sections(found, level=level)
    with claimed(out, ("estimate.json", "report.html")):
        if out is not None:
            write(out / "estimate.json", found.to_json())
            write(out / "report.html", report.render_html(sections))
    if as_json:
        print(found.to_json(), end="")  # noqa: T201
    else:
        show_report(sections)


def _read(path: Path) -> LocalPlan:
    """Return the plan of a file.

    Raises:
        FileError: where it cannot be read, or is none.
    """
    from lownoise.planning import LocalPlan

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise FileError(f"plan={path} cannot be read; give the file of a local plan") from None
    return LocalPlan.from_json(text)
