# SPDX-License-Identifier: Apache-2.0
"""Several unit bodies joined by a norm: side by side at order ∞, their hull at order 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.sets.unit_balls.abstract import AbstractUnitBall
from lownoise.sets.unit_balls.norm import NormBall

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.numbers.arrays import Integers, Vector

_SLACK = 2.0**-44
_NOTHING = 1e-300
_MOST_PIECES = 64


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
        return int(self._ends[-1])

    @property
    def unconditional(self) -> bool:
        """Whether all parts are."""
        return all(part.unconditional for part in self.parts)

    @cached_property
    def _ends(self) -> Integers:
        return np.cumsum([0, *(part.dimension for part in self.parts)])

    @cached_property
    def _outer(self) -> NormBall:
        return NormBall(len(self.parts), self.order)

    def _pairs(self) -> Iterator[tuple[AbstractUnitBall, slice]]:
        slices = (slice(int(a), int(b)) for a, b in pairwise(self._ends))
        return zip(self.parts, slices, strict=True)

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
        reached = [np.sum(x * directions[:, own], axis=1) for x, (_, own) in pairs]
        share = self._outer.extreme(np.stack(reached, axis=1))
        return np.hstack([share[:, i : i + 1] * each for i, each in enumerate(found)])

    def energy_up(self, coefficients: Vector) -> float:
        """Return at least the outer energy of the parts' energies."""
        inner = [part.energy_up(coefficients[own]) for part, own in self._pairs()]
        return self._outer.energy_up(np.array(inner)) * (1 + _SLACK)

    def moment_up(self, squares: Vector) -> float:
        """Return at least the outer gauge of the parts' gauges."""
        inner = [part.moment_up(squares[own]) for part, own in self._pairs()]
        return self._outer.moment_up(np.array(inner)) * (1 + _SLACK)

    def spread(self, gains: Vector) -> Vector:
        """Return each part's best, in the proportions that are best for the outer."""
        found = [part.spread(gains[own]) for part, own in self._pairs()]
        reached = [
            float(np.sum(np.sqrt(gains[own] * z)))
            for z, (_, own) in zip(found, self._pairs(), strict=True)
        ]
        share = self._outer.spread(np.maximum(np.square(reached), _NOTHING))
        return np.concatenate([t * z for t, z in zip(share, found, strict=True)])

    def widths(self) -> Vector:
        """Return each part's own."""
        return np.concatenate([part.widths() for part in self.parts])

    def pieces(self) -> list[tuple[Integers, AbstractUnitBall]]:
        """Return the parts' pieces, at order 1; all ways to take one of each, at order ∞."""
        own = [
            [(start + kept, piece) for kept, piece in part.pieces()]
            for start, part in zip(self._ends[:-1], self.parts, strict=True)
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


def side_by_side(base: AbstractUnitBall) -> tuple[AbstractUnitBall, ...]:
    """Return the parts of a product, or the body itself."""
    apart = isinstance(base, MixedBall) and math.isinf(base.order)
    return base.parts if isinstance(base, MixedBall) and apart else (base,)


def product_ball(parts: Sequence[AbstractUnitBall]) -> AbstractUnitBall:
    """Return the parts side by side.

    Examples:
        >>> product_ball([NormBall(1, 2.0), NormBall(2, math.inf)])
        NormBall(size=3, order=inf)
    """
    return mixed_ball(parts, math.inf)


def _is_ball(base: AbstractUnitBall, order: float) -> bool:
    return isinstance(base, NormBall) and (base.order == order or base.size == 1)
