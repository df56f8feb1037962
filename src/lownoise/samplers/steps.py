# SPDX-License-Identifier: Apache-2.0
"""Radii γ, γ + 1, γ + 2, … with chances ∝ (γ + k)^d·e^{−εk}: those of a staircase.

Noise r·u, u uniform in the unit ball B of a norm in d dimensions, has the density
Σ_{k: γ + k ≥ ‖z‖} e^{−εk}·(a constant) for such an r, which is e^{−εk} times another constant on
the shell γ + k − 1 < ‖z‖ ≤ γ + k: it falls by e^ε wherever ‖z‖ grows by 1.

The chances are real numbers. Which radius a uniform number u chooses is decided in balls, and more
bits of u are drawn where they leave it open: the law is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.intervals import precision
from lownoise.samplers.lazy import WORD, UniformBits, settled

if TYPE_CHECKING:
    from fractions import Fraction

    from lownoise.numbers.arrays import Integers, Vector, Words
    from lownoise.numbers.randomness import Randomness

BITS = 128  # of the first table: its chances are known to far more than a word's bits
LEAST_EPSILON, MOST_EPSILON = 2.0**-7, 32.0  # below, steps are thousands; beyond, grids are coarse


@final
@dataclass(frozen=True)
class StepRadius:
    """Numbers γ + k, k = 0, 1, 2, …, with chances in proportion to (γ + k)^d·e^{−εk}, exactly.

    Args:
        dimension: d, at least 1.
        epsilon: ε, from 2^−7 to 32; exactly the number that is given.
        first: γ, in (0, 1]; exactly that, too.

    Raises:
        PlanError: where they are not so.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> steps = StepRadius(1, 4.0, 0.25)
        >>> steps.many(6, SimulationRandomness(1)).max() < 5
        np.True_
        >>> round(steps.mean(2.0), 4)  # E r²; of Gamma(2, 1)/4 it is 0.375
        0.2026
    """

    dimension: int
    epsilon: float | Fraction
    first: float | Fraction

    def __post_init__(self) -> None:
        if not (LEAST_EPSILON <= self.epsilon <= MOST_EPSILON):
            raise PlanError(
                f"steps of epsilon={float(self.epsilon):g} are not from {LEAST_EPSILON:g} to "
                f"{MOST_EPSILON:g}; take another mechanism",
            )
        if self.dimension < 1 or not 0 < self.first <= 1:
            raise PlanError("the first step of a staircase is not above 0 and at most 1")

    @cached_property
    def _tables(self) -> dict[int, tuple[list[Any], Any]]:
        return {}

    @property
    def start(self) -> Any:  # noqa: ANN401 (flint)
        """A ball about γ, at the precision that is set."""
        return _ball(self.first)

    def weights(self, bits: int) -> tuple[list[Any], Any]:
        """Return balls of the first weights, and at least what all others are together.

        These are less than 2^−bits of the first ones: (1 + 1/r)^d·e^{−ε}, what a weight is times
        the one before, falls.

        Args:
            bits: of precision.
        """
        from flint import arb

        with precision(bits):
            start, fall = self.start, (-_ball(self.epsilon)).exp()
            found, total, factor, k = [], arb(0), arb(1), 0
            little = arb(2) ** -bits
            while True:
                radius = start + k
                own = radius**self.dimension * factor
                found.append(own)
                total += own
                ratio = (1 + 1 / radius) ** self.dimension * fall
                if ratio < 1:
                    rest = own * ratio / (1 - ratio)
                    if rest < total * little:
                        return found, arb(rest.upper())
                factor, k = factor * fall, k + 1

    def _sums(self, bits: int) -> tuple[list[Any], Any]:
        """Return balls of the sums of the first weights, and of all."""
        from flint import arb

        if bits not in self._tables:
            weights, rest = self.weights(bits)
            with precision(bits):
                sums, total = [], arb(0)
                for own in weights:
                    total += own
                    sums.append(total)
                self._tables[bits] = sums, total.union(total + rest)
        return self._tables[bits]

    def _chosen(self, word: int, randomness: Randomness) -> int:
        """Return k for a uniform number of which 64 bits are known, drawing more."""
        from flint import ctx

        uniform = UniformBits([word])

        def ask() -> int | None:
            sums, total = self._sums(ctx.prec)
            level = uniform.balls()[0] * total
            low, high = 0, len(sums)
            while low < high:
                middle = (low + high) // 2
                if level < sums[middle]:
                    high = middle
                elif level > sums[middle]:
                    low = middle + 1
                else:
                    return None
            return low if low < len(sums) else None

        return settled(ask, uniform, randomness=randomness, bits=BITS)

    def draw(self, randomness: Randomness) -> int:
        """Return k of one radius."""
        return self._chosen(int(randomness.words(1)[0]), randomness)

    @cached_property
    def _ends(self) -> tuple[Words, Words]:
        """Return the words where radii end, and those that do not tell."""
        from flint import arb

        sums, total = self._sums(BITS)
        ends: list[int] = []
        open_words: set[int] = set()
        with precision(BITS):
            for own in sums:
                level = own / total * arb(2) ** WORD
                low, high = (
                    int(end.floor().unique_fmpz()) for end in (level.lower(), level.upper())
                )
                ends.append(min(low, 2**WORD - 1))
                open_words.update(range(low, high + 1))
        known = sorted(own for own in open_words if own < 2**WORD)
        return np.array(ends, dtype=np.uint64), np.array(known, dtype=np.uint64)

    def many(self, count: int, randomness: Randomness) -> Integers:
        """Return k of so many radii, shape (count,)."""
        ends, open_words = self._ends
        words = randomness.words(count)
        found = np.asarray(np.searchsorted(ends, words), dtype=np.int64)  # how many are below
        for i in np.flatnonzero(np.isin(words, open_words)).tolist():
            found[i] = self._chosen(int(words[i]), randomness)
        return found

    def law(self, order: float = 0.0) -> tuple[Vector, Vector]:
        """Return radii and their chances in floats, for predictions; shapes (n,) and (n,).

        Args:
            order: q, of the highest moment that they are asked for: E r^q is there to all digits.
        """
        power = self.dimension + order
        epsilon = float(self.epsilon)
        count = math.ceil((power + 12 * math.sqrt(power) + 60) / epsilon) + 8
        radii: Vector = np.asarray(float(self.first) + np.arange(count))
        logs = self.dimension * np.log(radii) - epsilon * np.arange(count)
        chances = np.exp(logs - np.max(logs))
        return frozen(radii), frozen(chances / np.sum(chances))

    def mean(self, order: float) -> float:
        """Return E r^q, a float for predictions.

        Args:
            order: q, at least 0.
        """
        radii, chances = self.law(order)
        return float(chances @ radii**order)

    @cached_property
    def _levels(self) -> Vector:
        return frozen(np.cumsum(self.law()[1]))

    def simulate(self, uniform: Vector) -> Vector:
        """Return radii in floats for uniform numbers, for predictions and tests alone."""
        levels = self._levels
        found = np.searchsorted(levels, uniform * levels[-1])
        return np.asarray(float(self.first) + np.minimum(found, levels.size - 1))


def _ball(number: float | Fraction) -> Any:  # noqa: ANN401 (flint)
    """Return a ball about a number, at the precision that is set."""
    from flint import arb, fmpq

    return arb(fmpq(*number.as_integer_ratio()))
