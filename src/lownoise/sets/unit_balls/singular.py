# SPDX-License-Identifier: Apache-2.0
"""Singular values of many matrices, with a proof of how far off they can be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lownoise.numbers.rounding import growth

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_CROOKED = 0.25  # a defect of orthogonality beyond which nothing is built on a decomposition


class Singular(NamedTuple):
    """What is known of the singular values of n matrices.

    For every norm φ of vectors that neither signs nor the order of entries change, φ of the true
    values is at most stretch·φ(values) + off·φ(e₁).

    Args:
        values: falling, shape (n, m), m the smaller number of rows and columns.
        stretch: about 1, shape (n,).
        off: about 0, shape (n,).
    """

    values: Vector
    stretch: Vector
    off: Vector


def singular_values(matrices: Vector) -> Singular:
    """Return the singular values of `matrices`, shape (n, r, c), and what rounding can hide.

    LAPACK's U diag(s) Vᵀ is checked, not trusted: with A = U diag(s) Vᵀ + E the true values are at
    most ‖U‖·‖V‖·s plus those of E, in φ (Ky Fan's inequality, and Ostrowski's for the product;
    Horn and Johnson 1991, 3.3.16 and 3.4.4). ‖U‖² is at most 1 + m·max |UᵀU − I|, and the singular
    values of E sum to at most √(m·r·c)·max |E|, which bounds φ in parts of φ(e₁).

    A matrix has the same arithmetic wherever it stands and whatever stands beside it: LAPACK sees
    one matrix at a time, and everything else goes entry by entry.

    Examples:
        >>> singular_values(np.array([[[3.0, 0.0], [0.0, -4.0]]])).values.round(9)
        array([[4., 3.]])
    """
    n, r, c = matrices.shape
    m = min(r, c)
    found = Singular(np.zeros((n, m)), np.ones(n), np.zeros(n))
    top = np.max(np.abs(matrices), axis=(1, 2), initial=0.0)
    used = np.flatnonzero(top > 0)
    if not used.size:
        return found
    # powers of two: nothing is rounded but what is 2^1022 times smaller than the largest entry
    unit = np.frexp(top[used])[1]
    scaled = np.ldexp(matrices[used], -unit[:, None, None])
    u, s, v = decomposed(scaled)
    stretch = (1 + m * _defect(u)) * (1 + m * _defect(np.swapaxes(v, 1, 2)))
    rest = scaled.copy()
    for k in range(m):
        rest -= (u[:, :, k] * s[:, k, None])[:, :, None] * v[:, k, None, :]
    # |A| ≤ 1, and Σₖ |uᵢₖ|sₖ|vₖⱼ| ≤ s₁·‖U‖·‖V‖ < 2s₁
    lost = growth(3 * m + 9) * (1 + 2 * s[:, 0])
    off = math.sqrt(m * r * c) * (np.max(np.abs(rest), axis=(1, 2)) + lost) * (1 + 2.0**-40)
    crude = ~(stretch <= 1 + _CROOKED) | ~np.isfinite(off)
    # all that is left to say is that the sum of singular values is at most √m times the length
    found.values[used] = np.ldexp(np.where(crude[:, None], 0.0, s), unit[:, None])
    found.stretch[used] = np.where(crude, 1.0, stretch)
    found.off[used] = np.ldexp(np.where(crude, math.sqrt(m * r * c) * (1 + 2.0**-40), off), unit)
    return found


def decomposed(matrices: Vector) -> tuple[Vector, Vector, Vector]:
    """Return U, s and Vᵀ of each matrix; zeros where LAPACK finds none.

    Examples:
        >>> decomposed(np.array([[[0.0, 2.0]]]))[1]
        array([[2.]])
    """
    try:
        u, s, v = np.linalg.svd(matrices, full_matrices=False)
    except np.linalg.LinAlgError:
        if len(matrices) > 1:
            parts = [decomposed(one[None]) for one in matrices]
            return (
                np.concatenate([part[0] for part in parts]),
                np.concatenate([part[1] for part in parts]),
                np.concatenate([part[2] for part in parts]),
            )
        _, r, c = matrices.shape
        m = min(r, c)
        return np.zeros((1, r, m)), np.zeros((1, m)), np.zeros((1, m, c))
    return u, s, v


def _defect(columns: Vector) -> Vector:
    """Return at least max |UᵀU − I| of each matrix U, shape (n, r, m)."""
    n, r, m = columns.shape
    gram = np.zeros((n, m, m))
    for i in range(r):
        gram += columns[:, i, :, None] * columns[:, i, None, :]
    size = np.max(np.abs(gram), axis=(1, 2))
    off = np.max(np.abs(gram - np.eye(m)), axis=(1, 2))
    return np.asarray((off + 2 * growth(r + 9) * size) * (1 + 2.0**-40))
