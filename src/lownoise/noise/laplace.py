# SPDX-License-Identifier: Apache-2.0
"""Independent Laplace numbers (001, Theorem 2.6), each with a scale of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import NONNEGATIVE, Field
from lownoise.noise.abstract import NOISES, AbstractNoise
from lownoise.noise.loss import Loss, independent_loss, quotient_up
from lownoise.numbers.arrays import frozen
from lownoise.samplers.gamma import laplace, simulated_noise
from lownoise.samplers.uniform import UniformNormBall
from lownoise.sets.norms import ImageNorm
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy
    from lownoise.sets.bodies import AbstractBody


_written = NOISES.kind(
    "laplace", Field("scales", NONNEGATIVE), make=lambda _, __, scales: LaplaceNoise(scales)
)
_of_counts = NOISES.kind(
    "laplace_histogram",
    Field("scales", NONNEGATIVE),
    make=lambda _, __, scales: LaplaceNoise(scales),
)


@_of_counts
@_written
@final
@dataclass(frozen=True, eq=False)
class LaplaceNoise(AbstractNoise):
    """Independent numbers of density exp(−|z|/bᵢ)/2bᵢ.

    A change s of the integers reveals Σ|sᵢ|/bᵢ: the K-norm mechanism of the cross-polytope with
    corners ±bᵢeᵢ. The split of ε over the integers is in the scales.

    Args:
        scales: b, above 0, shape (r,).

    Raises:
        PlanError: where a scale is no number above 0.
    """

    scales: Vector

    def __post_init__(self) -> None:
        if not np.all((self.scales > 0) & np.isfinite(self.scales)):
            raise PlanError("LaplaceNoise.scales are not all above 0; plan again")

    @property
    def dimension(self) -> int:
        """The number of integers r."""
        return int(self.scales.size)

    @property
    def estimated(self) -> bool:
        """It is known."""
        return False

    def loss(self, changes: AbstractBody) -> Loss:
        """Return the greatest Σ|sᵢ|/bᵢ over `changes`, and ρ and μ of such changes, rounded up."""
        gauge = ImageNorm(self.scales, NormBall(self.dimension, 1.0))
        found = gauge.sensitivity_up(changes)
        if not math.isfinite(found):
            return Loss(math.inf)
        moves = map(quotient_up, changes.widths().tolist(), self.scales.tolist())
        return independent_loss(list(moves), found)

    def draw(self, randomness: Randomness) -> Lazy:
        """Return the noise, known by its bits so far."""
        return laplace(self.scales, randomness=randomness)

    def covariance(self) -> Vector:
        """Return the variances 2b², shape (r,)."""
        return frozen(2 * self.scales**2)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        cross = UniformNormBall(self.dimension, 1.0)  # whose noise is independent Laplace
        return simulated_noise(cross, 1.0, count, randomness) * self.scales
