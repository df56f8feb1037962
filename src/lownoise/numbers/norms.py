# SPDX-License-Identifier: Apache-2.0
"""ℓ_p norms of deviations and the orders that are dual to them.

How long the rows of scaled Toeplitz products are, at any n.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.rounding import TINY

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector


def conjugate(order: float) -> float:
    """Return q = p/(p − 2)."""
    if math.isinf(order):
        return 1.0
    return order / (order - 2) if order > 2 else math.inf  # noqa: PLR2004


def dual_order(order: float) -> float:
    """Return r* with 1/r + 1/r* = 1, the order of the dual norm of ℓ_r."""
    if order == 1:
        return math.inf
    return 1.0 if math.isinf(order) else order / (order - 1)


def order_norm(values: Vector, order: float, counts: Vector | None = None) -> float:
    """Return ‖values‖_order without overflow.

    Args:
        values: not negative, shape (d,).
        order: p.
        counts: how often each value occurs, at least 1, shape (d,); once by default.

    Examples:
        >>> round(order_norm(np.array([3.0, 4.0]), 2.0), 12)
        5.0
    """
    largest = float(np.max(values, initial=0.0))
    if largest == 0 or math.isinf(order):
        return largest
    parts = (values / largest) ** order
    return largest * float(math.fsum(parts if counts is None else counts * parts) ** (1 / order))


def row_norms(rows: Vector, order: float) -> Vector:
    """Return ‖row‖_order without overflow, columns added one by one where rows are several.

    Args:
        rows: shape (n, k).
        order: in [1, ∞].
    """
    size = np.abs(rows)
    top = np.max(size, axis=1)  # the same in any order
    if math.isinf(order):
        return np.asarray(top)
    if len(rows) == 1:  # nothing to be alike with
        part = size[0] / top[0] if top[0] > 0 else size[0]
        power = part if order == 1 else np.square(part) if order == 2 else part**order  # noqa: PLR2004
        return np.asarray(top * float(np.sum(power)) ** (1 / order))
    scale = np.where(top > 0, top, 1.0)
    total = np.zeros(len(rows))
    for column in size.T:
        part = np.ascontiguousarray(column) / scale
        if order == 1:
            total += part
        elif order == 2:  # noqa: PLR2004
            total += part * part
        else:
            total += part**order
    root = np.sqrt(total) if order == 2 else total ** (1 / order)  # noqa: PLR2004
    return np.asarray(scale * root * (top > 0))


def row_norms_up(rows: Vector, order: float) -> Vector:
    """Return at least ‖row‖_order, as `row_norms`: within 2^-44 and 2^-50 a column of it."""
    return np.asarray(row_norms(rows, order) * (1 + TINY + rows.shape[1] * 2.0**-50))


def euclidean(values: Vector) -> float:
    """Return the Euclidean length of values ≥ 0, shape (r,), whatever their size."""
    most = float(np.max(values, initial=0.0))
    return most * float(np.linalg.norm(values / most)) if 0 < most < math.inf else most


_WHOLE = 4096  # rounds up to which every row is formed
_FEW, _NODES, _CHECKS = 48, 40, 6
_CLOSE = 1e-7
_BLOCK = 2**22  # numbers held at once


def scaled_row_squares(workload: Vector, series: Vector, lengths: Vector) -> Vector:
    """Return the squared length of each row of T(w)·diag(N)·T(τ), shape (n,).

    To 4,096 rounds each row is formed, in O(n² log n). Beyond, 40 are, and the others interpolated
    by a polynomial in log((t + 1)/(n − t)); where it misses one of 6 rows between by more than
    1e-7, relatively, the interval is halved (a window's width is such a place).

    Args:
        workload: w, shape (n,).
        series: τ, shape (n,).
        lengths: N, shape (n,).

    Examples:
        >>> scaled_row_squares(np.ones(2), np.array([1.0, -1.0]), np.array([2.0, 1.0]))
        array([4., 2.])
    """
    n = len(workload)
    if n <= _WHOLE:
        return _row_squares(workload, series, lengths, np.arange(n))
    rounds = np.arange(n)
    place = np.log((rounds + 1) / (n - rounds))
    found = np.empty(n)
    pieces = [(0, n - 1)]
    while pieces:
        first, last = pieces.pop()
        squares = _piece(workload, series, lengths, place, first, last)
        if squares is None:
            middle = int(np.searchsorted(place, 0.5 * (place[first] + place[last])))
            middle = min(max(middle, first + 1), last - 1)
            pieces += [(first, middle), (middle, last)]
        else:
            found[first : last + 1] = squares
    return found


def _piece(
    workload: Vector, series: Vector, lengths: Vector, place: Vector, first: int, last: int
) -> Vector | None:
    """Return the squares of rows first … last, or None where a polynomial misses some between."""
    from scipy.interpolate import BarycentricInterpolator

    inside = np.arange(first, last + 1)
    if len(inside) <= _FEW:
        return _row_squares(workload, series, lengths, inside)
    scaled = 2 * (place[inside] - place[first]) / (place[last] - place[first]) - 1
    nodes = np.unique(np.searchsorted(scaled, -np.cos(np.pi * np.arange(_NODES) / (_NODES - 1))))
    between = (nodes[:-1] + nodes[1:]) // 2
    checks = np.setdiff1d(between[:: max(len(between) // _CHECKS, 1)], nodes)
    chosen = np.concatenate([nodes, checks])
    exact = _row_squares(workload, series, lengths, inside[chosen])
    squares: Vector = BarycentricInterpolator(scaled[nodes], exact[: len(nodes)])(scaled)
    if np.any(np.abs(squares[checks] - exact[len(nodes) :]) > _CLOSE * exact[len(nodes) :]):
        return None
    squares[chosen] = exact
    return squares


def _row_squares(workload: Vector, series: Vector, lengths: Vector, rounds: Integers) -> Vector:
    """Return ‖row t of B‖² for these t: row t is Σ_i w_{t−i} e_i τ_{i−j}, e = N."""
    from scipy.fft import irfft, next_fast_len, rfft

    n = len(workload)
    length = next_fast_len(2 * n - 1, real=True)
    spectrum = rfft(series, length).conj()
    found = np.empty(len(rounds))
    count = max(_BLOCK // length, 1)
    for start in range(0, len(rounds), count):
        block = rounds[start : start + count]
        rows = np.zeros((len(block), n))
        for row, t in zip(rows, block.tolist(), strict=True):
            row[: t + 1] = workload[t::-1] * lengths[: t + 1]
        rows = irfft(rfft(rows, length) * spectrum, length)[:, :n]
        found[start : start + count] = np.einsum("ij,ij->i", rows, rows)
    return found
