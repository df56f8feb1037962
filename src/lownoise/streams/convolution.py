# SPDX-License-Identifier: Apache-2.0
"""Products of a lower-triangular Toeplitz matrix and a vector, with a bound on every rounding.

Number t of the product is computed from the first t numbers of the vector alone, rounding and all:
what is released at a round must not depend, not even in its last bit, on noise that a later round
will use.

A Fourier transform of length N = 2^k is k layers of butterflies, so each output is a sum of inputs
times k roundings of relative size η: it is off by at most ε_N·Σ|input|, and all outputs together by
ε_N·√N·‖input‖₂, with ε_N = kη/(1 − kη) and η ≤ 6.7·2^-53 for exactly rounded roots of unity
(Higham 2002, Theorem 24.2, for radix 2; higher radices round less). We take η = 8·2^-53 and three
layers more, for transforms of real numbers. A product by way of transforms of a and x and one back,
each output of the first off by ε_N·‖a‖₁, is then off by 3ε_N·‖a‖₁·‖x‖₂ in ‖·‖₂, and what is of
second order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth, up

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_LEAF = 32
_RADIX = 16
_LAYER = 8 * 2.0**-53
_THRICE = 3 + 2.0**-20


def causal_product(column: Vector, vector: Vector) -> Vector:
    """Return y_t = Σ_{s ≤ t} column_{t−s}·vector_s, shape (n, r); number t sees the first t only.

    Args:
        column: the matrix's first column, shape (n,).
        vector: shape (n, r).

    Examples:
        >>> causal_product(np.array([1.0, 2.0, 4.0]), np.array([[1.0], [1.0], [0.0]])).ravel()
        array([1., 3., 6.])
    """
    n, r = vector.shape
    size = _block(n)
    count = -(-n // size)
    x = np.zeros((r, count * size))
    x[:, :n] = vector.T
    a = np.zeros(count * size)
    a[:n] = column
    return np.ascontiguousarray(_triangle(a, x, size)[:, :n].T)


def causal_error(column_sum: float, rounds: int, largest: float) -> float:
    """Return at least ‖computed − exact‖₂ of a `causal_product` of one vector of n numbers.

    On each level every block of outputs is a sum over blocks of inputs, each a product with two
    neighbouring stretches of the column: twice its sum at most.

    Args:
        column_sum: at least Σ|column|.
        rounds: n.
        largest: at least each |vector_s|.
    """
    length = largest * math.sqrt(rounds)
    levels, size, off = 1, _block(rounds), 0.0
    while size > _LEAF:
        levels, size = levels + 1, size // _RADIX
    size = _block(rounds)
    while size >= _LEAF and rounds > _LEAF:
        # the products, and adding up to _RADIX of them in the domain of frequencies
        off += 2 * (_THRICE * _transform(2 * size) + growth(2 * (_RADIX + 4)))
        size //= _RADIX
    off += growth(_LEAF + 2) + growth(levels + 2)
    return up(off * up(column_sum) * length * (1 + 2.0**-40))


def product(first: Vector, second: Vector) -> tuple[Vector, float]:
    """Return the first n numbers of a product of two series, and at least its error in ‖·‖₂.

    Args:
        first: shape (n,).
        second: shape (n,).

    Examples:
        >>> found, off = product(np.array([1.0, 1.0]), np.array([1.0, 2.0]))
        >>> bool(np.allclose(found, [1.0, 3.0])), off < 1e-12
        (True, True)
    """
    n = first.size
    length = 1 << max(2 * n - 1, 2).bit_length()
    found = np.fft.irfft(np.fft.rfft(first, length) * np.fft.rfft(second, length), length)[:n]
    norms = [(sum_up(a), norm2_up(b)) for a, b in ((first, second), (second, first))]
    off = (_THRICE * _transform(length) + growth(8)) * min(a * b for a, b in norms)
    return frozen(found), up(off * (1 + 2.0**-40))


def sum_up(numbers: Vector) -> float:
    """Return at least Σ|number|."""
    return up(float(np.sum(np.abs(numbers))) * (1 + growth(numbers.size + 1)))


def norm2_up(numbers: Vector) -> float:
    """Return at least ‖numbers‖₂; a square that vanishes is of a number below 2^-511."""
    length = math.sqrt(float(np.sum(np.square(numbers)))) * (1 + growth(numbers.size + 4))
    return up(length + 2.0**-511 * math.sqrt(numbers.size))


def _transform(length: int) -> float:
    """Return at least ε_N."""
    layers = (length.bit_length() + 3) * _LAYER
    return layers / (1 - layers)


def _block(rounds: int) -> int:
    """Return the size of the blocks that the first level cuts n rounds into."""
    size = _LEAF
    while size * _RADIX < rounds:
        size *= _RADIX
    return size


def _triangle(a: Vector, x: Vector, size: int) -> Vector:
    """Return the products of rows of x, shape (m, L), with blocks of `size`, which divides L."""
    m, length = x.shape
    if length <= _LEAF:
        lag = np.subtract.outer(np.arange(length), np.arange(length))
        triangle = np.where(lag >= 0, a[np.maximum(lag, 0)], 0.0)
        small: Vector = x @ triangle.T
        return small
    count = length // size
    blocks = x.reshape(m * count, size)
    y = _triangle(a[:size], blocks, max(size // _RADIX, 1)).reshape(m, count, size)
    if count > 1:
        seen = np.fft.rfft(blocks, 2 * size).reshape(m, count, size + 1)
        total = np.zeros_like(seen)
        for d in range(1, count):
            stretch = np.fft.rfft(a[(d - 1) * size : (d + 1) * size], 2 * size)
            total[:, d:] += seen[:, :-d] * stretch
        y += np.fft.irfft(total, 2 * size)[..., size:]
    return y.reshape(m, length)
