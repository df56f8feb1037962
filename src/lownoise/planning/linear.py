# SPDX-License-Identifier: Apache-2.0
"""Linear queries or parities and a budget become a plan; no data are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.noise.fitting import gaussian_queries
from lownoise.noise.parity import gaussian_parity
from lownoise.noise.queries import query_body, query_coordinates
from lownoise.numbers.arguments import checked_order, checked_rtol
from lownoise.planning.release_plan import Plan
from lownoise.planning.request import checked_counting
from lownoise.questions.residuals.cost import parity_costs
from lownoise.release.terms import Terms
from lownoise.sensitivity.factors import DenseShape
from lownoise.solvers import solve
from lownoise.solvers.independent import solve_parity

if TYPE_CHECKING:
    from lownoise.planning.request import Request
    from lownoise.questions import AbstractQueries, Parity


def plan_queries(question: AbstractQueries, request: Request) -> Plan:
    """Return the plan for linear queries."""
    question.check()
    relation, size = checked_counting(request, type(question).__name__, drops=question.drops)
    order, rtol = checked_order(request.order), checked_rtol(request.rtol)
    parameter = request.budget.gaussian_parameter()
    chosen = query_coordinates(question, relation)
    found = solve(
        query_body(question, relation, chosen),
        order=order,
        weights=question.weights,
        queries=chosen.embed,
        rtol=rtol,
        progress=request.progress,
    )
    frame, shape = found.claim.frame, found.claim.shape
    if frame is not None and not frame.exact and isinstance(shape, DenseShape):
        shape = DenseShape(frame.up() @ shape.factor)
    terms = Terms(
        question=question,
        budget=request.budget,
        order=order,
        evidence=found.claim.dual,
        mechanism=gaussian_queries(question, relation, size, shape, parameter, chosen),
    )
    return Plan(terms, status=found.status)


def plan_parity(question: Parity, request: Request) -> Plan:
    """Return the plan for parities."""
    relation, size = checked_counting(request, "Parity", drops=question.drops)
    order, rtol = checked_order(request.order), checked_rtol(request.rtol)
    parameter = request.budget.gaussian_parameter()
    found = solve_parity(
        parity_costs(len(question.attributes), question.degrees, relation),
        np.array(question.counts, dtype=np.float64),
        question.degree_weights,
        order,
        rtol,
        request.progress,
    )
    terms = Terms(
        question=question,
        budget=request.budget,
        order=order,
        evidence=found.dual,
        mechanism=gaussian_parity(question, relation, size, found.noise, parameter),
    )
    return Plan(terms, status=found.status)
