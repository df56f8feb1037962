# SPDX-License-Identifier: Apache-2.0
"""First and second moments of the records of a ball, and how far they are from each other (ours).

In radii about its center a record is z, |z| ≤ 1, and Z = zzᵀ. Whatever numbers noise has, they are
at most those of a form that rotations leave as it is: n on z, a on the part of Z without trace,
(with numbers m of the products beside the diagonal: a ≥ m/2 at least, as Σ Z₀² counts each of them
twice), and b on the trace; what is left is bounded by its size. With κ = b + a(1 − 1/d):

* moments about a point of the trace, and their count: n|z|² + κ|z|⁴ + 2e|z|² + f is convex in |z|²,
  and greatest at 0 or 1;
* differences, r = |z| ≥ r' = |z'|, y = ⟨z, z'⟩, cost
  n(r² + r'² − 2y) + κ(r⁴ + r'⁴) − 2(κ − a)r²r'² − 2ay², which is concave in y. Where y = −rr' is
  best it is n(r + r')² + κ(r² − r'²)², which rises with r, and so at most the greatest
  g(u) = (1 + u)²(n + κ(1 − u)²) over 0 ≤ u ≤ 1. Else y = −n/(2a), rr' ≥ n/(2a), and what is left is
  convex in (r², r'²), as |κ − a| ≤ κ where d ≥ 2: greatest at r = r' = 1, or where rr' = n/(2a),
  which is the first case. So with h = 2n + n²/(2a) + 2a where n ≤ 2a the greatest is max g or h.
  g' is 0 inside at u(1 − u) = n/(2κ) alone: its greatest value is at the lesser root, or at 1.
  Floats are off in g by a square of what they are off in u.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import FEW, grown, growth, shrunk
from lownoise.sets.bodies.moment_forms import Greatest
from lownoise.sets.bodies.moments import AbstractMomentSet
from lownoise.sets.bodies.reach import Farthest

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_INSIDE = shrunk(1.0, FEW)
_HALVINGS = 100
LEAST_COLUMNS = 2  # of one column a ball is a box


@final
class BallMomentSet(AbstractMomentSet):
    """Moments of a ball, z of the unit ball in d ≥ 2 columns.

    Args:
        middle: its center, shape (d,).
        radius: above 0.
        off: how far from the ball records can be that were clipped to it, shape (d,).
    """

    def __init__(self, middle: Vector, radius: float, off: Vector) -> None:
        d = middle.size
        half = np.full(d, np.nextafter(radius, np.inf))
        super().__init__(middle, half, np.full(d, shrunk(radius, FEW)), 1 / d, 0.5)
        self._off = off

    @property
    def spanning(self) -> Vector:
        """Points of the ball that span all."""
        return shrunk(super().spanning * math.sqrt(0.5), FEW)

    @cached_property
    def sides(self) -> tuple[Vector, Vector] | None:
        """The least and greatest of each moment, shapes (D,)."""
        low, high = self.center - self.extent, self.center + self.extent
        return frozen(np.where(self._square, 0.0, low)), frozen(high)

    @cached_property
    def doubt(self) -> Vector:
        """What clipping rounds, and what products make of it."""
        off, far = self._off, self.half + self._off
        left, right = self.left, self.right
        products = (
            off[left] * far[right] + off[right] * far[left] + self.scale[self.width :] * 2**-49
        )
        return frozen(grown(np.append(off, products)))

    def place(self, encoded: Vector) -> Vector:
        """Return the moments of c + r·z, brought into the ball."""
        size = np.linalg.norm(encoded, axis=-1, keepdims=True)
        z = encoded * (_INSIDE / np.maximum(size, 1.0))
        return self.moments(self.middle + self.half * z)

    def moments_up(self, singles: Vector, products: Vector, gram: Vector, doubt: Vector) -> float:
        """Return at least the greatest form of moments and a constant 1."""
        d = self.width
        n, _, kappa, left = self._hull(singles, products, gram[:d, :d])
        cross, last = gram[:d, d], float(gram[d, d])
        beside = float(np.mean(cross))
        left += 2 * float(np.linalg.norm(cross - beside)) + float(np.sum(doubt))
        size = float(n + kappa + 2 * abs(beside) + abs(last)) + left
        return max(last, n + kappa + 2 * beside + last) + left + growth(9 * d * d + 99) * size

    def form_up(
        self, singles: Vector, products: Vector, gram: Vector, doubt: Vector | float = 0.0
    ) -> Greatest:
        """Return at least the greatest form of differences, and (u, y) of it."""
        d = self.width
        n, a, kappa, left = self._hull(singles, products, gram)
        left += float(np.linalg.norm(np.broadcast_to(doubt, (d, d))))
        u = lesser_root(n, kappa)
        opposite, apart = long_way(n, kappa, u), other_way(n, a)
        found = max(opposite, long_way(n, kappa, 1.0), apart)
        at = np.array(
            [u, -u] if opposite >= found else [1.0, -min(n / (2 * a), 1.0) if a else -1.0]
        )
        # squares change by 2 at most together, so that what is left of their form does by 2 of it
        return Greatest(at, grown((found + 2 * left) * (1 + growth(9 * d * d + 99))))

    def _hull(
        self, singles: Vector, products: Vector, gram: Vector
    ) -> tuple[float, float, float, float]:
        """Return n, a and κ of a form that is at least this one, but for the size that is left."""
        d = self.width
        whole, trace = float(np.sum(gram)) / d, float(np.trace(gram))
        apart = (trace - whole) / (d - 1)
        even = apart * (np.eye(d) - 1 / d) + np.full((d, d), whole / d)
        left = float(np.linalg.norm(gram - even)) + growth(d * d + 20) * float(
            np.linalg.norm(gram) + np.linalg.norm(even)
        )
        a = grown(max(apart, float(np.max(products)) / 2, 0.0))
        kappa = grown(max(whole / d, 0.0) + a * (1 - 1 / d))
        return float(np.max(singles)), a, kappa, left

    def _pair(self, u: Vector) -> Vector:
        length, along = float(u[0]), float(u[1])
        pair = np.zeros((1, 2, self.width))
        pair[0, 0, 0], pair[0, 1, 0] = 1.0, along
        pair[0, 1, 1] = math.sqrt(max(length**2 - along**2, 0.0))
        return pair

    def along_up(self, theta: Vector) -> float:
        """Return at least the greatest of a form along θ: by one multiplier of |z|² ≤ 1."""
        values, linear, size = self._turned(theta)
        if not size:
            return 0.0
        lam = _multiplier(values, linear, size)
        found = lam + float(np.sum(np.square(linear) / (4 * (lam - values))))
        return grown(found) + growth(60 * self.width * self.width) * size

    def sums_up(self, step: Vector, origin: Vector) -> Farthest | None:
        """Return at least the greatest Σ|sᵢ|/stepᵢ about a point, and sizes of which it is made.

        A form of |z|, as signs do not matter: a square t = zᵢ², 0 ≤ t ≤ 1, is off c by no more than
        c + (1 − 2c)t, which is |t − c| at both ends.
        """
        theta, square = self.scale / step, self._square
        about = np.where(square, origin / step, 0.0)
        if np.any(about < 0) or np.any(about > theta):
            return None
        ends = np.where(square, theta - 2 * about, theta)
        size, z = float(np.sum(theta)), self.extreme_up(ends / self.scale)
        sizes = np.abs(np.append(z, z[self.left] * z[self.right]))
        upper = self.along_up(ends) + float(np.sum(about)) + growth(self.dimension + 20) * size
        return Farthest((ends * sizes + about) * step, upper)

    def extreme_up(self, direction: Vector) -> Vector:
        """Return the z of a point that is extreme along θ, or nearly."""
        theta = direction * self.scale
        form, linear = self._form(theta), theta[: self.width]
        values, axes = np.linalg.eigh(form)
        size = float(np.linalg.norm(theta))
        if not size:
            return np.zeros(self.width)
        lam = _multiplier(values, axes.T @ linear, size)
        z = axes @ ((axes.T @ linear) / (2 * (lam - values)))
        rest = math.sqrt(max(1 - float(z @ z), 0.0)) if values[-1] > 0 else 0.0
        ends = np.stack([z + rest * axes[:, -1], z - rest * axes[:, -1]])
        ends /= np.maximum(np.linalg.norm(ends, axis=1, keepdims=True), 1.0)
        return np.asarray(ends[np.argmax(ends @ linear + np.sum((ends @ form) * ends, axis=1))])

    def _form(self, theta: Vector) -> Vector:
        found = np.zeros((self.width, self.width))
        found[self.left, self.right] += theta[self.width :] / 2
        return found + found.T

    def _turned(self, theta: Vector) -> tuple[Vector, Vector, float]:
        values, axes = np.linalg.eigh(self._form(theta))
        linear = axes.T @ theta[: self.width]
        return values, linear, float(np.linalg.norm(theta))

    @cached_property
    def corners(self) -> tuple[Vector, Vector]:
        """Codes of ends of the axes and between them, and the center; and their moments."""
        one = np.eye(self.width)
        even = np.ones((1, self.width)) / math.sqrt(self.width)
        z = np.vstack([one, -one, even, -even, 0 * even])
        return z, self.place(z)


def lesser_root(n: float, kappa: float) -> float:
    """Return the lesser u with u(1 − u) = n/(2κ), or ½.

    Examples:
        >>> lesser_root(0.0, 1.0), lesser_root(1.0, 1.0), round(lesser_root(0.32, 1.0), 9)
        (0.0, 0.5, 0.2)
    """
    return (1 - math.sqrt(max(1 - 2 * n / kappa, 0.0))) / 2 if kappa > 0 else 1.0


def long_way(n: float, kappa: float, u: float) -> float:
    """Return g(u), what z and −u·z cost, |z| = 1."""
    return (1 + u) ** 2 * (n + kappa * (1 - u) ** 2)


def other_way(n: float, a: float) -> float:
    """Return h, what two records of length 1 cost that are no opposites; 0 where opposites do."""
    return 2 * n + n * n / (2 * a) + 2 * a if a > 0 and n <= 2 * a else 0.0


def _multiplier(values: Vector, linear: Vector, size: float) -> float:
    """Return λ above all values, about where Σ linear²/(4(λ − value)²) is 1, and at least 0."""
    low = max(float(values[-1]), 0.0) + 2.0**-40 * size
    high = low + float(np.linalg.norm(linear))
    for _ in range(_HALVINGS):
        lam = (low + high) / 2
        if np.sum(np.square(linear / (2 * (lam - values)))) > 1:
            low = lam
        else:
            high = lam
    return high
