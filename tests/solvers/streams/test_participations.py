# SPDX-License-Identifier: Apache-2.0
"""Strategies for people in several rounds: figures of others, gradients, and what patterns move."""

import numpy as np
import pytest
from benchmarks import nonnegative_bound as module
from benchmarks.nonnegative_bound import nonnegative_bound
from scipy.linalg import toeplitz
from tests.streams.kinds_of_patterns import PATTERNED, patterns

from lownoise.sensitivity.participation import Participation
from lownoise.solvers.streams import (
    from_gaps,
    gathered,
    optimal_toeplitz,
    rational,
    repeated,
    square_root,
    squared_error,
)
from lownoise.solvers.streams.rational import _log_error as rational_error
from lownoise.solvers.streams.toeplitz import _log_error as toeplitz_error
from lownoise.solvers.streams.toeplitz import round_weights

ERRORS = ["mean", "max"]
SEPARATED = [
    Participation(4, 64, "separated"),
    Participation(3, 20, "separated"),
    Participation(5, 1, "any"),
    Participation(40, 9, "spaced"),
]
WORKLOADS = {
    "prefix": np.ones(48),
    "decayed": 0.9 ** np.arange(48),
    "window": (np.arange(48) < 7).astype(float),
}


def slopes(value, x, step=1e-6):
    moves = step * np.eye(len(x))
    return np.array([(value(x + m) - value(x - m)) / (2 * step) for m in moves])


@pytest.mark.parametrize(
    ("n", "participation", "theirs"),  # jax-privacy's banded Toeplitz and rational ones
    [
        (256, Participation(4, 64, "separated"), (30.98184287, 33.51567708)),
        (512, Participation(8, 64, "separated"), (87.33811, 96.83049)),
    ],
)
def test_no_worse_than_published(n, participation, theirs):
    ones = np.ones(n)
    best = squared_error(ones, optimal_toeplitz(ones, "mean", participation), "mean", participation)
    assert best <= theirs[0] * (1 + 1e-6)
    own = rational(1.0, n, 2, "mean", participation)
    assert own.squared_error(n, "mean", participation) <= theirs[1] * (1 + 1e-6)


@pytest.mark.parametrize("participation", SEPARATED, ids=str)
def test_copies_are_a_toeplitz_matrix(participation):
    n, k, b = 50, participation.count, participation.separation
    column = np.zeros(n)
    column[: (k - 1) * b + 1 : b] = 1
    K, x = toeplitz(column, np.zeros(n)), np.random.default_rng(3).normal(size=n)
    assert repeated(x, k, b) == pytest.approx(K @ x, abs=1e-12)
    assert gathered(x, k, b) == pytest.approx(K.T @ x, abs=1e-12)


@pytest.mark.grid
@pytest.mark.parametrize("participation", SEPARATED, ids=str)
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("error", ERRORS)
def test_gradients_of_toeplitz_strategies(participation, workload, error):
    w = WORKLOADS[workload]
    c = np.exp(-0.1 * np.arange(48)) + 0.1 * np.random.default_rng(5).normal(size=48)
    weights = round_weights(48, error)
    found = toeplitz_error(c, w, weights, participation)
    assert np.exp(found[0]) == pytest.approx(squared_error(w, c, error, participation), rel=1e-10)
    numeric = slopes(lambda x: toeplitz_error(x, w, weights, participation)[0], c)
    assert found[1] == pytest.approx(numeric, abs=1e-6 * np.max(np.abs(numeric)))


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("participation", SEPARATED, ids=str)
@pytest.mark.parametrize("decay", [1.0, 0.97])
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("n", [50, 400])
def test_sums_over_participations_and_their_gradients(participation, decay, error, n):
    points = np.array([0.02, 0.05, 0.2, 0.6, 1.1, 1.5])  # the last decay is negative

    def value(x):
        return rational_error(from_gaps(x[0::2], x[1::2], decay), n, error, participation)

    made = from_gaps(points[0::2], points[1::2], decay)
    summed = squared_error(decay ** np.arange(n), made.strategy(n), error, participation)
    found, by_gaps, by_poles = value(points)
    assert np.exp(found) == pytest.approx(summed, rel=1e-10)
    numeric = slopes(lambda x: value(x)[0], points, 1e-7)
    slope = np.empty(6)
    slope[0::2], slope[1::2] = by_gaps, by_poles[1:]
    assert slope == pytest.approx(numeric, abs=1e-5 * np.max(np.abs(numeric)))


@pytest.mark.parametrize("participation", PATTERNED, ids=str)
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("error", ERRORS)
def test_no_pattern_moves_farther_than_the_first(participation, workload, error):
    w = WORKLOADS[workload][:16]
    c = optimal_toeplitz(w, error, participation)
    moved = np.linalg.norm(repeated(c, participation.count, participation.separation))
    C = toeplitz(c, np.zeros(16))
    norms = [np.linalg.norm(C[:, list(own)].sum(axis=1)) for own in patterns(participation, 16)]
    assert np.all(c >= 0)
    assert max(norms) == pytest.approx(moved, rel=1e-12)


@pytest.mark.grid(1)
@pytest.mark.parametrize("participation", PATTERNED, ids=str)
@pytest.mark.parametrize("decay", [1.0, 0.9, 0.3])
@pytest.mark.parametrize("error", ERRORS)
def test_rational_strategies_fall(participation, decay, error):
    """So that the first pattern moves farthest, as their error has it."""
    made = rational(decay, 16, 2, error, participation)
    c = made.strategy(16)
    assert np.all(c >= 0)
    assert np.all(np.diff(c) <= 0)
    moved = np.linalg.norm(repeated(c, participation.count, participation.separation))
    C = toeplitz(c, np.zeros(16))
    norms = [np.linalg.norm(C[:, list(own)].sum(axis=1)) for own in patterns(participation, 16)]
    assert max(norms) == pytest.approx(moved, rel=1e-12)


@pytest.mark.grid(3)
@pytest.mark.parametrize("participation", SEPARATED[:3], ids=str)
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("error", ERRORS)
def test_no_strategy_nearby_errs_less(participation, workload, error):
    w, random = WORKLOADS[workload], np.random.default_rng(7)
    best = optimal_toeplitz(w, error, participation)
    least = squared_error(w, best, error, participation)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(20):  # of the falling ones
            steps = best - np.append(best[1:], 0)
            moved = np.maximum(steps + size * steps[0] * random.normal(size=48) / 48, 0)
            other = np.cumsum(moved[::-1])[::-1]
            assert squared_error(w, other, error, participation) >= least * (1 - 1e-9)


BOUNDED = [  # and how near the bound is to what is attained
    (Participation(3, 16, "spaced"), 0.001),
    (Participation(6, 8, "spaced"), 0.01),
    (Participation(2, 16, "spaced"), 0.001),
    (Participation(2, 16, "separated"), 0.06),
    (Participation(3, 1, "any"), 0.05),
]


@pytest.mark.grid
@pytest.mark.parametrize(("participation", "near"), BOUNDED, ids=str)
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("error", ERRORS)
def test_no_strategy_above_0_is_below_its_bound(participation, near, workload, error):
    w, random = WORKLOADS[workload], np.random.default_rng(19)
    best = optimal_toeplitz(w, error, participation)
    bound = nonnegative_bound(w, error, participation)
    attained = squared_error(w, best, error, participation)
    assert bound <= attained <= bound * (1 + near)
    for _ in range(20):
        other = np.maximum(best + 0.1 * best[0] * random.normal(size=48), 0)
        other[0] = best[0]
        assert squared_error(w, other, error, participation) >= bound


@pytest.mark.grid(3)
@pytest.mark.parametrize("participation", [own for own, _ in BOUNDED], ids=str)
@pytest.mark.parametrize("error", ERRORS)
def test_a_bad_strategy_gives_a_low_bound_and_not_a_wrong_one(participation, error, monkeypatch):
    w = WORKLOADS["prefix"]
    best = squared_error(w, optimal_toeplitz(w, error, participation), error, participation)
    for bad in (np.exp(-0.5 * np.arange(48)), 0.99 ** np.arange(48), square_root(w)):
        monkeypatch.setattr(module, "optimal_toeplitz", lambda *_, bad=bad: bad)
        assert nonnegative_bound(w, error, participation) <= best * (1 + 1e-9)


@pytest.mark.filterwarnings("error")
def test_a_step_beyond_all_numbers_is_come_back_from():
    w, own = (np.arange(200) < 177).astype(float), Participation(2, 10, "spaced")
    c = optimal_toeplitz(w, "max", own)
    assert squared_error(w, c, "max", own) < 0.2 * squared_error(w, np.eye(1, 200)[0], "max", own)
