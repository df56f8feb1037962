# SPDX-License-Identifier: Apache-2.0
"""The products of signs that moment tensors of the cube are made of, and their differences."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, quoted
from lownoise.kinds import COUNT, Field
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import TINY
from lownoise.sets.unit_balls.abstract import UNIT_BALLS, AbstractUnitBall
from lownoise.sets.unit_balls.mixtures import best_mixture, least_mixture_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.numbers.arrays import Chosen, Integers, Vector

LISTED = 16  # signs whose 2^16 choices are looked at one by one
_MOST_SIGNS = 1 << 22
_BLOCK = 1 << 22  # numbers in a table of all choices
_FLIPS = 200


@dataclass(frozen=True)
class AbstractParityBall(AbstractUnitBall):
    """The hull of all (Π_{i∈S} xᵢ)_S for x ∈ {−1, 1}^size and their opposites, or differences.

    Args:
        size: d ≥ 1.
        degrees: the sizes of S, in the order of the coordinates; sets of one size are in
            lexicographic order.
    """

    size: int
    degrees: tuple[int, ...]

    @property
    def unconditional(self) -> bool:
        """Signs of single coordinates lead out of it."""
        return False

    @property
    def dimension(self) -> int:
        """The number of sets."""
        return sum(math.comb(self.size, j) for j in self.degrees)

    @property
    @abstractmethod
    def corner(self) -> float:
        """The greatest coordinate; that many unit vectors are in the body, along each axis."""

    @abstractmethod
    def _are_vertices(self, points: Vector) -> Chosen:
        """Return which rows are vertices, or some of them, shape (n,)."""

    @abstractmethod
    def _supported(self, values: Vector) -> Vector:
        """Return the support of rows whose sums for all choices of signs are these, shape (n,)."""

    @abstractmethod
    def _best(self, values: Vector) -> Vector:
        """Return the vertex that reaches that, for each row, shape (n, k)."""

    @abstractmethod
    def _climbed(self, row: Vector) -> Vector:
        """Return a vertex that no single flip takes farther along one direction, shape (k,)."""

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the norm: exact for multiples of vertices, Σ|x|/corner for others."""
        top = np.max(np.abs(points), axis=1)
        scaled = points / np.where(top > 0, top / self.corner, 1.0)[:, None]
        total = np.zeros(len(points))
        for column in points.T:
            total += np.abs(column)
        rest = total / self.corner * (1 + self._slack)
        return np.where(self._are_vertices(scaled), top / self.corner, rest)

    def signed_norm_up(self, points: Vector) -> Vector:
        """Return at least Σ|x|/corner, whatever the signs."""
        return np.asarray(np.sum(np.abs(points), axis=1) / self.corner * (1 + self._slack))

    def support_up(self, directions: Vector) -> Vector:
        """Return at least the support: exact up to 16 signs, corner·Σ|θ| beyond."""
        total = self.corner * np.sum(np.abs(directions), axis=1)
        found = total * (1 + self._slack)
        if self.size <= LISTED:
            several = np.flatnonzero(np.count_nonzero(directions, axis=1) > 1)
            for part in blocks(several, self.size):
                rows = several[part]
                supports = self._supported(self.values(directions[rows]))
                found[rows] = np.minimum(found[rows], supports + total[rows] * self._slack)
        return np.asarray(found)

    def extreme(self, directions: Vector) -> Vector:
        """Return the best vertex, up to 16 signs; beyond, one that no single flip betters."""
        if self.size > LISTED:
            return np.array([self._climbed(row) for row in directions]).reshape(directions.shape)
        found = np.empty_like(directions)
        for rows in blocks(directions, self.size):
            found[rows] = self._best(self.values(directions[rows]))
        return found

    def widths(self) -> Vector:
        """Return the greatest coordinate for each."""
        return np.full(self.dimension, self.corner)

    @property
    def _slack(self) -> float:
        return TINY + (self.dimension + self.size) * 2.0**-50

    @cached_property
    def sets(self) -> tuple[Integers, ...]:
        """The sets of each degree, shapes (n, degree)."""
        return tuple(subsets(self.size, j) for j in self.degrees)

    @cached_property
    def masks(self) -> Integers:
        """Each set as a number below 2^size, bit i for element i, shape (k,)."""
        return np.concatenate([np.sum(1 << each, axis=1) for each in self.sets])

    def values(self, directions: Vector) -> Vector:
        """Return Σ θ_S x_S for all choices of signs, shape (n, 2^size); bit i says xᵢ = −1."""
        table = np.zeros((len(directions), 1 << self.size))
        table[:, self.masks] = directions
        for i in range(self.size):
            pairs = table.reshape(len(table), -1, 2, 1 << i)
            table = np.stack(
                [pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2
            ).reshape(len(table), -1)
        return table

    def climb(self, row: Vector) -> Vector:
        """Return a vertex that no single flip takes farther along one direction, shape (k,)."""
        member = self._members
        x = np.ones(self.size)
        first = 0
        for each, j in zip(self.sets, self.degrees, strict=True):
            if j == 1:
                x = np.where(row[first : first + len(each)] < 0, -1.0, 1.0)
            first += len(each)
        at = parities(x[None], self.degrees)[0]
        for _ in range(_FLIPS):
            gain = -2 * ((row * at) @ member)
            i = int(np.argmax(gain))
            if not gain[i] > 0:
                break
            at = np.where(member[:, i], -at, at)
        return np.asarray(at)

    @cached_property
    def _members(self) -> Vector:
        """Whether element i is in set S, shape (k, size)."""
        found = np.zeros((self.dimension, self.size), dtype=bool)
        first = 0
        for each in self.sets:
            found[np.arange(first, first + len(each))[:, None], each] = True
            first += len(each)
        return found

    def _signs(self, points: Vector) -> Vector:
        """Return the signs that a vertex is made of, shape (n, size); anything for other points."""
        x = np.ones((len(points), self.size))
        first = 0
        for each, j in zip(self.sets, self.degrees, strict=True):
            if j == 1:
                x = np.where(points[:, first : first + len(each)] < 0, -1.0, 1.0)
            elif j == 2:  # noqa: PLR2004
                pairs = points[:, first : first + self.size - 1]  # {0, i} come first
                x[:, 1:] = np.where(pairs < 0, -1.0, 1.0)
            first += len(each)
        return x


def _checked_degrees(size: int, degrees: Any, *, least: int = 0) -> tuple[int, ...]:  # noqa: ANN401
    whole = all(isinstance(j, int) and not isinstance(j, bool) for j in degrees)
    if not whole or not degrees or not all(least <= j <= size <= _MOST_SIGNS for j in degrees):
        raise FileError(
            f"base.size={quoted(size)} and base.degrees={quoted(degrees)} describe no parities"
        )
    if len(set(degrees)) < len(degrees) or len({j % 2 for j in degrees}) > 1:
        raise FileError(
            f"base.degrees={quoted(degrees)} are not different ones, all even or all odd"
        )
    if sum(math.comb(size, j) for j in degrees) > _MOST_SIGNS:
        raise FileError(f"base.degrees={quoted(degrees)} have more than 2^22 sets")
    return tuple(degrees)


def _checked(size: int, degrees: Any) -> ParityBall:  # noqa: ANN401 (a file)
    return ParityBall(size, _checked_degrees(size, degrees))


@UNIT_BALLS.kind("parity", Field("size", COUNT), "degrees", make=_checked)
@final
@dataclass(frozen=True)
class ParityBall(AbstractParityBall):
    """The hull of all ±(Π_{i∈S} xᵢ)_S for x ∈ {−1, 1}^size, S the sets of the given degrees.

    Changing signs of x multiplies coordinate S by a character, and different characters are
    orthogonal. So random signs make any second moment diagonal, which is what both facts about unit
    bodies rest on, though not every change of signs keeps the body. All squares are at most 1, and
    all are 1 at every vertex.

    Args:
        size: d ≥ 1.
        degrees: the sizes of S, in the order of the coordinates, all even or all odd; sets of one
            size are in lexicographic order.

    Examples:
        >>> base = ParityBall(3, (2,))
        >>> base.energy_up(np.array([1.0, 2.0, 3.0])).__round__(9)
        6.0
        >>> base.support_up(-np.ones((1, 3))).round(9)  # xy + xz + yz lies in [-1, 3]
        array([3.])
    """

    @property
    def corner(self) -> float:
        """1: the mean of the vertex under the density (1 + χ_S(x)) is e_S."""
        return 1.0

    def _are_vertices(self, points: Vector) -> Chosen:
        found = np.zeros(len(points), dtype=np.bool_)
        for sign in (1.0, -1.0):
            found |= np.all(parities(self._signs(sign * points), self.degrees) == sign * points, 1)
        return np.asarray(found)

    def _supported(self, values: Vector) -> Vector:
        return np.asarray(np.max(np.abs(values), axis=1))

    def _best(self, values: Vector) -> Vector:
        best = np.argmax(np.abs(values), axis=1)
        sign = np.where(values[np.arange(len(best)), best] < 0, -1.0, 1.0)
        return sign[:, None] * parities(choices(best, self.size), self.degrees)

    def _climbed(self, row: Vector) -> Vector:
        ends = [s * self.climb(s * row) for s in (1.0, -1.0)]
        return max(ends, key=lambda x: float(row @ x))

    def energy_up(self, coefficients: Vector) -> float:
        """Return at least Σy: every square is 1."""
        return float(np.sum(coefficients)) * (1 + self._slack)

    def moment_up(self, squares: Vector) -> float:
        """Return at least max z: every z ≤ 1 is at most the second moment of random signs."""
        return float(np.max(squares))

    def best_squares(self, gains: Vector) -> Vector:
        """Return ones."""
        return np.ones_like(gains)


def _checked_differences(size: int, degrees: Any) -> ParityDifferenceBall:  # noqa: ANN401 (a file)
    found = _checked_degrees(size, degrees, least=1)
    if found[0] % 2 or list(found) != sorted(found):
        raise FileError(f"base.degrees={found} do not rise, all even")
    return ParityDifferenceBall(size, found)


@UNIT_BALLS.kind("parity differences", Field("size", COUNT), "degrees", make=_checked_differences)
@final
@dataclass(frozen=True)
class ParityDifferenceBall(AbstractParityBall):
    """The hull of all (x_S − y_S)_S for x, y ∈ {−1, 1}^size, |S| in `degrees`, x_S = Π_{i∈S} xᵢ.

    (x_S − y_S)² is 2(1 − t_S) with t = xy. Where y weighs sets of one degree j alike, the sum over
    them depends on how many signs differ, w, alone: 2(1 − K_j(w)/C(size, j)) on the average, K_j
    the Krawtchouk polynomial. It is 4 for all degrees at once only where no degree is even.

    Args:
        size: d ≥ 2.
        degrees: even, above 0, rising; sets of one degree in lexicographic order.

    Examples:
        >>> base = ParityDifferenceBall(3, (2,))  # of three signs two at most differ pairwise
        >>> round(base.energy_up(np.ones(3)), 9)
        8.0
    """

    @property
    def corner(self) -> float:
        """2: that times e_S is the mean of x − y for the densities 1 + χ_S and 1 − χ_S."""
        return 2.0

    def _supported(self, values: Vector) -> Vector:
        return np.asarray(np.ptp(values, axis=1))

    def _best(self, values: Vector) -> Vector:
        high, low = (choices(find(values, axis=1), self.size) for find in (np.argmax, np.argmin))
        return parities(high, self.degrees) - parities(low, self.degrees)

    def _climbed(self, row: Vector) -> Vector:
        return self.climb(row) - self.climb(-row)

    def energy_up(self, coefficients: Vector) -> float:
        """Return at least max Σ y_S(x_S − y_S)²: exact up to 16 signs, and where y goes by degree.

        Elsewhere y is first raised to the greatest of its degree.
        """
        total = float(np.sum(coefficients))
        top = np.array([float(np.max(part)) for part in self._split(coefficients)])
        found = min(4 * total, float(np.max(self.table @ (top * self._counts))))
        if self.size <= LISTED:
            least = float(np.min(self.values(coefficients[None])))
            found = min(found, 2 * (total - least))
        return found * (1 + self._slack) + 4 * total * self._slack

    def moment_up(self, squares: Vector) -> float:
        """Return at least the least t for z raised to the greatest of its degree."""
        top = np.array([float(np.max(part)) for part in self._split(squares)])
        return least_mixture_up(self.table, top) * (1 + self._slack)

    def best_squares(self, gains: Vector) -> Vector:
        """Return the best z among those that go by degree: pairs at random distances."""
        sums = np.array([float(np.sum(np.sqrt(part))) for part in self._split(gains)])
        if not np.any(sums > 0):
            sums = np.ones_like(sums)
        z = best_mixture(self.table, sums) @ self.table
        return np.repeat(z, self._sizes)

    @cached_property
    def table(self) -> Vector:
        """The mean of (x_S − y_S)² by how many signs differ, 1 … ⌊size/2⌋, and by degree."""
        d = self.size
        return frozen(
            np.array(
                [
                    [2 - 2 * krawtchouk(d, j, w) / math.comb(d, j) for j in self.degrees]
                    for w in range(1, d // 2 + 1)
                ]
            )
        )

    @property
    def _sizes(self) -> list[int]:
        return [math.comb(self.size, j) for j in self.degrees]

    @property
    def _counts(self) -> Vector:
        return np.array(self._sizes, dtype=np.float64)

    def _split(self, values: Vector) -> list[Vector]:
        return np.split(values, np.cumsum(self._sizes)[:-1])

    def _are_vertices(self, points: Vector) -> Chosen:
        """Return which rows are x_S − y_S for some signs x and y, found from pairs {i, j}."""
        rows, d = np.arange(len(points)), self.size
        if self.degrees[0] != 2:  # noqa: PLR2004
            return np.zeros(len(points), dtype=bool)
        pair = np.zeros((len(points), d, d))
        left, right = self.sets[0].T
        pair[:, left, right] = pair[:, right, left] = points[:, : left.size]
        differs = pair[:, 0] != 0
        far = np.argmax(differs, axis=1)  # an index on the other side of 0
        across = np.where(pair[rows, 0, far] < 0, -1.0, 1.0)
        x = np.where(
            differs,
            np.where(pair[:, 0] < 0, -1.0, 1.0),
            np.where(pair[rows, far] < 0, -1.0, 1.0) * across[:, None],
        )
        y = np.where(differs, -x, x)
        made = parities(x, self.degrees) - parities(y, self.degrees)
        return np.asarray(np.all(made == points, axis=1) & np.any(points != 0, axis=1))


def subsets(size: int, degree: int) -> Integers:
    """Return all sets of that many of the first numbers, in lexicographic order, (n, degree)."""
    count = math.comb(size, degree)
    flat = np.fromiter(chain.from_iterable(combinations(range(size), degree)), dtype=np.int64)
    return flat.reshape(count, degree)


def parities(signs: Vector, degrees: tuple[int, ...]) -> Vector:
    """Return the products of signs over sets, shapes (n, size) and (n, k).

    Examples:
        >>> parities(np.array([[1.0, -1.0, -1.0]]), (2, 0))
        array([[-1., -1.,  1.,  1.]])
    """
    parts = []
    for j in degrees:
        each = subsets(signs.shape[1], j)
        product = np.ones((len(signs), len(each)))
        for column in each.T:
            product = product * signs[:, column]
        parts.append(product)
    return np.hstack(parts)


def choices(numbers: Integers, size: int) -> Vector:
    """Return the signs of each numbered choice, shapes (n,) and (n, size)."""
    return np.where((numbers[:, None] >> np.arange(size)) & 1, -1.0, 1.0)


def blocks(rows: Vector | Integers, size: int) -> Iterator[slice]:
    """Return slices of rows whose tables of all choices fit the memory."""
    step = max(_BLOCK >> size, 1)
    return (slice(start, start + step) for start in range(0, len(rows), step))


def krawtchouk(size: int, degree: int, distance: int) -> int:
    """Return K_j(w) = Σᵢ (−1)ⁱ C(w, i) C(d − w, j − i): the sum of t_S over |S| = j.

    Examples:
        >>> [krawtchouk(4, 2, w) for w in range(5)]
        [6, 0, -2, 0, 6]
    """
    return sum(
        (-1) ** i * math.comb(distance, i) * math.comb(size - distance, degree - i)
        for i in range(degree + 1)
    )
