# SPDX-License-Identifier: Apache-2.0
"""The greatest of several norms: of blocks of coordinates, of rows; and where few coordinates move.

Norms ‖A·s‖_B have sections of unit balls for unit balls, which are sampled by a walk.
For y ≥ 0, Σ yᵢzᵢ² ≤ energy(y) on B, so with AᵀYA = RᵀR the unit ball is within √energy(y) of 0 in
the coordinates u = R·s; how much of a ball it holds there, its rows say. The weights that make it
round are those of its largest ellipsoid (John 1948): yᵢ⟨aᵢ, (AᵀYA)⁻¹aᵢ⟩ = yᵢ² on slabs, found by
iteration (Cohen, Cousins, Lee & Yang 2019). Any weights are sound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, slices, triangle_of
from lownoise.numbers.rounding import ROUGH, down, grown, growth, spectral_up, up
from lownoise.samplers.uniform import UniformPlaced, UniformProduct
from lownoise.samplers.walks import Meet, Preimage, walk
from lownoise.sets.norms.abstract import AbstractNorm, Form, blocks_of

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.samplers.walks import AbstractMembership
    from lownoise.sets.bodies import AbstractBody, SectionBody
    from lownoise.sets.unit_balls import AbstractUnitBall

RELATIVE = 1e-9  # of a density: what the walk may be off by, which costs twice that in ε
_ROUNDS = 60


@final
@dataclass(frozen=True, eq=False)
class ProductNorm(AbstractNorm):
    """‖s‖ = max ‖sᵢ‖ᵢ: the unit ball is the product of those of the parts.

    Args:
        parts: norms of consecutive blocks of coordinates, one or more.

    Raises:
        PlanError: where there is none.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> from lownoise.sets.norms import ImageNorm
        >>> line = ImageNorm(np.array([2.0]), NormBall(1, 1.0))
        >>> ProductNorm((line, line.scaled(2.0))).norm_up(np.array([[1.0, 6.0]]))
        array([1.5])
    """

    parts: tuple[AbstractNorm, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise PlanError("ProductNorm.parts is empty; give one or more")

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return sum(part.dimension for part in self.parts)

    @property
    def steady(self) -> bool:
        """Where those of the parts are."""
        return all(part.steady for part in self.parts)

    @cached_property
    def blocks(self) -> list[slice]:
        """The coordinates of each part."""
        return slices(part.dimension for part in self.parts)

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Independent uniform points, side by side."""
        return UniformProduct(tuple(part.uniform for part in self.parts))

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """Those of the parts, if all have some."""
        own = [part.forms for part in self.parts]
        if not all(own):
            return ()
        found = []
        for at, forms in zip(self.blocks, own, strict=True):
            for form in forms:
                matrix = np.zeros((len(form.matrix), self.dimension))
                matrix[:, at] = form.matrix
                found.append(Form(matrix, form.order, form.stretch))
        return tuple(found)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the greatest of the parts' norms."""
        pairs = zip(self.parts, self.blocks, strict=True)
        return np.asarray(np.max([part.norm_up(points[:, at]) for part, at in pairs], axis=0))

    def scaled(self, factor: float) -> ProductNorm:
        """Return the product of the parts, all scaled."""
        return ProductNorm(tuple(part.scaled(factor) for part in self.parts))

    def akin_up(self, body: AbstractBody) -> float:
        """Return at least the greatest norm of the body's projections to the blocks."""
        pairs = zip(self.parts, body.projections(self.blocks), strict=True)
        found = [math.inf if own is None else part.sensitivity_up(own) for part, own in pairs]
        return max(found)

    def akin_box_up(self, half_width: Vector) -> float:
        """Return the greatest of the parts'."""
        pairs = zip(self.parts, self.blocks, strict=True)
        return max(part.box_up(half_width[at]) for part, at in pairs)


@final
@dataclass(frozen=True, eq=False)
class PlacedNorm(AbstractNorm):
    """A norm of some coordinates, infinite where any other moves: those get no noise at all.

    Args:
        inner: the norm.
        kept: which coordinates it is of, rising, shape (r,).
        size: the number of coordinates d.

    Raises:
        PlanError: where `kept` does not rise within 0 … d − 1, one for each coordinate of `inner`.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> from lownoise.sets.norms import ImageNorm
        >>> line = ImageNorm(np.array([2.0]), NormBall(1, 1.0))
        >>> PlacedNorm(line, np.array([1]), 2).norm_up(np.array([[0.0, 1.0], [1.0, 0.0]]))
        array([0.5, inf])
    """

    inner: AbstractNorm
    kept: Integers
    size: int

    def __post_init__(self) -> None:
        UniformPlaced(self.inner.uniform, self.kept, self.size)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.size

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Uniform points of the unit ball, with zeros."""
        return UniformPlaced(self.inner.uniform, self.kept, self.size)

    @property
    def euclidean(self) -> int:
        """As of the coordinates that move."""
        return self.inner.euclidean

    @cached_property
    def _constant(self) -> Integers:
        return np.setdiff1d(np.arange(self.size), self.kept)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the norm of the coordinates that move."""
        found = self.inner.norm_up(np.ascontiguousarray(points[:, self.kept]))
        return np.where(np.any(points[:, self._constant], axis=1), np.inf, found)

    def scaled(self, factor: float) -> PlacedNorm:
        """Return the same of factor·(unit ball)."""
        return PlacedNorm(self.inner.scaled(factor), self.kept, self.size)

    def akin_up(self, body: AbstractBody) -> float:
        """Return at least the norm of the body's projection, if nothing else moves."""
        if np.any(body.widths()[self._constant]):
            return math.inf
        own = body.projected(self.kept)
        return math.inf if own is None else self.inner.sensitivity_up(own)

    def akin_box_up(self, half_width: Vector) -> float:
        """Return that of the coordinates that move, if no others do."""
        moved = np.any(half_width[self._constant])
        return math.inf if moved else self.inner.box_up(half_width[self.kept])


@final
@dataclass(frozen=True, eq=False)
class WalkNorm(AbstractNorm):
    """‖s‖ = ‖A·s‖_B: the unit ball is {s : A·s ∈ B}, with exactly the stored floats of A.

    Args:
        rows: A, shape (m, d), of rank d.
        base: B: an ℓ_r ball or a product of them, m coordinates.

    Raises:
        PlanError: where B is neither, or A is flat; by `uniform` where the walk takes too long.
    """

    rows: Vector
    base: AbstractUnitBall

    def __post_init__(self) -> None:
        if not self._blocks or self.base.dimension != len(self.rows):
            raise PlanError(
                f"{type(self.base).__name__} has no walk for {len(self.rows)} rows; give a product "
                "of ℓ_r balls with a coordinate a row",
            )
        self._preimages()

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.rows.shape[1])

    @cached_property
    def _blocks(self) -> list[tuple[slice, float]]:
        return blocks_of(self.base)

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Points of the unit ball, uniform but for a relative error that is proved."""
        parts = [Preimage(rows, order=order) for rows, order in self._preimages()]
        membership: AbstractMembership = parts[0] if len(parts) == 1 else Meet(tuple(parts))
        weights = self._weights()
        root = np.sqrt(weights)[:, None] * self.rows
        try:
            factor = np.asarray(np.linalg.inv(triangle_of(root)), np.float64)
        except np.linalg.LinAlgError:
            factor = np.full((self.dimension, self.dimension), np.nan)
        if not np.all(np.isfinite(factor)):
            raise PlanError(f"rows in {self.dimension} dimensions are flat; leave out an answer")
        inner = min(part.inner_radius(factor) for part in parts)
        outer = self._outer(root, weights, factor)
        return walk(membership, factor, inner, outer, relative=RELATIVE)

    def _preimages(self) -> list[tuple[Vector, float]]:
        """Return bodies whose meet is the unit ball, each bounded: all slabs are one."""
        slabs = [self.rows[at] for at, order in self._blocks if math.isinf(order)]
        found = [(np.vstack(slabs), math.inf)] if slabs else []
        found += [(self.rows[at], order) for at, order in self._blocks if not math.isinf(order)]
        if any(np.linalg.matrix_rank(rows) < self.dimension for rows, _ in found):
            raise PlanError(
                f"a section in {self.dimension} dimensions with cylinders has no walk, or is flat; "
                "use (ε, δ)",
            )
        return found

    def _outer(self, root: Vector, weights: Vector, factor: Vector) -> float:
        """Return at least max ‖F⁻¹s‖: with Q = √Y·A·F, ‖u‖² ≤ ‖Qu‖²/(1 − ‖I − QᵀQ‖)."""
        m, d = root.shape
        turn = root @ factor
        size = np.abs(root) @ np.abs(factor)
        lost = grown(4 * growth(d + m + 9) * float(np.sum(size * size)), ROUGH)
        defect = up(spectral_up(np.eye(d) - turn.T @ turn) + lost)
        if not defect < 1:
            raise PlanError(f"rows in {d} dimensions are too nearly flat; leave out an answer")
        return up(math.sqrt(self.base.energy_up(weights) / down(1 - defect)) * (1 + growth(20)))

    def _weights(self) -> Vector:
        """Return y > 0, equal on each ball, nearly that of the largest ellipsoid inside."""
        m, d = self.rows.shape
        groups = np.arange(m)
        for at, order in self._blocks:
            if not math.isinf(order):
                groups[at] = at.start
        unit = np.max(np.abs(self.rows), axis=0)
        own = self.rows / np.where(unit > 0, unit, 1.0)
        found = np.full(m, d / m)
        for _ in range(_ROUNDS):
            turn = np.linalg.qr(np.sqrt(found)[:, None] * own)[0]
            shares = np.einsum("ij,ij->i", turn, turn)
            found = np.bincount(groups, shares, minlength=m)[groups]
            found = np.maximum(found, 2.0**-30)
        return found

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """One a ball: ‖rows of A·s‖, with no error but rounding."""
        return tuple(Form(self.rows[at], order) for at, order in self._blocks)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least ‖A·s‖_B."""
        return np.asarray(np.max([form.norm_up(points) for form in self.forms], axis=0))

    def scaled(self, factor: float) -> WalkNorm:
        """Return the norm of factor·(unit ball)."""
        return WalkNorm(frozen(self.rows / factor), self.base)

    def akin_section_up(self, body: SectionBody) -> float:
        """Return 1 for the section that it is of: z − z' ∈ 2B for z, z' ∈ B."""
        return 1.0 if np.array_equal(body.norm_rows, self.rows) else math.inf
