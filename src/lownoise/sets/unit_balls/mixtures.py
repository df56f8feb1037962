# SPDX-License-Identifier: Apache-2.0
"""Mixtures: of points, the nearest to a goal; of a few rows of squares, the best and the least.

Where a group moves a body into itself, its squares matter only through their sums over a few
classes of coordinates, and the extreme ones are the rows of a small table Z ≥ 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.rounding import TINY, grown

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector

_MOST_STEPS = 400
_NEAR = 1e-10
_ALL_AT_ONCE = 2**9  # points
_FLOATS = 2.0**-49  # of both lengths: a product's own rounding
_STAGES = 5  # a hundredfold each: the gap is then 1e-10 of the value, slacks are still accurate
_NEWTON = 40
_SETTLED = 1e-9
_LEAST = 1e-150


def nearest_mixture(points: Vector, goal: Vector) -> Vector:
    """Return the weights of the mixture of points that is nearest to `goal`, shape (N,).

    Of many points only those are mixed that a search finds to be in the way.

    Args:
        points: shape (N, d), of about the size 1.
        goal: shape (d,), of about that size.

    Examples:
        >>> nearest_mixture(np.eye(3), np.array([1.0, 1.0, 0.0])).round(9)
        array([0.5, 0.5, 0. ])
    """
    found = np.zeros(len(points))
    active = np.arange(len(points))
    if len(points) > _ALL_AT_ONCE:
        active = np.array([np.argmin(np.sum(np.square(points - goal), axis=1))])
    for _ in range(_MOST_STEPS):
        weights = _proportions(points[active] - goal)
        left = goal - weights @ points[active]
        far = float(np.linalg.norm(left))
        ahead = points @ left
        most = int(np.argmax(ahead))
        gain = float(ahead[most] - left @ (goal - left))
        small = gain <= far * (_NEAR * far + _FLOATS * (1 + float(np.linalg.norm(goal))))
        if small or most in active:
            break
        kept = weights > 0
        active = np.append(active[kept], most)
    found[active[: weights.size]] = weights
    return found


def _proportions(about: Vector) -> Vector:
    """Return the weights of the mixture of points that is nearest to 0, shapes (n, d) and (n,)."""
    weights = _in_proportion(about)
    if weights is None:  # the nearest point alone
        weights = np.zeros(len(about))
        weights[np.argmin(np.sum(np.square(about), axis=1))] = 1.0
    kept = np.flatnonzero(weights)
    found = np.zeros(len(about))
    found[kept] = _polished(about[kept], np.zeros(about.shape[1]), weights[kept])
    return found


def _in_proportion(about: Vector) -> Vector | None:
    """Return nearly those weights; None where the search for them goes round in circles.

    The best mixture in all proportions, a row of ones asking for a sum of 1, is a multiple of the
    best one whose sum is 1: minimise s²‖e‖² + (s − 1)² over s.
    """
    from scipy.optimize import nnls

    system = np.vstack([about.T, np.ones(len(about))])
    try:
        weights, _ = nnls(
            system, np.append(np.zeros(len(system) - 1), 1.0), maxiter=50 * len(about)
        )
    except RuntimeError:
        return None
    return np.asarray(weights / np.sum(weights))


def mixture(
    scaled: Vector,
    extreme: Callable[[Vector], Vector],
    dimension: int,
    goal: Vector,
    steps: int = _MOST_STEPS,
) -> Vector:
    """Return the mixture x of 0 and extreme points whose image scaled·x is nearest to `goal`.

    Args:
        scaled: shape (d, k).
        extreme: directions to points of a body, both (n, k).
        dimension: k.
        goal: shape (d,).
        steps: points that are looked for, at most; a point inside is reached after about 2k.
    """
    atoms = np.zeros((1, dimension))
    weights = np.ones(1)
    for _ in range(steps):
        left = goal - scaled @ (weights @ atoms)
        if not np.max(np.abs(left)) > _NEAR:
            break
        found = extreme((left @ scaled)[None])
        gain = float(left @ (scaled @ found[0] - goal + left))
        far = float(np.linalg.norm(left))
        if gain <= far * (_NEAR * far + _FLOATS * (1 + float(np.linalg.norm(goal)))):
            break
        atoms = np.vstack([atoms, found])
        best = _in_proportion(atoms @ scaled.T - goal)
        if best is None:
            weights = np.append(weights, 0.0)
            break
        kept = best > 0
        atoms, weights = atoms[kept], _polished(atoms[kept] @ scaled.T, goal, best[kept])
        if not kept[-1]:  # what should help does not: floats tell no more
            break
    return np.asarray(weights @ atoms)


def _polished(images: Vector, goal: Vector, weights: Vector) -> Vector:
    """Return the weights of the best mixture, to the last digits where all of them are above 0."""
    along = images[1:] - images[0]
    rest = np.linalg.lstsq(along.T, goal - images[0])[0]
    found = np.append(1 - np.sum(rest), rest)
    return np.asarray(found if np.all(found >= 0) else weights)


def best_mixture(rows: Vector, gains: Vector) -> Vector:
    """Return ω ≥ 0 of sum 1 that makes Σⱼ gainⱼ·√(Zᵀω)ⱼ greatest.

    Its dual is the least of Σⱼ gainⱼ²/yⱼ subject to Zy ≤ 1 (Cauchy–Schwarz), a smooth problem in as
    many variables as there are classes; along its central path ω is the slacks' inverses.

    Args:
        rows: Z, shape (n, c), no row and no column all 0.
        gains: shape (c,), at least 0, not all 0.

    Examples:
        >>> best_mixture(np.eye(2), np.array([1.0, 2.0])).round(6)
        array([0.2, 0.8])
    """
    if gains.size == 1:
        return np.asarray(np.eye(len(rows))[np.argmax(rows[:, 0])])
    used = gains > _LEAST * np.max(gains)
    z, h = rows[:, used], np.square(gains[used] / np.max(gains))
    y = np.full(z.shape[1], 0.5 / float(np.max(np.sum(z, axis=1))))
    weight = 1.0 / float(np.sum(h / y))
    for _ in range(_STAGES):
        weight *= 100.0
        for _ in range(_NEWTON):
            slack = 1 - z @ y
            gradient = -weight * h / y**2 + (1 / slack) @ z
            curved = (z / slack[:, None]).T @ (z / slack[:, None])
            step = -np.linalg.solve(curved + np.diag(2 * weight * h / y**3), gradient)
            decrement = -float(gradient @ step)
            if not decrement > _SETTLED:
                break
            length = 1.0 / (1.0 + np.sqrt(decrement)) if decrement > 0.25 else 1.0  # noqa: PLR2004
            while np.any(y + length * step <= 0) or np.any(z @ (y + length * step) >= 1):
                length /= 2
            y = y + length * step
    omega = 1 / (1 - z @ y)
    return np.asarray(omega / np.sum(omega))


def least_mixture_up(rows: Vector, squares: Vector) -> float:
    """Return at least the least Σω with Zᵀω ≥ squares, ω ≥ 0; hardly more.

    Whatever ω an optimiser names is stretched until it is enough.

    Args:
        rows: Z, shape (n, c), no column all 0.
        squares: shape (c,), at least 0.

    Examples:
        >>> round(least_mixture_up(np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([1.0, 1.0])), 9)
        1.0
    """
    from scipy.optimize import linprog

    top = float(np.max(squares))
    if not top > 0:
        return 0.0
    need = squares / top
    found = linprog(np.ones(len(rows)), A_ub=-rows.T, b_ub=-need, method="highs")
    omega = np.maximum(found.x, 0.0) if found.x is not None else np.ones(len(rows))
    omega += 2.0**-60
    have = omega @ rows
    short = float(np.max(need[need > 0] / have[need > 0]))
    return grown(top * short * float(np.sum(omega)), TINY)
