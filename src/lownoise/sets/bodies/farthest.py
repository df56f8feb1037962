# SPDX-License-Identifier: Apache-2.0
"""How far a set reaches in an affine map, rounded up, and what lengths need for that."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.rounding import LAST, ROUGH, grown, growth
from lownoise.sets.bodies.reach import Farthest

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies.reach import AbstractSet


def affine_farthest(
    held: AbstractSet, linear: Vector, origin: Vector, constant: Vector
) -> Farthest:
    """Return a point far out, and at least max ‖A(x − origin) + a‖², the square completed.

    With e = A(c − origin) + a and a center c that makes Aᵀe vanish, it is the greatest
    ‖A(x − c)‖² plus ‖e‖².

    Args:
        held: the set.
        linear: A, shape (r, d).
        origin: shape (d,).
        constant: a, shape (r,).
    """
    middle = _middle(held, linear, origin, constant)
    answer = held.farthest(linear, middle)
    shift = middle - origin
    rest = linear @ shift + constant
    d, m = shift.size, len(linear)
    off = growth(d + 4) * (np.abs(linear) @ np.abs(shift) + np.abs(constant))
    # ‖Az + e‖² = ‖Az‖² + 2⟨z, Aᵀe⟩ + ‖e‖², and Aᵀe is nearly 0
    pull = np.abs(rest @ linear) + np.abs(linear).T @ (off + growth(m + 2) * np.abs(rest))
    cross = 2 * float(held.far(middle) @ pull)
    length = float(np.linalg.norm(rest)) + float(np.linalg.norm(off))
    return Farthest(answer.point, answer.upper + (cross + length**2) * (1 + growth(d + m + 60)))


_BEYOND = 2.0**20  # of the reach: a center farther out says nothing in floats


def _middle(held: AbstractSet, linear: Vector, origin: Vector, constant: Vector) -> Vector:
    """Return the center about which the length has no linear term, shape (d,)."""
    extent = held.extent
    used = extent > 0
    scaled = linear[:, used] * extent[used]
    found = held.center.copy()
    if not np.any(scaled):
        return found
    parts = np.linalg.lstsq(scaled, constant + linear @ (found - origin))[0]
    if np.all(np.abs(parts) < _BEYOND):
        found[used] -= parts * extent[used]
    return found


def root_up(square: float) -> float:
    """Return at least the root of a bound on a square."""
    return math.sqrt(square) * (1 + growth(20))


def longer(square: float, more: float) -> float:
    """Return at least the square of a length that is `more` longer."""
    length = grown(np.sqrt(square), LAST) + grown(more, ROUGH)
    return float(grown(length * length, LAST))


def farthest_of(part: AbstractSet, matrix: Vector, pairs: Vector) -> Vector:
    """Return the codes of one pair of those that a set gave, the farthest under a map; (2, w).

    Args:
        part: the set.
        matrix: shape (k, d).
        pairs: codes of one pair, shape (2, w), or of several, shape (n, 2, w).
    """
    several = np.reshape(pairs, (-1, 2, pairs.shape[-1]))
    apart = (part.place(several[:, 0]) - part.place(several[:, 1])) @ matrix.T
    return np.asarray(several[np.argmax(np.sum(apart * apart, axis=1))])
