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
    Chosen = NDArray[np.bool_]


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


def matrix(values: ArrayLike, *, field: str, error: type[LownoiseError]) -> Vector:
    """Return a read-only copy of `values` as a matrix of finite floats, which may be empty.

    An array that is already read-only and owns its numbers is taken as it is.

    Args:
        values: numbers, shape (n, d).
        field: how the caller calls them, for the message.
        error: the class to raise.

    Raises:
        LownoiseError: of class `error`, where a value is not a finite number or the shape is wrong.

    Examples:
        >>> from lownoise.errors import DomainError
        >>> matrix([[1, 2]], field="Points.points", error=DomainError)
        array([[1., 2.]])
    """
    own = (
        isinstance(values, np.ndarray)
        and values.dtype == np.float64
        and values.flags.owndata
        and values.flags.c_contiguous
        and not values.flags.writeable
    )
    try:
        array = values if own else np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise error(
            f"{field} is not a table of numbers; give rows of the same length, one number a column",
        ) from None
    assert isinstance(array, np.ndarray)  # noqa: S101 (for the type checker)
    if array.ndim != 2:  # noqa: PLR2004
        raise error(f"{field} has shape {array.shape}; give a table, one row a point")
    wrong = _first_wrong(array)
    if wrong is not None:
        i, j = wrong
        raise error(f"{field}[{i}, {j}]={array[i, j]} is not finite; give a finite number")
    return frozen(array)


def _first_wrong(array: Vector) -> tuple[int, int] | None:
    """Return where the first number that is not finite stands; block by block, to save memory."""
    step = max((1 << 21) // max(array.shape[1], 1), 1)
    for start in range(0, len(array), step):
        wrong = np.argwhere(~np.isfinite(array[start : start + step]))
        if wrong.size:
            return int(wrong[0, 0]) + start, int(wrong[0, 1])
    return None


def triangle_of(rows: Vector) -> Vector:
    """Return R upper triangular with RᵀR = rowsᵀ·rows; shapes (n, d) and (min(n, d), d)."""
    found: Vector = np.asarray(np.linalg.qr(rows, mode="r"), np.float64)
    return found
