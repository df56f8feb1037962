# SPDX-License-Identifier: Apache-2.0
"""Images F·B: in coordinates that are covered best, and their nearest points; hulls of few points.

Of an image all records at once where B is made of norms and caps; of other bodies, as hulls of
round ones, and those known by their extreme points, one by one.

A hull of few points is filled by the simplices that the facets of its boundary make with a point
inside: a row in one of them is a mixture of its corners. The nearest point to another row lies
within some face of the boundary, and is what that face's plane has nearest: so the nearest of those
that are in their faces is the one. Many rows at once, nothing searched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.sets.unit_balls import NormBall, SpectralBall
from lownoise.sets.unit_balls.mixtures import mixture

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.sets.unit_balls import AbstractUnitBall

_MOST_FACETS = 2.0**12  # that so many points can have in so many dimensions
_MOST_NUMBERS = 2**14  # of the maps of all cells
_MOST_FACES = 300
_FLAT = 1e-12
_REGULAR = 1e-4  # how far from singular every simplex must be, or floats find the nearest badly
_WITHIN = 1e-13
_STRAIGHT = 1e-12  # of the trace: what counts as diagonal already
_INVERTED = 1e-10  # how far from singular a factor must be, its columns of one length


def turned(base: AbstractUnitBall, factor: Vector) -> Vector:
    """Return F' with F'·B = F·B that the program covers better, or F itself.

    X ↦ UᵀXV maps a body of singular values onto itself, so F·(U ⊗ V) has the same image, up to
    rounding. The ellipsoids that are known to cover the body are Σ (aᵢ + bⱼ)xᵢⱼ² ≤ 1, in all such
    coordinates the family tr AXXᵀ + tr BXᵀX ≤ 1. Those where the partial traces of FᵀF are diagonal
    are a good choice: there F = P ⊗ Q has orthogonal columns, and the sums of a contraction's rows
    are covered exactly. Where an eigenvalue is multiple the choice is not unique.

    Args:
        base: B; only a body of matrices has such maps.
        factor: F, shape (d, k); or shape (d,), a diagonal, which has diagonal traces already.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> row_sums = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
        >>> np.abs(turned(SpectralBall(2, 2, NormBall(2, np.inf)), row_sums)).round(6)
        array([[0.      , 1.414214, 0.      , 0.      ],
               [0.      , 0.      , 0.      , 1.414214]])
    """
    if factor.ndim == 1 or not isinstance(base, SpectralBall):
        return factor
    maps = factor.reshape(-1, base.rows, base.columns)
    # in parts of the largest entry, so that no square overflows
    unit = float(np.max(np.abs(maps)))
    if not unit:
        return factor
    scaled = maps / unit
    left = _axes(np.concatenate(list(scaled), axis=1).T)
    right = _axes(np.concatenate(list(scaled), axis=0))
    if left is None and right is None:
        return factor
    if left is not None:
        maps = left.T @ maps
    if right is not None:
        maps = maps @ right
    return frozen(np.ascontiguousarray(maps.reshape(factor.shape)))


def narrowed(base: AbstractUnitBall, factor: Vector) -> tuple[Vector, AbstractUnitBall]:
    """Return an injective factor, and its ball, where B is a Euclidean ball and F is not injective.

    With F = UΣVᵀ the image F·B is UΣ times the ball of as many coordinates as F has rank, up to
    rounding. Records outside an injective image need no search.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> narrow, ball = narrowed(NormBall(2, 2.0), np.array([[3.0, 4.0]]))
        >>> np.abs(narrow).round(9), ball.size
        (array([[5.]]), 1)
    """
    if factor.ndim == 1 or not isinstance(base, NormBall) or base.order != 2:  # noqa: PLR2004
        return factor, base
    unit = float(np.max(np.abs(factor)))
    if not unit:
        return factor, base
    left, sizes, _ = np.linalg.svd(factor / unit, full_matrices=False)
    kept = sizes > _STRAIGHT * sizes[0]
    rank = int(np.count_nonzero(kept))
    if rank == factor.shape[1]:
        return factor, base
    narrow = left[:, kept] * (sizes[kept] * unit)
    return frozen(np.asarray(narrow)), NormBall(rank, 2.0)


def _axes(rows: Vector) -> Vector | None:
    """Return the eigenvectors of rowsᵀ·rows as columns; None where it is diagonal already."""
    gram = rows.T @ rows
    off = gram - np.diag(np.diag(gram))
    if np.max(np.abs(off)) <= _STRAIGHT * float(np.trace(gram)):
        return None
    return np.asarray(np.linalg.eigh(gram)[1])


def left_inverse(factor: Vector) -> Vector | None:
    """Return a left inverse of F, shapes (d, k) and (k, d); None where F is not injective."""
    size = np.linalg.norm(factor, axis=0)
    d, k = factor.shape
    if k > d or not np.all(size > 0):
        return None
    scaled = factor / size
    if np.linalg.svd(scaled, compute_uv=False)[-1] < _INVERTED:
        return None
    return np.asarray(np.linalg.pinv(scaled) / size[:, None])


def nearest_weights(
    factor: Vector, base: AbstractUnitBall, points: Vector, extent: Vector
) -> Vector:
    """Return x in B whose image F·x is nearest to each point, in parts of each coordinate's reach.

    A coordinate beyond twice its reach counts as twice its reach. No row's answer depends on the
    other rows.

    Args:
        factor: F, shape (d, k).
        base: B, k coordinates.
        points: shape (m, d), about the center.
        extent: the unit of each coordinate, shape (d,); where it is 0 the point counts for nothing.

    Returns:
        x with a norm of at most 1, within rounding, shape (m, k).

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> hexagon = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
        >>> cube, far = NormBall(3, np.inf), np.array([[9.0, 1.0]])
        >>> x = nearest_weights(hexagon, cube, far, 2 * np.ones(2))
        >>> (hexagon @ x[0]).round(6)
        array([2., 1.])
    """
    scaled, goals = _in_extents(factor, points, extent)
    limits = base.limits
    if limits is None:
        return np.array([_corrected(scaled, base, goal) for goal in goals])
    found = limits.nearest(scaled, goals)
    return np.asarray(found / np.maximum(base.norm_up(found), 1.0)[:, None])


def corrected_weights(
    factor: Vector, base: AbstractUnitBall, point: Vector, extent: Vector
) -> Vector:
    """Return the same for one point, shape (d,), by mixtures of extreme points.

    Slower and, where B has flat faces, sharper: a polytope's nearest point is found after finitely
    many steps, to the last digits.
    """
    scaled, goals = _in_extents(factor, point[None], extent)
    return _corrected(scaled, base, goals[0])


def _in_extents(factor: Vector, points: Vector, extent: Vector) -> tuple[Vector, Vector]:
    unit = np.where(extent > 0, extent, 1.0)
    goals = np.where(extent > 0, np.clip(points / unit, -2.0, 2.0), 0.0)
    return factor / unit[:, None], goals


def _corrected(scaled: Vector, base: AbstractUnitBall, goal: Vector) -> Vector:
    """Return x in B by fully corrective conditional gradients.

    The best mixture of the extreme points so far, then the point of B that is extreme along what
    is left, until that gains less than 1e-10 of the distance already covered.
    """
    found = mixture(scaled, base.extreme, base.dimension, goal)
    return np.asarray(found / max(float(base.norm_up(found[None])[0]), 1.0))


def nearest_point(
    extreme: Callable[[Vector], Vector], home: Vector, point: Vector, extent: Vector
) -> Vector:
    """Return a mixture of extreme points that is nearest to `point`, in parts of `extent`.

    As `nearest_weights`, of a body that is known by its extreme points.

    Args:
        extreme: directions, shape (n, d), to points of the body, shape (n, d).
        home: a point of the body, shape (d,).
        point: shape (d,).
        extent: the unit of each coordinate, shape (d,); where it is 0 the point counts for nothing.

    Examples:
        >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> found = nearest_point(lambda rows: corners[np.argmax(rows @ corners.T, axis=1)],
        ...                       corners[0], np.array([1.0, 1.0]), np.ones(2))
        >>> found.round(9)
        array([0.5, 0.5])
    """
    unit = np.where(extent > 0, extent, 1.0)
    goal = np.where(extent > 0, np.clip((point - home) / unit, -2.0, 2.0), 0.0)
    wide = extent > 0

    def pulled(directions: Vector) -> Vector:
        moved = extreme(np.where(wide, directions / unit, 0.0)) - home
        return np.where(wide, moved / unit, 0.0)

    return np.asarray(home + unit * mixture(np.eye(home.size), pulled, home.size, goal))


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
            nearest = np.zeros_like(left)
            for k in range(y.shape[1]):
                nearest += weights[:, :, k] * corners[None, :, k, j]
            left += np.square(y[:, j : j + 1] - nearest)
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
