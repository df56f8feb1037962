# SPDX-License-Identifier: Apache-2.0
"""The norm of a body of changes: the least unit ball around it that can be sampled exactly."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, triangle_of
from lownoise.sets.bodies import (
    AbstractBody,
    ImageBody,
    JointBody,
    PointDifferences,
    RoundedBody,
    SectionBody,
    SymmetricBox,
    SymmetricPoints,
)
from lownoise.sets.norms.combination import distinct, inverse_of
from lownoise.sets.norms.differences import SimplexNorm, edges_of
from lownoise.sets.norms.hull import HullNorm, ZonotopeNorm
from lownoise.sets.norms.image import ImageNorm, balls_of, simplest
from lownoise.sets.norms.points import differences_of, extreme, parallelepiped
from lownoise.sets.norms.product import PlacedNorm, ProductNorm
from lownoise.sets.norms.walk import WalkNorm, section_rows
from lownoise.sets.norms.weak import WeakNorm
from lownoise.sets.unit_balls import CappedBall, NormBall, product_ball

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.norms.abstract import AbstractNorm

_ROUNDS = 4
_MORE = 2.0**-46  # of a norm, so that what is rounded again is covered
_EUCLID = 2.0


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
        >>> norm = norm_of(SymmetricBox(np.array([3.0, 4.0])))
        >>> norm.factor, norm.base
        (array([3., 4.]), NormBall(size=2, order=inf))
        >>> norm.sensitivity_up(SymmetricBox(np.array([3.0, 4.0])))
        1.0
    """
    found = _chosen(body, distance)
    _ = found.uniform  # a walk says only now whether it is too long
    return found


def _chosen(body: AbstractBody, distance: float) -> AbstractNorm:
    moving = np.flatnonzero(body.widths())
    if moving.size == body.dimension:
        try:
            return _norm_of(body, distance)
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
            f"{type(body).__name__} does not move in {body.dimension - moving.size} of its "
            f"{body.dimension} coordinates; leave those out of the question",
        )
    return PlacedNorm(_norm_of(own, distance), moving, body.dimension)


@singledispatch
def _norm_of(body: AbstractBody, distance: float) -> AbstractNorm:
    return _unknown(body)


def _unknown(body: AbstractBody) -> NoReturn:
    raise PlanError(
        f"no exact sampler is known for {type(body).__name__} in "
        f"{body.dimension} dimensions; use (ε, δ), or a domain that is a box, a "
        "ball, an ellipsoid or a short list of points",
    )


@_norm_of.register(SymmetricBox)
def _of_box(body: SymmetricBox, distance: float) -> AbstractNorm:
    return ImageNorm(body.half_width, NormBall(body.dimension, math.inf))


@_norm_of.register(SymmetricPoints)
def _of_symmetric_points(body: SymmetricPoints, distance: float) -> AbstractNorm:
    return of_points(body.points) if body.image is None else _norm_of(body.image, distance)


@_norm_of.register(PointDifferences)
def _of_differences(body: PointDifferences, distance: float) -> AbstractNorm:
    found = differences_of(body.points)
    if isinstance(found, PointDifferences):
        return SimplexNorm(edges_of(found.points)[0])
    return _norm_of(found, distance)


@_norm_of.register(SectionBody)
def _of_section(body: SectionBody, distance: float) -> AbstractNorm:
    return WalkNorm(section_rows(body), body.section.base)


@_norm_of.register(ImageBody)
def _of_image(body: ImageBody, distance: float) -> AbstractNorm:
    d, k = body.dimension, body.base.dimension
    if isinstance(body.base, CappedBall) and d == k:
        return _enlarged(_capped(body, body.base), body)
    if balls_of(body.base) is None:
        if body.base.admitted and (body.diagonal or d == k):
            return WeakNorm(body.factor, body.base, distance)
        raise PlanError(
            f"{type(body.base).__name__} in {d} dimensions has no exact sampler; use (ε, δ), or a "
            "domain that is an image of an ℓ_r ball or a product of such",
        )
    if body.diagonal or d == k:
        return ImageNorm(simplest(body.factor, body.base), body.base)
    if d > k:
        raise PlanError(
            f"changes of {d} answers come from {k} numbers: they are flat; leave out answers that "
            "follow from others, or give a body of changes with width",
        )
    order = body.base.order if isinstance(body.base, NormBall) else 0.0
    if order == 1:
        return of_points(body.factor.T)
    if math.isinf(order):
        return ZonotopeNorm(frozen(np.ascontiguousarray(body.factor.T)))
    if order == _EUCLID:
        return _ellipsoid(body)
    raise PlanError(
        f"an image in {d} dimensions of a ball of order {order or 'mixed'} in {k} has no exact "
        "sampler; use (ε, δ), or a domain of order 1, 2 or inf",
    )


@_norm_of.register(RoundedBody)
def _of_rounded(body: RoundedBody, distance: float) -> AbstractNorm:
    return _enlarged(_chosen(body.body, distance), body)


@_norm_of.register(JointBody)
def _of_joint(body: JointBody, distance: float) -> AbstractNorm:
    parts = body.product_parts()
    if parts is None:
        return _unknown(body)
    share = distance / len(parts) * (1 - 2.0**-40)  # they add up
    return ProductNorm(tuple(norm_of(part, share) for part in parts))


def of_points(points: Vector) -> AbstractNorm:
    """Return the norm of the hull of points and their opposites, shape (N, d).

    Raises:
        PlanError: where they are flat, or too many.
    """
    rows = distinct(points)
    n, d = rows.shape
    found = _simple(rows)
    if found is None:
        rows = extreme(rows)
        found = _simple(rows)
    if found is not None:
        return found
    if n < d:
        raise PlanError(
            f"changes of {d} answers are made of {n} points: they are flat; leave out answers that "
            "follow from others, or give a body of changes with width",
        )
    norm = HullNorm(rows)
    # what lies on a facet is of the hull for certain if it is one of its points
    every = distinct(points)
    edge = every[norm.norm_up(every) > 1]
    return HullNorm(frozen(np.vstack([rows, edge]))) if len(edge) else norm


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
    return _enlarged(ImageNorm(frozen(root), NormBall(body.dimension, _EUCLID)), body)


def _enlarged(norm: AbstractNorm, body: AbstractBody) -> AbstractNorm:
    """Return the norm, scaled until its unit ball holds the body, or all but a rounding of it."""
    reach, scale = norm.sensitivity_up(body), 1.0
    found = norm
    for _ in range(_ROUNDS):
        if reach <= 1:
            break
        scale *= reach * (1 + _MORE)
        found = norm.scaled(scale)
        reach = found.sensitivity_up(body)
    return found
