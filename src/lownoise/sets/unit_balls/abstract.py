# SPDX-License-Identifier: Apache-2.0
"""What every unit ball can say of itself.

A unit ball B ⊂ R^k is compact, convex, full and unchanged by a group of sign changes under which
second moments become diagonal: for any two coordinates some change in the group turns one of them
and not the other. For most bodies that is every change of signs, for matrices the signs of whole
rows and columns. Two facts make it useful: if y ≥ 0 then Σ yᵢxᵢ² ≤ energy(y) on B, so
{x : Σ yᵢxᵢ² ≤ energy(y)} covers B; and if z is in the hull of {x² : x ∈ B}, then some random point
of B, with signs drawn at random from the group, has the second moment diag(z).

A walk (`UnitBallNorm`) asks balls of the norm (`enclosed`) about points that floats cannot tell
from the boundary, and where a base has none forgets them; so what `norm_up` exceeds the norm by
must be proved. With u = 2⁻⁵³:

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

The corners of a polytope that all changes of signs leave as it is, listed where they are few.

A rounding of them does no harm: if every entry of some corners is at least as large as a vertex's,
the hull of all their changes of sign holds that vertex.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.kinds import COUNT, ORDER, Field, Kinds
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import conjugate, dual_order, row_norms, row_norms_up
from lownoise.numbers.rounding import LAST, grown, up
from lownoise.sets.unit_balls.limits import Limits

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

FEW = 4096  # corners, one of each and its opposite
_SLACK = 2.0**-44  # outward, for powers
_CLOSE = 2.0**-20  # a norm is known closely in floats where it exceeds by less
_MOST_PIECES = 64
_CLIMBS = 40


class AbstractUnitBall(ABC):
    """A unit ball B; `points` and `directions` have shape (n, k)."""

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
    def best_squares(self, gains: Vector) -> Vector:
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

    @property
    def outer_radius(self) -> float:
        """Some R with |x|₂ ≤ R, rounded up.

        Examples:
            >>> round(NormBall(4, math.inf).outer_radius, 9)
            2.0
        """
        return up(math.sqrt(self.energy_up(np.ones(self.dimension))))

    @property
    def admitted(self) -> bool:
        """Whether its norm is known closely in floats.

        Examples:
            >>> NormBall(2, 3.0).admitted
            True
        """
        return self.norm_excess < _CLOSE and self.inner_radius > 0

    def as_checked(self) -> AbstractUnitBall:
        """Return the same, whose `norm_up` is as near as `norm_excess` says, or refuses."""
        return self

    def volume_up(self) -> float:
        """Return at least the volume: that of the Euclidean ball around it, or of the box."""
        d = self.dimension
        box = float(np.sum(np.log(2 * self.widths())))
        return math.exp(min(ball_log(d, self.outer_radius), box)) * (1 + d * 2.0**-36)

    @property
    def ball_order(self) -> float | None:
        """The order r of the ℓ_r ball that it is; None of every other."""
        return None

    @property
    def symmetric(self) -> bool:
        """Whether it is known to be the same under every permutation of coordinates."""
        return False

    @property
    def factors(self) -> tuple[AbstractUnitBall, ...]:
        """What it is the product of: itself, as a rule."""
        return (self,)

    @property
    def squares_convex(self) -> bool:
        """Whether {x² : x ∈ B} is known to be convex (B is 2-convex)."""
        return False

    def square_hull(self) -> tuple[AbstractUnitBall, Vector]:
        """Return a unit ball and its scale whose squares fill a convex set around those of B."""
        return NormBall(self.dimension, math.inf), 1 / self.widths()

    def squares_extreme(self, coefficients: Vector) -> Vector:
        """Return x² for a point x of B where Σ yᵢxᵢ² is nearly greatest, y ≥ 0, shape (k,).

        Going to the point that is extreme along y∘x never loses, as the sum is convex.
        """
        x = np.ones(self.dimension)
        for _ in range(_CLIMBS):
            x = np.abs(self.extreme((coefficients * x)[None])[0])
        return np.square(x)

    @property
    def limits(self) -> Limits | None:
        """B as norms and caps that hold at once; None where it is of another kind."""
        return None

    @property
    def only_near(self) -> bool:
        """Whether its energies are searched for, and so near the best only."""
        return False

    def corners(self) -> Vector | None:
        """Return points of no entry below 0 whose changes of sign have a hull that holds B.

        They are its vertices, or a rounding beyond, shape (n, k); None where it is round, or has
        too many, more than `FEW` with their signs.
        """
        return None

    def pieces(self) -> list[tuple[Integers, AbstractUnitBall]]:
        """Return unit balls on some of the coordinates, whose union has the hull B."""
        return [(np.arange(self.dimension), self)]

    def restricted(self, kept: Integers) -> AbstractUnitBall | None:
        """Return the projection to those rising coordinates; None where it has no known form."""
        return None


UNIT_BALLS: Kinds[AbstractUnitBall] = Kinds("base")


@UNIT_BALLS.kind("norm", Field("size", COUNT), Field("order", ORDER))
@final
@dataclass(frozen=True)
class NormBall(AbstractUnitBall):
    """{x : ‖x‖_order ≤ 1} in k coordinates.

    Its squares fill {z : ‖z‖_{order/2} ≤ 1} where the order is at least 2, and the simplex below.

    Args:
        size: k ≥ 1.
        order: in [1, ∞].

    Examples:
        >>> NormBall(2, 1.0).norm_up(np.array([[3.0, -4.0]])).round(9)
        array([7.])
        >>> round(NormBall(2, math.inf).energy_up(np.array([3.0, 4.0])), 9)
        7.0
    """

    size: int
    order: float

    @property
    def dimension(self) -> int:
        """The number of coordinates k."""
        return self.size

    @property
    def ball_order(self) -> float:
        """The order."""
        return self.order

    @property
    def symmetric(self) -> bool:
        """It is."""
        return True

    @property
    def squares_convex(self) -> bool:
        """From order 2 on."""
        return self.order >= 2 or self.size == 1  # noqa: PLR2004

    def square_hull(self) -> tuple[AbstractUnitBall, Vector]:
        """Return the ball of order 2 at least."""
        return NormBall(self.size, max(self.order, 2.0)), np.ones(self.size)

    def squares_extreme(self, coefficients: Vector) -> Vector:
        """Return the extreme point of the squares, exactly."""
        own = NormBall(self.size, max(self.order / 2, 1.0))
        return np.asarray(np.abs(own.extreme(coefficients[None])[0]))

    @property
    def limits(self) -> Limits | None:
        """Caps of 1, and the norm where it is another."""
        norms = 0 if math.isinf(self.order) or self.size == 1 else 1
        scales, orders = np.ones((norms, self.size)), np.full(norms, self.order)
        return Limits(np.ones(self.size), scales, orders)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least ‖x‖_order, row by row."""
        return row_norms_up(points, self.order)

    def support_up(self, directions: Vector) -> Vector:
        """Return at least the dual norm of each row."""
        return row_norms_up(directions, dual_order(self.order))

    def extreme(self, directions: Vector) -> Vector:
        """Return the points where Hölder's inequality is tight."""
        size = np.abs(directions)
        signs = np.where(directions < 0, -1.0, 1.0)
        if math.isinf(self.order):
            return signs
        if self.order == 1:
            found = np.zeros_like(directions)
            rows = np.arange(len(directions))
            best = np.argmax(size, axis=1)
            found[rows, best] = signs[rows, best]
            return found
        top = np.max(size, axis=1, keepdims=True)
        share = (size / np.where(top > 0, top, 1.0)) ** (1 / (self.order - 1))
        share = np.where(top > 0, share, 1.0)
        return np.asarray(signs * share / row_norms(share, self.order)[:, None])

    def energy_up(self, coefficients: Vector) -> float:
        """Return at least ‖y‖_{r/(r−2)}, the greatest entry where r ≤ 2."""
        return float(row_norms_up(coefficients[None], conjugate(self.order))[0])

    def moment_up(self, squares: Vector) -> float:
        """Return at least ‖z‖_{r/2}, the sum where r ≤ 2."""
        return float(row_norms_up(squares[None], max(self.order / 2, 1.0))[0])

    def best_squares(self, gains: Vector) -> Vector:
        """Return z where √g and √z are dual in ℓ_r, exactly."""
        dual = NormBall(self.size, max(self.order, 2.0)).extreme(np.sqrt(gains)[None])
        return np.asarray(np.square(dual[0]))

    @property
    def norm_excess(self) -> float:
        """That of the float norm, by which it is rounded up again."""
        return 2.125 * (_SLACK + self.dimension * LAST)

    @property
    def inner_radius(self) -> float:
        """By ‖x‖_r ≤ k^(1/r − 1/2)|x|₂ below order 2, |x|₂ above."""
        return float(1 / (grown(self.size ** max(1 / self.order - 0.5, 0.0))))

    def widths(self) -> Vector:
        """Return ones."""
        return np.ones(self.size)

    def corners(self) -> Vector | None:
        """Return those of a cross-polytope or a cube, exactly."""
        if self.order == 1:
            return np.eye(self.size)
        return np.ones((1, self.size)) if math.isinf(self.order) else None

    def pieces(self) -> list[tuple[Integers, AbstractUnitBall]]:
        """Return the segments along the coordinates, where they are few and B is their hull."""
        if self.order > 1 or not 1 < self.size <= _MOST_PIECES:
            return super().pieces()
        return [(np.array([i]), NormBall(1, math.inf)) for i in range(self.size)]

    def restricted(self, kept: Integers) -> AbstractUnitBall:
        """Return the ball in fewer coordinates."""
        return NormBall(kept.size, self.order)


def ball_log(dimension: int, radius: float) -> float:
    """Return the logarithm of the volume of a Euclidean ball."""
    half = dimension / 2
    return half * math.log(math.pi) - math.lgamma(half + 1) + dimension * math.log(radius)


def signed_corners(base: AbstractUnitBall) -> Vector | None:
    """Return points whose symmetric hull holds B, hardly more, shape (N, k); None where too many.

    None of what products of ℓ_r balls are, too: these have forms of their own.

    Examples:
        >>> from lownoise.sets.unit_balls import SortedBall
        >>> signed_corners(SortedBall(np.array([1.0, 1.0]))).round(9) + 0.0
        array([[1., 0.],
               [0., 1.]])
    """
    parts = base.factors
    if not base.unconditional or all(part.ball_order is not None for part in parts):
        return None
    rows = np.zeros((1, 0))
    for part in parts:
        own = part.corners()
        if own is None or len(own) * len(rows) > FEW:
            return None
        beside = np.repeat(rows, len(own), axis=0)
        rows = np.hstack([beside, np.tile(own, (len(rows), 1))])
    if sum(1 << (int(np.count_nonzero(row)) - 1) for row in rows) > FEW:
        return None
    return frozen(np.vstack([_signed(row) for row in rows]))


def _signed(row: Vector) -> Vector:
    """Return all changes of sign, but for that of the first entry above 0."""
    used = np.flatnonzero(row)
    bits = (np.arange(1 << (used.size - 1))[:, None] >> np.arange(used.size)) & 1
    found = np.tile(row, (len(bits), 1))
    found[:, used] *= 1.0 - 2.0 * bits[:, ::-1]
    return found
