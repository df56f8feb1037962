# SPDX-License-Identifier: Apache-2.0
"""The totals of linear queries: what each record adds to the summed queries, or its count.

Some queries, the pivots, give all others linearly. What each record adds to a pivot is put on a
grid, once, so that the codes of the N records are exactly what one neighbour can change and totals
are exact integers. Matrices of whole numbers are not rounded at all where the noise is of any use:
the grid is 2^-40 of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.codings import LARGEST_CODE
from lownoise.errors import PlanError
from lownoise.noise.totals import AbstractCountTotals, check_rows, lattice_of
from lownoise.numbers.arrays import frozen
from lownoise.numbers.packing import packed
from lownoise.sensitivity.relations import checked_relation
from lownoise.sets.bodies import ImageBody, PointDifferences, SymmetricPoints, TranslatedPoints
from lownoise.sets.domains.coordinates import Coordinates
from lownoise.sets.frames import find_frame
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.engines.counts import Histogram
    from lownoise.engines.queries import TableQuery
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import AbstractQueries
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.bodies import AbstractBody

_OFF = 1e-9  # of what a query's greatest number is: how far its pivots may be from saying it


def query_coordinates(question: AbstractQueries, relation: Relation) -> Coordinates:
    """Return which queries are summed, and how all follow from them.

    Under `substitute` changes are what counts: a query that has one number for all records follows
    from the public size.

    Examples:
        >>> from lownoise.questions import Queries
        >>> twice = Queries([[1, 1], [0, 1], [0, 2]], {"x": 2})
        >>> query_coordinates(twice, "substitute").pivots.size
        1
        >>> query_coordinates(twice, "add_remove").pivots.size
        2
    """
    columns = question.matrix.T
    counted = checked_relation(relation).counted
    start = np.zeros(question.count) if counted else columns[0]
    body = SymmetricPoints(columns) if counted else TranslatedPoints(columns)
    frame = find_frame(body, None)
    embed = None if frame.embed is None else frozen(frame.embed.T.copy())
    return Coordinates(pivots=frame.pivots, embed=embed, start=frozen(start.copy()))


def queries_follow(question: AbstractQueries, chosen: Coordinates) -> bool:
    """Return whether every query is what its pivots say, for every record."""
    W, pivots = question.matrix, chosen.pivots
    rising = bool(np.all(np.diff(pivots) > 0))
    if not rising or (pivots.size and not (pivots[0] >= 0 and pivots[-1] < len(W))):
        return False
    if chosen.embed is None:
        return pivots.size == len(W)
    if chosen.embed.shape != (len(W), pivots.size):
        return False
    about = W - chosen.start[:, None]
    most = np.max(np.abs(about), axis=1)
    return bool(np.all(np.abs(about - chosen.embed @ about[pivots]).max(axis=1) <= _OFF * most))


def query_body(
    question: AbstractQueries, relation: Relation, chosen: Coordinates, *, exchanged: bool = False
) -> SymmetricPoints | PointDifferences:
    """Return the body of all changes that one neighbour makes to the summed queries.

    Args:
        question: what is asked.
        relation: what a neighbour is.
        chosen: the queries that are summed.
        exchanged: whether a row of a unit becomes another, beside coming and going.
    """
    kept = frozen(np.ascontiguousarray(question.matrix[chosen.pivots].T))
    if exchanged:  # 0 is what no row adds
        return PointDifferences(frozen(np.pad(kept, ((1, 0), (0, 0)))))
    counted = checked_relation(relation).counted
    return SymmetricPoints(kept) if counted else PointDifferences(kept)


class _RecordTotals(AbstractCountTotals["AbstractQueries"]):
    """Totals of how many rows each record has."""

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
class QueryTotals(_RecordTotals):
    """The summed queries of a table as integers.

    Args:
        coordinates: which r queries are summed, and how all follow.
        step: the unit of each summed query's integers, shape (r,): powers of two, or `lattice`.

    Raises:
        PlanError: where a code exceeds 2^52.
    """

    coordinates: Coordinates
    step: Vector

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

    @property
    def on_lattice(self) -> QueryTotals:
        """The same in the steps that records move queries by."""
        return replace(self, step=self.lattice)

    @cached_property
    def codes(self) -> Integers:
        """The integers of each record, shape (N, r)."""
        return np.floor(self._about / self.step + 0.5).astype(np.int64)

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return int(self.step.size)

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
    def stated(self) -> dict[str, Any]:
        """The grid, and which queries are summed where not all are; a large matrix is packed."""
        chosen = self.coordinates
        if chosen.embed is None:
            return {"step": self.step.tolist()}
        kept = {"pivots": chosen.pivots.tolist(), "embed": packed(chosen.embed)}
        return {"step": self.step.tolist(), **kept}

    @property
    def unit(self) -> Vector:
        """What one grid step is worth in each summed query, shape (r,)."""
        return self.step

    @property
    def rounding(self) -> Vector:
        """What is lost of the matrix on the grid: nothing of whole numbers."""
        off = np.abs(self._about / self.step - self.codes)
        return frozen(np.max(off, axis=0, initial=0.0))

    @property
    def embed(self) -> Vector | None:
        """The matrix from summed queries to all; None where all are summed."""
        return self.coordinates.embed

    def answers(self, integers: Sequence[int]) -> Vector:
        """Return the released answers, shape (m,).

        Float arithmetic on what is already public. A query that follows from others does so for
        each record within 1e-9 of its own numbers, and as a rule within their last digits.
        """
        summed = np.array([float(k) for k in integers]) * self.step
        chosen = self.coordinates
        about = summed if chosen.embed is None else chosen.embed @ summed
        return frozen(np.asarray(about + (self.size or 0) * chosen.start))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class HistogramTotals(_RecordTotals):
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
