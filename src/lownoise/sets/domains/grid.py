# SPDX-License-Identifier: Apache-2.0
"""Values at equal distances: which all of a list are multiples of, and lists of them.

Values such as 0.1 are no floats: what is listed is the float nearest to it, or a sum of such floats
that is off in its last bits. So a listed number is taken for the fraction of few digits that it is
nearest to, if that is within 2^-50 of it: 0.1, 0.30000000000000004 and 0.4 are 1, 3 and 4 tenths.
What is below 2^-50 of the largest is 0. Nothing but the public list says which.
"""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen, vector
from lownoise.sets.domains.abstract import DOMAINS
from lownoise.sets.domains.points import Points

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector

SAME = 2.0**-50  # of a number: what its spelling may be off by
_MOST_POINTS = 1 << 18
_MOST_MULTIPLES = 1 << 24
_MOST_DIGITS, _MOST_SPELLED = 6, 15  # of a denominator, and of a decimal
_EXACT = 2.0**53
_FARTHEST = 2.0**40  # times what values are apart by: beyond it floats are no such values


def multiples(numbers: Vector) -> tuple[Fraction, Integers] | None:
    """Return the greatest number that all are whole multiples of, and which multiples they are.

    Args:
        numbers: shape (n,).

    Returns:
        None where some are beyond 2^24 times it; of zeros 1.

    Examples:
        >>> multiples(np.array([0.1, 0.1 + 0.2, 0.5]))
        (Fraction(1, 10), array([1, 3, 5]))
        >>> multiples(np.array([2 / 3, 1.0]))
        (Fraction(1, 3), array([2, 3]))
        >>> multiples(np.array([1.0, np.pi])) is None
        True
    """
    unit, found = Fraction(0), np.zeros(numbers.size)
    largest = float(np.max(np.abs(numbers), initial=0.0))
    # as 0.1 + 0.2 - 0.3 is: 6e-17, of which no other is a multiple
    numbers = np.where(np.abs(numbers) > SAME * largest, numbers, 0.0)
    size, most = np.abs(numbers), Fraction(largest)
    off = np.flatnonzero(size)
    while off.size:
        own = _spelled(float(numbers[off[0]]))
        top = math.gcd(unit.numerator * own.denominator, own.numerator * unit.denominator)
        unit = Fraction(top, unit.denominator * own.denominator)
        p, q = unit.numerator, unit.denominator
        if most > unit * _MOST_MULTIPLES or max(q, _MOST_MULTIPLES * p) >= _EXACT:
            return None
        found = np.rint(numbers * (q / p))
        # k·p and q are floats, so that their quotient is off by its last rounding alone
        off = np.flatnonzero(np.abs(found * p / q - numbers) > SAME * size)
    return unit or Fraction(1), found.astype(np.int64)


def _spelled(number: float) -> Fraction:
    """Return the fraction of fewest digits that a float is nearly."""
    exact, shortest = Fraction(number), Decimal(repr(number))
    short = len(shortest.as_tuple().digits) <= _MOST_SPELLED
    if short and abs(number) >= _EXACT:  # 10^23 is no float, and all floats there are whole
        return Fraction(shortest)
    for digits in range(_MOST_DIGITS + 1):
        found = exact.limit_denominator(10**digits)
        if abs(found - exact) <= abs(exact) * Fraction(SAME) / 2:
            return found
    return Fraction(shortest) if short else exact


def _full(number: float) -> str:
    """Return a number as a message says it: in few digits where these are all that it has."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


@DOMAINS.constructor
def Grid(  # noqa: N802
    lower: ArrayLike, upper: ArrayLike, spacing: ArrayLike | None = None
) -> Points:
    """Return the list of all values from lower to upper that are so far apart, of each coordinate.

    Streams of such values have noise in whole numbers of them under a pure budget, where that is
    less. A record between two of them counts as the nearest.

    Args:
        lower: the least value of each coordinate, shape (d,).
        upper: the greatest, shape (d,).
        spacing: how far values are apart, above 0, shape (d,), or one number for all; 1 by default.
            Fractions of few digits are taken for what they spell: 0.1 is a tenth.

    Raises:
        DomainError: where a number is out of range, `upper` is not so many times `spacing` above
            `lower`, one is more than 2^40 times `spacing` from 0, or there are more than 2^18
            values, of all coordinates together.

    Examples:
        >>> Grid([0], [1], 0.1).points.ravel()
        array([0. , 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1. ])
        >>> len(Grid([0, 0], [100, 4], [1, 0.5]).points)
        909
    """
    low, high = (
        vector(given, field=f"Grid.{name}", error=DomainError)
        for name, given in (("lower", lower), ("upper", upper))
    )
    own: Any = 1.0 if spacing is None else spacing
    listed = own if isinstance(own, (list, tuple)) or getattr(own, "ndim", False) else [own]
    wide = vector(listed, field="Grid.spacing", error=DomainError)
    if wide.size == 1:
        wide = np.full(low.size, wide[0])
    if not low.size == high.size == wide.size:
        raise DomainError(
            f"Grid.lower has {low.size} coordinates, Grid.upper {high.size} and Grid.spacing "
            f"{wide.size}; give all the same number"
        )
    axes, count = [], 1
    for i, (a, b, s) in enumerate(zip(low.tolist(), high.tolist(), wide.tolist(), strict=True)):
        if a > b:
            raise DomainError(
                f"Grid.lower[{i}]={_full(a)} exceeds Grid.upper[{i}]={_full(b)}; swap them"
            )
        if not s > 0:
            raise DomainError(
                f"Grid.spacing[{i}]={_full(s)} is not above 0; give how far values are apart"
            )
        if max(abs(a), abs(b)) > _FARTHEST * s:
            raise DomainError(
                f"Grid.spacing[{i}]={_full(s)} is less than 2^-40 of {_full(max(a, b, key=abs))}, "
                "where floats are no such values; subtract a public number from all"
            )
        start, apart = _spelled(a), _spelled(s)
        whole = (_spelled(b) - start) / apart
        count *= math.floor(whole) + 1
        if count > _MOST_POINTS:
            raise DomainError(
                f"Grid has more than 2^18 values from {_full(a)} to {_full(b)}, {_full(s)} apart; "
                "give a larger spacing, or ln.Box where values need not be whole"
            )
        if whole.denominator != 1:
            nearest = float(start + apart * math.floor(whole))
            raise DomainError(
                f"Grid.upper[{i}]={_full(b)} is {float(whole)!r} times Grid.spacing[{i}]="
                f"{_full(s)} above Grid.lower[{i}]={_full(a)}; give {_full(nearest)}"
            )
        axes.append([float(start + apart * k) for k in range(whole.numerator + 1)])
    return Points(frozen(np.array(list(itertools.product(*axes)))))
