# SPDX-License-Identifier: Apache-2.0
"""Noise of large tables made by machine code, in one pass, where llvmlite is installed.

What it does stands in `kernels.ll`. Numpy says what each of its functions is, where it is used: a
loader there compares the two before the first use.
"""

from __future__ import annotations

import ctypes
import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from lownoise.numbers.machine import Loader, Machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Table, Vector, Words

TEXT = Path(__file__).with_name("kernels.ll")
ENOUGH = 1 << 22  # numbers: numpy takes as much longer for them as compiling does
LEAST = 1 << 10  # numbers at once: fewer are made as fast without
MOST_IN_A_ROW = 128  # numbers that numpy adds up in one run
WIDTH = 4  # numbers of one operation
_FLOATS = np.dtype(np.float64)


@final
class Kernels:
    """The functions of `kernels.ll`, as machine code for this processor.

    Raises:
        ImportError: as of `Machine`.
        RuntimeError: likewise.
    """

    def __init__(self) -> None:
        self._machine = Machine(TEXT.read_text(encoding="utf-8"))  # whose the code is
        number, whole, at = ctypes.c_double, ctypes.c_int64, ctypes.c_void_p
        function = self._machine.function
        self._normals = function("normals", at, whole, at, number, at, at)
        self._less_last = function("less_last", at, *[whole] * 4, at)
        self._nearest = function("nearest", at, whole, number, at, result=whole)
        self._centered = function("centered", at, *[whole] * 3, at, at)

    def normals(self, words: Words, rows: Vector, slope: float, z: Vector, bound: Vector) -> None:
        """Put numbers and bounds in their places, as `numbers.normals.normals` makes them.

        Args:
            words: in a row, shape (k,).
            rows: of each cell the coefficients 8 … 0, the inverse of the radius, the bound, and the
                bits of the middle, shape (cells, 12).
            slope: how much of a number's size is added to its bound.
            z: room for the numbers, shape (k,).
            bound: room for the bounds, shape (k,).
        """
        whole, given = words.size // WIDTH * WIDTH, (rows.ctypes.data, slope)
        if whole:
            self._normals(words.ctypes.data, whole, *given, z.ctypes.data, bound.ctypes.data)
        if whole < words.size:
            last = np.resize(words[whole:], WIDTH)
            made = np.empty((2, WIDTH))
            self._normals(last.ctypes.data, WIDTH, *given, *(own.ctypes.data for own in made))
            z[whole:], bound[whole:] = made[:, : words.size - whole]

    def nearest(self, values: Vector, doubt: float, found: Integers) -> int:
        """Put the nearest integers in their places until some are in doubt; return how many.

        Where they are fewer than all, one of the next four is in doubt.

        Args:
            values: in a row, shape (k,).
            doubt: how far off each may be.
            found: room for integers, shape (k,), which may be the values' own.
        """
        whole, done = values.size // WIDTH * WIDTH, 0
        if whole:
            done = self._nearest(values.ctypes.data, whole, doubt, found.ctypes.data)
        if done < whole or whole == values.size:
            return int(done)
        last, made = np.resize(values[whole:], WIDTH), np.empty(WIDTH, dtype=np.int64)
        if self._nearest(last.ctypes.data, WIDTH, doubt, made.ctypes.data) < WIDTH:
            return whole
        found[whole:] = made[: values.size - whole]
        return values.size

    def differences(self, table: Table, first: int, *, own: bool) -> Table:
        """Return the table of differences to the last category along every axis from `first` on.

        Args:
            table: floats or 64-bit integers in a row, of two categories or more on these axes.
            first: below the number of axes.
            own: whether they may be put where the table is.
        """
        shape, source = list(table.shape), table
        found: Any = table.reshape(-1)
        for axis in range(first, table.ndim):
            outer, n, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
            if source is table and not own:
                found = np.empty(outer * (n - 1) * inner, dtype=table.dtype)
            kind = int(table.dtype == _FLOATS)
            self._less_last(source.ctypes.data, outer, n, inner, kind, found.ctypes.data)
            shape[axis], source = n - 1, found
        return cast("Table", found[: math.prod(shape)].reshape(shape))

    def centered(self, table: Vector, axis: int, total: Vector, room: Vector | None) -> Vector:
        """Return the table of such sums along an axis that has these differences there.

        Args:
            table: floats in a row.
            axis: of at most `MOST_IN_A_ROW` numbers if it is the last one of more than one.
            total: the sums, floats in a row, of the shape without the axis.
            room: at the end of which it is put, where the table itself may end; None for new room.
        """
        shape = table.shape
        outer, n, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
        size = outer * (n + 1) * inner
        found = np.empty(size) if room is None else room[room.size - size :]
        given = table.ctypes.data, outer, n, inner, total.ctypes.data, found.ctypes.data
        self._centered(*given)
        return found.reshape(*shape[:axis], n + 1, *shape[axis + 1 :])


def loader(right: Callable[[Kernels], bool]) -> Loader[Kernels]:
    """Return what has the kernels once it pays, if they are right.

    Args:
        right: compares what is used of them with numpy.
    """
    return Loader(ENOUGH, _made, right)


@functools.cache
def _made() -> Kernels:
    return Kernels()


def in_a_row(*arrays: Any) -> bool:  # noqa: ANN401 (of any type)
    """Return whether a function of the kernels can read arrays as they are, and it is worth it."""
    flags = [own.flags for own in arrays]
    return arrays[0].size >= LEAST and all(f.c_contiguous and f.aligned for f in flags)
