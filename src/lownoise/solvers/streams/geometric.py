# SPDX-License-Identifier: Apache-2.0
"""Sums of geometric series and their slopes, right to the last digits however near 1 the ratio is.

The ratio is p = 1 − q and is given by q, so that q = 1e-18 is no different from q = 0.1. Where n·q
is small the closed forms cancel and the binomial series in q takes their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_SERIES = 0.5  # n·q below which the series is used
_TERMS = 16


def geometric_sum(gaps: Vector, size: int) -> tuple[Vector, Vector]:
    """Return Σ_{t<n} p^t, and its derivative in q, for p = 1 − q.

    Args:
        gaps: q, 0 ≤ q ≤ 2, any shape.
        size: n, at least 0.

    Examples:
        >>> value, slope = geometric_sum(np.array([0.0, 0.5, 2.0]), 3)
        >>> value.tolist(), slope.tolist()
        ([3.0, 1.75, 1.0], [-3.0, -2.0, 1.0])
    """
    near = gaps * size < _SERIES
    q = np.where(near, 1.0, gaps)
    power = _power(q, size)
    value = (1 - power) / q
    slope = (size * _power(q, max(size - 1, 0)) - value) / q
    series, rise = _binomial(gaps, size, 1)
    return np.where(near, series, value), np.where(near, rise, slope)


def falling_sum(gaps: Vector, size: int) -> tuple[Vector, Vector]:
    """Return Σ_{t<n} (1 − t/n)·p^t, and its derivative in q, for p = 1 − q.

    Args:
        gaps: q, 0 ≤ q ≤ 2, any shape.
        size: n, at least 1.

    Examples:
        >>> value, slope = falling_sum(np.array([0.0, 0.5]), 2)
        >>> value.tolist(), slope.tolist()
        ([1.5, 1.25], [-0.5, -0.5])
    """
    near = gaps * size < _SERIES
    q = np.where(near, 1.0, gaps)
    power = _power(q, size)
    ended = (1 - power) / (size * q)
    value = (1 - (1 - q) * ended) / q
    slope = (ended - (1 - q) * (_power(q, max(size - 1, 0)) - ended) / q - value) / q
    series, rise = _binomial(gaps, size + 1, 2)
    return np.where(near, series / size, value), np.where(near, rise / size, slope)


def _power(gaps: Vector, exponent: int) -> Vector:
    """Return (1 − q)ⁿ."""
    with np.errstate(under="ignore", divide="ignore"):
        # log1p needs 1 − q > 0; a negative ratio is the sign times its absolute value
        sizes = np.where(gaps > 1, 2 - gaps, gaps)
        logs = np.log1p(-np.minimum(sizes, 1.0))
        powers: Vector = np.exp(exponent * logs) if exponent else np.ones_like(gaps)
    return np.where((gaps > 1) & (exponent % 2 == 1), -powers, powers)


def _binomial(gaps: Vector, size: int, first: int) -> tuple[Vector, Vector]:
    """Return Σ_j C(size, first + j)·(−q)^j, and its derivative, where size·q is small."""
    q = np.where(gaps * size < 2 * _SERIES, gaps, 0.0)
    coefficient = 1.0
    for i in range(first):
        coefficient *= (size - i) / (i + 1)
    value, slope, power = np.zeros_like(q), np.zeros_like(q), np.ones_like(q)
    for j in range(_TERMS):
        value = value + coefficient * power
        coefficient *= -(size - first - j) / (first + j + 1)
        slope = slope + (j + 1) * coefficient * power
        power = power * q
    return value, slope
