# SPDX-License-Identifier: Apache-2.0
"""Norms whose unit balls are images of ℓ_r balls and of products of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth, up
from lownoise.samplers.uniform import UniformImage, UniformNormBall, UniformProduct
from lownoise.sets.norms.abstract import AbstractNorm, Form, ball_norm_up
from lownoise.sets.norms.combination import NEAR, among, inverse_of
from lownoise.sets.unit_balls import AbstractUnitBall, NormBall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sets.bodies import ImageBody
    from lownoise.sets.norms.combination import Inverse


def balls_of(base: AbstractUnitBall) -> tuple[NormBall, ...] | None:
    """Return the balls that a unit body is the product of; None where it is not one.

    Examples:
        >>> balls_of(NormBall(2, 1.0))
        (NormBall(size=2, order=1.0),)
    """
    parts = base.factors
    balls = tuple(part for part in parts if isinstance(part, NormBall))
    return balls if len(balls) == len(parts) else None


def simplest(factor: Vector, base: AbstractUnitBall) -> Vector:
    """Return the factor of the same image: a diagonal where order and signs make it one.

    Only of a ball, which no change of order or of signs changes.

    Examples:
        >>> simplest(np.array([[0.0, -2.0], [1.0, 0.0]]), NormBall(2, 1.0))
        array([2., 1.])
    """
    if factor.ndim == 1 or not isinstance(base, NormBall) or factor.shape[0] != factor.shape[1]:
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
        >>> norm = ImageNorm(np.array([2.0, 4.0]), NormBall(2, math.inf))
        >>> norm.norm_up(np.array([[1.0, -4.0]]))
        array([1.])
        >>> norm.sensitivity_up(SymmetricBox(np.array([2.0, 4.0])))
        1.0
    """

    factor: Vector
    base: AbstractUnitBall

    def __post_init__(self) -> None:
        if balls_of(self.base) is None:
            raise PlanError(
                f"{type(self.base).__name__} in {self.dimension} dimensions has no exact sampler; "
                "use (ε, δ), or a domain that is an image of an ℓ_r ball or a product of such",
            )
        if set(self.factor.shape) != {self.base.dimension}:
            k = self.base.dimension
            raise PlanError(f"factor has shape {self.factor.shape}; give ({k},) or {k, k}")
        if not math.isfinite(self._stretch):
            raise PlanError(
                f"factor of {self.dimension} dimensions is flat, or too nearly so for floats; "
                "leave out answers that follow from others",
            )

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.factor.shape[0])

    @property
    def euclidean(self) -> int:
        """The dimension where B is a Euclidean ball, because F has an inverse; else 1."""
        ball = isinstance(self.base, NormBall) and self.base.order == 2  # noqa: PLR2004
        return self.dimension if ball else 1

    @property
    def diagonal(self) -> bool:
        """Whether F is a diagonal."""
        return self.factor.ndim == 1

    @cached_property
    def _inverse(self) -> Inverse:
        return inverse_of(self.factor, self.base)

    @property
    def _stretch(self) -> float:
        if not self.diagonal:
            return self._inverse.stretch
        return 1.0 if np.all(np.isfinite(self.factor) & (self.factor != 0)) else math.inf

    @cached_property
    def _blocks(self) -> list[tuple[slice, float]]:
        """The coordinates of each ball of the base, and its order."""
        balls = balls_of(self.base) or ()
        ends = np.cumsum([0, *(ball.size for ball in balls)])
        own = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        return [(at, ball.order) for at, ball in zip(own, balls, strict=True)]

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Uniform points of F·B."""
        return UniformImage(self.factor, uniform_balls(balls_of(self.base) or ()))

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """One a ball: stretch·‖rows of X·s‖."""
        if self.diagonal:
            # 1/f is rounded by at most a unit in its last place
            matrix, stretch = np.diag(1 / self.factor), 1 + growth(4)
        else:
            matrix, stretch = self._inverse.matrix, self._stretch
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
        above = np.flatnonzero(found > 1)
        if above.size:  # F·eᵢ is in F·B for every ℓ_r ball B, and every product of them
            found[above[among(points[above], self.factor.T)]] = 1.0
        return np.asarray(found)

    def scaled(self, factor: float) -> ImageNorm:
        """Return the norm of factor·F·B."""
        return ImageNorm(frozen(factor * self.factor), self.base)

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
        rest = np.abs(image - np.diag(np.diag(image))) + lost * (1 + 2.0**-30)
        aside = float(self.base.norm_up((rest @ self.base.widths())[None])[0]) * (1 + 2.0**-30)
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


def uniform_balls(balls: Sequence[NormBall]) -> AbstractUniform:
    """Return uniform points of a product of ℓ_r balls."""
    own = tuple(UniformNormBall(ball.size, ball.order) for ball in balls)
    return own[0] if len(own) == 1 else UniformProduct(own)


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
