# SPDX-License-Identifier: Apache-2.0
"""The totals of linear queries: what each record adds to the summed queries, or its count.

Some queries, the pivots, give all others linearly. What each record adds to a pivot is put on a
grid, once, so that the codes of the N records are exactly what one neighbour can change and totals
are exact integers. Matrices of whole numbers are not rounded at all where the noise is of any use:
the grid is 2^-40 of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.adding import LARGEST_CODE
from lownoise.errors import PlanError
from lownoise.noise.totals import (
    AbstractCountTotals,
    AbstractReader,
    AbstractSummedTotals,
    check_rows,
    lattice_of,
)
from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import ImageBody, PointDifferences, SymmetricPoints
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.engines.counts import Histogram
    from lownoise.engines.queries import TableQuery
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import AbstractQueries
    from lownoise.sets.bodies import AbstractBody


class AbstractRecords(AbstractReader):
    """What reads how many rows each record of a question has."""

    question: AbstractQueries

    @property
    def reading(self) -> TableQuery[Histogram] | None:
        """What is asked of a table."""
        return self.question.reading

    def read(self, table: Any) -> Histogram:  # noqa: ANN401 (what an engine takes)
        """Return how many rows each record has.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        found: Histogram = self.checked(self.question.histogram(table))
        return found


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class QueryTotals(AbstractRecords, AbstractSummedTotals["AbstractQueries"]):
    """The summed queries of a table as integers.

    Raises:
        PlanError: where a code exceeds 2^52.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        with np.errstate(all="ignore"):
            fits = np.all(np.abs(self._about) / self.step <= LARGEST_CODE)
        if not fits:
            raise PlanError("step is too fine for the matrix; use a coarser grid")

    @property
    def _about(self) -> Vector:
        """What each record adds to the summed queries, less what the start adds, shape (N, r)."""
        pivots = self.coordinates.pivots
        return np.asarray(self.question.matrix[pivots].T - self.coordinates.start[pivots])

    @cached_property
    def lattice(self) -> Vector:
        """The greatest numbers whose whole multiples each record adds to a query, shape (r,)."""
        return lattice_of(self._about)

    @property
    def kinds(self) -> int:
        """How many kinds of records there are, N."""
        return self.question.record_count

    @cached_property
    def codes(self) -> Integers:
        """The integers of each record, shape (N, r)."""
        return np.floor(self._about / self.step + 0.5).astype(np.int64)

    @cached_property
    def changes(self) -> AbstractBody:
        """The set of all changes that one neighbour makes to the integers."""
        # at most 2^52: exact, and so are their differences
        codes = frozen(np.unique(self.codes, axis=0).astype(np.float64))
        return PointDifferences(codes) if self.size is not None else SymmetricPoints(codes)

    @property
    def becoming(self) -> AbstractBody:
        """The differences of what records add."""
        return PointDifferences(frozen(np.unique(self.codes, axis=0).astype(np.float64)))

    def exact(self, records: Histogram) -> list[int]:
        """Return the integers without noise: never to be shown.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        check_rows(self.size, records.count)
        return list(records.totals(self.codes))

    @property
    def rounding(self) -> Vector:
        """What is lost of the matrix on the grid: nothing of whole numbers."""
        off = np.abs(self._about / self.step - self.codes)
        return frozen(np.max(off, axis=0, initial=0.0))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class HistogramTotals(AbstractRecords, AbstractCountTotals["AbstractQueries"]):
    """The number of rows at each record, in steps of a count.

    Args:
        step: a power of two, at most 1.
    """

    step: float

    @property
    def length(self) -> int:
        """How many integers a release has: one a record."""
        return self.question.record_count

    @property
    def changes(self) -> AbstractBody:
        """A set that holds all changes that one neighbour makes to the integers.

        One count changes by 1, or two of them by 1 each: a cross-polytope, whose corners are more
        than what can happen under `substitute`, but no farther in any sum of sizes.
        """
        sensitivity = (1.0 if self.size is None else 2.0) / self.step
        return ImageBody(frozen(np.full(self.length, sensitivity)), NormBall(self.length, 1.0))

    def exact(self, records: Histogram) -> tuple[int, ...]:
        """Return the integers without noise: never to be shown.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        check_rows(self.size, records.count)
        per = int(1 / self.step)
        return tuple(count * per for count in records.counts.tolist())

    @property
    def stated(self) -> dict[str, Any]:
        """The one step of all counts."""
        return {"step": self.step}

    @property
    def unit(self) -> Vector:
        """What one step of a count is worth, shape (N,)."""
        return frozen(np.full(self.length, self.step))

    @property
    def embed(self) -> Vector | None:
        """The matrix from counts to answers."""
        return self.question.matrix

    def answers(self, integers: Sequence[int]) -> Vector:
        """Return the released answers, shape (m,)."""
        counts = np.array([float(k) for k in integers]) * self.step
        return frozen(self.question.matrix @ counts)
