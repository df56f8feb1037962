# SPDX-License-Identifier: Apache-2.0
"""The least noise for marginals, against the general solver and the published figures."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

import lownoise as ln
from lownoise.certificate.residual import ResidualDual, residual_lower_bound
from lownoise.questions.residuals import largest_cost_up, marginal_orbits
from lownoise.solvers import residual
from lownoise.solvers.residual import solve_residual

ADULT = json.loads((Path(__file__).parents[1] / "data" / "adult-domain.json").read_text())
CASES = {
    "2x3": (ln.Marginals({"a": 2, "b": 3}, way=2)),
    "2x2x2 pairs": (ln.Marginals({"a": 2, "b": 2, "c": 2}, way=2)),
    "2x3x3 weighted": (ln.Marginals({"a": 2, "b": 3, "c": 3}, way=2, weights=[0.3, 2, 1])),
    "chain": (ln.Marginals({"a": 3, "b": 2, "c": 4}, sets=[["a", "b"], ["b", "c"]])),
    "no total": (ln.Marginals({"a": 3, "b": 4, "c": 1}, sets=[["a"], ["b"], ["c"], ["a", "c"]])),
}


def columns(question):
    """Return the workload, a row a cell weighted by √ω, a column a record."""
    sizes = [a.size for a in question.attributes]
    orbits = marginal_orbits(question)
    weight = dict(zip(orbits.asked, orbits.weights.tolist(), strict=True))
    records = list(itertools.product(*map(range, sizes)))
    rows = []
    for chosen in question.sets():
        for cell in itertools.product(*[range(sizes[i]) for i in chosen]):
            row = [all(r[i] == x for i, x in zip(chosen, cell, strict=True)) for r in records]
            rows.append(np.array(row, float) * math.sqrt(weight[orbits.orbit(chosen)]))
    return np.array(rows)


@pytest.mark.parametrize("order", [2.0, 3.0, math.inf])
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("name", CASES)
def test_equals_the_general_solver_on_all_records(name, relation, order):
    question = CASES[name]
    orbits = marginal_orbits(question)
    found = solve_residual(orbits, order, relation, 1e-8)
    lower = residual_lower_bound(found.dual, orbits, order, relation)
    assert largest_cost_up(orbits, found.variances, relation) <= 1 + 1e-9
    V = orbits.cell_variances(found.variances) * orbits.weights
    parts = np.repeat(np.sqrt(V), orbits.cells.astype(int))
    upper = np.linalg.norm(parts, order)
    W = columns(question).T
    body = ln.Points(np.vstack([W, -W]))
    if relation == "substitute":
        body = ln.difference_body(ln.Points(W))
    general = ln.theory.enclose(body, order=order, rtol=1e-8).certificate
    # all cells of a marginal have one variance, so the norms agree
    assert lower <= general.upper * (1 + 1e-9)
    assert general.lower <= upper * (1 + 1e-9)
    assert upper <= lower * (1 + 1e-6)


@pytest.mark.parametrize(
    ("sizes", "published"),
    [
        ([10] * 10, 9.34811084),
        (list(ADULT.values()), 10.66500805),
    ],
)
def test_published_errors_to_every_digit(sizes, published):
    question = ln.Marginals({f"x{i}": n for i, n in enumerate(sizes)}, way=3)
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="add_remove")
    assert round(plan.error / math.sqrt(question.cells), 8) == published
    assert plan.certificate.gap < 1e-9


@pytest.mark.parametrize("order", [2.0, 4.0, math.inf])
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_attributes_that_are_alike_need_one_variable(order, relation):
    """The orbits' answer is that of the same question asked set by set, without exchanges."""
    sizes = {"a": 3, "b": 3, "c": 3, "d": 2}
    question = ln.Marginals(sizes, way=2)
    orbits = marginal_orbits(question)
    names = [question.names(s) for s in question.sets()]
    apart = marginal_orbits(
        ln.Marginals(sizes, sets=names, weights=[1 + 1e-9 * k for k in range(len(names))])
    )
    assert len(apart.asked) == question.count > len(orbits.asked)
    one = solve_residual(orbits, order, relation, 1e-8)
    two = solve_residual(apart, order, relation, 1e-8)
    assert residual_lower_bound(one.dual, orbits, order, relation) == pytest.approx(
        residual_lower_bound(two.dual, apart, order, relation), rel=1e-6
    )


@pytest.mark.parametrize("order", [2.0, 5.0, math.inf])
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_adult_is_solved(order, relation):
    orbits = marginal_orbits(ln.Marginals(ADULT, way=2))
    found = solve_residual(orbits, order, relation, 1e-6)
    lower = residual_lower_bound(found.dual, orbits, order, relation)
    V = orbits.cell_variances(found.variances)
    upper = np.linalg.norm(np.repeat(np.sqrt(V), orbits.cells.astype(int)), order)
    assert lower <= upper <= lower * (1 + 1.1e-6)
    assert found.status == "solved"


def test_many_different_marginals_go_by_a_rule_that_costs_little(monkeypatch):
    monkeypatch.setattr(residual, "_MOST_DENSE", 3)
    orbits = marginal_orbits(ln.Marginals({f"x{i}": 2 + i for i in range(5)}, way=2))
    for order in (4.0, math.inf):
        found = solve_residual(orbits, order, "add_remove", 1e-3)
        lower = residual_lower_bound(found.dual, orbits, order, "add_remove")
        V = orbits.cell_variances(found.variances)
        upper = np.linalg.norm(np.repeat(np.sqrt(V), orbits.cells.astype(int)), order)
        assert lower <= upper <= lower * (1 + 2e-3)


def test_evidence_that_is_no_evidence_proves_nothing():
    orbits = marginal_orbits(CASES["2x3"])
    none = np.zeros((1, 2), dtype=np.int64)
    for cells, chances in (
        (np.full(4, np.nan), np.ones(1)),
        (-np.ones(4), np.ones(1)),
        (np.zeros(4), np.ones(1)),
        (np.ones(4), np.zeros(1)),
    ):
        dual = ResidualDual(cells=cells, patterns=none, chances=chances)
        assert residual_lower_bound(dual, orbits, 2.0, "add_remove") == 0.0


def test_random_evidence_stays_below_the_least():
    rng = np.random.default_rng(4)
    orbits = marginal_orbits(CASES["2x3x3 weighted"])
    best = solve_residual(orbits, 4.0, "substitute", 1e-8)
    least = residual_lower_bound(best.dual, orbits, 4.0, "substitute") * (1 + 1e-6)
    patterns = np.array([[1, 2], [1, 0], [0, 1], [0, 2], [1, 1]])
    for _ in range(200):
        dual = ResidualDual(
            cells=rng.exponential(size=len(orbits.asked)),
            patterns=patterns,
            chances=rng.exponential(size=5),
        )
        assert residual_lower_bound(dual, orbits, 4.0, "substitute") <= least


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_an_interrupt_keeps_the_best_found(relation):
    orbits = marginal_orbits(ln.Marginals(ADULT, way=2))

    def stop(progress):
        if progress.iteration == 2:
            raise KeyboardInterrupt

    found = solve_residual(orbits, math.inf, relation, 1e-9, stop)
    assert "interrupted" in found.status
    assert largest_cost_up(orbits, found.variances, relation) <= 1 + 1e-9


def test_the_number_of_rows_alone_is_public_where_one_changes():
    orbits = marginal_orbits(ln.Marginals({"a": 3}, way=0))
    found = solve_residual(orbits, 2.0, "substitute", 1e-6)
    assert found.variances.tolist() == [0.0]
