# SPDX-License-Identifier: Apache-2.0
"""The best strategy whose rows look at a fixed number of rounds: banded, and not only Toeplitz.

With X = CᵀC, banded, of unit diagonal, and row weights v (Σv = 1; 1/n for the mean error) the
squared error is tr(M·X⁻¹), M = Wᵀdiag(v)W: convex in X. The search is over C itself, its columns
scaled to length 1, by a quasi-Newton method; `banded_bound` says how near the optimum it ended. C
and B = W·C⁻¹ are multiplied and solved by blocks of a band's size, so one gradient costs
O(n²·band).

A person in several rounds, any two at least a band apart, moves C·x by orthogonal columns: then
their lengths are searched for too, among those that no pattern adds up to more than 1 (`lengths`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.sensitivity.participation import ONE
from lownoise.solvers.streams.lengths import largest_share, lengths_of
from lownoise.solvers.streams.series import square_root

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.sensitivity.participation import Participation
    from lownoise.solvers.streams.lengths import AbstractLengths
    from lownoise.solvers.streams.toeplitz import Error

_LEAST_BLOCK = 32
_SMALLEST = 2.0**-200  # of a length, whose slope is divided by it
_MEMORY = 20
# steps, and the change of the error's logarithm in one at which a search ends
_FINE, _COARSE = (200, 1e-9), (100, 1e-8)
_SMOOTH = 64.0  # the order of the norm that bounds the largest error: sharper ones converge slowly
_SHARPER = (8.0, 64.0, 512.0, 4096.0, 16384.0)


def banded(workload: Vector, band: int, error: Error, participation: Participation = ONE) -> Vector:
    """Return C, shape (n, n), lower triangular with `band` diagonals, no pattern above 1.

    A person in one round moves C·x by 1 whichever it is; in several, by at most 1 where the band is
    no wider than their separation. A wider one is made for a person in one round, its columns of
    length 1. The largest error is approached by norms of growing order, to about 1e-4.

    Args:
        workload: W, shape (n, n), lower triangular with no 0 on its diagonal; or w, shape (n,),
            its first column where it is Toeplitz.
        band: how many diagonals of C are not 0, 1 to n.
        error: "mean" or "max".
        participation: the rounds that one person may add to.

    Examples:
        >>> C = banded(np.ones(6), 2, "mean")
        >>> bool(np.all(np.tril(C, -2) == 0)), np.sum(C**2, axis=0).round(12).tolist()
        (True, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    """
    matrix = _matrix(workload)
    even = np.full(len(matrix), 1 / len(matrix))
    search = _Search(matrix, band, participation)
    x = search.start(_start(workload, band))
    x = search.best(x, even, 1.0, _FINE)
    if error == "max":
        for power in _SHARPER:
            x = search.best(x, even, power, _COARSE)
    C = search.strategy(x)
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


def banded_bound(
    workload: Vector,
    strategy: Vector,
    band: int,
    error: Error,
    participation: Participation = ONE,
) -> float:
    """Return a squared error that no strategy of this band is below.

    For Y ⪰ 0 without entries inside the band but on the diagonal, tr(YX) = Σ Y_ii X_ii for every
    allowed X and, by Cauchy and Schwarz,

        tr(MX⁻¹)·tr(YX) ≥ (tr(M^{1/2}YM^{1/2})^{1/2})² = ‖diag(v)^{1/2}W·Y^{1/2}‖_*²

    (ours; with Y diagonal this is the bound for every strategy). Where no pattern moves C·x by more
    than 1 none has Σ X_ii above 1, for signs can be drawn at random: then tr(YX) is at most what
    Y's diagonal weighs in patterns (`largest_share`), tr Y for a person in one round.

    At the optimum Y = X⁻¹MX⁻¹ has this shape, so a near-optimal C gives it after its small entries
    there are dropped and what that takes from its smallest eigenvalue is added back. For the
    largest error C is first made the best one for a norm of order 64, whose gradient v is; the
    bound is then 0.3% to 1% low.

    Args:
        workload: W, shape (n, n), or w, shape (n,).
        strategy: C, shape (n, n), lower triangular, as `banded` makes it.
        band: how many diagonals of C are not 0.
        error: "mean" or "max".
        participation: the rounds that one person may add to.

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
        search = _Search(matrix, band, participation)
        strategy = search.strategy(search.best(search.start(strategy), weights, _SMOOTH, _FINE))
        squares = banded_variances(matrix, strategy, band)
        weights = _row_weights(squares, weights, _SMOOTH)[1]
        weights /= float(np.sum(weights))
    inner = _solve(strategy, _solve_transposed(strategy, matrix.T, band) * np.sqrt(weights), band)
    root = _admissible(inner @ inner.T, band)
    product = np.sqrt(weights)[:, None] * (matrix @ root)
    nuclear = float(np.sum(np.linalg.svd(product, compute_uv=False)))
    share = largest_share(np.sum(root**2, axis=1), participation)
    return nuclear**2 / share * (1 - 2.0**-40)


def _admissible(Y: Vector, band: int) -> Vector:
    """Return R with RRᵀ near Y, and 0 inside the band but on the diagonal."""
    near = _inside(len(Y), band)
    kept = np.where((near | near.T) & ~np.eye(len(Y), dtype=bool), 0.0, Y)
    values, vectors = np.linalg.eigh(kept)
    values = values - min(float(values[0]), 0.0)  # kept + shift·I, which is positive
    root: Vector = vectors * np.sqrt(values)
    return root


@final
@dataclass(frozen=True)
class _Search:
    """The entries of C inside the band, and behind them what its columns' lengths are made of.

    A person in one round, or in rounds that a band is wider than, has columns of length 1.
    """

    matrix: Vector
    band: int
    participation: Participation

    def start(self, C: Vector) -> Vector:
        """Return x for a C whose lengths are about even."""
        entries = (C / np.linalg.norm(C, axis=0))[self._places]
        lengths = self._lengths
        return entries if lengths is None else np.concatenate([entries, lengths.start])

    def strategy(self, x: Vector) -> Vector:
        """Return C."""
        C, norms, roots, _ = self._parts(x)
        found: Vector = C / norms * roots
        return found

    def best(self, x: Vector, weights: Vector, power: float, effort: tuple[int, float]) -> Vector:
        """Return x with the least Σ v·squares^power found."""
        from scipy.optimize import minimize

        steps, settled = effort
        options = {"maxiter": steps, "maxcor": _MEMORY, "ftol": settled, "gtol": 0.0}

        def value(x: Vector) -> tuple[float, Vector]:
            return self.log_error(x, weights, power)

        best: Vector = minimize(value, x, jac=True, method="L-BFGS-B", options=options).x
        return best

    def log_error(self, x: Vector, weights: Vector, power: float) -> tuple[float, Vector]:
        """Return the logarithm of the error, and its gradient in x."""
        C, norms, roots, rest = self._parts(x)
        unit = C / norms
        value, gradient = _log_error(self.matrix, unit * roots, self.band, weights, power)
        along = np.einsum("ij,ij->j", gradient, unit)  # the slopes in the columns' lengths
        own = (gradient - unit * along) * (roots / norms)
        if self._lengths is None:
            return value, own[self._places]
        by_squares = along / (2 * np.maximum(roots, _SMALLEST))
        return value, np.concatenate([own[self._places], self._lengths.slopes(rest, by_squares)])

    def _parts(self, x: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """Return C, its columns' lengths, those that they get, and what these are made of."""
        n, entries = len(self.matrix), len(self._places[0])
        C = np.zeros((n, n))
        C[self._places] = x[:entries]
        rest = x[entries:]
        roots = np.ones(n) if self._lengths is None else np.sqrt(self._lengths.squares(rest))
        return C, np.linalg.norm(C, axis=0), roots, rest

    @cached_property
    def _places(self) -> tuple[Integers, ...]:
        return np.nonzero(_inside(len(self.matrix), self.band))

    @cached_property
    def _lengths(self) -> AbstractLengths | None:
        own = self.participation
        if own.count == 1 or self.band > own.separation:
            return None
        return lengths_of(len(self.matrix), own)


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
    """Return the logarithm of the error, and its gradient in C.

    d‖row t of B‖² = −2·(row t of B)·dC·C⁻¹(row t of B)ᵀ.
    """
    solved = _solve_transposed(C, matrix.T, band)
    value, slopes = _row_weights(np.einsum("ij,ij->j", solved, solved), weights, power)
    inner = _solve(C, solved, band)
    weighted = solved * (-2 / value * slopes)
    gradient = np.zeros_like(C)
    for start, end, extent in _blocks(len(C), band):
        gradient[start:extent, start:end] = weighted[start:extent] @ inner[start:end].T
    gradient *= _inside(len(C), band)
    return math.log(value), gradient


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
