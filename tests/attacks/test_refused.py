# SPDX-License-Identifier: Apache-2.0
"""What a refusal that comes after records were seen says, and what it costs: the same for all.

The attacker's row makes a reader, a query or the memory fail, or the table has another size than
was declared. The attack wins where the refusal differs from row to row, or is free.
"""

import shutil
from functools import partial

import duckdb as native
import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import lownoise as ln
from attacks.observed import ASKED, SIZE, as_ibis, cells, name_of, observed, planned
from lownoise.errors import LownoiseError, TableError
from said import said


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("asked", [own for own in ASKED if own[2] == "substitute"], ids=name_of)
def test_another_size_is_one_refusal_whatever_it_is_and_whatever_rows_hold(asked, tmp_path):
    tables = [
        cells("object", wild=wild, extra=extra) for wild, extra in ((True, 2), (False, -SIZE))
    ]
    one, other = [observed(asked, "objects", own, tmp_path) for own in tables]
    assert other == one
    assert one["ended"][1].startswith(f"lownoise.errors.TableError: size={SIZE} is not the number")
    assert [state for state, *_ in one["paid"]] == ["cancelled"]  # decision 19
    assert one["left"] == {}


def failing(cell):
    """A query that computes its rows once it is asked for them, and fails at a cell."""
    connection = native.connect()
    connection.execute("CREATE TABLE rows AS SELECT * FROM (VALUES ('1'), (?)) AS v(t)", [cell])
    return connection, "SELECT CAST(t AS DOUBLE) AS a, 1 AS b FROM rows"


def cast_relation(cell, folder):
    connection, query = failing(cell)
    return connection.sql(query)


def cast_ibis(cell, folder):
    connection, query = failing(cell)
    connection.execute(f"CREATE VIEW v AS {query}")
    return ibis.duckdb.from_connection(connection).table("v")


def cast_view(cell, folder):
    connection, query = failing(cell)
    path = folder / "t.duckdb"
    connection.execute(f"ATTACH '{path}' AS kept; CREATE TABLE kept.rows AS FROM rows")
    connection.execute(f"USE kept; CREATE VIEW v AS {query}")
    connection.close()
    return f"{path}::v"


def sniffed_view(cell, folder):
    """A view of a file, whose columns follow from the file's rows each time that it is opened."""
    text, path = folder / "t.csv", folder / "t.duckdb"
    text.write_text("a,b\n1,2\n")
    with native.connect(path) as connection:
        connection.execute(f"CREATE VIEW v AS FROM read_csv('{text}')")
    text.write_text(f'{cell},1,2\n"{cell}\n{cell},3,4,5\n')
    return f"{path}::v"


def torn_reader(cell, folder):
    def batches():
        yield pa.record_batch({"a": [1.0], "b": [1.0]})
        raise ValueError(cell)

    schema = pa.schema([("a", pa.float64()), ("b", pa.float64())])
    return pa.RecordBatchReader.from_batches(schema, batches())


class Stream:
    """Speaks Arrow's C stream, and computes its rows when it is asked for one."""

    def __init__(self, cell):
        self.cell = cell

    def __arrow_c_stream__(self, requested_schema=None):
        raise ValueError(f"row 7 has {self.cell}")


def streaming(cell, folder):
    return Stream(cell)


FAILING = [streaming, cast_relation, cast_ibis, cast_view, sniffed_view, torn_reader]


@pytest.mark.grid
@pytest.mark.parametrize("way", FAILING)
@pytest.mark.parametrize("name", ["box", "queries"])
def test_what_a_row_makes_fail_says_nothing_of_it_and_costs_the_same(name, way, tmp_path):
    found = []
    for cell in ("SECRET", "x1"):
        source = tmp_path / "in"
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir()
        ledger = tmp_path / "l.ledger"
        ledger.unlink(missing_ok=True)
        plan, table = planned(name, "", "add_remove"), way(cell, source)
        account = ln.Ledger.create(ledger, "people", plan.terms.budget)
        place = tmp_path / cell
        found.append(said(partial(plan.release, table, account), place, account))
    assert found[0] == found[1]
    assert found[0]["ended"][1].startswith("lownoise.errors.EngineError: ")
    assert [state for state, *_ in found[0]["paid"]] == ["reserved"]
    assert found[0]["warned"] == found[0]["logged"] == []
    assert found[0]["printed"] == ("", "", b"")


GREEDY = {
    "box": ("lownoise.engines.folds.CodeSums", "turns"),
    "wide": ("lownoise.engines.counts.CodedRows", "__init__"),
    "queries": ("lownoise.engines.counts.Histogram", "totals"),
    "marginals": ("lownoise.engines.counts.Records", "marginals"),
    "parity": ("lownoise.engines.counts.Bits", "parities"),
    "ball": ("lownoise.noise.mechanism.AdditiveMechanism", "run"),
}


@pytest.mark.parametrize("name", GREEDY)
def test_memory_that_is_short_does_not_tell_of_the_rows(name, tmp_path, monkeypatch):
    """numpy's own text has the array's shape, which is the number of rows."""
    where, what = GREEDY[name]

    def short(*_, **__):
        raise MemoryError(f"Unable to allocate an array with shape ({next(shapes)},)")

    shapes = iter((7123, 8234))
    monkeypatch.setattr(f"{where}.{what}", short)
    asked = (name, "", "add_remove")
    one, other = (observed(asked, "floats", cells("number", wild=w), tmp_path) for w in (0, 1))
    assert next(shapes, None) is None
    assert one == other
    assert one["ended"][1].startswith("lownoise.errors.EngineError: ")
    assert one["paid"][0][0] in ("reserved", "settled")


SEVERAL = "table is a text of several lines, and no path; write it to a file"
GIVEN = {
    "text": (
        "a,b\nSECRET,1\n",
        "table is a text of several lines, and no path; write it to a file",
    ),
    "texts": (["SECRET", "1"], "table[0] is no path of one; give a list of files only"),
    "rows": (
        [{"a": "SECRET"}],
        "table=list is no path, nor a list of some; give one, a frame or an Arrow table",
    ),
}


@pytest.mark.parametrize(("table", "said_of_it"), GIVEN.values(), ids=GIVEN)
def test_rows_that_are_given_for_a_path_are_not_quoted(table, said_of_it):
    with pytest.raises(TableError) as refusal:
        planned("box", "", "add_remove").release(table)
    assert str(refusal.value) == said_of_it


MISPLACED = {
    "frame": pd.DataFrame({"a": [765431.0]}),
    "series": pd.Series([765431.0, 765431.0]),
    "arrow": pa.table({"a": [765431.0]}),
    "chunked": pa.chunked_array([[765431.0]]),
    "array": np.array([765431.0, 765431.0]),
    "list": [765431.0, 765431.0],
    "long text": "765431.0," * 9,
}
ONE = ln.plan(ln.Mean(["a"], ln.Box([0], [1])), budget=ln.zcdp(1), relation="add_remove")
TAKEN_FOR_NUMBERS = {
    "budget": ln.zcdp,
    "delta": lambda given: ln.approx_dp(1.0, given),
    "radius": lambda given: ln.Ball(2, given),
    "level": lambda given: ONE.release(pa.table({"a": [0.5]})).interval(given),
}


@pytest.mark.parametrize("given", MISPLACED.values(), ids=MISPLACED)
@pytest.mark.parametrize("asked", TAKEN_FOR_NUMBERS.values(), ids=TAKEN_FOR_NUMBERS)
def test_data_given_for_a_number_are_not_quoted(asked, given):
    with pytest.raises(LownoiseError, match=f"=<{type(given).__name__}> is not a number") as said:
        asked(given)
    assert "765431" not in str(said.value)


@pytest.mark.parametrize("name", ["frame", "series", "arrow", "chunked", "array"])
def test_data_given_for_a_name_or_a_kind_are_not_quoted(name):
    given = MISPLACED[name]
    for asked in (
        lambda: ln.plan(given, budget=ln.zcdp(1), relation="add_remove"),
        lambda: ln.plan(ln.Count({"a": 2}), budget=given, relation="add_remove"),
        lambda: ln.plan(ln.Count({"a": 2}), budget=ln.zcdp(1), relation=given),
        lambda: ln.Mean(["a"], given),
        lambda: ln.Count(given),
        lambda: ln.Release.load(given),
    ):
        with pytest.raises(LownoiseError) as said:
            asked()
        assert "765431" not in str(said.value)


def test_a_file_that_ends_lines_otherwise_is_refused_with_rows_and_without(tmp_path):
    path = tmp_path / "t.csv"
    refusals = set()
    for text in ("a,b\r", "a,b\r1,2\r", "a,b\r1,2\r3,4"):
        path.write_bytes(text.encode())
        with pytest.raises(TableError) as refusal:
            planned("box", "", "add_remove").release(path)
        refusals.add(str(refusal.value))
    assert refusals == {f"table={path} ends lines with carriage returns alone; convert it"}


def test_no_connection_draws_a_bar_at_the_pace_of_its_rows(tmp_path):
    table = as_ibis(cells("number", wild=False), tmp_path)
    connection = table.get_backend().con
    connection.execute("SET enable_progress_bar = true")
    planned("box", "", "add_remove").release(table)
    setting = connection.execute("SELECT current_setting('enable_progress_bar')").fetchone()
    assert setting == (False,)
