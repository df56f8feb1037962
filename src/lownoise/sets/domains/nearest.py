# SPDX-License-Identifier: Apache-2.0
"""The nearest point of an image F·B: all records at once where B is made of norms and caps.

For other bodies, as hulls of round ones, and those known by their extreme points, one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.sets.unit_balls import limits_of
from lownoise.sets.unit_balls.mixtures import mixture

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.sets.unit_balls import AbstractUnitBall


def nearest_weights(
    factor: Vector, base: AbstractUnitBall, points: Vector, reach: Vector
) -> Vector:
    """Return x in B whose image F·x is nearest to each point, in parts of each coordinate's reach.

    A coordinate beyond twice its reach counts as twice its reach. No row's answer depends on the
    other rows.

    Args:
        factor: F, shape (d, k).
        base: B, k coordinates.
        points: shape (m, d), about the center.
        reach: the unit of each coordinate, shape (d,); where it is 0 the point counts for nothing.

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
    scaled, goals = _in_reach(factor, points, reach)
    limits = limits_of(base)
    if limits is None:
        return np.array([_corrected(scaled, base, goal) for goal in goals])
    found = limits.nearest(scaled, goals)
    return np.asarray(found / np.maximum(base.norm_up(found), 1.0)[:, None])


def corrected_weights(
    factor: Vector, base: AbstractUnitBall, point: Vector, reach: Vector
) -> Vector:
    """Return the same for one point, shape (d,), by mixtures of extreme points.

    Slower and, where B has flat faces, sharper: a polytope's nearest point is found after finitely
    many steps, to the last digits.
    """
    scaled, goals = _in_reach(factor, point[None], reach)
    return _corrected(scaled, base, goals[0])


def _in_reach(factor: Vector, points: Vector, reach: Vector) -> tuple[Vector, Vector]:
    unit = np.where(reach > 0, reach, 1.0)
    goals = np.where(reach > 0, np.clip(points / unit, -2.0, 2.0), 0.0)
    return factor / unit[:, None], goals


def _corrected(scaled: Vector, base: AbstractUnitBall, goal: Vector) -> Vector:
    """Return x in B by fully corrective conditional gradients.

    The best mixture of the extreme points so far, then the point of B that is extreme along what
    is left, until that gains less than 1e-10 of the distance already covered.
    """
    found = mixture(scaled, base.extreme, base.dimension, goal)
    return np.asarray(found / max(float(base.norm_up(found[None])[0]), 1.0))


def nearest_point(
    extreme: Callable[[Vector], Vector], home: Vector, point: Vector, reach: Vector
) -> Vector:
    """Return a mixture of extreme points that is nearest to `point`, in parts of `reach`.

    As `nearest_weights`, of a body that is known by its extreme points.

    Args:
        extreme: directions, shape (n, d), to points of the body, shape (n, d).
        home: a point of the body, shape (d,).
        point: shape (d,).
        reach: the unit of each coordinate, shape (d,); where it is 0 the point counts for nothing.

    Examples:
        >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> found = nearest_point(lambda rows: corners[np.argmax(rows @ corners.T, axis=1)],
        ...                       corners[0], np.array([1.0, 1.0]), np.ones(2))
        >>> found.round(9)
        array([0.5, 0.5])
    """
    unit = np.where(reach > 0, reach, 1.0)
    goal = np.where(reach > 0, np.clip((point - home) / unit, -2.0, 2.0), 0.0)
    wide = reach > 0

    def pulled(directions: Vector) -> Vector:
        moved = extreme(np.where(wide, directions / unit, 0.0)) - home
        return np.where(wide, moved / unit, 0.0)

    return np.asarray(home + unit * mixture(np.eye(home.size), pulled, home.size, goal))
