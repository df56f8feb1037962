# SPDX-License-Identifier: Apache-2.0
"""Balls of ℓ_r norms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import DomainError, told
from lownoise.numbers.arrays import frozen, number
from lownoise.sets.domains.image import Image, center_or_zero, check_size
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST_COORDINATES = 1 << 24  # a vector of them is 128 MiB, and a plan holds some


def Ball(  # noqa: N802 (a domain is named like one)
    dimension: int,
    radius: float = 1.0,
    order: float = 2.0,
    center: ArrayLike | None = None,
) -> Image:
    """Return the ball {x : ‖x − center‖_order ≤ radius}.

    Its least noise is known: Γ_p = radius·d^{1/p + 1/2 − 1/order} for order ≥ 2, radius·d^{1/p}
    below (002, section 3; below 2 by symmetry, see docs/theory.md).

    Args:
        dimension: d ≥ 1.
        radius: in the unit of the coordinates, at least 0.
        order: in [1, ∞].
        center: shape (d,); zero by default.

    Raises:
        DomainError: where an argument is out of range.

    Examples:
        >>> gradients = Ball(3, radius=2.0)
        >>> gradients.clamp(np.array([3.0, 0.0, 4.0])).round(9)
        array([1.2, 0. , 1.6])
        >>> round(Ball(2, order=1).support(np.array([3.0, -4.0])), 9)
        4.0
    """
    d = checked_dimension(dimension, "Ball.dimension")
    size = checked_positive(radius, "Ball.radius", least=0.0)
    r = checked_norm_order(order, "Ball.order")
    middle = center_or_zero(center, d, "Ball.center")
    return Image(frozen(np.full(d, size)), NormBall(d, r), middle)


def checked_dimension(value: int, field: str) -> int:
    """Return a number of coordinates.

    Raises:
        DomainError: where it is no whole number from 1 to 2^24.
    """
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < 1:
        raise DomainError(f"{field}={told(value)} is no number of coordinates; give at least 1")
    if value > MOST_COORDINATES:
        raise DomainError(
            f"{field}={told(value)} is more than memory is asked for; give at most 2^24"
        )
    return int(value)


def checked_positive(value: float, field: str, *, least: float) -> float:
    """Return a finite number.

    Raises:
        DomainError: where it is none, is below `least`, or too large or small to compute with.
    """
    size = number(value, field=field, error=DomainError)
    if not math.isfinite(size) or size < least:
        raise DomainError(f"{field}={size:g} is out of range; give a finite number from {least:g}")
    check_size(np.array([size]), field)
    return size


def checked_norm_order(value: float, field: str) -> float:
    """Return r.

    Raises:
        DomainError: where it is not in [1, ∞].
    """
    r = number(value, field=field, error=DomainError)
    if r < 1:
        raise DomainError(f"{field}={r:g} is no norm; give an order from 1 to infinity")
    return r
