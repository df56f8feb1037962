# SPDX-License-Identifier: Apache-2.0
"""The question of a specification that asks for means, sums and the count, or for moments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    PlainValidator,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from lownoise.errors import LownoiseError
from lownoise.questions import Mean, Moments, Sum
from lownoise.sets.domains import Box
from lownoise.spec.arrays import read_points
from lownoise.spec.counts import beside, declared_attributes
from lownoise.spec.model import AskedSpec, MeanMechanism, Number, Strict, declared, mistake_text

BOUNDED = "bounded"


def bounded(info: ValidationInfo) -> bool:
    """Whether columns have bounds of their own: no domain is declared."""
    return bool((info.context or {}).get(BOUNDED, True))


DeclaredDomain = Annotated[Any, PlainValidator(declared)]


class RangeSpec(Strict):
    """The public range of a column; left out where the question declares a domain, which has it."""

    lower: Number | None = Field(default=None, validate_default=True)
    upper: Number | None = Field(default=None, validate_default=True)

    @field_validator("lower", "upper")
    @classmethod
    def _given_once(cls, bound: float | None, info: ValidationInfo) -> float | None:
        if bound is None and bounded(info):
            raise PydanticCustomError("missing", "Field required")
        if bound is not None and not bounded(info):
            raise ValueError("is given beside question.domain, which has bounds; drop one")
        return bound

    @field_validator("upper")
    @classmethod
    def _ordered(cls, upper: float | None, info: ValidationInfo) -> float | None:
        lower = info.data.get("lower")
        if lower is not None and upper is not None and lower > upper:
            raise ValueError(f"is below lower={lower:g}; swap them")
        return upper


class ColumnSpec(RangeSpec):
    """The public range of a column, in its unit, the points that stand in, and its weight.

    The range is left out where the question declares a domain, which has it.
    """

    center: Number | None = None
    missing: Number | None = None
    weight: Annotated[float, Field(ge=1e-100, le=1e100, strict=True)] | None = None

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


def named_columns(columns: object, info: ValidationInfo) -> object:
    """Return columns by name: names alone will do where a domain is declared."""
    names = isinstance(columns, list) and all(isinstance(name, str) for name in columns)
    if not isinstance(columns, list) or not names or bounded(info):
        return columns
    found: dict[str, dict[str, float]] = {}
    for name in columns:
        if name in found:
            raise ValueError(f"names {name!r} twice; name each column once")
        found[name] = {}
    return found


def _placed(points: Path | None, info: ValidationInfo) -> Path | None:
    return None if points is None else beside(points, info)


class MeanSpec(AskedSpec):
    """Which columns are averaged, alone or with their products, and what their records can be."""

    kind: Literal["mean", "sum", "moments"] = "mean"
    missing: Literal["stand-in", "drop"] = "stand-in"
    count_share: Annotated[float, Field(gt=0, lt=1, strict=True)] | None = None
    mechanism: MeanMechanism = None
    weights: Literal["range"] | None = None
    points: Annotated[Path | None, AfterValidator(_placed)] = None
    domain: DeclaredDomain = None
    columns: dict[str, ColumnSpec] = Field(default_factory=dict, validate_default=True)
    by: Annotated[dict[str, Any] | None, PlainValidator(declared_attributes)] = None
    way: Annotated[int, Field(ge=0, strict=True)] | None = None
    sets: list[list[str]] | None = None
    group_weights: list[Number] | None = None
    outside: Literal["drop", "extra"] | dict[str, str | int | float] = "drop"

    @field_validator("missing")
    @classmethod
    def _keeps_size(cls, missing: str, info: ValidationInfo) -> str:
        if missing == "drop" and cls.public_size(info):
            raise ValueError('"drop" would change the public size; use "stand-in"')
        return missing

    @field_validator("columns", mode="before")
    @classmethod
    def _named(cls, columns: object, info: ValidationInfo) -> object:
        return named_columns(columns, info)

    @field_validator("columns")
    @classmethod
    def _weighed_once(
        cls,
        columns: dict[str, ColumnSpec],
        info: ValidationInfo,
    ) -> dict[str, ColumnSpec]:
        listed, domain = info.data.get("points") is not None, info.data.get("domain")
        if info.data.get("kind") == "sum" and any(c.center is not None for c in columns.values()):
            raise ValueError("have a center, which totals do not use; drop center")
        if info.data.get("kind") == "moments":
            if listed:
                raise ValueError("of moments have bounds of their own, or a ball; drop points")
            if any(c.center is not None for c in columns.values()):
                raise ValueError("have a center, which moments do not use; drop center")
        if listed and domain is not None:
            raise ValueError("has both points and domain to name columns of; drop one of them")
        if listed and columns:
            raise ValueError("is given beside points, whose file names the columns; drop one")
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
        """Refuse a domain that no release is made of, points outside of it, and unfit groups."""
        grouped = self.way is not None or self.sets is not None or self.group_weights is not None
        if self.domain is not None or self.by is not None or grouped or self.kind != "mean":
            try:
                self.asked()
            except LownoiseError as error:
                raise mistake_text(str(error)) from None
        return self

    def asked(self) -> Mean | Sum:
        """Return the question, of columns in the order of the file; by groups where they are given.

        Raises:
            LownoiseError: where the list of points cannot be read, or parts do not fit together.
        """
        if self.points is not None:
            names, points = read_points(self.points)
            stands = "drop" if self.missing == "drop" else "center"
            if self.kind == "sum":
                return Sum(names, points, missing=stands, **self._groups())
            return Mean(names, points, missing=stands, **self._groups())
        columns = list(self.columns.values())
        domain = self.domain
        if domain is None:
            domain = Box(*zip(*(column.bounds() for column in columns), strict=True))
        middle = _filled([c.center for c in columns], domain.center.tolist())
        own = [c.missing for c in columns]
        stand_in = "center" if own.count(None) == len(own) else _filled(own, middle)
        if self.kind == "sum":
            left_out = "drop" if self.missing == "drop" else stand_in
            return Sum(list(self.columns), domain, missing=left_out, **self._groups())
        if self.kind == "moments":
            left_out = "drop" if self.missing == "drop" else stand_in
            return Moments(list(self.columns), domain, missing=left_out, **self._groups())
        return Mean(
            list(self.columns),
            domain,
            center=middle,
            missing="drop" if self.missing == "drop" else stand_in,
            **self._groups(),
        )

    def _groups(self) -> dict[str, Any]:
        return {
            "by": self.by,
            "way": self.way,
            "sets": self.sets,
            "group_weights": self.group_weights,
            "outside": self.outside,
        }

    def error_weights(self) -> list[float] | str | None:
        """Return what one unit of each column's error matters: as given, 1 where nothing is."""
        if self.weights is not None or self.points is not None:
            return self.weights
        own = [1.0 if c.weight is None else c.weight for c in self.columns.values()]
        if self.kind == "moments":  # of a product, the product of theirs
            own += [a * b for i, a in enumerate(own) for b in own[i:]]
        return own


def _filled(points: list[float | None], rest: list[float]) -> list[float]:
    """Return a point's coordinates, those of `rest` where none is given."""
    return [r if p is None else p for p, r in zip(points, rest, strict=True)]
