# SPDX-License-Identifier: Apache-2.0
"""The least ellipsoid around listed points or their differences.

Equal weights on everything are at once optimal for the most symmetrical bodies.

Where all points are alike (one-hot rows, corners of a box, vertices of a cross-polytope) the
optimum may need as many vertices as there are pairs of axes, or more, and generating them one
short list after another would take for ever. Equal weights on all points, or on all pairs of them,
are then optimal (by convexity, averaged over the symmetries), and one evaluation proves it.
Elsewhere the same evaluation shows that they are not, and is thrown away. Where it shows vertices
of few kinds (one-hot rows without their last column, whose differences are eᵢ and eᵢ − eⱼ), weights
that grow by the square of how far their vertices stick out stay alike within a kind, and are at the
optimum after some ten steps (ours; the bounds of the last step prove it, whatever the kinds are).

The least ellipsoid around the differences of many points: on a growing part of the points.

Weights on pairs of a part are weights on pairs of all, so every lower bound for a part is one for
all points. An ellipsoid of a part is scaled until it covers all pairs, and the points that stick
out farthest join the part. While many stick out, a pass over the pairs stops when it has seen
enough of them; only the last few passes are over all pairs, and these look again only at points
that were near the farthest before. The search itself looks at the pairs of the part alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import PointDual
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.factors import DenseShape
from lownoise.sets.bodies import PointDifferences
from lownoise.sets.frames import find_frame
from lownoise.sets.pairs import farthest_pairs
from lownoise.solvers.fidelity import fidelity
from lownoise.solvers.generation import Outcome, generate
from lownoise.solvers.newton import Problem, objective
from lownoise.solvers.pricing import PairVertices, PointVertices, carried, distinct
from lownoise.solvers.solution import (
    FLOOR_SHARE,
    INTERRUPTED,
    RTOL,
    SOLVED,
    STUCK,
    Progress,
    Sides,
    Solution,
    unit_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import AbstractPointBody
    from lownoise.sets.pairs import Pairs
    from lownoise.solvers.solution import Asked

_MOST = 20_000_000  # numbers in the points
_ALIKE = 1e-9
_STEPS = 100
_KINDS = 8  # of vertices, by how far they stick out under equal weights
_MORE = 3  # times the steps that a rough gap took
_ENOUGH_ALIKE = 100  # vertices from which on kinds are looked for
_RESOLVED = 1e6  # a ratio of axes that a certificate takes
_CROSS = 1e-4  # of how far all points reach together along an axis
_OF_CROSS = 0.3  # of the gap asked for
_MOST_ALIKE = 5_000_000  # numbers in these vertices
MANY = 8000  # points from which on a part pays
_START = 2000  # points of the first part
_JOIN = 3000  # pairs whose points join it in a round, at most
_ENOUGH = 6000  # points that stick out: then a pass over all pairs can wait
_NEAR = 0.99  # of the farthest: points that may be the next to stick out
_ROUNDS = 60
_GRAIN = 1e-9
_FIRST, _INNER, _LAST = 0.02, 0.03, 0.25  # how far a part is solved before the next pass


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
    if outcome is None:
        outcome = kinds_of_weights(problem, coordinates, pairs=pairs, rtol=asked.rtol)
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
    done = outcome.status in (SOLVED, STUCK) and not pairs and not body.moves
    if done and _flat(outcome.factor) and claim.proved.gap > asked.rtol:
        other = beside_a_cross(problem, coordinates, rtol=asked.rtol)
        dual = PointDual(
            kept[other.indices], frozen(other.weights), frozen(other.query_weights), independent
        )
        least = asked.claim(body, frame, DenseShape(other.factor), dual, center)
        if (gap := least.proved.gap) < claim.proved.gap:
            steps = outcome.iterations + other.iterations
            return Solution(least, SOLVED if gap <= asked.rtol else other.status, steps)
    return Solution(claim, outcome.status, outcome.iterations)


def _flat(factor: Vector) -> bool:
    """Return whether floats resolve an ellipsoid badly, whatever the units of its coordinates."""
    rows = np.linalg.norm(factor, axis=1)
    return not np.linalg.cond(factor / np.where(rows > 0, rows, 1.0)[:, None]) < _RESOLVED


def beside_a_cross(problem: Problem, points: Vector, *, rtol: float) -> Outcome:
    """Return the least around points and a small cross, with weights on the points alone.

    Γ of both is at most the sum of each, and floats resolve both where the points alone are so
    flat in some directions that they resolve no more. Arguments as above.
    """
    cross = np.diag(_CROSS * np.linalg.norm(points, axis=0))
    both = PointVertices(np.vstack([points, cross]), moves=False)
    found = generate(problem, both, rtol=rtol * _OF_CROSS)
    own = found.indices < len(points)
    weights = found.weights[own] / np.sum(found.weights[own])
    return replace(found, indices=found.indices[own], weights=weights)


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


def kinds_of_weights(
    problem: Problem, points: Vector, *, pairs: bool, rtol: float
) -> Outcome | None:
    """Return the optimum where many vertices are of few kinds; else None. Arguments as above.

    Where a rough gap is asked for, steps go on to the usual one, as long as thrice those that it
    took: they are short, and what else would be found proves as much.
    """
    count, r = points.shape
    many = count * (count - 1) // 2 if pairs else count
    if many < _ENOUGH_ALIKE or many * r > _MOST_ALIKE:
        return None
    indices = np.stack(np.triu_indices(count, 1), axis=1) if pairs else np.arange(count)
    vertices = points[indices[:, 0]] - points[indices[:, 1]] if pairs else points
    moves, e = problem.moves and not pairs, problem.exponent
    weights = np.full(many, 1.0 / many)
    c = np.ones(problem.count) if e == 0 else np.full(problem.count, problem.count**-e)
    found, within, last, steps = None, rtol, _STEPS, 0
    while steps < last:
        steps += 1
        state = fidelity(vertices, weights, problem.queries, c, moves=moves)
        lengths, variances = state.stretches(), state.variances()
        if steps == 1 and 1 + np.sum(np.diff(np.sort(lengths)) > _ALIKE * state.value) > _KINDS:
            return None
        norm = 1.0 if e == 0 else float(np.sum(c ** (1 / e))) ** e
        lower = state.value / math.sqrt(norm)
        radius = math.sqrt(float(np.max(lengths)))
        upper = objective(variances, problem.order) * radius
        if upper <= lower * (1 + within):
            found = Outcome(
                factor=state.factor() * radius,
                indices=indices,
                cover_indices=indices,
                weights=weights,
                cover_weights=weights,
                lower=lower,
                upper=upper,
                status=SOLVED,
                iterations=steps,
                query_weights=c,
            )
            within = upper / lower - 1
            last = steps if within <= RTOL else min(last, _MORE * steps)
        weights = weights * np.square(lengths)
        weights /= np.sum(weights)
        if e > 0:
            c = (c * variances**2) ** (e / (2 - e))
            c /= np.max(c)
    return found


@final
@dataclass(frozen=True, eq=False)
class _Distances:
    """What a pass told of the distances of each point, under the map `inverse`."""

    bounds: Vector
    inverse: Vector


def generate_growing(
    problem: Problem,
    points: Vector,
    *,
    rtol: float,
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Return the least ellipsoid around all differences, to a relative gap of `rtol`.

    Args:
        problem: queries and order.
        points: shape (n, r), all different, n large.
        rtol: above 0.
        progress: called after every step, with bounds that hold for all pairs; an interrupt ends
            the search with the best that was found.
    """
    part = PairVertices(points).scattered(_START)
    sides: Sides[Outcome, Outcome] = Sides(rtol, progress)
    inner, complete, status = _FIRST, False, STUCK
    earlier: _Distances | None = None
    for _ in range(_ROUNDS):
        heard = _heard(progress, sides.steps, sides.lower, sides.upper)
        found = _of_all(
            generate(problem, PairVertices(points[part]), rtol=inner, progress=heard), part
        )
        sides.steps += found.iterations
        sides.prove(found.lower, found)
        try:
            far, earlier = _pass(points, found, earlier, complete=complete)
        except KeyboardInterrupt:
            if sides.noise is None:
                around = _scaled(found, _round_extent(points, found))
                sides.cover(around.upper, around)
            status = INTERRUPTED
            break
        covering = _scaled(found, far.longest)
        sides.cover(covering.upper, covering)
        if found.status == INTERRUPTED or sides.met:
            status = INTERRUPTED if found.status == INTERRUPTED else SOLVED
            break
        joined = np.union1d(part, np.concatenate([far.first[:_JOIN], far.second[:_JOIN]]))
        if joined.size == part.size and complete and inner <= rtol * _LAST:
            break
        part = joined
        complete = complete or far.first.size < _ENOUGH
        ahead = found.upper * float(np.max(far.distances, initial=1.0)) / sides.lower - 1
        inner = rtol * _LAST if complete else max(rtol * _LAST, min(_FIRST, ahead * _INNER))
    assert sides.noise is not None  # noqa: S101 (there is a first round)
    assert sides.dual is not None  # noqa: S101 (likewise)
    return replace(
        sides.noise,
        indices=sides.dual.indices,
        weights=sides.dual.weights,
        query_weights=sides.dual.query_weights,
        lower=sides.lower,
        iterations=sides.steps,
        status=status,
    )


def _pass(
    points: Vector, found: Outcome, earlier: _Distances | None, *, complete: bool
) -> tuple[Pairs, _Distances]:
    """Return pairs that an ellipsoid does not cover; where `complete`, all near its edge."""
    inverse = _inverse(found)
    far = farthest_pairs(
        _image(points, inverse),
        beyond=_NEAR if complete else 1.0,
        enough=len(points) + 1 if complete else _ENOUGH,
        bounds=None if earlier is None else carried(earlier.bounds, earlier.inverse, inverse),
    )
    return far, _Distances(far.bounds, inverse)


def _inverse(found: Outcome) -> Vector:
    return np.asarray(np.linalg.inv(found.factor), dtype=np.float64)


def _image(points: Vector, inverse: Vector) -> Vector:
    middle = points[0] + np.mean(points - points[0], axis=0)
    return np.asarray((points - middle) @ inverse.T)


def _round_extent(points: Vector, found: Outcome) -> float:
    """Return what no difference exceeds, without a look at pairs."""
    image = _image(points, _inverse(found))
    return 2 * float(np.max(np.linalg.norm(image, axis=1))) * (1 + _GRAIN)


def _scaled(found: Outcome, times: float) -> Outcome:
    return replace(found, factor=found.factor * times, upper=found.upper * times)


def _of_all(found: Outcome, part: Integers) -> Outcome:
    """Return the outcome of a part with the places of its points among all."""
    return replace(found, indices=part[found.indices], cover_indices=part[found.cover_indices])


def _heard(
    progress: Callable[[Progress], None] | None, steps: int, lower: float, upper: float
) -> Callable[[Progress], None] | None:
    """Return what tells of the steps on a part: its lower bounds hold for all, its upper do not."""
    if progress is None:
        return None

    def report(own: Progress) -> None:
        progress(Progress(steps + own.iteration, max(lower, own.lower), upper))

    return report
