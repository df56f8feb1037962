# SPDX-License-Identifier: Apache-2.0
"""One row that decides which types a reader gives a frame, and so what all other rows count as.

The attacker chose one row. The attack wins where the exact integers of a table with that row differ
from those of the table without it by more than one row may add: a reader of CSV files (pandas,
DuckDB) has guessed the types of both. Every pair of a column and a hostile cell is a column of one
wide table, so that one release of each kind of question tries them all.
"""

import csv
import datetime as dt
import gzip
import io
from decimal import Decimal

import duckdb as native
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lownoise as ln
from lownoise.engines import Coding, TotalsQuery
from lownoise.engines.counts import histogram_query, parities_query, records_query
from lownoise.engines.opening import rows_of
from lownoise.engines.queries import totals_query
from lownoise.questions.attributes import attributes
from lownoise.questions.universe import universe_of

# each with categories that readers can take for numbers, truth values or words
COLUMNS = {
    ("01234", "00999", "5", "01234"): ["01234", "00999", "5"],
    ("True", "False", "False", "True"): ["True", "False"],
    ("F", "f", "F", "F"): ["F", "M"],
    ("yes", "no", "no", "no"): ["yes", "no", "maybe"],
    ("1.0", "0.5", "1e3", "2"): ["1", "0.5", "1000.0", "2e0"],
    ("9007199254740993", "9007199254740992", "7", "7"): ["7", "8"],
    ("inf", "-0.0", "3", " 4"): ["0", "3", "4"],
    ("1", "", "2", "NA"): ["1", "2"],
    ("a", "A", "b", "True"): ["a", "A", "True"],
}
HOSTILE = [
    "x", "", "True", "no", "1.0", "007", "1e3", "inf", "-0.0", "9007199254740993", "2020-01-01",
]  # fmt: skip
ROWS = 4


# ---------------------------------------------------------------- ways in


def written(columns, folder, name="t.csv"):
    """Write columns of texts by the rules of RFC 4180, quoted only where they must be."""
    lines = io.StringIO(newline="")
    writer = csv.writer(lines)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    text = lines.getvalue().encode()
    path = folder / name
    path.write_bytes(gzip.compress(text, mtime=0) if name.endswith(".gz") else text)
    return path


def inferred(columns, folder, **options):
    """Return the frame whose types pandas has guessed."""
    return pd.read_csv(written(columns, folder), **options)


def spelled(columns, folder):
    """Return that frame with its columns of several types as texts, as Arrow wants them."""
    frame = inferred(columns, folder)
    mixed = [c for c in frame if isinstance(frame[c].dtype, np.dtypes.ObjectDType)]
    return frame.assign(**{c: frame[c].map(str, na_action="ignore") for c in mixed})


def parquets(columns, folder):
    rows = pa.Table.from_pandas(spelled(columns, folder), preserve_index=False)
    parts = {folder / "a.parquet": rows[:2], folder / "b.parquet": rows[2:]}
    for path, part in parts.items():
        pyarrow.parquet.write_table(part, path)
    return list(parts)


def database(columns, folder):
    path = folder / "d.duckdb"
    path.unlink(missing_ok=True)
    source = str(written(columns, folder))
    with native.connect(str(path)) as connection:
        try:
            connection.read_csv(source, header=True, sample_size=-1).create("t")
        except native.ConversionException:  # it stumbles over its own guess
            connection.read_csv(source, header=True, all_varchar=True).create("t")
    return path


WAYS = {
    "csv": written,
    "gzip": lambda c, f: written(c, f, "t.csv.gz"),
    "pandas": inferred,
    "pandas objects": lambda c, f: inferred(c, f).astype(object),
    "pandas categories": lambda c, f: inferred(c, f).astype("category"),
    "pandas nullable": lambda c, f: inferred(c, f, dtype_backend="numpy_nullable"),
    "pandas arrow": lambda c, f: inferred(c, f, dtype_backend="pyarrow"),
    "arrow": lambda c, f: pa.Table.from_pandas(spelled(c, f), preserve_index=False),
    "polars": lambda c, f: pl.from_pandas(spelled(c, f)),
    "parquet": parquets,
    "duckdb": database,
    "duckdb table": lambda c, f: f"{database(c, f)}::t",
    "ibis": lambda c, f: ibis.duckdb.connect(database(c, f), read_only=True).table("t"),
}


# ---------------------------------------------------------------- the exact integers


def means(labels, table):
    """The total of every column."""
    one = np.ones(len(labels))
    coding = Coding(
        columns=tuple(labels),
        lower=0 * one,
        upper=900 * one,
        center=0 * one,
        missing=2 * one,
        step=one / 4,
    )
    return list(totals_query(TotalsQuery(coding, drops_missing=False)).of(table).sums)


def marginals(labels, table):
    """The count of every category of every column, and of what is none of them."""
    found = records_query(attributes(labels, "extra")).of(table)
    return [found.marginal((i,)) for i in range(len(labels))]


def queries(labels, table):
    """The count of every record of one column."""
    return [
        histogram_query(universe_of({name: labels[name]}, outside="extra")).of(table).counts
        for name in labels
    ]


def parity(labels, table):
    """The parity of every column."""
    attributes = ln.Parity(list(labels), 1, outside=1).attributes
    return parities_query(attributes, [1]).of(table).sums


def stream(labels, table):
    """The values of the first rounds: a round more changes none of them."""
    return list(np.concatenate(list(rows_of(list(labels), table)))[:ROWS].T)


MOST = {means: 3600, marginals: 1, queries: 1, parity: 1, stream: 0}


def moved(kind, labels, before, after):
    """Return the columns whose integers a further row moves by more than one row may.

    Args:
        labels: of the columns of `after`; before the dot stands what `before` calls them.
    """
    calm = dict(zip(before[0], kind(*before), strict=True))
    return [
        name
        for name, wild in zip(labels, kind(labels, after), strict=True)
        if not np.allclose(
            wild, calm[name.partition(".")[0]], rtol=0, atol=MOST[kind], equal_nan=True
        )
    ]


def table_of():
    """Return columns of cells, and their categories."""
    names = [f"c{i}" for i in range(len(COLUMNS))]
    columns = dict(zip(names, map(list, COLUMNS), strict=True))
    return columns, dict(zip(names, COLUMNS.values(), strict=True))


def with_rows(columns, rows):
    """Return each column with each of the cells in turn below it, as columns of one table."""
    pairs = [(name, i) for name in columns for i in range(len(rows[name]))]
    return {f"{name}.{i}": [*columns[name], rows[name][i]] for name, i in pairs}


# ---------------------------------------------------------------- attacks


def naive(columns, folder):
    """How often a frame has, as texts, what stands first in each column of its file."""
    frame = inferred(columns, folder)
    return [(frame[name].astype(str) == cells[0]).sum() for name, cells in columns.items()]


def test_naive_counts_lose_all_rows_to_one(tmp_path):
    columns = {"zip": ["01234"] * ROWS, "yes": ["1"] * ROWS, "half": ["1.50"] * ROWS}
    assert naive(columns, tmp_path) == [0, ROWS, 0]
    wild = {name: [*cells, "x"] for name, cells in columns.items()}
    assert naive(wild, tmp_path) == [ROWS] * 3


def attacked(way, rows, kinds, folder):
    """Return which columns one row moves too far, for each kind of question."""
    columns, labels = table_of()
    many = with_rows(columns, rows)
    every = {name: labels[name.partition(".")[0]] for name in many}
    for name in ("before", "after"):
        (folder / name).mkdir(exist_ok=True)
    before = (labels, WAYS[way](columns, folder / "before"))
    after = WAYS[way](many, folder / "after")
    return {kind.__name__: moved(kind, every, before, after) for kind in kinds}


@pytest.mark.grid(6, least=4)
@pytest.mark.parametrize("way", WAYS)
def test_one_row_moves_no_integer_further_than_it_may(way, tmp_path):
    # every pair of a column and a hostile cell, read as numbers and as categories
    rows = dict.fromkeys(table_of()[0], HOSTILE)
    found = attacked(way, rows, [means, marginals], tmp_path)
    assert found == {"means": [], "marginals": []}


@pytest.mark.parametrize("way", ["csv", "pandas", "duckdb"])
def test_one_row_moves_no_integer_of_any_question(way, tmp_path):
    rows = {name: [HOSTILE[i % 3]] for i, name in enumerate(table_of()[0])}
    found = attacked(way, rows, MOST, tmp_path)
    assert found == {kind.__name__: [] for kind in MOST}


@pytest.mark.grid
@pytest.mark.parametrize("cell", ["0x10", "0B10", " 0x1F"])
@pytest.mark.parametrize("way", ["csv", "pandas", "duckdb"])
def test_other_bases_are_numbers_with_and_without_a_word(way, cell, tmp_path):
    # DuckDB's reader makes integers of them where all of a column are
    found = []
    for cells in ([cell] * ROWS, [cell] * ROWS + ["x"]):
        table = WAYS[way]({"a": cells, "b": ["1"] * len(cells)}, tmp_path)
        found.append(stream({"a": []}, table))
    assert np.array_equal(*found)
    assert found[0][0][0] in (2, 16, 31)


texts = st.text(st.characters(max_codepoint=0x17F, exclude_characters="\0"), max_size=5)
cells = st.one_of(
    texts,
    st.text("0123456789.eE+-_xabfT ", max_size=6),
    st.integers(-(2**70), 2**70).map(str),
    st.sampled_from(["nan", "NULL", "12:30", "1_000", "1,5", " 7 ", "+5", "1e400", '"', "a\nb"]),
)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(cells, min_size=len(COLUMNS), max_size=len(COLUMNS)), st.sampled_from(list(WAYS)))
def test_no_row_moves_an_integer_further_than_it_may(tmp_path, row, way):
    rows = {name: [cell] for name, cell in zip(table_of()[0], row, strict=True)}
    found = attacked(way, rows, [means, marginals], tmp_path)
    assert found == {"means": [], "marginals": []}


# ---------------------------------------------------------------- objects in a pandas frame

SERIES = {
    (1, 2, 2, 1): [1, 2],
    (0.5, 1.5, 0.5, 2.0): ["0.5", "1.5", "2"],
    (True, False, False, True): ["true", "false"],
    ("1", "02", "x", "1"): ["1", "2", "x"],
    (2**53 + 1, 2**53, 3, 3): [3, 4],
    (Decimal("0.1"), Decimal(3), Decimal(3), Decimal("0.1")): ["0.1", "3"],
}
OBJECTS = [
    None, np.nan, pd.NA, "x", "", "1", True, 2**53 + 1, 2**70, -0.0, 0.25, np.inf, Decimal("0.1"),
    dt.date(2020, 1, 1), b"1", [1],
]  # fmt: skip


@pytest.mark.parametrize("kind", [None, object, "category"])
def test_no_object_moves_an_integer_further_than_it_may(kind):
    labels = {f"c{i}": listed for i, listed in enumerate(SERIES.values())}
    columns = dict(zip(labels, map(list, SERIES), strict=True))
    if kind == "category":  # categories are compared by their hashes
        wild = {name: [v for v in OBJECTS if not isinstance(v, list)] for name in labels}
    else:
        wild = dict.fromkeys(labels, OBJECTS)
    many = with_rows(columns, wild)

    def frame(columns):
        made = {name: pd.Series(cells) for name, cells in columns.items()}
        return pd.DataFrame({c: s if kind is None else s.astype(kind) for c, s in made.items()})

    every = {name: labels[name.partition(".")[0]] for name in many}
    for question in (means, marginals):
        assert not moved(question, every, (labels, frame(columns)), frame(many))
