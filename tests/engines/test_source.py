# SPDX-License-Identifier: Apache-2.0
"""One contract for every engine, judged by the memory one; one from outside does every release."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.toys.engine import ToySource

import lownoise as ln
import sparks
from golden.accessors import simulated
from lownoise.engines.memory import MemorySource
from lownoise.engines.opening import opened
from lownoise.engines.source import Columns
from lownoise.errors import EngineError, LedgerError, TableError

# pyspark leaves it to Python to close its sockets
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
KINDS = {"whole": "integers", "bit": "integers", "real": "numbers", "word": "texts"}
NAMES = list(KINDS)
ROWS = [
    {"whole": 3, "bit": True, "real": 0.1, "word": "F"},
    {"whole": -(2**63), "bit": False, "real": -0.0, "word": " 0x10"},
    {"whole": 2**53 + 1, "bit": True, "real": math.inf, "word": None},
    {"whole": 0, "bit": False, "real": math.nan, "word": "yes"},
    {"whole": 2**62, "bit": True, "real": 2.0**-1074, "word": "é"},
] * 3
LACKING = [{**row, "whole": None} if i % 4 == 1 else row for i, row in enumerate(ROWS)]


def arrow(rows):
    types = {"whole": pa.int64(), "bit": pa.bool_(), "real": pa.float64(), "word": pa.string()}
    return pa.table({name: pa.array([row[name] for row in rows], types[name]) for name in NAMES})


def parquet(rows, folder):
    pa.parquet.write_table(arrow(rows), folder / "t.parquet")
    return opened(folder / "t.parquet", Columns(NAMES))


def memory(rows, _folder=None):
    types = {"whole": np.int64, "bit": bool, "real": float, "word": object}
    return MemorySource({n: np.array([row[n] for row in rows], types[n]) for n in NAMES})


ENGINES = {
    "memory": memory,
    "duckdb": lambda rows, _: opened(arrow(rows), Columns(NAMES)),
    "duckdb on a file": parquet,
    "toy": lambda rows, _: ToySource(KINDS, rows),
    "spark": lambda rows, _: sparks.ordered(arrow(rows)),
}
LACK = [name for name in ENGINES if name != "memory"]  # an array of integers lacks none
each = pytest.mark.parametrize("engine", ENGINES)


def read(source, numbers, texts=()):
    """Return all rows, by columns."""
    batches = list(source.batches(numbers, texts))
    columns = [np.concatenate([b.numbers[i] for b in batches]) for i in range(len(numbers))]
    words = [[t for b in batches for t in b.texts[i].to_pylist()] for i in range(len(texts))]
    return columns, words


@each
def test_kinds_follow_from_the_schema(engine, tmp_path):
    """Also where there is no row."""
    for rows in (ROWS, ROWS[:0]):
        source = ENGINES[engine](rows, tmp_path)
        assert source.kinds(NAMES) == tuple(KINDS.values())


@each
def test_a_column_that_is_not_there_is_refused_before_a_row_is_read(engine, tmp_path):
    made = ln.plan(
        ln.Mean(["absent"], ln.Box([0], [1])), budget=ln.zcdp(1), relation="substitute", size=15
    )
    table = arrow(ROWS) if engine.startswith("duckdb") else ENGINES[engine](ROWS, tmp_path)
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    with pytest.raises(TableError, match="column='absent' is not in the table"):
        made.release(table, ledger)
    assert [e.state for e in ledger.entries()] == ["cancelled"]


@pytest.mark.grid(3)
@each
def test_batches_are_all_rows_in_their_order(engine, tmp_path):
    numbers, words = read(ENGINES[engine](ROWS, tmp_path), NAMES, ["word"])
    expected, texts = read(memory(ROWS), NAMES, ["word"])
    for found, known in zip(numbers, expected, strict=True):
        assert found.dtype == np.float64
        assert np.array_equal(found, known, equal_nan=True)
    assert words == texts == [[row["word"] for row in ROWS]]
    assert np.array_equal(
        numbers[NAMES.index("word")][:5], [0, 16, math.nan, 1, math.nan], equal_nan=True
    )


RANGES = [("whole", -(2**52), 7), ("bit", 0, 1)]


def summed(rows, ranges, *, complete):
    """The meaning of sums, by Python's integers."""
    if complete:
        rows = [row for row in rows if all(row[name] is not None for name, _, _ in ranges)]
    own = [[row[name] for row in rows if row[name] is not None] for name, _, _ in ranges]
    clipped = [
        sum(min(max(int(v), low), high) for v in values)
        for values, (_, low, high) in zip(own, ranges, strict=True)
    ]
    return len(rows), tuple(map(len, own)), tuple(clipped)


@pytest.mark.grid(3)
@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize(
    ("engine", "rows"),
    [*((e, ROWS) for e in ENGINES), *((e, LACKING) for e in LACK), ("duckdb", []), ("toy", [])],
)
def test_sums_are_exact(engine, rows, complete, tmp_path):
    found = ENGINES[engine](rows, tmp_path).sums(RANGES, complete=complete)
    assert (found.count, found.present, found.sums) == summed(rows, RANGES, complete=complete)


@settings(max_examples=40)
@given(
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9), max_size=12),
    st.integers(-(2**52), 2**52),
    st.integers(0, 2**52),
    st.booleans(),
)
def test_sums_of_any_integers_are_exact(values, lower, width, complete):
    rows = [{**ROWS[0], "whole": v} for v in values]
    ranges = [("whole", lower, min(lower + width, 2**52))]
    expected = summed(rows, ranges, complete=complete)
    for engine in ("duckdb", "toy"):
        found = ENGINES[engine](rows, None).sums(ranges, complete=complete)
        assert (found.count, found.present, found.sums) == expected


def grouped(source, *asked):
    """Return the count of each group, and how many numbers with what sum, parts added up."""
    found = {}
    for groups in source.group_sums(*asked):
        columns = [[None if v != v else v + 0.0 for v in c.tolist()] for c in groups.keys.numbers]  # noqa: PLR0124
        columns += [column.to_pylist() for column in groups.keys.texts]
        own = [groups.counts, *(column for pair in groups.sums for column in pair)]
        numbers = zip(*(map(int, column) for column in own), strict=True)
        for key, more in zip(zip(*columns, strict=True), numbers, strict=True):
            before = found.get(key, (0,) * len(more))
            found[key] = tuple(a + b for a, b in zip(before, more, strict=True))
    return found


GROUPED = {
    "of numbers": (["real"],),
    "of texts": ([], ["word"]),
    "of both, summed": (["bit", "real"], ["word"], RANGES),
    "of what texts spell": (["word"], [], RANGES[:1]),
}


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("asked", GROUPED.values(), ids=GROUPED)
@pytest.mark.parametrize(
    ("engine", "rows"), [*((e, ROWS) for e in ENGINES), *((e, LACKING) for e in LACK)]
)
def test_group_sums_are_the_reference_ones(engine, rows, asked, tmp_path):
    """As a plain loop over the rows has them, in the memory engine."""
    known = {n: np.array([row[n] for row in rows], object) for n in NAMES}
    expected = grouped(MemorySource(known), *asked)
    assert sum(count for count, *_ in expected.values()) == len(rows)
    assert grouped(ENGINES[engine](rows, tmp_path), *asked) == expected


@each
def test_no_rows_are_no_groups(engine, tmp_path):
    assert grouped(ENGINES[engine](ROWS[:0], tmp_path), *GROUPED["of both, summed"]) == {}


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.none() | st.integers(-(2**63), 2**63 - 1)), max_size=12
    )
)
def test_sums_of_groups_are_those_of_their_rows(values):
    rows = [{**ROWS[0], "bit": bool(a % 2), "real": a, "whole": v} for a, v in values]
    for engine in ("duckdb", "toy"):
        found = grouped(ENGINES[engine](rows, None), ["real"], [], RANGES)
        for (key,), (count, *pairs) in found.items():
            own = [row for row in rows if row["real"] == key]
            expected = summed(own, RANGES, complete=False)
            assert (count, tuple(pairs[::2]), tuple(pairs[1::2])) == expected
        assert sum(count for count, *_ in found.values()) == len(rows)


SURVEY = {
    "age": [0, 3, 1, 2, 2, 3, 0, 1],
    "pay": [0.5, 7.25, -3.0, math.nan, 2.5, 99.0, 1.0, 0.0],
    "sex": ["F", "M", None, "M", "?", "F", "F", "M"],
    "a": [0, 1, 1, 0, 1, 0, 0, 1],
    "b": [1, 1, 0, 0, 1, 1, 0, 1],
}
SCHEMA = {"age": "integers", "pay": "numbers", "sex": "texts", "a": "integers", "b": "integers"}
PUBLIC = {"budget": ln.zcdp(0.5), "relation": "add_remove"}
PURE = {"budget": ln.pure_dp(1.0), "relation": "add_remove"}
SIZES = {"age": 4, "sex": ["F", "M"]}
ASKED = {
    "means of numbers": (ln.Mean(["age", "pay"], ln.Box([0, 0], [4, 10])), PUBLIC),
    "means of integers": (ln.Mean(["age", "a"], ln.Box([0, 0], [4, 1])), PUBLIC),
    "complete rows": (ln.Mean(["pay", "age"], ln.Box([0, 0], [10, 4]), missing="drop"), PUBLIC),
    "a ball": (ln.Mean(["age", "pay"], ln.Ball(2, 5.0)), PUBLIC),
    "pure means": (ln.Mean(["age", "pay"], ln.Box([0, 0], [4, 10])), PURE),
    "marginals": (ln.Marginals(SIZES, way=2, outside="extra"), PUBLIC),
    "queries": (ln.Queries(np.tril(np.ones((4, 4))), {"age": 4}, outside="drop"), PUBLIC),
    "pure queries": (ln.Queries(np.eye(4), {"age": 4}, outside="drop"), PURE),
    "parities": (ln.Parity(["a", "b"], degree=2), PUBLIC),
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", ASKED)
def test_an_engine_from_outside_does_every_release(name):
    question, asked = ASKED[name]
    made = ln.plan(question, **asked)
    rows = [dict(zip(SURVEY, row, strict=True)) for row in zip(*SURVEY.values(), strict=True)]
    released = []
    for table in (pd.DataFrame(SURVEY), ToySource(SCHEMA, rows)):
        with simulated(5):
            released.append(np.asarray(made.release(table).integers).tolist())
    assert released[0] == released[1]


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("failure", [ValueError, EngineError, TableError, LedgerError])
@pytest.mark.parametrize("name", ASKED)
def test_what_another_engine_says_of_rows_is_not_shown(name, failure, tmp_path):
    """Not even by an error of ours, and none of them gives the spend back."""

    class Failing(ToySource):
        def batches(self, numbers, texts=()):
            raise failure("SECRET")

        def sums(self, ranges, *, complete):
            raise failure("SECRET")

        def group_sums(self, numbers, texts=(), ranges=()):
            raise failure("SECRET")

    question, asked = ASKED[name]
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    with pytest.raises(EngineError) as refusal:
        ln.plan(question, **asked).release(Failing(SCHEMA, []), ledger)
    assert "SECRET" not in str(refusal.value)
    assert [e.state for e in ledger.entries()] == ["reserved"]


@pytest.mark.grid
@pytest.mark.parametrize("failure", [ValueError, EngineError, LedgerError])
@pytest.mark.parametrize("name", ASKED)
def test_of_the_schema_another_engine_says_only_what_is_wrong_with_it(name, failure, tmp_path):
    class Failing(ToySource):
        def kinds(self, columns):
            raise failure("SECRET")

    question, asked = ASKED[name]
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    with pytest.raises(EngineError, match="table=Failing could not be opened") as refusal:
        ln.plan(question, **asked).release(Failing(SCHEMA, []), ledger)
    assert "SECRET" not in str(refusal.value)
    assert [e.state for e in ledger.entries()] == ["reserved"]
