# SPDX-License-Identifier: Apache-2.0
"""Tables by groups that get noise each, and the estimate of every margin by least squares.

Let the table of the groups by S ∋ i have independent noise in each group, s_S² of some variance.
What it tells of the residual space of A ⊆ S, its sums over S∖A less all averages, has the variance
s_S²·Π_{i∈S∖A} nᵢ times a fixed one, and what one table tells of different A is uncorrelated. So
least squares is, space by space, the mean of what the tables tell with inverse variances as weights
(`residuals.signed` has it for counts; a vector in place of a count changes nothing, as long as its
noise is alike in all tables but for s_S), and a group of the margin B has the variance

    Σ_{A⊆B} σ_A²·Π_{i∈A} (1 − 1/nᵢ)·Π_{i∈B∖A} 1/nᵢ²,   1/σ_A² = Σ_{S⊇A} 1/(s_S²·Π_{i∈S∖A} nᵢ).

Estimates are unbiased, and margins agree. Where the count of all rows is public, least squares with
that number known puts it in the place of what tables tell of A = ∅, as all else that they tell is
uncorrelated with that.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.tables import averaged, joined
from lownoise.sensitivity.factors.tables import differences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.numbers.arrays import Vector

Margin = tuple[int, ...]


@final
@dataclass(frozen=True)
class MeasuredTables:
    """The tables that are noised.

    Args:
        sizes: how many groups each attribute has.
        sets: the attributes of each table, rising; each once.
        scales: s of each table's noise.

    Raises:
        PlanError: where a table is none of these attributes or stands twice, or has no noise.
    """

    sizes: tuple[int, ...]
    sets: tuple[Margin, ...]
    scales: tuple[float, ...]

    def __post_init__(self) -> None:
        known = range(len(self.sizes))
        fits = len(self.sets) == len(self.scales) == len(set(self.sets)) > 0
        fits = fits and all(list(s) == sorted({*s} & {*known}) for s in self.sets)
        if not fits or not all(0 < scale < math.inf for scale in self.scales):
            raise PlanError("tables of groups are not those of the attributes; plan again")

    @cached_property
    def cells(self) -> tuple[int, ...]:
        """How many groups each table has."""
        return tuple(math.prod(self.shape(own)) for own in self.sets)

    def shape(self, chosen: Margin) -> tuple[int, ...]:
        """Return the shape of the table by these attributes."""
        return tuple(self.sizes[i] for i in chosen)

    def scaled(self, factor: float) -> MeasuredTables:
        """Return the same tables with so many times their noise."""
        return replace(self, scales=tuple(scale * factor for scale in self.scales))

    def covers(self, chosen: Margin) -> bool:
        """Return whether the groups by these attributes follow."""
        needed = {i for i in chosen if self.sizes[i] > 1}
        return any(needed <= {*own} for own in self.sets)

    def _spaces(self, chosen: Margin) -> Iterator[Margin]:
        """Yield the attributes of each residual space that a margin is made of."""
        varied = [i for i in chosen if self.sizes[i] > 1]
        for k in range(len(varied) + 1):
            yield from itertools.combinations(varied, k)

    def shares_of(self, space: Margin) -> tuple[float, list[tuple[int, float]]]:
        """Return σ² of a residual space, and the share of each table that tells of it."""
        found = []
        for place, own in enumerate(self.sets):
            if {*space} <= {*own}:
                summed = math.prod(self.sizes[i] for i in own if i not in space)
                found.append((place, 1 / (self.scales[place] ** 2 * summed)))
        precision = sum(share for _, share in found)
        return 1 / precision, [(place, share / precision) for place, share in found]

    def variance(self, chosen: Margin) -> float:
        """Return s² of each group of a margin that follows."""
        total = 0.0
        for space in self._spaces(chosen):
            part = self.shares_of(space)[0]
            for i in chosen:
                n = self.sizes[i]
                part *= 1 - 1 / n if i in space else 1 / n**2
            total += part
        return total

    def read(self, tables: Sequence[Vector], chosen: Margin) -> Vector:
        """Return the estimate of a margin that follows, shape (n, …, w).

        Args:
            tables: the noisy ones, each of shape (n, …, w).
            chosen: the attributes of the margin.
        """
        parts: dict[Margin, Vector] = {}
        for space in self._spaces(chosen):
            estimates = []
            for place, share in self.shares_of(space)[1]:
                away = tuple(k for k, i in enumerate(self.sets[place]) if i not in space)
                own = differences(np.moveaxis(tables[place].sum(axis=away), -1, 0), 1)
                estimates.append((own, share))
            parts[tuple(map(chosen.index, space))] = averaged(iter(estimates))
        return np.moveaxis(joined(parts, len(chosen), 1), 0, -1)

    def matrix(self, chosen: Margin) -> Vector:
        """Return what each group of each table counts in those of a margin, (cells, groups)."""
        blocks: list[Any] = [
            np.zeros((math.prod(self.shape(chosen)), count)) for count in self.cells
        ]
        for space in self._spaces(chosen):
            for place, share in self.shares_of(space)[1]:
                own, part = self.sets[place], np.full((1, 1), share)
                for i in sorted({*own, *chosen}):
                    n = self.sizes[i]
                    if i in space:
                        block = np.eye(n) - 1 / n
                    else:  # spread evenly where it is asked for, and summed where it is noised
                        rows, columns = (n if i in side else 1 for side in (chosen, own))
                        block = np.full((rows, columns), 1 / rows)
                    part = np.kron(part, block)
                blocks[place] += part
        return np.hstack(blocks)
