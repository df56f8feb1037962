# SPDX-License-Identifier: Apache-2.0
"""Gaussian noise of a shape that is given, and a proposed shape fitted to a grid and what moves.

Its loss is the radius of what moves, rounded up. A proposed shape becomes a mechanism on a grid:
the steps, and noise that covers.

Where a body of changes is flat, rounding is not: a record that changes within a plane has a code
that changes within a step or so of that plane, and even a coordinate that never changes may be
clamped to another last digit. So noise of the shape of the changes is thickened a little in all
directions that records have: too little to matter beside the noise, enough to dwarf a step. How
much that covers is measured afterwards, like everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.engines import TotalsQuery
from lownoise.errors import PlanError
from lownoise.kinds import resolved
from lownoise.noise.abstract import AbstractNoise, AbstractStructure, gaussian_loss
from lownoise.noise.means import MeanTotals, coding_for
from lownoise.noise.mechanism import SHOWN, AdditiveMechanism, covering, spared
from lownoise.noise.totals import grid_steps
from lownoise.numbers.arrays import frozen, triangle_of
from lownoise.samplers import rounded_gaussian
from lownoise.sensitivity.factors import BlockShape, DenseShape, DiagonalShape
from lownoise.sensitivity.relations import Change, sensitivity_set

if TYPE_CHECKING:
    from lownoise.noise.abstract import Loss
    from lownoise.noise.totals import AbstractTotals
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions import AbstractSummed, Mean
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains.coordinates import Coordinates

_LARGEST_DENSE = 10_000
_WORDS = 2.0**64
_AT_ONCE = 1 << 16  # numbers that are simulated together
_ROOM = 1e-9  # of a width: more than its rounding


@final
@dataclass(frozen=True, eq=False)
class GaussianNoise(AbstractNoise):
    """Noise L·ξ, ξ standard normal.

    A change s of the integers is μ-GDP with μ = ‖L⁻¹s‖ (002, Lemma 22): the loss is the greatest
    over all changes, whatever solver proposed L.

    Args:
        shape: the factor L of the covariance, in grid steps; its entries are the exact numbers.
    """

    shape: AbstractShape

    @property
    def dimension(self) -> int:
        """The number of integers r."""
        return self.shape.dimension

    @property
    def steady(self) -> bool:
        """Where its numbers are independent."""
        return self.shape.independent is not None

    def loss(self, changes: AbstractBody | AbstractStructure) -> Loss:
        """Return μ of the greatest change, and the ρ = μ²/2 that follows, rounded up."""
        return gaussian_loss(changes.radius_up(self.shape))

    def integers(self, randomness: Randomness) -> list[int]:
        """Return the rounding of one draw, r integers."""
        found: list[int] = rounded_gaussian(self.shape, randomness=randomness).tolist()
        return found

    def covariance(self) -> Vector:
        """Return L·Lᵀ, shape (r, r)."""
        return frozen(self.shape.dense())

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        from scipy.special import ndtri

        sources = self.shape.sources
        found = np.empty((count, self.dimension))
        for start in range(0, count, rows := max(_AT_ONCE // max(sources, 1), 1)):
            end = min(start + rows, count)
            words = randomness.words((end - start) * sources).astype(np.float64)
            own = ndtri((words + 0.5) / _WORDS).reshape(end - start, sources)
            found[start:end] = [self.shape.apply(z) for z in own]
        return found

    def answer_factor(self, unit: Vector, embed: Vector | None) -> AbstractShape:
        """Return a factor of the answers' covariance; arguments as of `deviations`."""
        own = self.shape.scaled(unit)
        return own if embed is None else own.mapped(embed)

    def deviations(self, unit: Vector, embed: Vector | None) -> Vector:
        """Return the standard deviations of the answers, shape (m,)."""
        return frozen(self.answer_factor(unit, embed).deviations())

    def answer_scales(self, unit: Vector, embed: Vector | None) -> tuple[Vector, Vector]:
        """Return the answers' deviations, and the covariance of each with the last."""
        factor = self.answer_factor(unit, embed)
        places, entries = factor.row(factor.dimension - 1)
        last = np.zeros(factor.sources)
        last[places] = entries
        return frozen(factor.deviations()), frozen(factor.apply(last))

    def answer_covariance(self, unit: Vector, embed: Vector | None) -> Vector:
        """Return the covariance of the answers, shape (m, m).

        Raises:
            PlanError: beyond 10,000 answers; ask `standard_deviation`.
        """
        factor = self.answer_factor(unit, embed)
        if factor.dimension > _LARGEST_DENSE:
            raise PlanError(
                f"covariance of {factor.dimension} answers would fill the memory; "
                "use standard_deviation, or mechanism.answer_noise for a factor of it",
            )
        return frozen(factor.dense())


def gaussian(totals: AbstractTotals, shape: AbstractShape, parameter: float) -> AdditiveMechanism:
    """Return totals plus Gaussian noise of a shape, scaled to reveal at most μ.

    Args:
        totals: the integers, in their final form.
        shape: noise of the integers that roughly reveals μ.
        parameter: μ > 0.

    Raises:
        PlanError: where the shape has no noise in a direction that needs some.
    """

    def scaled(factor: float) -> AdditiveMechanism:
        return AdditiveMechanism(totals, GaussianNoise(shape.scaled(factor)))

    part = spared(GaussianNoise(shape))
    return covering(scaled, lambda found: found.loss.mu, parameter * part)


def gaussian_mean(
    question: Mean,
    relation: Relation,
    size: int | None,
    shape: AbstractShape,
    parameter: float,
    chosen: Coordinates,
    multipliers: Vector | None = None,
    about: Vector | None = None,
) -> AdditiveMechanism:
    """Return the mechanism of means whose noise has `shape`, scaled to reveal at most μ.

    Args:
        question: the columns and their domain.
        relation: what a neighbour is.
        size: the public number of records, None under `add_remove`.
        shape: noise of the summed coordinates (and the count) that roughly covers the sensitivity
            set with radius 1.
        parameter: μ > 0.
        chosen: the coordinates that are summed.
        multipliers: for the bound on how far records can change, or None.
        about: the domain's center, where codes are taken about that; by default the question's.

    Raises:
        PlanError: where the shape has no noise in a direction that needs some.
    """
    coded = question.center if about is None else about
    body = sensitivity_set(question.domain, relation, coded, chosen)
    width = extent = body.widths()
    if isinstance(relation, Change):
        assert size is not None  # noqa: S101 (one record changes, of so many)
        domain, kept = question.domain, chosen.pivots
        if not question.comes:
            extent = (domain.upper - domain.lower)[kept] * (1 + _ROOM)
        shape = thickened(shape, extent, size, parameter)
        width = np.where(width > 0, width, extent)
    least, most = shape.conditional_scales()
    step = grid_steps(least / parameter, most / parameter, width, extent, size, parameter)
    count_step = None
    if size is None:
        count_step = step[-1] = min(float(step[-1]), 1.0)
    totals = MeanTotals(
        query=TotalsQuery(
            coding_for(question, chosen, frozen(step[: chosen.pivots.size].copy()), about),
            question.drops_missing,
        ),
        relation=relation,
        size=size,
        count_step=count_step,
        coordinates=chosen,
        multipliers=multipliers,
        center=None if np.array_equal(coded, question.center) else question.center,
        comes=question.comes,
    )
    mechanism = gaussian(totals, shape.scaled(1 / parameter / step), parameter)
    if isinstance(relation, Change) and mechanism.rounding > SHOWN:
        raise PlanError(
            f"relation allows changes too small beside the domain for {size:,} records: "
            "rounding would show beside the noise; give a narrower domain",
        )
    return mechanism


def gaussian_summed(
    question: AbstractSummed,
    relation: Relation,
    size: int | None,
    shape: AbstractShape,
    parameter: float,
    chosen: Coordinates,
) -> AdditiveMechanism:
    """Return the mechanism of sums of rows whose noise has `shape`, scaled to reveal at most μ.

    Args:
        question: what each row adds.
        relation: "substitute" or "add_remove".
        size: the public number of records, None under `add_remove`.
        shape: noise of the summed answers that roughly covers their changes with radius 1.
        parameter: μ > 0.
        chosen: the answers that are summed.

    Raises:
        PlanError: where the shape has no noise in a direction that needs some.
    """
    width = question.changes(relation, chosen).widths()
    least, most = shape.conditional_scales()
    step = frozen(grid_steps(least / parameter, most / parameter, width, width, size, parameter))
    totals = resolved(question.totals)(
        question=question, relation=relation, size=size, coordinates=chosen, step=step
    )
    return gaussian(totals, shape.scaled(1 / parameter / step), parameter)


def beside(shape: AbstractShape, deviation: float) -> AbstractShape:
    """Return noise of one number more, the last, that is independent of the others.

    Args:
        shape: of the others.
        deviation: of that one, at μ = 1.

    Raises:
        PlanError: where the kind of shape is not known.

    Examples:
        >>> beside(DiagonalShape([1.0]), 2.0).scale
        array([1., 2.])
    """
    if isinstance(shape, DiagonalShape):
        return DiagonalShape(frozen(np.append(shape.scale, deviation)))
    if isinstance(shape, BlockShape):
        return BlockShape(frozen(np.append(shape.scale, deviation)), shape.places, shape.block)
    if not isinstance(shape, DenseShape):
        raise PlanError(f"shape={type(shape).__name__} is of no known kind; plan again")
    rows = np.pad(shape.factor, ((0, 1), (0, 1)))
    rows[-1, -1] = deviation
    return DenseShape(frozen(rows))


_THIN = 2.0**-12  # of a deviation: adds 2^-24 to its variance
_CONSTANT = 2.0**-20  # of a coordinate's range, where it never changes
_SHOWN = 2.0**-39  # of its range, in a mean: beside that no rounding of records shows
_NOTHING = 2.0**-100  # of a unit: noise that rounds to none, where records have one value


def thickened(shape: AbstractShape, extent: Vector, size: int, parameter: float) -> AbstractShape:
    """Return a shape that is hardly wider, and has noise wherever records differ.

    Args:
        shape: covers the body of changes with radius 1; r coordinates, of any rank.
        extent: the width of the domain in each, shape (r,).
        size: n, the public number of records.
        parameter: μ; the noise will be the shape over μ.

    Raises:
        PlanError: where the kind of shape is not known.

    Examples:
        >>> flat = DenseShape([[1.0], [1.0]])
        >>> thickened(flat, np.ones(2), 100, 1.0).dense().round(6)
        array([[1., 1.],
               [1., 1.]])
        >>> thickened(DiagonalShape([1.0, 0.0]), np.array([4.0, 4.0]), 100, 1.0).rank
        2
    """
    deviations = shape.deviations()
    constant = max(_CONSTANT, parameter * size * _SHOWN) * extent
    return _thickened(shape, np.where(deviations > 0, 0.0, constant))


@singledispatch
def _thickened(shape: object, floor: Vector) -> AbstractShape:
    raise PlanError(f"shape={type(shape).__name__} is of no known kind; plan again")


@_thickened.register(DiagonalShape)
def _thickened_of_diagonal_shape(shape: DiagonalShape, floor: Vector) -> AbstractShape:
    return DiagonalShape(frozen(np.maximum(shape.scale, floor)))


@_thickened.register(DenseShape)
def _thickened_of_dense_shape(shape: DenseShape, floor: Vector) -> AbstractShape:
    deviations = shape.deviations()
    regular = shape.sources == shape.dimension
    if regular and np.all(shape.conditional_scales()[0] > _THIN * deviations):
        return shape
    more = np.maximum(floor, _THIN * deviations)
    more = np.where((more > 0) | (deviations > 0), more, _NOTHING)
    return DenseShape(frozen(triangle_of(np.vstack([shape.factor.T, np.diag(more)])).T.copy()))
