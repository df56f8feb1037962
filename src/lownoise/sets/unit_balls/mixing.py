# SPDX-License-Identifier: Apache-2.0
"""The best and the least mixture of a few rows of squares.

Where a group moves a body into itself, its squares matter only through their sums over a few
classes of coordinates, and the extreme ones are the rows of a small table Z ≥ 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_STAGES = 5  # a hundredfold each: the gap is then 1e-10 of the value, slacks are still accurate
_NEWTON = 40
_NEAR = 1e-9
_LEAST = 1e-150


def best_mixture(rows: Vector, gains: Vector) -> Vector:
    """Return ω ≥ 0 of sum 1 that makes Σⱼ gainⱼ·√(Zᵀω)ⱼ greatest.

    Its dual is the least of Σⱼ gainⱼ²/yⱼ subject to Zy ≤ 1 (Cauchy–Schwarz), a smooth problem in as
    many variables as there are classes; along its central path ω is the slacks' inverses.

    Args:
        rows: Z, shape (n, c), no row and no column all 0.
        gains: shape (c,), at least 0, not all 0.

    Examples:
        >>> best_mixture(np.eye(2), np.array([1.0, 2.0])).round(6)
        array([0.2, 0.8])
    """
    if gains.size == 1:
        return np.asarray(np.eye(len(rows))[np.argmax(rows[:, 0])])
    used = gains > _LEAST * np.max(gains)
    z, h = rows[:, used], np.square(gains[used] / np.max(gains))
    y = np.full(z.shape[1], 0.5 / float(np.max(np.sum(z, axis=1))))
    weight = 1.0 / float(np.sum(h / y))
    for _ in range(_STAGES):
        weight *= 100.0
        for _ in range(_NEWTON):
            slack = 1 - z @ y
            gradient = -weight * h / y**2 + (1 / slack) @ z
            curved = (z / slack[:, None]).T @ (z / slack[:, None])
            step = -np.linalg.solve(curved + np.diag(2 * weight * h / y**3), gradient)
            decrement = -float(gradient @ step)
            if not decrement > _NEAR:
                break
            length = 1.0 / (1.0 + np.sqrt(decrement)) if decrement > 0.25 else 1.0  # noqa: PLR2004
            while np.any(y + length * step <= 0) or np.any(z @ (y + length * step) >= 1):
                length /= 2
            y = y + length * step
    omega = 1 / (1 - z @ y)
    return np.asarray(omega / np.sum(omega))


def least_mixture_up(rows: Vector, squares: Vector) -> float:
    """Return at least the least Σω with Zᵀω ≥ squares, ω ≥ 0; hardly more.

    Whatever ω an optimiser names is stretched until it is enough.

    Args:
        rows: Z, shape (n, c), no column all 0.
        squares: shape (c,), at least 0.

    Examples:
        >>> round(least_mixture_up(np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([1.0, 1.0])), 9)
        1.0
    """
    from scipy.optimize import linprog

    top = float(np.max(squares))
    if not top > 0:
        return 0.0
    need = squares / top
    found = linprog(np.ones(len(rows)), A_ub=-rows.T, b_ub=-need, method="highs")
    omega = np.maximum(found.x, 0.0) if found.x is not None else np.ones(len(rows))
    omega += 2.0**-60
    have = omega @ rows
    short = float(np.max(need[need > 0] / have[need > 0]))
    return top * short * float(np.sum(omega)) * (1 + 2.0**-44)
