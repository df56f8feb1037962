# SPDX-License-Identifier: Apache-2.0
"""Norms of images F·B of an ℓ_r ball B with more columns than rows: ‖s‖ = min {‖λ‖_r : Fλ = s}.

Every λ with Fλ near s is a proof: what is left over is small in any norm, and d independent columns
of F say how small in this one. Which λ is the least, a linear program says where r is ∞.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth
from lownoise.sets.norms.form import ball_norm_up
from lownoise.sets.norms.inverse import Inverse, inverse_of
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

NEAR = 2.0**-20  # of a norm: what a matrix may differ by from a multiple of another one
_TINY = 2.0**-900


@final
@dataclass(frozen=True, eq=False)
class Combination:
    """The least coefficients of points in the columns of a matrix.

    Args:
        factor: F, shape (d, k), k ≥ d.
        order: r, 1 or ∞.

    Examples:
        >>> three = Combination(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), np.inf)
        >>> three.norm_up(np.array([[2.0, 2.0]])).round(9)
        array([1.])
    """

    factor: Vector
    order: float

    @cached_property
    def _columns(self) -> Integers:
        """Independent columns, far from dependent, shape (d,)."""
        from scipy.linalg import qr

        unit = np.max(np.abs(self.factor), axis=1, keepdims=True)
        turn = qr(self.factor / np.where(unit > 0, unit, 1.0), mode="r", pivoting=True)[1]
        return np.asarray(np.sort(turn[: len(self.factor)]), dtype=np.int64)

    @cached_property
    def inverse(self) -> Inverse:
        """The inverse of d independent columns; its stretch is infinite where F may be flat."""
        d, k = self.factor.shape
        if k < d:
            return Inverse(frozen(np.zeros((d, d))), math.inf)
        chosen = np.ascontiguousarray(self.factor[:, self._columns])
        return inverse_of(chosen, NormBall(d, self.order))

    def rough_up(self, sizes: Vector) -> Vector:
        """Return at least ‖s‖ for every s with |s| ≤ sizes, row by row, but not nearly that."""
        white = self.inverse
        d = sizes.shape[1]
        own = np.abs(white.matrix) @ sizes.T * (1 + growth(d + 9))
        own += np.where(np.any(sizes, axis=1), _TINY, 0.0)
        return np.asarray(ball_norm_up(own.T, self.order) * white.stretch * (1 + growth(9)))

    def norm_up(self, points: Vector) -> Vector:
        """Return at least ‖s‖, row by row, hardly more where r is ∞; shapes (n, d) and (n,)."""
        coefficients = np.stack([self._least(s) for s in points])
        for _ in range(2):  # the program's own tolerance is far coarser than floats
            left = points - coefficients @ self.factor.T
            coefficients[:, self._columns] += left @ self.inverse.matrix.T
        left = np.abs(points - coefficients @ self.factor.T)
        size = np.abs(coefficients) @ np.abs(self.factor.T) + np.abs(points)
        left += growth(self.factor.shape[1] + 9) * size * (1 + 2.0**-30)
        whole = ball_norm_up(np.abs(coefficients), self.order)
        return np.asarray((whole + self.rough_up(left)) * (1 + growth(9)))

    def near_up(self, factor: Vector) -> float:
        """Return at least the greatest norm over an image F'·B, where F' is nearly a scaled F.

        F' = F·D + E with a diagonal D, so F'x = F(Dx) + Ex.

        Args:
            factor: F', shape (d, k).

        Returns:
            Infinity where F' is not near a scaled F.
        """
        own = self.factor
        if factor.shape != own.shape:
            return math.inf
        if np.array_equal(factor, own):
            return 1.0
        unit = np.max(np.abs(own), axis=1, keepdims=True)
        a, b = factor / unit, own / unit
        scale = np.einsum("ij,ij->j", a, b) / np.maximum(np.einsum("ij,ij->j", b, b), 2.0**-80)
        left = np.abs(factor - own * scale) + growth(9) * (np.abs(factor) + np.abs(own * scale))
        aside, most = self.rough_up(left.T), float(np.max(np.abs(scale)))
        rest = float(np.max(aside) if self.order == 1 else np.sum(aside) * (1 + growth(aside.size)))
        return (most + rest) * (1 + growth(9)) if rest <= NEAR * most else math.inf

    def _least(self, point: Vector) -> Vector:
        """Return λ with Fλ = s, nearly, and its greatest entry nearly the least, shape (k,)."""
        from scipy.optimize import linprog

        d, k = self.factor.shape
        if not np.any(point):
            return np.zeros(k)
        unit = np.max(np.abs(self.factor), axis=1)
        size = float(np.max(np.abs(point) / unit))
        rows, right = self.factor / unit[:, None], point / unit / size
        below = np.vstack([np.eye(k), -np.eye(k)])
        found = linprog(
            np.append(np.zeros(k), 1.0),
            A_ub=np.hstack([below, -np.ones((2 * k, 1))]),
            b_ub=np.zeros(2 * k),
            A_eq=np.hstack([rows, np.zeros((d, 1))]),
            b_eq=right,
            bounds=[(None, None)] * (k + 1),
        )
        least = None if found.x is None else found.x[:k]
        if least is None:  # any combination will do
            least = np.zeros(k)
            least[self._columns] = self.inverse.matrix @ (point / size)
        return np.asarray(least * size)
