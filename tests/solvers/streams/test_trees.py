# SPDX-License-Identifier: Apache-2.0
"""Trees: every closed form against dense least squares, and what the source says of them."""

import numpy as np
import pytest
from benchmarks.stream_variances import honaker_variances, streaming_variances, tree_variances

from lownoise.solvers.streams import square_root, squared_error
from lownoise.solvers.streams.trees import (
    honaker,
    honaker_streaming,
    subtree_variances,
    tree_height,
    tree_matrix,
    tree_nodes,
)

SIZES = [1, 2, 3, 4, 5, 7, 8, 13, 16, 21]


def prefix(n):
    return np.tril(np.ones((n, n)))


@pytest.mark.parametrize("n", SIZES)
def test_nodes_are_the_dyadic_intervals_that_end_in_time(n):
    found = {tuple(np.flatnonzero(row)) for row in tree_matrix(n).toarray()}
    wanted = {
        tuple(range(j << h, (j + 1) << h)) for h in range(n.bit_length()) for j in range(n >> h)
    }
    assert found == wanted
    assert len(tree_nodes(n)[0]) == len(wanted)
    assert tree_matrix(n).toarray().sum(axis=0).max() == tree_height(n)
    ends, heights = tree_nodes(n)
    assert np.all(np.diff(ends) >= 0)
    for row, end, height in zip(tree_matrix(n).toarray(), ends, heights, strict=True):
        assert np.flatnonzero(row)[-1] + 1 == end
        assert row.sum() == 1 << height


@pytest.mark.parametrize("n", SIZES)
def test_the_binary_tree_counts_digits(n):
    assert tree_variances(n).tolist() == [t.bit_count() for t in range(1, n + 1)]


@pytest.mark.parametrize("n", SIZES)
def test_streaming_estimates_are_least_squares_on_what_is_complete(n):
    R, (ends, _) = tree_matrix(n).toarray(), tree_nodes(n)
    rows = honaker_streaming(np.eye(len(R)), n)
    assert rows @ R == pytest.approx(prefix(n), abs=1e-12)
    for t in range(1, n + 1):
        complete = ends <= t
        best = np.ones(t) @ np.linalg.pinv(R[complete][:, :t])
        assert rows[t - 1][complete] == pytest.approx(best, abs=1e-12)
        assert not np.any(rows[t - 1][~complete])
    assert np.sum(rows**2, axis=1) == pytest.approx(streaming_variances(n), rel=1e-12)


@pytest.mark.parametrize("n", SIZES)
def test_all_nodes_by_least_squares(n):
    R = tree_matrix(n).toarray()
    left = prefix(n) @ np.linalg.pinv(R)
    assert np.sum(left**2, axis=1) == pytest.approx(honaker_variances(n), rel=1e-12)
    C = honaker(n)
    assert not np.any(np.triu(C, 1))
    assert np.sum(C**2, axis=0) == pytest.approx(R.sum(axis=0), rel=1e-12)
    B = np.linalg.solve(C.T, prefix(n).T).T
    covariance = B @ B.T
    assert covariance == pytest.approx(left @ left.T, abs=1e-12)


def test_subtrees_follow_their_recursion():
    s = subtree_variances(30)
    assert s[0] == 1
    assert 1 / s[1:] == pytest.approx(1 + 1 / (2 * s[:-1]), rel=1e-14)


@pytest.mark.grid(1)
@pytest.mark.parametrize(("power", "ratio"), [(4, 3.2), (10, 5.7), (20, 7.4)])
def test_the_tree_over_the_square_root(power, ratio):
    """003, Theorem 5: the ratio of mean squared errors, on its way to π²/(2 ln²2) = 10.27."""
    n = 2**power
    root = squared_error(np.ones(n), square_root(np.ones(n)), "mean")
    nodes = tree_height(n)
    assert nodes * tree_variances(n).mean() / root == pytest.approx(ratio, abs=0.05)
    honest, full = streaming_variances(n), honaker_variances(n)
    assert np.all(full <= honest * (1 + 1e-12))
    assert np.all(honest <= tree_variances(n) * (1 + 1e-12))
    assert nodes * full.mean() > root
