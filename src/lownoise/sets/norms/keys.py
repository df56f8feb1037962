# SPDX-License-Identifier: Apache-2.0
"""Rows that are the same up to sign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Vector


def turned(points: Vector) -> Vector:
    """Return each row or its opposite, the first number that is not 0 being positive."""
    first = np.argmax(points != 0, axis=1)
    sign = np.where(points[np.arange(len(points)), first] < 0, -1.0, 1.0)
    return np.asarray(points * sign[:, None] + 0.0)  # no negative zeros


def _keys(rows: Vector) -> Any:  # noqa: ANN401 (raw bytes have no type of their own)
    whole = np.ascontiguousarray(rows)
    return whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).ravel()


def among(points: Vector, known: Vector) -> Chosen:
    """Return which rows are rows of a list or opposites of them, number for number, shape (n,).

    Examples:
        >>> among(np.array([[-1.0, 0.0], [1.0, 1.0]]), np.array([[1.0, 0.0]]))
        array([ True, False])
    """
    return np.asarray(np.isin(_keys(turned(points)), _keys(turned(known))))


def distinct(points: Vector) -> Vector:
    """Return the rows that are not 0, one of each and its opposite.

    Examples:
        >>> distinct(np.array([[0.0, 0.0], [1.0, 2.0], [-1.0, -2.0]]))
        array([[1., 2.]])
    """
    moved = points[np.any(points, axis=1)]
    return frozen(np.unique(turned(moved), axis=0)) if len(moved) else frozen(moved.copy())
