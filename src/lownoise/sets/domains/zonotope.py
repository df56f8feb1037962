# SPDX-License-Identifier: Apache-2.0
"""Zonotopes: sums of segments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen, matrix
from lownoise.sets.domains.image import Image, center_or_zero, check_size
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def Zonotope(generators: ArrayLike, center: ArrayLike | None = None) -> Image:  # noqa: N802
    """Return the zonotope center + Σ [−g, g].

    Up to 20 generators its corners are enumerated and the least noise is found exactly; beyond that
    the certificate shows how near it is, always within √(π/2) (see docs/theory.md).

    Args:
        generators: shape (k, d), one row a generator g.
        center: shape (d,); zero by default.

    Raises:
        DomainError: where an argument is not finite, too large, or of the wrong shape.

    Examples:
        >>> import numpy as np
        >>> hexagon = Zonotope([[1, 0], [0, 1], [1, 1]])
        >>> round(hexagon.support(np.array([1.0, 0.0])), 9)
        2.0
    """
    rows = matrix(generators, field="Zonotope.generators", error=DomainError)
    if not rows.size:
        raise DomainError(
            f"Zonotope.generators has shape {rows.shape}; give at least one row of one number",
        )
    check_size(rows, "Zonotope.generators")
    k, d = rows.shape
    middle = center_or_zero(center, d, "Zonotope.center")
    return Image(frozen(rows.T.copy()), NormBall(k, math.inf), middle)
