# SPDX-License-Identifier: Apache-2.0
"""Integers that pure noise is added to, and the answers that follow from them.

Means have theirs in `mechanisms.grid`; here are those of linear queries: what each record adds to
the summed queries, or the count of every record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.size import check_rows
from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import ImageBody
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.engines.histogram import Histogram
    from lownoise.noise.queries import QueryGrid
    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Queries
    from lownoise.sensitivity.changes import Reach


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class QueryTotals:
    """The summed queries of a table as integers.

    Args:
        grid: how records become integers.
        size: the public number of records, None under `add_remove`.

    Raises:
        PlanError: where rows would be dropped from a table of public size.
    """

    grid: QueryGrid
    size: int | None

    def __post_init__(self) -> None:
        _check_kept(self.grid.question, self.size)

    @property
    def question(self) -> Queries:
        """The queries and the records."""
        return self.grid.question

    @property
    def relation(self) -> str:
        """What a neighbour is."""
        return self.grid.relation

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return int(self.grid.step.size)

    @property
    def reach(self) -> Reach:
        """The body of all changes that one neighbour makes to the integers."""
        return self.grid.reach

    def exact(self, records: Histogram) -> tuple[int, ...]:
        """Return the integers without noise: never to be shown.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        check_rows(self.size, records.count)
        return tuple(records.totals(self.grid.codes))

    @property
    def unit(self) -> Vector:
        """What one grid step is worth in each summed query, shape (r,)."""
        return self.grid.step

    @property
    def embed(self) -> Vector | None:
        """The matrix from summed queries to all; None where all are summed."""
        return self.grid.coordinates.embed

    def answers(self, integers: tuple[int, ...]) -> Vector:
        """Return the released answers, shape (m,)."""
        summed = np.array([float(k) for k in integers]) * self.unit
        chosen = self.grid.coordinates
        about = summed if chosen.embed is None else chosen.embed @ summed
        return frozen(np.asarray(about + (self.size or 0) * chosen.start))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class HistogramTotals:
    """The number of rows at each record, in steps of a count.

    Args:
        question: the queries and the records.
        relation: "substitute" or "add_remove".
        size: the public number of records, None under `add_remove`.
        step: a power of two, at most 1.

    Raises:
        PlanError: where rows would be dropped from a table of public size.
    """

    question: Queries
    relation: str
    size: int | None
    step: float

    def __post_init__(self) -> None:
        _check_kept(self.question, self.size)
        if (self.relation == "substitute") != (self.size is not None):
            raise PlanError("size does not fit the relation; plan again")

    @property
    def length(self) -> int:
        """How many integers a release has: one a record."""
        return self.question.universe.size

    @property
    def reach(self) -> Reach:
        """A body that holds all changes that one neighbour makes to the integers.

        One count changes by 1, or two of them by 1 each: a cross-polytope, whose corners are more
        than what can happen under `substitute`, but no farther in any sum of sizes.
        """
        moved = (1.0 if self.size is None else 2.0) / self.step
        return ImageBody(frozen(np.full(self.length, moved)), NormBall(self.length, 1.0))

    def exact(self, records: Histogram) -> tuple[int, ...]:
        """Return the integers without noise: never to be shown.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        check_rows(self.size, records.count)
        per = int(1 / self.step)
        return tuple(count * per for count in records.counts.tolist())

    @property
    def unit(self) -> Vector:
        """What one step of a count is worth, shape (N,)."""
        return frozen(np.full(self.length, self.step))

    @property
    def embed(self) -> Vector | None:
        """The matrix from counts to answers."""
        return self.question.matrix

    def answers(self, integers: tuple[int, ...]) -> Vector:
        """Return the released answers, shape (m,)."""
        counts = np.array([float(k) for k in integers]) * self.step
        return frozen(self.question.matrix @ counts)


def _check_kept(question: Queries, size: int | None) -> None:
    if size is not None and question.drops:
        raise PlanError("dropping rows would change the public size; use a stand-in")
