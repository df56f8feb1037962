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

Two things make it quick and exact enough. 1/(a + b) = ∫ e^{−t(a+b)} dt separates a from b: with
u = log t the integrand decays twice exponentially on one side and exponentially on the other, so
the trapezoid rule with step h errs by about 2·√(πy/sinh πy), y = 2π/h, relatively and at every x:
1.5% at h = 3/2 (ours), and Newton's method needs no more. And axes are as accurate as their own
lengths: forming BᵀB squares the condition number, so where that loses the short axes, B is reduced
to a triangle and turned by LAPACK's one-sided Jacobi rotations, which find every singular value of
a graded matrix (columns of very unlike lengths) to high relative accuracy (Demmel & Veselić 1992).
Beyond 300 columns LAPACK's usual decomposition must do: its lengths are right to 1e-16 of the
longest. Either way the bounds are recomputed from the result, so a loss here widens the gap and
nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import triangle_of

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_LARGE = 1000  # variables
_EVEN = 1e6
_ROWS = 128  # at a time
FINE, COARSE = 1.5, 2.2
_LEFT, _RIGHT = 2.0, 1.6  # how far beyond the range, in u, before what is left is negligible
_LEAST = 1e-8  # of eigenvalues of BᵀB, above which each is known to 1e-8 of itself
_LEAST_OF_MANY = 1e-11  # where there are so many axes that a short one counts for little
_MANY = 300  # columns, beyond which rotations take too long
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
        moved = None if pull is None else self.queries * pull[:, None]
        step = COARSE if half and coarse else FINE
        nodes = []
        for t, weight in zip(*exponential_sum(2 * m[0], 2 * m[-1], step), strict=True):
            # the square of the product below must carry the weight once
            decay = np.sqrt(np.exp(-t * m) * np.sqrt(weight))
            rows = np.empty((size, m.size), kind)
            if moved is not None:
                np.multiply(moved, decay * np.sqrt(m), out=rows[:n], casting="same_kind")
            np.multiply(self.vertices, decay / np.sqrt(m), out=rows[n:], casting="same_kind")
            nodes.append(rows)
        width = _ROWS if half else size
        for start in range(0, size, width):  # so that what is added to stays in the cache
            end = min(start + width, size)
            for rows in nodes:
                product = rows[start:end] @ rows[start:].T
                np.square(product, out=product)
                total[start:end, start:] += product
            total[end:, start:end] = total[start:end, end:].T
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
    quick: bool = False,
) -> Fidelity:
    """Return F and its optimal ellipsoid at the given weights.

    Args:
        vertices: s_i, shape (k, r), spanning R^r (about their mean, where it moves).
        weights: w > 0, shape (k,).
        queries: L, shape (n, r), of rank r; or shape (r,), its diagonal.
        query_weights: c > 0, shape (n,) or (r,).
        moves: whether C is taken about the weighted mean.
        quick: whether lengths that are right to 1e-16 of the longest will do.

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
        lengths, axes = _axes(seen * np.sqrt(weights)[:, None], quick=quick)
        whitening, unwhitening = axes.T * scale, axes / scale[:, None]
        turned = axes / root[:, None]
    else:
        triangle = triangle_of(root[:, None] * queries)
        seen = about @ triangle.T
        lengths, axes = _axes(seen * np.sqrt(weights)[:, None], quick=quick)
        whitening = axes.T @ triangle
        unwhitening = solve_triangular(triangle, axes, check_finite=False)
        turned = queries @ unwhitening
    if not (lengths[0] > 0 and np.all(np.isfinite(whitening)) and np.all(np.isfinite(unwhitening))):
        raise UnresolvedError(_UNLIKE)
    return Fidelity(lengths, whitening, unwhitening, seen @ axes, turned, mean, mass, moves)


def _axes(rows: Vector, *, quick: bool = False) -> tuple[Vector, Vector]:
    try:
        return principal_axes(rows, quick=quick)
    except np.linalg.LinAlgError:
        raise UnresolvedError(_UNLIKE) from None


def exponential_sum(low: float, high: float, step: float = FINE) -> tuple[Vector, Vector]:
    """Return nodes t and weights ω > 0 with Σ ω e^{−tx} near 1/x for low ≤ x ≤ high.

    Args:
        low: above 0.
        high: at least `low`.
        step: in log t: within 2% at `FINE`, within 12% at `COARSE`.

    Returns:
        t and ω, shape (k,) each, k about log(high/low)/step + 4.

    Examples:
        >>> t, weights = exponential_sum(1.0, 1000.0)
        >>> x = np.geomspace(1.0, 1000.0, 500)
        >>> bool(np.all(np.abs(np.exp(-np.outer(x, t)) @ weights * x - 1) < 0.02)), t.size
        (True, 9)
    """
    first, last = -math.log(high) - _LEFT, -math.log(low) + _RIGHT
    count = max(math.ceil((last - first) / step), 1)
    t = np.exp(first + step * np.arange(count + 1))
    weights = step * t
    # to the left of the range e^{−tx} is 1: those nodes are a geometric series
    weights[0] += step * t[0] / math.expm1(step)
    return t, weights


def principal_axes(rows: Vector, *, quick: bool = False) -> tuple[Vector, Vector]:
    """Return lengths m and axes U with BᵀB = U diag(m²) Uᵀ.

    Args:
        rows: B, shape (k, r), of rank r.
        quick: whether lengths that are right to 1e-16 of the longest will do.

    Returns:
        m rising, shape (r,), and U orthogonal, shape (r, r).

    Examples:
        >>> graded = np.diag([1.0, 1e-20]) @ np.array([[1.0, 1e-20], [1.0, -1e-20]])
        >>> bool(abs(np.prod(principal_axes(graded)[0]) / 2e-40 - 1) < 1e-12)
        True
    """
    from scipy.linalg import eigh

    gram = rows.T @ rows
    many = quick or rows.shape[1] > _MANY
    if many:
        squares, axes = eigh(gram.T, driver="evd", overwrite_a=True, check_finite=False)
    else:
        squares, axes = np.linalg.eigh(gram)
    if squares[0] > (_LEAST_OF_MANY if many else _LEAST) * squares[-1]:
        return np.sqrt(squares), axes
    if many:
        _, lengths, turned = np.linalg.svd(triangle_of(rows))
        least = np.finfo(np.float64).eps * lengths[0]
        return np.maximum(lengths[::-1], least), turned[::-1].T
    return _jacobi(rows)


def _jacobi(rows: Vector) -> tuple[Vector, Vector]:
    from scipy.linalg.lapack import dgejsv

    # long rows and columns first: the triangle then keeps the grading (Cox & Higham 1998)
    rows = rows[np.argsort(-np.max(np.abs(rows), axis=1))]
    order = np.argsort(-np.linalg.norm(rows, axis=0))
    # for rows and columns of any lengths, none taken for 0, none perturbed
    found, _, turned, scale, _, info = dgejsv(
        triangle_of(rows[:, order]), joba=2, jobu=0, jobv=0, jobr=0, jobt=1, jobp=1
    )
    if info != 0:
        raise np.linalg.LinAlgError("rotations have not settled")
    axes = np.empty_like(turned)
    axes[order] = turned
    return found[::-1] * (scale[0] / scale[1]), axes[:, ::-1]
