# SPDX-License-Identifier: Apache-2.0
"""One verb for every body: the kind of body chooses the method."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.arrays import frozen, triangle_of
from lownoise.bases import MixedBase, NormBase, ParityBase
from lownoise.bodies import (
    AbstractBody,
    AbstractOracleBody,
    AbstractPointBody,
    ImageBody,
    OracleBody,
    OracleDifferences,
    PointDifferences,
    SectionBody,
    SymmetricBox,
    TensorBall,
)
from lownoise.certificate import (
    Claim,
    OracleDual,
    PointDual,
    ProductDual,
    SectionDual,
    SquaresDual,
    order_norm,
)
from lownoise.errors import PlanError
from lownoise.frames import find_frame
from lownoise.shapes import DenseShape, DiagonalShape
from lownoise.solvers.ascent import far_points
from lownoise.solvers.box import least_shape
from lownoise.solvers.generation import INTERRUPTED, SOLVED, STUCK, Progress, generate
from lownoise.solvers.image import (
    Majorant,
    closed_majorant,
    covering_factor,
    diagonal_squares,
    folded,
    least_majorant,
)
from lownoise.solvers.newton import Problem
from lownoise.solvers.oracle import OracleVertices
from lownoise.solvers.pricing import PairVertices, PointVertices, distinct
from lownoise.solvers.section import far_changes, least_section
from lownoise.solvers.tensor_ball import rotated
from lownoise.solvers.uniform import equal_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.arrays import Vector
    from lownoise.bases import AbstractBase
    from lownoise.certificate import Dual
    from lownoise.frames import Frame
    from lownoise.shapes import AbstractShape

RTOL = 1e-6
NO_WIDTH = "solved: no width"
_NEAR = "solved: the least of the ellipsoids that can be proved to cover it; the gap says the rest"
_LOOSE = (
    "solved: the least that the oracle's upper bounds prove; tighter ones, or `differences` where "
    "it has none, make the gap smaller"
)
_NEARLY = 1e-4  # how near evidence first is: mostly ellipsoids that can be proved are farther
_WITHIN = 3.0
_MOST_TRIED = 25  # coordinates of a diagonal image whose far points are looked for
_FAINT = 1e-5
_FLOOR_SHARE = 0.1  # of rtol: what the floor under query weights may cost


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """An ellipsoid that covers a body, with the evidence that it is nearly least.

    Args:
        claim: the ellipsoid in the coordinates of its frame, and its evidence.
        status: how the search ended, and what helps where it ended early.
        iterations: the number of Newton steps.
    """

    claim: Claim
    status: str
    iterations: int


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
        return Solution(_nothing(body, order, weights, queries, frame, dual), NO_WIDTH, 0)
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
    kind = ProductDual if pairs and outcome is not None else PointDual
    if outcome is None:
        outcome = generate(problem, vertices, rtol=rtol, progress=_in_unit(progress, unit))
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
        dual=kind(
            kept[outcome.indices],
            frozen(outcome.weights),
            frozen(outcome.query_weights),
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
        return Solution(_nothing(body, order, weights, queries, frame, still), NO_WIDTH, 0)
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
        heard = _in_unit(progress, unit * times)
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


@solve.register(ImageBody)
def _(
    body: ImageBody,
    *,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    rtol: float = RTOL,
    progress: Callable[[Progress], None] | None = None,
    in_order: bool = False,
) -> Solution:
    if body.diagonal and queries is None:
        return _diagonal_image(body, order, weights, rtol, progress)
    frame = find_frame(body, queries, in_order=in_order)
    if not frame.rank:
        still = SquaresDual(frozen(np.zeros(body.base.dimension)), frozen(np.ones(weights.size)))
        return Solution(_nothing(body, order, weights, queries, frame, still), NO_WIDTH, 0)
    columns = frame.down(body.spanning)
    seen = frame.seen(queries)
    asked = np.diag(weights) if seen is None else weights[:, None] * seen
    images = asked @ columns.T
    unit = float(np.max(np.abs(images)))
    heard = _in_unit(progress, unit)
    own = folded(images / unit, order) if len(columns) == frame.rank else None
    if own is None:
        squared = np.square(images / unit)
        found = least_majorant(squared, body.base, order, rtol=rtol, progress=heard)
    else:
        size, shares = own
        found = _separate(size, body.base, order, rtol, heard)
        found = replace(found, query_weights=frozen(shares @ found.query_weights))
    shape = DenseShape(covering_factor(columns, found))
    claim = _image_claim(body, order, queries, weights, frame, shape, found)
    if claim.certificate().gap > rtol:
        claim = _tight(_better_proved(claim, columns, asked, unit, rtol), asked)
    return Solution(claim, _honest(found.status, claim, rtol), found.rounds)


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
        return Solution(_nothing(body, order, weights, queries, frame, none), NO_WIDTH, 0)
    unit = float(np.max(np.abs(asked) * body.far))
    heard = _in_unit(progress, unit)
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
    return Solution(claim, _honest(found.status, claim, rtol), found.steps)


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
    found = rotated(body, order, rtol, _in_unit(progress, unit))
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
    return Solution(claim, _honest(found.status, claim, rtol), found.rounds)


def _diagonal_image(
    body: ImageBody,
    order: float,
    weights: Vector,
    rtol: float,
    progress: Callable[[Progress], None] | None,
) -> Solution:
    """Return the best ellipsoid along the coordinates; nothing of d × d is formed."""
    size = weights * np.abs(body.factor)
    unit = float(np.max(size))
    if not unit:
        ones = np.ones(body.dimension)
        found = Majorant(ones, ones, ones, NO_WIDTH, 0)
    else:
        heard = _in_unit(progress, unit)
        found = _separate(size / unit, body.base, order, rtol, heard)
    shape = DiagonalShape(diagonal_squares(body.factor, found))
    claim = _image_claim(body, order, None, weights, None, shape, found)
    if unit and size.size <= _MOST_TRIED and claim.certificate().gap > rtol:
        asked = np.diag(weights)
        claim = _better_proved(claim, np.diag(body.factor), asked, unit, rtol)
        claim = _tight(claim, asked) if isinstance(claim.shape, DenseShape) else claim
    return Solution(claim, _honest(found.status, claim, rtol), found.rounds)


def _separate(
    size: Vector,
    base: AbstractBase,
    order: float,
    rtol: float,
    progress: Callable[[Progress], None] | None,
) -> Majorant:
    """Return the best coefficients where each answer is a multiple of one coordinate."""
    known = _order_of(base)
    if known is not None:
        return closed_majorant(size, known, order)
    return least_majorant(np.square(size), base, order, rtol=rtol, progress=progress)


def _order_of(base: AbstractBase) -> float | None:
    """Return r where squares of the base reach as far as those of a ball of ℓ_r."""
    if isinstance(base, NormBase):
        return base.order if base.size > 1 else math.inf
    if isinstance(base, ParityBase):
        return math.inf
    parts = base.parts if isinstance(base, MixedBase) and base.order == math.inf else ()
    if parts and all(_order_of(part) == math.inf for part in parts):
        return math.inf
    return None


def _image_claim(
    body: ImageBody,
    order: float,
    queries: Vector | None,
    weights: Vector,
    frame: Frame | None,
    shape: AbstractShape,
    found: Majorant,
) -> Claim:
    return Claim(
        body=body.hinted(found.coefficients),
        order=order,
        queries=queries,
        weights=weights,
        frame=frame,
        shape=shape,
        center=frozen(np.zeros(body.dimension)),
        dual=SquaresDual(found.squares, found.query_weights),
    )


def _honest(status: str, claim: Claim, rtol: float) -> str:
    """Return the status, saying where ellipsoids of another form may do better."""
    return _NEAR if status == SOLVED and claim.certificate().gap > rtol else status


def _triangle(factor: Vector) -> Vector:
    """Return a lower triangle with the same product with its transpose."""
    found = triangle_of(factor.T).T
    return np.asarray(np.where(np.diag(found) < 0, -1.0, 1.0) * found)


def _better_proved(
    claim: Claim,
    columns: Vector,
    asked: Vector,
    unit: float,
    rtol: float,
) -> Claim:
    """Return the claim with points of the body as its evidence, where they prove more.

    The ellipsoid around those points is taken where it can be proved to cover the body and is less.
    """
    body, dual = claim.body, claim.dual
    assert isinstance(body, ImageBody)  # noqa: S101 (the caller made it)
    assert isinstance(dual, SquaresDual)  # noqa: S101 (the caller made it)
    for near in dict.fromkeys((max(rtol, _NEARLY), rtol)):
        try:
            found = far_points(
                columns / unit, body.base, asked, claim.order, near, dual.query_weights
            )
        except KeyboardInterrupt:
            return claim
        if found is None:
            return claim
        points, factor = found
        other = replace(claim, dual=points)
        if other.certificate().lower > claim.certificate().lower:
            claim = other
        if factor is not None:
            least = replace(claim, shape=DenseShape(unit * factor))
            if least.certificate().upper < claim.certificate().upper:
                claim = least
        if not rtol < claim.certificate().gap < _WITHIN * _NEARLY:
            break
    return claim


def _tight(claim: Claim, asked: Vector) -> Claim:
    """Return the claim with its ellipsoid shrunk to what covers the body, as far as is proved."""
    assert isinstance(claim.shape, DenseShape)  # noqa: S101 (what framed images have)
    size = order_norm(np.linalg.norm(asked @ claim.shape.factor, axis=1), claim.order)
    ratio = claim.certificate().upper / size if size else 1.0
    return replace(claim, shape=claim.shape.scaled(ratio)) if 0 < ratio < 1 else claim


def _nothing(
    body: AbstractBody,
    order: float,
    weights: Vector,
    queries: Vector | None,
    frame: Frame,
    dual: Dual,
) -> Claim:
    """Return the claim that a single point, or what no query sees of a body, needs no noise."""
    return Claim(
        body=body,
        order=order,
        queries=queries,
        weights=weights,
        frame=frame,
        shape=DenseShape(np.zeros((0, 0))),
        center=frozen(body.directions.copy()),
        dual=dual,
    )


def _in_unit(
    progress: Callable[[Progress], None] | None,
    unit: float,
) -> Callable[[Progress], None] | None:
    """Return the callback for bounds in parts of `unit`."""
    if progress is None:
        return None
    return lambda at: progress(Progress(at.iteration, at.lower * unit, at.upper * unit))


def _unit(points: Vector, start: Vector, asked: Vector) -> float:
    """Return a power of two near the size of the greatest answer, so that nothing overflows."""
    extent = np.maximum(np.max(points, axis=0) - start, start - np.min(points, axis=0))
    size = np.abs(asked) if asked.ndim == 1 else np.max(np.abs(asked), axis=0)
    return math.ldexp(1.0, math.frexp(float(np.max(extent * size)))[1])
