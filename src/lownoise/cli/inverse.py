# SPDX-License-Identifier: Apache-2.0
"""`lownoise budget-for` and `size-for`: how much is needed for answers that are near enough."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lownoise.cli.output import show, solving
from lownoise.errors import SpecError

if TYPE_CHECKING:
    from lownoise.planning.joint import JointPlan
    from lownoise.planning.release_plan import AbstractPlan

_Spec = Annotated[Path, typer.Argument(help="A specification, a TOML file.")]
_Error = Annotated[float | None, typer.Option(help="The largest error, as a plan states it.")]
_Interval = Annotated[
    list[float] | None,
    typer.Option(
        help="The largest half-width of an interval: once for all answers, or once for each, in "
        "their order."
    ),
]
_Level = Annotated[float, typer.Option(help="The probability that an interval covers.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def budget_for(
    spec: _Spec,
    *,
    error: _Error = None,
    interval: _Interval = None,
    level: _Level = 0.95,
    as_json: _Json = False,
) -> None:
    """Print the least budget, of the specification's kind, for a given accuracy.

    For several questions, give their total error. Reads no data, spends nothing. The budget in
    the specification determines the kind, and the delta.
    """
    from lownoise.planning.inverse import least_budget, nearness
    from lownoise.privacy.budget import budget_to_dict
    from lownoise.spec import read_any

    read, near = read_any(spec), nearness(error, interval or None, level)
    with solving("fitting the noise") as progress:

        def make(budget: Any) -> AbstractPlan | JointPlan:  # noqa: ANN401 (of any kind)
            return read.plan(progress, budget=budget)

        found = budget_to_dict(least_budget(make, read.budget.budget(), near))
    if as_json:
        print(json.dumps(found))  # noqa: T201
    else:
        show("[budget]")
        for name, value in found.items():
            show(f"{name} = {json.dumps(value)}")


def size_for(
    spec: _Spec,
    *,
    error: _Error = None,
    interval: _Interval = None,
    level: _Level = 0.95,
    as_json: _Json = False,
) -> None:
    """Print the least number of records for a given accuracy of means.

    Reads no data and counts no records. The size in the specification is not used.
    """
    from lownoise.planning.inverse import least_size, nearness
    from lownoise.spec import read_any
    from lownoise.spec.files import JointSpec
    from lownoise.spec.means import MeanSpec

    read, near = read_any(spec), nearness(error, interval or None, level)
    if isinstance(read, JointSpec):
        raise SpecError(
            f"spec={spec} asks several questions; give one question on means of a public number of "
            "records, or use `lownoise budget-for`"
        )
    question, budget = read.question, read.budget.budget()
    if not isinstance(question, MeanSpec) or question.size is None:
        raise SpecError(
            f"spec={spec} asks for nothing that depends on a public number of records; use "
            "`lownoise budget-for`"
        )
    with solving("fitting the noise") as progress:

        def make(size: int) -> AbstractPlan:
            return question.model_copy(update={"size": size}).plan(budget, progress)

        found = least_size(make, near)
    if as_json:
        print(json.dumps({"size": found}))  # noqa: T201
    else:
        show(f"size = {found}")
