# SPDX-License-Identifier: Apache-2.0
"""From a mechanism that is nearly private to one that is, in multiples of 2⁻⁵².

A constant added to one column loosens every pair: P[x] + c ≤ e^{εd}(P[x'] + c) holds as soon as
c·(e^{εd} − 1) is at least what P[x] exceeds e^{εd}·P[x'] by. So each column gets the least constant
that makes up for what the solver is off and what rounding will be, and rows are scaled back to one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate.finite import check_private
from lownoise.errors import PlanError
from lownoise.samplers.lazy import UNIT

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

_NOTHING = 1e-14  # a column below it is one that is never used
_LARGEST = 2.0**60
_ROUNDS = 20


def repaired(found: Vector, distances: Vector, epsilon: float) -> Vector:
    """Return a mechanism near `found` that is exactly ε-differentially private.

    Args:
        found: P, shape (D, R), nearly rows of probabilities and nearly private.
        distances: symmetric, shape (D, D).
        epsilon: above 0.

    Raises:
        PlanError: where rounding to 2⁻⁵² hides the difference between neighbours.
    """
    alike, joined = _same(distances)
    P = np.maximum(found, 0.0)[alike]
    P = P / np.sum(P, axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        growth = np.minimum(np.expm1(np.minimum(epsilon * distances, 50.0)), _LARGEST)
    slack = 1.0
    for _ in range(_ROUNDS):
        tried = P.copy()
        for component in np.unique(joined):
            at = np.flatnonzero(joined == component)
            tried[at] = _loosened(P[at], growth[np.ix_(at, at)], slack)
        law = _rounded(tried)
        try:
            check_private(law, distances, epsilon)
        except PlanError:
            slack *= 4
        else:
            return law
    raise PlanError(
        f"optimal_mechanism cannot hold epsilon={epsilon:g} at these distances in multiples of "
        "2^-52; use a larger epsilon or larger distances",
    )


def _same(distances: Vector) -> tuple[Integers, Integers]:
    """Return the first database at distance 0 by paths, and by finite paths, of each."""
    from scipy.sparse.csgraph import connected_components

    found = []
    for together in (distances == 0, np.isfinite(distances)):
        labels = connected_components(together, directed=False)[1]
        first = np.unique(labels, return_index=True)[1]
        found.append(first[labels])
    return found[0], found[1]


def _loosened(P: Vector, growth: Vector, slack: float) -> Vector:
    """Return P with a constant added to each column that is used; rows still sum to one."""
    used = np.max(P, axis=0) > _NOTHING
    constants = np.zeros(P.shape[1])
    for x, row in enumerate(growth):
        near = np.flatnonzero(row > 0)
        if near.size:
            g = row[near][:, None]
            over = P[x] - (1 + g) * P[near]
            # one unit of rounding in P[x], two and a product's in (1 + g)·P[x']
            needed = np.maximum(over, 0.0) / g + (2 + 4 * (1 + g)) * UNIT / g
            constants = np.maximum(constants, np.max(needed, axis=0))
    loosened = np.where(used, P + slack * constants, 0.0)
    total: Vector = np.sum(loosened, axis=1, keepdims=True)
    return loosened / total


def _rounded(P: Vector) -> Vector:
    """Return rows of multiples of 2⁻⁵² that sum to one, each within one multiple; 0 stays 0."""
    scaled = P / UNIT
    counts = np.floor(scaled)
    missing = (1 / UNIT - np.sum(counts.astype(np.int64), axis=1)).astype(np.int64)
    order = np.argsort(np.where(P > 0, counts - scaled, np.inf), axis=1, kind="stable")
    place = np.argsort(order, axis=1)
    counts += place < missing[:, None]
    rows = np.arange(len(P))
    counts[rows, np.argmax(P, axis=1)] += np.minimum(missing, 0)  # where rounding had gone up
    law: Vector = counts * UNIT
    return law
