# SPDX-License-Identifier: Apache-2.0
"""The least noise with ordered attributes, against the general solver and published figures."""

import itertools
import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.certificate.ordered import OrderedDual, ordered_lower_bound
from lownoise.errors import PlanError
from lownoise.questions.ordered import answer_rows, answers_along
from lownoise.questions.residuals import marginal_orbits, ordered_blocks, ordered_cost_up
from lownoise.solvers import ordered
from lownoise.solvers.ordered import solve_ordered

CASES = {
    "alone": ln.Marginals({"t": 8}, sets=[["t"]], ordered={"t": "prefix"}),
    "with its total": ln.Marginals({"t": 5}, way=1, ordered={"t": "range"}),
    "pairs": ln.Marginals({"a": 2, "t": 4, "b": 3}, way=2, ordered={"t": "prefix"}),
    "not everywhere": ln.Marginals(
        {"t": 4, "a": 2, "b": 2, "c": 2},
        sets=[["t", "a"], ["b", "c"], ["a", "b"]],
        weights=[1.0, 3.0, 0.4],
        ordered={"t": "range"},
    ),
    "two apart": ln.Marginals(
        {"t": 3, "a": 2, "u": 4},
        sets=[["t", "a"], ["u", "a"], ["u"]],
        ordered={"t": "prefix", "u": "prefix"},
    ),
    "two together": ln.Marginals(
        {"t": 3, "a": 2, "u": 3},
        way=2,
        weights=[1, 0.5, 2],
        ordered={"t": "prefix", "u": "range"},
    ),
    "one category": ln.Marginals(
        {"t": 4, "o": 1, "a": 2}, way=2, ordered={"t": "prefix", "o": "range"}
    ),
}


def columns(question):
    """Return the workload, a row an answer weighted by √ω, a column a record."""
    attributes = question.attributes
    orbits = marginal_orbits(question)
    weight = dict(zip(orbits.asked, orbits.weights.tolist(), strict=True))
    rows = []
    for chosen in question.sets():
        parts = [
            answer_rows(a.ordered, a.size) if i in chosen else np.ones((1, a.size))
            for i, a in enumerate(attributes)
        ]
        block = np.ones((1, 1))
        for part in parts:
            block = np.kron(block, part)
        rows.append(block * math.sqrt(weight[orbits.orbit(chosen)]))
    return np.vstack(rows)


def bounds(question, order, relation, rtol=1e-8):
    blocks = ordered_blocks(question, public=relation == "substitute")
    found = solve_ordered(blocks, order, rtol)
    lower = ordered_lower_bound(found.dual, blocks, order)
    assert ordered_cost_up(blocks, found.factors) <= 1 + 1e-9
    own = zip(
        blocks.variances(found.factors), blocks.plain.weights, blocks.plain.cells, strict=True
    )
    parts = np.concatenate([np.repeat(np.sqrt(w * v), int(n)) for v, w, n in own])
    assert parts.size == question.answers
    return lower, float(np.linalg.norm(parts, order)), found


@pytest.mark.parametrize("order", [2.0, 4.0, math.inf])
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("name", CASES)
def test_equals_the_general_solver_on_all_records(name, relation, order):
    question = CASES[name]
    lower, upper, _ = bounds(question, order, relation, 1e-7)
    W = columns(question).T
    body = ln.Points(np.vstack([W, -W]))
    if relation == "substitute":
        body = ln.difference_body(ln.Points(W))
    general = ln.theory.enclose(body, order=order, rtol=1e-7).certificate
    assert upper <= lower * (1 + 1e-6)
    # the best of both sides: one optimum lies between all four
    assert lower <= general.upper * (1 + 1e-9)
    assert general.lower <= upper * (1 + 1e-9)
    assert general.gap < 1e-6


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


def test_a_rule_that_costs_little_serves_where_newton_does_not_fit(monkeypatch):
    question = CASES["pairs"]
    best, _, _ = bounds(question, 4.0, "add_remove")
    monkeypatch.setattr(ordered, "_MOST_DENSE", 3)
    for relation in ("add_remove", "substitute"):
        lower, upper, _ = bounds(question, 4.0, relation, 1e-3)
        assert lower <= upper <= lower * (1 + 2e-3)
        if relation == "add_remove":
            assert lower <= best * (1 + 1e-6) <= upper * (1 + 2e-6)


def test_evidence_that_is_no_evidence_proves_nothing():
    blocks = ordered_blocks(CASES["pairs"], public=False)
    none, pairs = np.zeros((4, 3), dtype=np.int64), np.arange(4)[:, None] * np.ones(2, dtype=int)
    ones = tuple(np.ones(n) for n in blocks.counts)
    for cells, chances in (
        (tuple(np.full(n, np.nan) for n in blocks.counts), np.ones(4)),
        (tuple(-c for c in ones), np.ones(4)),
        (tuple(0 * c for c in ones), np.ones(4)),
        (ones, np.zeros(4)),
        (ones, -np.ones(4)),
    ):
        dual = OrderedDual(cells=cells, patterns=none, pairs=pairs, chances=chances)
        assert ordered_lower_bound(dual, blocks, 2.0) == 0.0
    dual = OrderedDual(cells=ones, patterns=none, pairs=pairs, chances=np.ones(4))
    assert ordered_lower_bound(dual, blocks, 2.0) > 0


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
@pytest.mark.parametrize("name", ["two together", "not everywhere"])
def test_random_evidence_stays_below_the_least(name, order, relation):
    rng = np.random.default_rng(4)
    blocks = ordered_blocks(CASES[name], public=relation == "substitute")
    _, least, _ = bounds(CASES[name], order, relation)
    for _ in range(60):
        k = int(rng.integers(1, 30))
        pairs = rng.integers(0, blocks.categories, (k, 2))
        patterns = rng.integers(0, blocks.plain.members + 1, (k, blocks.plain.members.size))
        if relation == "add_remove":
            pairs[:, 1], patterns = pairs[:, 0], 0 * patterns
        dual = OrderedDual(
            cells=tuple(rng.exponential(size=n) for n in blocks.counts),
            patterns=patterns,
            pairs=pairs,
            chances=rng.exponential(size=k),
        )
        assert ordered_lower_bound(dual, blocks, order) <= least * (1 + 1e-9)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_an_interrupt_keeps_what_was_found(relation):
    blocks = ordered_blocks(CASES["pairs"], public=relation == "substitute")

    def stop(progress):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    found = solve_ordered(blocks, math.inf, 1e-9, stop)
    assert "interrupted" in found.status
    assert ordered_cost_up(blocks, found.factors) <= 1 + 1e-9
    assert ordered_lower_bound(found.dual, blocks, math.inf) > 0


def test_the_number_of_rows_alone_is_public_where_one_changes():
    question = ln.Marginals({"t": 3}, way=0, ordered={"t": "prefix"})
    found = solve_ordered(ordered_blocks(question, public=True), 2.0, 1e-6)
    assert found.factors == ()


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
