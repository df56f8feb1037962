# SPDX-License-Identifier: Apache-2.0
"""Power series modulo xⁿ: product, inverse and square root in O(n log n).

A series is the vector of its first n coefficients, and stands for the lower-triangular Toeplitz
matrix with that first column: products, inverses and roots of one are those of the other. Newton's
method doubles the number of right coefficients a step. What a transform rounds is about 1e-15 of
the largest coefficient, not of each one.

Later columns of a lower-triangular Toeplitz C are shorter: a change in a late round would be hidden
more than is asked for. C = T(c)·D with D_jj = 1/‖T(c)e_j‖ hides every round alike, so that
B = W·D⁻¹·T(1/c) has shorter rows at the same privacy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_SHORT = 64  # series for which sums of products are quicker than transforms


def multiply(left: Vector, right: Vector) -> Vector:
    """Return the first n coefficients of a product.

    Args:
        left: shape (n,).
        right: shape (n,).

    Examples:
        >>> multiply(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0]))
        array([1., 3., 6.])
    """
    n = len(left)
    if n <= _SHORT:
        return np.convolve(left, right)[:n]
    from scipy.fft import irfft, next_fast_len, rfft

    size = next_fast_len(2 * n - 1, real=True)
    product: Vector = irfft(rfft(left, size) * rfft(right, size), size)[:n]
    return product


def inverse(series: Vector) -> Vector:
    """Return the series whose product with this one is 1.

    Args:
        series: shape (n,), the first coefficient not 0.

    Examples:
        >>> inverse(np.array([1.0, 1.0, 1.0, 1.0]))
        array([ 1., -1.,  0.,  0.])
    """
    n, found = len(series), np.array([1.0 / series[0]])
    while (size := len(found)) < n:
        size = min(2 * size, n)
        found = np.concatenate([found, np.zeros(size - len(found))])
        rest = -multiply(series[:size], found)
        rest[0] += 2.0
        found = multiply(found, rest)
    return found


def divide(series: Vector, divisor: Vector) -> Vector:
    """Return series/divisor.

    Args:
        series: shape (n,).
        divisor: shape (n,), the first coefficient not 0.

    Examples:
        >>> divide(np.array([1.0, 1.0, 1.0]), np.array([1.0, -1.0, 0.0]))
        array([1., 2., 3.])
    """
    return multiply(series, inverse(divisor))


def square_root(workload: Vector) -> Vector:
    """Return c with c·c = w: the first column of W^{1/2} for Toeplitz W.

    For w_k = w_0·ρ^k (prefix sums: ρ = 1) by r_k = (1 − 1/(2k))·ρ·r_{k−1} (003, section 4), to the
    last digits of each coefficient; otherwise by Newton's method for 1/c.

    Args:
        workload: w, shape (n,), w_0 > 0.

    Examples:
        >>> square_root(np.ones(4))
        array([1.    , 0.5   , 0.375 , 0.3125])
    """
    n, first = len(workload), float(workload[0])
    ratio = float(workload[1]) / first if n > 1 else 0.0
    if np.array_equal(workload[1:], ratio * workload[:-1]):
        steps = ratio * (1 - 0.5 / np.arange(1, n))
        return np.cumprod(np.concatenate([[np.sqrt(first)], steps]))
    found = np.array([first**-0.5])  # of 1/c
    while (size := len(found)) < n:
        size = min(2 * size, n)
        found = np.concatenate([found, np.zeros(size - len(found))])
        rest = -0.5 * multiply(workload[:size], multiply(found, found))
        rest[0] += 1.5
        found = multiply(found, rest)
    return multiply(workload, found)


def repeated(series: Vector, count: int, separation: int) -> Vector:
    """Return Σ_{j<k} of the series j·b places later, K·c: what a person in k rounds moves.

    Args:
        series: shape (n,).
        count: k, at least 1.
        separation: b, at least 1.

    Examples:
        >>> repeated(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 2, 2)
        array([1., 2., 4., 6., 8.])
    """
    n = len(series)
    places = -(-n // separation)
    rows = np.zeros(places * separation)
    rows[:n] = series
    sums = np.cumsum(rows.reshape(places, separation), axis=0)
    if count < places:
        sums[count:] -= sums[:-count].copy()
    found: Vector = sums.ravel()[:n]
    return found


def gathered(series: Vector, count: int, separation: int) -> Vector:
    """Return Kᵀ·x: Σ_{j<k} of the series j·b places earlier.

    Args:
        series: shape (n,).
        count: k, at least 1.
        separation: b, at least 1.

    Examples:
        >>> gathered(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 2, 2)
        array([4., 6., 8., 4., 5.])
    """
    return repeated(series[::-1], count, separation)[::-1]


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
