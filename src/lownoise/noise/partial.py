# SPDX-License-Identifier: Apache-2.0
"""Noise on some of the integers, and none on those that no neighbour moves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import AbstractNoise, Loss
from lownoise.noise.coordinates import LAPLACE, Coordinates
from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy
    from lownoise.sets.bodies import AbstractBody


@final
class _Padded:
    """A real vector with zeros between its coordinates."""

    def __init__(self, inner: Lazy | None, kept: Integers, dimension: int) -> None:
        self._inner, self._kept, self._dimension = inner, kept.tolist(), dimension

    @property
    def dimension(self) -> int:
        return self._dimension

    def balls(self) -> list[Any]:
        from flint import arb

        found = [arb(0)] * self._dimension
        for i, ball in zip(self._kept, self._inner.balls() if self._inner else [], strict=True):
            found[i] = ball
        return found

    def refine(self, randomness: Randomness) -> None:
        if self._inner:
            self._inner.refine(randomness)


@final
@dataclass(frozen=True, eq=False)
class PartialNoise(AbstractNoise):
    """Noise on the integers that move; a body of changes that is flat is worked in its span.

    Args:
        inner: the noise of those that move, None where none does.
        kept: which ones, rising, shape (k,).
        total: the number of all integers r.

    Raises:
        PlanError: where `kept` are not so many rising places.
    """

    inner: AbstractNoise | None
    kept: Integers
    total: int

    def __post_init__(self) -> None:
        k = self.kept
        rising = k.size == (self.inner.dimension if self.inner else 0) and bool(
            np.all(np.diff(k) > 0)
        )
        if not rising or (k.size and not (k[0] >= 0 and k[-1] < self.total)):
            raise PlanError("PartialNoise.kept are no rising places, one an integer; plan again")

    @property
    def dimension(self) -> int:
        """The number of integers r."""
        return self.total

    @property
    def estimated(self) -> bool:
        """As of the noise itself."""
        return self.inner is not None and self.inner.estimated

    @property
    def left_out(self) -> str:
        """As of the noise itself."""
        return super().left_out if self.inner is None else self.inner.left_out

    @property
    def steady(self) -> bool:
        """As of the noise itself."""
        return self.inner is None or self.inner.steady

    @property
    def integer_valued(self) -> bool:
        """As of the noise itself."""
        return self.inner is None or self.inner.integer_valued

    @property
    def log_concave(self) -> bool:
        """As of the noise itself."""
        return self.inner is None or self.inner.log_concave

    def moment(self, order: float) -> float:
        """As of the noise itself."""
        return super().moment(order) if self.inner is None else self.inner.moment(order)

    def quantile(self, chance: float) -> float | None:
        """As of the noise itself."""
        return None if self.inner is None else self.inner.quantile(chance)

    def loss(self, changes: AbstractBody) -> Loss:
        """Return what is revealed; everything, where one that has no noise moves."""
        constant = np.ones(self.total, dtype=bool)
        constant[self.kept] = False
        if np.any(changes.widths()[constant] != 0):
            return Loss(math.inf)
        if self.inner is None:
            return Loss(0.0, 0.0, 0.0, 0.0)
        return self.inner.loss(changes.mapped(np.eye(self.total)[self.kept]))

    @property
    def coordinates(self) -> Coordinates | None:
        """As of the noise itself, and 0 elsewhere."""
        own = self.inner.coordinates if self.inner else Coordinates(LAPLACE, np.zeros(0))
        if own is None:
            return None
        scales = np.zeros(self.total)
        scales[self.kept] = own.scales
        return Coordinates(own.law, frozen(scales))

    def scaled(self, factor: float) -> PartialNoise:
        """Return so many times this noise."""
        return replace(self, inner=self.inner and self.inner.scaled(factor))

    def draw(self, randomness: Randomness) -> Lazy:
        """Return the noise, known by its bits so far."""
        inner = self.inner.draw(randomness) if self.inner else None
        return _Padded(inner, self.kept, self.total)

    def covariance(self) -> Vector:
        """Return the covariance, zeros included."""
        own = self.inner.covariance() if self.inner else np.zeros(0)
        if own.ndim == 1:
            found = np.zeros(self.total)
            found[self.kept] = own
            return frozen(found)
        dense = np.zeros((self.total, self.total))
        dense[np.ix_(self.kept, self.kept)] = own
        return frozen(dense)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats."""
        found = np.zeros((count, self.total))
        if self.inner:
            found[:, self.kept] = self.inner.simulate(count, randomness)
        return found
