# SPDX-License-Identifier: Apache-2.0
"""The norm of a body of changes: the least unit ball around it that can be sampled exactly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, triangle_of
from lownoise.sets.norms.abstract import among, blocks_of, distinct
from lownoise.sets.norms.combination import (
    HullNorm,
    SimplexNorm,
    ZonotopeNorm,
    edges_of,
    inverse_of,
)
from lownoise.sets.norms.image import ImageNorm, UnitBallNorm, no_sampler, sampler_of, simplest
from lownoise.sets.norms.product import PlacedNorm, WalkNorm
from lownoise.sets.norms.spanned import SpannedNorm
from lownoise.sets.unit_balls import CappedBall, NormBall, product_ball

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies import AbstractBody, ImageBody
    from lownoise.sets.norms.abstract import AbstractNorm

_ROUNDS = 4
_MORE = 2.0**-46  # of a norm, so that what is rounded again is covered
_EUCLID = 2.0
_MOST_DIFFERENCES = 1 << 13
_MOST_OF_CORNERS = 6  # dimensions in which hulls of corners are cut up in a second
_MOST_CORNERS = 128  # of those, one of each and its opposite
_FACETED = 10  # dimensions, beyond which facets are not asked for
_FEW_DIMENSIONS = 4  # in which hulls of many points have few facets


def norm_of(body: AbstractBody, distance: float = 0.0) -> AbstractNorm:
    """Return the norm whose unit ball is the body of changes, or hardly more.

    Coordinates that never move get no noise.

    Args:
        body: what one neighbour can change of the final integers.
        distance: what total variation is allowed, where no sampler is exact; at 0 all are.

    Raises:
        PlanError: where no such unit ball can be sampled exactly: what stands in the way, and what
            to do.

    Examples:
        >>> from lownoise.sets.bodies import SymmetricBox
        >>> norm = norm_of(SymmetricBox(np.array([3.0, 4.0])))
        >>> norm.factor, norm.base
        (array([3., 4.]), NormBall(size=2, order=inf))
        >>> norm.sensitivity_up(SymmetricBox(np.array([3.0, 4.0])))
        1.0
    """
    found = chosen(body, distance)
    _ = found.uniform  # a walk says only now whether it is too long
    return found


def chosen(body: AbstractBody, distance: float) -> AbstractNorm:
    """Return the same before it is asked for a sampler, which a body around it may not need."""
    moving = np.flatnonzero(body.widths())
    if moving.size == body.dimension:
        try:
            return body.norm(distance)
        except PlanError:
            if body.dimension > 1:
                raise
            # whatever it is, on one line it is an interval
            return ImageNorm(frozen(body.widths()), NormBall(1, math.inf))
    if not moving.size:
        raise PlanError("no neighbour changes any answer; publish it without noise")
    own = body.projected(moving)
    if own is None:
        raise PlanError(
            f"no neighbour changes {body.dimension - moving.size} of {body.dimension} answers; "
            "leave those out of the question",
        )
    return PlacedNorm(own.norm(distance), moving, body.dimension)


def unknown(body: AbstractBody) -> PlanError:
    """Return the refusal of a body that no sampler is known for."""
    return PlanError(
        "no exact sampler is known for all that one neighbour can change, in "
        f"{body.dimension} dimensions; use another mechanism or (ε, δ), or ask for means over a "
        "box, a ball, an ellipsoid or a short list of points",
    )


def of_image(body: ImageBody, distance: float) -> AbstractNorm:
    """Return the norm of an image of a unit ball; arguments and errors as `norm_of`."""
    d, k, order = body.dimension, body.base.dimension, body.base.ball_order
    found = _of_corners(body)
    if found is None and isinstance(body.base, CappedBall) and d == k:
        found = enlarged(_capped(body, body.base), body)
    if found is not None:
        return found
    if not blocks_of(body.base):
        known = body.base.admitted or sampler_of(body.base) is not None
        if known and (body.diagonal or d == k):
            return UnitBallNorm(body.factor, body.base, distance)
        raise no_sampler(d)
    if body.diagonal or d == k:
        return ImageNorm(simplest(body.factor, body.base), body.base)
    if d > k:
        raise _flat(d, f"come from {k} numbers")
    if order == 1:
        return of_points(body.factor.T)
    if order == math.inf:
        return ZonotopeNorm(frozen(np.ascontiguousarray(body.factor.T)))
    if order == _EUCLID:
        return _ellipsoid(body)
    raise PlanError(
        f"an image in {d} dimensions of a ball of order {order or 'mixed'} in {k} has no exact "
        "sampler; use (ε, δ), or a domain of order 1, 2 or inf",
    )


def _flat(dimension: int, why: str) -> PlanError:
    return PlanError(
        f"changes of {dimension} answers {why}: they are flat; leave out answers that "
        "follow from others, or give a body of changes with width",
    )


def of_points(points: Vector) -> AbstractNorm:
    """Return the norm of the hull of points and their opposites, shape (N, d).

    By its facets in up to ten dimensions where these are not too many, else by linear programmes.

    Raises:
        PlanError: where they are flat, or of too many dimensions.
    """
    rows = distinct(points)
    n, d = rows.shape
    found = _simple(rows)
    if found is None:
        rows = hull_vertices(rows, symmetric=True)
        found = _simple(rows)
    if found is not None:
        return found
    if n < d:
        raise _flat(d, f"are made of {n} points")
    if d > _FACETED:
        return SpannedNorm(rows)
    try:
        norm = HullNorm(rows)
    except PlanError:  # too many facets
        return SpannedNorm(rows)
    # what lies on a facet is of the hull for certain if it is one of its points
    every = distinct(points)
    edge = every[norm.norm_up(every) > 1]
    return HullNorm(frozen(np.vstack([rows, edge]))) if len(edge) else norm


def of_differences(points: Vector) -> AbstractNorm:
    """Return the norm of all x − y in the simplest form: of a box, a hull, a simplex's differences.

    Args:
        points: shape (N, d), with differences that are floats, or nearly.

    Raises:
        PlanError: where there are too many of them.

    Examples:
        >>> square = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [3.0, 4.0], [1.0, 2.0]])
        >>> of_differences(square).factor
        array([3., 4.])
    """
    rows = np.unique(points + 0.0, axis=0)
    n, d = rows.shape
    least, most = np.min(rows, axis=0), np.max(rows, axis=0)
    if _corners_among(rows, least, most):
        return ImageNorm(frozen(most - least), NormBall(d, math.inf))
    rows = hull_vertices(rows, symmetric=False)
    n = len(rows)
    # K − K = 2(K − c) where K has a center: the differences of opposite points
    if np.all(rows[::-1] == (rows[0] + rows[-1]) - rows):
        return of_points(distinct(rows - rows[::-1]))
    if n == d + 1:
        return SimplexNorm(edges_of(rows)[0])
    if n * (n - 1) // 2 > _MOST_DIFFERENCES:
        raise PlanError(
            f"the differences of {n:,} points in {d} dimensions are too many to be sampled "
            "exactly; use (ε, δ), or relation='add_remove'",
        )
    first, second = np.triu_indices(n, 1)
    return of_points(distinct(rows[first] - rows[second]))


def _corners_among(rows: Vector, least: Vector, most: Vector) -> bool:
    n, d = rows.shape
    if d >= n.bit_length():
        return False
    bits = (np.arange(1 << d)[:, None] >> np.arange(d)) & 1
    corners = np.where(bits == 1, most, least)
    # `among` takes opposites for the same: about the least corner there are none
    return bool(np.all(among(corners - least, rows - least)))


def _simple(rows: Vector) -> AbstractNorm | None:
    """Return the norm of a cross-polytope's or a cube's image, of which few numbers are enough."""
    n, d = rows.shape
    if d == 1 and n:
        return ImageNorm(frozen(np.max(np.abs(rows), axis=0)), NormBall(1, math.inf))
    if n == d:
        return _of_columns(rows, 1.0)
    generators = parallelepiped(rows)
    if generators is None:
        return None
    return _of_columns(generators, math.inf)


def _of_columns(rows: Vector, order: float) -> ImageNorm:
    base = NormBall(len(rows), order)
    return ImageNorm(simplest(frozen(np.ascontiguousarray(rows.T)), base), base)


def _of_corners(body: ImageBody) -> AbstractNorm | None:
    """Return the norm of the hull of an image's corners; None where they or facets are many.

    Its facets know the body's reach, so that it is enlarged by what rounding leaves out.
    """
    d = body.dimension
    if body.corners is None or len(body.corners) > _MOST_CORNERS or d > body.base.dimension:
        return None
    if not 1 < d <= _MOST_OF_CORNERS:
        return None
    try:
        return enlarged(of_points(body.corners @ body.dense.T), body)
    except PlanError:  # too many facets
        return None


def _capped(body: ImageBody, base: CappedBall) -> AbstractNorm:
    """Return F·(ball ∩ caps) as all s with X·s in both, X nearly the inverse of F."""
    inverse = inverse_of(body.dense, base).matrix
    rows = np.vstack([inverse, inverse / base.cap[:, None]])
    d = base.dimension
    return WalkNorm(frozen(rows), product_ball([NormBall(d, _EUCLID), NormBall(d, math.inf)]))


def _ellipsoid(body: ImageBody) -> AbstractNorm:
    """Return F·B₂ ⊂ R^d, for F with more columns than rows, as an image of the ball in R^d."""
    unit = np.max(np.abs(body.factor), axis=1, keepdims=True)
    root = triangle_of((body.factor / unit).T).T * unit
    return enlarged(ImageNorm(frozen(root), NormBall(body.dimension, _EUCLID)), body)


def enlarged(norm: AbstractNorm, body: AbstractBody) -> AbstractNorm:
    """Return the norm, scaled until its unit ball holds the body, or all but a rounding of it."""
    extent, scale = norm.sensitivity_up(body), 1.0
    found = norm
    for _ in range(_ROUNDS):
        if extent <= 1:
            break
        scale *= extent * (1 + _MORE)
        found = norm.scaled(scale)
        extent = found.sensitivity_up(body)
    return found


def hull_vertices(rows: Vector, *, symmetric: bool) -> Vector:
    """Return the points without those inside the hull, where that is soon found, in their order.

    Whatever is left out wrongly is missed in a hull's reach, never in what it costs.

    Args:
        rows: shape (N, d).
        symmetric: whether the hull holds their opposites, too.
    """
    n, d = rows.shape
    if not 1 < d <= _FEW_DIMENSIONS or n <= d + (not symmetric):
        return rows
    from scipy.spatial import ConvexHull, QhullError

    about = rows if symmetric else rows - rows[0]
    unit = np.max(np.abs(about), axis=0)
    about = about / np.where(unit > 0, unit, 1.0)
    try:
        kept = ConvexHull(np.vstack([about, -about]) if symmetric else about).vertices
    except QhullError:
        return rows
    return frozen(np.ascontiguousarray(rows[np.unique(kept % n)]))


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
