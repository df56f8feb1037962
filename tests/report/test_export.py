# SPDX-License-Identifier: Apache-2.0
"""A release's answers as a file: typed, described, harmless to spreadsheets, all or nothing."""

import csv
import json
import math
import os
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.command_line import run

import lownoise as ln
from lownoise.errors import FileError, PlanError
from lownoise.report.answers import label_of

FORMS = (".csv", ".parquet", ".json")
ROWS = pd.DataFrame({"=age": [3.0, 5.0] * 50, "pay": [-1e9, 1 / 3] * 50, "sex": ["@F", "M"] * 50})
BUDGET = {"budget": ln.zcdp(0.5), "relation": "add_remove"}


@cache
def released(kind):
    asked = {
        "means": ln.Mean(["=age", "pay"], ln.Box([0, -1e9], [9, 1e9])),
        "pure": ln.Mean(["=age", "pay"], ln.Box([0, -1e9], [9, 1e9])),
        "marginals": ln.Marginals({"sex": ["@F", "-M", "2"], "=age": 4}, way=2, outside="extra"),
        "groups": ln.Mean(["pay"], ln.Box([-1e9], [1e9]), by={"sex": ["@F", "M"]}),
        "queries": ln.Queries(np.eye(2), {"sex": ["@F", "M"]}, outside="drop"),
    }[kind]
    given = {**BUDGET, "budget": ln.pure_dp(1.0)} if kind == "pure" else BUDGET
    return ln.plan(asked, **given).release(ROWS)


KINDS = ("means", "pure", "marginals", "groups", "queries")


def read(path):
    """Return the headings, and the rows, of a file."""
    if path.suffix == ".json":
        found = json.loads(path.read_text())
        return [own["name"] for own in found["columns"]], found["rows"]
    if path.suffix == ".parquet":
        found = pa.parquet.read_table(path)
        return found.column_names, [list(row.values()) for row in found.to_pylist()]
    with path.open(newline="") as file:
        heads, *rows = csv.reader(file)
    return heads, [[*row[:-4], *map(float, row[-4:])] for row in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_has_the_same_rows_and_every_digit(kind, tmp_path):
    own = released(kind)
    known = own.to_pandas(level=0.9)
    texts = len(known.columns) - 4
    for form in FORMS:
        own.export(tmp_path / f"x{form}", level=0.9)
        heads, rows = read(tmp_path / f"x{form}")
        if form == ".csv":
            assert not any(str(cell).startswith(("=", "+", "@")) for row in rows for cell in row)
            heads = [label_of(head) for head in heads]
            rows = [[*map(label_of, row[:texts]), *row[texts:]] for row in rows]
        assert heads == list(known)
        assert rows == known.to_numpy().tolist()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.csv", "x.json", "x.parquet"]


@pytest.mark.parametrize("kind", KINDS)
def test_columns_say_what_they_are(kind, tmp_path):
    own = released(kind)
    own.export(tmp_path / "x.parquet", level=0.9)
    own.export(tmp_path / "x.json", level=0.9)
    described = json.loads((tmp_path / "x.json").read_text())["columns"]
    schema = pa.parquet.read_schema(tmp_path / "x.parquet")
    for column, field in zip(described, schema, strict=True):
        stated = {k.decode(): v.decode() for k, v in field.metadata.items()}
        assert {name: stated.get(name) for name in column} == column
        assert str(field.type) == {"text": "string", "float64": "double"}[column["type"]]
        assert ("unit" in column) == (column["type"] == "float64")
        assert len(column["meaning"]) > 10
    number, low, high, deviation = described[-4:]
    assert "chance 0.9" in low["meaning"]
    assert "chance 0.9" in high["meaning"]
    assert (low["name"], high["name"], deviation["name"]) == ("low", "high", "standard_deviation")
    assert number["unit"] == ("rows" if kind in ("marginals", "queries") else "the columns’ units")


def test_what_devices_say_is_written_alike(tmp_path):
    plan = ln.local(ln.Mean(["=age", "pay"], ln.Box([0, 0], [9, 1])), ln.local_dp(1.0))
    found = plan.aggregate(plan.randomize_all([[3, 0.5]] * 40))
    ends = found.interval(0.9)
    known = [found.estimate, ends[:, 0], ends[:, 1], found.standard_deviation]
    for form in FORMS:
        found.export(tmp_path / f"x{form}", level=0.9)
        heads, rows = read(tmp_path / f"x{form}")
        assert heads == ["answer", "estimate", "low", "high", "standard_deviation"]
        assert [label_of(row[0]) for row in rows] == ["=age", "pay"]
        assert [row[1:] for row in rows] == np.transpose(known).tolist()
    described = json.loads((tmp_path / "x.json").read_text())["columns"]
    assert "chance about 0.9" in described[2]["meaning"]


def test_any_marginal_is_written(tmp_path):
    own = released("marginals")
    own.export(tmp_path / "x.json", "=age", "sex", level=0.5)
    heads, rows = read(tmp_path / "x.json")
    assert heads == ["=age", "sex", "count", "low", "high", "standard_deviation"]
    assert [row[2] for row in rows] == own.marginal("=age", "sex").ravel().tolist()


def test_what_has_no_answers_or_no_such_ending_is_refused(tmp_path):
    own = released("means")
    with pytest.raises(PlanError, match="has no answers yet"):
        ln.plan(own.terms.question, **BUDGET).export(tmp_path / "x.csv")
    for name in ("x", "x.xlsx", "x.csv.gz"):
        with pytest.raises(FileError, match="has an unknown ending"):
            own.export(tmp_path / name)
    with pytest.raises(FileError, match="cannot be written"):
        own.export(tmp_path / "absent" / "x.csv")
    assert list(tmp_path.iterdir()) == []


class Died(BaseException):
    """What ends a process, at a step."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_file_is_the_old_or_the_new_one_whenever_it_ends(form, step, tmp_path, monkeypatch):
    path, own = tmp_path / f"x{form}", released("means")
    own.export(path, level=0.5)
    before = path.read_bytes()

    def died(*_):
        raise Died

    with monkeypatch.context() as patched:
        patched.setattr(os if step == "fsync" else type(path), step, died)
        with pytest.raises(Died):
            own.export(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    own.export(path)
    assert path.read_bytes() != before


SPEC = """
[question]
relation = "add_remove"
[question.columns]
pay = { lower = 0, upper = 9 }
[budget]
rho = 0.5
[ledger]
path = "l"
dataset = "d"
[data]
path = "t.csv"
"""


@pytest.mark.parametrize("form", FORMS)
def test_a_command_writes_the_answers_it_paid_for(form, tmp_path):
    (tmp_path / "s.toml").write_text(SPEC)
    ROWS.to_csv(tmp_path / "t.csv", index=False)
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    for wrong in ("x.txt", "absent/../t.csv"):
        done = run(tmp_path, "release", "s.toml", "--answers", wrong)
        assert done.returncode == 2
        assert ledger.entries() == []
    done = run(tmp_path, "release", "s.toml", "--answers", f"x{form}", "--json")
    assert done.returncode == 0, done.stderr
    estimate = json.loads(done.stdout)["derived"]["estimate"]
    assert [row[1] for row in read(tmp_path / f"x{form}")[1]] == estimate
    assert all(math.isfinite(v) for v in estimate)
