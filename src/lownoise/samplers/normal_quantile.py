# SPDX-License-Identifier: Apache-2.0
"""Standard normal numbers from uniform bits, each with a proved bound on its error.

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
from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import up
from lownoise.samplers.tail import TAIL_BITS

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector, Words

OCTAVES = 20
CELLS = 32  # an octave
DEGREE = 8
_LOW_BITS = 11  # the bits of v that a double cannot hold beside the first 52
_UNIT = 2.0**-53
_CUT = 52 - OCTAVES  # v·2^53 ≥ 2^_CUT is in the table
_CELL_SHIFT = 52 - int(math.log2(CELLS))
_FIRST = (1023 + _CUT) * CELLS  # exponent and leading mantissa bits of the first cell


@functools.cache
def taylor_table() -> Vector:
    """Return a column a cell: Taylor coefficients 0 … DEGREE, 1/radius, the error bound."""
    from flint import arb, arb_poly

    from lownoise.samplers.tail import quantile

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
