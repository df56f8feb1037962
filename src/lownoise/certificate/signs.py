# SPDX-License-Identifier: Apache-2.0
"""Evidence about an image F·[−1, 1]ᵏ of a cube: independent signs that lean to one side.

If x has independent signs for coordinates and the mean b, then E xxᵀ = bbᵀ + diag(1 − b²). About
another point than its middle a box changes a sum by ±(m + b), so that F has m for a column, and
signs that lean as the other columns do to m take part of them away from the noise that m needs:
at b = 0 the evidence is that of random signs (ours).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate.evidence import (
    EVIDENCE,
    QUERY_WEIGHTS,
    AbstractDual,
    Moments,
    count_column,
)
from lownoise.certificate.witness import Dyadic
from lownoise.kinds import VECTOR, Field
from lownoise.numbers.rounding import growth, shrunk
from lownoise.sets.bodies import ImageBody

if TYPE_CHECKING:
    from lownoise.certificate.witness import Square
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies import AbstractBody


@EVIDENCE.kind("images", QUERY_WEIGHTS, Field("means", VECTOR))
@final
@dataclass(frozen=True, eq=False)
class SignsDual(AbstractDual):
    """The measure on corners of a cube's image whose signs are independent and have these means.

    Args:
        means: b, from −1 to 1, shape (k,).
        query_weights: c ≥ 0, shape (m,).

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> body = ImageBody(np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]), NormBall(3, np.inf))
        >>> lean = SignsDual(np.array([1.0, 0.5, 0.5]), np.ones(2))
        >>> even = SignsDual(np.array([0.0, 0.0, 0.0]), np.ones(2))
        >>> [round(own.least(body, 2.0, np.ones(2)), 4) for own in (lean, even)]
        [1.5787, 1.366]
    """

    means: Vector
    query_weights: Vector

    def _image(self, changes: AbstractBody) -> ImageBody:
        if not isinstance(changes, ImageBody) or changes.base.ball_order != np.inf:
            raise self.misfit()
        if self.means.shape != (changes.base.dimension,) or not np.all(np.abs(self.means) <= 1):
            raise self.misfit()
        return changes

    def moments(self, changes: AbstractBody, *, counted: bool = False) -> Moments:
        """Return F·b, and the columns of F times the deviations of the signs, one a row.

        A lifted value and its count are alike up to the sign of the one column that has a count:
        the other signs of the value are each times that one.
        """
        dense, b = self._image(changes).dense, self.means
        # 1 − b² as a product of exact factors, or nearly: what is left is rounded relatively
        kept = np.sqrt(shrunk((1 - np.abs(b)) * (1 + np.abs(b)), 2.0**-48))
        d, far, mean = changes.dimension - counted, 1.0, np.zeros_like(b)
        if counted:
            alone = np.arange(b.size) == count_column(dense)
            far, mean = float(kept[alone][0]), np.where(alone, 1.0, b * b[alone])
            b, kept, dense = np.where(alone, 0.0, b), np.where(alone, 0.0, kept), dense[:d]
        rows = np.vstack([far * (dense @ b), kept[:, None] * dense.T])
        size = np.abs(dense)
        off = growth(b.size + 9) * (size @ (np.abs(b) + np.abs(mean))) + growth(9) * (size @ kept)
        return Moments(rows, dense @ mean, off)

    def square(self, changes: AbstractBody) -> Square:
        """Return FbbᵀFᵀ + F diag(1 − b²) Fᵀ, and the mass 1, times the same number."""
        columns = Dyadic.of(np.ascontiguousarray(self._image(changes).dense.T))
        leaning = Dyadic.of(self.means[None, :])
        one = Dyadic.of(np.ones(self.means.size))
        apart = one - Dyadic.of(self.means) @ Dyadic.of(self.means)
        mean = leaning @ columns
        return columns.T @ apart @ columns - (mean.T @ mean).times(Fraction(-1)), Fraction(1)
