# SPDX-License-Identifier: Apache-2.0
"""Integers that are the rounding of a true Gaussian vector, decided lazily.

For an integer vector q, q + round(Lξ) = round(q + Lξ): what is published is a function of the
continuous Gaussian mechanism's answer, so its exact privacy curve holds, with no loss for being
discrete. The noise is symmetric, so the answer is unbiased.

Each ξ is drawn as 64 bits. A float evaluation with a proved error decides nearly every rounding;
where a half-integer lies within the error, more bits are drawn and ball arithmetic decides. The
work depends on the bits of ξ and on the public L, never on a datum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from flint import arb

from lownoise.numbers.arrays import Spare
from lownoise.numbers.compiled import WIDTH, in_a_row, loader
from lownoise.numbers.intervals import precision
from lownoise.numbers.normals import (
    Tail,
    normals,
    settle,
)
from lownoise.numbers.randomness import drawn_into
from lownoise.numbers.rounding import CROSS, grown

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector, Words
    from lownoise.numbers.compiled import Kernels
    from lownoise.numbers.randomness import Randomness

_UNIT = 2.0**-53
_LARGEST = 2.0**51  # below it a float and its neighbours resolve a half
_FIRST_PRECISION = 192
_BLOCK = 1 << 15
_spare = Spare(_BLOCK, np.float64, np.float64)
_rooms = Spare(_BLOCK, np.float64, np.float64, np.uint64, most=1 << 20)  # as much as tables have


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
        """Return L·vector, made anew; shapes (k,) and (d,)."""

    def apply_abs(self, vector: Vector) -> Vector:
        """Return |L|·vector, rounded to nearest, or more; shapes (k,), and (d,) or one for all."""

    def row(self, index: int) -> tuple[Integers, Vector]:
        """Return where row `index` is not zero, and its entries there; shapes (j,), (j,)."""


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
    with _rooms(shape.sources) as (*numbers, room):
        words = drawn_into(room, randomness)
        slope = (shape.longest_row + 3) * _UNIT
        z, error = normals(words, slope, numbers)
        settle(words, z, error, slope)
        value = shape.apply(z)
        with np.errstate(invalid="ignore"):  # 0·∞ where there is no noise: left to the slow path
            doubt = grown(shape.apply_abs(error), CROSS)
        result, rows = _roundings(value, doubt)
        if rows.size:  # at once: rows may share numbers
            result[rows] = _decide(shape, rows, words, randomness)
    return result


def _roundings(value: Vector, doubt: Vector) -> tuple[Integers, Integers]:
    """Return the nearest integers, 0 where they are in doubt, and where that is.

    Args:
        value: numbers, shape (k,), in whose place the integers may be put.
        doubt: how far off each may be, shape (k,), or all, shape ().
    """
    every = np.broadcast_to(doubt, value.shape)
    left = [np.zeros(0, dtype=np.int64)]
    one = not doubt.ndim and value.flags.writeable and in_a_row(value)
    if one and (kernels := LOADER.after(value.size)):
        result, done = value.view(np.int64), 0
        while done < value.size:
            done += kernels.nearest(value[done:], float(doubt), result[done:])
            own = slice(done, done + WIDTH)  # of which one is open, or none is left
            left.append(_nearest(value[own], every[own], result[own]) + done)
            done += WIDTH
        return result, np.concatenate(left)
    result = np.empty(value.shape, dtype=np.int64)
    blocks = _blocks(value.size)
    left += [_nearest(value[own], every[own], result[own]) + own.start for own in blocks]
    return result, np.concatenate(left)


def _blocks(count: int) -> list[slice]:
    """Return slices that stay in the cache."""
    return [slice(start, start + _BLOCK) for start in range(0, count, _BLOCK)]


def _nearest(value: Vector, doubt: Vector, result: Integers) -> Integers:
    """Put the nearest integers in `result`, 0 where they are in doubt, and return where that is.

    Args:
        value: numbers, shape (k,).
        doubt: how far off each may be.
        result: room for integers, shape (k,).
    """
    with _spare(len(value)) as room:
        nearest, off = room
        np.rint(value, out=nearest)
        np.abs(np.subtract(value, nearest, out=off), out=off)
        off += doubt
        decided = off < 0.5  # noqa: PLR2004
        decided &= np.abs(nearest, out=off) < _LARGEST
        open_rows = np.flatnonzero(~decided)
        nearest[open_rows] = 0.0
        result[:] = nearest
    return open_rows


def _right(kernels: Kernels) -> bool:
    """Return whether kernels round numbers of every kind as numpy does, each by itself."""
    halves = np.concatenate([np.arange(-9, 9) / 2, [2.0**30 + 0.5, 2.0**51 - 0.5]])
    ends = [0.0, -0.0, 5e-324, 2.0**50 + 0.25, 2.0**51, 2.0**52, 2.0**53, 1e308, np.inf, np.nan]
    own = np.concatenate([halves, np.nextafter(halves, -9), np.nextafter(halves, 9), ends])
    values = np.concatenate([own, -own, 0.75 * own])
    for doubt in (0.0, 2.0**-30, 0.25, np.inf, np.nan):
        wanted, found = np.zeros((2, values.size), dtype=np.int64)
        with np.errstate(all="ignore"):
            left = set(_nearest(values, np.broadcast_to(doubt, values.shape), wanted).tolist())
        for i in range(values.size):
            sure = kernels.nearest(values[i : i + 1], doubt, found[i : i + 1])
            if sure == (i in left) or found[i] != wanted[i]:
                return False
        for start in range(len(halves)):  # four of different kinds
            own = values[start :: len(halves)][:WIDTH].copy()
            open_ones = left.intersection(range(start, len(values), len(halves))[:WIDTH])
            if (kernels.nearest(own, doubt, own.view(np.int64)) == WIDTH) == bool(open_ones):
                return False
    return True


LOADER = loader(_right)


def _decide(shape: Factor, rows: Integers, words: Words, randomness: Randomness) -> list[int]:
    """Return the roundings of `rows`, drawing more bits of their ξ until each is sure."""
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
