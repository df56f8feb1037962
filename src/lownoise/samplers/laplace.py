# SPDX-License-Identifier: Apache-2.0
"""Integers that are the rounding of independent Laplace numbers, or geometric, decided lazily.

|z| = −b·log U with U uniform on (0, 1), and the sign is fair: z is as likely as −z, and so are
their roundings. ⌊−b·log U⌋ is k with chance (1 − q)q^k, q = e^{−1/b}; with a fair sign, and drawn
anew where that is −0, it is z with chance (1 − q)/(1 + q)·q^|z|. The first 63 bits of U are drawn
at once, and the sign beside them. A float evaluation with a wide margin decides nearly every
rounding; where a half-integer is as near as the margin, more bits are drawn and ball arithmetic
decides. The work depends on the bits and on the public scale, never on a datum.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import PlanError
from lownoise.samplers.lazy import WORD, Composed, UniformBits, rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness

_LARGEST = 2.0**51  # below it a float and its neighbours resolve a half
_MARGIN = 2.0**-44  # of the logarithm and of the product: hundreds of times what floats are off by
MOST = 2.0**52  # of a scale: so much that no number is beyond 64 bits, but with chance e^−1000
LEAST = 2.0**-10  # of a geometric one: beside it what floats are off by is little
_BLOCK = 1 << 16


def rounded_laplace(scales: Vector, *, randomness: Randomness) -> Integers:
    """Return the nearest integers to independent numbers of density exp(−|z|/b)/2b.

    Args:
        scales: b, shape (d,), above 0, at most 2^52; exactly the stored floats.
        randomness: where the bits come from.

    Returns:
        Integers, shape (d,).

    Raises:
        PlanError: where a scale is out of range.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> rounded_laplace(np.full(10_000, 5.0), randomness=SimulationRandomness(1)).std() < 7.5
        np.True_
    """
    if not np.all((scales > 0) & (scales <= MOST)):
        raise PlanError("scales of Laplace noise are not from 0 to 2^52; plan again")
    found = np.empty(scales.size, dtype=np.int64)
    for start in range(0, scales.size, _BLOCK):  # blocks that stay in the cache
        block = slice(start, start + _BLOCK)
        sizes, minus = _sizes(scales[block], 0.0, randomness)
        found[block] = np.where(minus, -sizes, sizes)
    return found


def two_sided_geometric(scales: Vector, *, randomness: Randomness) -> Integers:
    """Return independent integers z of chances in proportion to e^{−|z|/b}, exactly.

    Args:
        scales: b, shape (d,), from 2^−10 to 2^52; exactly the stored floats.
        randomness: where the bits come from.

    Returns:
        Integers, shape (d,).

    Raises:
        PlanError: where a scale is out of range.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> drawn = two_sided_geometric(np.full(10_000, 0.25), randomness=SimulationRandomness(1))
        >>> 0.95 < np.mean(drawn == 0) < 0.98  # (1 − e^−4)/(1 + e^−4) is 0.964
        np.True_
    """
    if not np.all((scales >= LEAST) & (scales <= MOST)):
        raise PlanError("scales of geometric noise are not from 2^-10 to 2^52; plan again")
    found = np.empty(scales.size, dtype=np.int64)
    for start in range(0, scales.size, _BLOCK):
        left = np.arange(start, min(start + _BLOCK, scales.size))
        while left.size:
            sizes, minus = _sizes(scales[left], 0.5, randomness)
            again = minus & (sizes == 0)
            found[left[~again]] = np.where(minus, -sizes, sizes)[~again]
            left = left[again]
    return found


def _sizes(
    scales: Vector, off: float, randomness: Randomness
) -> tuple[Integers, NDArray[np.bool_]]:
    """Return the integers nearest to −b·log U − off, and fair signs: whether each is a minus."""
    words = randomness.words(scales.size)
    bits = words >> np.uint64(1)  # U is in [bits, bits + 1)·2^−63
    middle = bits.astype(np.float64) + 0.5
    logs = (WORD - 1) * math.log(2) - np.log(middle)
    value = scales * logs
    # a whole bit of U, and what the float of it, the logarithm and the product are off by
    last = np.where(bits > 0, 1 / middle, np.inf)
    doubt = scales * (last + _MARGIN * (1 + WORD)) + np.abs(value) * _MARGIN
    nearest = np.rint(value - off)
    decided = (np.abs(value - off - nearest) + doubt < 0.5) & (np.abs(value) < _LARGEST)  # noqa: PLR2004
    nearest[~decided] = 0.0
    found: Integers = nearest.astype(np.int64)
    for i in np.flatnonzero(~decided).tolist():
        found[i] = _settled(float(scales[i]), off, int(bits[i]), randomness)
    return found, (words & np.uint64(1)).astype(np.bool_)


def _settled(scale: float, off: float, bits: int, randomness: Randomness) -> int:
    """Return the rounding of −b·log U − off for a U of which 63 bits are known, drawing more."""
    from flint import arb

    def formula(balls: list[Any]) -> list[Any]:
        return [-arb(scale) * balls[0].log() - off]

    uniform = UniformBits([bits], WORD - 1)
    return rounded(Composed(1, (uniform,), formula), randomness=randomness)[0]
