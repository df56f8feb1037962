# SPDX-License-Identifier: Apache-2.0
"""Directed rounding: each result lies on the named side of the exact one.

A number that a person typed means the decimal that prints, and is read so where budgets add up:
three times 0.1 is 0.3.

IEEE 754 rounds +, −, ×, ÷ and √ to nearest, so one step outward is always far enough. Powers and
logarithms have no such guarantee and do not appear here.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

# how far off a float may be, as a part of it
CROSS = 2.0**-20  # products of shares that are small themselves
ROUGH = 2.0**-30  # a recursion of determinants, or a solved system
SLACK = 2.0**-40  # powers, logarithms, sums of up to 10^7 terms: none of them is directed
TINY = 2.0**-44  # a few operations and one power
POWER = 2.0**-45  # the same, as files of 0.1 are charged
FEW = 2.0**-48  # a few operations
LAST = 2.0**-50  # one or two
OTHER_MACHINE = 2.0**-40  # products of matrices, whose last bits differ between processors
Number = TypeVar("Number", float, "Vector")


def grown(x: Number, by: float = SLACK) -> Number:
    """Return at least what x ≥ 0 stands for, x being within a share `by` of it.

    What is below 0 goes away from it, too.

    Examples:
        >>> grown(1.0) > 1 > shrunk(1.0), lowered(-3.0, 4.0) < -3
        (True, True)
    """
    return x * (1 + by)


def shrunk(x: Number, by: float = SLACK) -> Number:
    """Return at most what x ≥ 0 stands for, x being within a share `by` of it."""
    return x * (1 - by)


def lowered(x: float, size: float, by: float = SLACK) -> float:
    """Return at most what x stands for, a sum of terms that have this size together.

    So logarithms are rounded: they may be of either sign, and cancel.
    """
    return x - by * size


def up(x: float) -> float:
    """Return the next float above."""
    return math.nextafter(x, math.inf)


def down(x: float) -> float:
    """Return the next float below."""
    return math.nextafter(x, -math.inf)


def mul_up(a: float, b: float) -> float:
    """Return at least a·b."""
    return up(a * b)


def square_up(a: float) -> float:
    """Return a² where that is a float, else the float above it.

    Examples:
        >>> square_up(3.0), square_up(0.1) > 0.1 * 0.1
        (9.0, False)
    """
    square = a * a
    exact = math.isinf(square) or Fraction(square) >= Fraction(a) ** 2
    return square if exact else up(square)


def fraction_up(exact: Fraction) -> float:
    """Return the least float at or above an exact number of at least 0, infinite beyond them.

    Examples:
        >>> fraction_up(Fraction(1, 4)), Fraction(fraction_up(Fraction(1, 3))) > Fraction(1, 3)
        (0.25, True)
        >>> fraction_up(Fraction(10) ** 400)
        inf
    """
    try:
        found = float(exact)
    except OverflowError:
        return math.inf
    return found if Fraction(found) >= exact else up(found)


def sqrt_up(a: float) -> float:
    """Return at least √a."""
    return up(math.sqrt(a))


def exact(number: float) -> Fraction:
    """Return the shortest decimal that reads back as `number`, as a fraction.

    Examples:
        >>> 3 * exact(0.1) == exact(0.3)
        True
    """
    return Fraction(repr(float(number)))


def decimal_up(number: Fraction) -> float:
    """Return the least float that is at least `number`, read as a float and as its decimal.

    Examples:
        >>> decimal_up(Fraction(1, 10)), decimal_up(Fraction(0.1)) > 0.1  # its float is above 1/10
        (0.1, True)
    """
    found = float(number)
    while min(Fraction(found), exact(found)) < number:
        found = up(found)
    return found


def decimal_down(number: Fraction) -> float:
    """Return the greatest float that is at most `number`, read as a float and as its decimal.

    Examples:
        >>> decimal_down(Fraction(1, 10)) < 0.1  # its float is above 1/10
        True
    """
    found = float(number)
    while max(Fraction(found), exact(found)) > number:
        found = down(found)
    return found


def float_up(number: Fraction) -> float:
    """Return the number where it is a float or its decimal, else the float above it."""
    rounded = float(number)
    return rounded if max(Fraction(rounded), exact(rounded)) >= number else up(rounded)


def root_up(square: Fraction) -> float:
    """Return the square root of a fraction: exact where it is a float, else rounded up.

    Examples:
        >>> root_up(Fraction(9, 4)), Fraction(root_up(Fraction(2))) ** 2 > 2
        (1.5, True)
    """
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    if root * root == square and Fraction(float(root)) == root:
        return float(root)
    return sqrt_up(up(float(square)))


def root_down(square: Fraction) -> float:
    """Return the greatest float whose square is at most `square`, as a float and as its decimal.

    Examples:
        >>> root_down(Fraction(9, 4)), Fraction(root_down(Fraction(2))) ** 2 < 2
        (1.5, True)
    """
    found = up(math.sqrt(square))
    while max(Fraction(found), exact(found)) ** 2 > square:
        found = down(found)
    return found


def norm_up(numerators: Vector, denominators: Vector) -> float:
    """Return at least √Σ(nᵢ/dᵢ)²; 0/0 counts as 0 and n/0 as infinite.

    Args:
        numerators: shape (d,); their signs do not matter.
        denominators: shape (d,).

    Examples:
        >>> 1.0 <= norm_up(np.array([3.0, 4.0, 0.0]), np.array([5.0, 5.0, 0.0])) < 1.000001
        True
    """
    used = numerators != 0
    with np.errstate(divide="ignore", over="ignore"):
        ratios = np.nextafter(np.abs(numerators[used]) / denominators[used], np.inf)
        squares = np.nextafter(ratios * ratios, np.inf)
    if not squares.size:
        return 0.0
    try:
        total = math.fsum(squares)  # the exact sum, rounded once
    except OverflowError:
        return math.inf
    return math.inf if math.isnan(total) else sqrt_up(up(total))


def growth(operations: int) -> float:
    """Return at least γ_n = nu/(1 − nu): how far n rounded operations can be off, relatively.

    Examples:
        >>> growth(10) < 1.2e-15
        True
    """
    part = operations * 2.0**-53
    return up(up(part) / down(1 - part)) if part < 1 else math.inf


def spectral_up(matrix: Vector) -> float:
    """Return at least ‖A‖₂, hardly more; `matrix` is A, shape (r, k).

    The largest eigenvalue λ of the smaller Gram matrix is guessed in floats; then a Cholesky
    factorization of (λ + margin)I − AAᵀ runs to its end, which proves that AAᵀ is at most
    (λ + margin + rounding)I (Higham 2002, Theorem 10.7). Where it does not, the Frobenius norm must
    do.

    Examples:
        >>> 5.0 <= spectral_up(np.array([[3.0, 4.0], [0.0, 0.0]])) < 5.000001
        True
    """
    if not matrix.size or not np.any(matrix):
        return 0.0
    if not np.all(np.isfinite(matrix)):
        return math.inf
    scale = float(np.max(np.abs(matrix)))
    rows = matrix / scale if matrix.shape[0] <= matrix.shape[1] else matrix.T / scale
    n, k = rows.shape
    gram = rows @ rows.T
    trace = float(np.trace(gram))
    lost = growth(2 * k + 2 * n + 20) * trace * 2  # of the product, of the factorization
    guess = float(np.linalg.eigvalsh(gram)[-1])
    margin = guess * 2.0**-40 + 4 * lost
    try:
        np.linalg.cholesky((guess + margin) * np.eye(n) - gram)
    except np.linalg.LinAlgError:
        return up(scale * math.sqrt(trace + lost) * (1 + 2.0**-40))
    return up(scale * math.sqrt(guess + margin + 2 * (n + 2) * lost) * (1 + 2.0**-48))
