# SPDX-License-Identifier: Apache-2.0
"""Problems with known optima: one row adds a domain, and every law runs on it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lownoise import Box

ORDERS = (2.0, 2.5, 3.0, 4.0, 17.0, 1000.0, math.inf)


@dataclass(frozen=True)
class Case:
    name: str
    domain: Box

    def gamma(self, order: float) -> float:
        """Γ_p(K) by the published form for boxes, 002 equation (27) with its ½, in plain Python."""
        halves = [(u - lo) / 2 for lo, u in zip(self.domain.lower, self.domain.upper, strict=True)]
        r = 2.0 if math.isinf(order) else 2 * order / (order + 2)
        top = max(halves)
        return top and top * sum((h / top) ** r for h in halves) ** (1 / r)


CASES = (
    Case("unit interval", Box([0], [1])),
    Case("unit cube", Box(np.zeros(8), np.ones(8))),
    Case("uneven", Box([-60, -120, 0, 0], [1440, 1440, 720, 5000])),
    Case("far from zero", Box([2.0**50, -(2.0**50)], [2.0**50 + 1, -(2.0**50) + 3])),
    Case("scales", Box([-1e-9, -1.0, -1e9], [1e-9, 1.0, 1e9])),
    Case("one flat side", Box([0, 3, 0], [1, 3, 10])),
    Case("huge", Box([-(2.0**500)], [2.0**500])),
    Case("tiny", Box([0.0, 0.0], [2.0**-390, 2.0**-380])),
)
