# SPDX-License-Identifier: Apache-2.0
"""The corners of what slabs share, listed exactly where they are few.

The cone of all (t, x) with t·b − Ax ≥ 0, b > 0, is cut out one inequality after another, and its
edges are kept with the inequalities that they touch (Motzkin's double description; Fukuda and
Prodon 1996): of two edges on either side of a cut the plane between them has a new one where no
third edge touches all that both touch. Numbers are whole throughout, so that no corner is missed.

A section whose corners are few is as far as any of them; its points are encoded as those of other
sections, so that evidence is of the section itself.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import LAST, ROUGH, grown
from lownoise.sets.bodies.pieces import PointSet, SectionSet

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.sets.bodies.section import Section

    Marks = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]

MOST_CORNERS = 2**11
_MOST_SIDES = 64  # inequalities: bits of a word
_MOST_PAIRS = 2**24  # of edges on either side of a cut
_MOST_BITS = 4096  # of a whole number
_MOST_MOVED = 2.0**-28  # of the body: what corners may be moved by, beside its roundings


def section_corners(section: Section, middle: Vector) -> Vector | None:
    """Return points whose hull, seen from the middle, holds the section, hardly more.

    None where a part is round, or corners are many.

    Args:
        section: of slabs, about 0.
        middle: what will be added, shape (d,): room is left for its rounding.

    Returns:
        Shape (N, d), about 0: corners times a little more than one.

    Examples:
        >>> from lownoise.sets.bodies.section import Section
        >>> from lownoise.sets.unit_balls import NormBall
        >>> square = Section(np.eye(2), np.zeros(2), NormBall(2, math.inf))
        >>> section_corners(square, np.zeros(2)).round(9).tolist()
        [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]
    """
    m, d = section.rows.shape
    if not np.all(section.slabs) or 2 * m > _MOST_SIDES or d < 1:
        return None
    found = _edges(section)
    if found is None:
        return None
    corners = np.array([[float(Fraction(x, ray[0])) for x in ray[1:]] for ray in found])
    if not np.all(np.isfinite(corners)):
        return None
    # w = v + e with e and −e in g·K: the hull of all (1 + 2g)·w has ⟨θ, ·⟩ at least that of K's
    moved = 2.0**-51 * (np.max(np.abs(corners), axis=0) + np.abs(middle))
    room = 1 - np.abs(section.offsets)
    g = grown(float(np.max(np.abs(section.rows) @ moved / room)), ROUGH)
    if not 2 * g <= _MOST_MOVED:
        return None
    wider = corners * (1 + 2 * g + LAST)
    return frozen(wider[np.lexsort(wider.T[::-1])])


def _edges(section: Section) -> list[list[int]] | None:
    """Return the edges (t, x) of the cone over a polytope, t > 0; None where they are many."""
    sides: list[list[int]] = []
    for row, offset in zip(section.rows, section.offsets, strict=True):
        a, at = [Fraction(float(x)) for x in row], Fraction(float(offset))
        sides += [_integral([1 - at, *(-x for x in a)]), _integral([1 + at, *a])]
    if any(abs(x).bit_length() > _MOST_BITS for side in sides for x in side):
        return None
    first = _independent(sides)
    if first is None:
        return None
    edges, marks = _simplex(sides, first)
    for i in (i for i in range(len(sides)) if i not in first):
        value = [sum(a * x for a, x in zip(sides[i], edge, strict=True)) for edge in edges]
        signs = np.array([(v > 0) - (v < 0) for v in value])
        bit = np.uint64(1 << i)
        pairs = _adjacent(marks, signs, len(sides[0]) - 2)
        if pairs is None:
            return None
        new = [
            _reduced([value[p] * y - value[n] * x for x, y in zip(edges[p], edges[n], strict=True)])
            for p, n in pairs
        ]
        own = np.array([marks[p] & marks[n] | bit for p, n in pairs], dtype=np.uint64)
        kept = np.flatnonzero(signs >= 0)
        touched = np.where(signs[kept] == 0, marks[kept] | bit, marks[kept])
        edges = [edges[k] for k in kept] + new
        marks = np.concatenate([touched, own])
        if len(edges) > MOST_CORNERS:
            return None
    return edges


def _adjacent(marks: Marks, signs: Chosen, least: int) -> list[tuple[int, int]] | None:
    """Return pairs of edges, one on either side of a cut, that span a face; None: too many."""
    ahead, behind = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
    if ahead.size * behind.size > _MOST_PAIRS:
        return None
    both = marks[ahead, None] & marks[behind]
    found = []
    for i, j in zip(*np.nonzero(np.bitwise_count(both) >= least), strict=True):
        if np.count_nonzero(marks & both[i, j] == both[i, j]) == 2:  # noqa: PLR2004 (themselves)
            found.append((int(ahead[i]), int(behind[j])))
    return found


def _independent(sides: list[list[int]]) -> list[int] | None:
    """Return the first inequalities that no others before them make, as many as coordinates."""
    reduced: list[tuple[int, list[Fraction]]] = []
    chosen: list[int] = []
    for i, side in enumerate(sides):
        row = [Fraction(x) for x in side]
        for pivot, other in reduced:
            if row[pivot]:
                times = row[pivot] / other[pivot]
                row = [x - times * y for x, y in zip(row, other, strict=True)]
        at = next((k for k, x in enumerate(row) if x), None)
        if at is not None:
            reduced.append((at, row))
            chosen.append(i)
    return chosen if len(chosen) == len(sides[0]) else None


def _simplex(sides: list[list[int]], first: list[int]) -> tuple[list[list[int]], Marks]:
    """Return the edges of the cone of as many inequalities as coordinates, and what they touch."""
    n = len(first)
    rows = [
        [Fraction(x) for x in sides[i]] + [Fraction(int(j == k)) for k in range(n)]
        for j, i in enumerate(first)
    ]
    for k in range(n):
        at = next(j for j in range(k, n) if rows[j][k])
        rows[k], rows[at] = rows[at], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for j in range(n):
            if j != k and rows[j][k]:
                times = rows[j][k]
                rows[j] = [x - times * y for x, y in zip(rows[j], rows[k], strict=True)]
    edges = [_integral([rows[j][n + k] for j in range(n)]) for k in range(n)]
    every = sum(1 << i for i in first)
    return edges, np.array([every ^ (1 << i) for i in first], dtype=np.uint64)


def _integral(row: list[Fraction]) -> list[int]:
    """Return the row times what makes it whole."""
    common = math.lcm(*(x.denominator for x in row))
    return _reduced([int(x * common) for x in row])


def _reduced(row: list[int]) -> list[int]:
    common = math.gcd(*row) or 1
    return [x // common for x in row]


@final
class CornerSet(PointSet):
    """What slabs share, by its corners; a point is encoded as its coordinates about the middle.

    Args:
        section: K about the middle.
        middle: a point inside, shape (d,).
        corners: what `section_corners` says, shape (N, d).
    """

    def __init__(self, section: Section, middle: Vector, corners: Vector) -> None:
        super().__init__(frozen(middle + corners))
        self._inner = SectionSet(section, middle)
        self._corners = corners

    @property
    def width(self) -> int:
        """The coordinates."""
        return self.dimension

    @property
    def spanning(self) -> Vector:
        """Corners that span it."""
        return self.encoded(super().spanning[:, 0].astype(np.int64))

    @property
    def doubt(self) -> Vector:
        """What adding the middle rounds."""
        return self._inner.doubt

    def encoded(self, indices: Integers) -> Vector:
        """Return the corners of those numbers, shape (n, d)."""
        return np.asarray(self._corners[indices])

    def place(self, encoded: Vector) -> Vector:
        """Return the points, brought inside."""
        return self._inner.place(encoded)

    def knows(self, encoded: Vector) -> bool:
        """Return whether they are numbers: all are brought inside."""
        return bool(np.all(np.isfinite(encoded)))


def section_set(section: Section, middle: Vector) -> SectionSet | CornerSet:
    """Return the set by its corners where they are few, and by its quadratics elsewhere.

    Args:
        section: K about the middle.
        middle: a point inside, shape (d,).
    """
    corners = section_corners(section, middle)
    if corners is None:
        return SectionSet(section, middle)
    return CornerSet(section, middle, corners)
