# SPDX-License-Identifier: Apache-2.0
"""The concave function that every least noise maximises, its optimal ellipsoid and derivatives.

With query weights c on the rows l_j of L and vertex weights w on the vertices s_i,

    G = Σ c_j l_j l_jᵀ,   C = Σ w_i (s_i − x̄)(s_i − x̄)ᵀ,   F(c, w) = tr (G^{1/2} C G^{1/2})^{1/2},

where x̄ is the mean of the vertices under w, or 0 where the body is symmetric. F = ½ min over M of
tr GM + tr CM⁻¹, attained at the geometric mean M = G⁻¹ # C, so ∂F/∂c_j = ½ l_jᵀMl_j and ∂F/∂w_i =
½ (s_i − x̄)ᵀM⁻¹(s_i − x̄) (Danskin). In the basis T that makes G the identity and C = diag(m²),
M = diag(m), and the second derivative along (δG, δC) is

    −½ Σ_ab m_a m_b/(m_a + m_b)·(δG_ab − δC_ab/(m_a m_b))² − uᵀM⁻¹u/Σw,   u = Σ δw_i (s_i − x̄)

(ours; the last term only where x̄ moves).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import triangle_of
from lownoise.solvers.quadrature import COARSE, FINE, exponential_sum
from lownoise.solvers.spectrum import principal_axes

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_LARGE = 1000  # variables
_EVEN = 1e6
_UNLIKE = (
    "domain, weights or workload have sizes too unlike for floats to find an ellipsoid; bring "
    "columns and answers to like units, or leave out those of hardly any width"
)


class UnresolvedError(PlanError):
    """Some direction of an ellipsoid is lost in floats beside the others."""


@final
@dataclass(frozen=True, eq=False)
class Fidelity:
    """F at one pair of weights, in the basis where G = I and C = diag(m²).

    Args:
        lengths: m rising, shape (r,).
        whitening: T, shape (r, r): x in that basis is T·x; TᵀT = G.
        unwhitening: its inverse.
        vertices: T(s_i − x̄), shape (k, r).
        queries: T⁻ᵀl_j, shape (n, r).
        mean: x̄, shape (r,).
        mass: Σw.
        moves: whether x̄ follows the weights.
    """

    lengths: Vector
    whitening: Vector
    unwhitening: Vector
    vertices: Vector
    queries: Vector
    mean: Vector
    mass: float
    moves: bool

    @property
    def value(self) -> float:
        """F = Σ m."""
        return float(np.sum(self.lengths))

    def stretches(self) -> Vector:
        """Return (s_i − x̄)ᵀM⁻¹(s_i − x̄), shape (k,)."""
        return np.square(self.vertices) @ (1 / self.lengths)

    def variances(self) -> Vector:
        """Return l_jᵀMl_j, shape (n,)."""
        return np.square(self.queries) @ self.lengths

    def factor(self) -> Vector:
        """Return a lower triangle with factor·factorᵀ = M, shape (r, r)."""
        triangle = triangle_of((self.unwhitening * np.sqrt(self.lengths)).T).T
        signed: Vector = np.where(np.diag(triangle) < 0, -1.0, 1.0) * triangle
        return signed

    def inverse_factor(self) -> Vector:
        """Return X with XᵀX = M⁻¹, shape (r, r): |X(s − x̄)|² is the stretch of s."""
        return self.whitening / np.sqrt(self.lengths)[:, None]

    def curvature(self, pull: Vector | None, *, coarse: bool = False) -> Vector:
        """Return −2F″ within 2%, shape (n', n'): query weights first, then vertex weights.

        Args:
            pull: the query weights are functions of other variables; row j of δG is
                pull_j²·l_j l_jᵀ a unit of variable j; None where they are fixed.
            coarse: whether within 12% will do, where that saves time.
        """
        m = self.lengths
        n = 0 if pull is None else pull.size
        size = n + len(self.vertices)
        total = np.zeros((size, size))
        # where it is large and well scaled, half the digits do: the step is only good to 2% anyway
        half = size > _LARGE and m[-1] < _EVEN * m[0]
        kind = np.float32 if half else np.float64
        rows, product = np.empty((size, m.size), kind), np.empty((size, size), kind)
        moved = None if pull is None else self.queries * pull[:, None]
        step = COARSE if half and coarse else FINE
        for t, weight in zip(*exponential_sum(2 * m[0], 2 * m[-1], step), strict=True):
            # the square of the product below must carry the weight once
            decay = np.sqrt(np.exp(-t * m) * np.sqrt(weight))
            if moved is not None:
                np.multiply(moved, decay * np.sqrt(m), out=rows[:n], casting="same_kind")
            np.multiply(self.vertices, decay / np.sqrt(m), out=rows[n:], casting="same_kind")
            np.matmul(rows, rows.T, out=product)
            np.square(product, out=product)
            total += product
        total[:n, n:] *= -1
        total[n:, :n] *= -1
        if self.moves:
            whitened = self.vertices / np.sqrt(m)
            total[n:, n:] += (2 / self.mass) * (whitened @ whitened.T)
        return total


def fidelity(
    vertices: Vector,
    weights: Vector,
    queries: Vector,
    query_weights: Vector,
    *,
    moves: bool,
) -> Fidelity:
    """Return F and its optimal ellipsoid at the given weights.

    Args:
        vertices: s_i, shape (k, r), spanning R^r (about their mean, where it moves).
        weights: w > 0, shape (k,).
        queries: L, shape (n, r), of rank r; or shape (r,), its diagonal.
        query_weights: c > 0, shape (n,) or (r,).
        moves: whether C is taken about the weighted mean.

    Raises:
        UnresolvedError: where a direction has no length that floats can tell from 0.

    Examples:
        >>> square = np.array([[1.0, 1.0], [1.0, -1.0]])
        >>> fidelity(square, np.ones(2) / 2, np.ones(2), np.ones(2), moves=False).value
        2.0
    """
    from scipy.linalg import solve_triangular

    mass = float(np.sum(weights))
    mean = (weights @ vertices) / mass if moves else np.zeros(vertices.shape[1])
    about = vertices - mean if moves else vertices
    root = np.sqrt(query_weights)
    if queries.ndim == 1:
        scale = root * queries
        seen = about * scale
        lengths, axes = _axes(seen * np.sqrt(weights)[:, None])
        whitening, unwhitening = axes.T * scale, axes / scale[:, None]
        turned = axes / root[:, None]
    else:
        triangle = triangle_of(root[:, None] * queries)
        seen = about @ triangle.T
        lengths, axes = _axes(seen * np.sqrt(weights)[:, None])
        whitening = axes.T @ triangle
        unwhitening = solve_triangular(triangle, axes, check_finite=False)
        turned = queries @ unwhitening
    if not (lengths[0] > 0 and np.all(np.isfinite(whitening)) and np.all(np.isfinite(unwhitening))):
        raise UnresolvedError(_UNLIKE)
    return Fidelity(lengths, whitening, unwhitening, seen @ axes, turned, mean, mass, moves)


def _axes(rows: Vector) -> tuple[Vector, Vector]:
    try:
        return principal_axes(rows)
    except np.linalg.LinAlgError:
        raise UnresolvedError(_UNLIKE) from None
