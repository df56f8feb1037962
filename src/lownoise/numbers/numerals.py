# SPDX-License-Identifier: Apache-2.0
"""Which texts spell numbers, and which: one meaning of a cell, whatever type its column was given.

Readers of CSV files (pandas, DuckDB) give a column the type that all of its cells allow, and one
more row may allow less. So a text counts as the number that such a reader would make of it: a
decimal, as "007", "1.0", "1e3", "inf"; an integer in base 16 or 2, "0x1F"; or one of the words for
true and false, which are 1 and 0.
"""

from __future__ import annotations

import math
import re

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
