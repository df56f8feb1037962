# SPDX-License-Identifier: Apache-2.0
"""Records of a device mean the cells that engines count, and shares decode to the marginals."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from lownoise.engines.categories import cells_of
from lownoise.engines.counts import records_query
from lownoise.engines.opening import source_of
from lownoise.errors import FileError, PlanError, QuestionError, TableError
from lownoise.local_model import ENCODERS, CellEncoder
from lownoise.questions.attributes import attributes

LONG = 2000 * "x"
ODD = [0, 1, 2, 3, -1, 0.5, 1.0, -0.0, True, False, math.nan, math.inf, -math.inf, None, 10**400]
ODD += [2**53, 1e308, Decimal(2), Fraction(1, 2), Fraction(4, 2), np.float32(0.1), np.int8(3)]
ODD += ["0", " 1", "1.0", "01", "1e0", "0x1", "0b10", "yes", "no", "T", "f", "F", "true", "False"]
ODD += ["M", "m", " M", "M ", "", "nan", "inf", "-1", "1,0", "é", "e\u0301", "NULL", "None", LONG]
ODD += ["2.5", "2_000", "1_0", "١", "(other)", [1], object(), "0.5", "1e-1", "\ud800", "a\0b", "a"]
CATEGORIES = {
    "integers": 3,
    "one": 1,
    "numbers": [0.5, 2.0, 10.0, -1.0],
    "texts": ["F", "M", "é", "(other)"],
    "spelled": ["007", "1", "2.5", "M", ""],
    "words": ["M", "a", "None", LONG],
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", CATEGORIES)
@pytest.mark.parametrize("policy", ["extra", "first"])
def test_a_value_has_the_cell_that_engines_count(name, policy):
    given = CATEGORIES[name]
    outside = "extra"
    if policy == "first" and name != "one":  # one cell would be no label
        outside = {"v": 0 if isinstance(given, int) else given[0]}
    (attribute,) = attributes({"v": given}, outside)
    encoder = CellEncoder.of(ln.Marginals({"v": given}, sets=[["v"]], outside=outside))
    found = encoder.encode([{"v": value} for value in ODD])[:, 0]
    source = source_of(pd.DataFrame({"v": pd.Series(ODD, dtype=object)}), ["v"])
    texts = ["v"] if attribute.words else []
    (batch,) = source.batches(["v"], texts)
    cells = cells_of(attribute, batch.numbers[0], batch.texts[0] if texts else None)
    np.testing.assert_array_equal(found, cells)


@pytest.mark.parametrize("name", CATEGORIES)
def test_numbers_have_the_cells_that_engines_count(name):
    values = np.array([0, 1, 2, 0.5, -1, 7, 10, 2.5, -0.0, math.nan, math.inf, 1e300, 2.0**53])
    (attribute,) = attributes({"v": CATEGORIES[name]}, "extra")
    encoder = CellEncoder.of(ln.Marginals({"v": CATEGORIES[name]}, sets=[["v"]], outside="extra"))
    found = encoder.encode(values[:, None])[:, 0]
    np.testing.assert_array_equal(found, encoder.encode(values.tolist())[:, 0])
    counts = records_query([attribute]).of(pd.DataFrame({"v": values})).marginal((0,))
    np.testing.assert_array_equal(counts, np.bincount(found, minlength=attribute.size))


SIZES = {"age": 4, "sex": ["F", "M"], "city": ["a", "b"]}
QUESTIONS = {
    "one": ln.Marginals({"age": 4}, sets=[["age"]], outside="extra"),
    "cells of two": ln.Marginals(SIZES, sets=[["age", "sex"]], outside="extra"),
    "one-way": ln.Marginals(SIZES, way=1, outside="extra"),
    "two-way": ln.Marginals(SIZES, way=2, outside={"age": 3, "sex": "extra", "city": "a"}),
    "sets out of order": ln.Marginals(SIZES, sets=[["city", "age"], [], ["sex"]], outside="extra"),
    "prefix": ln.Marginals(SIZES, way=2, outside="extra", ordered={"age": "prefix"}),
    "range": ln.Marginals(SIZES, way=2, outside="extra", ordered={"age": "range", "sex": "prefix"}),
}


def people(count=300):
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 6, count),
            "sex": rng.choice(["F", "M", "x"], count, p=[0.5, 0.3, 0.2]),
            "city": rng.choice(["a", "b", "c"], count),
        }
    )


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", QUESTIONS)
def test_shares_decode_to_the_marginals_of_the_table(name):
    question, table = QUESTIONS[name], people()
    encoder = CellEncoder.of(question)
    records = table[list(encoder.columns)].to_dict("records")
    labels = encoder.encode(records)
    assert labels.shape == (len(table), 1)
    shares = np.bincount(labels[:, 0], minlength=encoder.dimension) / len(table)
    found = encoder.decode(shares)
    counted = records_query(question.attributes).of(table)
    expected = []
    for chosen in question.sets():
        own = counted.marginal(chosen).astype(float)
        for axis, i in enumerate(chosen):
            if question.attributes[i].ordered:
                from lownoise.sensitivity.orders import answers_along

                own = answers_along(own, axis, question.attributes[i].ordered)
        expected += [np.ravel(own) / len(table)]
    np.testing.assert_allclose(found, np.concatenate(expected), atol=1e-12)
    assert found.size == encoder.length == question.answers == len(encoder.names)
    assert len(set(encoder.names)) == encoder.length
    # affine: answers say how far a share moves them
    one = np.eye(encoder.dimension)[0]
    A = encoder.answers if encoder.answers.ndim == 2 else np.diag(encoder.answers)
    moved = encoder.decode(shares + 0.5 * (one - shares)) - found
    np.testing.assert_allclose(moved, 0.5 * A @ (one - shares), atol=1e-12)


def test_the_share_of_everybody_is_one_whatever_reports_say():
    encoder = CellEncoder.of(QUESTIONS["one-way"])
    assert encoder.decode(np.zeros(encoder.dimension))[0] == 1
    assert not encoder.answers[0].any()
    assert encoder.names[:2] == ["everybody", "age=0"]


def test_names_say_what_is_asked_along_orders():
    names = CellEncoder.of(QUESTIONS["range"]).names
    assert "age=0..3" in names
    assert "sex<=M" in names
    assert "age=1..(other), sex<=F" in names


@pytest.mark.parametrize("name", QUESTIONS)
def test_documents_come_back_and_are_of_their_question(name):
    encoder = CellEncoder.of(QUESTIONS[name])
    again = ENCODERS.read(ENCODERS.write(encoder))
    records = people(50).to_dict("records")
    np.testing.assert_array_equal(again.encode(records), encoder.encode(records))
    np.testing.assert_array_equal(again.answers, encoder.answers)
    assert again.names == encoder.names
    assert again.apart(QUESTIONS[name]) == 0
    others = [own for other, own in QUESTIONS.items() if other != name]
    assert all(again.apart(other) == math.inf for other in others)


def test_records_come_as_mappings_rows_and_single_values():
    encoder = CellEncoder.of(QUESTIONS["cells of two"])
    expected = [[3], [7]]
    assert encoder.encode([{"age": 1, "sex": "F"}, {"sex": "M", "age": "2"}]).tolist() == expected
    assert encoder.encode([(1, "F"), ["2", "M"]]).tolist() == expected
    single = CellEncoder.of(QUESTIONS["one"])
    assert single.encode([3, "2", None, (1,)]).tolist() == [[3], [2], [4], [1]]


def test_what_is_masked_in_an_array_is_no_value():
    encoder = CellEncoder.of(ln.Marginals({"v": 3}, way=1, outside="extra"))
    masked = np.ma.masked_array([[1], [2]], mask=[[True], [False]])
    assert encoder.encode(masked).tolist() == encoder.encode([[None], [2]]).tolist() == [[3], [2]]


@pytest.mark.parametrize("record", [{"age": 1}, (1,), (1, "F", 3), 1, "M", np.zeros((1, 2)), None])
def test_records_of_another_shape_are_refused_without_their_values(record):
    encoder = CellEncoder.of(QUESTIONS["cells of two"])
    with pytest.raises(TableError, match="give 'age', 'sex', by name or in order"):
        encoder.encode([record])


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (ln.Marginals({"age": 4}, way=1), "whether one reports is public"),
        (ln.Marginals({"age": 4, "sex": 2}, way=1, outside={"age": "extra"}), "stands in"),
        (ln.Marginals({"age": 4}, way=0, outside="extra"), "asks for no attribute"),
        (ln.Marginals({"a": 10**4, "b": 10**3}, way=1, outside="extra"), "fewer attributes"),
        (ln.Marginals({"a": 1000, "b": 900}, way=1, outside="extra"), "fewer marginals"),
        (ln.Marginals({"a": 1}, way=1, outside={"a": 0}), "too few"),
    ],
)
def test_questions_that_no_label_answers_are_refused(question, said):
    with pytest.raises(PlanError, match=said):
        CellEncoder.of(question)


def test_categories_that_mean_the_same_are_refused():
    with pytest.raises(QuestionError):
        CellEncoder.of(ln.Marginals({"a": ["007", "7"]}, way=1, outside="extra"))


GOOD = ENCODERS.write(CellEncoder.of(QUESTIONS["one-way"]))
AGE = GOOD["attributes"][0]


@pytest.mark.parametrize(
    "fields",
    [
        {"sets": []},
        {"sets": [[0], [0]]},
        {"sets": [[1, 0]]},
        {"sets": [[0, 0]]},
        {"sets": [[3]]},
        {"sets": [["age"]]},
        {"sets": "all"},
        {"sets": [[True, 2]]},
        {"attributes": []},
        {"attributes": [AGE, AGE]},
        {"attributes": [["age", 4, 4]]},
        {"attributes": [{**AGE, "categories": "abc"}]},
        {"attributes": [{**AGE, "categories": [["a"]]}]},
        {"attributes": [{**AGE, "categories": 10**7}]},
        {"attributes": [{**AGE, "categories": 0}]},
        {"attributes": [{**AGE, "outside": 5}]},
        {"attributes": [{**AGE, "outside": None}]},
        {"attributes": [{**AGE, "ordered": "suffix"}]},
        {"attributes": [{**AGE, "ordered": ["range"]}]},
        {"attributes": [{**AGE, "name": ""}]},
        {"attributes": [{**AGE, "more": 1}]},
        {"attributes": [{"name": "age", "categories": 4}]},
    ],
)
def test_documents_of_no_meaning_are_refused(fields):
    document = {**GOOD, **fields}
    if "attributes" in fields:
        document["sets"] = [[0]]
    with pytest.raises(FileError):
        ENCODERS.read(document)
