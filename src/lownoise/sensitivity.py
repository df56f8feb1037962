# SPDX-License-Identifier: Apache-2.0
"""What one neighbour can change, and how far that reaches in a noise shape.

`substitute`: one record takes another value of K, the number of records is public, and the sum
changes by a point of S = K − K. `add_remove`: one record comes or goes; each record x is lifted to
(x − v, 1) with v public, and (sum, count) changes by a point of S = ±(lifted K).

Privacy rests on `radius_up` alone: it reads the final integers and the final noise, and rounds up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Literal, final

import numpy as np

from lownoise.arrays import frozen
from lownoise.domains import Box
from lownoise.errors import DomainError, PlanError
from lownoise.rounding import norm_up
from lownoise.shapes import DiagonalShape

if TYPE_CHECKING:
    from lownoise.arrays import Vector

Relation = Literal["substitute", "add_remove"]
RELATIONS: tuple[Relation, ...] = ("substitute", "add_remove")


@final
@dataclass(frozen=True, eq=False)
class SymmetricBox:
    """The body {s : |sᵢ| ≤ half_widthᵢ}; `half_width` has shape (d,) and is not negative."""

    half_width: Vector


@singledispatch
def sensitivity_body(domain: object, relation: Relation, center: Vector) -> SymmetricBox:
    """Return the body S of all changes that one neighbour makes to the sum.

    Args:
        domain: K, dimension d.
        relation: "substitute" (S has d coordinates) or "add_remove" (d + 1, the count last).
        center: the public point v, shape (d,); only `add_remove` looks at it.

    Raises:
        DomainError: where the domain is of a kind whose body is not known.

    Examples:
        >>> sensitivity_body(Box([0, 0], [1, 4]), "substitute", np.zeros(2)).half_width
        array([1., 4.])
        >>> sensitivity_body(Box([0, 0], [1, 4]), "add_remove", np.array([0.5, 1.0])).half_width
        array([0.5, 3. , 1. ])
    """
    raise DomainError(f"domain={type(domain).__name__} has no known sensitivity body; use ln.Box")


@sensitivity_body.register(Box)
def _(domain: Box, relation: Relation, center: Vector) -> SymmetricBox:
    if relation == "substitute":
        return SymmetricBox(frozen(domain.upper - domain.lower))
    # a box about v is symmetric, so ±((K − v) × {1}) has the hull (K − v) × [−1, 1]
    reach = np.maximum(domain.upper - center, center - domain.lower)
    return SymmetricBox(frozen(np.append(reach, 1.0)))


@singledispatch
def radius_up(shape: object, body: SymmetricBox) -> float:
    """Return at least max √(sᵀ M⁻¹ s) over s in `body`: the μ of noise of this `shape`.

    Raises:
        PlanError: where the shape is of a kind whose radius is not known.

    Examples:
        >>> 5.0 <= radius_up(DiagonalShape([1, 1]), SymmetricBox(np.array([3.0, 4.0]))) < 5.000001
        True
    """
    raise PlanError(f"shape={type(shape).__name__} has no known radius; use DiagonalShape")


@radius_up.register(DiagonalShape)
def _(shape: DiagonalShape, body: SymmetricBox) -> float:
    return norm_up(body.half_width, shape.scale)
