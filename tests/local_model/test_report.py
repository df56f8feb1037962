# SPDX-License-Identifier: Apache-2.0
"""Reports come back from each of their forms, and whatever is no report is seen."""

import json

import numpy as np
import pandas as pd
import pytest

from lownoise.errors import FileError, PlanError, TableError
from lownoise.local_model.report import Report, ReportFormat, fresh_identifiers, shortened
from lownoise.numbers.randomness import SimulationRandomness

PLAN = "0123456789abcdef"
REPORT = Report(PLAN, "ff" * 16, (3, -1))


def forms():
    """Formats of every width and alignment: even, mixed, one bit, the widest, none at all."""
    rng = np.random.default_rng(5)
    for width in (0, 1, 3, 7, 8, 9, 10, 16, 24, 33, 55, 56):
        for count in (1, 2, 7, 40):
            low = -(2**width // 3)
            yield np.full(count, low), np.full(count, low + 2**width - 1)
    for _ in range(20):
        low = rng.integers(-(2**55), 2**55, 11)
        yield low, low + (2.0 ** rng.uniform(0, 56, 11)).astype(np.int64) - 1
    yield np.zeros(0, np.int64), np.zeros(0, np.int64)


FORMS = [ReportFormat(PLAN, np.asarray(low), np.asarray(high)) for low, high in forms()]


def drawn(form, count, seed=3):
    randomness = SimulationRandomness(seed)
    values = np.random.default_rng(seed).integers(
        form.lowest, form.highest, (count, form.lowest.size), endpoint=True
    )
    if count:
        values[0], values[-1] = form.lowest, form.highest
    return fresh_identifiers(count, randomness=randomness), values


def by_integers(form, identifier, values):
    """The bytes of one report, made of one large integer."""
    whole, at = 0, 0
    for value, low, high in zip(values, form.lowest, form.highest, strict=True):
        whole |= (int(value) - int(low)) << at
        at += (int(high) - int(low)).bit_length()
    head = (
        b"\x01" + bytes.fromhex(PLAN) + b"".join(int(w).to_bytes(8, "little") for w in identifier)
    )
    return head + whole.to_bytes(-(-at // 8), "little")


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [0, 1, 5, 50])
def test_bytes_are_those_of_one_large_integer_and_come_back(form, count):
    identifiers, values = drawn(form, count)
    content = form.pack(identifiers, values)
    assert content.shape == (count, form.size)
    expected = [by_integers(form, *own) for own in zip(identifiers, values, strict=True)]
    assert [row.tobytes() for row in content] == expected
    found = form.unpack(content)
    assert found.formed.all()
    assert found.own.all()
    assert np.array_equal(found.identifiers, identifiers)
    assert np.array_equal(found.values, values)


def test_many_reports_come_back_across_blocks():
    form = ReportFormat(PLAN, np.full(10, -300), np.full(10, 300))
    identifiers, values = drawn(form, 20_001)
    # rows that do not lie one after the other
    content = np.repeat(form.pack(identifiers, values), 2, axis=0)[::2]
    assert np.array_equal(form.unpack(content).values, values)


@pytest.mark.grid
@pytest.mark.parametrize("form", FORMS)
def test_one_report_comes_back_from_each_form(form):
    _, values = drawn(form, 2)
    report = form.fresh(values[0], randomness=SimulationRandomness(7))
    assert form.from_bytes(form.to_bytes(report)) == report
    assert Report.from_json(report.to_json()) == report
    assert "\n" not in report.to_json()


def test_identifiers_are_the_128_bits_drawn_and_nothing_else():
    form = ReportFormat(PLAN, np.zeros(1, int), np.ones(1, int))
    words = SimulationRandomness(9).words(2)
    report = form.fresh(np.array([1]), randomness=SimulationRandomness(9))
    assert report.id == words.astype("<u8").tobytes().hex()
    assert (
        len({form.fresh(np.array([1]), randomness=SimulationRandomness(k)).id for k in range(99)})
        == 99
    )


def test_what_a_report_says_of_its_plan_is_the_start_of_the_digest():
    assert shortened("0123456789abcdef" + "7" * 48) == PLAN


FORM = ReportFormat(PLAN, np.array([-4, 0]), np.array([3, 4]))
GOOD = FORM.to_bytes(REPORT := Report(PLAN, "0f" * 16, (3, 4)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "0 bytes and not 26"),
        (GOOD + b"\0", "27 bytes and not 26"),
        (b"\2" + GOOD[1:], "is malformed"),
        (GOOD[:1] + b"\0" + GOOD[2:], f"is not of the plan {PLAN}"),
        (GOOD[:-1] + bytes([GOOD[-1] | 0x80]), "is malformed"),
        (GOOD[:-1] + bytes([0b111111]), "is malformed"),  # 7 where 4 is the greatest
    ],
)
def test_bytes_that_are_no_report_are_refused_in_one_line(content, message):
    with pytest.raises(FileError, match=message) as caught:
        FORM.from_bytes(content)
    assert "\n" not in str(caught.value)


def test_many_malformed_reports_are_seen_one_by_one():
    rows = [GOOD, b"\2" + GOOD[1:], GOOD[:1] + b"\0" + GOOD[2:], GOOD[:-1] + bytes([GOOD[-1] | 64])]
    found = FORM.unpack(np.frombuffer(b"".join(rows), np.uint8).reshape(4, -1))
    assert found.formed.tolist() == [True, False, True, False]
    assert found.own.tolist() == [True, True, False, True]


FIELDS = json.loads(REPORT.to_json())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ('{"format": "lownoise.report/1", "plan": "", "plan": ""}', "each name once"),
        ("[]", "is not lownoise.report/1"),
        (json.dumps(FIELDS | {"format": "lownoise.plan/2"}), "is not lownoise.report/1"),
        (json.dumps(FIELDS | {"format": "lownoise.report/2"}), "newer than this lownoise"),
        (json.dumps(FIELDS | {"name": "Ada"}), "has the fields"),
        (json.dumps({k: v for k, v in FIELDS.items() if k != "id"}), "has the fields"),
        (json.dumps(FIELDS | {"plan": "0"}), "is not 16 hexadecimal digits"),
        (json.dumps(FIELDS | {"id": "0G" * 16}), "is not 32 hexadecimal digits"),
        (json.dumps(FIELDS | {"id": 7}), "is not 32 hexadecimal digits"),
        (json.dumps(FIELDS | {"values": "12"}), "has the fields"),
        (json.dumps(FIELDS | {"values": [1.0]}), "no integers"),
        (json.dumps(FIELDS | {"values": [True]}), "no integers"),
        (json.dumps(FIELDS | {"values": [10**30]}), "no integers"),
    ],
)
def test_a_line_that_is_no_report_is_refused_in_one_line(text, message):
    with pytest.raises(FileError, match=message) as caught:
        Report.from_json(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "report",
    [
        Report("f" * 16, "0f" * 16, (0, 0)),
        Report(PLAN, "0f" * 16, (0,)),
        Report(PLAN, "0f" * 16, (0, 5)),
        Report(PLAN, "0f" * 16, (-5, 0)),
    ],
)
def test_only_reports_of_the_plan_become_bytes(report):
    with pytest.raises(FileError, match="give a report"):
        FORM.to_bytes(report)


def test_integers_that_need_more_than_56_bits_are_refused():
    with pytest.raises(PlanError, match="57 bits"):
        ReportFormat(PLAN, np.array([0]), np.array([2**56]))


def frames():
    """What holds columns: arrays, lists, frames of several types, and one read from a file."""
    identifiers, values = drawn(FORM, 30)
    columns = FORM.to_columns(identifiers, values)
    frame = pd.DataFrame(columns)
    yield identifiers, values, columns
    yield identifiers, values, {name: column.tolist() for name, column in columns.items()}
    yield identifiers, values, frame
    yield identifiers, values, frame.convert_dtypes()
    yield identifiers, values, frame.astype({"v0": "int8", "v1": "float64"})
    yield identifiers, values, frame.astype({"v0": "object", "v1": "uint64"})


@pytest.mark.parametrize("case", list(frames()))
def test_a_table_of_reports_comes_back(case):
    identifiers, values, columns = case
    found = FORM.from_columns(columns)
    assert found.formed.all()
    assert found.own.all()
    assert np.array_equal(found.identifiers, identifiers)
    assert np.array_equal(found.values, values)


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_a_table_comes_back_from_a_file(tmp_path, end):
    identifiers, values = drawn(FORM, 30)
    frame = pd.DataFrame(FORM.to_columns(identifiers, values))
    path = tmp_path / f"reports.{end}"
    if end == "csv":
        frame.to_csv(path, index=False)
        back = pd.read_csv(path, dtype={"plan": str, "report": str})
    else:
        frame.to_parquet(path)
        back = pd.read_parquet(path)
    found = FORM.from_columns(back)
    assert found.formed.all()
    assert np.array_equal(found.identifiers, identifiers)
    assert np.array_equal(found.values, values)


@pytest.mark.parametrize(
    ("column", "cell", "formed"),
    [
        ("plan", "f" * 16, True),
        ("plan", "f" * 17, False),
        ("plan", None, False),
        ("plan", 7, False),
        ("report", "F" * 32, False),
        ("report", "0f" * 16 + "0", False),
        ("report", "0f" * 15, False),
        ("report", "é" * 32, False),
        ("report", "", False),
        ("v0", 1.5, False),
        ("v0", float("nan"), False),
        ("v0", float("inf"), False),
        ("v0", 2.0**60, False),
        ("v0", None, False),
        ("v0", "1", False),
        ("v0", True, False),
        ("v1", 2**63, False),
        ("v1", 10**40, False),
        ("v1", -(2**62), True),  # beyond the range, which `allowed` sees
    ],
)
def test_cells_that_are_no_reports_are_seen(column, cell, formed):
    columns = {name: own.tolist() for name, own in FORM.to_columns(*drawn(FORM, 3)).items()}
    columns[column][1] = cell
    found = FORM.from_columns(columns)
    assert found.formed.tolist() == [True, formed, True]
    assert found.own.tolist() == [True, column != "plan", True]


def test_a_missing_column_is_refused():
    columns = FORM.to_columns(*drawn(FORM, 3))
    del columns["v1"]
    with pytest.raises(TableError, match="column='v1' is missing"):
        FORM.from_columns(columns)


def test_unsigned_integers_beyond_64_bits_with_a_sign_are_seen():
    columns = FORM.to_columns(*drawn(FORM, 3))
    columns["v1"] = np.array([1, 2**63, 2], dtype=np.uint64)
    assert FORM.from_columns(columns).formed.tolist() == [True, False, True]
