# SPDX-License-Identifier: Apache-2.0
"""The best private mechanism of a finite problem: the linear program of 001, section 2.4.

    least t,  Σᵣ P[x, r]·e[x, r] ≤ t,  Σᵣ P[x, r] = 1,  P ≥ 0,
    e^{−ε·d(x, x')}·P[x, r] ≤ P[x', r]  for the pairs that are needed.

A pair is not needed where a path of others is as short. The multipliers are the evidence, which
`certificate.finite` checks.

The solution is nearly private; a mechanism whose privacy holds exactly, in multiples of 2⁻⁵², is
made of it. A constant added to one column loosens every pair: P[x] + c ≤ e^{εd}(P[x'] + c) holds as
soon as c·(e^{εd} − 1) is at least what P[x] exceeds e^{εd}·P[x'] by. So each column gets the least
constant that makes up for what the solver is off and what rounding will be, and rows are scaled
back to one.

Programs are solved to the last digits of a float. HiGHS stops where nothing is violated by more
than 10⁻¹⁰. What is violated is the right side of a program with the same matrix, which multiplied
by a large number is solved to 10⁻¹⁰ of itself; so a round gains digits (iterative refinement;
Gleixner, Steffy & Wolter 2016). Where HiGHS fails at so large a number, a smaller one is tried;
each side keeps the best that was found for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate import FiniteClaim, FiniteDual
from lownoise.certificate.finite import check_private
from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.samplers.lazy import UNIT

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from lownoise.numbers.arrays import Integers, Vector

_MOST = 30_000  # constraints, beside which the cap on unknowns is what counts
_SAME = 1 + 1e-12  # a path this near to a distance is one
_NOTHING = 1e-14  # a column below it is one that is never used
_LARGEST = 2.0**60
_ROUNDS = 20
_TOLERANCE = 1e-10  # HiGHS takes none smaller
_ENOUGH = 1e-13
_ENLARGED = (1.0, 2.0**30, 2.0**20, 2.0**10)  # by what at most, round after round


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
    nearest = np.full((D, D), np.inf)
    np.fill_diagonal(nearest, 0.0)
    kept = []
    for k in np.argsort(length, kind="stable").tolist():
        i, j, d = int(one[k]), int(other[k]), float(length[k])
        if d < np.inf and nearest[i, j] > d * _SAME:
            kept.append((i, j))
            for a, b in ((i, j), (j, i)):
                np.minimum(nearest, nearest[:, a, None] + d + nearest[b], out=nearest)
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


def solved(cost: Vector, matrix: csc_array, sides: Vector) -> tuple[Vector, Vector] | None:
    """Return x ≥ 0 with matrix·x = sides and the least cost·x, and the multipliers; None if none.

    Args:
        cost: shape (n,).
        matrix: shape (m, n).
        sides: shape (m,).
    """
    from scipy.optimize import linprog

    x, y = np.zeros(cost.size), np.zeros(sides.size)
    off = dual_off = np.inf
    for most in _ENLARGED:
        by, dual_by = _enlarged(off, most), _enlarged(dual_off, most)
        found = linprog(
            dual_by * (cost - matrix.T @ y),
            A_eq=matrix,
            b_eq=by * (sides - matrix @ x),
            bounds=np.stack([-by * x, np.full(x.size, np.inf)], axis=1),
            method="highs",
            options={
                "primal_feasibility_tolerance": _TOLERANCE,
                "dual_feasibility_tolerance": _TOLERANCE,
            },
        )
        if found.x is None or found.status != 0:
            continue
        new, dual_new = x + found.x / by, y + found.eqlin.marginals / dual_by
        left = max(float(np.max(np.abs(sides - matrix @ new))), float(np.max(-new)))
        dual_left = float(np.max(matrix.T @ dual_new - cost))
        # of two that violate nothing the later is the nearer to the least
        if left < max(off, _ENOUGH):
            x, off = new, left
        if dual_left < max(dual_off, _ENOUGH):
            y, dual_off = dual_new, dual_left
        if max(off, dual_off) <= _ENOUGH:
            break
    return (x, y) if max(off, dual_off) < np.inf else None


def _enlarged(off: float, most: float) -> float:
    """Return a power of two that makes `off` about 1, `most` at most."""
    return min(float(2.0 ** np.floor(-np.log2(max(off, 1e-300)))), most) if off < np.inf else 1.0
