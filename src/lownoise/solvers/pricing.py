# SPDX-License-Identifier: Apache-2.0
"""Which vertices stick out of an ellipsoid: one pass over all of them, or over those that may.

A vertex that was at distance a under a map X is at most at ‖X′X⁻¹‖·a + shift under the map X′, so
once the ellipsoid settles most vertices need not be looked at again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import triangle_of
from lownoise.sets.halves import halves
from lownoise.sets.pairs import farthest_pairs

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

_BLOCK = 1 << 21  # numbers
_ENDLESS = 2**62
_GRAIN = 1e-10
_SAMPLE = 20_000
_THIN = 1e-13
_SAME = 1e-9
_QUICK = 5_000_000  # products of a Gram matrix that take no time
_ROUNDS = 12
_FEW = 5000  # points that are priced anew each time
_MOST_PAIRS = 600


@final
@dataclass(frozen=True, eq=False)
class Priced:
    """What stands out.

    Args:
        radius: at least max ‖X(s − mean)‖ over all vertices, up to rounding.
        indices: vertices beyond what was asked, the farthest first, shape (k,) or (k, 2).
        farthest: how far the farthest vertex is that was found, where the radius may be more.
    """

    radius: float
    indices: Integers
    farthest: float | None = None


class AbstractVertices(ABC):
    """The vertices of a body, in coordinates where they span everything."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of coordinates r."""

    @property
    def count(self) -> int:
        """The number of vertices: more than any, unless all of them are listed."""
        return _ENDLESS

    @abstractmethod
    def first(self, wanted: int) -> Integers:
        """Return about `wanted` vertices that span R^r, all of them where there are few more."""

    @abstractmethod
    def gather(self, indices: Integers) -> Vector:
        """Return those vertices, shape (k, r)."""

    @abstractmethod
    def price(self, inverse: Vector, mean: Vector, beyond: float, wanted: int) -> Priced:
        """Return the vertices s with ‖inverse·(s − mean)‖ > beyond, `wanted` of them at most."""


def distinct(points: Vector) -> Integers:
    """Return the indices of points that equal none before them, rising, shape (k,).

    Examples:
        >>> distinct(np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]]))
        array([0, 1])
    """
    # equal rows have equal keys, unless sums round unlike: then a copy stays, which is harmless
    keys = points @ np.cos(np.arange(1, points.shape[1] + 1))
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    if first.size == len(points):
        return np.arange(len(points))
    again = np.flatnonzero(first[group] != np.arange(len(points)))
    same = np.ones(again.size, dtype=np.bool_)
    for column in points.T:
        same &= column[again] == column[first[group[again]]]
    return np.delete(np.arange(len(points)), again[same])


@final
class PointVertices(AbstractVertices):
    """The points themselves.

    Args:
        points: shape (n, r).
        moves: whether the body may be translated; otherwise it is the hull of ±points.
    """

    def __init__(self, points: Vector, *, moves: bool) -> None:
        self._points = points
        self._moves = moves
        self._halves = halves(points)
        self._bounds: Vector | None = None
        self._last: tuple[Vector, Vector] | None = None

    @property
    def dimension(self) -> int:
        """The number of coordinates r."""
        return int(self._points.shape[1])

    @property
    def count(self) -> int:
        """The number of points."""
        return len(self._points)

    def first(self, wanted: int) -> Integers:
        """Return the farthest points, and the extreme ones along each axis."""
        if len(self._points) <= 2 * wanted:
            return np.arange(len(self._points))
        inverse, middle = _whitening(self._points, moves=self._moves)
        if self._points.size * self.dimension <= _QUICK:
            weights = _weigh(self._points, inverse, moves=self._moves)
            heavy = np.argpartition(-weights, wanted)[:wanted]
            return _spanning(self._points, np.sort(heavy), inverse, middle if self._moves else None)
        distance = self._distances(inverse, middle)
        far = np.argpartition(-distance, wanted // 2)[: wanted // 2]
        chosen = np.union1d(far, _extremes(_sample(self._points), inverse) * _stride(self._points))
        return _spanning(self._points, chosen, inverse, middle if self._moves else None)

    def gather(self, indices: Integers) -> Vector:
        """Return those points."""
        return self._points[indices]

    def price(self, inverse: Vector, mean: Vector, beyond: float, wanted: int) -> Priced:
        """Return the points that stand out."""
        anew = len(self._points) <= _FEW or self._halves is not None
        bounds = None if anew else _carried(self._bounds, self._last, inverse, mean)
        if bounds is None:
            bounds = self._distances(inverse, mean)
        else:
            # nothing below `level` can be the farthest
            top = np.argpartition(-bounds, min(wanted, bounds.size - 1))[: wanted + 1]
            level = max(float(np.max(_norms(self._points[top], inverse, mean))), 0.0)
            open_ = np.flatnonzero(bounds >= min(level, beyond))
            bounds[open_] = _norms(self._points, inverse, mean, open_)
        self._bounds, self._last = bounds, (inverse, mean)
        out = np.flatnonzero(bounds > beyond)
        if out.size > wanted:
            out = out[np.argpartition(-bounds[out], wanted)[:wanted]]
        out = out[np.argsort(-bounds[out])]
        return Priced(float(np.max(bounds)), out)

    def _distances(self, inverse: Vector, mean: Vector) -> Vector:
        """Return ‖inverse·(x − mean)‖ for every point."""
        if self._halves is None:
            return _norms(self._points, inverse, mean)
        return np.sqrt(np.maximum(self._halves.squares(inverse, mean), 0.0))


@final
class PairVertices(AbstractVertices):
    """The differences of all pairs of points.

    Args:
        points: shape (n, r).
    """

    def __init__(self, points: Vector) -> None:
        self._points = points
        some = _sample(points)
        self._middle = points[0] + np.mean(some - points[0], axis=0)
        self._bounds: Vector | None = None
        self._last: tuple[Vector, Vector] | None = None

    @property
    def dimension(self) -> int:
        """The number of coordinates r."""
        return int(self._points.shape[1])

    @property
    def count(self) -> int:
        """The number of pairs."""
        n = len(self._points)
        return n * (n - 1) // 2

    def scattered(self, wanted: int) -> Integers:
        """Return about `wanted` points: the farthest out, extreme ones, and every so many."""
        inverse, middle = _whitening(self._points, moves=True)
        distance = _norms(self._points, inverse, middle)
        half = min(wanted // 2, distance.size)
        far = np.argpartition(-distance, half - 1)[:half]
        even = np.arange(0, distance.size, max(distance.size // half, 1))
        return np.union1d(np.union1d(far, even), self.first(wanted // 8 + 2 * self.dimension))

    def first(self, wanted: int) -> Integers:
        """Return pairs that are extreme along many directions."""
        n = len(self._points)
        if n * (n - 1) // 2 <= min(2 * wanted, _MOST_PAIRS):
            return np.stack(np.triu_indices(n, 1), axis=1)
        sample = _sample(self._points)
        inverse, _ = _whitening(self._points, moves=True)
        # a fixed stream of directions to look along: nothing that is released depends on it
        scattered = np.random.default_rng(0).standard_normal((wanted, self.dimension))
        scattered[: self.dimension] = np.eye(self.dimension)
        along = _extreme_pairs(sample, scattered @ inverse) * _stride(self._points)
        return _spanning_pairs(self._points, along, inverse)

    def gather(self, indices: Integers) -> Vector:
        """Return those differences."""
        return self._points[indices[:, 0]] - self._points[indices[:, 1]]

    def price(self, inverse: Vector, mean: Vector, beyond: float, wanted: int) -> Priced:
        """Return the pairs that are too far apart, every point with its farthest partner."""
        bounds = _carried(self._bounds, self._last, inverse, mean)
        points = (self._points - self._middle) @ inverse.T
        found = farthest_pairs(points, beyond=beyond, enough=wanted, bounds=bounds)
        self._bounds, self._last = found.bounds, (inverse, mean)
        pairs = np.stack([found.first, found.second], axis=1)
        pairs.sort(axis=1)
        _, unique = np.unique(pairs, axis=0, return_index=True)
        pairs = pairs[np.sort(unique)][:wanted]
        return Priced(found.longest, pairs)


def _carried(
    bounds: Vector | None,
    last: tuple[Vector, Vector] | None,
    inverse: Vector,
    mean: Vector,
) -> Vector | None:
    """Return what the bounds under the last map say under this one."""
    if bounds is None or last is None:
        return None
    before, old_mean = last
    shift = float(np.linalg.norm(inverse @ (old_mean - mean)))
    return carried(bounds, before, inverse) + shift * (1 + _GRAIN)


def carried(bounds: Vector, before: Vector, inverse: Vector) -> Vector:
    """Return what bounds on distances under the map `before` say of those under `inverse`."""
    factor = float(np.linalg.norm(np.linalg.solve(before.T, inverse.T).T, 2))
    return np.asarray(factor * bounds * (1 + _GRAIN))


def _weigh(points: Vector, inverse: Vector, *, moves: bool) -> Vector:
    """Return weights near those of the least ellipsoid in whitened coordinates, shape (n,).

    A few rounds of w ← w·s·M⁻¹·s, which are quick where points are few: they tell which vertices
    to begin with.
    """
    image = points @ inverse.T
    weights = np.full(len(points), 1.0 / len(points))
    for _ in range(_ROUNDS):
        about = image - weights @ image if moves else image
        squares, axes = np.linalg.eigh(about.T @ (about * weights[:, None]))
        lengths = np.sqrt(np.maximum(squares, squares[-1] * _SAME**2))
        weights = weights * (np.square(about @ axes) @ (1 / lengths))
        weights /= np.sum(weights)
    return weights


def _stride(points: Vector) -> int:
    # odd, so that corners in the order of their signs are seen with each sign of each
    return max(len(points) // _SAMPLE, 1) | 1


def _sample(points: Vector) -> Vector:
    """Return points at even distances in the list: enough to begin with."""
    return points[:: _stride(points)]


def _norms(
    points: Vector,
    inverse: Vector,
    mean: Vector,
    rows: Integers | None = None,
) -> Vector:
    """Return ‖inverse·(x − mean)‖ for every point, or for some rows, block by block."""
    count = len(points) if rows is None else rows.size
    result = np.empty(count)
    step = max(_BLOCK // points.shape[1], 1)
    for start in range(0, count, step):
        block = slice(start, start + step)
        x = points[block] if rows is None else points[rows[block]]
        image = (x - mean) @ inverse.T
        result[block] = np.sqrt(np.einsum("ij,ij->i", image, image))
    return result


def _whitening(points: Vector, *, moves: bool) -> tuple[Vector, Vector]:
    """Return X and a center such that the points about it have second moment about I under X."""
    for some in (_sample(points), points):
        mean = np.mean(some, axis=0) if moves else np.zeros(points.shape[1])
        scale = np.maximum(np.max(some, axis=0) - mean, mean - np.min(some, axis=0))
        scale = np.maximum(scale, np.finfo(np.float64).tiny)
        triangle: Vector = np.zeros((0, points.shape[1]))
        step = max(_BLOCK // points.shape[1], 2 * points.shape[1])
        for start in range(0, len(some), step):
            block = (some[start : start + step] - mean) / scale
            triangle = triangle_of(np.vstack([triangle, block]))
        size = np.abs(np.diag(triangle)) if len(triangle) == points.shape[1] else np.zeros(1)
        if np.min(size) > _THIN * np.max(size):  # a sample can miss what few points have
            break
    return np.linalg.inv(triangle.T) * np.sqrt(len(some)) / scale, mean


def _extremes(points: Vector, directions: Vector) -> Integers:
    """Return the points that are extreme along each row of `directions`."""
    pairs = _extreme_pairs(points, directions)
    return np.unique(pairs)


def _extreme_pairs(points: Vector, directions: Vector) -> Integers:
    """Return (argmax, argmin) along each row of `directions`, shape (k, 2), without repeats."""
    k = len(directions)
    ends = np.zeros((2, k), dtype=np.int64)
    values = np.full((2, k), -np.inf)
    step = max(_BLOCK // max(k, points.shape[1]), 1)
    for start in range(0, len(points), step):
        image = points[start : start + step] @ directions.T
        for side, sign in enumerate((1.0, -1.0)):
            where = np.argmax(sign * image, axis=0)
            found = sign * image[where, np.arange(k)]
            better = found > values[side]
            values[side, better] = found[better]
            ends[side, better] = where[better] + start
    pairs = np.sort(ends.T, axis=1)
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


def _missing(rows: Vector) -> Vector:
    """Return an orthonormal basis of the directions that no row has, shape (k, r)."""
    _, lengths, turned = np.linalg.svd(rows, full_matrices=True)
    rank = int(np.count_nonzero(lengths > _SAME * lengths[0]))
    return turned[rank:]


def _spanning(points: Vector, chosen: Integers, inverse: Vector, middle: Vector | None) -> Integers:
    while True:
        rows = points[chosen]
        rows = rows - rows.mean(axis=0) if middle is not None else rows
        missing = _missing(rows @ inverse.T)
        if not missing.size:
            return chosen
        added = np.union1d(chosen, _extremes(points, missing @ inverse))
        if added.size == chosen.size:
            return added
        chosen = added


def _spanning_pairs(points: Vector, chosen: Integers, inverse: Vector) -> Integers:
    while True:
        rows = points[chosen[:, 0]] - points[chosen[:, 1]]
        missing = _missing(rows @ inverse.T)
        if not missing.size:
            return chosen
        more = _extreme_pairs(points, missing @ inverse)
        added = np.unique(np.vstack([chosen, more]), axis=0)
        if len(added) == len(chosen):
            return added
        chosen = added
