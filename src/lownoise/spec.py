# SPDX-License-Identifier: Apache-2.0
"""A specification file: a question, a budget, and where the data and the ledger are.

TOML, checked as a whole: every mistake is reported at once, each with its path in the file.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from lownoise.declared import declared_domain
from lownoise.domains import Box
from lownoise.errors import LownoiseError, SpecError
from lownoise.listed import read_points
from lownoise.planning import COUNT_SHARE, plan
from lownoise.privacy import Budget, Ledger, approx_dp, gaussian_dp, zcdp
from lownoise.workloads import Mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_core import ErrorDetails

    from lownoise.domains import AbstractDomain
    from lownoise.planning import Plan
    from lownoise.solvers import Progress


_Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]


_BOUNDED = "bounded"
_BY_DOMAIN = "domain"


def _said(text: str) -> PydanticCustomError:
    """Return a mistake in the words of a constructor, which start with the field's name there."""
    return PydanticCustomError(_BY_DOMAIN, "{said}", {"said": text})


def _declared(fields: object) -> AbstractDomain | None:
    """Return the domain of a table, or every mistake in it, each with its path."""
    domain, mistakes = declared_domain(fields)
    if not mistakes:
        return domain
    details = [
        InitErrorDetails(
            type=_said(mistake.text),
            loc=mistake.path,
            input=mistake.value,
        )
        for mistake in mistakes
    ]
    raise ValidationError.from_exception_data("domain", details)


def _bounded(info: ValidationInfo) -> bool:
    """Whether columns have bounds of their own: no domain is declared."""
    return bool((info.context or {}).get(_BOUNDED, True))


_Domain = Annotated[Any, PlainValidator(_declared)]


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
    """The public range of a column, in its unit, the points that stand in, and its weight.

    The range is left out where the question declares a domain, which has it.
    """

    lower: _Number | None = Field(default=None, validate_default=True)
    upper: _Number | None = Field(default=None, validate_default=True)
    center: _Number | None = None
    missing: _Number | None = None
    weight: Annotated[float, Field(ge=1e-100, le=1e100, strict=True)] | None = None

    @field_validator("lower", "upper")
    @classmethod
    def _given_once(cls, bound: float | None, info: ValidationInfo) -> float | None:
        if bound is None and _bounded(info):
            raise PydanticCustomError("missing", "Field required")
        if bound is not None and not _bounded(info):
            raise ValueError("stands beside question.domain, which has the bounds; drop one")
        return bound

    @field_validator("upper")
    @classmethod
    def _ordered(cls, upper: float | None, info: ValidationInfo) -> float | None:
        lower = info.data.get("lower")
        if lower is not None and upper is not None and lower > upper:
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

    def bounds(self) -> tuple[float, float]:
        """Return the range."""
        assert self.lower is not None  # noqa: S101 (validated where no domain is declared)
        assert self.upper is not None  # noqa: S101
        return self.lower, self.upper


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
    domain: _Domain = None
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

    @field_validator("columns", mode="before")
    @classmethod
    def _named(cls, columns: object, info: ValidationInfo) -> object:
        """Names alone will do where a domain is declared."""
        names = isinstance(columns, list) and all(isinstance(name, str) for name in columns)
        if not isinstance(columns, list) or not names or _bounded(info):
            return columns
        found: dict[str, dict[str, float]] = {}
        for name in columns:
            if name in found:
                raise ValueError(f"names {name!r} twice; name each column once")
            found[name] = {}
        return found

    @field_validator("columns")
    @classmethod
    def _weighed_once(
        cls,
        columns: dict[str, ColumnSpec],
        info: ValidationInfo,
    ) -> dict[str, ColumnSpec]:
        listed, domain = info.data.get("points") is not None, info.data.get("domain")
        if listed and domain is not None:
            raise ValueError("has both points and domain to name columns of; drop one of them")
        if listed and columns:
            raise ValueError("stands beside points, whose file names the columns; drop one of them")
        if not listed and not columns and {"points", "domain"} <= set(info.data):
            raise ValueError(
                "is missing; give each column its bounds, or a domain and its columns' names, or "
                "points a list's path"
            )
        if domain is not None and len(columns) != domain.dimension:
            raise ValueError(
                f"has {len(columns)} names for the {domain.dimension} coordinates of "
                "question.domain; give each a name"
            )
        if info.data.get("weights") and any(c.weight is not None for c in columns.values()):
            raise ValueError('has weights by column beside weights = "range"; give one of the two')
        return columns

    @model_validator(mode="after")
    def _of_records(self) -> Self:
        """Refuse a domain that no release is made of, and points outside of it."""
        if self.domain is not None:
            try:
                self.asked()
            except LownoiseError as error:
                raise _said(str(error)) from None
        return self

    def asked(self) -> Mean:
        """Return the question, of columns in the order of the file.

        Raises:
            LownoiseError: where the list of points cannot be read, or parts do not fit together.
        """
        if self.points is not None:
            names, listed = read_points(self.points)
            return Mean(names, listed, missing="drop" if self.missing == "drop" else "center")
        columns = list(self.columns.values())
        domain = self.domain
        if domain is None:
            domain = Box(*zip(*(column.bounds() for column in columns), strict=True))
        middle = _filled([c.center for c in columns], domain.center.tolist())
        own = [c.missing for c in columns]
        stand_in = "center" if own.count(None) == len(own) else _filled(own, middle)
        return Mean(
            list(self.columns),
            domain,
            center=middle,
            missing="drop" if self.missing == "drop" else stand_in,
        )

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
            asked.asked(),
            budget=self.budget.budget(),
            relation=asked.relation,
            size=asked.size,
            order=asked.order,
            weights=asked.column_weights(),
            count_share=asked.count_share,
            progress=progress,
        )

    def account(self) -> Ledger | None:
        """Return the account that pays, None where none is named."""
        return Ledger(self.ledger.path, self.ledger.dataset) if self.ledger else None


class DomainFile(_Strict):
    """A domain alone, and the names of its coordinates."""

    domain: _Domain
    columns: tuple[Annotated[str, Field(min_length=1)], ...] | None = None

    @field_validator("columns")
    @classmethod
    def _one_each(
        cls, columns: tuple[str, ...] | None, info: ValidationInfo
    ) -> tuple[str, ...] | None:
        domain = info.data.get("domain")
        if columns is not None and domain is not None and len(columns) != domain.dimension:
            raise ValueError(
                f"has {len(columns)} names for the {domain.dimension} coordinates of domain; "
                "give each a name"
            )
        return columns


_Model = TypeVar("_Model", bound=_Strict)


def read_spec(path: Path) -> Spec:
    """Return the specification in a TOML file, its paths made relative to where it stands.

    Raises:
        SpecError: where the file cannot be read, or with every mistake in it, one a line.
    """
    fields = _toml(path)
    question = fields.get("question")
    bounded = not isinstance(question, dict) or "domain" not in question
    spec = _checked(Spec, fields, path, {_BOUNDED: bounded})
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


def read_domain(path: Path) -> tuple[tuple[str, ...], AbstractDomain]:
    """Return the names of coordinates and the domain that a public file describes.

    Args:
        path: a CSV file with a header of names and one point a row; or a TOML file, either a
            specification or one with a table `domain` and, if wanted, a list `columns` of names.

    Raises:
        LownoiseError: where the file cannot be read, or with every mistake in it.
    """
    if path.suffix.lower() != ".toml":
        return read_points(path)
    fields = _toml(path)
    if "question" in fields:
        asked = read_spec(path).question.asked()
        return asked.columns, asked.domain
    alone = _checked(DomainFile, fields, path, {})
    names = alone.columns or tuple(f"x{i + 1}" for i in range(alone.domain.dimension))
    return names, alone.domain


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SpecError(
            f"spec={path} cannot be read ({error.strerror}); give the path of a TOML file",
        ) from None
    except RecursionError:
        raise SpecError(f"spec={path} is nested too deep; write it flatter") from None
    except ValueError as error:  # of its syntax, its encoding, or a number too long to read
        raise SpecError(f"spec={path} is not TOML: {error}") from None


def _checked(kind: type[_Model], fields: object, path: Path, context: dict[str, bool]) -> _Model:
    try:
        return kind.model_validate(fields, context=context)
    except ValidationError as error:
        mistakes = "\n".join(f"  {_mistake(d)}" for d in error.errors())
        raise SpecError(f"spec={path} has {_count(error.error_count())}:\n{mistakes}") from None


def _filled(points: list[float | None], rest: list[float]) -> list[float]:
    """Return a point's coordinates, those of `rest` where none is given."""
    return [r if p is None else p for p, r in zip(points, rest, strict=True)]


def _count(mistakes: int) -> str:
    return "a mistake" if mistakes == 1 else f"{mistakes} mistakes"


def _mistake(detail: ErrorDetails) -> str:
    place = ".".join(str(p) for p in detail["loc"]) or "top level"
    text = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        text = "is not a field of a specification; see docs/specification.md"
    if detail["type"] == "float_type":
        text = "is not a number; write it without quotes, infinity as inf"
    if detail["type"] != _BY_DOMAIN:
        text = text[0].lower() + text[1:]
    given = detail["input"]
    shown = f" (found {given!r})" if isinstance(given, (str, int, float)) else ""
    return f"{place}: {text}{shown}"
