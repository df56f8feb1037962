# SPDX-License-Identifier: Apache-2.0
"""Inverses of matrices, and how far off they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import down, growth, up

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.unit_balls import AbstractUnitBall


@final
@dataclass(frozen=True, eq=False)
class Inverse:
    """A map X that nearly undoes F: ‖F⁻¹s‖ ≤ stretch·‖X·s‖, because F⁻¹ = (XF)⁻¹X.

    Args:
        matrix: X, shape (d, d).
        stretch: at least 1/(1 − ‖I − XF‖); infinite where that is not known to be positive, and F
            may have no inverse.
    """

    matrix: Vector
    stretch: float


def inverse_of(factor: Vector, base: AbstractUnitBall) -> Inverse:
    """Return an inverse, with its error in the operator norm of a unit body.

    ‖Ex‖ ≤ ‖|E|·widths‖ on a unit body, whatever the signs of the entries of the latter.

    Args:
        factor: F, shape (d, d).
        base: the body, d coordinates.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> found = inverse_of(np.array([[2.0, 1.0], [0.0, 1.0]]), NormBall(2, 1.0))
        >>> found.matrix.round(9), 1 <= found.stretch < 1.000001
        (array([[ 0.5, -0.5],
               [ 0. ,  1. ]]), True)
        >>> inverse_of(np.ones((2, 2)), NormBall(2, 1.0)).stretch
        inf
    """
    d = len(factor)
    most = np.max(np.abs(factor), axis=1)
    lost = Inverse(frozen(np.zeros((d, d))), math.inf)
    if not (np.all(np.isfinite(factor)) and np.all(most > 0)):
        return lost
    # units differ from row to row; powers of two round nothing
    unit = np.exp2(np.floor(np.log2(most)))
    rows = factor / unit[:, None]
    with np.errstate(all="ignore"):
        try:
            found = np.linalg.inv(rows)
        except np.linalg.LinAlgError:
            return lost
        rest = np.abs(np.eye(d) - found @ rows)
        rest += growth(d + 9) * (np.abs(found) @ np.abs(rows)) * (1 + 2.0**-30) + d * 2.0**-900
        defect = float(base.signed_norm_up((rest @ base.widths() * (1 + growth(d + 9)))[None])[0])
        if not defect < 1:
            return lost
        return Inverse(frozen(found / unit), up(1 / down(1 - defect)))
