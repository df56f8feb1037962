# SPDX-License-Identifier: Apache-2.0
"""Real numbers known by the random bits drawn so far, and their roundings, decided lazily.

For an integer vector q and a real one z, q + round(z) = round(q + z): what is published is a
function of the continuous mechanism's answer q + z, and so reveals no more than that does
(post-processing). That is the lemma every pure release rests on; nothing is lost for being
discrete. How many bits are drawn depends on the bits alone.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, final

import numpy as np
from flint import arb

from lownoise.numbers.intervals import precision

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.numbers.arrays import Integers, Vector, Words
    from lownoise.numbers.randomness import Randomness

WORD = 64
_FIRST_PRECISION = 128
UNIT = 2.0**-52  # probabilities are whole numbers of it
T = TypeVar("T")
_DROPPED = 12  # bits of a word: 52 are left, as many as a probability has


class Lazy(Protocol):
    """A real vector of which random bits so far leave a ball for each coordinate."""

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""

    def balls(self) -> list[Any]:
        """Return a ball for each coordinate, d of them, at the precision that is set."""

    def refine(self, randomness: Randomness) -> None:
        """Draw the next bits of every number that it is made of."""


@final
class UniformBits:
    """Independent uniform numbers in [0, 1), known to so many bits.

    Args:
        words: their first bits, shape (k,).
        length: how many bits of each; 64 in a word.

    Examples:
        >>> import numpy as np
        >>> half = UniformBits(np.array([2**63], dtype=np.uint64)).balls()[0]
        >>> 0.5 in half, 0.6 in half
        (True, False)
    """

    def __init__(self, words: Words | list[int], length: int = WORD) -> None:
        self._bits = words if isinstance(words, list) else words.tolist()
        self._length = length

    @property
    def dimension(self) -> int:
        """How many numbers they are."""
        return len(self._bits)

    def balls(self) -> list[Any]:
        """Return a ball for each: every value that its bits so far allow."""
        unit = arb(2) ** -(self._length + 1)
        return [arb(2 * bits + 1, 1) * unit for bits in self._bits]

    def refine(self, randomness: Randomness) -> None:
        """Draw 64 more bits of each."""
        more = randomness.words(len(self._bits)).tolist()
        self._bits = [bits << WORD | word for bits, word in zip(self._bits, more, strict=True)]
        self._length += WORD

    def kept(self, indices: Sequence[int]) -> UniformBits:
        """Return some of the numbers alone, with the bits drawn so far."""
        return UniformBits([self._bits[i] for i in indices], self._length)


@final
@dataclass(frozen=True, eq=False)
class Composed:
    """A function of independent real vectors.

    Args:
        dimension: the number d of its coordinates.
        parts: the vectors.
        formula: takes the balls of each part, and returns those of the function, d of them. Where
            a ball tells too little (the logarithm of one that holds 0), nan says so.

    Examples:
        >>> import numpy as np
        >>> half = UniformBits(np.array([2**63], dtype=np.uint64))
        >>> double = Composed(1, (half,), lambda u: [2 * u[0]])
        >>> 1 in double.balls()[0]
        True
    """

    dimension: int
    parts: tuple[Lazy, ...]
    formula: Callable[..., list[Any]]

    def balls(self) -> list[Any]:
        """Return a ball for each coordinate, d of them, at the precision that is set."""
        return self.formula(*(part.balls() for part in self.parts))

    def refine(self, randomness: Randomness) -> None:
        """Draw the next bits of every part."""
        for part in self.parts:
            part.refine(randomness)


def settled(
    ask: Callable[[], T | None],
    *reals: Lazy,
    randomness: Randomness,
    bits: int = _FIRST_PRECISION,
) -> T:
    """Return what `ask` says of real vectors once it says anything: until then draw more bits.

    Args:
        ask: called at a precision that grows with the bits; None where they leave it open.
        reals: the vectors, whose bits are drawn in this order.
        randomness: where more bits come from.
        bits: of the first precision.
    """
    while True:
        with precision(bits):
            found = ask()
        if found is not None:
            return found
        for real in reals:
            real.refine(randomness)
        bits += WORD


def above_zero(real: Lazy, *, randomness: Randomness) -> list[bool]:
    """Return whether each coordinate is above 0, drawing more bits until all are sure.

    What is decided stays true of every value that later bits can give.

    Args:
        real: the vector, shape (d,).
        randomness: where more bits come from.

    Returns:
        Answers, d of them.

    Examples:
        >>> import numpy as np
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> u = UniformBits(np.array([2**62, 2**63], dtype=np.uint64))
        >>> more = Composed(2, (u,), lambda balls: [ball - 0.4 for ball in balls])
        >>> above_zero(more, randomness=SimulationRandomness(1))
        [False, True]
    """

    def ask() -> list[bool] | None:
        balls = real.balls()
        yes = [ball > 0 for ball in balls]
        sure = all(is_above or ball < 0 for is_above, ball in zip(yes, balls, strict=True))
        return yes if sure else None

    return settled(ask, real, randomness=randomness)


def chosen(cumulative: Sequence[int], *, randomness: Randomness) -> int:
    """Return one of several choices, each with a probability exactly proportional to its weight.

    It is the k with W₁ + … + Wₖ₋₁ ≤ u·W < W₁ + … + Wₖ, W the sum of all, u uniform: known to so
    many bits that no other is left.

    Args:
        cumulative: the sums W₁, W₁ + W₂, … of weights above 0.
        randomness: where the bits come from.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> chosen([1, 2**200], randomness=SimulationRandomness(1))
        1
    """
    return _chosen(cumulative, int(randomness.words(1)[0]), randomness)


def choices(cumulative: Sequence[int], count: int, *, randomness: Randomness) -> Integers:
    """Return many independent choices as `chosen` makes them, shape (count,).

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> choices([1, 2**200], 3, randomness=SimulationRandomness(1))
        array([1, 1, 1])
    """
    words = randomness.words(count)
    total = cumulative[-1]
    ends = np.array([(own << WORD) // total for own in cumulative[:-1]], dtype=np.uint64)
    found = np.asarray(np.searchsorted(ends, words), dtype=np.int64)  # how many ends are below
    for i in np.flatnonzero(np.isin(words, ends)).tolist():  # an end is within the word's last bit
        found[i] = _chosen(cumulative, int(words[i]), randomness)
    return found


def _chosen(cumulative: Sequence[int], bits: int, randomness: Randomness) -> int:
    """Return the choice of a uniform number of which 64 bits are known, drawing more."""
    total, length = cumulative[-1], WORD
    while True:
        choice = bisect_right(cumulative, bits * total >> length)
        if (bits + 1) * total <= cumulative[choice] << length:
            return choice
        bits = bits << WORD | int(randomness.words(1)[0])
        length += WORD


def rounded(real: Lazy, *, randomness: Randomness) -> list[int]:
    """Return the integer nearest to each coordinate, drawing more bits until all are sure.

    Args:
        real: the vector, shape (d,).
        randomness: where more bits come from.

    Returns:
        Integers, d of them.

    Examples:
        >>> import numpy as np
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> randomness = SimulationRandomness(1)
        >>> rounded(UniformBits(np.array([2**62], dtype=np.uint64)), randomness=randomness)
        [0]
    """

    def ask() -> list[int] | None:
        half = arb(0.5)
        found = [(ball + half).floor().unique_fmpz() for ball in real.balls()]
        if any(integer is None for integer in found):
            return None
        return [int(integer) for integer in found]

    return settled(ask, real, randomness=randomness)


def drawn(law: Vector, *, randomness: Randomness) -> int:
    """Return r with probability law[r], exactly.

    One word decides: 52 of its bits are a uniform multiple of 2⁻⁵², and the ends of the answers'
    intervals are such multiples too, so no comparison is ever undecided. The work is the same
    whatever the word and the law are.

    Args:
        law: multiples of 2⁻⁵² that sum to one, shape (R,).
        randomness: where the word comes from.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> drawn(np.array([0.0, 1.0, 0.0]), randomness=SimulationRandomness(0))
        1
    """
    uniform = int(randomness.words(1)[0]) >> _DROPPED
    ends = np.cumsum((law / UNIT).astype(np.int64))
    return int(np.sum(ends <= uniform))


def below(bounds: int | Words, count: int, randomness: Randomness) -> Integers:
    """Return uniform integers below bounds: words beyond the last multiple are drawn anew.

    Args:
        bounds: one for all, or one each, shape (count,); from 1 to 2^63.
        count: how many.
        randomness: where the words come from.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> below(3, 100, SimulationRandomness(1)).max()
        np.int64(2)
    """
    own = np.broadcast_to(np.asarray(bounds, dtype=np.uint64), (count,))
    last, one = np.uint64(2**WORD - 1), np.uint64(1)
    most = last - (last % own + one) % own
    found = randomness.words(count)
    while True:
        beyond = np.flatnonzero(found > most)
        if not beyond.size:
            return np.asarray(found % own, dtype=np.int64)
        found = found.copy()
        found[beyond] = randomness.words(beyond.size)
