# SPDX-License-Identifier: Apache-2.0
"""Noise of any shape, by its factor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.kinds import Field, Form, table
from lownoise.numbers.arrays import frozen, matrix
from lownoise.numbers.rounding import growth
from lownoise.sensitivity.factors.abstract import SHAPES, AbstractShape, Whitening, check_width

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector

_OUTSIDE = 1e-9  # of a vector's own coordinates: more is outside the range of L


def _square(rows: Any, field: str) -> Vector:  # noqa: ANN401 (a file)
    factor = np.zeros((0, 0)) if rows == [] else table(rows, field)
    if factor.shape[0] != factor.shape[1]:
        raise FileError(f"{field} is no square table of numbers")
    check_width(factor, "factor")
    return factor


@SHAPES.kind("dense", Field("factor", Form(read=_square)))
@final
@dataclass(frozen=True, eq=False, init=False)
class DenseShape(AbstractShape):
    """L is a matrix with independent columns: d answers from k ≤ d normal numbers.

    Args:
        factor: L, shape (d, k); where k < d the noise keeps to the range of L.

    Raises:
        PlanError: where the factor is not a matrix of finite numbers, or is wider than high.

    Examples:
        >>> shape = DenseShape([[2.0, 0.0], [1.0, 1.0]])
        >>> shape.dense()
        array([[4., 2.],
               [2., 2.]])
    """

    factor: Vector

    def __init__(self, factor: ArrayLike) -> None:
        checked = matrix(factor, field="DenseShape.factor", error=PlanError)
        if checked.shape[1] > checked.shape[0]:
            raise PlanError(
                f"DenseShape.factor has shape {checked.shape}; give no more columns than rows",
            )
        object.__setattr__(self, "factor", checked)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.factor.shape[0])

    @property
    def sources(self) -> int:
        """The number of columns k."""
        return int(self.factor.shape[1])

    @property
    def longest_row(self) -> int:
        """Every entry of a row may count."""
        return int(max(self.factor.shape[1], 1))

    def apply(self, vector: Vector) -> Vector:
        """Return L·vector; shapes (k,) and (d,)."""
        return self.factor @ vector

    def solve(self, vector: Vector) -> Vector:
        """Return z with L·z = vector, infinite outside the range of L; shapes (d,) and (k,)."""
        d, k = self.factor.shape
        if not k:
            return np.zeros(0) if not np.any(vector) else np.full(1, np.inf)
        size = np.linalg.norm(self.factor, axis=1)
        scale = np.where(size > 0, size, 1.0)
        z: Vector = np.linalg.lstsq(self.factor / scale[:, None], vector / scale)[0].astype(float)
        off = np.abs(self.factor @ z - vector)
        # beside what z could have made of a row: entries that cancel leave rounding of that size
        if k < d and np.any(off > _OUTSIDE * size * float(np.linalg.norm(z))):
            return np.full(k, np.inf)
        return z

    def diagonal(self) -> Vector:
        """Return the variances, shape (d,)."""
        return frozen(np.einsum("ij,ij->i", self.factor, self.factor))

    def deviations(self) -> Vector:
        """Return the lengths of the rows of L, shape (d,)."""
        return frozen(row_lengths(self.factor))

    def conditional_scales(self) -> tuple[Vector, Vector]:
        """Return 1/√(M⁻¹)ᵢᵢ and √Mᵢᵢ; zeros first where L is not square and regular."""
        most = self.deviations()
        white = self.whitening
        if not white.defect < 1:
            return np.zeros_like(most), most
        return 1 / np.linalg.norm(white.matrix, axis=0), most

    @property
    def rank(self) -> int:
        """The number of columns."""
        return self.sources

    def dense(self) -> Vector:
        """Return M = L·Lᵀ, shape (d, d)."""
        return self.factor @ self.factor.T

    def scaled(self, factor: float | Vector) -> Self:
        """Return the shape of factor·L; `factor` is a number or has shape (d,), one a row."""
        rows = np.broadcast_to(np.asarray(factor, dtype=np.float64), (self.dimension,))
        return type(self)(rows[:, None] * self.factor)

    def mapped(self, matrix: Vector) -> AbstractShape:
        """Return the shape of matrix·L; `matrix` has shape (m, d) and m is at least k."""
        return DenseShape(matrix @ self.factor)

    def row(self, index: int) -> tuple[Integers, Vector]:
        """Return where row `index` of L is not zero, and its entries there."""
        where = np.flatnonzero(self.factor[index])
        return where, self.factor[index, where]

    def apply_abs(self, vector: Vector) -> Vector:
        """Return |L|·vector; shapes (k,) and (d,)."""
        return np.abs(self.factor) @ vector

    @cached_property
    def whitening(self) -> Whitening:
        """An approximate inverse of a square L, and how far it is from one."""
        d, k = self.factor.shape
        if not k and not d:
            return Whitening(np.zeros((0, 0)), 0.0)
        if d != k:
            raise PlanError(f"shape has {k} sources for {d} coordinates; it covers no full body")
        size = np.linalg.norm(self.factor, axis=1)
        if not np.all(size > 0):
            return Whitening(np.zeros((d, d)), np.inf)
        inverse = _inverse(self.factor / size[:, None])
        if inverse is None:
            return Whitening(np.zeros((d, d)), np.inf)
        inverse /= size
        product = np.abs(np.eye(d) - inverse @ self.factor)
        product += growth(d + 3) * (np.abs(inverse) @ np.abs(self.factor) + np.eye(d))
        return Whitening(inverse, float(np.linalg.norm(product)) * (1 + growth(d * d + 99)))

    def box_radius_up(self, half_width: Vector) -> float:
        """Return at least the norm of |L⁻¹|·half_width: never less than the true radius."""
        white = self.whitening
        if not white.defect < 1:
            return np.inf
        extent = np.linalg.norm(np.abs(white.matrix) @ half_width)
        return float(extent) * (1 + growth(4 * self.dimension + 99)) / (1 - white.defect)


def _inverse(matrix: Vector) -> Vector | None:
    """Return an approximate inverse, or None where there is none."""
    from scipy.linalg import lapack

    if not np.any(np.triu(matrix, 1)):
        inverse, failed = lapack.dtrtri(matrix, lower=1)
        return None if failed else np.tril(inverse)
    try:
        return np.linalg.inv(matrix).astype(float)
    except np.linalg.LinAlgError:
        return None


def row_lengths(rows: Vector) -> Vector:
    """Return the Euclidean length of each row of shape (m, k), shape (m,).

    Examples:
        >>> row_lengths(np.array([[3e-200, 4e-200], [0.0, 0.0]]))
        array([5.e-200, 0.e+000])
    """
    largest = np.max(np.abs(rows), axis=1, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0)  # so that squares neither vanish nor overflow
    return np.asarray(scale * np.linalg.norm(rows / scale[:, None], axis=1))
