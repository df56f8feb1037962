# SPDX-License-Identifier: Apache-2.0
"""The covariance of the noise of a norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.norms.abstract import AbstractNorm


def covariance(gauge: AbstractNorm, scale: float) -> Vector:
    """Return E z·zᵀ of noise of density ∝ exp(−‖z‖/scale), a float for predictions.

    z = scale·r·u with r ~ Gamma(k + 1) and u uniform in the unit ball of k dimensions (001, Remark
    4.2), so that E r² = (k + 1)(k + 2).

    Args:
        gauge: the norm.
        scale: b > 0; its reach divided by ε.

    Returns:
        Shape (d, d); or (d,), the diagonal, where all other entries are 0.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> from lownoise.sets.norms import ImageNorm
        >>> import numpy as np
        >>> covariance(ImageNorm(np.ones(2), NormBall(2, 1.0)), 1.0).round(9)  # Laplace
        array([2., 2.])
    """
    k = gauge.uniform.rank
    return frozen(scale**2 * (k + 1) * (k + 2) * gauge.uniform.second_moment())
