# SPDX-License-Identifier: Apache-2.0
"""Principal axes of a set of rows, each axis as accurate as its own length.

Forming BᵀB squares the condition number. Where that loses the short axes, B is reduced to a
triangle and turned by one-sided Jacobi rotations, which find every singular value of a graded
matrix (columns of very unlike lengths) to high relative accuracy (Demmel & Veselić 1992). Beyond
300 columns LAPACK's decomposition must do: its lengths are right to 1e-16 of the longest. Either
way the bounds are recomputed from the result, so a loss here widens the gap and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.arrays import triangle_of

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_SPREAD = 1e-8  # of eigenvalues of BᵀB, above which each is known to 1e-8 of itself
_WIDE_SPREAD = 1e-11  # where there are so many axes that a short one counts for little
_MANY = 300  # columns, beyond which rotations take too long
_TOLERANCE = 1e-14
_MOST_SWEEPS = 40


def principal_axes(rows: Vector) -> tuple[Vector, Vector]:
    """Return lengths m and axes U with BᵀB = U diag(m²) Uᵀ.

    Args:
        rows: B, shape (k, r), of rank r.

    Returns:
        m rising, shape (r,), and U orthogonal, shape (r, r).

    Examples:
        >>> graded = np.diag([1.0, 1e-20]) @ np.array([[1.0, 1e-20], [1.0, -1e-20]])
        >>> bool(abs(np.prod(principal_axes(graded)[0]) / 2e-40 - 1) < 1e-12)
        True
    """
    from scipy.linalg import eigh

    gram = rows.T @ rows
    many = rows.shape[1] > _MANY
    if many:
        squares, axes = eigh(gram.T, driver="evd", overwrite_a=True, check_finite=False)
    else:
        squares, axes = np.linalg.eigh(gram)
    if squares[0] > (_WIDE_SPREAD if many else _SPREAD) * squares[-1]:
        return np.sqrt(squares), axes
    if many:
        _, lengths, turned = np.linalg.svd(triangle_of(rows))
        least = np.finfo(np.float64).eps * lengths[0]
        return np.maximum(lengths[::-1], least), turned[::-1].T
    return _jacobi(rows)


def _jacobi(rows: Vector) -> tuple[Vector, Vector]:
    # long rows and columns first: the triangle then keeps the grading (Cox & Higham 1998)
    rows = rows[np.argsort(-np.max(np.abs(rows), axis=1))]
    order = np.argsort(-np.linalg.norm(rows, axis=0))
    triangle = triangle_of(rows[:, order])
    # a second triangle, transposed, is nearly diagonal: few sweeps are left
    basis, second = np.linalg.qr(triangle.T)
    columns, r = second.T.copy(), second.shape[0]
    turned = np.eye(r)
    for _ in range(_MOST_SWEEPS):
        if _sweep(columns, turned) < _TOLERANCE:
            break
    # triangleᵀ = basis·second, so triangle·basis = secondᵀ, which `turned` makes orthogonal
    lengths = np.linalg.norm(columns, axis=0)
    rising = np.argsort(lengths)
    axes = np.empty((r, r))
    axes[order] = basis @ turned
    return lengths[rising], axes[:, rising]


def _sweep(columns: Vector, turned: Vector) -> float:
    """Make each pair of columns orthogonal once, in place; return the greatest cosine found."""
    r = columns.shape[1]
    seats = np.arange(r + r % 2)
    worst = 0.0
    for _ in range(seats.size - 1):
        left, right = seats[: seats.size // 2], seats[: seats.size // 2 - 1 : -1]
        real = (left < r) & (right < r)
        worst = max(worst, _rotate(columns, turned, left[real], right[real]))
        seats[1:] = np.roll(seats[1:], 1)  # the circle of a round-robin tournament
    return worst


def _rotate(columns: Vector, turned: Vector, left: Vector, right: Vector) -> float:
    x, y = columns[:, left], columns[:, right]
    a, b = np.einsum("ij,ij->j", x, x), np.einsum("ij,ij->j", y, y)
    c = np.einsum("ij,ij->j", x, y)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        cosine = np.where(c == 0, 0.0, np.abs(c) / (np.sqrt(a) * np.sqrt(b)))
        zeta = (b - a) / (2 * c)
        tangent = np.where(zeta >= 0, 1.0, -1.0) / (np.abs(zeta) + np.sqrt(1 + zeta * zeta))
        tangent = np.where((c == 0) | ~np.isfinite(zeta), 0.0, tangent)
    cos = 1 / np.sqrt(1 + tangent * tangent)
    sin = cos * tangent
    columns[:, left], columns[:, right] = cos * x - sin * y, sin * x + cos * y
    x, y = turned[:, left], turned[:, right]
    turned[:, left], turned[:, right] = cos * x - sin * y, sin * x + cos * y
    return float(np.max(cosine, initial=0.0))
