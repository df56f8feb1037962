# SPDX-License-Identifier: Apache-2.0
"""What is known of how far each kind of domain reaches, where domains are combined."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen
from lownoise.sets.bodies.pieces import ImageSet, PointSet, SectionSet
from lownoise.sets.domains.abstract import AbstractKnownDomain
from lownoise.sets.domains.box import Box
from lownoise.sets.domains.image import Image
from lownoise.sets.domains.intersection import Intersection
from lownoise.sets.domains.points import Points
from lownoise.sets.domains.polytope import Polytope
from lownoise.sets.domains.symmetric import as_image, corners
from lownoise.sets.domains.tensor import CubePower

if TYPE_CHECKING:
    from lownoise.sets.bodies.known import AbstractKnown

_FEW = 2**10  # corners of a box: a list proves the maximum itself
_MOST_NUMBERS = 2**24


@singledispatch
def known_set(domain: object) -> AbstractKnown:
    """Return what is known of how far a domain reaches in quadratic forms.

    Raises:
        DomainError: where the domain is of a kind that does not combine.
    """
    raise DomainError(
        f"domain={type(domain).__name__} does not combine with others; list its points, or plan "
        "for it alone",
    )


@known_set.register(Points)
@known_set.register(Polytope)
def _(domain: Points | Polytope) -> AbstractKnown:
    return PointSet(domain.points)


@known_set.register(Box)
def _(domain: Box) -> AbstractKnown:
    wide = np.count_nonzero(domain.upper > domain.lower)
    listed = corners(domain) if 2.0**wide <= _FEW else None
    if listed is not None:
        return PointSet(frozen(listed))
    own = as_image(domain)
    assert own is not None  # noqa: S101 (every box is the image of a cube)
    return known_set(own)


@known_set.register(Image)
def _(domain: Image) -> AbstractKnown:
    factor = frozen(np.diag(domain.factor)) if domain.diagonal else domain.factor
    return ImageSet(factor, domain.base, domain.center)


@known_set.register(Intersection)
def _(domain: Intersection) -> AbstractKnown:
    return SectionSet(domain.section, domain.middle)


@known_set.register(CubePower)
def _(domain: CubePower) -> AbstractKnown:
    k = domain.base.dimension
    if domain.dimension * k > _MOST_NUMBERS:
        raise DomainError(
            f"TensorPower.power={domain.power} has {domain.dimension:,} entries of {k:,} different "
            "ones, too many to combine; give fewer dimensions or a lower power",
        )
    factor = np.zeros((domain.dimension, k))
    used = np.flatnonzero(domain.copies >= 0)
    factor[used, domain.copies[used]] = domain.value
    return ImageSet(frozen(factor), domain.base, domain.center)


@known_set.register(AbstractKnownDomain)
def _(domain: AbstractKnownDomain) -> AbstractKnown:
    return domain.program
