# SPDX-License-Identifier: Apache-2.0
"""A Toeplitz strategy whose columns are scaled to length 1.

Later columns of a lower-triangular Toeplitz C are shorter: a change in a late round would be hidden
more than is asked for. C = T(c)·D with D_jj = 1/‖T(c)e_j‖ hides every round alike, so that
B = W·D⁻¹·T(1/c) has shorter rows at the same privacy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from lownoise.solvers.streams.series import inverse

if TYPE_CHECKING:
    from lownoise.arrays import Integers, Vector

_WHOLE = 4096  # rounds up to which every row is formed
_FEW, _NODES, _CHECKS = 48, 40, 6
_CLOSE = 1e-7
_BLOCK = 2**22  # numbers held at once


def column_norms(strategy: Vector) -> Vector:
    """Return ‖T(c)e_j‖ for each round j, shape (n,): what D divides by.

    Args:
        strategy: c, shape (n,).

    Examples:
        >>> column_norms(np.array([4.0, 3.0]))
        array([5., 4.])
    """
    norms: Vector = np.sqrt(np.cumsum(strategy**2))[::-1]
    return norms


def normalized_variances(workload: Vector, strategy: Vector) -> Vector:
    """Return the squared length of each row of B = W·D⁻¹·T(1/c), shape (n,).

    The columns of C have length 1, so this is the variance of each round's answer where one change
    moves by 1. To 4,096 rounds each row is formed, in O(n² log n). Beyond, 40 are, and the others
    interpolated by a polynomial in log((t + 1)/(n − t)); where it misses one of 6 rows between by
    more than 1e-7, relatively, the interval is halved (a window's width is such a place).

    Args:
        workload: w, shape (n,).
        strategy: c, shape (n,), c_0 not 0.

    Examples:
        >>> normalized_variances(np.ones(2), np.array([1.0, 0.5])).round(6)
        array([1.25    , 1.381966])
    """
    n = len(workload)
    if n <= _WHOLE:
        return _row_squares(workload, strategy, np.arange(n))
    rounds = np.arange(n)
    place = np.log((rounds + 1) / (n - rounds))
    found = np.empty(n)
    pieces = [(0, n - 1)]
    while pieces:
        first, last = pieces.pop()
        squares = _piece(workload, strategy, place, first, last)
        if squares is None:
            middle = int(np.searchsorted(place, 0.5 * (place[first] + place[last])))
            middle = min(max(middle, first + 1), last - 1)
            pieces += [(first, middle), (middle, last)]
        else:
            found[first : last + 1] = squares
    return found


def _piece(
    workload: Vector, strategy: Vector, place: Vector, first: int, last: int
) -> Vector | None:
    """Return the squares of rows first … last, or None where a polynomial misses some between."""
    from scipy.interpolate import BarycentricInterpolator

    inside = np.arange(first, last + 1)
    if len(inside) <= _FEW:
        return _row_squares(workload, strategy, inside)
    scaled = 2 * (place[inside] - place[first]) / (place[last] - place[first]) - 1
    nodes = np.unique(np.searchsorted(scaled, -np.cos(np.pi * np.arange(_NODES) / (_NODES - 1))))
    between = (nodes[:-1] + nodes[1:]) // 2
    checks = np.setdiff1d(between[:: max(len(between) // _CHECKS, 1)], nodes)
    chosen = np.concatenate([nodes, checks])
    exact = _row_squares(workload, strategy, inside[chosen])
    squares: Vector = BarycentricInterpolator(scaled[nodes], exact[: len(nodes)])(scaled)
    if np.any(np.abs(squares[checks] - exact[len(nodes) :]) > _CLOSE * exact[len(nodes) :]):
        return None
    squares[chosen] = exact
    return squares


def _row_squares(workload: Vector, strategy: Vector, rounds: Integers) -> Vector:
    """Return ‖row t of B‖² for these t: row t is Σ_i w_{t−i} e_i τ_{i−j}, τ = 1/c."""
    n = len(workload)
    norms = column_norms(strategy)
    length = next_fast_len(2 * n - 1, real=True)
    spectrum = rfft(inverse(strategy), length).conj()
    found = np.empty(len(rounds))
    count = max(_BLOCK // length, 1)
    for start in range(0, len(rounds), count):
        block = rounds[start : start + count]
        rows = np.zeros((len(block), n))
        for row, t in zip(rows, block.tolist(), strict=True):
            row[: t + 1] = workload[t::-1] * norms[: t + 1]
        rows = irfft(rfft(rows, length) * spectrum, length)[:, :n]
        found[start : start + count] = np.einsum("ij,ij->i", rows, rows)
    return found
