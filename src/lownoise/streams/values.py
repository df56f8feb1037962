# SPDX-License-Identifier: Apache-2.0
"""What callers give as values of rounds, as floats: each value means what it means alone.

Only the kind and the shape of an array, or of a table, can be refused. What an array of numbers
holds is taken as it is: its type was the caller's. Everything else is looked at item by item.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines import Coding
from lownoise.engines.cells import quiet
from lownoise.errors import StreamError
from lownoise.numbers.values import number

if TYPE_CHECKING:
    from lownoise.engines import AbstractCoding
    from lownoise.numbers.arrays import Vector

_ALONE = frozenset({float, int, bool, str, type(None)})  # most values: never a list
_LISTED = ("to_pylist", "to_list", "tolist")  # what makes a list: of Arrow, of frames, of tensors
_PLAIN = (str, bytes, bytearray, np.generic)  # one value each, though some can be indexed


def value_of(value: object, dimension: int) -> Vector:
    """Return one round's value, shape (1, d), NaN where a number is missing.

    What is no list of d numbers is missing as a whole.

    Args:
        value: a number or a text that spells one, or d of them.
        dimension: d.

    Raises:
        StreamError: where it is a numpy array of another shape.

    Examples:
        >>> value_of([1, "x"], 2), value_of([1, 2, 3], 2)
        (array([[ 1., nan]]), array([[nan, nan]]))
    """
    fitting = ((), (1,)) if dimension == 1 else ((dimension,),)
    if isinstance(value, np.ndarray) and value.shape not in fitting:
        what = "one number" if dimension == 1 else f"{dimension} numbers, one a coordinate"
        raise StreamError(f"value has the shape {value.shape} and is no round's; give {what}")
    with quiet():
        return np.array([_round(value, dimension)])


def values_of(values: object, dimension: int) -> tuple[Vector, bool]:
    """Return the values of some rounds, shape (k, d), and whether they came as a table of rounds.

    Args:
        values: numbers or texts, or rounds of d of them: a list or another sequence, an array, a
            masked array, a pandas, polars or Arrow column, or a table with d columns.
        dimension: d.

    Raises:
        StreamError: where it is nothing of the kind, or an array or a table of another shape.

    Examples:
        >>> values_of([1, None, "x", "2.5", 10**400, [3], 1j], 1)[0].ravel()
        array([1. , nan, nan, 2.5, inf, 3. , nan])
    """
    with quiet():
        columns = _columns(values)
        if columns is not None:
            if len(columns) != dimension:
                raise _no_values(dimension)
            cells = [[number(cell) for cell in _items(own) or ()] for own in columns]
            return np.array(cells, dtype=np.float64).T, True
        if isinstance(values, np.ndarray):
            return _of_array(values, dimension), values.ndim > 1
        items = _items(values) if _is_list(values) else None
        if items is None:
            raise _no_values(dimension)
        if dimension == 1:
            alone = [number(x) if type(x) in _ALONE else _round(x, 1)[0] for x in items]
            return np.array(alone, dtype=np.float64).reshape(-1, 1), False
        rounds = [_round(value, dimension) for value in items]
        return np.array(rounds, dtype=np.float64).reshape(-1, dimension), False


def _no_values(dimension: int) -> StreamError:
    shape = "(k,)" if dimension == 1 else f"(k, {dimension})"
    return StreamError(f"values are no list and no table of rounds; give shape {shape}")


def _round(value: object, dimension: int) -> list[float]:
    """Return one round's d numbers."""
    try:
        parts = _parts(value)
    except Exception:  # noqa: BLE001 (whatever a value does when it is asked for its parts)
        parts = []
    if len(parts) != dimension:
        return [np.nan] * dimension
    return [number(part) for part in parts]


def _parts(value: Any) -> list[Any]:  # noqa: ANN401
    """Return the items of a list or a row, and what is none as its own only item."""
    if isinstance(value, np.ndarray) and value.ndim:
        return _cells(value) if value.ndim == 1 else []
    if isinstance(value, (*_PLAIN, np.ndarray)):
        return [value]
    if isinstance(value, Sequence):
        return list(value)
    return _parts(np.asanyarray(value)) if hasattr(type(value), "__array__") else [value]


def _of_array(values: Any, dimension: int) -> Vector:  # noqa: ANN401
    """Return the floats of an array, shape (k, d), each of its items on its own."""
    kind = values.dtype.kind
    if kind == "O" and values.ndim == 1:
        rounds = [_round(value, dimension) for value in _cells(values)]
        return np.array(rounds, dtype=np.float64).reshape(-1, dimension)
    flat = dimension == 1 and values.ndim == 1
    if not flat and (values.ndim != 2 or values.shape[1] != dimension):  # noqa: PLR2004
        raise _no_values(dimension)
    masked = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else False
    plain = np.asarray(values)
    if kind in "biuf":
        found = plain.astype(np.float64)
    elif kind == "c":
        found = np.where(plain.imag == 0, plain.real, np.nan).astype(np.float64)
    else:
        cells = [number(cell) for cell in _cells(plain.ravel())]
        found = np.array(cells, dtype=np.float64).reshape(plain.shape)
    return np.asarray(np.where(masked, np.nan, found)).reshape(-1, dimension)


def _cells(row: Any) -> list[Any]:  # noqa: ANN401
    """Return the items of an array of one axis; a time stays one, and what is masked is None."""
    return list(row) if row.dtype.kind in "mM" else list(row.tolist())


def _columns(values: Any) -> list[Any] | None:  # noqa: ANN401
    """Return the columns of a table of pandas, polars or Arrow, None of anything else."""
    if hasattr(values, "iloc"):
        return [values.iloc[:, j] for j in range(values.shape[1])] if values.ndim > 1 else None
    if hasattr(values, "get_columns"):
        return list(values.get_columns())
    if hasattr(values, "schema") and hasattr(values, "columns"):
        return list(values.columns)
    return None


def _is_list(values: object) -> bool:
    """Return whether it is a list, another sequence, or a column of a table."""
    column = any(hasattr(values, name) for name in _LISTED)
    return (column or isinstance(values, Sequence)) and not isinstance(values, _PLAIN)


def _items(values: Any) -> list[Any] | None:  # noqa: ANN401
    """Return the items of a list or a column, one by one where they are not had at once."""
    if not hasattr(values, "__len__") or getattr(values, "shape", (1,)) == ():
        return None
    read = next((getattr(values, name) for name in _LISTED if hasattr(values, name)), None)
    try:
        return list(values if read is None else read())
    except Exception:  # noqa: BLE001 (one item of a column that cannot be had is one round's)
        return [_item(values, i) for i in range(len(values))]


def _item(values: Any, i: int) -> Any:  # noqa: ANN401
    try:
        own = values.iloc[i] if hasattr(values, "iloc") else values[i]
        return own.as_py() if hasattr(own, "as_py") else own
    except Exception:  # noqa: BLE001 (as above)
        return None


@final
class Encoder:
    """One number's code: `Coding.encode`, the same arithmetic.

    Args:
        coding: of one column.
    """

    def __init__(self, coding: Coding) -> None:
        ends = coding.encode(np.stack([coding.lower, coding.upper, coding.missing])).ravel()
        self._least, self._greatest, self._missing = (int(k) for k in ends)
        self.center, self.step = float(coding.center[0]), float(coding.step[0])
        self._inverse = 1 / self.step

    def encode(self, value: float) -> int:
        """Return the code of a number."""
        scaled = (number(value) - self.center) * self._inverse + 0.5
        if scaled != scaled:  # noqa: PLR0124 (not a number)
            return self._missing
        if scaled <= self._least:
            return self._least
        return self._greatest if scaled >= self._greatest else math.floor(scaled)


def encoder_of(coding: AbstractCoding) -> Encoder | None:
    """Return the encoder of a coding, None where it is not of one number."""
    alone = isinstance(coding, Coding) and coding.step.size == 1
    return Encoder(coding) if alone and isinstance(coding, Coding) else None
