# SPDX-License-Identifier: Apache-2.0
"""Exact counts on blocks of ordered attributes plus the rounding of a true correlated Gaussian.

For every set A of unordered attributes that a marginal sees, the integers (D ⊗ … ⊗ D ⊗ E)·counts
are summed, E the coordinates of joint ordered categories in corners (see `residuals.ordered`), and
get the noise (D ⊗ … ⊗ D ⊗ L_A)ξ. D and E are made of integers, so nothing of the counts is rounded,
and a record moves the noisy table by exactly what `residuals.ordered_cost` says.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.noise.marginal_noise import AbstractResidualNoise, fitted, grid_step
from lownoise.noise.marginals import AbstractResidualLayout
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import sqrt_up
from lownoise.sensitivity.factors.tables import CorrelatedFactor, differences, finest_deviation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.counts import Records
    from lownoise.noise import AdditiveMechanism
    from lownoise.noise.marginals import Space, Sums
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Attribute
    from lownoise.sensitivity.residuals import Block, Blocks


@final
@dataclass(frozen=True, eq=False)
class OrderedLayout(AbstractResidualLayout):
    """A block of coordinates in corners on each orbit that records can move in."""

    @property
    def changes(self) -> Blocks:
        """What the marginals see of a record."""
        return self.blocks

    @cached_property
    def becoming(self) -> Blocks:
        """What they see of one that becomes another."""
        return replace(self.blocks, becoming=True)

    @property
    def parts(self) -> tuple[Block, ...]:
        """The blocks."""
        return self.blocks.blocks

    def exact(self, records: Records, space: Space, sets: Sequence[tuple[int, ...]]) -> Integers:
        """Return (D ⊗ … ⊗ D ⊗ E)·counts of some sets of attributes, exactly, flat."""
        block = self.parts[self.at[space.orbit]]
        found = np.stack([self._coordinates(records, block, chosen) for chosen in sets])
        return found.reshape(-1)

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

    @cached_property
    def _cell_rows(self) -> dict[tuple[int, tuple[int, ...]], tuple[Vector, Vector]]:
        """How joint cells follow from a block's integers, by block and ordered attributes."""
        return {}

    def differences(self, found: Vector, space: Space, ordered: Sequence[int], size: int) -> Vector:
        """Return noisy differences in each ordered cell, in records, (n₁ − 1, …, cells)."""
        k, span = self.at[space.orbit], self.span(ordered)
        if (k, span) not in self._cell_rows:
            own = self.parts[k].rows(span, self.blocks.cell_parts(span))
            self._cell_rows[k, span] = own
        rows, constant = self._cell_rows[k, span]
        noisy = found.reshape([*(n - 1 for n in space.sizes), space.width])
        return np.asarray(noisy @ rows.T + constant * size)


@final
@dataclass(frozen=True, eq=False)
class OrderedNoise(AbstractResidualNoise):
    """Correlated noise along ordered attributes, a factor a block.

    Args:
        layout: the integers.
        factors: L_A of each block, in records, lower triangles of shape (r, r); each entry is the
            exact dyadic number.
    """

    layout: OrderedLayout
    factors: tuple[Vector, ...]

    @property
    def finest(self) -> Vector:
        """The least pivot of each block's factor, in steps, shape (b,)."""
        return frozen(np.array([*map(finest_deviation, self.factors)]) / self.layout.steps)

    def radius_up(self, changes: Blocks) -> float:
        """Return at least the length of the greatest change in this noise: μ."""
        return sqrt_up(changes.cost_up(self.factors))

    def widest(self) -> Iterator[tuple[float, int]]:
        """Yield the greatest deviation of each block, and how many differences are taken."""
        for own, block in zip(self.factors, self.layout.parts, strict=True):
            widest = float(np.max(np.linalg.norm(own, axis=1), initial=0.0))
            yield widest, len(self.layout.orbits.residuals[block.place])

    def factor(self, space: Space, copies: int) -> CorrelatedFactor:
        """Return the noise of some sets of attributes of a space, in grid steps."""
        # by a power of two: exact
        triangle = self.factors[self.layout.at[space.orbit]] / self.layout.step(space)
        return CorrelatedFactor(triangle=triangle, sizes=space.sizes, copies=copies)

    def answer_variances(self) -> list[Vector]:
        """Return the variances of the answers of each orbit of marginals in one unordered cell."""
        return self.layout.blocks.variances(self.factors)

    def sums_covariance(self, place: int, first: Sums, second: Sums) -> Vector:
        """Return l_iᵀM_A l'_i for pairs of sums of ordered categories, shape (k,)."""
        k = self.layout.at.get(place)
        if k is None:
            return np.zeros(1)
        block, factor, span = self.layout.parts[k], self.factors[k], self.layout.span
        left, right = (block.rows(span(o), parts)[0] @ factor for o, parts in (first, second))
        return np.asarray(np.sum(left * right, axis=1))


def block_steps(factors: Sequence[Vector]) -> Vector:
    """Return the unit of each block's integers that goes with its noise, shape (b,)."""
    return frozen(np.array([grid_step(finest_deviation(own)) for own in factors]))


def ordered_mechanism(
    attributes: Sequence[Attribute],
    blocks: Blocks,
    size: int | None,
    factors: Sequence[Vector],
    parameter: float,
) -> AdditiveMechanism:
    """Return the mechanism whose noise is in proportion to this and that reveals at most μ.

    Args:
        attributes: of the table.
        blocks: what the marginals see.
        size: the public number of records, None under `add_remove`.
        factors: L_A of each block up to one factor, lower triangles of shape (r, r).
        parameter: μ > 0.

    Raises:
        PlanError: where a block that records can move in has no noise.
    """

    def scaled(factor: float) -> OrderedNoise:
        triangles = tuple(frozen(own * factor) for own in factors)
        return OrderedNoise(OrderedLayout(blocks, block_steps(triangles)), triangles)

    return fitted(attributes, size, scaled, parameter)
