# SPDX-License-Identifier: Apache-2.0
"""A question from outside the package with totals of its own: sums of unit vectors of angles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.engines.opening import rows_of
from lownoise.errors import QuestionError
from lownoise.noise.totals import AbstractSummedTotals
from lownoise.numbers.arrays import frozen
from lownoise.questions import QUESTIONS, AbstractSummed
from lownoise.sensitivity.relations import checked_relation
from lownoise.sets.bodies import ImageBody, RoundedBody
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


def disc(relation: Any, unit: Vector, *, exchanged: bool = False) -> ImageBody:
    """A row adds a point of the unit circle; one that becomes another moves by a difference."""
    radius = 2.0 if exchanged or not checked_relation(relation).counted else 1.0
    return ImageBody(frozen(radius / unit), NormBall(2, 2.0))


@final
@dataclass(frozen=True)
class Read:
    """What a table adds up to, in steps."""

    count: int
    sums: tuple[int, ...]


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class DirectionTotals(AbstractSummedTotals["Directions"]):
    """Sums of rounded unit vectors."""

    @property
    def changes(self) -> RoundedBody:
        off = 1.0 if self.size is None else 2.0  # more than the rounding of one row, and of two
        return RoundedBody(disc(self.relation, self.step), frozen(np.full(2, off)))

    @property
    def rounding(self) -> Vector:
        return frozen(np.full(2, 0.5))

    def read(self, table: Any) -> Read:
        count, sums = 0, [0, 0]
        for batch in rows_of([self.question.column], table):
            angles = 2 * np.pi * np.nan_to_num(batch[:, 0], nan=0.0, posinf=0.0, neginf=0.0)
            vectors = np.column_stack([np.cos(angles), np.sin(angles)])
            codes = np.floor(vectors / self.step + 0.5).astype(np.int64)
            count += len(batch)
            sums = [own + int(more) for own, more in zip(sums, codes.sum(axis=0), strict=True)]
        return self.checked(Read(count, tuple(sums)))

    def exact(self, records: Read) -> tuple[int, ...]:
        return records.sums


@QUESTIONS.kind("directions", "column", declared=True)
@final
@dataclass(frozen=True)
class Directions(AbstractSummed):
    """The sums of cosines and sines of a column of angles in turns: its mean direction."""

    column: str
    totals: ClassVar = DirectionTotals

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            raise QuestionError(f"Directions.column={self.column!r} is no name; give a text")

    @property
    def names(self) -> tuple[str, ...]:
        return (f"cos({self.column})", f"sin({self.column})")

    @property
    def rows(self) -> str:
        return "A row adds the unit vector of its angle; one without a number that of 0."

    def changes(self, relation: Any, chosen: Any, *, exchanged: bool = False) -> ImageBody:
        return disc(relation, np.ones(2), exchanged=exchanged)
