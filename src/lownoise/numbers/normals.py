# SPDX-License-Identifier: Apache-2.0
"""Standard normal numbers from uniform bits, each with a proved bound on its error.

A number is a sign and a tail v in (0, 1/2), known to 63 bits: z = Q⁻¹(v), Q the upper tail. The
interval of v is an octave [2^-k-1, 2^-k) cut into 32 cells, k = 1 … 20; in each cell Q⁻¹ is its
Taylor polynomial of degree 8 about the middle. With Q' = −φ and φ' = −zφ,

    dⁿz/dvⁿ = (−1)ⁿ Pₙ(z)/φ(z)ⁿ,   P₁ = 1,   Pₙ₊₁ = Pₙ' + n·z·Pₙ,

and since no Pₙ has a negative coefficient, the remainder of Lagrange is largest at the cell's small
end. The table was made in ball arithmetic, by what its test makes it with anew, and is shipped
beside this file, so that a device needs numpy alone: coefficients, and beside them, rounded up, the
remainder plus what rounding can do plus what the unread bits hide.
"""

from __future__ import annotations

import functools
import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError
from lownoise.numbers.arrays import Spare, frozen
from lownoise.numbers.compiled import in_a_row, loader
from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import up

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lownoise.numbers.arrays import Vector, Words
    from lownoise.numbers.compiled import Kernels
    from lownoise.numbers.randomness import Randomness

TAIL_BITS = 63  # of the first word; its top bit is the sign
_MORE = 64
OCTAVES = 20
CELLS = 32  # an octave
DEGREE = 8
LOW_BITS = 11  # the bits of v that a double cannot hold beside the first 52
CUT = 52 - OCTAVES  # v·2^53 ≥ 2^CUT is in the table
TABLE = Path(__file__).with_suffix(".npy")
DIGEST = "cca871639bf2bfd04f8d5644a5f2d2f866ec8ed082e99ceb428f309e8624d2c3"
WORST = 2.0**-45  # above every bound of the table
_FIRST_PRECISION = 192
_BLOCK = (
    1 << 15
)  # words at once: more leave the cache, fewer keep two threads waiting for each other
_ONE, _TWO, _SIGN = np.uint64(1), np.uint64(2), np.uint64(1 << TAIL_BITS)
_SCATTER = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio: multiples are far from each other
_spare = Spare(_BLOCK, np.uint64, np.uint64, np.float64)
_CELL_BITS = int(math.log2(CELLS))
_CELL_SHIFT = 52 - _CELL_BITS
_FIRST = (1023 + CUT) * CELLS  # exponent and leading mantissa bits of the first cell


def quantile(tail: Any) -> Any:  # noqa: ANN401 (flint carries no types)
    """Return the ball of z ≥ 0 with upper tail in the ball `tail` ⊂ (0, 1/2]; z = √2 erfc⁻¹(2v)."""
    from flint import arb

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
        from flint import arb

        tail = arb(2 * self._bits + 1, 1) * arb(2) ** -(self._length + 1)
        z = quantile(tail)
        return -z if self._negative else z


@final
class NormalVector:
    """Independent standard normal numbers, known by their bits so far: a `samplers.lazy.Lazy`.

    Args:
        words: their first 64 bits, shape (d,); not to be changed any more.
        drawn: those of which more bits were drawn, by their places.

    Examples:
        >>> ball = NormalVector(np.array([2**62], dtype=np.uint64)).balls()[0]
        >>> bool(abs(ball - 0.6744897501960817) < 1e-12)
        True
    """

    def __init__(self, words: Words, drawn: Mapping[int, Tail] | None = None) -> None:
        self._words = words
        self._drawn = drawn or {}

    @property
    def dimension(self) -> int:
        """How many numbers they are."""
        return self._words.size

    @functools.cached_property
    def _tails(self) -> list[Tail]:  # made when first asked: for nearly all rows never
        words = enumerate(self._words.tolist())
        return [self._drawn.get(place) or Tail(word) for place, word in words]

    def balls(self) -> list[Any]:
        """Return a ball for each: every value that its bits so far allow."""
        return [tail.ball() for tail in self._tails]

    def refine(self, randomness: Randomness) -> None:
        """Draw 64 more bits of each."""
        for tail in self._tails:
            tail.refine(randomness)


@functools.cache
def _cells() -> tuple[Words, Vector]:
    """Return the middle of each cell in units of 2^-65, and how many radii such a unit is."""
    octave, part = np.divmod(np.arange(OCTAVES * CELLS, dtype=np.uint64), np.uint64(CELLS))
    radius = np.uint64(1) << (octave + np.uint64(CUT + LOW_BITS - _CELL_BITS - 1))
    middles = (2 * (CELLS + part) + np.uint64(1)) * (2 * radius)
    middles.setflags(write=False)
    return middles, frozen(0.5 / radius)


@functools.cache
def taylor_table() -> Vector:
    """Return a column a cell: Taylor coefficients 0 … DEGREE, 1/radius, the error bound.

    Raises:
        FileError: where the file is not the one that was shipped: noise drawn of it is not normal.
    """
    import hashlib

    content = TABLE.read_bytes()
    if hashlib.sha256(content).hexdigest() != DIGEST:
        raise FileError(f"{TABLE} is not the table of this version; install lownoise again")
    return frozen(np.load(io.BytesIO(content)))


def normals(
    words: Words, slope: float = 0.0, room: Sequence[Vector] | None = None
) -> tuple[Vector, Vector]:
    """Return a standard normal number for each 64-bit word, and how far off each can be.

    Where the tail is beyond the table (one word in 2^20) the number is 0 and the bound infinite.
    Compiled kernels make many of them, with the same bits.

    Args:
        words: uniform 64-bit words, shape (k,).
        slope: so many times its size is added to a number's bound.
        room: where the numbers and the bounds are put, shapes (k,); None to have new room.

    Returns:
        Numbers and absolute error bounds, shapes (k,): the number whose tail begins with the
        word's 63 low bits, however it goes on, lies within the bound.

    Examples:
        >>> z, error = normals(np.array([2**62 + 12345], dtype=np.uint64))
        >>> bool(abs(z[0] - 0.6744897501960) < 1e-12), bool(error[0] < 1e-15)
        (True, True)
    """
    z, bound = room or (np.empty(words.shape), np.empty(words.shape))
    if in_a_row(words) and (kernels := LOADER.after(words.size)):
        kernels.normals(words, _rows(), slope, z, bound)
        return z, bound
    for start in range(0, len(words), _BLOCK):
        own = slice(start, start + _BLOCK)
        _block_into(words[own], slope, z[own], bound[own])
    return z, bound


def _block_into(words: Words, slope: float, z: Vector, bound: Vector) -> None:
    """Put into arrays what `normals` returns of at most `_BLOCK` words.

    v is taken in its odd multiple of 2^-65, 2·tail + 1, and so is the middle of its cell: integers,
    whose difference is exact and rounded once. Nothing but what is returned takes new room.
    """
    table = taylor_table()
    middles, per_radius = _cells()
    with _spare(len(words)) as room:
        doubled, places, floats = room
        np.left_shift(words, _ONE, out=doubled)  # the sign goes
        doubled |= _ONE
        np.right_shift(doubled, np.uint64(LOW_BITS + 1), out=places)
        floats[:] = places.view(np.int64)  # 52 bits: exact
        pattern = floats.view(np.uint64)
        np.right_shift(pattern, np.uint64(_CELL_SHIFT), out=places)
        cell = places.view(np.int64)
        cell -= _FIRST
        beyond = np.flatnonzero(cell < 0) if cell.min(initial=0) < 0 else None
        middles.take(cell, out=pattern, mode="clip")
        doubled -= pattern  # less than 0 is beyond 2^63: read with a sign
        floats[:] = doubled.view(np.int64)
        t, entry = floats, doubled.view(np.float64)
        t *= per_radius.take(cell, out=entry, mode="clip")  # powers of two
        table[DEGREE].take(cell, out=z, mode="clip")
        for n in range(DEGREE - 1, -1, -1):
            z *= t
            z += table[n].take(cell, out=entry, mode="clip")
        table[DEGREE + 2].take(cell, out=bound, mode="clip")
        if beyond is not None:
            z[beyond] = 0.0
            bound[beyond] = np.inf
        if slope:
            np.abs(z, out=entry)
            entry *= slope
            bound += entry
        np.bitwise_and(words, _SIGN, out=doubled)
        signed = z.view(np.uint64)
        signed ^= doubled


@functools.cache
def _rows() -> Vector:
    """Return the table as kernels read it: a row a cell, what is said of it side by side."""
    table, (middles, per_radius) = taylor_table(), _cells()
    columns = [*table[DEGREE::-1], per_radius, table[DEGREE + 2], middles.view(np.float64)]
    return frozen(np.ascontiguousarray(np.transpose(columns)))


def _right(kernels: Kernels) -> bool:
    """Return whether kernels make of words of every cell, and beyond, what numpy does."""
    middles, per_radius = _cells()
    middle, radius = middles >> _ONE, (0.5 / per_radius).astype(np.uint64)
    apart = np.arange(1, 12 * middle.size + 1, dtype=np.uint64) * np.uint64(_SCATTER)
    inside = (middle - radius) + apart.reshape(12, -1) % (_TWO * radius)
    ends = [middle - radius, middle - _ONE, middle, middle + radius - _ONE]
    beyond = [np.arange(9, dtype=np.uint64), middle[:1] - radius[:1] - _ONE]
    few = np.concatenate([*ends, inside.reshape(-1), *beyond])
    words = np.concatenate([few, few | _SIGN])
    for slope in (0.0, 11 * 2.0**-53):
        wanted, found = np.empty((2, 2, words.size))
        with np.errstate(all="ignore"):
            for start in range(0, words.size, _BLOCK):
                own = slice(start, start + _BLOCK)
                _block_into(words[own], slope, *wanted[:, own])
        kernels.normals(words, _rows(), slope, *found)
        if not np.array_equal(found.view(np.int64), wanted.view(np.int64)):
            return False
    return True


LOADER = loader(_right)


def settle(words: Words, z: Vector, error: Vector, slope: float = 0.0) -> None:
    """Find the numbers that `normals` leaves open, in place: one in 2^20.

    Left open, each would have everything that it enters decided by ball arithmetic, one by one.

    Args:
        words: as given to `normals`, shape (k,).
        z: what it returned, shape (k,).
        error: and the bounds, shape (k,).
        slope: as given to it.
    """
    if error.max(initial=0.0) < math.inf:
        return
    from flint import arb

    for j in np.flatnonzero(np.isinf(error)).tolist():
        with precision(_FIRST_PRECISION):
            ball = Tail(int(words[j])).ball()
            if ball.is_finite():  # it is not where the bits so far are all 0
                z[j] = float(ball.mid())
                error[j] = up(float((abs(ball - arb(z[j]))).upper()))
                error[j] += abs(z[j]) * slope
