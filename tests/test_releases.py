# SPDX-License-Identifier: Apache-2.0
"""Whatever plans also releases: from no record, from one, and from many.

A release that fails once its budget is taken has lost it. `test_members.py` runs the same law on
every domain of the family, with the plans that it has.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import lownoise as ln
from cases import CASES, POINT_CASES
from lownoise.sets.domains import Difference
from pure.documents import ASKED, plan_of, table
from streams.kinds import KEPT, WORKLOADS

HOW_MANY = (0, 1, 50)
ROWS = {"substitute": (1, 2), "add_remove": HOW_MANY}
RELATIONS = tuple(ROWS)
DOMAINS = [c for c in (*CASES, *POINT_CASES) if not isinstance(c.domain, Difference)]

ONE = {"a": ["x"], "b": ["u", "v"]}
ALONE = {"a": ["x"], "b": ["u"]}
COUNTS = [  # an order of one place, of some, of none; each with one marginal, and with many
    (categories, ordered, asked)
    for categories in (ONE, ALONE, {"a": ["x"]}, {"b": ["u", "v", "w"], "a": ["x"]})
    for ordered in ({"a": "prefix"}, {"a": "range"}, {"b": "prefix", "a": "range"}, None)
    for asked in ({"way": 0}, {"way": 1}, {"sets": [["a"]]}, {"sets": [["a", "b"], []]})
    if set(ordered or ()) <= set(categories)
    and {n for own in asked.get("sets", ()) for n in own} <= set(categories)
]


def loosely(question, relation, size):
    return ln.plan(
        question,
        budget=ln.zcdp(0.5),
        relation=relation,
        size=size if relation == "substitute" else None,
        rtol=0.3,
    )


@pytest.mark.grid(3, least=3)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("categories", "ordered", "asked"), COUNTS, ids=str)
def test_counts_release_wherever_they_plan(categories, ordered, asked, relation, tmp_path):
    outside = {name: labels[0] for name, labels in categories.items()}
    question = ln.Marginals(categories, ordered=ordered, outside=outside, **asked)
    for count in ROWS[relation]:
        plan = loosely(question, relation, count)
        rows = pd.DataFrame({name: [labels[0]] * count for name, labels in categories.items()})
        released = plan.release(rows, path=tmp_path / f"{count}")
        made = dict(released.marginals())
        assert len(made) == question.count
        assert all(np.all(np.isfinite(counts)) for counts in made.values())
        again = dict(ln.Release.load(tmp_path / f"{count}").marginals())
        assert all(np.array_equal(again[names], made[names]) for names in made)


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("case", DOMAINS, ids=lambda case: case.name)
def test_means_release_wherever_they_plan(case, relation):
    question = ln.Mean([f"c{i}" for i in range(case.domain.dimension)], case.domain)
    plan = loosely(question, relation, 1)
    for count in ROWS[relation][: 1 if relation == "substitute" else None]:
        rows = np.tile(case.domain.center, (count, 1))
        released = plan.release(pd.DataFrame(rows, columns=question.columns))
        assert np.all(np.isfinite(released.estimate))
        assert ln.Release.from_json(released.to_json()).integers == released.integers


@cache
def pure_plan(name):
    return plan_of(name)


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    "name", [n for n, (_, relation) in ASKED.items() if relation == "add_remove"]
)
def test_pure_mechanisms_release_wherever_they_plan(name):
    for count in HOW_MANY:
        rows = pd.concat([table()] * 2).head(count)
        assert np.all(np.isfinite(pure_plan(name).release(rows).estimate))


@pytest.mark.grid(least=3)
@pytest.mark.parametrize(("workload", "strategy"), KEPT)
def test_streams_answer_rounds_of_none_of_one_and_of_many(workload, strategy):
    stream = ln.stream(WORKLOADS[workload], budget=ln.zcdp(0.5), strategy=strategy)
    for count in (0, 1, stream.rounds - 1, 0):
        answers = stream.update_many(np.ones(count))
        assert answers.shape == (count,)
        assert np.all(np.isfinite(answers))
