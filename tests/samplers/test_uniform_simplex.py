# SPDX-License-Identifier: Apache-2.0
"""Differences of a simplex, and bodies in some of the coordinates."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from lownoise.errors import PlanError
from lownoise.numbers.intervals import precision
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.samplers.lazy import rounded
from lownoise.samplers.uniform import (
    UniformImage,
    UniformNormBall,
    UniformPlaced,
    UniformSimplexDifferences,
)

LIMIT = 31.0  # of 27 statistics with one degree of freedom: a chance below 1e-6


def drawn(uniform, count, seed):
    """Exact draws, as the middles of their balls."""
    randomness = SimulationRandomness(seed)
    found = []
    for _ in range(count):
        with precision(128):
            found.append([float(x.mid()) for x in uniform.draw(randomness).balls()])
    return np.array(found)


def refuted(points, shares):
    """Whether the cells of points, told by signs and by thirds of the norm's power, are unlike.

    Under the hypothesis all pairs of a sign pattern and a third are independent.
    """
    d, n = points.shape[1], len(points)
    norms = np.maximum(np.maximum(points, 0).sum(axis=1), np.maximum(-points, 0).sum(axis=1))
    assert np.max(norms) <= 1
    third = np.minimum((norms**d * 3).astype(int), 2)
    counts = np.bincount(third, minlength=3)
    worst = float(np.max((counts - n / 3) ** 2)) / (n * 2 / 9)
    for pattern, share in shares.items():
        own = np.all((points > 0) == np.array(pattern), axis=1)
        for k in range(3):
            p = float(share) / 3
            worst = max(worst, (np.sum(own & (third == k)) - n * p) ** 2 / (n * p * (1 - p)))
    return worst > LIMIT


def shares(d):
    """The volume of each sign pattern: two simplices side by side."""
    own = {
        s: Fraction(1, math.factorial(sum(s)) * math.factorial(d - sum(s)))
        for s in product([False, True], repeat=d)
    }
    return {s: volume / sum(own.values()) for s, volume in own.items()}


@pytest.mark.grid(1)
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("exactly", [True, False])
def test_every_part_has_its_share(d, exactly):
    uniform = UniformSimplexDifferences(d)
    points = (
        drawn(uniform, 12_000, d) if exactly else uniform.simulate(60_000, SimulationRandomness(d))
    )
    assert not refuted(points, shares(d))
    assert refuted(points * 0.95, shares(d))
    if d > 1:
        even = dict.fromkeys(shares(d), Fraction(1, 2**d))
        assert refuted(points, even)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_second_moments(d):
    uniform = UniformSimplexDifferences(d)
    points = uniform.simulate(200_000, SimulationRandomness(7))
    products = points[:, :, None] * points[:, None, :]
    off = 5.5 * np.std(products, axis=0) / math.sqrt(len(points))
    found = np.mean(products, axis=0)
    assert np.all(np.abs(found - uniform.second_moment()) <= off)
    assert np.all(np.diag(np.abs(found - 1.05 * uniform.second_moment()) > off))


def test_many_coordinates_and_roundings():
    uniform = UniformSimplexDifferences(400)
    assert np.trace(uniform.second_moment()) > 0
    randomness = SimulationRandomness(1)
    wide = UniformImage(np.full(400, 2.0**60), uniform)
    found = rounded(wide.draw(randomness), randomness=randomness)
    above = sum(x for x in found if x > 0) / 2**60
    below = -sum(x for x in found if x < 0) / 2**60
    assert 0 < above <= 1 + 1e-12
    assert 0 < below <= 1 + 1e-12
    with pytest.raises(PlanError, match="below 1"):
        UniformSimplexDifferences(0)


def test_coordinates_that_never_move_are_exactly_zero():
    uniform = UniformPlaced(UniformNormBall(2, 1.0), np.array([1, 3]), 4)
    randomness = SimulationRandomness(1)
    with precision(128):
        balls = uniform.draw(randomness).balls()
    assert [ball == 0 for ball in balls] == [True, False, True, False]
    assert uniform.rank == 2
    assert uniform.dimension == 4
    points = uniform.simulate(100, randomness)
    assert not np.any(points[:, [0, 2]])
    assert np.all(np.sum(np.abs(points), axis=1) <= 1)
    dense = UniformPlaced(UniformSimplexDifferences(2), np.array([0, 2]), 3).second_moment()
    own = UniformSimplexDifferences(2).second_moment()
    assert np.array_equal(dense[np.ix_([0, 2], [0, 2])], own)
    assert not np.any(dense[1])
