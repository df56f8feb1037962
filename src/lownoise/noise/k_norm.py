# SPDX-License-Identifier: Apache-2.0
"""The K-norm mechanism (001, Definition 4.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.kinds import POSITIVE, Field, Form
from lownoise.noise.abstract import NOISES, AbstractNoise
from lownoise.noise.loss import Loss, ball_loss, quotient_up, sampling_loss
from lownoise.numbers.arrays import frozen
from lownoise.numbers.packing import packed, unpacked
from lownoise.samplers.gamma import k_norm_noise, simulated_noise
from lownoise.sets.norms import ImageNorm, norm_of
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
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


def _ellipsoid(_: AbstractBody, __: float, scale: float, factor: Vector) -> KNormNoise:
    return KNormNoise(ImageNorm(factor, NormBall(len(factor), 2.0)), scale)


def _factor_of(noise: KNormNoise) -> Vector:
    assert isinstance(noise.gauge, ImageNorm)  # noqa: S101 (what that mechanism is)
    return noise.gauge.factor


_written = NOISES.kind(
    "k_norm",
    Field("scale", POSITIVE),
    make=lambda changes, distance, scale: KNormNoise(norm_of(changes, distance), scale),
)
_of_ellipsoid = NOISES.kind(
    "ellipsoid",
    Field("scale", POSITIVE),
    Field("factor", Form(packed, _factor), attribute=_factor_of),
    make=_ellipsoid,
)


@_of_ellipsoid
@_written
@final
@dataclass(frozen=True, eq=False)
class KNormNoise(AbstractNoise):
    """Noise of density ∝ exp(−‖z‖/scale), ‖·‖ the norm whose unit ball the gauge is.

    Where one neighbour moves the integers by s, densities differ by exp(‖s‖/scale) at most, by the
    triangle inequality (001, Theorem 4.3). It is drawn as scale·r·u, r ~ Gamma(d + 1, 1), u uniform
    in the unit ball (001, Remark 4.2).

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
            raise PlanError(f"KNormNoise.scale={self.scale:g} is not above 0; plan again")

    @property
    def dimension(self) -> int:
        """The number of integers r."""
        return self.gauge.dimension

    @property
    def estimated(self) -> bool:
        """Whether the covariance was estimated by simulation."""
        return self.gauge.uniform.estimated

    def loss(self, changes: AbstractBody) -> Loss:
        """Return what integers reveal that one neighbour moves by points of `changes`."""
        own = quotient_up(self.gauge.sensitivity_up(changes), self.scale)
        # where the norm is not Euclidean, along every change the density is Lipschitz as Laplace's
        return sampling_loss(ball_loss(self.gauge.euclidean, own), self.gauge.uniform)

    def draw(self, randomness: Randomness) -> Lazy:
        """Return the noise, known by its bits so far."""
        return k_norm_noise(self.gauge.uniform, self.scale, randomness=randomness)

    @cached_property
    def _covariance(self) -> Vector:
        d = self.gauge.uniform.rank  # E r² = (d + 1)(d + 2) for Gamma(d + 1, 1)
        square = (
            self.scale**2 if self.scale < _WIDEST else math.inf
        )  # Python raises where C has inf
        return frozen(self.gauge.uniform.second_moment() * ((d + 1) * (d + 2) * square))

    def covariance(self) -> Vector:
        """Return (d + 1)(d + 2)·scale²·E uuᵀ."""
        return self._covariance

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        return np.asarray(simulated_noise(self.gauge.uniform, self.scale, count, randomness))
