# SPDX-License-Identifier: Apache-2.0
"""A specification file: a question, a budget, and where the data and the ledger are.

TOML, checked as a whole: every mistake is reported at once, each with its path in the file.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from lownoise.domains import Box
from lownoise.errors import SpecError
from lownoise.listed import read_points
from lownoise.planning import COUNT_SHARE, plan
from lownoise.privacy import Budget, Ledger, approx_dp, gaussian_dp, zcdp
from lownoise.workloads import Mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_core import ErrorDetails

    from lownoise.planning import Plan
    from lownoise.solvers import Progress


_Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BudgetSpec(_Strict):
    """`rho`, or `mu`, or `epsilon` and `delta`."""

    rho: Annotated[float, Field(ge=1e-12, le=1e6, strict=True)] | None = None
    mu: Annotated[float, Field(ge=1e-6, le=1e3, strict=True)] | None = None
    epsilon: Annotated[float, Field(ge=1e-6, le=1e3, strict=True)] | None = None
    delta: Annotated[float, Field(ge=1e-100, lt=1, strict=True)] | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        approximate = self.epsilon is not None and self.delta is not None
        half = (self.epsilon is None) != (self.delta is None)
        kinds = [approximate, self.rho is not None, self.mu is not None]
        if half or sum(kinds) != 1:
            raise ValueError("give either rho, or mu, or both epsilon and delta")
        return self

    def budget(self) -> Budget:
        """Return the budget."""
        if self.rho is not None:
            return zcdp(self.rho)
        if self.mu is not None:
            return gaussian_dp(self.mu)
        return approx_dp(self.epsilon or 0.0, self.delta or 0.0)


class ColumnSpec(_Strict):
    """The public range of a column, in its unit, the points that stand in, and its weight."""

    lower: _Number
    upper: _Number
    center: _Number | None = None
    missing: _Number | None = None
    weight: Annotated[float, Field(ge=1e-100, le=1e100, strict=True)] | None = None

    @field_validator("upper")
    @classmethod
    def _ordered(cls, upper: float, info: ValidationInfo) -> float:
        lower = info.data.get("lower")
        if lower is not None and lower > upper:
            raise ValueError(f"is below lower={lower:g}; swap them")
        return upper

    @field_validator("center", "missing")
    @classmethod
    def _inside(cls, point: float | None, info: ValidationInfo) -> float | None:
        lower, upper = info.data.get("lower"), info.data.get("upper")
        if point is None or lower is None or upper is None:
            return point
        if not lower <= point <= upper:
            raise ValueError(f"is outside [{lower:g}, {upper:g}]; move it inside")
        return point

    def middle(self) -> float:
        """Return the center: as given, or the middle of the range."""
        return self.lower / 2 + self.upper / 2 if self.center is None else self.center


class QuestionSpec(_Strict):
    """What is asked, about whom."""

    relation: Literal["substitute", "add_remove"]
    size: Annotated[int, Field(ge=1, le=10**12, strict=True)] | None = Field(
        default=None, validate_default=True
    )
    order: Annotated[float, Field(ge=2, strict=True)] = 2.0
    missing: Literal["stand-in", "drop"] = "stand-in"
    count_share: Annotated[float, Field(gt=0, lt=1, strict=True)] = COUNT_SHARE
    weights: Literal["range"] | None = None
    points: Path | None = None
    columns: dict[str, ColumnSpec] = Field(default_factory=dict, validate_default=True)

    @field_validator("size")
    @classmethod
    def _public_or_private(cls, size: int | None, info: ValidationInfo) -> int | None:
        relation = info.data.get("relation")
        if relation == "substitute" and size is None:
            raise ValueError("is missing; substitute needs the public number of records")
        if relation == "add_remove" and size is not None:
            raise ValueError("is private under add_remove; leave it out")
        return size

    @field_validator("missing")
    @classmethod
    def _keeps_size(cls, missing: str, info: ValidationInfo) -> str:
        if missing == "drop" and info.data.get("relation") == "substitute":
            raise ValueError('"drop" would change the public size; use "stand-in"')
        return missing

    @field_validator("columns")
    @classmethod
    def _weighed_once(
        cls,
        columns: dict[str, ColumnSpec],
        info: ValidationInfo,
    ) -> dict[str, ColumnSpec]:
        listed = info.data.get("points") is not None
        if listed and columns:
            raise ValueError("stands beside points, whose file names the columns; drop one of them")
        if not listed and not columns and "points" in info.data:
            raise ValueError("is missing; give each column its bounds, or points a list's path")
        if info.data.get("weights") and any(c.weight is not None for c in columns.values()):
            raise ValueError('has weights by column beside weights = "range"; give one of the two')
        return columns

    def column_weights(self) -> list[float] | str | None:
        """Return what one unit of each column's error matters: as given, 1 where nothing is."""
        if self.weights is not None or self.points is not None:
            return self.weights
        return [1.0 if c.weight is None else c.weight for c in self.columns.values()]


class DataSpec(_Strict):
    """Where the table is, relative to the specification."""

    path: Path


class LedgerSpec(_Strict):
    """Which account pays; the path is relative to the specification."""

    path: Path
    dataset: Annotated[str, Field(min_length=1)]


class Spec(_Strict):
    """A specification file."""

    question: QuestionSpec
    budget: BudgetSpec
    data: DataSpec | None = None
    ledger: LedgerSpec | None = None

    def plan(self, progress: Callable[[Progress], None] | None = None) -> Plan:
        """Return the plan; no data are read.

        Args:
            progress: called with a `Progress` after every step of a search.

        Raises:
            LownoiseError: where the parts do not fit together.
        """
        asked = self.question
        return plan(
            self._listed(asked.points) if asked.points is not None else self._boxed(),
            budget=self.budget.budget(),
            relation=asked.relation,
            size=asked.size,
            order=asked.order,
            weights=asked.column_weights(),
            count_share=asked.count_share,
            progress=progress,
        )

    def _listed(self, path: Path) -> Mean:
        names, domain = read_points(path)
        return Mean(names, domain, missing="drop" if self.question.missing == "drop" else "center")

    def _boxed(self) -> Mean:
        asked = self.question
        columns = asked.columns
        middle = [c.middle() for c in columns.values()]
        stand_in = [
            m if c.missing is None else c.missing
            for m, c in zip(middle, columns.values(), strict=True)
        ]
        domain = Box([c.lower for c in columns.values()], [c.upper for c in columns.values()])
        return Mean(
            list(columns),
            domain,
            center=middle,
            missing="drop" if asked.missing == "drop" else stand_in,
        )

    def account(self) -> Ledger | None:
        """Return the account that pays, None where none is named."""
        return Ledger(self.ledger.path, self.ledger.dataset) if self.ledger else None


def read_spec(path: Path) -> Spec:
    """Return the specification in a TOML file, its paths made relative to where it stands.

    Raises:
        SpecError: where the file cannot be read, or with every mistake in it, one a line.
    """
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SpecError(
            f"spec={path} cannot be read ({error.strerror}); give the path of a TOML file",
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"spec={path} is not TOML: {error}") from None
    try:
        spec = Spec.model_validate(fields)
    except ValidationError as error:
        mistakes = "\n".join(f"  {_mistake(d)}" for d in error.errors())
        raise SpecError(f"spec={path} has {_count(error.error_count())}:\n{mistakes}") from None
    folder = path.parent
    moved: dict[str, _Strict] = {
        name: part.model_copy(update={"path": folder / part.path})
        for name, part in (("data", spec.data), ("ledger", spec.ledger))
        if part is not None
    }
    if spec.question.points is not None:
        beside = {"points": folder / spec.question.points}
        moved["question"] = spec.question.model_copy(update=beside)
    return spec.model_copy(update=moved)


def _count(mistakes: int) -> str:
    return "a mistake" if mistakes == 1 else f"{mistakes} mistakes"


def _mistake(detail: ErrorDetails) -> str:
    place = ".".join(str(p) for p in detail["loc"]) or "top level"
    text = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        text = "is not a field of a specification; see docs/specification.md"
    if detail["type"] == "float_type":
        text = "is not a number; write it without quotes, infinity as inf"
    given = detail["input"]
    shown = f" (found {given!r})" if isinstance(given, (str, int, float)) else ""
    return f"{place}: {text[0].lower()}{text[1:]}{shown}"
