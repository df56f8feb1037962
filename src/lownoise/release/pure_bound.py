# SPDX-License-Identifier: Apache-2.0
"""What no mechanism of the same ε can beat on a question, biased or not.

Three proofs, of which the best counts: by the volume of what records can change, by their extents
(`bounds.means`), and by evidence that no ellipsoid around all changes is small: in every direction
noise spreads as far as changes do (`bounds.means`).
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.bounds import extent_bound, pure_mean_bound
from lownoise.bounds.means import directional_bound
from lownoise.certificate import PointDual, order_norm
from lownoise.errors import PlanError
from lownoise.noise.queries import query_body, query_coordinates
from lownoise.questions import AbstractQueries, Mean
from lownoise.sensitivity.relations import (
    ADD_REMOVE,
    SUBSTITUTE,
    Change,
    checked_relation,
    sensitivity_set,
)
from lownoise.sets.domains import Points

if TYPE_CHECKING:
    from lownoise.certificate import AbstractDual
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains import AbstractDomain
    from lownoise.sets.domains.coordinates import Coordinates

_NEAR = 1e-9  # of a column's range: a center as near as that to the middle is the middle
_TINY = 2.0**-40  # bodies are rounded up, by less than that of them
_LEAST_WEIGHT = 1e-100
_MOST_DIMENSIONS = 512  # whose volumes are looked at


def question_body(
    question: Mean | AbstractQueries, relation: Relation, chosen: Coordinates
) -> tuple[AbstractBody, Vector | None]:
    """Return all changes that one neighbour makes to the summed answers, and what all follow by.

    Args:
        question: what is asked.
        relation: what a neighbour is.
        chosen: the answers that are summed.
    """
    if isinstance(question, AbstractQueries):
        return query_body(question, relation, chosen), chosen.embed
    counted, own = checked_relation(relation).counted, question.domain.center
    body = sensitivity_set(question.domain, relation, own, chosen)
    return body, chosen.answers(middle(question.domain) if counted else None, own)


def count_weight(question: Mean, weights: Vector, order: float) -> float:
    """Return what one unit of the count's error matters beside those of sums about the middle.

    A mean m is center + sum/count: to first order its error is that of the sum about m over the
    count, and that is the error of the sum about the middle less (m − middle) times the count's.
    Over opposite corners of the bounds the mean of its square has no mixed terms; weighted, the
    count's part is ‖ω·farthest_mean‖_p.

    Args:
        question: what is asked.
        weights: ω on the columns, shape (d,).
        order: p.
    """
    return order_norm(weights * farthest_mean(question.domain), order)


def fit_weights(question: Mean, weights: Vector, order: float) -> tuple[Vector, float]:
    """Return what errors of sums about the middle and of the count matter, and a factor.

    Only ratios of weights matter to noise. Where the count's is beyond what evidence can have, all
    are multiplied by a power of two: their squares are numbers, too.

    Args:
        question: what is asked.
        weights: ω on the columns, shape (d,).
        order: p.

    Returns:
        Shape (d + 1,), and the factor. The count has 1 where it does not matter because all records
        are one, or where weights are too far apart; the factor is 0 then.
    """
    found = np.append(weights, count_weight(question, weights, order))
    most, least = float(np.max(found)), float(np.min(found))
    if not 0 < least <= most < math.inf:
        return np.append(weights, 1.0), 0.0
    factor = 1.0
    if not _LEAST_WEIGHT < found[-1] < 1 / _LEAST_WEIGHT:
        factor = 2.0 ** -round((math.log2(most) + math.log2(least)) / 2)
    if most / least >= _LEAST_WEIGHT**-2:
        return np.append(weights, 1.0), 0.0
    return found * factor, factor


def unbeaten(
    question: Mean | AbstractQueries,
    relation: Relation,
    size: int | None,
    epsilon: float,
    order: float,
    weights: Vector,
    *,
    chosen: Coordinates,
    dual: AbstractDual | None,
) -> float:
    """Return at most the greatest (E‖ω·error‖_p²)^{1/2} over all tables, of any mechanism.

    Of means that come as sums and the count it is the error of the sums about the worst point of
    the columns' bounds. Over that point and the one opposite, the mean of its square is no less
    than the weighted ℓ_p norm of the sums' errors about the middle and the count's (by the triangle
    inequality in ℓ_{p/2}), and of those the evidence speaks.

    Args:
        question: what is asked.
        relation: what a neighbour is; 0 is returned where it is a body of changes.
        size: the public number of records, None under `add_remove`.
        epsilon: ε.
        order: p.
        weights: ω on the answers, shape (m,), or on the d columns of means.
        chosen: the answers that are summed.
        dual: evidence on their changes, or None.
    """
    if isinstance(relation, Change):
        return 0.0
    found = _by_changes(question, size, epsilon, order, weights)
    if dual is None:
        return found
    factor = 1.0
    body, embed = question_body(question, relation, chosen)
    if isinstance(question, Mean) and size is None:
        weights, factor = fit_weights(question, weights, order)
        if not factor:
            return found  # all records are one, or the weights are beyond what evidence can have
    gamma = dual.least(body, order, weights, embed) / factor * (1 - _TINY)
    if size is None:
        return max(found, directional_bound(gamma, epsilon=epsilon))
    if not isinstance(dual, PointDual):
        return found
    # each change of the evidence has records of its own, half of them at either end
    changes = int(np.count_nonzero(dual.vertex_weights))
    own = directional_bound(
        gamma,
        epsilon=epsilon,
        most=size // (2 * max(changes, 1)),
        changes=changes,
        extent=order_norm(weights * body.answer_widths(embed), order) * (1 + _TINY),
    )
    return max(found, own / (1 if isinstance(question, AbstractQueries) else size))


@singledispatch
def _by_changes(
    question: object, size: int | None, epsilon: float, order: float, weights: Vector
) -> float:
    """Return the bounds by volume and by extents."""
    raise PlanError(f"question={type(question).__name__} is of no known kind; plan again")


@_by_changes.register(Mean)
def _by_changes_of_mean(
    question: Mean, size: int | None, epsilon: float, order: float, weights: Vector
) -> float:
    domain = question.domain
    if domain.dimension > _MOST_DIMENSIONS:
        return 0.0
    about = middle(domain)
    found = pure_mean_bound(
        domain, size=size, center=about, epsilon=epsilon, order=order, weights=weights
    )
    if size is not None:
        return found
    # a mean may be anywhere: about the ends of the bounds records reach the farthest
    end = domain.upper
    by_extent = extent_bound(
        domain, size=None, center=end, epsilon=epsilon, order=order, weights=weights
    )
    return max(found, by_extent)


@_by_changes.register(AbstractQueries)
def _by_changes_of_queries(
    question: AbstractQueries, size: int | None, epsilon: float, order: float, weights: Vector
) -> float:
    relation = ADD_REMOVE if size is None else SUBSTITUTE
    pivots = query_coordinates(question, relation).pivots
    if not 0 < pivots.size <= _MOST_DIMENSIONS:
        return 0.0
    records = Points(question.matrix[pivots].T)  # others can only add to the error
    found = pure_mean_bound(
        records,
        size=size,
        center=np.zeros(pivots.size),
        epsilon=epsilon,
        order=order,
        weights=weights[pivots],
    )
    return found * (size or 1) * (1 - _TINY) if math.isfinite(found) else 0.0


def middle(domain: AbstractDomain) -> Vector:
    """Return the middle of each column's bounds, shape (d,): the domain's center where it is."""
    found = domain.lower / 2 + domain.upper / 2
    near = np.abs(found - domain.center) <= _NEAR * (domain.upper - domain.lower)
    return domain.center if np.all(near) else found


def farthest_mean(domain: AbstractDomain) -> Vector:
    """Return how far a mean is from the `middle` at most, in each column, shape (d,)."""
    about = middle(domain)
    return np.maximum(domain.upper - about, about - domain.lower)
