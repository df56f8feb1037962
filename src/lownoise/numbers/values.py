# SPDX-License-Identifier: Apache-2.0
"""What a value says, whatever its type: one meaning for tables, streams and records of a device.

Which texts spell numbers, and which: one meaning of a cell, whatever type its column was given.

Readers of CSV files (pandas, DuckDB) give a column the type that all of its cells allow, and one
more row may allow less. So a text counts as the number that such a reader would make of it: a
decimal, as "007", "1.0", "1e3", "inf"; an integer in base 16 or 2, "0x1F"; or one of the words for
true and false, which are 1 and 0.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

WORDS = {"true": 1.0, "t": 1.0, "yes": 1.0, "false": 0.0, "f": 0.0, "no": 0.0}
LIMIT = 2.0**53  # from here on floats no longer tell neighbouring integers apart

_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_DECIMAL = re.compile(
    rf"\+?(-?(?:(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:e[+-]?{_DIGITS})?|inf(?:inity)?|nan))"
)
_PREFIXED = re.compile(r"0x([0-9a-f]+(?:_[0-9a-f]+)*)|0b([01]+(?:_[01]+)*)")
_SPACES = " \t\n\v\f\r"
_LARGEST = 2**63


def number_of(text: str) -> float | None:
    """Return the number that a text spells, not a number where it spells that; None for a word.

    Examples:
        >>> number_of(" 007"), number_of("1e3"), number_of("TRUE"), number_of("0x1F")
        (7.0, 1000.0, 1.0, 31.0)
        >>> number_of("nan"), number_of("seven"), number_of("1,5"), number_of("")
        (nan, None, None, None)
    """
    folded = text.lower() if text.isascii() else text
    if folded in WORDS:
        return WORDS[folded]
    if found := _DECIMAL.fullmatch(folded.strip(_SPACES)):
        return float(found[1])
    if found := _PREFIXED.fullmatch(folded.lstrip(_SPACES)):
        whole = int(found[1], 16) if found[1] else int(found[2], 2)
        return float(whole) if whole < _LARGEST else None
    return None


def distinguishable(number: float) -> float:
    """Return the number where floats tell it from its neighbours, else not a number.

    Examples:
        >>> distinguishable(7.0), distinguishable(2.0**53), distinguishable(math.inf)
        (7.0, nan, nan)
    """
    return number if abs(number) < LIMIT else math.nan


LONGEST = 1000  # letters; no double needs as many
REAL = (bool, int, float, Decimal, Fraction, np.bool_, np.integer, np.floating)
_MISSING = np.nan


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
    known = isinstance(value, REAL) and not isinstance(value, np.timedelta64)
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
