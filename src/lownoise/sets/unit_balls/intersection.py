# SPDX-License-Identifier: Apache-2.0
"""What several unit balls in the same coordinates share, each in its own scale."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import FileError
from lownoise.kinds import TABLE, Field
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import CROSS, LAST, TINY, grown
from lownoise.sets.unit_balls.abstract import UNIT_BALLS, AbstractUnitBall
from lownoise.sets.unit_balls.limits import shared

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.sets.unit_balls.limits import Limits

_ROUNDS = 150  # of the search for a split where parts are no norms
_NEAR = 1e-9


def _checked(parts: tuple[AbstractUnitBall, ...], scales: Vector) -> IntersectionBall:
    sizes = {part.dimension for part in parts}
    if not all(part.unconditional for part in parts):
        raise FileError("base.parts are not unchanged by all changes of signs")
    if len(sizes) != 1 or scales.shape != (len(parts), *sizes) or not np.all(scales > 0):
        raise FileError("base.parts and base.scales do not fit; give one scale above 0 each")
    return IntersectionBall(parts, frozen(scales))


@UNIT_BALLS.kind("meet", Field("parts", UNIT_BALLS.several), Field("scales", TABLE), make=_checked)
@final
@dataclass(frozen=True, eq=False)
class IntersectionBall(AbstractUnitBall):
    """{x : scaleⱼ∘x ∈ Bⱼ for every j}.

    Its support function is the least Σ hⱼ(θⱼ/scaleⱼ) over splits θ = Σ θⱼ, and the energy of parts
    that are 2-convex the least Σ energyⱼ(yⱼ/scaleⱼ²) over splits of y. Every split is a bound.
    Where all parts are balls, capped balls and products of them, at most 16 norms in all,
    Lagrange's multipliers give the best one within 1e-8, or 1e-3 where scales differ by many
    orders. Otherwise a good one is searched for: supports, energies and extreme points are then
    near the best, within 1e-3 or so.

    Args:
        parts: Bⱼ, of k coordinates each.
        scales: above 0, shape (n, k).

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> scales = np.array([[0.8, 0.8], [1.0, 1]])
        >>> cross = IntersectionBall((NormBall(2, 1.0), NormBall(2, 2.0)), scales)
        >>> cross.norm_up(np.array([[1.0, 0.0], [1.0, 1.0]])).round(9)
        array([1. , 1.6])
        >>> bool(1.0 <= cross.support_up(np.array([[1.0, 0.0]]))[0] < 1 + 1e-9)
        True
    """

    parts: tuple[AbstractUnitBall, ...]
    scales: Vector

    @property
    def dimension(self) -> int:
        """The number of coordinates k."""
        return self.parts[0].dimension

    def norm_up(self, points: Vector) -> Vector:
        """Return the greatest norm of a part."""
        found = np.zeros(len(points))
        for part, scale in zip(self.parts, self.scales, strict=True):
            np.maximum(found, part.norm_up(points * scale), out=found)
        return np.asarray(grown(found, TINY))

    def support_up(self, directions: Vector) -> Vector:
        """Return the least sum of the parts' supports over the splits that were tried."""
        size = np.abs(directions)
        return grown(self._split_support(size)[0], TINY)

    def extreme(self, directions: Vector) -> Vector:
        """Return a point of the body that is nearly extreme."""
        size = np.abs(directions)
        found = self._split_support(size)[1]
        return np.where(directions < 0, -found, found)

    def energy_up(self, coefficients: Vector) -> float:
        """Return the least sum of the parts' energies over the splits that were tried."""
        if self._filled is not None:
            return float(self._filled.squared().farthest(coefficients[None])[0][0])

        def energy(j: int, y: Vector) -> Vector:
            return np.array([self.parts[j].energy_up(y[0] / np.square(self.scales[j]))])

        def squares(j: int, y: Vector) -> Vector:
            own = self.parts[j].squares_extreme(y[0] / np.square(self.scales[j]))
            return np.asarray(own / np.square(self.scales[j]))[None]

        return grown(float(self._split(coefficients[None], energy, squares)[0][0]), TINY)

    def moment_up(self, squares: Vector) -> float:
        """Return the greatest moment of a part where squares fill convex sets, else ‖√z‖²."""
        if not self.squares_convex:
            return grown(float(self.norm_up(np.sqrt(squares)[None])[0]) ** 2, TINY)
        pairs = zip(self.parts, self.scales, strict=True)
        return grown(max(part.moment_up(squares * np.square(scale)) for part, scale in pairs), TINY)

    def best_squares(self, gains: Vector) -> Vector:
        """Return √z dual to √g in this very body, nearly.

        Where squares fill no convex set, in the body of the parts whose squares fill their hulls;
        then made small enough.
        """
        if self.squares_convex:
            return np.asarray(np.square(self.extreme(np.sqrt(gains)[None])[0]))
        z = self.square_hull()[0].best_squares(gains)
        return np.asarray(z / max(self.moment_up(z), 1.0))

    @property
    def norm_excess(self) -> float:
        """That of the worst part, and a product by a scale."""
        return grown(max(part.norm_excess for part in self.parts) + TINY + LAST, CROSS)

    @property
    def inner_radius(self) -> float:
        """The least of the parts', each by its greatest scale."""
        pairs = zip(self.parts, self.scales, strict=True)
        return min(part.inner_radius / grown(float(np.max(scale))) for part, scale in pairs)

    def widths(self) -> Vector:
        """Return the least width of a part: a point of one axis is in it where it is in all."""
        pairs = zip(self.parts, self.scales, strict=True)
        widths = [part.widths() / scale for part, scale in pairs]
        return np.asarray(grown(np.min(widths, axis=0), TINY))

    @property
    def squares_convex(self) -> bool:
        """Where all parts' are."""
        return all(part.squares_convex for part in self.parts)

    @property
    def only_near(self) -> bool:
        """Where it has no limits."""
        return self.limits is None

    def square_hull(self) -> tuple[AbstractUnitBall, Vector]:
        """Return what those of the parts share."""
        hulls, own = zip(*(part.square_hull() for part in self.parts), strict=True)
        return IntersectionBall(hulls, np.array(own) * self.scales), np.ones(self.dimension)

    @cached_property
    def limits(self) -> Limits | None:
        """Those of all parts."""
        pairs = [(part.limits, scale) for part, scale in zip(self.parts, self.scales, strict=True)]
        return shared([own and own.rescaled(scale) for own, scale in pairs])

    @cached_property
    def _filled(self) -> Limits | None:
        """Limits of order 2 at least, whose squares fill a convex set around those of this body."""
        return None if self.limits is None else self.square_hull()[0].limits

    def _split_support(self, size: Vector) -> tuple[Vector, Vector]:
        if self.limits is not None:
            bound, found = self.limits.farthest(size)
            norm = self.norm_up(found)
            return bound, found / np.where(norm > 0, norm, 1.0)[:, None]

        def support(j: int, theta: Vector) -> Vector:
            return self.parts[j].support_up(theta / self.scales[j])

        def extreme(j: int, theta: Vector) -> Vector:
            return np.asarray(
                np.abs(self.parts[j].extreme(theta / self.scales[j])) / self.scales[j]
            )

        bound, mean = self._split(size, support, extreme)
        norm = self.norm_up(mean)
        return bound, mean / np.where(norm > 0, norm, 1.0)[:, None]

    def _split(
        self,
        size: Vector,
        value: Callable[[int, Vector], Vector],
        gradient: Callable[[int, Vector], Vector],
    ) -> tuple[Vector, Vector]:
        """Return the least Σ value(j, ωⱼ∘size), ω ≥ 0 of sum 1 in each coordinate; and the mean.

        Exponentiated gradients: coordinates move to the parts whose gradients are small there. At
        the optimum all parts have one gradient in common; the mean over rounds comes near it.
        """
        n = len(self.parts)
        share = np.full((n, *size.shape), 1 / n)
        best = np.min([value(j, size) for j in range(n)], axis=0)
        mean = np.zeros_like(size)
        total = 0.0
        top = self.widths()
        for t in range(_ROUNDS):
            split = share * size
            now = np.sum([value(j, split[j]) for j in range(n)], axis=0)
            best = np.minimum(best, now)
            x = np.stack([gradient(j, split[j]) for j in range(n)])
            weight = t + 1.0
            total += weight
            mean += weight / total * (np.sum(share * x, axis=0) - mean)
            if np.all(np.ptp(x, axis=0) <= _NEAR * top):
                break
            step = 2.0 / np.sqrt(1.0 + t)
            share = share * np.exp(-step * (x - np.min(x, axis=0)) / top)
            share = np.maximum(share / np.sum(share, axis=0), 1e-12)
            share /= np.sum(share, axis=0)
        return best, mean
