# SPDX-License-Identifier: Apache-2.0
"""Gamma radii, the noise of a norm, and independent Laplace numbers.

The noise of a norm ‖·‖ with unit ball B is z = b·r·u, r ~ Gamma(d + 1, 1), u uniform in B (001,
Remark 4.2; b = 1/ε there). Given r, b·r·u has the density 1/((br)^d·vol B) on ‖z‖ ≤ br; so z has

    ∫_{‖z‖/b}^∞ e^{−r}r^d/d! · dr/((br)^d·vol B)  =  exp(−‖z‖/b) / (d!·b^d·vol B).

For ℓ₁ that is a product over the coordinates: independent Laplace numbers of scale b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from lownoise.errors import PlanError
from lownoise.samplers.lazy import Composed, UniformBits
from lownoise.samplers.uniform import UniformNormBall
from lownoise.samplers.uniform.abstract import uniforms

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy
    from lownoise.samplers.uniform import AbstractUniform

_BLOCK = 1 << 20


@final
@dataclass(frozen=True)
class GammaRadius:
    """Numbers of the law Gamma(k, 1): sums of k exponential ones.

    Args:
        shape: k, at least 1.

    Raises:
        PlanError: where k < 1.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> GammaRadius(3).draw(SimulationRandomness(1)).balls()[0] > 0
        True
    """

    shape: int

    def __post_init__(self) -> None:
        if self.shape < 1:
            raise PlanError(f"GammaRadius.shape={self.shape} is below 1; give 1 or more")

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a number, known by its bits so far: −log of a product of k uniform ones."""
        return Composed(1, (UniformBits(randomness.words(self.shape)),), _minus_log_product)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` numbers in floats, for predictions and tests alone; shape (count,)."""
        found = np.zeros(count)
        step = max(_BLOCK // count, 1)
        for start in range(0, self.shape, step):
            number = min(step, self.shape - start)
            found -= np.log(uniforms(randomness, count, number)).sum(axis=1)
        return found


def k_norm_noise(uniform: AbstractUniform, scale: float, *, randomness: Randomness) -> Lazy:
    """Return noise of density exp(−‖z‖/scale)/(d!·scale^d·vol B), ‖·‖ the norm whose ball is B.

    Args:
        uniform: uniform points of B. Where they are uniform but for a relative η or a distance, so
            is the density.
        scale: above 0; exactly the stored float.
        randomness: where the bits come from.

    Raises:
        PlanError: where the scale is not a finite number above 0.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> from lownoise.samplers.lazy import rounded
        >>> source = SimulationRandomness(1)
        >>> noise = k_norm_noise(UniformNormBall(3, 2.0), 1000.0, randomness=source)
        >>> len(rounded(noise, randomness=source))
        3
    """
    if not 0 < scale < math.inf:
        raise PlanError(f"the scale of noise is {scale}; give a finite number above 0")
    if isinstance(uniform, UniformNormBall) and uniform.order == 1:
        return laplace(np.full(uniform.size, scale), randomness=randomness)  # the same law, sooner
    radius = GammaRadius(uniform.rank + 1).draw(randomness)

    def product(r: list[Any], u: list[Any]) -> list[Any]:
        length = arb(scale) * r[0]
        return [length * own for own in u]

    return Composed(uniform.dimension, (radius, uniform.draw(randomness)), product)


def laplace(scales: Vector, *, randomness: Randomness) -> Lazy:
    """Return independent Laplace numbers: densities exp(−|z|/b)/(2b).

    |z|/b is exponential and the sign is fair: z = −b·sgn(v)·log|v| for v uniform on (−1, 1).

    Args:
        scales: b, shape (d,), at least 0; exactly the stored floats. Where b is 0, so is z.
        randomness: where the bits come from.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> from lownoise.samplers.lazy import rounded
        >>> source = SimulationRandomness(1)
        >>> rounded(laplace(np.array([1000.0, 0.0]), randomness=source), randomness=source)[1]
        0
    """
    drawn = np.flatnonzero(scales).tolist()
    exact = [arb(b) for b in scales[drawn].tolist()]

    def formula(balls: list[Any]) -> list[Any]:
        found = [arb(0)] * len(scales)
        for i, b, u in zip(drawn, exact, balls, strict=True):
            v = 2 * u - 1
            found[i] = -b * v.sgn() * abs(v).log()
        return found

    return Composed(len(scales), (UniformBits(randomness.words(len(drawn))),), formula)


def simulated_noise(
    uniform: AbstractUniform, scale: float, count: int, randomness: Randomness
) -> Vector:
    """Return `count` draws of the noise of a norm in floats, for tests alone; shape (count, d)."""
    radii = GammaRadius(uniform.rank + 1).simulate(count, randomness)
    return np.asarray(scale * radii[:, None] * uniform.simulate(count, randomness))


def _minus_log_product(balls: list[Any]) -> list[Any]:
    product = balls[0]
    for u in balls[1:]:
        product *= u
    return [-product.log()]
