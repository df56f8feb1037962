# SPDX-License-Identifier: Apache-2.0
"""How far what a neighbour can change reaches in a noise shape.

Privacy rests on `radius_up` alone: it reads the final integers and the final noise, and rounds up.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.rounding import down, up
from lownoise.sensitivity.factors import DiagonalShape
from lownoise.sensitivity.relations import sensitivity_set, word_of
from lownoise.sets.bodies import AbstractBody, ImageBody, RoundedBody, SymmetricBox

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sensitivity.relations import Word
    from lownoise.sets.domains import AbstractDomain, CubePower

    Body = SymmetricBox | AbstractBody
    Reach = Body | RoundedBody


def sensitivity_body(domain: AbstractDomain, relation: Word | str, center: Vector) -> Body:
    """Return `sensitivity_set`."""
    return sensitivity_set(domain, relation, center)


def changes(
    domain: AbstractDomain, relation: Word | str, center: Vector, pivots: Integers, step: Vector
) -> AbstractBody:
    """Return `domain.lifted` or `domain.differences`."""
    if word_of(relation).counted:
        return domain.lifted(pivots, step, center)
    return domain.differences(pivots, step)


def parity_changes(
    size: Vector, domain: CubePower, relation: Word | str, offset: Vector
) -> ImageBody:
    """Return `domain.parity_lifted` or `domain.parity_differences`."""
    if word_of(relation).counted:
        return domain.parity_lifted(size, offset)
    return domain.parity_differences(size)


def radius_up(shape: AbstractShape, body: Reach) -> float:
    """Return at least max √(sᵀ M⁻¹ s) over s in `body`: the μ of noise of this `shape`.

    Raises:
        PlanError: where the body is of a kind whose radius is not known.

    Examples:
        >>> from lownoise.sensitivity.factors import DiagonalShape
        >>> 5.0 <= radius_up(DiagonalShape([1, 1]), SymmetricBox(np.array([3.0, 4.0]))) < 5.000001
        True
    """
    return _radius_up(body, shape)


@singledispatch
def _radius_up(body: object, shape: AbstractShape) -> float:
    raise PlanError(f"body={type(body).__name__} has no known radius; use a domain of ln.Points")


@_radius_up.register(SymmetricBox)
def _(body: SymmetricBox, shape: AbstractShape) -> float:
    return shape.box_radius_up(body.half_width)


@_radius_up.register(AbstractBody)
def _whitened(body: AbstractBody, shape: AbstractShape) -> float:
    white = shape.whitening
    if not white.defect < 1:
        return math.inf
    reach = body.reach_up(white.matrix, np.zeros(body.dimension))
    return up(reach / down(1 - white.defect)) if reach else 0.0


@_radius_up.register(ImageBody)
def _(body: ImageBody, shape: AbstractShape) -> float:
    if body.diagonal and isinstance(shape, DiagonalShape):
        if np.any((body.factor != 0) & (shape.scale == 0)):
            return math.inf
        return body.diagonal_reach_up(shape.scale)
    return _whitened(body, shape)


@_radius_up.register(RoundedBody)
def _(body: RoundedBody, shape: AbstractShape) -> float:
    found = _radius_up(body.body, shape) + shape.box_radius_up(body.slack)
    return up(found) if found else 0.0
