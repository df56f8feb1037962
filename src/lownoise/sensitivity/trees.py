# SPDX-License-Identifier: Apache-2.0
"""How far one person moves the sums of a binary tree in several rounds.

C has a row for each complete sum of 2^l rounds, so G = CᵀC counts the sums that hold two rounds:
with T_i the highest level at which a complete sum holds i, and d the lowest at which i and j share
one, which is how many binary digits i XOR j has, G_ij = max(0, T_i − d + 1). G ≥ 0, so the worst
changes are the same in every round of a pattern, and move C·x by √ΣN_v², N_v being how many members
sum v holds.

*By levels* (ours), for any n. Of a pattern whose members are at least b apart, a sum of 2^l rounds
holds at most m_l = min(k, ⌈2^l/b⌉), and all ⌊n/2^l⌋ of one level hold k at most. A convex function
is greatest at an extreme point: ΣN_v² is at most q·m_l² + (k − q·m_l)² with q = ⌊k/m_l⌋ sums full,
or c·m_l² where there are only c ≤ q. Where b is a power of 2 and all sums that {0, b, 2b, …} meets
are complete, that pattern attains every level's bound.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.rounding import root_up
from lownoise.sensitivity.patterns import fitting, gram_of, spaced, worst

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.participation import Participation
    from lownoise.sensitivity.patterns import Lag

_MOST_DENSE = 512  # rounds; by levels hardly any more is charged
_MOST_LAGS = 1 << 26  # n·k


def tree_up(rounds: int, participation: Participation) -> float:
    """Return at least how far one person moves the sums of a binary tree.

    Args:
        rounds: n.
        participation: the patterns.

    Examples:
        >>> from lownoise.sensitivity.participation import Participation
        >>> 8.0 <= tree_up(4, Participation(2, 2, "separated")) ** 2 < 8.000001
        True
    """
    k, b = fitting(participation, rounds), participation.separation
    square = float(by_levels(rounds, k, b))
    if participation.pattern == "spaced":
        if rounds * k <= _MOST_LAGS:
            square = min(square, spaced(tree_lag(rounds), rounds, k, b).square_up)
    elif rounds <= _MOST_DENSE:
        gram = gram_of(tree_lag(rounds), rounds)
        square = min(square, worst(gram, participation).square_up)
    return root_up(Fraction(square))


def by_levels(rounds: int, count: int, separation: int) -> int:
    """Return at least ΣN_v² for every pattern, level by level.

    Args:
        rounds: n.
        count: k, no more than fit.
        separation: b.

    Examples:
        >>> by_levels(4, 2, 2), by_levels(1 << 20, 4, 1 << 18)
        (8, 100)
    """
    total = 0
    for level in range(rounds.bit_length()):
        most = min(count, -(-(1 << level) // separation))
        full = count // most
        sums = rounds >> level
        total += min(sums, full) * most**2 + ((count - full * most) ** 2 if sums > full else 0)
    return total


def tree_lag(rounds: int) -> Lag:
    """Return the lags of G, exactly."""
    i = np.arange(rounds)
    highest = np.zeros(rounds, dtype=np.int64)
    for level in range(1, rounds.bit_length()):
        highest += ((i >> level) + 1) << level <= rounds

    def lag(d: int) -> Vector:
        own = i[: rounds - d]
        digits = np.frexp((own ^ (own + d)).astype(np.float64))[1]
        return np.maximum(highest[: rounds - d] - digits + 1, 0).astype(np.float64)

    return lag
