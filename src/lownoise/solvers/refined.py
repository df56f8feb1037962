# SPDX-License-Identifier: Apache-2.0
"""Linear programs to the last digits of a float: HiGHS, and what it leaves solved again, enlarged.

HiGHS stops where nothing is violated by more than 10⁻¹⁰. What is violated is the right side of a
program with the same matrix, which multiplied by a large number is solved to 10⁻¹⁰ of itself; so
a round gains digits (iterative refinement; Gleixner, Steffy & Wolter 2016). Where HiGHS fails at
so large a number, a smaller one is tried; each side keeps the best that was found for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from lownoise.numbers.arrays import Vector

_TOLERANCE = 1e-10  # HiGHS takes none smaller
_ENOUGH = 1e-13
_ENLARGED = (1.0, 2.0**30, 2.0**20, 2.0**10)  # by what at most, round after round


def solved(cost: Vector, matrix: csc_array, sides: Vector) -> tuple[Vector, Vector] | None:
    """Return x ≥ 0 with matrix·x = sides and the least cost·x, and the multipliers; None if none.

    Args:
        cost: shape (n,).
        matrix: shape (m, n).
        sides: shape (m,).
    """
    from scipy.optimize import linprog

    x, y = np.zeros(cost.size), np.zeros(sides.size)
    off = dual_off = np.inf
    for most in _ENLARGED:
        by, dual_by = _enlarged(off, most), _enlarged(dual_off, most)
        found = linprog(
            dual_by * (cost - matrix.T @ y),
            A_eq=matrix,
            b_eq=by * (sides - matrix @ x),
            bounds=np.stack([-by * x, np.full(x.size, np.inf)], axis=1),
            method="highs",
            options={
                "primal_feasibility_tolerance": _TOLERANCE,
                "dual_feasibility_tolerance": _TOLERANCE,
            },
        )
        if found.x is None or found.status != 0:
            continue
        new, dual_new = x + found.x / by, y + found.eqlin.marginals / dual_by
        left = max(float(np.max(np.abs(sides - matrix @ new))), float(np.max(-new)))
        dual_left = float(np.max(matrix.T @ dual_new - cost))
        # of two that violate nothing the later is the nearer to the least
        if left < max(off, _ENOUGH):
            x, off = new, left
        if dual_left < max(dual_off, _ENOUGH):
            y, dual_off = dual_new, dual_left
        if max(off, dual_off) <= _ENOUGH:
            break
    return (x, y) if max(off, dual_off) < np.inf else None


def _enlarged(off: float, most: float) -> float:
    """Return a power of two that makes `off` about 1, `most` at most."""
    return min(float(2.0 ** np.floor(-np.log2(max(off, 1e-300)))), most) if off < np.inf else 1.0
