# SPDX-License-Identifier: Apache-2.0
"""Gaussian noise on what rows add up to, on parities and on marginals; no data are read."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.noise.gaussian import gaussian_summed
from lownoise.noise.ordered import ordered_mechanism
from lownoise.noise.parity import gaussian_parity
from lownoise.noise.product import product_mechanism
from lownoise.noise.residual import residual_mechanism
from lownoise.numbers.arguments import checked_order, checked_rtol
from lownoise.planning.release_plan import Plan, checked_counting
from lownoise.questions.attributes import check_labels
from lownoise.release.terms import Terms
from lownoise.sensitivity.residuals import ordered_blocks, product_blocks
from lownoise.sensitivity.residuals.cost import exchanged_costs, parity_costs
from lownoise.sensitivity.residuals.ordered import MOST_CATEGORIES, split_marginals
from lownoise.solvers import solve
from lownoise.solvers.independent import solve_parity, solve_residual
from lownoise.solvers.ordered import solve_ordered
from lownoise.solvers.product import solve_product

if TYPE_CHECKING:
    from lownoise.noise import AdditiveMechanism
    from lownoise.planning.release_plan import Request
    from lownoise.privacy import Budget
    from lownoise.questions import AbstractSummed, Marginals, Parity
    from lownoise.solvers.solution import Fitted


def plan_summed(question: AbstractSummed, request: Request) -> Plan:
    """Return the plan for sums of what each row adds, such as linear queries."""
    question.check()
    relation, size = checked_counting(request, type(question).__name__, drops=question.drops)
    order, rtol = checked_order(request.order), checked_rtol(request.rtol)
    parameter = request.gaussian_parameter
    chosen = question.coordinates(relation)
    found = solve(
        question.changes(relation, chosen, exchanged=request.exchanged),
        order=order,
        weights=question.weights,
        queries=chosen.embed,
        rtol=rtol,
        progress=request.progress,
    )
    shape = found.full_shape
    terms = Terms(
        question=question,
        budget=request.budget,
        order=order,
        evidence=found.claim.dual,
        mechanism=gaussian_summed(question, relation, size, shape, parameter, chosen),
    )
    return Plan(terms, status=found.status)


def plan_parity(question: Parity, request: Request) -> Plan:
    """Return the plan for parities."""
    relation, size = checked_counting(request, "Parity", drops=question.drops)
    order, rtol = checked_order(request.order), checked_rtol(request.rtol)
    parameter = request.gaussian_parameter
    bits = len(question.attributes)
    found = solve_parity(
        exchanged_costs(bits, question.degrees)
        if request.exchanged
        else parity_costs(bits, question.degrees, relation),
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


# joint categories of ordered attributes: of more, all pairs are not searched in a minute, and noise
# that is a product is far less than what is found by then
_MOST_PAIRED = 150


def plan_marginals(question: Marginals, request: Request) -> Plan:
    """Return the plan for marginals."""
    check_labels(question.attributes)
    relation, size = checked_counting(request, "Marginals", drops=question.drops)
    order, parameter = checked_order(request.order), request.gaussian_parameter
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
        both = request.exchanged and categories <= _MOST_PAIRED
        changes = replace(blocks, becoming=True) if both else blocks
        along = solve_ordered(changes, order, rtol, progress)
        noise = ordered_mechanism(attributes, blocks, size, along.noise, parameter)
        return _plan(question, request.budget, order, along, noise)
    plain = split_marginals(question, public=size is not None)
    within = solve_residual(
        plain.plain, order, relation, rtol, progress, exchanged=request.exchanged
    )
    mechanism = residual_mechanism(attributes, plain, size, within.noise, parameter)
    return _plan(question, request.budget, order, within, mechanism)


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
