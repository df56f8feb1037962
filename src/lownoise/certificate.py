# SPDX-License-Identifier: Apache-2.0
"""How close to least a noise is, from both sides, recomputed from its evidence alone.

Evidence for a body S under order p is a pair: query weights c ≥ 0 with ‖c‖_q ≤ 1, q = p/(p−2), and
a measure on S with second moment C. Weak duality: whenever M covers S (sᵀM⁻¹s ≤ 1 on S),

    √tr_{p/2}(M) ≥ tr (G^{1/2} C G^{1/2})^{1/2},   G = diag(c),

because tr(GM) ≤ tr_{p/2}(M) (Hölder), tr(CM⁻¹) ≤ 1, and ½(a·tr GM + tr CM⁻¹/a) is at least the
right side for every a > 0. Weights ω on the answers enter as ωSω and ωMω.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError

if TYPE_CHECKING:
    from lownoise.arrays import Vector
    from lownoise.sensitivity import SymmetricBox
    from lownoise.shapes import AbstractShape

_SLACK = 2.0**-40  # outward: powers and long float sums have no directed rounding


@final
@dataclass(frozen=True)
class Certificate:
    """Bounds on the least objective: lower ≤ least ≤ upper, in the unit of the answers.

    `upper` is what the noise at hand has; no Gaussian noise of the same cost has less than `lower`.

    Examples:
        >>> Certificate(lower=1.0, upper=1.25).gap
        0.25
    """

    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """upper/lower − 1; 0 where both are 0."""
        if self.upper == 0:
            return 0.0
        return self.upper / self.lower - 1 if self.lower > 0 else math.inf


@final
@dataclass(frozen=True, eq=False)
class CornerDual:
    """The uniform measure on a box's corners, C = diag(half_width²), and query weights c, (d,)."""

    query_weights: Vector


def order_norm(values: Vector, order: float) -> float:
    """Return ‖values‖_order without overflow; `values` is not negative, shape (d,).

    Examples:
        >>> round(order_norm(np.array([3.0, 4.0]), 2.0), 12)
        5.0
    """
    largest = float(np.max(values))
    if largest == 0 or math.isinf(order):
        return largest
    return largest * float(math.fsum((values / largest) ** order) ** (1 / order))


@singledispatch
def lower_bound(dual: object, body: SymmetricBox, order: float, weights: Vector) -> float:
    """Return a number that √tr_{p/2}(ωMω) exceeds for every M that covers `body`.

    Args:
        dual: the evidence.
        body: S, d coordinates.
        order: p in [2, ∞].
        weights: ω > 0, shape (d,).

    Raises:
        PlanError: where the evidence is of an unknown kind.
    """
    raise PlanError(f"dual={type(dual).__name__} is evidence of no known kind; solve again")


@lower_bound.register(CornerDual)
def _(dual: CornerDual, body: SymmetricBox, order: float, weights: Vector) -> float:
    # G and C are diagonal, so the fidelity is Σ √cᵢ·ωᵢhᵢ
    conjugate = 1.0 if math.isinf(order) else order / (order - 2) if order > 2 else math.inf  # noqa: PLR2004
    c = dual.query_weights
    if not np.all(c >= 0) or not np.any(c > 0):
        raise PlanError("CornerDual.query_weights is not a non-negative vector; solve again")
    fidelity = math.fsum(np.sqrt(c) * weights * body.half_width)
    return fidelity / math.sqrt(order_norm(c, conjugate)) * (1 - _SLACK)


def upper_bound(noise: AbstractShape, order: float, weights: Vector) -> float:
    """Return at least √tr_{p/2}(ωMω) = ‖ω·standard deviations‖_p of `noise`."""
    return order_norm(weights * np.sqrt(noise.diagonal()), order) * (1 + _SLACK)
