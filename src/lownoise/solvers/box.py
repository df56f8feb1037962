# SPDX-License-Identifier: Apache-2.0
"""The least noise around a box, in closed form for every order.

Let gᵢ = ωᵢhᵢ. Among all M ⊇ S the least √tr_{p/2}(ωMω) is ‖g‖_r with r = 2p/(p+2) (002, equation
(27), for the box [−h, h]; equation (26) lacks the ½ of its half widths). It is attained at
ωᵢ²Mᵢᵢ = gᵢ^{4/(p+2)}·Σ g^r, where Σ hᵢ²/Mᵢᵢ = 1, and proved by the uniform measure on the corners
with query weights cᵢ ∝ gᵢ^{2(p−2)/(p+2)} (ours, by Lagrange).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate import CornerDual
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.factors import DiagonalShape

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies import SymmetricBox


def least_shape(
    body: SymmetricBox,
    order: float,
    weights: Vector,
) -> tuple[DiagonalShape, CornerDual]:
    """Return the optimal shape, and the evidence that it is; coordinates of width 0 get no noise.

    Args:
        body: half widths h ≥ 0, shape (d,).
        order: p in [2, ∞].
        weights: ω > 0, shape (d,).
    """
    g = weights * body.half_width
    largest = float(np.max(g))
    if largest == 0:
        return DiagonalShape(g), CornerDual(frozen(np.ones(g.size)))
    infinite = math.isinf(order)
    relative = g / largest
    mass = math.fsum(relative ** (2.0 if infinite else 2 * order / (order + 2)))
    spread = 0.0 if infinite else 2 / (order + 2)
    scale = np.where(g > 0, largest * relative**spread * math.sqrt(mass), 0.0) / weights
    c = relative ** (2.0 if infinite else 2 * (order - 2) / (order + 2))
    return DiagonalShape(scale), CornerDual(frozen(c))


def weight_for_share(body: SymmetricBox, order: float, share: float) -> float:
    """Return the weight of one more answer, of half width 1, that takes `share` of the privacy.

    An answer's share is hᵢ²/Mᵢᵢ, the part of μ² that it reveals; at the optimum it is proportional
    to gᵢ^r, so ω = (share/(1−share))^{1/r}·‖h‖_r.

    Args:
        body: half widths h of the other answers, times their weights, shape (d,).
        order: p in [2, ∞].
        share: in (0, 1).

    Examples:
        >>> from lownoise.sets.bodies import SymmetricBox
        >>> weight_for_share(SymmetricBox(np.array([2.0, 1.0])), 2.0, 0.25)
        1.0
    """
    r = 2.0 if math.isinf(order) else 2 * order / (order + 2)
    largest = float(np.max(body.half_width))
    if largest == 0:
        return 1.0
    norm = largest * math.fsum((body.half_width / largest) ** r) ** (1 / r)
    return float((share / (1 - share)) ** (1 / r) * norm)
