# SPDX-License-Identifier: Apache-2.0
"""Strategies for streams: which factors of a lower-triangular workload err least."""

from lownoise.solvers.streams.series import divide, inverse, multiply, square_root
from lownoise.solvers.streams.toeplitz import (
    lower_bound,
    optimal_toeplitz,
    round_weights,
    squared_error,
)
from lownoise.solvers.streams.trees import (
    honaker,
    honaker_streaming,
    honaker_variances,
    streaming_variances,
    subtree_variances,
    tree_height,
    tree_matrix,
    tree_nodes,
    tree_variances,
)

__all__ = [
    "divide",
    "honaker",
    "honaker_streaming",
    "honaker_variances",
    "inverse",
    "lower_bound",
    "multiply",
    "optimal_toeplitz",
    "round_weights",
    "square_root",
    "squared_error",
    "streaming_variances",
    "subtree_variances",
    "tree_height",
    "tree_matrix",
    "tree_nodes",
    "tree_variances",
]
