# SPDX-License-Identifier: Apache-2.0
"""Integers that are the rounding of a true Gaussian vector, decided lazily.

For an integer vector q, q + round(Lξ) = round(q + Lξ): what is published is a function of the
continuous Gaussian mechanism's answer, so its exact privacy curve holds, with no loss for being
discrete. The noise is symmetric, so the answer is unbiased.

Each ξ is drawn as 64 bits. A float evaluation with a proved error decides nearly every rounding;
where a half-integer lies within the error, more bits are drawn and ball arithmetic decides. The
work depends on the bits of ξ and on the public L, never on a datum.

Standard normal numbers from uniform bits, each with a proved bound on its error.

A number is a sign and a tail v in (0, 1/2), known to 63 bits: z = Q⁻¹(v), Q the upper tail. The
interval of v is an octave [2^-k-1, 2^-k) cut into 32 cells, k = 1 … 20; in each cell Q⁻¹ is its
Taylor polynomial of degree 8 about the middle. With Q' = −φ and φ' = −zφ,

    dⁿz/dvⁿ = (−1)ⁿ Pₙ(z)/φ(z)ⁿ,   P₁ = 1,   Pₙ₊₁ = Pₙ' + n·z·Pₙ,

and since no Pₙ has a negative coefficient, the remainder of Lagrange is largest at the cell's small
end. The table is built once a process, in ball arithmetic: coefficients, and beside them, rounded
up, the remainder plus what rounding can do plus what the unread bits hide.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Protocol, final

import numpy as np
from flint import arb

from lownoise.numbers.arrays import frozen
from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import up

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector, Words
    from lownoise.numbers.randomness import Randomness

TAIL_BITS = 63  # of the first word; its top bit is the sign
_MORE = 64
OCTAVES = 20
CELLS = 32  # an octave
DEGREE = 8
_LOW_BITS = 11  # the bits of v that a double cannot hold beside the first 52
_UNIT = 2.0**-53
_CUT = 52 - OCTAVES  # v·2^53 ≥ 2^_CUT is in the table
_CELL_SHIFT = 52 - int(math.log2(CELLS))
_FIRST = (1023 + _CUT) * CELLS  # exponent and leading mantissa bits of the first cell
_LARGEST = 2.0**51  # below it a float and its neighbours resolve a half
_FIRST_PRECISION = 192
_BLOCK = 1 << 15
_FEW = 1000  # so few are decided by ball arithmetic sooner than the table is built


def quantile(tail: Any) -> Any:  # noqa: ANN401 (flint carries no types)
    """Return the ball of z ≥ 0 with upper tail in the ball `tail` ⊂ (0, 1/2]; z = √2 erfc⁻¹(2v)."""
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
        tail = arb(2 * self._bits + 1, 1) * arb(2) ** -(self._length + 1)
        z = quantile(tail)
        return -z if self._negative else z


@functools.cache
def taylor_table() -> Vector:
    """Return a column a cell: Taylor coefficients 0 … DEGREE, 1/radius, the error bound."""
    from flint import arb, arb_poly

    polynomials = [arb_poly([1])]
    for n in range(1, DEGREE + 1):
        p = polynomials[-1]
        polynomials.append(p.derivative() + n * arb_poly([0, 1]) * p)
    table = np.empty((DEGREE + 3, OCTAVES * CELLS))
    with precision(300):
        for cell in range(OCTAVES * CELLS):
            octave, part = divmod(cell, CELLS)
            # in units of 2^-64: v runs over [start, start + 2·radius)
            radius = 2 ** (_CUT + octave + _LOW_BITS) // (2 * CELLS)
            start = 2 ** (_CUT + octave + _LOW_BITS) + part * 2 * radius
            unit = arb(2) ** -64
            z = quantile(arb(start + radius) * unit)
            phi = (-z * z / 2).exp() / (2 * arb.pi()).sqrt()
            r = arb(radius) * unit
            exact = [z] + [
                polynomials[n - 1](z) * (-r / phi) ** n / arb(math.factorial(n))
                for n in range(1, DEGREE + 1)
            ]
            rounded = [float(a.mid()) for a in exact]
            z_far = quantile(arb(start) * unit)
            phi_far = (-z_far * z_far / 2).exp() / (2 * arb.pi()).sqrt()
            remainder = (
                polynomials[DEGREE](z_far)
                * (r / phi_far) ** (DEGREE + 1)
                / arb(math.factorial(DEGREE + 1))
            )
            hidden = unit / 2 / phi_far  # the tail is known to half of the last bit
            stored = sum((abs(a - arb(b)) for a, b in zip(exact, rounded, strict=True)), arb(0))
            small = sum((abs(arb(b)) for b in rounded[1:]), arb(0))
            # Horner: 2·DEGREE operations on the small part, t off by one unit, one last addition
            rounding = _UNIT * (abs(arb(rounded[0])) + 2 * small) + 40 * _UNIT * small
            bound = remainder + hidden + stored + rounding
            table[:, cell] = [*rounded, 2.0**_LOW_BITS / radius, up(float(bound.upper()))]
    return frozen(table)


def normals(words: Words) -> tuple[Vector, Vector]:
    """Return a standard normal number for each 64-bit word, and how far off each can be.

    Where the tail is beyond the table (one word in 2^20) the number is 0 and the bound infinite.

    Args:
        words: uniform 64-bit words, shape (k,).

    Returns:
        Numbers and absolute error bounds, shapes (k,): the number whose tail begins with the
        word's 63 low bits, however it goes on, lies within the bound.

    Examples:
        >>> z, error = normals(np.array([2**62 + 12345], dtype=np.uint64))
        >>> bool(abs(z[0] - 0.6744897501960) < 1e-12), bool(error[0] < 1e-15)
        (True, True)
    """
    table = taylor_table()
    tail = words & np.uint64(2**TAIL_BITS - 1)
    head = (tail >> np.uint64(_LOW_BITS)).astype(np.float64)  # 52 bits: exact
    pattern = head.view(np.uint64)
    cell = (pattern >> np.uint64(_CELL_SHIFT)).astype(np.int64) - _FIRST
    beyond = cell < 0
    cell[beyond] = 0
    half_cell = np.uint64(1 << (_CELL_SHIFT - 1))
    middle = ((pattern & ~np.uint64(2**_CELL_SHIFT - 1)) | half_cell).view(np.float64)
    low = (tail & np.uint64(2**_LOW_BITS - 1)).astype(np.float64)
    # head − middle is exact; the sum is rounded once; the radius is a power of two
    t = ((head - middle) + (low + 0.5) * 2.0**-_LOW_BITS) * table[DEGREE + 1].take(cell)
    z = table[DEGREE].take(cell)
    for n in range(DEGREE - 1, -1, -1):
        z *= t
        z += table[n].take(cell)
    bound = table[DEGREE + 2].take(cell)
    if beyond.any():
        z[beyond] = 0.0
        bound[beyond] = np.inf
    return np.where(words >> np.uint64(TAIL_BITS), -z, z), bound


class Factor(Protocol):
    """A matrix L, as much of it as sampling needs; its entries are exactly the stored floats."""

    @property
    def dimension(self) -> int:
        """The number of rows d."""

    @property
    def sources(self) -> int:
        """The number of columns k."""

    @property
    def longest_row(self) -> int:
        """The most entries in a row: how many roundings `apply` makes in one answer."""

    def apply(self, vector: Vector) -> Vector:
        """Return L·vector; shapes (k,) and (d,)."""

    def apply_abs(self, vector: Vector) -> Vector:
        """Return |L|·vector, rounded to nearest; shapes (k,) and (d,)."""

    def row(self, index: int) -> tuple[Integers, Vector]:
        """Return where row `index` is not zero, and its entries there; shapes (j,), (j,)."""


def prepare(count: int) -> None:
    """Make ready for `count` numbers that will be drawn a few at a time."""
    if count >= _FEW:
        taylor_table()


def rounded_gaussian(shape: Factor, *, randomness: Randomness) -> Integers:
    """Return round(L·ξ), ξ standard normal, exactly.

    Args:
        shape: the factor L, in grid steps; its entries are taken as the exact dyadic numbers.
        randomness: where the bits come from.

    Returns:
        Integers, shape (d,).

    Examples:
        >>> from lownoise.numbers.randomness import SimulationRandomness
        >>> from lownoise.sensitivity.factors import DiagonalShape
        >>> rounded_gaussian(DiagonalShape([1000.0, 0.0]), randomness=SimulationRandomness(1))[1]
        np.int64(0)
    """
    words = randomness.words(shape.sources)
    if shape.dimension < _FEW and not taylor_table.cache_info().currsize:
        rows = np.arange(shape.dimension)
        return np.array(_decide(shape, rows, words, randomness), dtype=np.int64)
    z = np.empty(shape.sources)
    error = np.empty(shape.sources)
    for start in range(0, shape.sources, _BLOCK):  # blocks that stay in the cache
        block = slice(start, start + _BLOCK)
        z[block], error[block] = normals(words[block])
    _settle(words, z, error)
    value = shape.apply(z)
    error += (shape.longest_row + 3) * _UNIT * np.abs(z)
    with np.errstate(invalid="ignore"):  # 0·∞ where there is no noise: left to the slow path
        doubt = shape.apply_abs(error) * (1 + 2.0**-20)
    nearest = np.rint(value)
    decided = (np.abs(value - nearest) + doubt < 0.5) & (np.abs(value) < _LARGEST)  # noqa: PLR2004
    nearest[~decided] = 0.0
    result = nearest.astype(np.int64)
    open_rows = np.flatnonzero(~decided)
    if open_rows.size:
        result[open_rows] = _decide(shape, open_rows, words, randomness)
    return result


def _settle(words: Words, z: Vector, error: Vector) -> None:
    """Find the normal numbers that `normals` leaves open, in place: one in 2^20.

    Each enters as many answers as its column is long, and all of them would have to be decided one
    by one.
    """
    from flint import arb

    for j in np.flatnonzero(np.isinf(error)).tolist():
        with precision(_FIRST_PRECISION):
            ball = Tail(int(words[j])).ball()
            if ball.is_finite():  # it is not where the bits so far are all 0
                z[j] = float(ball.mid())
                error[j] = up(float((abs(ball - arb(z[j]))).upper()))


def _decide(shape: Factor, rows: Integers, words: Words, randomness: Randomness) -> list[int]:
    """Return the roundings of `rows`, drawing more bits of their ξ until each is sure."""
    from flint import arb

    tails: dict[int, Tail] = {}
    decisions = []
    half = arb(0.5)
    for row in rows.tolist():
        columns, entries = shape.row(row)
        used = [tails.setdefault(j, Tail(int(words[j]))) for j in columns.tolist()]
        bits = _FIRST_PRECISION
        while True:
            with precision(bits):
                total = arb(0)
                for entry, tail in zip(entries.tolist(), used, strict=True):
                    if entry:
                        total += arb(entry) * tail.ball()
                decision = (total + half).floor().unique_fmpz()
            if decision is not None:
                decisions.append(int(decision))
                break
            bits += 64
            for tail in used:
                tail.refine(randomness)
    return decisions
