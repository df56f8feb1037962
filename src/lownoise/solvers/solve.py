# SPDX-License-Identifier: Apache-2.0
"""One verb for every body: the kind of body chooses the method."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate import (
    Claim,
    OracleDual,
    PointDual,
    SectionDual,
)
from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, triangle_of
from lownoise.sensitivity.factors import DenseShape, DiagonalShape
from lownoise.sensitivity.frames import find_frame
from lownoise.sets.bodies import (
    AbstractOracleBody,
    AbstractPointBody,
    ImageBody,
    OracleBody,
    OracleDifferences,
    PointDifferences,
    SectionBody,
    SymmetricBox,
    TensorBall,
    TensorChanges,
)
from lownoise.solvers.box import least_shape
from lownoise.solvers.generation import INTERRUPTED, SOLVED, STUCK, Progress, generate
from lownoise.solvers.growing import MANY, generate_growing
from lownoise.solvers.image_solution import image_solution
from lownoise.solvers.newton import Problem
from lownoise.solvers.oracle import OracleVertices
from lownoise.solvers.pricing import PairVertices, PointVertices, distinct
from lownoise.solvers.section import far_changes, least_section
from lownoise.solvers.solution import NO_WIDTH, RTOL, Solution, honest, in_unit, nothing
from lownoise.solvers.tensor_ball import rotated
from lownoise.solvers.tensor_changes import tensor_solution
from lownoise.solvers.uniform import equal_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector

_LOOSE = (
    "solved: the least that the oracle's upper bounds prove; tighter ones, or `differences` where "
    "it has none, make the gap smaller"
)
_FAINT = 1e-5
_FLOOR_SHARE = 0.1  # of rtol: what the floor under query weights may cost


@singledispatch
def solve(
    body: object,
    *,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    rtol: float = RTOL,
    progress: Callable[[Progress], None] | None = None,
    in_order: bool = False,
) -> Solution:
    """Return the ellipsoid M ⊇ body with the least √tr_{p/2}(ωLMLᵀω).

    Args:
        body: the body S, d coordinates.
        order: p in [2, ∞].
        weights: ω > 0 on the answers, shape (m,).
        queries: L, shape (m, d); None for the identity.
        rtol: the relative gap to reach.
        progress: called after every step.
        in_order: where the body is flat, keep its first independent coordinates.

    Raises:
        PlanError: where no solver knows this kind of body.

    Examples:
        >>> square = SymmetricBox(np.array([1.0, 4.0]))
        >>> solve(square, order=2.0, weights=np.ones(2)).claim.shape.diagonal()
        array([ 5., 20.])
    """
    raise PlanError(f"body={type(body).__name__} has no solver; use ln.Box or ln.Points")


@solve.register(SymmetricBox)
def _(
    body: SymmetricBox,
    *,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    rtol: float = RTOL,
    progress: Callable[[Progress], None] | None = None,
    in_order: bool = False,
) -> Solution:
    if queries is not None:
        raise PlanError("queries of a box have no closed form; give its corners as ln.Points")
    shape, dual = least_shape(body, order, weights)
    claim = Claim(
        body=body,
        order=order,
        queries=None,
        weights=weights,
        frame=None,
        shape=shape,
        center=frozen(np.zeros(body.dimension)),
        dual=dual,
    )
    return Solution(claim, "solved: closed form", 0)


@solve.register(AbstractPointBody)
def _(
    body: AbstractPointBody,
    *,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    rtol: float = RTOL,
    progress: Callable[[Progress], None] | None = None,
    in_order: bool = False,
) -> Solution:
    frame = find_frame(body, queries, in_order=in_order)
    if not frame.rank:
        none = np.zeros((1, 2) if isinstance(body, PointDifferences) else 1, dtype=np.int64)
        dual = PointDual(none, frozen(np.ones(1)), frozen(np.ones(weights.size)))
        return Solution(nothing(body, order, weights, queries, frame, dual), NO_WIDTH, 0)
    coordinates = frame.down(body.points)
    seen = frame.seen(queries)
    asked = weights if seen is None else weights[:, None] * seen
    unit = _unit(coordinates, frame.down(body.directions[None])[0], asked)
    kept = distinct(coordinates)
    if kept.size < len(coordinates):
        coordinates = coordinates[kept]
    if isinstance(body, PointDifferences):
        vertices: PairVertices | PointVertices = PairVertices(coordinates)
    else:
        vertices = PointVertices(coordinates, moves=body.moves)
    problem = Problem(
        queries=asked / unit,
        order=order,
        moves=body.moves,
        floor=rtol * _FLOOR_SHARE,
    )
    pairs = isinstance(body, PointDifferences)
    outcome = equal_weights(problem, coordinates, pairs=pairs, rtol=rtol)
    independent = pairs and outcome is not None
    if outcome is None and pairs and len(coordinates) > MANY:
        outcome = generate_growing(
            problem, coordinates, rtol=rtol, progress=in_unit(progress, unit)
        )
    if outcome is None:
        outcome = generate(problem, vertices, rtol=rtol, progress=in_unit(progress, unit))
    center = np.zeros(body.dimension)
    if body.moves:
        center = outcome.cover_weights @ body.vertices(kept[outcome.cover_indices])
    claim = Claim(
        body=body,
        order=order,
        queries=queries,
        weights=weights,
        frame=frame,
        shape=DenseShape(outcome.factor),
        center=frozen(center),
        dual=PointDual(
            kept[outcome.indices],
            frozen(outcome.weights),
            frozen(outcome.query_weights),
            independent,
        ),
    )
    return Solution(claim, outcome.status, outcome.iterations)


@solve.register(AbstractOracleBody)
def _(
    body: AbstractOracleBody,
    *,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    rtol: float = RTOL,
    progress: Callable[[Progress], None] | None = None,
    in_order: bool = False,
) -> Solution:
    frame = find_frame(body, queries, in_order=in_order)
    if not frame.rank:
        ones = frozen(np.ones(weights.size))
        still = OracleDual(body.seeds[:1], frozen(np.ones(1)), ones)
        return Solution(nothing(body, order, weights, queries, frame, still), NO_WIDTH, 0)
    seen = frame.seen(queries)
    asked = weights if seen is None else weights[:, None] * seen

    def found(part: AbstractOracleBody, times: float) -> Solution:
        vertices = OracleVertices(part, frame)
        start = frame.down(part.directions[None])[0]
        unit = _unit(vertices.rows, start, asked)
        problem = Problem(
            queries=asked / unit,
            order=order,
            moves=part.moves,
            floor=rtol * _FLOOR_SHARE,
        )
        heard = in_unit(progress, unit * times)
        outcome = generate(problem, vertices, rtol=rtol, progress=heard)
        points = vertices.evidence[outcome.indices]
        claim = Claim(
            body=part,
            order=order,
            queries=queries,
            weights=weights,
            frame=frame,
            shape=DenseShape(times * outcome.factor),
            center=frozen(np.zeros(body.dimension)),
            dual=OracleDual(frozen(points), frozen(outcome.weights), frozen(outcome.query_weights)),
        )
        if part.moves:
            around = part.vertices(vertices.evidence[outcome.cover_indices])
            claim = replace(claim, center=frozen(outcome.cover_weights @ around))
        return Solution(claim, outcome.status, outcome.iterations)

    best = found(body, 1.0)
    certificate = best.claim.certificate()
    loose = isinstance(body, OracleDifferences) and not body.program.tells_differences
    if loose and certificate.gap > rtol and best.status != INTERRUPTED:
        # twice the least ellipsoid around the set itself may be proved to be smaller
        try:
            twice = found(OracleBody(body.program, body.pivots, body.step), 2.0)
            other = replace(best.claim, shape=twice.claim.shape)
            if other.certificate().upper < certificate.upper:
                best = Solution(other, twice.status, best.iterations + twice.iterations)
                certificate = other.certificate()
        except KeyboardInterrupt:
            best = replace(best, status=INTERRUPTED)
    stuck = best.status in (SOLVED, STUCK)
    return replace(best, status=_LOOSE) if stuck and certificate.gap > rtol else best


solve.register(ImageBody)(image_solution)
solve.register(TensorChanges)(tensor_solution)


@solve.register(SectionBody)
def _(
    body: SectionBody,
    *,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    rtol: float = RTOL,
    progress: Callable[[Progress], None] | None = None,
    in_order: bool = False,
) -> Solution:
    asked = np.diag(weights) if queries is None else weights[:, None] * queries
    frame = find_frame(body, queries, in_order=in_order)
    if not frame.rank:
        still = frozen(np.zeros((1, body.width_of_points)))
        none = SectionDual(still, frozen(np.ones(1)), frozen(np.ones(weights.size)))
        return Solution(nothing(body, order, weights, queries, frame, none), NO_WIDTH, 0)
    unit = float(np.max(np.abs(asked) * body.far))
    heard = in_unit(progress, unit)
    # where queries do not see all, the rest must stay bounded: it is asked about a little
    sight = asked if frame.view is None else np.vstack([asked, np.diag(_FAINT * unit / body.far)])
    found = least_section(body, sight, order, rtol=rtol, progress=heard)
    root = np.linalg.inv(np.linalg.cholesky(found.precision)).T
    view = root if frame.exact else frame.down(root.T).T
    claim = Claim(
        body=body.hinted(found.hint),
        order=order,
        queries=queries,
        weights=weights,
        frame=frame,
        shape=DenseShape(_triangle(view)),
        center=frozen(found.center),
        dual=SectionDual(
            frozen(np.zeros((1, body.width_of_points))),
            frozen(np.ones(1)),
            frozen(np.ones(len(asked))),
        ),
    )
    try:
        points = far_changes(body, sight, order, rtol, found.precision)
    except KeyboardInterrupt:
        points = None
    if points is not None:
        c = points.query_weights[: len(asked)]
        claim = replace(claim, dual=replace(points, query_weights=frozen(c.copy())))
    return Solution(claim, honest(found.status, claim, rtol), found.steps)


@solve.register(TensorBall)
def _(
    body: TensorBall,
    *,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    rtol: float = RTOL,
    progress: Callable[[Progress], None] | None = None,
    in_order: bool = False,
) -> Solution:
    if queries is not None or np.ptp(weights) > 0:
        raise PlanError(
            "workload or weights on tensors of a ball have no solver; leave them out, or list "
            "tensors as ln.Points",
        )
    one = frozen(weights[:1].copy())
    unit = body.value * float(one[0])
    found = rotated(body, order, rtol, in_unit(progress, unit))
    claims = [
        Claim(
            body=body,
            order=order,
            queries=None,
            weights=one,
            frame=None,
            shape=DiagonalShape(found.deviations),
            center=frozen(np.zeros(body.dimension)),
            dual=dual,
        )
        for dual in found.duals
    ]
    claim = max(claims, key=lambda each: each.certificate().lower)
    return Solution(claim, honest(found.status, claim, rtol), found.rounds)


def _triangle(factor: Vector) -> Vector:
    """Return a lower triangle with the same product with its transpose."""
    found = triangle_of(factor.T).T
    return np.asarray(np.where(np.diag(found) < 0, -1.0, 1.0) * found)


def _unit(points: Vector, start: Vector, asked: Vector) -> float:
    """Return a power of two near the size of the greatest answer, so that nothing overflows."""
    extent = np.maximum(np.max(points, axis=0) - start, start - np.min(points, axis=0))
    size = np.abs(asked) if asked.ndim == 1 else np.max(np.abs(asked), axis=0)
    return math.ldexp(1.0, math.frexp(float(np.max(extent * size)))[1])
