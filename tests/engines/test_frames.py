# SPDX-License-Identifier: Apache-2.0
"""Frames: texts that are read at once are those read item by item, and readers are read once."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lownoise as ln
from lownoise.engines import frames
from lownoise.engines.source import Columns
from lownoise.errors import TableError


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


def test_a_reader_is_a_table_once(tmp_path):
    """Afterwards it would be a table without rows; a mistake in a column's name reads none."""
    rows = pa.table({"a": [1.0, 2.0], "u": ["p", "q"]})
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(9))
    plans = [
        ln.plan(ln.Mean([name], ln.Box([0], [9])), budget=ln.zcdp(0.5), relation="add_remove")
        for name in ("b", "a", "a")
    ]
    both = ln.together({"q": plans[1].terms.question}, budget=ln.zcdp(0.5), relation="add_remove")
    for first, second in ((plans[1], plans[2]), (plans[1], both), (both, plans[1])):
        reader = rows.to_reader()
        with pytest.raises(TableError, match="'b' is not in"):
            plans[0].release(reader, ledger)
        first.release(reader, ledger)
        with pytest.raises(TableError, match="has been read by an earlier release"):
            second.release(reader, ledger)
        assert {entry.state for entry in ledger.entries()} == {"settled", "cancelled"}
        first.release(rows, ledger)


@pytest.mark.parametrize(
    "column", [pl.Series("a", [1.0]), pa.chunked_array([[1.0]])], ids=["polars", "arrow"]
)
def test_a_column_is_no_table_and_takes_nothing(column, tmp_path):
    """Though it streams as tables do; one of records, which have the names, is a table."""
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    plan = ln.plan(ln.Mean(["a"], ln.Box([0], [9])), budget=ln.zcdp(1), relation="add_remove")
    with pytest.raises(TableError, match="is no table; give "):
        plan.release(column, ledger)
    plan.release(pl.DataFrame({"a": [1.0]}).to_struct("rows"), ledger)
    assert [entry.state for entry in ledger.entries()] == ["cancelled", "settled"]


WORDS = ["1", None, "b", "1", "2.5"]
HELD = {
    "polars' categories": (pl.Series(WORDS, dtype=pl.Categorical), WORDS),
    "polars' enumeration": (pl.Series(WORDS, dtype=pl.Enum(["b", "2.5", "1"])), WORDS),
    "sparse floats": (pd.Series(pd.arrays.SparseArray([0.0, 1.5, np.nan])), [0.0, 1.5, None]),
    "sparse integers": (pd.Series(pd.arrays.SparseArray([0, 2**53 + 1, 0])), [0, 2**53 + 1, 0]),
    "sparse bits": (pd.Series(pd.arrays.SparseArray([False, True])), [False, True]),
}


@pytest.mark.parametrize("name", HELD)
def test_columns_that_are_held_otherwise_are_those_that_are_not(name):
    """Types that Arrow, or pandas on the way to it, hands over in two steps alone."""
    column, items = HELD[name]
    made = pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
    found = frames.arrow_of(made({"x": column}), Columns(["x"])).column("x")
    plain = [None if item != item else item for item in found.to_pylist()]  # noqa: PLR0124 (NaN)
    assert plain == items
