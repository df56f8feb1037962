# SPDX-License-Identifier: Apache-2.0
"""Pure noises of a norm: the K-norm mechanism is of 001, Definition 4.1."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.kinds import POSITIVE, Field, Form
from lownoise.noise.abstract import (
    NOISES,
    AbstractNoise,
    Loss,
    ball_loss,
    quotient_up,
    sampling_loss,
)
from lownoise.noise.coordinates import CoordinateLaw, Coordinates
from lownoise.numbers.arrays import frozen
from lownoise.numbers.packing import packed, unpacked
from lownoise.samplers.ellipsoid import rounded_points
from lownoise.samplers.gamma import k_norm_noise, simulated_noise
from lownoise.sets.norms import ImageNorm, norm_of
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.norms import AbstractNorm


_WIDEST = 2.0**511  # whose square is a float


def _factor(value: Any, field: str) -> Vector:  # noqa: ANN401 (a file)
    found = unpacked(value, field, len(value["shape"]))
    if found.ndim not in (1, 2) or len(set(found.shape)) != 1:
        raise FileError(f"{field} is no diagonal and no square matrix")
    return found


FACTOR = Form(packed, _factor)  # of an ellipsoid: a diagonal or a square matrix


class AbstractNormNoise(AbstractNoise):
    """Noise that is scale·r·u: u uniform in the unit ball of a norm, r > 0 of a law of its own.

    Args:
        gauge: the norm.
        scale: above 0.

    Raises:
        PlanError: where the scale is no number above 0.
    """

    gauge: AbstractNorm
    scale: float

    def __post_init__(self) -> None:
        if not 0 < self.scale < math.inf:
            said = f"{type(self).__name__}.scale={self.scale:g} is not above 0; plan again"
            raise PlanError(said)

    @property
    @abstractmethod
    def square(self) -> float:
        """E r², a float for predictions."""

    @property
    def dimension(self) -> int:
        """The number of integers r."""
        return self.gauge.dimension

    @property
    def estimated(self) -> bool:
        """Whether the covariance was estimated by simulation."""
        return self.gauge.uniform.estimated

    @property
    def steady(self) -> bool:
        """As of the norm."""
        return self.gauge.steady

    @cached_property
    def _covariance(self) -> Vector:
        square = (
            self.scale**2 if self.scale < _WIDEST else math.inf
        )  # Python raises where C has inf
        return frozen(self.gauge.uniform.second_moment() * (self.square * square))

    def covariance(self) -> Vector:
        """Return E r²·scale²·E uuᵀ."""
        return self._covariance


def ellipsoid_norm(factor: Vector) -> ImageNorm:
    """Return the norm whose unit ball is F·B, B the Euclidean ball."""
    return ImageNorm(factor, NormBall(len(factor), 2.0))


def _ellipsoid(_: AbstractBody, __: float, scale: float, factor: Vector) -> KNormNoise:
    return KNormNoise(ellipsoid_norm(factor), scale)


_written = NOISES.kind(
    "k_norm",
    Field("scale", POSITIVE),
    make=lambda changes, distance, scale: KNormNoise(norm_of(changes, distance), scale),
)
_of_ellipsoid = NOISES.kind(
    "ellipsoid",
    Field("scale", POSITIVE),
    Field("factor", FACTOR, attribute=lambda noise: noise.gauge.ellipsoid),
    make=_ellipsoid,
)


@_of_ellipsoid
@_written
@final
@dataclass(frozen=True, eq=False)
class KNormNoise(AbstractNormNoise):
    """Noise of density ∝ exp(−‖z‖/scale), ‖·‖ the norm whose unit ball the gauge is.

    Where one neighbour moves the integers by s, densities differ by exp(‖s‖/scale) at most, by the
    triangle inequality (001, Theorem 4.3). It is drawn as scale·r·u, r ~ Gamma(d + 1, 1), u uniform
    in the unit ball (001, Remark 4.2).
    """

    gauge: AbstractNorm
    scale: float

    @property
    def coordinates(self) -> Coordinates | None:
        """The law of each number, where the unit ball's coordinates have one that is known."""
        known = self.gauge.axes
        if known is None:
            return None
        widths, even = known
        return Coordinates(CoordinateLaw(self.dimension, even), frozen(widths * self.scale))

    @property
    def log_concave(self) -> bool:
        """It is, as a norm is convex."""
        return True

    @property
    def of_ball(self) -> bool:
        """Whether its norm is the Euclidean length of several numbers."""
        return self.gauge.euclidean > 1

    @property
    def square(self) -> float:
        """(d + 1)(d + 2), of Gamma(d + 1, 1)."""
        d = self.gauge.uniform.rank
        return float((d + 1) * (d + 2))

    def loss(self, changes: AbstractBody) -> Loss:
        """Return what integers reveal that one neighbour moves by points of `changes`."""
        own = quotient_up(self.gauge.sensitivity_up(changes), self.scale)
        # where the norm is not Euclidean, along every change the density is Lipschitz as Laplace's
        return sampling_loss(ball_loss(self.gauge.euclidean, own), self.gauge.uniform)

    def draw(self, randomness: Randomness) -> Lazy:
        """Return the noise, known by its bits so far."""
        return k_norm_noise(self.gauge.uniform, self.scale, randomness=randomness)

    def scaled(self, factor: float) -> KNormNoise:
        """Return so many times this noise."""
        return KNormNoise(self.gauge, self.scale * factor)

    def block(self, count: int, randomness: Randomness) -> Integers | None:
        """Return the rounding of so many draws of an ellipsoid's noise, shape (count, r)."""
        from flint import arb

        if (factor := self.gauge.ellipsoid) is None:
            return None
        lengths = np.full(count, self.scale)
        return rounded_points(
            factor, lengths, lambda _: arb(self.scale), randomness=randomness, gamma=True
        )

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        return np.asarray(simulated_noise(self.gauge.uniform, self.scale, count, randomness))
