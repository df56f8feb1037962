# SPDX-License-Identifier: Apache-2.0
"""A part of the points gives the ellipsoid of all their differences."""

import math

import numpy as np
import pytest

import lownoise as ln
from lownoise.solvers import points as points_solver
from lownoise.solvers.generation import generate
from lownoise.solvers.newton import Problem
from lownoise.solvers.points import generate_growing
from lownoise.solvers.pricing import PairVertices

RNG = np.random.default_rng(7)


def clusters(n, r, spread):
    centers = RNG.standard_normal((9, r))
    return centers[RNG.integers(0, 9, n)] + spread * RNG.standard_normal((n, r))


def sphere(n, r):
    points = RNG.standard_normal((n, r))
    return points / np.linalg.norm(points, axis=1)[:, None]


CLOUDS = {
    "normal": RNG.standard_normal((400, 4)),
    "sphere": sphere(400, 5),
    "clusters": clusters(400, 4, 0.02),
    "signs": np.unique(RNG.choice([-1.0, 1.0], (400, 8)), axis=0),
    "scales": RNG.standard_normal((400, 3)) * [1e5, 1, 1e-5] + 1e6,
    "twins": np.repeat(RNG.standard_normal((60, 3)), 5, axis=0) + 1e-9 * RNG.random((300, 3)),
    "heavy tails": RNG.standard_t(1.5, (400, 4)),
}


def problem(r, order):
    return Problem(queries=np.eye(r), order=order, moves=False, floor=1e-7)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(points_solver, "_START", 40)
    monkeypatch.setattr(points_solver, "_JOIN", 15)
    monkeypatch.setattr(points_solver, "_ENOUGH", 25)


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("name", "order"), [*((name, 2.0) for name in CLOUDS), ("sphere", math.inf), ("twins", 3.0)]
)
def test_it_is_the_optimum_over_all_pairs(name, order, small_parts):
    points = CLOUDS[name]
    asked = problem(points.shape[1], order)
    found = generate_growing(asked, points, rtol=1e-6)
    assert found.status == "solved"
    assert found.upper <= found.lower * (1 + 1e-6)
    best = generate(asked, PairVertices(points), rtol=1e-8)
    assert found.lower <= best.upper * (1 + 1e-9)
    assert found.upper >= best.lower * (1 - 1e-9)
    # every pair, one by one: nothing of the scan's own sums
    image = np.linalg.solve(found.factor, (points - points[0]).T).T
    longest = max(float(np.max(np.sum((image - own) ** 2, axis=1))) for own in image)
    assert 1 - 1e-5 <= longest <= 1 + 1e-6
    assert np.all(found.weights > 0)
    differences = points[found.indices[:, 0]] - points[found.indices[:, 1]]
    if order == 2:  # tr √M of the evidence, which the certificate computes too
        moment = differences.T @ (found.weights[:, None] * differences)
        bound = float(np.sum(np.sqrt(np.maximum(np.linalg.eigvalsh(moment), 0))))
        assert bound >= found.lower * (1 - 1e-6)


def test_the_bounds_that_are_told_hold_for_all_pairs(small_parts):
    points, told = CLOUDS["sphere"], []
    found = generate_growing(problem(5, 2.0), points, rtol=1e-6, progress=told.append)
    best = generate(problem(5, 2.0), PairVertices(points), rtol=1e-9)
    assert told[0].upper == math.inf
    assert all(p.lower <= best.upper * (1 + 1e-9) for p in told)
    assert all(p.upper >= best.lower * (1 - 1e-9) for p in told)
    assert [p.iteration for p in told] == list(range(1, found.iterations + 1))


@pytest.mark.parametrize("step", [1, 2, 30])
def test_an_interrupt_leaves_an_ellipsoid_of_all_pairs(step, small_parts):
    points = CLOUDS["sphere"]

    def stop(progress):
        if progress.iteration == step:
            raise KeyboardInterrupt

    found = generate_growing(problem(5, 2.0), points, rtol=1e-6, progress=stop)
    assert found.status.startswith("interrupted")
    image = np.linalg.solve(found.factor, points.T).T
    assert max(float(np.max(np.sum((image - own) ** 2, axis=1))) for own in image) <= 1 + 1e-9


def test_an_interrupted_pass_leaves_an_ellipsoid_of_all_pairs(small_parts, monkeypatch):
    points = CLOUDS["sphere"]
    real, calls, stops = points_solver.farthest_pairs, [], set()

    def stopped(*arguments, **options):
        calls.append(1)
        if len(calls) in stops:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(points_solver, "farthest_pairs", stopped)
    for stop in (1, 2):
        calls.clear()
        stops.clear()
        stops.add(stop)
        found = generate_growing(problem(5, 2.0), points, rtol=1e-6)
        assert found.status.startswith("interrupted")
        image = np.linalg.solve(found.factor, points.T).T
        assert max(float(np.max(np.sum((image - own) ** 2, axis=1))) for own in image) <= 1 + 1e-9


def test_queries_under_substitute_with_many_records_are_planned_and_verified():
    W = np.concatenate([RNG.standard_normal((8, 9000)), np.ones((1, 9000))])
    question = ln.Queries(W, {"x": 9000}, outside={"x": 0})
    plan = ln.plan(question, budget=ln.zcdp(0.5), relation="substitute", size=50)
    assert plan.status == "solved"
    assert plan.certificate.gap < 2e-6
    assert plan.verify()
