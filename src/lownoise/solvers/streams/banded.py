# SPDX-License-Identifier: Apache-2.0
"""The best strategy whose rows look at a fixed number of rounds: banded, and not only Toeplitz.

With X = CᵀC, banded, of unit diagonal, and row weights v (Σv = 1; 1/n for the mean error) the
squared error is tr(M·X⁻¹), M = Wᵀdiag(v)W: convex in X. The search is over C itself, its columns
scaled to length 1, by a quasi-Newton method; `banded_bound` says how near the optimum it ended. C
and B = W·C⁻¹ are multiplied and solved by blocks of a band's size, so one gradient costs
O(n²·band).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.solvers.streams.series import square_root

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Vector
    from lownoise.solvers.streams.toeplitz import Error

_LEAST_BLOCK = 32
_MEMORY = 20
# steps, and the change of the error's logarithm in one at which a search ends
_FINE, _COARSE = (200, 1e-9), (100, 1e-8)
_SMOOTH = 64.0  # the order of the norm that bounds the largest error: sharper ones converge slowly
_SHARPER = (8.0, 64.0, 512.0, 4096.0, 16384.0)


def banded(workload: Vector, band: int, error: Error) -> Vector:
    """Return C, shape (n, n), lower triangular with `band` diagonals and columns of length 1.

    The largest error is approached by norms of growing order, to about 1e-4.

    Args:
        workload: W, shape (n, n), lower triangular with no 0 on its diagonal; or w, shape (n,),
            its first column where it is Toeplitz.
        band: how many diagonals of C are not 0, 1 to n.
        error: "mean" or "max".

    Examples:
        >>> C = banded(np.ones(6), 2, "mean")
        >>> bool(np.all(np.tril(C, -2) == 0)), np.sum(C**2, axis=0).round(12).tolist()
        (True, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    """
    matrix = _matrix(workload)
    even = np.full(len(matrix), 1 / len(matrix))
    C = _searched(matrix, _start(workload, band), band, even, 1.0, _FINE)
    if error == "max":
        for power in _SHARPER:
            C = _searched(matrix, C, band, even, power, _COARSE)
    signs: Vector = np.sign(np.diag(C))
    return C * signs[:, None]


def banded_variances(workload: Vector, strategy: Vector, band: int) -> Vector:
    """Return the squared length of each row of B = W·C⁻¹, shape (n,).

    Args:
        workload: W, shape (n, n), or w, shape (n,).
        strategy: C, shape (n, n), lower triangular.
        band: how many diagonals of C are not 0.

    Examples:
        >>> banded_variances(np.ones(3), np.eye(3), 1)
        array([1., 2., 3.])
    """
    solved = _solve_transposed(strategy, _matrix(workload).T, band)
    squares: Vector = np.einsum("ij,ij->j", solved, solved)
    return squares


def banded_bound(workload: Vector, strategy: Vector, band: int, error: Error) -> float:
    """Return a squared error that no strategy of this band is below.

    For Y ⪰ 0 without entries inside the band but on the diagonal, tr(YX) = tr Y for every allowed X
    and, by Cauchy and Schwarz,

        tr(MX⁻¹)·tr(YX) ≥ (tr(M^{1/2}YM^{1/2})^{1/2})² = ‖diag(v)^{1/2}W·Y^{1/2}‖_*²

    (ours; with Y diagonal this is the bound for every strategy). At the optimum Y = X⁻¹MX⁻¹ has
    this shape, so a near-optimal C gives it after its small entries there are dropped and what
    that takes from its smallest eigenvalue is added back. For the largest error C is first made
    the best one for a norm of order 64, whose gradient v is; the bound is then 0.3% to 1% low.

    Args:
        workload: W, shape (n, n), or w, shape (n,).
        strategy: C, shape (n, n), lower triangular, columns of length 1.
        band: how many diagonals of C are not 0.
        error: "mean" or "max".

    Examples:
        >>> w, C = np.ones(6), banded(np.ones(6), 2, "mean")
        >>> reached = float(np.mean(banded_variances(w, C, 2)))
        >>> 0 <= reached / banded_bound(w, C, 2, "mean") - 1 < 1e-4
        True
    """
    matrix = _matrix(workload)
    n = len(matrix)
    weights = np.full(n, 1 / n)
    if error == "max":
        strategy = _searched(matrix, strategy, band, weights, _SMOOTH, _FINE)
        squares = banded_variances(matrix, strategy, band)
        weights = _row_weights(squares, weights, _SMOOTH)[1]
        weights /= float(np.sum(weights))
    inner = _solve(strategy, _solve_transposed(strategy, matrix.T, band) * np.sqrt(weights), band)
    root = _admissible(inner @ inner.T, band)
    product = np.sqrt(weights)[:, None] * (matrix @ root)
    nuclear = float(np.sum(np.linalg.svd(product, compute_uv=False)))
    return nuclear**2 / float(np.sum(root**2)) * (1 - 2.0**-40)


def _admissible(Y: Vector, band: int) -> Vector:
    """Return R with RRᵀ near Y, and 0 inside the band but on the diagonal."""
    near = _inside(len(Y), band)
    kept = np.where((near | near.T) & ~np.eye(len(Y), dtype=bool), 0.0, Y)
    values, vectors = np.linalg.eigh(kept)
    values = values - min(float(values[0]), 0.0)  # kept + shift·I, which is positive
    root: Vector = vectors * np.sqrt(values)
    return root


def _searched(
    matrix: Vector, C: Vector, band: int, weights: Vector, power: float, effort: tuple[int, float]
) -> Vector:
    """Return C with the least Σ v·squares^power found, its columns of length 1."""
    from scipy.optimize import minimize

    n = len(matrix)
    rows, columns = np.nonzero(_inside(n, band))

    def value(entries: Vector) -> tuple[float, Vector]:
        C = np.zeros((n, n))
        C[rows, columns] = entries
        found, gradient = _log_error(matrix, C, band, weights, power)
        return found, gradient[rows, columns]

    steps, settled = effort
    options = {"maxiter": steps, "maxcor": _MEMORY, "ftol": settled, "gtol": 0.0}
    x = minimize(value, C[rows, columns], jac=True, method="L-BFGS-B", options=options).x
    C = np.zeros((n, n))
    C[rows, columns] = x
    found: Vector = C / np.linalg.norm(C, axis=0)
    return found


def _matrix(workload: Vector) -> Vector:
    if workload.ndim > 1:
        return workload
    from scipy.linalg import toeplitz

    found: Vector = toeplitz(workload, np.zeros(len(workload)))
    return found


def _inside(size: int, band: int) -> Chosen:
    ones = np.ones((size, size), dtype=bool)
    return np.tril(ones) & np.triu(ones, 1 - band)


def _start(workload: Vector, band: int) -> Vector:
    """Return the square root of the first column's series, cut to the band."""
    from scipy.linalg import toeplitz

    first = workload if workload.ndim == 1 else workload[:, 0]
    n = len(first)
    c = square_root(first / first[0])
    c[band:] = 0.0
    start: Vector = toeplitz(c, np.zeros(n))
    return start


def _row_weights(squares: Vector, weights: Vector, power: float) -> tuple[float, Vector]:
    """Return (Σ v·squares^power)^{1/power}, and its gradient in the squares."""
    largest = float(np.max(squares))
    with np.errstate(under="ignore"):
        mean = largest * float(weights @ (squares / largest) ** power) ** (1 / power)
        return mean, weights * (squares / mean) ** (power - 1)


def _log_error(
    matrix: Vector, C: Vector, band: int, weights: Vector, power: float
) -> tuple[float, Vector]:
    """Return the logarithm of the error with C's columns scaled to 1, and its gradient in C.

    d‖row t of B‖² = −2·(row t of B)·dC·C⁻¹(row t of B)ᵀ.
    """
    norms = np.linalg.norm(C, axis=0)
    unit = C / norms
    solved = _solve_transposed(unit, matrix.T, band)
    value, slopes = _row_weights(np.einsum("ij,ij->j", solved, solved), weights, power)
    inner = _solve(unit, solved, band)
    weighted = solved * (-2 / value * slopes)
    gradient = np.zeros_like(C)
    for start, end, extent in _blocks(len(C), band):
        gradient[start:extent, start:end] = weighted[start:extent] @ inner[start:end].T
    gradient *= _inside(len(C), band)
    gradient -= unit * np.einsum("ij,ij->j", gradient, unit)
    return math.log(value), gradient / norms


def _blocks(size: int, band: int) -> list[tuple[int, int, int]]:
    """Return starts and ends of blocks that are at least a band long, and the next one's end."""
    step = max(band, _LEAST_BLOCK)
    return [(a, min(a + step, size), min(a + 2 * step, size)) for a in range(0, size, step)]


def _solve(C: Vector, right: Vector, band: int) -> Vector:
    """Return C⁻¹·right for a banded lower-triangular C."""
    from scipy.linalg import solve_triangular

    found = np.empty_like(right)
    for start, end, _ in _blocks(len(C), band):
        before = max(start - max(band, _LEAST_BLOCK), 0)
        rest = right[start:end] - C[start:end, before:start] @ found[before:start]
        block = C[start:end, start:end]
        found[start:end] = solve_triangular(block, rest, lower=True, check_finite=False)
    return found


def _solve_transposed(C: Vector, right: Vector, band: int) -> Vector:
    """Return C⁻ᵀ·right for a banded lower-triangular C."""
    from scipy.linalg import solve_triangular

    found = np.empty_like(right)
    for start, end, extent in reversed(_blocks(len(C), band)):
        rest = right[start:end] - C[end:extent, start:end].T @ found[end:extent]
        block = C[start:end, start:end]
        found[start:end] = solve_triangular(block, rest, lower=True, trans=1, check_finite=False)
    return found
