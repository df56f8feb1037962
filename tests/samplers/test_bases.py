# SPDX-License-Identifier: Apache-2.0
"""Simplices of hulls of few points by tries: they tile, exactly, and their chances are volumes."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from flint import fmpz_mat
from scipy import stats

from lownoise.errors import PlanError
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.uniform import UniformBases, UniformHull
from lownoise.samplers.uniform import bases as module
from uniform_cases import HULL, PRISM

RNG = np.random.default_rng(20261129)
ERROR = 1e-6  # of the first kind
LISTS = {
    "plain": HULL[:5],
    "faces of more points than corners": PRISM,
    "a cube and what it holds": np.array(
        [[1.0, 1, 1], [1, 1, -1], [1, -1, 1], [-1, 1, 1], [1, 0, 0], [0, 0, 0.5]]
    ),
    "zeros and repeats": np.array([[1.0, 2], [0, 0], [3, 1], [-1, -2], [1, 2], [4, 3]]),
    "units apart": RNG.normal(size=(6, 3)) * [1e-9, 1.0, 1e9],
    "one line": np.array([[2.0], [-1.0], [2.0], [0.5]]),
    "nearly parallel": np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1e-13], [1, 1, 1e-12]]),
}
every = pytest.mark.parametrize("name", LISTS)


def simplices(kernel):
    """Every c with the signs at which its parallelepiped holds 0, moved, as pairs of tuples."""
    n, k = kernel.rows.shape
    for others in combinations(range(n), k):
        columns = fmpz_mat([kernel._whole[j] for j in others]).transpose()
        basis = [i for i in range(n) if i not in others]
        if columns.det() == 0:
            continue
        for own in product([1.0, -1.0], repeat=len(basis)):
            signs = np.ones(n)
            signs[basis] = own
            if kernel._holds(columns, list(others), signs):
                yield tuple(basis), own, abs(int(columns.det()))


@pytest.mark.grid(3)
@every
def test_simplices_tile_the_hull_and_chances_are_their_volumes(name):
    """Exactly: volumes sum to the hull's, dets are in proportion, and cones share no point."""
    points = LISTS[name]
    uniform, d = UniformBases(points), points.shape[1]
    rows = [[Fraction(x) for x in row] for row in points.tolist()]
    units = set()
    total, cones = Fraction(0), []
    for basis, signs, det in simplices(uniform._kernel):
        volume = abs(determinant([rows[i] for i in basis]))
        units.add(volume / det)
        total += volume / math.factorial(d)
        cones.append(np.array(signs)[:, None] * points[list(basis)])
    assert len(units) == 1
    assert total == UniformHull(points).volume
    for x in RNG.normal(size=(50, d)) * np.abs(points).max(axis=0):
        inside = [np.all(np.linalg.solve(own.T, x) > 0) for own in cones]
        assert sum(inside) == 1


def determinant(rows):
    if not rows:
        return Fraction(1)
    pivot = next((i for i, row in enumerate(rows) if row[0]), None)
    if pivot is None:
        return Fraction(0)
    first, rest = rows[pivot], [row for i, row in enumerate(rows) if i != pivot]
    lower = [
        [a - row[0] / first[0] * b for a, b in zip(row[1:], first[1:], strict=True)] for row in rest
    ]
    return first[0] * determinant(lower) * (-1) ** pivot


@pytest.mark.grid(3)
@every
@pytest.mark.parametrize("doubt", [False, True])
def test_no_chance_is_too_small(name, doubt, monkeypatch):
    """For every order of every c: |det| times its unit over the chances is at most 1, and near."""
    kernel = UniformBases(LISTS[name])._kernel
    if doubt:  # floats that say nothing: fractions are asked
        monkeypatch.setitem(kernel.__dict__, "_lost", 1.0)
    n, k = kernel.rows.shape
    for others in permutations(range(n), k):
        det = abs(int(fmpz_mat([kernel._whole[j] for j in others]).det()))
        shares = []
        left, error = kernel.rows[None].copy(), np.array([kernel._lost])
        for i in range(k):
            lengths = np.linalg.norm(left, axis=2)
            before = np.array(others[:i], dtype=np.int64)[None]
            chances = kernel._chances(lengths, error, before, kernel._sides[i])[0]
            assert chances.min() > 0
            assert chances.sum() <= 1 << 40
            shares.append(int(chances[others[i]]))
            left, error = kernel._beyond(left, error, np.array([others[i]]))
        share = det * kernel._unit / math.prod(shares)
        assert share <= 1
        if det and math.prod(shares) > 2 ** (40 * k - 30):
            assert share > 1 - 1e-3


@pytest.mark.grid(1)
@pytest.mark.parametrize("doubt", [False, True])
def test_each_simplex_has_its_share(doubt, monkeypatch):
    """Chi-square over all simplices; power: shares of equal size are rejected."""
    uniform = UniformBases(LISTS["a cube and what it holds"])
    if doubt:
        monkeypatch.setitem(uniform._kernel.__dict__, "_lost", 1.0)
        monkeypatch.setattr(module, "_LEAST_TRIES", 1)
    weights = {(b, s): det for b, s, det in simplices(uniform._kernel)}
    source = SimulationRandomness(1)
    drawn = 150 if doubt else 2000
    found = Counter(
        (tuple(b.tolist()), tuple(s.tolist()))
        for b, s in (uniform.simplex(source) for _ in range(drawn))
    )
    assert found.keys() <= weights.keys()
    counts = np.array([found[key] for key in weights])
    shares = np.array([*weights.values()]) / sum(weights.values())
    assert stats.chisquare(counts, shares * drawn).pvalue > ERROR
    if not doubt:
        assert stats.chisquare(counts).pvalue < ERROR


@pytest.mark.parametrize(("count", "d"), [(18, 16), (24, 20), (34, 32)])
def test_tries_are_about_as_many_as_is_said(count, d):
    """A count of about 200 successes; power: a factor of 1.6."""
    uniform = UniformBases(RNG.choice([-1.0, 1.0], size=(count, d)))
    source, made, taken = SimulationRandomness(d), 0, 0
    while made < 200 * uniform.tries:
        found = uniform._kernel.tried(1000, source)
        taken += sum(uniform._kernel.takes(found, i, source) for i in range(len(found.others)))
        made += 1000
    assert 1 / 1.6 < taken * uniform.tries / made < 1.6


def test_a_batch_may_have_nothing_that_comes_to_a_try():
    """Of 63 axes and one of them again most choices are given up, and now and then all of a batch.

    A batch of 20 is, with a chance of (1 − 2/√128)^20 = 0.02; so of 400 points one is, but for
    (1 − 0.02)^400 = 3e-4, and the seed is one of those where it is.
    """
    uniform = UniformBases(np.vstack([np.eye(63), np.eye(63)[:1]]), moment=np.eye(63))
    randomness = SimulationRandomness(1)
    kernel, empty = uniform._kernel, 0
    for _ in range(400):
        found = kernel.tried(2 * uniform.tries, randomness)
        empty += not len(found.others)
        assert found.signs.shape == (len(found.others), 64)
    assert empty
    assert uniform.simulate(3, randomness).shape == (3, 63)


def test_what_cannot_be_sampled_is_refused_in_one_line():
    for points, said in (
        (np.eye(3), "3 in 3 dimensions; give more"),
        (np.ones((5, 2)), "5 points in 2 dimensions are flat"),
    ):
        with pytest.raises(PlanError, match=said) as refused:
            UniformBases(points)
        assert "\n" not in str(refused.value)
