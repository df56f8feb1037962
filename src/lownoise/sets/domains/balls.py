# SPDX-License-Identifier: Apache-2.0
"""Balls of ℓ_r norms, of norms of sorted sizes and of singular values; ellipsoids and zonotopes.

A record that is a matrix has its entries row by row.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import DomainError, quoted
from lownoise.numbers.arguments import is_integer
from lownoise.numbers.arrays import frozen, matrix, number, vector
from lownoise.sets.domains.abstract import DOMAINS
from lownoise.sets.domains.image import (
    Image,
    center_or_zero,
    check_size,
    checked_factor,
)
from lownoise.sets.domains.nearest import narrowed
from lownoise.sets.unit_balls import NormBall, SortedBall, spectral_ball

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.sets.unit_balls import AbstractUnitBall

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


@DOMAINS.constructor
def OperatorNormBall(  # noqa: N802 (a domain is named like one)
    rows: int,
    columns: int,
    radius: float = 1.0,
    center: ArrayLike | None = None,
) -> Image:
    """Return the matrices X with ‖X − center‖ ≤ radius in the operator (spectral) norm.

    Γ_p = radius·√min(rows, columns)·(rows·columns)^{1/p}.

    Args:
        rows: at least 1.
        columns: at least 1.
        radius: in the unit of the entries, at least 0.
        center: shape (rows, columns) or (rows·columns,); zero by default.

    Raises:
        DomainError: where an argument is out of range.

    Examples:
        >>> contractions = OperatorNormBall(2, 2)
        >>> contractions.clamp(np.array([3.0, 0.0, 0.0, 0.5])).round(9)
        array([1.        , 0.        , 0.        , 0.16666667])
        >>> round(contractions.support(np.array([1.0, 0.0, 0.0, 1.0])), 9)  # the trace
        2.0
    """
    name = "OperatorNormBall"
    gauge = NormBall(_singular_values(name, rows, columns), math.inf)
    return _matrices(name, rows, columns, gauge, radius, center)


@DOMAINS.constructor
def SchattenBall(  # noqa: N802 (a domain is named like one)
    rows: int,
    columns: int,
    order: float,
    radius: float = 1.0,
    center: ArrayLike | None = None,
) -> Image:
    """Return the matrices with ‖σ(X − center)‖_order ≤ radius, σ the singular values.

    Order 1 is the nuclear norm, 2 the Frobenius norm, ∞ the operator norm. Γ_p =
    radius·min(rows, columns)^{1/2 − 1/order}·(rows·columns)^{1/p}, without the first power below 2.

    Args:
        rows: at least 1.
        columns: at least 1.
        order: in [1, ∞].
        radius: in the unit of the entries, at least 0.
        center: shape (rows, columns) or (rows·columns,); zero by default.

    Raises:
        DomainError: where an argument is out of range.

    Examples:
        >>> nuclear = SchattenBall(2, 2, order=1)
        >>> round(nuclear.support(np.array([3.0, 0.0, 0.0, 4.0])), 9)
        4.0
    """
    m = _singular_values("SchattenBall", rows, columns)
    gauge = NormBall(m, checked_norm_order(order, "SchattenBall.order"))
    return _matrices("SchattenBall", rows, columns, gauge, radius, center)


@DOMAINS.constructor
def KyFanBall(  # noqa: N802 (a domain is named like one)
    rows: int,
    columns: int,
    largest: int,
    radius: float = 1.0,
    center: ArrayLike | None = None,
) -> Image:
    """Return the matrices whose k largest singular values, about the center, sum to ≤ radius.

    One is the operator norm, all the nuclear norm. Γ_p =
    radius·max(1, √min(rows, columns)/k)·(rows·columns)^{1/p}.

    Args:
        rows: at least 1.
        columns: at least 1.
        largest: k, from 1 to min(rows, columns).
        radius: in the unit of the entries, at least 0.
        center: shape (rows, columns) or (rows·columns,); zero by default.

    Raises:
        DomainError: where an argument is out of range.

    Examples:
        >>> ball = KyFanBall(3, 3, largest=2)
        >>> round(ball.support(np.eye(3).ravel()), 9)
        1.5
    """
    m = _singular_values("KyFanBall", rows, columns)
    k = checked_dimension(largest, "KyFanBall.largest")
    if k > m:
        raise DomainError(
            f"KyFanBall.largest={k} singular values of a matrix that has {m}; give at most {m}"
        )
    if k in (1, m):
        gauge: AbstractUnitBall = NormBall(m, math.inf if k == 1 else 1.0)
    else:
        gauge = SortedBall(frozen(np.where(np.arange(m) < k, 1.0, 0.0)))
    return _matrices("KyFanBall", rows, columns, gauge, radius, center)


@DOMAINS.constructor
def UnitarilyInvariantBall(  # noqa: N802 (a domain is named like one)
    rows: int,
    columns: int,
    gauge: Image,
    radius: float = 1.0,
    center: ArrayLike | None = None,
) -> Image:
    """Return the matrices whose singular values, about the center, lie in radius·gauge.

    Every unitarily invariant norm is of this form, and every permutation-symmetric norm gives one.

    Args:
        rows: at least 1.
        columns: at least 1.
        gauge: the unit ball of a norm that neither signs nor the order of coordinates change, in
            min(rows, columns) coordinates, such as `ln.Ball`.
        radius: at least 0.
        center: shape (rows, columns) or (rows·columns,); zero by default.

    Raises:
        DomainError: where an argument is out of range, or the gauge is no such ball about zero.

    Examples:
        >>> from lownoise.sets.domains import Ball
        >>> ball = UnitarilyInvariantBall(2, 3, Ball(2, order=4))
        >>> round(ball.support(np.array([1.0, 0, 0, 0, 1.0, 0])), 6)  # 2^{3/4}
        1.681793
    """
    name = "UnitarilyInvariantBall"
    m = _singular_values(name, rows, columns)
    if not isinstance(gauge, Image):
        raise DomainError(f"{name}.gauge={type(gauge).__name__} is no norm's ball; give ln.Ball(…)")
    if gauge.dimension != m:
        raise DomainError(
            f"{name}.gauge has {gauge.dimension} coordinates for {m} singular values; give {m}"
        )
    size = gauge.factor[:1]
    alike = gauge.diagonal and bool(np.all(gauge.factor == size)) and gauge.base.symmetric
    if not alike or np.any(gauge.center):
        raise DomainError(
            f"{name}.gauge is not the same about zero in every order of coordinates; "
            "give a ball about zero of equal axes",
        )
    unit = abs(float(size[0]))
    return _matrices(name, rows, columns, gauge.base, radius, center, unit)


def _singular_values(name: str, rows: int, columns: int) -> int:
    """Return the number of singular values of matrices of a shape.

    Raises:
        DomainError: where there is no row or no column, or too many of them.
    """
    m = checked_dimension(rows, f"{name}.rows")
    n = checked_dimension(columns, f"{name}.columns")
    if m * n > MOST_COORDINATES:
        raise DomainError(
            f"{name}.rows={m} by {n} columns make more than 2^24 numbers; give fewer",
        )
    return min(m, n)


def _matrices(
    name: str,
    rows: int,
    columns: int,
    gauge: AbstractUnitBall,
    radius: float,
    center: ArrayLike | None,
    unit: float = 1.0,
) -> Image:
    """Return the matrices whose singular values, about the center, lie in radius·unit·gauge.

    By symmetry the least ellipsoid around such a ball is a round one, for every p: the signs of
    rows and columns and their permutations move the ball onto itself, their averages only lower the
    convex √tr_{p/2}(M) (002, section 2.3), and what they all leave alone is a multiple of the
    identity. So Γ_p = d^{1/p}·radius·R, where R is the greatest Euclidean length of a point of the
    gauge's unit ball.

    Raises:
        DomainError: where the radius is out of range, or the center no such matrix.
    """
    given = checked_positive(radius, f"{name}.radius", least=0.0)
    size = checked_positive(given * unit, f"{name}.radius", least=0.0)
    d = int(rows) * int(columns)
    flat = _flat(center, (int(rows), int(columns)), f"{name}.center")
    middle = center_or_zero(flat, d, f"{name}.center")
    return Image(frozen(np.full(d, size)), spectral_ball(int(rows), int(columns), gauge), middle)


def _flat(center: ArrayLike | None, shape: tuple[int, int], field: str) -> ArrayLike | None:
    """Return a center row by row, if it is a matrix.

    Raises:
        DomainError: where it has another shape.
    """
    if center is None:
        return None
    try:
        given = np.shape(center)
    except ValueError:
        given = ()
    if given == shape:
        return matrix(center, field=field, error=DomainError).ravel()
    if len(given) != 1:
        raise DomainError(f"{field} has shape {given}; give {shape}")
    return center


def checked_dimension(value: int, field: str) -> int:
    """Return a number of coordinates.

    Raises:
        DomainError: where it is no whole number from 1 to 2^24.
    """
    if not is_integer(value) or value < 1:
        raise DomainError(f"{field}={quoted(value)} is no number of coordinates; give at least 1")
    if value > MOST_COORDINATES:
        raise DomainError(
            f"{field}={quoted(value)} is more than memory is asked for; give at most 2^24"
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
    taken = " from 1 on, or infinity (math.inf)"
    r = number(value, field=field, error=DomainError, within=taken)
    if r < 1:
        raise DomainError(f"{field}={r:g} is no norm; give one{taken}")
    return r
