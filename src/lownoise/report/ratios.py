# SPDX-License-Identifier: Apache-2.0
"""The noise of other mechanisms as a multiple of this plan's; NaN where this plan has none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate import order_norm
from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.release.terms import Terms


def answer_ratios(terms: Terms, other: Vector) -> Vector:
    """Return other/plan for each answer's standard deviation, shape (m,)."""
    own = terms.standard_deviation
    return frozen(np.divide(other, own, out=np.full(own.size, math.nan), where=own > 0))


def norm_ratio(terms: Terms, other: Vector, order: float) -> float:
    """Return ‖other‖_order / ‖plan‖_order."""
    own = order_norm(terms.standard_deviation, order)
    return order_norm(other, order) / own if own > 0 else math.nan


def variance_ratio(terms: Terms, other: Vector) -> float:
    """Return the total variance of `other` over this plan's."""
    return norm_ratio(terms, other, 2.0) ** 2
