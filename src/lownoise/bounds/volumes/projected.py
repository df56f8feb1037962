# SPDX-License-Identifier: Apache-2.0
"""The volume of a body seen through a linear map, from below: exact where its form is known."""

from __future__ import annotations

import math
from functools import lru_cache, singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.bounds.volume import ball_log_volume
from lownoise.bounds.volumes.hulls import (
    log_gram_down,
    log_hull_down,
    log_zonotope_down,
)
from lownoise.numbers.rounding import FEW, TINY, growth, lowered, shrunk
from lownoise.sets.bodies import (
    ImageBody,
    PointDifferences,
    SymmetricBox,
    SymmetricPoints,
)
from lownoise.sets.unit_balls import MixedBall, NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.unit_balls import AbstractUnitBall

_MOST_WORK = 1 << 24
_MOST_PAIRS = 4000
_REMEMBERED = 1 << 16  # numbers of points whose hull's volume is remembered


@singledispatch
def log_volume_down(body: object, matrix: Vector) -> float:
    """Return at most ln vol_k(A·S), and that, up to rounding, wherever the volume has a form.

    Forms are known of boxes and sums of segments (few), balls of ℓ₂ and their images, balls of
    other norms and products of balls where A has as many rows as they have coordinates, and hulls
    of points in few dimensions. Elsewhere a part of the body gives the bound; −∞ where none is
    known.

    Args:
        body: S.
        matrix: A, shape (k, d).

    Examples:
        >>> round(math.exp(log_volume_down(SymmetricBox(np.array([1.0, 2.0])), np.eye(2))), 6)
        8.0
    """
    return -math.inf


@log_volume_down.register(SymmetricBox)
def _box_log_volume(body: SymmetricBox, matrix: Vector) -> float:
    used = body.half_width > 0
    if not np.any(used):
        return -math.inf
    return _segments(body.half_width[used], matrix[:, used])


@log_volume_down.register(SymmetricPoints)
def _points_log_volume(body: SymmetricPoints, matrix: Vector) -> float:
    return _hull(body.points, matrix)


@log_volume_down.register(PointDifferences)
def _differences_log_volume(body: PointDifferences, matrix: Vector) -> float:
    # all differences where they are few, else those from the point in the middle of them
    points, count = body.points, len(body.points)
    if count * (count - 1) // 2 <= _MOST_PAIRS:
        first, second = np.triu_indices(count, 1)
    else:
        far = np.linalg.norm(points - points.mean(axis=0), axis=1)
        first = np.delete(np.arange(count), int(np.argmin(far)))
        second = np.full(count - 1, int(np.argmin(far)))
    if not first.size:
        return -math.inf
    # a difference is off by a rounding, as one more operation of the product
    return _hull(points[first] - points[second], matrix)


@log_volume_down.register(ImageBody)
def _image_log_volume(body: ImageBody, matrix: Vector) -> float:
    used = (
        np.any(matrix, axis=0) if body.diagonal else np.any(np.abs(matrix) @ np.abs(body.dense), 0)
    )
    kept = np.flatnonzero(used & np.any(body.dense, axis=0))
    if kept.size < len(matrix):
        return -math.inf
    base: AbstractUnitBall | None = body.base
    factor = body.dense[:, kept]
    if kept.size < body.base.dimension:  # no more is seen than of this projection
        base = body.base.restricted(kept)
    if base is None:
        return _hull(_axes(body.base, body.dense), matrix)
    if isinstance(base, NormBall) and math.isinf(base.order):
        if body.diagonal:
            return _segments(np.abs(body.factor[kept]), matrix[:, kept])
        return log_zonotope_down(*_product(factor.T, matrix))
    found = _hull(_axes(base, factor), matrix)
    if matrix.size * kept.size > _MOST_WORK:
        return found
    k = len(matrix)
    known = base_log_volume(base) if k == kept.size else math.nan
    if math.isnan(known):
        radius = _round_part(base)
        known = k * math.log(radius) + ball_log_volume(k) if radius > 0 else -math.inf
    return max(found, lowered(log_gram_down(matrix, factor) + known, 1 + min(abs(known), 1e9)))


def _axes(base: AbstractUnitBall, factor: Vector) -> Vector:
    """Return points of F·B, one on each axis of B, shape (n, d)."""
    inside = shrunk(1.0, FEW) / base.norm_up(np.eye(base.dimension))
    return np.asarray((factor * inside).T)


def base_log_volume(base: AbstractUnitBall) -> float:
    """Return ln vol(B) of a unit body, to about 12 digits; nan where it has no known form.

    Parts of dimensions k_i joined by ℓ_r have Π vol(B_i)·Π Γ(k_i/r + 1)/Γ(Σk_i/r + 1) (Dirichlet).

    Examples:
        >>> disc_and_segment = MixedBall((NormBall(2, 2.0), NormBall(1, 2.0)), order=math.inf)
        >>> round(math.exp(base_log_volume(disc_and_segment)) / math.pi, 9)
        2.0
    """
    if isinstance(base, NormBall):
        return ball_log_volume(base.size, base.order)
    if not isinstance(base, MixedBall):
        return math.nan
    found = sum(base_log_volume(part) for part in base.parts)
    if math.isinf(base.order):
        return found
    sizes = [part.dimension / base.order for part in base.parts]
    return found + sum(math.lgamma(s + 1) for s in sizes) - math.lgamma(sum(sizes) + 1)


def _round_part(base: AbstractUnitBall) -> float:
    """Return the radius of a round ball in B; 0 where none is known."""
    if not isinstance(base, NormBall):
        return 0.0
    if base.order >= 2:  # noqa: PLR2004
        return 1.0
    return shrunk(math.exp((0.5 - 1 / base.order) * math.log(base.size)), TINY)


def _segments(half_width: Vector, matrix: Vector) -> float:
    """Return at most ln vol of the image of a box."""
    k = len(matrix)
    single = np.count_nonzero(matrix, axis=1) == 1
    columns = np.argmax(matrix != 0, axis=1)
    if np.all(single) and np.unique(columns).size == k:
        sides = np.abs(matrix[np.arange(k), columns])
        logs = np.log(2 * half_width[columns]) + np.log(sides)
        return lowered(math.fsum(logs), 1 + math.fsum(np.abs(logs)), TINY)
    product, off = _product(np.diag(half_width), matrix)
    return log_zonotope_down(product, off)


def _product(points: Vector, matrix: Vector) -> tuple[Vector, float]:
    """Return A·x for each point, in floats, and at least how far each is off."""
    d = points.shape[1]
    sizes = np.linalg.norm(np.abs(points) @ np.abs(matrix).T, axis=1)
    off = growth(d + 12) * float(np.max(sizes)) * (1 + growth(d + len(matrix) + 20))
    return points @ matrix.T, off


def _hull(points: Vector, matrix: Vector) -> float:
    product, off = _product(points, matrix)
    if product.size > _REMEMBERED:
        return log_hull_down(product, off)
    return _cached_hull(product.shape, product.tobytes(), off)


@lru_cache(maxsize=64)  # every mechanism of a question, and a file of it that is read, ask the same
def _cached_hull(shape: tuple[int, ...], product: bytes, off: float) -> float:
    return log_hull_down(np.frombuffer(product).reshape(shape), off)
