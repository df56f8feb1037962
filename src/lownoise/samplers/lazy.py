# SPDX-License-Identifier: Apache-2.0
"""Real numbers known by the random bits drawn so far, and their roundings, decided lazily.

For an integer vector q and a real one z, q + round(z) = round(q + z): what is published is a
function of the continuous mechanism's answer q + z, and so reveals no more than that does
(post-processing). That is the lemma every pure release rests on; nothing is lost for being
discrete. How many bits are drawn depends on the bits alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, final

from flint import arb

from lownoise.balls import precision

if TYPE_CHECKING:
    from lownoise.arrays import Words
    from lownoise.entropy import Entropy

WORD = 64
_FIRST_PRECISION = 128


class Lazy(Protocol):
    """A real vector of which random bits so far leave a ball for each coordinate."""

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""

    def balls(self) -> list[Any]:
        """Return a ball for each coordinate, d of them, at the precision that is set."""

    def refine(self, entropy: Entropy) -> None:
        """Draw the next bits of every number that it is made of."""


@final
class UniformBits:
    """Independent uniform numbers in [0, 1), known to so many bits.

    Args:
        words: their first 64 bits, shape (k,).

    Examples:
        >>> import numpy as np
        >>> half = UniformBits(np.array([2**63], dtype=np.uint64)).balls()[0]
        >>> 0.5 in half, 0.6 in half
        (True, False)
    """

    def __init__(self, words: Words) -> None:
        self._bits = words.tolist()
        self._length = WORD

    @property
    def dimension(self) -> int:
        """How many numbers they are."""
        return len(self._bits)

    def balls(self) -> list[Any]:
        """Return a ball for each: every value that its bits so far allow."""
        unit = arb(2) ** -(self._length + 1)
        return [arb(2 * bits + 1, 1) * unit for bits in self._bits]

    def refine(self, entropy: Entropy) -> None:
        """Draw 64 more bits of each."""
        more = entropy.words(len(self._bits)).tolist()
        self._bits = [bits << WORD | word for bits, word in zip(self._bits, more, strict=True)]
        self._length += WORD


def rounded(real: Lazy, *, entropy: Entropy) -> list[int]:
    """Return the integer nearest to each coordinate, drawing more bits until all are sure.

    Args:
        real: the vector, shape (d,).
        entropy: where more bits come from.

    Returns:
        Integers, d of them.

    Examples:
        >>> import numpy as np
        >>> from lownoise.entropy import SimulationEntropy
        >>> entropy = SimulationEntropy(1)
        >>> rounded(UniformBits(np.array([2**62], dtype=np.uint64)), entropy=entropy)
        [0]
    """
    bits = _FIRST_PRECISION
    while True:
        with precision(bits):
            half = arb(0.5)
            found = [(ball + half).floor().unique_fmpz() for ball in real.balls()]
        if all(integer is not None for integer in found):
            return [int(integer) for integer in found]
        real.refine(entropy)
        bits += WORD
