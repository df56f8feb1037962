# SPDX-License-Identifier: Apache-2.0
"""What no mechanism of the same ε can beat on a question, biased or not.

Four proofs, of which the best counts: by the volume of what records can change, by their extents
and by single changes that are far apart (`bounds.means`), and by evidence that no ellipsoid around
all changes is small: in every direction noise spreads as far as changes do (`bounds.means`).
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.bounds import extent_bound, pure_mean_bound
from lownoise.bounds.means import directional_bound
from lownoise.certificate import order_norm
from lownoise.certificate.exchange import exchanged_least
from lownoise.questions import AbstractQueries, AbstractSummed, Marginals, Mean, Parity
from lownoise.sensitivity.relations import (
    ADD_REMOVE,
    SUBSTITUTE,
    Change,
    checked_relation,
    exchange_body,
    sensitivity_set,
)
from lownoise.sensitivity.residuals import marginal_orbits
from lownoise.sets.domains import Points

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.release.terms import Terms
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains import AbstractDomain
    from lownoise.sets.domains.coordinates import Coordinates

_NEAR = 1e-9  # of a column's range: a center as near as that to the middle is the middle
_TINY = 2.0**-40  # bodies are rounded up, by less than that of them
_LEAST_WEIGHT = 1e-100
_MOST_DIMENSIONS = 512  # whose volumes are looked at
_MOST_CELLS = 128  # of a marginal, or parities of a few bits, likewise
_FEW_BITS = 7


def question_body(
    question: Mean | AbstractSummed,
    relation: Relation,
    chosen: Coordinates,
    *,
    exchanged: bool = False,
) -> tuple[AbstractBody, Vector | None]:
    """Return all changes that one neighbour makes to the summed answers, and what all follow by.

    Of units that take other rows what evidence is about: of sums alone where that is all that a
    solver knows.

    Args:
        question: what is asked.
        relation: what a neighbour is.
        chosen: the answers that are summed.
        exchanged: whether a row of a unit becomes another, beside coming and going.
    """
    if isinstance(question, AbstractSummed):
        return question.changes(relation, chosen, exchanged=exchanged), chosen.embed
    counted = checked_relation(relation).counted
    own = question.center if question.comes else question.domain.center
    answers = chosen.answers(middle(question.domain) if counted else None, own)
    if exchanged:
        found = exchange_body(question.domain, own, chosen, counted=counted)
        if found is not None:
            return found, answers
        if counted:
            body = sensitivity_set(question.domain, SUBSTITUTE, own, chosen)
            return body, chosen.answers(None)
    return sensitivity_set(question.domain, relation, own, chosen), answers


def of_sums(domain: AbstractDomain) -> bool:
    """Return whether evidence on means of units that take other rows is about sums alone."""
    return not isinstance(domain, Points)


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


def least_of(terms: Terms) -> float:
    """Return at most the least error of Gaussian noise at μ = 1 on the answers; 0 if unproved.

    Of means that come as sums and the count it is the error of the sums about the worst point of
    the columns' bounds. Over that point and the one opposite, the mean of its square is no less
    than the weighted ℓ_p norm of the sums' errors about the middle and the count's (by the triangle
    inequality in ℓ_{p/2}), and of those the evidence speaks.

    Args:
        terms: with pure noise, and evidence or None.
    """
    if terms.evidence is None:
        return 0.0
    question, weights, factor = terms.question, _weights(terms), 1.0
    body, embed = question_body(
        question, terms.relation, terms.view.chosen, exchanged=terms.exchanged
    )
    if isinstance(question, Mean) and terms.size is None:
        weights, factor = fit_weights(question, weights, terms.order)
        if not factor:
            return 0.0  # all records are one, or the weights are beyond what evidence can have
    found: float
    counted = isinstance(question, Mean) and terms.size is None
    if counted and terms.exchanged and of_sums(question.domain):
        own = terms.evidence.least(body, terms.order, weights[:-1], embed)
        image = question.domain.as_image()
        middling = image is not None and np.array_equal(image.center, middle(question.domain))
        last = float(weights[-1])
        found = exchanged_least(own, last, terms.order, 0.0 if middling else None)
    else:
        found = terms.evidence.least(body, terms.order, weights, embed)
    return found / factor * (1 - _TINY) / terms.view.divisor * terms.rows


def repeats(terms: Terms) -> int:
    """Return how often each of the changes that prove `least_of` can be made, beside the others.

    Each has as many records of its own as each other; under a body of changes where some table has
    records with room for them, as far as that is known.

    Args:
        terms: where the number of records is public.
    """
    evidence, view = terms.plain_evidence or terms.evidence, terms.view
    if evidence is None or terms.size is None or not _has_room(terms):
        return 0
    needed = evidence.points_needed(view.body, len(view.names))
    return terms.size // max(needed, 1)


def _has_room(terms: Terms) -> bool:
    """Return whether every change of one record surely is the difference of two.

    A body is in the box of its widths, and in the ball of its length.
    """
    if not isinstance(terms.relation, Change):
        return True
    domain = terms.question.domain
    d = domain.dimension
    body = terms.relation.changes(np.arange(d), np.ones(d))
    image, axes = domain.along_axes(), domain.inscribed(np.ones(d))
    if image is not None:
        half, widths = np.abs(image.factor), body.widths()
        moved = widths > 0
        corner = np.divide(widths, 2 * half, out=np.zeros(d), where=half > 0)
        inside = image.base.norm_up(corner[None])[0] <= 1 + _TINY / 2
        if inside and np.all(half[moved] > 0):
            return True
    return axes.size == d and bool(body.answer_length(None) <= 2 * axes[-1] * (1 + _TINY / 2))


def unbeaten(terms: Terms, epsilon: float) -> float:
    """Return at most the greatest (E‖ω·error‖_p²)^{1/2} over all tables, of any ε-DP mechanism.

    Args:
        terms: with pure noise.
        epsilon: ε.
    """
    question, size, order = terms.question, terms.size, terms.order
    weights, gamma = _weights(terms), least_of(terms)
    found = 0.0
    if not isinstance(terms.relation, Change):
        found = _by_changes(question, size, epsilon, order, weights) * terms.rows
    if size is None:
        return max(found, directional_bound(gamma, epsilon=epsilon))
    most = repeats(terms)
    if not most:
        return found
    # half of the records of each change at either end
    body, embed = question_body(question, terms.relation, terms.view.chosen)
    widest = weights * body.answer_widths(embed) * (1 + _TINY) / terms.view.divisor * terms.rows
    changes = size // most
    own = directional_bound(
        gamma,
        epsilon=epsilon,
        most=most // 2,
        changes=changes,
        extent=order_norm(widest, order),
        length=order_norm(widest, 2.0),
    )
    return max(found, own)


def by_volume(terms: Terms, epsilon: float) -> float:
    """Return the same of questions that have weights of their own: marginals and parities.

    Args:
        terms: with pure noise.
        epsilon: ε.
    """
    return _by_changes(terms.question, terms.size, epsilon, terms.order, None) * terms.rows


def _weights(terms: Terms) -> Vector:
    assert terms.weights is not None  # noqa: S101 (what all terms with pure noise have)
    return terms.weights


@singledispatch
def _by_changes(
    question: object, size: int | None, epsilon: float, order: float, weights: Vector | None
) -> float:
    """Return the bounds by volume and by extents: 0 where none is known."""
    return 0.0


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
    pivots = question.coordinates(relation).pivots
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


@_by_changes.register(Marginals)
def _by_changes_of_marginals(
    question: Marginals, size: int | None, epsilon: float, order: float, _: None
) -> float:
    """Return the best bound on the cells of any one marginal: all answers err at least as much."""
    orbits, found = marginal_orbits(question), 0.0
    heaviest: dict[int, float] = {}
    for orbit, weight in zip(orbits.asked, np.sqrt(orbits.weights).tolist(), strict=True):
        if any(question.attributes[i].ordered for i in orbits.members_of(orbit)):
            continue  # what is asked of it is no cell
        cells = math.prod(int(orbits.sizes[k]) for k in orbit)
        heaviest[cells] = max(heaviest.get(cells, 0.0), weight)
    for cells, weight in heaviest.items():
        if not 1 + (size is not None) <= cells <= _MOST_CELLS:
            continue
        own = pure_mean_bound(
            Points(np.eye(cells)),
            size=size,
            center=np.zeros(cells),
            epsilon=epsilon,
            order=order,
            weights=np.full(cells, weight),
        )
        found = max(found, own * (size or 1) * (1 - _TINY)) if math.isfinite(own) else found
    return found


@_by_changes.register(Parity)
def _by_changes_of_parity(
    question: Parity, size: int | None, epsilon: float, order: float, _: None
) -> float:
    """Return the bound on parities of the first bits alone: all answers err at least as much."""
    bits, found = len(question.attributes), 0.0
    for few in range(1, min(bits, _FEW_BITS) + 1):
        degrees = [k for k in question.degrees if k <= few]
        count = sum(math.comb(few, k) for k in degrees)
        if not degrees or count > _MOST_CELLS:
            continue
        weights = question.degree_weights[[question.degrees.index(k) for k in degrees]]
        names = [a.name for a in question.attributes[:few]]
        own = Parity(names, degrees, weights=weights.tolist()).as_queries
        by = _by_changes_of_queries(own, size, epsilon, order, own.weights)
        found = max(found, by)
    return found


def middle(domain: AbstractDomain) -> Vector:
    """Return the middle of each column's bounds, shape (d,): the domain's center where it is."""
    found = domain.lower / 2 + domain.upper / 2
    near = np.abs(found - domain.center) <= _NEAR * (domain.upper - domain.lower)
    return domain.center if np.all(near) else found


def farthest_mean(domain: AbstractDomain) -> Vector:
    """Return how far a mean is from the `middle` at most, in each column, shape (d,)."""
    about = middle(domain)
    return np.maximum(domain.upper - about, about - domain.lower)
