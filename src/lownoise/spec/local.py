# SPDX-License-Identifier: Apache-2.0
"""The specification of a local plan: a question, and what one report may reveal.

The tables are those of every other specification, less what speaks of a table of records: a device
has one record, and its report hides all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, final

from pydantic import Field, PlainValidator, ValidationError, ValidationInfo

from lownoise.errors import SpecError
from lownoise.local_model import RANDOMIZERS
from lownoise.planning import local
from lownoise.privacy import local_dp
from lownoise.spec.counts import FOLDER, MarginalsSpec
from lownoise.spec.means import BOUNDED, MeanSpec
from lownoise.spec.model import Strict, checked, mistake_of, mistaken, read_toml

if TYPE_CHECKING:
    from pathlib import Path

    from lownoise.planning import LocalPlan
    from lownoise.questions import Marginals, Mean

_ASKED: dict[str, type[MeanSpec | MarginalsSpec]] = {"mean": MeanSpec, "marginals": MarginalsSpec}
_TABLES = ("relation", "size", "count_share")  # what is said of tables of records
_ONE_RECORD = {"relation": "substitute", "size": 1}  # which is what a report hides


@final
@dataclass(frozen=True)
class LocalAsked:
    """What devices are asked, and the one randomizer that is fitted, where it is named."""

    of: MeanSpec | MarginalsSpec
    mechanism: str | None = None


def _asked(fields: object, info: ValidationInfo) -> LocalAsked:
    """Return the question of a table, or every mistake in it."""
    if not isinstance(fields, dict):
        raise mistaken([((), "is no table; give what devices are asked under [question]", None)])
    kind = fields.get("kind", "mean")
    if not isinstance(kind, str) or kind not in _ASKED:
        text = f"is nothing that devices report; give {' or '.join(_ASKED)}"
        raise mistaken([(("kind",), text, kind)])
    about = "is of a table of records, and a device has one record; leave it out"
    mistakes: list[tuple[tuple[str | int, ...], str, object]] = [
        ((name,), about, None) for name in _TABLES if name in fields
    ]
    mechanism = fields.get("mechanism")
    if mechanism is not None and mechanism not in RANDOMIZERS.names:
        known = ", ".join(RANDOMIZERS.names)
        mistakes.append((("mechanism",), f"is no randomizer; give one of {known}", mechanism))
    own = {name: v for name, v in fields.items() if name not in (*_TABLES, "mechanism")}
    try:
        found = _ASKED[kind].model_validate({**own, **_ONE_RECORD}, context=info.context)
    except ValidationError as error:
        mistakes += [(d["loc"], mistake_of(d), d["input"]) for d in error.errors()]
    if mistakes:
        raise mistaken(mistakes)
    return LocalAsked(found, mechanism)


class LocalBudgetSpec(Strict):
    """What one report may reveal: `epsilon`, and `delta` where Gaussian reports are wanted."""

    kind: Literal["local_dp"]
    epsilon: Annotated[float, Field(ge=1e-6, le=1e3, strict=True)]
    delta: Annotated[float, Field(ge=1e-100, lt=1, strict=True)] | None = None


class LocalSpec(Strict):
    """A specification file of what devices send."""

    name: Annotated[str, Field(max_length=100)] = ""
    question: Annotated[Any, PlainValidator(_asked)]
    budget: LocalBudgetSpec

    def plan(self) -> LocalPlan:
        """Return the plan; nobody is asked anything yet.

        Raises:
            LownoiseError: where the parts do not fit together.
        """
        asked: LocalAsked = self.question
        return local(
            cast("Mean | Marginals", asked.of.asked()),  # its kinds are those of devices
            local_dp(self.budget.epsilon, self.budget.delta),
            order=asked.of.order,
            weights=asked.of.error_weights(),
            mechanism=asked.mechanism,
            name=self.name,
        )


def read_local(path: Path) -> LocalSpec:
    """Return the specification of a local plan in a TOML file.

    Raises:
        SpecError: where the file cannot be read, or with every mistake in it, one a line.
    """
    fields = read_toml(path)
    asked, budget = fields.get("question"), fields.get("budget")
    kind = budget.get("kind") if isinstance(budget, dict) else None
    if kind != "local_dp":
        raise SpecError(
            f"spec={path}: budget.kind is not local_dp, and a local plan has no other; give "
            'kind = "local_dp" and epsilon, or use `lownoise plan`'
        )
    bounded = not isinstance(asked, dict) or "domain" not in asked
    return checked(LocalSpec, fields, path, {BOUNDED: bounded, FOLDER: path.parent})
