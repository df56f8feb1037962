# SPDX-License-Identifier: Apache-2.0
"""What noise on residual spaces reveals, against covariances that are written out."""

import itertools
import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.errors import PlanError
from lownoise.sensitivity.residuals import (
    PatternCosts,
    TableChanges,
    cost,
    marginal_orbits,
    relaxed,
)
from lownoise.sensitivity.residuals.orbits import _interchangeable

QUESTIONS = {
    "three of two": ln.Marginals({"a": 2, "b": 2, "c": 2}, way=2),
    "different sizes": ln.Marginals({"a": 2, "b": 3, "c": 4}, way=3),
    "some sets": ln.Marginals({"a": 3, "b": 3, "c": 2, "d": 1}, sets=[["a", "b"], ["c"], ["d"]]),
    "weighted": ln.Marginals({"a": 3, "b": 3, "c": 3}, way=2, weights=[1.0, 5.0, 0.1]),
}


def spaces(question):
    """Return (set, orbit's place) of every residual space, by looking at all sets."""
    orbits = marginal_orbits(question)
    sizes = [a.size for a in question.attributes]
    inside = {
        c for s in question.sets() for k in range(len(s) + 1) for c in itertools.combinations(s, k)
    }
    kept = [c for c in sorted(inside) if all(sizes[i] > 1 for i in c)]
    return orbits, [(c, orbits.place[orbits.orbit(c)]) for c in kept]


def precision(question, variances):
    """Return Σ_A P_A/σ_A² over the cells of all attributes, P_A the residual projection."""
    orbits, found = spaces(question)
    total = 0.0
    for chosen, place in found:
        block = np.ones((1, 1))
        for i, attribute in enumerate(question.attributes):
            n = attribute.size
            own = np.eye(n) - 1 / n if i in chosen else np.ones((n, n))
            block = np.kron(block, own)
        total = total + block / variances[place]
    return orbits, total


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_the_cost_is_the_largest_distance_between_records(name, relation):
    question = QUESTIONS[name]
    rng = np.random.default_rng(3)
    orbits = marginal_orbits(question)
    variances = rng.uniform(0.3, 4, len(orbits.residuals))
    _, matrix = precision(question, variances)
    if relation == "add_remove":
        expected = np.max(np.diag(matrix))
        assert np.ptp(np.diag(matrix)) < 1e-12
    else:
        square = np.diag(matrix)
        expected = np.max(square[:, None] + square - 2 * matrix)
    found = TableChanges(orbits, relation).cost_up(variances)
    assert expected * (1 - 1e-13) <= found <= expected * (1 + 1e-10)


def test_a_relation_by_another_name_costs_the_same_and_one_of_no_name_is_refused():
    orbits = marginal_orbits(QUESTIONS["weighted"])
    variances = np.ones(len(orbits.residuals))
    for ours, others in {"add_remove": ["unbounded"], "substitute": ["bounded"]}.items():
        expected = TableChanges(orbits, ours).cost_up(variances)
        assert [TableChanges(orbits, other).cost_up(variances) for other in others] == [expected]
    with pytest.raises(PlanError, match="relation='swap' is unknown"):
        TableChanges(orbits, "swap").cost_up(variances)


def test_no_noise_costs_everything():
    orbits = marginal_orbits(QUESTIONS["different sizes"])
    variances = np.ones(len(orbits.residuals))
    variances[3] = 0.0
    for relation in ("add_remove", "substitute"):
        assert TableChanges(orbits, relation).cost_up(variances) == math.inf
    # the number of records does not move where one becomes another
    variances = np.ones(len(orbits.residuals))
    variances[0] = 0.0
    assert math.isfinite(TableChanges(orbits, "substitute").cost_up(variances))


@pytest.mark.parametrize("seed", range(5))
def test_branches_bound_what_looking_at_all_patterns_finds(seed):
    rng = np.random.default_rng(seed)
    question = ln.Marginals({f"x{i}": 2 + int(rng.integers(5)) for i in range(9)}, way=3)
    costs = PatternCosts(marginal_orbits(question))
    rates = np.where(costs.most > 0, rng.uniform(0.1, 3, costs.most.size), 0.0)
    exact, best = costs._all(rates)
    pattern, bound = costs._branches(rates)
    assert best * (1 - 1e-12) <= bound <= best * (1 + 1e-9)
    assert costs.at(pattern)[0] @ rates == pytest.approx(best, rel=1e-12)
    assert costs.at(exact[:1])[0] @ rates == pytest.approx(best, rel=1e-12)


def test_branches_that_are_cut_short_still_bound(monkeypatch):
    rng = np.random.default_rng(1)
    question = ln.Marginals({f"x{i}": 2 + i for i in range(12)}, way=3)
    costs = PatternCosts(marginal_orbits(question))
    rates = np.where(costs.most > 0, rng.uniform(0.1, 3, costs.most.size), 0.0)
    _, best = costs._all(rates)
    monkeypatch.setattr(cost, "_PARTS", 1)
    pattern, bound = costs._branches(rates)
    assert costs.at(pattern)[0] @ rates <= best * (1 + 1e-12)
    assert bound > best * (1 + 1e-6)


def test_exchangeable_attributes_are_those_whose_exchange_changes_nothing():
    sets = [(0, 1), (1, 2), (2, 3), (3, 0)]  # a square: no two corners alike but the opposite ones
    assert _interchangeable([4, 4, 4, 4], sets, [1.0] * 4) == [0, 1, 0, 1]
    assert _interchangeable([4, 4, 5, 4], sets, [1.0] * 4) == [0, 1, 2, 1]
    assert _interchangeable([4, 4, 4, 4], sets, [1.0, 2.0, 1.0, 1.0]) == [0, 1, 2, 3]
    every = list(itertools.combinations(range(5), 2))
    assert _interchangeable([3] * 5, every, [2.0] * len(every)) == [0] * 5


@pytest.mark.parametrize("name", QUESTIONS)
def test_orbits_and_sets_count_the_same_cells(name):
    question = QUESTIONS[name]
    orbits = marginal_orbits(question)
    assert orbits.cells.sum() == question.cells
    listed = ln.Marginals(
        {a.name: a.size for a in question.attributes},
        sets=[question.names(s) for s in question.sets()],
    )
    assert sum(marginal_orbits(listed).copies(o) for o in marginal_orbits(listed).asked) == (
        question.count
    )


RELAXED = {
    "thirteen sizes": ln.Marginals({f"x{i}": 2 + i for i in range(13)}, way=3),
    "pairs": ln.Marginals({f"x{i}": 2 + i for i in range(16)}, way=2),
    "pairs of types": ln.Marginals({f"x{i}": 2 + i // 2 for i in range(14)}, way=3),
    "one category": ln.Marginals({f"x{i}": 1 + i for i in range(12)}, way=3),
    "some sets": ln.Marginals(
        {f"x{i}": 2 + i % 4 for i in range(14)},
        sets=[[f"x{i}" for i in {j, (j + 1) % 14, (3 * j + 5) % 14}] for j in range(14)],
    ),
    "singles": ln.Marginals({f"x{i}": 2 + i for i in range(12)}, way=1),
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("rates_of", ["random", "wild", "one", "none"])
@pytest.mark.parametrize("name", RELAXED)
def test_the_relaxation_bounds_what_looking_at_all_patterns_finds(name, rates_of, monkeypatch):
    rng = np.random.default_rng(5)
    orbits = marginal_orbits(RELAXED[name])
    costs = PatternCosts(orbits)
    r = costs.most.size
    rates = {
        "random": rng.uniform(0.1, 3, r),
        "wild": 10.0 ** rng.uniform(-6, 6, r),
        "one": np.ones(r),
        "none": np.where(np.arange(r) == r - 1, 1.0, 0.0),
    }[rates_of]
    _, best = costs._all(np.where(costs.most > 0, rates, 0.0))
    monkeypatch.setattr(cost, "_WHOLE", 0)
    patterns, bound = costs.worst(rates)
    found = costs.at(patterns) @ np.where(costs.most > 0, rates, 0.0)
    assert best * (1 - 1e-12) <= bound <= best * 1.08
    assert 1 <= costs.worst(rates * (1 + 1e-3))[1] / bound <= 1.1
    assert np.all(found <= best * (1 + 1e-12))
    assert found[0] == pytest.approx(found.max(), rel=1e-12)
    assert found[0] >= best * (1 - 1e-3)
    assert np.array_equal(costs.costly(rates), patterns)


def test_the_relaxation_holds_however_badly_it_is_tuned(monkeypatch):
    # its parts are heuristics: none of them may make the bound false
    orbits = marginal_orbits(RELAXED["thirteen sizes"])
    costs = PatternCosts(orbits)
    rng = np.random.default_rng(6)
    for seed in range(20):
        rates = np.where(costs.most > 0, 10.0 ** rng.uniform(-1, 1, costs.most.size), 0.0)
        total = float(rates @ orbits.trace)
        exact = total - costs._all(rates)[1] / 2
        loose = relaxed.Relaxed(orbits)
        with monkeypatch.context() as patch:
            patch.setattr(relaxed, "_SWEEPS", int(rng.integers(0, 4)))
            patch.setattr(relaxed, "_POWERS", int(rng.integers(0, 4)))
            if seed % 2:  # far from semidefinite
                patch.setattr(relaxed, "_shift", lambda m: rng.uniform(0, 1, len(m)))
            start = rng.integers(0, 2, 13).astype(float)
            assert loose.least(rates, start) <= exact * (1 - np.sign(exact) * 1e-12)


def test_large_sets_are_bounded_by_parts():
    orbits = marginal_orbits(ln.Marginals({f"x{i}": 2 + i for i in range(5)}, way=4))
    assert relaxed.relaxed(orbits) is None


@pytest.mark.parametrize("name", ["thirteen sizes", "pairs", "pairs of types"])
def test_the_relaxation_alone_is_near(name):
    orbits = marginal_orbits(RELAXED[name])
    costs = PatternCosts(orbits)
    loose = relaxed.Relaxed(orbits)
    for rates in (np.random.default_rng(7).uniform(0.5, 2, costs.most.size), 1 / orbits.trace):
        kept = np.where(costs.most > 0, rates, 0.0)
        _, best = costs._all(kept)
        least = loose.least(kept, loose.search(kept)[0])
        assert 2 * (kept @ orbits.trace - least) <= best * 1.035


def test_what_is_not_semidefinite_is_paid_for():
    rng = np.random.default_rng(8)
    matrix = rng.standard_normal((9, 9))
    matrix += matrix.T
    near, paid = relaxed._positive(matrix)
    assert np.linalg.eigvalsh(near)[0] > -1e-12
    signs = rng.choice([-1.0, 1.0], (1000, 9))
    form = np.einsum("ki,ij,kj->k", signs, matrix - near, signs)
    assert np.min(form) >= -paid
    assert paid > 1


@pytest.mark.parametrize("shift", [0.0, 10.0])
def test_the_least_quadratic_is_below_all_of_them(shift, monkeypatch):
    # with eigenvalues that say too little, what is missing is paid for
    rng = np.random.default_rng(9)
    C = rng.standard_normal((10, 10))
    C = np.triu(C, 1) + np.triu(C, 1).T
    c = rng.standard_normal(10)
    points = np.array(list(itertools.product([0.0, 1.0], repeat=10)))
    exact = np.min(points @ c + np.einsum("ki,ij,kj->k", points, C, points) / 2)
    monkeypatch.setattr(relaxed, "_SWEEPS", 0)
    monkeypatch.setattr(relaxed, "_BLOCKS", 1)
    if shift:
        true = np.linalg.eigvalsh
        monkeypatch.setattr(np.linalg, "eigvalsh", lambda m: true(m) + shift)
    found, _ = relaxed._least_quadratic(c, C, None)
    assert exact - 60 <= found <= exact
