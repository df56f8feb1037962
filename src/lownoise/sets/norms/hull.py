# SPDX-License-Identifier: Apache-2.0
"""Norms whose unit balls are hulls of points and their opposites, or sums of segments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth
from lownoise.samplers.uniform import UniformHull, UniformZonotope
from lownoise.sets.norms.abstract import AbstractNorm, Form
from lownoise.sets.norms.combination import Combination, among
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sets.bodies import ImageBody, SymmetricPoints


@final
@dataclass(frozen=True, eq=False)
class HullNorm(AbstractNorm):
    """‖s‖ = min {Σ|λᵢ| : Σ λᵢpᵢ = s}: the unit ball is the hull of ±p₁, …, ±p_N.

    Args:
        points: p, shape (N, d).

    Raises:
        PlanError: where they are flat, too many or of too many coordinates to be sampled.

    Examples:
        >>> norm = HullNorm(np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0]]))
        >>> norm.norm_up(np.array([[2.0, 2.0], [1.0, -1.0]])).round(9)
        array([1., 1.])
    """

    points: Vector

    def __post_init__(self) -> None:
        if not math.isfinite(self._combination.inverse.stretch):
            raise PlanError(
                f"{len(self.points)} points in {self.dimension} dimensions are flat, or too nearly "
                "so for floats; leave out answers that follow from others",
            )
        _ = self.uniform

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.points.shape[1])

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Uniform points of the hull, exactly."""
        return self._hull

    @cached_property
    def _hull(self) -> UniformHull:
        return UniformHull(self.points)

    @cached_property
    def _combination(self) -> Combination:
        return Combination(frozen(np.ascontiguousarray(self.points.T)), 1.0)

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """The facets: ‖s‖ = max ⟨a, s⟩.

        Each number of them is rounded to nearest, which moves ⟨a, s⟩ by at most
        2^-53·Σ|aᵢ|·max|pᵢ|·‖s‖.
        """
        facets = self._hull.facets
        size = np.abs(facets) @ np.max(np.abs(self.points), axis=0) * (1 + growth(99))
        off = 2.0**-53 * float(np.max(size))
        return (Form(facets, math.inf, (1 + growth(9)) / (1 - off) if off < 1 else math.inf),)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the norm; for the points of the hull themselves at most 1, exactly.

        pᵢ = 1·pᵢ is its own proof.
        """
        found = self.forms[0].norm_up(points)
        above = np.flatnonzero(found > 1)
        if above.size:
            found[above[among(points[above], self.points)]] = 1.0
        return found

    def scaled(self, factor: float) -> HullNorm:
        """Return the norm of factor·(hull)."""
        return HullNorm(frozen(factor * self.points))

    def akin_points_up(self, body: SymmetricPoints) -> float:
        """Return at least the norm of points p', each nearly the same multiple of its p."""
        return self._combination.near_up(body.points.T)

    def akin_image_up(self, body: ImageBody) -> float:
        """Return the same of the columns of an image of a cross-polytope."""
        cross = isinstance(body.base, NormBall) and body.base.order == 1
        return self._combination.near_up(body.dense) if cross else math.inf


@final
@dataclass(frozen=True, eq=False)
class ZonotopeNorm(AbstractNorm):
    """‖s‖ = min {max |λᵢ| : Σ λᵢgᵢ = s}: the unit ball is the sum of the segments [−gᵢ, gᵢ].

    Args:
        generators: g, shape (k, d).

    Raises:
        PlanError: where they are flat, or too many to be sampled.

    Examples:
        >>> norm = ZonotopeNorm(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
        >>> norm.norm_up(np.array([[2.0, 2.0], [1.0, -1.0]])).round(9)
        array([1., 1.])
    """

    generators: Vector

    def __post_init__(self) -> None:
        if not math.isfinite(self._combination.inverse.stretch):
            raise PlanError(
                f"{len(self.generators)} generators in {self.dimension} dimensions are flat, or "
                "too nearly so for floats; leave out answers that follow from others",
            )
        _ = self.uniform

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.generators.shape[1])

    @cached_property
    def _combination(self) -> Combination:
        return Combination(frozen(np.ascontiguousarray(self.generators.T)), math.inf)

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Uniform points of the zonotope, exactly."""
        return UniformZonotope(self.generators)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the norm, row by row."""
        return self._combination.norm_up(points)

    def scaled(self, factor: float) -> ZonotopeNorm:
        """Return the norm of factor·(zonotope)."""
        return ZonotopeNorm(frozen(factor * self.generators))

    def akin_image_up(self, body: ImageBody) -> float:
        """Return at least the norm of an image of a cube by nearly the same generators.

        Exactly 1 for the same ones.
        """
        cube = isinstance(body.base, NormBall) and math.isinf(body.base.order)
        return self._combination.near_up(body.dense) if cube else math.inf
