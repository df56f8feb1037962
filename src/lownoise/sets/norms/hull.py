# SPDX-License-Identifier: Apache-2.0
"""Norms of lists: hulls of points and opposites, differences of a simplex, sums of segments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth
from lownoise.samplers.uniform import (
    UniformHull,
    UniformImage,
    UniformSimplexDifferences,
    UniformZonotope,
)
from lownoise.sets.norms.abstract import AbstractNorm, Form
from lownoise.sets.norms.combination import Combination, Inverse, among, inverse_of
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sets.bodies import ImageBody, PointDifferences, SymmetricPoints


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
        n, d = self.points.shape
        self._combination.inverse.sure(f"{n} points in {d} dimensions are")
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
        cross = body.base.ball_order == 1
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
        k, d = self.generators.shape
        self._combination.inverse.sure(f"{k} generators in {d} dimensions are")
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
        cube = body.base.ball_order == math.inf
        return self._combination.near_up(body.dense) if cube else math.inf


@final
@dataclass(frozen=True, eq=False)
class SimplexNorm(AbstractNorm):
    """‖Σ λᵢvᵢ‖ = max(Σ λᵢ⁺, Σ λᵢ⁻): the unit ball holds all x − y of the simplex 0, v₁, …, v_d.

    With λ₀ = −Σ λᵢ that is (|λ₀| + Σ |λᵢ|)/2, half of a norm of order 1.

    Args:
        edges: v, shape (d, d), one a row.

    Raises:
        PlanError: where they are flat.

    Examples:
        >>> from lownoise.sets.bodies import PointDifferences
        >>> norm = SimplexNorm(np.eye(2))
        >>> norm.norm_up(np.array([[1.0, -1.0], [1.0, 1.0]])).round(9)
        array([1., 2.])
        >>> norm.sensitivity_up(PointDifferences(np.array([[5.0, 5.0], [6.0, 5.0], [5.0, 6.0]])))
        1.0
    """

    edges: Vector

    def __post_init__(self) -> None:
        n, d = self.edges.shape
        Inverse(self.edges, self.forms[0].stretch).sure(f"{n + 1} points in {d} dimensions are")

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.edges.shape[1])

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Uniform points of the differences, exactly."""
        inner = UniformSimplexDifferences(self.dimension)
        return UniformImage(frozen(np.ascontiguousarray(self.edges.T)), inner)

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """‖(Xs, −Σ(Xs)ᵢ)‖₁/2, where X is the inverse.

        The defect is measured at order 1: ‖λ‖ ≤ ‖λ‖₁ ≤ 2‖λ‖.
        """
        d = self.dimension
        white = inverse_of(self.edges.T, NormBall(d, 1.0))
        defect = 2 * (1 - 1 / white.stretch) * (1 + growth(9)) + growth(9)
        x = white.matrix
        # the last row is rounded: by as much as the sizes of what it sums, d times
        matrix = np.vstack([x, -np.sum(x, axis=0)]) / 2
        lost = growth(d + 9) * np.sum(np.abs(x), axis=0)
        off = float(np.sum(lost @ np.abs(self.edges.T))) * (1 + growth(d + 99))
        stretch = (1 + growth(9)) / (1 - defect - 2 * off) if defect + 2 * off < 1 else math.inf
        return (Form(frozen(matrix), 1.0, stretch),)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the norm; exactly 1 for the edges from the first corner."""
        found = self.forms[0].norm_up(points)
        above = np.flatnonzero(found > 1)
        if above.size:
            found[above[among(points[above], self.edges)]] = 1.0
        return found

    def scaled(self, factor: float) -> SimplexNorm:
        """Return the norm of factor·(differences)."""
        return SimplexNorm(frozen(factor * self.edges))

    def akin_differences_up(self, body: PointDifferences) -> float:
        """Return 1 for the differences of the simplex itself, wherever it stands."""
        if len(body.points) != self.dimension + 1:
            return math.inf
        edges, exact = edges_of(body.points)
        same = exact and np.array_equal(edges, np.unique(self.edges + 0.0, axis=0))
        return 1.0 if same else math.inf


def edges_of(points: Vector) -> tuple[Vector, bool]:
    """Return the differences to the first point in lexicographic order, and if they are exact.

    Args:
        points: shape (N, d).

    Examples:
        >>> edges_of(np.array([[3.0], [1.0]]))
        (array([[2.]]), True)
    """
    rows = np.unique(points + 0.0, axis=0)
    first, rest = rows[0], rows[1:]
    found = rest - first
    back = found - rest  # Knuth's sum of two numbers: what the difference leaves out
    left = (rest - (found - back)) - (first + back)
    return frozen(found), not np.any(left)
