# SPDX-License-Identifier: Apache-2.0
"""A mean and a budget become a plan; no data are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import PlanError, told
from lownoise.noise.fitting import gaussian_mean
from lownoise.numbers.arguments import checked_number, checked_order, checked_rtol
from lownoise.numbers.arrays import frozen, vector
from lownoise.planning.release_plan import Plan
from lownoise.planning.request import COUNT_SHARE, checked_size
from lownoise.release.terms import Terms
from lownoise.sensitivity.factors import DenseShape
from lownoise.sensitivity.relations import Change, checked_relation, sensitivity_set
from lownoise.sets.bodies import SymmetricBox
from lownoise.solvers import solve
from lownoise.solvers.solve import weight_for_share

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector
    from lownoise.planning.request import Request
    from lownoise.questions import Mean
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.domains.coordinates import Coordinates
    from lownoise.solvers import Solution

_LEAST_WEIGHT = 1e-100


def plan_mean(question: Mean, request: Request) -> Plan:
    """Return the plan for means, sums and counts of records in a domain."""
    relation = checked_relation(request.relation)
    if question.drops_missing and relation != "add_remove":
        raise PlanError('missing="drop" changes the public size; use "center" or a point')
    size = checked_size(request.size, relation)
    order = checked_order(request.order)
    rtol = checked_rtol(request.rtol)
    count_share = COUNT_SHARE if request.count_share is None else request.count_share
    count_share = checked_number("count_share", count_share)
    if not 0 < count_share < 1:
        raise PlanError(f"count_share={count_share:g} is out of range; give one between 0 and 1")
    parameter = request.budget.gaussian_parameter()
    chosen = question.domain.coordinates()
    if isinstance(relation, Change):
        relation.check(question.domain, chosen)
    body = sensitivity_set(question.domain, relation, question.center, chosen)
    counted = relation == "add_remove"
    answers = chosen.answers(question.center if counted else None)

    def fitted(omega: Vector) -> Solution:
        return solve(
            body,
            order=order,
            weights=omega,
            queries=answers,
            rtol=rtol,
            progress=request.progress,
        )

    matters = checked_weights(request.weights, question)
    count_weight = [1.0] if counted else []
    plain = fitted(np.append(np.ones(matters.size), count_weight))
    if counted:
        sums = _sums(question, chosen, order, matters, rtol)
        matters = np.append(matters, weight_for_share(sums, order, count_share))
    solution = plain if np.array_equal(matters, plain.claim.weights) else fitted(frozen(matters))
    return Plan(
        Terms(
            question=question,
            budget=request.budget,
            order=order,
            weights=frozen(matters),
            evidence=solution.claim.dual,
            plain_evidence=plain.claim.dual,
            mechanism=gaussian_mean(
                question,
                relation,
                size,
                whole(solution),
                parameter,
                chosen,
                solution.claim.body.multipliers,
            ),
        ),
        status=solution.status,
    )


def _sums(
    question: Mean,
    chosen: Coordinates,
    order: float,
    weights: Vector,
    rtol: float,
) -> SymmetricBox:
    """Return a box whose least noise is as large as that of the weighted sums without the count."""
    kept = question.domain.translates(chosen.pivots, question.center)
    if isinstance(kept, SymmetricBox):
        return SymmetricBox(frozen(weights * kept.half_width))
    found = solve(kept, order=order, weights=weights, queries=chosen.embed, rtol=rtol)
    return SymmetricBox(np.array([found.claim.certificate().upper]))


def checked_weights(weights: ArrayLike | str | None, question: Mean) -> Vector:
    """Return how much one unit of each column's error matters, shape (d,).

    Raises:
        PlanError: where they are not one number a column, in range.
    """
    d = question.domain.dimension
    if weights is None:
        return np.ones(d)
    if isinstance(weights, str):
        if weights != "range":
            raise PlanError(
                f'weights={told(weights)} is unknown; give "range" or a number a column'
            )
        width = question.domain.upper - question.domain.lower
        return 1 / np.where(width > 0, width, 1.0)
    given = vector(weights, field="weights", error=PlanError)
    if given.size != d:
        raise PlanError(f"weights has {given.size} numbers for {d} columns; give one a column")
    wrong = np.flatnonzero((given < _LEAST_WEIGHT) | (given > 1 / _LEAST_WEIGHT))
    if wrong.size:
        i = int(wrong[0])
        raise PlanError(f"weights[{i}]={given[i]:g} is out of range; give one in [1e-100, 1e100]")
    return given


def whole(solution: Solution) -> AbstractShape:
    """Return the shape in all summed coordinates, where a body of changes kept to some."""
    claim = solution.claim
    if claim.frame is None or claim.frame.exact or not isinstance(claim.shape, DenseShape):
        return claim.shape
    return DenseShape(claim.frame.up() @ claim.shape.factor)
