# SPDX-License-Identifier: Apache-2.0
"""Independent noise, its own standard deviation in each coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import NONNEGATIVE, Field
from lownoise.numbers.arrays import frozen, vector
from lownoise.numbers.rounding import growth, norm_up
from lownoise.sensitivity.factors.abstract import SHAPES, AbstractShape, Whitening, check_width
from lownoise.sensitivity.factors.dense import DenseShape

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector


def _checked(scale: Vector) -> DiagonalShape:
    check_width(scale, "scale")
    return DiagonalShape(scale)


@SHAPES.kind("diagonal", Field("scale", NONNEGATIVE), make=_checked)
@final
@dataclass(frozen=True, eq=False, init=False)
class DiagonalShape(AbstractShape):
    """L = diag(scale): d numbers, whatever d is.

    Args:
        scale: the standard deviations, shape (d,), not negative; zero means no noise there.

    Raises:
        PlanError: where a scale is negative or not finite.

    Examples:
        >>> DiagonalShape([1, 2]).quadratic_form(np.array([1.0, 2.0]))
        2.0
    """

    scale: Vector

    def __init__(self, scale: ArrayLike) -> None:
        checked = vector(scale, field="DiagonalShape.scale", error=PlanError)
        negative = np.flatnonzero(checked < 0)
        if negative.size:
            i = int(negative[0])
            raise PlanError(f"DiagonalShape.scale[{i}]={checked[i]} is negative; give its size")
        object.__setattr__(self, "scale", checked)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.scale.size

    @property
    def sources(self) -> int:
        """One a coordinate."""
        return self.scale.size

    @property
    def whitening(self) -> Whitening:
        """diag(1/scale), each entry off by one rounding; nothing is known where a scale is 0."""
        if not np.all(self.scale > 0):
            return Whitening(np.zeros((self.scale.size,) * 2), np.inf)
        return Whitening(np.diag(1 / self.scale), growth(2))

    @property
    def independent(self) -> Vector:
        """The scale."""
        return self.scale

    @property
    def longest_row(self) -> int:
        """One entry a row."""
        return 1

    def apply(self, vector: Vector) -> Vector:
        """Return scale·vector, coordinate by coordinate, shape (d,)."""
        return self.scale * vector

    def solve(self, vector: Vector) -> Vector:
        """Return vector/scale, with 0/0 = 0 and x/0 infinite, shape (d,).

        Examples:
            >>> DiagonalShape([2, 0]).solve(np.array([1.0, 0.0]))
            array([0.5, 0. ])
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(vector == 0, 0.0, vector / self.scale)

    def diagonal(self) -> Vector:
        """Return the variances scale², shape (d,)."""
        return frozen(self.scale**2)

    def deviations(self) -> Vector:
        """Return the scale, shape (d,)."""
        return self.scale

    def spread(self) -> tuple[Vector, Vector]:
        """Return the scale twice: the coordinates are independent."""
        return self.scale, self.scale

    @property
    def rank(self) -> int:
        """How many scales are not 0."""
        return int(np.count_nonzero(self.scale))

    def mapped(self, matrix: Vector) -> AbstractShape:
        """Return the dense shape of matrix·scale, where the scales that are 0 have no column."""
        return DenseShape((matrix * self.scale)[:, self.scale > 0])

    def dense(self) -> Vector:
        """Return diag(scale²), shape (d, d)."""
        return np.diag(self.scale**2)

    def scaled(self, factor: float | Vector) -> Self:
        """Return DiagonalShape(|factor|·scale); `factor` is a number or has shape (d,)."""
        return type(self)(np.abs(factor) * self.scale)

    def row(self, index: int) -> tuple[Integers, Vector]:
        """Return the one entry of row `index`."""
        return np.array([index], dtype=np.int64), self.scale[index : index + 1]

    def apply_abs(self, vector: Vector) -> Vector:
        """Return scale·vector, shape (d,)."""
        return self.scale * vector

    def box_radius_up(self, half_width: Vector) -> float:
        """Return at least √Σ(half_widthᵢ/scaleᵢ)²."""
        return norm_up(half_width, self.scale)
