# SPDX-License-Identifier: Apache-2.0
"""What a cell means in the engine: what `numerals.number_of` says, as SQL.

A typed column and the texts it was made of give the same numbers, so that it matters to no other
row which type one row left its column.
"""

from __future__ import annotations

from typing import Any

from lownoise.numbers.numerals import WORDS

# what DuckDB reads as truth values and as integers, but not as floats
_ODD = rf"^((?i:{'|'.join(WORDS)})$|[ \t\n\v\f\r]*0[xXbB])"


def number(column: Any) -> Any:  # noqa: ANN401 (ibis has no types)
    """Return an ibis column as floats, null or NaN where a cell is no number and spells none.

    Args:
        column: of numbers, booleans or texts.
    """
    import ibis

    if not column.type().is_string():
        return column.cast("float64")
    # what may stop on bytes that are no UTF-8 (as a change of case does) must not stand here
    odd = ibis.ifelse(column.re_search(_ODD), column, None)
    truth, whole = odd.try_cast("boolean"), odd.try_cast("int64")
    return ibis.coalesce(column.try_cast("float64"), truth.cast("float64"), whole.cast("float64"))
