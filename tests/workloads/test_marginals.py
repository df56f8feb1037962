# SPDX-License-Identifier: Apache-2.0
"""Marginals as questions: which cells there are, and what is refused."""

import itertools
import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import QuestionError
from lownoise.questions.attributes import attributes

SIZES = {"age": 5, "sex": ["F", "M"], "code": [10, 20.5, -3]}


def test_way_asks_for_all_sets_of_up_to_so_many():
    question = ln.Marginals(SIZES, way=2)
    expected = [c for k in range(3) for c in itertools.combinations(range(3), k)]
    assert list(question.sets()) == expected
    assert question.count == len(expected)
    assert question.cells == sum(math.prod((5, 2, 3)[i] for i in c) for c in expected)


def test_sets_are_kept_in_their_order_whatever_the_order_of_names():
    question = ln.Marginals(SIZES, sets=[["sex", "age"], [], ["code"]])
    assert [question.names(s) for s in question.sets()] == [("age", "sex"), (), ("code",)]
    assert question.cells == 10 + 1 + 3


def test_an_extra_cell_counts():
    question = ln.Marginals(SIZES, way=1, outside={"sex": "extra", "code": 20.5})
    assert [a.size for a in question.attributes] == [5, 3, 3]
    assert [a.outside for a in question.attributes] == [None, 2, 1]
    assert question.drops
    assert not ln.Marginals(SIZES, way=1, outside="extra").drops


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sizes": {}, "way": 0}, "sizes"),
        ({"sizes": {"a": 0}, "way": 0}, "sizes['a']=0"),
        ({"sizes": {"a": -3}, "way": 0}, "sizes['a']=-3"),
        ({"sizes": {"a": True}, "way": 0}, "sizes['a']=True"),
        ({"sizes": {"a": 2.5}, "way": 0}, "sizes['a']=2.5"),
        ({"sizes": {"a": "yes"}, "way": 0}, "sizes['a']='yes'"),
        ({"sizes": {"a": []}, "way": 0}, "sizes['a']"),
        ({"sizes": {"a": [1, "x"]}, "way": 0}, "one kind"),
        ({"sizes": {"a": [1.0, math.nan]}, "way": 0}, "finite"),
        ({"sizes": {"a": [1, 2, 1]}, "way": 0}, "twice"),
        ({"sizes": {"": 2}, "way": 0}, "name"),
        ({"sizes": {"a\0": 2}, "way": 0}, "name"),
        ({"sizes": {3: 2}, "way": 0}, "name"),
        ({"sizes": {"a": 2}}, "either"),
        ({"sizes": {"a": 2}, "way": 1, "sets": [["a"]]}, "either"),
        ({"sizes": {"a": 2}, "way": 2}, "way=2"),
        ({"sizes": {"a": 2}, "way": -1}, "way=-1"),
        ({"sizes": {"a": 2}, "way": 1.0}, "way=1.0"),
        ({"sizes": {f"x{i}": 2 for i in range(200)}, "way": 5}, "10^7"),
        ({"sizes": {"a": 20_000, "b": 20_000, "c": 3}, "way": 2}, "('a', 'b'), of 400,000,000"),
        ({"sizes": {"a": 2**31}, "sets": [[], ["a"]]}, "('a',), of 2,147,483,648"),
        ({"sizes": {f"x{i}": 2 for i in range(17)}, "way": 17}, "at most 16"),
        ({"sizes": {"a": 2, "A": 2}, "way": 1}, "differ only in case"),
        ({"sizes": {"a": ["\ud800", "b"]}, "way": 1}, "no file can hold"),
        ({"sizes": {"a": ["1", "1.0"]}, "way": 1}, "twice"),
        ({"sizes": {"a": [10**400]}, "way": 1}, "finite"),
        ({"sizes": {"a": [1j, 2]}, "way": 1}, "one kind"),
        ({"sizes": {"a": 2}, "way": 1, "outside": {"a": np.array([0, 1])}}, "outside['a']"),
        ({"sizes": {"a": 2}, "sets": []}, "sets"),
        ({"sizes": {"a": 2}, "sets": ["a"]}, "sets[0]='a'"),
        ({"sizes": {"a": 2}, "sets": [["b"]]}, "'b'"),
        ({"sizes": {"a": 2}, "sets": [["a", "a"]]}, "twice"),
        ({"sizes": {"a": 2}, "sets": [["a"], ["a"]]}, "twice"),
        ({"sizes": {"a": 2}, "way": 1, "weights": [1.0]}, "weights"),
        ({"sizes": {"a": 2}, "way": 1, "weights": [1.0, 0.0]}, "weights[1]=0"),
        ({"sizes": {"a": 2}, "way": 1, "weights": [1.0, math.inf]}, "weights[1]=inf"),
        ({"sizes": {"a": 2}, "way": 1, "weights": ["x", 1]}, "weights"),
        ({"sizes": {"a": 2}, "way": 1, "outside": "keep"}, "outside='keep'"),
        ({"sizes": {"a": 2}, "way": 1, "outside": {"b": "drop"}}, "'b'"),
        ({"sizes": {"a": 2}, "way": 1, "outside": {"a": 2}}, "outside['a']=2"),
        ({"sizes": {"a": 2}, "way": 1, "outside": 7}, "outside"),
    ],
)
def test_refuses_in_one_line(arguments, words):
    with pytest.raises(QuestionError) as error:
        ln.Marginals(arguments.pop("sizes"), **arguments)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert any(verb in str(error.value) for verb in ("give", "ask", "name", "list", "needs"))


def test_labels_read_as_they_were_declared():
    age, sex, code = attributes(SIZES)
    assert [age.label(0), sex.label(1), code.label(1), code.label(2)] == ["0", "M", "20.5", "-3"]
    with pytest.raises(QuestionError, match="cell=5"):
        age.label(5)


def test_an_unknown_question_is_refused():
    with pytest.raises(ln.errors.PlanError, match=r"is no question.* or several in a list"):
        ln.plan(np.ones(3), budget=ln.zcdp(1), relation="add_remove")
