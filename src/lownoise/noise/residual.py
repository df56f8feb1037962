# SPDX-License-Identifier: Apache-2.0
"""Exact counts on residual spaces plus the rounding of a true Gaussian of one variance on each.

For every set A of attributes that a marginal sees, the integers (D ⊗ … ⊗ D)·counts_A are summed,
each category against the last one, and get the noise σ_A·(D ⊗ … ⊗ D)ξ: what independent noise of
standard deviation σ_A on each cell of A becomes. D is made of integers, so nothing of the counts is
rounded, and a record moves the noisy table by exactly what `residuals.cost` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.noise.marginals import AbstractMarginalNoise, fitted, grid_step
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import sqrt_up
from lownoise.questions.residuals import TableChanges
from lownoise.sensitivity.factors.differences import DifferenceFactor, differences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.counts import Records
    from lownoise.noise.marginals import MarginalMechanism, Space, Sums
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.questions import Attribute
    from lownoise.questions.residuals import Orbits
    from lownoise.sensitivity.relations import Relation


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ResidualNoise(AbstractMarginalNoise):
    """Independent noise of one variance on each residual space; no attribute is ordered.

    Args:
        orbits: the marginals and their residual spaces.
        relation: "substitute" or "add_remove".
        deviations: σ of each residual orbit, in records, shape (r,); 0 for the number of records
            where it is public.
        steps: the unit of each orbit's integers, in records: powers of two, at most 1; shape (r,).
    """

    orbits: Orbits
    relation: str
    deviations: Vector
    steps: Vector

    @property
    def unordered(self) -> Orbits:
        """The marginals up to the exchange of attributes."""
        return self.orbits

    @property
    def changes(self) -> TableChanges:
        """What one record changes in the marginals."""
        return TableChanges(self.orbits, self.relation)

    @property
    def axes(self) -> tuple[int, ...]:
        """The attributes that are ordered: none."""
        return ()

    @property
    def variances(self) -> Vector:
        """σ² of each residual orbit, in records, shape (r,)."""
        return frozen(np.square(self.deviations))

    @property
    def changes(self) -> TableChanges:
        """What one record changes in the tables."""
        return TableChanges(self.orbits, self.relation)

    @property
    def radius(self) -> float:
        """At least the length of the greatest change in this noise: μ."""
        return sqrt_up(self.changes.cost_up(self.variances))

    def widest(self) -> Iterator[tuple[float, int]]:
        """Yield the deviation of each orbit's cells, and how many differences are taken."""
        for deviation, orbit in zip(self.deviations.tolist(), self.orbits.residuals, strict=True):
            yield deviation, len(orbit)

    def widths(self, *, public: bool) -> list[int]:
        """Return 1 for each orbit, 0 for the number of records where it is public."""
        return [int(not public or len(orbit) > 0) for orbit in self.orbits.residuals]

    def step(self, space: Space) -> float:
        """Return the unit of a space's integers, in records."""
        return float(self.steps[space.orbit])

    def factor(self, space: Space, copies: int) -> DifferenceFactor:
        """Return the noise of some sets of attributes of a space, in grid steps."""
        scale = float(self.deviations[space.orbit] / self.steps[space.orbit])
        return DifferenceFactor(scale=scale, sizes=space.sizes, copies=copies)

    def exact(self, records: Records, space: Space, sets: Sequence[tuple[int, ...]]) -> Integers:
        """Return the counts of some sets of attributes, each category against the last, flat."""
        found: Integers = differences(records.marginals(sets), 1).reshape(-1)
        return found

    def follows(self, inside: tuple[int, ...], chosen: Sequence[int]) -> bool:
        """Return whether the residual space was asked for."""
        return self.orbits.orbit(inside) in self.orbits.place

    def answer_variances(self) -> list[Vector]:
        """Return the variances of the answers of each orbit of marginals in one unordered cell."""
        return list(self.orbits.cell_variances(self.variances)[:, None])

    def covariance(self, place: int, first: Sums, second: Sums) -> Vector:
        """Return σ² of the orbit, shape (1,)."""
        return np.array([float(self.variances[place])])

    def differences(self, found: Vector, space: Space, ordered: Sequence[int], size: int) -> Vector:
        """Return the noisy differences, in records, shape (n₁ − 1, …, 1)."""
        return found.reshape(*(n - 1 for n in space.sizes), 1)


def residual_mechanism(
    attributes: Sequence[Attribute],
    orbits: Orbits,
    relation: Relation,
    size: int | None,
    variances: Vector,
    parameter: float,
) -> MarginalMechanism:
    """Return the mechanism whose variances are in proportion to these and that reveals at most μ.

    Args:
        attributes: of the table.
        orbits: the marginals.
        relation: "substitute" or "add_remove".
        size: the public number of records, None under `add_remove`.
        variances: σ² of each residual orbit up to a factor, shape (r,).
        parameter: μ > 0.

    Raises:
        PlanError: where a residual space that needs noise has none, or more than integers hold.
    """

    def scaled(factor: float) -> ResidualNoise:
        deviations = np.sqrt(variances) * factor
        return ResidualNoise(
            orbits=orbits,
            relation=str(relation),
            deviations=frozen(deviations),
            steps=grid_steps(deviations),
        )

    return fitted(attributes, size, scaled, parameter)


def grid_steps(deviations: Vector) -> Vector:
    """Return the unit of each orbit's integers that goes with its deviation, shape (r,)."""
    return frozen(np.array([grid_step(deviation) for deviation in deviations.tolist()]))
