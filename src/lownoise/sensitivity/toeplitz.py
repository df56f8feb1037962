# SPDX-License-Identifier: Apache-2.0
"""How far one person moves C·x in several rounds, where C is Toeplitz or the sums of a tree.

*Toeplitz*, lower-triangular, or that over N. For a column c that is nowhere negative and does not
rise from c_b on, {0, b, 2b, …} is the worst of all patterns b apart (see `patterns`): one strided
sum of c is all that there is to do. Others are looked at lag by lag, whole, or by way of such a
column.

*A binary tree.* C has a row for each complete sum of 2^l rounds, so G = CᵀC counts the sums that
hold two rounds: with T_i the highest level at which a complete sum holds i, and d the lowest at
which i and j share one, which is how many binary digits i XOR j has, G_ij = max(0, T_i − d + 1). G
≥ 0, so the worst changes are the same in every round of a pattern, and move C·x by √ΣN_v², N_v
being how many members sum v holds.

*By levels* (ours), for any n. Of a pattern whose members are at least b apart, a sum of 2^l rounds
holds at most m_l = min(k, ⌈2^l/b⌉), and all ⌊n/2^l⌋ of one level hold k at most. A convex function
is greatest at an extreme point: ΣN_v² is at most q·m_l² + (k − q·m_l)² with q = ⌊k/m_l⌋ sums full,
or c·m_l² where there are only c ≤ q. Where b is a power of 2 and all sums that {0, b, 2b, …} meets
are complete, that pattern attains every level's bound.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.rounding import growth, root_up, up
from lownoise.sensitivity.patterns import (
    CLOSE,
    by_position,
    fitting,
    gram_of,
    outward,
    rounded_products,
    spaced,
    windows,
    worst,
)

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.participation import Participation
    from lownoise.sensitivity.patterns import Lag


_MOST_LAGS = 1 << 28  # n·k for which all lags are added
_MOST_DENSE = 4096
_WIDEST = 2.0**500  # products of two lengths from its inverse to it are neither 0 nor infinite


def toeplitz_up(column: Vector, participation: Participation, scale: Vector | None = None) -> float:
    """Return at least ‖Σ C_i ⊗ u_i‖ over every pattern, C lower-triangular Toeplitz or C·N⁻¹.

    Where |c| ≤ ĉ and ĉ does not rise from ĉ_b on, |G_ij| ≤ Ĝ_ij/(N_i·N_j), Ĝ that of ĉ; for N that
    does not rise it grows with i up to j − b, so it is what `by_position` asks for.

    Args:
        column: c, shape (n,).
        participation: the patterns.
        scale: N, above 0 and not rising, shape (n,); ones by default. Infinity is returned where
            one is so large or small that products of two leave the range of floats.
    """
    n, b = column.size, participation.separation
    if scale is not None and not np.all((scale >= 1 / _WIDEST) & (scale <= _WIDEST)):
        return math.inf
    k = fitting(participation, n)
    around = np.abs(column)  # ĉ; members of a pattern meet in products with numbers from b on alone
    around[b:] = np.maximum.accumulate(around[b:][::-1])[::-1]
    spacing, positive = participation.pattern == "spaced", bool(np.all(column >= 0))
    if scale is None and positive and (spacing or np.array_equal(column, around)):
        return _strided(column, k, b)
    if n * k > _MOST_LAGS:
        return _strided(around, k, b) if scale is None else math.inf
    lag = toeplitz_lag(column, scale)
    first = spaced(lag, n, k, b)
    if spacing:
        return first.length_up
    found = by_position(toeplitz_lag(around, scale), n, k, b)
    if n <= _MOST_DENSE and found > first.attained * (1 + CLOSE):
        found = min(found, worst(gram_of(lag, n), participation).square_up)
    return up(math.sqrt(found))


def _strided(column: Vector, count: int, separation: int) -> float:
    """Return at least ‖Σ_l C_{lb}‖ for a Toeplitz C of numbers of at least 0."""
    moved = windows(column[::-1], count, separation)
    total = float(np.sum(np.square(moved)))
    return up(math.sqrt(outward(total, column.size + 2 * count + 4)))


def toeplitz_lag(column: Vector, scale: Vector | None = None) -> Lag:
    """Return the lags of G for the lower-triangular Toeplitz matrix of a first column.

    Args:
        column: c, shape (n,).
        scale: what column j of the matrix is divided by, above 0, shape (n,); ones by default.
    """
    n = column.size
    lengths = np.sqrt(np.cumsum(np.square(column)))[::-1]

    def lag(d: int) -> Vector:
        products = column[: n - d] * column[d:]
        found = rounded_products(
            np.cumsum(products)[::-1], lengths[: n - d], lengths[d:], n, outer=False
        )
        if scale is not None:
            found = found / (scale[: n - d] * scale[d:]) * (1 + growth(4))
        return np.asarray(found)

    return lag


_DENSE_TREE = 512  # rounds; by levels hardly any more is charged
_TREE_LAGS = 1 << 26  # n·k


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
        if rounds * k <= _TREE_LAGS:
            square = min(square, spaced(tree_lag(rounds), rounds, k, b).square_up)
    elif rounds <= _DENSE_TREE:
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
