# SPDX-License-Identifier: Apache-2.0
"""Balls of norms of sorted sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen, vector
from lownoise.sets.domains.ball import checked_dimension, checked_positive
from lownoise.sets.domains.image import Image, center_or_zero
from lownoise.sets.unit_balls import SortedBall

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def OrderedBall(  # noqa: N802 (a domain is named like one)
    weights: ArrayLike,
    radius: float = 1.0,
    center: ArrayLike | None = None,
) -> Image:
    """Return {x : Σ weightᵢ·|x − center|₍ᵢ₎ ≤ radius}, |·|₍₁₎ the largest size (ordered ℓ₁).

    Args:
        weights: shape (d,), none larger than the one before, the first above 0, none below.
        radius: at least 0.
        center: shape (d,); zero by default.

    Raises:
        DomainError: where an argument is out of range.

    Examples:
        >>> OrderedBall([2.0, 1.0], radius=4).clamp(np.array([4.0, 4.0])).round(9)
        array([1.33333333, 1.33333333])
    """
    w = vector(weights, field="OrderedBall.weights", error=DomainError)
    if not w[0] > 0 or np.any(w < 0):
        raise DomainError("OrderedBall.weights are not above 0 and then at least 0; give such")
    if np.any(np.diff(w) > 0):
        i = int(np.argmax(np.diff(w) > 0)) + 1
        raise DomainError(
            f"OrderedBall.weights[{i}]={w[i]:g} is above the one before; sort them down"
        )
    size = checked_positive(radius, "OrderedBall.radius", least=0.0)
    unit = SortedBall(frozen(w / w[0]))
    shift = center_or_zero(center, w.size, "OrderedBall.center")
    factor = np.full(w.size, size / float(w[0]))
    return Image(frozen(factor), unit, shift)


def TopBall(  # noqa: N802 (a domain is named like one)
    dimension: int,
    largest: int,
    radius: float = 1.0,
    center: ArrayLike | None = None,
) -> Image:
    """Return all x whose `largest` largest |xᵢ − centerᵢ| sum to at most `radius` (top-k norm).

    Args:
        dimension: d ≥ 1.
        largest: k, from 1 (a cube) to d (an ℓ₁ ball).
        radius: at least 0.
        center: shape (d,); zero by default.

    Raises:
        DomainError: where an argument is out of range.

    Examples:
        >>> TopBall(3, 2).contains(np.array([0.5, -0.5, 0.5]))
        True
    """
    d = checked_dimension(dimension, "TopBall.dimension")
    k = checked_dimension(largest, "TopBall.largest")
    if k > d:
        raise DomainError(f"TopBall.largest={k} exceeds TopBall.dimension={d}; give at most {d}")
    return OrderedBall(np.where(np.arange(d) < k, 1.0, 0.0), radius, center)
