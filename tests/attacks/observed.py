# SPDX-License-Identifier: Apache-2.0
"""Releases of every kind of question from every kind of table, and all that is said of them."""

import contextlib
import gzip
import json
import shutil
import warnings
from decimal import Decimal
from functools import cache, partial

import duckdb as native
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet

import lownoise as ln
from attacks.test_types import written
from oracles import HALF_DISC, in_half_disc, to_half_disc
from said import masked, said

TEXTS = [
    "SECRET", "", " ", "NaN", "-inf", "1e999", '"', 'a"b""c', '"a","b"', "1,5", "a\nb", "\n", "\r",
    "a\r\nb", "\0", "1\0", "\ufeff", "é", "9007199254740993", "-0.0", "0x10", "True", "no", "007",
    "x" * 3000, "9" * 3000, "2020-01-01", "1_0", "\x85", "\u2028",
]  # fmt: skip
FLOATS = [
    np.nan, np.inf, -np.inf, 1e308, -1.7e308, 5e-324, -1e-310, -0.0, 2.0**53 + 2, 0.5, -1.0, 1e160,
]  # fmt: skip


class Rude:
    """Fails with a value in its text, however it is asked."""

    def __float__(self):
        raise ValueError("SECRET")

    __str__ = __len__ = __iter__ = __array__ = __float__

    def __eq__(self, other):
        raise ValueError("SECRET")

    __hash__ = None


OBJECTS = [
    *TEXTS, *FLOATS, None, pd.NA, pd.NaT, Rude(), 10**400, -(10**400), Decimal("1e400"),
    Decimal("sNaN"), b"\xff", "\udcff", [], {}, 1j, np.datetime64("NaT"), 2**53 + 1, True,
    np.longdouble(1e300) ** 4, np.array([1.0, 2.0]), pd.DataFrame(),
]  # fmt: skip
SIZE = 60
EXTRA = 3  # rows more where their number is private
NAMES = ("a", "b", "c", "d")


def cells(kind, *, wild, extra=0):
    """Return columns: zeros and ones, or hostile cells that all meet in some row."""
    hostile = {"text": TEXTS, "number": FLOATS, "object": OBJECTS}[kind] if wild else [0, 1]
    spell = str if kind == "text" and not wild else (lambda cell: cell)
    return {
        name: [spell(hostile[(k * i + i) % len(hostile)]) for i in range(SIZE + extra)]
        for k, name in enumerate(NAMES)
    }


# ---------------------------------------------------------------- questions

UNIVERSE = {"a": 2, "b": 2}
WIDE = {"a": 2, "b": 2, "c": 1 << 21}  # too many cells for one table: the rows are kept


def talkative(row):
    """Move a row into the half disc, and warn of what it holds."""
    with contextlib.suppress(Warning):  # where the caller made errors of them
        warnings.warn(f"SECRET {row}", stacklevel=1)
    assert np.all(np.float64(1e308) * row != 0.5)  # overflows
    return to_half_disc(row)


MEANS = {
    "box": ln.Box([0, 0], [1, 1]),
    "ball": ln.Ball(2),
    "list": ln.Points([[0, 0], [1, 0], [0.3, 1]]),
    "signs": ln.TensorPower(2, 2),
    "program": ln.Oracle(2, HALF_DISC, half_widths=[1, 1], clamp=talkative, contains=in_half_disc),
    "hull": ln.hull(ln.Ball(2), ln.Box([0, 0], [1, 1])),
}
COUNTS = {
    "marginals": lambda: ln.Marginals(UNIVERSE, way=1, outside="extra"),
    "wide": lambda: ln.Marginals(WIDE, sets=[["a"], ["a", "b"]], outside="extra"),
    "ordered": lambda: ln.Marginals(UNIVERSE, way=1, outside="extra", ordered={"a": "prefix"}),
    "queries": lambda: ln.Queries(np.eye(4), UNIVERSE, outside={"a": 0, "b": 0}),
    "parity": lambda: ln.Parity(["a", "b"], 2, outside=0),
}
PURE_MEAN = ("laplace", "k_norm", "recursive", "ellipsoid")
PURE_QUERIES = (*PURE_MEAN, "laplace_histogram", "randomized_response")
RELATIONS = ("add_remove", "substitute")
KINDS = [
    *((name, "") for name in (*MEANS, *COUNTS)),
    *(("box", noise) for noise in PURE_MEAN),
    *(("queries", noise) for noise in PURE_QUERIES),
]
ASKED = [
    (name, noise, relation)
    for name, noise in KINDS
    for relation in RELATIONS
    if (noise, relation) != ("randomized_response", "add_remove")
]


def mean(domain):
    return ln.Mean(NAMES[: domain.dimension], domain)


@cache
def planned(name, noise, relation):
    return ln.plan(
        COUNTS[name]() if name in COUNTS else mean(MEANS[name]),
        budget=ln.pure_dp(1.0) if noise else ln.zcdp(0.5),
        relation=relation,
        size=SIZE if relation == "substitute" else None,
        **({"mechanism": noise} if noise else {}),
    )


# ---------------------------------------------------------------- ways in


def as_numbers(columns):
    return {name: np.array(column, dtype=np.float64) for name, column in columns.items()}


def as_texts(columns):
    return pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})


def as_dictionary(columns):
    arrow = as_texts(columns)
    return pa.table({name: arrow[name].dictionary_encode() for name in arrow.column_names})


def as_tsv(columns, folder):
    path = folder / "t.tsv"
    plain_cells = {n: [c.translate({9: 32, 10: 32}) for c in own] for n, own in columns.items()}
    rows = zip(*plain_cells.values(), strict=True)
    path.write_text("\n".join("\t".join(row) for row in [NAMES, *rows]) + "\n", newline="")
    return path


def as_gzip(columns, folder):
    text = written(columns, folder).read_bytes()
    (folder / "t.csv.gz").write_bytes(gzip.compress(text, mtime=0))
    return folder / "t.csv.gz"


def as_parquet(columns, folder):
    pa.parquet.write_table(as_texts(columns), folder / "t.parquet")
    return folder / "t.parquet"


def as_parts(columns, folder):
    arrow = pa.table(as_numbers(columns))
    for i, part in enumerate((arrow[:7], arrow[7:])):
        pa.parquet.write_table(part, folder / f"{i}.parquet")
    return [folder / "0.parquet", folder / "1.parquet"]


def as_json_lines(columns, folder):
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    (folder / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder / "t.jsonl"


def as_folders(columns, folder):
    """A folder a value of the first column: which folders there are follows from rows."""
    name, *others = columns
    for value in dict.fromkeys(map(repr, as_numbers(columns)[name].tolist())):
        own = folder / "t" / f"{name}={value}"
        own.mkdir(parents=True)
        rows = [i for i, v in enumerate(as_numbers(columns)[name].tolist()) if repr(v) == value]
        table = pa.table({n: as_numbers(columns)[n] for n in others}).take(rows)
        pa.parquet.write_table(table, own / "0.parquet")
    return ln.Table(folder / "t", partitions=[name])


def as_database(columns, folder, statement="CREATE TABLE t AS SELECT * FROM rows", name=""):
    path = folder / "t.duckdb"
    rows = as_texts(columns) if isinstance(columns["a"][0], str) else pa.table(as_numbers(columns))
    with native.connect(path) as connection:
        connection.register("rows", rows)
        connection.execute("CREATE TABLE kept AS SELECT * FROM rows")
        connection.execute(statement.replace("rows", "kept") if name else "SELECT 1")
    return f"{path}::{name or 'kept'}"


def as_ibis(columns, folder):
    connection = ibis.duckdb.connect()
    connection.con.register("rows", pa.table(as_numbers(columns)))
    return connection.table("rows")


def as_relation(columns, folder):
    connection = native.connect()
    connection.register("rows", as_texts(columns))
    return connection.sql("SELECT * FROM rows")


WAYS = {
    "objects": ("object", lambda own, _: pd.DataFrame(own, dtype=object)),
    "floats": ("number", lambda own, _: pd.DataFrame(as_numbers(own))),
    "nullable": ("number", lambda own, _: pd.DataFrame(own).astype("Float64")),
    "strings": ("text", lambda own, _: pd.DataFrame(own, dtype="string")),
    "categories": ("text", lambda own, _: pd.DataFrame(own, dtype="category")),
    "arrow texts": ("text", lambda own, _: as_texts(own)),
    "arrow numbers": ("number", lambda own, _: pa.table(as_numbers(own))),
    "arrow dictionary": ("text", lambda own, _: as_dictionary(own)),
    "arrow reader": ("text", lambda own, _: as_texts(own).to_reader(7)),
    "polars": ("text", lambda own, _: pl.DataFrame(own)),
    "csv": ("text", written),
    "tsv": ("text", as_tsv),
    "gzip": ("text", as_gzip),
    "parquet": ("text", as_parquet),
    "parquet list": ("number", as_parts),
    "json lines": ("text", as_json_lines),
    "folders": ("number", as_folders),
    "database": ("text", as_database),
    "database of numbers": ("number", as_database),
    "view": (
        "text",
        partial(as_database, statement="CREATE VIEW v AS SELECT * FROM rows", name="v"),
    ),
    "ibis": ("number", as_ibis),
    "relation": ("text", as_relation),
}


def observed(asked, way, columns, folder):
    """Return what is said of a release of `columns`, at the same places on disk for all."""
    source, place, ledger = folder / "in", folder / "run", folder / "l.ledger"
    for old in (source, place):
        shutil.rmtree(old, ignore_errors=True)
    ledger.unlink(missing_ok=True)
    source.mkdir()
    plan, table = planned(*asked), WAYS[way][1](columns, source)
    account = ln.Ledger.create(ledger, "people", plan.terms.budget)
    kept = {"path": place / "out"} if plan.terms.view.folder else {}

    def job():
        with np.errstate(all="raise"):  # as some callers have it
            answer = plan.release(table, account, **kept)
        text = "" if kept else masked(answer.to_json())
        return type(answer).__name__, len(answer.integers), text

    return said(job, place, account)


def name_of(value):
    return value if isinstance(value, str) else " ".join(filter(None, value))
