# SPDX-License-Identifier: Apache-2.0
"""Every way in gives the reference engine's integers, on the same rows, whatever they hold."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lownoise.engines import Coding, TotalsQuery, duckdb, memory
from lownoise.errors import TableError

NASTY = [
    0.0, -0.0, 0.1, 1 / 3, -1.5, 2.0**-1074, -(2.0**-1050), 2.0**50 + 0.25, 1e308, -1.7e308,
    np.inf, -np.inf, np.nan, 0.49999999999999994, 3.999999999999999, 123.45678901234567,
]  # fmt: skip


def coding(lower, upper, center=None, missing=None, step=2.0**-20, names=("x", "y z")):
    lower, upper = np.array(lower, float), np.array(upper, float)
    center = (lower + upper) / 2 if center is None else np.array(center, float)
    return Coding(
        columns=names[: lower.size],
        lower=lower,
        upper=upper,
        center=center,
        missing=center if missing is None else np.array(missing, float),
        step=np.broadcast_to(np.float64(step), lower.shape),
    )


CODING = coding([-3.3, -1e3], [7.7, 123.45678901234567], missing=[0.1, 2.0])


def as_pandas(frame, _folder):
    return frame


def as_pandas_objects(frame, _folder):
    return frame.astype(object)


def as_arrow(frame, _folder):
    return pa.Table.from_pandas(frame, preserve_index=False)


def as_polars(frame, _folder):
    return pl.from_pandas(frame)


def as_csv(frame, folder):
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def as_gzip_csv(frame, folder):
    frame.to_csv(folder / "t.csv.gz", index=False)
    return str(folder / "t.csv.gz")


def as_tsv(frame, folder):
    frame.to_csv(folder / "t.tsv", index=False, sep="\t")
    return folder / "t.tsv"


def as_parquet(frame, folder):
    pa.parquet.write_table(pa.Table.from_pandas(frame, preserve_index=False), folder / "t.parquet")
    return folder / "t.parquet"


def as_text_parquet(frame, folder):
    text = {c: pa.array([None if np.isnan(v) else repr(v) for v in frame[c]]) for c in frame}
    pa.parquet.write_table(pa.table(text), folder / "t*?[a].parquet")
    return folder / "t*?[a].parquet"


WAYS = [
    as_pandas,
    as_pandas_objects,
    as_arrow,
    as_polars,
    as_csv,
    as_gzip_csv,
    as_tsv,
    as_parquet,
    as_text_parquet,
]


@pytest.mark.parametrize("drops", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_gives_the_reference_integers(way, drops, tmp_path):
    rng = np.random.default_rng(5)
    records = rng.choice(NASTY, size=(400, 2))
    records[200:] = rng.normal(0, 50, size=(200, 2))
    frame = pd.DataFrame(records, columns=["x", "y z"])[["y z", "x"]]
    query = TotalsQuery(CODING, drops)
    assert duckdb.totals(query, way(frame, tmp_path)) == memory.totals(query, records)


@settings(max_examples=60)
@given(
    st.lists(st.floats(allow_nan=True), min_size=0, max_size=20),
    st.floats(-1e9, 1e9),
    st.floats(1e-3, 1e9),
    st.integers(-30, 10),
)
def test_engine_is_the_reference_on_any_floats(values, lower, width, exponent):
    one = coding([lower], [lower + width], step=2.0 ** (exponent + np.floor(np.log2(width))))
    query = TotalsQuery(one, drops_missing=False)
    table = pa.table({"x": pa.array(values, pa.float64())})
    expected = memory.totals(query, np.array(values, float).reshape(-1, 1))
    assert duckdb.totals(query, table) == expected


@given(st.floats(allow_nan=True), st.floats(-1e9, 1e9), st.floats(1e-3, 1e9))
def test_no_value_is_coded_outside_the_reach(value, lower, width):
    one = coding([lower], [lower + width], step=2.0 ** (np.floor(np.log2(width)) - 40))
    code = one.encode(np.array([value]))[0]
    assert one.least()[0] <= code <= one.greatest()[0]


@given(st.floats(-3.3, 7.7))
def test_a_code_is_within_half_a_step_of_its_value(value):
    one = coding([-3.3], [7.7])
    exact = (Fraction(value) - Fraction(one.center[0])) / Fraction(one.step[0])
    assert abs(exact - int(one.encode(np.array([value]))[0])) <= Fraction(1, 2) + Fraction(1, 2**20)


def test_integer_decimal_and_boolean_columns_count_as_numbers(tmp_path):
    import decimal

    table = pa.table(
        {
            "x": pa.array([1, None, 2**62], pa.int64()),
            "y z": pa.array([decimal.Decimal("1.5"), None, decimal.Decimal(-7)]),
            "b": pa.array([True, False, None]),
        },
    )
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    query = TotalsQuery(coding([0] * 3, [10] * 3, step=0.5, names=("x", "y z", "b")), False)  # noqa: FBT003
    records = np.array([[1, 1.5, 1], [np.nan, np.nan, 0], [2.0**62, -7, np.nan]])
    for source in (table, tmp_path / "t.parquet"):
        assert duckdb.totals(query, source) == memory.totals(query, records)


def test_no_rows_are_zero_totals():
    query = TotalsQuery(CODING, drops_missing=False)
    empty = pa.table({"x": pa.array([], pa.float64()), "y z": pa.array([], pa.float64())})
    assert duckdb.totals(query, empty) == memory.totals(query, np.empty((0, 2)))


def test_sums_beyond_64_bits_are_exact():
    one = coding([0], [2.0**49], center=[0], step=1.0)
    records = np.full((40_000, 1), 2.0**49 - 1)
    query = TotalsQuery(one, drops_missing=False)
    found = duckdb.totals(query, pd.DataFrame(records, columns=["x"]))
    assert found.sums == ((2**49 - 1) * 40_000,)
    assert found.sums[0] > 2**63


def test_row_order_does_not_matter():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(5000, 2)) * 1e3, columns=["x", "y z"])
    query = TotalsQuery(CODING, drops_missing=False)
    shuffled = frame.sample(frac=1, random_state=2)
    assert duckdb.totals(query, frame) == duckdb.totals(query, shuffled)


# What a field of text may hold; none of it raises, and none of it moves another row.
FIELDS = [
    "1.5",
    " 2 ",
    "abc",
    "",
    "NaN",
    "inf",
    "-Infinity",
    "1e400",
    "0x10",
    "1,5",
    'a"b',
    "é",
    "\\",
]


def test_text_that_is_no_number_is_missing(tmp_path):
    path = tmp_path / "t.csv"
    quoted = ['"' + f.replace('"', '""') + '"' for f in FIELDS]
    path.write_text("x,y z\n" + "".join(f"{f},1\n" for f in quoted), encoding="utf-8")
    values = [1.5, 2, *[np.nan] * 3, np.inf, -np.inf, np.inf, *[np.nan] * 5]
    query = TotalsQuery(CODING, drops_missing=False)
    records = np.array([values, [1.0] * len(values)]).T
    assert duckdb.totals(query, path) == memory.totals(query, records)


def test_a_ragged_or_undecodable_row_speaks_for_itself_alone(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'x,y z\n1,2\n3\n1,2,9,9\n\xff\xfe,2\n"4\n5",2\n1,2\n')
    query = TotalsQuery(CODING, drops_missing=False)
    nan = np.nan
    records = np.array([[1, 2], [3, nan], [1, 2], [nan, 2], [nan, 2], [1, 2]])
    assert duckdb.totals(query, path) == memory.totals(query, records)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda f: f / "absent.csv", "is no file"),
        (lambda f: f, "is no file"),
        (lambda f: _file(f / "t.xlsx", b"x"), "unknown ending"),
        (lambda f: _file(f / "t.parquet", b"SECRET-17"), "cannot be read"),
        (lambda f: _file(f / "t.csv.gz", b"SECRET-17"), "cannot be read"),
        (
            lambda f: _file(f / "t.csv", b"a,b\n17,2\n"),
            "column='x' is not in the table; it has 'a'",
        ),
        (lambda f: _file(f / "t.csv", b"x,x,y z\n17,2,2\n"), "column='x' stands twice"),
        (lambda f: _file(f / "t.csv", b""), "column='x' is not in the table"),
        (lambda _: pd.DataFrame({"x": [17]}), "column='y z' is not in the table"),
        (lambda _: pd.DataFrame({"x": pd.to_datetime(["2017-01-17"]), "y z": [1]}), "type"),
        (lambda _: pd.DataFrame({"x": [1 + 17j], "y z": [1]}), "type"),
        (lambda _: pa.table({"x": [[17]], "y z": [1]}), "type"),
        (lambda _: {"x": [17]}, "dict is no table"),
        (lambda _: None, "NoneType is no table"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_without_a_value(make, said, tmp_path):
    with pytest.raises(TableError, match=said) as refusal:
        duckdb.totals(TotalsQuery(CODING, drops_missing=False), make(tmp_path))
    text = str(refusal.value).replace(str(tmp_path), "")
    assert "\n" not in text
    assert "17" not in text


def _file(path, content):
    path.write_bytes(content)
    return path


def test_objects_of_any_kind_in_a_frame_are_missing_not_an_error():
    class Rude:
        def __float__(self):
            raise RuntimeError("SECRET")

    odd = [1.0, "2.5", None, Rude(), [1], 10**400, -(10**400), "\ud800", True]
    frame = pd.DataFrame({"x": pd.Series(odd, dtype=object), "y z": 1.0})
    values = [1, 2.5, *[np.nan] * 3, np.inf, -np.inf, np.nan, 1]
    query = TotalsQuery(CODING, drops_missing=False)
    records = np.array([values, [1.0] * len(values)]).T
    assert duckdb.totals(query, frame) == memory.totals(query, records)
