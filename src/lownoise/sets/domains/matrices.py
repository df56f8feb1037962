# SPDX-License-Identifier: Apache-2.0
"""Matrices whose singular values are bounded: balls of unitarily invariant norms.

A record is a matrix, its entries row by row. By symmetry the least ellipsoid around such a ball is
a round one, for every p: the signs of rows and columns and their permutations move the ball onto
itself, their averages only lower the convex √tr_{p/2}(M) (002, section 2.3), and what they all
leave alone is a multiple of the identity. So Γ_p = d^{1/p}·radius·R, where R is the greatest
Euclidean length of a point of the gauge's unit ball.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen, matrix
from lownoise.sets.domains.abstract import DOMAINS
from lownoise.sets.domains.balls import (
    MOST_COORDINATES,
    checked_dimension,
    checked_norm_order,
    checked_positive,
)
from lownoise.sets.domains.image import Image, center_or_zero
from lownoise.sets.unit_balls import NormBall, SortedBall, spectral_ball

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.sets.unit_balls import AbstractUnitBall


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
    matrices = _Matrices("OperatorNormBall", rows, columns)
    return matrices.ball(NormBall(matrices.least, math.inf), radius, center)


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
    matrices = _Matrices("SchattenBall", rows, columns)
    gauge = NormBall(matrices.least, checked_norm_order(order, "SchattenBall.order"))
    return matrices.ball(gauge, radius, center)


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
    matrices = _Matrices("KyFanBall", rows, columns)
    m = matrices.least
    k = checked_dimension(largest, "KyFanBall.largest")
    if k > m:
        raise DomainError(
            f"KyFanBall.largest={k} singular values of a matrix that has {m}; give at most {m}"
        )
    if k in (1, m):
        gauge: AbstractUnitBall = NormBall(m, math.inf if k == 1 else 1.0)
    else:
        gauge = SortedBall(frozen(np.where(np.arange(m) < k, 1.0, 0.0)))
    return matrices.ball(gauge, radius, center)


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
    matrices = _Matrices(name, rows, columns)
    m = matrices.least
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
    return matrices.ball(gauge.base, radius, center, unit=abs(float(size[0])))


@final
@dataclass(frozen=True)
class _Matrices:
    """Matrices of a shape, and the name of the constructor that its messages call.

    Raises:
        DomainError: where there is no row or no column.
    """

    name: str
    rows: int
    columns: int

    def __post_init__(self) -> None:
        for field in ("rows", "columns"):
            number = checked_dimension(getattr(self, field), f"{self.name}.{field}")
            object.__setattr__(self, field, number)
        if self.rows * self.columns > MOST_COORDINATES:
            raise DomainError(
                f"{self.name}.rows={self.rows} by {self.columns} columns make more than 2^24 "
                "numbers; give fewer",
            )

    @property
    def least(self) -> int:
        """The number of singular values."""
        return min(self.rows, self.columns)

    def ball(
        self,
        gauge: AbstractUnitBall,
        radius: float,
        center: ArrayLike | None,
        unit: float = 1.0,
    ) -> Image:
        """Return those whose singular values, about the center, lie in radius·unit·gauge.

        Raises:
            DomainError: where the radius is out of range, or the center no such matrix.
        """
        field = f"{self.name}.radius"
        given = checked_positive(radius, field, least=0.0)
        size = checked_positive(given * unit, field, least=0.0)
        d = self.rows * self.columns
        middle = center_or_zero(self._flat(center), d, f"{self.name}.center")
        base = spectral_ball(self.rows, self.columns, gauge)
        return Image(frozen(np.full(d, size)), base, middle)

    def _flat(self, center: ArrayLike | None) -> ArrayLike | None:
        """Return a center row by row, if it is a matrix."""
        if center is None:
            return None
        try:
            shape = np.shape(center)
        except ValueError:
            shape = ()
        if shape == (self.rows, self.columns):
            return matrix(center, field=f"{self.name}.center", error=DomainError).ravel()
        if len(shape) != 1:
            raise DomainError(
                f"{self.name}.center has shape {shape}; give ({self.rows}, {self.columns})"
            )
        return center
