# SPDX-License-Identifier: Apache-2.0
"""The codes of one column, and their exact sums: of all rows, or at the places of groups.

What they are is said by numpy; where many values are added up, `compiled` does it in one pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.compiled import Kernels
from lownoise.numbers.machine import Loader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lownoise.numbers.arrays import Integers, Vector

LARGEST_CODE = 2.0**52  # codes are exact as floats, and so are their halves
HALF = 26  # bits: sums of 2^37 rows of them fit 64 bits
BLOCK = 1 << 16  # of a column at a time: it stays in the cache
_SUMMED = 1 << 8  # codes at least are added up as floats, where so many are exact
_SPARSE, _LEAST = 8, 1 << 8  # rows a place, and rows
_ENOUGH = 1 << 26  # values: numpy takes as much longer for them as compiling does


@final
@dataclass(frozen=True)
class ColumnCode:
    """The code of a value x is floor((clip(x, lower, upper) − center)·inverse + ½).

    Args:
        lower: least value.
        upper: greatest value.
        center: what is subtracted.
        inverse: a power of two.
        missing: the code of NaN.
        largest: at least the size of every code, at most 2^52.
        integral: whether all of these and all values are whole, center 0 and inverse 1, so that
            clipping is all.
    """

    lower: float
    upper: float
    center: float
    inverse: float
    missing: int
    largest: float
    integral: bool = False

    def write(self, values: Vector, codes: Vector) -> Vector:
        """Write the codes of values to `codes`, and return them: floats that are whole."""
        with np.errstate(all="ignore"):  # nothing may warn of a value
            self._put(values, codes)
            if np.isnan(codes.sum()):
                np.copyto(codes, self.missing, where=np.isnan(codes))
        return codes

    def _put(self, values: Vector, codes: Vector) -> None:
        """Write the codes of values to `codes`; NaN where one is missing."""
        # the code of a clamped value is the clamped code: every step is monotone
        np.clip(values, self.lower, self.upper, out=codes)
        if self.integral:
            return
        if self.center:
            codes -= self.center
        codes *= self.inverse
        codes += 0.5
        np.floor(codes, out=codes)

    def sum(self, values: Vector) -> tuple[int, int]:
        """Return the exact sum of the codes of values that are there, and how many are missing.

        Args:
            values: shape (n,).

        Examples:
            >>> code = ColumnCode(0.0, 4.0, center=2.0, inverse=2.0, missing=0, largest=4.0)
            >>> code.sum(np.array([-9.0, 3.2, np.nan, np.inf]))
            (2, 1)
        """
        if kernels := self._compiled(values):
            return kernels.sum(self.scalars, values)
        total = lacking = 0
        buffer = np.empty(min(BLOCK, len(values)))
        with np.errstate(all="ignore"):
            for _, block in _blocks(values):
                self._put(block, codes := buffer[: len(block)])
                found, lacks = added(codes, self.largest)
                total, lacking = total + found, lacking + lacks
        return total, lacking

    def add_at(self, found: Integers, values: Vector, at: Integers) -> None:
        """Add the codes of values to the sums at their places, by high and low bits.

        Args:
            found: shape (groups, 2).
            values: shape (n,).
            at: one more than the place of each row, 0 where it has none, shape (n,); that no other
                is there is for the caller to know.
        """
        if (kernels := self._compiled(values)) and _in_a_row(at, np.int64):
            kernels.add_at(found, self.scalars, self.missing, values, at)
            return
        buffer = np.empty(min(BLOCK, len(values)))
        for start, block in _blocks(values):
            codes = self.write(block, buffer[: len(block)])
            add_at(found, codes, at[start : start + len(block)], self.largest)

    @property
    def ends(self) -> tuple[int, int]:
        """The least code, and the greatest.

        Examples:
            >>> ColumnCode(0.0, 4.0, center=2.0, inverse=2.0, missing=0, largest=4.0).ends
            (-4, 4)
        """
        least, greatest = self.write(np.array([self.lower, self.upper]), np.empty(2)).tolist()
        return int(least), int(greatest)

    @property
    def scalars(self) -> tuple[float, float, float, float]:
        """What codes are made by, but for what is missing."""
        return self.lower, self.upper, self.center, self.inverse

    def _compiled(self, values: Vector) -> Kernels | None:
        return LOADER.after(len(values)) if _in_a_row(values, np.float64) else None


_HALVES = np.arange(-9, 9) / 2
_ENDS = [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, -5e-324, 1e308, 2.0**50 + 0.25, 2.0**52]
# whoever makes codes is asked for those of these values, before it is for any of a table
AWKWARD = np.concatenate(
    [
        *(_HALVES, np.nextafter(_HALVES, -9), np.nextafter(_HALVES, 9)),
        *(_ENDS, -np.array(_ENDS)),
    ]
)
CODES = (
    ColumnCode(-4.0, 4.0, 0.5, 1.0, 3, 5.0),
    ColumnCode(-(2.0**50), 2.0**50, 0.0, 4.0, -7, LARGEST_CODE),
)


def _in_a_row(values: NDArray[Any], kind: type[np.generic]) -> bool:
    return values.dtype == kind and values.flags.c_contiguous and values.flags.aligned


def _blocks(values: Vector) -> Iterator[tuple[int, Vector]]:
    for start in range(0, len(values), BLOCK):
        yield start, values[start : start + BLOCK]


def exact_width(largest: float) -> int:
    """Return how many codes add up exactly as floats, in any order; a power of two.

    Args:
        largest: at least the size of a code, at most 2^52.

    Examples:
        >>> exact_width(2.0**40), exact_width(2.0**52), exact_width(0.0)
        (8192, 2, 65536)
    """
    return min(1 << math.frexp(2 * LARGEST_CODE / max(largest, 1.0))[1] - 1, BLOCK)


def added(codes: Vector, largest: float) -> tuple[int, int]:
    """Return the exact sum of codes of at most that size, and how many are missing.

    Args:
        codes: floats that are whole, or NaN for what is missing, which becomes 0; shape (n,), n at
            most `BLOCK`.
        largest: at least the size of a code, at most 2^52.

    Examples:
        >>> total, lacking = added(np.array([2.0**52, np.nan, 1.0, -3.0]), 2.0**52)
        >>> total - 2**52, lacking
        (-2, 1)
    """
    width = exact_width(largest)
    if width < _SUMMED:
        high = np.floor(codes * 2.0**-HALF)  # halves, which 2^26 of add up exactly
        sums = [float(high.sum()), float((codes - high * 2.0**HALF).sum())]
    else:
        whole = len(codes) // width * width
        sums = codes[:whole].reshape(-1, width).sum(axis=1).tolist()
        sums.append(float(codes[whole:].sum()) if whole < len(codes) else 0.0)
    if math.isnan(sum(sums)):
        missing = np.isnan(codes)
        codes[missing] = 0.0
        return added(codes, largest)[0], int(np.count_nonzero(missing))
    if width < _SUMMED:
        return (int(sums[0]) << HALF) + int(sums[1]), 0
    return sum(map(int, sums)), 0


def add_at(found: Integers, codes: Vector, at: Integers, largest: float) -> None:
    """Add codes to the sums at their places, by high and low bits.

    Args:
        found: shape (groups, 2).
        codes: floats that are whole, shape (n,), n at most `BLOCK`.
        at: one more than the place of each row, 0 where it has none, shape (n,).
        largest: at least the size of a code, at most 2^52.

    Examples:
        >>> found, at = np.zeros((2, 2), dtype=np.int64), np.array([2, 2, 1])
        >>> add_at(found, np.array([2.0**52, -1.0, 5.0]), at, 2.0**52)
        >>> add_at(found, np.array([-1.0, 1.0, 3.0]), at, 3.0)
        >>> (found[:, 0] * 2**26 + found[:, 1]).tolist()
        [8, 4503599627370495]
    """
    size, width = len(found) + 1, exact_width(largest)
    # so few rows at a time would take longer than two halves of all; sums of others fit 64 bits
    if width < max(_SPARSE * size, _LEAST):
        high = np.floor(codes * 2.0**-HALF)
        for k, half in enumerate((high, codes - high * 2.0**HALF)):
            found[:, k] += np.bincount(at, weights=half, minlength=size)[1:].astype(np.int64)
        return
    sums = np.zeros(size, dtype=np.int64)
    for start in range(0, len(at), width):
        own = slice(start, start + width)
        sums += np.bincount(at[own], weights=codes[own], minlength=size).astype(np.int64)
    found[:, 0] += sums[1:] >> HALF
    found[:, 1] += sums[1:] & ((1 << HALF) - 1)


def _right(kernels: Kernels) -> bool:
    """Return whether kernels say of values of every kind what numpy does, on this processor."""
    at = np.arange(len(AWKWARD)) % 4
    for code in (*CODES, ColumnCode(-3.0, 7.0, 0.0, 1.0, 0, 7.0, integral=True)):
        own = np.floor(AWKWARD) if code.integral else AWKWARD
        codes = code.write(own, np.empty(len(own)))
        known = ~np.isnan(own)
        wanted, found = np.zeros((2, 3, 2), dtype=np.int64)
        add_at(wanted, codes, at, LARGEST_CODE)
        kernels.add_at(found, code.scalars, code.missing, own, at)
        sums = (int(codes[known].astype(np.int64).sum()), int(np.count_nonzero(~known)))
        if kernels.sum(code.scalars, own) != sums or not np.array_equal(found, wanted):
            return False
    return True


LOADER = Loader(_ENOUGH, Kernels, _right)


def compiled() -> bool:
    """Return whether kernels add up the codes of large tables from now on; they are made at once.

    Without `lownoise[fast]` they are not, nor on a processor where they would say anything else.
    """
    return LOADER.after(_ENOUGH) is not None
