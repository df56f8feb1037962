# SPDX-License-Identifier: Apache-2.0
"""Files by patterns, folders, lists and dialects: rows decide no type, no message and no file."""

import gzip
import itertools
import json
import math
import os
import re
import traceback
from collections import Counter
from decimal import Decimal
from functools import cache
from pathlib import Path

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from fsspec.implementations.local import LocalFileSystem
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.command_line import run

import lownoise as ln
from lownoise.engines import files as engine_files
from lownoise.engines.counts import histogram_query
from lownoise.engines.files import _bytes
from lownoise.engines.json_lines import open_lines, values_of
from lownoise.engines.opening import opened
from lownoise.engines.source import Columns
from lownoise.engines.tables import File, found_files, located, once
from lownoise.errors import EngineError, LownoiseError, SpecError, TableError
from lownoise.errors.credentials import bare
from lownoise.numbers.values import LONGEST, number, number_of_text
from lownoise.privacy.units import PrivacyUnit
from lownoise.spec import read_spec

PLAN = ln.plan(ln.Mean(["a"], ln.Box([0], [9])), budget=ln.zcdp(0.5), relation="add_remove")


def written(path, columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pa.parquet.write_table(pa.table(columns), path)
    return path


def texts(table, *names):
    """Return the rows of columns of texts."""
    batches = list(opened(table, Columns(names)).batches([], names))
    return [row for b in batches for row in zip(*(t.to_pylist() for t in b.texts), strict=True)]


# ---------------------------------------------------------------- JSON lines

LINES = [
    (b'{"a": 1}', "1"),
    (b'  {"a":1.50}\r', "1.50"),
    (b'{"a": 1, "a": "x"}', "x"),
    (b'{"a": 1, "\\u0061": null}', None),
    (b'{"a": ' + b"9" * LONGEST + b"}", "9" * LONGEST),
    (b'{"a": ' + b"9" * (LONGEST + 1) + b"}", None),
    (b'{"a": -0.0}', "-0.0"),
    (b'{"a": 1e400}', "1e400"),
    (b'{"a": NaN}', "NaN"),
    (b'{"a": true}', "true"),
    (b'{"a": false}', "false"),
    (b'{"a": null}', None),
    (b'{"a": [1]}', None),
    (b'{"a": {"a": 1}}', None),
    (b'{"a": ""}', ""),
    (b'{"a": "\\ud800"}', "\ufffd\ue000"),
    (b'{"a": "\\ud801"}', "\ufffd\ue001"),
    (b'{"a": "\\u0000"}', "\0"),
    (b'{"a": "\xff"}', "\ufffd\uf7ff"),
    (b'{"a": "}{"}', "}{"),
    (b'{"b": ' + b"[" * 60 + b"]" * 60 + b', "a": 1}', "1"),
    (b'{"b": ' + b"[" * 70 + b"]" * 70 + b', "a": 1}', None),
    (b'{"b": "' + b"[" * 70 + b'", "a": 1}', "1"),
    (b'{"b": "\\"' + b"[" * 70 + b'", "a": 1}', "1"),
    (b"[" * 100_000, None),
    (b'["a"]', None),
    (b"1", None),
    (b"a", None),
    (b'{"a": 1} x', None),
    (b'{"a": 1', None),
    (b"{'a': 1}", None),
    (b"", None),
    (b"\xef\xbb\xbf", None),
    (b"\0", None),
]


@pytest.mark.parametrize("ending", [".jsonl", ".ndjson", ".jsonl.gz"])
@pytest.mark.parametrize("last", [b"", b"\n"])
def test_a_line_is_a_row_whatever_it_holds(tmp_path, ending, last):
    own = [*LINES, (b'{"a": 7}', "7")]
    raw = b"\xef\xbb\xbf" + b"\n".join(line for line, _ in own) + last
    path = tmp_path / f"t{ending}"
    path.write_bytes(gzip.compress(raw) if ending.endswith("gz") else raw)
    assert texts(path, "a", "absent") == [(said, None) for _, said in own]


@settings(max_examples=60)
@given(st.lists(st.binary(max_size=12) | st.sampled_from([line for line, _ in LINES]), max_size=6))
@example([b"{", b"}"])
def test_no_line_speaks_for_another(tmp_path_factory, lines):
    lines = [line.replace(b"\n", b" ") for line in lines]
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    path.write_bytes(b"\n".join([b'{"a": 1}', *lines, b'{"a": 2}']))
    rows = open_lines(path, ["a"]).read_all().column("a").to_pylist()
    assert rows == ["1", *(values_of(line, ["a"])[0] for line in lines), "2"]


@settings(max_examples=60)
@given(st.floats() | st.integers() | st.integers(-(10**400), 10**400))
def test_a_number_is_the_float_that_it_spells(value):
    (text,) = values_of(json.dumps({"a": value}).encode(), ["a"])
    found, known = number_of_text(text), number(value)
    assert found == known or (math.isnan(found) and math.isnan(known))


# ---------------------------------------------------------------- dialects


def test_a_comma_before_decimals_is_a_point_and_a_point_is_no_number(tmp_path):
    cells = [
        "1,5",
        "1.5",
        " -,5e3",
        "1.234,5",
        "1,2,3",
        "12",
        "a,b",
        "a.b",
        "",
        "0x1F",
        ",",
        "1_0,5",
    ]
    known = [
        "1.5",
        "1,5",
        " -.5e3",
        "1.234,5",
        "1,2,3",
        "12",
        "a,b",
        "a.b",
        "",
        "0x1F",
        ".",
        "1_0.5",
    ]
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join(f"{cell};x\n" for cell in cells))
    table = ln.Table(path, separator=";", decimal=",")
    assert texts(table, "a", "b") == [(text, "x") for text in known]
    numbers = [number_of_text(text) for text in known]
    (batch,) = opened(table, Columns(["a"])).batches(["a"])
    assert np.array_equal(batch.numbers[0], numbers, equal_nan=True)
    assert len(set(known)) == len(cells)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"separator": "0"}, "separator='0' is no separator"),
        ({"decimal": ";"}, "decimal=';' is none"),
        ({"decimal": ",", "separator": ","}, "one letter"),
        ({"quotes": "no"}, "quotes='no'"),
        ({"partitions": "a"}, "partitions='a' are no names"),
        ({"partitions": [1]}, "are no names"),
        ({"partitions": None}, "are no names"),
        ({"partitions": ["p", "p"]}, "each once"),
    ],
)
def test_what_describes_no_file_is_refused(named, said):
    with pytest.raises(TableError, match=said):
        ln.Table("t.csv", **named)


def test_what_text_alone_has_is_refused_of_others(tmp_path):
    path = written(tmp_path / "t.parquet", {"a": [1.0]})
    with pytest.raises(TableError, match="are for CSV files"):
        opened(ln.Table(path, separator=";"), Columns(["a"]))
    with pytest.raises(TableError, match="are for files"):
        opened(ln.Table("t.duckdb", separator=";"), Columns(["a"]))


# ---------------------------------------------------------------- several files


def test_columns_of_files_are_found_by_their_names(tmp_path):
    written(tmp_path / "1.parquet", {"a": [1, 2], "b": [3, 4]})
    written(tmp_path / "2.parquet", {"c": ["x"], "b": [6], "a": [5]})
    (batch,) = opened(str(tmp_path / "*.parquet"), Columns(["a", "b"])).batches(["a", "b"])
    assert [n.tolist() for n in batch.numbers] == [[1, 2, 5], [3, 4, 6]]


def test_a_message_names_what_was_written_and_no_file_that_was_found(tmp_path):
    written(tmp_path / "1.parquet", {"a": [1]})
    written(tmp_path / "SECRET.parquet", {"a": [1.5]})
    for table in (tmp_path, f"{tmp_path}/*.parquet"):
        with pytest.raises(TableError, match="has other types than its first file") as refusal:
            opened(table, Columns(["a"]))
        assert "SECRET" not in str(refusal.value)
    (tmp_path / "SECRET.csv").write_text("a\n1\n")
    with pytest.raises(TableError, match="several kinds") as refusal:
        opened(f"{tmp_path}/*", Columns(["a"]))
    assert "SECRET" not in str(refusal.value)
    with pytest.raises(TableError, match="finds no file"):
        opened(f"{tmp_path}/x*.csv", Columns(["a"]))
    with pytest.raises(TableError, match="table=list has files of several kinds"):
        opened([tmp_path / "1.parquet", tmp_path / "SECRET.csv"], Columns(["a"]))


@pytest.mark.parametrize("kind", ["arrow", "ipc", "feather"])
def test_an_arrow_file_is_read_by_its_schema(tmp_path, kind):
    path = tmp_path / f"t.{kind}"
    columns = {
        "a": pa.array([1, None, 3], pa.uint8()),
        "half": pa.array(np.float16([1, 2, 3])),
        "word": pa.array(["x", None, "y"]).dictionary_encode(),
        "none": pa.nulls(3),
    }
    pa.feather.write_feather(pa.table({**columns, "list": [[1]] * 3}), path)
    source = opened(path, Columns(list(columns)))
    assert source.kinds(list(columns)) == ("integers", "numbers", "texts", "numbers")
    assert texts(path, "word") == [("x",), (None,), ("y",)]
    with pytest.raises(TableError, match="'list' has type list"):
        opened(path, Columns(["list"]))


def test_what_is_named_like_an_arrow_file_and_is_none_says_what_it_is(tmp_path):
    table, path = pa.table({"a": [0.5, 1.0]}), tmp_path / "t.arrow"
    with pa.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)
    with pytest.raises(TableError, match=r"t\.arrow is an Arrow stream.*give .*open_stream"):
        opened(path, Columns(["a"]))
    read = pa.ipc.open_stream(path).read_all()  # what the message says
    assert opened(read, Columns(["a"])).kinds(["a"]) == ("numbers",)
    path.write_bytes(b"FEA1" + bytes(64) + b"FEA1")
    with pytest.raises(TableError, match=r"Feather file of version 1.*feather\.read_table"):
        opened(path, Columns(["a"]))
    path.write_bytes(b"ARROW2" + bytes(64))
    with pytest.raises(TableError, match="cannot be read; check that it is a readable"):
        opened(path, Columns(["a"]))


def test_what_the_engine_reads_as_something_else_in_parquet_is_refused(tmp_path):
    """It takes the second of two names that differ in case for a third, and digits for floats."""
    wide = pa.array([Decimal("1.5")], pa.decimal256(50, 3))
    inner = [{"wide": [{"wide": 1}], "B": 2}]
    path = written(
        tmp_path / "t.parquet", {"in": inner, "wide": wide, "B": [1], "b": [2], "c": [3]}
    )
    for column, said in (
        ("wide", "'wide' has type decimal of 50 digits"),
        ("b", "'b' is in the table twice"),
        ("B", "'B' is in the table twice"),
        ("b_1", "'b_1' is not in the table"),
        ("C", "'C' is not in the table"),
    ):
        with pytest.raises(TableError, match=said):
            opened(path, Columns(["c", column] if column != "C" else ["C"]))
    assert [batch.numbers[0].tolist() for batch in opened(path, Columns(["c"])).batches(["c"])] == [
        [3.0]
    ]


# ---------------------------------------------------------------- partitions


def test_a_folder_is_a_value_of_its_rows_and_counts_as_in_any_row(tmp_path):
    """Declared or not, escaped, missing or absent; files of no folder, too."""
    rows = [("TX", 1), ("CA", 2), ("N Y", 3), (None, 4), (None, 5), ("a=b", 6), ("7", 7)]
    folders = ["s=TX", "s=CA", "s=N%20Y", "s=__HIVE_DEFAULT_PARTITION__", "s=", "s=a=b", "x=1/s=7"]
    for folder, (_, value) in zip(folders, rows, strict=True):
        written(tmp_path / "t" / folder / "0.parquet", {"a": [value] * value})
    written(tmp_path / "t" / "0.parquet", {"a": [8] * 8})
    rows += [(None, 8)]
    long = [(own, value) for own, value in rows for _ in range(value)]
    table = pa.table({"s": [own for own, _ in long], "a": [value for _, value in long]})
    for files in (tmp_path / "t", f"{tmp_path}/t/**/*.parquet"):
        given = ln.Table(files, partitions=["s"])
        asked = ln.Marginals({"s": ["TX", "7", "WA"], "a": 9}, way=2, outside="extra")
        universe = ln.Queries(np.ones((1, 40)), {"s": ["TX", "7", "WA"], "a": 9}, outside="extra")
        assert asked.attributes == universe.universe.attributes
        found, known = (histogram_query(universe.universe).of(own) for own in (given, table))
        assert found.counts.tolist() == known.counts.tolist()
        assert Counter(texts(given, "s")) == Counter((own,) for own, _ in long)


def test_no_folder_is_no_row(tmp_path):
    given = ln.Table(tmp_path, partitions=["s"])
    assert texts(given, "s", "a") == []
    assert PLAN.release(given).terms.question.columns == ("a",)
    assert texts(ln.Table(f"{tmp_path}/*/*.parquet", partitions=["s"]), "s") == []
    with pytest.raises(TableError, match="finds no file"):
        opened(ln.Table(f"{tmp_path}/absent/*.parquet", partitions=["s"]), Columns(["s"]))


@pytest.mark.parametrize("wrong", [{"a": [1.5]}, {"b": [1]}, {"a": [[1]]}, None])
def test_a_file_that_a_row_made_fails_as_rows_do(tmp_path, wrong):
    """It is there as a row is: its failure is paid for, and names no folder."""
    written(tmp_path / "t" / "s=CA" / "0.parquet", {"a": [1]})
    own = tmp_path / "t" / "s=SECRET" / "0.parquet"
    own.parent.mkdir()
    own.write_bytes(b"SECRET") if wrong is None else written(own, wrong)
    ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    with pytest.raises(EngineError) as refusal:
        PLAN.release(ln.Table(tmp_path / "t", partitions=["s"]), ledger)
    assert "SECRET" not in str(refusal.value)
    assert [e.state for e in ledger.entries()] == ["reserved"]


@pytest.mark.grid(3)
@pytest.mark.parametrize("text", ["b\n1\n", "a,a\n1,1\n", "a\r1\r2", ""])
def test_no_first_line_tells_where_it_stands(tmp_path, text):
    """The first file is refused before anything is paid, and its folder is a value."""
    (tmp_path / "s=SECRET").mkdir()
    (tmp_path / "s=SECRET" / "t.csv").write_text(text)
    pattern = f"{tmp_path}/*/*.csv"
    (tmp_path / "s=SECRET" / "https:" / "me@b").mkdir(parents=True)  # as an address has it
    (tmp_path / "s=SECRET" / "https:" / "me@b" / "t.csv").write_text(text)
    odd = f"{tmp_path}/s=*/*/*/*.csv"
    for table in (pattern, *(ln.Table(own, partitions=["s"]) for own in (pattern, odd))):
        with pytest.raises(TableError) as refusal:
            opened(table, Columns(["a"]))
        assert "SECRET" not in str(refusal.value)
        assert table is not pattern or pattern in str(refusal.value)


def test_partitions_of_text(tmp_path):
    for state in ("TX", "CA"):
        (tmp_path / f"s={state}").mkdir()
        (tmp_path / f"s={state}" / "t.csv").write_text(f"a;s\n1,5;no\n2;{state}\n")
    given = ln.Table(f"{tmp_path}/*/*.csv", separator=";", decimal=",", partitions=["s"])
    assert texts(given, "s", "a") == [("CA", "1.5"), ("CA", "2"), ("TX", "1.5"), ("TX", "2")]


@pytest.mark.grid(3)
@pytest.mark.parametrize("header", ["a,b\n", "\n", ",,\n", "a,a,a\n", '"a\n",b\n'])
def test_folders_alone_may_be_asked_of_text_and_have_a_value_a_row(tmp_path, header):
    """Whatever the first line names: no column of it is asked."""
    for state, rows in (("TX", "1,2\n\n,,,\n"), ("CA", '"3\n",4\n"5'), ("no", "")):
        (tmp_path / f"s={state}").mkdir()
        (tmp_path / f"s={state}" / "t.csv").write_text(header + rows)
    for suffix in ("csv", "*"):
        given = ln.Table(f"{tmp_path}/*/*.{suffix}", partitions=["s"])
        assert texts(given, "s") == [("CA",)] * 2 + [("TX",)] * 3
    plan = ln.plan(ln.Histogram("s", ["TX", "CA"]), budget=ln.zcdp(1e6), relation="add_remove")
    account = ln.Ledger.create(tmp_path / "paid.ledger", "states", ln.zcdp(1e6))
    assert plan.release(given, account)["s"].round().tolist() == [3, 2]
    assert [entry.note for entry in account.entries()] == ["1 marginal of 1 attribute"]


# ---------------------------------------------------------------- addresses

KEY = "hunter2"
ADDRESSES = [
    f"https://me:{KEY}@office.example/t.parquet",
    f"https://{KEY}@office.example/t.parquet",
    f"https://office.example/t.parquet?X-Amz-Signature={KEY}",
    f"https://office.example/t.parquet#{KEY}",
    f"s3://me:{KEY}@bucket/t.parquet",
    f"s3://bucket/*.parquet?s3_secret_access_key={KEY}",
    f"HTTPS://me:{KEY}@office.example/t.parquet",
    f"https:/me:{KEY}@office.example/t.parquet",
    f"ftp://me:{KEY}@office.example/t.csv",
    f"https://office.example/t.csv?token={KEY}",
    f"md:people?motherduck_token={KEY}",
    f"s3://AKIA:a/b'c {KEY}@bucket/t.parquet",
    f"https://me:{KEY}#?@office.example/t.parquet",
    f"https://office.example/my file.parquet?X-Amz-Signature={KEY}",
    f"https://office.example/t.parquet?X-Amz-Signature=1 {KEY}",
    f"https://office.example/a\nb.parquet?key={KEY}",
    f"https://me:1\n{KEY}@office.example/t.parquet",
    f"host=office user=me password={KEY} dbname=people",
    f"host=office password \t = {KEY}",  # as libpq reads it
    f"u:{KEY}@office",
    f"password%3D{KEY}",
    f"jdbc:oracle:thin:me/{KEY}@//office/people",
    f"Driver={{SQL Server}};Server=office;Uid=me;PWD = {KEY}",
    f"AccountName=me;AccountKey={KEY};EndpointSuffix=office.example",
    f"office.example/t.parquet?X-Amz-Signature={KEY}&X-Amz-Expires=9",
    f"//me:{KEY}@office/share/t.parquet",
    f"me:{KEY}@office.example/t.csv",
]
SPEC = """
[question]
relation = "add_remove"
[question.columns]
a = {{ lower = 0, upper = 9 }}
[budget]
rho = 0.5
[ledger]
path = "l"
dataset = "d"
[data]
path = {}
"""


@cache
def device_plan():
    return ln.local(ln.Mean(["a"], ln.Box([0], [9])), ln.local_dp(1.0)).to_json()


@pytest.mark.grid
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_secret_of_an_address_is_kept_or_said(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = ln.Ledger.create("l", "d", ln.zcdp(1))
    said = []
    ways = [
        lambda: PLAN.release(address, ledger),
        lambda: PLAN.release([address], ledger),
        lambda: ln.Table(address),
        lambda: ln.Table([address, address]),
        lambda: ln.together({"q": PLAN.terms.question}, budget=ln.zcdp(0.5), relation="add_remove")
        .release(address, ledger),
        lambda: PLAN.release("t.csv", address),
        lambda: ln.stream(ln.Prefix(4), budget=ln.zcdp(1), relation="add_remove", path=address),
        lambda: ln.Ledger.create("l", address, ln.zcdp(1)),
        lambda: ln.Ledger("l", address).remaining(),
        lambda: PLAN.save(address),
        lambda: ln.Release.load(address),
    ]  # fmt: skip
    for way in ways:
        with pytest.raises(LownoiseError) as refusal:
            way()
        said.append(str(refusal.value))
    ln.Ledger.create("noted", "d", ln.zcdp(1)).charge(ln.zcdp(0.5), f"asked of {address}")
    spec = tmp_path / "secret.toml"
    for data in (json.dumps(address), json.dumps([address]), f'"t.csv"\npassword = "{KEY}"'):
        spec.write_text(SPEC.format(data))
        with pytest.raises(SpecError) as refusal:
            read_spec(spec)
        said.append(str(refusal.value))
    spec.write_text(SPEC.format('"t.csv"'))
    several = SPEC.format('"t.csv"').replace("[question]", "[[question]]\nname = 'q'")
    (tmp_path / "several.toml").write_text(several)
    (tmp_path / "plan.json").write_text(device_plan())
    for command in (
        "release secret.toml --out o --data",
        "together several.toml --out o --data",
        "local randomize plan.json --out r.reports --table",
        "local aggregate plan.json",
        "release",
        "release secret.toml --out",
    ) * (address in ADDRESSES[::4]):
        done = run(tmp_path, *command.split(), address)
        assert done.returncode == 2
        said.append(done.stdout + done.stderr)
    assert all(said)
    assert KEY not in "".join(said)
    assert [e.state for e in ledger.entries()] == ["cancelled"] * len(ledger.entries())
    for path in tmp_path.rglob("*"):
        assert KEY.encode() not in (path.read_bytes() if path.is_file() else b""), path
    assert KEY not in bare(address)


@pytest.mark.parametrize("address", ["s3://bucket/t.parquet", "https://office.example/t.parquet"])
def test_an_address_needs_the_extension_that_the_user_installs(address, tmp_path):
    """No test asks the network: where the extension is there, nothing is asked of it."""
    con = ibis.duckdb.connect().con
    try:
        con.execute("SET autoinstall_known_extensions = false")
        con.execute("LOAD httpfs")
    except Exception:  # noqa: BLE001 (whatever the engine says)
        ledger = ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
        with pytest.raises(TableError, match="needs DuckDB's extension httpfs") as refusal:
            PLAN.release(address, ledger)
        assert address in str(refusal.value)
        assert [e.state for e in ledger.entries()] == ["cancelled"]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://office.example/t.csv", "is no Parquet file"),
        ("env://A-B", "names no environment variable"),
        ("env://", "names no environment variable"),
        ("http://office.example/t.parquet", "cannot be read; give a text s3"),
        (["https://office.example/t.parquet", "t.csv"], "t.csv is no file"),
    ],
)
def test_other_addresses_are_refused(address, said):
    with pytest.raises(TableError, match=said):
        opened(address, Columns(["a"]))


def test_a_remote_file_is_read_whole_where_it_has_texts(tmp_path):
    path = written(tmp_path / "t.parquet", {"a": pa.array([b"\xff"]).cast(pa.string(), safe=False)})
    found = _bytes(ibis.duckdb.connect(), File(path, "t", (), str(path)))
    assert pa.parquet.ParquetFile(found).metadata.num_rows == 1


def files_of_each_kind(folder):
    table = pa.table({"a": ["1", "2", "7"], "w": ["x", None, "y"]})
    pa.parquet.write_table(table, folder / "t.parquet")
    pa.feather.write_feather(table, folder / "t.feather")
    (folder / "t.jsonl").write_text('{"a": 1, "w": "x"}\n{"a": 2}\n{"a": 7, "w": "y"}\n')
    (folder / "t.csv").write_text("a,w\n1,x\n2\n7,y\n")
    return [folder / f"t.{own}" for own in ("parquet", "feather", "jsonl", "csv")]


def test_a_source_has_its_rows_whenever_they_are_read(tmp_path):
    for path in files_of_each_kind(tmp_path):
        for table in (path, ln.Table(path, partitions=["p"]), [path]):
            source = opened(table, Columns(["a", "w"]))
            bounded = source.bounded(PrivacyUnit("w", 1), ["a"])
            for own in (source, bounded):
                found = [
                    sorted(x for b in own.batches(["a"]) for x in b.numbers[0]) for _ in range(3)
                ]
                assert found[0] == found[1] == found[2], path
                assert len(found[0]) >= 2, path
                groups = [sum(g.counts.sum() for g in own.group_sums([], ["w"])) for _ in "12"]
                assert groups == [len(found[0])] * 2, path


@pytest.mark.parametrize(
    ("name", "nested"),
    [("f.x", {"f": [{"x": 9.0}] * 3}), ("l.list.element", {"l": [[9.0]] * 3})],
)
def test_a_column_called_like_a_place_in_a_nested_one_is_read_for_itself(name, nested, tmp_path):
    """Arrow's readers of files return both; what texts tell apart is then read by the engine."""
    path = written(tmp_path / "t.parquet", {**nested, name: [1.0, 2, 4], "who": ["a", "b", "a"]})
    source = opened(path, Columns([name, "who"]))
    kept = source.bounded(PrivacyUnit("who", 2), [name])
    for own in (source, kept):
        assert sorted(x for b in own.batches([name]) for x in b.numbers[0]) == [1, 2, 4]


class Remote(LocalFileSystem):
    """A folder at the other end of both schemes; an address needs its key, where a file has one."""

    protocol = ("s3", "https")
    folder = ""

    @classmethod
    def _strip_protocol(cls, path):
        path, _, key = path.partition("?")
        own = re.sub("^[a-z0-9]+:/", "", path).replace("//", "/")
        if own.startswith(cls.folder):  # it is asked twice
            return own
        return cls.folder + own + "-" * ("keyed" in own and key != KEY)

    def glob(self, path, **_):  # which httpfs has of s3:// alone
        if path.startswith("https"):
            return [path]
        return [f"s3:/{own.removeprefix(self.folder)}" for own in super().glob(path)]

    def unstrip_protocol(self, name):
        return name


@pytest.fixture
def remote(tmp_path, monkeypatch):
    """Return a folder with buckets, which is remote to the engine: DuckDB, but for its httpfs."""
    near = written(tmp_path / "b/2.parquet", {"a": [3.0], "w": ["y"]})
    for i, name in enumerate(("1.parquet", "s=T%20X/[1]*.parquet", "../c/keyed.parquet")):
        written(near.parent / name, {"a": [float(i)], "w": [f"x{i}"]})
    written(tmp_path / "b/s=T%20X/11.parquet", {"a": [9.0], "w": ["z"]})
    monkeypatch.setattr(Remote, "folder", str(tmp_path))
    connected = lambda connection, _: connection.con.register_filesystem(Remote())  # noqa: E731
    monkeypatch.setattr(engine_files, "_require_remote", connected)
    monkeypatch.setenv("KEYED", f"https://c/keyed.parquet?{KEY}")
    monkeypatch.setenv("OLD", "https://c/keyed.parquet?SECRET")
    return tmp_path


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("s3://b/1.parquet", [0.0]),
        ("s3://b/[0-2].parquet", [0.0, 3.0]),
        ("s3://b/**/*.parquet", [0.0, 1.0, 3.0, 9.0]),
        ("s3://b/*/[[]*.parquet", [1.0]),
        ("env://KEYED", [2.0]),
        (["env://KEYED", "s3://b/*/*.parquet", "https://b/1.parquet"], [0.0, 1.0, 2.0, 9.0]),
    ],
)
def test_patterns_and_variables_name_addresses(remote, path, wanted):
    """Several files with texts, too, whose bytes are asked for while a query waits for them."""
    batches = opened(path, Columns(["a"])).batches(["a"])
    assert sorted(x for batch in batches for x in batch.numbers[0].tolist()) == wanted
    words = {0.0: "x0", 1.0: "x1", 2.0: "x2", 3.0: "y", 9.0: "z"}
    assert sorted(texts(path, "w")) == sorted((words[x],) for x in wanted)


def test_folders_of_a_pattern_of_addresses_are_values(remote):
    found = texts(ln.Table("s3://b/**/*.parquet", partitions=["s"]), "s", "w")
    assert ("T X", "x1") in found
    assert (None, "y") in found
    none = ln.Table("s3://b/none/*.parquet", partitions=["s"])
    assert texts(none, "s", "w") == []  # files are there as rows are


def test_no_secret_that_a_variable_holds_is_kept_or_said(remote, monkeypatch):
    ledger = ln.Ledger.create(remote / "l", "d", ln.zcdp(9))
    table = ln.Table("env://KEYED")
    PLAN.release(table, ledger).save(remote / "r.json")
    said = list(map(repr, (table, found_files(table), opened(table, Columns(["a"])))))
    said.append(repr(located(found_files(table)[0], table, list)))
    held = ("https://b/*.parquet?SECRET", "http://b/SECRET", "SECRET", "", "s3://", "s3://SECRET\n")
    for name, value in (("OLD", None), ("WRONG", None), *(("WRONG", own) for own in held)):
        if value is not None:
            monkeypatch.setenv(name, value)
        for path in (f"env://{name}", [f"env://{name}", "s3://b/1.parquet"]):
            with pytest.raises(TableError) as refusal:
                PLAN.release(path, ledger)
            said += [str(refusal.value), "".join(traceback.format_exception(refusal.value))]
    spec = remote / "s.toml"
    spec.write_text(SPEC.format('"env://KEYED"'))
    assert read_spec(spec).data.path == "env://KEYED"
    done = run(remote, "release", "s.toml", "--out", "o", "--data", "env://KEYED")
    assert done.returncode == 0, done.stderr
    said.append(done.stdout + done.stderr)
    assert all(f"env://{name}" in "".join(said) for name in ("KEYED", "OLD", "WRONG"))
    assert "SECRET" not in "".join(said)
    assert KEY not in "".join(said)
    kept = [own for own in remote.rglob("*") if own.is_file() and own.suffix != ".parquet"]
    assert len(kept) >= 5
    for path in kept:
        assert KEY.encode() not in path.read_bytes(), path
    states = [e.state for e in ledger.entries()]
    assert states == ["settled", *["cancelled"] * (len(states) - 2), "settled"]


LOGS = [  # what tells a table of files with a log, and what does not
    ("Delta", "_delta_log/00000000000000000000.json", "delta_log/0.json"),
    ("Iceberg", "metadata/00000-cac690bb-711a.metadata.json", "metadata/people.metadata.json"),
    ("Iceberg", "metadata/v1.gz.metadata.json", "metadata/version.json"),
    ("Iceberg", "metadata/v12.metadata.json.gz", "metadata/v12.json"),
    ("Iceberg", "metadata/version-hint.text", "metadata/hint.text"),
    ("Hudi", ".hoodie/hoodie.properties", "hoodie/hoodie.properties"),
    ("Paimon", "snapshot/snapshot-1", "snapshot/snapshot-1.json"),
    ("Spark streaming", "_spark_metadata/0", "_SUCCESS"),
    (
        "DuckLake",
        f"s=T/ducklake-01997e0c{'-7b0e' * 3}-01997e0c7b0e.parquet",
        "s=T/ducklake-1.parquet",
    ),
]
WAYS = ["d", ".", "d/**/*.parquet", "d*/*/*.parquet", "d/s=T", "d/s=T/OWN", "link.parquet"]
WAYS += ["links/s=T", "links/*/*.parquet", ["other.parquet", "d/s=T/OWN"], "d/s=[T]/*.parquet"]


@pytest.mark.parametrize(("kind", "log", "none"), LOGS, ids=[log for _, log, _ in LOGS])
@pytest.mark.parametrize("way", WAYS, ids=map(str, WAYS))
def test_files_of_a_table_with_a_log_are_refused_however_they_are_named(
    kind, log, none, way, tmp_path, monkeypatch
):
    """What was deleted is in them still. The remedy is said, nothing found is, nothing is spent."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "other.parquet", {"a": [4.0]})
    Path("links").symlink_to("d")
    for name in (none, log):
        of_files = name.endswith(".parquet")
        own = written(tmp_path / "d" / (name if of_files else "s=T/1.parquet"), {"a": [1.0]})
        Path("link.parquet").unlink(missing_ok=True)
        if way in (".", "link.parquet"):
            Path("other.parquet").unlink(missing_ok=True)
        if way == "link.parquet":
            Path(way).symlink_to(own)
        if not of_files:
            (tmp_path / "d" / name).parent.mkdir(exist_ok=True)
            (tmp_path / "d" / name).write_text("{}")
        table = json.loads(json.dumps(way).replace("OWN", own.name))
        if name == none:
            PLAN.release(table)
            continue
        ledger = ln.Ledger.create(tmp_path / "ledger", "d", ln.zcdp(1))
        with pytest.raises(TableError, match=f"has Parquet files of {kind}, .* give") as refusal:
            PLAN.release(table, ledger)
        assert own.stem in str(table) or own.stem not in str(refusal.value)
        assert {entry.state for entry in ledger.entries()} <= {"cancelled"}
        with pytest.raises(TableError, match="whose log says"):
            found_files(ln.Table(table, engine="spark"))


def test_of_folders_that_are_values_a_log_above_is_said_and_one_within_is_not(tmp_path):
    written(tmp_path / "d/s=T/SECRET/1.parquet", {"a": [1.0]})
    (tmp_path / "d/s=T/SECRET/_delta_log").mkdir()
    (tmp_path / "d/s=T/SECRET/_delta_log/0.json").write_text("{}")
    for path in (tmp_path / "d", f"{tmp_path}/d/**/*.parquet"):
        table = ln.Table(path, partitions=["s"])
        with pytest.raises(EngineError, match=r"could not be opened, and a spend .* reserved"):
            opened(table, Columns(["a"]))
    (tmp_path / ".hoodie").mkdir()
    (tmp_path / ".hoodie/hoodie.properties").write_text("")
    for path in (tmp_path / "d", f"{tmp_path}/d/**/*.parquet"):
        with pytest.raises(TableError, match="of Hudi, whose log"):
            opened(ln.Table(path, partitions=["s"]), Columns(["a"]))


@pytest.mark.parametrize("log", ["b/_delta_log/0.json", "b/s=T%20X/metadata/v1.metadata.json"])
@pytest.mark.parametrize(
    "path", ["s3://b/*/11.parquet", ["s3://b/s=T%20X/11.parquet"], "s3://b/**"]
)
def test_addresses_of_a_table_with_a_log_are_refused(remote, path, log):
    for own in remote.glob("b/**/[[]*"):
        own.unlink()
    table = "s3://b/**/*.parquet" if path == "s3://b/**" else path
    assert opened(table, Columns(["a"])) is not None
    (remote / log).parent.mkdir()
    (remote / log).write_text("{}")
    with pytest.raises(TableError, match=r"table=s3://b/.* of (Delta|Iceberg), whose log"):
        opened(table, Columns(["a"]))
    assert opened("https://b/1.parquet", Columns(["a"])) is not None  # lists no folder


def test_a_file_that_stands_twice_in_a_list_is_refused(remote, monkeypatch):
    near, other = remote / "b/1.parquet", remote / "link.parquet"
    other.symlink_to(near)
    for paths, shown in (
        ([near, str(near)], near),
        ([near, other], other),
        (["s3://b/[12].parquet", "s3://b/1.parquet"], "s3://b/1.parquet"),
        (["s3://b/*.parquet", "s3://b/2*.parquet"], "s3://b/2\\*.parquet"),
        (["env://KEYED", "env://AGAIN"], "env://AGAIN"),
        (["env://KEYED", "env://OLD"], "env://OLD"),  # signed twice
        (["env://OLD", "https://c/keyed.parquet"], "https://c/keyed.parquet"),
        (["https://c/keyed.parquet", "env://SPELLED"], "env://SPELLED"),
        (["s3://b/1.parquet", "env://BUCKET"], "env://BUCKET"),
    ):
        monkeypatch.setenv("AGAIN", os.environ["KEYED"])
        monkeypatch.setenv("SPELLED", "https://C:443/%6beyed.parquet?SECRET")
        monkeypatch.setenv("BUCKET", "s3://b/1.parquet?SECRET")
        with pytest.raises(TableError, match=f"table={shown} has a file twice"):
            opened(paths, Columns(["a"]))


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
@pytest.mark.parametrize("path", ["*.parquet", "", "g=*/*.parquet"])
def test_a_file_that_a_pattern_or_a_folder_has_by_a_link_too_is_refused(path, link, tmp_path):
    """`latest.parquet` beside what it links to; of folders that are values the spend stays."""
    folder = tmp_path / "t" / path.rpartition("/")[0].replace("*", "1")
    folder.mkdir(parents=True)
    pa.parquet.write_table(pa.table({"a": [1.0, 2.0]}), folder / "1.parquet")
    link(folder / "latest.parquet", folder / "1.parquet")
    ledger = ln.Ledger.create(tmp_path / "ledger", "d", ln.zcdp(1))
    table = ln.Table(tmp_path / "t" / path, partitions=["g"] if "=" in path else [])
    question = ln.Mean(["a"], ln.Box([0], [1]))
    plan = ln.plan(question, budget=ln.zcdp(1), relation="add_remove")
    kind = EngineError if table.partitions else TableError
    with pytest.raises(kind, match=f"table={re.escape(str(table.path))} "):
        plan.release(table, ledger)
    assert [e.state for e in ledger.entries()] == ["reserved" if table.partitions else "cancelled"]


AMAZON = (
    "https://b.s3.amazonaws.com/k/1.parquet",
    "https://b.s3.eu-west-1.amazonaws.com/k/1.parquet",
    "https://b.s3-eu-west-1.amazonaws.com/k%2F1.parquet",
    "https://B.s3.dualstack.us-east-2.amazonaws.com:443/k/1.parquet",
    "https://b.s3.amazonaws.com./k/1.parquet",
    "https://b%2Es3.amazonaws.com:0443/k/1.parquet",
    "https://s3.amazonaws.com/b/k/1.parquet",
    "https://s3.cn-north-1.amazonaws.com.cn/b/k/1.parquet",
)
MAY_BE = (
    "https://b.storage.example/k/1.parquet",
    "https://storage.example/b/k/1.parquet",
    "https://b/k/1.parquet",
)


def test_an_object_of_two_kinds_of_addresses_is_there_once():
    """Two addresses of one object are refused, in both orders; others of its bucket are taken."""

    def taken(*addresses):
        return once([File(Path("1.parquet"), own, (), own) for own in addresses])

    object_ = "s3://b/k/1.parquet"
    for one in (*AMAZON, *MAY_BE):
        for pair in ((object_, one), (one, object_)):
            with pytest.raises(TableError, match="has a file twice"):
                taken(*pair)
    for pair in itertools.permutations(AMAZON, 2):
        with pytest.raises(TableError, match="has a file twice"):
            taken(*pair)
    others = ("s3://b/k/2.parquet", "s3://c/k/1.parquet", "s3://b/1.parquet", "s3://b/K/1.parquet")
    for one in (*AMAZON, *MAY_BE):
        assert len(taken(one, *others)) == 5
    assert len(taken(*MAY_BE)) == 3  # of hosts that nothing says to be one


def test_a_pattern_of_addresses_finds_a_file_or_is_refused(remote):
    with pytest.raises(TableError, match=r"s3://b/x\*.parquet finds no file"):
        opened("s3://b/x*.parquet", Columns(["a"]))
    with pytest.raises(TableError, match=r"https://b/\*.parquet is a pattern, and https:// lists"):
        opened("https://b/*.parquet", Columns(["a"]))


# ---------------------------------------------------------------- specifications and commands


def test_a_specification_and_a_command_name_files_too(tmp_path):
    for year in (2024, 2025):
        path = tmp_path / f"year={year}" / "t.csv"
        path.parent.mkdir()
        path.write_text("a;b\n" + "1,5;x\n" * 40)
    ln.Ledger.create(tmp_path / "l", "d", ln.zcdp(1))
    fields = '"*/*.csv"\nseparator = ";"\ndecimal = ","\npartitions = ["year"]'
    spec = tmp_path / "s.toml"
    spec.write_text(SPEC.format(fields))
    table = read_spec(spec).data.table()
    assert table == ln.Table(tmp_path / "*/*.csv", separator=";", decimal=",", partitions=["year"])
    assert len(texts(table, "a", "year")) == 80
    assert run(tmp_path, "release", "s.toml", "--out", "o").returncode == 0
    done = run(tmp_path, "release", "s.toml", "--data", "year=2025", "--out", "p")
    assert (done.returncode, "without Parquet files" in done.stderr) == (2, True)
    spec.write_text(SPEC.format('["year=2024/t.csv", "https://office.example/t.parquet"]'))
    own = read_spec(spec).data.path
    assert own == (tmp_path / "year=2024/t.csv", "https://office.example/t.parquet")
    for wrong, text in (('"t.csv"\nseparator = "0"', "is no separator"), ("3", "no path")):
        spec.write_text(SPEC.format(wrong))
        with pytest.raises(SpecError, match=text):
            read_spec(spec)
