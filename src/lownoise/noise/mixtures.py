# SPDX-License-Identifier: Apache-2.0
"""How far numbers stray that are linear in a mixture of uniform points of ellipsoids about 0.

They all have one law but for their deviation: that of r·t, r the radius and t a coordinate of a
uniform point of the unit ball in d dimensions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.rounding import grown

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_HALVINGS = 100


def ball_moment(dimension: int, radii: Vector, chances: Vector, order: float) -> float:
    """Return (E|X|^q)^{1/q}/σ.

    Of a uniform point of the unit ball E|t|^q = Γ((q+1)/2)Γ(d/2+1)/(√π·Γ((d+q)/2+1)).

    Args:
        dimension: d.
        radii: rising, shape (n,).
        chances: of these, shape (n,).
        order: q.
    """
    q, d = order, dimension
    relative = radii / radii[-1]
    log = math.lgamma((q + 1) / 2) + math.lgamma(d / 2 + 1) - math.lgamma(0.5)
    log -= math.lgamma((d + q) / 2 + 1)
    mean = float(chances @ relative**q)
    if not mean > 0:
        return math.inf
    square = float(chances @ np.square(relative)) / (d + 2)
    return grown(math.exp((math.log(mean) + log) / q) / math.sqrt(square))


def ball_quantile(dimension: int, radii: Vector, chances: Vector, chance: float) -> float:
    """Return t with P(|X| > t·σ) ≤ `chance`.

    In a ball of radius r, P(|X| > h) = I((d + 1)/2, 1/2) at 1 − (h/r)², a regularized incomplete
    beta function, for σ² = E r²/(d + 2).

    Args:
        dimension: d.
        radii: rising, shape (n,).
        chances: of these, shape (n,).
        chance: above 0.
    """
    from scipy.special import betainc

    def beyond(height: float) -> float:
        rest = np.maximum(1 - np.square(height / radii), 0.0)
        return float(chances @ betainc((dimension + 1) / 2, 0.5, rest))

    low, high = 0.0, float(radii[-1])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) <= chance else (middle, high)
    square = float(chances @ np.square(radii)) / (dimension + 2)
    return grown(high / math.sqrt(square))
