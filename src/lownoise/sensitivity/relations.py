# SPDX-License-Identifier: Apache-2.0
"""What a neighbour is: one of two words, or a body that holds every change of one record.

With a body the number of records is public and one record changes, as under `substitute`, but not
to any other value: once moved into its domain it changes by a point of the body or its opposite
(001, section 9; databases that are close in ℓ₂ have a ball, seen through a linear query an
ellipsoid). What noise must cover is S, the hull of the body and its opposite: no S − S is formed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Literal, cast, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies import (
    AbstractBody,
    ImageBody,
    PointDifferences,
    SymmetricBox,
    SymmetricPoints,
    image_body,
)
from lownoise.sets.domains import (
    AbstractDomain,
    Box,
    Image,
    Points,
    PointsDifference,
    Polytope,
    Product,
    corners,
)
from lownoise.sets.domains.symmetric import as_image
from lownoise.sets.unit_balls import NormBall, product_ball

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

Word = Literal["substitute", "add_remove"]
RELATIONS: tuple[Word, ...] = ("substitute", "add_remove")


def relation_name(relation: Relation | str) -> Literal["substitute", "add_remove", "changes"]:
    """Return what an account calls a relation; bodies of changes have one name."""
    return "changes" if isinstance(relation, Change) else cast("Word", relation)


@final
@dataclass(frozen=True, eq=False)
class Change:
    """One record changes by a point of a body or its opposite; how many records is public.

    Args:
        body: every change that one neighbour can make of a record, d coordinates in their units.

    Examples:
        >>> from lownoise.sets.domains import Ball
        >>> nudge = Change(Ball(2, radius=0.5))
        >>> bool(np.all(nudge.changes(np.arange(2), np.ones(2)).widths() < 0.5 + 1e-9))
        True
    """

    body: AbstractDomain

    def changes(
        self, pivots: Integers, step: Vector, *, mixed: bool = False
    ) -> SymmetricBox | AbstractBody:
        """Return S, the hull of the body and its opposite, in some coordinates and in steps.

        Args:
            pivots: the coordinates, shape (r,).
            step: the unit of each, powers of two, shape (r,).
            mixed: whether answers are made of several coordinates, so that a body whose coordinates
                are independent is to be given like any other.

        Raises:
            DomainError: where the body is of a kind whose changes are not known.
        """
        found = changed(self.body, pivots, step)
        if not mixed:
            return found
        if isinstance(found, SymmetricBox):
            return image_body(np.diag(found.half_width), NormBall(found.dimension, math.inf))
        return image_body(found.dense, found.base) if isinstance(found, ImageBody) else found


Relation = Word | Change


@singledispatch
def changed(domain: object, pivots: Integers, step: Vector) -> SymmetricBox | AbstractBody:
    """Return the hull of a domain and its opposite, in some coordinates and in steps.

    Args:
        domain: what holds the changes.
        pivots: the coordinates, shape (r,).
        step: the unit of each, powers of two, shape (r,).

    Raises:
        DomainError: where the domain is of a kind whose hull is not known.

    Examples:
        >>> changed(Box([-1, -2], [1, 2]), np.arange(2), np.ones(2)).half_width
        array([1., 2.])
        >>> changed(Points([[3.0, 4.0]]), np.arange(2), np.ones(2)).points
        array([[3., 4.]])
    """
    raise DomainError(
        f"relation={type(domain).__name__} has no known hull with its opposite; "
        "give ln.Ball(…), ln.Ellipsoid(…), ln.Box(…), ln.Points(…) or an image of one",
    )


@changed.register(Box)
def _(domain: Box, pivots: Integers, step: Vector) -> SymmetricBox | AbstractBody:
    if np.array_equal(domain.lower, -domain.upper):
        return SymmetricBox(frozen(domain.upper[pivots] / step))
    own = as_image(domain)
    assert own is not None  # noqa: S101 (every box is the image of a cube)
    return _image_changes(own, pivots, step)


@changed.register(Points)
@changed.register(Polytope)
def _(domain: Points | Polytope, pivots: Integers, step: Vector) -> AbstractBody:
    return SymmetricPoints(frozen(domain.points[:, pivots] / step))


@changed.register(Product)
def _(domain: Product, pivots: Integers, step: Vector) -> AbstractBody:
    listed = corners(domain)
    if listed is None:
        raise DomainError(
            "relation=Product has more corners than are listed; give ln.Box(…), ln.Ball(…) or "
            "fewer points",
        )
    return SymmetricPoints(frozen(listed[:, pivots] / step))


@changed.register(PointsDifference)
def _(domain: PointsDifference, pivots: Integers, step: Vector) -> AbstractBody:
    return PointDifferences(frozen(domain.base.points[:, pivots] / step))


@changed.register(Image)
def _image_changes(domain: Image, pivots: Integers, step: Vector) -> AbstractBody:
    if domain.diagonal and pivots.size == domain.dimension and not np.any(domain.center):
        return image_body(frozen(domain.factor / step), domain.base)
    dense = np.diag(domain.factor) if domain.diagonal else domain.factor
    factor = dense[pivots] / step[:, None]
    if not np.any(domain.center):
        return image_body(frozen(factor), domain.base)
    # ±(c + F·x) have the hull {τc + F·z : |τ| ≤ 1, z ∈ B}: z = λx − (1 − λ)x', τ = 2λ − 1
    offset = (domain.center[pivots] / step)[:, None]
    lifted = product_ball([domain.base, NormBall(1, math.inf)])
    return image_body(frozen(np.hstack([factor, offset])), lifted)
