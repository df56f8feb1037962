# SPDX-License-Identifier: Apache-2.0
"""The noise of tables of differences: each category against the last one, along every axis.

With one more axis, along which it is correlated, it is `CorrelatedFactor`; with several sets of
ordered attributes that share what they have in common, `ProductFactor`. There the counts over a set
T of ordered attributes, without the last category of each, get the noise

    Σ_{A⊆T} σ_A ⊗_{t∈A} L_t ⊗_{t∈T∖A} u_t · ξ_A,

with one ξ_A for all T ⊇ A: see `residuals.product`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from lownoise.numbers.compiled import MOST_IN_A_ROW, in_a_row, loader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.numbers.arrays import Integers, Table, Vector
    from lownoise.numbers.compiled import Kernels

Span = tuple[int, ...]
_KINDS = (np.dtype(np.float64), np.dtype(np.int64))
_SHAPES = (  # on which kernels are compared with numpy: of each way that they add up, and its ends
    *((3, n, 1) for n in (1, 2, 3, 4, 7, 8, 9, 16, 31, 100, MOST_IN_A_ROW)),
    *((2, 5, inner) for inner in (2, 3, 4, 7, 8, 9, 33)),
    (1, 100, 20),
    (1, 1, 8),
)
_FAR = 2.0**10  # times the mean: below it one doubt for all leaves few in a million rows open


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
        table = vector.reshape(self.copies, *self.sizes)
        found: Vector = differences(table, 1).reshape(-1)
        return np.multiply(found, self.scale, out=found if self.sizes else None)

    def apply_abs(self, vector: Vector) -> Vector:
        """Return |L|·vector; shapes (k,) and (d,).

        Where no entry is far above the mean, at least that: one number for all, shape ().
        """
        most = vector.max(initial=0.0)
        if most < _FAR * vector.mean():
            return np.asarray(self.longest_row * most * self.scale)
        return sums(vector.reshape(self.copies, *self.sizes), 1).reshape(-1) * self.scale

    def row(self, index: int) -> tuple[Integers, Vector]:
        """Return where row `index` of L is not zero, rising, and its entries there."""
        copy, *place = np.unravel_index(index, (self.copies, *(n - 1 for n in self.sizes)))
        columns, signs = np.array([copy]), np.array([self.scale])
        for at, size in zip(place, self.sizes, strict=True):
            columns = (columns[:, None] * size + np.array([at, size - 1])).reshape(-1)
            signs = (signs[:, None] * np.array([1.0, -1.0])).reshape(-1)
        return columns, signs


def differences(table: Table, first: int = 0, *, own: bool = False) -> Table:
    """Return the table of differences to the last category along every axis from `first` on.

    Exact for integers. Compiled kernels make those of large tables, with the same bits.

    Args:
        table: numbers.
        first: the first axis.
        own: whether they may be put where the table is, in a row and writable.

    Examples:
        >>> differences(np.array([[5, 3], [2, 1]]))
        array([[1]])
    """
    least = min(table.shape[first:], default=0)
    plain = least > 1 and table.dtype in _KINDS and in_a_row(table)
    if plain and (kernels := LOADER.after(table.size)):
        return kernels.differences(table, first, own=own)
    return _differences(table, first)


def _differences(table: Table, first: int) -> Table:
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


def centered(
    table: Vector, axis: int, total: Vector | None = None, room: Vector | None = None
) -> Vector:
    """Return the table of such sums along an axis that has these differences there.

    Where both are of one table of whole numbers, small beside 2^53, it is exactly that one: what
    sums are above those of the differences is the last row times the number of rows. Compiled
    kernels make it of large tables, with the same bits.

    Args:
        table: numbers.
        axis: along which.
        total: the sums along the axis, of the shape without it; None for 0: D⁺·table.
        room: at the end of which it may be put, and where the table itself may end.

    Examples:
        >>> centered(np.array([3.0, 0.0]), 0)
        array([ 2., -1., -1.])
        >>> centered(np.array([3.0, 0.0]), 0, np.array(48.0))
        array([18., 15., 15.])
    """
    short = axis < table.ndim and (
        table.shape[axis] <= MOST_IN_A_ROW or math.prod(table.shape[axis + 1 :]) > 1
    )
    plain = short and total is not None and table.dtype == np.float64
    if plain and in_a_row(table, total) and (kernels := LOADER.after(table.size)):
        return kernels.centered(table, axis, cast("Vector", total), room)
    return _centered(table, axis, total)


def _centered(table: Vector, axis: int, total: Vector | None) -> Vector:
    shape = (*table.shape[:axis], table.shape[axis] + 1, *table.shape[axis + 1 :])
    found = np.empty(shape)
    first, last = _parts(found, axis)
    whole = 0.0 if total is None else np.expand_dims(total, axis)
    np.divide(whole - table.sum(axis=axis, keepdims=True), shape[axis], out=last)
    np.add(table, last, out=first)
    return found


def _right(kernels: Kernels) -> bool:
    """Return whether kernels make of tables of many shapes what numpy does, to the last bit."""
    for outer, n, inner in _SHAPES:
        count = np.arange(outer * n * inner)
        row = (count * 0.6180339887 % 1.0 - 0.5) * 2.0 ** (count % 37)
        numbers = row.reshape(outer, n, inner)
        total = numbers[:, 0] * 0.75
        for own in (numbers, numbers.view(np.int64)):
            for first in (0, 1, 2):
                if min(own.shape[first:]) > 1:
                    wanted: Any = _differences(own, first)
                    found: Any = kernels.differences(own, first, own=False)
                    again: Any = kernels.differences(own.copy(), first, own=True)
                    if not (_same(wanted, found) and _same(wanted, again)):
                        return False
        wanted, room = _centered(numbers, 1, total), np.empty(outer * (n + 1) * inner)
        room[-numbers.size :] = numbers.reshape(-1)
        last = room[-numbers.size :].reshape(numbers.shape)
        if not _same(wanted, kernels.centered(numbers, 1, total, None)):
            return False
        if not _same(wanted, kernels.centered(last, 1, total, room)):
            return False
    return True


def _same(first: Table, second: Table) -> bool:
    return np.array_equal(np.ascontiguousarray(first).view(np.int64), second.view(np.int64))


LOADER = loader(_right)


class AbstractTableFactor(ABC):
    """I ⊗ D₁ ⊗ … ⊗ D_k ⊗ L, with Dᵢ = [I, −1] of shape (nᵢ − 1, nᵢ) and a square L.

    As much of a noise shape as sampling needs.
    """

    sizes: tuple[int, ...]
    copies: int

    @property
    @abstractmethod
    def length(self) -> int:
        """The number of rows of L."""

    @abstractmethod
    def along(self, rows: Vector) -> Vector:
        """Return what L makes of each row, shape (m, length)."""

    @abstractmethod
    def along_abs(self, rows: Vector) -> Vector:
        """Return what the absolute values of L make of each row, shape (m, length)."""

    @property
    def dimension(self) -> int:
        """How many numbers come out."""
        return int(self._plain.dimension * self.length)

    @property
    def sources(self) -> int:
        """How many normal numbers go in."""
        return int(self._plain.sources * self.length)

    @cached_property
    def _plain(self) -> DifferenceFactor:
        return DifferenceFactor(scale=1.0, sizes=self.sizes, copies=self.copies)

    def _across(self, vector: Vector, combined: Callable[[Vector, int], Vector]) -> Vector:
        """Return the rows that L is applied to, shape (m, length)."""
        table = np.moveaxis(vector.reshape(self.copies, *self.sizes, self.length), -1, 0)
        return np.moveaxis(combined(table, 2), 0, -1).reshape(-1, self.length)

    @final
    def apply(self, vector: Vector) -> Vector:
        """Return the product with a vector; shapes (k,) and (d,)."""
        return self.along(self._across(vector, differences)).reshape(-1)

    @final
    def apply_abs(self, vector: Vector) -> Vector:
        """Return the product of absolute values with a vector; shapes (k,) and (d,)."""
        return self.along_abs(self._across(vector, sums)).reshape(-1)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class CorrelatedFactor(AbstractTableFactor):
    """I ⊗ D₁ ⊗ … ⊗ D_k ⊗ L for a matrix L.

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
    def length(self) -> int:
        """The number of rows of L."""
        return len(self.triangle)

    @property
    def longest_row(self) -> int:
        """How many normal numbers enter each that comes out."""
        return self._plain.longest_row * len(self.triangle)

    def along(self, rows: Vector) -> Vector:
        """Return what L makes of each row, shape (m, r)."""
        return np.asarray(rows @ self.triangle.T)

    def along_abs(self, rows: Vector) -> Vector:
        """Return what the absolute values of L make of each row, shape (m, r)."""
        return np.asarray(rows @ np.abs(self.triangle).T)

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


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ProductFactor(AbstractTableFactor):
    """I ⊗ D₁ ⊗ … ⊗ D_k ⊗ (what is said above); all numbers are taken as the exact dyadic ones.

    Args:
        scales: σ_A, in grid steps, for each of `spans`.
        spans: the sets T of ordered attributes, rising in number, one after another.
        rows: [u_t, L_t] of each ordered attribute, shape (n_t − 1, n_t).
        sizes: nᵢ ≥ 2 of each unordered axis.
        copies: how many tables.

    Examples:
        >>> one = np.array([[0.5, 2.0]])  # u = (½, ½) and L = 2
        >>> factor = ProductFactor(scales=(3.0, 1.0), spans=((), (0,)), rows=(one,), sizes=(),
        ...                        copies=1)
        >>> factor.apply(np.array([1.0, 1.0]))  # a total, and a category
        array([3. , 3.5])
        >>> [[str(e) for e in factor.row(1)[1]], factor.row(1)[0].tolist()]
        [['3/2', '2'], [0, 1]]
    """

    scales: tuple[float, ...]
    spans: tuple[Span, ...]
    rows: tuple[Vector, ...]
    sizes: tuple[int, ...]
    copies: int

    @property
    def length(self) -> int:
        """How many numbers the spans have together."""
        return self._starts[-1]

    @property
    def longest_row(self) -> int:
        """How many roundings `apply` makes in one number: it sums along one axis at a time."""
        widest = max((len(s) for s in self.spans), default=0)
        along = sorted((own.shape[1] + 1 for own in self.rows), reverse=True)[:widest]
        return int(2 * self._plain.longest_row + sum(along) + 2)

    @cached_property
    def _shapes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(len(self.rows[t]) for t in span) for span in self.spans)

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return tuple(np.cumsum([0, *map(math.prod, self._shapes)]).tolist())

    def _mixed(self, vector: Vector, rows: Sequence[Vector]) -> Vector:
        """Return what the spans' own numbers become, along the last axis of (k, length)."""
        found = np.empty_like(vector)
        for k, span in enumerate(self.spans):
            table = np.zeros((len(vector), *(len(self.rows[t]) + 1 for t in span)))
            for inside, own, at in self._inside(k):
                place = tuple(slice(1, None) if t in inside else 0 for t in span)
                part = vector[:, self._starts[at] : self._starts[at + 1]] * own
                table[(slice(None), *place)] = part.reshape(-1, *self._shapes[at])
            for t in span:  # each product moves its axis to the end
                table = np.tensordot(table, rows[t], axes=(1, 1))
            found[:, self._starts[k] : self._starts[k + 1]] = table.reshape(len(vector), -1)
        return found

    def _inside(self, k: int) -> list[tuple[Span, float, int]]:
        """Return the spans within span k, their σ, and where they stand."""
        whole = set(self.spans[k])
        return [(s, self.scales[j], j) for j, s in enumerate(self.spans) if whole.issuperset(s)]

    def along(self, rows: Vector) -> Vector:
        """Return what the spans' own numbers become, shape (m, length)."""
        return self._mixed(rows, self.rows)

    def along_abs(self, rows: Vector) -> Vector:
        """Return what absolute values make of them, shape (m, length)."""
        return self._mixed(rows, [np.abs(own) for own in self.rows])

    def row(self, index: int) -> tuple[Integers, Vector]:
        """Return where a row is not zero, rising, and its entries there, as exact fractions."""
        from flint import fmpq

        outer, inner = divmod(index, self.length)
        columns, signs = self._plain.row(outer)
        k = int(np.searchsorted(self._starts, inner, side="right")) - 1
        # spans of no cells do not occur: every attribute has two categories
        place = np.unravel_index(inner - self._starts[k], self._shapes[k])
        exact = [
            [fmpq(*float(v).as_integer_ratio()) for v in self.rows[t][at]]
            for t, at in zip(self.spans[k], place, strict=True)
        ]
        where, entries = [], []
        for inside, own, at in sorted(self._inside(k), key=lambda found: found[2]):
            products = [fmpq(*own.as_integer_ratio())]
            for t, line in zip(self.spans[k], exact, strict=True):
                chosen = line[1:] if t in inside else line[:1]
                products = [p * q for p in products for q in chosen]
            kept = [j for j, p in enumerate(products) if p]
            where += [self._starts[at] + j for j in kept]
            entries += [products[j] for j in kept]
        found = (columns[:, None] * self.length + np.array(where, dtype=np.int64)).reshape(-1)
        signed = [e * int(s) for s in signs.tolist() for e in entries]
        return found, np.array(signed, dtype=object)
