# SPDX-License-Identifier: Apache-2.0
"""Vertices of a body that a program knows: those that it has found so far.

The program is asked once for what sticks out farthest of the ellipsoid at hand, which gives both
the bound and a vertex; and then for what is extreme along the outer normals at the vertices known
so far, because going there never loses.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import OracleDual
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.factors import DenseShape
from lownoise.sets.bodies import (
    BallMomentSet,
    LiftedOracle,
    MomentSet,
    OracleBody,
    OracleDifferences,
)
from lownoise.sets.frames import find_frame
from lownoise.solvers.ball_moments import ball_solution
from lownoise.solvers.generation import generate
from lownoise.solvers.moments import moment_solution
from lownoise.solvers.newton import Problem
from lownoise.solvers.pricing import AbstractVertices, Priced
from lownoise.solvers.solution import FLOOR_SHARE, INTERRUPTED, SOLVED, STUCK, Solution, unit_of

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import AbstractOracleBody
    from lownoise.sets.frames import Frame
    from lownoise.solvers.solution import Asked

_BEYOND = 1e-12
_ROUGH = 1e-2
_TOGETHER = 8  # directions for each dimension
_NEARLY = 1e-5  # how far beyond vertices may be where it is asked for a good bound
_LOOSE = (
    "solved: the least that the oracle's upper bounds prove; tighter ones, or `differences` where "
    "it has none, make the gap smaller"
)


def oracle_solution(body: AbstractOracleBody, asked: Asked) -> Solution:
    """Return the least ellipsoid around a body that a program knows."""
    if isinstance(body.program, BallMomentSet) and asked.queries is None:
        if not isinstance(body, OracleBody):
            return ball_solution(body, asked)
    elif isinstance(body.program, MomentSet) and asked.queries is None:
        apart = isinstance(body, OracleDifferences)
        if apart or (isinstance(body, LiftedOracle) and not body.program.searched):
            return moment_solution(body, asked)
    frame = find_frame(body, asked.queries, in_order=asked.in_order)
    if not frame.rank:
        ones = frozen(np.ones(asked.weights.size))
        return asked.nothing(body, frame, OracleDual(body.seeds[:1], frozen(np.ones(1)), ones))
    best = _found(body, asked, frame, 1.0)
    certificate = best.claim.proved
    loose = isinstance(body, OracleDifferences) and not body.program.bounds_differences
    if loose and certificate.gap > asked.rtol and best.status != INTERRUPTED:
        # twice the least ellipsoid around the set itself may be proved to be smaller
        try:
            twice = _found(OracleBody(body.program, body.pivots, body.step), asked, frame, 2.0)
            other = replace(best.claim, shape=twice.claim.shape)
            if other.proved.upper < certificate.upper:
                best = Solution(other, twice.status, best.iterations + twice.iterations)
                certificate = other.proved
        except KeyboardInterrupt:
            best = replace(best, status=INTERRUPTED)
    stuck = best.status in (SOLVED, STUCK)
    return replace(best, status=_LOOSE) if stuck and certificate.gap > asked.rtol else best


def _found(part: AbstractOracleBody, asked: Asked, frame: Frame, times: float) -> Solution:
    """Return the least ellipsoid around a body, its axes multiplied."""
    vertices, rows = OracleVertices(part, frame), asked.seen(frame)
    unit = unit_of(vertices.rows, frame.down(part.base_point[None])[0], rows)
    floor, heard = asked.rtol * FLOOR_SHARE, asked.heard(unit * times)
    problem = Problem(queries=rows / unit, order=asked.order, moves=part.moves, floor=floor)
    outcome = generate(problem, vertices, rtol=asked.rtol, progress=heard)
    points = vertices.evidence[outcome.indices]
    dual = OracleDual(frozen(points), frozen(outcome.weights), frozen(outcome.query_weights))
    center = None
    if part.moves:
        center = outcome.cover_weights @ part.vertices(vertices.evidence[outcome.cover_indices])
    claim = asked.claim(part, frame, DenseShape(times * outcome.factor), dual, center)
    return Solution(claim, outcome.status, outcome.iterations)


@final
class OracleVertices(AbstractVertices):
    """Vertices as they are found.

    Args:
        body: the body.
        frame: the coordinates that it is solved in.
        moves: whether the ellipsoid may choose its center.
    """

    def __init__(self, body: AbstractOracleBody, frame: Frame) -> None:
        self._body = body
        self._frame = frame
        self._map = frame.map_down()
        self._up = frame.up()
        self.evidence = body.seeds
        self.rows = frame.down(body.vertices(self.evidence))
        if body.searched and body.program.effort < math.inf:
            inverse = np.linalg.pinv(self.rows - self.rows.mean(axis=0)).T
            random = np.random.default_rng(0)  # where to look: nothing that is released
            turned = random.standard_normal((_TOGETHER * self.dimension, len(self.rows)))
            self._add(body.extreme(turned @ inverse @ self._map))

    @property
    def dimension(self) -> int:
        """The number of coordinates r."""
        return self._frame.rank

    def first(self, wanted: int) -> Integers:
        """Return the vertices that span the body."""
        return np.arange(len(self.rows))

    def gather(self, indices: Integers) -> Vector:
        """Return those vertices."""
        return np.asarray(self.rows[indices])

    def price(self, inverse: Vector, mean: Vector, beyond: float, wanted: int) -> Priced:
        """Return vertices that stick out: the program's farthest, and those along the normals."""
        start = self._body.base_point
        center = start + self._up @ (mean - self._map @ start)
        farthest = self._body.farthest(inverse @ self._map, center, near=_ROUGH)
        self._add(farthest.points)
        lengths = self._lengths(inverse, mean)
        # many directions take hardly longer than one where each is a search
        most = _TOGETHER * self.dimension if self._body.searched else self.dimension
        outer = self.rows[np.argsort(-lengths)[:most]] - mean
        self._add(self._body.extreme(outer @ inverse.T @ inverse @ self._map))
        lengths = self._lengths(inverse, mean)
        out = np.flatnonzero(lengths > beyond * (1 + _BEYOND))
        near = np.max(lengths) <= beyond * (1 + _NEARLY)
        if near:  # this may be the end: the bound has to be good
            farthest = self._body.farthest(inverse @ self._map, center)
            self._add(farthest.points)
            lengths = self._lengths(inverse, mean)
            out = np.flatnonzero(lengths > beyond * (1 + _BEYOND))
        out = out[np.argsort(-lengths[out])][:wanted]
        longest = float(np.max(lengths))
        # what is known before the good look says nothing of how far vertices explain the bound
        explained = longest if near or not self._body.searched else None
        return Priced(max(farthest.upper, longest), out, explained)

    def _lengths(self, inverse: Vector, mean: Vector) -> Vector:
        return np.asarray(np.linalg.norm((self.rows - mean) @ inverse.T, axis=1))

    def _add(self, evidence: Vector) -> None:
        """Take vertices in that are new; of a symmetric body one of each pair of opposites."""
        rows = self._frame.down(self._body.vertices(evidence))
        for own, row in zip(evidence, rows, strict=True):
            same = np.any(np.all(self.rows == row, axis=1))
            opposite = not self._body.moves and np.any(np.all(self.rows == -row, axis=1))
            if not (same or opposite):
                self.evidence = np.concatenate([self.evidence, own[None]])
                self.rows = np.vstack([self.rows, row])
