# SPDX-License-Identifier: Apache-2.0
"""Gaussian noise on means of units that take other rows: no count of rows is public.

The changes are (x − x', 0) and ±(x − v, 1). Sums have the least noise for the former, the count
noise of its own: with r the greatest length of x − v in the sums' noise, s times that noise and a
count of variance s/(s − r²) hide the latter, too. Where records are symmetric about v r is 1/2, and
a count of variance 4/3 costs sums nothing.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate import order_norm
from lownoise.noise.gaussian import beside, gaussian_mean
from lownoise.numbers.arguments import checked_order, checked_rtol
from lownoise.numbers.arrays import frozen
from lownoise.planning.gaussian import checked_weights, plan_mean, with_least
from lownoise.planning.release_plan import Plan
from lownoise.release.pure_bound import count_weight, farthest_mean, middle
from lownoise.sensitivity.factors import DenseShape
from lownoise.sensitivity.relations import (
    ADD_REMOVE,
    SUBSTITUTE,
    checked_relation,
    exchange_body,
    sensitivity_set,
)
from lownoise.sets.bodies import ImageBody
from lownoise.solvers import SOLVED, solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.planning.release_plan import Request
    from lownoise.questions import Mean
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.domains.coordinates import Coordinates
    from lownoise.solvers import Solution

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
