# SPDX-License-Identifier: Apache-2.0
"""The unit balls of ℓ_r norms with caps, and of norms of sorted sizes: ordered ℓ₁."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import FileError
from lownoise.kinds import NONNEGATIVE, ORDER, VECTOR, Field
from lownoise.numbers.rounding import LAST, grown
from lownoise.sets.unit_balls.abstract import (
    FEW,
    UNIT_BALLS,
    AbstractUnitBall,
    NormBall,
)
from lownoise.sets.unit_balls.limits import Limits

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

_SMALLEST = 2.0**-250  # its square is a normal number
_SLACK = 2.0**-44  # outward, for powers
_MOST_OFF = 2.0**-32  # of corners
_STEPS = 200  # halvings of a bracket: more than a float has


def _checked_sorted(weights: Vector) -> SortedBall:
    if not _SMALLEST <= weights[0] <= 1 / _SMALLEST:
        raise FileError("base.weights does not begin with a number from 2^-250 to 2^250")
    if np.any(weights[1:] > weights[:-1]):
        raise FileError("base.weights do not fall to at least 0")
    return SortedBall(weights)


@UNIT_BALLS.kind("sorted", Field("weights", NONNEGATIVE), make=_checked_sorted)
@final
@dataclass(frozen=True, eq=False)
class SortedBall(AbstractUnitBall):
    """{x : Σ weightᵢ·|x|₍ᵢ₎ ≤ 1}, |x|₍₁₎ the largest; weights fall, the first is above 0, (k,).

    With Wⱼ = Σ_{i≤j} weightᵢ its extreme points have j entries ±1/Wⱼ and the others 0 (the dual
    ball is an intersection of the balls S_j(θ) ≤ W_j of the sums of j largest).

    Examples:
        >>> top_two = SortedBall(np.array([1.0, 1.0, 0.0]))
        >>> top_two.norm_up(np.array([[1.0, -2.0, 3.0]])).round(9)
        array([5.])
    """

    weights: Vector

    @property
    def dimension(self) -> int:
        """The number of coordinates k."""
        return self.weights.size

    @cached_property
    def _totals(self) -> Vector:
        return np.cumsum(self.weights)

    @property
    def _slack(self) -> float:
        return _SLACK + self.dimension * 2.0**-50

    @property
    def symmetric(self) -> bool:
        """It is."""
        return True

    def norm_up(self, points: Vector) -> Vector:
        """Return at least Σ weightᵢ·|x|₍ᵢ₎."""
        falling = -np.sort(-np.abs(points), axis=1)
        total = np.zeros(len(points))
        for weight, column in zip(self.weights, falling.T, strict=True):
            total += weight * column
        return total * (1 + self._slack)

    def support_up(self, directions: Vector) -> Vector:
        """Return at least max over j of the sum of the j largest |θᵢ|, over Wⱼ."""
        falling = -np.sort(-np.abs(directions), axis=1)
        return np.asarray(
            np.max(np.cumsum(falling, axis=1) / self._totals, axis=1) * (1 + self._slack)
        )

    def extreme(self, directions: Vector) -> Vector:
        """Return ±1/Wⱼ on the j largest, for the best j."""
        order = np.argsort(-np.abs(directions), axis=1)
        falling = np.take_along_axis(np.abs(directions), order, axis=1)
        best = np.argmax(np.cumsum(falling, axis=1) / self._totals, axis=1)
        sizes = np.where(np.arange(self.dimension) <= best[:, None], 1.0, 0.0)
        sizes /= self._totals[best][:, None]
        found = np.empty_like(sizes)
        np.put_along_axis(found, order, sizes, axis=1)
        return np.where(directions < 0, -found, found)

    def energy_up(self, coefficients: Vector) -> float:
        """Return at least max over j of the sum of the j largest yᵢ, over Wⱼ²."""
        sums = np.cumsum(-np.sort(-coefficients))
        return float(np.max(sums / np.square(self._totals))) * (1 + self._slack)

    def moment_up(self, squares: Vector) -> float:
        """Return at least the least t for one j: z ≤ t/Wⱼ² and Σz ≤ t·j/Wⱼ²."""
        j = np.arange(1, self.dimension + 1)
        need = np.square(self._totals) * np.maximum(np.max(squares), np.sum(squares) / j)
        return float(np.min(need)) * (1 + self._slack)

    def best_squares(self, gains: Vector) -> Vector:
        """Return the best z that mixes extreme points of one j."""
        found, most = np.zeros_like(gains), -1.0
        for j, total in enumerate(self._totals, start=1):
            part = CappedBall(np.full(self.dimension, j**-0.5)).best_squares(gains) * (j / total**2)
            value = float(np.sum(np.sqrt(gains * part)))
            if value > most:
                found, most = part, value
        return found

    @property
    def norm_excess(self) -> float:
        """That of k products and sums of numbers ≥ 0."""
        return 1.125 * (_SLACK + 2 * self.dimension * LAST)

    @property
    def inner_radius(self) -> float:
        """By the inequality of Cauchy and Schwarz."""
        return 1 / grown(float(np.linalg.norm(self.weights)))

    def widths(self) -> Vector:
        """Return 1/W₁ for each coordinate."""
        return np.full(self.dimension, np.nextafter(1 / self.weights[0], np.inf))

    def corners(self) -> Vector | None:
        """Return 1/Wⱼ on every j coordinates, but for j whose points others have in their hull.

        These are those with weightⱼ₊₁ = 0 and those with weightⱼ = weight₁, j > 1.
        """
        k, w = self.dimension, self.weights
        used = [j for j in range(1, k + 1) if (j == k or w[j] > 0) and (j == 1 or w[j - 1] < w[0])]
        if sum(math.comb(k, j) << (j - 1) for j in used) > FEW:
            return None
        rows = [
            np.isin(np.arange(k), chosen) / self._totals[j - 1]
            for j in used
            for chosen in combinations(range(k), j)
        ]
        return np.array(rows) * (1 + self._slack)

    def restricted(self, kept: Integers) -> AbstractUnitBall:
        """Return the ball of the largest weights: the others meet zeros."""
        return SortedBall(self.weights[: kept.size])


def _checked_capped(cap: Vector, order: float = 2.0) -> CappedBall:
    if not np.all((cap >= _SMALLEST) & (cap <= 1)):
        raise FileError("base.cap is not made of numbers from 2^-250 to 1")
    if math.isinf(order):
        raise FileError("base.order=inf describes no capped ball")
    return CappedBall(cap, order)


@UNIT_BALLS.kind(
    "capped", Field("cap", VECTOR), Field("order", ORDER, optional=True), make=_checked_capped
)
@final
@dataclass(frozen=True, eq=False)
class CappedBall(AbstractUnitBall):
    """{x : ‖x‖_order ≤ 1 and |xᵢ| ≤ capᵢ}.

    From order 2 on its squares fill {z : z ≤ cap², ‖z‖_{order/2} ≤ 1}. Below 2 the greatest squares
    are those of points with all but one coordinate 0 or at its cap. Where all caps are equal they
    are the arrangements of one list, and z is in their hull where the sum of its j largest entries
    is at most the list's, for every j (Rado); for other caps bounds are near, not exact (ours).

    Args:
        cap: above 0, at most 1, shape (k,).
        order: r in [1, ∞).

    Examples:
        >>> base = CappedBall(np.array([0.6, 1.0]))
        >>> round(base.energy_up(np.array([2.0, 1.0])), 9)
        1.36
        >>> base.extreme(np.array([[3.0, 1.0]])).round(9)
        array([[0.6, 0.8]])
        >>> CappedBall(np.array([0.6, 1.0]), 1.0).extreme(np.array([[3.0, -1.0]])).round(9)
        array([[ 0.6, -0.4]])
    """

    cap: Vector
    order: float = 2.0

    @property
    def dimension(self) -> int:
        """The number of coordinates k."""
        return self.cap.size

    @property
    def _slack(self) -> float:
        return _SLACK + self.dimension * 2.0**-50

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the greater of ‖x‖_order and max |xᵢ|/capᵢ."""
        k = self.dimension
        return np.maximum(
            NormBall(k, self.order).norm_up(points),
            NormBall(k, np.inf).norm_up(points / self.cap),
        )

    def support_up(self, directions: Vector) -> Vector:
        """Return at least max ⟨θ, x⟩: the dual norm of what no cap binds, the caps for the rest."""
        size, top = _scaled(directions)
        level = self._levels(size)
        # for every split θ = a + b the support is at most ‖a‖_dual + Σ cap·|b|
        inside = np.minimum(size, level[:, None] * self.cap ** (self.order - 1))
        beyond = (size - inside) @ self.cap
        found = NormBall(self.dimension, self.order).support_up(inside) + beyond
        return np.asarray(top * found * (1 + self._slack))

    def extreme(self, directions: Vector) -> Vector:
        """Return x = ±min(cap, (|θ|/t)^{1/(order−1)}), of norm 1 where the caps allow it."""
        size, _ = _scaled(directions)
        if self.order == 1:
            found = _filled(self.cap, size)
        else:
            found = self._shared(size, self._levels(size))
        return np.where(directions < 0, -found, found)

    @property
    def symmetric(self) -> bool:
        """Where all caps are equal."""
        return bool(np.all(self.cap == self.cap[0]))

    @property
    def squares_convex(self) -> bool:
        """From order 2 on."""
        return self.order >= 2 or self.dimension == 1  # noqa: PLR2004

    def square_hull(self) -> tuple[AbstractUnitBall, Vector]:
        """Return a ball of order 2 at least, and its scale."""
        return self.hull

    def squares_extreme(self, coefficients: Vector) -> Vector:
        """Return the extreme point of the squares; below order 2 that of their chords."""
        own = max(2 - self.order, 0.0)
        caps, order = self.cap ** (2 - own), max(self.order / 2, 1.0)
        found = CappedBall(caps, order).extreme((coefficients * self.cap**own)[None])[0]
        return np.asarray(np.abs(found) * self.cap**own)

    @property
    def limits(self) -> Limits | None:
        """The caps and the norm."""
        return Limits(self.cap, np.ones((1, self.dimension)), np.array([self.order]))

    def energy_up(self, coefficients: Vector) -> float:
        """Return at least the greatest Σ yz with z ≤ cap² and ‖z‖_{order/2} ≤ 1.

        Below order 2 it is Σ y·cap²·w with w ≤ 1 and Σ cap^order·w ≤ 1: chords of x² = w^{2/order}.
        """
        if self.order >= 2:  # noqa: PLR2004
            squares = CappedBall(np.square(self.cap), self.order / 2)
            return float(squares.support_up(coefficients[None])[0])
        if self._list is not None:
            falling = -np.sort(-coefficients)
            return float(falling @ self._list) * (1 + self._slack)
        chords = coefficients * self.cap ** (2 - self.order)
        most = float(CappedBall(self.cap**self.order, 1.0).support_up(chords[None])[0])
        return min(most, float(np.max(coefficients))) * (1 + self._slack)

    def moment_up(self, squares: Vector) -> float:
        """Return at least the greater of ‖z‖_{order/2} and max z/cap²; below order 2 see `_room`.

        There z ≤ t·cap² and Σ z·cap^{order−2} ≤ t·room put z into t times the hull; so does the
        point √z alone.
        """
        part = squares / np.square(self.cap)
        top = float(np.max(part))
        if self.order >= 2:  # noqa: PLR2004
            norm = NormBall(self.dimension, self.order / 2).norm_up(squares[None])
            return max(float(norm[0]), top) * (1 + self._slack)
        found = float(self.norm_up(np.sqrt(squares)[None])[0]) ** 2
        if self._list is not None:
            sums = np.cumsum(-np.sort(-squares)) / np.cumsum(self._list)
            found = min(found, float(np.max(sums)))
        elif self._room > 0:
            filled = float(np.sum(part * self.cap**self.order)) / self._room
            found = min(found, max(top, filled))
        return found * (1 + self._slack)

    def best_squares(self, gains: Vector) -> Vector:
        """Return √z dual to √g in this very body: Σ√(gz) is ⟨√g, √z⟩.

        Below order 2 in the body whose squares fill the hull, or for unequal caps a set around it;
        then made small enough for the hull.
        """
        if self.order >= 2:  # noqa: PLR2004
            return np.asarray(np.square(self.extreme(np.sqrt(gains)[None])[0]))
        hull, scale = self.hull
        z = hull.best_squares(gains / np.square(scale)) / np.square(scale)
        return np.asarray(z / max(self.moment_up(z), 1.0))

    @cached_property
    def hull(self) -> tuple[CappedBall, Vector]:
        """A body of order 2 and its scale, whose squares fill the hull of this one's, or more.

        Below order 2 that is z ≤ cap² with Σz ≤ the sum of the list of equal caps, and with
        Σ z·cap^{order−2} ≤ 1 (chords) for others.
        """
        if self.order >= 2:  # noqa: PLR2004
            return self, np.ones(self.dimension)
        if self._list is not None:
            scale = np.full(self.dimension, float(np.sum(self._list)) ** -0.5)
        else:
            scale = self.cap ** (self.order / 2 - 1)
        return CappedBall(np.minimum(self.cap * scale, 1.0)), scale

    @property
    def norm_excess(self) -> float:
        """That of a ball, and of a quotient by a cap."""
        return NormBall(self.dimension, self.order).norm_excess + LAST

    @property
    def inner_radius(self) -> float:
        """The ball's, or the least cap."""
        caps = float(np.min(self.cap)) / grown(1.0)
        return min(NormBall(self.dimension, self.order).inner_radius, caps)

    def widths(self) -> Vector:
        """Return the caps."""
        return self.cap

    def corners(self) -> Vector | None:
        """Return those of order 1: some coordinates at their caps, what is left in one other.

        Where all caps together are below 1 there is the cube's alone. What is left is rounded up,
        so that no corner has an entry below a vertex's; what a rounding leaves is left out, as are
        corners that are the same but for it, and all is enlarged by that over the least cap: points
        on the axes are in the hull.
        """
        k, count = self.dimension, 0
        off = 8 * k * k * LAST / float(np.min(self.cap))
        if self.order != 1 or off > _MOST_OFF:
            return None
        found: list[Vector] = []
        todo: list[tuple[int, Vector]] = [(0, np.zeros(k))]  # the next coordinate, and what is full
        while todo:
            start, full = todo.pop()
            left = 1 - float(np.sum(full)) + k * LAST
            ends = [j for j in range(k) if not full[j] and self.cap[j] >= left - 2 * k * LAST]
            if not ends and start == k and np.all(full):
                ends, left = [0], float(full[0])  # the cube's
            for j in ends:
                row = full.copy()
                row[j] = left
                found.append(row)
                count += 1 << (int(np.count_nonzero(row)) - 1)
            if count > FEW or len(todo) > FEW:
                return None
            for j in range(start, k):
                if self.cap[j] < left - 2 * k * LAST:
                    row = full.copy()
                    row[j] = self.cap[j]
                    todo.append((j + 1, row))
        rows = np.array(found)
        kept = np.unique(np.floor(rows / (4 * k * LAST)), axis=0, return_index=True)[1]
        return rows[np.sort(kept)] * (1 + self._slack + off)

    def restricted(self, kept: Integers) -> AbstractUnitBall:
        """Return the ball with those coordinates' caps."""
        return CappedBall(self.cap[kept], self.order)

    @cached_property
    def _list(self) -> Vector | None:
        """The squares of the extreme points, falling, where all caps are equal: cap², rest², 0."""
        if np.any(self.cap != self.cap[0]):
            return None
        size = np.full(self.dimension, self.cap[0] ** self.order)
        filled = np.diff(np.minimum(np.cumsum(size), 1.0), prepend=0.0)
        return np.asarray(np.maximum(filled, 0.0) ** (2 / self.order))

    @cached_property
    def _room(self) -> float:
        """A number such that {w ≤ 1, Σ cap^order·w ≤ room} is in the hull of fillings by 0 and 1.

        A vertex of it has one fraction at most, and rounding that up adds the greatest cap^order at
        most.
        """
        room = 1 - float(np.max(self.cap**self.order))
        return room if room > 2.0**-30 else 0.0

    def _shared(self, size: Vector, level: Vector) -> Vector:
        """Return min(cap, (|θ|/t)^{1/(order−1)}), the caps where t = 0."""
        whole = level <= 0
        safe = np.where(whole, 1.0, level)[:, None]
        with np.errstate(over="ignore"):
            ratio = size / safe
            power = ratio if self.order == 2 else ratio ** (1 / (self.order - 1))  # noqa: PLR2004
        free = np.minimum(self.cap, power)
        return np.where(whole[:, None], self.cap * (size > 0), free)

    def _levels(self, size: Vector) -> Vector:
        """Return t with ‖min(cap, (|θ|/t)^{1/(order−1)})‖ = 1, row by row; 0 where caps bind all.

        At order 1 it is the size at which filling the largest first comes to 1.
        """
        bounded = np.sum((self.cap * (size > 0)) ** self.order, axis=1) <= 1
        if self.order == 1:
            filled = _filled(self.cap, size)
            touched = np.where(filled > 0, size, np.inf)
            return np.where(bounded, 0.0, np.min(touched, axis=1))
        # at t = ‖θ‖_dual the uncapped sizes have norm 1 already
        high = np.where(bounded, 0.0, NormBall(self.dimension, self.order).support_up(size))
        low = np.zeros(len(size))
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if np.all((middle <= low) | (middle >= high)):
                break
            over = np.sum(self._shared(size, middle) ** self.order, axis=1) > 1
            low, high = np.where(over, middle, low), np.where(over, high, middle)
        return np.asarray(high)


def _scaled(directions: Vector) -> tuple[Vector, Vector]:
    """Return |θ| in parts of its greatest entry, whose powers neither vanish nor overflow."""
    size = np.abs(directions)
    top = np.max(size, axis=1)
    return size / np.where(top > 0, top, 1.0)[:, None], top


def _filled(cap: Vector, size: Vector) -> Vector:
    """Return 0 ≤ x ≤ cap with Σx ≤ 1 that fills the largest first, row by row."""
    order = np.argsort(-size, axis=1, kind="stable")
    used = np.minimum(np.cumsum(cap[order], axis=1), 1.0)
    sizes = np.diff(used, axis=1, prepend=0.0)
    found = np.empty_like(sizes)
    np.put_along_axis(found, order, sizes, axis=1)
    return found * (size > 0)
