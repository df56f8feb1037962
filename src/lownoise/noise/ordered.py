# SPDX-License-Identifier: Apache-2.0
"""Exact counts on blocks of ordered attributes plus the rounding of a true correlated Gaussian.

For every set A of unordered attributes that a marginal sees, the integers (D ⊗ … ⊗ D ⊗ E)·counts
are summed, E the coordinates of joint ordered categories in corners (see `residuals.ordered`), and
get the noise (D ⊗ … ⊗ D ⊗ L_A)ξ. D and E are made of integers, so nothing of the counts is rounded,
and a record moves the noisy table by exactly what `residuals.ordered_cost` says.
"""

from __future__ import annotations

import itertools
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
from lownoise.questions.residuals import ordered_cost_up
from lownoise.samplers import prepare, rounded_gaussian
from lownoise.sensitivity.factors.differences import differences
from lownoise.sensitivity.factors.ordered import CorrelatedFactor, finest_deviation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.categories import Records
    from lownoise.noise.residual import Space, Sums
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions.residuals import Block, Blocks, Orbits


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class OrderedMechanism:
    """The release of counts on blocks of ordered attributes.

    Args:
        blocks: what the marginals see.
        size: the public number of records, None under `add_remove`.
        factors: L_A of each block, in records, lower triangles of shape (r, r); each entry is the
            exact dyadic number.
        steps: the unit of each block's integers, in records: powers of two, at most 1.
    """

    blocks: Blocks
    size: int | None
    factors: tuple[Vector, ...]
    steps: Vector

    def __post_init__(self) -> None:
        check_public(self.size, self.relation)
        widest = [np.max(np.linalg.norm(own, axis=1), initial=0.0) for own in self.factors]
        inside = [len(self.orbits.residuals[block.place]) for block in self.blocks.blocks]
        check_room(np.array(widest), inside, self.steps)

    @property
    def relation(self) -> str:
        """What a neighbour is."""
        return self.blocks.relation

    @property
    def orbits(self) -> Orbits:
        """The unordered parts of the marginals."""
        return self.blocks.plain

    @property
    def axes(self) -> tuple[int, ...]:
        """The attributes that are ordered."""
        return self.blocks.axes

    @cached_property
    def event(self) -> GaussianEvent:
        """What one run reveals, from the final noise alone."""
        return GaussianEvent(sqrt_up(ordered_cost_up(self.blocks, self.factors)))

    @cached_property
    def _block_at(self) -> dict[int, int]:
        return {block.place: k for k, block in enumerate(self.blocks.blocks)}

    @cached_property
    def spaces(self) -> tuple[Space, ...]:
        """All residual spaces of unordered attributes, in the order of their integers."""
        widths = [0] * len(self.orbits.residuals)
        for block in self.blocks.blocks:
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
            block, step = self.blocks.blocks[k], float(self.steps[k])
            triangle = self.factors[k] / step  # by a power of two: exact
            for start, sets in space.pieces:
                factor = CorrelatedFactor(triangle=triangle, sizes=space.sizes, copies=len(sets))
                noisy = rounded_gaussian(factor, randomness=randomness)
                counts = np.stack([self._coordinates(records, block, chosen) for chosen in sets])
                yield start, noisy + counts.reshape(-1) * int(1 / step)

    def _coordinates(self, records: Records, block: Block, chosen: Sequence[int]) -> Integers:
        """Return (D ⊗ … ⊗ D ⊗ E)·counts of one set of attributes, exactly; shape (n₁ − 1, …, r)."""
        used = sorted(set(itertools.chain.from_iterable(block.spans)))
        ordered = [self.axes[t] for t in used]
        rising = sorted([*chosen, *ordered])
        counts = records.marginal(rising)
        counts = np.transpose(counts, [rising.index(i) for i in (*ordered, *chosen)])
        own = differences(counts, len(ordered))
        for axis in range(len(ordered)):
            kept = own[(*(slice(None),) * axis, slice(None, -1))]
            own = np.concatenate([own.sum(axis=axis, keepdims=True), kept], axis=axis)
        if not ordered:  # the total alone: no marginal here sees an order, or none has two places
            return own[..., None]
        corners = np.unravel_index(block.corners, block.sizes)
        found: Integers = own[tuple(corners[t] for t in used)]
        return np.moveaxis(found, 0, -1)

    def follows(self, chosen: Sequence[int]) -> bool:
        """Return whether the marginal of these attributes follows from the release."""
        sizes = self.orbits.sizes[self.orbits.kinds]
        inside = [i for i in chosen if i not in self.axes and sizes[i] > 1]
        span = tuple(t for t, i in enumerate(self.axes) if i in chosen)
        place = self.orbits.place.get(self.orbits.orbit(inside))
        if place is None:
            return False
        known = self._block_at.get(place)
        return span in self.blocks.blocks[known].spans if known is not None else not span

    def answer_variances(self) -> list[Vector]:
        """Return the variances of the answers of each orbit of marginals in one unordered cell."""
        return self.blocks.variances(self.factors)

    def covariance(self, inside: Sequence[int], first: Sums, second: Sums) -> Vector:
        """Return l_iᵀM_A l'_i for pairs of sums of ordered categories, shape (k,).

        Args:
            inside: the unordered attributes A.
            first: ordered attributes, and for each the cells of each sum, shape (·, n); k sums.
            second: the same, as many.
        """
        place = self.orbits.place.get(self.orbits.orbit(inside))
        k = None if place is None else self._block_at.get(place)
        if k is None:
            return np.zeros(1)
        block, factor = self.blocks.blocks[k], self.factors[k]
        left, right = (block.rows(self._span(o), parts)[0] @ factor for o, parts in (first, second))
        return np.asarray(np.sum(left * right, axis=1))

    def _span(self, ordered: Sequence[int]) -> tuple[int, ...]:
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
        rows: dict[int, tuple[Vector, Vector]] = {}
        found = []
        for start, space in (self.place[chosen] for chosen in sets):
            k = self._block_at[space.orbit]
            if k not in rows:
                rows[k] = self.blocks.blocks[k].rows(span, self.blocks.cell_parts(span))
            own = np.asarray(integers[start : start + space.length]) * self.steps[k]
            own = own.reshape([*(n - 1 for n in space.sizes), space.width])
            found.append(own @ rows[k][0].T + rows[k][1] * (self.size or 0))
        return np.stack(found)


def block_steps(factors: Sequence[Vector]) -> Vector:
    """Return the unit of each block's integers that goes with its noise, shape (b,)."""
    return frozen(np.array([grid_step(finest_deviation(own)) for own in factors]))


def ordered_mechanism(
    blocks: Blocks, size: int | None, factors: Sequence[Vector], parameter: float
) -> OrderedMechanism:
    """Return the mechanism whose noise is in proportion to this and that reveals at most μ.

    Args:
        blocks: what the marginals see.
        size: the public number of records, None under `add_remove`.
        factors: L_A of each block up to one factor, lower triangles of shape (r, r).
        parameter: μ > 0.

    Raises:
        PlanError: where a block that records can move in has no noise.
    """

    def scaled(factor: float) -> OrderedMechanism:
        triangles = tuple(frozen(own * factor) for own in factors)
        return OrderedMechanism(
            blocks=blocks, size=size, factors=triangles, steps=block_steps(triangles)
        )

    return fitted(scaled, parameter)
