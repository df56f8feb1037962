# SPDX-License-Identifier: Apache-2.0
"""Balls of ℓ_r norms and of norms of sorted sizes, ellipsoids and zonotopes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import DomainError, told
from lownoise.numbers.arrays import frozen, matrix, number, vector
from lownoise.sets.domains.abstract import DOMAINS
from lownoise.sets.domains.image import (
    Image,
    center_or_zero,
    check_size,
    checked_factor,
)
from lownoise.sets.domains.turning import narrowed
from lownoise.sets.unit_balls import NormBall, SortedBall

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST_COORDINATES = 1 << 24  # a vector of them is 128 MiB, and a plan holds some


@DOMAINS.constructor
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


@DOMAINS.constructor
def Ellipsoid(factor: ArrayLike, center: ArrayLike | None = None) -> Image:  # noqa: N802
    """Return the ellipsoid {center + A·x : ‖x‖₂ ≤ 1}.

    Its least noise is a multiple of N(0, AAᵀ): Γ_p = √tr_{p/2}(AAᵀ) (002, section 3).

    Args:
        factor: A, shape (d, k); or shape (d,), half axes along the coordinates.
        center: shape (d,); zero by default.

    Raises:
        DomainError: where an argument is not finite, too large, or of the wrong shape.

    Examples:
        >>> import numpy as np
        >>> scores = Ellipsoid([[2.0, 0.0], [1.0, 1.0]], center=[50, 50])
        >>> round(scores.support(np.array([0.0, 1.0])), 9)  # 50 + √2
        51.414213562
    """
    a = checked_factor(factor, "Ellipsoid.factor")
    d = a.shape[0]
    size = d if a.ndim == 1 else a.shape[1]
    middle = center_or_zero(center, d, "Ellipsoid.center")
    narrow, ball = narrowed(NormBall(size, 2.0), a)
    return Image(narrow, ball, middle)


@DOMAINS.constructor
def Zonotope(generators: ArrayLike, center: ArrayLike | None = None) -> Image:  # noqa: N802
    """Return the zonotope center + Σ [−g, g].

    Up to 20 generators its corners are enumerated and the least noise is found exactly; beyond that
    the certificate shows how near it is, always within √(π/2) (see docs/theory.md).

    Args:
        generators: shape (k, d), one row a generator g.
        center: shape (d,); zero by default.

    Raises:
        DomainError: where an argument is not finite, too large, or of the wrong shape.

    Examples:
        >>> import numpy as np
        >>> hexagon = Zonotope([[1, 0], [0, 1], [1, 1]])
        >>> round(hexagon.support(np.array([1.0, 0.0])), 9)
        2.0
    """
    rows = matrix(generators, field="Zonotope.generators", error=DomainError)
    if not rows.size:
        raise DomainError(
            f"Zonotope.generators has shape {rows.shape}; give at least one row of one number",
        )
    check_size(rows, "Zonotope.generators")
    k, d = rows.shape
    middle = center_or_zero(center, d, "Zonotope.center")
    return Image(frozen(rows.T.copy()), NormBall(k, math.inf), middle)


@DOMAINS.constructor
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


@DOMAINS.constructor
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
