# SPDX-License-Identifier: Apache-2.0
"""Files on Spark mean what they mean elsewhere; without Spark it is said what to install."""

import gc
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from tests.docs.test_documents import run_here
from tests.engines import test_contract as contract

import lownoise as ln
import sparks
from golden.accessors import simulated
from lownoise.engines import TotalsQuery, opening, sessions
from lownoise.engines.queries import totals_query
from lownoise.engines.tables import UnitTable
from lownoise.errors import EngineError, TableError
from lownoise.privacy.units import PrivacyUnit
from lownoise.spec.files import read_spec

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
QUERY = TotalsQuery(contract.CODING, drops_missing=False)
FRAME = pd.DataFrame({"x": [1.5, np.nan, 2.0**50, -4.0] * 5, "y z": [0.1, 2.0, -np.inf, 7.0] * 5})


def table(path, **dialect):
    sparks.session()
    return ln.Table(path, engine="spark", **dialect)


@pytest.mark.parametrize("way", [contract.as_parquet, contract.as_text_parquet, contract.as_csv])
def test_files_have_the_totals_that_they_have_elsewhere(way, tmp_path):
    path = way(FRAME, tmp_path)
    assert totals_query(QUERY).of(table(path)) == totals_query(QUERY).of(path)


def test_folders_are_the_rows_of_all_their_files_and_values_only_where_asked(tmp_path):
    """Dates that rows are ordered by come as they are elsewhere, and integers beyond 63 bits."""
    for name, x in (("x=9", 3), ("x=7", 2**64 - 1)):
        (tmp_path / "rows" / name).mkdir(parents=True)
        days = pa.array([2, 1], pa.date32())
        rows = pa.table({"x": pa.array([1, x], pa.uint64()), "y z": [1.0, 2.0], "day": days})
        pa.parquet.write_table(rows, tmp_path / "rows" / name / "t.parquet")
    for partitions in ((), ("x",)):
        own = {"partitions": partitions}
        for unit in (None, PrivacyUnit("y z", 1, ("day",))):
            given, there = ln.Table(tmp_path / "rows", **own), table(tmp_path / "rows", **own)
            if unit is not None:
                given, there = UnitTable(given, unit), UnitTable(there, unit)
            assert totals_query(QUERY).of(there) == totals_query(QUERY).of(given)


def test_folders_say_the_same_as_elsewhere_and_what_stands_above_them_says_nothing(
    tmp_path, monkeypatch
):
    """Of a relative path; a line feed in a value is as good as other letters."""
    sparks.session()
    names = ("x", "y z")
    below = tmp_path / "x=5"
    (below / "y z=1\n2").mkdir(parents=True)
    (below / "y z=1\n2" / "t.csv").write_text("n,m\n1,2\n")
    (below / "t.csv").write_text("n,m\n1,2\n")
    monkeypatch.chdir(below)
    for path, x in (("**/*.csv", None), (below / "**" / "*.csv", "5")):
        found = []
        for engine in ("duckdb", "spark"):
            given = ln.Table(path, partitions=names, engine=engine)
            batches = list(opening.source_of(given, ["n", *names]).batches(["n"], names))
            rows = [r for b in batches for r in zip(*(t.to_pylist() for t in b.texts), strict=True)]
            found.append(sorted(rows, key=repr))
        assert found[0] == found[1] == sorted([(x, None), (x, "1\n2")], key=repr)


def test_every_kind_of_file_is_what_it_is_elsewhere(tmp_path):
    rows = pa.Table.from_pandas(FRAME, preserve_index=False)
    pa.feather.write_feather(rows, tmp_path / "t.feather")
    write(tmp_path / "a.jsonl", b'{"x": 1, "y z": "0x10"}\n\n[1]\n{"y z": true}\n')
    write(tmp_path / "b.jsonl", b'{"x": 1e3}')
    write(tmp_path / "semi.csv", b"x;y z\n1,5;2\n1.5;'\n")
    dialect = {"separator": ";", "decimal": ",", "quotes": False}
    for name, own in (("t.feather", {}), ("*.jsonl", {}), ("semi.csv", dialect)):
        expected = totals_query(QUERY).of(ln.Table(tmp_path / name, **own))
        assert totals_query(QUERY).of(table(tmp_path / name, **own)) == expected


def test_lines_that_quotes_hold_together_are_a_row_on_spark_too(tmp_path):
    """Of two files with their columns in another order, one of them compressed."""
    content = b'x,y z,n\n1,2,"a\nb,1,1\n"\n\xff,0x10,"\n",3\n\n3\n4,5,\r\n'
    (tmp_path / "a.csv").write_bytes(content)
    with gzip.open(tmp_path / "b.csv.gz", "wb") as file:
        file.write(b"n,y z,x\n1,2,3\n")
    both = [tmp_path / "a.csv", tmp_path / "b.csv.gz"]
    found = totals_query(QUERY).of(table(both))
    own = [totals_query(QUERY).of(path) for path in both]
    assert found.count == sum(one.count for one in own) == 6
    assert found.sums == tuple(map(sum, zip(*(one.sums for one in own), strict=True)))


def write(path, content):
    path.write_bytes(content)
    return path


def unlike(folder):
    for name, value in (("a", 1), ("b", "17")):
        pa.parquet.write_table(pa.table({"x": [value], "y z": [1.0]}), folder / f"{name}.parquet")
    return folder


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda f: f / "absent.parquet", "is no file"),
        (lambda f: write(f / "t.parquet", b"SECRET-17"), "cannot be read"),
        (unlike, "cannot be read"),
        (lambda f: write(f / "t.csv.gz", b"SECRET-17"), "cannot be read"),
        (lambda f: write(f / "t.csv", b""), "has no names in its first line, or is empty"),
        (lambda _: "https://office.example/t.parquet", "is remote"),
        (lambda _: [], "names no file"),
    ],
)
def test_files_that_cannot_be_read_are_refused_without_a_value(make, said, tmp_path):
    with pytest.raises(TableError, match=said) as refused:
        totals_query(QUERY).of(table(make(tmp_path)))
    text = str(refused.value).replace(str(tmp_path), "")
    assert "\n" not in text
    assert "17" not in text


def test_a_file_that_is_damaged_where_its_rows_are_fails_as_every_other_does(tmp_path):
    with gzip.open(tmp_path / "t.csv.gz", "wb") as file:
        file.write(b"x,y z\n" + b"".join(b"%d,2\n" % i for i in range(9**5)))
    whole = (tmp_path / "t.csv.gz").read_bytes()
    cut = write(tmp_path / "t.csv.gz", whole[: len(whole) // 2])
    with pytest.raises(EngineError, match=r"t.csv.gz could not be summed"):
        totals_query(QUERY).of(table(cut))


def test_a_damaged_file_fails_where_the_session_would_skip_it(tmp_path):
    path = tmp_path / "t.parquet"
    rows = pa.table({"x": np.arange(999.0), "y z": np.arange(999.0)})
    pa.parquet.write_table(rows, path, use_dictionary=False, compression="none")
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + b"\xff" * 64 + whole[68:])
    skip, own = "spark.sql.files.ignoreCorruptFiles", sparks.session().conf
    own.set(skip, "true")
    try:
        with pytest.raises(EngineError, match=r"t.parquet could not be summed"):
            totals_query(QUERY).of(table(path))
    finally:
        own.unset(skip)


def test_the_session_that_is_running_is_taken():
    own = sparks.session()
    assert sessions.running().sparkContext is own.sparkContext


def test_without_pyspark_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(sessions, "find_spec", lambda _: None)
    with pytest.raises(TableError, match=r"pip install 'lownoise\[spark\]'$"):
        totals_query(QUERY).of(ln.Table("t.parquet", engine="spark"))


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("home", "said"),
    [("", "none is found in PATH"), ("none", "none is found in "), ("bad", "does not start")],
)
def test_without_java_it_is_said_what_to_install(home, said, monkeypatch, tmp_path, capfd):
    from pyspark import SparkContext

    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    monkeypatch.setattr(SparkContext, "_gateway", None)
    (tmp_path / "bad" / "bin").mkdir(parents=True)
    (tmp_path / "bad" / "bin" / "java").write_text("#!/bin/sh\necho an old one >&2\nexit 1\n")
    (tmp_path / "bad" / "bin" / "java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / home) if home else "")
    if not home:
        monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TableError, match="the engine spark needs Java 17 or 21") as refused:
        totals_query(QUERY).of(ln.Table("t.parquet", engine="spark"))
    assert said in str(refused.value)
    del refused
    gc.collect()  # of what pyspark leaves of a process that did not start
    assert "".join(capfd.readouterr()) == ""


SPEC = """
[question]
kind = "mean"
relation = "add_remove"
columns.x = {lower = 0, upper = 4}
[budget]
rho = 0.1
[data]
path = "t.csv"
"""


def test_a_specification_runs_on_spark_but_for_the_engine(tmp_path, monkeypatch, capsys):
    """And the command line asks for it; the integers are the same."""
    sparks.session()
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("t.csv", index=False)
    Path("here.toml").write_text(SPEC)
    Path("there.toml").write_text(f'{SPEC}engine = "spark"\n')
    Path("none.toml").write_text(f'{SPEC}engine = "hive"\n')
    found = []
    for command in (
        "here.toml",
        "here.toml --engine spark",
        "there.toml",
        "there.toml --engine duckdb",
    ):
        with simulated(3):
            run_here(f"lownoise release {command} --json")
        found.append(json.loads(capsys.readouterr().out)["integers"])
    assert all(own == found[0] for own in found)
    assert read_spec(Path("there.toml")).data.table().engine == "spark"
    for command in ("none.toml", "here.toml --engine hive"):
        with pytest.raises(AssertionError):
            run_here(f"lownoise release {command}")
        assert 'give "duckdb" or "spark"' in capsys.readouterr().err
