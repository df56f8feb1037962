# SPDX-License-Identifier: Apache-2.0
"""Gaussian noise on means: of records, of units that come and go, of units that take other rows.

Of the last no count of rows is public. The changes are (x − x', 0) and ±(x − v, 1). Sums have the
least noise for the former, the count noise of its own: with r the greatest length of x − v in the
sums' noise, s times that noise and a count of variance s/(s − r²) hide the latter, too. Where
records are symmetric about v r is 1/2, and a count of variance 4/3 costs sums nothing.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate import order_norm
from lownoise.errors import PlanError, quoted
from lownoise.noise.gaussian import beside, gaussian_mean
from lownoise.numbers import arguments
from lownoise.numbers.arguments import checked_level, checked_order, checked_rtol
from lownoise.numbers.arrays import frozen
from lownoise.planning.release_plan import COUNT_SHARE, Plan, checked_size
from lownoise.release.pure_bound import count_weight, farthest_mean, middle
from lownoise.release.terms import Terms
from lownoise.sensitivity.factors import DenseShape
from lownoise.sensitivity.relations import (
    ADD_REMOVE,
    SUBSTITUTE,
    Change,
    checked_relation,
    exchange_body,
    sensitivity_set,
)
from lownoise.sets.bodies import ImageBody, SymmetricBox
from lownoise.solvers import SOLVED, solve
from lownoise.solvers.solve import weight_for_share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from lownoise.noise import AdditiveMechanism
    from lownoise.numbers.arrays import Vector
    from lownoise.planning.release_plan import Request
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.questions import Mean
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains.coordinates import Coordinates
    from lownoise.solvers import Solution

_LEAST_WEIGHT = 1e-100
_MOST = 64.0  # times the least noise of sums: more of it hardly helps the count
_SEARCH = 60
_QUARTER = 0.25  # what x − v costs at most in the least noise for K − K, K symmetric about v
_ROOM = 2.0**-20  # by which s exceeds r²
_FAR = 2.0**30  # deviations of a count that tells next to nothing


def plan_means(question: Mean, request: Request) -> Plan:
    """Return the plan for means, of rows or of units that come and go or take other rows."""
    if not request.exchanged:
        return plan_mean(question, request)
    chosen, counted = question.coordinates(), not question.comes
    body = exchange_body(question.domain, question.center, chosen, counted=counted)
    if body is None and question.comes:
        return _totals(question, request, chosen)
    if body is not None:
        return plan_mean(question, request, body)
    body = sensitivity_set(question.domain, SUBSTITUTE, question.center, chosen)
    order, own = checked_order(request.order), checked_weights(request.weights, question)

    def fitted(omega: Vector) -> Solution:
        return solve(
            body,
            order=order,
            weights=frozen(omega),
            queries=chosen.answers(None),
            rtol=checked_rtol(request.rtol),
            progress=request.progress,
        )

    one = fitted(own)
    plain = one if np.all(own == 1) else fitted(np.ones(own.size))
    lifted = plan_mean(question, request)
    weights = frozen(np.append(own, count_weight(question, own, order) or 1.0))
    made = [lifted.terms.mechanism]
    if np.all(body.widths() > 0):
        shape, multipliers = apart(question, one, own, order, request.count_share)
        about, mu = question.domain.center, request.gaussian_parameter
        made.append(
            gaussian_mean(question, ADD_REMOVE, None, shape, mu, chosen, multipliers, about)
        )
    terms = replace(
        lifted.terms,
        weights=weights,
        evidence=one.claim.dual,
        plain_evidence=plain.claim.dual,
    )
    status = lifted.status if one.status == SOLVED else one.status
    return Plan(with_least(terms, made, request.unit), status=status)


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


def _totals(question: Mean, request: Request, chosen: Coordinates) -> Plan:
    """Return the plan for totals of records of which none may be zero.

    Noise for records that come and go, or that of sums about the middle v and of a count, as it
    is in totals, which are those sums and v counts: what hides the former hides what follows.
    """
    made = plan_mean(question, request)
    image, own = question.domain.as_image(), checked_weights(request.weights, question)
    if image is None or chosen.embed is not None or not np.all(question.domain.extent > 0):
        return made
    order = checked_order(request.order)
    body = sensitivity_set(question.domain, SUBSTITUTE, image.center, chosen)
    found = solve(body, order=order, weights=own, rtol=checked_rtol(request.rtol))
    sums = found.full_shape
    square, center = np.square(sums.deviations()), image.center

    def error(s: float) -> float:
        worst = s * square + np.square(center) * s / (s - _QUARTER)
        return order_norm(own * np.sqrt(worst), order)

    s = _least(error, 1.0)
    covariance = s * sums.dense() + np.outer(center, center) * s / (s - _QUARTER)
    shape = DenseShape(np.linalg.cholesky(covariance))
    relation, mu = checked_relation(request.relation), request.gaussian_parameter
    other = gaussian_mean(question, relation, request.size, shape, mu, chosen)
    every = [made.terms.mechanism, other]
    return replace(made, terms=with_least(made.terms, every, request.unit))


def apart(
    question: Mean, found: Solution, own: Vector, order: float, share: float | None
) -> tuple[AbstractShape, Vector | None]:
    """Return noise of which sums have the least for differences, and the count its own, at μ = 1.

    Args:
        question: the columns and their domain; sums are about its center.
        found: the least noise for differences of records.
        own: ω on the columns, shape (d,).
        order: p.
        share: the part of μ² of a row that comes or goes which the count has at least; None for
            what the worst means err least with.

    Returns:
        The shape, of sums and the count; and multipliers for the bound on its radius, or None.
    """
    domain, sums, chosen = question.domain, found.full_shape, question.coordinates()
    lifted = sensitivity_set(domain, ADD_REMOVE, domain.center, chosen)
    square = lifted.radius_up(beside(sums, _FAR)) ** 2
    seen = sums if chosen.embed is None else sums.mapped(chosen.embed)
    far = farthest_mean(domain) + np.abs(middle(domain) - domain.center)

    def error(s: float) -> float:
        worst = s * np.square(seen.deviations()) + np.square(far) * s / (s - square)
        return order_norm(own * np.sqrt(worst), order)

    least = max(1.0, square * (1 + _ROOM))
    s = _least(error, least) if share is None else max(least, square / (1 - share))
    count = s / (s - square)
    shape = beside(sums.scaled(math.sqrt(s)), math.sqrt(count))
    return shape, _multipliers(found.claim.body, square / s * count)


def _multipliers(body: Any, beside_count: float) -> Vector | None:  # noqa: ANN401 (of any kind)
    """Return those of the lifted image, of which the count's is in proportion to what it reveals.

    Args:
        body: of differences.
        beside_count: what sums of a row that comes reveal, over what its count does.
    """
    if not isinstance(body, ImageBody) or body.multipliers is None:
        return None
    own = body.multipliers
    return frozen(np.append(own, body.base.energy_up(own) / max(beside_count, _ROOM)))


def _least(error: Callable[[float], float], low: float) -> float:
    """Return how wide sums are best: as little as may be, or a width beyond it."""
    return min(low, least_between(error, low, low * _MOST), key=error)


def least_between(error: Callable[[float], float], low: float, high: float) -> float:
    """Return about where a function is least between two numbers above 0, by thirds of logarithms.

    Args:
        error: falls, and then rises.
        low: the one.
        high: the other.

    Examples:
        >>> round(least_between(lambda x: x + 4 / x, 0.1, 100.0), 6)
        2.0
    """
    a, b = math.log(low), math.log(high)
    for _ in range(_SEARCH):
        third = (b - a) / 3
        if error(math.exp(a + third)) <= error(math.exp(b - third)):
            b -= third
        else:
            a += third
    return math.exp((a + b) / 2)
