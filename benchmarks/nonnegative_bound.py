# SPDX-License-Identifier: Apache-2.0
"""How little Toeplitz strategies of coefficients ≥ 0 can err where a person is in several rounds.

Let K add up the rounds 0, b, 2b, …, so that ‖Kc‖ is what a person there moves: no more than the
sensitivity for any pattern of the three kinds. For every y, with H its Hankel matrix and b·c = w,

    (Σ w_k y_k)² = (bᵀHc)² ≤ bᵀDb·cᵀMc,   M = HᵀD⁻¹H,

and wherever λKᵀK − M = S + N with S ⪰ 0 and N ≥ 0 entry by entry, off the c > 0,

    c ≥ 0  ⟹  cᵀMc ≤ λ‖Kc‖²,   so   ‖Kc‖²·bᵀDb ≥ (Σ w_k y_k)²/λ

(ours). At an optimum c* over c ≥ 0, scaled so that ‖Kc*‖² = bᵀDb, Lagrange's conditions are
Hc* = Db and KᵀKc* − Hb = ν ≥ 0, 0 where c* > 0: y is found by one division, and λ = 1 asks for
N with Nc* = ν. Where some S ⪰ 0 goes with such an N the optimum is global and the bound is met.
N is sought by projections (S onto the positive matrices, then N onto N ≥ 0, with Nesterov's
momentum), and λ is raised until S is positive for certain: the bound is right whatever was found.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.solvers.streams.series import divide, gathered, inverse, multiply, repeated
from lownoise.solvers.streams.toeplitz import optimal_toeplitz, round_weights

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.participation import Participation
    from lownoise.solvers.streams.toeplitz import Error

MOST = 1024  # rounds: matrices of more take minutes
_STEPS = 40
_ZERO = 1e-9  # of the largest coefficient: what is not above it is held to be 0
_FIRST, _FACTOR, _LAST = 1e-7, 2.0, 1e3  # what λ − 1 may be
_ROUNDING = 8 * 2.0**-53


def nonnegative_bound(workload: Vector, error: Error, participation: Participation) -> float:
    """Return a squared error that no Toeplitz strategy of coefficients ≥ 0 is below.

    Args:
        workload: w, shape (n,), w_0 > 0, n at most `MOST`.
        error: "mean" or "max".
        participation: the rounds that one person may add to.

    Returns:
        The bound, in the units of `squared_error`; 0 where none was found.
    """
    from scipy.linalg import hankel, toeplitz

    count, separation, n = participation.count, participation.separation, len(workload)
    # over all c ≥ 0, falling or not
    wide = dataclasses.replace(participation, pattern="spaced")
    c = optimal_toeplitz(workload, error, wide)
    weights = round_weights(n, error)
    b = divide(workload, c)
    y = multiply(inverse(c), (weights * b)[::-1])[::-1]
    H, K = hankel(y, np.zeros(n)), toeplitz(repeated(np.eye(1, n)[0], count, separation))
    M, P = H.T @ (H / weights[:, None]), np.triu(K) @ np.tril(K)
    slack = gathered(repeated(c, count, separation), count, separation) - H @ b
    N = _beside(P - M, slack, c, separation)
    total = math.fsum((workload * y).tolist())
    # Cholesky's factors of A are those of a matrix within (n + 1)·2⁻⁵³·tr A or so: A + that is
    # positive where they exist; a few times as much is for the products above
    sizes = float(np.trace(P)) + float(np.sum(np.sum(H**2, axis=1) / weights)) + float(np.sum(N))
    more = _FIRST
    while more < _LAST:
        S = (1 + more) * P - M - N
        S[np.diag_indices(n)] -= _ROUNDING * n * (1 + more) * sizes
        if _positive(S):
            return max(total, 0.0) ** 2 / (1 + more) * (1 - 2.0**-45)
        more *= _FACTOR
    return 0.0


def _beside(matrix: Vector, slack: Vector, c: Vector, separation: int) -> Vector:
    """Return N ≥ 0, 0 where c > 0 both ways, with matrix − N about positive."""
    n = len(c)
    held = c > _ZERO * float(np.max(c))
    N = np.zeros((n, n))
    inside = np.flatnonzero(held)
    for i in np.flatnonzero(~held):
        # Nc = ν, by coefficients some separations away, whose products with this one are in ‖Kc‖²
        near = inside[(inside - i) % separation == 0]
        near = near if len(near) else inside[:1]
        own = max(float(slack[i]), 0.0) * c[near] / float(c[near] @ c[near])
        N[i, near], N[near, i] = own, own
    ahead, momentum = N, 1.0
    for _ in range(_STEPS):
        values, vectors = np.linalg.eigh(matrix - ahead)
        if values[0] >= 0:
            break
        low = values < 0
        projected = np.maximum(ahead + (vectors[:, low] * values[low]) @ vectors[:, low].T, 0.0)
        projected[np.ix_(held, held)] = 0.0
        following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead = projected + (momentum - 1) / following * (projected - N)
        N, momentum = projected, following
    return N


def _positive(matrix: Vector) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True
