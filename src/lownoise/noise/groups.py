# SPDX-License-Identifier: Apache-2.0
"""Means by groups: tables of counts in which a vector stands in place of the number 1.

A record of group g and values x adds e_g ⊗ y to the table of all groups, y the integers that a mean
makes of it and its count. For every set A of attributes that a margin sees, the integers
(D ⊗ … ⊗ D ⊗ I)·sums are released with the noise σ_A·(D ⊗ … ⊗ D ⊗ L)ξ: σ_A is that of marginals, L
that of the mean. A record that comes or goes is told with

    μ² = Σ_A Π_{i∈A} (1 − 1/nᵢ)/σ_A² · ‖L⁻¹y‖²,

the product of what marginals and a mean cost (ours; `certificate.groups` says why none is less).

Where one record becomes another, of any group and values, let h be that sum, C what counts of the
groups cost then, r the greatest ‖L⁻¹y‖ and v the variance of the count in LLᵀ. The change is
e_g ⊗ y − e_g' ⊗ y'; with h_δ = Σ_A Π (δᵢ − 1/nᵢ)/σ_A², δᵢ = 1 where g and g' agree in i, it costs

    h·(‖L⁻¹y‖² + ‖L⁻¹y'‖²) − 2h_δ·⟨L⁻¹y, L⁻¹y'⟩,

which is affine in h_δ: 2h·r² at most at h_δ = 0, h·‖L⁻¹(y − y')‖² at h_δ = h, and C·r² at the
least h_δ where that is below 0, as C = 2(h − min h_δ). As y and y' have the same last entry 1,
the parts of L⁻¹y and L⁻¹y' beside that of the count are at most √(r² − 1/v) long, so that

    μ² ≤ max(max(2h, C)·r², 4h·(r² − 1/v))

(ours). The count of all rows is public, without noise; sums of all rows then cost no more than
this, since the inverse of a part of LLᵀ is at most that part of the inverse.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.noise.abstract import AbstractNoise, Loss, gaussian_loss
from lownoise.noise.marginals import MarginalTotals, Piece
from lownoise.noise.mechanism import (
    AbstractTotals,
    AdditiveMechanism,
    check_public,
    check_rows,
    covering,
)
from lownoise.noise.residual import ResidualLayout, ResidualNoise
from lownoise.noise.tables import tables_of
from lownoise.noise.units import of_one_row, times_up
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import fraction_up, grown, sqrt_up
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors.tables import ProductFactor, differences
from lownoise.sensitivity.relations import SUBSTITUTE
from lownoise.sensitivity.residuals import TableChanges
from lownoise.sensitivity.residuals.ordered import split_marginals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.engines.groups import GroupSums
    from lownoise.noise.gaussian import GaussianNoise
    from lownoise.noise.means import MeanTotals
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions.groups import GroupedMean
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.bodies import AbstractBody

_FARTHEST = 2.0**56  # of a deviation, in steps: 64 times that still fits 64 bits


@final
@dataclass(frozen=True, eq=False)
class GroupChanges:
    """What one record that comes or goes changes: e_g ⊗ y; or one that becomes another.

    Args:
        inner: all y, or their opposites.
        tables: what e_g changes in tables of counts.
        count: the last entry of y where the number of records is public, else 0.
    """

    inner: AbstractBody
    tables: TableChanges
    count: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractGroupTotals(AbstractTotals):
    """The integers of means by groups, whichever of them are released.

    Args:
        question: what is asked.
        inner: the integers that each group has: sums of codes, and the count.
        size: the public number of records, None under `add_remove`.

    Raises:
        PlanError: where groups have no count, or rows would be dropped from a table of public size.
    """

    question: GroupedMean
    inner: MeanTotals
    size: int | None = None

    def __post_init__(self) -> None:
        if self.inner.count_step is None:
            raise PlanError("groups need a count each; plan again")
        check_public(self.size, self.relation, drops=self.question.drops)

    @property
    def relation(self) -> Relation:  # type: ignore[override]  # a field of others
        """What a neighbour is."""
        return self.inner.relation if self.size is None else SUBSTITUTE

    @property
    def width(self) -> int:
        """How many integers stand in place of one count."""
        return self.inner.length

    @property
    def grid(self) -> Any:  # noqa: ANN401 (Python's integers)
        """What sums and the count are multiplied by to be integers, shape (w,)."""
        assert self.inner.count_step is not None  # noqa: S101 (checked when it was made)
        return np.array([1] * (self.width - 1) + [int(1 / self.inner.count_step)], dtype=object)

    def read(self, table: Any) -> GroupSums:  # noqa: ANN401 (what an engine takes)
        """Return the sums of the records' codes by groups.

        Raises:
            TableError, EngineError: as `read_groups`, or where the table has not `size` rows.
        """
        from lownoise.engines.groups import read_groups

        found = read_groups(self.question.groups.attributes, self.inner.query, table)
        check_rows(self.size, found.table(())[-1])
        return found

    @property
    def unit(self) -> Vector:
        """What one step is worth in each integer, shape (length,)."""
        return frozen(np.tile(self.inner.unit, self.length // self.width))

    @abstractmethod
    def counted(self, integers: Vector, chosen: tuple[int, ...]) -> Vector:
        """Return integers by the groups of a margin, shape (n, …, w).

        Args:
            integers: the release as floats, shape (length,).
            chosen: the attributes of the margin, rising.
        """

    def sums(self, integers: Sequence[int], chosen: tuple[int, ...]) -> Vector:
        """Return the sums about the center and the count in each group of a margin.

        Args:
            integers: the release.
            chosen: the attributes of the margin, rising.

        Returns:
            Shape (n, …, d + 1).
        """
        found = self.counted(np.array([float(k) for k in integers]), chosen) * self.inner.unit
        embed = self.inner.embed
        return frozen(found if embed is None else found @ embed.T)

    def answers(self, integers: Sequence[int]) -> Vector:
        """Return the sums and the count of each group that is asked for, in a row, shape (m,)."""
        own = [self.sums(integers, s).reshape(-1) for s in self.question.groups.sets()]
        return frozen(np.concatenate(own))


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class GroupTotals(AbstractGroupTotals):
    """The integers of every residual space that a margin sees.

    Args:
        tables: the integers of one number for each record, in whole records.
    """

    tables: MarginalTotals

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return self.tables.length * self.width

    def check_released(self, integers: Sequence[int]) -> None:
        """Refuse a count of all rows that is not the public one: it has no noise."""
        if self.size is not None and int(integers[self.width - 1]) != self.size * self.grid[-1]:
            raise FileError("integers do not have the public number of rows that terms.size states")

    @cached_property
    def changes(self) -> GroupChanges:
        """The set of all changes that one neighbour makes to the integers."""
        count = 0 if self.size is None else int(self.grid[-1])
        return GroupChanges(self.inner.changes, self.tables.changes, count)

    @property
    def pieces(self) -> Iterator[Piece]:
        """The parts in which integers are summed and noised, in their order."""
        for own in self.tables.pieces:
            yield Piece(own.start * self.width, own.space, own.sets)

    def part(self, records: GroupSums, piece: Piece) -> Any:  # noqa: ANN401 (Python's integers)
        """Return one piece of the integers without noise: never to be shown."""
        found = np.moveaxis(np.stack([records.table(own) for own in piece.sets]), -1, 0)
        own = np.moveaxis(differences(found, 2), 0, -1).reshape(-1, self.width)
        return (own * self.grid).reshape(-1)

    def exact(self, records: GroupSums) -> list[int]:
        """Return the integers without noise, all at once: never to be shown."""
        return [k for piece in self.pieces for k in self.part(records, piece).tolist()]

    def counted(self, integers: Vector, chosen: tuple[int, ...]) -> Vector:
        """Return integers by the groups of a margin, shape (n, …, w)."""
        attributes = self.question.groups.attributes
        own = integers.reshape(-1, self.width)
        found = [
            tables_of(self.tables, attributes, [chosen], np.ascontiguousarray(column), {})[0]
            for column in own.T
        ]
        return np.stack(found, axis=-1)

    @property
    def rounding(self) -> Vector:
        """Half a step for each category that a difference has, shape (length,)."""
        found = [
            np.full(len(space.sets) * space.length, 2.0 ** len(space.sizes))
            for space in self.tables.layout.spaces
        ]
        return frozen(np.outer(np.concatenate(found), self.inner.rounding).reshape(-1))


@final
@dataclass(frozen=True, eq=False)
class GroupNoise(AbstractNoise):
    """Gaussian noise σ_A·(D ⊗ … ⊗ D ⊗ L)ξ for each set A of attributes.

    Args:
        inner: of shape L, in steps.
        tables: σ_A.
        public: whether the number of records is, whose count of all rows then has no noise.

    Raises:
        PlanError: where integers do not hold it.
    """

    inner: GaussianNoise
    tables: ResidualNoise
    public: bool = False

    def __post_init__(self) -> None:
        widest = float(np.max(self.inner.shape.deviations(), initial=0.0))
        for deviation, inside in self.tables.widest():
            if not deviation * 2.0 ** (inside / 2) * widest < _FARTHEST:
                raise PlanError(
                    "noise of some group is beyond what integers hold; give a larger budget, or "
                    "fewer attributes"
                )

    @property
    def width(self) -> int:
        """How many integers stand in place of one count."""
        return self.inner.dimension

    @property
    def dimension(self) -> int:
        """How many integers there are."""
        return self.tables.layout.length * self.width

    @property
    def estimated(self) -> bool:
        """It is known."""
        return False

    @property
    def log_concave(self) -> bool:
        """It is."""
        return True

    def loss(self, changes: GroupChanges) -> Loss:  # type: ignore[override]  # what groups have
        """Return μ of the greatest change, and the ρ = μ²/2 that follows, rounded up."""
        one, times = of_one_row(changes)
        own = one.inner.radius_up(self.inner.shape)
        if not one.count:
            found = grown(own * self.tables.radius_up(one.tables))
            return gaussian_loss(times_up(times, found))
        alone = one.tables.cost_up(self.tables.variances)
        both = TableChanges(one.tables.orbits, SUBSTITUTE).cost_up(self.tables.variances)
        if not math.isfinite(own + alone + both):
            return gaussian_loss(math.inf)
        square, h = Fraction(own) ** 2, Fraction(alone)
        most = max(2 * h, Fraction(both)) * square
        beside = square - Fraction(one.count) ** 2 / self.count_variance
        found = sqrt_up(fraction_up(max(most, 4 * h * beside)))
        return gaussian_loss(times_up(times, found))

    @cached_property
    def count_variance(self) -> Fraction:
        """The variance of the count in LLᵀ, exactly."""
        _, entries = self.inner.shape.row(self.width - 1)
        return sum((Fraction(e) ** 2 for e in entries.tolist()), Fraction(0))

    @cached_property
    def _rows(self) -> Vector:
        """L with a column of zeros before it, shape (w, w + 1)."""
        shape, w = self.inner.shape, self.width
        found = np.zeros((w, w + 1))
        for i in range(w):
            places, entries = shape.row(i)
            found[i, 1 + places] = entries
        return found

    def part(self, piece: Piece, randomness: Randomness) -> Any:  # noqa: ANN401 (64 bits)
        """Return the rounding of one piece of a draw."""
        space = piece.space
        factor = ProductFactor(
            scales=(float(self.tables.orbit_deviations[space.orbit]),),
            spans=((0,),),
            rows=(self._rows,),
            sizes=space.sizes,
            copies=len(piece.sets),
        )
        found = rounded_gaussian(factor, randomness=randomness)
        if self.public and not space.sizes:  # the sums of all rows, beside their exact count
            found = np.where(np.arange(found.size) % self.width == self.width - 1, 0, found)
        return found

    def integers(self, randomness: Randomness) -> list[int]:
        """Return the rounding of one draw."""
        own = (self.part(piece, randomness).tolist() for piece in _pieces(self))
        return [k for piece in own for k in piece]

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return the noise of `count` releases in steps; shape (count, r)."""
        found = np.zeros((count, self.dimension))
        for piece in _pieces(self):
            many = Piece(piece.start, piece.space, tuple(piece.sets) * count)
            own = self.part(many, randomness).astype(np.float64).reshape(count, -1)
            found[:, piece.start : piece.start + own.shape[1]] = own
        return found

    def answer_factor(self, unit: Vector, embed: Vector | None) -> AbstractShape:
        """Refuse: no factor of so many answers is formed.

        Raises:
            PlanError: as said.
        """
        raise PlanError("region of means by groups is not formed; use simultaneous_interval")

    def deviations(self, unit: Vector, embed: Vector | None) -> Vector:
        """Return the standard deviations of the integers, each in its unit, shape (r,).

        Args:
            unit: what one step of each is worth.
            embed: None: how answers follow is known by the view.
        """
        del embed
        own = self.inner.shape.deviations()
        found = []
        for space in self.tables.layout.spaces:
            sigma = float(self.tables.orbit_deviations[space.orbit]) * 2.0 ** (len(space.sizes) / 2)
            found.append(np.outer(np.full(len(space.sets) * space.length, sigma), own))
            if self.public and not space.sizes:
                found[-1][:, -1] = 0.0
        return frozen(np.concatenate(found).reshape(-1) * unit)


def _pieces(noise: GroupNoise) -> Iterator[Piece]:
    for space in noise.tables.layout.spaces:
        for start, sets in space.pieces:
            yield Piece(start * noise.width, space, sets)


def group_tables(question: GroupedMean, deviations: Vector) -> tuple[MarginalTotals, ResidualNoise]:
    """Return the tables of one number for each record, in whole records, and their noise.

    Args:
        question: what is asked.
        deviations: σ of each residual orbit, shape (k,).

    Raises:
        PlanError: where it is more than integers hold.
    """
    blocks = split_marginals(question.groups, public=False)
    layout = ResidualLayout(blocks, frozen(np.ones(deviations.size)))
    totals = MarginalTotals(
        attributes=question.groups.attributes,
        relation=layout.relation,
        size=None,
        layout=layout,
    )
    return totals, ResidualNoise(layout, frozen(deviations))


def group_mechanism(
    question: GroupedMean, values: AdditiveMechanism, deviations: Vector, size: int | None = None
) -> AdditiveMechanism:
    """Return the integers of groups and their noise.

    Args:
        question: what is asked.
        values: the mechanism of the mean under `add_remove`, with Gaussian noise.
        deviations: σ of each residual orbit, shape (k,).
        size: the public number of records, None under `add_remove`.
    """
    inner: Any = values.totals
    own: Any = values.noise
    tables, noise = group_tables(question, deviations)
    totals = GroupTotals(question=question, inner=inner, tables=tables, size=size)
    return AdditiveMechanism(totals, GroupNoise(own, noise, public=size is not None))


def group_values(mechanism: AdditiveMechanism) -> AdditiveMechanism:
    """Return the mechanism of a mean that a mechanism of groups is made of."""
    totals: Any = mechanism.totals
    noise: Any = mechanism.noise
    return AdditiveMechanism(totals.inner, noise.inner)


def gaussian_groups(
    question: GroupedMean,
    values: AdditiveMechanism,
    variances: Vector,
    parameter: float,
    size: int | None = None,
) -> AdditiveMechanism:
    """Return the mechanism whose noise is in proportion to these, as little as reveals μ.

    Args:
        question: what is asked.
        values: the mechanism of the mean, with Gaussian noise that reveals about μ.
        variances: σ² of each residual orbit that roughly cost 1, shape (k,).
        parameter: μ > 0.
        size: the public number of records, None under `add_remove`.

    Raises:
        PlanError: where a set of attributes that needs noise has none.
    """

    def scaled(factor: float) -> AdditiveMechanism:
        return group_mechanism(question, values, np.sqrt(variances) * factor, size)

    return covering(scaled, lambda found: found.loss.mu, parameter)
