# SPDX-License-Identifier: Apache-2.0
"""Codes of a column made and added up by machine code, in one pass, where llvmlite is installed.

What it does stands in `kernels.ll`; `numbers.machine` compiles it.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.numbers.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lownoise.numbers.arrays import Integers, Vector

    Scalars = tuple[float, float, float, float]  # the ends, the center and the inverse of a step

TEXT = Path(__file__).with_name("kernels.ll")
_AT_ONCE = 1 << 24  # values, whose sums are exact as floats
_WIDTH = 8  # values of one operation


@final
class Kernels:
    """The functions of `kernels.ll`, as machine code for this processor.

    Raises:
        ImportError: as of `Machine`.
        RuntimeError: likewise.
    """

    def __init__(self) -> None:
        self._machine = Machine(TEXT.read_text(encoding="utf-8"))  # whose the code is
        number, whole, address = ctypes.c_double, ctypes.c_int64, ctypes.c_void_p
        given = (address, whole, *[number] * 5)
        self._sums = self._machine.function("sums", *given, address)
        self._places = self._machine.function("places", *given, address, address)

    def sum(self, scalars: Scalars, values: Vector) -> tuple[int, int]:
        """Return the exact sum of the codes of values that are there, and how many are missing.

        Args:
            scalars: the ends, the center, and the inverse of the step.
            values: floats in a row, shape (n,).
        """
        found = np.empty(3, dtype=np.int64)
        total = lacking = 0
        for part in _parts(values, np.nan):
            self._sums(part.ctypes.data, len(part), *scalars, 0.0, found.ctypes.data)
            high, low, lacks = found.tolist()
            total, lacking = total + (high << 26) + low, lacking + lacks
        return total, lacking - (-len(values) % _WIDTH)

    def add_at(
        self, found: Integers, scalars: Scalars, missing: int, values: Vector, at: Integers
    ) -> None:
        """Add the codes of values to the sums at their places, by high and low bits.

        Args:
            found: shape (groups, 2).
            scalars: as of `sum`.
            missing: the code of NaN.
            values: floats in a row, shape (n,).
            at: one more than the place of each row, 0 where it has none, in a row, shape (n,):
                nothing here looks whether these are places, so the caller must have.
        """
        sums = np.zeros((len(found) + 1, 2), dtype=np.int64)
        for part, own in zip(_parts(values, 0.0), _parts(at, 0), strict=True):
            given = part.ctypes.data, len(part), *scalars, float(missing)
            self._places(*given, own.ctypes.data, sums.ctypes.data)
        found += sums[1:]


def _parts(values: Any, filler: float) -> Iterator[Any]:  # noqa: ANN401 (of one type)
    """Yield values in parts of whole eights, the last of them filled up."""
    whole = len(values) // _WIDTH * _WIDTH
    for start in range(0, whole, _AT_ONCE):
        yield values[start : min(start + _AT_ONCE, whole)]
    if whole < len(values):
        last = np.full(_WIDTH, filler, dtype=values.dtype)
        last[: len(values) - whole] = values[whole:]
        yield last
