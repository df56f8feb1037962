# SPDX-License-Identifier: Apache-2.0
"""Gaussian noise on means by groups: a mean's times a marginal's, and how much of it covers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import AbstractNoise, Loss, gaussian_loss, quotient_up
from lownoise.noise.exchanges import exchange_up
from lownoise.noise.groups import GroupTotals
from lownoise.noise.marginals import MarginalTotals, Piece
from lownoise.noise.mechanism import AdditiveMechanism, covering
from lownoise.noise.residual import ResidualLayout, ResidualNoise
from lownoise.noise.units import of_one_row, times_up
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import fraction_up, grown, sqrt_up
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors.tables import ProductFactor
from lownoise.sensitivity.relations import SUBSTITUTE
from lownoise.sensitivity.residuals import TableChanges
from lownoise.sensitivity.residuals.ordered import split_marginals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lownoise.noise.gaussian import GaussianNoise
    from lownoise.noise.groups import AbstractGroupTotals, GroupChanges
    from lownoise.noise.marginals import Space
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions.mean import AbstractGrouped
    from lownoise.sensitivity.factors import AbstractShape

_TINY = 2.0**-40
_WORTH = 1e-6  # of μ: less is not worth a number in files, and no choice by last bits
_FARTHEST = 2.0**56  # of a deviation, in steps: 64 times that still fits 64 bits


@final
@dataclass(frozen=True, eq=False)
class GroupNoise(AbstractNoise):
    """Gaussian noise σ_A·(D ⊗ … ⊗ D ⊗ L)ξ for each set A of attributes.

    Args:
        inner: of shape L, in steps.
        tables: σ_A.
        public: whether the number of records is, whose count of all rows then has no noise.
        all_rows: what the sums of all rows have in place of σ_∅·L, in steps, where records become
            others and have no count; None for that.
        diameter: at least D, how far two records of a group are from each other in L, where what is
            charged for a record that changes its group rests on it; None where that is 2h·r², as in
            files of before.

    Raises:
        PlanError: where integers do not hold it.
    """

    inner: GaussianNoise
    tables: ResidualNoise
    public: bool = False
    all_rows: GaussianNoise | None = None
    diameter: float | None = None

    def __post_init__(self) -> None:
        widest = float(np.max(self.inner.shape.deviations(), initial=0.0))
        widths = [d * 2.0 ** (inside / 2) * widest for d, inside in self.tables.widest()]
        if self.all_rows is not None:
            widths.append(float(np.max(self.all_rows.shape.deviations(), initial=0.0)))
        if not all(far < _FARTHEST for far in widths):
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
    def log_concave(self) -> bool:
        """It is."""
        return True

    def coarseness(self, totals: AbstractGroupTotals) -> float:
        """As of one group's noise; an answer is a sum of such, and of what all rows have."""
        return self._least(lambda noise, _: noise.coarseness(totals.inner))

    def beside(self, totals: AbstractGroupTotals, off: Vector) -> float:
        """As of one group's noise, each integer of a space the same."""

        def of(noise: GaussianNoise, space: Space) -> float:
            own = off[space.start * self.width :][: self.width]
            return noise.beside(totals.inner, own) / 2 ** (len(space.sizes) / 2)

        return self._least(of)

    def _least(self, of: Callable[[GaussianNoise, Space], float]) -> float:
        """Return the most of what is said of the noise in each space, whose inner one is 1."""
        found = [0.0]
        for space in self.tables.layout.spaces:
            apart = self.all_rows if self.apart(space) else None
            own = of(apart or self.inner, space)
            sigma = 1.0 if apart else float(self.tables.orbit_deviations[space.orbit])
            found.append(quotient_up(own, sigma))
        return max(found)

    def loss(self, changes: GroupChanges) -> Loss:  # type: ignore[override]  # what groups have
        """Return μ of the greatest change, and the ρ = μ²/2 that follows, rounded up."""
        one, times = of_one_row(changes)
        if self.all_rows is not None:
            return gaussian_loss(times_up(times, self._exchanged(one)))
        own = one.inner.radius_up(self.inner.shape)
        if not one.count and one.apart is None:
            found = grown(own * self.tables.radius_up(one.tables))
            return gaussian_loss(times_up(times, found))
        alone = one.tables.cost_up(self.tables.variances)
        both = TableChanges(one.tables.orbits, SUBSTITUTE).cost_up(self.tables.variances)
        if not math.isfinite(own + alone + both):
            return gaussian_loss(math.inf)
        square, h, changed = Fraction(own) ** 2, Fraction(alone), Fraction(both)
        between, beside = max(2 * h, changed) * square, self._opposite(one, square)
        if self.diameter is not None or h * beside > between:
            beside = self._measured(one, beside)
        if self.diameter is not None:  # never more than before
            between = changed * square + max(h - changed / 2, Fraction(0)) * beside
        found = sqrt_up(fraction_up(max(h * beside, between)))
        return gaussian_loss(times_up(times, found))

    def _opposite(self, one: GroupChanges, square: Fraction) -> Fraction:
        """Return at least D² by r²: of two records that are opposite."""
        return 4 * (square - (Fraction(one.count) ** 2 / self.count_variance if one.count else 0))

    def _measured(self, one: GroupChanges, square: Fraction) -> Fraction:
        """Return at least D², measured where differences are known; no more than what is given."""
        far = math.inf if one.apart is None else one.apart.radius_up(self.inner.shape)
        return min(square, Fraction(far) ** 2) if math.isfinite(far) else square

    def diameter_up(self, changes: GroupChanges) -> float:
        """Return at least D, how far two records of a group are from each other in L."""
        one, _ = of_one_row(changes)
        own = one.inner.radius_up(self.inner.shape)
        if not math.isfinite(own):
            return math.inf
        return sqrt_up(fraction_up(self._measured(one, self._opposite(one, Fraction(own) ** 2))))

    def _exchanged(self, one: GroupChanges) -> float:
        """Return at least μ where all rows' sums have noise of their own."""
        if one.pairs is None:
            return math.inf
        assert self.all_rows is not None  # noqa: S101 (asked above)
        orbits, variances = one.tables.orbits, self.tables.variances
        with np.errstate(divide="ignore"):
            h = grown(float(np.sum(orbits.trace[1:] / variances[1:])))
        both = TableChanges(orbits, SUBSTITUTE).cost_up(variances)
        across = grown(max(both / 2 - h * (1 - _TINY), 0.0))
        shapes = self.inner.shape, self.all_rows.shape
        return sqrt_up(exchange_up(one.pairs, *shapes, h, across))

    @cached_property
    def count_variance(self) -> Fraction:
        """The variance of the count in LLᵀ, exactly."""
        _, entries = self.inner.shape.row(self.width - 1)
        return sum((Fraction(e) ** 2 for e in entries.tolist()), Fraction(0))

    def apart(self, space: Any) -> bool:  # noqa: ANN401 (a residual space)
        """Return whether a space is that of all rows, whose sums have noise of their own."""
        return self.all_rows is not None and not space.sizes

    @cached_property
    def _every_rows(self) -> tuple[Vector, Vector]:
        own = self.inner if self.all_rows is None else self.all_rows
        return self._rows_of(self.inner.shape), self._rows_of(own.shape)

    def _rows_of(self, shape: AbstractShape) -> Vector:
        """Return L with a column of zeros before it, shape (w, w + 1)."""
        w = self.width
        found = np.zeros((w, w + 1))
        for i in range(w):
            places, entries = shape.row(i)
            found[i, 1 + places] = entries
        return found

    def part(self, piece: Piece, randomness: Randomness) -> Any:  # noqa: ANN401 (64 bits)
        """Return the rounding of one piece of a draw."""
        space = piece.space
        own = self.apart(space)
        factor = ProductFactor(
            scales=(1.0 if own else float(self.tables.orbit_deviations[space.orbit]),),
            spans=((0,),),
            rows=(self._every_rows[own],),
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
            if self.apart(space):
                assert self.all_rows is not None  # noqa: S101 (asked by `apart`)
                found.append(self.all_rows.shape.deviations()[None])
                continue
            found.append(np.outer(np.full(len(space.sets) * space.length, sigma), own))
            if self.public and not space.sizes:
                found[-1][:, -1] = 0.0
        return frozen(np.concatenate(found).reshape(-1) * unit)


def _pieces(noise: GroupNoise) -> Iterator[Piece]:
    for space in noise.tables.layout.spaces:
        for start, sets in space.pieces:
            yield Piece(start * noise.width, space, sets)


def group_tables(
    question: AbstractGrouped, deviations: Vector
) -> tuple[MarginalTotals, ResidualNoise]:
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
    question: AbstractGrouped,
    values: AdditiveMechanism,
    deviations: Vector,
    size: int | None = None,
    all_rows: GaussianNoise | None = None,
) -> AdditiveMechanism:
    """Return the integers of groups and their noise.

    Args:
        question: what is asked.
        values: the mechanism of the mean under `add_remove`, with Gaussian noise.
        deviations: σ of each residual orbit, shape (k,).
        size: the public number of records, None under `add_remove`.
        all_rows: as of `GroupNoise`; σ of all rows is then not looked at.
    """
    inner: Any = values.totals
    own: Any = values.noise
    tables, noise = group_tables(question, deviations)
    totals = GroupTotals(question=question, inner=inner, tables=tables, size=size)
    public = size is not None and question.counted
    return AdditiveMechanism(totals, GroupNoise(own, noise, public=public, all_rows=all_rows))


def group_values(mechanism: AdditiveMechanism) -> AdditiveMechanism:
    """Return the mechanism of a mean that a mechanism of groups is made of."""
    totals: Any = mechanism.totals
    noise: Any = mechanism.noise
    return AdditiveMechanism(totals.inner, noise.inner)


def gaussian_groups(
    question: AbstractGrouped,
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
    plain = group_mechanism(question, values, np.sqrt(variances), size)
    diameter = _worth(plain) if size is not None and question.counted else None

    def scaled(factor: float) -> AdditiveMechanism:
        made = group_mechanism(question, values, np.sqrt(variances) * factor, size)
        return with_diameter(made, diameter)

    return covering(scaled, lambda found: found.loss.mu, parameter)


def with_diameter(mechanism: AdditiveMechanism, diameter: float | None) -> AdditiveMechanism:
    """Return the noise of groups, charged by D; None: as if records were opposite."""
    noise: Any = mechanism.noise
    return replace(mechanism, noise=replace(noise, diameter=diameter))


def _worth(mechanism: AdditiveMechanism) -> float | None:
    """Return D where less is charged by it; None where it is not, and no file states it."""
    noise: Any = mechanism.noise
    changes: Any = mechanism.totals.changes
    before = mechanism.loss.mu
    if not math.isfinite(before):
        return None
    found: float = noise.diameter_up(changes)
    less = with_diameter(mechanism, found).loss.mu
    return found if less < before * (1 - _WORTH) else None
