# SPDX-License-Identifier: Apache-2.0
"""Banded strategies: against a semidefinite program, the dense optimum, and their own bound."""

import math

import cvxpy as cp
import numpy as np
import pytest

import lownoise as ln
from lownoise.solvers.streams import (
    banded,
    banded_bound,
    banded_variances,
    optimal_toeplitz,
    squared_error,
)
from lownoise.solvers.streams.banded import _admissible

ERRORS = ["mean", "max"]


def prefix(n):
    return np.tril(np.ones((n, n)))


def some(n):
    rng = np.random.default_rng(n)
    return np.tril(rng.normal(size=(n, n))) + 3 * np.eye(n)


def reached(workload, C, band, error):
    squares = banded_variances(workload, C, band)
    return squares.mean() if error == "mean" else squares.max()


def check(C, band):
    assert not np.any(np.triu(C, 1))
    assert not np.any(np.tril(C, -band))
    assert np.all(np.diag(C) > 0)
    assert np.sum(C**2, axis=0) == pytest.approx(np.ones(len(C)), rel=1e-13)


def least(W, band, error):
    """min tr(WᵀW·X⁻¹)/n, or the largest row's, over banded X of unit diagonal: Clarabel's."""
    n = len(W)
    X = cp.Variable((n, n), PSD=True)
    far = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) >= band
    rows = [cp.matrix_frac(w, X) for w in W]
    cost = sum(rows) / n if error == "mean" else cp.maximum(*rows)
    limits = [cp.diag(X) == 1] + ([X[far] == 0] if np.any(far) else [])
    program = cp.Problem(cp.Minimize(cost), limits)
    return program.solve(solver=cp.CLARABEL)


@pytest.mark.grid
@pytest.mark.parametrize("W", [prefix(6), some(6)], ids=["prefix", "some"])
@pytest.mark.parametrize("band", [1, 2, 4, 6])
@pytest.mark.parametrize("error", ERRORS)
def test_a_general_solver_finds_the_same(W, band, error):
    C = banded(W, band, error)
    check(C, band)
    B = np.linalg.solve(C.T, W.T).T
    assert banded_variances(W, C, band) == pytest.approx(np.sum(B**2, axis=1), rel=1e-11)
    close = 1e-6 if error == "mean" else 5e-4
    assert reached(W, C, band, error) == pytest.approx(least(W, band, error), rel=close)


@pytest.mark.parametrize(
    ("n", "band", "gap"), [(1, 1, 1e-9), (5, 1, 1e-9), (70, 33, 1e-6), (128, 16, 1e-6)]
)
def test_the_mean_error_is_proved_the_least(n, band, gap):
    ones = np.ones(n)
    C = banded(ones, band, "mean")
    check(C, band)
    bound = banded_bound(ones, C, band, "mean")
    assert bound <= reached(ones, C, band, "mean") <= bound * (1 + gap)


@pytest.mark.parametrize("error", ERRORS)
def test_no_strategy_is_below_a_bound_from_any_other(error):
    rng = np.random.default_rng(5)
    best = least(prefix(6), 3, error)
    for scale in (1e-4, 0.01, 0.3):
        C = banded(np.ones(6), 3, error) + scale * np.tril(np.triu(rng.normal(size=(6, 6)), -2))
        C /= np.linalg.norm(C, axis=0)
        assert banded_bound(np.ones(6), C, 3, error) <= best * (1 + 1e-7)


@pytest.mark.parametrize("band", [1, 3, 8])
def test_evidence_says_nothing_inside_the_band(band):
    """Not even where dropping entries leaves negative eigenvalues behind."""
    rng = np.random.default_rng(band)
    half = rng.normal(size=(8, 2))
    root = _admissible(half @ half.T, band)
    found = root @ root.T
    inside = np.abs(np.subtract.outer(np.arange(8), np.arange(8))) < band
    assert found[inside & ~np.eye(8, dtype=bool)] == pytest.approx(0, abs=1e-12)
    assert found[~inside] == pytest.approx((half @ half.T)[~inside], abs=1e-12)


def test_a_full_band_is_the_dense_optimum():
    n = 48
    for error, order, close in (("mean", 2.0, 1e-7), ("max", math.inf, 3e-4)):
        best = ln.theory.factorize(prefix(n), order=order, rtol=1e-9).certificate.upper ** 2
        found = reached(np.ones(n), banded(np.ones(n), n, error), n, error)
        assert found == pytest.approx(best / (n if error == "mean" else 1), rel=close)


def test_a_band_between_a_diagonal_and_toeplitz():
    """Wider bands err less; free entries less than equal ones along a diagonal."""
    ones = np.ones(64)
    errors = [reached(ones, banded(ones, b, "mean"), b, "mean") for b in (1, 4, 16, 64)]
    assert errors[0] == pytest.approx(32.5, rel=1e-12)  # every column alone: noise on the input
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < squared_error(ones, optimal_toeplitz(ones, "mean"), "mean")
