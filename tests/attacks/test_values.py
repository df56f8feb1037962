# SPDX-License-Identifier: Apache-2.0
"""One cell that changes the sensitivity, the type, the error text, or whether there is an error.

The attacker chose one row. The attack wins where neighbouring tables, alike but for that cell,
succeed on one side only, fail in different words, warn, or move a total beyond the reach.
"""

import csv
import decimal
import io
import sys
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lownoise as ln
from lownoise import cli
from lownoise.engines.queries import totals_query
from lownoise.errors import LownoiseError

ROWS = 4
QUESTION = ln.Mean(["x", "y"], ln.Box([0, -1], [10, 1]))
PLANS = {
    "substitute": ln.plan(QUESTION, budget=ln.zcdp(0.5), relation="substitute", size=ROWS),
    "add_remove": ln.plan(QUESTION, budget=ln.zcdp(0.5), relation="add_remove"),
}


def cells(value, calm=3.0, place=1):
    column = [calm] * ROWS
    column[place] = value
    return column


def table_of(value, calm=3.0):
    return {"x": cells(value, calm), "note": cells("n", "n"), "y": [0.5] * ROWS}


# ---------------------------------------------------------------- ways in


def as_objects(columns, _folder):
    frame = pd.DataFrame({"y": columns["y"]})
    column = np.empty(ROWS, dtype=object)
    for i, value in enumerate(columns["x"]):
        column[i] = value
    frame["x"] = pd.Series(column, dtype=object)
    return frame


def as_arrow(columns, _folder):
    text = [v if v is None or isinstance(v, str) else repr(float(v)) for v in columns["x"]]
    return pa.table({"x": pa.array(text, pa.string()), "y": columns["y"]})


def as_csv(columns, folder):
    """Write by the rules of RFC 4180, every field in quotes."""
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, quoting=csv.QUOTE_ALL)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    path = folder / "t.csv"
    path.write_bytes(lines.getvalue().encode("utf-8", "surrogatepass"))
    return path


WAYS = [as_objects, as_arrow, as_csv]


# ---------------------------------------------------------------- attacks


def outcome(release):
    """Return what an observer of errors sees: nothing, or the class and the text."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            release()
            said = ("fine", "")
        except Exception as error:  # noqa: BLE001 (the observer sees any)
            said = (type(error).__name__, str(error))
    ours = [str(w.message) for w in warned if "fetch_arrow_table" not in str(w.message)]
    return (*said, *ours)


def errors_tell(release, calm, wild):
    """Return whether the observer can tell the tables apart."""
    return outcome(lambda: release(calm)) != outcome(lambda: release(wild))


def totals(made, table):
    found = totals_query(made.totals.query).of(table)
    exact = list(found.sums)
    if made.totals.count_step is not None:
        exact.append(found.count * int(1 / made.totals.count_step))
    else:
        assert found.count == ROWS
    return exact


def moves_beyond_reach(made, calm, wild):
    pairs = zip(totals(made, calm), totals(made, wild), made.totals.changes.half_width, strict=True)
    return any(abs(a - b) > int(reach) for a, b, reach in pairs)


# ---------------------------------------------------------------- where naive code loses


def naive_mean(columns):
    return float(pd.Series(columns["x"]).clip(0, 10).mean())


def parsed_mean(columns):
    return sum(min(max(float(v), 0.0), 10.0) for v in columns["x"]) / ROWS


def test_a_missing_value_moves_a_naive_mean_by_more_than_a_record():
    # of two rows one is missing: the mean of the other counts for both
    whole, lacking = {"x": [0.0, 10.0]}, {"x": [np.nan, 10.0]}
    assert abs(naive_mean(whole) - naive_mean(lacking)) == 5.0
    assert np.isnan(np.mean(np.clip([1.0, np.nan], 0, 10)))
    assert pd.Series([1.0, "x"]).dtype == object


@pytest.mark.parametrize("value", ["SECRET", "", "1,5", [], None, 10**400, "0x10"])
def test_naive_parsing_tells_by_its_errors(value):
    assert errors_tell(parsed_mean, table_of(4.0), table_of(value))
    assert not errors_tell(parsed_mean, table_of(4.0), table_of(5.0))


# ---------------------------------------------------------------- values that Hypothesis finds

texts = st.text(st.characters(max_codepoint=127), max_size=12)
cell = st.one_of(
    st.floats(allow_nan=True),
    st.none(),
    texts,
    st.floats(allow_nan=True).map(repr),
    st.integers(-(10**18), 10**18).map(str),
    st.sampled_from(["NaN", "inf", "-Infinity", "1e999", "-1e999", "1_0", "0x1p3", " 7 ", "\x00"]),
)


@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(cell, cell, st.sampled_from(sorted(PLANS)), st.sampled_from(WAYS))
def test_no_cell_moves_a_total_beyond_the_reach(tmp_path, calm, wild, relation, way):
    made = PLANS[relation].terms.mechanism
    before = totals(made, way(table_of(calm), tmp_path))
    after = totals(made, way(table_of(wild), tmp_path))
    for a, b, reach in zip(before, after, made.totals.changes.half_width.tolist(), strict=True):
        # a table that replaces a record is two neighbours away where records come and go
        assert abs(a - b) <= int(reach) * (1 if relation == "substitute" else 2)
    assert before[1:] == after[1:]  # the other column, and the count, did not move


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("value", [np.nan, None, np.inf, -np.inf, "text", "", 1e308, "1e999"])
def test_one_bad_cell_moves_the_totals_within_reach(value, way, tmp_path):
    for plan in PLANS.values():
        made = plan.terms.mechanism
        calm = totals(made, way(table_of(0.0), tmp_path))
        wild = totals(made, way(table_of(value), tmp_path))
        assert calm[1:] == wild[1:]
        assert abs(calm[0] - wild[0]) <= made.totals.changes.half_width[0] * 2


# ---------------------------------------------------------------- errors


class Rude:
    """An object whose every conversion fails with its value."""

    def __float__(self):
        raise ValueError("SECRET")


class Unbound:
    """As a proxy of nothing: it fails even where its class is asked for."""

    @property
    def __class__(self):
        raise ValueError("SECRET")


class Overflowing:
    """Too large for a float, and in no order with numbers."""

    def __float__(self):
        raise OverflowError("SECRET")


OBJECTS = [
    Rude(), None, pd.NA, pd.NaT, 10**400, -(10**400), Fraction(10**400), decimal.Decimal("1e400"),
    decimal.Decimal("sNaN"), b"\xff", "\udcff", "a\0b", [], {}, object(), 1j, np.array([5.0, 6.0]),
    np.datetime64("NaT"), np.longdouble(1e300) ** 4, True, "9" * 5_000_000, pd.DataFrame(),
]  # fmt: skip
# each of these warned, or raised in the handler of its own error
OBJECTS += [Overflowing(), np.complex128(1 + 2j), np.ma.masked]

TEXTS = [
    "", " ", "abc", "NaN", "-inf", "1e400", '"', '""', 'a"b', '"a","b"', "a,b", "a\nb", "\n", "\r",
    "\r\n", '"\n"', '\n"\n', "\\", '\\"', "#", "\0", "1\0", "\ufeff", "é", "'", "\x1a", "\x0b",
]  # fmt: skip
# bytes of UTF-8 that are control letters in Latin-1, and rows beyond DuckDB's 2 MB
CSV_TEXTS = [*TEXTS, "\u2028", "“quoted”", "Łódź", "\x85", "x" * 5_000_000, "9" * 5_000_000]


def identifier(value):
    return f"{type(value).__name__} {str(value)[:8]!a}" if not hasattr(value, "to_csv") else "frame"


@pytest.mark.parametrize("value", OBJECTS, ids=identifier)
def test_no_object_tells_by_an_error_or_a_warning(value, tmp_path):
    calm, wild = (as_objects(table_of(v), tmp_path) for v in (3.0, value))
    assert not errors_tell(PLANS["substitute"].release, calm, wild)


def test_no_object_tells_whose_class_cannot_be_asked(tmp_path):
    test_no_object_tells_by_an_error_or_a_warning(Unbound(), tmp_path)  # which no id can name


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("value", TEXTS, ids=ascii)
def test_no_text_in_arrow_tells_by_an_error(value, tmp_path):
    calm, wild = (as_arrow(table_of(v), tmp_path) for v in ("3", value))
    assert not errors_tell(PLANS["substitute"].release, calm, wild)


@pytest.mark.grid(least=8)
@pytest.mark.parametrize("value", CSV_TEXTS, ids=identifier)
@pytest.mark.parametrize("column", ["x", "note"])
def test_no_quoted_field_of_a_csv_tells_by_an_error(value, column, tmp_path):
    def release(text):
        return PLANS["substitute"].release(
            as_csv({**table_of(3.0), column: cells(text, "3")}, tmp_path)
        )

    assert not errors_tell(release, "3", value)


def test_a_carriage_return_that_pandas_does_not_quote_is_no_row_of_its_own(tmp_path):
    made = PLANS["add_remove"].terms.mechanism
    path = tmp_path / "t.csv"

    def written(note):
        pd.DataFrame({**table_of(3.0), "note": cells(note, "n")}).to_csv(path, index=False)
        return totals(made, path)

    assert written("a\rb\rc") == written("abc")


def test_text_of_a_parquet_file_that_is_no_utf_8_tells_by_no_error(tmp_path):
    def written(text):
        ends = pa.py_buffer(np.array([0, 1, 2, 3, 4], dtype=np.int32).tobytes())
        column = pa.Array.from_buffers(pa.string(), ROWS, [None, ends, pa.py_buffer(text)])
        pa.parquet.write_table(pa.table({"x": column, "y": [0.5] * ROWS}), tmp_path / "t.parquet")
        return tmp_path / "t.parquet"

    release = PLANS["substitute"].release
    assert outcome(lambda: release(written(b"1\xff34"))) == outcome(
        lambda: release(written(b"1234"))
    )


SPEC = f"""
[question]
relation = "substitute"
size = {ROWS}

[question.columns]
x = {{ lower = 0, upper = 10 }}
y = {{ lower = -1, upper = 1 }}

[budget]
rho = 0.5
"""


@pytest.mark.parametrize("value", ["SECRET", "", "1e999", '"', "NaN", "\0", "a\nb"], ids=ascii)
def test_the_status_and_the_error_text_of_the_command_line_do_not_tell(
    value, tmp_path, monkeypatch, capsys
):
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC)

    def status(text):
        path = as_csv({**table_of(3.0), "x": cells(text, "3")}, tmp_path)
        arguments = ["lownoise", "release", str(spec), "--data", str(path), "--json"]
        monkeypatch.setattr(sys, "argv", arguments)
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        return code, capsys.readouterr().err

    assert status(value) == status("4") == (0, "")


def test_a_wrong_number_of_rows_is_the_same_error_whatever_they_hold():
    frames = [pd.DataFrame({"x": [v] * 3, "y": [v] * 3}) for v in (1.0, np.nan, np.inf)]
    said = {outcome(lambda f=f: PLANS["substitute"].release(f)) for f in frames}
    assert len(said) == 1
    with pytest.raises(LownoiseError):
        PLANS["substitute"].release(frames[0])
