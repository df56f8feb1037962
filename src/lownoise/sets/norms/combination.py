# SPDX-License-Identifier: Apache-2.0
"""Inverses of matrices and least combinations of columns, with proofs of how far off they are.

The norm of an image F·B of an ℓ_r ball B with more columns than rows is ‖s‖ = min {‖λ‖_r : Fλ = s}.
Every λ with Fλ near s is a proof: what is left over is small in any norm, and d independent columns
of F say how small in this one. Which λ is the least, a linear program says where r is ∞.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import down, growth, up
from lownoise.sets.norms.abstract import ball_norm_up
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.sets.unit_balls import AbstractUnitBall

NEAR = 2.0**-20  # of a norm: what a matrix may differ by from a multiple of another one
_TINY = 2.0**-900


@final
@dataclass(frozen=True, eq=False)
class Inverse:
    """A map X that nearly undoes F: ‖F⁻¹s‖ ≤ stretch·‖X·s‖, because F⁻¹ = (XF)⁻¹X.

    Args:
        matrix: X, shape (d, d).
        stretch: at least 1/(1 − ‖I − XF‖); infinite where that is not known to be positive, and F
            may have no inverse.
    """

    matrix: Vector
    stretch: float

    def sure(self, what: str) -> Inverse:
        """Return it.

        Raises:
            PlanError: where F is not proved to have an inverse.
        """
        if math.isfinite(self.stretch):
            return self
        raise PlanError(
            f"{what} flat, or too nearly so for floats; leave out answers that follow from others"
        )


def inverse_of(factor: Vector, base: AbstractUnitBall) -> Inverse:
    """Return an inverse, with its error in the operator norm of a unit body.

    ‖Ex‖ ≤ ‖|E|·widths‖ on a unit body, whatever the signs of the entries of the latter.

    Args:
        factor: F, shape (d, d); or shape (d,), its diagonal: then X is to be divided by.
        base: the body, d coordinates.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> found = inverse_of(np.array([[2.0, 1.0], [0.0, 1.0]]), NormBall(2, 1.0))
        >>> found.matrix.round(9), 1 <= found.stretch < 1.000001
        (array([[ 0.5, -0.5],
               [ 0. ,  1. ]]), True)
        >>> inverse_of(np.ones((2, 2)), NormBall(2, 1.0)).stretch
        inf
    """
    d = len(factor)
    if factor.ndim == 1:
        regular = np.all(np.isfinite(factor) & (factor != 0))
        return Inverse(factor, 1.0 if regular else math.inf)
    most = np.max(np.abs(factor), axis=1)
    lost = Inverse(frozen(np.zeros((d, d))), math.inf)
    if not (np.all(np.isfinite(factor)) and np.all(most > 0)):
        return lost
    # units differ from row to row; powers of two round nothing
    unit = np.exp2(np.floor(np.log2(most)))
    rows = factor / unit[:, None]
    with np.errstate(all="ignore"):
        try:
            found = np.linalg.inv(rows)
        except np.linalg.LinAlgError:
            return lost
        rest = np.abs(np.eye(d) - found @ rows)
        rest += growth(d + 9) * (np.abs(found) @ np.abs(rows)) * (1 + 2.0**-30) + d * 2.0**-900
        defect = float(base.signed_norm_up((rest @ base.widths() * (1 + growth(d + 9)))[None])[0])
        if not defect < 1:
            return lost
        return Inverse(frozen(found / unit), up(1 / down(1 - defect)))


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


def turned(points: Vector) -> Vector:
    """Return each row or its opposite, the first number that is not 0 being positive."""
    first = np.argmax(points != 0, axis=1)
    sign = np.where(points[np.arange(len(points)), first] < 0, -1.0, 1.0)
    return np.asarray(points * sign[:, None] + 0.0)  # no negative zeros


def _keys(rows: Vector) -> Any:  # noqa: ANN401 (raw bytes have no type of their own)
    whole = np.ascontiguousarray(rows)
    return whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).ravel()


def among(points: Vector, known: Vector) -> Chosen:
    """Return which rows are rows of a list or opposites of them, number for number, shape (n,).

    Examples:
        >>> among(np.array([[-1.0, 0.0], [1.0, 1.0]]), np.array([[1.0, 0.0]]))
        array([ True, False])
    """
    return np.asarray(np.isin(_keys(turned(points)), _keys(turned(known))))


def distinct(points: Vector) -> Vector:
    """Return the rows that are not 0, one of each and its opposite.

    Examples:
        >>> distinct(np.array([[0.0, 0.0], [1.0, 2.0], [-1.0, -2.0]]))
        array([[1., 2.]])
    """
    moved = points[np.any(points, axis=1)]
    return frozen(np.unique(turned(moved), axis=0)) if len(moved) else frozen(moved.copy())
