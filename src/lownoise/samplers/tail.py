# SPDX-License-Identifier: Apache-2.0
"""A normal number known by its bits so far, in ball arithmetic; more bits are drawn on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from flint import arb

if TYPE_CHECKING:
    from lownoise.numbers.randomness import Randomness

TAIL_BITS = 63  # of the first word; its top bit is the sign
_MORE = 64


def quantile(tail: Any) -> Any:  # noqa: ANN401 (flint carries no types)
    """Return the ball of z ≥ 0 with upper tail in the ball `tail` ⊂ (0, 1/2]; z = √2 erfc⁻¹(2v)."""
    return arb(2).sqrt() * (2 * tail).erfcinv()


@final
class Tail:
    """One standard normal number: a sign and the leading bits of its tail.

    Args:
        word: the 64 bits that were drawn first, sign on top.
    """

    def __init__(self, word: int) -> None:
        self._negative = bool(word >> TAIL_BITS)
        self._bits = word & (2**TAIL_BITS - 1)
        self._length = TAIL_BITS + 1  # v lies in [bits, bits + 1]·2^-length

    def refine(self, randomness: Randomness) -> None:
        """Draw the next bits."""
        self._bits = (self._bits << _MORE) | int(randomness.words(1)[0])
        self._length += _MORE

    def ball(self) -> Any:  # noqa: ANN401
        """Return the ball of every value that the bits so far allow."""
        tail = arb(2 * self._bits + 1, 1) * arb(2) ** -(self._length + 1)
        z = quantile(tail)
        return -z if self._negative else z
