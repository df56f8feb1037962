# SPDX-License-Identifier: Apache-2.0
"""A noise from outside the package: differences of geometric numbers, drawn exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np
from flint import arb

from lownoise.kinds import NONNEGATIVE, Field
from lownoise.noise.abstract import NOISES, AbstractNoise, Loss
from lownoise.numbers.arrays import frozen
from lownoise.samplers.lazy import Composed, UniformBits, rounded
from lownoise.samplers.uniform.abstract import uniforms
from lownoise.sets.norms import ImageNorm
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


@NOISES.kind(
    "two_sided",
    Field("scales", NONNEGATIVE),
    make=lambda _changes, _distance, scales: TwoSidedNoise(scales),
)
@final
@dataclass(frozen=True, eq=False)
class TwoSidedNoise(AbstractNoise):
    """Independent whole numbers of chances ∝ exp(−|z|/bᵢ): a change s costs Σ|sᵢ|/bᵢ at most."""

    scales: Vector
    note: ClassVar[str] = "two-sided geometric noise of one scale"

    @classmethod
    def fitted(cls, setting):
        scales = np.full(setting.kept.size, setting.body.widths().sum() / setting.epsilon)
        return setting.made(lambda factor: cls(frozen(scales * factor)))

    @property
    def dimension(self) -> int:
        return self.scales.size

    @property
    def estimated(self) -> bool:
        return False

    def loss(self, changes) -> Loss:
        return Loss(ImageNorm(self.scales, NormBall(self.dimension, 1.0)).sensitivity_up(changes))

    def integers(self, randomness) -> list[int]:
        """Differences of ⌊b·E⌋ for exponential E, which are geometric; ⌊x⌋ = round(x − ½)."""
        twice = [arb(b) for b in np.tile(self.scales, 2).tolist()]
        bits = UniformBits(randomness.words(len(twice)))

        def formula(balls):
            return [-b * u.log() - arb(0.5) for b, u in zip(twice, balls, strict=True)]

        found = rounded(Composed(len(twice), (bits,), formula), randomness=randomness)
        half = self.dimension
        return [a - b for a, b in zip(found[:half], found[half:], strict=True)]

    def covariance(self) -> Vector:
        rest = -np.expm1(-1 / self.scales)
        return frozen(2 * np.exp(-1 / self.scales) / rest**2)

    def simulate(self, count, randomness) -> Vector:
        drawn = uniforms(randomness, count, 2 * self.dimension)
        found = np.floor(-np.log(drawn) * np.tile(self.scales, 2))
        return found[:, : self.dimension] - found[:, self.dimension :]
