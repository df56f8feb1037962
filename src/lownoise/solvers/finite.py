# SPDX-License-Identifier: Apache-2.0
"""The best private mechanism of a finite problem: the linear program of 001, section 2.4.

    least t,  Σᵣ P[x, r]·e[x, r] ≤ t,  Σᵣ P[x, r] = 1,  P ≥ 0,
    e^{−ε·d(x, x')}·P[x, r] ≤ P[x', r]  for the pairs that are needed.

A pair is not needed where a path of others is as short. `repair` makes of the solution a
mechanism whose privacy holds exactly; its multipliers are the evidence, which `certificate.finite`
checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate import FiniteClaim, FiniteDual
from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.solvers.refined import solved
from lownoise.solvers.repair import repaired

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

_MOST = 30_000  # constraints, beside which the cap on unknowns is what counts
_SAME = 1 + 1e-12  # a path this near to a distance is one


def best_mechanism(
    distances: Vector,
    errors: Vector,
    epsilon: float,
    prior: Vector | None,
) -> FiniteClaim:
    """Return the mechanism of the least error, with the evidence for it.

    Args:
        distances: symmetric, zero on the diagonal, some infinite; shape (D, D).
        errors: e ≥ 0, shape (D, R).
        epsilon: above 0.
        prior: weights of the databases, shape (D,), of sum 1; None for the worst of them.

    Raises:
        PlanError: where the program is too large, or is not solved.
    """
    pairs = needed_pairs(distances)
    R = errors.shape[1]
    if len(pairs) * R > _MOST:
        raise PlanError(
            f"distances has {len(pairs):,} ordered pairs that no path replaces, and with {R:,} "
            f"answers makes more than {_MOST:,} constraints; take fewer records or fewer answers",
        )
    scale = float(np.max(errors)) or 1.0
    found, z, w = _solved(pairs, np.exp(-epsilon * distances), errors / scale, prior)
    return FiniteClaim(
        distances=distances,
        errors=errors,
        epsilon=epsilon,
        prior=prior,
        probabilities=frozen(repaired(found, distances, epsilon)),
        dual=FiniteDual(frozen(w), pairs, frozen(z * scale)),
    )


def needed_pairs(distances: Vector) -> Integers:
    """Return the pairs, both ways, whose shortest paths are all shortest paths; shape (k, 2).

    Args:
        distances: symmetric, zero on the diagonal, some infinite; shape (D, D).

    Examples:
        >>> line = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
        >>> needed_pairs(line).tolist()
        [[0, 1], [1, 2], [2, 3], [1, 0], [2, 1], [3, 2]]
    """
    D = len(distances)
    one, other = np.triu_indices(D, 1)
    length = distances[one, other]
    reached = np.full((D, D), np.inf)
    np.fill_diagonal(reached, 0.0)
    kept = []
    for k in np.argsort(length, kind="stable").tolist():
        i, j, d = int(one[k]), int(other[k]), float(length[k])
        if d < np.inf and reached[i, j] > d * _SAME:
            kept.append((i, j))
            for a, b in ((i, j), (j, i)):
                np.minimum(reached, reached[:, a, None] + d + reached[b], out=reached)
    way = np.array(kept, dtype=np.int64).reshape(-1, 2)
    return np.vstack([way, way[:, ::-1]])


def _solved(
    pairs: Integers,
    least: Vector,
    errors: Vector,
    prior: Vector | None,
) -> tuple[Vector, Vector, Vector]:
    """Return P, the multipliers of pairs and answers, and those of the databases' errors."""
    from scipy import sparse

    D, R = errors.shape
    k = len(pairs)
    rows, there, back = np.arange(k), *pairs.T
    links = sparse.csr_array((least[there, back], (rows, there)), shape=(k, D))
    links = links - sparse.csr_array((np.ones(k), (rows, back)), shape=(k, D))
    above = sparse.kron(links, sparse.eye_array(R))
    one = sparse.kron(sparse.eye_array(D), np.ones((1, R)))
    if prior is None:  # one more unknown, the worst error
        cost = np.append(np.zeros(D * R), 1.0)
        own = sparse.block_diag(list(errors[:, None, :]))
        above = sparse.block_array([[above, None], [own, -np.ones((D, 1))]])
        one = sparse.block_array([[one, sparse.csr_array((D, 1))]])
    else:
        cost = np.ravel(prior[:, None] * errors)
    m = above.shape[0]  # inequalities, each with a slack
    matrix = sparse.block_array([[above, sparse.eye_array(m)], [one, None]], format="csc")
    found = solved(
        np.append(cost, np.zeros(m)),
        matrix,
        np.append(np.zeros(m), np.ones(D)),
    )
    if found is None:
        raise PlanError(
            f"optimal_mechanism of {D} databases and {R} answers was not solved; use fewer "
            "answers or another epsilon",
        )
    P = found[0][: D * R].reshape(D, R)
    multipliers = np.maximum(-found[1][:m], 0.0)
    w = multipliers[k * R :] if prior is None else prior
    if not np.any(w > 0):  # where nothing costs anything, any will do
        w = np.ones(D)
    return P, multipliers[: k * R].reshape(k, R), w
