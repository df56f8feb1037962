# SPDX-License-Identifier: Apache-2.0
"""Inverses of matrices, least combinations of columns, and the norms that these are.

How far off they are is proved.

The norm of an image F·B of an ℓ_r ball B with more columns than rows is ‖s‖ = min {‖λ‖_r : Fλ = s}.
Every λ with Fλ near s is a proof: what is left over is small in any norm, and d independent columns
of F say how small in this one. Which λ is the least, a linear program says where r is ∞.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import ROUGH, down, grown, growth, up
from lownoise.samplers.uniform import (
    UniformHull,
    UniformImage,
    UniformSimplexDifferences,
    UniformZonotope,
)
from lownoise.sets.norms.abstract import AbstractNorm, Form, ball_norm_up, exactly_one
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sets.bodies import ImageBody, PointDifferences, SymmetricPoints
    from lownoise.sets.unit_balls import AbstractUnitBall

NEAR = 2.0**-20  # of a norm: what a matrix may differ by from a multiple of another one
_TINY = 2.0**-900


@final
@dataclass(frozen=True, eq=False)
class Inverse:
    """A map X that nearly undoes F: ‖F⁻¹s‖ ≤ stretch·‖X·s‖, because F⁻¹ = (XF)⁻¹X.

    Args:
        matrix: X, shape (d, d).
        stretch: at least 1/(1 − ‖I − XF‖); infinite where that is not known to be positive, and F
            may have no inverse.
    """

    matrix: Vector
    stretch: float

    def sure(self, what: str) -> Inverse:
        """Return it.

        Raises:
            PlanError: where F is not proved to have an inverse.
        """
        if math.isfinite(self.stretch):
            return self
        raise PlanError(
            f"{what} flat, or too nearly so for floats; leave out answers that follow from others"
        )


def inverse_of(factor: Vector, base: AbstractUnitBall) -> Inverse:
    """Return an inverse, with its error in the operator norm of a unit ball.

    ‖Ex‖ ≤ ‖|E|·widths‖ on a unit ball, whatever the signs of the entries of the latter.

    Args:
        factor: F, shape (d, d); or shape (d,), its diagonal: then X is to be divided by.
        base: the body, d coordinates.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> found = inverse_of(np.array([[2.0, 1.0], [0.0, 1.0]]), NormBall(2, 1.0))
        >>> found.matrix.round(9), 1 <= found.stretch < 1.000001
        (array([[ 0.5, -0.5],
               [ 0. ,  1. ]]), True)
        >>> inverse_of(np.ones((2, 2)), NormBall(2, 1.0)).stretch
        inf
    """
    d = len(factor)
    if factor.ndim == 1:
        regular = np.all(np.isfinite(factor) & (factor != 0))
        return Inverse(factor, 1.0 if regular else math.inf)
    most = np.max(np.abs(factor), axis=1)
    lost = Inverse(frozen(np.zeros((d, d))), math.inf)
    if not (np.all(np.isfinite(factor)) and np.all(most > 0)):
        return lost
    # units differ from row to row; powers of two round nothing
    unit = np.exp2(np.floor(np.log2(most)))
    rows = factor / unit[:, None]
    with np.errstate(all="ignore"):
        try:
            found = np.linalg.inv(rows)
        except np.linalg.LinAlgError:
            return lost
        rest = np.abs(np.eye(d) - found @ rows)
        rest += grown(growth(d + 9) * (np.abs(found) @ np.abs(rows)), ROUGH) + d * 2.0**-900
        defect = float(base.signed_norm_up((rest @ base.widths() * (1 + growth(d + 9)))[None])[0])
        if not defect < 1:
            return lost
        return Inverse(frozen(found / unit), up(1 / down(1 - defect)))


@final
@dataclass(frozen=True, eq=False)
class Combination:
    """The least coefficients of points in the columns of a matrix.

    Args:
        factor: F, shape (d, k), k ≥ d.
        order: r, 1 or ∞.

    Examples:
        >>> three = Combination(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), np.inf)
        >>> three.norm_up(np.array([[2.0, 2.0]])).round(9)
        array([1.])
    """

    factor: Vector
    order: float

    @cached_property
    def _columns(self) -> Integers:
        """Independent columns, far from dependent, shape (d,)."""
        from scipy.linalg import qr

        unit = np.max(np.abs(self.factor), axis=1, keepdims=True)
        turn = qr(self.factor / np.where(unit > 0, unit, 1.0), mode="r", pivoting=True)[1]
        return np.asarray(np.sort(turn[: len(self.factor)]), dtype=np.int64)

    @cached_property
    def inverse(self) -> Inverse:
        """The inverse of d independent columns; its stretch is infinite where F may be flat."""
        d, k = self.factor.shape
        if k < d:
            return Inverse(frozen(np.zeros((d, d))), math.inf)
        chosen = np.ascontiguousarray(self.factor[:, self._columns])
        return inverse_of(chosen, NormBall(d, self.order))

    def rough_up(self, sizes: Vector) -> Vector:
        """Return at least ‖s‖ for every s with |s| ≤ sizes, row by row, but not nearly that."""
        white = self.inverse
        d = sizes.shape[1]
        own = np.abs(white.matrix) @ sizes.T * (1 + growth(d + 9))
        own += np.where(np.any(sizes, axis=1), _TINY, 0.0)
        return np.asarray(ball_norm_up(own.T, self.order) * white.stretch * (1 + growth(9)))

    def norm_up(self, points: Vector) -> Vector:
        """Return at least ‖s‖, row by row, hardly more where r is ∞; shapes (n, d) and (n,)."""
        coefficients = np.stack([self._least(s) for s in points])
        for _ in range(2):  # the program's own tolerance is far coarser than floats
            left = points - coefficients @ self.factor.T
            coefficients[:, self._columns] += left @ self.inverse.matrix.T
        left = np.abs(points - coefficients @ self.factor.T)
        size = np.abs(coefficients) @ np.abs(self.factor.T) + np.abs(points)
        left += grown(growth(self.factor.shape[1] + 9) * size, ROUGH)
        whole = ball_norm_up(np.abs(coefficients), self.order)
        return np.asarray((whole + self.rough_up(left)) * (1 + growth(9)))

    def near_up(self, factor: Vector) -> float:
        """Return at least the greatest norm over an image F'·B, where F' is nearly a scaled F.

        F' = F·D + E with a diagonal D, so F'x = F(Dx) + Ex.

        Args:
            factor: F', shape (d, k).

        Returns:
            Infinity where F' is not near a scaled F.
        """
        own = self.factor
        if factor.shape != own.shape:
            return math.inf
        if np.array_equal(factor, own):
            return 1.0
        unit = np.max(np.abs(own), axis=1, keepdims=True)
        a, b = factor / unit, own / unit
        scale = np.einsum("ij,ij->j", a, b) / np.maximum(np.einsum("ij,ij->j", b, b), 2.0**-80)
        left = np.abs(factor - own * scale) + growth(9) * (np.abs(factor) + np.abs(own * scale))
        aside, most = self.rough_up(left.T), float(np.max(np.abs(scale)))
        rest = float(np.max(aside) if self.order == 1 else np.sum(aside) * (1 + growth(aside.size)))
        return (most + rest) * (1 + growth(9)) if rest <= NEAR * most else math.inf

    def _least(self, point: Vector) -> Vector:
        """Return λ with Fλ = s, nearly, and its greatest entry nearly the least, shape (k,)."""
        from scipy.optimize import linprog

        d, k = self.factor.shape
        if not np.any(point):
            return np.zeros(k)
        unit = np.max(np.abs(self.factor), axis=1)
        size = float(np.max(np.abs(point) / unit))
        rows, right = self.factor / unit[:, None], point / unit / size
        below = np.vstack([np.eye(k), -np.eye(k)])
        found = linprog(
            np.append(np.zeros(k), 1.0),
            A_ub=np.hstack([below, -np.ones((2 * k, 1))]),
            b_ub=np.zeros(2 * k),
            A_eq=np.hstack([rows, np.zeros((d, 1))]),
            b_eq=right,
            bounds=[(None, None)] * (k + 1),
        )
        least = None if found.x is None else found.x[:k]
        if least is None:  # any combination will do
            least = np.zeros(k)
            least[self._columns] = self.inverse.matrix @ (point / size)
        return np.asarray(least * size)


@dataclass(frozen=True, eq=False)
class AbstractCombined(AbstractNorm):
    """‖s‖ = min {‖λ‖_order : Σ λᵢpᵢ = s}, p the rows of a list.

    Args:
        rows: p, shape (N, d).

    Raises:
        PlanError: where they are flat, too many or of too many coordinates to be sampled.
    """

    rows: Vector
    order: ClassVar[float]
    called: ClassVar[str]

    def __post_init__(self) -> None:
        n, d = self.rows.shape
        self._combination.inverse.sure(f"{n} {self.called} in {d} dimensions are")
        _ = self.uniform

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.rows.shape[1])

    @cached_property
    def _combination(self) -> Combination:
        return Combination(frozen(np.ascontiguousarray(self.rows.T)), self.order)

    def scaled(self, factor: float) -> Self:
        """Return the norm of the rows, all scaled."""
        return type(self)(frozen(factor * self.rows))

    def akin_image_up(self, body: ImageBody) -> float:
        """Return at least the norm of an image of the ℓ_order ball by nearly the same columns.

        Exactly 1 for the same ones.
        """
        same = body.base.ball_order == self.order
        return self._combination.near_up(body.dense) if same else math.inf


@final
@dataclass(frozen=True, eq=False)
class HullNorm(AbstractCombined):
    """‖s‖ = min {Σ|λᵢ| : Σ λᵢpᵢ = s}: the unit ball is the hull of ±p₁, …, ±p_N.

    Examples:
        >>> norm = HullNorm(np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0]]))
        >>> norm.norm_up(np.array([[2.0, 2.0], [1.0, -1.0]])).round(9)
        array([1., 1.])
    """

    order = 1.0
    called = "points"

    @cached_property
    def uniform(self) -> UniformHull:
        """Uniform points of the hull, exactly."""
        return UniformHull(self.rows)

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """The facets: ‖s‖ = max ⟨a, s⟩.

        Each number of them is rounded to nearest, which moves ⟨a, s⟩ by at most
        2^-53·Σ|aᵢ|·max|pᵢ|·‖s‖.
        """
        facets = self.uniform.facets
        size = np.abs(facets) @ np.max(np.abs(self.rows), axis=0) * (1 + growth(99))
        off = 2.0**-53 * float(np.max(size))
        return (Form(facets, math.inf, (1 + growth(9)) / (1 - off) if off < 1 else math.inf),)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the norm; for the points of the hull themselves at most 1, exactly.

        pᵢ = 1·pᵢ is its own proof.
        """
        return exactly_one(self.forms[0].norm_up(points), points, self.rows)

    def akin_points_up(self, body: SymmetricPoints) -> float:
        """Return at least the norm of points p', each nearly the same multiple of its p."""
        return self._combination.near_up(body.points.T)


@final
@dataclass(frozen=True, eq=False)
class ZonotopeNorm(AbstractCombined):
    """‖s‖ = min {max |λᵢ| : Σ λᵢpᵢ = s}: the unit ball is the sum of the segments [−pᵢ, pᵢ].

    Examples:
        >>> norm = ZonotopeNorm(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
        >>> norm.norm_up(np.array([[2.0, 2.0], [1.0, -1.0]])).round(9)
        array([1., 1.])
    """

    order = math.inf
    called = "generators"

    @property
    def axes(self) -> tuple[Vector, float] | None:
        """Of a box with a corner at 0, and its opposite: h and hᵢeᵢ generate it, in any order."""
        size, d = np.abs(self.rows), self.dimension
        alone = np.count_nonzero(size, axis=1) == 1
        if len(size) != d + 1 or np.count_nonzero(alone) != d:
            return None
        corner, edges = self.rows[~alone][0], self.rows[alone]
        if not np.all(corner) or not np.array_equal(np.sum(np.abs(edges), axis=0), np.abs(corner)):
            return None
        whole = np.all(np.count_nonzero(edges, axis=0) == 1)
        return (frozen(2 * np.abs(corner)), 2 / (d + 1)) if whole else None

    @cached_property
    def uniform(self) -> UniformZonotope:
        """Uniform points of the zonotope, exactly."""
        return UniformZonotope(self.rows)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the norm, row by row."""
        return self._combination.norm_up(points)


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
        return exactly_one(self.forms[0].norm_up(points), points, self.edges)

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
