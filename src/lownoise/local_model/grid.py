# SPDX-License-Identifier: Apache-2.0
"""Reports that are the encoded point plus noise, on a grid.

A report is ⌊(y + z)/step + U⌋: y the encoded point, z noise with a density, U uniform on [0, 1) for
each integer, so that E⌊x + U⌋ = x. It is a function of the real vector y + z and of U, and so
reveals no more than y + z does. Integers beyond `highest` are clipped, which is one more function.

All noise is made of standard normal numbers, each known by the bits drawn so far. A float
evaluation with a proved error decides nearly every ⌊·⌋; where an integer is within the error, more
bits are drawn and ball arithmetic decides. What is open depends on the noise and on the fraction of
x + U alone, which is uniform whatever y is.

Sums of reports and of products of two of their integers, exact; mean and sample covariance.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import FileError, quoted
from lownoise.local_model.randomizer import FULL, AbstractRandomizer
from lownoise.numbers.arrays import frozen
from lownoise.numbers.normals import Tail, normals, settle
from lownoise.numbers.rounding import grown

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector, Words
    from lownoise.numbers.randomness import Randomness

_EXACT = 2**53  # whole numbers below it are floats
_WIDE = 2**62


def moment_sums(reports: Integers, greatest: int) -> Any:  # noqa: ANN401
    """Return the sums of reports and of their products, shape (r + r(r + 1)/2,).

    Exact: 64-bit integers, or Python's where there are too many reports for those.

    Args:
        reports: shape (n, r).
        greatest: no integer of them is beyond it, of either sign.

    Examples:
        >>> moment_sums(np.array([[1, 2], [3, 4]]), 4)
        array([ 4,  6, 10, 14, 20])
    """
    r, most = reports.shape[1], greatest**2
    upper = np.triu_indices(r)
    total: Any = np.zeros(r + len(upper[0]), dtype=np.int64)
    if most > _EXACT:  # of no fitted grid, but of what a file may hold
        own = reports.astype(object)
        return total + np.concatenate([own.sum(axis=0), (own.T @ own)[upper]])
    if len(reports) * most >= _WIDE:
        total = total.astype(object)
    step = max(_EXACT // most, 1)  # sums of so many products are exact in floats
    for start in range(0, len(reports), step):
        rows = reports[start : start + step].astype(np.float64)
        products = (rows.T @ rows)[upper]
        total = total + np.concatenate([rows.sum(axis=0), products]).astype(np.int64)
    return total


def mean_of(sums: Any, dimension: int, count: int, unit: float) -> Vector:  # noqa: ANN401
    """Return the mean of reports, in units of so many of their integers; shape (r,)."""
    return frozen(np.array([int(own) / count / unit for own in sums[:dimension]]))


def covariance_of(sums: Any, dimension: int, count: int, unit: float) -> Vector:  # noqa: ANN401
    """Return the sample covariance of reports over n, of n ≥ 2 reports; shape (r, r).

    Args:
        sums: what `moment_sums` returned, added up.
        dimension: r.
        count: n.
        unit: as of `mean_of`.
    """
    exact = np.array([int(own) for own in sums], dtype=object)
    upper = np.triu_indices(dimension)
    first = exact[:dimension]
    apart = count * exact[dimension:] - first[upper[0]] * first[upper[1]]  # no number is lost here
    found = np.zeros((dimension, dimension))
    found[upper] = [float(own) / (unit**2 * count**2 * (count - 1)) for own in apart]
    return frozen(np.triu(found) + np.triu(found, 1).T)


UNIT = 2.0**-53
SLACK = 1 + 2.0**-16  # products of small errors, and the rounding of errors themselves
_BLOCK = 1 << 15  # normal numbers at once, so that they stay in the cache
_LARGEST = 2.0**50  # steps, where a double still resolves a fraction
_MOST = 1 << 20  # coordinates


class AbstractAdditive(AbstractRandomizer):
    """Noise added to the encoded point, on a grid."""

    coordinates: int
    step: float

    @property
    def dimension(self) -> int:
        """The number r of coordinates."""
        return self.coordinates

    def __post_init__(self) -> None:
        power = math.frexp(self.step)[0] if isinstance(self.step, float) else 0.0
        if power != 0.5 or not 1 <= self.dimension <= _MOST:  # noqa: PLR2004
            raise FileError(
                f"randomizer.step={quoted(self.step)} or dimension={quoted(self.dimension)} is out "
                "of range; plan again"
            )
        if not (2.0**-300 < self._size < 2.0**300 and self.step < 2.0**300) or not (
            self._range < _LARGEST
        ):
            raise FileError(f"randomizer.step={self.step} does not fit its noise; plan again")

    @property
    @abstractmethod
    def _size(self) -> float:
        """What noise of size 1 is multiplied by."""

    @property
    @abstractmethod
    def _variance(self) -> float:
        """The variance of each coordinate of noise of size 1."""

    @property
    @abstractmethod
    def _far(self) -> float:
        """How far a coordinate of noise of size 1 goes; what is beyond is clipped."""

    @property
    @abstractmethod
    def _sources(self) -> int:
        """How many normal numbers the noise of one report is made of."""

    @abstractmethod
    def _noise(self, z: Vector, error: Vector) -> tuple[Vector, Vector]:
        """Return noise of size 1 and how far it may be off, shapes (n, r).

        Args:
            z: normal numbers, shape (n, sources).
            error: how far they may be off.
        """

    @abstractmethod
    def _used(self, column: int) -> list[int]:
        """Return which normal numbers a coordinate of noise is made of."""

    @abstractmethod
    def _exact(self, balls: list[Any], column: int) -> Any:  # noqa: ANN401 (flint has no types)
        """Return the ball of a coordinate of noise of size 1, of the balls of `_used`."""

    @property
    def _range(self) -> float:
        """The greatest absolute value of an integer."""
        return float(np.ceil((1 + self._far * self._size) / self.step)) + 1

    @property
    def lowest(self) -> Integers:
        """The least value of each integer, shape (r,)."""
        return np.full(self.dimension, -int(self._range))

    @property
    def highest(self) -> Integers:
        """The greatest, shape (r,)."""
        return np.full(self.dimension, int(self._range))

    def _allowed(self, encoded: Integers) -> Integers:
        """Return the points that noise is made for; any other counts as 0."""
        # not by the absolute value, which −2⁶³ has not
        within = np.all((encoded >= -FULL) & (encoded <= FULL), axis=1, keepdims=True)
        return np.where(within, encoded, 0)

    def reports(self, encoded: Integers, *, randomness: Randomness) -> Integers:
        """Return ⌊(y + z)/step + U⌋ of each point, shape (n, r).

        Args:
            encoded: points in units of 1/FULL, shape (n, r).
            randomness: where the bits come from.
        """
        points = self._allowed(encoded)
        found = np.empty(points.shape, np.int64)
        rows = max(_BLOCK // self._sources, 1)
        for start in range(0, len(points), rows):
            block = slice(start, start + rows)
            found[block] = self._some(points[block], randomness)
        return np.clip(found, self.lowest, self.highest)

    def _some(self, points: Integers, randomness: Randomness) -> Integers:
        """Return so few reports, not clipped."""
        count = len(points)
        words = randomness.words(count * self._sources)
        uniform = randomness.words(points.size).reshape(points.shape)
        z, error = normals(words)
        settle(words, z, error)
        shape = (count, self._sources)
        noise, off = self._noise(z.reshape(shape), error.reshape(shape))
        factor = self._size / self.step  # exact: the step is a power of two
        scaled = factor * noise
        value = points * (1 / (self.step * FULL)) + scaled  # the first product is exact
        value += (uniform >> np.uint64(11)) * UNIT
        # three roundings of at most what |y| ≤ 1 allows, the bits of U below 2^-53, and one
        # subtraction below; of the noise, its own error and a product
        doubt = factor * off + UNIT * (4 * np.abs(scaled) + 3 / self.step + 8)
        below = np.floor(value)
        part = value - below
        with np.errstate(invalid="ignore"):  # what is no number is open, too
            decided = (part > doubt * SLACK) & (1 - part > doubt * SLACK)
            decided &= np.abs(value) < _LARGEST
        found = np.where(decided, below, 0.0).astype(np.int64)
        if not decided.all():
            places = np.argwhere(~decided).tolist()
            held = words.reshape(shape)
            found[~decided] = self._decide(places, held, uniform, points, randomness)
        return found

    def _decide(
        self,
        places: list[list[int]],
        words: Words,
        uniform: Words,
        points: Integers,
        randomness: Randomness,
    ) -> list[int]:
        """Return the integers of some places, drawing more bits until each is sure."""
        from flint import arb

        from lownoise.numbers.intervals import precision

        tails: dict[tuple[int, int], Tail] = {}
        found = []
        for row, column in places:
            used = [
                tails.setdefault((row, j), Tail(int(words[row, j]))) for j in self._used(column)
            ]
            last, length = int(uniform[row, column]), 64  # U is in [last, last + 1]·2^-length
            bits = 192
            while True:
                with precision(bits):
                    noise = self._exact([tail.ball() for tail in used], column)
                    point = arb(int(points[row, column])) / FULL
                    rest = arb(2 * last + 1, 1) * arb(2) ** -(length + 1)
                    value = (point + arb(self._size) * noise) / arb(self.step) + rest
                    integer = value.floor().unique_fmpz()
                if integer is not None:
                    break
                bits += 64
                for tail in used:
                    tail.refine(randomness)
                last, length = last << 64 | int(randomness.words(1)[0]), length + 64
            found.append(int(integer))
        return found

    def sums(self, reports: Integers) -> Any:  # noqa: ANN401
        """Return the sums of reports and of their products, shape (r + r(r + 1)/2,)."""
        return moment_sums(reports, int(self._range))

    def mean(self, sums: Any, count: int) -> Vector:  # noqa: ANN401
        """Return the mean of reports, shape (r,)."""
        return mean_of(sums, self.dimension, count, 1 / self.step)

    def covariance(self, sums: Any, count: int) -> Vector:  # noqa: ANN401
        """Return the sample covariance of reports over n, shape (r, r)."""
        return covariance_of(sums, self.dimension, count, 1 / self.step)

    @property
    def _each(self) -> float:
        """At least the variance of each coordinate of a report; two are uncorrelated."""
        return grown(self._variance * self._size**2 + self.step**2 / 4)

    def variances(self, answers: Vector) -> Vector:
        """Return the variance of each answer of one report, whatever the record; shape (m,)."""
        squares = answers**2 if answers.ndim == 1 else np.sum(answers**2, axis=1)
        return frozen(self._each * squares)

    def total_variance(self, answers: Vector) -> float:
        """Return the sum of all answers' variances."""
        return grown(self._each * float(np.sum(answers**2)))

    def influence(self, answers: Vector) -> Vector:
        """Return how far n times each answer is moved from the least integers to the greatest."""
        sizes = np.abs(answers) if answers.ndim == 1 else np.sum(np.abs(answers), axis=1)
        return frozen(grown(2 * self._range * self.step * sizes))


def in_ball(encoded: Integers) -> Integers:
    """Return the points of the ball as they are, and 0 for any other."""
    near = np.clip(encoded, -2 * FULL, 2 * FULL).astype(np.float64)
    # squares are integers, and sums of them exact to 2^53: beyond FULL² no rounding goes below
    within = np.sum(near**2, axis=1, keepdims=True) <= float(FULL) ** 2
    return np.where(within, encoded, 0)
