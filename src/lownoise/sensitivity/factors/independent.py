# SPDX-License-Identifier: Apache-2.0
"""Independent noise, a standard deviation an answer, of which several may be multiples of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import NONNEGATIVE, Field
from lownoise.numbers.arrays import frozen, vector
from lownoise.numbers.rounding import grown, growth, norm_up
from lownoise.sensitivity.factors.abstract import SHAPES, AbstractShape, Whitening, check_width
from lownoise.sensitivity.factors.dense import DenseShape

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector


class AbstractScaled(AbstractShape):
    """L has at most one entry a row, its scale, which is not negative."""

    scale: Vector

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.scale.size

    @property
    def longest_row(self) -> int:
        """One entry a row."""
        return 1

    def deviations(self) -> Vector:
        """Return the scale, shape (d,)."""
        return self.scale

    def apply_abs(self, vector: Vector) -> Vector:
        """Return L·vector: its entries are not negative."""
        return self.apply(vector)


def _scale(scale: ArrayLike, field: str) -> Vector:
    """Return standard deviations, shape (d,).

    Raises:
        PlanError: where one is negative or not finite.
    """
    checked = vector(scale, field=field, error=PlanError)
    negative = np.flatnonzero(checked < 0)
    if negative.size:
        i = int(negative[0])
        raise PlanError(f"{field}[{i}]={checked[i]} is negative; give its size")
    return checked


def _checked(scale: Vector) -> DiagonalShape:
    check_width(scale, "scale")
    return DiagonalShape(scale)


@SHAPES.kind("diagonal", Field("scale", NONNEGATIVE), make=_checked)
@final
@dataclass(frozen=True, eq=False, init=False)
class DiagonalShape(AbstractScaled):
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
        object.__setattr__(self, "scale", _scale(scale, "DiagonalShape.scale"))

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

    def parts(self, places: Integers) -> tuple[Vector, DenseShape]:
        """Return the deviations of all but some coordinates, and the shape of those."""
        return np.delete(self.scale, places), DenseShape(np.diag(self.scale[places]))

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

    def conditional_scales(self) -> tuple[Vector, Vector]:
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

    def box_radius_up(self, half_width: Vector) -> float:
        """Return at least √Σ(half_widthᵢ/scaleᵢ)²."""
        return norm_up(half_width, self.scale)


@final
@dataclass(frozen=True, eq=False, init=False)
class SelectedShape(AbstractScaled):
    """L has at most one entry a row: answer i is scaleᵢ times normal number sourceᵢ.

    Args:
        scale: shape (d,), not negative; 0 where an answer has no noise.
        source: which of the k normal numbers, shape (d,), from 0.

    Raises:
        PlanError: where a scale is negative or not finite, or the sources do not fit.

    Examples:
        >>> SelectedShape([1.0, 2.0, 0.0], np.array([0, 0, 0])).dense()
        array([[1., 2., 0.],
               [2., 4., 0.],
               [0., 0., 0.]])
    """

    scale: Vector
    source: Integers
    count: int

    def __init__(self, scale: ArrayLike, source: Integers) -> None:
        checked = _scale(scale, "SelectedShape.scale")
        if source.shape != checked.shape or np.any(source < 0):
            raise PlanError("SelectedShape.source is not one number an answer; give one from 0")
        object.__setattr__(self, "scale", checked)
        object.__setattr__(self, "source", source.astype(np.int64))
        object.__setattr__(self, "count", int(np.max(source)) + 1)

    @property
    def sources(self) -> int:
        """The number of normal numbers k."""
        return self.count

    @property
    def whitening(self) -> Whitening:
        """Nothing is known where answers follow from each other, else the inverse entries."""
        matrix = np.zeros((self.count, self.dimension))
        if self.rank < self.dimension:
            return Whitening(matrix, np.inf)
        matrix[self.source, np.arange(self.dimension)] = 1 / self.scale
        return Whitening(matrix, growth(2))

    def apply(self, vector: Vector) -> Vector:
        """Return L·vector; shapes (k,) and (d,)."""
        return self.scale * vector[self.source]

    def solve(self, vector: Vector) -> Vector:
        """Return z with L·z = vector, infinite where answers disagree; shapes (d,) and (k,)."""
        z = np.zeros(self.count)
        used = self.scale > 0
        z[self.source[used]] = vector[used] / self.scale[used]
        off = np.abs(self.scale * z[self.source] - vector)
        return np.full(self.count, np.inf) if np.any(off > 1e-9 * np.abs(vector)) else z

    def conditional_scales(self) -> tuple[Vector, Vector]:
        """Return zeros for answers that follow from others, and the scale."""
        alone = np.bincount(self.source, minlength=self.count)[self.source] == 1
        return frozen(np.where(alone, self.scale, 0.0)), self.scale

    @property
    def rank(self) -> int:
        """How many normal numbers count."""
        return int(np.unique(self.source[self.scale > 0]).size)

    def mapped(self, matrix: Vector) -> AbstractShape:
        """Return the dense shape of matrix·L; `matrix` has shape (m, d)."""
        factor = np.zeros((len(matrix), self.count))
        np.add.at(factor.T, self.source, (matrix * self.scale).T)
        return DenseShape(factor)

    def dense(self) -> Vector:
        """Return M, shape (d, d)."""
        same = self.source[:, None] == self.source
        return np.asarray(same * np.outer(self.scale, self.scale))

    def scaled(self, factor: float | Vector) -> Self:
        """Return the shape of factor·z; `factor` is a number or has shape (d,), not negative."""
        return type(self)(factor * self.scale, self.source)

    def row(self, index: int) -> tuple[Integers, Vector]:
        """Return the one entry of row `index`."""
        return self.source[index : index + 1], self.scale[index : index + 1]

    def box_radius_up(self, half_width: Vector) -> float:
        """Return infinity where answers follow from each other: a box is not flat."""
        if self.rank < self.dimension:
            return np.inf if np.any(half_width > 0) else 0.0
        ratios = np.nextafter(half_width / self.scale, np.inf)
        return grown(float(np.linalg.norm(ratios)), growth(2 * self.dimension + 18))
