# SPDX-License-Identifier: Apache-2.0
"""ℓ_p norms of deviations and the orders that are dual to them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.rounding import TINY

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


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


def row_norms(rows: Vector, order: float) -> Vector:
    """Return ‖row‖_order without overflow, columns added one by one where rows are several.

    Args:
        rows: shape (n, k).
        order: in [1, ∞].
    """
    size = np.abs(rows)
    top = np.max(size, axis=1)  # the same in any order
    if math.isinf(order):
        return np.asarray(top)
    if len(rows) == 1:  # nothing to be alike with
        part = size[0] / top[0] if top[0] > 0 else size[0]
        power = part if order == 1 else np.square(part) if order == 2 else part**order  # noqa: PLR2004
        return np.asarray(top * float(np.sum(power)) ** (1 / order))
    scale = np.where(top > 0, top, 1.0)
    total = np.zeros(len(rows))
    for column in size.T:
        part = np.ascontiguousarray(column) / scale
        if order == 1:
            total += part
        elif order == 2:  # noqa: PLR2004
            total += part * part
        else:
            total += part**order
    root = np.sqrt(total) if order == 2 else total ** (1 / order)  # noqa: PLR2004
    return np.asarray(scale * root * (top > 0))


def row_norms_up(rows: Vector, order: float) -> Vector:
    """Return at least ‖row‖_order, as `row_norms`: within 2^-44 and 2^-50 a column of it."""
    return np.asarray(row_norms(rows, order) * (1 + TINY + rows.shape[1] * 2.0**-50))


def euclidean(values: Vector) -> float:
    """Return the Euclidean length of values ≥ 0, shape (r,), whatever their size."""
    most = float(np.max(values, initial=0.0))
    return most * float(np.linalg.norm(values / most)) if 0 < most < math.inf else most
