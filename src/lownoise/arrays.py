# SPDX-License-Identifier: Apache-2.0
"""The one door through which numbers from outside become arrays: checked, copied, read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from lownoise.errors import LownoiseError

    Vector = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Words = NDArray[np.uint64]


def frozen(array: Vector) -> Vector:
    """Return the array, made read-only."""
    array.setflags(write=False)
    return array


def vector(values: ArrayLike, *, field: str, error: type[LownoiseError]) -> Vector:
    """Return a read-only copy of `values` as a non-empty vector of finite floats.

    Args:
        values: numbers, shape (d,).
        field: how the caller calls them, for the message.
        error: the class to raise.

    Raises:
        LownoiseError: of class `error`, where a value is not a finite number or the shape is wrong.

    Examples:
        >>> from lownoise.errors import DomainError
        >>> vector([1, 2], field="Box.lower", error=DomainError)
        array([1., 2.])
    """
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise error(f"{field} is not a list of numbers; give one number a coordinate") from None
    if array.ndim != 1 or array.size == 0:
        raise error(f"{field} has shape {array.shape}; give a list with one number a coordinate")
    wrong = np.flatnonzero(~np.isfinite(array))
    if wrong.size:
        i = int(wrong[0])
        raise error(f"{field}[{i}]={array[i]} is not finite; give a finite number")
    return frozen(array)
