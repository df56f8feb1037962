# SPDX-License-Identifier: Apache-2.0
"""The nearest point of an image F·B: all records at once where B is made of norms and caps.

For other bodies, as hulls of round ones, and those known by their extreme points, one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.bases import limits_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.arrays import Vector
    from lownoise.bases import AbstractBase

_MOST_STEPS = 400
_NEAR = 1e-10
_FLOATS = 2.0**-49  # of both lengths: a product's own rounding


def nearest_weights(factor: Vector, base: AbstractBase, points: Vector, reach: Vector) -> Vector:
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
        >>> from lownoise.bases import NormBase
        >>> hexagon = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
        >>> cube, far = NormBase(3, np.inf), np.array([[9.0, 1.0]])
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


def corrected_weights(factor: Vector, base: AbstractBase, point: Vector, reach: Vector) -> Vector:
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


def _corrected(scaled: Vector, base: AbstractBase, goal: Vector) -> Vector:
    """Return x in B by fully corrective conditional gradients.

    The best mixture of the extreme points so far, then the point of B that is extreme along what
    is left, until that gains less than 1e-10 of the distance already covered.
    """
    found = _mixture(scaled, base.extreme, base.dimension, goal)
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

    return np.asarray(home + unit * _mixture(np.eye(home.size), pulled, home.size, goal))


def _mixture(
    scaled: Vector, extreme: Callable[[Vector], Vector], dimension: int, goal: Vector
) -> Vector:
    """Return the mixture x of 0 and extreme points whose image scaled·x is nearest to `goal`."""
    from scipy.optimize import nnls

    atoms = np.zeros((1, dimension))
    weights = np.ones(1)
    for _ in range(_MOST_STEPS):
        left = goal - scaled @ (weights @ atoms)
        if not np.max(np.abs(left)) > _NEAR:
            break
        found = extreme((left @ scaled)[None])
        gain = float(left @ (scaled @ found[0] - goal + left))
        far = float(np.linalg.norm(left))
        if gain <= far * (_NEAR * far + _FLOATS * (1 + float(np.linalg.norm(goal)))):
            break
        atoms = np.vstack([atoms, found])
        # the best mixture in all proportions, a row of ones asking for a sum of 1, is a multiple of
        # the best one whose sum is 1: minimise s²‖e‖² + (s − 1)² over s
        system = np.vstack([(atoms @ scaled.T - goal).T, np.ones(len(atoms))])
        try:
            weights, _ = nnls(system, np.append(np.zeros(len(goal)), 1.0), maxiter=50 * len(atoms))
        except RuntimeError:
            weights = np.append(weights, 0.0)
            break
        weights /= np.sum(weights)
        kept = weights > 0
        atoms, weights = atoms[kept], _polished(atoms[kept] @ scaled.T, goal, weights[kept])
        if not kept[-1]:  # what should help does not: floats tell no more
            break
    return np.asarray(weights @ atoms)


def _polished(images: Vector, goal: Vector, weights: Vector) -> Vector:
    """Return the weights of the best mixture, to the last digits where all of them are above 0."""
    along = images[1:] - images[0]
    rest = np.linalg.lstsq(along.T, goal - images[0])[0]
    found = np.append(1 - np.sum(rest), rest)
    return np.asarray(found if np.all(found >= 0) else weights)
