# SPDX-License-Identifier: Apache-2.0
"""Counting categories: every way in gives the counts of a plain loop, whatever the rows hold."""

import itertools
import math
from collections import Counter
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lownoise as ln
from lownoise.engines import counts
from lownoise.engines.counts import CellTable, CodedRows, DistinctRows, records_query
from lownoise.engines.memory import MemorySource
from lownoise.errors import EngineError, TableError
from lownoise.questions.attributes import attributes

ROWS = pd.DataFrame(
    {
        "age": [0, 1, 2, 3, 2, np.nan, -1, 1.5, np.inf, 2],
        "sex": ["F", "M", "M", "F", None, "M", "?", "F", "é", "é"],
        "code": [10, 20.5, -3, 10, 10, 20.5, -3, 7, 10, 10],
    }
)
SIZES = {"age": 3, "sex": ["F", "M", "é"], "code": [10, 20.5, -3]}
POLICIES = ["drop", "extra", {"age": 1, "sex": "extra"}, {"sex": "M", "age": "extra", "code": -3}]


def expected(declared, chosen):
    """Count by hand."""
    counts = np.zeros([declared[i].size for i in chosen], dtype=int)
    for row in ROWS.to_dict("records"):
        cells = []
        for attribute in declared:
            known = list(attribute.labels or range(attribute.categories))
            value = row[attribute.name]
            cells.append(known.index(value) if value in known else attribute.outside)
        if None not in cells:
            counts[tuple(cells[i] for i in chosen)] += 1
    return counts


def csv(folder):
    ROWS.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def parquet(folder):
    ROWS.to_parquet(folder / "t.parquet")
    return folder / "t.parquet"


WAYS_IN = {
    "pandas": lambda _: ROWS,
    "pandas categories": lambda _: ROWS.assign(sex=ROWS["sex"].astype("category")),
    "polars": lambda _: pl.from_pandas(ROWS),
    "arrow": lambda _: pa.Table.from_pandas(ROWS, preserve_index=False),
    "csv": csv,
    "parquet": parquet,
}


@pytest.mark.grid(3, least=3)
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("way_in", WAYS_IN)
def test_counts_are_those_of_a_plain_loop(way_in, policy, whole, tmp_path, monkeypatch):
    if not whole:
        monkeypatch.setattr(counts, "_WHOLE", 0)
    declared = attributes(SIZES, policy)
    found = records_query(declared).of(WAYS_IN[way_in](tmp_path))
    assert isinstance(found, CellTable) == whole
    for k in range(4):
        for chosen in itertools.combinations(range(3), k):
            assert np.array_equal(found.marginal(chosen), expected(declared, chosen))
    assert found.count == expected(declared, ()).item()


@pytest.mark.parametrize("limit", [1, 100, 1 << 16])
def test_many_sets_are_counted_as_each_alone(limit, monkeypatch):
    rng = np.random.default_rng(2)
    rows = CodedRows((3,) * 6, tuple(rng.integers(0, 3, 40) for _ in range(6)))
    sets = list(itertools.combinations(range(6), 3))
    expected = [rows.marginal(chosen) for chosen in sets]
    monkeypatch.setattr(counts, "_AT_ONCE", limit)
    assert np.array_equal(rows.marginals(sets), expected)
    monkeypatch.setattr(counts, "_FEW_ROWS", 39)
    assert np.array_equal(rows.marginals(sets), expected)
    empty = CodedRows((3,) * 6, (np.zeros(0, dtype=np.uint8),) * 6)
    assert np.array_equal(empty.marginals(sets), np.zeros((20, 3, 3, 3)))


def test_what_is_no_utf8_is_no_category(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"sex\nF\n\xff\n\xc3\xa9\n")
    (sex,) = attributes({"sex": ["F", "é"]}, "extra")
    assert records_query([sex]).of(tmp_path / "t.csv").marginal((0,)).tolist() == [1, 1, 1]


def test_an_empty_table_has_zeros(tmp_path):
    (tmp_path / "t.csv").write_text("age,sex\n")
    declared = attributes({"age": 3, "sex": ["F", "M"]}, "drop")
    for limit in (True, False):
        found = records_query(declared).of(tmp_path / "t.csv")
        assert found.count == 0
        assert found.marginal((0, 1)).tolist() == [[0, 0]] * 3
        if limit:
            categories_limit = counts._WHOLE
            counts._WHOLE = 0
    counts._WHOLE = categories_limit


def test_numbers_as_text_count_as_numbers():
    frame = pd.DataFrame({"age": ["0", " 1", "2.0", "x", None]})
    (age,) = attributes({"age": 3}, "extra")
    assert records_query([age]).of(frame).marginal((0,)).tolist() == [1, 1, 1, 2]


def test_many_batches_add_up():
    n = 300_001
    rng = np.random.default_rng(5)
    codes = rng.integers(-1, 5, n)
    (x,) = attributes({"x": 4}, "extra")
    found = records_query([x]).of(pa.table({"x": codes}))
    assert dict(enumerate(found.marginal((0,)).tolist())) == dict(
        sorted(Counter(np.where((codes < 0) | (codes > 3), 4, codes).tolist()).items())
    )
    assert math.fsum(found.marginal((0,))) == n


def test_a_missing_column_is_refused_before_a_row_is_read():
    (x,) = attributes({"absent": 4}, "extra")
    with pytest.raises(TableError, match="absent"):
        records_query([x]).of(ROWS)


def test_a_failure_in_the_middle_says_nothing_of_a_value(tmp_path):
    import gzip

    whole = gzip.compress(b"age\n" + b"1\n" * 500_000)
    (tmp_path / "t.csv.gz").write_bytes(whole[: len(whole) // 2])
    (age,) = attributes({"age": 3}, "extra")
    with pytest.raises(EngineError, match="could not be counted") as error:
        records_query([age]).of(tmp_path / "t.csv.gz")
    assert error.value.__cause__ is None


@pytest.mark.parametrize("values", [[1, 2, 1], [1, 2, 1, None], [1, 2, 1, 2.5]])
@pytest.mark.parametrize(
    "column",
    [
        pd.Series,
        lambda v: pd.Series(v, dtype=object),
        lambda v: pd.Series([x if x is None or x == int(x) else None for x in v], dtype="Int64"),
        lambda v: pd.Series(v).astype("category"),
        lambda v: pd.Series([None if x is None else Decimal(str(x)) for x in v], dtype=object),
        lambda v: pd.Series([None if x is None else f"{x:g}" for x in v]),
    ],
)
def test_a_type_that_one_row_decides_moves_no_other_row(column, values):
    (attribute,) = attributes({"a": ["1", "2"]}, "extra")
    found = records_query([attribute]).of(pd.DataFrame({"a": column(values)})).marginal((0,))
    assert found.tolist() == [2, 1, len(values) - 3]


def test_a_stream_that_fails_midway_keeps_the_spend(tmp_path):
    def batches():
        yield pa.record_batch({"a": [1]})
        raise ValueError("secret 17")

    schema = pa.schema({"a": pa.int64()})
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    ledger = ln.Ledger.create(tmp_path / "l.ledger", "d", ln.zcdp(1))
    plan = ln.plan(ln.Marginals({"a": 3}, way=1), budget=ln.zcdp(0.5), relation="add_remove")
    with pytest.raises(EngineError, match="stays reserved") as error:
        plan.release(reader, ledger)
    assert "17" not in str(error.value)
    assert [e.state for e in ledger.entries()] == ["reserved"]


def test_from_far_each_distinct_record_comes_once():
    """Wide tables, whose rows come one by one from engines that are near: the same counts."""

    class Far(MemorySource):
        near = False

        def batches(self, numbers, texts=()):
            raise AssertionError("rows stay where they are")

    rng = np.random.default_rng(7)
    names = [f"c{i}" for i in range(8)]
    columns = {name: rng.integers(-1, 9, 50).repeat(5) % 8 for name in names}
    far, near = (
        records_query(attributes(dict.fromkeys(names, 8))).of(own)
        for own in (Far(columns), MemorySource(columns))
    )
    assert isinstance(far, DistinctRows)
    assert far.rows.count <= 50
    assert far.count == near.count == 250
    sets = [(0,), (3, 7), (1, 2, 4), ()]
    assert all(np.array_equal(far.marginal(own), near.marginal(own)) for own in sets)
    pairs = [(0, 1), (2, 5)]
    assert np.array_equal(far.marginals(pairs), near.marginals(pairs))
