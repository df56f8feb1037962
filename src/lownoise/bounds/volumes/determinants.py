# SPDX-License-Identifier: Apache-2.0
"""Determinants of float matrices, bounded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import FEW, ROUGH, TINY, grown, growth, lowered, spectral_up

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_BITS = (192, 1024)


def log_gram_down(*factors: Vector) -> float:
    """Return at most ½·ln det(AAᵀ), A the product of the factors; −∞ where it may be 0.

    Args:
        factors: the first has k rows, shape (k, …).

    Examples:
        >>> round(log_gram_down(np.array([[3.0, 0.0, 4.0]])), 9) == round(math.log(5.0), 9)
        True
    """
    from flint import arb_mat

    for bits in _BITS:
        with precision(bits):
            product = arb_mat(factors[0].tolist())
            for factor in factors[1:]:
                product = product * arb_mat(factor.tolist())
            k, n = product.nrows(), product.ncols()
            if k == n:
                found = abs(product.det())
                if found > 0:
                    return _below(float(found.log().lower()))
            else:
                found = (product * product.transpose()).det()
                if found > 0:
                    return _below(float(found.log().lower()) / 2)
    return -math.inf


def _below(x: float) -> float:
    return lowered(x, abs(x), FEW) - 2.0**-1000


def sizes_of_determinants(rows: Vector) -> tuple[Vector, Vector]:
    """Return float determinants and at least how far off they are.

    Gaussian elimination with pivots computes the determinant of a matrix off by |δ| ≤ γ_{3k}·|L||U|
    (Higham 2002, Theorem 9.3), |L| ≤ 1 and |U| ≤ 2^{k−1}·max|A|; the determinant is linear in each
    row, and at most the product of their lengths (Hadamard).

    Args:
        rows: shape (n, k, k).

    Examples:
        >>> value, off = sizes_of_determinants(np.array([[[1.0, 2.0], [3.0, 4.0]]]))
        >>> bool(abs(value[0] + 2) <= off[0] < 1e-11)
        True
    """
    k = rows.shape[1]
    lengths = np.linalg.norm(rows, axis=2)
    most = np.max(np.abs(rows), axis=(1, 2))
    each = growth(3 * k + 9) * k**1.5 * 2.0 ** (k - 1) * most
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.prod(lengths, axis=1)
        off = np.prod(lengths * (1 + growth(k + 9)) + each[:, None], axis=1) - product
        off = grown(off, ROUGH) + product * TINY
        return np.linalg.det(rows), np.where(np.isfinite(off), off, math.inf)


def inverse_up(square: Vector) -> float:
    """Return at least ‖B⁻¹‖₂; ∞ where B may be singular.

    With any X and ‖I − XB‖ ≤ r < 1, ‖B⁻¹‖ ≤ ‖X‖/(1 − r).

    Args:
        square: B, shape (k, k).

    Examples:
        >>> 0.5 <= inverse_up(np.diag([2.0, 4.0])) < 0.5000001
        True
    """
    k = len(square)
    try:
        guess = np.asarray(np.linalg.inv(square), dtype=np.float64)
    except np.linalg.LinAlgError:
        return math.inf
    if not np.all(np.isfinite(guess)):
        return math.inf
    rest = np.eye(k) - guess @ square
    hidden = growth(k + 9) * float(np.linalg.norm(np.abs(guess) @ np.abs(square) + np.eye(k)))
    off = (float(np.linalg.norm(rest)) + hidden) * (1 + growth(k * k + 9))
    return grown(spectral_up(guess) / (1 - off)) if off < 0.5 else math.inf  # noqa: PLR2004
