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
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.noise.residual import (
    check_public,
    check_room,
    fitted,
    grid_step,
    laid_out,
    where,
)
from lownoise.noise.size import check_rows
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import sqrt_up
from lownoise.privacy import GaussianEvent
from lownoise.questions.residuals import product_cost_up
from lownoise.samplers import prepare, rounded_gaussian
from lownoise.sensitivity.factors.differences import differences
from lownoise.sensitivity.factors.ordered import finest_deviation
from lownoise.sensitivity.factors.product import ProductFactor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.categories import Records
    from lownoise.noise.residual import Space, Sums
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions.residuals import AxisNoise, Orbits, Products
    from lownoise.questions.residuals.ordered import Span
    from lownoise.questions.residuals.product import ProductBlock

# The grid is 2^-10 of the least deviation that is left where all other counts are known. A number
# is a long sum: on a finer grid more of them would be too near a half to be rounded at once.
_COARSER = 2.0**10


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ProductMechanism:
    """The release of counts with noise that is a product over ordered attributes.

    Args:
        products: what the marginals ask.
        size: the public number of records, None under `add_remove`.
        noise: of each ordered attribute.
        deviations: σ of each residual orbit of all attributes, in records, shape (r,); 0 for the
            number of records where it is public.
        steps: the unit of each block's integers, in records: powers of two, at most 1.
    """

    products: Products
    size: int | None
    noise: tuple[AxisNoise, ...]
    deviations: Vector
    steps: Vector

    def __post_init__(self) -> None:
        check_public(self.size, self.relation)
        widest = [self._widest(block) for block in self.products.parts]
        inside = [len(self.orbits.residuals[block.place]) for block in self.products.parts]
        check_room(np.array(widest), inside, self.steps)

    def _widest(self, block: ProductBlock) -> float:
        """Return at least the deviation of each count, but for rounding."""
        own = [float(np.max(np.sum(np.abs(noise.rows), axis=1))) for noise in self.noise]
        widest = max(float(self.deviations[v]) for v in block.variables)
        longest = max(len(span) for span in block.spans)
        return widest * math.prod(sorted((max(w, 1.0) for w in own), reverse=True)[:longest])

    @property
    def relation(self) -> str:
        """What a neighbour is."""
        return self.products.blocks.relation

    @property
    def orbits(self) -> Orbits:
        """The unordered parts of the marginals."""
        return self.products.blocks.plain

    @property
    def axes(self) -> tuple[int, ...]:
        """The attributes that are ordered."""
        return self.products.blocks.axes

    @cached_property
    def event(self) -> GaussianEvent:
        """What one run reveals, from the final noise alone."""
        variances = np.square(self.deviations)
        return GaussianEvent(sqrt_up(product_cost_up(self.products, self.noise, variances)))

    @cached_property
    def _block_at(self) -> dict[int, int]:
        return {block.place: k for k, block in enumerate(self.products.parts)}

    @cached_property
    def spaces(self) -> tuple[Space, ...]:
        """All residual spaces of unordered attributes, in the order of their integers."""
        widths = [0] * len(self.orbits.residuals)
        for block in self.products.parts:
            widths[block.place] = block.length
        return laid_out(self.orbits, widths)

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return sum(len(space.sets) * space.length for space in self.spaces)

    @cached_property
    def place(self) -> dict[tuple[int, ...], tuple[int, Space]]:
        """Where the integers of each residual space begin, and its space."""
        return where(self.spaces)

    def check(self, count: int) -> None:
        """Refuse a table that the promise does not cover.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        check_rows(self.size, count)

    def factor(self, space: Space, copies: int) -> ProductFactor:
        """Return the noise of some sets of attributes of a space, in grid steps."""
        k = self._block_at[space.orbit]
        block, step = self.products.parts[k], float(self.steps[k])
        return ProductFactor(
            scales=tuple(float(self.deviations[v]) / step for v in block.variables),  # exact
            spans=block.spans,
            rows=tuple(own.rows for own in self.noise),
            sizes=space.sizes,
            copies=copies,
        )

    def run(self, records: Records, *, randomness: Randomness) -> Iterator[tuple[int, Integers]]:
        """Yield the noisy integers, piece by piece: where a piece begins, and the piece.

        Args:
            records: the rows.
            randomness: where the noise comes from.

        Raises:
            EngineError: as `check`.
        """
        self.check(records.count)
        prepare(self.length)
        for space in self.spaces:
            k = self._block_at[space.orbit]
            for start, sets in space.pieces:
                noisy = rounded_gaussian(self.factor(space, len(sets)), randomness=randomness)
                block = self.products.parts[k]
                counts = np.stack([self._counts(records, block, chosen) for chosen in sets])
                yield start, noisy + counts.reshape(-1) * int(1 / self.steps[k])

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

    def follows(self, chosen: Sequence[int]) -> bool:
        """Return whether the marginal of these attributes follows from the release."""
        sizes = self.orbits.sizes[self.orbits.kinds]
        inside = [i for i in chosen if i not in self.axes and sizes[i] > 1]
        span = tuple(t for t, i in enumerate(self.axes) if i in chosen)
        place = self.orbits.place.get(self.orbits.orbit(inside))
        return place is not None and span in self.products.blocks.tops.get(place, ())

    def answer_variances(self) -> list[Vector]:
        """Return the variances of the answers of each orbit of marginals in one unordered cell."""
        return self.products.answer_variances(self.noise, np.square(self.deviations))

    def covariance(self, inside: Sequence[int], first: Sums, second: Sums) -> Vector:
        """Return l_iᵀM_A l'_i for pairs of sums of ordered categories, shape (k,).

        Args:
            inside: the unordered attributes A.
            first: ordered attributes, and for each the cells of each sum, shape (·, n); k sums.
            second: the same, as many.
        """
        place = self.orbits.place.get(self.orbits.orbit(inside))
        if place is None:
            return np.zeros(1)
        ours, theirs = (self._along(sums) for sums in (first, second))
        used = sorted({*ours, *theirs})
        common = [t for t in used if t in ours and t in theirs]
        known = self.products.blocks.tops.get(place, frozenset())
        total = np.zeros(1)
        for count in range(len(common) + 1):
            for span in itertools.combinations(common, count):
                if span not in known:
                    continue
                found = np.square(self.deviations[[self.products.variable(place, span)]])
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
            t: self.noise[t].parts(cells)
            for t, cells in zip(self._span(sums[0]), sums[1], strict=True)
        }

    def _span(self, ordered: Sequence[int]) -> Span:
        return tuple(self.axes.index(i) for i in ordered)

    def differences(
        self, sets: Sequence[tuple[int, ...]], ordered: Sequence[int], integers: Integers
    ) -> Vector:
        """Return noisy differences along A in each ordered cell, in records, (k, n₁ − 1, …, cells).

        Args:
            sets: unordered attributes A, rising, k sets of one shape.
            ordered: the ordered attributes whose joint cells are the last axis, rising.
            integers: the release, shape (length,).
        """
        span = self._span(ordered)
        if sets[0] not in self.place:  # the number of records alone
            return np.full((len(sets), 1), float(self.size or 0))
        found = []
        for start, space in (self.place[chosen] for chosen in sets):
            k = self._block_at[space.orbit]
            own = np.asarray(integers[start : start + space.length]) * self.steps[k]
            own = own.reshape([*(n - 1 for n in space.sizes), space.width])
            found.append(self._cells(own, self.products.parts[k], span))
        return np.stack(found)

    def _cells(self, noisy: Vector, block: ProductBlock, span: Span) -> Vector:
        """Return the counts in all joint cells of a span; shapes (…, r) and (…, cells)."""
        outer = noisy.shape[:-1]
        table = np.zeros((*outer, *(self.products.blocks.sizes[t] for t in span)))
        for count in range(len(span) + 1):
            for inside in itertools.combinations(span, count):
                at = tuple(slice(1, None) if t in inside else 0 for t in span)
                if inside in block.spans:
                    part = noisy[..., block.part(inside)]
                    shape = [self.products.blocks.sizes[t] - 1 for t in inside]
                    table[(..., *at)] = part.reshape((*outer, *shape))
                else:  # the number of records, which is public
                    table[(..., *at)] = float(self.size or 0)
        for axis in range(len(outer), table.ndim):
            total = np.take(table, [0], axis=axis)
            kept = np.take(table, range(1, table.shape[axis]), axis=axis)
            last = total - kept.sum(axis=axis, keepdims=True)
            table = np.concatenate([kept, last], axis=axis)
        return table.reshape(*outer, -1)


def product_steps(products: Products, noise: Sequence[AxisNoise], deviations: Vector) -> Vector:
    """Return the unit of each block's integers that goes with its noise, shape (b,)."""
    least = [finest_deviation(own.triangle) for own in noise]
    found = []
    for block in products.parts:
        own = [
            float(deviations[v]) * math.prod(least[t] for t in span)
            for v, span in zip(block.variables, block.spans, strict=True)
        ]
        found.append(grid_step(min(own) * _COARSER))
    return frozen(np.array(found))


def product_mechanism(
    products: Products,
    size: int | None,
    noise: Sequence[AxisNoise],
    variances: Vector,
    parameter: float,
) -> ProductMechanism:
    """Return the mechanism whose variances are in proportion to these and that reveals at most μ.

    Args:
        products: what the marginals ask.
        size: the public number of records, None under `add_remove`.
        noise: of each ordered attribute.
        variances: σ² of each residual orbit up to a factor, shape (r,).
        parameter: μ > 0.

    Raises:
        PlanError: where a residual space that needs noise has none, or more than integers hold.
    """

    def scaled(factor: float) -> ProductMechanism:
        deviations = frozen(np.sqrt(variances) * factor)
        return ProductMechanism(
            products=products,
            size=size,
            noise=tuple(noise),
            deviations=deviations,
            steps=product_steps(products, noise, deviations),
        )

    return fitted(scaled, parameter)
