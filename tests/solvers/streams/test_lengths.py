# SPDX-License-Identifier: Apache-2.0
"""Lengths of columns that no pattern adds up to more than 1, and banded strategies of them."""

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.streams.kinds_of_patterns import PATTERNED, patterns

from lownoise.sensitivity.participation import ONE, Participation
from lownoise.solvers.streams import banded, banded_bound, banded_variances
from lownoise.solvers.streams.banded import _Search
from lownoise.solvers.streams.lengths import largest_share, lengths_of

N = 17
SEPARATED = [own for own in PATTERNED if own.pattern != "spaced"]
WORKLOADS = {
    "prefix": np.ones(20),
    "decayed": 0.9 ** np.arange(20),
    "window": (np.arange(20) < 6).astype(float),
}


def incidence(participation, rounds):
    every = list(patterns(participation, rounds))
    found = np.zeros((len(every), rounds))
    for row, own in zip(found, every, strict=True):
        row[list(own)] = 1
    return found


def covered(patterns_of_rounds, values):
    """The least weight of patterns that covers these values: the dual of the heaviest pattern."""
    found = linprog(
        np.ones(len(patterns_of_rounds)), A_ub=-patterns_of_rounds.T, b_ub=-values, method="highs"
    )
    return found.fun


@pytest.mark.parametrize("participation", PATTERNED, ids=str)
def test_no_pattern_is_above_1_and_one_is_1(participation):
    own, every = lengths_of(N, participation), incidence(participation, N)
    random = np.random.default_rng(11)
    for x in (own.start, random.normal(size=own.start.size), random.normal(size=own.start.size)):
        squares = own.squares(x)
        assert np.all(squares >= 0)
        assert np.max(every @ squares) <= 1 + 1e-12
    assert np.max(every @ own.squares(own.start)) > 0.6


@pytest.mark.parametrize("participation", SEPARATED, ids=str)
def test_windows_give_all_lengths(participation):
    """The dual of the linear program over patterns is one over windows, and all rounds."""
    every = incidence(participation, N)
    k, b = participation.count, participation.separation
    windows = np.array([[float(w <= i < w + b) for i in range(N)] for w in range(1 - b, N)])
    shared = np.vstack([windows, np.ones(N)])
    costs = np.concatenate([np.ones(len(windows)), [k]])
    for seed in range(8):
        squares = np.random.default_rng(seed).exponential(size=N)
        least = linprog(costs, A_ub=-shared.T, b_ub=-squares, method="highs").fun
        assert least == pytest.approx(np.max(every @ squares), rel=1e-9)


@pytest.mark.parametrize("participation", PATTERNED, ids=str)
def test_gradients_of_lengths(participation):
    own, random = lengths_of(N, participation), np.random.default_rng(13)
    x, along = random.normal(size=own.start.size), random.normal(size=N)
    moves = 1e-6 * np.eye(x.size)
    numeric = [along @ (own.squares(x + m) - own.squares(x - m)) / 2e-6 for m in moves]
    assert own.slopes(x, along) == pytest.approx(np.array(numeric), abs=1e-7)


@pytest.mark.grid(3)
@pytest.mark.parametrize("participation", [ONE, *PATTERNED], ids=str)
def test_what_values_weigh_in_patterns(participation):
    every = incidence(participation, N)
    for seed in range(8):
        values = np.random.default_rng(seed).exponential(size=N)
        assert largest_share(values, participation) == pytest.approx(covered(every, values))


@pytest.mark.grid
@pytest.mark.parametrize("participation", PATTERNED, ids=str)
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("error", ["mean", "max"])
def test_bounds_hold_and_are_near(participation, workload, error):
    w, band = WORKLOADS[workload], participation.separation
    C = banded(w, band, error, participation)
    assert np.max(incidence(participation, 20) @ np.sum(C**2, axis=0)) == pytest.approx(1, rel=1e-6)
    squares = banded_variances(w, C, band)
    reached = np.mean(squares) if error == "mean" else np.max(squares)
    bound = banded_bound(w, C, band, error, participation)
    # every b-th round, and rounds for more than k of a class: lengths that repeat are not all
    free = participation.pattern == "spaced" and band * participation.count < 20
    assert bound <= reached <= bound * (1.2 if free else 1.02)


@pytest.mark.grid(3)
@pytest.mark.parametrize("participation", PATTERNED, ids=str)
def test_gradients_of_banded_strategies(participation):
    search = _Search(np.tril(np.ones((12, 12))), participation.separation, participation)
    random = np.random.default_rng(17)
    x = search.start(np.tril(random.normal(size=(12, 12))) + 3 * np.eye(12))
    x = x + 0.1 * random.normal(size=x.size)
    weights, moves = np.full(12, 1 / 12), 1e-6 * np.eye(x.size)
    value, slope = search.log_error(x, weights, 4.0)
    numeric = [
        (search.log_error(x + m, weights, 4.0)[0] - search.log_error(x - m, weights, 4.0)[0]) / 2e-6
        for m in moves
    ]
    assert np.isfinite(value)
    assert slope == pytest.approx(np.array(numeric), abs=1e-6)


@pytest.mark.parametrize(
    (
        "n",
        "participation",
        "theirs",
    ),  # jax-privacy's, of columns of one length
    [(256, Participation(4, 64, "separated"), 29.36685611)],
)
def test_less_than_columns_of_one_length(n, participation, theirs):
    C = banded(np.ones(n), participation.separation, "mean", participation)
    reached = float(np.mean(banded_variances(np.ones(n), C, participation.separation)))
    assert reached < 0.968 * theirs
    assert reached <= 1.0005 * banded_bound(
        np.ones(n), C, participation.separation, "mean", participation
    )
