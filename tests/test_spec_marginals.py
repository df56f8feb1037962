# SPDX-License-Identifier: Apache-2.0
"""Specifications that ask for marginals: the plan that code would make, all mistakes at once."""

import json
import math

import pytest

import lownoise as ln
from command_line import written
from lownoise.errors import SpecError
from lownoise.spec import read_domain, read_spec

GOOD = """
[question]
kind = "marginals"
relation = "add_remove"
way = 2
order = 4
weights = [1, 2, 0.5]

[question.attributes]
age = 85
sex = ["F", "M"]
"weekly hours" = [10, 20.5, 40]

[question.outside]
sex = "extra"
age = 84

[budget]
rho = 0.5

[data]
path = "t.csv"
"""
SIZES = {"age": 85, "sex": ["F", "M"], "weekly hours": [10, 20.5, 40]}


def test_a_spec_is_the_plan_that_its_code_would_make(tmp_path):
    spec = read_spec(written(tmp_path, GOOD))
    question = ln.Marginals(SIZES, way=2, weights=[1, 2, 0.5], outside={"sex": "extra", "age": 84})
    by_code = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove", order=4)
    assert spec.plan().to_json() == by_code.to_json()
    assert spec.data.path == tmp_path / "t.csv"


def test_sets_and_a_public_size(tmp_path):
    text = GOOD.replace("add_remove", "substitute").replace("way = 2", 'sets = [["age"], []]')
    text = text.replace("weights = [1, 2, 0.5]", "size = 9").replace("order = 4", "order = inf")
    text = text.replace("age = 84", 'age = "extra"\n"weekly hours" = 20.5')
    terms = read_spec(written(tmp_path, text)).plan().terms
    assert terms.question.chosen == ((0,), ())
    assert terms.size == 9
    assert terms.order == math.inf
    assert [a.outside for a in terms.question.attributes] == [85, 2, 1]


def test_attributes_may_stand_in_a_file_beside_the_specification(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "domain.json").write_text(json.dumps(SIZES))
    head, rest = GOOD.split("[question.attributes]")
    text = f'{head}attributes = "sub/domain.json"\n[question.outside]{rest.split("outside]")[1]}'
    monkeypatch.chdir("/")  # relative to the specification, not to where the reader stands
    assert (
        read_spec(written(tmp_path, text)).plan().to_json()
        == read_spec(written(tmp_path, GOOD)).plan().to_json()
    )
    for content, said in [
        (None, "cannot be read"),
        ("{", "is not JSON"),
        ('{"age": 85, "age": 85}', "names 'age' twice"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "is no table of attributes"),
        ('{"age": 0}', "question.attributes.age: 0 is no number of categories"),
    ]:
        path = tmp_path / "sub" / "domain.json"
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_text(content)
        with pytest.raises(SpecError) as refusal:
            read_spec(written(tmp_path, text))
        (line,) = [x for x in str(refusal.value).splitlines() if "question.attributes" in x]
        assert said in line


def test_all_mistakes_at_once_each_with_its_path(tmp_path):
    text = GOOD.replace("age = 85", "age = 0").replace('["F", "M"]', '["F", "F"]')
    text = text.replace("way = 2", "way = -1").replace("order = 4", "order = 1\nmissing = 3")
    text = text.replace("weights = [1, 2, 0.5]", 'weights = [1, "2"]').replace(
        "rho = 0.5", "rho = -1"
    )
    with pytest.raises(SpecError) as refusal:
        read_spec(written(tmp_path, text))
    said = str(refusal.value)
    assert "has 7 mistakes" in said
    for mistake in (
        "question.attributes.age: 0 is no number",
        "question.attributes.sex: lists 'F' twice",
        "question.way: ",
        "question.order: ",
        "question.missing: is not a field",
        "question.weights.1: is not a number",
        "budget.rho: ",
    ):
        assert f"\n  {mistake}" in said


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("attributes = { x = 2 }\nway = 1", 'a mean has no attributes; give kind = "marginals"'),
        ("rounds = 12", 'a mean has no rounds; give kind = "stream"'),
        ("matrix = [[1, 0]]\nuniverse = { x = 2 }", 'a mean has no matrix; give kind = "queries"'),
    ],
)
def test_a_kind_that_is_missing_is_said_to_be_and_no_field_of_it_to_be_none(fields, said, tmp_path):
    text = f'[question]\nrelation = "add_remove"\n{fields}\n[budget]\nrho = 1'
    with pytest.raises(SpecError) as refusal:
        read_spec(written(tmp_path, text))
    assert str(refusal.value).endswith(f"has a mistake:\n  question.kind: is missing, and {said}")


def test_a_field_of_another_kind_is_not_taken_for_a_slip_of_the_pen(tmp_path):
    text = '[question]\nkind = "mean"\nrelation = "add_remove"\nattributes = { x = 2 }'
    with pytest.raises(SpecError) as refusal:
        read_spec(written(tmp_path, f"{text}\n[budget]\nrho = 1\nway = 1"))
    for place in ("question.attributes", "budget.way"):
        assert f"\n  {place}: is not a field here, but of another kind or" in str(refusal.value)
    assert "did you mean" not in str(refusal.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '"marginals"',
            '"marginal"',
            "question.kind: is no kind of question; give mean, ",
        ),
        ('"marginals"', "3", "question.kind: is no kind of question"),
        ('"marginals"', '"count"', 'question.kind: is kind = "marginals" in a specification, with'),
        (
            '"marginals"',
            '"distribution"',
            (
                'question.kind: is kind = "marginals" in a specification, with way = 1 and '
                'ordered = { COLUMN = "prefix" }'
            ),
        ),
        ("way = 2", "way = 4", "question: way=4 with 3 attributes"),
        ("way = 2", "", "question: Marginals needs either way=k"),
        ("way = 2", 'sets = [["age", "income"]]', "question: sets[0]: 'income' is no"),
        ("way = 2", 'sets = ["age"]', "question.sets.0: "),
        ("way = 2", "way = true", "question.way: "),
        ("[1, 2, 0.5]", "[1, 2]", "question: weights has shape (2,)"),
        ("[1, 2, 0.5]", "[1, 2, -1]", "question: weights[2]=-1 is out of range"),
        ("[1, 2, 0.5]", "[1, 2, nan]", "question.weights.2: "),
        ("sex = [", "Age = 3\nsex = [", "question: attributes has names 'age' and 'Age' that"),
        ('["F", "M"]', '["7", "07"]', "question: attributes['sex'] lists '7' and '07', both 7"),
        ("age = 85", "age = -3", "question.attributes.age: -3 is no number"),
        ("age = 85", "age = 99999999999", "question.attributes.age: 99999999999"),
        ("age = 85", "age = 8.5", "question.attributes.age: 8.5 is neither"),
        ("age = 85", "age = []", "question.attributes.age: lists no category"),
        ("age = 84", "age = 85", "question.outside.age: outside['age']=85 is no policy and no"),
        ("age = 84", "income = 1", "question.outside.income: outside names 'income'"),
        ("add_remove", "substitute", "question.size: is missing"),
        (
            "add_remove",
            'substitute"\nsize = "x',  # and the size is no number
            "question.size: ",
        ),
        ("way = 2", "way = 2\nsize = 5", "question.size: is private under add_remove"),
        ("way = 2", "way = 2\ncolumns = 5", "question.columns: is not a field"),
    ],
)
def test_one_mistake_is_one_line_with_its_path(old, new, said, tmp_path):
    assert old in GOOD
    with pytest.raises(SpecError) as refusal:
        read_spec(written(tmp_path, GOOD.replace(old, new)))
    lines = str(refusal.value).splitlines()
    assert any(line.startswith(f"  {said}") for line in lines)
    assert len(lines) <= 3


def test_rows_that_would_be_dropped_do_not_go_with_a_public_size(tmp_path):
    text = GOOD.replace("add_remove", "substitute").replace("way = 2", "way = 2\nsize = 9")
    with pytest.raises(SpecError, match=r"question\.outside: \"drop\" of 'weekly hours' would"):
        read_spec(written(tmp_path, text))
    assert read_spec(written(tmp_path, text.replace("age = 84", '"weekly hours" = 10\nage = 3')))


def test_a_control_in_a_name_does_not_break_the_line(tmp_path):
    text = GOOD.replace("age = 85", '"a\\nb\\u001b" = 0').replace("age = 84", "")
    with pytest.raises(SpecError) as refusal:
        read_spec(written(tmp_path, text))
    _, *lines = str(refusal.value).splitlines()
    assert len(lines) == 1
    assert "\x1b" not in lines[0]


def test_marginals_have_no_domain_to_enclose(tmp_path):
    with pytest.raises(SpecError, match="counts, which have no domain"):
        read_domain(written(tmp_path, GOOD))


def test_ordered_attributes_are_declared_by_name(tmp_path):
    text = """
[question]
kind = "marginals"
relation = "add_remove"
way = 2
ordered = { age = "prefix" }
[question.attributes]
age = 6
sex = ["F", "M"]
[budget]
rho = 0.5
"""
    path = tmp_path / "s.toml"
    path.write_text(text)
    asked = read_spec(path).plan().terms.question
    assert [a.ordered for a in asked.attributes] == ["prefix", None]
    path.write_text(text.replace('age = "prefix"', 'agee = "prefix"'))
    with pytest.raises(SpecError, match="agee"):
        read_spec(path)
