# SPDX-License-Identifier: Apache-2.0
"""First and second moments of the records of a box, and how far they reach (ours).

About the middle c of a box and in its half widths r a record is x = c + r·z with z in [−1, 1]^d,
and its moments are z, the products zᵢzⱼ and the squares t = z². Whatever matrix Y they are seen
through, ‖Ys‖² ≤ ‖YN⁻¹Yᵀ‖·sᵀNs for any N ≻ 0. Taken for N is YᵀY averaged over flips of signs, by
which nothing is lost where it is one already: numbers nᵢ of z and nᵢⱼ of products, and one block of
the squares, with the constant 1 where moments are seen about a point. Then the greatest form is

* of moments, Σ nᵢtᵢ + Σ nᵢⱼtᵢtⱼ + ‖W(t, 1)‖²: convex in each tᵢ, so that t is made of 0 and 1;
* of differences, with z = b + a and z' = b − a, |aᵢ| + |bᵢ| ≤ 1,
  4Σ nᵢaᵢ² + 4Σ nᵢⱼ(aᵢbⱼ + aⱼbᵢ)² + 16Σ Mᵢⱼ(aᵢbᵢ)(aⱼbⱼ). With |M| for M it grows with all |aᵢ| and
  |bᵢ|, so that |aᵢ| + |bᵢ| = 1, and with u = 1 − 2|a| it is at most the greatest
  Σ nᵢ(1 − uᵢ)² + Σ nᵢⱼ(1 − uᵢuⱼ)² + Σ |M|ᵢⱼ(1 − uᵢ²)(1 − uⱼ²): one record is a corner, the other is
  u times it. Where M has no entry below 0 nothing is lost.

The last is found by bisection: on a cell about m with half sides h, a function whose second
derivative along uᵢ is at least −cᵢ is at most itself plus Σ cᵢ(uᵢ − mᵢ)²/2, which is convex along
each coordinate, hence at most the greatest value at a corner plus Σ cᵢhᵢ²/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import euclidean
from lownoise.numbers.rounding import growth, spectral_up
from lownoise.sets.bodies.abstract import AbstractSet, Farthest

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector

_FAINT = 2.0**-40  # of the greatest number of a form, so that none vanishes
_NEAR = 2.0**-20  # how near the greatest value a search comes
_MOST_CELLS = 1 << 14
_MOST_ROUNDS = 200
_FEW_ROWS = 16
_CLIMBS = 6


@final
@dataclass(frozen=True, eq=False)
class Greatest:
    """What a search over a cube found.

    Args:
        at: where the function is great, shape (d,).
        upper: at least its greatest value.
    """

    at: Vector
    upper: float


def greatest(
    value: Callable[[Vector], Vector],
    bend: Callable[[Vector, Vector], Vector],
    dimension: int,
    size: float,
) -> Greatest:
    """Return at least the greatest value of a function over [−1, 1]^d, and a point near it.

    The bound is one wherever the search ends: of a cell it is the greatest value at a corner and
    Σ cᵢhᵢ²/2. What values round off is the caller's to add.

    Args:
        value: of points, shapes (n, d) and (n,).
        bend: of cells, their middles and half sides, shapes (n, d): at least c ≥ 0, −c being below
            every second derivative along a coordinate.
        dimension: d.
        size: of the function, in parts of which the search is near its end.

    Examples:
        >>> found = greatest(lambda u: u[:, 0] - u[:, 0] ** 2, lambda m, h: np.full(m.shape, 2.0),
        ...                  1, 1.0)
        >>> 0.25 <= found.upper < 0.25 + 1e-6
        True
    """
    corners = _corners(dimension)
    middle, half = np.zeros((1, dimension)), np.ones((1, dimension))
    best, at, upper = -np.inf, np.zeros(dimension), -np.inf
    for _ in range(_MOST_ROUNDS):
        ends = (middle[:, None, :] + corners * half[:, None, :]).reshape(-1, dimension)
        values = value(ends)
        top = int(np.argmax(values))
        if values[top] > best:
            best, at = float(values[top]), ends[top]
        c = bend(middle, half) * np.square(half) / 2
        bounds = np.max(values.reshape(len(middle), -1), axis=1) + np.sum(c, axis=1)
        open_ = bounds > best + _NEAR * size
        upper = max(upper, float(np.max(bounds[~open_], initial=-np.inf)))
        if not np.any(open_):
            return Greatest(at, max(upper, best))
        middle, half, c, bounds = middle[open_], half[open_], c[open_], bounds[open_]
        if len(middle) * len(corners) * dimension > _MOST_CELLS * 64:
            break
        side = np.argmax(c, axis=1)
        rows = np.arange(len(middle))
        half[rows, side] /= 2
        step = np.zeros_like(half)
        step[rows, side] = half[rows, side]
        middle, half = np.vstack([middle - step, middle + step]), np.vstack([half, half])
    return Greatest(at, max(upper, best, float(np.max(bounds))))


def _corners(dimension: int) -> Vector:
    return np.asarray(1.0 - 2.0 * np.indices((2,) * dimension).reshape(dimension, -1).T)


@final
class MomentSet(AbstractSet):
    """{(x, (xᵢ − cᵢ)(xⱼ − cⱼ) for i ≤ j) : x in a box}; a point is encoded as its z.

    Args:
        lower: of the box, shape (d,).
        upper: above it in each coordinate, shape (d,).
    """

    def __init__(self, lower: Vector, upper: Vector) -> None:
        self.lower, self.upper = lower, upper
        self.middle = frozen(lower + (upper - lower) / 2)
        half = np.maximum(upper - self.middle, self.middle - lower)
        self.half = frozen(np.nextafter(half, np.inf))
        d = lower.size
        left, right = np.triu_indices(d)
        self.left, self.right = left, right
        products = self.half[left] * self.half[right]
        self.scale = frozen(np.append(self.half, products))
        square = left == right
        self.center = frozen(np.append(self.middle, np.where(square, products / 2, 0.0)))
        far = np.append(self.half, np.where(square, products / 2, products))
        self.extent = frozen(far * (1 + 2.0**-45))

    @property
    def width(self) -> int:
        """The columns of the box."""
        return int(self.lower.size)

    @cached_property
    def products(self) -> Integers:
        """Where products of two columns stand, rising."""
        return np.flatnonzero(self.left < self.right) + self.width

    @cached_property
    def squares(self) -> Integers:
        """Where squares stand, rising."""
        return np.flatnonzero(self.left == self.right) + self.width

    @cached_property
    def pairs(self) -> tuple[Integers, Integers]:
        """The columns of each product of two."""
        apart = self.left < self.right
        return self.left[apart], self.right[apart]

    @cached_property
    def spanning(self) -> Vector:
        """Corners of the box and of its faces: all of them, where there are few."""
        return np.asarray(1.0 - np.indices((3,) * self.width).reshape(self.width, -1).T)

    @cached_property
    def doubt(self) -> Vector:
        """What differences and products round; x itself is in the box."""
        off = self.scale * 2.0**-49
        off[: self.width] = 0.0
        return frozen(off)

    def moments(self, rows: Vector) -> Vector:
        """Return the moments of rows of the box, shapes (..., d) and (..., d + d(d + 1)/2)."""
        about = rows - self.middle
        return np.concatenate([rows, about[..., self.left] * about[..., self.right]], axis=-1)

    def place(self, encoded: Vector) -> Vector:
        """Return the moments of c + r·z, brought into the box."""
        x = np.clip(self.middle + self.half * np.clip(encoded, -1.0, 1.0), self.lower, self.upper)
        return self.moments(x)

    def farthest(self, matrix: Vector, center: Vector) -> Farthest:
        """Return moments far out, and a bound by the average over signs."""
        y = matrix * self.scale
        offset = -center.copy()
        offset[: self.width] += self.middle
        a = matrix @ offset
        lost = growth(self.dimension + 9) * (np.abs(matrix) @ np.abs(offset))
        upper = self._bounded(y, a) + euclidean(lost) * (1 + 2.0**-30)
        if len(matrix) <= _FEW_ROWS:
            ends = [max(self.support_up(s * row, center) for s in (1, -1)) for row in matrix]
            upper = min(upper, euclidean(np.maximum(np.array(ends), 0.0)) * (1 + 2.0**-45))
        z = self.spanning
        image = (self._ends - center) @ matrix.T
        return Farthest(z[np.argmax(np.sum(image * image, axis=1))], _squared(upper))

    def farthest_pair(self, matrix: Vector) -> Farthest:
        """Return moments of a corner and of a point of its cube, and a bound likewise."""
        y = matrix * self.scale
        upper, u = self._bounded_pair(y)
        if len(matrix) <= _FEW_ROWS:
            zero = self.center
            ends = [self.support_up(row, zero) + self.support_up(-row, zero) for row in matrix]
            upper = min(upper, euclidean(np.maximum(np.array(ends), 0.0)) * (1 + 2.0**-45))
        signs = _corners(self.width)
        return Farthest(np.stack([signs, signs * u], axis=1), _squared(upper))

    @property
    def flips(self) -> MomentFlips:
        """What noise is asked that flips of signs leave as it is."""
        return MomentFlips(self)

    def support_up(self, direction: Vector, about: Vector) -> float:
        """Return at least max ⟨θ, s − about⟩ over moments s."""
        d = self.width
        theta = direction * self.scale
        off = -about.copy()
        off[:d] += self.middle
        size = float(np.sum(np.abs(theta)))
        lost = growth(2 * self.dimension + 20) * (size + float(np.abs(direction) @ np.abs(off)))
        found = self._greatest_along(theta)
        return float(direction @ off) + found.upper + 2 * lost

    def extreme(self, direction: Vector) -> Vector:
        """Return the z of a corner, of the box or of a face, that is extreme along θ."""
        return np.asarray(self.spanning[np.argmax(self._ends @ direction)])

    def extreme_up(self, direction: Vector) -> Vector:
        """Return the z of a point that is extreme along θ, by a longer search."""
        return self._greatest_along(direction * self.scale).at

    @cached_property
    def _ends(self) -> Vector:
        return self.place(self.spanning)

    def _greatest_along(self, theta: Vector) -> Greatest:
        """Return at least the greatest Σ θᵢzᵢ + Σ θᵢⱼzᵢzⱼ + Σ θᵢᵢzᵢ²."""
        d = self.width
        left, right = self.pairs
        table = np.zeros((d, d))
        table[left, right] = theta[self.products]
        bends = np.maximum(-2 * theta[self.squares], 0.0)

        def value(z: Vector) -> Vector:
            own = z @ theta[:d] + np.sum((z @ table) * z, axis=1)
            return np.asarray(own + np.square(z) @ theta[self.squares])

        size = float(np.sum(np.abs(theta)))
        if not size:
            return Greatest(np.zeros(d), 0.0)
        return greatest(value, lambda m, _: np.broadcast_to(bends, m.shape), d, size)

    def _bounded(self, y: Vector, a: Vector) -> float:
        """Return at least max ‖Ys + a‖ over s = (z, zᵢzⱼ, z²)."""
        d = self.width
        seen = _Averaged(y, np.hstack([y[:, self.squares], a[:, None]]), self)
        t = np.indices((2,) * d).reshape(d, -1).T.astype(np.float64)
        left, right = self.pairs
        forms = t @ seen.singles + (t[:, left] * t[:, right]) @ seen.products
        w = np.hstack([t, np.ones((len(t), 1))]) @ seen.block.T
        top = float(np.max(forms + np.sum(w * w, axis=1)))
        size = np.abs(seen.block).sum(axis=1)
        top += growth(4 * d * d + 40) * float(
            np.sum(seen.singles) + np.sum(seen.products) + size @ size
        )
        return seen.length_up(top)

    def _bounded_pair(self, y: Vector) -> tuple[float, Vector]:
        """Return at least max ‖Y(s − s')‖, and the u of the bound."""
        seen = _Averaged(y, y[:, self.squares], self)
        m = np.abs(seen.block.T @ seen.block)
        m += growth(self.width + 4) * (np.abs(seen.block).T @ np.abs(seen.block))
        found = self.form_up(seen.singles, seen.products, m)
        # differences of moments are up to twice as far as moments are
        return seen.length_up(found.upper, times=2.0), found.at

    def form_up(self, singles: Vector, products: Vector, block: Vector) -> Greatest:
        """Return at least the greatest form of differences, and the u of it.

        Args:
            singles: nᵢ of each z, at least 0, shape (d,).
            products: nᵢⱼ of each product of two, shape (d(d − 1)/2,).
            block: |M| of the squares, no entry below 0, shape (d, d).
        """
        d = self.width
        left, right = self.pairs
        across = block - np.diag(np.diag(block))
        table = np.zeros((d, d))
        table[left, right] = table[right, left] = products

        def value(u: Vector) -> Vector:
            q = 1 - np.square(u)
            own = np.square(1 - u) @ singles + np.sum((q @ block) * q, axis=1)
            return np.asarray(own + np.square(1 - u[:, left] * u[:, right]) @ products)

        def bend(middle: Vector, half: Vector) -> Vector:
            near = np.square(np.maximum(np.abs(middle) - half, 0.0))
            own = np.diag(block) * (4 - 12 * near) + 4 * (1 - near) @ across
            return np.asarray(np.maximum(own - 2 * singles - 2 * near @ table, 0.0))

        size = 4 * float(np.sum(singles) + np.sum(products)) + float(np.sum(block))
        found = greatest(value, bend, d, size / (d + 1))
        return Greatest(found.at, found.upper + growth(8 * d * d + 60) * size)


@final
class MomentFlips:
    """Differences of moments as noise sees them that treats all flips of signs alike.

    Args:
        of: the moments.
    """

    def __init__(self, of: MomentSet) -> None:
        self._of = of

    @property
    def first(self) -> Vector:
        """Some u to begin with, shape (n, d)."""
        d = self._of.width
        return np.vstack([_corners(d)[1:], np.zeros((1, d))])

    def squared(self, u: Vector) -> Vector:
        """Return the squares of what a corner and u times it differ by, shapes (n, d), (n, D)."""
        of = self._of
        products = 1 - u[:, of.left] * u[:, of.right]
        return np.square(np.hstack([1 - u, products]) * of.scale)

    def greatest(self, y: Vector) -> Greatest:
        """Return at least the greatest Σ yₖsₖ² over differences s, shape (D,), and the u of it."""
        of = self._of
        numbers = y * np.square(of.scale) * (1 + 2.0**-50)
        block = np.diag(numbers[of.squares])
        return of.form_up(numbers[: of.width], numbers[of.products], block)

    def codes(self, u: Vector, weights: Vector) -> tuple[Vector, Vector]:
        """Return all pairs of a corner and u times it, and the weight of each: they share one."""
        signs = _corners(self._of.width)
        pairs = np.stack(
            [np.broadcast_to(signs, (len(u), *signs.shape)), u[:, None, :] * signs], axis=2
        )
        return pairs.reshape(-1, 2, self._of.width), np.repeat(weights / len(signs), len(signs))


@final
class _Averaged:
    """YᵀY averaged over flips of signs, and what it bounds.

    Args:
        y: Y, shape (k, n).
        together: the columns of Y that no flip tells apart, and of what is constant, shape (k, m).
        of: the moments.
    """

    def __init__(self, y: Vector, together: Vector, of: MomentSet) -> None:
        d = of.width
        squares = np.sum(y * y, axis=0)
        floor = _FAINT * max(float(np.max(squares)), float(np.sum(together * together)), 1e-280)
        self.singles = squares[:d] + floor
        self.products = squares[of.products] + floor
        alone = np.hstack([y[:, :d], y[:, of.products]])
        numbers = np.append(self.singles, self.products)
        m = together.shape[1]
        rows = np.vstack([together, np.sqrt(floor) * np.eye(m)])
        self.block = np.asarray(np.linalg.qr(rows, mode="r"))
        inverse = np.linalg.inv(self.block)
        x = together @ inverse
        self._rest = np.abs(together - x @ self.block) + growth(m + 4) * (
            np.abs(together) + np.abs(x) @ np.abs(self.block)
        )
        cover = (alone / numbers) @ alone.T + x @ x.T
        size = np.abs(alone) / numbers @ np.abs(alone).T + np.abs(x) @ np.abs(x).T
        self._cover = (cover + cover.T) / 2
        self._doubt = growth(4 * y.shape[1] + 99) * float(np.linalg.norm(size))
        self._size = float(np.linalg.norm(np.sum(np.abs(y), axis=1)))
        self._entries = y.shape[1]

    def length_up(self, form: float, times: float = 1.0) -> float:
        """Return at least the greatest length, where the form is at most this.

        Args:
            form: at least the greatest sᵀNs.
            times: the greatest entry of s.
        """
        own = np.sqrt((spectral_up(self._cover) + self._doubt) * form)
        rest = float(np.linalg.norm(np.sum(self._rest, axis=1)))
        hidden = growth(self._entries + 40) * self._size  # of Y and of the half widths
        return float(own + times * (rest + hidden)) * (1 + 2.0**-45)


def _squared(upper: float) -> float:
    return upper * upper * (1 + 2.0**-50)
