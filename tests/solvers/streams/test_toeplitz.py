# SPDX-License-Identifier: Apache-2.0
"""Toeplitz strategies: published values, global optimality, and the bound against brute force."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import toeplitz
from scipy.optimize import minimize

from lownoise.solvers.streams import (
    lower_bound,
    optimal_toeplitz,
    square_root,
    squared_error,
)

ERRORS = ["mean", "max"]


def window(n, width):
    return (np.arange(n) < width).astype(float)


WORKLOADS = {
    "one round": np.ones(1),
    "two rounds": np.ones(2),
    "prefix": np.ones(40),
    "decayed": 0.8 ** np.arange(40),
    "alternating": (-0.9) ** np.arange(40),
    "window": window(40, 7),
    "wide window": window(40, 30),
    "momentum": np.cumsum(0.9 ** np.arange(40)),
    "second sums": np.arange(1.0, 41),
    "a root with a zero at -1/2": np.array([1.0, 3.0, 2.0, *np.zeros(9)]),
    "a root that grows": np.array([0.5, 1.0, 3.0, -1.0, 2.0, 0.0, 1.0, 4.0]),
    "harmonic": 2.0 / np.arange(1.0, 41),
}


def dense(workload, strategy, error):
    """The definition: B = W·C⁻¹, its rows, and C's columns."""
    C = toeplitz(strategy, np.zeros(len(strategy)))
    B = np.linalg.solve(C.T, toeplitz(workload, np.zeros(len(workload))).T).T
    rows = np.sum(B**2, axis=1)
    return (rows.mean() if error == "mean" else rows.max()) * np.max(np.sum(C**2, axis=0))


@pytest.mark.parametrize(
    ("n", "error", "root", "best"),
    [
        (1024, "mean", 9.67079327, 9.34272978),
        (1024, "max", 10.70961067, 10.70961067),
        (10_000, "mean", 14.71191150, 14.30034076),
        (10_000, "max", 15.98408629, 15.98408629),
    ],
)
def test_prefix_sums_cost_the_published_values(n, error, root, best):
    """The roots' and the best at 1024 are published; 14.30034076 is proved by its bound."""
    ones = np.ones(n)
    assert squared_error(ones, square_root(ones), error) == pytest.approx(root, abs=6e-9)
    found = optimal_toeplitz(ones, error)
    reached = squared_error(ones, found, error)
    assert reached == pytest.approx(best, abs=6e-9)
    assert reached * (1 - 1e-7) <= lower_bound(ones, found, error) <= reached


@pytest.mark.grid
@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("error", ERRORS)
def test_what_is_found_is_proved_the_best(name, error):
    workload = WORKLOADS[name]
    found = optimal_toeplitz(workload, error)
    reached = squared_error(workload, found, error)
    assert reached == pytest.approx(dense(workload, found, error), rel=1e-11)
    assert found[0] > 0
    close = 1e-5 if "root" in name else 1e-7  # zeros on the circle: the optimum is flat
    assert reached * (1 - close) <= lower_bound(workload, found, error) <= reached * (1 + 1e-12)


@pytest.mark.grid(1)
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", ["prefix", "decayed", "window", "momentum"])
@pytest.mark.parametrize("n", [2, 5, 8])
def test_a_general_search_finds_nothing_better(name, n, error):
    workload = WORKLOADS[name][:n]
    rng = np.random.default_rng(n)
    starts = [square_root(workload) + 0.3 * rng.normal(size=n) for _ in range(6)]
    searched = min(
        minimize(lambda c: math.log(dense(workload, c, error)), c, options={"gtol": 1e-9}).fun
        for c in starts
    )
    reached = math.log(squared_error(workload, optimal_toeplitz(workload, error), error))
    assert reached == pytest.approx(searched, abs=1e-7)


@settings(max_examples=60)
@given(
    st.sampled_from([name for name in WORKLOADS if name != "one round"]),
    st.sampled_from(ERRORS),
    st.integers(2, 30),
    st.integers(0, 2**32 - 1),
)
def test_no_strategy_is_below_a_bound_from_any_other(name, error, n, seed):
    workload = WORKLOADS[name][:n]
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(2, len(workload))) * rng.choice([1e-3, 0.1, 1.0], size=(2, 1))
    c, other = square_root(workload) + noise
    c[0], other[0] = abs(c[0]) + 0.1, abs(other[0]) + 0.1
    bound = lower_bound(workload, other, error)
    best = squared_error(workload, optimal_toeplitz(workload, error), error)
    assert bound <= best * (1 + 1e-12)
    assert best <= dense(workload, c, error) * (1 + 1e-9)


@pytest.mark.parametrize("n", [7, 8, 16, 100, 1000, 4096])
def test_the_root_is_below_the_sources_bound(n):
    """003: at most (1 + ln(4n/5)/π)² from n = 7 on; and it is the best for the largest error."""
    ones = np.ones(n)
    error = squared_error(ones, square_root(ones), "mean")
    assert error <= (1 + math.log(4 * n / 5) / math.pi) ** 2
    landau = math.fsum((square_root(ones) ** 2).tolist()) ** 2
    assert squared_error(ones, square_root(ones), "max") == pytest.approx(landau, rel=1e-12)
    assert lower_bound(ones, square_root(ones), "max") == pytest.approx(landau, rel=1e-9)


def test_six_rounds_exceed_the_sources_bound():
    error = squared_error(np.ones(6), square_root(np.ones(6)), "mean")
    assert error > (1 + math.log(4 * 6 / 5) / math.pi) ** 2
