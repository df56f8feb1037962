# SPDX-License-Identifier: Apache-2.0
"""First and second moments of the records of a box, and how far they reach (ours).

About the middle c of a box and in its half widths r a record is x = c + r·z with z in [−1, 1]^d,
and its moments are z, the products zᵢzⱼ and the squares t = z². Whatever matrix Y they are seen
through, ‖Ys‖² ≤ ‖YN⁻¹Yᵀ‖·sᵀNs for any N ≻ 0. Taken for N is YᵀY averaged over flips of signs, by
which nothing is lost where it is one already: numbers nᵢ of z and nᵢⱼ of products, and one block of
the squares, with the constant 1 where moments are seen about a point. Then the greatest form is

* of moments, Σ nᵢtᵢ + Σ nᵢⱼtᵢtⱼ + ‖W(t, 1)‖²: convex in each tᵢ, so that t is made of 0 and 1;
* of differences, with z = b + a and z' = b − a, |aᵢ| + |bᵢ| ≤ 1,
  4Σ nᵢaᵢ² + 4Σ nᵢⱼ(aᵢbⱼ + aⱼbᵢ)² + 16Σ Mᵢⱼ(aᵢbᵢ)(aⱼbⱼ). For i < j, (aᵢbᵢ)(aⱼbⱼ) has the number
  8nᵢⱼ + 32Mᵢⱼ, whose size is 8nᵢⱼ + 32eᵢⱼ with eᵢⱼ = max(Mᵢⱼ, −Mᵢⱼ − nᵢⱼ/2); so the form is at most
  4Σ nᵢaᵢ² + 4Σ nᵢⱼ(aᵢ²bⱼ² + aⱼ²bᵢ²) + Σ (8nᵢⱼ + 32eᵢⱼ)|aᵢbᵢaⱼbⱼ| + 16Σ Mᵢᵢaᵢ²bᵢ². It grows with all
  |aᵢ| and |bᵢ|, so that |aᵢ| + |bᵢ| = 1, and with u = 1 − 2|a| it is at most the greatest
  Σ nᵢ(1 − uᵢ)² + Σ nᵢⱼ(1 − uᵢuⱼ)² + Σ eᵢⱼ(1 − uᵢ²)(1 − uⱼ²): one record is a corner, the other is
  u times it. Where no Mᵢⱼ is below −nᵢⱼ/4 nothing is lost, as e is M.

Of up to 6 columns the last is found by bisection: on a cell about m with half sides h, a function
whose second derivative along uᵢ is at least −cᵢ is at most itself plus Σ cᵢ(uᵢ − mᵢ)²/2, which is
convex along each coordinate, hence at most the greatest value at a corner plus Σ cᵢhᵢ²/2. Of more
columns both are bounded in `moment_forms`.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import euclidean
from lownoise.numbers.rounding import LAST, POWER, ROUGH, grown, growth, shrunk
from lownoise.sets.bodies.moment_forms import (
    Averaged,
    Greatest,
    apart_up,
    block_form,
    corners,
    greatest,
    moments_up,
)
from lownoise.sets.bodies.reach import AbstractSet, Farthest

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape

MOST_SEARCHED = 6  # columns, whose corners and faces are listed
_FEW_ROWS = 16


class AbstractMomentSet(AbstractSet):
    """{(x, (xᵢ − cᵢ)(xⱼ − cⱼ) for i ≤ j) : x = c + r·z}, z of a set that flips of signs leave.

    A point is encoded as its z, of sizes 1 at most.

    Args:
        middle: c, shape (d,).
        half: r, rounded up, shape (d,).
        within: the same, rounded down.
        square: what zᵢ² are compared with, between 0 and 1.
        product: the greatest |zᵢzⱼ|, i < j.
    """

    def __init__(
        self, middle: Vector, half: Vector, within: Vector, square: float, product: float
    ) -> None:
        self.middle, self.half = frozen(middle), frozen(half)
        left, right = np.triu_indices(middle.size)
        self.left, self.right = left, right
        products = self.half[left] * self.half[right]
        self.scale = frozen(np.append(self.half, products))
        self.inner = frozen(shrunk(np.append(within, within[left] * within[right]), LAST))
        own = left == right
        self.center = frozen(np.append(self.middle, np.where(own, products * square, 0.0)))
        far = np.where(own, max(square, 1 - square), product)
        self.extent = frozen(grown(np.append(self.half, products * far), POWER))

    @abstractmethod
    def form_up(
        self, singles: Vector, products: Vector, gram: Vector, doubt: Vector | float = 0.0
    ) -> Greatest:
        """Return at least the greatest form of differences, and the u of it, or of some.

        Args:
            singles: nᵢ of each z, at least 0, shape (d,).
            products: nᵢⱼ of each product of two, shape (d(d − 1)/2,).
            gram: M of the squares, shape (d, d).
            doubt: how far off each entry of it can be.
        """

    @abstractmethod
    def moments_up(self, singles: Vector, products: Vector, gram: Vector, doubt: Vector) -> float:
        """Return at least the greatest form of moments and a constant 1.

        Args:
            singles: as of `form_up`.
            products: likewise.
            gram: of the squares and the constant, shape (d + 1, d + 1).
            doubt: how far off each entry of it can be.
        """

    @abstractmethod
    def along_up(self, theta: Vector) -> float:
        """Return at least the greatest Σ θᵢzᵢ + Σ θᵢⱼzᵢzⱼ + Σ θᵢᵢzᵢ²; shape (D,)."""

    @abstractmethod
    def _pair(self, u: Vector) -> Vector:
        """Return the codes of pairs whose form is great, by the u of `form_up`, shape (n, 2, d)."""

    @abstractmethod
    def extreme_up(self, direction: Vector) -> Vector:
        """Return the z of a point that is extreme along θ, by a longer search."""

    @property
    @abstractmethod
    def corners(self) -> tuple[Vector, Vector]:
        """Codes of some points far out, and their moments."""

    @property
    def width(self) -> int:
        """The columns."""
        return int(self.middle.size)

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

    @property
    def searched(self) -> bool:
        """Whether columns are so few that corners and faces of a box are listed."""
        return False

    @property
    def spanning(self) -> Vector:
        """Points that span all, and are on the box of all, or in the ball that it has in it."""
        one = np.eye(self.width)
        left, right = self.pairs
        return np.vstack([0 * one[:1], one, -one, one[left] + one[right]])

    @cached_property
    def sides(self) -> tuple[Vector, Vector] | None:
        """The least and greatest of each moment, of many columns, shapes (D,)."""
        if self.searched:
            return None
        high = self.center + self.extent
        low = np.where(self._square, 0.0, self.center - self.extent)
        return frozen(low), frozen(high)

    @property
    def _square(self) -> Chosen:
        return np.append(np.zeros(self.width, dtype=bool), self.left == self.right)

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

    def farthest(self, matrix: Vector, center: Vector) -> Farthest:
        """Return moments far out, and a bound by the average over signs."""
        y = matrix * self.scale
        offset = -center.copy()
        offset[: self.width] += self.middle
        a = matrix @ offset
        lost = growth(self.dimension + 9) * (np.abs(matrix) @ np.abs(offset))
        upper = self._bounded(y, a) + grown(euclidean(lost), ROUGH)
        if len(matrix) <= _FEW_ROWS:
            ends = [max(self.support_up(s * row, center) for s in (1, -1)) for row in matrix]
            upper = min(upper, grown(euclidean(np.maximum(np.array(ends), 0.0)), POWER))
        z, held = self.corners
        image = (held - center) @ matrix.T
        return Farthest(z[np.argmax(np.sum(image * image, axis=1))], _squared(upper))

    def farthest_pair(self, matrix: Vector) -> Farthest:
        """Return moments of a corner and of a point of its cube, and a bound likewise."""
        y = matrix * self.scale
        upper, u = self._bounded_pair(y)
        if len(matrix) <= _FEW_ROWS:
            zero = self.center
            ends = [self.support_up(row, zero) + self.support_up(-row, zero) for row in matrix]
            upper = min(upper, grown(euclidean(np.maximum(np.array(ends), 0.0)), POWER))
        return Farthest(self._pair(u), _squared(upper))

    def radius_up(
        self, shape: AbstractShape, origin: Vector | None = None, count: float = 0.0
    ) -> float | None:
        """Return at least how far differences reach, or moments about a point and their count.

        Where noise is independent but for a block of the squares and the count. Of moments of few
        columns, lengths say as much.
        """
        places = np.append(self.squares, self.dimension) if count else self.squares
        parts = shape.parts(places)
        if parts is None or (origin is not None and (self.searched or not self.flips(origin))):
            return None
        alone, white = parts[0], parts[1].whitening
        if not (np.all(alone > 0) and white.defect < 1):
            return np.inf
        return grown(
            self._longest_up(alone, white.matrix, origin, count) / (1 - white.defect), POWER
        )

    def length_up(self, step: Vector, origin: Vector | None = None, count: float = 0.0) -> float:
        """Return at least the greatest length of differences, or about a point, in steps."""
        if origin is not None and not self.flips(origin):
            return np.inf
        kept = np.append(np.arange(self.width), self.products)
        white = np.ones(self.width + bool(count))
        white[: self.width] /= step[self.squares]
        return self._longest_up(step[kept], np.diag(white), origin, count)

    def _longest_up(
        self, alone: Vector, white: Vector, origin: Vector | None, count: float
    ) -> float:
        """Return at least the greatest length where squares and the count are seen through a map.

        Args:
            alone: what all other coordinates are divided by, above 0.
            white: the map, shape (k, k).
            origin: where moments are about a point, the middle.
            count: what a record counts, or 0.
        """
        d = self.width
        kept = np.append(np.arange(d), self.products)
        numbers = grown(np.square(self.scale[kept] / alone), 2.0**-49)
        unit = self.scale[self.squares]
        seen, size = white[:, :d] * unit, np.abs(white[:, :d]) * unit
        if origin is not None:
            constant = np.append(-origin[self.squares], count)
            seen = np.column_stack([seen, white @ constant])
            size = np.column_stack([size, np.abs(white) @ np.abs(constant)])
        gram = seen.T @ seen
        doubt = growth(3 * d + 30) * (size.T @ size)
        if origin is not None:
            found = self.moments_up(numbers[:d], numbers[d:], gram, doubt)
        else:
            found = self.form_up(numbers[:d], numbers[d:], gram, doubt).upper
        return grown(float(np.sqrt(found)), POWER)

    def flips(self, origin: Vector) -> bool:
        """Return whether flips of signs leave moments about a point as they are; shape (D,)."""
        kept = self.width + np.flatnonzero(self.left < self.right)
        same = np.array_equal(origin[: self.width], self.middle)
        return bool(same and not np.any(origin[kept]))

    def _table(self, products: Vector) -> Vector:
        left, right = self.pairs
        table = np.zeros((self.width, self.width))
        table[left, right] = table[right, left] = products
        return table

    def support_up(self, direction: Vector, about: Vector) -> float:
        """Return at least max ⟨θ, s − about⟩ over moments s."""
        d = self.width
        theta = direction * self.scale
        off = -about.copy()
        off[:d] += self.middle
        size = float(np.sum(np.abs(theta)))
        lost = growth(2 * self.dimension + 20) * (size + float(np.abs(direction) @ np.abs(off)))
        return float(direction @ off) + self.along_up(theta) + 2 * lost

    def extreme(self, direction: Vector) -> Vector:
        """Return the z of a point far out that is extreme along θ among those."""
        z, ends = self.corners
        return np.asarray(z[np.argmax(ends @ direction)])

    def _bounded(self, y: Vector, a: Vector) -> float:
        """Return at least max ‖Ys + a‖ over s = (z, zᵢzⱼ, z²)."""
        seen = Averaged(y, np.hstack([y[:, self.squares], a[:, None]]), self)
        gram, doubt = block_form(seen.block)
        return seen.length_up(self.moments_up(seen.singles, seen.products, gram, doubt))

    def _bounded_pair(self, y: Vector) -> tuple[float, Vector]:
        """Return at least max ‖Y(s − s')‖, and the u of the bound."""
        seen = Averaged(y, y[:, self.squares], self)
        found = self.form_up(seen.singles, seen.products, *block_form(seen.block))
        # differences of moments are up to twice as far as moments are
        return seen.length_up(found.upper, times=2.0), found.at


@final
class MomentSet(AbstractMomentSet):
    """Moments of a box, z of [−1, 1]^d.

    Args:
        lower: of the box, shape (d,).
        upper: above it in each coordinate, shape (d,).
    """

    def __init__(self, lower: Vector, upper: Vector) -> None:
        self.lower, self.upper = lower, upper
        middle = lower + (upper - lower) / 2
        half = np.nextafter(np.maximum(upper - middle, middle - lower), np.inf)
        within = shrunk(np.minimum(upper - middle, middle - lower), LAST)
        super().__init__(middle, half, within, 0.5, 1.0)

    @property
    def searched(self) -> bool:
        """Whether columns are so few that corners and faces are listed."""
        return self.width <= MOST_SEARCHED

    @cached_property
    def spanning(self) -> Vector:
        """Corners of the box and of its faces: all of them, where there are few."""
        if not self.searched:
            return super().spanning
        return np.asarray(1.0 - np.indices((3,) * self.width).reshape(self.width, -1).T)

    def place(self, encoded: Vector) -> Vector:
        """Return the moments of c + r·z, brought into the box."""
        x = np.clip(self.middle + self.half * np.clip(encoded, -1.0, 1.0), self.lower, self.upper)
        return self.moments(x)

    def moments_up(self, singles: Vector, products: Vector, gram: Vector, doubt: Vector) -> float:
        """Return at least the greatest form of moments and a constant 1."""
        if not self.searched:
            return moments_up(singles, self._table(products), gram, doubt)
        d = self.width
        t = np.indices((2,) * d).reshape(d, -1).T.astype(np.float64)
        left, right = self.pairs
        held = np.hstack([t, np.ones((len(t), 1))])
        forms = t @ singles + (t[:, left] * t[:, right]) @ products
        top = float(np.max(forms + np.sum((held @ gram) * held, axis=1)))
        size = float(np.sum(singles) + np.sum(products) + np.sum(np.abs(gram)))
        return top + float(np.sum(doubt)) + growth(4 * d * d + 40) * size

    def _pair(self, u: Vector) -> Vector:
        signs = corners(self.width) if self.searched else np.ones((1, self.width))
        return np.stack([signs, signs * u], axis=1)

    def along_up(self, theta: Vector) -> float:
        """Return at least the greatest of a form along θ."""
        if self.searched:
            return _along_up(self.width, theta.astype(np.float64).tobytes())
        return float(np.sum(np.where(self._square, np.maximum(theta, 0.0), np.abs(theta))))

    def extreme_up(self, direction: Vector) -> Vector:
        """Return the z of a point that is extreme along θ, by a longer search."""
        return _greatest_along(self.width, direction * self.scale).at

    @cached_property
    def corners(self) -> tuple[Vector, Vector]:
        """Codes of some corners, and their moments."""
        one = np.ones(self.width)
        z = self.spanning if self.searched else np.vstack([one, -one, 0 * one, one - np.diag(one)])
        return z, self.place(z)

    def form_up(
        self, singles: Vector, products: Vector, gram: Vector, doubt: Vector | float = 0.0
    ) -> Greatest:
        """Return at least the greatest form of differences, and the u of it, or of some."""
        d = self.width
        left, right = self.pairs
        table = self._table(products)
        apart = np.maximum(gram, -gram - table / 2) * (1 - np.eye(d))
        block = apart + np.diag(np.maximum(np.diag(gram), 0.0)) + doubt
        if not self.searched:
            return Greatest(np.zeros(d), apart_up(singles, table, block))
        above = block - np.diag(np.diag(block))
        below, above = np.maximum(-above, 0.0), np.maximum(above, 0.0)

        def value(u: Vector) -> Vector:
            q = 1 - np.square(u)
            own = np.square(1 - u) @ singles + np.sum((q @ block) * q, axis=1)
            return np.asarray(own + np.square(1 - u[:, left] * u[:, right]) @ products)

        def bend(middle: Vector, half: Vector) -> Vector:
            near = np.square(np.maximum(np.abs(middle) - half, 0.0))
            far = np.square(np.minimum(np.abs(middle) + half, 1.0))
            own = np.diag(block) * (4 - 12 * near) + 4 * (1 - near) @ above - 4 * (1 - far) @ below
            return np.asarray(np.maximum(own - 2 * singles - 2 * near @ table, 0.0))

        size = 4 * float(np.sum(singles) + np.sum(products)) + float(np.sum(np.abs(block)))
        found = greatest(value, bend, d, size / (d + 1))
        return Greatest(found.at, found.upper + growth(8 * d * d + 60) * size)


@lru_cache(maxsize=4096)  # a search asks again what it asked, and so does what proves its end
def _along_up(d: int, form: bytes) -> float:
    """Return the bound of `_greatest_along`, of a form in bytes. No data have a part in it."""
    return _greatest_along(d, np.frombuffer(form)).upper


def _greatest_along(d: int, theta: Vector) -> Greatest:
    """Return at least the greatest Σ θᵢzᵢ + Σ θᵢⱼzᵢzⱼ + Σ θᵢᵢzᵢ² over z of [−1, 1]^d."""
    left, right = np.triu_indices(d)
    apart, own = left < right, theta[d:]
    table = np.zeros((d, d))
    table[left[apart], right[apart]] = own[apart]
    squares = own[~apart]
    bends = np.maximum(-2 * squares, 0.0)

    def value(z: Vector) -> Vector:
        found = z @ theta[:d] + np.sum((z @ table) * z, axis=1)
        return np.asarray(found + np.square(z) @ squares)

    size = float(np.sum(np.abs(theta)))
    if not size:
        return Greatest(np.zeros(d), 0.0)
    return greatest(value, lambda m, _: np.broadcast_to(bends, m.shape), d, size)


def _squared(upper: float) -> float:
    return grown(upper * upper, LAST)
