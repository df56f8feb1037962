# SPDX-License-Identifier: Apache-2.0
"""ℓ_p norms of deviations and the orders that are dual to them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.rounding import SLACK, TINY

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

__all__ = ["SLACK", "TINY", "conjugate", "order_norm"]


def conjugate(order: float) -> float:
    """Return q = p/(p − 2)."""
    if math.isinf(order):
        return 1.0
    return order / (order - 2) if order > 2 else math.inf  # noqa: PLR2004


def dual_order(order: float) -> float:
    """Return r* with 1/r + 1/r* = 1, the order of the dual norm of ℓ_r."""
    if order == 1:
        return math.inf
    return 1.0 if math.isinf(order) else order / (order - 1)


def order_norm(values: Vector, order: float, counts: Vector | None = None) -> float:
    """Return ‖values‖_order without overflow.

    Args:
        values: not negative, shape (d,).
        order: p.
        counts: how often each value occurs, at least 1, shape (d,); once by default.

    Examples:
        >>> round(order_norm(np.array([3.0, 4.0]), 2.0), 12)
        5.0
    """
    largest = float(np.max(values, initial=0.0))
    if largest == 0 or math.isinf(order):
        return largest
    parts = (values / largest) ** order
    return largest * float(math.fsum(parts if counts is None else counts * parts) ** (1 / order))
