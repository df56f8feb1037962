# SPDX-License-Identifier: Apache-2.0
"""An answer out of finitely many, with exactly the probabilities that are written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness

UNIT = 2.0**-52  # probabilities are whole numbers of it
_DROPPED = 12  # bits of a word: 52 are left, as many as a probability has


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
