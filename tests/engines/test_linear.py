# SPDX-License-Identifier: Apache-2.0
"""Histograms and parities are exact, whatever the table."""

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lownoise as ln
from lownoise.engines import counts
from lownoise.engines.counts import Histogram, Parities, bits_of, histogram_query, parities_query
from lownoise.errors import TableError
from lownoise.questions.universe import universe_of


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 130, 1000])
def test_parities_are_sums_of_products_of_signs(rows):
    rng = np.random.default_rng(rows)
    table = rng.integers(0, 2, (rows, 6))
    found = bits_of(list(table.T)).parities(range(7))
    signs = 1 - 2 * table
    sets = [s for k in range(7) for s in itertools.combinations(range(6), k)]
    assert found.tolist() == [int(signs[:, list(s)].prod(axis=1).sum()) for s in sets]


def test_blocks_of_rows_add_up(monkeypatch):
    table = np.random.default_rng(5).integers(0, 2, (5, 1000))
    whole = bits_of(list(table)).parities([1, 2, 3])
    monkeypatch.setattr(counts, "_BLOCK", 3)
    assert np.array_equal(bits_of(list(table)).parities([1, 2, 3]), whole)


def test_batches_of_rows_add_up(tmp_path):
    n = 300_000  # more than two batches of the engine
    table = np.random.default_rng(6).integers(0, 2, (n, 3))
    frame = pd.DataFrame(table, columns=["a", "b", "c"])
    question = ln.Parity(["a", "b", "c"], 2)
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.parquet"):
        bits = parities_query(question.attributes, [2]).of(source)
        signs = 1 - 2 * table
        assert bits.count == n
        assert bits.sums[-1] == (signs[:, 1] * signs[:, 2]).sum()
        universe = universe_of({"a": 2, "b": 2, "c": 2})
        cells = np.bincount(table @ [4, 2, 1], minlength=8)
        assert np.array_equal(histogram_query(universe).of(source).counts, cells)


def test_totals_do_not_overflow():
    rng = np.random.default_rng(7)
    counts = rng.integers(0, 2**40, 50)
    codes = rng.integers(-(2**52), 2**52 + 1, (50, 4))
    exact = [
        sum(int(n) * int(k) for n, k in zip(counts, column, strict=True)) for column in codes.T
    ]
    assert Histogram(counts).totals(codes) == exact
    assert max(map(abs, exact)) > 2**63


ROWS = pd.DataFrame(
    {
        "a": [0, 1, 1, 2, None, 1, 0.5],
        "b": ["x", "y", "x", "x", "x", None, "y"],
    }
)


@pytest.mark.parametrize(
    ("universe", "options", "expected"),
    [
        ({"a": 2, "b": ["x", "y"]}, {}, [1, 0, 1, 1]),
        ({"a": 2, "b": ["x", "y"]}, {"outside": {"a": 1, "b": "y"}}, [1, 0, 3, 3]),
        ({"a": 2, "b": ["x"]}, {"outside": "extra"}, [1, 0, 1, 2, 2, 1]),
        ([[1, "x"], [0, "x"]], {"columns": ["a", "b"]}, [1, 1]),
        ([[1, "x"], [0, "x"]], {"columns": ["a", "b"], "outside": [0, "x"]}, [1, 6]),
        ([["y", 1], ["x", 2]], {"columns": ["b", "a"]}, [1, 1]),
    ],
)
@pytest.mark.parametrize("kind", ["frame", "csv"])
def test_records_are_counted_where_they_belong(universe, options, expected, kind, tmp_path):
    question = ln.Queries(np.ones((1, len(expected))), universe, **options)
    table = ROWS
    if kind == "csv":
        ROWS.to_csv(tmp_path / "t.csv", index=False)
        table = tmp_path / "t.csv"
    found = histogram_query(question.universe).of(table)
    assert found.counts.tolist() == expected
    assert found.count == sum(expected)


def test_values_that_are_no_bits_follow_the_policy():
    table = pd.DataFrame({"a": [0, 1, 2, None], "b": [1, 1, 1, 1]})
    dropped = parities_query(ln.Parity(["a", "b"], 2).attributes, [1, 2]).of(table)
    assert dropped == Parities(2, (0, -2, 0))
    ones = parities_query(ln.Parity(["a", "b"], 2, outside=1).attributes, [1, 2]).of(table)
    assert ones == Parities(4, (-2, -4, 2))


def test_a_table_without_the_column_is_refused():
    with pytest.raises(TableError, match="'b'"):
        parities_query(ln.Parity(["a", "b"], 2).attributes, [2]).of(pd.DataFrame({"a": [0]}))
