# SPDX-License-Identifier: Apache-2.0
"""The noise of counts over several sets of ordered attributes that share what they have in common.

The counts over a set T of ordered attributes, without the last category of each, get the noise

    Σ_{A⊆T} σ_A ⊗_{t∈A} L_t ⊗_{t∈T∖A} u_t · ξ_A,

with one ξ_A for all T ⊇ A: see `residuals.product`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.sensitivity.factors.differences import DifferenceFactor, differences, sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Integers, Vector

Span = tuple[int, ...]


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ProductFactor:
    """I ⊗ D₁ ⊗ … ⊗ D_k ⊗ (what is said above), with Dᵢ = [I, −1] of shape (nᵢ − 1, nᵢ).

    As much of a noise shape as sampling needs. All numbers are taken as the exact dyadic ones.

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
    def dimension(self) -> int:
        """How many numbers come out."""
        return int(self._plain.dimension * self._starts[-1])

    @property
    def sources(self) -> int:
        """How many normal numbers go in."""
        return int(self._plain.sources * self._starts[-1])

    @property
    def longest_row(self) -> int:
        """How many roundings `apply` makes in one number: it sums along one axis at a time."""
        widest = max((len(s) for s in self.spans), default=0)
        along = sorted((own.shape[1] + 1 for own in self.rows), reverse=True)[:widest]
        return int(2 * self._plain.longest_row + sum(along) + 2)

    @cached_property
    def _plain(self) -> DifferenceFactor:
        return DifferenceFactor(scale=1.0, sizes=self.sizes, copies=self.copies)

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

    def apply(self, vector: Vector) -> Vector:
        """Return the product with a vector; shapes (k,) and (d,)."""
        length = self._starts[-1]
        table = np.moveaxis(vector.reshape(self.copies, *self.sizes, length), -1, 0)
        turned = np.moveaxis(differences(table, 2), 0, -1)
        return self._mixed(turned.reshape(-1, length), self.rows).reshape(-1)

    def apply_abs(self, vector: Vector) -> Vector:
        """Return the product of absolute values with a vector; shapes (k,) and (d,)."""
        length = self._starts[-1]
        table = np.moveaxis(vector.reshape(self.copies, *self.sizes, length), -1, 0)
        turned = np.moveaxis(sums(table, 2), 0, -1)
        rows = [np.abs(own) for own in self.rows]
        return self._mixed(turned.reshape(-1, length), rows).reshape(-1)

    def row(self, index: int) -> tuple[Integers, Vector]:
        """Return where a row is not zero, rising, and its entries there, as exact fractions."""
        from flint import fmpq

        outer, inner = divmod(index, self._starts[-1])
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
        found = (columns[:, None] * self._starts[-1] + np.array(where, dtype=np.int64)).reshape(-1)
        signed = [e * int(s) for s in signs.tolist() for e in entries]
        return found, np.array(signed, dtype=object)
