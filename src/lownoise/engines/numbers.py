# SPDX-License-Identifier: Apache-2.0
"""What one value says as a number, whatever stands beside it: a total function of the value."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from lownoise.engines.text import LONGEST
from lownoise.numbers.numerals import number_of

_MISSING = np.nan
_REAL = (bool, int, float, Decimal, Fraction, np.bool_, np.integer, np.floating)


def number_of_text(text: str) -> float:
    """Return the number that a text spells, NaN where it spells none.

    A cell of a table, a line of a stream and a text among a batch's values mean the same.

    Args:
        text: of any length; beyond 1,000 letters it is no number.

    Examples:
        >>> [number_of_text(t) for t in (" 1_000 ", "1e400", "-.5", "0x10", "", "nan", "١")]
        [1000.0, inf, -0.5, 16.0, nan, nan, nan]
    """
    found = number_of(text) if len(text) <= LONGEST else None
    return _MISSING if found is None else found


def row_of(line: str, count: int) -> list[float]:
    """Return the numbers of a line, NaN for what spells none; all of them where there are others.

    Args:
        line: numbers, a comma between two.
        count: how many there must be.

    Examples:
        >>> row_of(" 1,2e3", 2), row_of("one", 1), row_of("1,2", 1)
        ([1.0, 2000.0], [nan], [nan])
    """
    fields = line.split(",", count)
    if len(fields) != count:
        return [_MISSING] * count
    return [number_of_text(field) for field in fields]


def number(value: object) -> float:
    """Return the number that a value is or spells, NaN where there is none; it never fails.

    A whole number beyond all floats is infinite, a complex number is one where it is real, and
    bytes are text in UTF-8. An object of an unknown kind is missing, and no code of its own is
    run, but for an array's that holds one number.

    Args:
        value: anything.

    Examples:
        >>> [number(v) for v in (1, True, "2.5", b"2", 10**400, 1 + 0j, 1j, None, [1], object())]
        [1.0, 1.0, 2.5, 2.0, inf, 1.0, nan, nan, nan, nan]
    """
    if type(value) is float:
        return value
    if value is None:
        return _MISSING
    try:
        return _number(value)
    except Exception:  # noqa: BLE001 (whatever a value does when it is asked for its number)
        return _MISSING


def _number(value: Any) -> float:  # noqa: ANN401
    if type(value) in (int, bool):
        return _float(value)
    if hasattr(type(value), "__array__") and not isinstance(value, np.generic):
        value = _only(np.asanyarray(value))
    if isinstance(value, (str, bytes)):
        return number_of_text(_text(value))
    if isinstance(value, (complex, np.complexfloating)):
        value = value.real if value.imag == 0 else None
    known = isinstance(value, _REAL) and not isinstance(value, np.timedelta64)
    return _float(value) if known else _MISSING


def _only(array: Any) -> Any:  # noqa: ANN401
    """Return the one item of an array without axes, None of another and where it is masked."""
    if array.ndim or np.ma.is_masked(array):
        return None
    return array[()]


def _text(value: str | bytes) -> str:
    """Return the text itself, whatever its class makes of it."""
    if isinstance(value, str):
        return str.__str__(value)
    whole = bytes.__len__(value) <= LONGEST  # what is not ASCII spells no number
    return bytes.decode(value, "utf-8", "replace") if whole else ""


def _float(value: Any) -> float:  # noqa: ANN401
    if isinstance(value, float):
        return float.__float__(value)
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
