# SPDX-License-Identifier: Apache-2.0
"""Matrices whose singular values lie in a unit ball: unit balls of unitarily invariant norms.

Every such norm is a norm of singular values that neither signs nor order change, its symmetric
gauge (von Neumann 1937). Changing the signs of whole rows and of whole columns at random leaves the
body and makes second moments diagonal. Not every change of signs leaves it: the 2 × 2 matrix of
ones has norm 2, and with one sign changed √2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.kinds import COUNT, Field
from lownoise.numbers.rounding import CROSS, LAST, TINY, grown
from lownoise.sets.unit_balls.abstract import (
    UNIT_BALLS,
    AbstractUnitBall,
    NormBall,
    ball_log,
)
from lownoise.sets.unit_balls.matrices import (
    balanced,
    best_substochastic,
    decomposed,
    least_sums,
    scalings,
    singular_values,
)

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_MOST_SIZES = 12  # of partial permutations that are looked at
_FEW_SIZES = 6  # for each of which a problem is solved


def _checked(rows: int, columns: int, gauge: AbstractUnitBall) -> SpectralBall:
    size = min(rows, columns)
    if gauge.dimension != size or not gauge.symmetric:
        raise FileError(f"base.gauge is no permutation-symmetric body in {size} coordinates")
    return SpectralBall(rows, columns, gauge)


@UNIT_BALLS.kind(
    "spectral",
    Field("rows", COUNT),
    Field("columns", COUNT),
    Field("gauge", UNIT_BALLS.member),
    make=_checked,
)
@final
@dataclass(frozen=True, eq=False)
class SpectralBall(AbstractUnitBall):
    """{X : the singular values of X lie in G}, points being X row by row; see `spectral_ball`.

    Args:
        rows: r ≥ 1.
        columns: c ≥ 1.
        gauge: G, a permutation-symmetric body in min(r, c) coordinates.
        checked: whether `norm_up` refuses what it cannot bound closely: see `tolerances`.

    Raises:
        PlanError: by `norm_up`, where a decomposition is worse than the tolerances; never expected.

    Examples:
        >>> contractions = SpectralBall(2, 2, NormBall(2, math.inf))
        >>> contractions.norm_up(np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, -1.0]])).round(9)
        array([2.        , 1.41421356])
        >>> round(contractions.energy_up(np.array([3.0, 1.0, 0.0, 2.0])), 9)  # 3x₁₁² + 2x₂₂²
        5.0
    """

    rows: int
    columns: int
    gauge: AbstractUnitBall
    checked: bool = False

    @property
    def dimension(self) -> int:
        """The number of entries r·c."""
        return self.rows * self.columns

    @property
    def _slack(self) -> float:
        return TINY + self.dimension * 2.0**-49

    @property
    def tolerances(self) -> tuple[float, float]:
        """How far decompositions may be off: ‖U‖·‖V‖ − 1, and of the largest value, what is left.

        LAPACK's are off by a tenth of it or so, of which nothing is taken for granted.
        """
        return self.gauge.dimension * 2.0**-45, self.dimension * 2.0**-46

    @cached_property
    def _corner(self) -> float:
        """At least the greatest entry of a point of the gauge's body."""
        return float(np.max(self.gauge.widths()))

    @property
    def unconditional(self) -> bool:
        """Signs of single entries lead out of it, but where the norm is that of all entries."""
        return False

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the gauge of the singular values of each matrix."""
        found = singular_values(self._matrices(points))
        if self.checked:
            stretch, off = self.tolerances
            if np.any(found.stretch > 1 + stretch) or np.any(found.off > off * found.values[:, 0]):
                raise PlanError("a singular value decomposition is off; use another LAPACK")
        first = np.zeros((2, self.gauge.dimension))
        first[:, 0] = 1.0
        tail = found.off * self.gauge.norm_up(first)[0]
        return np.asarray(grown(found.stretch * self.gauge.norm_up(found.values) + tail, TINY))

    def signed_norm_up(self, points: Vector) -> Vector:
        """Return at least the norm of each row, whatever the signs of its entries.

        No change of signs makes a spectral norm greater than that of the matrix of absolute values
        (‖Xv‖ ≤ ‖|X||v|‖), nor changes the length. So the gauge is at most the spectral norm times
        the gauge of ones, and at most the sum of singular values, ≤ √m times the length, times the
        gauge of e₁.
        """
        m = self.gauge.dimension
        extremes = np.vstack([np.ones(m), np.eye(m)[0]])
        ones, first = self.gauge.norm_up(extremes)
        wide = SpectralBall(self.rows, self.columns, NormBall(m, math.inf)).norm_up(np.abs(points))
        length = NormBall(self.dimension, 2.0).norm_up(points)
        return np.asarray(grown(np.minimum(wide * ones, math.sqrt(m) * length * first), TINY))

    def support_up(self, directions: Vector) -> Vector:
        """Return at least the dual gauge of the singular values of each matrix."""
        found = singular_values(self._matrices(directions))
        most = found.stretch * self.gauge.support_up(found.values) + found.off * self._corner
        return np.asarray(grown(most, TINY))

    def extreme(self, directions: Vector) -> Vector:
        """Return U diag(x) Vᵀ with x extreme in G along the singular values."""
        u, s, v = decomposed(self._matrices(directions))
        x = self.gauge.extreme(s)
        return np.asarray(((u * x[:, None, :]) @ v).reshape(len(directions), -1))

    def energy_up(self, coefficients: Vector) -> float:
        """Return at least max Σ yᵢⱼxᵢⱼ².

        Where yᵢⱼ ≤ aᵢ + bⱼ that is at most tr diag(a)XXᵀ + tr diag(b)XᵀX, hence at most
        Σ (a₍ₖ₎ + b₍ₖ₎)σₖ² with a and b falling (von Neumann), an energy of G. Equal where
        yᵢⱼ = aᵢ + bⱼ: then a permutation of diag(x), x in G, attains it.
        """
        y = coefficients.reshape(self.rows, self.columns)
        m = self.gauge.dimension
        energies = []
        for a, b in least_sums(y):
            falling = -np.sort(-a)[:m] - np.sort(-b)[:m]
            energies.append(self.gauge.energy_up(np.maximum(falling, 0.0)))
        return min(energies) * (1 + self._slack)

    def moment_up(self, squares: Vector) -> float:
        """Return at least the least t with z in t·hull{X∘X}.

        Let f, h ≥ 0 and zᵢⱼ = fᵢhⱼsᵢⱼ with s ≥ 0, whose rows and columns sum to at most 1 and whose
        entries sum to at most j. Then s is a mixture of partial permutation matrices with at most j
        ones (Birkhoff; these constraints are totally unimodular), and z is the same mixture of
        matrices with entries fᵢhⱼ there. The matrix of their roots has these roots as its singular
        values, and the products are weakly majorized by those of the j largest f and h, both
        falling: so t may be what G needs for the latter (ours). With f = h = 1 that is exact for
        the operator norm, and for every G where the entries of z are equal.
        """
        z = squares.reshape(self.rows, self.columns)
        if not np.any(z > 0):
            return 0.0
        m = self.gauge.dimension
        sizes = _sizes(m, _MOST_SIZES)
        found = math.inf
        for f, h in scalings(z):
            scale = f[:, None] * h
            s = np.divide(z, scale, out=np.zeros_like(z), where=z > 0)
            if not np.all(np.isfinite(s)):
                continue
            row, column = float(np.max(np.sum(s, axis=1))), float(np.max(np.sum(s, axis=0)))
            products = (-np.sort(-f)[:m]) * (-np.sort(-h)[:m])
            for j in sizes:
                need = max(row, column, float(np.sum(s)) / j)
                kept = np.where(np.arange(m) < j, products, 0.0)
                found = min(found, need * self.gauge.moment_up(kept))
        return found * (1 + self._slack)

    def best_squares(self, gains: Vector) -> Vector:
        """Return z near the best, gᵢⱼ/(aᵢ + bⱼ)² for some a and b, scaled into the hull.

        Exact for the operator norm (and where the body holds no point longer than its greatest
        entry, as for Schatten norms of order up to 2). For other gauges the best of a few mixtures
        of partial permutation matrices with at most j ones.
        """
        g = gains.reshape(self.rows, self.columns)
        if not np.any(g > 0):
            g = np.ones_like(g)
        m, order = self.gauge.dimension, self.gauge.ball_order
        if order is not None and 2 < order < math.inf:  # noqa: PLR2004
            return self._inside(balanced(g, order))
        sizes = _sizes(m, _FEW_SIZES)
        if order is not None:
            sizes = sizes[-1:] if order > 2 else sizes[:1]  # noqa: PLR2004
        found = [self._inside(best_substochastic(g, float(j))) for j in sizes]
        return max(found, key=lambda z: float(np.sum(np.sqrt(gains * z))))

    def _inside(self, z: Vector) -> Vector:
        flat = z.reshape(-1)
        return np.asarray(flat / self.moment_up(flat))

    @property
    def norm_excess(self) -> float:
        """That of the gauge of singular values, and of how far off those can be (`tolerances`)."""
        if not self.gauge.symmetric:
            return math.inf
        stretch, off = self.tolerances
        own = self.gauge.norm_excess + 2 * stretch + 2.1 * off + 2.0**-44 + LAST
        return grown(own, CROSS)

    def as_checked(self) -> SpectralBall:
        """Return the same, which refuses decompositions that are off by more than `tolerances`."""
        return replace(self, checked=True)

    def volume_up(self) -> float:
        """Return at least the volume, at most that of all rows, or of all columns.

        A row, and a column, of a matrix is no longer than its greatest singular value.

        Examples:
            >>> SpectralBall(2, 2, NormBall(2, math.inf)).volume_up() < 9.87  # (area of a disc)²
            True
        """
        r, c = self.rows, self.columns
        own = min(r * ball_log(c, self._corner), c * ball_log(r, self._corner))
        return min(super().volume_up(), math.exp(own) * (1 + self.dimension * 2.0**-36))

    @property
    def inner_radius(self) -> float:
        """The gauge's: the entries are as long as the singular values."""
        return self.gauge.inner_radius

    @property
    def decomposes(self) -> bool:
        """It does: its norm is of singular values."""
        return True

    def widths(self) -> Vector:
        """Return the greatest entry of a point of G, for each entry."""
        return np.full(self.dimension, self._corner)

    def _matrices(self, points: Vector) -> Vector:
        return np.ascontiguousarray(points).reshape(-1, self.rows, self.columns)


def spectral_ball(rows: int, columns: int, gauge: AbstractUnitBall) -> AbstractUnitBall:
    """Return the body in its simplest form: a Euclidean ball of entries where it is one.

    Examples:
        >>> spectral_ball(2, 3, NormBall(2, 2.0))
        NormBall(size=6, order=2.0)
    """
    if gauge.ball_order == 2 or (gauge.ball_order and gauge.dimension == 1):  # noqa: PLR2004
        return NormBall(rows * columns, 2.0)
    return SpectralBall(rows, columns, gauge)


def _sizes(m: int, most: int) -> Vector:
    """Return numbers from 1 to m, both among them, closer together where they are small."""
    return np.unique(np.geomspace(1, m, most).round())
