# SPDX-License-Identifier: Apache-2.0
"""Noise on the encoded point itself: Gaussian, K-norm of the ball, Laplace.

Two points of the ball are 2 apart at most, and two of the cube 2r in ℓ₁: by so much a density is
moved, at most. `grid` says how noise becomes integers.

Gamma(r) is half the sum of squares of 2r normal numbers, so for |z| of density ∝ exp(−|z|/scale) in
r dimensions, with G and H of r normal numbers each, z = scale·(|G|² + |H|²)/2 · G/|G|: the length
and the direction of G are independent. Laplace noise is scale·(A² + B² − C² − D²)/2.

Clipping moves the expectation by less than 1e-15 of a standard deviation, for `highest` is at least
(1 + T)/step with E(|zᵢ| − T)₊ that small: φ(t)/t² at T = t·σ, e⁻ᵗ at T = t·scale, and of the radius
of K-norm noise (t/r)^r e^{r−t}/(e(1 − r/t)) at T = t·scale, by x ≤ e^{θx}/(eθ) at θ = 1 − r/t.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import COUNT, POSITIVE, Field
from lownoise.local_model.grid import SLACK, UNIT, AbstractAdditive, in_ball
from lownoise.local_model.randomizer import RANDOMIZERS, LocalLoss
from lownoise.numbers.rounding import down, exact, fraction_up

if TYPE_CHECKING:
    from lownoise.local_model.randomizer import Takes
    from lownoise.numbers.arrays import Integers, Vector

_COUNT = Field("dimension", COUNT, "coordinates")
_STEP = Field("step", POSITIVE)
_FINE = 64.0  # steps in a standard deviation, at least
_TAIL = 9.0  # φ(9)/81 < 2e-20
_EXPONENT = 36.0  # e^-36 < 3e-16


def _allowed_epsilon(epsilon: float) -> float:
    """Return the greatest float that is at most ε as a decimal and as a float."""
    allowed = min(exact(epsilon), Fraction(epsilon))
    return epsilon if Fraction(epsilon) <= allowed else down(epsilon)


def _step(deviation: float) -> float:
    """Return the greatest power of two of which there are 64 in a standard deviation."""
    return 2.0 ** (math.frexp(deviation / _FINE)[1] - 1)


@RANDOMIZERS.kind("gaussian", _COUNT, Field("deviation", POSITIVE), _STEP)
@final
@dataclass(frozen=True)
class BallGaussian(AbstractAdditive):
    """Gaussian noise: any two points of the ball are 2 apart at most, so reports are (2/σ)-GDP.

    Args:
        coordinates: r.
        deviation: σ, the standard deviation of each coordinate.
        step: of the grid, a power of two.

    Examples:
        >>> own = BallGaussian.fitted(3, 1.0, 1e-6)
        >>> own.loss.mu <= 2 / own.deviation * (1 + 1e-15), own.loss.within(1.0, 1e-6)
        (True, True)
    """

    coordinates: int
    deviation: float
    step: float
    takes: ClassVar[Takes] = "ball"

    @classmethod
    def fitted(cls, dimension: int, epsilon: float, delta: float = 0.0) -> Self:
        """Return the least noise whose exact curve (Balle & Wang 2018, Theorem 8) is within (ε, δ).

        Raises:
            PlanError: where δ is 0.
        """
        from lownoise.privacy.gaussian_curve import parameter_down

        if not delta:
            raise PlanError("delta=0 allows no Gaussian reports; give a delta above 0")
        mu = parameter_down(_allowed_epsilon(epsilon), delta)
        deviation = fraction_up(2 / Fraction(mu))
        return cls(dimension, deviation, _step(deviation))

    @property
    def loss(self) -> LocalLoss:
        """μ = 2/σ, rounded up."""
        return LocalLoss(math.inf, 0.0, fraction_up(2 / Fraction(self.deviation)))

    def _allowed(self, encoded: Integers) -> Integers:
        return in_ball(encoded)

    @property
    def _size(self) -> float:
        return self.deviation

    @property
    def _variance(self) -> float:
        return 1.0

    @property
    def _far(self) -> float:
        return _TAIL

    @property
    def _sources(self) -> int:
        return self.dimension

    def _noise(self, z: Vector, error: Vector) -> tuple[Vector, Vector]:
        return z, error

    def _used(self, column: int) -> list[int]:
        return [column]

    def _exact(self, balls: list[Any], column: int) -> Any:  # noqa: ANN401
        return balls[0]


@dataclass(frozen=True)
class AbstractScaled(AbstractAdditive):
    """Noise whose densities at two points are within e^{distance/scale}, of some norm."""

    coordinates: int
    scale: float
    step: float

    @property
    @abstractmethod
    def _apart(self) -> int:
        """How far apart any two points are in that norm."""

    @classmethod
    def fitted(cls, dimension: int, epsilon: float, delta: float = 0.0) -> Self:  # noqa: ARG003
        """Return the least noise with a distance of at most ε·scale."""
        unit = cls(dimension, 1.0, 1.0)
        scale = fraction_up(unit._apart / Fraction(_allowed_epsilon(epsilon)))
        return cls(dimension, scale, _step(scale * math.sqrt(unit._variance)))

    @property
    def loss(self) -> LocalLoss:
        """ε = distance/scale, rounded up."""
        return LocalLoss(fraction_up(self._apart / Fraction(self.scale)))

    @property
    def _size(self) -> float:
        return self.scale


@RANDOMIZERS.kind("k_norm", _COUNT, Field("scale", POSITIVE), _STEP)
@final
@dataclass(frozen=True)
class BallKNorm(AbstractScaled):
    """Noise of density ∝ exp(−|z|/scale) (001, Section 4, with the ball as the norm's).

    Any two points of the ball are 2 apart at most, so densities are within e^{2/scale}.

    Args:
        coordinates: r.
        scale: 2/ε.
        step: of the grid, a power of two.

    Examples:
        >>> BallKNorm.fitted(3, 0.5).loss.within(0.5)
        True
    """

    takes: ClassVar[Takes] = "ball"

    def _allowed(self, encoded: Integers) -> Integers:
        return in_ball(encoded)

    @property
    def _apart(self) -> int:
        return 2

    @property
    def _variance(self) -> float:
        return self.dimension + 1.0  # E|z|²/r, |z| of Gamma(r)

    @property
    def _far(self) -> float:
        r = self.dimension
        far = r + _EXPONENT
        while r * math.log(far / r) + r - far - math.log(math.e * (1 - r / far)) > -_EXPONENT:
            far *= 1.0625
        return far

    @property
    def _sources(self) -> int:
        return 2 * self.dimension

    def _noise(self, z: Vector, error: Vector) -> tuple[Vector, Vector]:
        """Return S·G/N, S = (|G|² + |H|²)/2, N = |G|, all within small parts of themselves.

        With parts a of S and b of N, S·gᵢ/N is off by at most
        S/N·((|gᵢ| + e)(a + b + 5u) + e), but for products of them, which `SLACK` holds.
        """
        r = self.dimension
        squares = z**2
        off = (2 * np.abs(z) + error) * error
        rounding = (2 * r + 4) * UNIT
        total = np.sum(squares, axis=1, keepdims=True)
        own = np.sum(squares[:, :r], axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            a = np.sum(off, axis=1, keepdims=True) / total + rounding
            b = np.sum(off[:, :r], axis=1, keepdims=True) / own + rounding
            length = total / 2 / np.sqrt(own)
            noise = length * z[:, :r]
            bound = length * ((np.abs(z[:, :r]) + error[:, :r]) * (a + b + 5 * UNIT))
            bound = (bound + length * error[:, :r]) * SLACK
        small = np.maximum(a, b) < 2.0**-20
        return np.where(small, noise, 0.0), np.where(small, bound, np.inf)

    def _used(self, column: int) -> list[int]:
        return list(range(self._sources))

    def _exact(self, balls: list[Any], column: int) -> Any:  # noqa: ANN401
        squares = [ball * ball for ball in balls]
        own = sum(squares[: self.dimension][1:], squares[0])
        total = sum(squares[self.dimension :], own)
        return total / 2 * balls[column] / own.sqrt()


@RANDOMIZERS.kind("laplace", _COUNT, Field("scale", POSITIVE), _STEP)
@final
@dataclass(frozen=True)
class CubeLaplace(AbstractScaled):
    """Laplace noise: any two points of the cube are 2r apart in ℓ₁ at most.

    Args:
        coordinates: r.
        scale: 2r/ε.
        step: of the grid, a power of two.

    Examples:
        >>> CubeLaplace.fitted(3, 0.1).loss.within(0.1)
        True
    """

    takes: ClassVar[Takes] = "cube"

    @property
    def _apart(self) -> int:
        return 2 * self.dimension

    @property
    def _variance(self) -> float:
        return 2.0

    @property
    def _far(self) -> float:
        return _EXPONENT

    @property
    def _sources(self) -> int:
        return 4 * self.dimension

    def _noise(self, z: Vector, error: Vector) -> tuple[Vector, Vector]:
        shape = (len(z), self.dimension, 4)
        squares = (z**2).reshape(shape)
        noise = (squares[..., 0] + squares[..., 1] - squares[..., 2] - squares[..., 3]) / 2
        off = np.sum(((2 * np.abs(z) + error) * error).reshape(shape), axis=2) / 2
        return noise, (off + 3 * UNIT * np.sum(squares, axis=2)) * SLACK

    def _used(self, column: int) -> list[int]:
        return list(range(4 * column, 4 * column + 4))

    def _exact(self, balls: list[Any], column: int) -> Any:  # noqa: ANN401
        a, b, c, d = balls
        return (a * a + b * b - c * c - d * d) / 2
