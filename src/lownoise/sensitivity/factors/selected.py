# SPDX-License-Identifier: Apache-2.0
"""Independent noise of which answers are multiples, one each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, vector
from lownoise.numbers.rounding import grown, growth
from lownoise.sensitivity.factors.abstract import AbstractShape, Whitening
from lownoise.sensitivity.factors.dense import DenseShape

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector


@final
@dataclass(frozen=True, eq=False, init=False)
class SelectedShape(AbstractShape):
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
        checked = vector(scale, field="SelectedShape.scale", error=PlanError)
        if np.any(checked < 0):
            i = int(np.argmax(checked < 0))
            raise PlanError(f"SelectedShape.scale[{i}]={checked[i]} is negative; give its size")
        if source.shape != checked.shape or np.any(source < 0):
            raise PlanError("SelectedShape.source is not one number an answer; give one from 0")
        object.__setattr__(self, "scale", checked)
        object.__setattr__(self, "source", source.astype(np.int64))
        object.__setattr__(self, "count", int(np.max(source)) + 1)

    @property
    def dimension(self) -> int:
        """The number of answers d."""
        return self.scale.size

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

    @property
    def longest_row(self) -> int:
        """One entry a row."""
        return 1

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

    def diagonal(self) -> Vector:
        """Return the variances scale², shape (d,)."""
        return frozen(self.scale**2)

    def deviations(self) -> Vector:
        """Return the scale, shape (d,)."""
        return self.scale

    def spread(self) -> tuple[Vector, Vector]:
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

    def apply_abs(self, vector: Vector) -> Vector:
        """Return L·vector: its entries are not negative."""
        return self.apply(vector)

    def box_radius_up(self, half_width: Vector) -> float:
        """Return infinity where answers follow from each other: a box is not flat."""
        if self.rank < self.dimension:
            return np.inf if np.any(half_width > 0) else 0.0
        ratios = np.nextafter(half_width / self.scale, np.inf)
        return grown(float(np.linalg.norm(ratios)), growth(2 * self.dimension + 18))
