# SPDX-License-Identifier: Apache-2.0
"""Newton's method: every iterate brackets the optimum, and few are needed."""

import math
from itertools import islice

import numpy as np
import pytest
from tests.references import fixed_point

from cases import ORDERS
from lownoise.certificate import order_norm
from lownoise.solvers.newton import ListedVertices, Problem, newton, objective

every_order = pytest.mark.parametrize("order", ORDERS)


def start(problem, vertices, seed):
    rng = np.random.default_rng(seed)
    return newton(
        ListedVertices(problem, vertices),
        rng.dirichlet(np.ones(len(vertices))) + 1e-6,
        rng.dirichlet(np.ones(problem.count)) + 1e-3,
    )


@pytest.mark.grid(3)
@every_order
@pytest.mark.parametrize("moves", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_every_iterate_brackets_and_few_are_needed(order, moves, seed):
    rng = np.random.default_rng(seed)
    vertices, queries = rng.normal(size=(12, 3)) + 1, rng.normal(size=(5, 3))
    problem = Problem(queries=queries, order=order, moves=moves, floor=1e-10)
    iterates = list(islice(start(problem, vertices, seed), 30))
    lower = max(i.lower for i in iterates)
    upper = min(i.objective * i.radius for i in iterates)
    assert all(i.lower <= upper * (1 + 1e-12) for i in iterates)
    assert all(lower <= i.objective * i.radius * (1 + 1e-12) for i in iterates)
    assert min(i.gap for i in iterates[:20]) < 1e-6
    slow = fixed_point(vertices, queries=queries, order=order, centered=not moves, rtol=1e-4)
    assert slow.lower <= upper * (1 + 1e-9)
    assert lower <= slow.upper * (1 + 1e-9)


@every_order
def test_the_bounds_of_an_iterate_are_what_they_say(order):
    rng = np.random.default_rng(4)
    vertices, queries = rng.normal(size=(9, 3)), rng.normal(size=(6, 3))
    problem = Problem(queries=queries, order=order, moves=True, floor=1e-10)
    iterate = next(islice(start(problem, vertices, 0), 3, None))
    M = iterate.state.factor() @ iterate.state.factor().T
    about = vertices - iterate.weights @ vertices / np.sum(iterate.weights)
    reach = math.sqrt(np.max(np.sum((about @ np.linalg.inv(M)) * about, axis=1)))
    deviations = np.sqrt(np.sum((queries @ M) * queries, axis=1))
    assert iterate.radius == pytest.approx(reach)
    assert iterate.objective == pytest.approx(order_norm(deviations, order))
    c = iterate.roots**problem.exponent
    rows = np.sqrt(iterate.weights)[:, None] * about @ queries.T * np.sqrt(c)
    q = math.inf if order == 2 else 1 / problem.exponent
    mass = np.sum(iterate.weights) * order_norm(c, q)
    value = np.sum(np.linalg.svd(rows, compute_uv=False))
    assert iterate.lower == pytest.approx(value / math.sqrt(mass))


@pytest.mark.parametrize("order", [3.0, math.inf])
def test_a_warm_start_is_quicker_and_a_floor_is_no_obstacle(order):
    rng = np.random.default_rng(5)
    vertices = rng.normal(size=(20, 4)) * [1, 0.1, 0.01, 1e-3]
    problem = Problem(queries=np.ones(4), order=order, moves=True, floor=1e-7)
    last = next(islice(start(problem, vertices, 0), 25, None))
    roots = np.maximum(last.roots, problem.floor / 4)
    roots[3] = problem.floor / 4  # no room that floats can tell
    again = newton(ListedVertices(problem, vertices), last.weights, roots, 1e-9)
    assert min(i.gap for i in islice(again, 8)) < 1e-6


def test_at_two_the_query_weights_are_of_no_use():
    problem = Problem(queries=np.ones(2), order=2.0, moves=False, floor=1e-7)
    iterate = next(newton(ListedVertices(problem, np.eye(2)), np.ones(2) / 2, np.array([0.9, 0.1])))
    assert problem.exponent == 0.0
    assert iterate.lower == pytest.approx(2 / math.sqrt(2))


@every_order
def test_the_objective_is_the_norm_of_the_deviations(order):
    variances = np.array([4.0, 1e-30, 9.0])
    assert objective(variances, order) == pytest.approx(order_norm(np.sqrt(variances), order))
    assert objective(0 * variances, order) == 0.0
    assert objective(1e-300 * variances, order) > 0
