# SPDX-License-Identifier: Apache-2.0
"""All differences of two points of a domain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen
from lownoise.sets.domains.abstract import AbstractDifference, AbstractDomain
from lownoise.sets.domains.box import Box
from lownoise.sets.domains.compound import AbstractCompound, CompoundDifference
from lownoise.sets.domains.image import Image
from lownoise.sets.domains.intersection import Intersection
from lownoise.sets.domains.nearest import nearest_point
from lownoise.sets.domains.oracle import Oracle, OracleDifference
from lownoise.sets.domains.points import Points
from lownoise.sets.domains.polytope import Polytope
from lownoise.sets.domains.tensor import CubePower, CubePowerDifference
from lownoise.sets.domains.tensor_ball import BallPower, BallPowerDifference

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_NEAR = 1e-9  # of the reach: how near a point is a difference


@final
@dataclass(frozen=True, eq=False)
class PointsDifference(AbstractDifference):
    """{x − y : x, y in a list of points}; the N² differences are never formed.

    Made by `difference_body`, of a list and of its hull.

    Args:
        base: the points, or their hull.
    """

    base: Points | Polytope

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), is a difference of two points of the base.

        Of a list in floats; of a hull within 1e-9 of its reach.
        """
        points = self.base.points
        if isinstance(self.base, Polytope):
            given = np.asarray(point, dtype=np.float64)
            reach = self.base.upper - self.base.lower
            near = nearest_point(self.extreme, np.zeros(self.dimension), given, reach)
            last = 2.0**-48 * np.max(np.abs(points), axis=0)
            return bool(np.all(np.abs(near - given) <= _NEAR * reach + last))
        return any(bool(np.any(np.all(x - points == point, axis=1))) for x in points)


@final
@dataclass(frozen=True, eq=False)
class IntersectionDifference(AbstractDifference):
    """{x − y : x, y in an intersection}; made by `difference_body`.

    Args:
        base: the intersection.
    """

    base: Intersection

    def contains(self, point: Vector) -> bool:
        """Return whether no part of the intersection says that `point`, shape (d,), is too far."""
        section = self.base.section
        norm = section.base.norm_up((section.rows @ point / 2)[None])[0]
        return bool(norm <= 1 + 1e-9) and all(
            abs(float(a @ point)) <= self.support(a) * (1 + 1e-9) for a in section.rows
        )


@singledispatch
def difference_body(domain: object) -> AbstractDomain:
    """Return K − K, the body of all changes from one record to another.

    Its least ellipsoid is the least noise under `substitute`, never more and up to √(2d/(d + 1))
    less than twice the least ellipsoid of K itself.

    Args:
        domain: K.

    Raises:
        DomainError: where the domain is of another kind.

    Examples:
        >>> difference_body(Box([0, 1], [1, 5])).upper
        array([1., 4.])
        >>> difference_body(Points([[0.0], [2.0]])).support(np.array([1.0]))
        2.0
    """
    raise DomainError(
        f"domain={type(domain).__name__} has no known difference body; use ln.Points or ln.Box",
    )


@difference_body.register(Box)
def _(domain: Box) -> Box:
    width = domain.upper - domain.lower
    return Box(-width, width)


@difference_body.register(Image)
def _(domain: Image) -> Image:
    # K − center is symmetric, so K − K is twice that
    return Image(frozen(2 * domain.factor), domain.base, frozen(np.zeros(domain.dimension)))


@difference_body.register(Intersection)
def _(domain: Intersection) -> IntersectionDifference:
    return IntersectionDifference(domain)


@difference_body.register(CubePower)
def _(domain: CubePower) -> CubePowerDifference:
    return CubePowerDifference(domain)


@difference_body.register(BallPower)
def _(domain: BallPower) -> BallPowerDifference:
    return BallPowerDifference(domain)


@difference_body.register(Points)
@difference_body.register(Polytope)
def _(domain: Points | Polytope) -> PointsDifference:
    return PointsDifference(domain)


@difference_body.register(Oracle)
def _(domain: Oracle) -> OracleDifference:
    return OracleDifference(domain)


@difference_body.register(AbstractCompound)
def _(domain: AbstractCompound) -> CompoundDifference:
    return CompoundDifference(domain)
