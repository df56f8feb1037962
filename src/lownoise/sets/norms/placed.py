# SPDX-License-Identifier: Apache-2.0
"""Norms on some of the coordinates, where all others never move."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.samplers.uniform import UniformPlaced
from lownoise.sets.norms.abstract import AbstractNorm
from lownoise.sets.norms.projection import projected

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sensitivity.changes import Reach


@final
@dataclass(frozen=True, eq=False)
class PlacedNorm(AbstractNorm):
    """A norm of some coordinates, infinite where any other moves: those get no noise at all.

    Args:
        inner: the norm.
        kept: which coordinates it is of, rising, shape (r,).
        size: the number of coordinates d.

    Raises:
        PlanError: where `kept` does not rise within 0 … d − 1, one for each coordinate of `inner`.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> from lownoise.sets.norms import ImageNorm
        >>> line = ImageNorm(np.array([2.0]), NormBall(1, 1.0))
        >>> PlacedNorm(line, np.array([1]), 2).norm_up(np.array([[0.0, 1.0], [1.0, 0.0]]))
        array([0.5, inf])
    """

    inner: AbstractNorm
    kept: Integers
    size: int

    def __post_init__(self) -> None:
        UniformPlaced(self.inner.uniform, self.kept, self.size)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.size

    @cached_property
    def uniform(self) -> AbstractUniform:
        """Uniform points of the unit ball, with zeros."""
        return UniformPlaced(self.inner.uniform, self.kept, self.size)

    @property
    def euclidean(self) -> int:
        """As of the coordinates that move."""
        return self.inner.euclidean

    @cached_property
    def _still(self) -> Integers:
        return np.setdiff1d(np.arange(self.size), self.kept)

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the norm of the coordinates that move."""
        found = self.inner.norm_up(np.ascontiguousarray(points[:, self.kept]))
        return np.where(np.any(points[:, self._still], axis=1), np.inf, found)

    def scaled(self, factor: float) -> PlacedNorm:
        """Return the same of factor·(unit ball)."""
        return PlacedNorm(self.inner.scaled(factor), self.kept, self.size)

    def own_up(self, body: Reach) -> float:
        """Return at least the reach of the body's projection, if nothing else moves."""
        if np.any(body.widths()[self._still]):
            return math.inf
        own = projected(body, self.kept)
        return math.inf if own is None else self.inner.reach_up(own)
