# SPDX-License-Identifier: Apache-2.0
"""The question of a specification that asks for a stream: an answer after every round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, PlainValidator, ValidationInfo, field_validator, model_validator

from lownoise.errors import LownoiseError
from lownoise.planning import StreamRequest, plan_stream
from lownoise.planning.streaming import STREAM_USES
from lownoise.privacy import zcdp
from lownoise.questions import Decayed, LowerTriangular, Momentum, Prefix, SlidingWindow
from lownoise.sensitivity.participation import Participation
from lownoise.sensitivity.relations import checked_relation
from lownoise.sets.domains import Box
from lownoise.spec.arrays import numbers_of
from lownoise.spec.means import DeclaredDomain, RangeSpec, named_columns
from lownoise.spec.model import Strict, mistake_text, mistaken

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.planning import StreamPlan
    from lownoise.privacy import Budget
    from lownoise.questions import AbstractStreamWorkload
    from lownoise.solvers import Progress

_Positive = Annotated[int, Field(ge=1, le=1 << 40, strict=True)]
_Rate = Annotated[float, Field(gt=0, lt=1, strict=True)]


def _rows(given: object) -> Any:  # noqa: ANN401
    """Return a square matrix of numbers, or every mistake in it, each with its place."""
    rows = given if isinstance(given, list) else []
    if not rows or not all(isinstance(row, list) and len(row) == len(rows) for row in rows):
        raise mistake_text("is no square matrix; give a list of n rows of n numbers each")
    return numbers_of(rows)


def _once(given: object) -> None:
    """Refuse several uses of one stream."""
    raise mistake_text(f"is for releases of tables; {STREAM_USES}")


class StreamSpec(Strict):
    """Which running answers, of which values, with which noise."""

    kind: Literal["stream"]
    workload: Literal["prefix", "sliding_window", "decayed", "momentum", "matrix"] = "prefix"
    rounds: _Positive | None = None
    width: _Positive | None = None
    rate: _Rate | None = None
    matrix: Annotated[Any, PlainValidator(_rows)] = None
    strategy: str = "auto"
    error: Literal["mean", "max"] = "mean"
    memory: _Positive | None = None
    participations: _Positive = 1
    separation: _Positive = 1
    pattern: Literal["spaced", "separated", "any"] | None = None
    mechanism: Literal["gaussian", "laplace", "k_norm", "geometric", "staircase"] | None = None
    relation: Literal["substitute", "add_remove"] | None = None
    changes: DeclaredDomain = None
    domain: DeclaredDomain = None
    columns: dict[str, RangeSpec] | None = None
    uses: Annotated[None, PlainValidator(_once)] = None

    @field_validator("columns", mode="before")
    @classmethod
    def _named(cls, columns: object, info: ValidationInfo) -> object:
        return named_columns(columns, info)

    @field_validator("relation", mode="before")
    @classmethod
    def _word(cls, relation: object) -> object:
        """Say where a body of changes stands, which Python takes as its relation."""
        if isinstance(relation, dict):
            raise mistake_text("is a word; declare a body of changes as question.changes instead")
        return relation

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        """Refuse fields that do not go with each other, before a budget is looked at."""
        needs = {
            "prefix": ("rounds",),
            "sliding_window": ("rounds", "width"),
            "decayed": ("rounds", "rate"),
            "momentum": ("rounds", "rate"),
            "matrix": ("matrix",),
        }[self.workload]
        mistakes = []
        for name in ("rounds", "width", "rate", "matrix"):
            given = getattr(self, name) is not None
            if given != (name in needs):
                text = "does not go with" if given else "is missing; it is needed by"
                mistakes.append(((name,), f'{text} workload = "{self.workload}"', None))
        if self.changes is not None and self.relation is not None:
            mistakes.append((("relation",), "is given beside question.changes; drop one", None))
        if self.domain is not None and self.columns and len(self.columns) != self.domain.dimension:
            text = f"has not one name for each of the {self.domain.dimension} coordinates of domain"
            mistakes.append((("columns",), text, None))
        if self.columns is not None and not self.columns:
            mistakes.append((("columns",), "has no name; leave it out, or name one", None))
        if mistakes:
            raise mistaken(mistakes)
        try:
            self.request(zcdp(1.0))  # which says nothing of the mechanism: the budget follows
        except LownoiseError as error:
            raise mistake_text(str(error)) from None
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of a table, and of the answers."""
        if self.columns is not None:
            return tuple(self.columns)
        dimension = 1 if self.domain is None else self.domain.dimension
        return ("value",) if dimension == 1 else tuple(f"x{i + 1}" for i in range(dimension))

    def asked(self) -> AbstractStreamWorkload:
        """Return the workload.

        Raises:
            QuestionError: where a number is out of range.
        """
        n = self.rounds or 0
        if self.workload == "sliding_window":
            return SlidingWindow(n, self.width or 0)
        if self.workload == "decayed":
            return Decayed(n, self.rate or 0.0)
        if self.workload == "momentum":
            return Momentum(n, self.rate or 0.0)
        return LowerTriangular(self.matrix) if self.workload == "matrix" else Prefix(n)

    def request(self, budget: Budget) -> StreamRequest:
        """Return what is asked for.

        Raises:
            LownoiseError: where the parts do not fit together.
        """
        domain = self.domain
        if domain is None and self.columns is not None:
            own = list(self.columns.values())
            domain = Box([c.lower or 0.0 for c in own], [c.upper or 0.0 for c in own])
        relation = self.changes if self.changes is not None else self.relation or "add_remove"
        return StreamRequest(
            workload=self.asked(),
            budget=budget,
            strategy=self.strategy,
            error=self.error,
            domain=Box([0.0], [1.0]) if domain is None else domain,
            relation=checked_relation(relation),
            memory=self.memory,
            participation=Participation.asked(self.participations, self.separation, self.pattern),
            mechanism=self.mechanism,
        )

    def plan(self, budget: Budget, progress: Callable[[Progress], None] | None) -> StreamPlan:
        """Return the plan; nothing has started.

        Raises:
            LownoiseError: where the parts do not fit together.
        """
        return plan_stream(self.request(budget), progress)
