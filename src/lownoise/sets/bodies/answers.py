# SPDX-License-Identifier: Apache-2.0
"""How far a body moves the answers, for comparison with other noise."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import PlanError
from lownoise.sets.bodies.abstract import AbstractBody
from lownoise.sets.bodies.box import SymmetricBox
from lownoise.sets.bodies.image import ImageBody

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


@singledispatch
def answer_radius(body: object, answers: Vector | None) -> float:
    """Return the greatest Euclidean change of the answers.

    Args:
        body: the changes s, d coordinates.
        answers: the matrix from them to the answers, shape (m, d); None for the identity.

    Raises:
        PlanError: where the kind of body is not known.

    Examples:
        >>> answer_radius(SymmetricBox(np.array([3.0, 4.0])), None)
        5.0
    """
    raise PlanError(f"body={type(body).__name__} is of no known kind; use ln.Box or ln.Points")


@answer_radius.register(SymmetricBox)
def _(body: SymmetricBox, answers: Vector | None) -> float:
    return float(np.linalg.norm(body.half_width))


@answer_radius.register(ImageBody)
def _(body: ImageBody, answers: Vector | None) -> float:
    if answers is None and body.diagonal:
        return body.diagonal_reach_up(np.ones(body.dimension))
    return _radius(body, answers)


@answer_radius.register(AbstractBody)
def _radius(body: AbstractBody, answers: Vector | None) -> float:
    matrix = np.eye(body.dimension) if answers is None else answers
    return body.reach_up(matrix, np.zeros(body.dimension))


@singledispatch
def answer_widths(body: object, answers: Vector | None) -> Vector:
    """Return the greatest change of each answer, shape (m,); arguments as `answer_radius`.

    Raises:
        PlanError: where the kind of body is not known.
    """
    raise PlanError(f"body={type(body).__name__} is of no known kind; use ln.Box or ln.Points")


@answer_widths.register(SymmetricBox)
def _(body: SymmetricBox, answers: Vector | None) -> Vector:
    return body.half_width


@answer_widths.register(ImageBody)
def _(body: ImageBody, answers: Vector | None) -> Vector:
    return body.widths() if answers is None else _widths(body, answers)


@answer_widths.register(AbstractBody)
def _widths(body: AbstractBody, answers: Vector | None) -> Vector:
    matrix = np.eye(body.dimension) if answers is None else answers
    return body.extent_up(matrix, np.zeros(body.dimension))
