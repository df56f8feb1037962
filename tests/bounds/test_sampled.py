# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from benchmarks import sampled_volume
from benchmarks.sampled_volume import sampled_log_volume

from lownoise.bounds import ball_log_volume, log_volume_down
from lownoise.errors import PlanError
from lownoise.sets.bodies import SymmetricPoints

RNG = np.random.default_rng(2028)
SIGNS = RNG.choice([-1.0, 1.0], size=(200, 12))


@pytest.mark.grid(1)
@pytest.mark.parametrize("shape", [(6, 2), (30, 3), (20, 5)])
def test_below_the_exact_volume_and_near_it(shape):
    points = RNG.normal(size=shape) * 2.0 ** np.arange(shape[1])
    k = shape[1]
    exact = log_volume_down(SymmetricPoints(points), np.eye(k))
    found = sampled_log_volume(points, samples=250, seed=3)
    # Jensen and τ lose the rest: a direction's radius is half the greatest or so
    assert exact - 0.5 * k < found < exact


def test_random_signs_span_more_than_any_cross_polytope():
    few = log_volume_down(SymmetricPoints(SIGNS), np.eye(12))
    many = sampled_log_volume(SIGNS, samples=150, seed=4)
    assert few < many < ball_log_volume(12) + 12 * math.log(math.sqrt(12))


def test_norms_are_bounded_by_what_adds_up(monkeypatch):
    """For a cross-polytope the norm is Σ|θᵢ|; a wrong answer of the solver costs, never lies."""
    from scipy import optimize

    true = optimize.linprog

    def wrong(*args, **options):
        told = true(*args, **options)
        told.x = 0.9 * told.x
        return told

    chosen, target = np.arange(4), RNG.normal(size=4)
    norm = sampled_volume._gauge_up(np.eye(4), chosen, target, 2.0)
    assert np.abs(target).sum() <= norm <= np.abs(target).sum() * (1 + 1e-9)
    monkeypatch.setattr(optimize, "linprog", wrong)
    assert sampled_volume._gauge_up(np.eye(4), chosen, target, 2.0) >= np.abs(target).sum()


def test_what_is_longer_than_all_directions_tried_first_counts_as_they_do(monkeypatch):
    """Values of a mean must end somewhere for the chance to hold: where those of the pilot do."""
    norms = iter([1.0] * 40 + [0.5] * 100)
    monkeypatch.setattr(sampled_volume, "_gauge_up", lambda *_: next(norms))
    # ±√2·eᵢ have variance 1 along every axis, so the whitened ball of radius 1 is the ball
    points = math.sqrt(2) * np.eye(2)
    assert sampled_log_volume(points, samples=100, seed=1) <= ball_log_volume(2)


def test_means_are_seldom_above():
    """Of 2,000 means of 200 coins each, none is so far up that the bound exceeds the truth."""
    means = RNG.binomial(200, 0.8, size=2000) / 200
    assert all(sampled_volume._below(m, -math.log(1e-9) / 200) < 0.8 for m in means)
    assert sampled_volume._below(0.8, 1e-9) == pytest.approx(0.8, rel=1e-4)
    assert sampled_volume._below(1.0, 0.5) == pytest.approx(math.exp(-0.5), rel=1e-9)


def test_few_samples_and_flat_points():
    with pytest.raises(PlanError, match="samples=5"):
        sampled_log_volume(SIGNS, samples=5, seed=1)
    flat = np.array([[1.0, 2.0], [2.0, 4.0], [-1.0, -2.0]])
    assert sampled_log_volume(flat, samples=100, seed=1) == -math.inf
    assert sampled_log_volume(flat[:1], samples=100, seed=1) == -math.inf
