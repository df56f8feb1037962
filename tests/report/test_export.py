# SPDX-License-Identifier: Apache-2.0
"""A release's answers as a file: typed, described, harmless to spreadsheets, all or nothing."""

import csv
import errno
import json
import math
import os
import re
import resource
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.command_line import run

import lownoise as ln
from lownoise.engines.opening import rows_of
from lownoise.errors import FileError, PlanError, TableError
from lownoise.release import answer_table
from lownoise.release.answer_table import AnswerColumn, AnswerTable, label_of

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
        "parity": ln.Parity(["=age", "pay"], 2, outside=0),
        "moments": ln.Moments(["=age", "pay"], ln.Box([0, -1e9], [9, 1e9])),
        "totals": ln.Sum(["=age"], ln.Box([0], [9]), by={"sex": ["@F", "M"]}),
        "distribution": ln.Distribution("=age", [0, 4, 9], by={"sex": ["@F", "M"]}),
        "units": ln.Count({"sex": ["@F", "M"]}),
    }[kind]
    given = {**BUDGET, "budget": ln.pure_dp(1.0)} if kind == "pure" else BUDGET
    if kind == "units":
        given = {**BUDGET, "privacy_unit": "pay", "rows_per_unit": 3}
    return ln.plan(asked, **given).release(ROWS)


KINDS = (
    *("means", "pure", "marginals", "groups", "queries", "parity", "moments", "totals"),
    *("distribution", "units"),
)


def read(path, texts=-4):
    """Return the headings, and the rows, of a file; in CSV so many columns of it are texts."""
    if path.suffix == ".json":
        found = json.loads(path.read_text())
        return [own["name"] for own in found["columns"]], found["rows"]
    if path.suffix == ".parquet":
        found = pa.parquet.read_table(path)
        return found.column_names, [list(row.values()) for row in found.to_pylist()]
    with path.open(newline="") as file:
        heads, *rows = csv.reader(file)
    return heads, [[*row[:texts], *map(float, row[texts:])] for row in rows]


@pytest.mark.grid(3)
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
        if form == ".json":  # no number there
            rows = [[math.nan if cell is None else cell for cell in row] for row in rows]
        pd.testing.assert_frame_equal(pd.DataFrame(rows, columns=heads), known, check_exact=True)
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
    counts = kind in ("marginals", "queries", "parity", "distribution", "units")
    assert number["unit"].startswith("rows" if counts else "the columns’ units; of the product")
    summed = kind in ("means", "pure", "moments")
    assert f": {described[0]['name']}" in described[0]["meaning"]
    for said in ("; center is =age 4.5, pay 0.0", "a mean is center + sum/count, not exactly"):
        assert (said in described[-5]["meaning"]) == summed


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


HOSTILE = ['=cmd|"/c"!A1', "a\nb", '"q"', "-2+3", "\tz", "'s", "@x,y;z", " =1"]
ODD = pd.DataFrame({name: np.linspace(0, 9, 40) for name in [*HOSTILE, "pay"]}).assign(
    **{"=g": ["=1+1", "b\r\nc"] * 20, "low": ["@F", "M"] * 20}
)


@cache
def held(kind):
    """Return what a user holds of a release, and the end that is written with all chance."""
    by = {"by": {"=g": ["=1+1", "b\r\nc"], "low": ["@F", "M"]}, "way": 2}
    box, two = ln.Box([0] * len(HOSTILE), [9] * len(HOSTILE)), ln.Box([0, 0], [9, 9])
    asked, read = {
        "groups": (ln.Mean(HOSTILE, box, **by), lambda r: r.groups("=g", "low", level=0.9)),
        "no group": (ln.Mean(HOSTILE, box, **by), lambda r: r.groups(level=0.9)),
        "totals": (ln.Sum(HOSTILE, box, **by), lambda r: r.groups("low", level=0.9)),
        "band": (ln.Distribution("pay", range(10)), lambda r: r.distribution(level=0.9)),
        "quantile": (ln.Distribution("pay", range(10)), lambda r: r.quantile(0.5, level=0.9)),
        "moments": (ln.Moments(["=g", "pay"], two), lambda r: r.moments),
        "line": (
            ln.Moments(["=g", "pay"], two), lambda r: r.moments.coefficients("pay", level=0.9)
        ),
        "of a group": (
            ln.Moments(["=g", "pay"], two, by={"low": ["@F", "M"]}),
            lambda r: r.moments.groups("low")[("M",)],
        ),
    }[kind]  # fmt: skip
    of_moments = kind in ("moments", "line", "of a group")
    table = ODD.assign(**{"=g": np.arange(40) % 7}) if of_moments else ODD
    return read(ln.plan(asked, budget=ln.zcdp(0.5), relation="add_remove").release(table))


HELD = ("groups", "no group", "totals", "band", "quantile", "moments", "line", "of a group")


@pytest.mark.grid(3)
@pytest.mark.parametrize("kind", HELD)
def test_all_that_is_read_of_a_release_is_written_as_pandas_has_it(kind, tmp_path):
    own = held(kind)
    given = {"level": 0.9} if kind in ("moments", "of a group") else {}
    known = own.to_pandas(**given)
    texts = [name for name in known if known[name].dtype.kind not in "fi"]
    for form in FORMS:
        own.export(tmp_path / f"x{form}", **given)
        heads, rows = read(tmp_path / f"x{form}", len(texts))
        if form == ".csv":
            cells = [*heads, *(cell for row in rows for cell in row[: len(texts)])]
            assert not any(cell.strip(' "').startswith(("=", "@", "+", "-")) for cell in cells)
            heads = [label_of(head) for head in heads]
            rows = [[label_of(c) if isinstance(c, str) else c for c in row] for row in rows]
        assert heads == list(known)
        rows = [[math.nan if cell is None else cell for cell in row] for row in rows]
        assert repr(rows) == repr(known.to_numpy(object).tolist())
    described = json.loads((tmp_path / "x.json").read_text())["columns"]
    assert [c["name"] for c in described if "unit" not in c] == texts
    assert all(len(c["meaning"]) > 8 for c in described)
    assert sum("chance" in c["meaning"] and "0.9" in c["meaning"] for c in described) >= 2


@pytest.mark.parametrize("kind", [own for own in HELD if own != "of a group"])
def test_what_is_read_of_a_release_is_printed_as_its_table(kind):
    heads, *rows = str(held(kind)).split("\n")
    known = held(kind).to_pandas()
    assert len(rows) == len(known)
    for name, cells in known.items():
        assert re.sub(r"[^ -~]", "\N{REPLACEMENT CHARACTER}", name) in heads
        for row, cell in zip(rows, cells, strict=True):
            assert (
                isinstance(cell, str)
                or f"{cell:,.{0 if abs(cell) >= 1e5 else 6}{'f' if abs(cell) >= 1e5 else 'g'}}"
                in row
            )
    assert all(line.isprintable() for line in (heads, *rows))


def test_of_a_long_table_the_first_rows_are_printed():
    table = AnswerTable((AnswerColumn("x", np.arange(1041.0), "…", "…"),))
    first, *_, last = str(table).split("\n")
    assert (first.strip(), last[:19]) == ("x", "and 1,001 more rows")


def test_what_is_no_number_is_written_as_none(tmp_path):
    table = AnswerTable((AnswerColumn("x", np.array([np.nan, np.inf, -np.inf, -0.0]), "…", "…"),))
    for form in FORMS:
        table.export(tmp_path / f"x{form}")
    assert (tmp_path / "x.csv").read_text() == '"x"\nnan\ninf\n-inf\n-0.0\n'
    assert read(tmp_path / "x.json")[1] == [[None], [None], [None], [-0.0]]
    assert repr(read(tmp_path / "x.parquet")[1]) == "[[nan], [inf], [-inf], [-0.0]]"


def test_rows_beyond_those_that_are_taken_at_once_are_written(tmp_path, monkeypatch):
    own = held("band")
    for form in FORMS:
        own.export(tmp_path / f"whole{form}")
        monkeypatch.setattr(answer_table, "_AT_ONCE", 4)
        own.export(tmp_path / f"parts{form}")
        parts = (tmp_path / f"parts{form}").read_bytes()
        assert parts == (tmp_path / f"whole{form}").read_bytes()


def test_a_stream_writes_its_last_answers(tmp_path):
    stream = ln.stream(ln.Prefix(5), budget=ln.zcdp(0.5), domain=ln.Box([0, 0], [9, 9]))
    with pytest.raises(PlanError, match="has no answers yet"):
        stream.export(tmp_path / "x.json")
    stream.update([1, 2])
    answers = stream.update_many([[3, 4], [5, 6]])
    stream.export(tmp_path / "x.json")
    heads, rows = read(tmp_path / "x.json")
    assert heads == list(stream.to_pandas())
    assert [row[:3] for row in rows] == [[2, *answers[0]], [3, *answers[1]]]
    kinds = [c["type"] for c in json.loads((tmp_path / "x.json").read_text())["columns"]]
    assert kinds == ["int64"] + ["float64"] * 8


def test_what_is_no_table_says_which_is(tmp_path):
    own, path = released("means"), tmp_path / "x.csv"
    joint = ln.together({"a": own.terms.question}, **BUDGET).release(ROWS)
    with pytest.raises(PlanError, match=r"1 questions; export each, as release\['a'\]\.export"):
        joint.export(path)
    with pytest.raises(PlanError, match="biased answers and nothing that says so; use save"):
        own.projected().export(path)
    grouped = ln.Moments(["=age", "pay"], ln.Box([0, 0], [9, 9]), by={"sex": ["@F", "M"]})
    moments = ln.plan(grouped, **BUDGET).release(ROWS).moments
    with pytest.raises(AttributeError, match=r"give release.moments.groups\(…\)\[labels\].export"):
        moments.export(path)
    assert not path.exists()


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_leaves_the_old_file_and_no_other(form, tmp_path):
    path, own = tmp_path / f"x{form}", released("means")
    own.export(path)
    before = path.read_bytes()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limit[1]))
    try:
        with pytest.raises(FileError, match="cannot be written"):
            own.export(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_of_exports_to_one_file_at_once_one_is_there_whole(tmp_path):
    path, own = tmp_path / "x.csv", held("band")
    wanted = []
    for _ in range(2):
        own.export(path)
        wanted.append(path.read_bytes())
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: own.export(path), range(24)))
    assert path.read_bytes() in wanted
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask():
    os.umask(own := os.umask(0))
    return own


def test_what_has_no_answers_or_no_such_ending_is_refused(tmp_path, monkeypatch):
    own = released("means")
    with pytest.raises(PlanError, match="has no answers yet"):
        ln.plan(own.terms.question, **BUDGET).export(tmp_path / "x.csv")
    for name in ("x", "x.xlsx", "x.csv.gz"):
        with pytest.raises(FileError, match="has an unknown ending"):
            own.export(tmp_path / name)
    with pytest.raises(FileError, match="cannot be written"):
        own.export(tmp_path / "absent" / "x.csv")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(FileError, match="cannot be written"):
        own.export(tmp_path / "x.csv")
    for wrong in ("x\0.csv", "\ud800.csv", "x" * 400 + ".csv"):
        with pytest.raises(FileError, match=r"is no path|cannot be written") as refusal:
            own.export(tmp_path / wrong)
        assert "\n" not in str(refusal.value)
    monkeypatch.chdir(tmp_path)
    for wrong in (".", "..", "/"):
        with pytest.raises(FileError, match="cannot be written"):
            own.save(wrong)
    assert list(tmp_path.iterdir()) == [tmp_path / "x.csv"]


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


@pytest.mark.parametrize("number", [errno.EACCES, errno.EINVAL, errno.EIO])
def test_a_folder_that_cannot_be_synced_keeps_its_files(number, tmp_path, monkeypatch):
    """It may be written in but not read, or its disk has no such call; one that fails is said."""

    def opened(path, *more):
        if path == tmp_path:
            raise OSError(number, os.strerror(number), str(path))
        return real(path, *more)

    real, own = os.open, released("means")
    monkeypatch.setattr(os, "open", opened)
    failed = pytest.raises(FileError, match="cannot be written")
    with failed if number == errno.EIO else nullcontext():
        own.save(tmp_path / "r.json")
    assert ln.verify(tmp_path / "r.json")


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
    assert [row[1] for row in read(tmp_path / f"x{form}")[1]][-len(estimate) :] == estimate
    assert all(math.isfinite(v) for v in estimate)


@pytest.mark.parametrize("separator", [None, ";", "\t", "|"])
@pytest.mark.parametrize("kind", ["groups", "means"])
def test_a_dialect_is_read_back_to_every_digit_and_runs_no_cell(kind, separator, tmp_path):
    """By what reads tables here under the same words, and by pandas."""
    own, dialect = released(kind), {"separator": separator, "decimal": ","}
    own.export(tmp_path / "x.csv", **dialect)
    known, text = own.to_pandas(), (tmp_path / "x.csv").read_text()
    between = separator or ";"
    read_again = pd.read_csv(tmp_path / "x.csv", sep=between, decimal=",", dtype={"sex": str})
    assert [label_of(name) for name in read_again] == list(known)
    assert read_again.iloc[:, -4:].equals(known.iloc[:, -4:])
    texts = [c for c in known if known[c].dtype == object]
    assert read_again[texts].map(label_of).equals(known[texts])
    assert "." not in re.sub(r'"[^"]*"', "", text)
    assert not any(re.match("[=+@]", c) for line in text.splitlines() for c in line.split(between))
    numbers = list(known.columns[-4:])
    rows = rows_of(numbers, ln.Table(tmp_path / "x.csv", **dialect))
    np.testing.assert_array_equal(np.vstack(list(rows)), known[numbers])


def test_a_dialect_that_is_none_is_refused_before_anything_is_written(tmp_path):
    own = released("groups")
    for given, said in (
        ({"decimal": "x"}, "decimal='x'"),
        ({"separator": "x"}, "separator='x' is no separator"),
        ({"separator": ",", "decimal": ","}, "are one letter"),
    ):
        with pytest.raises(TableError, match=said):
            own.export(tmp_path / "x.csv", **given)
    for form in (".json", ".parquet"):
        with pytest.raises(FileError, match="separator and decimal are for CSV files"):
            own.export(tmp_path / f"x{form}", decimal=",")
    assert not list(tmp_path.iterdir())
