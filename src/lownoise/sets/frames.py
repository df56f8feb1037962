# SPDX-License-Identifier: Apache-2.0
"""Coordinates in which a body fills all its dimensions and every direction is asked about.

A flat body (one-hot rows, a single point, fewer points than columns) is described by some of its
own coordinates, its pivots; the others follow from them linearly. Where queries do not see every
direction, some columns of L give the others, so that few sums of coordinates carry all answers.
Nothing is regularised: what floats cannot tell from flat is taken as flat, and how far that can be
off is computed and added to the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import triangle_of
from lownoise.numbers.rounding import growth

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import AbstractBody

_FLAT = 1e-12  # of a coordinate's own width: less is rounding of the input
_BLOCK = 1 << 21


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Frame:
    """How to go down to few coordinates and up again.

    Args:
        dimension: d.
        pivots: the coordinates that are kept, rising, shape (r,).
        embed: shape (r, d): s = s[pivots]·embed on the span of the body; None where r = d.
        seeing: the pivots whose columns of L give the others, shape (r',).
        view: shape (r', r): y = view·s[pivots] with L·s = L[seeing]·y; None where queries see all.
    """

    dimension: int
    pivots: Integers
    embed: Vector | None
    seeing: Integers
    view: Vector | None

    @property
    def rank(self) -> int:
        """The number of coordinates that are left."""
        return self.seeing.size

    @property
    def exact(self) -> bool:
        """Whether nothing was left out and no coordinate changed."""
        return self.embed is None and self.view is None

    def down(self, vectors: Vector) -> Vector:
        """Return the coordinates of `vectors`, shapes (k, d) and (k, r')."""
        kept = vectors if self.embed is None else vectors[:, self.pivots]
        return kept if self.view is None else kept @ self.view.T

    def map_down(self) -> Vector:
        """Return the matrix of `down`, shape (r', d)."""
        return self.down(np.eye(self.dimension)).T

    def up(self) -> Vector:
        """Return the matrix back into d coordinates, shape (d, r')."""
        embed = np.eye(self.dimension) if self.embed is None else self.embed.T
        return embed if self.view is None else embed[:, self.seeing]

    def seen(self, queries: Vector | None) -> Vector | None:
        """Return the queries in these coordinates, shape (m, r'); None stays the identity."""
        if queries is None:
            return None if self.exact else self.up()
        return queries if self.exact else queries @ self.up()

    def slack_up(self, body: AbstractBody, queries: Vector | None, center: Vector) -> Vector:
        """Return at least max |L·(s − center) − L·up·down·(s − center)| over s, shape (m,).

        Zero where nothing was left out.
        """
        d = self.dimension
        answers = d if queries is None else len(queries)
        off = np.zeros(answers)
        if self.embed is not None:
            # what the pivots do not say of s, then through the queries
            full = np.zeros((d, d))
            full[:, self.pivots] = self.embed.T
            rest = body.extent_up(np.eye(d) - full, center)
            off = rest if queries is None else np.abs(queries) @ rest
        if self.view is not None and queries is not None:
            embed = np.eye(d) if self.embed is None else self.embed.T
            on = queries @ embed
            error = growth(2 * d + 9) * (np.abs(queries) @ np.abs(embed))
            given = on[:, self.seeing]
            lost = (
                np.abs(on - given @ self.view) + error + error[:, self.seeing] @ np.abs(self.view)
            )
            lost += growth(2 * d + 9) * (np.abs(given) @ np.abs(self.view))
            pick = np.eye(d) if self.embed is None else np.eye(d)[self.pivots]
            off = off + lost @ body.extent_up(pick, center)
        return off * (1 + growth(2 * d + 99))


def find_frame(
    body: AbstractBody,
    queries: Vector | None,
    *,
    in_order: bool = False,
) -> Frame:
    """Return the coordinates in which the body is full and the queries see everything.

    Args:
        body: in d dimensions.
        queries: L, shape (m, d); None for the identity.
        in_order: take the first independent coordinates rather than the best conditioned.

    Examples:
        >>> from lownoise.sets.bodies import TranslatedPoints
        >>> find_frame(TranslatedPoints(np.eye(3)), None).rank
        2
    """
    pivots, embed = _pivots(body, in_order=in_order)
    all_ = np.arange(pivots.size)
    plain = Frame(dimension=body.dimension, pivots=pivots, embed=embed, seeing=all_, view=None)
    if queries is None or not pivots.size:
        return plain
    on = plain.seen(queries)
    extent = body.extent_up(np.eye(body.dimension), body.base_point)[pivots]
    summed = np.abs(queries) if embed is None else np.abs(queries) @ np.abs(embed.T)
    on = queries if on is None else on
    seeing, view = _sight(np.where(np.abs(on) > _FLAT * summed, on, 0.0), extent)
    return Frame(dimension=body.dimension, pivots=pivots, embed=embed, seeing=seeing, view=view)


def _sight(queries: Vector, extent: Vector) -> tuple[Integers, Vector | None]:
    """Return columns that give the others, and all columns in terms of them; None where it is all.

    A column is dependent where what the chosen ones leave of it is rounding of its own length: a
    coordinate of little width is as much asked about as any other, and so is each query, whatever
    its unit. Of the independent ones those that say most are chosen first, so that no wide
    coordinate is given by a narrow one.
    """
    from scipy.linalg import solve_triangular

    r = queries.shape[1]
    most = np.max(np.abs(queries) * extent, axis=1)
    queries = queries[most > 0] / most[most > 0, None]
    length = np.linalg.norm(queries, axis=0)
    seen = np.flatnonzero(length > 0)
    triangle = triangle_of(queries[:, seen] / length[seen])
    if seen.size == r and len(triangle) == r:
        values = np.linalg.svd(triangle, compute_uv=False)
        if values[-1] > _FLAT:
            return np.arange(r), None
    size = extent[seen] * length[seen]
    rest, chosen = triangle.copy(), np.zeros(0, dtype=np.int64)
    basis = np.zeros((len(triangle), len(triangle)))
    while chosen.size < len(triangle):
        left = np.linalg.norm(rest, axis=0)
        left[chosen] = 0.0
        left[left <= _FLAT] = 0.0
        if not np.any(left):
            break
        j = int(np.argmax(left * size))
        known = basis[: chosen.size]
        column = rest[:, j] - (known @ rest[:, j]) @ known
        column /= np.linalg.norm(column)
        basis[chosen.size] = column
        rest -= np.outer(column, column @ rest)
        chosen = np.append(chosen, j)
    if chosen.size == r:
        return np.arange(r), None
    inside = basis[: chosen.size] @ triangle
    view = np.zeros((chosen.size, r))
    lead = np.triu(inside[:, chosen])
    view[:, seen] = solve_triangular(lead, inside, check_finite=False) * length[seen]
    view /= length[seen[chosen], None]
    view[:, seen[chosen]] = np.eye(chosen.size)
    return seen[chosen], view


def _pivots(body: AbstractBody, *, in_order: bool) -> tuple[Integers, Vector | None]:
    d = body.dimension
    start = body.base_point
    extent = np.maximum(
        np.max(body.spanning, axis=0) - start, start - np.min(body.spanning, axis=0)
    )
    wide = np.flatnonzero(extent > 0)
    triangle = _triangle(body.spanning, start, extent, wide)
    if wide.size == d and triangle is None:
        return np.arange(d), None
    if triangle is None:
        chosen, coefficients = np.arange(wide.size), np.eye(wide.size)
    else:
        chosen, coefficients = (_greedy if in_order else _best)(triangle)
    pivots = wide[chosen]
    if pivots.size == d:
        return np.arange(d), None
    embed = np.zeros((pivots.size, d))
    embed[:, wide] = coefficients * extent[wide] / extent[pivots][:, None]
    embed[:, pivots] = np.eye(pivots.size)
    return pivots, embed


def _triangle(points: Vector, start: Vector, extent: Vector, wide: Integers) -> Vector | None:
    """Return R of the scaled points, or None where they plainly span their coordinates."""
    k = wide.size
    step = max(_BLOCK // max(points.shape[1], 1), 2 * k + 1)
    blocks = [slice(i, i + step) for i in range(0, len(points), step)]

    def scaled(block: slice) -> Vector:
        part = points[block] - start
        return (part if k == points.shape[1] else part[:, wide]) / extent[wide]

    if k and len(points) >= k:
        gram = np.zeros((k, k))
        for block in blocks:
            rows = scaled(block)
            gram += rows.T @ rows
        if _plainly_definite(gram, len(points)):
            return None
    triangle: Vector = np.zeros((0, k))
    for block in blocks:
        triangle = triangle_of(np.vstack([triangle, scaled(block)]))
    return triangle


def _plainly_definite(gram: Vector, terms: int) -> bool:
    """Return whether a Gram matrix of `terms` rows is regular, beyond what rounding can hide."""
    from scipy.linalg import lapack

    triangle, failed = lapack.dpotrf(gram, lower=0)
    if failed:
        return False
    inverse, _ = lapack.dtrtri(triangle, lower=0)
    least = 1 / float(np.sum(np.triu(inverse) ** 2))  # at most the least eigenvalue
    return least > 30 * growth(terms) * float(np.trace(gram))


def _best(triangle: Vector) -> tuple[Integers, Vector]:
    """Return well conditioned independent columns, and all columns in terms of them.

    Of columns that are as far from those before, but for a part in 2^10, the first is taken: which
    one it is, the last bits would decide else, and those differ from machine to machine.
    """
    from scipy.linalg import qr, solve_triangular

    k = triangle.shape[1]
    first = 1 - 2.0**-10 * np.arange(k) / max(k, 1)
    reduced, order = qr(triangle * first, mode="r", pivoting=True, check_finite=False)
    size = np.abs(np.diag(reduced))
    rank = int(np.count_nonzero(size > _FLAT * size[0])) if size.size and size[0] > 0 else 0
    rest = solve_triangular(reduced[:rank, :rank], reduced[:rank, rank:], check_finite=False)
    chosen = order[:rank]
    coefficients = np.zeros((rank, k))
    coefficients[:, chosen] = np.eye(rank)
    coefficients[:, order[rank:]] = rest * first[chosen][:, None] / first[order[rank:]]
    rising = np.argsort(chosen)
    return chosen[rising], coefficients[rising]


def _greedy(triangle: Vector) -> tuple[Integers, Vector]:
    """Return the first independent columns, and all columns in terms of those before them."""
    from scipy.linalg import solve_triangular

    k = triangle.shape[1]
    basis, chosen = np.zeros((k, len(triangle))), np.zeros(0, dtype=np.int64)
    for j, column in enumerate(np.ascontiguousarray(triangle.T)):
        known = basis[: chosen.size]
        rest = column - (known @ column) @ known
        rest -= (known @ rest) @ known
        if np.linalg.norm(rest) > _FLAT * np.linalg.norm(column):
            basis[chosen.size] = rest / np.linalg.norm(rest)
            chosen = np.append(chosen, j)
    inside = basis[: chosen.size] @ triangle
    coefficients = solve_triangular(inside[:, chosen], inside, check_finite=False)
    return chosen, np.where(chosen[:, None] <= np.arange(k), coefficients, 0.0)
