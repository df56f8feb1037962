# SPDX-License-Identifier: Apache-2.0
"""Round noise beside a plan: its size against all records, written out."""

import itertools

import numpy as np
import pytest

import lownoise as ln
from lownoise import report
from lownoise.noise.baselines import cells_an_answer, squared_change
from lownoise.report.sections import view_of
from lownoise.sensitivity.orders import answer_rows

QUESTIONS = [
    ln.Marginals({"a": 3, "b": 2}, way=2),
    ln.Marginals({"a": 3, "b": 2, "one": 1}, way=2),
    ln.Marginals({"a": 4}, way=1, ordered={"a": "prefix"}),
    ln.Marginals({"a": 4, "b": 2}, way=2, ordered={"a": "range"}),
    ln.Marginals({"a": 4, "b": 3, "c": 2}, way=2, ordered={"a": "prefix", "b": "range"}),
    ln.Marginals({"a": 5, "b": 3}, sets=[["a"]], ordered={"a": "range"}),
]


def answers(question):
    """Return every answer for every record, a row a record."""
    sizes = [a.size for a in question.attributes]
    columns = []
    for record in itertools.product(*map(range, sizes)):
        own = []
        for chosen in question.sets():
            block = np.ones(1)
            for i in chosen:
                attribute = question.attributes[i]
                rows = answer_rows(attribute.ordered, attribute.size)
                block = np.kron(block, rows[:, record[i]])
            own.append(block)
        columns.append(np.concatenate(own))
    return np.array(columns)


@pytest.mark.parametrize("question", QUESTIONS)
def test_it_is_how_far_a_record_moves_all_answers(question):
    W = answers(question)
    assert W.shape[1] == question.answers
    assert squared_change(question, public=False) == np.max(np.sum(W**2, axis=1))
    far = np.max(np.sum((W[:, None] - W) ** 2, axis=2))
    found = squared_change(question, public=True)
    assert found == far if not question.ordered else 0 < found <= far


def test_an_answer_adds_up_cells():
    question = ln.Marginals({"a": 3, "b": 2}, way=2, ordered={"a": "range"})
    # ranges of 1, 2, 3, 1, 2 and 1 cells
    assert cells_an_answer(question, (0, 1)) == pytest.approx(10 / 6)


def test_pages_of_ordered_attributes_count_answers():
    question = ln.Marginals({"age": 6, "sex": 2}, way=2, ordered={"age": "range"})
    made = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
    kinds = view_of(made).kinds
    (k,) = [k for k in range(kinds.counts.size) if kinds.label(k)[0] == "age × sex"]
    deviations = made.standard_deviation("age", "sex", answers=True)
    assert kinds.counts[k] == 42 == deviations.size
    assert kinds.largest[k] == pytest.approx(np.max(deviations))
    assert kinds.typical[k] == pytest.approx(np.sqrt(np.mean(np.square(deviations))))
    assert kinds.typical[k] < kinds.others[0][k]
    assert report.render_html(report.sections(made)).startswith("<!doctype html>")
