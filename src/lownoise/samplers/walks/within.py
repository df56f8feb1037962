# SPDX-License-Identifier: Apache-2.0
"""Exactly uniform points of a convex body, by trying points of a ball around it.

Of a standard normal vector of d + 2 numbers the first d, over the length of all, are uniform in the
unit ball (Archimedes). Tries are made many at a time in floats with a proved error; those that the
membership leaves open for it are decided by their bits, and of the first one inside more bits are
drawn when they are asked for. How many tries it takes depends on the bits alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, matrix
from lownoise.numbers.normals import NormalVector, normals
from lownoise.numbers.rounding import ROUGH, grown
from lownoise.samplers.lazy import Composed
from lownoise.samplers.walks.body import AbstractRound

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy
    from lownoise.samplers.walks.body import RoundBody

_TOGETHER = (1 << 8, 1 << 13)  # tries at first, and then
_ERROR = 2.0**-47  # of a normal number; where floats are farther off they say nothing
_SHORT = 0.5  # a length below which nothing is divided by
_BITS = 192
_TRY = 1.7  # microseconds
_LEAST_SHARE = 1e-300


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Within(AbstractRound):
    """Uniform points of F·K, by trying those of the ball of radius `outer` around K.

    Args:
        body: K and F, with an exact membership.
        moment: E u·uᵀ, shape (d, d), or an estimate.
        share: about how much of the ball F·K is, as far as it is known.

    Raises:
        PlanError: where the membership is weak, or the moment has another shape.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> from lownoise.samplers.walks import Preimage, RoundBody
        >>> square = RoundBody(membership=Preimage(np.eye(2)), factor=np.eye(2), inner=1, outer=1.5)
        >>> point = Within(body=square, moment=np.eye(2) / 3).draw(SimulationRandomness(1)).balls()
        >>> all(abs(x) < 1 for x in point)
        True
    """

    body: RoundBody
    moment: ArrayLike = field(repr=False)
    share: float = 1.0

    def __post_init__(self) -> None:
        """Check the membership and the moment."""
        if not self.body.membership.exact:
            raise PlanError("points are tried with an exact membership alone; give one")
        found = matrix(self.moment, field="Within.moment", error=PlanError)
        if found.shape != (self.dimension, self.dimension):
            raise PlanError(f"Within.moment has shape {found.shape}; give a row a coordinate")
        object.__setattr__(self, "moment", frozen(found))

    @property
    def work(self) -> float:
        """Microseconds a point."""
        return _TRY / max(self.share, _LEAST_SHARE)

    def second_moment(self) -> Vector:
        """Return what was given, shape (d, d)."""
        return np.asarray(self.moment).copy()

    @cached_property
    def _doubt(self) -> float:
        """How far norms can be off: |δx| ≤ (|δz| + |x|·|δz|₂)/|z|, and a few roundings of x."""
        d = self.dimension
        error = self.body.outer * ((1 + math.sqrt(d + 2)) * _ERROR / _SHORT + d * 2.0**-50)
        return self.body.doubt(grown(self.body.outer, ROUGH), grown(error, ROUGH))

    def _tried(self, count: int, randomness: Randomness) -> tuple[Any, Vector, Any]:
        """Return the words, points of the ball in floats, and which of these say nothing."""
        words = randomness.words(count * (self.dimension + 2))
        z, errors = normals(words)
        z, errors = z.reshape(count, -1), errors.reshape(count, -1)
        length = np.sqrt(np.einsum("ij,ij->i", z, z))
        lost = (length < 2 * _SHORT) | (np.max(errors, axis=1) > _ERROR)
        points = z[:, : self.dimension] * (self.body.outer / np.where(lost, 1.0, length))[:, None]
        points[lost] = 0.0
        return words.reshape(count, -1), points, lost

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        count = _TOGETHER[0]
        while True:
            words, points, lost = self._tried(count, randomness)
            sides = self.body.decide(points, self._doubt)
            sides[lost] = 0
            for i in np.flatnonzero(sides >= 0).tolist():
                own = Composed(self.dimension, (NormalVector(words[i].copy()),), self._placed)
                if sides[i] or self.body.settles(own, randomness, _BITS):
                    return self.body.mapped(own)
            count = min(2 * count, _TOGETHER[1])

    def _placed(self, balls: list[Any]) -> list[Any]:
        """Return the point of the ball."""
        shrink = arb(self.body.outer) * sum((z * z for z in balls), arb(0)).rsqrt()
        return [z * shrink for z in balls[: self.dimension]]

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, d)."""
        found: list[Vector] = []
        number = 0
        while number < count:
            _, points, lost = self._tried(_TOGETHER[1], randomness)
            kept = points[~lost & (self.body.norms(points) <= 1)]
            found.append(kept)
            number += len(kept)
        return np.asarray(np.concatenate(found)[:count] @ self.body.matrix.T)
