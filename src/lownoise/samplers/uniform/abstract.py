# SPDX-License-Identifier: Apache-2.0
"""What every sampler of a convex body can do and say of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy


class AbstractUniform(ABC):
    """Points of a bounded convex body about 0, exactly uniform unless it says otherwise."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of coordinates d."""

    @property
    def rank(self) -> int:
        """The dimension of the body: below d where some coordinates are always 0."""
        return self.dimension

    @property
    def relative(self) -> float:
        """η: the density of a point is within 1 ± η of the uniform one everywhere."""
        return 0.0

    @property
    def distance(self) -> float:
        """The total variation between the law of a point and the uniform one, at most."""
        return 0.0

    @property
    def estimated(self) -> bool:
        """Whether `second_moment` is a simulation's estimate: then no claim may rest on it."""
        return False

    @abstractmethod
    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""

    @abstractmethod
    def second_moment(self) -> Vector:
        """Return E u·uᵀ of a uniform point u, shape (d, d); or shape (d,), its diagonal.

        Only a diagonal where all other entries are 0.
        """

    @abstractmethod
    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""
