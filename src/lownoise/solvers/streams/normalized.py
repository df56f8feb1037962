# SPDX-License-Identifier: Apache-2.0
"""A Toeplitz strategy whose columns are scaled to length 1.

Later columns of a lower-triangular Toeplitz C are shorter: a change in a late round would be hidden
more than is asked for. C = T(c)·D with D_jj = 1/‖T(c)e_j‖ hides every round alike, so that
B = W·D⁻¹·T(1/c) has shorter rows at the same privacy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.numbers.row_norms import scaled_row_squares
from lownoise.solvers.streams.series import inverse

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


def column_norms(strategy: Vector) -> Vector:
    """Return ‖T(c)e_j‖ for each round j, shape (n,): what D divides by.

    Args:
        strategy: c, shape (n,).

    Examples:
        >>> column_norms(np.array([4.0, 3.0]))
        array([5., 4.])
    """
    norms: Vector = np.sqrt(np.cumsum(strategy**2))[::-1]
    return norms


def normalized_variances(workload: Vector, strategy: Vector) -> Vector:
    """Return the squared length of each row of B = W·D⁻¹·T(1/c), shape (n,).

    The columns of C have length 1, so this is the variance of each round's answer where one change
    moves by 1. Beyond 4,096 rounds it is interpolated; see `scaled_row_squares`.

    Args:
        workload: w, shape (n,).
        strategy: c, shape (n,), c_0 not 0.

    Examples:
        >>> normalized_variances(np.ones(2), np.array([1.0, 0.5])).round(6)
        array([1.25    , 1.381966])
    """
    return scaled_row_squares(workload, inverse(strategy), column_norms(strategy))
