# SPDX-License-Identifier: Apache-2.0
"""Signs of a few coordinates: each device names b of r places, and a sign of each.

Of y in [−1, 1]^r the sign of a place is + with chance (1 + yᵢ)/2, and is flipped with chance f. The
places are a uniform set of b, which says nothing of y, so ε = b·ln((1−f)/f). With the scale
g = r/(b(1 − 2f)), Y_i = g·sign where i is named and 0 elsewhere (ours):

* E Y = y and E Y_i² = g²·b/r, so E|Y|² = r²/(b(1 − 2f)²), whatever y is. With f at its least
  1 − 2f = tanh(ε/2b), and the best b is the one of the greatest b·tanh²(ε/2b).
* E Y_i·Y_j = κ·yᵢyⱼ with κ = r(b − 1)/(b(r − 1)) ≤ 1, so Var(a·Y) = g²(b/r)|a|² − κ·Σ(aᵢyᵢ)² −
  (1 − κ)(a·y)², which is greatest at y = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.local_model.draws import (
    chance_up,
    coins,
    expect_chance,
    expect_integer,
    log_up,
    odds_down,
    places,
    subsets,
)
from lownoise.local_model.randomizer import FULL, RANDOMIZERS, AbstractRandomizer, LocalLoss
from lownoise.numbers.arrays import frozen, weighed
from lownoise.numbers.rounding import grown

if TYPE_CHECKING:
    from lownoise.local_model.randomizer import Takes
    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.numbers.randomness import Randomness

_MOST = 10**5
_MOST_PAIRED = 2000  # coordinates, where several are named: pairs of them are summed
_MOST_SAMPLED = 1000
_LIFT = np.uint64(37)  # leaves 27 bits: FULL is 2^26
_BLOCK = 1 << 22  # numbers at once


@RANDOMIZERS.kind("coordinates", "coordinates", "sampled", "flipped")
@final
@dataclass(frozen=True, kw_only=True)
class SampledCoordinates(AbstractRandomizer):
    """The signs of some coordinates, each by randomized response.

    A report has an integer a sign, 2i for − and 2i + 1 for + of coordinate i, rising.

    Args:
        coordinates: r in [1, 10^5].
        sampled: b in [1, r], 1 where r is above 2,000.
        flipped: f, the chance that a sign is the other one, below 1/2.

    Raises:
        FileError: where a field is out of range.

    Examples:
        >>> randomizer = SampledCoordinates.fitted(10, 4.0)
        >>> randomizer.sampled, round(randomizer.flipped, 6), randomizer.loss.epsilon <= 4
        (2, 0.119203, True)
    """

    coordinates: int
    sampled: int
    flipped: float
    takes: ClassVar[Takes] = "cube"

    def __post_init__(self) -> None:
        expect_integer("coordinates.coordinates", self.coordinates, 1, _MOST)
        expect_integer("coordinates.sampled", self.sampled, 1, _most_sampled(self.coordinates))
        expect_chance("coordinates.flipped", self.flipped)
        if self.flipped >= 0.5:  # noqa: PLR2004
            raise FileError("coordinates.flipped is not below 1/2: reports would say nothing")

    @classmethod
    def fitted(cls, dimension: int, epsilon: float, delta: float = 0.0) -> SampledCoordinates:  # noqa: ARG003
        """Return the one of the least E|Y|², over all b.

        Raises:
            PlanError: where there are too many coordinates, or ε is out of range.
        """
        if not 1 <= dimension <= _MOST:
            raise PlanError(f"{dimension} coordinates are out of range; have 1 to {_MOST}")
        odds_down(epsilon)  # refuses ε
        b = np.arange(1, _most_sampled(dimension) + 1)
        sampled = 1 + int(np.argmax(b * np.tanh(epsilon / (2 * b)) ** 2))
        flipped = chance_up(1 / (odds_down(epsilon, sampled) + 1))
        return cls(coordinates=dimension, sampled=sampled, flipped=flipped)

    @property
    def dimension(self) -> int:
        """The number r of coordinates."""
        return self.coordinates

    @cached_property
    def loss(self) -> LocalLoss:
        """What one report reveals: b times that of a sign, rounded up."""
        flipped = Fraction(self.flipped)
        return LocalLoss(log_up(((1 - flipped) / flipped) ** self.sampled))

    @cached_property
    def lowest(self) -> Integers:
        """From 0 to 2(b − 1)."""
        return 2 * np.arange(self.sampled)

    @cached_property
    def highest(self) -> Integers:
        """From 2(r − b) + 1 to 2r − 1."""
        return 2 * np.arange(self.coordinates - self.sampled, self.coordinates) + 1

    @cached_property
    def _scale(self) -> float:
        """The scale g."""
        return float(Fraction(self.coordinates, self.sampled) / (1 - 2 * Fraction(self.flipped)))

    def reports(self, encoded: Integers, *, randomness: Randomness) -> Integers:
        """Return a report of each point of the cube, shape (n, b)."""
        found = np.empty((len(encoded), self.sampled), dtype=np.int64)
        step = max(_BLOCK // self.coordinates, 1)
        for start in range(0, len(encoded), step):
            part = slice(start, start + step)
            found[part] = self._signs(encoded[part], randomness)
        return found

    def _signs(self, encoded: Integers, randomness: Randomness) -> Integers:
        count, r, b = len(encoded), self.coordinates, self.sampled
        if b == 1:
            place = places(count, r, randomness=randomness)[:, None]
        else:
            never = np.zeros(count, dtype=np.bool_)
            place = np.nonzero(subsets(b, never, r, randomness=randomness))[1].reshape(count, b)
        own = np.take_along_axis(encoded, place, axis=1)
        bits = (randomness.words(count * b) >> _LIFT).astype(np.int64).reshape(count, b)
        above = bits < FULL + own
        other = coins(self.flipped, (count, b), randomness=randomness)
        return np.asarray(2 * place + (above ^ other), dtype=np.int64)

    def allowed(self, reports: Integers) -> Chosen:
        """Return which rows name b coordinates, rising, shape (n,)."""
        within = np.all((reports >= self.lowest) & (reports <= self.highest), axis=1)
        return np.asarray(within & np.all(np.diff(reports >> 1, axis=1) > 0, axis=1))

    def sums(self, reports: Integers) -> Integers:
        """Return the sums of signs, shape (r,), and then of products of two signs.

        Those are the counts of named coordinates where b = 1, shape (r,), else a matrix, (r·r,).
        """
        r = self.coordinates
        if self.sampled == 1:
            counts = np.bincount(reports[:, 0], minlength=2 * r).reshape(r, 2)
            return np.concatenate([counts[:, 1] - counts[:, 0], counts.sum(axis=1)])
        signs, products = np.zeros(r), np.zeros((r, r))
        step = max(_BLOCK // r, 1)
        for start in range(0, len(reports), step):  # whole numbers below 2^53, exact in floats
            part = reports[start : start + step]
            rows = np.zeros((len(part), r))
            np.put_along_axis(rows, part >> 1, 2.0 * (part & 1) - 1, axis=1)
            signs += rows.sum(axis=0)
            products += rows.T @ rows
        return np.concatenate([signs, products.ravel()]).astype(np.int64)

    def mean(self, sums: Any, count: int) -> Vector:  # noqa: ANN401
        """Return the unbiased estimate of the mean point, shape (r,).

        Args:
            sums: what `sums` returned, added up.
            count: n.
        """
        own = np.asarray(sums[: self.coordinates], dtype=np.float64)
        return frozen(own / count * self._scale)

    def covariance(self, sums: Any, count: int) -> Vector:  # noqa: ANN401
        """Return the sample covariance of Y over n, shape (r, r): signs of two are multiplied."""
        r = self.coordinates
        second = np.asarray(sums[r:], dtype=np.float64) / count * self._scale**2
        mean = self.mean(sums, count)
        products = np.diag(second) if self.sampled == 1 else second.reshape(r, r)
        return frozen((products - mean[:, None] * mean) / (count - 1))

    def deviations(self, sums: Any, count: int, answers: Vector) -> Vector:  # noqa: ANN401
        """Return the standard deviations that `covariance` says, shape (m,)."""
        if self.sampled > 1:
            return super().deviations(sums, count, answers)
        # of r numbers alone: the product of two coordinates of a report is 0
        second = np.asarray(sums[self.coordinates :], dtype=np.float64) / count * self._scale**2
        found = weighed(answers**2, second) - weighed(answers, self.mean(sums, count)) ** 2
        return frozen(np.sqrt(np.maximum(found, 0.0) / (count - 1)))

    @property
    def _square(self) -> float:
        """E Y_i²."""
        return grown(self._scale**2 * self.sampled / self.coordinates)

    def variances(self, answers: Vector) -> Vector:
        """Return the variance of each answer at y = 0, shape (m,)."""
        squares = answers**2 if answers.ndim == 1 else (answers**2).sum(axis=1)
        return frozen(squares * self._square)

    def total_variance(self, answers: Vector) -> float:
        """Return the sum of the answers' variances at y = 0."""
        return float(np.sum(answers**2) * self._square)

    def influence(self, answers: Vector) -> Vector:
        """Return how far one report in place of another moves n times each answer, shape (m,)."""
        sizes = np.abs(answers)
        if answers.ndim == 2:  # noqa: PLR2004
            sizes = np.sort(sizes, axis=1)[:, -self.sampled :].sum(axis=1)
        return frozen(sizes * grown(2 * self._scale))


def _most_sampled(dimension: int) -> int:
    return min(dimension, _MOST_SAMPLED) if dimension <= _MOST_PAIRED else 1
