# SPDX-License-Identifier: Apache-2.0
"""What a reference returns: the optimum between two numbers, and the noise that has the upper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Bracket:
    """Bounds lower ≤ Γ ≤ upper, computed in plain floats.

    `covariance`, M of shape (d, d), covers the points moved by `shift`, v of shape (d,), and
    √tr_{p/2}(L M Lᵀ) is `upper`. M vanishes across the span of the points.
    """

    lower: float
    upper: float
    covariance: Vector
    shift: Vector
    rounds: int

    @property
    def gap(self) -> float:
        """upper/lower − 1; 0 where both are 0.

        Examples:
            >>> import numpy as np
            >>> one = np.ones((1, 1))
            >>> Bracket(lower=1.0, upper=1.25, covariance=one, shift=one[0], rounds=3).gap
            0.25
        """
        if self.upper == 0:
            return 0.0
        return self.upper / self.lower - 1 if self.lower > 0 else math.inf
