# SPDX-License-Identifier: Apache-2.0
"""Strategies for streams: which factors of a lower-triangular workload err least."""

from lownoise.solvers.streams.banded import banded, banded_bound, banded_variances
from lownoise.solvers.streams.patterns import pattern_factors
from lownoise.solvers.streams.rational import (
    Rational,
    enough_buffers,
    from_gaps,
    rational,
)
from lownoise.solvers.streams.series import (
    column_norms,
    divide,
    gathered,
    inverse,
    multiply,
    repeated,
    square_root,
)
from lownoise.solvers.streams.toeplitz import (
    lower_bound,
    optimal_toeplitz,
    round_weights,
    squared_error,
)
from lownoise.solvers.streams.trees import (
    honaker,
    honaker_streaming,
    subtree_variances,
    tree_height,
    tree_matrix,
    tree_nodes,
)

__all__ = [
    "Rational",
    "banded",
    "banded_bound",
    "banded_variances",
    "column_norms",
    "divide",
    "enough_buffers",
    "from_gaps",
    "gathered",
    "honaker",
    "honaker_streaming",
    "inverse",
    "lower_bound",
    "multiply",
    "optimal_toeplitz",
    "pattern_factors",
    "rational",
    "repeated",
    "round_weights",
    "square_root",
    "squared_error",
    "subtree_variances",
    "tree_height",
    "tree_matrix",
    "tree_nodes",
]
