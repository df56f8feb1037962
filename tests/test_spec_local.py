# SPDX-License-Identifier: Apache-2.0
"""Specifications of local plans: the plan that code would make, and all mistakes at once."""

import numpy as np
import pytest

import lownoise as ln
from command_line import written
from lownoise.errors import SpecError
from lownoise.spec import read_local, read_spec

MEANS = """
name = "november"

[question]
order = 3
mechanism = "laplace"

[question.columns]
age = { lower = 0, upper = 100, missing = 40, weight = 2 }
income = { lower = 0, upper = 1000 }

[budget]
kind = "local_dp"
epsilon = 1.5
"""
LABELS = """
[question]
kind = "marginals"
way = 1
outside = "extra"
attributes = { city = ["A", "B"], sex = 2 }

[budget]
kind = "local_dp"
epsilon = 1
"""


def test_a_local_spec_is_the_plan_that_its_code_would_make(tmp_path):
    question = ln.Mean(["age", "income"], ln.Box([0, 0], [100, 1000]), missing=[40, 500])
    by_code = ln.local(
        question,
        ln.local_dp(1.5),
        order=3,
        weights=[2, 1],
        mechanism="laplace",
        name="november",
    )
    found = read_local(written(tmp_path, MEANS)).plan()
    assert found.to_json(proof=True) == by_code.to_json(proof=True)


def test_labels_and_a_delta(tmp_path):
    question = ln.Marginals({"city": ["A", "B"], "sex": 2}, way=1, outside="extra")
    by_code = ln.local(question, ln.local_dp(1.0))
    assert read_local(written(tmp_path, LABELS)).plan().to_json() == by_code.to_json()
    text = MEANS.replace("1.5", "1.5\ndelta = 1e-6").replace('"laplace"', '"gaussian"')
    own = read_local(written(tmp_path, text)).plan()
    assert own.budget == ln.local_dp(1.5, 1e-6)
    assert own.mechanism == "gaussian"


def test_a_domain_and_a_list_beside_the_file(tmp_path):
    disc = """
    [question]
    columns = ["x", "y"]
    domain = { kind = "ball", dimension = 2, radius = 5 }
    [budget]
    kind = "local_dp"
    epsilon = 1
    """
    own = read_local(written(tmp_path, disc)).plan()
    assert own.to_json() == ln.local(ln.Mean(["x", "y"], ln.Ball(2, 5)), ln.local_dp(1)).to_json()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "p.csv").write_text("x,y\n0,0\n1,0\n0,2\n", encoding="utf-8")
    listed = '[question]\npoints = "p.csv"\n[budget]\nkind = "local_dp"\nepsilon = 1\n'
    own = read_local(written(tmp_path / "sub", listed)).plan()
    assert own.names == ("x", "y")
    assert np.all(np.isfinite(own.standard_deviation))


MISTAKES = {
    ('relation = "substitute"', "question.relation: is of a table of records"),
    ("size = 100", "question.size: is of a table of records"),
    ("count_share = 0.1", "question.count_share: is of a table of records"),
    ('mechanism = "cup"', "question.mechanism: is no randomizer; give one of "),
    ("order = 1", "question.order: "),
}


def test_all_mistakes_are_said_at_once_each_with_its_path(tmp_path):
    text = MEANS.replace('mechanism = "laplace"', "").replace("order = 3", "")
    text = text.replace("[question]", "[question]\n" + "\n".join(sorted(m for m, _ in MISTAKES)), 1)
    text = text.replace("upper = 1000", "uper = 1000").replace("epsilon = 1.5", "epsilon = 0")
    text += 'mu = 1\n[data]\npath = "t.csv"\n'
    with pytest.raises(SpecError) as refused:
        read_local(written(tmp_path, text))
    said = str(refused.value)
    wanted = {own for _, own in MISTAKES} | {
        "question.columns.income.upper: field required",
        "question.columns.income.uper: is not a field",
        "budget.epsilon: ",
        "budget.mu: is not a field",
        "data: is not a field",
    }
    for own in wanted:
        assert own in said
    assert said.count("\n") == len(wanted)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('"marginals"', '"queries"', "question.kind: is nothing that devices report"),
        ('"marginals"', "3", "question.kind: is nothing that devices report"),
        ('"local_dp"', '"pure_dp"', "budget.kind is not local_dp"),
        ('kind = "local_dp"', "", "or use `lownoise plan`"),
        ("epsilon = 1", "", "budget.epsilon: field required"),
        ('outside = "extra"', "", "question.outside: "),
    ],
)
def test_refusals(tmp_path, old, new, text):
    with pytest.raises(SpecError, match=text):
        read_local(written(tmp_path, LABELS.replace(old, new)))


def test_a_question_that_is_no_table_is_one_line(tmp_path):
    with pytest.raises(SpecError, match="question: is no table"):
        read_local(written(tmp_path, 'question = 3\n[budget]\nkind = "local_dp"\nepsilon = 1\n'))


def test_a_spec_of_devices_is_none_of_tables(tmp_path):
    with pytest.raises(SpecError, match="use `lownoise local plan`"):
        read_spec(written(tmp_path, MEANS))
