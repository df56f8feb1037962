# SPDX-License-Identifier: Apache-2.0
"""Whether some record may have room in its domain for every change of a body."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.sets.bodies import SymmetricPoints
from lownoise.sets.domains import AbstractDomain, BallPower, CubePower, Points

if TYPE_CHECKING:
    from lownoise.sensitivity.relations import Change

_ROUNDING = 1e-9  # of a width, which is rounded up
_MOST_LOOKS = 2**20


@singledispatch
def may_have_room(domain: object, change: Change) -> bool:
    """Return False where no record x has x + s or x − s in the domain for every s of the body.

    A domain's widths cannot tell more than that; a list of points is looked through.

    Args:
        domain: K.
        change: the body of changes.

    Examples:
        >>> from lownoise.sets.domains import Ball, Box
        >>> from lownoise.sensitivity.relations import Change
        >>> [may_have_room(Box([0, 0], [4, 4]), Change(Ball(2, radius=r))) for r in (2, 3)]
        [True, False]
        >>> one_hot = Points(np.eye(3))
        >>> [may_have_room(one_hot, Change(Points(s))) for s in ([[1, -1, 0]], [[1, 0, 0]])]
        [True, False]
    """
    return False


@may_have_room.register(AbstractDomain)
def _sides_have_room(domain: AbstractDomain, change: Change) -> bool:
    d = domain.dimension
    widths = change.changes(np.arange(d), np.ones(d)).widths()
    # where several coordinates change, some s and its opposite each need an end of each
    ends = 1 if np.count_nonzero(widths) == 1 else 2
    return bool(np.all(ends * widths <= (domain.upper - domain.lower) * (1 + _ROUNDING)))


@may_have_room.register(BallPower)
@may_have_room.register(CubePower)
def _powers_have_room(domain: BallPower | CubePower, change: Change) -> bool:
    return False  # a tensor and most changes make no tensor


@may_have_room.register(Points)
def _points_have_room(domain: Points, change: Change) -> bool:
    d = domain.dimension
    body = change.changes(np.arange(d), np.ones(d))
    if not isinstance(body, SymmetricPoints):
        return False
    known = {tuple(row) for row in domain.points.tolist()}
    if len(domain.points) * len(body.points) > _MOST_LOOKS:
        return False
    return any(
        all(tuple(x + s) in known or tuple(x - s) in known for s in body.points)
        for x in domain.points
    )
