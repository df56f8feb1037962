# SPDX-License-Identifier: Apache-2.0
"""One verb for every body: the kind of body chooses the method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, final

from lownoise.errors import PlanError
from lownoise.sensitivity import SymmetricBox
from lownoise.solvers.box import least_shape

if TYPE_CHECKING:
    from lownoise.arrays import Vector
    from lownoise.certificate import CornerDual
    from lownoise.shapes import DiagonalShape


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """A shape that covers the body with radius 1, its evidence, and how it was found."""

    shape: DiagonalShape
    dual: CornerDual
    status: str
    iterations: int


@singledispatch
def solve(body: object, *, order: float, weights: Vector) -> Solution:
    """Return the shape M ⊇ body with the least √tr_{p/2}(ωMω).

    Args:
        body: the sensitivity body S, d coordinates.
        order: p in [2, ∞].
        weights: ω > 0 on the answers, shape (d,).

    Raises:
        PlanError: where no solver knows this kind of body.

    Examples:
        >>> import numpy as np
        >>> square = SymmetricBox(np.array([1.0, 4.0]))
        >>> solve(square, order=2.0, weights=np.ones(2)).shape.diagonal()
        array([ 5., 20.])
    """
    raise PlanError(f"body={type(body).__name__} has no solver; use a domain of ln.Box")


@solve.register(SymmetricBox)
def _(body: SymmetricBox, *, order: float, weights: Vector) -> Solution:
    shape, dual = least_shape(body, order, weights)
    return Solution(shape, dual, "exact: closed form", 0)
