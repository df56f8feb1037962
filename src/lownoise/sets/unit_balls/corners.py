# SPDX-License-Identifier: Apache-2.0
"""The corners of a polytope that all changes of signs leave as it is, listed where they are few.

A rounding of them does no harm: if every entry of some corners is at least as large as a vertex's,
the hull of all their changes of sign holds that vertex.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.sets.unit_balls.abstract import FEW

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.unit_balls.abstract import AbstractUnitBall


def signed_corners(base: AbstractUnitBall) -> Vector | None:
    """Return points whose symmetric hull holds B, hardly more, shape (N, k); None where too many.

    None of what products of ℓ_r balls are, too: these have forms of their own.

    Examples:
        >>> from lownoise.sets.unit_balls import SortedBall
        >>> signed_corners(SortedBall(np.array([1.0, 1.0]))).round(9) + 0.0
        array([[1., 0.],
               [0., 1.]])
    """
    parts = base.factors
    if not base.unconditional or all(part.ball_order is not None for part in parts):
        return None
    rows = np.zeros((1, 0))
    for part in parts:
        own = part.corners()
        if own is None or len(own) * len(rows) > FEW:
            return None
        beside = np.repeat(rows, len(own), axis=0)
        rows = np.hstack([beside, np.tile(own, (len(rows), 1))])
    if sum(1 << (int(np.count_nonzero(row)) - 1) for row in rows) > FEW:
        return None
    return frozen(np.vstack([_signed(row) for row in rows]))


def _signed(row: Vector) -> Vector:
    """Return all changes of sign, but for that of the first entry above 0."""
    used = np.flatnonzero(row)
    bits = (np.arange(1 << (used.size - 1))[:, None] >> np.arange(used.size)) & 1
    found = np.tile(row, (len(bits), 1))
    found[:, used] *= 1.0 - 2.0 * bits[:, ::-1]
    return found
