# SPDX-License-Identifier: Apache-2.0
"""The semidefinite programme for the best factorization, through cvxpy: a third opinion in tests.

003, Section 3 and Appendix A, states it for the largest row norm; 002, Section 2.6, for p = 2 and
∞. For every p (ours): with W = L·xᵀ, one column a point,

    min η   under   [[X, W − u1ᵀ], [(W − u1ᵀ)ᵀ, Y]] ⪰ 0,   ‖diag X‖_{p/2} ≤ η,   Yᵢᵢ ≤ η,

u = 0 if centered, else free. There Y ⪰ (W−u1ᵀ)ᵀX⁺(W−u1ᵀ), so ηX covers the columns of W−u1ᵀ, and
Γ² ≤ ‖diag ηX‖_{p/2} ≤ η²; the best cover M gives X = M/Γ and η = Γ. Nothing is reduced to a span or
inverted beforehand.
"""

import math

import cvxpy as cp
import numpy as np


def least(points, *, queries=None, order=2.0, centered=True):
    """Return Γ_p for points (N, d) and queries (m, d), to about 1e-7."""
    W = np.asarray(points).T if queries is None else np.asarray(queries) @ np.asarray(points).T
    scale = float(np.max(np.abs(W)))
    m, n = W.shape
    X = cp.Variable((m, m), symmetric=True)
    Y = cp.Variable((n, n), symmetric=True)
    u = np.zeros((m, 1)) if centered else cp.Variable((m, 1))
    bound = cp.Variable()
    cross = W / scale - u @ np.ones((1, n))
    programme = cp.Problem(
        cp.Minimize(bound),
        [
            cp.bmat([[X, cross], [cross.T, Y]]) >> 0,
            _norm(cp.diag(X), order / 2) <= bound,
            cp.diag(Y) <= bound,
        ],
    )
    programme.solve(solver=cp.CLARABEL)
    assert programme.status == cp.OPTIMAL
    return scale * float(bound.value)


def _norm(variances, order):
    if order == 1:
        return cp.sum(variances)
    return cp.max(variances) if math.isinf(order) else cp.pnorm(variances, order)
