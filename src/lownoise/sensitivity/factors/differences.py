# SPDX-License-Identifier: Apache-2.0
"""The noise of tables of differences: each category against the last one, along every axis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast, final

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

Table = TypeVar("Table", bound=np.ndarray)  # of integers or of floats


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class DifferenceFactor:
    """L = scale·(I ⊗ D₁ ⊗ … ⊗ D_k), with Dᵢ = [I, −1] of shape (nᵢ − 1, nᵢ).

    As much of a noise shape as sampling needs. It is what D₁ ⊗ … ⊗ D_k makes of independent noise
    of standard deviation `scale` on the cells of a table, for `copies` tables at once.

    Args:
        scale: in grid steps, above 0; taken as the exact dyadic number.
        sizes: nᵢ ≥ 2 of each axis.
        copies: how many tables.

    Examples:
        >>> factor = DifferenceFactor(scale=2.0, sizes=(3,), copies=1)
        >>> factor.apply(np.array([1.0, 5.0, 4.0]))
        array([-6.,  2.])
        >>> factor.row(1)
        (array([1, 2]), array([ 2., -2.]))
    """

    scale: float
    sizes: tuple[int, ...]
    copies: int

    @property
    def dimension(self) -> int:
        """How many numbers come out."""
        return self.copies * math.prod(n - 1 for n in self.sizes)

    @property
    def sources(self) -> int:
        """How many normal numbers go in."""
        return self.copies * math.prod(self.sizes)

    @property
    def longest_row(self) -> int:
        """How many normal numbers enter each that comes out."""
        return int(2 ** len(self.sizes))

    def apply(self, vector: Vector) -> Vector:
        """Return L·vector; shapes (k,) and (d,)."""
        found: Vector = differences(vector.reshape(self.copies, *self.sizes), 1).reshape(-1)
        return found * self.scale

    def apply_abs(self, vector: Vector) -> Vector:
        """Return |L|·vector; shapes (k,) and (d,)."""
        return sums(vector.reshape(self.copies, *self.sizes), 1).reshape(-1) * self.scale

    def row(self, index: int) -> tuple[Integers, Vector]:
        """Return where row `index` of L is not zero, rising, and its entries there."""
        copy, *place = np.unravel_index(index, (self.copies, *(n - 1 for n in self.sizes)))
        columns, signs = np.array([copy]), np.array([self.scale])
        for at, size in zip(place, self.sizes, strict=True):
            columns = (columns[:, None] * size + np.array([at, size - 1])).reshape(-1)
            signs = (signs[:, None] * np.array([1.0, -1.0])).reshape(-1)
        return columns, signs


def differences(table: Table, first: int = 0) -> Table:
    """Return the table of differences to the last category along every axis from `first` on.

    Exact for integers.

    Examples:
        >>> differences(np.array([[5, 3], [2, 1]]))
        array([[1]])
    """
    for axis in range(first, table.ndim):
        kept, last = _parts(table, axis)
        table = kept - last
    return table


def sums(table: Table, first: int = 0) -> Table:
    """Return `differences` with a plus for the minus: what absolute values make of it.

    Examples:
        >>> sums(np.array([[5, 3], [2, 1]]))
        array([[11]])
    """
    for axis in range(first, table.ndim):
        kept, last = _parts(table, axis)
        table = kept + last
    return table


def _parts(table: Table, axis: int) -> tuple[Table, Table]:
    before = (slice(None),) * axis
    first, last = table[(*before, slice(None, -1))], table[(*before, slice(-1, None))]
    return cast("Table", first), cast("Table", last)


def centered(table: Vector, axis: int) -> Vector:
    """Return the table that sums to 0 along an axis and has these differences there: D⁺·table.

    Examples:
        >>> centered(np.array([3.0, 0.0]), 0)
        array([ 2., -1., -1.])
    """
    shape = (*table.shape[:axis], table.shape[axis] + 1, *table.shape[axis + 1 :])
    found = np.zeros(shape)
    found[(*(slice(None),) * axis, slice(None, -1))] = table
    found -= table.sum(axis=axis, keepdims=True) / shape[axis]
    return found
