# SPDX-License-Identifier: Apache-2.0
"""The nearest point of the hull of a few points, by its faces: many rows at once, nothing searched.

A hull is filled by the simplices that the facets of its boundary make with a point inside: a row
in one of them is a mixture of its corners. The nearest point to another row lies within some face
of the boundary, and is what that face's plane has nearest: so the nearest of those that are in
their faces is the one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Integers, Vector

_MOST_FACETS = 2.0**12  # that so many points can have in so many dimensions
_MOST_NUMBERS = 2**14  # of the maps of all cells
_MOST_FACES = 300
_FLAT = 1e-12
_REGULAR = 1e-4  # how far from singular every simplex must be, or floats find the nearest badly
_WITHIN = 1e-13


@final
@dataclass(frozen=True, eq=False)
class Faces:
    """What fills a hull of r dimensions about 0, and the faces of its boundary.

    Args:
        axes: orthonormal, of the flat that the hull fills, shape (r, d).
        corners: the points along them, shape (N, r).
        cells: the numbers of the points of each facet, a simplex, shape (f, r).
        filling: from r coordinates to the weights of those points, 0 having the rest, (f, r, r).
        faces: the numbers of the points of each face, shape (g, r); those beyond its own weigh 0.
            None where there are too many.
        maps: from r coordinates to weights in a face, less `offsets`, shape (g, r, r).
        offsets: shape (g, r).
    """

    axes: Vector
    corners: Vector
    cells: Integers
    filling: Vector
    faces: Integers | None
    maps: Vector
    offsets: Vector

    def nearest(self, goals: Vector) -> tuple[Integers, Vector, Chosen]:
        """Return the points that mix to what is nearest to each goal, and their weights.

        Every number is made by the same operations whatever the other goals.

        Args:
            goals: shape (m, d).

        Returns:
            The numbers of points, −1 for 0, and weights, both (m, r + 1); and which rows are told,
            shape (m,): all, or where the faces are too many those inside.
        """
        y = _combined(goals, self.axes)
        weights = _combined(y, self.filling)
        at = np.argmax(np.min(weights, axis=2), axis=1)
        own = np.maximum(weights[np.arange(len(y)), at], 0.0)
        total = np.zeros(len(y))
        for column in own.T:
            total += column
        picked = np.hstack([self.cells[at], np.full((len(y), 1), -1)])
        mixed = np.column_stack([own, np.maximum(1 - total, 0.0)])
        outside = total > 1 + _WITHIN
        if self.faces is None:
            return picked, mixed, ~outside
        if np.any(outside):
            picked[outside, :-1], mixed[outside] = self._on_the_boundary(self.faces, y[outside])
        return picked, mixed, np.ones(len(y), dtype=np.bool_)

    def _on_the_boundary(self, faces: Integers, y: Vector) -> tuple[Integers, Vector]:
        weights = _combined(y, self.maps) + self.offsets
        left = np.zeros((len(y), len(faces)))
        corners = self.corners[faces]
        for j in range(y.shape[1]):
            reached = np.zeros_like(left)
            for k in range(y.shape[1]):
                reached += weights[:, :, k] * corners[None, :, k, j]
            left += np.square(y[:, j : j + 1] - reached)
        left[np.min(weights, axis=2) < -_WITHIN] = np.inf
        at = np.argmin(left, axis=1)
        own = np.maximum(weights[np.arange(len(y)), at], 0.0)
        return faces[at], np.column_stack([own, np.zeros(len(y))])


def faces_of(points: Vector) -> Faces | None:
    """Return the faces of the hull of points about their mean; None where they are many, or thin.

    Args:
        points: shape (N, d), 0 inside of the flat that they fill.

    Examples:
        >>> square = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        >>> found = faces_of(square)
        >>> len(found.cells), len(found.faces)
        (4, 8)
        >>> picked, weights, _ = found.nearest(np.array([[3.0, 0.5]]))
        >>> (weights[0] @ np.vstack([square, np.zeros(2)])[picked[0]]).tolist()
        [1.0, 0.5]
    """
    if len(points) < 2:  # noqa: PLR2004
        return None
    _, sizes, turned = np.linalg.svd(points, full_matrices=False)
    r = int(np.count_nonzero(sizes > _FLAT * sizes[0]))
    half = (r + 1) // 2  # no hull of N points has more facets than a cyclic polytope
    most = 2.0 * math.comb(max(len(points) - half, 0), r // 2)
    if most > _MOST_FACETS or sizes[r - 1] < _REGULAR * sizes[0]:
        return None
    corners = points @ turned[:r].T
    cells = _boundary(corners)
    if cells is None or cells.size * r > _MOST_NUMBERS:
        return None
    filled = corners[cells].transpose(0, 2, 1)
    if np.min(np.linalg.svd(filled, compute_uv=False)[:, -1]) < _REGULAR:
        return None
    faces, maps, offsets = _maps(corners, cells)
    return Faces(
        axes=frozen(turned[:r].copy()),
        corners=frozen(corners),
        cells=cells,
        filling=np.linalg.inv(filled),
        faces=faces,
        maps=maps,
        offsets=offsets,
    )


def _maps(corners: Vector, cells: Integers) -> tuple[Integers | None, Vector, Vector]:
    """Return the faces of all facets once, and what maps a point to its weights in their planes."""
    r = corners.shape[1]
    none = (None, np.zeros((0, r, r)), np.zeros((0, r)))
    if len(cells) * 2.0**r > 4 * _MOST_FACES:
        return none
    each = {face for cell in cells.tolist() for k in range(r) for face in combinations(cell, k + 1)}
    if len(each) > _MOST_FACES:
        return none
    faces = np.zeros((len(each), r), dtype=np.int64)
    maps, offsets = np.zeros((len(each), r, r)), np.zeros((len(each), r))
    for i, face in enumerate(sorted(each)):
        k, first = len(face), corners[face[0]]
        faces[i], faces[i, :k] = face[0], face
        if k > 1:
            along = (corners[list(face[1:])] - first).T
            if np.linalg.svd(along, compute_uv=False)[-1] < _REGULAR:
                return none
            maps[i, 1:k] = np.linalg.pinv(along)
            maps[i, 0] = -np.sum(maps[i, 1:k], axis=0)
        offsets[i] = -maps[i] @ first
        offsets[i, 0] += 1.0
    return faces, maps, offsets


def _boundary(corners: Vector) -> Integers | None:
    """Return the facets, each a simplex, its points rising, (f, r); None where none is found."""
    from scipy.spatial import ConvexHull, QhullError

    if corners.shape[1] == 1:
        return np.array([[np.argmin(corners)], [np.argmax(corners)]])
    try:
        found = ConvexHull(corners, qhull_options="Qt")
    except QhullError:
        return None
    return np.sort(found.simplices.astype(np.int64), axis=1)


def _combined(rows: Vector, stack: Vector) -> Vector:
    """Return Σⱼ stack[…, j]·rows[:, j], one term at a time; (m, n) and (…, n) to (m, …)."""
    flat = stack.reshape(-1, rows.shape[1])
    found = np.zeros((len(rows), len(flat)))
    for j in range(rows.shape[1]):
        found += rows[:, j : j + 1] * flat[:, j]
    return found.reshape(len(rows), *stack.shape[:-1])
