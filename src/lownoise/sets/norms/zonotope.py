# SPDX-License-Identifier: Apache-2.0
"""Norms whose unit balls are sums of segments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.samplers.uniform import UniformZonotope
from lownoise.sets.bodies import ImageBody
from lownoise.sets.norms.abstract import AbstractNorm
from lownoise.sets.norms.combination import Combination
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sensitivity.changes import Reach


@final
@dataclass(frozen=True, eq=False)
class ZonotopeNorm(AbstractNorm):
    """‖s‖ = min {max |λᵢ| : Σ λᵢgᵢ = s}: the unit ball is the sum of the segments [−gᵢ, gᵢ].

    Args:
        generators: g, shape (k, d).

    Raises:
        PlanError: where they are flat, or too many to be sampled.

    Examples:
        >>> gauge = ZonotopeNorm(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
        >>> gauge.norm_up(np.array([[2.0, 2.0], [1.0, -1.0]])).round(9)
        array([1., 1.])
    """

    generators: Vector

    def __post_init__(self) -> None:
        if not math.isfinite(self._combination.inverse.stretch):
            raise PlanError(
                f"{len(self.generators)} generators in {self.dimension} dimensions are flat, or "
                "too nearly so for floats; leave out answers that follow from others",
            )
        _ = self.uniform

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.generators.shape[1])

    @cached_property
    def _combination(self) -> Combination:
        return Combination(frozen(np.ascontiguousarray(self.generators.T)), math.inf)

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Uniform points of the zonotope, exactly."""
        return UniformZonotope(self.generators)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the norm, row by row."""
        return self._combination.norm_up(points)

    def scaled(self, factor: float) -> ZonotopeNorm:
        """Return the gauge of factor·(zonotope)."""
        return ZonotopeNorm(frozen(factor * self.generators))

    def own_up(self, body: Reach) -> float:
        """Return at least the reach of an image of a cube by nearly the same generators."""
        return _own_up(body, self)

    def near_up(self, body: ImageBody) -> float:
        """Return at least the reach of an image of a cube; exactly 1 for the same generators."""
        return self._combination.near_up(body.dense)


@singledispatch
def _own_up(body: object, gauge: ZonotopeNorm) -> float:
    return math.inf


@_own_up.register(ImageBody)
def _(body: ImageBody, gauge: ZonotopeNorm) -> float:
    cube = isinstance(body.base, NormBall) and math.isinf(body.base.order)
    return gauge.near_up(body) if cube else math.inf
