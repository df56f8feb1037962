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

from lownoise.noise.marginals import AbstractMarginalNoise, fitted, grid_step
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import sqrt_up
from lownoise.questions.residuals import ordered_cost_up
from lownoise.sensitivity.factors.differences import differences
from lownoise.sensitivity.factors.ordered import CorrelatedFactor, finest_deviation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.counts import Records
    from lownoise.noise.marginals import MarginalMechanism, Space, Sums
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Attribute
    from lownoise.questions.residuals import Block, Blocks, Orbits


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class OrderedNoise(AbstractMarginalNoise):
    """Correlated noise along ordered attributes, a factor a block.

    Args:
        blocks: what the marginals see.
        factors: L_A of each block, in records, lower triangles of shape (r, r); each entry is the
            exact dyadic number.
        steps: the unit of each block's integers, in records: powers of two, at most 1.
    """

    blocks: Blocks
    factors: tuple[Vector, ...]
    steps: Vector

    @property
    def unordered(self) -> Orbits:
        """The unordered parts of the marginals."""
        return self.blocks.plain

    @property
    def changes(self) -> Blocks:
        """What one record changes in the marginals."""
        return self.blocks

    @property
    def axes(self) -> tuple[int, ...]:
        """The attributes that are ordered."""
        return self.blocks.axes

    @property
    def changes(self) -> Blocks:
        """What the marginals see of a record."""
        return self.blocks

    @property
    def radius(self) -> float:
        """At least the length of the greatest change in this noise: μ."""
        return sqrt_up(ordered_cost_up(self.blocks, self.factors))

    def widest(self) -> Iterator[tuple[float, int]]:
        """Yield the greatest deviation of each block, and how many differences are taken."""
        for own, block in zip(self.factors, self.blocks.blocks, strict=True):
            widest = float(np.max(np.linalg.norm(own, axis=1), initial=0.0))
            yield widest, len(self.unordered.residuals[block.place])

    @cached_property
    def _block_at(self) -> dict[int, int]:
        return {block.place: k for k, block in enumerate(self.blocks.blocks)}

    def widths(self, *, public: bool) -> list[int]:
        """Return the length of each orbit's block, 0 where it has none."""
        widths = [0] * len(self.unordered.residuals)
        for block in self.blocks.blocks:
            widths[block.place] = block.length
        return widths

    def step(self, space: Space) -> float:
        """Return the unit of a space's integers, in records."""
        return float(self.steps[self._block_at[space.orbit]])

    def factor(self, space: Space, copies: int) -> CorrelatedFactor:
        """Return the noise of some sets of attributes of a space, in grid steps."""
        k = self._block_at[space.orbit]
        triangle = self.factors[k] / float(self.steps[k])  # by a power of two: exact
        return CorrelatedFactor(triangle=triangle, sizes=space.sizes, copies=copies)

    def exact(self, records: Records, space: Space, sets: Sequence[tuple[int, ...]]) -> Integers:
        """Return (D ⊗ … ⊗ D ⊗ E)·counts of some sets of attributes, exactly, flat."""
        block = self.blocks.blocks[self._block_at[space.orbit]]
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

    def follows(self, inside: tuple[int, ...], chosen: Sequence[int]) -> bool:
        """Return whether the residual space was asked for with these ordered attributes."""
        span = tuple(t for t, i in enumerate(self.axes) if i in chosen)
        place = self.unordered.place.get(self.unordered.orbit(inside))
        if place is None:
            return False
        known = self._block_at.get(place)
        return span in self.blocks.blocks[known].spans if known is not None else not span

    def answer_variances(self) -> list[Vector]:
        """Return the variances of the answers of each orbit of marginals in one unordered cell."""
        return self.blocks.variances(self.factors)

    def covariance(self, place: int, first: Sums, second: Sums) -> Vector:
        """Return l_iᵀM_A l'_i for pairs of sums of ordered categories, shape (k,)."""
        k = self._block_at.get(place)
        if k is None:
            return np.zeros(1)
        block, factor = self.blocks.blocks[k], self.factors[k]
        left, right = (block.rows(self._span(o), parts)[0] @ factor for o, parts in (first, second))
        return np.asarray(np.sum(left * right, axis=1))

    def _span(self, ordered: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.axes.index(i) for i in ordered)

    @cached_property
    def _cell_rows(self) -> dict[tuple[int, tuple[int, ...]], tuple[Vector, Vector]]:
        """How joint cells follow from a block's integers, by block and ordered attributes."""
        return {}

    def differences(self, found: Vector, space: Space, ordered: Sequence[int], size: int) -> Vector:
        """Return noisy differences in each ordered cell, in records, (n₁ − 1, …, cells)."""
        k, span = self._block_at[space.orbit], self._span(ordered)
        if (k, span) not in self._cell_rows:
            own = self.blocks.blocks[k].rows(span, self.blocks.cell_parts(span))
            self._cell_rows[k, span] = own
        rows, constant = self._cell_rows[k, span]
        noisy = found.reshape([*(n - 1 for n in space.sizes), space.width])
        return np.asarray(noisy @ rows.T + constant * size)


def block_steps(factors: Sequence[Vector]) -> Vector:
    """Return the unit of each block's integers that goes with its noise, shape (b,)."""
    return frozen(np.array([grid_step(finest_deviation(own)) for own in factors]))


def ordered_mechanism(
    attributes: Sequence[Attribute],
    blocks: Blocks,
    size: int | None,
    factors: Sequence[Vector],
    parameter: float,
) -> MarginalMechanism:
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
        return OrderedNoise(blocks=blocks, factors=triangles, steps=block_steps(triangles))

    return fitted(attributes, size, scaled, parameter)
