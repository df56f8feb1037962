# SPDX-License-Identifier: Apache-2.0
"""The fixed point of the optimality conditions, by multiplicative steps that never go back.

Point weights w ≥ 0, Σw = 1, and query weights c ≥ 0, ‖c‖_q ≤ 1, q = p/(p−2), have the fidelity

    F(c, w) = tr (G^{1/2} C G^{1/2})^{1/2} = ‖Aᵀ B‖_*,   G = A Aᵀ = Lᵀ diag(c) L,   C = B Bᵀ,

C the covariance of the points under w (about 0 if centered). F is concave, and its maximum is Γ.
That F ≤ Γ is weak duality, proved in `lownoise.certificate`; tr CM⁻¹ ≤ 1 holds for any shift, since
the mean is the shift with the least Σᵢ wᵢ(xᵢ−v)ᵀM⁻¹(xᵢ−v).

With Aᵀ B = P D Qᵀ the matrix M = B Q D⁻¹ Qᵀ Bᵀ solves M G M = C, and M⁻¹ = A P D⁻¹ Pᵀ Aᵀ: nothing
is inverted that is nearly singular. Write gᵢ = (xᵢ−v)ᵀM⁻¹(xᵢ−v) = 2 ∂F/∂wᵢ, v the weighted mean or
0, and mⱼ = lⱼᵀMlⱼ = 2 ∂F/∂cⱼ. Scaled by max gᵢ, M covers: the upper bound.

Each step maximises a function that is below F everywhere and touches it at the current weights, so
F never falls (ours; optimal design knows the step w ← w·g):

* centered, w ← w·g². F(c, w′) ≥ tr(U Aᵀ B′) for the U = Q Pᵀ of w, which is Σᵢ √w′ᵢ·√wᵢ·gᵢ.
* queries, c ← (c·m²)^{1/(2q−1)}. Likewise Σⱼ √c′ⱼ·√cⱼ·mⱼ, maximised over ‖c′‖_q = 1.
* free shift, w ← w·√g. By Gauss and Markov C′⁻¹ ⪯ H diag(1/w′) Hᵀ with the H of w (equality at
  w), and Z ↦ tr (G^{1/2} Z⁻¹ G^{1/2})^{1/2} is convex and falls with Z: F(c, w′) is at least a
  constant − ½·Σᵢ wᵢ²gᵢ/w′ᵢ. The step w ← w·g does not converge here: on two points it swaps
  their weights for ever.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from tests.references.question import reduced

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from tests.references.question import Bracket

    from lownoise.numbers.arrays import Vector

# A weight that tends to 0 stops here, against underflow; it costs the gap at most as much.
_FLOOR = 1e-14
_LEAST_ORDER = 2.0


def fixed_point(
    points: ArrayLike,
    *,
    queries: ArrayLike | None = None,
    order: float = 2.0,
    centered: bool = True,
    rtol: float = 1e-6,
    rounds: int = 100_000,
) -> Bracket:
    """Return Γ from both sides, to a gap of `rtol` or as far as `rounds` go.

    Args:
        points: shape (N, d).
        queries: L, shape (m, d); the identity where None.
        order: p in [2, ∞].
        centered: whether the shift is 0, for the body conv{±xᵢ}.
        rtol: the gap upper/lower − 1 at which to stop.
        rounds: the most steps; hundreds are usual, points that nearly touch the optimum take more.

    Raises:
        PlanError: where an argument is outside its range.

    Examples:
        >>> square = [[1.0, 4.0], [1.0, -4.0]]
        >>> found = fixed_point(square)
        >>> round(found.lower, 4), round(found.upper, 4)
        (5.0, 5.0)
    """
    problem = reduced(points, queries, order, centered=centered)
    x, L = problem.points, problem.queries
    if x.shape[1] == 0:
        return problem.nothing()
    q = 1.0 if math.isinf(order) else math.inf if order == _LEAST_ORDER else order / (order - 2)
    w = np.full(x.shape[0], 1 / x.shape[0])
    c = _unit(np.ones(L.shape[0]), q)
    lower, upper = 0.0, math.inf
    covariance, shift = np.zeros((0, 0)), np.zeros(0)
    done = 0
    while done < rounds and not upper <= lower * (1 + rtol):
        done += 1
        v = np.zeros(x.shape[1]) if centered else w @ x
        lower, M, g, m = _optimum_of_weights(x - v, L, w, c)
        value = math.sqrt(float(np.max(g))) * _root_norm(m, order)
        if value < upper:
            upper, covariance, shift = value, M * float(np.max(g)), v
        # one kind of weight at a time: what is below F is so for one kind with the other held
        if q < math.inf and done % 2 == 0:
            relative = c * (m / np.max(m)) ** 2
            c = _unit(relative ** (1 / (2 * q - 1)), q)
        else:
            w = _unit(w * (g / np.max(g)) ** (2.0 if centered else 0.5), 1.0)
    return problem.bracket((lower, upper), covariance, shift, done)


def _optimum_of_weights(
    x: Vector,
    L: Vector,
    w: Vector,
    c: Vector,
) -> tuple[float, Vector, Vector, Vector]:
    """Return F, M = G⁻¹ # C of shape (d, d), g of shape (N,) and m of shape (m,)."""
    A = _square_root(np.sqrt(c)[:, None] * L)
    B = _square_root(np.sqrt(w)[:, None] * x)
    P, D, Qt = np.linalg.svd(A.T @ B)
    half = B @ Qt.T / np.sqrt(D)  # M = half·halfᵀ
    inverse_half = A @ P / np.sqrt(D)
    g = np.sum((x @ inverse_half) ** 2, axis=1)
    m = np.sum((L @ half) ** 2, axis=1)
    return math.fsum(D), half @ half.T, g, m


def _square_root(rows: Vector) -> Vector:
    """Return A (d, d) with A Aᵀ = rowsᵀ rows, for rows (k, d), without forming that product."""
    R = np.asarray(np.linalg.qr(rows).R, dtype=np.float64)
    return np.pad(R, ((0, R.shape[1] - R.shape[0]), (0, 0))).T  # k < d: zeros below


def _unit(weights: Vector, q: float) -> Vector:
    """Return the weights with ‖·‖_q = 1, none of them quite 0."""
    raised = np.maximum(weights / np.max(weights), _FLOOR)
    norm = 1.0 if math.isinf(q) else math.fsum(raised**q) ** (1 / q)
    return np.asarray(raised / norm)


def _root_norm(variances: Vector, order: float) -> float:
    """Return ‖√variances‖_order, shape (m,) to a number."""
    top = float(np.max(variances))
    if math.isinf(order):
        return math.sqrt(top)
    return math.sqrt(top) * float(math.fsum((variances / top) ** (order / 2)) ** (1 / order))
