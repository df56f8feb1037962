# SPDX-License-Identifier: Apache-2.0
"""One verb for every body: the kind of body chooses the method."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate import SectionDual
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
from lownoise.solvers.box import least_shape
from lownoise.solvers.image import image_solution
from lownoise.solvers.oracle import oracle_solution
from lownoise.solvers.points import point_solution
from lownoise.solvers.section import far_changes, least_section
from lownoise.solvers.solution import RTOL, Asked, Solution, honest, lower_triangle
from lownoise.solvers.tensors import rotated, tensor_solution

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.certificate.evidence import Changes
    from lownoise.numbers.arrays import Vector
    from lownoise.solvers.generation import Progress

_FAINT = 1e-5


def solve(
    body: Changes,
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
    asked = Asked(
        order=order,
        weights=weights,
        queries=queries,
        rtol=rtol,
        progress=progress,
        in_order=in_order,
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
    """Return the least ellipsoid that a section's quadratics prove to cover it."""
    rows = asked.rows
    frame = find_frame(body, asked.queries, in_order=asked.in_order)
    still = frozen(np.zeros((1, body.width_of_points)))
    none = SectionDual(still, frozen(np.ones(1)), frozen(np.ones(len(rows))))
    if not frame.rank:
        return asked.nothing(body, frame, none)
    unit = float(np.max(np.abs(rows) * body.far))
    heard = asked.heard(unit)
    # where queries do not see all, the rest must stay bounded: it is asked about a little
    sight = rows if frame.view is None else np.vstack([rows, np.diag(_FAINT * unit / body.far)])
    found = least_section(body, sight, asked.order, rtol=asked.rtol, progress=heard)
    root = np.linalg.inv(np.linalg.cholesky(found.precision)).T
    view = root if frame.exact else frame.down(root.T).T
    shape = DenseShape(lower_triangle(view))
    claim = asked.claim(body.with_multipliers(found.hint), frame, shape, none, found.center)
    try:
        points = far_changes(body, sight, asked.order, asked.rtol, found.precision)
    except KeyboardInterrupt:
        points = None
    if points is not None:
        c = points.query_weights[: len(rows)]
        claim = replace(claim, dual=replace(points, query_weights=frozen(c.copy())))
    return Solution(claim, honest(found.status, claim, asked.rtol), found.steps)


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
    claim = max(claims, key=lambda each: each.certificate().lower)
    return Solution(claim, honest(found.status, claim, asked.rtol), found.rounds)


solution.register(AbstractPointBody, point_solution)
solution.register(AbstractOracleBody, oracle_solution)
solution.register(ImageBody, image_solution)
solution.register(TensorChanges, tensor_solution)
