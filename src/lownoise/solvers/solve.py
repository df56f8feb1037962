# SPDX-License-Identifier: Apache-2.0
"""One verb for every body: the kind of body chooses the method."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.arrays import frozen
from lownoise.bases import NormBase, ParityBase, ProductBase
from lownoise.bodies import (
    AbstractBody,
    AbstractPointBody,
    ImageBody,
    PointDifferences,
    SymmetricBox,
    TensorBall,
)
from lownoise.certificate import Claim, PointDual, ProductDual, SquaresDual
from lownoise.errors import PlanError
from lownoise.frames import find_frame
from lownoise.shapes import DenseShape, DiagonalShape
from lownoise.solvers.ascent import far_points
from lownoise.solvers.box import least_shape
from lownoise.solvers.generation import SOLVED, Progress, generate
from lownoise.solvers.image import (
    Majorant,
    closed_majorant,
    covering_factor,
    diagonal_squares,
    folded,
    least_majorant,
)
from lownoise.solvers.newton import Problem
from lownoise.solvers.pricing import PairVertices, PointVertices, distinct
from lownoise.solvers.tensor_ball import rotated
from lownoise.solvers.uniform import equal_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.arrays import Vector
    from lownoise.bases import AbstractBase
    from lownoise.frames import Frame
    from lownoise.shapes import AbstractShape

RTOL = 1e-6
NO_WIDTH = "solved: no width"
_NEAR = "solved: the least of the ellipsoids that can be proved to cover it; the gap says the rest"
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
        return Solution(_nothing(body, order, weights, queries, frame), NO_WIDTH, 0)
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
        return Solution(_nothing(body, order, weights, queries, frame), NO_WIDTH, 0)
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
        claim = _better_proved(claim, columns / unit, asked, rtol)
    return Solution(claim, _honest(found.status, claim, rtol), found.rounds)


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
    if isinstance(base, ProductBase) and all(_order_of(p) == math.inf for p in base.parts):
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


def _better_proved(claim: Claim, columns: Vector, asked: Vector, rtol: float) -> Claim:
    """Return the claim with points of the body as its evidence, where they prove more."""
    body, dual = claim.body, claim.dual
    assert isinstance(body, ImageBody)  # noqa: S101 (the caller made it)
    assert isinstance(dual, SquaresDual)  # noqa: S101 (the caller made it)
    try:
        points = far_points(columns, body.base, asked, claim.order, rtol, dual.query_weights)
    except KeyboardInterrupt:
        return claim
    if points is None:
        return claim
    other = replace(claim, dual=points)
    return other if other.certificate().lower > claim.certificate().lower else claim


def _nothing(
    body: AbstractBody,
    order: float,
    weights: Vector,
    queries: Vector | None,
    frame: Frame,
) -> Claim:
    """Return the claim that a single point, or what no query sees of a body, needs no noise."""
    none = np.zeros((1, 2) if isinstance(body, PointDifferences) else 1, dtype=np.int64)
    return Claim(
        body=body,
        order=order,
        queries=queries,
        weights=weights,
        frame=frame,
        shape=DenseShape(np.zeros((0, 0))),
        center=frozen(body.directions.copy()),
        dual=PointDual(none, frozen(np.ones(1)), frozen(np.ones(weights.size))),
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
