# SPDX-License-Identifier: Apache-2.0
"""The body of changes of a box about another point than its middle.

Let B be a box about zero and m its middle. Where records come and go one of them changes a sum by
±(m + B), and the sum and the count by ±(m + B, 1). These have the hulls (ours)

    hull ±(m + B) = {τm + b : |τ| ≤ 1, b ∈ B}        hull ±(m + B, 1) = {(τm + b, τ) : …},

for λ(m + b) − (1 − λ)(m + b') = (2λ − 1)m + λb − (1 − λ)b', and B is convex and symmetric. So each
is an image of a cube with one side more than the box has: a zonotope, and a cube that is sheared.
About the middle it is a box. The box around it takes up to twice its noise.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import FEW, ROUGH, shrunk
from lownoise.sets.bodies.image import ImageBody, SymmetricBox
from lownoise.sets.bodies.points import SymmetricPoints
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

MOST_LISTED = 12  # ranges of a box whose corners are listed, each of which a check looks at
MOST_SHEARED = 512  # beyond, noise of d² numbers is slow, and the box around the changes is taken
_MIDDLE = 2.0**-16  # of a range: what is no farther from its middle is about it


def off_middle(
    least: Vector, greatest: Vector, count: float | None
) -> ImageBody | SymmetricPoints | None:
    """Return the hull of ±{x : least ≤ x ≤ greatest}, each with the count where there is one.

    None where zero is the middle, or hardly beside it; where the ranges are more than 512, or one
    has no width; and for one range without a count: there it is the box around it.

    Args:
        least: at most 0, shape (d,); numbers whose sum and difference with `greatest` are exact, or
            that are to be taken with the roundings of these.
        greatest: at least 0, shape (d,).
        count: what one record adds to the count, above 0; None where it is not summed.

    Examples:
        >>> off_middle(np.zeros(2), np.ones(2), None).points
        array([[1., 1.],
               [0., 1.],
               [1., 0.],
               [0., 0.]])
        >>> off_middle(-np.ones(2), np.ones(2), 1.0)
    """
    width, last = greatest - least, [] if count is None else [count]
    near = bool(np.all(np.abs(greatest + least) <= _MIDDLE * width))
    d = width.size
    if near or not 1 < d + len(last) <= MOST_SHEARED + len(last) or not np.all(width > 0):
        return None
    columns = np.zeros((d + 1, d + len(last)))
    columns[0] = np.append(greatest / 2 + least / 2, last)
    columns[np.arange(1, d + 1), np.arange(d)] = width / 2
    image = ImageBody(frozen(np.ascontiguousarray(columns.T)), NormBall(d + 1, math.inf))
    if d > MOST_LISTED:
        return image
    lower = (np.arange(1 << d)[:, None] >> np.arange(d)) & 1
    points = np.hstack([np.where(lower, least, greatest), np.tile(last, (1 << d, 1))])
    return SymmetricPoints(frozen(points), image)


def beside_a_count(below: Vector, above: Vector) -> Vector:
    """Return what independent signs of ±(x, 1), −below ≤ x ≤ above, are at least the corners of.

    With m the middle and h the half widths, independent signs whose means are −β times m/h have the
    second moment diag(D, 0) + vvᵀ, D = h² − β²m² and v = ((1 − β)m, 1). At β = 1 that is diagonal.
    At β = 0 it is at least diag(αD, γ) for γ = (1 − α)/(1 − α + Σ m²/D), by a Schur complement;
    with α = 1 − 1/d the sums lose little, and the count has a share. The better of both by the
    sum of their ratios to the box is taken (ours).

    Args:
        below: shape (d,), at least 0 up to rounding.
        above: likewise.

    Returns:
        Shape (d + 1,), the count last.

    Examples:
        >>> beside_a_count(np.ones(2), np.ones(2)).round(6)
        array([1., 1., 1.])
        >>> beside_a_count(np.zeros(16), np.ones(16))[[0, -1]].round(3)
        array([0.484, 0.062])
    """
    below, above = np.maximum(below, 0.0), np.maximum(above, 0.0)
    most = np.maximum(np.maximum(below, above), 2.0**-500)
    even = np.append(np.sqrt(below) * np.sqrt(above), 1.0)
    half, middle = below / 2 + above / 2, above / 2 - below / 2
    spared = 1 / half.size
    share = np.sum(np.square(middle / np.where(half > 0, half, 1.0)))
    leaning = np.append(math.sqrt(1 - spared) * half, math.sqrt(spared / (spared + share)))
    less = shrunk(leaning, ROUGH)
    better = np.sum(less / np.append(most, 1.0)) > np.sum(even / np.append(most, 1.0))
    return np.asarray(less if better else shrunk(even, FEW))


def signed(body: object) -> Vector | None:
    """Return what independent signs of changes are at least the corners of, shape (d,).

    Of a box its half widths. About another point than its middle, with the count, corners whose
    mean is zero have the second moment diag(h² − m², 1), and without it corners that are each as
    likely have mmᵀ + diag(h²). None of other bodies.

    Args:
        body: of changes.

    Examples:
        >>> signed(off_middle(np.array([-1.0, 0.0]), np.array([4.0, 1.0]), 1.0)).round(9)
        array([2., 0., 1.])
    """
    if isinstance(body, SymmetricBox):
        return body.proved
    image = body.image if isinstance(body, SymmetricPoints) else body
    if not isinstance(image, ImageBody) or image.diagonal or image.base.ball_order != math.inf:
        return None
    d = image.base.dimension - 1
    counted = image.dimension - d
    half, middle = np.diag(image.dense[:d, 1:]), image.dense[:d, 0]
    if counted not in (0, 1) or not np.array_equal(
        image.dense[:, 1:], np.eye(d + counted, d) * half
    ):
        return None
    if not counted:
        return frozen(half.copy())
    roots = np.sqrt(np.maximum(half - middle, 0.0)) * np.sqrt(np.maximum(half + middle, 0.0))
    return frozen(np.append(shrunk(roots, FEW), image.dense[d, 0]))
