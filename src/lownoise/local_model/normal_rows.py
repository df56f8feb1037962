# SPDX-License-Identifier: Apache-2.0
"""Unit vectors that carry a record, and rows of normal numbers about them, for many at once.

A point y/FULL of the unit ball becomes the unit vector u = ±y/|y|, + with chance (1 + |y|/FULL)/2:
then E u = y/FULL. Where y = 0, u is ± the first axis. The chance is kept exactly: a uniform number
is compared with |y|/FULL in floats, and in integers of as many bits as it takes where those are
near.

Normal numbers are floats within `WORST` of the numbers that their bits begin; the bits are kept, so
that whoever must decide a comparison of the numbers can draw more of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import TableError
from lownoise.local_model.randomizer import FULL
from lownoise.numbers.normals import WORST, NormalVector, Tail, normals

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Integers, Vector, Words
    from lownoise.numbers.randomness import Randomness

_WORD = 64
_SIGN = np.uint64(63)  # the top bit: whether 2B − 1 is below 0, B the uniform number
_TOP = np.uint64(2**63 - 1)
_NEAR = 2.0**-50  # both sides of a comparison are within 2^-52
_FIRST_PRECISION = 192


def lifted(encoded: Integers, *, randomness: Randomness) -> Integers:
    """Return ±y, whose direction has the mean y/FULL; shape (n, r).

    Args:
        encoded: points y in units of 1/FULL, shape (n, r).
        randomness: where the bits come from, a word a point.

    Raises:
        TableError: where a point is outside the unit ball, which no encoder makes.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> lifted(np.array([[-FULL, 0]]), randomness=SimulationRandomness(1))
        array([[-67108864,        0]])
    """
    # whole numbers below 2^53, where none is outside: exact
    squares = np.sum(encoded.astype(np.float64) ** 2, axis=1)
    if not np.all(squares <= float(FULL) ** 2):
        raise TableError("encoded is no point of the unit ball; encode records first")
    words = randomness.words(len(encoded))
    part = (words & _TOP).astype(np.float64) * 2.0**-63
    length = np.sqrt(squares) / FULL
    beyond = part > length
    for row in np.flatnonzero(np.abs(part - length) <= _NEAR).tolist():
        beyond[row] = _beyond(int(words[row] & _TOP), int(squares[row]), randomness)
    negative = beyond & (words >> _SIGN == 1)
    axis = np.zeros_like(encoded)
    axis[:, 0] = FULL
    directed = np.where(squares[:, None] == 0, axis, encoded)
    return np.where(negative[:, None], -directed, directed)


def _beyond(bits: int, square: int, randomness: Randomness) -> bool:
    """Return whether a uniform number, its first 63 bits given, exceeds √square/FULL."""
    length = 63
    while True:
        bound = square << (2 * length)
        if (bits + 1) ** 2 * FULL**2 <= bound:
            return False
        if bits**2 * FULL**2 >= bound:
            return True
        bits = bits << _WORD | int(randomness.words(1)[0])
        length += _WORD


@final
class NormalRows:
    """Rows of independent standard normal numbers.

    Args:
        words: the first bits of each, shape (n, k).
        randomness: where more bits come from: those of numbers beyond the table, one in 2^20.

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> NormalRows.drawn(5, 3, randomness=SimulationRandomness(1)).values.shape
        (5, 3)
    """

    def __init__(self, words: Words, *, randomness: Randomness) -> None:
        found, bound = normals(words.ravel())
        self.words = words.copy()  # which the system gives read-only
        self.values: Vector = found.reshape(words.shape)
        self._far: dict[int, dict[int, Tail]] = {}
        self._exact: dict[int, NormalVector] = {}
        for at in np.flatnonzero(bound > WORST).tolist():
            row, column = divmod(at, words.shape[1])
            tail = Tail(int(words[row, column]))
            self.values[row, column] = _value(tail, randomness)
            self._far.setdefault(row, {})[column] = tail

    @classmethod
    def drawn(cls, count: int, width: int, *, randomness: Randomness) -> NormalRows:
        """Return fresh rows."""
        return cls(randomness.words(count * width).reshape(count, width), randomness=randomness)

    def exact(self, row: int) -> NormalVector:
        """Return the numbers of one row, by their bits; the same object each time."""
        if row not in self._exact:
            self._exact[row] = NormalVector(self.words[row].copy(), self._far.get(row))
        return self._exact[row]

    def replace(self, rows: Integers, others: NormalRows, chosen: Chosen) -> None:
        """Put the chosen ones of other rows in the place of some, with the bits drawn so far."""
        self.words[rows] = others.words[chosen]
        self.values[rows] = others.values[chosen]
        for own, its in ((self._far, others._far), (self._exact, others._exact)):
            _replace(own, rows, its, chosen)


def _replace(own: dict[int, Any], rows: Integers, others: dict[int, Any], chosen: Chosen) -> None:
    """Do the same with what is kept of few rows."""
    for row in own.keys() & set(rows.tolist() if own else ()):
        del own[row]
    place = np.cumsum(chosen) - 1
    for other, kept in others.items():
        if chosen[other]:
            own[int(rows[place[other]])] = kept


def _value(tail: Tail, randomness: Randomness) -> float:
    """Return a float within WORST of a number, drawing the bits that that takes."""
    from flint import arb

    from lownoise.numbers.intervals import precision

    while True:
        with precision(_FIRST_PRECISION):
            ball = tail.ball()
            if ball.is_finite():
                found = float(ball.mid())
                if abs(ball - arb(found)) <= WORST:
                    return found
        tail.refine(randomness)
