# SPDX-License-Identifier: Apache-2.0
"""Exact counts in cells that give all others plus noise of the shape of what one changes.

Where all attributes together have few categories, what one record changes in the cells of all
marginals is a list of points: the K-norm mechanism of their hull adds to those cells from which the
others follow linearly. Exchanges of categories leave that list as it is, and so the law of the
noise: on each residual space it is independent of the others' and round, with one variance σ_A².
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.discrete_k_norm import DiscreteKNormNoise, is_table
from lownoise.noise.discrete_staircase import DiscreteStaircaseNoise
from lownoise.noise.marginal_noise import AbstractRoundNoise, grid_step, marginal_mechanism
from lownoise.noise.marginals import AbstractLayout
from lownoise.noise.mechanism import covering, spared
from lownoise.noise.pure import KNormNoise
from lownoise.numbers.arrays import frozen
from lownoise.privacy.units import rows_of
from lownoise.samplers.uniform.abstract import distance_within
from lownoise.sensitivity.factors.tables import centered, differences
from lownoise.sensitivity.residuals import marginal_orbits
from lownoise.sensitivity.residuals.ordered import split_marginals
from lownoise.sets.bodies import PointDifferences, SymmetricPoints
from lownoise.sets.domains.coordinates import counted_coordinates
from lownoise.sets.norms import norm_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.engines.counts import Records
    from lownoise.noise import AdditiveMechanism
    from lownoise.noise.abstract import AbstractNoise, Loss
    from lownoise.noise.marginals import Noisy, Piece
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.privacy.units import PrivacyUnit
    from lownoise.questions import Marginals
    from lownoise.sensitivity.residuals import Orbits
    from lownoise.sets.domains.coordinates import Coordinates

_SOON, _SOON_PUBLIC = 9, 6  # dimensions of a hull that is cut into simplices in seconds
_MOST = 1 << 12  # categories of all attributes together, and cells of all marginals


@final
@dataclass(frozen=True)
class CellSpace:
    """All integers at once.

    Args:
        length: how many they are.
        orbit: of no residual space.
    """

    length: int
    orbit: int = 0

    @property
    def pieces(self) -> list[tuple[int, tuple[Any, ...]]]:
        """The one piece."""
        return [(0, ())] if self.length else []


@final
@dataclass(frozen=True, eq=False)
class CellLayout(AbstractLayout):
    """Cells of marginals from which all others follow.

    Args:
        question: the marginals that are asked.
        counted: those whose cells are summed: the same, or one table that they are margins of.

    Raises:
        PlanError: where there are too many to be listed.
    """

    question: Marginals
    counted: Marginals

    def __post_init__(self) -> None:
        categories = math.prod(a.size for a in self.counted.attributes)
        if max(categories, self.counted.cells) > _MOST:
            raise PlanError(
                f"{float(categories):.2g} kinds of records, in {self.counted.cells:,} cells, are "
                f"too many to list; at most {_MOST:,} of each are",
            )

    @classmethod
    def of(
        cls, question: Marginals, size: int | None, step: float, counted: Marginals | None = None
    ) -> CellLayout:
        """Return the layout of a question.

        Args:
            question: the marginals.
            size: the public number of records, None where it is private.
            step: the unit of the integers, in records, a power of two.
            counted: as of the layout; None for the marginals that are asked.
        """
        blocks = split_marginals(question, public=size is not None)
        return cls(blocks, frozen(np.array([step])), question, counted or question)

    @classmethod
    def of_table(cls, question: Marginals, size: int | None, step: float = 1.0) -> CellLayout:
        """Return the cells of the table of all attributes that are asked for, as of `of`.

        All marginals are sums of its cells, whichever of them are asked.
        """
        return cls.of(question, size, step, question.table)

    @cached_property
    def matrix(self) -> Vector:
        """Which cells each kind of record is in, shape (m, N): 0 or 1."""
        sizes = [a.size for a in self.counted.attributes]
        kinds = np.indices(sizes).reshape(len(sizes), -1)
        parts = []
        for chosen in self.counted.sets():
            shape = [sizes[i] for i in chosen]
            at = np.zeros(kinds.shape[1], dtype=np.int64)
            for i in chosen:
                at = at * sizes[i] + kinds[i]
            parts.append((np.arange(math.prod(shape))[:, None] == at).astype(np.float64))
        return frozen(np.concatenate(parts))

    @cached_property
    def coordinates(self) -> Coordinates:
        """Which cells are summed, and how all follow from them."""
        return counted_coordinates(self.matrix, public=self.blocks.public)

    @cached_property
    def changes(self) -> SymmetricPoints | PointDifferences:
        """All changes that one neighbour makes to the integers."""
        rows = self.matrix[self.coordinates.pivots].T / float(self.steps[0])
        points = frozen(np.unique(rows, axis=0))  # whole numbers, exactly
        return PointDifferences(points) if self.blocks.public else SymmetricPoints(points)

    @property
    def becoming(self) -> PointDifferences:
        """What one changes that becomes another."""
        return PointDifferences(self.changes.points)

    @property
    def length(self) -> int:
        """How many integers there are."""
        return int(self.coordinates.pivots.size)

    @property
    def spaces(self) -> tuple[CellSpace, ...]:
        """All of them at once."""
        return (CellSpace(self.length),)

    def step(self, space: CellSpace) -> float:
        """Return the unit of the integers, in records."""
        return float(self.steps[space.orbit])

    def exact(self, records: Records, space: CellSpace, sets: Sequence[Any]) -> Integers:
        """Return the counts in the cells that are summed, without noise."""
        cells = [records.marginal(chosen).reshape(-1) for chosen in self.counted.sets()]
        found: Integers = np.concatenate(cells)[self.coordinates.pivots]
        return found

    def read(
        self,
        sets: Sequence[tuple[int, ...]],
        ordered: Sequence[int],
        released: Noisy,
    ) -> Vector:
        """Return noisy differences along A in each ordered cell; see `AbstractLayout.read`."""
        size = released.size
        summed = np.asarray(released.integers, dtype=np.float64) * float(self.steps[0])
        start, pivots, embed = self._follow
        cells = embed @ (summed - size * start[pivots]) + size * start
        return np.stack([self._table(cells, chosen, ordered) for chosen in sets])

    @property
    def _follow(self) -> tuple[Vector, Integers, Vector]:
        """What a record adds where nothing changes, which cells are summed, and all from them."""
        chosen = self.coordinates
        embed = np.eye(len(self.matrix)) if chosen.embed is None else chosen.embed
        return chosen.start, chosen.pivots, embed

    def _table(self, cells: Vector, chosen: tuple[int, ...], ordered: Sequence[int]) -> Vector:
        """Return differences along A in each ordered cell, from the cells of all marginals.

        Args:
            cells: shape (m, …), of which further axes are left as they are.
            chosen: A.
            ordered: the ordered attributes.
        """
        sizes, first = [a.size for a in self.counted.attributes], 0
        for asked in self.counted.sets():
            shape = [sizes[i] for i in asked]
            if {*chosen, *ordered} <= {*asked}:
                table = cells[first : first + math.prod(shape)].reshape((*shape, *cells.shape[1:]))
                kept = [i for i in asked if i in {*chosen, *ordered}]
                table = table.sum(axis=tuple(k for k, i in enumerate(asked) if i not in kept))
                back = range(len(kept), table.ndim)
                table = np.transpose(table, [*map(kept.index, (*chosen, *ordered)), *back])
                for axis in range(len(chosen)):
                    last = differences(np.moveaxis(table, axis, -1), table.ndim - 1)
                    table = np.moveaxis(last, -1, axis)
                free = [sizes[i] - 1 for i in chosen]
                return table.reshape((*free, -1, *cells.shape[1:]))
            first += math.prod(shape)
        raise PlanError("a marginal does not follow from those that were noised; plan again")

    def variances(self, covariance: Vector) -> Vector:
        """Return σ² of each residual space from the covariance of the integers, shape (r,).

        Of noise that is the same on all cells of A, the part that is centred along each attribute
        has the squared length σ²·Π (nᵢ − 1): that is taken of the noise.

        Args:
            covariance: in steps, shape (r, r) or its diagonal.
        """
        orbits = marginal_orbits(self.question)
        root = np.diag(covariance) if covariance.ndim == 1 else covariance
        embed = self._follow[2] * float(self.steps[0])
        found = []
        for orbit in orbits.residuals:
            chosen = tuple(orbits.members_of(orbit))
            table = self._table(embed, chosen, ())
            table = np.squeeze(table, axis=len(chosen))
            for axis in range(len(chosen)):
                table = centered(table, axis)
            rows = table.reshape(-1, embed.shape[1])
            free = math.prod(int(orbits.sizes[k]) - 1 for k in orbit)
            found.append(float(np.einsum("ij,jk,ik->", rows, root, rows)) / free)
        silent = np.array([self.blocks.public and not orbit for orbit in orbits.residuals])
        return frozen(np.where(silent, 0.0, np.array(found)))


@final
@dataclass(frozen=True, eq=False)
class CellNoise(AbstractRoundNoise):
    """Noise on cells: K-norm noise of the hull of all changes, of real or whole numbers, or stairs.

    Args:
        layout: the cells that are summed.
        inner: the noise on them.
    """

    layout: CellLayout
    inner: AbstractNoise

    @cached_property
    def full(self) -> Orbits:
        """The residual spaces of all attributes, ordered or not."""
        return marginal_orbits(self.layout.question)

    @cached_property
    def variances(self) -> Vector:
        """σ² of each residual space, in records, shape (r,)."""
        return self.layout.variances(self.inner.covariance())

    @property
    def estimated(self) -> bool:
        """Whether its covariance was estimated by simulation."""
        return self.inner.estimated

    @property
    def integer_valued(self) -> bool:
        """As of the noise on cells."""
        return self.inner.integer_valued

    @property
    def finest(self) -> Vector:
        """The deviation of each cell's, in steps, shape (r,)."""
        return self.inner.deviations(np.ones(self.inner.dimension), None)

    def loss(self, changes: Any) -> Loss:  # noqa: ANN401 (as of the layout)
        """Return what integers reveal that one neighbour moves by points of `changes`."""
        return self.inner.loss(changes)

    def moment(self, order: float) -> float:
        """Return at least (E|X|^q)^{1/q}/σ of every answer's noise X."""
        return self.inner.moment(order)

    def strays(self, deviations: Vector, outside: float) -> Vector | None:
        """Return how far counts stray of cells of one table, or of one number in all that move."""
        if isinstance(self.inner, DiscreteKNormNoise):
            return self.inner.strays(deviations, outside)
        far = self.inner.far(outside) if self.layout.length == 1 else None
        if far is None:
            return None
        return np.where(deviations > 0, far[0] * float(self.layout.steps[0]), 0.0)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return the noise of `count` releases in steps, in floats; shape (count, r)."""
        return self.inner.simulate(count, randomness)

    def part(self, piece: Piece, randomness: Randomness) -> Integers:
        """Return the rounding of one draw, all of it."""
        return np.array(self.inner.integers(randomness), dtype=object)


def cell_mechanism(
    question: Marginals,
    size: int | None,
    epsilon: float,
    delta: float,
    *,
    unit: PrivacyUnit | None = None,
    patient: bool = True,
) -> AdditiveMechanism:
    """Return K-norm noise on the cells of marginals, as little as reveals at most ε and δ.

    Args:
        question: the marginals.
        size: the public number of records, None under `add_remove`.
        epsilon: ε > 0.
        delta: δ, 0 where the budget is pure.
        unit: whose rows are hidden together; None where each row is.
        patient: whether a hull is cut into simplices that may take a minute.

    Raises:
        PlanError: where the changes are too many to list, or their hull cannot be drawn from, or
            not soon.
    """
    layout = CellLayout.of(question, size, grid_step(rows_of(unit) / epsilon))
    if not layout.length:
        raise PlanError("no neighbour changes any answer")
    public = size is not None
    simplex = layout.length == layout.matrix.shape[1] - public  # or its differences: known forms
    if not patient and not simplex and layout.length > (_SOON_PUBLIC if public else _SOON):
        raise PlanError(
            f"the hull of what a record changes in {layout.length} cells takes long to cut into "
            'simplices; name mechanism="k_norm" to try it',
        )
    gauge = norm_of(layout.changes, distance_within(epsilon, delta))

    def scaled(factor: float) -> AdditiveMechanism:
        noise = CellNoise(layout, KNormNoise(gauge, factor / epsilon))
        return replace(marginal_mechanism(question.attributes, size, noise), unit=unit)

    found = covering(scaled, lambda own: own.loss.epsilon, epsilon * spared(gauge))
    if found.loss.delta > delta:
        raise PlanError(
            "its points are uniform only up to a total variation, which costs delta="
            f"{found.loss.delta:.2g}; give ln.approx_dp(epsilon, delta) and name the mechanism",
        )
    return found


def stairs_mechanism(
    question: Marginals, size: int | None, epsilon: float, unit: PrivacyUnit | None
) -> AdditiveMechanism:
    """Return a discrete staircase on each cell, as wide as all rows of a unit move it.

    Args:
        question: the marginals.
        size: the public number of records, None under `add_remove`.
        epsilon: ε > 0.
        unit: whose rows are hidden together; None where each row is.

    Raises:
        PlanError: where no neighbour changes any answer, or steps reveal too little or too much.
    """
    layout = CellLayout.of(question, size, 1.0)
    rows = layout.changes.points
    most = np.ptp(rows, axis=0) if size is not None else np.max(np.abs(rows), axis=0)
    widths = np.maximum(most * rows_of(unit), 1).astype(np.int64)
    scales = widths * layout.length / epsilon
    return _least(
        layout,
        size,
        epsilon,
        unit,
        lambda factor: DiscreteStaircaseNoise.least(widths, frozen(scales * factor)),
    )


def table_mechanism(
    question: Marginals, size: int | None, epsilon: float, unit: PrivacyUnit | None
) -> AdditiveMechanism:
    """Return K-norm noise on the lattice of a table whose cells add up to a public number.

    It is the table of all attributes that are asked for, of which the marginals are sums.

    Args:
        question: the marginals.
        size: the public number of records, None under `add_remove`.
        epsilon: ε > 0.
        unit: whose rows are hidden together; None where each row is.

    Raises:
        PlanError: where rows come and go, or cells are too many, or ε is too little or too much.
    """
    layout = CellLayout.of_table(question, size)
    if not is_table(layout.changes):
        raise PlanError("it is for the cells of one table of a public number of rows")
    scale = 2 * rows_of(unit) / epsilon
    return _least(
        layout,
        size,
        epsilon,
        unit,
        lambda factor: DiscreteKNormNoise(layout.length + 1, scale * factor),
    )


def _least(
    layout: CellLayout,
    size: int | None,
    epsilon: float,
    unit: PrivacyUnit | None,
    inner: Callable[[float], AbstractNoise],
) -> AdditiveMechanism:
    """Return the least of some noise in whole numbers that reveals at most ε."""
    if not layout.length:
        raise PlanError("no neighbour changes any answer")

    def scaled(factor: float) -> AdditiveMechanism:
        noise = CellNoise(layout, inner(factor))
        return replace(marginal_mechanism(layout.question.attributes, size, noise), unit=unit)

    return covering(scaled, lambda own: own.loss.epsilon, epsilon)
