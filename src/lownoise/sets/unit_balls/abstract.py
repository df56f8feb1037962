# SPDX-License-Identifier: Apache-2.0
"""What every unit body can say of itself.

A unit body B ⊂ R^k is compact, convex, full and unchanged by a group of sign changes under which
second moments become diagonal: for any two coordinates some change in the group turns one of them
and not the other. For most bodies that is every change of signs, for matrices the signs of whole
rows and columns. Two facts make it useful: if y ≥ 0 then Σ yᵢxᵢ² ≤ energy(y) on B, so
{x : Σ yᵢxᵢ² ≤ energy(y)} covers B; and if z is in the hull of {x² : x ∈ B}, then some random point
of B, with signs drawn at random from the group, has the second moment diag(z).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector


class AbstractUnitBall(ABC):
    """A unit body B; `points` and `directions` have shape (n, k)."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of coordinates k."""

    @property
    def unconditional(self) -> bool:
        """Whether every change of signs leaves it as it is, so that |x| is in it where x is."""
        return True

    @abstractmethod
    def norm_up(self, points: Vector) -> Vector:
        """Return at least the norm whose unit ball B is, row by row, and hardly more; shape (n,).

        Every row has the same arithmetic wherever it stands: sums go column by column.
        """

    def signed_norm_up(self, points: Vector) -> Vector:
        """Return at least the norm of every change of signs of each row's entries; shape (n,).

        The norm itself, except where B is not the same under every change of signs.
        """
        return self.norm_up(points)

    @property
    def searched(self) -> bool:
        """Whether its norm is known by a bound, so that points near the boundary are searched."""
        return False

    def brought_in(self, points: Vector) -> Vector:
        """Return points of B for rows, shapes (n, k): those in B as they are, within 2^-44.

        By their norm; where that is known by a bound alone, so that a point of B could seem to be
        outside, otherwise.
        """
        return np.asarray(points / np.maximum(self.norm_up(points), 1.0)[:, None])

    @abstractmethod
    def support_up(self, directions: Vector) -> Vector:
        """Return at least max ⟨θ, x⟩ over B, row by row, and hardly more; shape (n,)."""

    @abstractmethod
    def extreme(self, directions: Vector) -> Vector:
        """Return a point of B, up to rounding, that is extreme along each row; shape (n, k)."""

    @abstractmethod
    def energy_up(self, coefficients: Vector) -> float:
        """Return at least max Σ yᵢxᵢ² over B for y ≥ 0, shape (k,); hardly more."""

    @abstractmethod
    def moment_up(self, squares: Vector) -> float:
        """Return at least the least t with z ∈ t·hull{x² : x ∈ B}; z ≥ 0, shape (k,)."""

    @abstractmethod
    def spread(self, gains: Vector) -> Vector:
        """Return z in hull{x² : x ∈ B} that makes Σ√(gᵢzᵢ) greatest, or nearly; g ≥ 0, shape (k,).

        A base may look at a part of the hull only; bounds are computed from what it returns.
        """

    @abstractmethod
    def widths(self) -> Vector:
        """Return max |xᵢ| over B, shape (k,), rounded up."""

    def pieces(self) -> list[tuple[Integers, AbstractUnitBall]]:
        """Return unit bodies on some of the coordinates, whose union has the hull B."""
        return [(np.arange(self.dimension), self)]

    def restricted(self, kept: Integers) -> AbstractUnitBall | None:
        """Return the projection to those rising coordinates; None where it has no known form."""
        return None
