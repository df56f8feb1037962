# SPDX-License-Identifier: Apache-2.0
"""The one door through which numbers from outside become arrays: checked, copied, read-only."""

from __future__ import annotations

import math
from collections import deque
from contextlib import contextmanager, suppress
from decimal import Decimal
from itertools import accumulate, pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar, cast, final

import numpy as np

from lownoise.errors import quoted, quoted_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from lownoise.errors import LownoiseError

    Vector = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Words = NDArray[np.uint64]
    Chosen = NDArray[np.bool_]

Table = TypeVar("Table", bound=np.ndarray)  # of integers or of floats
_LEFT = 4  # rooms that nobody has, and that are kept


def frozen(array: Vector) -> Vector:
    """Return the array, made read-only."""
    array.setflags(write=False)
    return array


def weighed(rows: Vector, values: Vector) -> Vector:
    """Return rows·values, shape (m,), of a matrix (m, d), or of a diagonal that stands for one."""
    return np.asarray(rows * values if rows.ndim == 1 else rows @ values)


def floats(values: object) -> Vector:
    """Return a copy of numbers as floats, in the shape that they come in.

    Text, truth values, complex and masked numbers, dates and what is missing are no numbers, even
    where numpy would make some of them.

    Args:
        values: an array, a table, or lists, of any shape.

    Raises:
        TypeError: where one of them is no number.
        ValueError: where lists are ragged.

    Examples:
        >>> floats([[1, 2.5]])
        array([[1. , 2.5]])
        >>> floats([1, True])
        Traceback (most recent call last):
        TypeError: True is no number
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise TypeError("masked is no number")
    if isinstance(values, (list, tuple)):
        _refuse_others(values)
    given = np.asarray(values)
    if given.dtype.kind in "iuf":
        return given.astype(np.float64, order="C")
    if given.dtype.kind != "O":
        raise TypeError(f"{given.dtype} is no number")
    flat = [real(item) for item in given.ravel().tolist()]
    return np.array(flat, dtype=np.float64).reshape(given.shape)


def real(value: object) -> float:
    """Return one number as a float.

    Raises:
        TypeError: where it is no real number: text, a truth value, complex, missing.
        OverflowError: where no float is as large.
    """
    own = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if isinstance(own, bool) or not isinstance(own, (Real, Decimal)):
        raise TypeError(f"{quoted(own)} is no number")
    return float(own)


def number(value: object, *, field: str, error: type[LownoiseError], within: str = "") -> float:
    """Return one number, which may be infinite, as a float.

    Args:
        value: the number.
        field: how the caller calls it, for the message.
        error: the class to raise.
        within: what the message says of those that are taken, as " from 2 to 9".

    Raises:
        LownoiseError: of class `error`, where it is no real number, or NaN.
    """
    try:
        found = real(value)
    except (TypeError, ValueError, OverflowError):
        raise error(f"{field}={quoted_number(value)} is not a number; give one{within}") from None
    if math.isnan(found):
        raise error(f"{field}=nan is not a number; give one{within}")
    return found


_OTHERS = frozenset({bool, np.bool_, str, bytes, complex})  # what numpy would turn into numbers


def _refuse_others(values: list[object] | tuple[object, ...]) -> None:
    for kind in set(map(type, values)):
        if kind in _OTHERS:
            wrong = next(item for item in values if type(item) is kind)
            raise TypeError(f"{quoted(wrong)} is no number")
        if kind in (list, tuple):
            for item in values:
                if isinstance(item, (list, tuple)):
                    _refuse_others(item)
        elif any(isinstance(v, np.ndarray) and v.dtype.kind not in "iufO" for v in values):
            raise TypeError("an array of another kind holds no numbers")


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
        array = floats(values)
    except (TypeError, ValueError, OverflowError, RecursionError):
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
        array = values if own else floats(values)
    except (TypeError, ValueError, OverflowError, RecursionError):
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


def stacked(tables: Sequence[Table]) -> Table:
    """Return tables of one shape as one, shape (k, n, …); of one alone nothing is copied.

    Examples:
        >>> stacked([np.zeros(2)] * 3).shape, stacked([np.zeros(2)]).shape
        ((3, 2), (1, 2))
    """
    return cast("Table", np.stack(tables) if len(tables) > 1 else tables[0][None])


def slices(sizes: Iterable[int]) -> list[slice]:
    """Return the slices of that many numbers each that follow each other from 0.

    Examples:
        >>> slices([2, 1])
        [slice(0, 2, None), slice(2, 3, None)]
    """
    ends = [0, *accumulate(sizes)]
    return [slice(int(start), int(end)) for start, end in pairwise(ends)]


def triangle_of(rows: Vector) -> Vector:
    """Return R upper triangular with RᵀR = rowsᵀ·rows; shapes (n, d) and (min(n, d), d)."""
    found: Vector = np.asarray(np.linalg.qr(rows, mode="r"), np.float64)
    return found


@final
class Spare:
    """Room for a block of numbers of each kind, which is filled anew for every block.

    It is taken away while somebody has it: neither another thread nor what interrupts this one (a
    signal's handler, a finalizer) is given the same, or two releases would have the same noise.
    What new pages of memory cost is as much as the work in them.

    Args:
        length: of a block.
        kinds: of the numbers.
        most: the length of the room that a longer block has; beyond it each has room of its own.

    Examples:
        >>> spare = Spare(4, np.float64, np.int64, most=16)
        >>> with spare(3) as room, spare(3) as other:
        ...     [(own.dtype.name, own.size) for own in room], room[0].base is other[0].base
        ([('float64', 3), ('int64', 3)], False)
        >>> with spare(9) as more, spare(17) as own:
        ...     more[0].base.size, own[0].base is None
        (16, True)
    """

    def __init__(self, length: int, *kinds: type[np.generic], most: int = 0) -> None:
        self._length, self._kinds, self._most = length, kinds, most
        self._free: deque[list[Any]] = deque(maxlen=_LEFT)

    @contextmanager
    def __call__(self, length: int) -> Iterator[list[Any]]:
        """Give arrays of so many numbers, with whatever they hold, until the block is left."""
        if length > max(self._length, self._most):
            yield self._made(length)
            return
        arrays: list[Any] = []
        with suppress(IndexError):  # one step, which nothing interrupts
            arrays = self._free.pop()
        if not arrays or arrays[0].size < length:
            # at once what any may need: of pages that nobody writes to there are none
            arrays = self._made(self._length if length <= self._length else self._most)
        try:
            yield [own[:length] for own in arrays]
        finally:
            self._free.append(arrays)

    def _made(self, length: int) -> list[Any]:
        return [np.empty(length, dtype=kind) for kind in self._kinds]


def by_blocks(
    function: Callable[[Vector], Vector], rows: Vector, size: int, filler: Vector | None
) -> Vector:
    """Return what a function makes of rows, so many at a time, shapes (n, d).

    Args:
        function: from rows to as many rows of the same length.
        rows: shape (n, d).
        size: the number of rows in a block.
        filler: a row that fills the last block up, so that arithmetic is the same for all rows;
            None where it need not be full.
    """
    found = np.empty_like(rows)
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        block = part
        if filler is not None:
            block = np.broadcast_to(filler, (size, rows.shape[1])).copy()
            block[: len(part)] = part
        found[start : start + size] = function(block)[: len(part)]
    return found
