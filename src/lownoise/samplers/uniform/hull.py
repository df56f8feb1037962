# SPDX-License-Identifier: Apache-2.0
"""Uniform points of differences of a simplex, and of the hull of points and their opposites.

For the simplex T with corners 0, e₁, …, e_d, T − T = {x : Σ x⁺ ≤ 1, Σ x⁻ ≤ 1}: of x = Σ λᵢeᵢ, with
λ₀ = −Σ λᵢ, the positive and the negative λ have the same sum. Where the coordinates in A are
positive and all others negative it is the product of two simplices of volumes 1/|A|! and
1/(d − |A|)!. So A has a probability ∝ C(d, |A|), which is how often a random half of 2d things
meets the first d in A; then Dirichlet numbers fill each of the two (ours).

Uniform points of the hull of points and their opposites, by simplices with a corner at 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb, arb_mat

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, matrix
from lownoise.numbers.rounding import LAST, grown, growth
from lownoise.samplers.lazy import Composed, UniformBits, chosen
from lownoise.samplers.uniform.abstract import AbstractTiled, AbstractUniform, uniforms
from lownoise.samplers.uniform.star import star, units_of

if TYPE_CHECKING:
    from fractions import Fraction

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy
    from lownoise.samplers.uniform.star import Star

_BLOCK = 1 << 22
_TINY = 2.0**-900  # over all that vanishes beside 1


@final
@dataclass(frozen=True)
class UniformSimplexDifferences(AbstractUniform):
    """Uniform points of {x : Σ max(xᵢ, 0) ≤ 1, Σ max(−xᵢ, 0) ≤ 1}.

    Args:
        size: the number of coordinates d.

    Raises:
        PlanError: where d < 1.

    Examples:
        >>> UniformSimplexDifferences(1).second_moment()
        array([[0.33333333]])
        >>> UniformSimplexDifferences(2).second_moment()  # a hexagon
        array([[ 0.27777778, -0.13888889],
               [-0.13888889,  0.27777778]])
    """

    size: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise PlanError(
                f"UniformSimplexDifferences.size={self.size} is below 1; give 1 or more"
            )

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.size

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        signs = [1 if own else -1 for own in _half(self.size, randomness)]

        def place(logs: list[Any]) -> list[Any]:
            # of each sign one exponential number more than coordinates: what is left of the sum
            own = [u.log() for u in logs]
            total = {1: own[-2], -1: own[-1]}
            for sign, number in zip(signs, own[:-2], strict=True):
                total[sign] = total[sign] + number
            pairs = zip(signs, own[:-2], strict=True)
            return [arb(sign) * number / total[sign] for sign, number in pairs]

        return Composed(self.size, (UniformBits(randomness.words(self.size + 2)),), place)

    def second_moment(self) -> Vector:
        """Return E u·uᵀ, shape (d, d).

        Dirichlet numbers have E tᵢtⱼ = (1 + [i = j])/((p + 1)(p + 2)), and E tᵢ = 1/(p + 1).
        """
        d = self.size
        p = np.arange(d + 1.0)
        q = d - p
        logs = [2 * (math.lgamma(d + 1) - math.lgamma(k + 1) - math.lgamma(d - k + 1)) for k in p]
        share = np.exp(np.array(logs) - max(logs))
        share /= np.sum(share)
        up, down = share / ((p + 1) * (p + 2)), share / ((q + 1) * (q + 2))
        own = float(np.sum(2 * p * up + 2 * q * down)) / d
        both = p * (p - 1) * up + q * (q - 1) * down - 2 * p * q * share / ((p + 1) * (q + 1))
        other = float(np.sum(both)) / (d * (d - 1)) if d > 1 else 0.0
        return frozen(np.full((d, d), other) + (own - other) * np.eye(d))

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""
        d = self.size
        order = np.argsort(uniforms(randomness, count, 2 * d), axis=1)
        positive = np.zeros((count, 2 * d), dtype=np.bool_)
        np.put_along_axis(positive, order[:, :d], values=True, axis=1)
        signs = np.where(positive[:, :d], 1.0, -1.0)
        logs = np.log(uniforms(randomness, count, d + 2))
        own, rest = logs[:, :d], logs[:, d:]
        above = np.sum(np.where(signs > 0, own, 0.0), axis=1) + rest[:, 0]
        below = np.sum(np.where(signs < 0, own, 0.0), axis=1) + rest[:, 1]
        return np.asarray(signs * own / np.where(signs > 0, above[:, None], below[:, None]))


def _half(size: int, randomness: Randomness) -> list[bool]:
    """Return which of the first of 2·size things are in a random half of them, exactly uniform."""
    left, found = size, []
    for i in range(size):
        # of the 2·size − i things left, `left` are to be taken
        taken = _one_of(left, 2 * size - i, randomness)
        found.append(taken)
        left -= taken
    return found


def _one_of(taken: int, of: int, randomness: Randomness) -> bool:
    """Return True with probability taken/whole, exactly; 0 < taken ≤ whole or 0."""
    if taken in (0, of):
        return bool(taken)
    return chosen([taken, of], randomness=randomness) == 0


def simplex_point(corners: Vector, randomness: Randomness) -> Lazy:
    """Return a uniform point of a simplex, known by its bits so far.

    Σ Eᵢvᵢ/Σ Eᵢ over the corners v is uniform, E exponential: normalised, they are
    Dirichlet(1, …, 1).

    Args:
        corners: all but 0, shape (d, d).
        randomness: where bits come from.
    """
    d = len(corners)
    exact = arb_mat(d, d, corners.ravel().tolist())

    def place(balls: list[Any]) -> list[Any]:
        logs = [u.log() for u in balls]
        total = sum(logs, arb(0))
        shares = arb_mat(1, d, [own / total for own in logs[1:]])
        found: list[Any] = (shares * exact).entries()
        return found

    return Composed(d, (UniformBits(randomness.words(d + 1)),), place)


def simplex_points(corners: Vector, randomness: Randomness) -> Vector:
    """Return the same of many simplices in floats, shapes (count, d, d) and (count, d)."""
    logs = np.log(uniforms(randomness, len(corners), corners.shape[1] + 1))
    shares = logs[:, 1:] / logs.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("ni,nia->na", shares, corners))


@final
@dataclass(frozen=True, eq=False)
class UniformHull(AbstractTiled):
    """Uniform points of the hull of ±p.

    A simplex is chosen by its exact volume, then a point of it.

    Args:
        points: p, shape (N, d), of rank d; exactly the stored floats. Points inside the hull, on
            its faces, zeros and repeats may be among them.

    Raises:
        PlanError: where the points are not of rank d, or the hull has too many simplices.

    Examples:
        >>> diamond = UniformHull(np.array([[1.0, 0.0], [0.0, 2.0]]))
        >>> diamond.volume
        Fraction(4, 1)
        >>> diamond.norm_up(np.array([[1.0, 2.0]])).round(12)
        array([2.])
    """

    points: Vector

    def __post_init__(self) -> None:
        given = matrix(self.points, field="UniformHull.points", error=PlanError)
        object.__setattr__(self, "points", given)
        if not np.any(given):
            raise PlanError("UniformHull.points holds nothing but 0; give points that span")
        _ = self._tiling  # which may raise

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.points.shape[1])

    @cached_property
    def simplices(self) -> Vector:
        """The corners, but for 0, of simplices that tile half of the hull, shape (F, d, d).

        Their opposites tile the other half.
        """
        return frozen(self._tiling.corners())

    @cached_property
    def facets(self) -> Vector:
        """Rows a with hull = {x : |⟨a, x⟩| ≤ 1}, shape (G, d); each number rounded to nearest.

        Raises:
            PlanError: where floats do not reach so far.
        """
        units, rows = self._scaled
        with np.errstate(over="ignore", under="ignore"):
            found = np.ldexp(rows, -units)
            lost = not np.all(np.isfinite(found)) or np.any(np.ldexp(found, units) != rows)
        if lost:
            raise PlanError(
                "UniformHull.points have facets beyond the range of floats; "
                "choose units that bring them nearer to 1",
            )
        return frozen(found)

    @property
    def volume(self) -> Fraction:
        """The exact volume of the hull."""
        unit = self._tiling.exact.unit()
        return 2 * self.cumulative[-1] * unit / math.factorial(self.dimension)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least max |⟨a, x⟩| over the facets, row by row; shapes (n, d) and (n,).

        The norm whose unit ball is the hull.
        """
        units, rows = self._scaled
        lost = growth(self.dimension + 3)
        found = np.zeros(len(points))
        step = max(_BLOCK // len(rows), 1)
        for start in range(0, len(points), step):
            x = points[start : start + step]
            some = np.any(x != 0, axis=1)
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                y = np.ldexp(x, -units)
                extent = np.abs(y @ rows.T) + lost * (np.abs(y) @ np.abs(rows).T)
                most = grown(np.max(extent, axis=1), LAST)
                most += (
                    _TINY * (1 + np.abs(y).sum(axis=1)) * np.max(np.abs(rows).sum(axis=1)) * some
                )
            found[start : start + step] = np.where(np.isnan(most), np.inf, most)
        return found

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        piece = chosen(self.cumulative, randomness=randomness)
        sign = 1 if int(randomness.words(1)[0]) >> 63 else -1
        return simplex_point(sign * self.simplices[piece], randomness)

    def second_moment(self) -> Vector:
        """Return E u·uᵀ, shape (d, d).

        In a simplex with corners 0, v₁, …: (Σ vᵢvᵢᵀ + (Σ vᵢ)(Σ vᵢ)ᵀ)/((d + 1)(d + 2)), for
        Dirichlet numbers have E tᵢtⱼ = (1 + [i = j])/((d + 1)(d + 2)).
        """
        V, d = self.simplices, self.dimension
        sums = V.sum(axis=1)
        each = np.einsum("f,fia,fib->ab", self.shares, V, V, optimize=True)
        return frozen((each + (self.shares[:, None] * sums).T @ sums) / ((d + 1) * (d + 2)))

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""
        picks = self.picks(count, randomness)
        signs = np.where(uniforms(randomness, count) < 0.5, -1.0, 1.0)  # noqa: PLR2004
        return simplex_points(signs[:, None, None] * self.simplices[picks], randomness)

    @cached_property
    def _scaled(self) -> tuple[Integers, Vector]:
        """Exponents that bring the points within [−1, 1], and the facets' rows for such ones."""
        units = units_of(self.points)
        return units, self._tiling.normals(units.tolist())

    @cached_property
    def _tiling(self) -> Star:
        return star(self.points)

    @cached_property
    def weights(self) -> list[int]:
        """The simplices' |determinants|."""
        return self._tiling.weights()
