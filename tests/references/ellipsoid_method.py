# SPDX-License-Identifier: Apache-2.0
"""The source's own algorithm: the ellipsoid method over (M, v), fed by a quadratic oracle.

002, Theorem 30 and Appendix B. The program (11)–(13) is convex in M and v jointly: minimise
f(M) = tr_{p/2}(L M Lᵀ) under h(M, v) = maxᵢ (xᵢ−v)ᵀM⁻¹(xᵢ−v) ≤ 1. Its cuts are kept: (35) for f,
(36) for h at the point that the oracle finds, and a cut uuᵀ where M is not positive definite (with
v − x for the source's x + v). Its search over λ is not needed (ours): f(tM) = t·f(M) and
h(tM, v) = h(M, v)/t, so

    min f + h = 2·min √(f·h) = 2Γ,

one convex function with no constraint, and every M ≻ 0 on the way has an upper bound √(f·h).

Proof of the lower bound. The optimum (M*, v*) lies in the first ellipsoid and no cut removes it, so
it lies in each, {z + By : |y| ≤ 1}. At its centre z with a subgradient s of f + h,

    2Γ ≥ f(z) + h(z) + ⟨s, z* − z⟩ ≥ f(z) + h(z) − |Bᵀs|.

The proof is of exact arithmetic; the floats err outward by a little at each step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from tests.references.question import reduced

from lownoise.errors import PlanError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from tests.references.question import Bracket

    from lownoise.numbers.arrays import Vector

_LARGEST_DIMENSION = 4  # n = d(d+1)/2 + d variables cost about 2n² steps a factor e in the gap
_OUTWARD = 1 + 1e-12  # each ellipsoid, against the rounding of its update
_MOST_STEPS = 200_000


def ellipsoid_method(
    points: ArrayLike,
    *,
    queries: ArrayLike | None = None,
    order: float = 2.0,
    centered: bool = False,
    rtol: float = 1e-4,
) -> Bracket:
    """Return Γ from both sides, to a gap of `rtol`, for points that span at most 4 dimensions.

    Args:
        points: shape (N, d).
        queries: L, shape (m, d); the identity where None.
        order: p in [2, ∞].
        centered: whether the shift is 0, for the body conv{±xᵢ}.
        rtol: the gap upper/lower − 1 at which to stop.

    Raises:
        PlanError: where an argument is outside its range, or there are too many dimensions.

    Examples:
        >>> found = ellipsoid_method([[0.0, 0.0], [0.0, 8.0], [2.0, 0.0], [2.0, 8.0]])
        >>> round(found.lower, 2), round(found.upper, 2)
        (5.0, 5.0)
    """
    problem = reduced(points, queries, order, centered=centered)
    k = problem.points.shape[1]
    if k == 0:
        return problem.nothing()
    if k > _LARGEST_DIMENSION:
        raise PlanError(
            f"points span {k} dimensions, more than {_LARGEST_DIMENSION}; use fixed_point",
        )
    # coordinates y = Tx in which the queries are orthonormal and the longest point is 1
    Q, T = np.linalg.qr(problem.queries)
    radius = float(np.max(np.linalg.norm(problem.points @ T.T, axis=1)))
    body = _Body(problem.points @ T.T / radius, Q, order, centered=centered)
    (lower, upper), M, v, steps = _minimise(body, rtol)
    back = np.linalg.inv(T) * radius
    bounds = (lower * radius, upper * radius)
    return problem.bracket(bounds, back @ M @ back.T, back @ v, steps)


def quadratic_oracle(points: Vector, Q: Vector, b: Vector) -> Vector:
    """Return the point x, shape (k,), that maximises xᵀQx − 2bᵀx: 002, Definition 29 with α = 1."""
    values = np.sum((points @ Q) * points, axis=1) - 2 * points @ b
    return np.asarray(points[int(np.argmax(values))])


@final
@dataclass(frozen=True, eq=False)
class _Body:
    """Points (N, k) of norm at most 1 and orthonormal queries (m, k)."""

    points: Vector
    queries: Vector
    order: float
    centered: bool

    def objective(self, M: Vector) -> tuple[float, Vector]:
        """Return f = tr_{p/2}(L M Lᵀ) and a gradient, shape (k, k), as after (35)."""
        z = np.sum((self.queries @ M) * self.queries, axis=1)
        top = float(np.max(z))
        if math.isinf(self.order):
            value, slopes = top, np.zeros(z.size)
            slopes[int(np.argmax(z))] = 1.0
        else:
            value = top * math.fsum((z / top) ** (self.order / 2)) ** (2 / self.order)
            slopes = (z / value) ** (self.order / 2 - 1)
        return value, self.queries.T @ (slopes[:, None] * self.queries)

    def excess(self, M: Vector, v: Vector) -> tuple[float, Vector, Vector]:
        """Return h = max (x−v)ᵀM⁻¹(x−v) and its gradients in M and v, as after (36)."""
        precision = np.asarray(np.linalg.inv(M), dtype=np.float64)
        pull = precision @ v
        x = quadratic_oracle(self.points, precision, pull)
        y = precision @ (x - v)
        return float((x - v) @ y), -np.outer(y, y), -2 * y


def _minimise(body: _Body, rtol: float) -> tuple[tuple[float, float], Vector, Vector, int]:
    """Return the bounds on Γ, M (k, k), v (k,) and the number of steps."""
    m, k = body.queries.shape
    f, _ = body.objective(np.eye(k))
    lower, upper = 0.0, math.sqrt(f)  # I covers the unit ball, where the points lie
    best, shift = np.eye(k), np.zeros(k)
    # At the optimum f = h = Γ, and tr M = tr LMLᵀ ≤ m^{1−2/p}·f. Positive M of trace ≤ t lie in a
    # ball about (t/k)·I; v lies in the hull of the points (Lemma 28), so in the unit ball.
    t = m ** (1 - 2 / body.order) * upper
    a = t / max(k, 2)
    ball = max(a * a * k, (t - a) ** 2 + (k - 1) * a * a)
    size = k * (k + 1) // 2
    free = 0 if body.centered else k
    z = np.concatenate([_pack(a * np.eye(k)), np.zeros(free)])
    # the product of the two balls, in the least ellipsoid of its shape
    B = np.diag(np.sqrt(np.repeat([ball, 1.0], [size, free]) * (2.0 if free else 1.0)))
    steps = 0
    while steps < _MOST_STEPS and not upper <= lower * (1 + rtol):
        steps += 1
        M = _unpack(z[:size], k)
        v = z[size:] if free else np.zeros(k)
        eigenvalues, directions = np.linalg.eigh(M)
        if eigenvalues[0] <= 0:
            u = directions[:, 0]
            slope = np.concatenate([_pack(-np.outer(u, u)), np.zeros(free)])
            above = -float(eigenvalues[0])  # uᵀM*u > 0
            reach = float(np.linalg.norm(B.T @ slope))
        else:
            f, df = body.objective(M)
            h, dh, dv = body.excess(M, v)
            slope = np.concatenate([_pack(df + dh), dv[:free]])
            reach = float(np.linalg.norm(B.T @ slope))
            lower = max(lower, (f + h - reach) / 2)
            if math.sqrt(f * h) < upper:
                upper, best, shift = math.sqrt(f * h), M * h, v
            above = f + h - 2 * upper  # the optimum is not above the best so far
        if above >= reach:  # no room is left
            break
        z, B = _cut(z, B, B.T @ slope / reach, above / reach)
    return (lower, upper), best, shift, steps


def _cut(z: Vector, B: Vector, s: Vector, depth: float) -> tuple[Vector, Vector]:
    """Return the least ellipsoid around {z + By : |y| ≤ 1, ⟨s, y⟩ ≤ −depth}, |s| = 1.

    The classical deep cut, on the factor B (n, n): narrower along s and wider across it. Written so
    it covers one variable too, where nothing lies across.
    """
    n = z.size
    wide = n * math.sqrt((1 - depth**2) / (n * n - 1)) if n > 1 else 0.0
    narrow = n * (1 - depth) / (n + 1)
    b = B @ s
    return z - (1 + n * depth) / (n + 1) * b, _OUTWARD * (
        wide * B + np.outer((narrow - wide) * b, s)
    )


def _pack(M: Vector) -> Vector:
    """Return M (k, k) as a vector with the same inner product, shape (k(k+1)/2,)."""
    rows, columns = np.triu_indices(M.shape[0])
    return np.asarray(M[rows, columns] * np.where(rows == columns, 1.0, math.sqrt(2)))


def _unpack(z: Vector, k: int) -> Vector:
    """Return the symmetric matrix (k, k) of a packed vector."""
    rows, columns = np.triu_indices(k)
    M = np.zeros((k, k))
    M[rows, columns] = z / np.where(rows == columns, 1.0, math.sqrt(2))
    M[columns, rows] = M[rows, columns]
    return M
