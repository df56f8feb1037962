# SPDX-License-Identifier: Apache-2.0
"""The binary tree's strategies: sums of nodes, and Honaker's better estimates from the same nodes.

A node of height h sums rounds j·2^h + 1 … (j + 1)·2^h; only nodes that end by round n are used,
each with noise of its own, of variance 1 here. One round lies in at most ⌊log₂ n⌋ + 1 nodes, so one
unit of change moves all nodes by at most √(⌊log₂ n⌋ + 1), and squared errors below are variances
times that.

* `tree`: round t adds the nodes of the binary digits of t.
* `honaker_streaming`: each finished subtree's total is estimated by least squares from the nodes
  inside it: x_v = s_h·(node_v + (x_left + x_right)/(2s_{h−1})) combines its own node and its
  halves, with the variance s_h, 1/s_h = 1 + 1/(2s_{h−1}), s_0 = 1: s_h = 2^h/(2^{h+1} − 1). Nodes
  not finished by round t say nothing yet and finished subtrees share none, so the sum over the
  digits of t is least squares on all nodes that are complete by then (Honaker 2015).
* `honaker`: least squares on all nodes, L = W·R⁺, whose noise has the covariance W(RᵀR)⁻¹Wᵀ. Its
  rows need later nodes; a lower-triangular C with CᵀC = RᵀR makes the same noise in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from lownoise.numbers.arrays import Integers, Vector


def tree_height(size: int) -> int:
    """Return ⌊log₂ n⌋ + 1: how many nodes a round lies in, at most.

    Args:
        size: n, at least 1.

    Examples:
        >>> tree_height(1), tree_height(1023), tree_height(1024)
        (1, 10, 11)
    """
    return size.bit_length()


def tree_nodes(size: int) -> tuple[Integers, Integers]:
    """Return the nodes in the order in which they are complete, halves before what they make up.

    Args:
        size: n, at least 1.

    Returns:
        The round (from 1) that completes each node, and its height, shape (N,) each, N < 2n.

    Examples:
        >>> tree_nodes(4)
        (array([1, 2, 2, 3, 4, 4, 4]), array([0, 0, 1, 0, 0, 1, 2]))
    """
    rounds = np.arange(1, size + 1)
    counts = _trailing_zeros(rounds) + 1
    ends = np.repeat(rounds, counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return ends, np.arange(len(ends)) - first


def tree_matrix(size: int) -> csr_array:
    """Return R, shape (N, n): one row of zeros and ones a node, in the order of `tree_nodes`.

    Args:
        size: n, at least 1.

    Examples:
        >>> tree_matrix(3).toarray().astype(int).tolist()
        [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]
    """
    from scipy.sparse import csr_array

    ends, heights = tree_nodes(size)
    lengths = 1 << heights
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.arange(starts[-1]) - np.repeat(starts[:-1] - (ends - lengths), lengths)
    return csr_array((np.ones(len(columns)), columns, starts), shape=(len(ends), size))


def subtree_variances(heights: int) -> Vector:
    """Return s_h = 2^h/(2^{h+1} − 1) for h < `heights`: of a finished subtree's best estimate.

    Args:
        heights: how many, at least 1.

    Examples:
        >>> subtree_variances(3).tolist()
        [1.0, 0.6666666666666666, 0.5714285714285714]
    """
    return 1.0 / (2.0 - np.exp2(-np.arange(heights, dtype=np.float64)))


def honaker_streaming(noise: Vector, size: int) -> Vector:
    """Return each round's noise: the sum of the estimates of the finished subtrees.

    Args:
        noise: of the nodes in the order of `tree_nodes`, shape (N,) or (N, m); what is linear in
            noise may be asked of it too, such as the identity for L's rows.
        size: n.

    Returns:
        Shape (n,) or (n, m).

    Examples:
        >>> honaker_streaming(np.eye(3), 2).round(6)
        array([[1.      , 0.      , 0.      ],
               [0.333333, 0.333333, 0.666667]])
    """
    _, heights = tree_nodes(size)
    variances = subtree_variances(tree_height(size))
    found = np.zeros((size, *noise.shape[1:]))
    level = noise[heights == 0]
    for h, variance in enumerate(variances):
        if h:
            pairs = level[: 2 * (len(level) // 2)]
            halves = (pairs[0::2] + pairs[1::2]) / (2 * variances[h - 1])
            level = variance * (noise[heights == h] + halves)
        # t has digit h where ⌊t/2^h⌋ is odd, and its node there is the last one of that height
        whole = np.arange(1, size + 1) >> h
        odd = whole & 1 == 1
        found[odd] += level[whole[odd] - 1]
    return found


def honaker(size: int) -> Vector:
    """Return C, shape (n, n), lower triangular with CᵀC = RᵀR: least squares on all nodes.

    B = W·C⁻¹ has BBᵀ = W(RᵀR)⁻¹Wᵀ, the covariance of the rows of L = W·R⁺, and C moves as R does.

    Args:
        size: n, at least 1.

    Examples:
        >>> C, R = honaker(6), tree_matrix(6).toarray()
        >>> bool(np.allclose(C.T @ C, R.T @ R)), bool(np.all(np.triu(C, 1) == 0))
        (True, True)
    """
    matrix = tree_matrix(size)
    gram = (matrix.T @ matrix).toarray()
    # reversed, Cholesky's lower factor of the reversed matrix is the upper factor of this one
    factor = np.linalg.cholesky(gram[::-1, ::-1])[::-1, ::-1].T
    return np.ascontiguousarray(factor, dtype=np.float64)


def _trailing_zeros(rounds: Integers) -> Integers:
    low = rounds & -rounds
    zeros: Integers = np.frexp(low.astype(np.float64))[1].astype(np.int64) - 1
    return zeros
