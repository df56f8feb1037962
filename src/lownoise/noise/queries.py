# SPDX-License-Identifier: Apache-2.0
"""Exact totals of linear queries plus the rounding of a true Gaussian: the factorization mechanism.

Some queries, the pivots, give all others linearly. What each record adds to a pivot is put on a
grid, once, so that the codes of the N records are exactly what one neighbour can change and totals
are exact integers. Matrices of whole numbers are not rounded at all where the noise is of any use:
the grid is 2^-40 of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.engines.query import LARGEST_CODE
from lownoise.errors import PlanError
from lownoise.noise.covering import covering
from lownoise.noise.gaussian import grid_steps
from lownoise.noise.size import check_rows
from lownoise.numbers.arrays import frozen
from lownoise.privacy import GaussianEvent
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.coordinates import Coordinates
from lownoise.sets.bodies import PointDifferences, SymmetricPoints, TranslatedPoints
from lownoise.sets.frames import find_frame

if TYPE_CHECKING:
    from lownoise.engines.histogram import Histogram
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions import Queries
    from lownoise.sensitivity.factors import AbstractShape

_OFF = 1e-9  # of what a query's greatest number is: how far its pivots may be from saying it


def query_coordinates(question: Queries, relation: str) -> Coordinates:
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
    start = columns[0] if relation == "substitute" else np.zeros(question.count)
    body = TranslatedPoints(columns) if relation == "substitute" else SymmetricPoints(columns)
    frame = find_frame(body, None)
    embed = None if frame.embed is None else frozen(frame.embed.T.copy())
    return Coordinates(pivots=frame.pivots, embed=embed, start=frozen(start.copy()))


def queries_follow(question: Queries, chosen: Coordinates) -> bool:
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
    question: Queries, relation: str, chosen: Coordinates
) -> SymmetricPoints | PointDifferences:
    """Return the body of all changes that one neighbour makes to the summed queries."""
    kept = frozen(np.ascontiguousarray(question.matrix[chosen.pivots].T))
    return PointDifferences(kept) if relation == "substitute" else SymmetricPoints(kept)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class QueryGrid:
    """How records become integers.

    Args:
        question: the queries and the records.
        relation: "substitute" or "add_remove".
        coordinates: which r queries are summed, and how all follow.
        step: the unit of each summed query's integers, powers of two, shape (r,).

    Raises:
        PlanError: where a code exceeds 2^52.
    """

    question: Queries
    relation: str
    coordinates: Coordinates
    step: Vector

    def __post_init__(self) -> None:
        with np.errstate(all="ignore"):
            fits = np.all(np.abs(self._about) * (1 / self.step) <= LARGEST_CODE)
        if not fits:
            raise PlanError("step is too fine for the matrix; use a coarser grid")

    @property
    def _about(self) -> Vector:
        """What each record adds to the summed queries, less what the start adds, shape (N, r)."""
        pivots = self.coordinates.pivots
        return np.asarray(self.question.matrix[pivots].T - self.coordinates.start[pivots])

    @cached_property
    def codes(self) -> Integers:
        """The integers of each record, shape (N, r)."""
        return np.floor(self._about * (1 / self.step) + 0.5).astype(np.int64)

    @cached_property
    def reach(self) -> SymmetricPoints | PointDifferences:
        """The body of all changes that one neighbour makes to the integers."""
        # at most 2^52: exact, and so are their differences
        codes = frozen(np.unique(self.codes, axis=0).astype(np.float64))
        return PointDifferences(codes) if self.relation == "substitute" else SymmetricPoints(codes)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class QueryMechanism:
    """The release of linear queries on a grid.

    Args:
        grid: how records become integers.
        size: the public number of records, None under `add_remove`.
        noise: the noise of the integers, in their units.

    Raises:
        PlanError: where rows would be dropped from a table of public size.
    """

    grid: QueryGrid
    size: int | None
    noise: AbstractShape

    def __post_init__(self) -> None:
        if self.size is not None and self.grid.question.drops:
            raise PlanError("dropping rows would change the public size; use a stand-in")

    @property
    def question(self) -> Queries:
        """The queries and the records."""
        return self.grid.question

    @property
    def relation(self) -> str:
        """What a neighbour is."""
        return self.grid.relation

    @cached_property
    def event(self) -> GaussianEvent:
        """What one run reveals, from the final integers and the final noise alone."""
        return GaussianEvent(self.grid.reach.radius_up(self.noise))

    def check(self, count: int) -> None:
        """Refuse a table that the promise does not cover.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        check_rows(self.size, count)

    def run(self, records: Histogram, *, randomness: Randomness) -> tuple[int, ...]:
        """Return the noisy integers: the release itself.

        Raises:
            EngineError: as `check`.
        """
        self.check(records.count)
        noise = rounded_gaussian(self.noise, randomness=randomness).tolist()
        return tuple(t + z for t, z in zip(records.totals(self.grid.codes), noise, strict=True))

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return int(self.grid.step.size)

    def answers(self, integers: tuple[int, ...]) -> Vector:
        """Return the released answers, shape (m,).

        Float arithmetic on what is already public. A query that follows from others does so for
        each record within 1e-9 of its own numbers, and as a rule within their last digits.
        """
        summed = np.array([float(k) for k in integers]) * self.grid.step
        chosen = self.grid.coordinates
        about = summed if chosen.embed is None else chosen.embed @ summed
        return frozen(np.asarray(about + (self.size or 0) * chosen.start))

    @cached_property
    def answer_noise(self) -> AbstractShape:
        """The noise of the answers, in their units."""
        own, embed = self.noise.scaled(self.grid.step), self.grid.coordinates.embed
        return own if embed is None else own.mapped(embed)


def query_mechanism(
    question: Queries,
    relation: str,
    size: int | None,
    shape: AbstractShape,
    parameter: float,
    chosen: Coordinates,
) -> QueryMechanism:
    """Return the mechanism whose noise has `shape`, scaled to reveal at most `parameter` = μ.

    Args:
        question: the queries and the records.
        relation: "substitute" or "add_remove".
        size: the public number of records, None under `add_remove`.
        shape: noise of the summed queries that roughly covers their changes with radius 1.
        parameter: μ > 0.
        chosen: the queries that are summed.

    Raises:
        PlanError: where the shape has no noise in a direction that needs some.
    """
    reach = query_body(question, relation, chosen).widths()
    least, most = shape.spread()
    step = frozen(grid_steps(least / parameter, most / parameter, reach, reach, size, parameter))
    noise = shape.scaled(1 / parameter / step)
    grid = QueryGrid(question=question, relation=relation, coordinates=chosen, step=step)

    def scaled(factor: float) -> QueryMechanism:
        return QueryMechanism(grid=grid, size=size, noise=noise.scaled(factor))

    return covering(scaled, parameter)
