# SPDX-License-Identifier: Apache-2.0
"""The evidence's own method as a function: call `dual.least` in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lownoise.certificate.evidence import AbstractDual
from lownoise.errors import PlanError

if TYPE_CHECKING:
    from lownoise.certificate.evidence import Changes
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape


def lower_bound(
    dual: object,
    body: Changes,
    order: float,
    weights: Vector,
    queries: Vector | None = None,
    hint: AbstractShape | None = None,
) -> float:
    """Return `dual.least` of that body.

    Raises:
        PlanError: where the evidence is of an unknown kind, or does not fit.
    """
    if not isinstance(dual, AbstractDual):
        raise PlanError(f"dual={type(dual).__name__} is evidence of no known kind; solve again")
    return dual.least(body, order, weights, queries, hint)
