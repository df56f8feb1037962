# SPDX-License-Identifier: Apache-2.0
"""Columns of length one: against dense matrices, and where rows are interpolated."""

import numpy as np
import pytest
from benchmarks.stream_variances import normalized_variances
from scipy.linalg import toeplitz

from lownoise.numbers import norms as rows
from lownoise.solvers.streams import (
    column_norms,
    inverse,
    optimal_toeplitz,
    square_root,
    squared_error,
)


def dense(workload, strategy):
    zeros = np.zeros(len(workload))
    T = toeplitz(strategy, zeros)
    assert column_norms(strategy) == pytest.approx(np.linalg.norm(T, axis=0), rel=1e-13)
    C = T / np.linalg.norm(T, axis=0)
    B = np.linalg.solve(C.T, toeplitz(workload, zeros).T).T
    return np.sum(B**2, axis=1)


@pytest.mark.parametrize("n", [1, 2, 9, 80])
def test_rows_are_those_of_dense_matrices(n):
    for workload in (np.ones(n), 0.9 ** np.arange(n), (np.arange(n) < 5).astype(float)):
        for c in (square_root(workload), optimal_toeplitz(workload, "mean")):
            assert normalized_variances(workload, c) == pytest.approx(dense(workload, c), rel=1e-11)


@pytest.mark.parametrize(("n", "mean", "largest"), [(1024, 8.948214, 9.490984)])
def test_scaling_columns_is_never_worse(n, mean, largest):
    """8.948214 and 9.490984 are near the dense optima 8.734696 and 8.770274, and above them."""
    ones = np.ones(n)
    squares = normalized_variances(ones, square_root(ones))
    assert squares.mean() == pytest.approx(mean, abs=1e-6)
    assert squares.max() == pytest.approx(largest, abs=1e-6)
    assert squares.mean() < squared_error(ones, square_root(ones), "mean")
    assert squares.max() < squared_error(ones, square_root(ones), "max")


@pytest.mark.grid(1)
@pytest.mark.parametrize("width", [6000, 300])
def test_rows_between_are_interpolated(width):
    workload = (np.arange(6000) < width).astype(float)
    c = square_root(workload)
    squares = normalized_variances(workload, c)
    some = np.concatenate([np.arange(0, 6000, 97), width + np.arange(-3, 0)])
    assert squares[some] == pytest.approx(
        rows._row_squares(workload, inverse(c), column_norms(c), some), rel=1e-6
    )
