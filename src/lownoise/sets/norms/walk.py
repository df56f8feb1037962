# SPDX-License-Identifier: Apache-2.0
"""Norms ‖A·s‖_B whose unit balls are sampled by a walk: sections of unit bodies.

For y ≥ 0, Σ yᵢzᵢ² ≤ energy(y) on B, so with AᵀYA = RᵀR the unit ball is within √energy(y) of 0 in
the coordinates u = R·s; how much of a ball it holds there, its rows say. The weights that make it
round are those of its largest ellipsoid (John 1948): yᵢ⟨aᵢ, (AᵀYA)⁻¹aᵢ⟩ = yᵢ² on slabs, found by
iteration (Cohen, Cousins, Lee & Yang 2019). Any weights are sound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, triangle_of
from lownoise.numbers.rounding import down, growth, spectral_up, up
from lownoise.samplers.walks import Meet, Preimage, walk
from lownoise.sets.norms.abstract import AbstractNorm, Form
from lownoise.sets.norms.image import balls_of

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.samplers.walks import AbstractMembership
    from lownoise.sets.bodies import SectionBody
    from lownoise.sets.unit_balls import AbstractUnitBall

RELATIVE = 1e-9  # of a density: what the walk may be off by, which costs twice that in ε
_ROUNDS = 60


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
        if balls_of(self.base) is None or self.base.dimension != len(self.rows):
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
        balls = balls_of(self.base) or ()
        ends = np.cumsum([0, *(ball.size for ball in balls)])
        own = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        return [(at, ball.order) for at, ball in zip(own, balls, strict=True)]

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
        lost = 4 * growth(d + m + 9) * float(np.sum(size * size)) * (1 + 2.0**-30)
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
        return 1.0 if np.array_equal(section_rows(body), self.rows) else math.inf


def section_rows(body: SectionBody) -> Vector:
    """Return A with ‖A·s‖_B ≤ 1 on all changes: half of a section's rows; all if it is lifted."""
    return body.section.rows if body.kind == "lifted" else frozen(body.section.rows / 2)
