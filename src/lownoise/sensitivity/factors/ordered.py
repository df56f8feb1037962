# SPDX-License-Identifier: Apache-2.0
"""The noise of tables of differences with one more axis, along which it is correlated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.sensitivity.factors.differences import DifferenceFactor, differences

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class CorrelatedFactor:
    """I ⊗ D₁ ⊗ … ⊗ D_k ⊗ L, with Dᵢ = [I, −1] of shape (nᵢ − 1, nᵢ).

    As much of a noise shape as sampling needs.

    Args:
        triangle: L, in grid steps, shape (r, r); its entries are taken as the exact dyadic numbers.
        sizes: nᵢ ≥ 2 of each axis before the last.
        copies: how many tables.

    Examples:
        >>> factor = CorrelatedFactor(triangle=np.array([[1.0, 0], [2, 3]]), sizes=(2,), copies=1)
        >>> factor.apply(np.array([1.0, 5.0, 4.0, 7.0]))
        array([ -3., -12.])
        >>> factor.row(1)
        (array([0, 1, 2, 3]), array([ 2.,  3., -2., -3.]))
    """

    triangle: Vector
    sizes: tuple[int, ...]
    copies: int

    @property
    def dimension(self) -> int:
        """How many numbers come out."""
        return self._plain.dimension * len(self.triangle)

    @property
    def sources(self) -> int:
        """How many normal numbers go in."""
        return self._plain.sources * len(self.triangle)

    @property
    def longest_row(self) -> int:
        """How many normal numbers enter each that comes out."""
        return self._plain.longest_row * len(self.triangle)

    @cached_property
    def _plain(self) -> DifferenceFactor:
        return DifferenceFactor(scale=1.0, sizes=self.sizes, copies=self.copies)

    def _shaped(self, vector: Vector) -> Vector:
        return vector.reshape(self.copies, *self.sizes, len(self.triangle))

    def apply(self, vector: Vector) -> Vector:
        """Return the product with a vector; shapes (k,) and (d,)."""
        table = np.moveaxis(self._shaped(vector), -1, 0)
        turned = np.moveaxis(differences(table, 2), 0, -1)
        found: Vector = (turned @ self.triangle.T).reshape(-1)
        return found

    def apply_abs(self, vector: Vector) -> Vector:
        """Return the product of absolute values with a vector; shapes (k,) and (d,)."""
        r = len(self.triangle)
        plain = [self._plain.apply_abs(v) for v in vector.reshape(-1, r).T]
        found: Vector = (np.stack(plain, axis=1) @ np.abs(self.triangle).T).reshape(-1)
        return found

    def row(self, index: int) -> tuple[Integers, Vector]:
        """Return where a row is not zero, rising, and its entries there."""
        r = len(self.triangle)
        outer, inner = divmod(index, r)
        columns, signs = self._plain.row(outer)
        where = np.flatnonzero(self.triangle[inner])
        found: Integers = (columns[:, None] * r + where).reshape(-1)
        return found, np.outer(signs, self.triangle[inner, where]).reshape(-1)


def finest_deviation(triangle: Vector) -> float:
    """Return the least standard deviation of a coordinate given all before it: min Lᵢᵢ."""
    least = float(np.min(np.abs(np.diag(triangle))))
    return least if math.isfinite(least) else 0.0
