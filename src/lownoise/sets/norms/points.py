# SPDX-License-Identifier: Apache-2.0
"""Lists of points in their shortest form: without what is inside, and as parallelepipeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import PointDifferences, SymmetricBox, SymmetricPoints
from lownoise.sets.norms.combination import among, distinct

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_FEW_DIMENSIONS = 4  # in which hulls of many points have few facets
_MOST_DIFFERENCES = 1 << 13


def extreme(rows: Vector) -> Vector:
    """Return the points without those inside the symmetric hull, where that is soon said.

    Whatever is left out wrongly is missed in a hull's reach, never in what it costs.

    Args:
        rows: shape (N, d).
    """
    n, d = rows.shape
    if not 1 < d <= _FEW_DIMENSIONS or n <= d:
        return rows
    from scipy.spatial import ConvexHull, QhullError

    unit = np.max(np.abs(rows), axis=0)
    about = rows / np.where(unit > 0, unit, 1.0)
    try:
        kept = np.unique(ConvexHull(np.vstack([about, -about])).vertices % n)
    except QhullError:
        return rows
    return frozen(np.ascontiguousarray(rows[kept]))


def parallelepiped(rows: Vector) -> Vector | None:
    """Return g with {Σ ±gᵢ} the points and their opposites, exactly; None where there are none.

    From the last corner in lexicographic order p, all p − q are sums of some 2gᵢ, each after 0; the
    first of them that is no sum of those before is the next 2gᵢ.

    Args:
        rows: corners, one of each and its opposite, shape (2^(d − 1), d).

    Returns:
        Shape (d, d), one a row.

    Examples:
        >>> parallelepiped(np.array([[1.0, 1.0], [1.0, -1.0]]))
        array([[0., 1.],
               [1., 0.]])
    """
    n, d = rows.shape
    if d > n.bit_length() or n != 1 << (d - 1):
        return None
    corners = np.vstack([rows, -rows]) + 0.0
    corners = corners[np.lexsort(corners.T[::-1])]
    steps = (corners[-1] - corners)[::-1]  # from 0 up, in lexicographic order
    sums = np.zeros((1, d))
    found: list[Vector] = []
    for i in range(len(steps)):
        if len(found) == d:
            break
        if not np.any(np.all(sums == steps[i], axis=1)):
            found.append(steps[i])
            sums = np.vstack([sums, sums + steps[i]])
    if len(found) < d or len(sums) != len(steps):
        return None
    sums = sums[np.lexsort(sums.T[::-1])]
    return np.array(found) / 2 if np.array_equal(sums, steps) else None


def differences_of(points: Vector) -> SymmetricBox | SymmetricPoints | PointDifferences:
    """Return the body of all x − y in the simplest form: a box, a hull, differences of a simplex.

    Args:
        points: shape (N, d), with differences that are floats, or nearly.

    Raises:
        PlanError: where there are too many of them.

    Examples:
        >>> square = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [3.0, 4.0], [1.0, 2.0]])
        >>> differences_of(square).half_width
        array([3., 4.])
    """
    rows = np.unique(points + 0.0, axis=0)
    n, d = rows.shape
    least, most = np.min(rows, axis=0), np.max(rows, axis=0)
    if _corners_among(rows, least, most):
        return SymmetricBox(frozen(most - least))
    rows = _vertices(rows)
    n = len(rows)
    # K − K = 2(K − c) where K has a center: the differences of opposite points
    if np.all(rows[::-1] == (rows[0] + rows[-1]) - rows):
        return SymmetricPoints(distinct(rows - rows[::-1]))
    if n == d + 1:
        return PointDifferences(frozen(rows))
    if n * (n - 1) // 2 > _MOST_DIFFERENCES:
        raise PlanError(
            f"the differences of {n:,} points in {d} dimensions are too many to be sampled "
            "exactly; use (ε, δ), or relation='add_remove'",
        )
    first, second = np.triu_indices(n, 1)
    return SymmetricPoints(distinct(rows[first] - rows[second]))


def _corners_among(rows: Vector, least: Vector, most: Vector) -> bool:
    n, d = rows.shape
    if d >= n.bit_length():
        return False
    bits = (np.arange(1 << d)[:, None] >> np.arange(d)) & 1
    corners = np.where(bits == 1, most, least)
    # `among` takes opposites for the same: about the least corner there are none
    return bool(np.all(among(corners - least, rows - least)))


def _vertices(rows: Vector) -> Vector:
    """Return the vertices of the hull, in lexicographic order."""
    n, d = rows.shape
    if not 1 < d <= _FEW_DIMENSIONS or n <= d + 1:
        return rows
    from scipy.spatial import ConvexHull, QhullError

    about = rows - rows[0]
    unit = np.max(np.abs(about), axis=0)
    try:
        kept = ConvexHull(about / np.where(unit > 0, unit, 1.0)).vertices
    except QhullError:
        return rows
    return np.asarray(rows[np.sort(kept)])
