# SPDX-License-Identifier: Apache-2.0
"""The least ellipsoid around listed points or their differences.

Equal weights on everything are at once optimal for the most symmetrical bodies.

Where all points are alike (one-hot rows, corners of a box, vertices of a cross-polytope) the
optimum may need as many vertices as there are pairs of axes, or more, and generating them one
short list after another would take for ever. Equal weights on all points, or on all pairs of them,
are then optimal (by convexity, averaged over the symmetries), and one evaluation proves it.
Elsewhere the same evaluation shows that they are not, and is thrown away.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate import PointDual
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.factors import DenseShape
from lownoise.sets.bodies import PointDifferences
from lownoise.sets.frames import find_frame
from lownoise.sets.pairs import farthest_pairs
from lownoise.solvers.fidelity import fidelity
from lownoise.solvers.generation import Outcome, generate
from lownoise.solvers.growing import MANY, generate_growing
from lownoise.solvers.newton import Problem, objective
from lownoise.solvers.pricing import PairVertices, PointVertices, distinct
from lownoise.solvers.solution import FLOOR_SHARE, Solution, unit_of

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies import AbstractPointBody
    from lownoise.solvers.solution import Asked

_MOST = 20_000_000  # numbers in the points
_ALIKE = 1e-9
_STEPS = 100


def point_solution(body: AbstractPointBody, asked: Asked) -> Solution:
    """Return the least ellipsoid around points."""
    frame = find_frame(body, asked.queries, in_order=asked.in_order)
    pairs = isinstance(body, PointDifferences)
    if not frame.rank:
        none = np.zeros((1, 2) if pairs else 1, dtype=np.int64)
        dual = PointDual(none, frozen(np.ones(1)), frozen(np.ones(asked.weights.size)))
        return asked.nothing(body, frame, dual)
    coordinates, rows = frame.down(body.points), asked.seen(frame)
    unit = unit_of(coordinates, frame.down(body.base_point[None])[0], rows)
    kept = distinct(coordinates)
    if kept.size < len(coordinates):
        coordinates = coordinates[kept]
    floor, heard = asked.rtol * FLOOR_SHARE, asked.heard(unit)
    problem = Problem(queries=rows / unit, order=asked.order, moves=body.moves, floor=floor)
    outcome = equal_weights(problem, coordinates, pairs=pairs, rtol=asked.rtol)
    independent = pairs and outcome is not None
    if outcome is None and pairs and len(coordinates) > MANY:
        outcome = generate_growing(problem, coordinates, rtol=asked.rtol, progress=heard)
    if outcome is None:
        vertices = (
            PairVertices(coordinates) if pairs else PointVertices(coordinates, moves=body.moves)
        )
        outcome = generate(problem, vertices, rtol=asked.rtol, progress=heard)
    center = None
    if body.moves:
        center = outcome.cover_weights @ body.vertices(kept[outcome.cover_indices])
    dual = PointDual(
        kept[outcome.indices],
        frozen(outcome.weights),
        frozen(outcome.query_weights),
        independent,
    )
    claim = asked.claim(body, frame, DenseShape(outcome.factor), dual, center)
    return Solution(claim, outcome.status, outcome.iterations)


def equal_weights(
    problem: Problem,
    points: Vector,
    *,
    pairs: bool,
    rtol: float,
) -> Outcome | None:
    """Return the optimum where equal weights on all points, or pairs, are it; else None.

    Args:
        problem: queries and order.
        points: shape (N, r).
        pairs: whether the body is that of the differences.
        rtol: the relative gap to reach.
    """
    count = len(points)
    if points.size > _MOST or (pairs and count < 3):  # noqa: PLR2004
        return None
    moves = problem.moves or pairs
    equal = np.full(count, 1.0 / count)
    e = problem.exponent
    c = np.ones(problem.count) if e == 0 else np.full(problem.count, problem.count**-e)
    # a pair at random has twice the second moment of a point, and 1/N of the pairs are of length 0
    stretch = math.sqrt(2 * count / (count - 1)) if pairs else 1.0
    steps = 0
    while True:
        steps += 1
        state = fidelity(points, equal, problem.queries, c, moves=moves)
        lengths = state.stretches()
        if np.max(lengths) > np.min(lengths) * (1 + _ALIKE):
            return None
        variances = state.variances()
        size = objective(variances, problem.order)
        norm = 1.0 if e == 0 else float(np.sum(c ** (1 / e))) ** e
        lower = state.value * stretch / math.sqrt(norm)
        best = size * math.sqrt(float(np.max(lengths))) * stretch
        if best <= lower * (1 + rtol) or e == 0 or steps >= _STEPS:
            break
        # the exact maximiser of a minorant of F in c (ours)
        c = (c * variances**2) ** (e / (2 - e))
        c /= np.max(c)
    image = (points - state.mean) @ state.inverse_factor().T
    radius = farthest_pairs(image).longest if pairs else math.sqrt(float(np.max(lengths)))
    upper = size * radius
    if not upper <= lower * (1 + rtol):
        return None
    return Outcome(
        factor=state.factor() * radius,
        cover_indices=np.arange(count),
        cover_weights=equal,
        indices=np.arange(count),
        weights=equal,
        query_weights=c,
        lower=lower,
        upper=upper,
        iterations=steps,
        status="solved",
    )
