# SPDX-License-Identifier: Apache-2.0
"""What every unit body can say of itself.

A unit body B ⊂ R^k is compact, convex, full and unchanged by a group of sign changes under which
second moments become diagonal: for any two coordinates some change in the group turns one of them
and not the other. For most bodies that is every change of signs, for matrices the signs of whole
rows and columns. Two facts make it useful: if y ≥ 0 then Σ yᵢxᵢ² ≤ energy(y) on B, so
{x : Σ yᵢxᵢ² ≤ energy(y)} covers B; and if z is in the hull of {x² : x ∈ B}, then some random point
of B, with signs drawn at random from the group, has the second moment diag(z).

A walk with a weak oracle (`sets/norms/weak.py`) forgets the points that the oracle cannot tell from
the boundary, so what `norm_up` exceeds the norm by must be proved. With u = 2⁻⁵³:

* ℓ_r balls, also capped ones: `norm_up` is the float norm times 1 + s, and is an upper bound
  because that float is within s: it exceeds by (1 + s)² at most, a quotient by a cap by u more.
* sums of sorted sizes: k products and sums of numbers ≥ 0 are off by γ₂ₖ, times 1 + s.
* mixed norms: the product of what the outer and the inner norms exceed by.
* several bodies at once: what the worst part exceeds by, a product by a scale, 1 + s.
* spectral norms: from A = U diag(s) Vᵀ + E the gauge G of s is at most (G(A) + G(E))(1 + τ), and
  the bound (1 + τ)·G(s) + G(E); so with G(E) ≤ ω·G(A) it exceeds by (1 + τ)²(1 + 2.1ω) at most. τ
  and ω are looked at with each matrix, and a decomposition with greater ones is refused.

Elsewhere `norm_up` may be loose (Kronecker products): such bodies are not admitted. Entries so
small that their products underflow are below 2⁻⁴⁰⁰ of a norm near 1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

UNIT = 2.0**-50  # more than a few roundings
OUTWARD = 1 + 2.0**-40


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

    @property
    def decomposes(self) -> bool:
        """Whether its norm is of a decomposition, which is refused where it is not close."""
        return False

    @property
    def norm_excess(self) -> float:
        """At least norm_up/norm − 1, for every point; infinite where that is not proved."""
        return math.inf

    @property
    def inner_radius(self) -> float:
        """Some r with ‖x‖ ≤ |x|₂/r, rounded down: a ball of radius r is in B; 0 if unknown."""
        return 0.0

    def pieces(self) -> list[tuple[Integers, AbstractUnitBall]]:
        """Return unit bodies on some of the coordinates, whose union has the hull B."""
        return [(np.arange(self.dimension), self)]

    def restricted(self, kept: Integers) -> AbstractUnitBall | None:
        """Return the projection to those rising coordinates; None where it has no known form."""
        return None
