# SPDX-License-Identifier: Apache-2.0
"""Draws of a device that are exact integers: coins, places, and subsets; and the chances of coins.

A chance is a float that is a multiple of 2⁻⁵², so that a coin is a comparison of integers. How many
words are drawn is decided by public numbers and by the words themselves.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import FileError, PlanError, quoted

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Integers
    from lownoise.numbers.randomness import Randomness

GRAIN = 2**52
_LEAST_EPSILON, _MOST_EPSILON = 1e-6, 1e3
_BITS = 192  # of intervals


def expect_chance(field: str, chance: Any) -> None:  # noqa: ANN401
    """Refuse what is no chance between 0 and 1 that a coin of 52 bits has.

    Raises:
        FileError: as said.
    """
    own = isinstance(chance, float) and 0 < chance < 1
    if not own or not (chance * GRAIN).is_integer():
        raise FileError(f"{field}={quoted(chance)} is no multiple of 2^-52 between 0 and 1")


def expect_integer(field: str, value: Any, least: int, most: int) -> None:  # noqa: ANN401
    """Refuse what is no whole number within two limits.

    Raises:
        FileError: as said.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise FileError(f"{field}={quoted(value)} is no whole number from {least} to {most}")


def chance_up(chance: Fraction) -> float:
    """Return the least chance that a coin has and that is at least this, below 1.

    Examples:
        >>> chance_up(Fraction(1, 4)), Fraction(chance_up(Fraction(1, 3))) - Fraction(1, 3) < 2**-52
        (0.25, True)
    """
    return min(max(-(-chance.numerator * GRAIN // chance.denominator), 1), GRAIN - 1) / GRAIN


def checked_epsilon(epsilon: float) -> Fraction:
    """Return at most ε, as a float and as the decimal that prints.

    Raises:
        PlanError: where it is not in [1e-6, 1000].
    """
    from lownoise.numbers.rounding import exact

    if not _LEAST_EPSILON <= epsilon <= _MOST_EPSILON:
        raise PlanError(
            f"epsilon={epsilon:g} is out of range; give at least {_LEAST_EPSILON:g} and at most "
            f"{_MOST_EPSILON:g}"
        )
    return min(exact(epsilon), Fraction(epsilon))


def odds_down(epsilon: float, parts: int = 1) -> Fraction:
    """Return at most e^(ε/parts), ε as a float and as its decimal: what two chances may differ by.

    Args:
        epsilon: in [1e-6, 1000].
        parts: how many draws share ε.

    Raises:
        PlanError: where it is out of range.

    Examples:
        >>> abs(float(odds_down(1.0)) - 2.718281828459045) < 1e-15
        True
    """
    from flint import arb, fmpq

    from lownoise.numbers.intervals import precision

    own = checked_epsilon(epsilon)
    with precision(_BITS):
        mantissa, exponent = (
            arb(fmpq(own.numerator, own.denominator * parts)).exp().lower().man_exp()
        )
    return int(mantissa) * Fraction(2) ** int(exponent)


def log_up(odds: Fraction) -> float:
    """Return at least |ln odds|, as a float and as the decimal that prints; hardly more.

    Examples:
        >>> log_up(Fraction(3)), log_up(Fraction(1, 3)) == log_up(Fraction(3)), log_up(Fraction(1))
        (1.0986122886681098, True, 0.0)
    """
    from flint import arb, fmpq

    from lownoise.numbers.intervals import precision
    from lownoise.numbers.rounding import decimal_up

    if odds == 1:
        return 0.0
    with precision(_BITS):
        ratio = arb(fmpq(odds.numerator, odds.denominator))
        mantissa, exponent = abs(ratio.log()).upper().man_exp()
    return decimal_up(int(mantissa) * Fraction(2) ** int(exponent))


def coins(chance: float, shape: tuple[int, ...], *, randomness: Randomness) -> Chosen:
    """Return independent truth values, each true with a chance that is a multiple of 2⁻⁵²."""
    bits = randomness.words(int(np.prod(shape))) >> np.uint64(12)
    return np.asarray(bits < np.uint64(int(chance * GRAIN)), dtype=np.bool_).reshape(shape)


def places(count: int, among: int, *, randomness: Randomness) -> Integers:
    """Return independent uniform integers from 0 to among − 1, shape (count,)."""
    if among == 1:
        return np.zeros(count, dtype=np.int64)
    shift = np.uint64(64 - (among - 1).bit_length())
    found = randomness.words(count) >> shift
    while (beyond := np.flatnonzero(found >= np.uint64(among))).size:
        found[beyond] = randomness.words(beyond.size) >> shift
    return found.astype(np.int64)


def subsets(size: int, fewer: Chosen, among: int, *, randomness: Randomness) -> Chosen:
    """Return uniform subsets of `among` places, shape (n, among) of truth values.

    They are the places of the least of independent keys, so only the keys' order matters, which is
    uniform; rows where the greatest that is in equals the least that is out are drawn anew, and so
    they are for either of the two sizes, so that it does not tell which one is meant.

    Args:
        size: s of 1 … among.
        fewer: which subsets are to have s − 1 places and not s, shape (n,).
        among: how many places.
        randomness: where the bits come from.
    """
    keys = _keys(len(fewer), among, randomness)
    ends = sorted({max(size - 2, 0), size - 1, min(size, among - 1)})
    while True:
        ranked = np.partition(keys, ends, axis=1)
        last = ranked[:, size - 1]
        before = ranked[:, size - 2] if size > 1 else np.zeros_like(last)  # below all keys
        tied = before == last
        if size < among:
            tied |= last == ranked[:, size]
        if not tied.any():
            bound = np.where(fewer, before, last)
            return np.asarray(keys <= bound[:, None], dtype=np.bool_)
        keys[tied] = _keys(int(tied.sum()), among, randomness)


def _keys(count: int, among: int, randomness: Randomness) -> Any:  # noqa: ANN401
    """Return independent uniform keys of 1 … 2³² − 1, but for 0 counted as 1; (count, among)."""
    words = randomness.words(-(-count * among // 2))
    found = words.view(np.uint32)[: count * among].reshape(count, among)
    return np.maximum(found, 1)
