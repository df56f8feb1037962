# SPDX-License-Identifier: Apache-2.0
"""Unit balls made of unit balls: joined by a norm, and all x ⊗ y.

Joined at order ∞ they are side by side, at order 1 it is their hull.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import FileError
from lownoise.kinds import ORDER, Field
from lownoise.numbers.arrays import slices
from lownoise.numbers.rounding import CROSS, LAST, TINY, grown
from lownoise.sets.unit_balls.abstract import UNIT_BALLS, AbstractUnitBall, NormBall
from lownoise.sets.unit_balls.limits import shared
from lownoise.sets.unit_balls.mixtures import mixture

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.unit_balls.limits import Limits

_NOTHING = 1e-300
_MOST_PIECES = 64
_PLACE = 2.0**-49  # of the largest singular value times k₁ + k₂: more than LAPACK loses
_ROUNDS = 30
_STEPS = 60


def _checked_mixed(order: float, parts: tuple[AbstractUnitBall, ...]) -> MixedBall:
    if not parts:
        raise FileError("base.parts is empty")
    return MixedBall(parts, order)


@UNIT_BALLS.kind(
    "mixed", Field("order", ORDER), Field("parts", UNIT_BALLS.several), make=_checked_mixed
)
@final
@dataclass(frozen=True)
class MixedBall(AbstractUnitBall):
    """{(x₁, …, x_n) : the ℓ_order norm of (‖x₁‖, …, ‖x_n‖) is at most 1}, ‖·‖ each part's own norm.

    Whatever is asked of it is asked of each part, and what they answer of the outer ball: if z is
    (τ₁ζ₁, …, τ_nζ_n) with τ in the hull of the outer squares and each ζ in its part's, mixing all
    of them independently gives z.

    Args:
        parts: B₁, …, B_n.
        order: in [1, ∞].

    Examples:
        >>> pair = MixedBall((NormBall(2, 2.0), NormBall(1, 2.0)), order=1.0)
        >>> pair.norm_up(np.array([[3.0, 4.0, -2.0]])).round(9)
        array([7.])
    """

    parts: tuple[AbstractUnitBall, ...]
    order: float

    @property
    def dimension(self) -> int:
        """The number of coordinates of all parts."""
        return sum(part.dimension for part in self.parts)

    @property
    def unconditional(self) -> bool:
        """Whether all parts are."""
        return all(part.unconditional for part in self.parts)

    @cached_property
    def _slices(self) -> list[slice]:
        return slices(part.dimension for part in self.parts)

    @cached_property
    def _outer(self) -> NormBall:
        return NormBall(len(self.parts), self.order)

    def _pairs(self) -> Iterator[tuple[AbstractUnitBall, slice]]:
        return zip(self.parts, self._slices, strict=True)

    @property
    def factors(self) -> tuple[AbstractUnitBall, ...]:
        """The parts, at order ∞."""
        return self.parts if math.isinf(self.order) else (self,)

    @property
    def squares_convex(self) -> bool:
        """From order 2 on, where all parts' are."""
        return self.order >= 2 and all(part.squares_convex for part in self.parts)  # noqa: PLR2004

    @property
    def only_near(self) -> bool:
        """Where a part's are."""
        return any(part.only_near for part in self.parts)

    def square_hull(self) -> tuple[AbstractUnitBall, Vector]:
        """Return those of the parts, joined at order 2 at least."""
        hulls, scales = zip(*(part.square_hull() for part in self.parts), strict=True)
        return MixedBall(hulls, max(self.order, 2.0)), np.concatenate(scales)

    def squares_extreme(self, coefficients: Vector) -> Vector:
        """Return the parts' own, in the proportions that are extreme for the outer."""
        pairs = [(part, coefficients[own]) for part, own in self._pairs()]
        found = [part.squares_extreme(y) for part, y in pairs]
        supports = [float(y @ z) for (_, y), z in zip(pairs, found, strict=True)]
        share = self._outer.squares_extreme(np.array(supports))
        return np.concatenate([t * z for t, z in zip(share, found, strict=True)])

    @property
    def limits(self) -> Limits | None:
        """Those of the parts, side by side; None at other orders than ∞."""
        pairs = [(part.limits, own) for part, own in self._pairs()]
        k, apart = self.dimension, math.isinf(self.order)
        return shared([own and own.placed(at, k) for own, at in pairs]) if apart else None

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the outer norm of the parts' norms."""
        inner = np.stack([part.norm_up(points[:, own]) for part, own in self._pairs()], axis=1)
        return self._outer.norm_up(inner)

    def signed_norm_up(self, points: Vector) -> Vector:
        """Return at least the outer norm of the parts' norms, whatever the signs."""
        inner = [part.signed_norm_up(points[:, own]) for part, own in self._pairs()]
        return self._outer.norm_up(np.stack(inner, axis=1))

    def support_up(self, directions: Vector) -> Vector:
        """Return at least the outer support of the parts' supports."""
        return self._outer.support_up(self._supports(directions))

    def _supports(self, directions: Vector) -> Vector:
        found = [part.support_up(directions[:, own]) for part, own in self._pairs()]
        return np.stack(found, axis=1)

    def extreme(self, directions: Vector) -> Vector:
        """Return the parts' extreme points, in the proportions that are extreme for the outer."""
        found = [part.extreme(directions[:, own]) for part, own in self._pairs()]
        pairs = zip(found, self._pairs(), strict=True)
        supports = [np.sum(x * directions[:, own], axis=1) for x, (_, own) in pairs]
        share = self._outer.extreme(np.stack(supports, axis=1))
        return np.hstack([share[:, i : i + 1] * each for i, each in enumerate(found)])

    def energy_up(self, coefficients: Vector) -> float:
        """Return at least the outer energy of the parts' energies."""
        inner = [part.energy_up(coefficients[own]) for part, own in self._pairs()]
        return grown(self._outer.energy_up(np.array(inner)), TINY)

    def moment_up(self, squares: Vector) -> float:
        """Return at least the outer gauge of the parts' gauges."""
        inner = [part.moment_up(squares[own]) for part, own in self._pairs()]
        return grown(self._outer.moment_up(np.array(inner)), TINY)

    def best_squares(self, gains: Vector) -> Vector:
        """Return each part's best, in the proportions that are best for the outer."""
        found = [part.best_squares(gains[own]) for part, own in self._pairs()]
        supports = [
            float(np.sum(np.sqrt(gains[own] * z)))
            for z, (_, own) in zip(found, self._pairs(), strict=True)
        ]
        share = self._outer.best_squares(np.maximum(np.square(supports), _NOTHING))
        return np.concatenate([t * z for t, z in zip(share, found, strict=True)])

    @property
    def norm_excess(self) -> float:
        """That of the outer norm and of the parts'; none where a part computes its own apart."""
        inner = max(part.norm_excess for part in self.parts)
        if any(part.decomposes for part in self.parts):
            return math.inf  # decompositions inside are not looked at
        return grown(inner + NormBall(len(self.parts), self.order).norm_excess, CROSS)

    @property
    def inner_radius(self) -> float:
        """By ‖(‖xᵢ‖)‖ ≤ ‖(|xᵢ|₂/rᵢ)‖."""
        parts = min(part.inner_radius for part in self.parts)
        return parts * NormBall(len(self.parts), self.order).inner_radius / grown(1.0)

    def widths(self) -> Vector:
        """Return each part's own."""
        return np.concatenate([part.widths() for part in self.parts])

    def pieces(self) -> list[tuple[Integers, AbstractUnitBall]]:
        """Return the parts' pieces, at order 1; all ways to take one of each, at order ∞."""
        own = [
            [(at.start + kept, piece) for kept, piece in part.pieces()]
            for part, at in self._pairs()
        ]
        if self.order == 1:
            return [piece for pieces in own for piece in pieces]
        ways = math.prod(len(pieces) for pieces in own)
        if not math.isinf(self.order) or not 1 < ways <= _MOST_PIECES:
            return super().pieces()
        return [
            (np.concatenate([kept for kept, _ in way]), product_ball([piece for _, piece in way]))
            for way in product(*own)
        ]

    def restricted(self, kept: Integers) -> AbstractUnitBall | None:
        """Return the parts' restrictions, joined."""
        rows = [
            kept[(kept >= own.start) & (kept < own.stop)] - own.start for _, own in self._pairs()
        ]
        pairs = zip(self.parts, rows, strict=True)
        found = [part.restricted(own) for part, own in pairs if own.size]
        known = [part for part in found if part is not None]
        return mixed_ball(known, self.order) if len(known) == len(found) else None


def mixed_ball(parts: Sequence[AbstractUnitBall], order: float) -> AbstractUnitBall:
    """Return the parts joined, in the simplest form: balls of the outer norm are one ball.

    Examples:
        >>> cube = NormBall(2, math.inf)
        >>> mixed_ball([cube, mixed_ball([cube, cube], math.inf)], math.inf)
        NormBall(size=6, order=inf)
    """
    flat: list[AbstractUnitBall] = []
    for part in parts:
        nested = isinstance(part, MixedBall) and part.order == order
        for own in part.parts if isinstance(part, MixedBall) and nested else (part,):
            last = flat[-1] if flat else None
            if last is not None and _is_ball(own, order) and _is_ball(last, order):
                flat[-1] = NormBall(last.dimension + own.dimension, order)
            else:
                flat.append(own)
    return flat[0] if len(flat) == 1 else MixedBall(tuple(flat), order)


def product_ball(parts: Sequence[AbstractUnitBall]) -> AbstractUnitBall:
    """Return the parts side by side.

    Examples:
        >>> product_ball([NormBall(1, 2.0), NormBall(2, math.inf)])
        NormBall(size=3, order=inf)
    """
    return mixed_ball(parts, math.inf)


def _is_ball(base: AbstractUnitBall, order: float) -> bool:
    return base.ball_order is not None and (base.ball_order == order or base.dimension == 1)


def _checked_kronecker(first: AbstractUnitBall, second: AbstractUnitBall) -> KroneckerBall:
    if not (first.unconditional and second.unconditional):
        raise FileError("base.first and base.second are not unchanged by all changes of signs")
    return KroneckerBall(first, second)


@UNIT_BALLS.kind(
    "kronecker",
    Field("first", UNIT_BALLS.member),
    Field("second", UNIT_BALLS.member),
    make=_checked_kronecker,
)
@final
@dataclass(frozen=True)
class KroneckerBall(AbstractUnitBall):
    """The hull of {x ⊗ y : x ∈ B₁, y ∈ B₂}; the coordinate of xᵢyⱼ is i·k₂ + j.

    Signs drawn for the coordinates of x and of y make second moments diagonal. The maximum of a
    bilinear form over two cubes is hard to find; where that is asked, bounds are returned.

    Args:
        first: B₁, k₁ coordinates, unchanged by every change of signs; so is B₂.
        second: B₂, k₂ coordinates.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> pair = KroneckerBall(NormBall(2, np.inf), NormBall(2, 2.0))
        >>> pair.norm_up(np.kron([1.0, -1.0], [0.6, 0.8])[None]).round(6)
        array([1.])
        >>> round(pair.energy_up(np.kron([1.0, 2.0], [3.0, 4.0])), 9)
        12.0
    """

    first: AbstractUnitBall
    second: AbstractUnitBall

    @property
    def dimension(self) -> int:
        """k₁·k₂."""
        return self.first.dimension * self.second.dimension

    @property
    def unconditional(self) -> bool:
        """Signs of single products xᵢyⱼ lead out of it."""
        return False

    @property
    def searched(self) -> bool:
        """It is, but where a part is an ℓ₁ ball or both are Euclidean."""
        orders = (self.first.ball_order, self.second.ball_order)
        return 1.0 not in orders and orders != (2.0, 2.0)

    def _tables(self, rows: Vector) -> Vector:
        return rows.reshape(len(rows), self.first.dimension, self.second.dimension)

    def norm_up(self, points: Vector) -> Vector:
        """Return the least Σ‖u‖‖v‖ of three ways to write a table as Σ uvᵀ.

        Row by row it is exact where B₁ is an ℓ₁ ball, column by column where B₂ is one, and by
        singular values where both are Euclidean, and at x ⊗ y.
        """
        tables = self._tables(points)
        turned = np.ascontiguousarray(tables.transpose(0, 2, 1))
        by_rows = self._entry_by_entry(tables, self.first, self.second)
        by_columns = self._entry_by_entry(turned, self.second, self.first)
        return np.minimum(np.minimum(by_rows, by_columns), self._by_singular_values(points))

    @staticmethod
    def _entry_by_entry(tables: Vector, one: AbstractUnitBall, other: AbstractUnitBall) -> Vector:
        """Return Σ ‖eᵢ‖‖rowᵢ‖; shapes (n, k, l) and (n,)."""
        n, k, size = tables.shape
        rows = other.norm_up(tables.reshape(n * k, size)).reshape(n, k)
        total = np.zeros(n)
        for column, width in zip(rows.T, one.widths(), strict=True):
            total += column / width
        return np.asarray(grown(total, 2.0**-42 + k * LAST))  # the widths are rounded up

    def brought_in(self, points: Vector) -> Vector:
        """Return points of B for rows: what its norm's bound admits, or a mixture of products.

        A mixture of x ⊗ y in B is in B, whatever found it. The nearest is searched for row by row
        where the bound puts a row outside; scaled down by the bound it is not, if that is nearer.
        """
        bounds = self.norm_up(points)
        found = np.asarray(points / np.maximum(bounds, 1.0)[:, None])
        if not self.searched:
            return found
        unit = self.widths()
        # a last digit of each coordinate adds its part of the width to the norm
        inward = unit * (1 - (unit.size + 4) * 2.0**-44)

        def scaled(directions: Vector) -> Vector:
            return self._products(directions / unit) / unit

        for i in np.flatnonzero(bounds > 1):
            goal = np.clip(points[i] / unit, -2.0, 2.0)
            mixed = inward * mixture(np.eye(unit.size), scaled, unit.size, goal, _STEPS)
            if np.linalg.norm((mixed - points[i]) / unit) < np.linalg.norm(
                (found[i] - points[i]) / unit
            ):
                found[i] = mixed
        return found

    def _products(self, directions: Vector) -> Vector:
        x = self.extreme(directions)
        return np.asarray(x / np.maximum(self.norm_up(x), 1.0)[:, None])

    def _by_singular_values(self, points: Vector) -> Vector:
        """Return Σ σ‖u‖‖v‖ over a singular value decomposition Σ σuvᵀ: enough, and least at x ⊗ y.

        What the decomposition misses is at most `_PLACE`·(k₁ + k₂) of the largest σ in every entry.
        """
        tables = self._tables(points)
        top = np.max(np.abs(points), axis=1)
        scale = np.where(top > 0, top, 1.0)
        u, sizes, v = np.linalg.svd(tables / scale[:, None, None], full_matrices=False)
        place = _PLACE * sum(tables.shape[1:])
        total = np.zeros(len(points))
        for i in range(sizes.shape[1]):
            left = self.first.norm_up(np.ascontiguousarray(u[:, :, i]))
            right = self.second.norm_up(np.ascontiguousarray(v[:, i, :]))
            # directions of no size say nothing of the table
            counted = sizes[:, i] > place * sizes[:, 0]
            total += np.where(counted, sizes[:, i] * left * right, 0.0)
        corners = np.sum(1 / self.first.widths()) * np.sum(1 / self.second.widths())
        missed = (2 + sizes.shape[1]) * place * sizes[:, 0] * corners
        return np.asarray(scale * np.where(top > 0, grown(total, TINY) + missed, 0.0))

    def signed_norm_up(self, points: Vector) -> Vector:
        """Return the sum over coordinates of their sizes alone, which no sign changes."""
        slack = 2.0**-42 + self.dimension * LAST  # the widths are rounded up
        return np.asarray(grown(np.abs(points) @ (1 / self.widths()), slack))

    def support_up(self, directions: Vector) -> Vector:
        """Return the lesser bound: the support of the rows' supports, or of the columns'."""
        tables = self._tables(directions)
        n, k1, k2 = tables.shape
        rows = self.second.support_up(tables.reshape(n * k1, k2)).reshape(n, k1)
        turned = np.ascontiguousarray(tables.transpose(0, 2, 1))
        columns = self.first.support_up(turned.reshape(n * k2, k1)).reshape(n, k2)
        return np.minimum(self.first.support_up(rows), self.second.support_up(columns))

    def extreme(self, directions: Vector) -> Vector:
        """Return x ⊗ y where neither alone can do better; another pair may."""
        tables = self._tables(directions)
        top = np.linalg.svd(tables, full_matrices=False)[0][:, :, 0]
        found = [self._climbed(tables, x) for x in (top, np.sum(tables, axis=2))]
        values = [np.sum(each * directions, axis=1) for each in found]
        return np.where((values[0] >= values[1])[:, None], *found)

    def _climbed(self, tables: Vector, start: Vector) -> Vector:
        x = self.first.extreme(start)
        for _ in range(_ROUNDS):
            y = self.second.extreme(np.einsum("nij,ni->nj", tables, x))
            x = self.first.extreme(np.einsum("nij,nj->ni", tables, y))
        return np.asarray(np.einsum("ni,nj->nij", x, y).reshape(len(tables), -1))

    def energy_up(self, coefficients: Vector) -> float:
        """Return the lesser bound: the energy of the rows' energies, or of the columns'."""
        table = coefficients.reshape(self.first.dimension, self.second.dimension)
        rows = np.array([self.second.energy_up(row) for row in table])
        columns = np.array([self.first.energy_up(np.ascontiguousarray(c)) for c in table.T])
        return grown(min(self.first.energy_up(rows), self.second.energy_up(columns)), TINY)

    def moment_up(self, squares: Vector) -> float:
        """Return enough for a ⊗ b ≥ z, b the greatest part of its row that any z takes.

        The hull of squares holds all that lies below its points.
        """
        table = squares.reshape(self.first.dimension, self.second.dimension)
        found = []
        for own, one, other in (
            (table, self.first, self.second),
            (table.T, self.second, self.first),
        ):
            a = np.sum(own, axis=1)
            b = grown(np.max(own / np.maximum(a, _NOTHING)[:, None], axis=0), TINY)
            found.append(one.moment_up(a) * other.moment_up(b))
        return grown(min(found), TINY)

    def best_squares(self, gains: Vector) -> Vector:
        """Return a ⊗ b where neither alone can do better: the best where g is a product itself."""
        table = gains.reshape(self.first.dimension, self.second.dimension)
        b = np.full(self.second.dimension, 1 / self.second.dimension)
        for _ in range(_ROUNDS):
            a = self.first.best_squares(np.square(np.sum(np.sqrt(table * b), axis=1)))
            b = self.second.best_squares(np.square(np.sum(np.sqrt(table * a[:, None]), axis=0)))
        return np.outer(a, b).ravel()

    def widths(self) -> Vector:
        """Return the products of the parts' widths."""
        return grown(np.outer(self.first.widths(), self.second.widths()).ravel(), TINY)

    def restricted(self, kept: Integers) -> AbstractUnitBall | None:
        """Return the product of the rows and columns that are kept, if it is one."""
        k2 = self.second.dimension
        rows, columns = np.unique(kept // k2), np.unique(kept % k2)
        first, second = self.first.restricted(rows), self.second.restricted(columns)
        if rows.size * columns.size != kept.size or first is None or second is None:
            return None
        return KroneckerBall(first, second)
