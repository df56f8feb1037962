# SPDX-License-Identifier: Apache-2.0
"""Whether a point is in a symmetric convex body: in floats with a proved error, and exactly."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, matrix, vector
from lownoise.numbers.intervals import power
from lownoise.numbers.rounding import ROUGH, down, grown, growth, up

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector
    from lownoise.sets.unit_balls.abstract import AbstractUnitBall

_POWERS = 2.0**-44  # how far powers of floats can be off, relatively


class AbstractMembership(ABC):
    """Who knows which points a symmetric convex body S with 0 inside holds."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of coordinates d."""

    @property
    def exact(self) -> bool:
        """Whether `holds` decides every point; where not, the oracle is weak."""
        return True

    @property
    def work(self) -> float:
        """How long a proposal takes, in those of a box."""
        return 1.0

    @abstractmethod
    def norms(self, points: Vector) -> Vector:
        """Return ‖x‖_S in floats, row by row; shapes (n, d) and (n,)."""

    @abstractmethod
    def doubt(self, extent: Vector) -> float:
        """Return how far `norms` can be off near 1 where |x| ≤ reach, shape (d,); rounded up."""

    @abstractmethod
    def holds(self, balls: list[Any]) -> bool | None:
        """Return whether the point in these balls is in S; None where they leave it open."""

    def cuts(self, points: Vector) -> tuple[Vector, Vector, Vector] | None:
        """Return g, s and e with ⟨g*, x⟩ ≤ s on S for some |g* − g| ≤ e, to cut off each point.

        Shapes (n, d), (n,) and (n, d). Any half-space that holds S is sound; None: none is known.
        """
        return None

    def axes_up(self) -> Vector:
        """Return at least ‖eᵢ‖_S, shape (d,)."""
        unit = np.eye(self.dimension)
        own = self.norms(unit)
        return np.asarray(grown(own + self.doubt(np.ones(self.dimension)) * (1 + own)))


@final
@dataclass(frozen=True, eq=False)
class Preimage(AbstractMembership):
    """{x : ‖(⟨aᵢ, x⟩/bᵢ)ᵢ‖_order ≤ 1}: polytopes at order ∞, ellipsoids at 2, ℓ_r balls.

    Args:
        matrix: the rows aᵢ, shape (m, d), of rank d; taken as the exact floats.
        limits: b > 0, shape (m,); ones by default.
        order: in [1, ∞].

    Raises:
        PlanError: where an argument has another shape or is out of range.

    Examples:
        >>> square = Preimage(np.eye(2))
        >>> square.norms(np.array([[0.5, -2.0]]))
        array([2.])
        >>> square.holds([arb(1), arb(0.5)]), square.holds([arb(1, 0.1), arb(0)])
        (True, None)
    """

    matrix: ArrayLike
    limits: ArrayLike | None = None
    order: float = math.inf

    def __post_init__(self) -> None:
        """Check, and make the arrays read-only."""
        rows = matrix(self.matrix, field="Preimage.matrix", error=PlanError)
        if not rows.size or np.linalg.matrix_rank(rows) < rows.shape[1]:
            raise PlanError(
                f"Preimage.matrix of shape {rows.shape} has not rank {rows.shape[1]}, so the body "
                "is unbounded; work in the span of the changes"
            )
        limits = np.ones(len(rows)) if self.limits is None else self.limits
        b = vector(limits, field="Preimage.limits", error=PlanError)
        if b.size != len(rows) or not np.all(b > 0):
            raise PlanError(f"Preimage.limits must be {len(rows)} positive numbers; give one a row")
        if not self.order >= 1:
            raise PlanError(f"Preimage.order={self.order} is not in [1, ∞]; give such a number")
        object.__setattr__(self, "matrix", rows)
        object.__setattr__(self, "limits", b)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(np.shape(self.matrix)[1])

    @cached_property
    def _scaled(self) -> Vector:
        return frozen(np.ascontiguousarray((np.asarray(self.matrix) / self._b[:, None]).T))

    @property
    def _b(self) -> Vector:
        return np.asarray(self.limits)

    def norms(self, points: Vector) -> Vector:
        """Return the norm of aᵀx/b."""
        return _norms(np.abs(points @ self._scaled), self.order)

    def doubt(self, extent: Vector) -> float:
        """Return the rounding of the products (Higham 2002, 3.5), and of the powers."""
        rows = growth(self.dimension + 3) * (extent @ np.abs(self._scaled))
        powers = 0.0 if math.isinf(self.order) else _POWERS + rows.size * 2.0**-50
        return grown(float(_norms(rows[None], self.order)[0]), ROUGH) + powers

    def holds(self, balls: list[Any]) -> bool | None:
        """Compare Σ|⟨aᵢ, x⟩/bᵢ|^order with 1."""
        rows = [
            abs(_product(row, balls)) / arb(b)
            for row, b in zip(np.asarray(self.matrix).tolist(), self._b.tolist(), strict=True)
        ]
        if math.isinf(self.order):
            sides = [_at_most_one(row) for row in rows]
            return False if False in sides else None if None in sides else True
        return _at_most_one(sum((power(row, self.order) for row in rows), arb(0)))

    def cuts(self, points: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the rows that are largest; below order ∞, the gradients by Hölder's inequality."""
        values = points @ self._scaled
        rows = np.asarray(self.matrix)
        if math.isinf(self.order):
            which = np.abs(values).argmax(axis=1)
            signs = np.where(values[np.arange(len(values)), which] < 0, -1.0, 1.0)
            normals = rows[which] * signs[:, None]
            return normals, self._b[which], np.zeros_like(normals)
        scale = np.abs(values).max(axis=1, keepdims=True)
        dual = np.sign(values) * (np.abs(values) / np.where(scale > 0, scale, 1.0)) ** (
            self.order - 1
        )
        order = math.inf if self.order == 1 else self.order / (self.order - 1)
        limits = _norms(np.abs(dual), order) * (1 + _POWERS + len(rows) * 2.0**-50)
        rounding = growth(len(rows) + 3) * (np.abs(dual) @ np.abs(self._scaled.T))
        return dual @ self._scaled.T, limits, rounding

    def inner_radius(self, factor: Vector) -> float:
        """Return r with F·rB₂ ⊂ S, rounded down; `factor` is F, shape (d, d).

        ‖(⟨aᵢ, Fu⟩/bᵢ)‖ is at most |u| times the norm of the lengths ‖Fᵀaᵢ‖/bᵢ at order ∞, and times
        the Frobenius norm of these rows, grown by m^{1/order − 1/2}, below.
        """
        rows = self._scaled.T @ factor
        slack = growth(2 * self.dimension + 4) * (
            np.abs(self._scaled.T) @ np.abs(factor)
        )  # entry by entry
        lengths = grown(np.sqrt(np.sum((np.abs(rows) + slack) ** 2, axis=1)))
        if math.isinf(self.order):
            return down(1 / float(lengths.max()))
        from lownoise.numbers.rounding import spectral_up

        spectral = spectral_up(rows) + grown(float(np.linalg.norm(slack)))
        powers = grown(len(rows) ** max(1 / self.order - 0.5, 0.0))
        return down(1 / up(spectral * powers))


@final
@dataclass(frozen=True, eq=False)
class Meet(AbstractMembership):
    """The points that all of several bodies hold.

    Args:
        parts: the bodies, of one dimension.

    Raises:
        PlanError: where there is none, or dimensions differ.

    Examples:
        >>> both = Meet((Preimage(np.eye(2)), Preimage(np.eye(2), order=1.0)))
        >>> both.norms(np.array([[0.75, 0.75]])).round(9)
        array([1.5])
    """

    parts: tuple[AbstractMembership, ...]

    def __post_init__(self) -> None:
        """Check the dimensions."""
        if len({part.dimension for part in self.parts}) != 1:
            raise PlanError("Meet.parts differ in dimension, or are none; give bodies of one")

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.parts[0].dimension

    @property
    def exact(self) -> bool:
        """Whether all of them are."""
        return all(part.exact for part in self.parts)

    def norms(self, points: Vector) -> Vector:
        """Return the greatest norm."""
        return np.asarray(np.max([part.norms(points) for part in self.parts], axis=0))

    def doubt(self, extent: Vector) -> float:
        """Return the greatest doubt."""
        return max(part.doubt(extent) for part in self.parts)

    def cuts(self, points: Vector) -> tuple[Vector, Vector, Vector] | None:
        """Ask at each point the part whose norm is greatest."""
        known = [(part, found) for part in self.parts if (found := part.cuts(points)) is not None]
        if not known:
            return None
        which = np.argmax([part.norms(points) for part, _ in known], axis=0)
        rows = np.arange(len(points))
        normals, limits, errors = (np.stack(x) for x in zip(*(f for _, f in known), strict=True))
        return normals[which, rows], limits[which, rows], errors[which, rows]

    def holds(self, balls: list[Any]) -> bool | None:
        """Ask them in turn."""
        sides = [part.holds(balls) for part in self.parts]
        return False if False in sides else None if None in sides else True


@final
@dataclass(frozen=True, eq=False)
class Normed(AbstractMembership):
    """A unit ball by its `norm_up`, and where that leaves it open by balls that hold the norm.

    Without these a point in doubt is not decided, and the oracle is weak (001, Appendix A.1).

    Args:
        base: the body.
        slack: how far `norm_up` exceeds the norm at most, relatively; in (0, 1).
        enclosed: takes a point's balls, and returns one of ‖x‖; None where no way is known.

    Raises:
        PlanError: where the slack is not between 0 and 1.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> Normed(NormBall(2, 2.0), 2.0**-40).holds([arb(0), arb(0)]) is None
        True
        >>> square = Normed(NormBall(2, math.inf), 2.0**-40, lambda x: abs(x[0]).max(abs(x[1])))
        >>> square.holds([arb(0.5), arb(1)])
        True
    """

    base: AbstractUnitBall
    slack: float
    enclosed: Callable[[list[Any]], Any] | None = None

    def __post_init__(self) -> None:
        """Check the slack."""
        if not 0 < self.slack < 1:
            raise PlanError(f"Normed.slack={self.slack} is not between 0 and 1; give such a number")

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.base.dimension

    @property
    def exact(self) -> bool:
        """Where balls of the norm are known."""
        return self.enclosed is not None

    def norms(self, points: Vector) -> Vector:
        """Return at least the norm."""
        return self.base.norm_up(points)

    def doubt(self, extent: Vector) -> float:
        """Return the slack."""
        return self.slack

    def holds(self, balls: list[Any]) -> bool | None:
        """Compare the norm with 1; without balls of it leave that open."""
        return None if self.enclosed is None else _at_most_one(self.enclosed(balls))

    def cuts(self, points: Vector) -> tuple[Vector, Vector, Vector]:
        """Return differences of the norm, near its gradient, with their supports on the body."""
        n, d = points.shape
        apart = 2.0**-20 * np.abs(points).max(axis=1)
        moves = apart[:, None, None] * np.eye(d)
        ends = np.vstack(
            [(points[:, None] + moves).reshape(-1, d), (points[:, None] - moves).reshape(-1, d)]
        )
        above, below = self.base.norm_up(ends).reshape(2, n, d)
        normals = (above - below) / np.where(apart > 0, 2 * apart, 1.0)[:, None]
        return normals, self.base.support_up(normals), np.zeros_like(normals)


def _norms(sizes: Vector, order: float) -> Vector:
    """Return the norm of each row of numbers ≥ 0."""
    top = sizes.max(axis=1)
    if math.isinf(order):
        return np.asarray(top)
    if order == 1:
        return np.asarray(sizes.sum(axis=1))
    scale = np.where(top > 0, top, 1.0)
    return np.asarray(scale * ((sizes / scale[:, None]) ** order).sum(axis=1) ** (1 / order))


def _product(row: list[float], balls: list[Any]) -> Any:  # noqa: ANN401 (flint carries no types)
    return sum((arb(a) * x for a, x in zip(row, balls, strict=True) if a), arb(0))


def _at_most_one(x: Any) -> bool | None:  # noqa: ANN401
    return True if x <= 1 else False if x > 1 else None
