# SPDX-License-Identifier: Apache-2.0
"""What no mechanism of the same ε can beat on a question, biased or not.

Three proofs, of which the best counts: by the volume of what records can change, by their extents
(`bounds.means`), and by evidence that no ellipsoid around all changes is small: in every direction
noise spreads as far as changes do (`bounds.directions`).
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.bodies import answer_widths
from lownoise.bounds import pure_mean_bound
from lownoise.bounds.directions import directional_bound
from lownoise.certificate import lower_bound, order_norm
from lownoise.certificate.duals import AbstractVertexDual
from lownoise.coordinates import summed_body
from lownoise.domains import Points
from lownoise.errors import PlanError
from lownoise.mechanisms.queries import query_body, query_coordinates
from lownoise.neighbours import Change
from lownoise.workloads import Mean, Queries

if TYPE_CHECKING:
    from lownoise.arrays import Vector
    from lownoise.certificate import AbstractDual
    from lownoise.coordinates import Coordinates
    from lownoise.neighbours import Relation
    from lownoise.sensitivity import Body

_TINY = 2.0**-40  # bodies are rounded up, by less than that of them
_MOST_DIMENSIONS = 512  # whose volumes are looked at


def question_body(
    question: Mean | Queries, relation: Relation, chosen: Coordinates
) -> tuple[Body, Vector | None]:
    """Return all changes that one neighbour makes to the summed answers, and what all follow by.

    Args:
        question: what is asked.
        relation: what a neighbour is.
        chosen: the answers that are summed.
    """
    if isinstance(question, Queries):
        return query_body(question, str(relation), chosen), chosen.embed
    counted = relation == "add_remove"
    body = summed_body(question.domain, relation, question.center, chosen)
    return body, chosen.answers(question.center if counted else None)


def unbeaten(
    question: Mean | Queries,
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

    Args:
        question: what is asked.
        relation: what a neighbour is; 0 is returned where it is a body of changes.
        size: the public number of records, None under `add_remove`.
        epsilon: ε.
        order: p.
        weights: ω, shape (m,).
        chosen: the answers that are summed.
        dual: evidence on their changes, or None.
    """
    if isinstance(relation, Change):
        return 0.0
    found = _by_changes(question, size, epsilon, order, weights)
    if dual is None:
        return found
    body, embed = question_body(question, relation, chosen)
    gamma = lower_bound(dual, body, order, weights, embed) * (1 - _TINY)
    if size is None:
        return max(found, directional_bound(gamma, epsilon=epsilon))
    if not isinstance(dual, AbstractVertexDual):
        return found
    # each change of the evidence has records of its own, half of them at either end
    changes = int(np.count_nonzero(dual.vertex_weights))
    own = directional_bound(
        gamma,
        epsilon=epsilon,
        most=size // (2 * max(changes, 1)),
        changes=changes,
        reach=order_norm(weights * answer_widths(body, embed), order) * (1 + _TINY),
    )
    return max(found, own / (1 if isinstance(question, Queries) else size))


@singledispatch
def _by_changes(
    question: object, size: int | None, epsilon: float, order: float, weights: Vector
) -> float:
    """Return the bounds by volume and by extents."""
    raise PlanError(f"question={type(question).__name__} is of no known kind; plan again")


@_by_changes.register(Mean)
def _(question: Mean, size: int | None, epsilon: float, order: float, weights: Vector) -> float:
    d = question.domain.dimension
    if d > _MOST_DIMENSIONS:
        return 0.0
    return pure_mean_bound(
        question.domain,
        size=size,
        center=question.center,
        epsilon=epsilon,
        order=order,
        weights=weights[:d],  # the count, where there is one, can only add to the error
    )


@_by_changes.register(Queries)
def _(question: Queries, size: int | None, epsilon: float, order: float, weights: Vector) -> float:
    relation = "add_remove" if size is None else "substitute"
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
