# SPDX-License-Identifier: Apache-2.0
"""How ε is split over independent noise so that the error is least: scales b, up to a factor.

Of an error of order 2 by the dual weights of the constraints; of others, which a maximum over the
answers makes sharp, by searches that are smooth at first. Any scales are private.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.noise.units import Exchanged
from lownoise.sets.bodies import PointDifferences, SymmetricPoints

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies import AbstractBody

_MOST_CHANGES = 1 << 21  # numbers in the list of changes that Laplace scales are fitted to
_MET = 12  # changes of a body that has no list of them
_NEAR = 1 + 1e-3
_ROUNDS = 500
_SETTLED = 1e-9
_SHARP = (4.0, 16.0, 64.0, 256.0, 1024.0)  # powers, by whose means maxima are smoothed
_WIDEST = 30.0  # how far logarithms of scales may move
_TINY = 1e-300


def least_scales(changes: Vector, matters: Vector) -> Vector:
    """Return b that makes Σ mᵢbᵢ² nearly least under Σ|sᵢ|/bᵢ ≤ 1; shapes (n, d) and (d,)."""
    weights = np.full(len(changes), 1 / len(changes))
    best, least = np.ones(matters.size), math.inf
    for _ in range(_ROUNDS):
        scales = np.cbrt(np.maximum(weights @ changes, _TINY) / matters)
        costs = changes @ (1 / scales)
        most = float(np.max(costs))
        value = float(matters @ np.square(scales)) * most**2
        if value < least * (1 - _SETTLED):
            best, least = scales * most, value
        weights = weights * np.square(costs / most)
        weights = weights / np.sum(weights)
    return best


def met_scales(body: AbstractBody, matters: Vector, start: Vector) -> Vector | None:
    """Return the same for changes that are found where others are paid for; None where none are.

    Args:
        body: of the changes.
        matters: m, above 0, shape (d,).
        start: scales, to find the first with.
    """
    scales, met = start, np.zeros((0, start.size))
    for _ in range(_MET):
        found = body.sums_in_up(scales)
        if found is None:
            return None
        if len(met) and found[0] <= _NEAR * float(np.max(met @ (1 / scales))):
            break
        met = np.vstack([met, found[1]])
        scales = least_scales(met, matters)
    return scales


def scales_of_order(changes: Vector, squares: Vector, order: float) -> Vector:
    """Return b with nearly the least ‖σ‖_p, σⱼ² = Σ Aⱼᵢbᵢ², under Σ|sᵢ|/bᵢ ≤ 1 for every s.

    The logarithms of ‖σ‖_p and of the greatest Σ|sᵢ|/bᵢ are convex in ln b, so that a search has
    one end; maxima are smooth at first, and less so from search to search.

    Args:
        changes: |s|, shape (n, d).
        squares: A, shape (m, d).
        order: p.

    Examples:
        >>> scales_of_order(np.array([[1.0, 3.0]]), np.eye(2), math.inf).round(2)
        array([4., 4.])
    """
    from scipy.optimize import minimize
    from scipy.special import logsumexp, softmax

    rows = [own[np.any(own > 0, axis=1)] for own in (squares, changes)]

    def error(logs: Vector, sharp: float) -> tuple[float, Vector]:
        value, slope = 0.0, np.zeros(logs.size)
        for own, sign, power in ((rows[0], 2.0, min(order / 2, sharp)), (rows[1], -1.0, sharp)):
            terms = own * np.exp(sign * logs)
            sums = np.maximum(np.sum(terms, axis=1), _TINY)
            share = softmax(power * np.log(sums)) / sums
            value += float(logsumexp(power * np.log(sums))) / power / abs(sign)
            slope += math.copysign(1.0, sign) * (share @ terms)
        return value, slope

    at = -np.log(np.sqrt(np.max(squares, axis=0)) + _TINY) / 2
    at -= np.max(at)
    room = [(low, low + 2 * _WIDEST) for low in (at - _WIDEST).tolist()]
    for sharp in _SHARP:
        found = minimize(error, at, args=(sharp,), jac=True, method="L-BFGS-B", bounds=room)
        at = found.x
    scales = np.exp(at - np.max(at))
    return np.asarray(scales * np.max(changes @ (1 / scales)))


def few_changes(body: AbstractBody) -> Vector | None:
    """Return |s| for the changes that matter, where they are few enough to be listed.

    Of units that take other rows no change of one that comes or goes exceeds its widths, and none
    of one that becomes another exceeds those.
    """
    if isinstance(body, Exchanged):
        return np.vstack([body.coming.widths(), body.becoming.widths()])
    if isinstance(body, SymmetricPoints):
        found = np.abs(body.points)
    elif isinstance(body, PointDifferences):
        points = body.points
        if len(points) ** 2 * points.shape[1] > _MOST_CHANGES:
            return None
        first, second = np.triu_indices(len(points), 1)
        found = np.abs(points[first] - points[second])
    else:
        return None
    return np.unique(found, axis=0) if found.size <= _MOST_CHANGES else None
