# SPDX-License-Identifier: Apache-2.0
"""Every bound that a plan states: below every mechanism's error, and below the best one's."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

import lownoise as ln
from lownoise.bounds import every, geometric_down
from lownoise.certificate import PointDual
from lownoise.numbers.hadamard import hadamard_order
from lownoise.privacy import ApproxDP
from lownoise.release.lower_bounds import approximate_bounds, pure_bounds, unbiased_bounds

CORNERS = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
DOMAINS = {
    "box": ln.Box([0, 0, 0], [1, 2, 0.1]),
    "ball": ln.Ball(3),
    "octahedron": ln.Ball(3, order=1),
    "list": ln.Points([[0, 0, 0], [1, 0, 0.3], [0, 1, 0], [0.5, 0.2, 1]]),
    "flat": ln.Box([0, 0, 1], [1, 1, 1]),
}
RELATIONS = {
    "substitute": {"relation": "substitute", "size": 400},
    "few": {"relation": "substitute", "size": 3},
    "add_remove": {"relation": "add_remove"},
    "changes": {"relation": ln.Box([-0.05, -0.04, 0], [0.05, 0.04, 0.01]), "size": 400},
}
BUDGETS = [ln.pure_dp(0.2), ln.pure_dp(3.0), ln.approx_dp(1.0, 1e-6)]
ASKED = [
    (domain, relation, budget, order)
    for i, (domain, relation) in enumerate(itertools.product(DOMAINS, RELATIONS))
    if relation != "changes" or domain in ("box", "ball")
    for budget, order in zip(BUDGETS, np.roll([2.0, 3.0, math.inf], i).tolist(), strict=True)
]


def plan(domain, relation, budget, order):
    asked = {**RELATIONS[relation]}
    if relation == "changes" and domain == "ball":
        asked["relation"] = ln.Ball(3, radius=0.05)
    mean = ln.Mean(["a", "b", "c"], DOMAINS[domain])
    return ln.plan(mean, budget=budget, order=order, **asked)


@pytest.mark.grid(1)
@pytest.mark.parametrize(("domain", "relation", "budget", "order"), ASKED)
def test_no_mechanism_that_was_compared_is_below_any_bound(domain, relation, budget, order):
    made = plan(domain, relation, budget, order)
    taken = [own for own in made.comparison if own.error is not None]
    errors = {own.mechanism: own.terms.error for own in taken}
    pure = min(error for name, error in errors.items() if name not in ("gaussian", "radial"))
    bounds = made.bounds
    assert made.lower_bound == bounds[0].value == max(own.value for own in bounds)
    for own in bounds:
        least = min(errors.values()) if str(budget) in own.binds else pure
        assert 0 < own.value <= least * (1 + 1e-12)
    # whom each binds: all ε-DP mechanisms or the unbiased ones, and those within (ε, δ); and, where
    # changes have a ball among them, those that add noise
    bounds = [own for own in bounds if "adds noise" not in own.binds]
    assert len(made.bounds) - len(bounds) <= 1
    some = [own for own in bounds if own.over == "some table"]
    assert all("biased or not" in own.binds for own in some)
    kinds = 4 if isinstance(budget, ApproxDP) and made.cost.delta == 0 else 2
    assert len(bounds) <= kinds
    assert len(bounds) == kinds or relation == "few"


def least_on_some_table(epsilon, size):
    """Return the least of the greatest root mean square error of the sum of records of two bits.

    Biased or not: unknown are the chances of answers on each table of `size` corners, and the
    greatest mean square. Answers are of a grid, so all mechanisms together do no worse.
    """
    tables = list(itertools.combinations_with_replacement(range(4), size))
    truths = np.array([np.sum([CORNERS[i] for i in table], axis=0) for table in tables])
    one = np.linspace(0, size, 2 * size + 1)
    answers = np.array(list(itertools.product(one, one)))
    t, r = len(tables), len(answers)
    beside = [
        (i, j)
        for i, j in itertools.permutations(range(t), 2)
        if sum(max(tables[i].count(k) - tables[j].count(k), 0) for k in range(4)) == 1
    ]
    rows, cols, data = [], [], []
    for k, (i, j) in enumerate(beside):
        rows += [*range(k * r, k * r + r)] * 2
        cols += [*range(i * r, i * r + r), *range(j * r, j * r + r)]
        data += [1.0] * r + [-math.exp(epsilon)] * r
    start = len(beside) * r
    square = np.sum((answers[None] - truths[:, None]) ** 2, axis=2)
    for i in range(t):
        rows += [start + i] * (r + 1)
        cols += [*range(i * r, i * r + r), t * r]
        data += [*square[i], -1.0]
    above = coo_array((data, (rows, cols)), shape=(start + t, t * r + 1))
    sums = coo_array((np.ones(t * r), (np.repeat(np.arange(t), r), np.arange(t * r))))
    sums.resize((t, t * r + 1))
    cost = np.append(np.zeros(t * r), 1.0)
    solved = linprog(
        cost, A_ub=above, b_ub=np.zeros(start + t), A_eq=sums, b_eq=np.ones(t), method="highs"
    )
    assert solved.status == 0, solved.message
    return math.sqrt(solved.fun)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_the_best_mechanism_of_a_few_bits_is_above_the_bound(epsilon):
    mean = ln.Mean(["a", "b"], ln.Box([0, 0], [1, 1]))
    made = ln.plan(
        mean,
        budget=ln.pure_dp(epsilon),
        relation="substitute",
        size=2,
        mechanism="laplace",
    )
    (bound,) = (own.value * 2 for own in made.bounds if own.over == "some table")
    best = least_on_some_table(epsilon, size=2)
    assert 0.7 * best < bound <= best * (1 + 1e-7)


@pytest.mark.grid(1)
@pytest.mark.parametrize(("d", "least"), [(4, 0.00474), (8, 0.00856), (16, 0.01447)])
def test_corners_of_a_box_prove_more_than_its_widths(d, least):
    mean = ln.Mean([f"x{i}" for i in range(d)], ln.Box([0] * d, [1] * d))
    made = ln.plan(mean, budget=ln.pure_dp(1), relation="substitute", size=1000)
    (bound,) = (own.value for own in made.bounds if own.over == "some table")
    assert least < bound <= made.lower_bound < made.error


def paley(q):
    """Return the signs of q's Legendre symbols, bordered: q + 1 orthogonal rows."""
    squares = {k * k % q for k in range(1, q)}
    own = np.ones((q + 1, q + 1))
    own[0, 0] = 0
    for i, j in itertools.product(range(q), repeat=2):
        own[i + 1, j + 1] = 0 if i == j else 1 if (i - j) % q in squares else -1
    if q % 4 == 1:
        flip = np.array([[1, -1], [-1, -1]])
        return np.kron(own, [[1, 1], [1, -1]]) + np.kron(np.eye(q + 1), flip)
    own[1:, 0] = -1
    return own + np.eye(q + 1)


def test_a_matrix_of_signs_has_each_order_that_is_named():
    parts = {1: np.ones((1, 1)), 2: np.array([[1, 1], [1, -1]])}
    for q in (3, 5, 7, 11, 13, 17, 19, 23, 31, 43, 47, 59):
        parts.setdefault(len(paley(q)), paley(q))
    for _ in range(3):
        both = itertools.product(list(parts.items()), repeat=2)
        parts |= {m * n: np.kron(a, b) for (m, a), (n, b) in both if m * n <= 64}
    for d in range(1, 61):
        own = parts[m := hadamard_order(d)]
        assert d <= m < d + 8
        assert np.all(np.abs(own) == 1)
        assert np.array_equal(own @ own.T, m * np.eye(m))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_a_theorem_is_one_constant_on_the_least_noise(epsilon):
    asked = {"alone": True, "where": "any dataset", "most": math.inf}
    pure = pure_bounds(2.0, epsilon, **asked)
    assert [own.value for own in pure] == pytest.approx(
        [2 * geometric_down(epsilon), 1 / math.sinh(epsilon / 2)], rel=1e-12
    )
    budget = ln.approx_dp(epsilon, 1e-7)
    within = approximate_bounds(2.0, budget, dimension=3, **asked)
    gaussian = unbiased_bounds(2.0, budget, dimension=3, **asked)
    assert [own.value for own in gaussian[-len(within) :]] == [own.value for own in within]
    most = {own.over: own.value for own in within}
    assert most["some table"] == pytest.approx(2 * every.every_approx(epsilon, 1e-7), rel=1e-12)
    assert all(own.value < pure[0].value for own in within)  # who may leave δ out has less to keep
    assert not pure_bounds(0.0, epsilon, **asked)
    unknown = pure_bounds(2.0, epsilon, **{**asked, "most": 0.0})
    assert [own.over for own in unknown] == ["any dataset"]


def test_changes_without_room_bind_nobody():
    box = ln.Mean(["a", "b"], ln.Box([0, 0], [1, 1]))
    wide, narrow = (
        ln.plan(box, budget=ln.pure_dp(1), relation=ln.Box([-w, -w], [w, w]), size=500)
        for w in (1.5, 0.5)
    )
    assert wide.bounds == ()
    assert wide.lower_bound == 0.0
    assert {own.over for own in narrow.bounds} == {
        "some table",
        "a table with a row that has room in its domain for every change",
    }
    # the same changes as of a box of that width
    half = ln.Mean(["a", "b"], ln.Box([0, 0], [0.5, 0.5]))
    same = ln.plan(half, budget=ln.pure_dp(1), relation="substitute", size=500)
    some = [own.value for own in narrow.bounds if own.over == "some table"]
    assert 0.9 * same.lower_bound < some[0] <= same.lower_bound * (1 + 1e-9)


def test_evidence_on_pairs_needs_records_for_each_pair():
    ones = np.ones(4)
    body = ln.Points(np.eye(4)).differences(np.arange(4), ones)
    pairs, few = (
        PointDual(np.arange(4), weights, ones, independent=True).points_needed(body, 4)
        for weights in (ones, np.array([1.0, 1.0, 1.0, 0.0]))
    )
    assert (pairs, few) == (6, 3)
    every_pair = np.stack(np.triu_indices(4, 1), axis=1)
    assert PointDual(every_pair, np.ones(6), ones).points_needed(body, 4) == 6
    assert PointDual(every_pair, np.ones(6), ones).points_needed(body, 1) == 2  # Carathéodory
