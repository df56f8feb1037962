# SPDX-License-Identifier: Apache-2.0
"""Marginals and a budget become a plan; no data are read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lownoise.noise.ordered import ordered_mechanism
from lownoise.noise.product import product_mechanism
from lownoise.noise.residual import residual_mechanism
from lownoise.numbers.arguments import checked_order, checked_rtol
from lownoise.planning.release_plan import Plan
from lownoise.planning.request import checked_counting
from lownoise.questions.attributes import check_labels
from lownoise.questions.residuals import ordered_blocks, product_blocks
from lownoise.questions.residuals.ordered import MOST_CATEGORIES, split_marginals
from lownoise.release.terms import Terms
from lownoise.solvers.independent import solve_residual
from lownoise.solvers.ordered import solve_ordered
from lownoise.solvers.product import solve_product

if TYPE_CHECKING:
    from lownoise.noise import AdditiveMechanism
    from lownoise.planning.request import Request
    from lownoise.privacy import Budget
    from lownoise.questions import Marginals
    from lownoise.solvers.sides import Fitted

# joint categories of ordered attributes: of more, all pairs are not searched in a minute, and noise
# that is a product is far less than what is found by then
_MOST_PAIRED = 150


def plan_marginals(question: Marginals, request: Request) -> Plan:
    """Return the plan for marginals."""
    check_labels(question.attributes)
    relation, size = checked_counting(request, "Marginals", drops=question.drops)
    order, parameter = checked_order(request.order), request.budget.gaussian_parameter()
    attributes = question.attributes
    rtol, progress = checked_rtol(request.rtol), request.progress
    categories = math.prod(a.size for a in question.attributes if a.ordered)
    most = MOST_CATEGORIES if size is None else min(_MOST_PAIRED, MOST_CATEGORIES)
    if categories > most:
        products = product_blocks(question, public=size is not None)
        across = solve_product(products, order, progress)
        shape = product_mechanism(attributes, products, size, *across.noise, parameter)
        return _plan(question, request.budget, order, across, shape)
    if question.ordered:
        blocks = ordered_blocks(question, public=size is not None)
        along = solve_ordered(blocks, order, rtol, progress)
        noise = ordered_mechanism(attributes, blocks, size, along.noise, parameter)
        return _plan(question, request.budget, order, along, noise)
    plain = split_marginals(question, public=size is not None)
    found = solve_residual(plain.plain, order, relation, rtol, progress)
    mechanism = residual_mechanism(attributes, plain, size, found.noise, parameter)
    return _plan(question, request.budget, order, found, mechanism)


def _plan(
    question: Marginals,
    budget: Budget,
    order: float,
    found: Fitted[Any, Any],
    mechanism: AdditiveMechanism,
) -> Plan:
    terms = Terms(
        question=question, budget=budget, order=order, evidence=found.dual, mechanism=mechanism
    )
    return Plan(terms, status=found.status)
