# SPDX-License-Identifier: Apache-2.0
"""Exact counts over sets of attributes plus the rounding of a true Gaussian that is a product.

For every set A of unordered attributes, and every set T of ordered ones that is seen with it, the
integers (D ⊗ … ⊗ D)·counts over A ∪ T are summed, without the last category of each attribute of
T, and get the noise of `shapes.product`. Nothing of the counts is rounded. Taking u times the total
away along each ordered axis, exactly, leaves the independent residuals of `residuals.product`, so a
record moves the noisy counts by exactly what is said there.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.noise.marginal_noise import AbstractResidualNoise, fitted, grid_step
from lownoise.noise.marginals import AbstractResidualLayout
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import sqrt_up
from lownoise.sensitivity.factors.tables import ProductFactor, differences, finest_deviation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.counts import Records
    from lownoise.noise import AdditiveMechanism
    from lownoise.noise.marginals import Space, Sums
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Attribute
    from lownoise.sensitivity.residuals import AxisNoise, Products
    from lownoise.sensitivity.residuals.ordered import Span
    from lownoise.sensitivity.residuals.product import ProductBlock

# The grid is 2^-10 of the least deviation that is left where all other counts are known. A number
# is a long sum: on a finer grid more of them would be too near a half to be rounded at once.
_COARSER = 2.0**10
_SHORTER = 2.0**8  # than a deviation is such a one, at least: errors are stated to seven digits


@final
@dataclass(frozen=True, eq=False)
class ProductLayout(AbstractResidualLayout):
    """Counts over each set of unordered attributes and sets of ordered ones."""

    products: Products

    @property
    def changes(self) -> Products:
        """What the marginals see of a record."""
        return self.products

    @property
    def parts(self) -> tuple[ProductBlock, ...]:
        """The counts on each orbit that records can move in."""
        return self.products.parts

    def exact(self, records: Records, space: Space, sets: Sequence[tuple[int, ...]]) -> Integers:
        """Return (D ⊗ … ⊗ D ⊗ I)·counts of some sets of attributes, exactly, flat."""
        block = self.parts[self.at[space.orbit]]
        found = np.stack([self._counts(records, block, chosen) for chosen in sets])
        return found.reshape(-1)

    def _counts(self, records: Records, block: ProductBlock, chosen: Sequence[int]) -> Integers:
        """Return (D ⊗ … ⊗ D ⊗ I)·counts, exactly; shape (n₁ − 1, …, r)."""
        found = []
        for span in block.spans:
            ordered = [self.axes[t] for t in span]
            rising = sorted([*chosen, *ordered])
            counts = records.marginal(rising)
            counts = np.transpose(counts, [rising.index(i) for i in (*ordered, *chosen)])
            own = differences(counts, len(ordered))
            own = own[(slice(None, -1),) * len(ordered)]
            own = np.transpose(own, [*range(len(ordered), own.ndim), *range(len(ordered))])
            found.append(own.reshape(*own.shape[: len(chosen)], -1))
        return np.concatenate(found, axis=-1)

    def differences(self, found: Vector, space: Space, ordered: Sequence[int], size: int) -> Vector:
        """Return noisy differences in each ordered cell, in records, (n₁ − 1, …, cells)."""
        block = self.parts[self.at[space.orbit]]
        noisy = found.reshape([*(n - 1 for n in space.sizes), space.width])
        return self._cells(noisy, block, self.span(ordered), size)

    def _cells(self, noisy: Vector, block: ProductBlock, span: Span, size: int) -> Vector:
        """Return the counts in all joint cells of a span; shapes (…, r) and (…, cells)."""
        outer = noisy.shape[:-1]
        table = np.zeros((*outer, *(self.blocks.sizes[t] for t in span)))
        for count in range(len(span) + 1):
            for inside in itertools.combinations(span, count):
                at = tuple(slice(1, None) if t in inside else 0 for t in span)
                if inside in block.spans:
                    part = noisy[..., block.part(inside)]
                    shape = [self.blocks.sizes[t] - 1 for t in inside]
                    table[(..., *at)] = part.reshape((*outer, *shape))
                else:  # the number of records, which is public
                    table[(..., *at)] = float(size)
        for axis in range(len(outer), table.ndim):
            total = np.take(table, [0], axis=axis)
            kept = np.take(table, range(1, table.shape[axis]), axis=axis)
            last = total - kept.sum(axis=axis, keepdims=True)
            table = np.concatenate([kept, last], axis=axis)
        return table.reshape(*outer, -1)


@final
@dataclass(frozen=True, eq=False)
class ProductNoise(AbstractResidualNoise):
    """Noise that is a product over ordered attributes.

    Args:
        layout: the integers.
        along: of each ordered attribute.
        orbit_deviations: σ of each residual orbit of all attributes, in records, shape (r,); 0 for
            the number of records where it is public.
    """

    layout: ProductLayout
    along: tuple[AxisNoise, ...]
    orbit_deviations: Vector

    @property
    def finest(self) -> Vector:
        """Of each block, in steps, shape (b,), from the least pivots of its factor."""
        own = _finest(self.layout.products, self.along, self.orbit_deviations)
        return frozen(np.array(own) * _SHORTER / self.layout.steps)

    def radius_up(self, changes: Products) -> float:
        """Return at least the length of the greatest change in this noise: μ."""
        return sqrt_up(changes.cost_up(self.along, np.square(self.orbit_deviations)))

    def widest(self) -> Iterator[tuple[float, int]]:
        """Yield at least the deviation of each block's counts, and their differences."""
        for block in self.layout.parts:
            yield self._widest(block), len(self.layout.orbits.residuals[block.place])

    def _widest(self, block: ProductBlock) -> float:
        """Return at least the deviation of each count, but for rounding."""
        own = [float(np.max(np.sum(np.abs(noise.rows), axis=1))) for noise in self.along]
        widest = max(float(self.orbit_deviations[v]) for v in block.variables)
        longest = max(len(span) for span in block.spans)
        return widest * math.prod(sorted((max(w, 1.0) for w in own), reverse=True)[:longest])

    def factor(self, space: Space, copies: int) -> ProductFactor:
        """Return the noise of some sets of attributes of a space, in grid steps."""
        block, step = self.layout.parts[self.layout.at[space.orbit]], self.layout.step(space)
        return ProductFactor(
            scales=tuple(float(self.orbit_deviations[v]) / step for v in block.variables),  # exact
            spans=block.spans,
            rows=tuple(own.rows for own in self.along),
            sizes=space.sizes,
            copies=copies,
        )

    def answer_variances(self) -> list[Vector]:
        """Return the variances of the answers of each orbit of marginals in one unordered cell."""
        return self.layout.products.answer_variances(self.along, np.square(self.orbit_deviations))

    def sums_covariance(self, place: int, first: Sums, second: Sums) -> Vector:
        """Return l_iᵀM_A l'_i for pairs of sums of ordered categories, shape (k,)."""
        ours, theirs = (self._along(sums) for sums in (first, second))
        used = sorted({*ours, *theirs})
        common = [t for t in used if t in ours and t in theirs]
        known = self.layout.blocks.tops.get(place, frozenset())
        total = np.zeros(1)
        for count in range(len(common) + 1):
            for span in itertools.combinations(common, count):
                if span not in known:
                    continue
                found = np.square(
                    self.orbit_deviations[[self.layout.products.variable(place, span)]]
                )
                for t in used:
                    if t in span:
                        along = np.sum(ours[t][1] * theirs[t][1], axis=1)
                    else:
                        sides = [own[t][0] for own in (ours, theirs) if t in own]
                        along = math.prod(sides[1:], start=sides[0])
                    found = np.multiply.outer(found, along).reshape(-1)
                total = total + found
        return total

    def _along(self, sums: Sums) -> dict[int, tuple[Vector, Vector]]:
        return {
            t: self.along[t].parts(cells)
            for t, cells in zip(self.layout.span(sums[0]), sums[1], strict=True)
        }


def product_steps(products: Products, noise: Sequence[AxisNoise], deviations: Vector) -> Vector:
    """Return the unit of each block's integers that goes with its noise, shape (b,)."""
    own = _finest(products, noise, deviations)
    return frozen(np.array([grid_step(least * _COARSER) for least in own]))


def _finest(products: Products, noise: Sequence[AxisNoise], deviations: Vector) -> list[float]:
    """Return the least deviation of each block's numbers given all before them, in records."""
    least = [finest_deviation(own.triangle) for own in noise]
    return [
        min(
            float(deviations[v]) * math.prod(least[t] for t in span)
            for v, span in zip(block.variables, block.spans, strict=True)
        )
        for block in products.parts
    ]


def product_mechanism(
    attributes: Sequence[Attribute],
    products: Products,
    size: int | None,
    noise: Sequence[AxisNoise],
    variances: Vector,
    parameter: float,
) -> AdditiveMechanism:
    """Return the mechanism whose variances are in proportion to these and that reveals at most μ.

    Args:
        attributes: of the table.
        products: what the marginals ask.
        size: the public number of records, None under `add_remove`.
        noise: of each ordered attribute.
        variances: σ² of each residual orbit up to a factor, shape (r,).
        parameter: μ > 0.

    Raises:
        PlanError: where a residual space that needs noise has none, or more than integers hold.
    """

    def scaled(factor: float) -> ProductNoise:
        deviations = frozen(np.sqrt(variances) * factor)
        steps = product_steps(products, noise, deviations)
        layout = ProductLayout(products.blocks, steps, products)
        return ProductNoise(layout, tuple(noise), deviations)

    return fitted(attributes, size, scaled, parameter)
