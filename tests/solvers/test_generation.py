# SPDX-License-Identifier: Apache-2.0
"""Column generation: as good as with all vertices listed, and honest where it is cut short."""

import itertools
import math

import numpy as np
import pytest

from lownoise.solvers import SOLVED
from lownoise.solvers.generation import generate
from lownoise.solvers.newton import Problem
from lownoise.solvers.points import kinds_of_weights
from lownoise.solvers.pricing import PairVertices, PointVertices

ORDERS = (2.0, 3.0, math.inf)
every_order = pytest.mark.parametrize("order", ORDERS)


def problem(r, order, *, moves=True):
    return Problem(queries=np.ones(r), order=order, moves=moves, floor=1e-10)


class Listed(PointVertices):
    """All vertices at once."""

    def first(self, wanted):
        return np.arange(self.count)


def covered(outcome, points):
    center = outcome.cover_weights @ points[outcome.cover_indices]
    image = np.linalg.solve(outcome.factor, (points - center).T)
    return math.sqrt(np.max(np.sum(image**2, axis=0)))


@pytest.mark.grid
@every_order
@pytest.mark.parametrize("moves", [True, False])
def test_a_few_vertices_are_as_good_as_all(order, moves):
    points = np.random.default_rng(0).standard_t(4, size=(400, 4))
    part = generate(problem(4, order, moves=moves), PointVertices(points, moves=moves), rtol=1e-8)
    whole = generate(problem(4, order, moves=moves), Listed(points, moves=moves), rtol=1e-8)
    assert part.status == whole.status == SOLVED
    assert part.lower <= whole.upper
    assert whole.lower <= part.upper
    assert part.indices.size < 150
    assert np.sum(part.weights) == pytest.approx(1)
    if moves:
        assert covered(part, points) <= 1 + 1e-9


@every_order
def test_pairs_are_never_all_listed(order):
    points = np.random.default_rng(1).normal(size=(60, 3))
    pairs = generate(problem(3, order, moves=False), PairVertices(points), rtol=1e-8)
    i, j = np.triu_indices(60, 1)
    whole = Listed(points[i] - points[j], moves=False)
    formed = generate(problem(3, order, moves=False), whole, rtol=1e-8)
    assert pairs.status == SOLVED
    assert pairs.lower <= formed.upper
    assert formed.lower <= pairs.upper
    assert len(pairs.indices) < 300


@pytest.mark.grid(3)
@every_order
@pytest.mark.parametrize("most", [1, 2, 5])
@pytest.mark.parametrize("kind", ["few", "many", "pairs"])
def test_too_few_steps_still_bracket_and_say_so(order, most, kind):
    points = np.random.default_rng(2).normal(size=(10 if kind == "few" else 200, 3))
    moves = kind != "pairs"
    vertices = PointVertices(points, moves=True) if moves else PairVertices(points)
    short = generate(problem(3, order, moves=moves), vertices, rtol=1e-9, most=most)
    done = generate(problem(3, order, moves=moves), vertices, rtol=1e-9)
    assert short.iterations == most
    assert short.status.startswith("stopped at the greatest number of steps; ")
    assert short.status != done.status
    assert 0 < short.lower <= done.upper * (1 + 1e-12)
    assert done.lower <= short.upper * (1 + 1e-12) < math.inf
    if moves:
        assert covered(short, points) <= 1 + 1e-9


@pytest.mark.grid(3)
@pytest.mark.parametrize("step", range(1, 12))
def test_an_interrupt_at_any_step_leaves_a_cover(step):
    """The best lower bound may be of a list of vertices that is gone."""
    points = np.random.default_rng(3).normal(size=(700, 4))
    done = generate(problem(4, 2.0), PointVertices(points, moves=True), rtol=1e-9)

    def stop(progress):
        if progress.iteration == step:
            raise KeyboardInterrupt

    found = generate(problem(4, 2.0), PointVertices(points, moves=True), rtol=1e-9, progress=stop)
    assert found.iterations == step
    assert covered(found, points) <= 1 + 1e-9
    assert found.lower <= done.upper
    assert done.lower <= found.upper < math.inf


@every_order
def test_vertices_of_few_kinds_are_weighed_at_once_as_well_as_one_by_one(order):
    """One-hot rows without their last column: their differences; and points off a middle."""
    rows = np.vstack([np.eye(14), np.zeros(14)])
    own = problem(14, order, moves=False)
    found = kinds_of_weights(own, rows, pairs=True, rtol=1e-7)
    one_by_one = generate(own, PairVertices(rows), rtol=1e-7)
    assert found.upper <= found.lower * (1 + 1e-7)
    assert found.lower <= one_by_one.upper
    assert one_by_one.lower <= found.upper
    first, second = found.cover_indices.T
    image = np.linalg.solve(found.factor, (rows[first] - rows[second]).T)
    assert np.max(np.linalg.norm(image, axis=0)) <= 1 + 1e-12
    ends = np.vstack([np.eye(60), np.zeros((1, 60)), 2 * np.eye(60)[:50] + np.eye(60)[50]])
    moved = kinds_of_weights(problem(60, order), ends, pairs=False, rtol=1e-6)
    assert moved.upper <= moved.lower * (1 + 1e-6)
    assert covered(moved, ends) <= 1 + 1e-12
    unlike = np.random.default_rng(5).normal(size=(200, 4))
    assert kinds_of_weights(problem(4, order), unlike, pairs=False, rtol=1e-6) is None
    assert kinds_of_weights(own, rows[:9], pairs=True, rtol=1e-6) is None  # few


@every_order
def test_a_rough_gap_proves_of_few_kinds_what_the_usual_one_does(order):
    """The differences of a cube's corners: the bound, which plans print, was 9e-4 less."""
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=4)))
    own = problem(4, order, moves=False)
    rough, usual = (kinds_of_weights(own, corners, pairs=True, rtol=r) for r in (1e-3, 1e-6))
    assert rough.lower >= usual.lower * (1 - 1e-9)
    assert rough.upper <= usual.lower * (1 + 1e-6)
    one_by_one = generate(own, PairVertices(corners), rtol=1e-7)
    assert one_by_one.lower * (1 - 1e-6) <= rough.lower <= one_by_one.upper
