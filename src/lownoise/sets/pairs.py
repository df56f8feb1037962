# SPDX-License-Identifier: Apache-2.0
"""The farthest pairs of a point set, without looking closely at every pair.

Each point carries a bound on its distance to any other, at first its own norm plus the greatest
one. Points are taken from the greatest bound down; a pair is looked at only while both bounds
exceed what has been found, because a pair is no longer than either of its points' bounds. What is
left is looked at in single precision, a block that fits the cache at a time. A product of r + 2
terms in any order is within γ_n = nu/(1 − nu), u = 2^-24, of the sum of absolute values (Higham
2002, section 3.1), so a pair that is shorter by more than that is settled; the few others are
computed again in double precision. Points on a sphere all have the same bound: then all pairs are
looked at once, about a nanosecond each, in the same few megabytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.rounding import growth

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

    Single = np.ndarray[tuple[int, ...], np.dtype[np.float32]]

_ROWS = 256
_PARTNERS = 1024
_CLOSE = 4096  # pairs of a block that are computed one by one; more are one product
_SINGLE = 2.0**-24
_TINY = 2.0**-100  # of a square: more than all that can vanish in single precision
_VANISHED = 2.0**-500  # of a length: more than all that can vanish in double precision


@final
@dataclass(frozen=True, eq=False)
class Pairs:
    """What a scan found.

    Args:
        longest: at least the distance of any pair of these float points, whatever their center.
        first: the points whose farthest partner is beyond what was asked, shape (k,).
        second: those partners, shape (k,); where that matters to `longest` the farthest, elsewhere
            within what single precision tells.
        distances: of each to its partner, shape (k,), falling.
        bounds: what no distance of each point exceeds, shape (n,).
    """

    longest: float
    first: Integers
    second: Integers
    distances: Vector
    bounds: Vector


def farthest_pairs(
    points: Vector,
    *,
    beyond: float = 0.0,
    enough: int | None = None,
    bounds: Vector | None = None,
) -> Pairs:
    """Return the pairs farther apart than `beyond`, each point with its farthest partner.

    Args:
        points: shape (n, r), about any center near the middle.
        beyond: pairs no longer than this are of no interest; where `enough` is None, only pairs at
            least as long as the longest found so far are.
        enough: stop once that many points have a partner; None: find the longest pair.
        bounds: what is known of each point's distances, shape (n,).

    Examples:
        >>> square = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 4.0]])
        >>> found = farthest_pairs(square - square.mean(axis=0))
        >>> bool(abs(found.longest - 5.0) < 1e-9)
        True
    """
    size = float(np.max(np.abs(points), initial=0.0))
    if size == 0 or not math.isfinite(size):
        none = np.zeros(0, dtype=np.int64)
        longest = math.inf if size else 0.0
        return Pairs(longest, none, none, np.zeros(0), np.full(len(points), longest))
    # a power of two: nothing is rounded
    power = math.frexp(size)[1] + math.frexp(math.sqrt(points.shape[1]))[1]
    unit = math.ldexp(1.0, min(power, 1000))
    grain = growth(points.shape[1] + 30)
    norms = np.sqrt(np.einsum("ij,ij->i", points / unit, points / unit))
    known = (norms + np.max(norms)) * (1 + grain)
    if bounds is not None:
        known = np.minimum(known, bounds / unit)
    order = np.argsort(-known, kind="stable")
    falling = known[order]
    scan = _Scan(points[order] / unit)
    asked = beyond / unit
    level, done, live = asked, 0, order.size
    while done < order.size:
        if enough is None:
            level = max(level, math.sqrt(scan.most))
        live = int(np.searchsorted(-falling, -level, side="left"))
        if done >= live or (enough is not None and scan.count(asked) >= enough):
            break
        end = min(done + _ROWS, live)
        scan.block(done, end, live)
        done = end
    seen = math.sqrt(scan.most)
    level = max(level, seen) if enough is None else level
    # what was pruned is no longer than `level`, what was not reached no longer than its bound
    tight = falling.copy()
    lengths = np.sqrt(np.maximum(scan.extent[:done].astype(np.float64), 0.0) + scan.error)
    tight[:done] = np.minimum(falling[:done], np.maximum(lengths, level) * (1 + grain))
    rest = float(falling[done]) if done < order.size else 0.0
    if done >= live:
        rest = min(rest, level)
    first, second, distances = scan.beyond(asked)
    falls = np.argsort(-distances, kind="stable")
    return Pairs(
        (max(seen, rest) * (1 + grain) + _VANISHED) * unit,
        order[first[falls]],
        order[second[falls]],
        distances[falls] * unit,
        (tight * unit + _VANISHED * unit)[np.argsort(order)],
    )


@final
class _Scan:
    """Pairs looked at so far, of points no longer than 1.

    Of each point, shape (n,): `extent` is the squared distance to the farthest point seen, within
    `error`, and `at` where the points begin among which that one is; `exact` and `other` are the
    distance and the point over the pairs that were computed one by one. `most` is at least every
    squared distance seen.
    """

    def __init__(self, points: Vector) -> None:
        n, r = points.shape
        squares = np.einsum("ij,ij->i", points, points)
        self._points = points
        # |x − y|² as one product, so that no table of distances is touched twice
        ones = np.ones((n, 1))
        self._left = np.hstack([-2 * points, squares[:, None], ones])
        self._right = np.hstack([points, ones, squares[:, None]]).T
        self._single = self._left.astype(np.float32), self._right.astype(np.float32, order="C")
        self._table = np.empty((_ROWS, _PARTNERS), dtype=np.float32)
        # the absolute values sum to at most (|x| + |y|)²
        total = 4 * float(np.max(squares)) * (1 + growth(r + 9))
        part = (r + 9) * _SINGLE
        self.error = total * part / (1 - part) * (1 + part) + _TINY if part < 1 else math.inf
        self._hidden = growth(r + 9) * total
        self.extent = np.zeros(n, dtype=np.float32)
        self.at = np.zeros(n, dtype=np.int64)
        self.exact = np.zeros(n)
        self.other = np.zeros(n, dtype=np.int64)
        self.most = 0.0

    def count(self, length: float) -> int:
        """Return about how many points have a partner farther than that."""
        return int(np.count_nonzero(self.extent > length**2))

    def beyond(self, length: float) -> tuple[Integers, Integers, Vector]:
        """Return points with a partner farther than that, shape (k,), those, and how far."""
        first = np.flatnonzero(self.extent.astype(np.float64) + self.error > length**2)
        second, squares = self.other[first], self.exact[first]
        by_start = np.argsort(self.at[first], kind="stable")
        ends = np.flatnonzero(np.diff(self.at[first[by_start]])) + 1
        for group in np.split(by_start, ends):
            for k in range(0, group.size, _ROWS):
                own = group[k : k + _ROWS]
                start = int(self.at[first[own[0]]]) if own.size else 0
                table = self._left[first[own]] @ self._right[:, start : start + _PARTNERS]
                if not table.size:
                    continue
                partner = start + np.argmax(table, axis=1)
                found = self._squares(first[own], partner)
                better = found > squares[own]
                second[own[better]], squares[own[better]] = partner[better], found[better]
        far = squares > length**2
        return first[far], second[far], np.sqrt(squares[far])

    def _squares(self, first: Integers, second: Integers) -> Vector:
        about = self._points[first] - self._points[second]
        return np.asarray(np.einsum("ij,ij->i", about, about))

    def block(self, start: int, end: int, live: int) -> None:
        """Look at all pairs of the points from `start` to `end` with those from there to `live`."""
        left, right = self._single
        for first in range(start, live, _PARTNERS):
            last = min(first + _PARTNERS, live)
            table = self._table[: end - start, : last - first]
            np.matmul(left[start:end], right[:, first:last], out=table)
            rows, columns = np.max(table, axis=1), np.max(table, axis=0)
            self._note(rows, slice(start, end), first)
            self._note(columns, slice(first, last), start)
            if float(np.max(rows)) + self.error > self.most:
                self._settle(table, start, first)

    def _note(self, best: Single, mine: slice, at: int) -> None:
        """Take in how far points see others, and where these begin."""
        better = best > self.extent[mine]
        np.maximum(self.extent[mine], best, out=self.extent[mine])
        self.at[mine][better] = at

    def _settle(self, table: Single, start: int, first: int) -> None:
        """Bound the pairs of a table that single precision cannot tell from the longest seen."""
        row, column = divmod(int(np.argmax(table)), table.shape[1])
        self._take(np.array([start + row]), np.array([first + column]))
        edge = np.nextafter(np.float32(self.most - self.error), np.float32(-np.inf))
        close = table > edge
        if int(np.count_nonzero(close)) <= _CLOSE:
            rows, columns = np.nonzero(close)
            self._take(start + rows, first + columns)
            return
        rest = slice(first, first + table.shape[1])
        exact = self._left[start : start + len(table)] @ self._right[:, rest]
        self.most = max(self.most, float(np.max(exact)) + self._hidden)

    def _take(self, first: Integers, second: Integers) -> None:
        """Compute pairs one by one."""
        if not first.size:
            return
        squares = self._squares(first, second)
        self.most = max(self.most, float(np.max(squares)))
        order = np.argsort(squares, kind="stable")  # of several of one point the last one stays
        for mine, theirs in ((first, second), (second, first)):
            own, other, found = mine[order], theirs[order], squares[order]
            better = found > self.exact[own]
            self.exact[own[better]] = found[better]
            self.other[own[better]] = other[better]
