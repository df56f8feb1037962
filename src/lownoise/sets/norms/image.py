# SPDX-License-Identifier: Apache-2.0
"""Norms whose unit balls are images of unit balls.

Of ℓ_r balls, of those of sorted sizes and of the operator norm, and of products of all these points
are drawn exactly. Other unit balls are walked in, where their norm is known closely in floats; and
where no balls of it are known either, in total variation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.normals import normals
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.numbers.rounding import LAST, ROUGH, grown, growth, up
from lownoise.samplers.uniform import (
    UniformContractions,
    UniformImage,
    UniformNormBall,
    UniformProduct,
    UniformSorted,
)
from lownoise.samplers.walks import Normed, walk
from lownoise.sets.norms.abstract import AbstractNorm, Form, ball_norm_up, blocks_of, exactly_one
from lownoise.sets.norms.combination import NEAR, inverse_of
from lownoise.sets.unit_balls import SortedBall, SpectralBall, decided, enclosed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sets.bodies import AbstractBody, ImageBody
    from lownoise.sets.norms.combination import Inverse
    from lownoise.sets.unit_balls import AbstractUnitBall

RELATIVE = 1e-9  # of a density: what the walk may be off by, which costs twice that in ε
_TINY = 2.0**-900  # more than what underflows
_PILOTS = 12
_SEED = 20260103
_DIRECTIONS = 1 << 15


def simplest(factor: Vector, base: AbstractUnitBall) -> Vector:
    """Return the factor of the same image: a diagonal where order and signs make it one.

    Only of a ball, which no change of order or of signs changes.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> simplest(np.array([[0.0, -2.0], [1.0, 0.0]]), NormBall(2, 1.0))
        array([2., 1.])
    """
    if factor.ndim == 1 or not base.ball_order or factor.shape[0] != factor.shape[1]:
        return factor
    used = factor != 0
    if np.all(np.count_nonzero(used, axis=0) == 1) and np.all(np.count_nonzero(used, axis=1) == 1):
        return frozen(np.sum(np.abs(factor), axis=1))
    return factor


@final
@dataclass(frozen=True, eq=False)
class ImageNorm(AbstractNorm):
    """‖s‖ = ‖F⁻¹s‖_B: the unit ball is F·B, with exactly the stored floats of F.

    Args:
        factor: F, shape (d, d); or shape (d,), its diagonal.
        base: B: an ℓ_r ball or a product of them, d coordinates.

    Raises:
        PlanError: where B is neither, or F is of another shape or not proved to have an inverse.

    Examples:
        >>> from lownoise.sets.bodies import SymmetricBox
        >>> from lownoise.sets.unit_balls import NormBall
        >>> norm = ImageNorm(np.array([2.0, 4.0]), NormBall(2, math.inf))
        >>> norm.norm_up(np.array([[1.0, -4.0]]))
        array([1.])
        >>> norm.sensitivity_up(SymmetricBox(np.array([2.0, 4.0])))
        1.0
    """

    factor: Vector
    base: AbstractUnitBall

    def __post_init__(self) -> None:
        if not self._blocks:
            raise no_sampler(self.base.dimension)
        _shaped(self.factor, self.base)
        self._inverse.sure(f"factor of {self.dimension} dimensions is")

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.factor.shape[0])

    @property
    def steady(self) -> bool:
        """Where F is a diagonal."""
        return self.diagonal

    @property
    def euclidean(self) -> int:
        """The dimension where B is a Euclidean ball, because F has an inverse; else 1."""
        return self.dimension if self.base.ball_order == 2 else 1  # noqa: PLR2004

    @property
    def ellipsoid(self) -> Vector | None:
        """F where B is a Euclidean ball; else None."""
        return self.factor if self.base.ball_order == 2 else None  # noqa: PLR2004

    @property
    def diagonal(self) -> bool:
        """Whether F is a diagonal."""
        return self.factor.ndim == 1

    @property
    def axes(self) -> tuple[Vector, float] | None:
        """Of a box: every coordinate is uniform."""
        box = self.diagonal and (self.base.ball_order == math.inf or self.dimension == 1)
        return (frozen(np.abs(self.factor)), 1.0) if box else None

    @cached_property
    def _inverse(self) -> Inverse:
        return inverse_of(self.factor, self.base)

    @cached_property
    def _blocks(self) -> list[tuple[slice, float]]:
        return blocks_of(self.base)

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Uniform points of F·B."""
        return UniformImage(self.factor, uniform_balls(self._blocks))

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """One a ball: stretch·‖rows of X·s‖."""
        if self.diagonal:
            # 1/f is rounded by at most a unit in its last place
            matrix, stretch = np.diag(1 / self.factor), 1 + growth(4)
        else:
            matrix, stretch = self._inverse.matrix, self._inverse.stretch
        return tuple(Form(matrix[at], order, stretch) for at, order in self._blocks)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least ‖F⁻¹s‖_B; exactly 1 for a vertex that is a column of F."""
        if self.diagonal:
            size = _ratios_up(np.abs(points), np.abs(self.factor))
            own = [ball_norm_up(size[:, at], order) for at, order in self._blocks]
            alone = np.count_nonzero(points, axis=1) <= 1  # the same in all norms of balls
            return np.asarray(
                np.where(alone, np.max(size, axis=1, initial=0.0), np.max(own, axis=0))
            )
        found = np.max([form.norm_up(points) for form in self.forms], axis=0)
        # F·eᵢ is in F·B for every ℓ_r ball B, and every product of them
        return exactly_one(found, points, self.factor.T)

    def scaled(self, factor: float) -> ImageNorm:
        """Return the norm of factor·F·B."""
        return ImageNorm(frozen(factor * self.factor), self.base)

    def akin_up(self, body: AbstractBody) -> float:
        """Return at least the norm where lengths are known without a search, F a diagonal.

        ‖y‖_r is at most d^(1/r − 1/2)·‖y‖₂ where r ≤ 2, and ‖y‖₂ where r is more.
        """
        order, unit = self.base.ball_order, np.abs(self.factor)
        if not (self.diagonal and order and body.firm):
            return math.inf
        length = body.length_in_up(unit)
        more = float(self.dimension ** max(1 / order - 0.5, 0.0))
        within = float(ball_norm_up(_ratios_up(body.widths(), unit)[None], order)[0])
        found = min(within, length * more * (1 + growth(9)))
        sums = body.sums_in_up(unit) if order == 1 else None
        return found if sums is None else min(found, sums[0])

    def akin_image_up(self, body: ImageBody) -> float:
        """Return at least the norm of F'·B, infinity where F' is not near F·(diagonal).

        XF' = D + E with D a diagonal: ‖(D + E)x‖ ≤ max |dᵢ| + ‖|E|·widths‖ for x in B.
        """
        if body.base != self.base:
            return math.inf
        other = simplest(body.factor, self.base)
        if other.ndim == 1 and self.diagonal:
            return _greatest_ratio_up(np.abs(other), np.abs(self.factor))
        if np.array_equal(body.factor, self.factor):
            return 1.0
        if self.diagonal or body.dimension != self.dimension:
            return math.inf
        white, dense = self._inverse, body.dense
        image = white.matrix @ dense
        lost = growth(self.dimension + 9) * (np.abs(white.matrix) @ np.abs(dense)) + 2.0**-900
        most = float(np.max(np.abs(np.diag(image))))
        rest = np.abs(image - np.diag(np.diag(image))) + grown(lost, ROUGH)
        aside = grown(float(self.base.norm_up((rest @ self.base.widths())[None])[0]), ROUGH)
        if aside > NEAR * most:
            return math.inf
        return (most + aside) * white.stretch * (1 + growth(9))

    def akin_box_up(self, half_width: Vector) -> float:
        """Return at least the norm of a box, where F is a diagonal."""
        if not self.diagonal:
            return math.inf
        if all(math.isinf(order) or at.stop - at.start == 1 for at, order in self._blocks):
            return _greatest_ratio_up(half_width, np.abs(self.factor))
        # norms of balls grow with every |xᵢ|
        return float(self.norm_up(half_width[None])[0])


@final
@dataclass(frozen=True, eq=False)
class UnitBallNorm(AbstractNorm):
    """‖s‖ = ‖F⁻¹s‖_B for a unit ball B whose norm is known closely in floats.

    Where B has no sampler of its own, a walk in B asks for its norm, in floats and where they leave
    a point open in balls (`enclosed`). Of a B without those the points are known in total variation
    alone, so noise made of them is (ε, δ) (001, section 8).

    Args:
        factor: F, shape (d, d); or shape (d,), its diagonal.
        base: B, d coordinates.
        distance: what total variation is allowed; 0 where the guarantee is to be pure.

    Raises:
        PlanError: where B's norm is not known closely, F is flat, or nothing is allowed of a B that
            is known in floats alone; by `uniform` where the walk takes too long or is farther off
            than is allowed.

    Examples:
        >>> from lownoise.sets.unit_balls.norm import SortedBall
        >>> norm = UnitBallNorm(np.array([2.0, 4.0]), SortedBall(np.array([2.0, 1.0])))
        >>> norm.norm_up(np.array([[2.0, 4.0]])).round(9)
        array([3.])
        >>> norm.uniform.relative, norm.uniform.distance
        (0.0, 0.0)
    """

    factor: Vector
    base: AbstractUnitBall
    distance: float = 0.0

    def __post_init__(self) -> None:
        d = self.base.dimension
        direct = sampler_of(self.base) is not None
        if not (direct or self.base.admitted):
            raise no_sampler(self.base.dimension)
        if not (direct or self.distance > 0 or decided(self.base)):
            raise PlanError(
                f"a unit ball in {d} dimensions is known by its norm in floats (weak membership): "
                "its points are uniform but for a total variation, so no guarantee is pure; give "
                'ln.approx_dp(epsilon, delta) and mechanism="k_norm"',
            )
        _shaped(self.factor, self.base)
        self._inverse.sure(f"factor of {self.dimension} dimensions is")

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.base.dimension

    @cached_property
    def _inverse(self) -> Inverse:
        return inverse_of(self.factor, self.base)

    def _back(self, points: Vector) -> tuple[Vector, Vector]:
        """Return X·s nearly, row by row, and how far off each entry can be."""
        if self.factor.ndim == 1:
            found = points / self.factor
            return found, growth(3) * np.abs(found) + _TINY
        matrix = self._inverse.matrix
        size = np.abs(points) @ np.abs(matrix.T)
        return points @ matrix.T, grown(growth(self.dimension + 3) * size, ROUGH) + _TINY

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Points of F·B, by a walk uniform but for what `relative` and `distance` say."""
        direct = sampler_of(self.base)
        if direct is not None:
            return UniformImage(self.factor, direct)
        inner, outer = self.base.inner_radius, self.base.outer_radius
        ask = partial(enclosed, self.base) if decided(self.base) else None
        membership = Normed(self.base.as_checked(), self.base.norm_excess, ask)
        found = walk(
            membership,
            np.eye(self.dimension),
            inner,
            max(outer, inner),
            relative=RELATIVE,
            distance=self.distance,
            volume=self.base.volume_up(),
            pilots=_PILOTS,
            moment=_moment(self.base),
        )
        return UniformImage(self.factor, found)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least ‖F⁻¹s‖_B."""
        found, off = self._back(points)
        total = self.base.norm_up(found) + self.base.signed_norm_up(off)
        return np.asarray(grown(total * self._inverse.stretch, LAST))

    def scaled(self, factor: float) -> UnitBallNorm:
        """Return the norm of factor·F·B."""
        return UnitBallNorm(frozen(factor * self.factor), self.base, self.distance)

    def akin_image_up(self, body: ImageBody) -> float:
        """Return at least the norm of F'·B: with XF' = cI + E it is at most c + ‖|E|·widths‖."""
        if not _same(body.base, self.base):
            return math.inf
        if np.array_equal(body.factor, self.factor):
            return 1.0
        if body.dimension != self.dimension:
            return math.inf
        image, off = self._back(np.ascontiguousarray(body.dense.T))
        image = image.T
        most = float(np.max(np.abs(np.diag(image))))
        signs = np.sign(np.diag(image))
        if not np.all(signs == signs[0]):
            return math.inf
        rest = np.abs(image - signs[0] * most * np.eye(self.dimension)) + off.T
        aside = rest @ self.base.widths() * (1 + growth(self.dimension + 9))
        found = most + float(self.base.signed_norm_up(aside[None])[0])
        return up(found * self._inverse.stretch * (1 + growth(9)))

    def akin_box_up(self, half_width: Vector) -> float:
        """Return at least the norm of a box: |X·s| ≤ |X|·h."""
        if self.factor.ndim == 1:
            size = half_width / np.abs(self.factor)
        else:
            size = np.abs(self._inverse.matrix) @ half_width
        size = size * (1 + growth(self.dimension + 9)) + _TINY
        found = float(self.base.signed_norm_up(size[None])[0])
        return up(found * self._inverse.stretch * (1 + growth(9)))


def _moment(base: AbstractUnitBall) -> Vector:
    """Return an estimate of E u·uᵀ over a unit ball, a diagonal as its signs have it.

    With u = ρθ, |θ|₂ = 1, the radius has density ∝ ρ^{d−1} up to 1/‖θ‖, so that E uᵢ² is
    d/(d + 2)·E θᵢ²‖θ‖^{−d−2}/E ‖θ‖^{−d} over uniform directions.
    """
    d = base.dimension
    words = SimulationRandomness(_SEED).words(_DIRECTIONS * d)
    z = normals(words)[0].reshape(-1, d)
    z /= np.linalg.norm(z, axis=1)[:, None]
    radii = 1 / base.norm_up(z)
    weights = (radii / np.max(radii)) ** d
    squares = (weights * radii**2) @ np.square(z) / np.sum(weights) * (d / (d + 2))
    return frozen(np.diag(squares))


def _same(first: Any, second: Any) -> bool:  # noqa: ANN401 (fields of unit balls)
    """Return whether two unit balls are given by the same numbers."""
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second)
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    if hasattr(first, "__dataclass_fields__"):
        return all(_same(getattr(first, f.name), getattr(second, f.name)) for f in fields(first))
    return bool(first == second)


def sampler_of(base: AbstractUnitBall) -> AbstractUniform | None:
    """Return exactly uniform points of a unit ball; None where it has to be walked in.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall, SpectralBall
        >>> sampler_of(SpectralBall(2, 3, NormBall(2, math.inf)))
        UniformContractions(rows=2, columns=3)
    """
    parts = [_sampler_of_one(part) for part in base.factors]
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return known[0] if len(known) == 1 else UniformProduct(tuple(known))


def _sampler_of_one(base: AbstractUnitBall) -> AbstractUniform | None:
    """Return the same of a unit ball that is no product."""
    if base.ball_order is not None:
        return UniformNormBall(base.dimension, base.ball_order)
    if isinstance(base, SortedBall):
        return UniformSorted(base.weights)
    if isinstance(base, SpectralBall) and base.gauge.ball_order == math.inf:
        return UniformContractions(base.rows, base.columns)
    return None


def uniform_balls(blocks: Sequence[tuple[slice, float]]) -> AbstractUniform:
    """Return uniform points of a product of ℓ_r balls, each with its coordinates and its order."""
    own = tuple(UniformNormBall(at.stop - at.start, order) for at, order in blocks)
    return own[0] if len(own) == 1 else UniformProduct(own)


def no_sampler(dimension: int) -> PlanError:
    """Return the refusal of an image of a unit ball that is neither sampled nor walked in."""
    return PlanError(
        f"an image of this unit ball in {dimension} dimensions has no exact sampler; give a budget "
        "ln.approx_dp(epsilon, delta), or an image of an ℓ_r ball or of a product of such"
    )


def _shaped(factor: Vector, base: AbstractUnitBall) -> None:
    k = base.dimension
    if set(factor.shape) != {k}:
        raise PlanError(f"factor has shape {factor.shape}; give ({k},) or {k, k}")


def _ratios_up(sizes: Vector, units: Vector) -> Vector:
    """Return at least size/unit, entry by entry, and at most 1 where it is; sizes ≥ 0, units > 0.

    A quotient of equal numbers is 1, and division rounds monotonically.
    """
    with np.errstate(over="ignore"):
        ratios = np.nextafter(sizes / units, np.inf)
    return np.where(sizes > 0, np.where(sizes <= units, np.minimum(ratios, 1.0), ratios), 0.0)


def _greatest_ratio_up(sizes: Vector, units: Vector) -> float:
    """Return max sizeᵢ/unitᵢ where that is a float, else one at most a unit above it."""
    with np.errstate(over="ignore"):
        ratios = sizes / units
    most = float(np.max(ratios))
    if not math.isfinite(most):
        return math.inf
    # division rounds monotonically: the greatest is among those whose float is
    top = np.flatnonzero(ratios == most)
    exact = all(Fraction(most) * Fraction(units[i]) >= Fraction(sizes[i]) for i in top.tolist())
    return most if exact else up(most)
