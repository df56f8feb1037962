# SPDX-License-Identifier: Apache-2.0
"""A question and a budget become a plan with Gaussian noise; no data are read."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import PlanError, quoted
from lownoise.noise.gaussian import gaussian_mean, gaussian_summed
from lownoise.noise.ordered import ordered_mechanism
from lownoise.noise.parity import gaussian_parity
from lownoise.noise.product import product_mechanism
from lownoise.noise.residual import residual_mechanism
from lownoise.numbers import arguments
from lownoise.numbers.arguments import checked_level, checked_order, checked_rtol
from lownoise.numbers.arrays import frozen
from lownoise.planning.release_plan import COUNT_SHARE, Plan, checked_counting, checked_size
from lownoise.questions.attributes import check_labels
from lownoise.release.pure_bound import count_weight
from lownoise.release.terms import Terms
from lownoise.sensitivity.relations import Change, checked_relation, sensitivity_set
from lownoise.sensitivity.residuals import ordered_blocks, product_blocks
from lownoise.sensitivity.residuals.cost import exchanged_costs, parity_costs
from lownoise.sensitivity.residuals.ordered import MOST_CATEGORIES, split_marginals
from lownoise.sets.bodies import SymmetricBox
from lownoise.solvers import solve
from lownoise.solvers.independent import solve_parity, solve_residual
from lownoise.solvers.ordered import solve_ordered
from lownoise.solvers.product import solve_product
from lownoise.solvers.solve import weight_for_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from lownoise.noise import AdditiveMechanism
    from lownoise.numbers.arrays import Vector
    from lownoise.planning.release_plan import Request
    from lownoise.privacy import Budget
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.questions import AbstractSummed, Marginals, Mean, Parity
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains.coordinates import Coordinates
    from lownoise.solvers import Solution
    from lownoise.solvers.solution import Fitted


_LEAST_WEIGHT = 1e-100


def plan_mean(question: Mean, request: Request, changes: AbstractBody | None = None) -> Plan:
    """Return the plan for means, sums and counts of records in a domain.

    Args:
        question: what is asked.
        request: what else is.
        changes: what noise is fitted to; by default what the relation says of the domain.
    """
    relation = checked_relation(request.relation)
    if question.drops_missing and not (relation.counted or question.comes):
        raise PlanError('missing="drop" changes the public size; use "center" or a point')
    size = checked_size(request.size, relation)
    order = checked_order(request.order)
    rtol = checked_rtol(request.rtol)
    count_share = COUNT_SHARE if request.count_share is None else request.count_share
    count_share = checked_level(count_share, "count_share")
    parameter = request.gaussian_parameter
    chosen = question.coordinates()
    if isinstance(relation, Change) and not question.comes:
        relation.check(question.domain, chosen)
    body = changes
    if body is None:
        body = sensitivity_set(question.domain, relation, question.center, chosen)
    counted = relation.counted
    answers = chosen.answers(question.center if counted else None)

    def fitted(omega: Vector) -> Solution:
        return solve(
            body,
            order=order,
            weights=omega,
            queries=answers,
            rtol=rtol,
            progress=request.progress,
            odd_sums=changes is None,
        )

    own = checked_weights(request.weights, question)
    plain = fitted(np.append(np.ones(own.size), [1.0] if counted else []))
    every = [own]
    if counted:
        sums = _sums(question, chosen, order, own, rtol)
        every = [np.append(own, weight_for_share(sums, order, count_share))]
        # beside noises that are fitted to means, the count is worth what it is worth to means
        worth = count_weight(question, own, order)
        if request.count_share is None and _LEAST_WEIGHT < worth < 1 / _LEAST_WEIGHT:
            every.append(np.append(own, worth))

    def planned(matters: Vector) -> Plan:
        same = np.array_equal(matters, plain.claim.weights)
        solution = plain if same else fitted(frozen(matters))
        terms = Terms(
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
                solution.full_shape,
                parameter,
                chosen,
                solution.claim.body.multipliers if changes is None else None,  # of another body
            ),
        )
        return Plan(terms, status=solution.status)

    return min(map(planned, every), key=lambda made: made.terms.compared)


def _sums(
    question: Mean,
    chosen: Coordinates,
    order: float,
    weights: Vector,
    rtol: float,
) -> SymmetricBox:
    """Return a box whose least noise is as large as that of the weighted sums without the count."""
    kept = question.domain.sums(chosen.pivots, question.center)
    if isinstance(kept, SymmetricBox):
        return SymmetricBox(frozen(weights * kept.half_width))
    found = solve(kept, order=order, weights=weights, queries=chosen.embed, rtol=rtol)
    return SymmetricBox(np.array([found.claim.proved.upper]))


def checked_weights(weights: ArrayLike | str | None, question: Mean) -> Vector:
    """Return how much one unit of each column's error matters, shape (d,).

    Raises:
        PlanError: where they are not one number a column, in range.
    """
    if isinstance(weights, str):
        if weights != "range":
            raise PlanError(
                f'weights={quoted(weights)} is unknown; give "range" or a number a column'
            )
        width = question.domain.upper - question.domain.lower
        return 1 / np.where(width > 0, width, 1.0)
    return arguments.checked_weights(weights, question.domain.dimension, each="a column")


def with_least(
    terms: Terms, mechanisms: Sequence[AdditiveMechanism], unit: PrivacyUnit | None
) -> Terms:
    """Return terms with the mechanism that errs least at μ = 1, all rows of a unit hidden together.

    Args:
        terms: all but the mechanism.
        mechanisms: one or more; of equals it is the first.
        unit: whose rows are hidden together; None where each row is.
    """

    def error(mechanism: AdditiveMechanism) -> float:
        own = replace(terms, mechanism=replace(mechanism, unit=unit))
        mu: float = own.mechanism.loss.mu
        return own.compared * mu

    return replace(terms, mechanism=min(mechanisms, key=error))


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
