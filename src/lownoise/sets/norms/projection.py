# SPDX-License-Identifier: Apache-2.0
"""Projections of bodies to some of their coordinates, where they are bodies of the same kind."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import (
    AbstractPointBody,
    ImageBody,
    JointBody,
    RoundedBody,
    SymmetricBox,
    SymmetricPoints,
)
from lownoise.sets.unit_balls import NormBall, side_by_side

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers
    from lownoise.sensitivity.changes import Reach


@singledispatch
def projected(body: object, kept: Integers) -> Reach | None:
    """Return the projection of a body to rising coordinates; None where it has no known form.

    Args:
        body: changes, d coordinates.
        kept: shape (r,).

    Examples:
        >>> projected(SymmetricBox(np.array([1.0, 2.0, 3.0])), np.array([0, 2])).half_width
        array([1., 3.])
    """
    return None


@projected.register(SymmetricBox)
def _(body: SymmetricBox, kept: Integers) -> SymmetricBox:
    return SymmetricBox(frozen(body.half_width[kept]))


@projected.register(AbstractPointBody)
def _(body: AbstractPointBody, kept: Integers) -> AbstractPointBody:
    found = body.replaced(frozen(np.ascontiguousarray(body.points[:, kept])))
    if isinstance(body, SymmetricPoints) and body.image is not None:
        return SymmetricPoints(found.points, projected_image(body.image, kept))
    return found


@projected.register(ImageBody)
def projected_image(body: ImageBody, kept: Integers) -> ImageBody:
    """Return F's rows times B, less what they do not look at where B is a ball or a product."""
    if body.diagonal:
        own = body.base.restricted(kept)
        if own is not None:
            return ImageBody(frozen(body.factor[kept]), own)
    rows = body.dense[kept]
    used = np.flatnonzero(np.any(rows, axis=0))
    simple = all(isinstance(part, NormBall) for part in side_by_side(body.base))
    own = body.base.restricted(used) if simple and 0 < used.size < rows.shape[1] else None
    if own is None:
        return ImageBody(frozen(rows), body.base)
    return ImageBody(frozen(np.ascontiguousarray(rows[:, used])), own)


@projected.register(RoundedBody)
def _(body: RoundedBody, kept: Integers) -> Reach | None:
    own = projected(body.body, kept)
    if own is None or isinstance(own, (SymmetricBox, RoundedBody)):
        return None
    return RoundedBody(own, frozen(body.slack[kept]))


def joint_parts(body: JointBody) -> tuple[Reach, ...] | None:
    """Return bodies of blocks of coordinates, whose product holds the changes of a product.

    Of one record that changes it is their product. ±(x − v, 1), of one that comes or goes, lies in
    the product of all ±(xᵢ − vᵢ) and of what one record counts.
    """
    if not body.counted:
        return body.parts
    own = [projected(part, np.arange(part.dimension - 1)) for part in body.parts]
    known = tuple(part for part in own if part is not None)
    count = SymmetricBox(frozen(np.array([body.count])))
    return (*known, count) if len(known) == len(own) else None
