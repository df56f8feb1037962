# SPDX-License-Identifier: Apache-2.0
"""Exact counts on residual spaces plus the rounding of a true Gaussian of one variance on each.

For every set A of attributes that a marginal sees, the integers (D ⊗ … ⊗ D)·counts_A are summed,
each category against the last one, and get the noise σ_A·(D ⊗ … ⊗ D)ξ: what independent noise of
standard deviation σ_A on each cell of A becomes. D is made of integers, so nothing of the counts is
rounded, and a record moves the noisy table by exactly what `residuals.cost` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.noise.marginal_noise import AbstractResidualNoise, fitted, grid_step
from lownoise.noise.marginals import AbstractResidualLayout
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import sqrt_up
from lownoise.sensitivity.factors.tables import DifferenceFactor, differences
from lownoise.sensitivity.relations import SUBSTITUTE
from lownoise.sensitivity.residuals import TableChanges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.counts import Records
    from lownoise.noise import AdditiveMechanism
    from lownoise.noise.marginals import Space, Sums
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Attribute
    from lownoise.sensitivity.residuals import Blocks


@final
@dataclass(frozen=True)
class _Part:
    place: int
    length: int


@final
@dataclass(frozen=True, eq=False)
class ResidualLayout(AbstractResidualLayout):
    """One integer a centred direction of each residual orbit; no attribute is ordered."""

    @cached_property
    def changes(self) -> TableChanges:
        """What one record changes in tables of counts."""
        return TableChanges(self.orbits, self.blocks.relation)

    @property
    def becoming(self) -> TableChanges:
        """What one changes that becomes another."""
        return TableChanges(self.orbits, SUBSTITUTE)

    @cached_property
    def parts(self) -> tuple[_Part, ...]:
        """One for each orbit, none of the number of records where it is public."""
        public = self.blocks.public
        listed = enumerate(self.orbits.residuals)
        return tuple(_Part(k, int(not public or len(orbit) > 0)) for k, orbit in listed)

    def exact(self, records: Records, space: Space, sets: Sequence[tuple[int, ...]]) -> Integers:
        """Return the counts of some sets of attributes, each category against the last, flat."""
        found: Integers = differences(records.marginals(sets), 1, own=True).reshape(-1)
        return found

    def integers(self, counts: Integers, space: Space, size: int) -> Integers:
        """Return the integers of counts that `exact` made, in their place."""
        del size
        counts *= int(1 / self.step(space))
        return counts

    def differences(self, found: Vector, space: Space, ordered: Sequence[int], size: int) -> Vector:
        """Return the noisy differences, in records, shape (n₁ − 1, …, 1)."""
        return found.reshape(*(n - 1 for n in space.sizes), 1)


@final
@dataclass(frozen=True, eq=False)
class ResidualNoise(AbstractResidualNoise):
    """Independent noise of one variance on each residual space; no attribute is ordered.

    Args:
        layout: the integers.
        orbit_deviations: σ of each residual orbit, in records, shape (r,); 0 for the number of
            records where it is public.
    """

    layout: ResidualLayout
    orbit_deviations: Vector

    @property
    def variances(self) -> Vector:
        """σ² of each residual orbit, in records, shape (r,)."""
        return frozen(np.square(self.orbit_deviations))

    @property
    def finest(self) -> Vector:
        """σ of each residual orbit, in steps, shape (r,)."""
        return frozen(self.orbit_deviations / self.layout.steps)

    def radius_up(self, changes: TableChanges) -> float:
        """Return at least the length of the greatest change in this noise: μ."""
        return sqrt_up(changes.cost_up(self.variances))

    def widest(self) -> Iterator[tuple[float, int]]:
        """Yield the deviation of each orbit's cells, and how many differences are taken."""
        orbits = self.layout.orbits.residuals
        for deviation, orbit in zip(self.orbit_deviations.tolist(), orbits, strict=True):
            yield deviation, len(orbit)

    def factor(self, space: Space, copies: int) -> DifferenceFactor:
        """Return the noise of some sets of attributes of a space, in grid steps."""
        scale = float(self.orbit_deviations[space.orbit]) / self.layout.step(space)
        return DifferenceFactor(scale=scale, sizes=space.sizes, copies=copies)

    def answer_variances(self) -> list[Vector]:
        """Return the variances of the answers of each orbit of marginals in one unordered cell."""
        return list(self.layout.orbits.cell_variances(self.variances)[:, None])

    def sums_covariance(self, place: int, first: Sums, second: Sums) -> Vector:
        """Return σ² of the orbit, shape (1,)."""
        return np.array([float(self.variances[place])])


def residual_mechanism(
    attributes: Sequence[Attribute],
    blocks: Blocks,
    size: int | None,
    variances: Vector,
    parameter: float,
) -> AdditiveMechanism:
    """Return the mechanism whose variances are in proportion to these and that reveals at most μ.

    Args:
        attributes: of the table.
        blocks: the marginals, of which no attribute is ordered.
        size: the public number of records, None under `add_remove`.
        variances: σ² of each residual orbit up to a factor, shape (r,).
        parameter: μ > 0.

    Raises:
        PlanError: where a residual space that needs noise has none, or more than integers hold.
    """

    def scaled(factor: float) -> ResidualNoise:
        deviations = frozen(np.sqrt(variances) * factor)
        return ResidualNoise(ResidualLayout(blocks, grid_steps(deviations)), deviations)

    return fitted(attributes, size, scaled, parameter)


def grid_steps(deviations: Vector) -> Vector:
    """Return the unit of each orbit's integers that goes with its deviation, shape (r,)."""
    return frozen(np.array([grid_step(deviation) for deviation in deviations.tolist()]))
