# SPDX-License-Identifier: Apache-2.0
"""Records as people's devices give them, read by their values' names or in order.

What a value is worth follows from it alone; a record is refused for its shape and for nothing else,
and no message says a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.errors import TableError
from lownoise.numbers.values import number

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


def numbers_of(records: Any, columns: Sequence[str], missing: Vector) -> Vector:  # noqa: ANN401
    """Return records as finite numbers, shape (n, d): what is none counts as the stand-in.

    Args:
        records: an array of shape (n, d), or n records: each a mapping from the columns' names, or
            their d values in order, or the value itself where d = 1.
        columns: d names.
        missing: the stand-in of each column, shape (d,).

    Raises:
        TableError: where a record has not d values, or lacks a column; of its values nothing is
            said.

    Examples:
        >>> numbers_of([{"age": "31"}, {"age": None}, {"age": np.inf}], ["age"], np.array([40.0]))
        array([[31.],
               [40.],
               [40.]])
    """
    found = table_of(records, columns)
    if found is None:
        rows = [list(map(number, values_of(record, columns))) for record in records]
        found = np.array(rows, dtype=np.float64)
        found = found.reshape(-1, missing.size)
    return np.where(np.isfinite(found), found, missing)


def table_of(records: Any, columns: Sequence[str]) -> Vector | None:  # noqa: ANN401
    """Return an array of plain numbers as floats, shape (n, d); None of records one by one.

    Raises:
        TableError: where it is an array of another shape.
    """
    masked = isinstance(records, np.ma.MaskedArray)
    if masked or not isinstance(records, np.ndarray) or records.dtype.kind not in "iufb":
        return None
    if records.shape[1:] != (len(columns),):
        raise another_shape(columns)
    with np.errstate(over="ignore"):  # of longer floats
        return np.array(records, dtype=np.float64)


def values_of(record: Any, columns: Sequence[str]) -> list[Any]:  # noqa: ANN401
    """Return the values of one record, in the columns' order.

    Args:
        record: a mapping from the columns' names, or a sequence of their values, or the only value.
        columns: d names.

    Raises:
        TableError: where it has not d values, or lacks a column; of its values nothing is said.
    """
    if isinstance(record, Mapping):
        if any(name not in record for name in columns):
            raise another_shape(columns)
        values = [record[name] for name in columns]
    elif isinstance(record, np.ndarray):
        # without axes it is one value, as what is masked in a column is
        values = record.tolist() if record.ndim == 1 else [record[()]] if not record.ndim else []
    elif isinstance(record, Sequence) and not isinstance(record, (str, bytes)):
        values = list(record)
    else:
        values = [record]
    if len(values) != len(columns):
        raise another_shape(columns)
    return values


def another_shape(columns: Sequence[str]) -> TableError:
    """Return the error of a record that is of another shape than the plan's."""
    shown = ", ".join(map(repr, columns[:5])) + (", …" if len(columns) > 5 else "")  # noqa: PLR2004
    return TableError(
        f"record has not the plan's {len(columns)} values; give {shown}, by name or in order"
    )
