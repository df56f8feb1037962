# SPDX-License-Identifier: Apache-2.0
"""Specifications of linear queries and parities: the plan that code would make, clear mistakes."""

import json
import math

import numpy as np
import pytest

import lownoise as ln
from command_line import written
from lownoise.errors import SpecError
from lownoise.spec import read_domain, read_spec

MATRIX = [[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 2.5, 0], [0, -1, 0, 1, 0, 0]]
QUERIES = """
[question]
kind = "queries"
relation = "add_remove"
order = 3
matrix = [[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 2.5, 0], [0, -1, 0, 1, 0, 0]]

[question.universe]
age = 3
sex = ["F", "M"]

[budget]
rho = 0.5

[data]
path = "t.csv"
"""
PARITY = """
[question]
kind = "parity"
relation = "add_remove"
bits = ["a", "b", "c", "d"]
degree = [1, 3]
weights = [1, 2]

[budget]
mu = 0.5
"""
UNIVERSE = {"age": 3, "sex": ["F", "M"]}
RECORDS = [[0.0, "F"], [1.0, "F"], [1.5, "M"]]


def planned(tmp_path, text):
    return read_spec(written(tmp_path, text)).plan().to_json()


def by_code(question, **asked):
    options = {"budget": ln.zcdp(0.5), "relation": "add_remove", "order": 3, **asked}
    return ln.plan(question, **options).to_json()


def test_a_spec_is_the_plan_that_its_code_would_make(tmp_path):
    assert planned(tmp_path, QUERIES) == by_code(ln.Queries(MATRIX, UNIVERSE))
    asked = ln.Parity(["a", "b", "c", "d"], [1, 3], weights=[1, 2])
    assert planned(tmp_path, PARITY) == by_code(asked, budget=ln.gaussian_dp(0.5), order=2)
    assert read_spec(written(tmp_path, QUERIES)).data.path == tmp_path / "t.csv"


def test_a_public_size_and_stand_ins(tmp_path):
    public = 'substitute"\nsize = 9\noutside = { age = 2, sex = "F" }'
    text = QUERIES.replace('add_remove"', public)
    question = ln.Queries(MATRIX, UNIVERSE, outside={"age": 2, "sex": "F"})
    assert planned(tmp_path, text) == by_code(question, relation="substitute", size=9)
    text = PARITY.replace('add_remove"', 'substitute"\nsize = 9\norder = inf\noutside = 1')
    terms = read_spec(written(tmp_path, text)).plan().terms
    assert terms.size == 9
    assert terms.order == math.inf
    assert [a.outside for a in terms.question.attributes] == [1] * 4
    text = PARITY.replace("degree = [1, 3]", 'degree = 2\noutside = { a = 0, b = "drop" }')
    terms = read_spec(written(tmp_path, text.replace("weights = [1, 2]", ""))).plan().terms
    assert terms.question.degrees == (2,)
    assert [a.outside for a in terms.question.attributes] == [0, None, None, None]


@pytest.mark.parametrize("name", ["sub/w.csv", "sub/w.npy", "sub/W.NPY"])
def test_a_matrix_may_stand_in_a_file_beside_the_specification(name, tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    if name.endswith("csv"):
        lines = [",".join(map(repr, row)) for row in MATRIX]
        (tmp_path / name).write_text("\n".join(lines) + "\n\n")
    else:
        with (tmp_path / name).open("wb") as file:
            np.save(file, np.array(MATRIX))
    monkeypatch.chdir("/")  # relative to the specification, not to where the reader stands
    inline = "[[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 2.5, 0], [0, -1, 0, 1, 0, 0]]"
    assert planned(tmp_path, QUERIES.replace(inline, f'"{name}"')) == planned(tmp_path, QUERIES)


def test_records_may_be_listed_here_or_in_a_file(tmp_path):
    question = ln.Queries(np.eye(3), RECORDS, columns=["age", "sex"], outside=[1, "F"])
    inline = """
[question]
kind = "queries"
relation = "substitute"
size = 40
order = 3
matrix = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
universe = [[0, "F"], [1, "F"], [1.5, "M"]]
columns = ["age", "sex"]
outside = [1, "F"]
[budget]
rho = 0.5
"""
    expected = by_code(question, relation="substitute", size=40)
    assert planned(tmp_path, inline) == expected
    (tmp_path / "r.csv").write_text("age,sex\n0,F\n1,F\n1.5,M\n")
    filed = inline.replace('[[0, "F"], [1, "F"], [1.5, "M"]]', '"r.csv"')
    assert planned(tmp_path, filed) == expected
    # the header names the columns by itself
    assert planned(tmp_path, filed.replace('columns = ["age", "sex"]\n', "")) == expected
    for content, said in [
        ("age,sex\n", "has no records"),
        ("age,sex\n1\n", "row 2 has 1 values for 2 names"),
        (None, "cannot be read"),
        ("age,sex\n1,F\n1,F\n2,M\n", "question: universe[0]=(1.0, 'F') stands twice"),
        ("age,sex\n1,F\nnan,M\n2,M\n", "question: universe[1] has the value nan"),
    ]:
        (tmp_path / "r.csv").unlink(missing_ok=True)
        if content is not None:
            (tmp_path / "r.csv").write_text(content)
        refused(tmp_path, filed, said)
    refused(tmp_path, inline.replace('[1, "F"]\n[b', '[7, "F"]\n[b'), "outside=[7, 'F'] is not")
    refused(tmp_path, inline.replace('columns = ["age", "sex"]\n', ""), "columns is no list")


def test_a_universe_may_stand_in_a_json_file(tmp_path):
    (tmp_path / "u.json").write_text(json.dumps(UNIVERSE))
    text = QUERIES.replace('[question.universe]\nage = 3\nsex = ["F", "M"]\n', "")
    text = text.replace("order = 3", 'order = 3\nuniverse = "u.json"')
    assert planned(tmp_path, text) == planned(tmp_path, QUERIES)


def refused(tmp_path, text, said):
    with pytest.raises(SpecError) as refusal:
        read_spec(written(tmp_path, text))
    lines = str(refusal.value).splitlines()
    assert len(lines) == 2
    assert said in lines[1]


INLINE = "[[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 2.5, 0], [0, -1, 0, 1, 0, 0]]"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (INLINE, "[[1, 2]]", "question: matrix has shape (1, 2) for a universe of 6 records"),
        (INLINE, "[[1, 2], [3]]", "question.matrix: is no matrix"),
        (INLINE, "[]", "question.matrix: is no matrix"),
        (INLINE, "[[]]", "question.matrix: is no matrix"),
        (INLINE, "3", "question.matrix: is no matrix"),
        (INLINE, '[[1, 2, 3, 4, "5", 6]]', "question.matrix.0.4: is not a number"),
        (INLINE, "[[1, 2, 3, 4, true, 6]]", "question.matrix.0.4: is not a number"),
        (INLINE, "[[1, 2, 3, 4, inf, 6]]", "question: matrix"),
        (INLINE, "[[1, 2, 3, 4, 1e300, 6]]", "question: matrix has at most 1e+300 in row 0"),
        (INLINE, '"absent.npy"', "cannot be read"),
        (INLINE, '"absent.csv"', "cannot be read"),
        ("age = 3", "age = 0", "question.universe.age: 0 is no number"),
        ("age = 3", "age = 3000000", "question: universe has 6,000,000 records"),
        ("order = 3", "order = 3\ncolumns = ['x']", "question: columns goes with a list"),
        ("order = 3", "order = 3\nweights = [1]", "question.weights: is not a field"),
        ("order = 3", "order = 3\noutside = { income = 1 }", "question: outside names 'income'"),
        ('add_remove"', 'substitute"\nsize = 5', 'question.outside: "drop" would change'),
        ("add_remove", "substitute", "question.size: is missing"),
    ],
)
def test_one_mistake_about_queries_is_one_line(old, new, said, tmp_path):
    assert old in QUERIES
    refused(tmp_path, QUERIES.replace(old, new), said)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[1, 3]", "5", "question: degree=5 for 4 bits"),
        ("[1, 3]", "-1", "question.degree: is no number of bits"),
        ("[1, 3]", "true", "question.degree: is no number of bits"),
        ("[1, 3]", "[]", "question.degree: is no number of bits"),
        ("[1, 3]", "[1, 1]", "question: degree=[1, 1] for 4 bits"),
        ("[1, 3]", '"2"', "question.degree: is no number of bits"),
        ('"d"]', '"a"]', "question: bits names 'a' twice"),
        ('["a", "b", "c", "d"]', "[]", "question.bits: "),
        ("[1, 2]", "[1]", "question: weights has 1 numbers"),
        ("[1, 2]", "[1, -2]", "question: weights[1]=-2"),
        ("[1, 2]", "[1, 2]\noutside = 2", "question: outside=2 for 'a' is no policy"),
        ("[1, 2]", '[1, 2]\noutside = "extra"', "question: outside='extra' for 'a'"),
        ("[1, 2]", "[1, 2]\noutside = { e = 1 }", "question: outside names 'e'"),
        ('add_remove"', 'substitute"\nsize = 5', 'question.outside: "drop" would change'),
    ],
)
def test_one_mistake_about_parities_is_one_line(old, new, said, tmp_path):
    assert old in PARITY
    refused(tmp_path, PARITY.replace(old, new), said)


def test_too_many_parities_are_refused(tmp_path):
    names = json.dumps([f"b{i}" for i in range(400)])
    text = PARITY.replace('["a", "b", "c", "d"]', names)
    refused(tmp_path, text, "asks for 10,587,200 parities; ask for at most 4,194,304")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("w.csv", "1,2\n3\n", "row 2 has 1 numbers, row 1 has 2"),
        ("w.csv", "a,b\n1,2\n", "row 1 is not all numbers; give numbers alone, without a header"),
        ("w.csv", "", "has no rows"),
        ("w.csv", b"\xff\xfe1", "is not CSV in UTF-8"),
        ("w.npy", b"1,2\n", "is no .npy file"),
        ("w.npy", np.arange(3.0), "holds no matrix"),
        ("w.npy", np.array([["a"]]), "holds no matrix"),
        ("w.npy", np.array([[1j]]), "holds no matrix"),
        ("w.npy", np.array([[{}]], dtype=object), "is no .npy file of numbers"),
    ],
)
def test_a_file_that_is_no_matrix_is_one_clear_mistake(name, content, said, tmp_path):
    if isinstance(content, np.ndarray):
        np.save(tmp_path / name, content, allow_pickle=True)
    else:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(tmp_path, QUERIES.replace(INLINE, f'"{name}"'), said)


def test_all_mistakes_at_once(tmp_path):
    text = QUERIES.replace("order = 3", "order = 1").replace("rho = 0.5", "rho = -1")
    text = text.replace(INLINE, "[[1], [2, 3]]").replace("age = 3", "age = -3")
    with pytest.raises(SpecError) as refusal:
        read_spec(written(tmp_path, text))
    said = str(refusal.value)
    for field in ("question.order", "question.matrix", "question.universe.age", "budget.rho"):
        assert f"\n  {field}: " in said
    assert "has 4 mistakes" in said


@pytest.mark.parametrize("text", [QUERIES, PARITY])
def test_counts_have_no_domain_to_enclose(text, tmp_path):
    with pytest.raises(SpecError, match="asks for counts"):
        read_domain(written(tmp_path, text))
