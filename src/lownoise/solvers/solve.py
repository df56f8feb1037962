# SPDX-License-Identifier: Apache-2.0
"""One verb for every body: the kind of body chooses the method.

The least noise around a box, in closed form for every order.

Let gᵢ = ωᵢhᵢ. Among all M ⊇ S the least √tr_{p/2}(ωMω) is ‖g‖_r with r = 2p/(p+2) (002, equation
(27), for the box [−h, h]; equation (26) lacks the ½ of its half widths). It is attained at
ωᵢ²Mᵢᵢ = gᵢ^{4/(p+2)}·Σ g^r, where Σ hᵢ²/Mᵢᵢ = 1, and proved by the uniform measure on the corners
with query weights cᵢ ∝ gᵢ^{2(p−2)/(p+2)} (ours, by Lagrange).
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate import CornerDual, OracleDual, SectionDual
from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.factors import DenseShape, DiagonalShape
from lownoise.sets.bodies import (
    AbstractOracleBody,
    AbstractPointBody,
    ImageBody,
    SectionBody,
    SymmetricBox,
    TensorBall,
    TensorChanges,
)
from lownoise.sets.frames import find_frame
from lownoise.solvers.generation import generate
from lownoise.solvers.image import image_solution
from lownoise.solvers.newton import Problem
from lownoise.solvers.oracle import oracle_solution
from lownoise.solvers.points import point_solution
from lownoise.solvers.pricing import PointVertices
from lownoise.solvers.section import far_changes, least_section
from lownoise.solvers.solution import (
    FLOOR_SHARE,
    INTERRUPTED,
    RTOL,
    Asked,
    Solution,
    honest,
    lower_triangle,
)
from lownoise.solvers.tensors import rotated, tensor_solution

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.certificate.evidence import Changes
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.frames import Frame
    from lownoise.solvers.solution import Progress

_FAINT = 1e-5
_TURNED = 2.0**-16  # a gap that widths in more directions would hardly make smaller


def solve(
    body: Changes,
    *,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    rtol: float = RTOL,
    progress: Callable[[Progress], None] | None = None,
    in_order: bool = False,
    odd_sums: bool = False,
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
        odd_sums: whether odd sums of signs may be what proves the noise of a cube's image.

    Raises:
        PlanError: where no solver knows this kind of body.

    Examples:
        >>> square = SymmetricBox(np.array([1.0, 4.0]))
        >>> solve(square, order=2.0, weights=np.ones(2)).claim.shape.diagonal()
        array([ 5., 20.])
    """
    asked = Asked(
        order=order,
        weights=weights,
        queries=queries,
        rtol=rtol,
        progress=progress,
        in_order=in_order,
        odd_sums=odd_sums,
    )
    return solution(body, asked)


@singledispatch
def solution(body: object, asked: Asked) -> Solution:
    """Return the solution for a body, as `solve` does."""
    raise PlanError(f"body={type(body).__name__} has no solver; use ln.Box or ln.Points")


@solution.register(SymmetricBox)
def box_solution(body: SymmetricBox, asked: Asked) -> Solution:
    """Return the closed form of a box."""
    if asked.queries is not None:
        raise PlanError("queries of a box have no closed form; give its corners as ln.Points")
    shape, dual = least_shape(body, asked.order, asked.weights)
    return Solution(asked.claim(body, None, shape, dual), "solved: closed form", 0)


@solution.register(SectionBody)
def section_solution(body: SectionBody, asked: Asked) -> Solution:
    """Return the least ellipsoid around a section.

    By corners where these are few; else by the sum of its parts' quadratics, and in few dimensions
    by its widths where these leave a gap.
    """
    rows = asked.rows
    frame = find_frame(body, asked.queries, in_order=asked.in_order)
    constant = frozen(np.zeros((1, body.width_of_points)))
    none = SectionDual(constant, frozen(np.ones(1)), frozen(np.ones(len(rows))))
    if not frame.rank:
        return asked.nothing(body, frame, none)
    oracle = body.oracle if body.oracle is not None and body.oracle.resolves(frame.rank) else None
    if oracle is not None and not oracle.searched:
        return _by_extremes(body, oracle, asked)
    found = _by_quadratics(body, asked, frame, none)
    own = found.claim.proved
    if found.status == INTERRUPTED or own.gap <= asked.rtol:
        return found
    found = _turned(found, asked, frame)
    own = found.claim.proved
    if oracle is None or own.gap <= max(asked.rtol, _TURNED):
        return found
    assert isinstance(found.claim.body, SectionBody)  # noqa: S101 (with multipliers)
    other = _by_extremes(found.claim.body, oracle, asked)
    proof = other.claim.proved
    best = other.claim if proof.upper < own.upper else found.claim
    best = replace(best, dual=(other if proof.lower > own.lower else found).claim.dual)
    return Solution(
        best, honest(other.status, best, asked.rtol), found.iterations + other.iterations
    )


def _by_quadratics(body: SectionBody, asked: Asked, frame: Frame, none: SectionDual) -> Solution:
    """Return the least ellipsoid that the sum of quadratics proves to cover a section."""
    rows = asked.rows
    unit = float(np.max(np.abs(rows) * body.far))
    heard = asked.heard(unit)
    # where queries do not see all, the rest must stay bounded: it is asked about a little
    sight = rows if frame.view is None else np.vstack([rows, np.diag(_FAINT * unit / body.far)])
    found = least_section(body, sight, asked.order, rtol=asked.rtol, progress=heard)
    root = np.linalg.inv(np.linalg.cholesky(found.precision)).T
    view = root if frame.exact else frame.down(root.T).T
    shape = DenseShape(lower_triangle(view))
    claim = asked.claim(body.with_multipliers(found.multipliers), frame, shape, none, found.center)
    try:
        points = far_changes(body, sight, asked.order, asked.rtol, found.precision)
    except KeyboardInterrupt:
        points = None
    if points is not None:
        c = points.query_weights[: len(rows)]
        claim = replace(claim, dual=replace(points, query_weights=frozen(c.copy())))
    return Solution(claim, honest(found.status, claim, asked.rtol), found.steps)


def _turned(found: Solution, asked: Asked, frame: Frame) -> Solution:
    """Return the solution with the ellipsoid around its points where that can be proved to do.

    The points are few, and the body of few directions: what turns with it is tried besides.
    """
    claim, body = found.claim, found.claim.body
    assert isinstance(body, SectionBody)  # noqa: S101 (the caller made it)
    assert isinstance(claim.dual, SectionDual)  # noqa: S101 (likewise)
    if body.rotated is None or frame.view is not None or not frame.exact:
        return found
    points = body.changes(claim.dual.points)[0]
    problem = Problem(
        queries=asked.rows, order=asked.order, moves=body.moves, floor=FLOOR_SHARE * asked.rtol
    )
    least = generate(problem, PointVertices(points, moves=body.moves), rtol=asked.rtol)
    center = least.cover_weights @ points[least.cover_indices] if body.moves else claim.center
    form = least.factor @ least.factor.T
    upper = claim.proved.upper
    for own, at in ((body.rotated.averaged(form), body.rotated.along(center)), (form, center)):
        other = replace(claim, shape=DenseShape(np.linalg.cholesky(own)), center=frozen(at))
        proved = other.proved
        if proved.upper < upper:
            claim, upper = other, proved.upper
        if proved.gap <= max(asked.rtol, _TURNED):
            break
    return replace(found, claim=claim, status=honest(found.status, claim, asked.rtol))


def _by_extremes(body: SectionBody, oracle: AbstractOracleBody, asked: Asked) -> Solution:
    """Return the least ellipsoid around a section whose extreme points, and reach, are known."""
    found = oracle_solution(oracle, asked)
    dual = found.claim.dual
    assert isinstance(dual, OracleDual)  # noqa: S101 (what oracles are solved with)
    own = frozen(dual.points.reshape(len(dual.points), body.width_of_points))
    evidence = SectionDual(own, dual.vertex_weights, dual.query_weights)
    return replace(found, claim=replace(found.claim, body=body, dual=evidence))


@solution.register(TensorBall)
def ball_solution(body: TensorBall, asked: Asked) -> Solution:
    """Return the best noise on tensors of a ball that treats all directions alike."""
    if asked.queries is not None or np.ptp(asked.weights) > 0:
        raise PlanError(
            "workload or weights on tensors of a ball have no solver; leave them out, or list "
            "tensors as ln.Points",
        )
    alike = replace(asked, weights=frozen(asked.weights[:1].copy()))
    heard = asked.heard(body.value * float(asked.weights[0]))
    found = rotated(body, asked.order, asked.rtol, heard)
    shape = DiagonalShape(found.deviations)
    claims = [alike.claim(body, None, shape, dual) for dual in found.duals]
    claim = max(claims, key=lambda each: each.proved.lower)
    return Solution(claim, honest(found.status, claim, asked.rtol), found.rounds)


solution.register(AbstractPointBody, point_solution)
solution.register(AbstractOracleBody, oracle_solution)
solution.register(ImageBody, image_solution)
solution.register(TensorChanges, tensor_solution)


def least_shape(
    body: SymmetricBox,
    order: float,
    weights: Vector,
) -> tuple[DiagonalShape, CornerDual]:
    """Return the optimal shape, and the evidence that it is; coordinates of width 0 get no noise.

    Args:
        body: half widths h ≥ 0, shape (d,).
        order: p in [2, ∞].
        weights: ω > 0, shape (d,).
    """
    g = weights * body.half_width
    largest = float(np.max(g))
    if largest == 0:
        return DiagonalShape(g), CornerDual(frozen(np.ones(g.size)))
    infinite = math.isinf(order)
    relative = g / largest
    mass = math.fsum(relative ** (2.0 if infinite else 2 * order / (order + 2)))
    exponent = 0.0 if infinite else 2 / (order + 2)
    scale = np.where(g > 0, largest * relative**exponent * math.sqrt(mass), 0.0) / weights
    c = relative ** (2.0 if infinite else 2 * (order - 2) / (order + 2))
    return DiagonalShape(scale), CornerDual(frozen(c))


def weight_for_share(body: SymmetricBox, order: float, share: float) -> float:
    """Return the weight of one more answer, of half width 1, that takes `share` of the privacy.

    An answer's share is hᵢ²/Mᵢᵢ, the part of μ² that it reveals; at the optimum it is proportional
    to gᵢ^r, so ω = (share/(1−share))^{1/r}·‖h‖_r.

    Args:
        body: half widths h of the other answers, times their weights, shape (d,).
        order: p in [2, ∞].
        share: in (0, 1).

    Examples:
        >>> from lownoise.sets.bodies import SymmetricBox
        >>> weight_for_share(SymmetricBox(np.array([2.0, 1.0])), 2.0, 0.25)
        1.0
    """
    r = 2.0 if math.isinf(order) else 2 * order / (order + 2)
    largest = float(np.max(body.half_width))
    if largest == 0:
        return 1.0
    norm = largest * math.fsum((body.half_width / largest) ** r) ** (1 / r)
    return float((share / (1 - share)) ** (1 / r) * norm)
