# SPDX-License-Identifier: Apache-2.0
"""The least noise with ordered attributes, against the general solver and published figures."""

import itertools

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import PlanError
from lownoise.sensitivity.orders import answer_rows, answers_along
from lownoise.sensitivity.residuals import ordered_blocks
from lownoise.solvers import ordered
from lownoise.solvers.ordered import solve_ordered


def bounds(question, order, relation, rtol=1e-8):
    blocks = ordered_blocks(question, public=relation == "substitute")
    found = solve_ordered(blocks, order, rtol)
    lower = found.dual.least(blocks, order, np.sqrt(blocks.plain.weights))
    assert blocks.cost_up(found.noise) <= 1 + 1e-9
    own = zip(blocks.variances(found.noise), blocks.plain.weights, blocks.plain.cells, strict=True)
    parts = np.concatenate([np.repeat(np.sqrt(w * v), int(n)) for v, w, n in own])
    assert parts.size == question.answers
    return lower, float(np.linalg.norm(parts, order)), found


@pytest.mark.parametrize(
    ("size", "published"),
    [(64, 4.409397203944), (128, 5.34072676), (256, 6.372668142596)],
)
def test_prefix_counts_have_their_published_error(size, published):
    question = ln.Marginals({"t": size}, sets=[["t"]], ordered={"t": "prefix"})
    lower, upper, found = bounds(question, 2.0, "add_remove")
    assert lower**2 / size * (1 - 1e-8) <= published <= upper**2 / size * (1 + 1e-8)
    assert upper <= lower * (1 + 1e-7)
    assert found.status == "solved"


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_one_category_of_each_order_leaves_the_unordered_answer(relation):
    sizes = {"a": 3, "b": 2, "o": 1}
    plain = ln.Marginals(sizes, way=2, outside="extra")
    size = 10 if relation == "substitute" else None
    made = [
        ln.plan(q, budget=ln.zcdp(0.5), relation=relation, size=size).objective
        for q in (
            ln.Marginals(sizes, way=2, ordered={"o": "range"}, outside={"a": 0, "b": 0, "o": 0}),
            ln.Marginals(sizes, way=2, outside={"a": 0, "b": 0, "o": 0}),
        )
    ]
    assert made[0] == pytest.approx(made[1], rel=1e-6)
    assert plain.answers == plain.cells


def test_too_many_categories_are_refused():
    with pytest.raises(PlanError, match="10,000 categories together"):
        ordered_blocks(
            ln.Marginals({"t": 100, "u": 100}, way=2, ordered={"t": "prefix", "u": "prefix"}),
            public=False,
        )
    with pytest.raises(PlanError, match="500,501 answers"):
        ordered_blocks(ln.Marginals({"t": 1000}, way=1, ordered={"t": "range"}), public=False)
    sizes = {f"x{i}": 2 + i for i in range(17)}
    with pytest.raises(PlanError, match="131,072 patterns"):
        solve_ordered(
            ordered_blocks(
                ln.Marginals({"t": 4, **sizes}, way=1, ordered={"t": "prefix"}), public=True
            ),
            2.0,
            1e-6,
        )


def test_range_and_prefix_counts_come_from_their_cells():
    rng = np.random.default_rng(2)
    cells = rng.integers(0, 9, (3, 5, 2)).astype(float)
    for order in ("prefix", "range"):
        rows = answer_rows(order, 5)
        found = answers_along(cells, 1, order)
        assert np.array_equal(found, np.einsum("rk,akb->arb", rows, cells))
    first_last = list(itertools.combinations_with_replacement(range(5), 2))
    assert [np.flatnonzero(r)[[0, -1]].tolist() for r in answer_rows("range", 5)] == [
        list(p) for p in first_last
    ]


def test_a_list_that_is_full_says_so(monkeypatch):
    monkeypatch.setattr(ordered, "_MOST_WORK", 1)
    question = ln.Marginals({"t": 12, "a": 2, "b": 3}, way=2, ordered={"t": "prefix"})
    lower, upper, found = bounds(question, 2.0, "substitute", 1e-9)
    assert "binds" in found.status
    assert 1e-9 < upper / lower - 1 < 0.3
