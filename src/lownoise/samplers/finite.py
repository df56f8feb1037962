# SPDX-License-Identifier: Apache-2.0
"""An answer out of finitely many, with exactly the probabilities that are written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.certificate import UNIT

if TYPE_CHECKING:
    from lownoise.arrays import Vector
    from lownoise.entropy import Entropy

_DROPPED = 12  # bits of a word: 52 are left, as many as a probability has


def drawn(law: Vector, *, entropy: Entropy) -> int:
    """Return r with probability law[r], exactly.

    One word decides: 52 of its bits are a uniform multiple of 2⁻⁵², and the ends of the answers'
    intervals are such multiples too, so no comparison is ever undecided. The work is the same
    whatever the word and the law are.

    Args:
        law: multiples of 2⁻⁵² that sum to one, shape (R,).
        entropy: where the word comes from.

    Examples:
        >>> from lownoise.entropy import SimulationEntropy
        >>> drawn(np.array([0.0, 1.0, 0.0]), entropy=SimulationEntropy(0))
        1
    """
    uniform = int(entropy.words(1)[0]) >> _DROPPED
    ends = np.cumsum((law / UNIT).astype(np.int64))
    return int(np.sum(ends <= uniform))
