# SPDX-License-Identifier: Apache-2.0
"""The number of a cell: one meaning, in Python and in the engine; labels that it tells apart."""

import bz2
import gzip
import io
import json
import lzma
import zipfile

import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lownoise as ln
from lownoise.engines.cells import Dialect
from lownoise.engines.counts import histogram_query, records_query
from lownoise.engines.delimited import numbers_of, open_text
from lownoise.engines.duckdb import number
from lownoise.errors import QuestionError, TableError
from lownoise.numbers.values import LONGEST, WORDS, number_of
from lownoise.release import codec

# what texts that nearly spell numbers are made of
PARTS = [
    "0",
    "1",
    "12",
    "007",
    ".",
    "+",
    "-",
    "e",
    "E5",
    "_",
    " ",
    "\t",
    "0x",
    "0B",
    "f",
    "A",
    "9" * 20,
]
WHOLE = [
    *WORDS,
    *(w.upper() for w in WORDS),
    "inf",
    "Infinity",
    "nan",
    "NaN",
    "é",
    "ſ",
    "\0",
    "\v",
    "",
]
nearly = st.lists(st.sampled_from(PARTS), max_size=6).map("".join)
spelled = st.tuples(
    st.sampled_from(["", " ", "+", "-", "x"]),
    st.sampled_from(WHOLE),
    st.sampled_from(["", " ", "0"]),
).map("".join)


@settings(max_examples=8)
@given(st.lists(st.one_of(nearly, spelled, st.floats().map(repr), st.text()), min_size=60))
def test_engines_have_the_number_that_a_text_spells(texts):
    stored = [t.encode("utf-8", "replace").decode() for t in texts]
    table = ibis.memtable(pa.table({"x": pa.array(stored, pa.string())}))
    found = table.select(number=number(table.x)).to_pyarrow().column("number").to_numpy()
    expected = [number_of(text) for text in stored]
    floats = np.array([np.nan if x is None else x for x in expected])
    assert np.array_equal(found, floats, equal_nan=True)
    assert np.array_equal(numbers_of(pa.array(stored, pa.string())), floats, equal_nan=True)
    alone = [numbers_of(pa.array([text], pa.string()))[0] for text in stored]
    assert np.array_equal(alone, floats, equal_nan=True)


LARGE = [2**53, 2**53 + 1, 2**62, -(2**53)]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([*LARGE, 7], pa.int64()),
        pa.array([*map(str, LARGE), "7"]),
        pa.array([*map(float, LARGE), 7.0]),
        pa.array([*LARGE, 7], pa.decimal128(38, 0)),
    ],
    ids=lambda column: str(column.type),
)
def test_integers_that_floats_take_for_one_are_no_category_in_any_type(column):
    labels = ["7", *map(str, LARGE)]  # a plan refuses them; a file of version 0.1 may hold them
    question = ln.Marginals({"x": labels}, way=1, outside="extra")
    found = records_query(question.attributes).of(pa.table({"x": column})).marginal((0,))
    assert found.tolist() == [1, 0, 0, 0, 0, 4]


@pytest.mark.parametrize(
    "labels",
    [
        ["007", "7"], ["1", "true"], ["F", "0"], ["yes", "T"], ["1.0", "1e0"], ["0x10", "16"],
        ["-0", "0"], ["nan", "a"], ["9007199254740993", "a"], ["inf", "a"], [2.0**53, 1.0],
    ],
    ids=str,
)  # fmt: skip
def test_labels_that_no_table_tells_apart_are_refused_at_planning(labels):
    matrix = np.ones((1, 2))
    asked = [
        (ln.Marginals({"x": labels}, way=1), ln.zcdp(1)),
        (ln.Queries(matrix, {"x": labels}), ln.zcdp(1)),
        (ln.Queries(matrix, {"x": labels}), ln.pure_dp(1)),
        (ln.Queries(matrix, [[label] for label in labels], columns=["x"]), ln.zcdp(1)),
    ]
    for question, budget in asked:
        with pytest.raises(QuestionError, match=r"sizes\['x'\] lists") as refusal:
            ln.plan(question, budget=budget, relation="add_remove")
        assert "\n" not in str(refusal.value)


def test_labels_of_old_files_are_read_verified_and_counted():
    plan = ln.plan(
        ln.Marginals({"x": ["AA7", "7"]}, way=1), budget=ln.zcdp(1), relation="add_remove"
    )
    document = json.loads(plan.to_json().replace("AA7", "007"))
    document["digest"] = codec.digest(document)
    old = ln.Plan.from_json(json.dumps(document))
    assert ln.verify(json.dumps(document))
    assert old.terms.question.attributes[0].labels == ("007", "7")
    table = pa.table({"x": ["007", "7", "7.0"]})
    universe = ln.Queries(np.ones((1, 2)), {"x": ["007", "7"]}).universe
    assert histogram_query(universe).of(table).counts.tolist() == [3, 0]  # one number has one cell
    assert old.release(table).terms.question.attributes[0].labels == ("007", "7")


LONG, LONGER = "1" * LONGEST, "1" * (LONGEST + 1)


@pytest.mark.parametrize("fields", [[LONG, LONGER, "x" * 100_000, "2"], [LONG, LONGER], [LONG]])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
def test_fields_beyond_the_longest_number_are_missing(tmp_path, name, fields):
    """Before anything is made of them, and they hide no other."""
    path = tmp_path / name
    between = "\t" if name.endswith("tsv") else ","
    lines = [between.join(["a", "b"]), *(between.join([f, "7"]) for f in fields)]
    path.write_text("\n".join(lines) + "\n")
    rows = open_text(path, ["a", "b"]).read_all().to_pydict()
    kept = [f if len(f) <= LONGEST else None for f in fields]
    assert rows == {"a": kept, "b": ["7"] * len(fields)}


@pytest.mark.parametrize("between", [";", "|", ":", "\t"])
@pytest.mark.parametrize("quoted", [True, False])
def test_a_dialect_has_its_own_separator_and_quotes_or_none(tmp_path, between, quoted):
    path = tmp_path / "t.csv"
    lines = [["a", "n", "b"], ["1,5", f'"x{between}y"', "2"], ["3"], []]
    path.write_text("\n".join(between.join(line) for line in lines) + "\n")
    rows = open_text(path, ["b", "a"], Dialect(between, quoted=quoted)).read_all().to_pydict()
    assert rows == {"a": ["1,5", "3", None], "b": ["2" if quoted else 'y"', None, None]}
    with pytest.raises(TableError, match="not separated by commas"):
        open_text(path, ["a"])


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-be", "utf-16-le"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_what_is_no_utf_8_from_its_first_letter_is_said_to_be(tmp_path, coding, mark):
    path = tmp_path / "t.csv"
    path.write_text(f"{mark}a,b\n1,2\n", encoding=coding)
    with pytest.raises(TableError, match="UTF-16; save it as UTF-8"):
        open_text(path, ["a"])


def zipped(content):
    with zipfile.ZipFile(whole := io.BytesIO(), "w") as file:
        file.writestr("t.csv", content)
    return whole.getvalue()


def zstd(content):
    return pa.compress(content, "zstd", asbytes=True)


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, lzma.compress, zipped, zstd])
def test_what_is_packed_is_said_to_be(tmp_path, packed):
    path = tmp_path / "t.csv"
    path.write_bytes(packed(b"a,b\n1,2\n"))
    with pytest.raises(TableError, match=r"t\.csv is packed by .*; unpack it"):
        open_text(path, ["a"])
