# SPDX-License-Identifier: Apache-2.0
"""What no ε-DP mechanism beats for the mean of n records, or the sum of records that come and go.

A bound is only as true as its body: every one here is made of changes that records can make, where
the bodies that privacy rests on are rounded up.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.bounds.directions import directional_bound
from lownoise.bounds.pure import volume_lower_bound
from lownoise.certificate import order_norm
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import grown, shrunk
from lownoise.sets.bodies import ImageBody, PointDifferences, SymmetricBox, SymmetricPoints
from lownoise.sets.domains import Box, Image, Points, Polytope, Product

if TYPE_CHECKING:
    from lownoise.bounds.volume import Records
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies import AbstractBody


def pure_mean_bound(
    domain: object,
    *,
    size: int | None,
    center: Vector,
    epsilon: float,
    order: float = 2.0,
    weights: Vector | None = None,
) -> float:
    """Return what the greatest (E‖ω·error‖_p²)^{1/2} of every ε-DP mechanism is at least.

    The better of a volume bound and of the extents along the coordinates (see `directional_bound`);
    0 for domains of which neither is known.

    Args:
        domain: K.
        size: n, public, and one record is substituted: the bound is on the mean of n records; or
            None, records come and go: it is on the sum of x − v, whatever is said of the count.
        center: v in K, shape (d,); only where records come and go.
        epsilon: ε > 0.
        order: p in [2, ∞].
        weights: ω ≥ 0 on the d answers; ones by default.

    Raises:
        PlanError: where epsilon or the weights are out of range.

    Examples:
        >>> one = pure_mean_bound(Box([0], [1]), size=None, center=np.array([0.5]), epsilon=0.1)
        >>> round(one * 0.1 / math.sqrt(2), 3)  # Laplace noise has 0.5
        0.5
    """
    scale = np.ones(center.size) if weights is None else np.asarray(weights, dtype=np.float64)
    share = shrunk(1.0 if size is None else 1 / size)
    found = 0.0
    told = _changes(domain, size, center)
    if told is not None:
        body, records, most = told
        asked = volume_lower_bound(
            body, epsilon=epsilon, records=records, most=most, weights=scale, order=order
        )
        found = asked.value
    return max(
        found * share,
        extent_bound(domain, size=size, center=center, epsilon=epsilon, order=order, weights=scale),
    )


def extent_bound(
    domain: object,
    *,
    size: int | None,
    center: Vector,
    epsilon: float,
    order: float = 2.0,
    weights: Vector | None = None,
) -> float:
    """Return the part of `pure_mean_bound` that extents along coordinates prove.

    The arguments are the same; where records come and go the center may be any point of the
    columns' bounds.

    Examples:
        >>> ends = extent_bound(Box([0], [1]), size=None, center=np.ones(1), epsilon=0.1)
        >>> round(ends * 0.1 / math.sqrt(2), 3)  # a record at 0 moves the sum of x − 1 by 1
        1.0
    """
    scale = np.ones(center.size) if weights is None else np.asarray(weights, dtype=np.float64)
    share = shrunk(1.0 if size is None else 1 / size)
    found = 0.0
    extents, lengths = _extents(domain, size, center)
    falling = -np.sort(-scale * extents)
    falling = falling[falling > 0]
    for chains in {1, falling.size} if falling.size else set():
        # E(θᵀZ)² along each of those coordinates; each has records of its own, half at either end
        most = math.inf if size is None else size // (2 * chains)
        bound = directional_bound(
            shrunk(order_norm(falling[:chains], order)),
            epsilon=epsilon,
            most=most,
            changes=chains,
            reach=grown(order_norm(scale * lengths, order)),
        )
        found = max(found, bound)
    return found * share


@singledispatch
def _changes(
    domain: object, size: int | None, center: Vector
) -> tuple[AbstractBody, Records, float] | None:
    """Return changes that records can make, how truths are made of them, and how many there are."""
    return None


@_changes.register(Box)
def _box_changes(
    domain: Box, size: int | None, center: Vector
) -> tuple[AbstractBody, Records, float]:
    half = frozen(shrunk((domain.upper - domain.lower) / 2))
    return SymmetricBox(half), "convex" if size else "lifted", size or math.inf


@_changes.register(Image)
def _image_changes(
    domain: Image, size: int | None, center: Vector
) -> tuple[AbstractBody, Records, float]:
    body = ImageBody(domain.factor, domain.base)
    return body, "convex" if size else "lifted", size or math.inf


@_changes.register(Points)
@_changes.register(Polytope)
def _points_changes(
    domain: Points | Polytope, size: int | None, center: Vector
) -> tuple[AbstractBody, Records, float]:
    points = domain.points
    if size is None:
        return SymmetricPoints(frozen(points - center)), "listed", math.inf
    # of every point as many copies; rounding takes up to one more for each dimension
    most = size // len(points) - points.shape[1]
    return PointDifferences(points), "listed", float(max(most, 0))


@_changes.register(Product)
def _product_changes(
    domain: Product, size: int | None, center: Vector
) -> tuple[AbstractBody, Records, float] | None:
    return None if domain.listed is None else _changes(Polytope(domain.listed), size, center)


@singledispatch
def _extents(domain: object, size: int | None, center: Vector) -> tuple[Vector, Vector]:
    """Return how far one record moves each coordinate at least, and at most, shape (d,) each."""
    return np.zeros(center.size), np.zeros(center.size)


@_extents.register(Box)
@_extents.register(Points)
@_extents.register(Polytope)
def _points_extents(
    domain: Box | Points | Polytope, size: int | None, center: Vector
) -> tuple[Vector, Vector]:
    if isinstance(domain, Box):
        lower, upper = domain.lower, domain.upper
    else:
        lower, upper = domain.points.min(axis=0), domain.points.max(axis=0)
    told = upper - lower if size else np.maximum(upper - center, center - lower)
    return told, told


@_extents.register(Image)
def _image_extents(domain: Image, size: int | None, center: Vector) -> tuple[Vector, Vector]:
    body = ImageBody(domain.factor, domain.base)
    ends = domain.base.extreme(body.dense)
    ends /= domain.base.norm_up(ends)[:, None]  # inside, whatever rounding did
    least = shrunk(np.einsum("ij,ij->i", body.dense, ends))
    least, most = np.maximum(least, 0.0), body.widths()
    if size:
        return 2 * least, 2 * most
    away = np.abs(domain.center - center)  # the end that is farther has a record, or nearly
    return shrunk(least + away), grown(most + away)


@_extents.register(Product)
def _product_extents(domain: Product, size: int | None, center: Vector) -> tuple[Vector, Vector]:
    blocks = zip(domain.parts, domain.program.blocks, strict=True)
    found = [_extents(part, size, center[at]) for part, at in blocks]
    # a record may stay where it is in the other parts
    return np.concatenate([own[0] for own in found]), np.concatenate([own[1] for own in found])
