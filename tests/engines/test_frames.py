# SPDX-License-Identifier: Apache-2.0
"""Columns of pandas: texts that are read at once are those that are read item by item."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from lownoise.engines import frames


class Shouting(str):
    __slots__ = ()

    def __str__(self):
        return "no"


ITEMS = [
    ["a", None, "b", float("nan"), pd.NA, pd.NaT, Decimal("NaN"), "a\0b", "é"],
    ["a", b"b"],
    ["\ud800", "x"],
    [Shouting("q"), np.str_("z")],
    [1, "a", 2.5, True],
    [np.datetime64("NaT"), "a", dt.date(2020, 1, 1)],
    [Decimal("sNaN"), "a"],
    [None, None],
    [],
]


@pytest.mark.parametrize("items", ITEMS, ids=str)
def test_texts_at_once_are_texts_item_by_item(items):
    """Whichever way a column goes, and whether its items are categories or not."""
    series = pd.Series(items, dtype=object)
    one_by_one = [frames._text(item) for item in items]
    assert frames._texts(series).to_pylist() == one_by_one
    # what pandas itself makes categories of
    fine = [i for i in items if isinstance(i, (str, int)) and str(i).isprintable()]
    known = pd.Series(fine, dtype=object)
    grouped = known.astype("category")
    assert frames._pandas_column(grouped).to_pylist() == [frames._text(item) for item in known]
    lacking = grouped.cat.set_categories(list(grouped.cat.categories)[1:])
    assert frames._pandas_column(lacking).to_pylist() == [frames._text(item) for item in lacking]
