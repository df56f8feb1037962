# SPDX-License-Identifier: Apache-2.0
"""Uniform points of a body in some of the coordinates, 0 in all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.samplers.lazy import Composed
from lownoise.samplers.uniform.abstract import AbstractUniform

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy


@final
@dataclass(frozen=True, eq=False)
class UniformPlaced(AbstractUniform):
    """Uniform points of {u : (u_kept) ∈ B, all others exactly 0}.

    Args:
        inner: uniform points of B.
        kept: where its coordinates stand, rising, shape (r,).
        size: the number of coordinates d.

    Raises:
        PlanError: where `kept` does not rise within 0 … d − 1, one for each coordinate of B.

    Examples:
        >>> from lownoise.samplers.uniform import UniformNormBall
        >>> UniformPlaced(UniformNormBall(1, 1.0), np.array([1]), 2).second_moment()
        array([0.        , 0.33333333])
    """

    inner: AbstractUniform
    kept: Integers
    size: int

    def __post_init__(self) -> None:
        whole = np.concatenate([[-1], self.kept, [self.size]])
        if self.kept.size != self.inner.dimension or not np.all(np.diff(whole) > 0):
            raise PlanError("UniformPlaced.kept does not rise within the coordinates; order them")

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.size

    @property
    def rank(self) -> int:
        """That of B."""
        return self.inner.rank

    @property
    def relative(self) -> float:
        """That of B, in the span."""
        return self.inner.relative

    @property
    def distance(self) -> float:
        """That of B."""
        return self.inner.distance

    @property
    def estimated(self) -> bool:
        """That of the body that is placed."""
        return self.inner.estimated

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        return Composed(self.size, (self.inner.draw(randomness),), self._placed)

    def _placed(self, balls: list[Any]) -> list[Any]:
        found = [arb(0)] * self.size
        for i, ball in zip(self.kept.tolist(), balls, strict=True):
            found[i] = ball
        return found

    def second_moment(self) -> Vector:
        """Return that of B with zeros around it."""
        own, kept = self.inner.second_moment(), self.kept
        found = np.zeros((self.size,) * own.ndim)
        found[kept if own.ndim == 1 else np.ix_(kept, kept)] = own
        return frozen(found)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""
        found = np.zeros((count, self.size))
        found[:, self.kept] = self.inner.simulate(count, randomness)
        return found
