# SPDX-License-Identifier: Apache-2.0
"""How a vector is drawn about a unit vector: in floats with a proved error, and exactly where near.

A law about u is normal numbers G (and more), accepted or tried again: p = ⟨G, u⟩, H = G − pu, and V
is a·u + b·H. With a chance λ the report is of a law that knows nothing of u. Both are computed, and
one is taken; what is accepted depends on numbers whose law is the same about every u.

*In floats.* Normal numbers are within e = `WORST`; u₀ = 2^-53 is the unit of rounding, and L the
length of all k normal numbers. Each uᵢ is two roundings off, ⟨G, u⟩ as many more as it has terms,
in whatever order; so p, and (H, Z) as a vector, are within η = e√k + (r + 10)u₀L of the exact ones,
since projections lengthen nothing. Lengths of (γH, Z), (H, Z) and G are as near, but for (r + 6)/2
roundings. Over the length D that V is divided by, with ε = η/D + (r + 10)u₀ ≤ 2^-10, numerators are
within 3εD of theirs and denominators within 1.1εD, so every coordinate of V is within 4.5ε, and
both sides of a comparison are within 3ε; `_MARGIN` is 8. For V that is not divided, D is 1, and
s|V|u₀ is below sη. What is nearer than that is decided by the bits, in interval arithmetic.

Reports that are a random vector on a grid: what they say together, and how far off it is.

A device draws V with E V = m·u and E V Vᵀ = a·uuᵀ + b(I − uuᵀ), u a unit vector with E u = y/FULL,
and reports the integers ⌊sV + U⌋, U uniform in [0, 1)^r: their mean is sV, whatever V, and each
differs from it by a variance of at most 1/4, independent of the others. So report/(s·m) is an
unbiased estimate of y/FULL, with

    Var⟨x, estimate⟩ ≤ (a⟨x, u⟩² + b(|x|² − ⟨x, u⟩²))/m² + |x|²/(4s²m²) − ⟨x, y/FULL⟩².
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lownoise.errors import FileError
from lownoise.local_model.grid import covariance_of, mean_of, moment_sums
from lownoise.local_model.normal_rows import NormalRows, lifted
from lownoise.local_model.randomizer import AbstractRandomizer
from lownoise.numbers.arrays import frozen
from lownoise.numbers.normals import WORST
from lownoise.numbers.rounding import grown

if TYPE_CHECKING:
    from lownoise.local_model.randomizer import Takes
    from lownoise.numbers.arrays import Chosen, Integers, Vector, Words
    from lownoise.numbers.randomness import Randomness


class AbstractVectorRandomizer(AbstractRandomizer):
    """Reports ⌊sV + U⌋ of a vector V no longer than a whole number."""

    takes: ClassVar[Takes] = "ball"
    scale: int  # s

    @property
    @abstractmethod
    def longest(self) -> int:
        """At least the length of V."""

    @property
    @abstractmethod
    def moments(self) -> tuple[float, float, float]:
        """The numbers m, a and b of V's mean and second moments."""

    @property
    def lowest(self) -> Integers:
        """The least value of each integer of a report, shape (r,)."""
        return np.full(self.dimension, -self.scale * self.longest, dtype=np.int64)

    @property
    def highest(self) -> Integers:
        """The greatest value of each integer of a report, shape (r,)."""
        return np.full(self.dimension, self.scale * self.longest, dtype=np.int64)

    @property
    def _longest_square(self) -> int:
        """The square of a report's length at most: |⌊sV + U⌋ − sV| < √r, so it is (sL + √r)²."""
        inside, r = self.scale * self.longest, self.dimension
        return inside**2 + r + math.isqrt(4 * inside**2 * r)

    def allowed(self, reports: Integers) -> Any:  # noqa: ANN401
        """Return which rows can be reports: within the ranges, and no longer than honest ones."""
        inside = super().allowed(reports)
        squares = np.sum(np.where(inside[:, None], reports, 0) ** 2, axis=1)
        return inside & (squares <= self._longest_square)

    def sums(self, reports: Integers) -> Any:  # noqa: ANN401
        """Return the sums of reports and of their products, shape (r + r(r + 1)/2,).

        Exact: 64-bit integers, or Python's where there are too many reports for those.
        """
        return moment_sums(reports, self.scale * self.longest)

    def mean(self, sums: Any, count: int) -> Vector:  # noqa: ANN401
        """Return the estimate of the mean of points in the unit ball, shape (r,)."""
        return mean_of(sums, self.dimension, count, self.scale * self.moments[0])

    def covariance(self, sums: Any, count: int) -> Vector:  # noqa: ANN401
        """Return the sample covariance of estimates over n, shape (r, r), of n ≥ 2 reports."""
        return covariance_of(sums, self.dimension, count, self.scale * self.moments[0])

    def variances(self, answers: Vector) -> Vector:
        """Return the greatest variance of each answer, of one report, rounded up; shape (m,).

        It is that of records near the center, whose direction is the answer's.
        """
        m, a, b = self.moments
        squares = answers**2 if answers.ndim == 1 else np.sum(answers**2, axis=1)
        return frozen(squares * grown((max(a, b) + self._rounding) / m**2))

    def total_variance(self, answers: Vector) -> float:
        """Return at least the greatest sum of all answers' variances."""
        m, a, b = self.moments
        squares = answers**2 if answers.ndim == 1 else np.sum(answers**2, axis=0)
        if a <= b:
            longest = 0.0
        elif answers.ndim == 1:
            longest = float(np.max(squares))
        else:
            longest = float(np.linalg.norm(answers, 2)) ** 2
        total = (b + self._rounding) * float(np.sum(squares)) + max(a - b, 0.0) * longest
        return grown(total / m**2)

    @property
    def _rounding(self) -> float:
        """The variance that rounding adds to a coordinate of V, at most."""
        return 0.25 / self.scale**2

    def influence(self, answers: Vector) -> Vector:
        """Return at least how far one report for another moves n times each answer, shape (m,).

        Both are at most as long as an honest one, and within the ranges.
        """
        size = np.abs(answers)
        length = size if size.ndim == 1 else np.sqrt(np.sum(size**2, axis=1))
        along = size if size.ndim == 1 else np.sum(size, axis=1)
        inside = self.scale * self.longest
        furthest = np.minimum(length * math.sqrt(self._longest_square + 1), along * inside)
        return frozen(grown(2 * furthest / (self.scale * self.moments[0])))


_BLOCK = 1 << 15  # normal numbers at once, so that they stay in the cache
UNIT = 2.0**-53
_MARGIN = 8.0
_LARGEST = 2.0**-10  # of ε, below which its square is nothing
_GRAIN = 2**52  # λ is a multiple of 1/_GRAIN
_DROPPED = 12  # bits of a word: 52 are left
_HALF = np.uint64(11)  # 53 bits are a float
_MOST_SCALE, MOST_DIMENSIONS = 2**20, 10**5


class AbstractBallRandomizer(AbstractVectorRandomizer):
    """V is accepted normal numbers about u, or knows nothing of u."""

    coordinates: int  # r
    uniform: float  # λ
    shares: ClassVar[bool]  # whether V of both laws may be made of the same numbers

    @property
    def dimension(self) -> int:
        """The number r of coordinates."""
        return self.coordinates

    @property
    @abstractmethod
    def width(self) -> int:
        """The number k of normal numbers of a trial."""

    @abstractmethod
    def margins(self, about: Vector, values: Vector, coins: Vector) -> tuple[Vector, Vector]:
        """Return what is above 0 where a trial is accepted, and ε of it; shapes (n,).

        Args:
            about: u, shape (n, r).
            values: normal numbers, shape (n, k).
            coins: uniform numbers, shape (n,).
        """

    @abstractmethod
    def exact_margin(self, about: list[Any], values: list[Any], coin: list[Any]) -> list[Any]:
        """Return a ball of what `margins` is, up to a positive factor."""

    @abstractmethod
    def tilted(self, about: Vector, values: Vector) -> tuple[Vector, Vector]:
        """Return V of the law about u, shape (n, r), and ε of it, shape (n,)."""

    @abstractmethod
    def exact_tilted(self, about: list[Any], values: list[Any]) -> list[Any]:
        """Return balls of the same."""

    @abstractmethod
    def plain(self, values: Vector) -> tuple[Vector, Vector]:
        """Return V of the law that knows nothing, shape (n, r), and ε of it, shape (n,)."""

    @abstractmethod
    def exact_plain(self, values: list[Any]) -> list[Any]:
        """Return balls of the same."""

    def reports(self, encoded: Integers, *, randomness: Randomness) -> Integers:
        """Return a report of each point y/FULL of the unit ball, shape (n, r).

        Raises:
            TableError: where a row is no point of the ball.
        """
        found = np.empty(encoded.shape, dtype=np.int64)
        step = max(_BLOCK // self.width, 1)
        for start in range(0, len(encoded), step):
            block = slice(start, start + step)
            found[block] = self._block(encoded[block], randomness)
        return found

    def _block(self, encoded: Integers, randomness: Randomness) -> Integers:
        n, r = encoded.shape
        vectors = lifted(encoded, randomness=randomness)
        about = vectors / np.sqrt(np.sum(vectors.astype(np.float64) ** 2, axis=1, keepdims=True))
        blind = randomness.words(n) >> np.uint64(_DROPPED) < np.uint64(self.uniform * _GRAIN)
        rows = self._accepted(vectors, about, randomness)
        others = rows if self.shares else NormalRows.drawn(n, r, randomness=randomness)
        words = randomness.words(n * r).reshape(n, r)
        # both are computed, and one is taken
        with np.errstate(divide="ignore", invalid="ignore"):
            tilted, tilted_off = self.tilted(about, rows.values)
            plain, plain_off = self.plain(others.values[:, :r])
        own = np.where(blind[:, None], plain, tilted)
        doubt = _doubt(np.maximum(tilted_off, plain_off)) * self.scale
        places = self.scale * own + _floats(words)
        below = np.floor(places)
        sure = (places - below > doubt[:, None]) & (below + 1 - places > doubt[:, None])
        found = np.where(sure, below, 0.0).astype(np.int64)
        for row in np.flatnonzero(~np.all(sure, axis=1)).tolist():
            columns = np.flatnonzero(~sure[row])
            found[row, columns] = self._decided(
                vectors[row].tolist(), rows, others, words[row, columns], row,
                columns.tolist(), int(blind[row]), randomness,
            )  # fmt: skip
        return found

    def _accepted(self, vectors: Integers, about: Vector, randomness: Randomness) -> NormalRows:
        """Return normal numbers of accepted trials, shape (n, k): trials are made until all are."""
        pending = np.arange(len(about))
        kept: NormalRows | None = None
        while pending.size:
            trial = NormalRows.drawn(pending.size, self.width, randomness=randomness)
            words = randomness.words(pending.size)
            with np.errstate(divide="ignore", invalid="ignore"):
                margin, off = self.margins(about[pending], trial.values, _floats(words))
            doubt = _doubt(off)
            accepted: Chosen = margin > doubt
            for at in np.flatnonzero(~(np.abs(margin) > doubt)).tolist():
                accepted[at] = self._is_accepted(
                    vectors[pending[at]].tolist(), trial, at, words[at : at + 1], randomness
                )
            if kept is None:
                kept = trial
            else:
                kept.replace(pending[accepted], trial, accepted)
            pending = pending[~accepted]
        return kept if kept is not None else NormalRows.drawn(0, self.width, randomness=randomness)

    def _is_accepted(
        self, vector: list[int], trial: NormalRows, row: int, word: Words, randomness: Randomness
    ) -> bool:
        """Return whether one trial is accepted, drawing the bits that that takes."""
        from lownoise.samplers.lazy import Composed, UniformBits, above_zero

        def margin(values: list[Any], coin: list[Any]) -> list[Any]:
            return self.exact_margin(_unit(vector), values, coin)

        return above_zero(
            Composed(1, (trial.exact(row), UniformBits(word)), margin), randomness=randomness
        )[0]

    def _decided(
        self, vector: list[int], rows: NormalRows, others: NormalRows, words: Words, row: int,
        columns: list[int], blind: int, randomness: Randomness,
    ) -> list[int]:  # fmt: skip
        """Return some integers of one report, drawing the bits that that takes."""
        from flint import arb

        from lownoise.samplers.lazy import Composed, UniformBits, rounded

        half = arb(0.5)

        def places(own: list[Any], its: list[Any], bits: list[Any]) -> list[Any]:
            both = self.exact_tilted(_unit(vector), own), self.exact_plain(its[: len(vector)])
            taken = both[blind]
            return [
                self.scale * taken[column] + bit - half
                for column, bit in zip(columns, bits, strict=True)
            ]

        reals = (rows.exact(row), others.exact(row), UniformBits(words))
        return rounded(Composed(len(columns), reals, places), randomness=randomness)


def _unit(vector: list[int]) -> list[Any]:
    """Return balls of the direction of a vector of integers."""
    from flint import arb

    length = arb(sum(own * own for own in vector)).sqrt()
    return [own / length for own in vector]


def _floats(words: Words) -> Vector:
    """Return uniform numbers to 2^-53 below."""
    found: Vector = (words >> _HALF).astype(np.float64) * UNIT
    return found


def _doubt(off: Vector) -> Vector:
    """Return at least how far a number is off, infinite where ε is too large to say."""
    found: Vector = np.where(off <= _LARGEST, _MARGIN * off, np.inf)
    return found


def along_and_across(about: list[Any], values: list[Any]) -> tuple[Any, list[Any], Any]:
    """Return balls of p = ⟨G, u⟩, H = G − pu and |H|²."""
    along = sum(u * g for u, g in zip(about, values, strict=True))
    across = [g - along * u for u, g in zip(about, values, strict=True)]
    return along, across, sum(own * own for own in across)


def checked(randomizer: AbstractBallRandomizer, name: str) -> None:
    """Refuse numbers that no randomizer has: a file can hold anything."""
    r, scale, grains = randomizer.dimension, randomizer.scale, randomizer.uniform * _GRAIN
    if not 1 <= r <= MOST_DIMENSIONS:
        raise FileError(f"{name}.dimension={r} is not in [1, {MOST_DIMENSIONS}]; plan again")
    if not 1 <= scale * randomizer.longest <= _MOST_SCALE:
        raise FileError(f"{name}.scale={scale} is not in range; plan again")
    if not 0 < grains < _GRAIN or grains != int(grains):
        raise FileError(
            f"{name}.uniform={randomizer.uniform} is no multiple of 2^-52 in (0, 1); plan again"
        )


def vector_error(squares: Vector, width: int, dimension: int) -> Vector:
    """Return η = e√k + (r + 10)u₀L."""
    found: Vector = WORST * math.sqrt(width) + (dimension + 10) * UNIT * np.sqrt(squares)
    return found
