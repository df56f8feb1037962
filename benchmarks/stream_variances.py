# SPDX-License-Identifier: Apache-2.0
"""Variances of streams by closed forms, a million rounds at once; plans know them from factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.norms import scaled_row_squares
from lownoise.solvers.streams import column_norms, inverse, subtree_variances, tree_height

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


def tree_variances(size: int) -> Vector:
    """Return the binary tree's variance of each round at noise 1 a node: the binary digits of t.

    Args:
        size: n, at least 1.
    """
    return _over_digits(size, np.ones(tree_height(size)))


def streaming_variances(size: int) -> Vector:
    """Return the variance of each round of `honaker_streaming`, at noise 1 a node.

    Args:
        size: n, at least 1.
    """
    return _over_digits(size, subtree_variances(tree_height(size)))


def honaker_variances(size: int) -> Vector:
    """Return the diagonal of W(RᵀR)⁻¹Wᵀ in O(n): the variances of `honaker`, at noise 1 a node.

    The Gram matrix of a finished subtree is that of its halves plus 11ᵀ. With V(t) = 1_tᵀM⁻¹1_t,
    p(t) = 1_tᵀM⁻¹1 and s = p(2^h), one update of rank one (Sherman and Morrison) doubles the tree.

    Args:
        size: n, at least 1.
    """
    found = np.zeros(size)
    at, before = 0, 0.0
    heights = tree_height(size)
    inside, extent, total = np.array([1.0]), np.array([1.0]), 1.0
    finished = [(inside, total)]
    for _ in range(1, heights):
        across = 1 + 2 * total
        inside = np.concatenate(
            [inside - extent**2 / across, total + inside - (total + extent) ** 2 / across]
        )
        extent = np.concatenate([extent, total + extent]) / across
        total = 2 * total / across
        finished.append((inside, total))
    for h in reversed(range(heights)):
        if size >> h & 1:
            inside, total = finished[h]
            found[at : at + len(inside)] = before + inside
            at, before = at + len(inside), before + total
    return found


def normalized_variances(workload: Vector, strategy: Vector) -> Vector:
    """Return the squared length of each row of B = W·D⁻¹·T(1/c), shape (n,).

    The columns of C have length 1, so this is the variance of each round's answer where one change
    moves by 1. Beyond 4,096 rounds it is interpolated; see `scaled_row_squares`.

    Args:
        workload: w, shape (n,).
        strategy: c, shape (n,), c_0 not 0.
    """
    return scaled_row_squares(workload, inverse(strategy), column_norms(strategy))


def _over_digits(size: int, values: Vector) -> Vector:
    """Return Σ of values[h] over the binary digits h of each t in 1 … n."""
    rounds = np.arange(1, size + 1)
    found = np.zeros(size)
    for h, value in enumerate(values):
        found += value * (rounds >> h & 1)
    return found
