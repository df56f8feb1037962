# SPDX-License-Identifier: Apache-2.0
"""A symmetric convex body, seen in coordinates in which it is nearly round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, matrix
from lownoise.numbers.rounding import grown, growth, up
from lownoise.samplers.lazy import Composed, settled
from lownoise.samplers.uniform import AbstractUniform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy
    from lownoise.samplers.walks.membership import AbstractMembership

_NEAR = 2.0**-20  # as near to K as shifts go


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class RoundBody:
    """K = F⁻¹S with inner·B₂ ⊂ K ⊂ outer·B₂; F is any invertible matrix, chosen in advance.

    Args:
        membership: who knows S.
        factor: F, shape (d, d), taken as the exact floats; x = F·u.
        inner: a radius of a ball in K, proved by whoever gives it.
        outer: a radius of a ball around K, likewise.

    Raises:
        PlanError: where F does not fit or is singular, or a radius is out of range.

    Examples:
        >>> from lownoise.samplers.walks.membership import Preimage
        >>> cube = RoundBody(membership=Preimage(np.eye(2)), factor=np.eye(2), inner=1.0, outer=1.5)
        >>> cube.decide(np.array([[0.5, 0.5], [0.5, 1.5], [1.0, 0.0]]), 1e-9)
        array([ 1, -1,  0], dtype=int8)
    """

    membership: AbstractMembership
    factor: ArrayLike
    inner: float
    outer: float

    def __post_init__(self) -> None:
        """Check, and make the factor read-only."""
        d = self.membership.dimension
        factor = matrix(self.factor, field="RoundBody.factor", error=PlanError)
        unit = np.max(np.abs(factor), axis=1, keepdims=True, initial=0.0)  # each row has its own
        rows = factor / np.where(unit > 0, unit, 1.0)
        if factor.shape != (d, d) or np.linalg.matrix_rank(rows) < d:
            raise PlanError(
                f"RoundBody.factor has shape {factor.shape} or is singular; give an invertible "
                f"{d}×{d} matrix"
            )
        if not 0 < self.inner <= self.outer < np.inf:
            raise PlanError(
                f"RoundBody.inner={self.inner}, outer={self.outer}; give 0 < inner ≤ outer < ∞"
            )
        object.__setattr__(self, "factor", factor)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.membership.dimension

    @property
    def matrix(self) -> Vector:
        """F, shape (d, d)."""
        return np.asarray(self.factor)

    @cached_property
    def _transposed(self) -> Vector:
        return frozen(np.ascontiguousarray(self.matrix.T))

    @cached_property
    def _axes(self) -> Vector:
        return self.membership.axes_up()

    def doubt(self, extent: float, error: float) -> float:
        """Return how far `norms` can be off near 1 at points |uᵢ| ≤ reach known to ± error.

        ‖e‖_K ≤ √d·error/inner for what is not known; the product F·u is off by γ_d |F||u|.
        """
        d = self.dimension
        images = np.abs(self.matrix).sum(axis=1) * extent
        products = grown(growth(d + 2) * float(images @ self._axes))
        unknown = grown(up(d**0.5 * error / self.inner))
        return self.membership.doubt(grown(images)) + products + unknown

    def norms(self, points: Vector) -> Vector:
        """Return ‖Fu‖_S in floats, row by row; shapes (n, d) and (n,)."""
        return self.membership.norms(points @ self._transposed)

    def decide(self, points: Vector, doubt: float) -> NDArray[np.int8]:
        """Return 1 where a point is inside, −1 outside, 0 where the doubt leaves it open.

        Args:
            points: shape (n, d).
            doubt: how far `norms` can be off.
        """
        norms = self.norms(points)
        return np.asarray((norms < 1 - doubt).astype(np.int8) - (norms > 1 + doubt))

    def shifts(self, points: Vector) -> tuple[Vector, Vector]:
        """Return N and S, row by row, with ⟨N, u⟩ ≤ S on K, so that y − N is in K or near it.

        N is a sum of normals of half-spaces that hold K, which y is moved along in turn; S the sum
        of their limits, rounded up by what floats can lose where |uᵢ| ≤ outer. Where nothing is
        known of half-spaces both are 0. Shapes (n, d) and (n,).
        """
        total, limit = np.zeros_like(points), np.zeros(len(points))
        size = np.zeros(len(points))
        moved = points.copy()
        for _ in range(2 * self.dimension):
            out = np.flatnonzero(self.norms(moved) > 1 + _NEAR)
            found = self.membership.cuts(moved[out] @ self._transposed) if out.size else None
            if found is None:
                break
            normals, limits, errors = found
            own = normals @ self.matrix
            lost = (np.abs(normals) @ np.abs(self.matrix)) * growth(self.dimension + 2)
            lost += grown(errors @ np.abs(self.matrix))
            bound = limits + grown(lost.sum(axis=1) * self.outer)
            length = np.sum(own * own, axis=1)
            far = np.maximum(np.sum(own * moved[out], axis=1) - bound, 0.0)
            far /= np.where(length > 0, length, 1.0)
            total[out] += far[:, None] * own
            limit[out] += far * bound
            size[out] += far * (np.abs(own).sum(axis=1) * self.outer + np.abs(bound))
            moved[out] = points[out] - total[out]
        return total, limit + growth(8 * self.dimension + 8) * size

    def image(self, balls: list[Any]) -> list[Any]:
        """Return F·u in ball arithmetic."""
        return [
            sum((arb(f) * u for f, u in zip(row, balls, strict=True) if f), arb(0))
            for row in self.matrix.tolist()
        ]

    def holds(self, balls: list[Any]) -> bool | None:
        """Return whether the point in these balls is in K; None where they leave it open."""
        return self.membership.holds(self.image(balls))

    def settles(self, point: Lazy, randomness: Randomness, bits: int) -> bool:
        """Return whether a point is in K, by as many of its bits as that takes.

        Args:
            point: u, shape (d,).
            randomness: where more bits come from.
            bits: of the first precision.
        """

        def ask() -> bool | None:
            return self.holds(point.balls())

        return settled(ask, point, randomness=randomness, bits=bits)

    def mapped(self, point: Lazy) -> Lazy:
        """Return F·u for a point u of K, known by its bits so far."""
        return Composed(self.dimension, (point,), self.image)


class AbstractRound(AbstractUniform):
    """Points of F·K, nearly uniform or exactly, however they are drawn."""

    body: RoundBody

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.body.dimension

    @property
    def estimated(self) -> bool:
        """Yes: `second_moment` is given, simulated or summed over cells, and no claim needs it."""
        return True
