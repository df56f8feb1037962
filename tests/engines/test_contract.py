# SPDX-License-Identifier: Apache-2.0
"""Every way in gives the reference engine's integers, on the same rows, whatever they hold."""

import gzip
import json
import math
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb as native
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adders import WAYS as WAYS_TO_ADD
from adders import added_by
from lownoise.engines import Coding, TotalsQuery, memory
from lownoise.engines.queries import totals_query
from lownoise.engines.tables import Table
from lownoise.errors import EngineError, PlanError, TableError

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


ONE_ROW = pa.table({"x": [17.0], "y z": [1.0]})
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


def as_two_parquets(frame, folder):
    for name, part in (("a", frame[:150]), ("b", frame[150:])):
        as_parquet(part, folder).rename(folder / f"{name}.parquet")
    return [folder / "a.parquet", str(folder / "b.parquet")]


def as_pattern(frame, folder):
    (folder / "b").mkdir()
    as_parquet(frame[150:], folder).rename(folder / "b" / "2.parquet")
    as_parquet(frame[:150], folder).rename(folder / "1.parquet")
    return str(folder / "**" / "*.parquet")


def as_folder(frame, folder):
    as_pattern(frame, folder)
    (folder / "_temporary").mkdir()
    for hidden in (folder / "_SUCCESS", folder / ".1.parquet", folder / "_temporary" / "3.parquet"):
        hidden.write_bytes(b"not read")
    return folder


def as_partitions(frame, folder):
    """The values of one column are names of folders, whose rows are texts of numbers."""
    for value, rows in frame.groupby(frame["x"].map(repr)):
        own = folder / "t" / f"x={value}"
        own.mkdir(parents=True)
        as_parquet(rows[["y z"]], own)
    return Table(folder / "t", partitions=["x"])


def as_csvs(frame, folder):
    as_csv(frame[150:], folder).rename(folder / "b.csv")
    as_gzip_csv(frame[["x", "y z"]][:150], folder)
    return [str(folder / "t.csv.gz"), folder / "b.csv"]


def as_semicolons(frame, folder):
    frame.to_csv(folder / "t.csv", index=False, sep=";", decimal=",")
    return Table(folder / "t.csv", separator=";", decimal=",")


def as_feather(frame, folder):
    rows = pa.Table.from_pandas(frame, preserve_index=False)
    pa.feather.write_feather(rows, folder / "t.feather", chunksize=100)
    return folder / "t.feather"


def as_json_lines(frame, folder):
    name = folder / "t.jsonl"
    rows = [
        {c: None if np.isnan(v) else v for c, v in row.items()} for row in frame.to_dict("records")
    ]
    name.write_text("\n".join(map(json.dumps, rows)))
    return name


def as_gzip_json_lines(frame, folder):
    packed = folder / "t.ndjson.gz"
    packed.write_bytes(gzip.compress(as_json_lines(frame, folder).read_bytes()))
    return packed


def as_database(frame, folder):
    rows = pa.Table.from_pandas(frame, preserve_index=False)
    _write_database(folder / "d.duckdb", people=rows)
    return folder / "d.duckdb"


def as_named_table(frame, folder):
    return f"{as_database(frame, folder)}::people"


def as_ibis_table(frame, folder):
    return ibis.duckdb.connect(as_database(frame, folder)).table("people").order_by("x")


def as_ibis_memtable(frame, _folder):
    return ibis.memtable(pa.Table.from_pandas(frame, preserve_index=False))


WAYS = [
    as_pattern,
    as_folder,
    as_partitions,
    as_csvs,
    as_semicolons,
    as_feather,
    as_json_lines,
    as_gzip_json_lines,
    as_two_parquets,
    as_database,
    as_named_table,
    as_ibis_table,
    as_ibis_memtable,
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


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("drops", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_gives_the_reference_integers(way, drops, tmp_path):
    rng = np.random.default_rng(5)
    records = rng.choice(NASTY, size=(400, 2))
    records[200:] = rng.normal(0, 50, size=(200, 2))
    frame = pd.DataFrame(records, columns=["x", "y z"])[["y z", "x"]]
    query = TotalsQuery(CODING, drops)
    assert totals_query(query).of(way(frame, tmp_path)) == memory.totals(query, records)


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
    for way in WAYS_TO_ADD:
        with added_by(way):
            assert totals_query(query).of(table) == expected


@given(st.floats(allow_nan=True), st.floats(-1e9, 1e9), st.floats(1e-3, 1e9))
def test_no_value_is_coded_outside_the_reach(value, lower, width):
    one = coding([lower], [lower + width], step=2.0 ** (np.floor(np.log2(width)) - 40))
    code = one.encode(np.array([value]))[0]
    assert one.least()[0] <= code <= one.greatest()[0]


def by_hand(one, value):
    """The meaning of a code, written a second time: clamp first, in Python's own floats."""
    lower, upper, center, missing, step = (
        float(a[0]) for a in (one.lower, one.upper, one.center, one.missing, one.step)
    )
    present = missing if math.isnan(value) else value
    return math.floor((min(max(present, lower), upper) - center) / step + 0.5)


@given(
    st.lists(st.floats(allow_nan=True) | st.sampled_from(NASTY), max_size=8),
    st.floats(-1e9, 1e9),
    st.floats(1e-3, 1e9),
    st.floats(0, 1),
    st.integers(-40, 0),
)
def test_codes_mean_what_they_say(values, lower, width, place, exponent):
    stand_in = min(lower + place * width, lower + width)
    one = coding(
        [lower],
        [lower + width],
        missing=[stand_in],
        step=2.0 ** (exponent + np.floor(np.log2(width))),
    )
    expected = [by_hand(one, v) for v in [*values, math.nan]]
    records = np.array([*values, np.nan]).reshape(-1, 1)
    assert one.encode(records).ravel().tolist() == expected
    for way in WAYS_TO_ADD:
        with added_by(way):
            assert one.sums([records[:, 0].copy()]) == [sum(expected)]


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
    for kept in (table, tmp_path / "t.parquet"):
        assert totals_query(query).of(kept) == memory.totals(query, records)


INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-50, 50) | st.none()


BOUNDS = [
    (-20, 30, 5.0),
    (0, 2**40, 2.0**39),
    (-3, 4, 0.1),
    (0, 9.25, 2.0),
    (0.5, 9, 2.0),
    (7, 7, 7.0),
]
GRIDS = [
    (bounds, step)
    for bounds in BOUNDS
    for step in (2.0**-33, 2.0**-3, 1.0, 4.0)
    if (bounds[1] - bounds[0]) / step <= 2.0**50  # the grids that a mechanism makes
]


@pytest.mark.grid
@pytest.mark.parametrize(("bounds", "step"), GRIDS)
@settings(max_examples=6)
@given(
    values=st.lists(INTEGERS, max_size=20),
    place=st.sampled_from([0.0, 0.5, 1.0]),
    drops=st.booleans(),
)
@example(values=[3, None, -7, 10, 2**62], place=1.0, drops=False)
@example(values=[3, None, -7, 10, 2**62], place=1.0, drops=True)
def test_integer_columns_have_the_totals_of_their_floats(bounds, step, values, place, drops):
    lower, upper, center = bounds
    missing = lower + place * (upper - lower)
    one = coding([lower], [upper], center=[center], missing=[missing], step=step)
    query = TotalsQuery(one, drops)
    table = pa.table({"x": pa.array(values, pa.int64())})
    records = np.array([np.nan if v is None else float(v) for v in values]).reshape(-1, 1)
    assert totals_query(query).of(table) == memory.totals(query, records)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64"])
def test_integers_of_every_width(kind):
    least, most = np.iinfo(kind).min, np.iinfo(kind).max
    values = np.array([least, 0, 1, 100, most], dtype=kind)
    query = TotalsQuery(coding([-200], [60_000], step=2.0**-10), drops_missing=False)
    expected = memory.totals(query, values.astype(float).reshape(-1, 1))
    assert totals_query(query).of(pa.table({"x": values})) == expected


def test_ten_million_rows_in_any_order():
    rng = np.random.default_rng(3)
    values = rng.normal(2.0**50, 100, size=10_000_000)
    values[::1000] = np.nan
    values[1::100_000] = np.inf
    one = coding([2.0**50 - 300], [2.0**50 + 300], step=2.0**-40)
    query = TotalsQuery(one, drops_missing=False)
    with added_by("numpy"):
        found = totals_query(query).of(pa.table({"x": values}))
    codes = one.encode(values.reshape(-1, 1)).ravel()
    # exact without Python integers: the high and low halves are summed apart
    high, low = codes >> 24, codes & (2**24 - 1)
    assert found.sums[0] == int(high.sum()) * 2**24 + int(low.sum())
    with added_by("compiled"):
        assert totals_query(query).of(pa.table({"x": values[::-1].copy()})) == found


def test_no_rows_are_zero_totals():
    query = TotalsQuery(CODING, drops_missing=False)
    empty = pa.table({"x": pa.array([], pa.float64()), "y z": pa.array([], pa.float64())})
    assert totals_query(query).of(empty) == memory.totals(query, np.empty((0, 2)))


def test_sums_beyond_64_bits_are_exact():
    one = coding([0], [2.0**49], center=[0], step=1.0)
    records = np.full((40_000, 1), 2.0**49 - 1)
    query = TotalsQuery(one, drops_missing=False)
    found = totals_query(query).of(pd.DataFrame(records, columns=["x"]))
    assert found.sums == ((2**49 - 1) * 40_000,)
    assert found.sums[0] > 2**63


def test_row_order_does_not_matter():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(5000, 2)) * 1e3, columns=["x", "y z"])
    query = TotalsQuery(CODING, drops_missing=False)
    shuffled = frame.sample(frac=1, random_state=2)
    assert totals_query(query).of(frame) == totals_query(query).of(shuffled)


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
    "TRUE",
    "no",
    "1,5",
    'a"b',
    "é",
    "\\",
]


def test_text_that_is_no_number_is_missing(tmp_path):
    path = tmp_path / "t.csv"
    quoted = ['"' + f.replace('"', '""') + '"' for f in FIELDS]
    path.write_text("x,y z\n" + "".join(f"{f},1\n" for f in quoted), encoding="utf-8")
    values = [1.5, 2, *[np.nan] * 3, np.inf, -np.inf, np.inf, 16, 1, 0, *[np.nan] * 4]
    query = TotalsQuery(CODING, drops_missing=False)
    records = np.array([values, [1.0] * len(values)]).T
    assert totals_query(query).of(path) == memory.totals(query, records)


def test_every_byte_in_a_field_that_nobody_asks_for_speaks_for_no_row(tmp_path):
    """All 256 bytes, quoted as writers that only mind commas and line feeds would, and 5 MB."""
    path = tmp_path / "t.csv"
    notes = [bytes([b]) * 3 for b in range(256) if bytes([b]) not in (b"\n", b'"', b",")]
    notes += [b"hi" + b"\r10,10" * 1000, b"x" * 5_000_000, "O’Neil Ärger €".encode(), b'"a\nb"']
    for end in (b"\n", b"\r\n"):
        rows = b"".join(b"1.5,2,%b%b" % (note, end) for note in notes)
        path.write_bytes(b"x,y z,note" + end + rows)
        query = TotalsQuery(CODING, drops_missing=False)
        records = np.tile([1.5, 2.0], (len(notes), 1))
        assert totals_query(query).of(path) == memory.totals(query, records)


@settings(max_examples=60)
@given(st.lists(st.binary(max_size=30), max_size=8), st.sampled_from([b"\n", b"\r\n"]))
def test_a_field_of_any_bytes_changes_no_other_row(fields, end):
    """Quoted by the rules of RFC 4180, last on the line or alone."""
    query = TotalsQuery(CODING, drops_missing=False)
    quoted = [b'"' + f.replace(b'"', b'""') + b'"' for f in fields]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(b"x,y z,note" + end + b"".join(b"1,2," + q + end for q in quoted))
        records = np.tile([1.0, 2.0], (len(fields), 1)).reshape(-1, 2)
        assert totals_query(query).of(path) == memory.totals(query, records)


def test_a_missing_value_in_a_file_of_one_column_is_a_row(tmp_path):
    one = coding([-1], [5], names=("x",))
    query = TotalsQuery(one, drops_missing=False)
    records = np.array([[1.0], [np.nan], [3.0]])
    for text in (b"x\n1\n\n3\n", b'x\r\n1\r\n""\r\n3\r\n'):
        (tmp_path / "t.csv").write_bytes(text)
        assert totals_query(query).of(tmp_path / "t.csv") == memory.totals(query, records)


def test_tab_separated_text_has_no_quotes(tmp_path):
    (tmp_path / "t.tsv").write_bytes(b'x\ty z\tn\n1\t2\t"a\n3\t4\tb"\n')
    query = TotalsQuery(CODING, drops_missing=False)
    expected = memory.totals(query, np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert totals_query(query).of(tmp_path / "t.tsv") == expected


def test_names_that_differ_only_in_case_are_refused():
    query = TotalsQuery(coding([0, 0], [4, 4], names=("x", "X")), drops_missing=False)
    with pytest.raises(TableError, match="only in case"):
        totals_query(query).of(pa.table({"x": [0.0], "X": [4.0]}))


def test_columns_named_by_numbers_are_found_by_their_text():
    query = TotalsQuery(coding([0], [4], names=("0",)), drops_missing=False)
    expected = memory.totals(query, np.array([[1.0], [2.0]]))
    assert totals_query(query).of(pd.DataFrame({0: [1.0, 2.0]})) == expected


@pytest.mark.parametrize("bits", [0x7FF0000000000001, 0x7FF8000000000000, 0xFFF7FFFFFFFFFFFF, 1])
def test_no_float_warns_or_raises_whatever_the_host_has_set(bits):
    values = np.array([bits, 0], dtype=np.uint64).view(np.float64)
    one = coding([0], [4], step=4.0)
    with np.errstate(all="raise"):
        found = totals_query(TotalsQuery(one, drops_missing=False)).of(pa.table({"x": values}))
    assert found.count == 2


def test_a_first_line_that_is_no_header_is_not_shown(tmp_path):
    path = tmp_path / "t.csv"
    for content in (b"SECRET-17,2\n1,2\n", b"SECRET-17\r1,2\r3,4\r"):
        path.write_bytes(content)
        with pytest.raises(TableError) as refusal:
            totals_query(TotalsQuery(CODING, drops_missing=False)).of(path)
        assert "SECRET" not in str(refusal.value)


def test_a_file_that_is_cut_while_it_is_read_is_one_error_that_keeps_the_spend(tmp_path):
    path = tmp_path / "t.csv.gz"
    packed = gzip.compress(b"x,y z\n" + b"1,2\n" * 200_000, mtime=0)
    path.write_bytes(packed[:-20])
    with pytest.raises(EngineError, match="stays reserved"):
        totals_query(TotalsQuery(CODING, drops_missing=False)).of(path)


def test_folders_named_like_columns_replace_nothing(tmp_path):
    folder = tmp_path / "x=7"
    folder.mkdir()
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y z": 0.0})
    query = TotalsQuery(CODING, drops_missing=False)
    expected = memory.totals(query, frame.to_numpy())
    for way in (as_parquet, as_csv):
        assert totals_query(query).of(way(frame, folder)) == expected


def test_parquet_files_of_other_types_are_not_mixed(tmp_path):
    for name, value in (("a", 1.0), ("b", "1")):
        pa.parquet.write_table(pa.table({"x": [value], "y z": [1.0]}), tmp_path / f"{name}.parquet")
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    with pytest.raises(TableError, match="other types"):
        totals_query(TotalsQuery(CODING, drops_missing=False)).of(paths)


FRAMES = {
    "category": lambda v: pd.Series(v).astype("category"),
    "nullable": lambda v: pd.Series(v).astype("Float64"),
    "arrow": lambda v: pd.Series(v, dtype="float64[pyarrow]"),
    "big endian": lambda v: pd.Series(np.array(v).astype(">f8")),
    "long double": lambda v: pd.Series(np.array(v, dtype=np.longdouble)),
    "half": lambda v: pd.Series(np.array(v, dtype=np.float16)),
    "text": lambda v: pd.Series([repr(x) for x in v], dtype="string"),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_every_numeric_kind(kind):
    values = [0.5, 2.0, 7.0, -1.0]
    frame = pd.DataFrame({"x": FRAMES[kind](values), "y z": 0.0})
    query = TotalsQuery(CODING, drops_missing=False)
    expected = memory.totals(query, np.array([values, [0.0] * 4]).T)
    assert totals_query(query).of(frame) == expected


ODD = {
    "period": pd.Series(pd.period_range("2020", periods=2, freq="Y")),
    "interval": pd.Series(pd.interval_range(0, 2)),
    "delta": pd.Series(pd.to_timedelta([1, 2])),
    "complex": pd.Series([1j, 2j]),
    "date": pa.array([1, 2], pa.date32()),
    "duration": pa.array([1, 2], pa.duration("s")),
    "binary": pa.array([b"1", b"2"]),
    "decimal256": pa.array([1, 2], pa.decimal256(50, 0)),
    "struct": pa.array([{"a": 1}, {"a": 2}]),
}


@pytest.mark.parametrize("kind", ODD)
def test_types_that_hold_no_numbers_are_refused_by_name(kind):
    column = ODD[kind]
    make = pd.DataFrame if isinstance(column, pd.Series) else pa.table
    with pytest.raises(TableError, match="column='x' has type"):
        totals_query(TotalsQuery(CODING, drops_missing=False)).of(
            make({"x": column, "y z": [1.0, 2.0]})
        )


def test_a_column_of_nothing_is_missing():
    table = pa.table({"x": pa.nulls(2), "y z": [1.0, 2.0]})
    query = TotalsQuery(CODING, drops_missing=False)
    records = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    assert totals_query(query).of(table) == memory.totals(query, records)


@pytest.mark.parametrize("step", [2.0**-62, 2.0**-1074])
def test_a_grid_too_fine_for_its_bounds_is_refused(step):
    with pytest.raises(PlanError, match="too fine"):
        coding([-1], [1], step=step)


@pytest.mark.parametrize("center", [(-1.1, 0), (0, 1.1), (1.1, -1.1), (np.nan, 0)])
def test_a_center_outside_the_bounds_of_any_column_is_refused(center):
    with pytest.raises(PlanError, match="too fine"):
        coding([-1, -1], [1, 1], center=center)


def test_a_ragged_or_undecodable_row_speaks_for_itself_alone(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'x,y z\n1,2\n3\n1,2,9,9\n\xff\xfe,2\n"4\n5",2\n1,2\n')
    query = TotalsQuery(CODING, drops_missing=False)
    nan = np.nan
    records = np.array([[1, 2], [3, nan], [1, 2], [nan, 2], [nan, 2], [1, 2]])
    assert totals_query(query).of(path) == memory.totals(query, records)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda f: f / "absent.csv", "is no file"),
        (lambda f: f, "is a folder without Parquet files"),
        (lambda _: "", "is an empty path; name a file"),  # pathlib's name of the folder one is in
        (lambda f: _file(f / "t.xlsx", b"x"), "unknown ending"),
        (lambda f: _file(f / "t.parquet", b"SECRET-17"), "cannot be read"),
        (lambda f: _file(f / "t.csv.gz", b"SECRET-17"), "cannot be read"),
        (
            lambda f: _file(f / "t.csv", b"a,b\n17,2\n"),
            "specification data.separator",
        ),
        (lambda f: _file(f / "t.csv", b"x,x,y z\n17,2,2\n"), "column='x' is in the first line"),
        (lambda f: _file(f / "t.csv", b""), "has no names in its first line, or is empty"),
        (
            lambda f: _file(f / "t.csv", b"X,y z\n17,2\n"),
            "spell it as there, with its capitals",
        ),
        (lambda f: _file(f / "t.csv", b"\xfc,y z\n17,2\n"), "not UTF-8; save the table as UTF-8"),
        (lambda _: pd.DataFrame({"x": [17]}), "column='y z' is not in the table"),
        (lambda _: pd.DataFrame({"x": pd.to_datetime(["2017-01-17"]), "y z": [1]}), "dates as"),
        (lambda _: pd.DataFrame({"x": [1 + 17j], "y z": [1]}), "type"),
        (lambda _: pa.table({"x": [[17]], "y z": [1]}), "type"),
        (lambda _: {"x": [17]}, r"dict is no table; give pandas\.DataFrame\(table\)$"),
        (
            lambda _: pa.dataset.dataset(ONE_ROW),
            r"Dataset is no table; give table\.to_table\(columns=\[…\]\)$",
        ),
        (
            lambda _: pa.dataset.dataset(ONE_ROW).scanner(),
            r"Scanner is no table; give table\.to_table\(\)$",
        ),
        (lambda _: pl.LazyFrame({"x": [17]}), r"LazyFrame is no table; give table\.collect\(\)$"),
        (lambda _: pl.Series("x", [17]), r"Series is no table; give table\.to_frame\(\)$"),
        (lambda _: pd.Series([17], name="x"), r"Series is no table; give table\.to_frame\(\)$"),
        (lambda _: np.array([[17.0, 1.0]]), r"give pandas\.DataFrame\(table, columns=\[…\]\)$"),
        (lambda _: pa.chunked_array([[17.0]]), r"Array is no table; give pandas\.DataFrame\("),
        (lambda _: [], "names no file"),
        (lambda f: [_file(f / "t.csv", b"x\n17,1\n")], "spell it as there"),
        (lambda f: [f / "t.csv"], "is no file"),
        (lambda _: ["17"], "is no path of one"),
        (lambda f: _file(f / "t.duckdb", b"SECRET-17"), "cannot be read"),
        (lambda f: f"{_database(f)}::other", "has the tables 'one', 'two'; name one"),
        (lambda f: str(_database(f)), "has the tables 'one', 'two'; name one"),
        (
            lambda _: ibis.polars.connect().create_table("t", pl.DataFrame({"x": [17]})),
            "engine polars",
        ),
        (lambda _: None, "NoneType is no table"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_without_a_value(make, said, tmp_path):
    with pytest.raises(TableError, match=said) as refusal:
        totals_query(TotalsQuery(CODING, drops_missing=False)).of(make(tmp_path))
    text = str(refusal.value).replace(str(tmp_path), "")
    assert "\n" not in text
    assert "17" not in text


def _database(folder):
    rows = pa.table({"x": [17.0], "y z": [1.0]})
    _write_database(folder / "two.duckdb", one=rows, two=rows)
    return folder / "two.duckdb"


def _write_database(path, **tables):
    with native.connect(str(path)) as connection:
        for name, rows in tables.items():
            connection.register("rows", rows)
            connection.sql("SELECT * FROM rows").create(name)


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
    assert totals_query(query).of(frame) == memory.totals(query, records)
