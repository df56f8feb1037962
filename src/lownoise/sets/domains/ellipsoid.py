# SPDX-License-Identifier: Apache-2.0
"""Ellipsoids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lownoise.sets.domains.image import Image, center_or_zero, checked_factor
from lownoise.sets.domains.turning import narrowed
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def Ellipsoid(factor: ArrayLike, center: ArrayLike | None = None) -> Image:  # noqa: N802
    """Return the ellipsoid {center + A·x : ‖x‖₂ ≤ 1}.

    Its least noise is a multiple of N(0, AAᵀ): Γ_p = √tr_{p/2}(AAᵀ) (002, section 3).

    Args:
        factor: A, shape (d, k); or shape (d,), half axes along the coordinates.
        center: shape (d,); zero by default.

    Raises:
        DomainError: where an argument is not finite, too large, or of the wrong shape.

    Examples:
        >>> import numpy as np
        >>> scores = Ellipsoid([[2.0, 0.0], [1.0, 1.0]], center=[50, 50])
        >>> round(scores.support(np.array([0.0, 1.0])), 9)  # 50 + √2
        51.414213562
    """
    a = checked_factor(factor, "Ellipsoid.factor")
    d = a.shape[0]
    size = d if a.ndim == 1 else a.shape[1]
    middle = center_or_zero(center, d, "Ellipsoid.center")
    narrow, ball = narrowed(NormBall(size, 2.0), a)
    return Image(narrow, ball, middle)
