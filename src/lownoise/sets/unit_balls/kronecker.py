# SPDX-License-Identifier: Apache-2.0
"""All x ⊗ y, with x and y in unit bodies of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.sets.unit_balls.abstract import AbstractUnitBall
from lownoise.sets.unit_balls.mixtures import mixture
from lownoise.sets.unit_balls.norm import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

_SLACK = 2.0**-44
_PLACE = 2.0**-49  # of the largest singular value times k₁ + k₂: more than LAPACK loses
_ROUNDS = 30
_NOTHING = 1e-300
_STEPS = 60


@final
@dataclass(frozen=True)
class KroneckerBall(AbstractUnitBall):
    """The hull of {x ⊗ y : x ∈ B₁, y ∈ B₂}; the coordinate of xᵢyⱼ is i·k₂ + j.

    Signs drawn for the coordinates of x and of y make second moments diagonal. The maximum of a
    bilinear form over two cubes is hard to find; where that is asked, bounds are returned.

    Args:
        first: B₁, k₁ coordinates, unchanged by every change of signs; so is B₂.
        second: B₂, k₂ coordinates.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> pair = KroneckerBall(NormBall(2, np.inf), NormBall(2, 2.0))
        >>> pair.norm_up(np.kron([1.0, -1.0], [0.6, 0.8])[None]).round(6)
        array([1.])
        >>> round(pair.energy_up(np.kron([1.0, 2.0], [3.0, 4.0])), 9)
        12.0
    """

    first: AbstractUnitBall
    second: AbstractUnitBall

    @property
    def dimension(self) -> int:
        """k₁·k₂."""
        return self.first.dimension * self.second.dimension

    @property
    def unconditional(self) -> bool:
        """Signs of single products xᵢyⱼ lead out of it."""
        return False

    @property
    def searched(self) -> bool:
        """It is, but where a part is an ℓ₁ ball or both are Euclidean."""
        orders = [p.order if isinstance(p, NormBall) else 0.0 for p in (self.first, self.second)]
        return 1.0 not in orders and orders != [2.0, 2.0]

    def _tables(self, rows: Vector) -> Vector:
        return rows.reshape(len(rows), self.first.dimension, self.second.dimension)

    def norm_up(self, points: Vector) -> Vector:
        """Return the least Σ‖u‖‖v‖ of three ways to write a table as Σ uvᵀ.

        Row by row it is exact where B₁ is an ℓ₁ ball, column by column where B₂ is one, and by
        singular values where both are Euclidean, and at x ⊗ y.
        """
        tables = self._tables(points)
        turned = np.ascontiguousarray(tables.transpose(0, 2, 1))
        by_rows = self._entry_by_entry(tables, self.first, self.second)
        by_columns = self._entry_by_entry(turned, self.second, self.first)
        return np.minimum(np.minimum(by_rows, by_columns), self._by_singular_values(points))

    @staticmethod
    def _entry_by_entry(tables: Vector, one: AbstractUnitBall, other: AbstractUnitBall) -> Vector:
        """Return Σ ‖eᵢ‖‖rowᵢ‖; shapes (n, k, l) and (n,)."""
        n, k, size = tables.shape
        rows = other.norm_up(tables.reshape(n * k, size)).reshape(n, k)
        total = np.zeros(n)
        for column, width in zip(rows.T, one.widths(), strict=True):
            total += column / width
        return np.asarray(total * (1 + 2.0**-42 + k * 2.0**-50))  # the widths are rounded up

    def brought_in(self, points: Vector) -> Vector:
        """Return points of B for rows: what its norm's bound admits, or a mixture of products.

        A mixture of x ⊗ y in B is in B, whatever found it. The nearest is searched for row by row
        where the bound puts a row outside; scaled down by the bound it is not, if that is nearer.
        """
        bounds = self.norm_up(points)
        found = np.asarray(points / np.maximum(bounds, 1.0)[:, None])
        if not self.searched:
            return found
        unit = self.widths()
        # a last digit of each coordinate adds its part of the width to the norm
        inward = unit * (1 - (unit.size + 4) * 2.0**-44)

        def scaled(directions: Vector) -> Vector:
            return self._products(directions / unit) / unit

        for i in np.flatnonzero(bounds > 1):
            goal = np.clip(points[i] / unit, -2.0, 2.0)
            mixed = inward * mixture(np.eye(unit.size), scaled, unit.size, goal, _STEPS)
            if np.linalg.norm((mixed - points[i]) / unit) < np.linalg.norm(
                (found[i] - points[i]) / unit
            ):
                found[i] = mixed
        return found

    def _products(self, directions: Vector) -> Vector:
        x = self.extreme(directions)
        return np.asarray(x / np.maximum(self.norm_up(x), 1.0)[:, None])

    def _by_singular_values(self, points: Vector) -> Vector:
        """Return Σ σ‖u‖‖v‖ over a singular value decomposition Σ σuvᵀ: enough, and least at x ⊗ y.

        What the decomposition misses is at most `_PLACE`·(k₁ + k₂) of the largest σ in every entry.
        """
        tables = self._tables(points)
        top = np.max(np.abs(points), axis=1)
        scale = np.where(top > 0, top, 1.0)
        u, sizes, v = np.linalg.svd(tables / scale[:, None, None], full_matrices=False)
        place = _PLACE * sum(tables.shape[1:])
        total = np.zeros(len(points))
        for i in range(sizes.shape[1]):
            left = self.first.norm_up(np.ascontiguousarray(u[:, :, i]))
            right = self.second.norm_up(np.ascontiguousarray(v[:, i, :]))
            # directions of no size say nothing of the table
            counted = sizes[:, i] > place * sizes[:, 0]
            total += np.where(counted, sizes[:, i] * left * right, 0.0)
        corners = np.sum(1 / self.first.widths()) * np.sum(1 / self.second.widths())
        missed = (2 + sizes.shape[1]) * place * sizes[:, 0] * corners
        return np.asarray(scale * np.where(top > 0, total * (1 + _SLACK) + missed, 0.0))

    def signed_norm_up(self, points: Vector) -> Vector:
        """Return the sum over coordinates of their sizes alone, which no sign changes."""
        slack = 1 + 2.0**-42 + self.dimension * 2.0**-50  # the widths are rounded up
        return np.asarray(np.abs(points) @ (1 / self.widths()) * slack)

    def support_up(self, directions: Vector) -> Vector:
        """Return the lesser bound: the support of the rows' supports, or of the columns'."""
        tables = self._tables(directions)
        n, k1, k2 = tables.shape
        rows = self.second.support_up(tables.reshape(n * k1, k2)).reshape(n, k1)
        turned = np.ascontiguousarray(tables.transpose(0, 2, 1))
        columns = self.first.support_up(turned.reshape(n * k2, k1)).reshape(n, k2)
        return np.minimum(self.first.support_up(rows), self.second.support_up(columns))

    def extreme(self, directions: Vector) -> Vector:
        """Return x ⊗ y where neither alone can do better; another pair may."""
        tables = self._tables(directions)
        top = np.linalg.svd(tables, full_matrices=False)[0][:, :, 0]
        found = [self._climbed(tables, x) for x in (top, np.sum(tables, axis=2))]
        values = [np.sum(each * directions, axis=1) for each in found]
        return np.where((values[0] >= values[1])[:, None], *found)

    def _climbed(self, tables: Vector, start: Vector) -> Vector:
        x = self.first.extreme(start)
        for _ in range(_ROUNDS):
            y = self.second.extreme(np.einsum("nij,ni->nj", tables, x))
            x = self.first.extreme(np.einsum("nij,nj->ni", tables, y))
        return np.asarray(np.einsum("ni,nj->nij", x, y).reshape(len(tables), -1))

    def energy_up(self, coefficients: Vector) -> float:
        """Return the lesser bound: the energy of the rows' energies, or of the columns'."""
        table = coefficients.reshape(self.first.dimension, self.second.dimension)
        rows = np.array([self.second.energy_up(row) for row in table])
        columns = np.array([self.first.energy_up(np.ascontiguousarray(c)) for c in table.T])
        return min(self.first.energy_up(rows), self.second.energy_up(columns)) * (1 + _SLACK)

    def moment_up(self, squares: Vector) -> float:
        """Return enough for a ⊗ b ≥ z, b the greatest part of its row that any z takes.

        The hull of squares holds all that lies below its points.
        """
        table = squares.reshape(self.first.dimension, self.second.dimension)
        found = []
        for own, one, other in (
            (table, self.first, self.second),
            (table.T, self.second, self.first),
        ):
            a = np.sum(own, axis=1)
            b = np.max(own / np.maximum(a, _NOTHING)[:, None], axis=0) * (1 + _SLACK)
            found.append(one.moment_up(a) * other.moment_up(b))
        return min(found) * (1 + _SLACK)

    def spread(self, gains: Vector) -> Vector:
        """Return a ⊗ b where neither alone can do better: the best where g is a product itself."""
        table = gains.reshape(self.first.dimension, self.second.dimension)
        b = np.full(self.second.dimension, 1 / self.second.dimension)
        for _ in range(_ROUNDS):
            a = self.first.spread(np.square(np.sum(np.sqrt(table * b), axis=1)))
            b = self.second.spread(np.square(np.sum(np.sqrt(table * a[:, None]), axis=0)))
        return np.outer(a, b).ravel()

    def widths(self) -> Vector:
        """Return the products of the parts' widths."""
        return np.outer(self.first.widths(), self.second.widths()).ravel() * (1 + _SLACK)

    def restricted(self, kept: Integers) -> AbstractUnitBall | None:
        """Return the product of the rows and columns that are kept, if it is one."""
        k2 = self.second.dimension
        rows, columns = np.unique(kept // k2), np.unique(kept % k2)
        first, second = self.first.restricted(rows), self.second.restricted(columns)
        if rows.size * columns.size != kept.size or first is None or second is None:
            return None
        return KroneckerBall(first, second)
