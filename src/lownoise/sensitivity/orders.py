# SPDX-License-Identifier: Apache-2.0
"""What is asked along an attribute whose categories are in an order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

Order = Literal["prefix", "range"]
ORDERS: tuple[Order, ...] = ("prefix", "range")


def answer_count(order: Order | None, size: int) -> int:
    """Return how many counts are asked along an axis of `size` cells.

    Examples:
        >>> answer_count("prefix", 4), answer_count("range", 4), answer_count(None, 4)
        (4, 10, 4)
    """
    return size * (size + 1) // 2 if order == "range" else size


def ends(size: int) -> tuple[Integers, Integers]:
    """Return the first and the last cell of every range, those from cell 0 first.

    Examples:
        >>> [e.tolist() for e in ends(2)]
        [[0, 0, 1], [0, 1, 1]]
    """
    first, last = np.triu_indices(size)
    return first, last


def answer_rows(order: Order | None, size: int) -> Integers:
    """Return which cells each count adds up, 0 or 1, shape (`answer_count`, size).

    Examples:
        >>> answer_rows("prefix", 3).tolist()
        [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    cells = np.arange(size)
    if order is None:
        return np.eye(size, dtype=np.int64)
    if order == "prefix":
        return (cells <= cells[:, None]).astype(np.int64)
    first, last = ends(size)
    return ((cells >= first[:, None]) & (cells <= last[:, None])).astype(np.int64)


def answers_along(table: Vector, axis: int, order: Order) -> Vector:
    """Return the counts that are asked along one axis of a table of cells.

    Examples:
        >>> answers_along(np.array([5.0, 1.0, 2.0]), 0, "range").tolist()
        [5.0, 6.0, 8.0, 1.0, 3.0, 2.0]
    """
    sums: Vector = np.cumsum(table, axis=axis)
    if order == "prefix":
        return sums
    size = table.shape[axis]
    first, last = ends(size)
    before = np.take(sums, first - 1, axis=axis)  # of a range from cell 0: nothing
    shape = [1] * table.ndim
    shape[axis] = first.size
    return np.take(sums, last, axis=axis) - np.where((first > 0).reshape(shape), before, 0.0)
