# SPDX-License-Identifier: Apache-2.0
"""Which domains are images of unit bodies, and which have few corners."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen
from lownoise.sets.domains.box import Box
from lownoise.sets.domains.image import Image
from lownoise.sets.domains.points import Points
from lownoise.sets.domains.polytope import Polytope, hull_of
from lownoise.sets.domains.tensor import CubePower
from lownoise.sets.unit_balls import NormBall
from lownoise.sets.unit_balls.parity import choices

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.domains.abstract import AbstractDomain

_MOST_CORNERS = 2**18
_MOST_NUMBERS = 2**26
_PAIR = 2


def as_image(domain: object) -> Image | None:
    """Return the domain as an image of a unit body; None where it has no such form.

    Examples:
        >>> as_image(Box([0, 0], [2, 4])).factor
        array([1., 2.])
        >>> as_image(Points([[0.0], [1.0], [5.0]])) is None
        True
    """
    if isinstance(domain, Image):
        return domain
    if isinstance(domain, Box):
        middle = domain.center
        half = np.maximum(domain.upper - middle, middle - domain.lower)
        half = np.where(domain.upper > domain.lower, np.nextafter(half, np.inf), 0.0)
        return Image(frozen(half), NormBall(domain.dimension, math.inf), middle)
    if isinstance(domain, (Points, Polytope)) and len(domain.points) <= _PAIR:
        first, last = domain.points[0], domain.points[-1]
        middle = first / 2 + last / 2
        reach = np.maximum(np.abs(last - middle), np.abs(first - middle))
        half = np.where(last != first, np.copysign(np.nextafter(reach, np.inf), last - first), 0.0)
        return Image(frozen(half[:, None]), NormBall(1, math.inf), frozen(middle))
    return None


@singledispatch
def corners(domain: object) -> Vector | None:
    """Return points whose hull the domain has, shape (N, d); None where they are more than 2^18.

    Examples:
        >>> corners(Box([0, 0], [1, 2]))
        array([[1., 2.],
               [1., 0.],
               [0., 2.],
               [0., 0.]])
    """
    return None


@corners.register(Points)
@corners.register(Polytope)
def _(domain: Points | Polytope) -> Vector | None:
    return domain.points if len(domain.points) <= _MOST_CORNERS else None


@corners.register(Box)
def _(domain: Box) -> Vector | None:
    wide = np.flatnonzero(domain.upper > domain.lower)
    if 2.0**wide.size > _MOST_CORNERS:
        return None
    found = np.broadcast_to(domain.upper, (2**wide.size, domain.dimension)).copy()
    low = np.indices((2,) * wide.size).reshape(wide.size, 2**wide.size).T == 1
    found[:, wide] = np.where(low, domain.lower[wide], domain.upper[wide])
    return found


@corners.register(CubePower)
def _(domain: CubePower) -> Vector | None:
    if 2.0**domain.size * domain.dimension > _MOST_NUMBERS:
        return None
    signs = choices(np.arange(2**domain.size), domain.size)
    return np.unique(domain.tensors(signs), axis=0)


@corners.register(Image)
def _(domain: Image) -> Vector | None:
    base = domain.base
    if not isinstance(base, NormBall):
        return None
    k = base.size
    if base.order == 1 or k == 1:
        signed: Vector = np.vstack([np.eye(k), -np.eye(k)])
    elif math.isinf(base.order) and 2.0**k <= _MOST_CORNERS:
        signed = np.asarray(1.0 - 2.0 * np.indices((2,) * k).reshape(k, 2**k).T, np.float64)
    else:
        return None
    moved = signed * domain.factor if domain.diagonal else signed @ domain.factor.T
    return np.asarray(domain.center + moved)


def hulled(domain: AbstractDomain) -> AbstractDomain:
    """Return what a combination holds of a part: the hull of a list and of tensors of signs.

    Raises:
        DomainError: where the tensors are too many to be listed.

    Examples:
        >>> hulled(Points([[0.0], [1.0]])).clamp(np.array([0.25]))
        array([0.25])
    """
    if isinstance(domain, Points):
        return hull_of(domain.points)
    if isinstance(domain, CubePower):
        listed = corners(domain)
        if listed is None:
            raise DomainError(
                f"TensorPower.dimension={domain.size} has tensors beyond 2^26 numbers, too many to "
                "list for their hull; give fewer dimensions or a lower power",
            )
        return hull_of(listed)
    return domain
