# SPDX-License-Identifier: Apache-2.0
"""The totals of parities: whole numbers, of which nothing is rounded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import AbstractNoise, AbstractStructure, Loss
from lownoise.noise.gaussian import GaussianNoise
from lownoise.noise.independent import LaplaceNoise
from lownoise.noise.mechanism import AdditiveMechanism, covering, spared
from lownoise.noise.totals import FINEST, AbstractCountTotals, check_rows
from lownoise.noise.units import of_one_row
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import grown, sqrt_up
from lownoise.samplers.laplace import MOST
from lownoise.sensitivity.factors import DiagonalShape
from lownoise.sensitivity.relations import SUBSTITUTE, checked_relation
from lownoise.sensitivity.residuals.cost import parity_cost_up, parity_costs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.engines.counts import Parities
    from lownoise.engines.queries import TableQuery
    from lownoise.noise.independent import AbstractIndependentNoise
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions import Parity
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sensitivity.relations import Relation

_STEPS = 20  # log2 of a standard deviation in grid steps, where counts leave room


@final
@dataclass(frozen=True, eq=False)
class ParityChanges(AbstractStructure):
    """What one neighbour changes in the integers of parities: so many of each degree by 1 or 2.

    Args:
        costs: what the inverse variance of each degree is multiplied by in μ², for each pattern of
            changed bits, in records; shape (patterns, k).
        steps: the unit of each degree's integers, in records, shape (k,).
        counts: how many parities each degree has.
        shift: by how many records each of them changes: 1, or 2 where one record becomes another.
    """

    costs: Vector
    steps: Vector
    counts: tuple[int, ...]
    shift: float

    @classmethod
    def of(cls, question: Parity, relation: Relation, steps: Vector) -> Self:
        """Return what one neighbour changes of a question's parities, in such steps."""
        costs = parity_costs(len(question.attributes), question.degrees, str(relation))
        shift = 1.0 if checked_relation(relation).counted else 2.0
        return cls(costs, steps, tuple(question.counts), shift)

    @property
    def dimension(self) -> int:
        """How many integers there are."""
        return sum(self.counts)

    def radius_up(self, shape: AbstractShape) -> float:
        """Return at least the greatest length of a change in independent noise of this shape.

        Raises:
            PlanError: where the noise is not independent, one variance a degree.
        """
        if not isinstance(shape, DiagonalShape) or shape.dimension != self.dimension:
            raise PlanError("noise of parities is not independent; plan again")
        ends = np.cumsum(self.counts)
        groups = np.split(shape.scale, ends[:-1])
        if any(np.any(own != own[0]) for own in groups if own.size):
            raise PlanError("noise of parities has not one variance a degree; plan again")
        deviations = np.array([own[0] if own.size else 0.0 for own in groups]) * self.steps
        return sqrt_up(parity_cost_up(self.costs, np.square(deviations)))

    @property
    def steady(self) -> bool:
        """Where parities of one degree move: of several, costs are sums of products."""
        return bool(np.count_nonzero(np.any(self.costs > 0, axis=0)) <= 1)

    @property
    def changing(self) -> Vector:
        """How many parities of each degree change together, a row a pattern, shape (n, k)."""
        return frozen(self.costs / self.shift**2)  # whole numbers over 1 or 4, exactly


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ParityTotals(AbstractCountTotals["Parity"]):
    """The sums of parities over all rows.

    Args:
        steps: the unit of each degree's integers, in records: powers of two, at most 1; or 2 where
            the number of rows is public, and integers are how far sums are from that; shape (k,).
    """

    steps: Vector

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return self.question.count

    @cached_property
    def changes(self) -> ParityChanges:
        """The set of all changes that one neighbour makes to the integers."""
        return ParityChanges.of(self.question, self.relation, self.steps)

    @property
    def becoming(self) -> ParityChanges:
        """What a record changes that becomes another: some parities by 2, and not their number."""
        return ParityChanges.of(self.question, SUBSTITUTE, self.steps)

    @property
    def reading(self) -> TableQuery[Parities]:
        """What is asked of a table."""
        from lownoise.engines.counts import parities_query

        return parities_query(self.question.attributes, self.question.degrees)

    def exact(self, records: Parities) -> list[int]:
        """Return the integers without noise: never to be shown.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        check_rows(self.size, records.count)
        unit, sums = self.unit, np.array(records.sums, dtype=np.int64)
        fine = sums * np.maximum(1 / unit, 1.0).astype(np.int64)
        # rows have 1 or −1 each, so that sums are as even as the number of rows is
        found: list[int] = np.where(unit > 1, (sums - (self.size or 0)) // 2, fine).tolist()
        return found

    @property
    def unit(self) -> Vector:
        """What one step is worth in each parity, in records, shape (m,)."""
        return frozen(np.repeat(self.steps, self.question.counts))

    @property
    def finest(self) -> float:
        """That of counts."""
        return FINEST

    @property
    def embed(self) -> Vector | None:
        """Every parity is summed."""
        return None

    def answers(self, integers: Sequence[int]) -> Vector:
        """Return the released parities, shape (m,)."""
        about = np.where(self.unit > 1, float(self.size or 0), 0.0)
        return frozen(np.array(integers, float) * self.unit + about)

    @property
    def firsts(self) -> Integers:
        """The place of the first parity of each degree, shape (k,)."""
        found: Integers = np.cumsum([0, *self.question.counts[:-1]])
        return found

    def by_degree(self, noise: GaussianNoise) -> Vector:
        """Return the standard deviation of each degree's noise, in records, shape (k,)."""
        shape = noise.shape
        assert isinstance(shape, DiagonalShape)  # noqa: S101 (else its loss is refused)
        return frozen(shape.scale[self.firsts] * self.steps)


@final
@dataclass(frozen=True, eq=False)
class ParityNoise(AbstractNoise):
    """Independent noise of a law on parities, of one scale a degree.

    Args:
        scales: b of each degree, in records, shape (k,); 0 for the public number of records.
        steps: the unit of each degree's integers, in records, shape (k,).
        counts: how many parities each degree has.
        law: of the noise.

    Raises:
        PlanError: where a scale is out of range.
    """

    scales: Vector
    steps: Vector
    counts: tuple[int, ...]
    law: type[AbstractIndependentNoise] = LaplaceNoise

    def __post_init__(self) -> None:
        with np.errstate(all="ignore"):
            own = self.scales / self.steps
            fits = np.all((self.scales == 0) | ((own > self.law.least) & (own <= MOST)))
        if not fits:
            raise PlanError(
                "noise of some parity is beyond what integers hold; use a larger budget"
            )

    @property
    def dimension(self) -> int:
        """How many integers there are."""
        return sum(self.counts)

    @property
    def integer_valued(self) -> bool:
        """As of its law."""
        return self.law.on_lattice

    def loss(self, changes: ParityChanges) -> Loss:  # type: ignore[override]  # what parities have
        """Return ε, ρ and μ of the worst pattern of bits that differ, rounded up."""
        changes, times = of_one_row(changes)
        moving = np.any(changes.changing > 0, axis=0)
        if np.any(self.scales[moving] == 0):
            return Loss(math.inf)
        rates = np.zeros(moving.size)
        rates[moving] = times * changes.shift / self.scales[moving]
        rho = [self.law.rho_up(t) for t in rates.tolist()]
        square = [self.law.mu_up(t) ** 2 for t in rates.tolist()]
        epsilon, most, squared = (
            grown(float(np.max(changes.changing @ np.array(own), initial=0.0)))
            for own in (rates, rho, square)
        )
        return Loss(epsilon, 0.0, most, sqrt_up(squared))

    @property
    def each(self) -> Vector:
        """Scale of each integer's noise, in steps, shape (r,)."""
        return np.repeat(self.scales / self.steps, self.counts)

    @property
    def independent_scales(self) -> Vector | None:
        """The same where they are Laplace numbers, else None."""
        return None if self.law.on_lattice else self.each

    def far(self, outside: float) -> Vector | None:
        """Return how far each number strays but with chance `outside`, shape (r,)."""
        return self._of_noisy(lambda own: self.law(own).far(outside))

    def moment(self, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of every answer's noise X."""
        kept = self.scales > 0
        return self.law.moment_of(self.scales[kept] / self.steps[kept], order)

    def _of_noisy(self, of: Callable[[Vector], Any]) -> Vector:
        """Return numbers of those integers that have noise, from their scales, and 0 of others."""
        own = self.each
        found = np.zeros(own.size)
        if np.any(own > 0):
            found[own > 0] = of(frozen(own[own > 0]))
        return frozen(found)

    def part(self, piece: object, randomness: Randomness) -> Integers:
        """Return the rounding of one draw."""
        own = self.each
        found = np.zeros(own.size, dtype=np.int64)
        found[own > 0] = self.law.rounded(own[own > 0], randomness)
        return found

    def integers(self, randomness: Randomness) -> list[int]:
        """Return the rounding of one draw."""
        found: list[int] = self.part(None, randomness).tolist()
        return found

    def covariance(self) -> Vector:
        """Return the variances, in steps, shape (r,)."""
        return self._of_noisy(self.law.variances)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        own = self.each
        found = np.zeros((count, own.size))
        if np.any(own > 0):
            found[:, own > 0] = self.law(frozen(own[own > 0])).simulate(count, randomness)
        return found


def independent_parity(
    question: Parity,
    relation: Relation,
    size: int | None,
    scales: Vector,
    epsilon: float,
    law: type[AbstractIndependentNoise] = LaplaceNoise,
) -> AdditiveMechanism:
    """Return noise of a law whose scales are in proportion to these, as little as reveals ε.

    Args:
        question: which parities.
        relation: "substitute" or "add_remove".
        size: the public number of records, None under `add_remove`.
        scales: b of each degree up to a factor, shape (k,).
        epsilon: ε > 0.
        law: of the noise.

    Raises:
        PlanError: where it is more than integers hold.
    """

    def scaled(factor: float) -> AdditiveMechanism:
        own = frozen(scales * factor)
        steps = law_steps(question, own, size, law)
        totals = ParityTotals(question=question, relation=relation, size=size, steps=steps)
        return AdditiveMechanism(totals, ParityNoise(own, steps, tuple(question.counts), law))

    allowed = epsilon * spared(ParityChanges.of(question, relation, np.ones(scales.size)))
    return covering(scaled, lambda found: found.loss.epsilon, allowed, 1 / epsilon)


def law_steps(
    question: Parity, scales: Vector, size: int | None, law: type[AbstractIndependentNoise]
) -> Vector:
    """Return the unit of each degree's integers that goes with its scale, in records, shape (k,).

    Of whole numbers it is what a record moves a parity by: 1, or 2 where their number is public.
    """
    if not law.on_lattice:
        return parity_steps(scales)
    moves = np.array(question.degrees) > 0
    return frozen(np.where(moves & (size is not None), 2.0, 1.0))


def parity_noise(totals: ParityTotals, deviations: Vector) -> GaussianNoise:
    """Return independent noise of these standard deviations, in records, one a degree; (k,)."""
    scale = np.repeat(deviations / totals.steps, totals.question.counts)
    return GaussianNoise(DiagonalShape(scale))


def gaussian_parity(
    question: Parity, relation: Relation, size: int | None, variances: Vector, parameter: float
) -> AdditiveMechanism:
    """Return the mechanism whose variances are in proportion to these and that reveals at most μ.

    Args:
        question: which parities.
        relation: "substitute" or "add_remove".
        size: the public number of records, None under `add_remove`.
        variances: τ² of each degree that roughly cost μ = 1, shape (k,).
        parameter: μ > 0.

    Raises:
        PlanError: where a degree that needs noise has none.
    """

    def scaled(factor: float) -> AdditiveMechanism:
        deviations = np.sqrt(variances) * (factor / parameter)
        steps = parity_steps(deviations)
        totals = ParityTotals(question=question, relation=relation, size=size, steps=steps)
        return AdditiveMechanism(totals, parity_noise(totals, deviations))

    allowed = parameter * spared(ParityChanges.of(question, relation, np.ones(variances.size)))
    return covering(scaled, lambda found: found.loss.mu, allowed)


def parity_steps(deviations: Vector) -> Vector:
    """Return the unit of each degree's integers, in records, shape (k,)."""
    return frozen(np.array([_step(d) for d in deviations.tolist()]))


def _step(deviation: float) -> float:
    """Return a power of two, at most 1: fine beside the noise, and coarse enough for all counts."""
    if not deviation:
        return 1.0
    return min(max(2.0 ** min(math.frexp(deviation)[1] - _STEPS, 0), FINEST), 1.0)
