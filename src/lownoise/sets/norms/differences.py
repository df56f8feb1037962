# SPDX-License-Identifier: Apache-2.0
"""The norm of the differences of a simplex: one record of a histogram takes another value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth
from lownoise.samplers.uniform import UniformImage, UniformSimplexDifferences
from lownoise.sets.norms.abstract import AbstractNorm, Form
from lownoise.sets.norms.combination import among, inverse_of
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sets.bodies import PointDifferences


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
        if not math.isfinite(self.forms[0].stretch):
            raise PlanError(
                f"{self.dimension + 1} points in {self.dimension} dimensions are flat, or too "
                "nearly so for floats; leave out answers that follow from others",
            )

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
