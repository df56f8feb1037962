# SPDX-License-Identifier: Apache-2.0
"""Noise that is independent but for one block of coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.kinds import NONNEGATIVE, TABLE, WHOLES, Field
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import norm_up
from lownoise.sensitivity.factors.abstract import SHAPES, AbstractShape, Whitening, check_width
from lownoise.sensitivity.factors.dense import DenseShape

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector


def _checked(scale: Vector, places: Integers, factor: Vector) -> BlockShape:
    check_width(scale, "scale")
    check_width(factor, "factor")
    rising = places.ndim == 1 and places.size > 0 and bool(np.all(np.diff(places) > 0))
    if not rising or not 0 <= places[0] <= places[-1] < scale.size + places.size:
        raise FileError("noise.places is not made of rising places of the block")
    if factor.shape != (places.size,) * 2:
        raise FileError("noise.factor is not one row and column a place of the block")
    return BlockShape(scale, places, DenseShape(factor))


def _factor(shape: Any) -> Vector:  # noqa: ANN401 (a shape of this kind)
    return np.asarray(shape.block.factor)


@SHAPES.kind(
    "block",
    Field("scale", NONNEGATIVE),
    Field("places", WHOLES),
    Field("factor", TABLE, attribute=_factor),
    make=_checked,
)
@final
@dataclass(frozen=True, eq=False)
class BlockShape(AbstractShape):
    """L is diagonal but for a square block of some rows and columns: no (d, d) matrix is formed.

    Args:
        scale: the standard deviations of all other coordinates, in order, shape (d − k,).
        places: which coordinates make the block, rising, shape (k,).
        block: the shape of those, of k normal numbers.

    Raises:
        PlanError: where the block has not one row and column a place.

    Examples:
        >>> shape = BlockShape(np.array([3.0]), np.array([0, 2]), DenseShape([[2, 0], [1, 1]]))
        >>> shape.dense().tolist()
        [[4.0, 0.0, 2.0], [0.0, 9.0, 0.0], [2.0, 0.0, 2.0]]
        >>> shape.deviations().round(3).tolist()
        [2.0, 3.0, 1.414]
    """

    scale: Vector
    places: Integers
    block: DenseShape

    def __post_init__(self) -> None:
        if self.block.factor.shape != (self.places.size,) * 2:
            raise PlanError("BlockShape.block is not one row and column a place; plan again")

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.scale.size + self.places.size)

    @property
    def sources(self) -> int:
        """One a coordinate."""
        return self.dimension

    @cached_property
    def alone(self) -> Integers:
        """The coordinates beside the block, rising, shape (d − k,)."""
        return np.delete(np.arange(self.dimension), self.places)

    def _placed(self, alone: Vector, block: Vector) -> Vector:
        found = np.empty(self.dimension)
        found[self.alone], found[self.places] = alone, block
        return found

    @property
    def longest_row(self) -> int:
        """Every entry of a row of the block may count."""
        return self.block.longest_row

    @property
    def whitening(self) -> Whitening:
        """The inverse of the scale, and that of the block: of shape (d, d)."""
        white = self.block.whitening
        found = np.diag(
            self._placed(1 / np.where(self.scale > 0, self.scale, 1.0), np.zeros(self.places.size))
        )
        found[np.ix_(self.places, self.places)] = white.matrix
        off = white.defect + 2.0**-50 * self.dimension
        return Whitening(found, off if np.all(self.scale > 0) else np.inf)

    def parts(self, places: Integers) -> tuple[Vector, DenseShape] | None:
        """Return the scale and the block where the places are the block's."""
        return (self.scale, self.block) if np.array_equal(places, self.places) else None

    def apply(self, vector: Vector) -> Vector:
        """Return L·vector, shape (d,)."""
        return self._placed(self.scale * vector[self.alone], self.block.apply(vector[self.places]))

    def apply_abs(self, vector: Vector) -> Vector:
        """Return |L|·vector, shape (d,)."""
        own = self.block.apply_abs(vector[self.places])
        return self._placed(self.scale * vector[self.alone], own)

    def solve(self, vector: Vector) -> Vector:
        """Return z with L·z = vector, infinite where there is none, shape (d,)."""
        own = vector[self.alone]
        with np.errstate(divide="ignore", invalid="ignore"):
            alone = np.where(own == 0, 0.0, own / self.scale)
        return self._placed(alone, self.block.solve(vector[self.places]))

    def deviations(self) -> Vector:
        """Return the scale, and the lengths of the rows of the block, shape (d,)."""
        return frozen(self._placed(self.scale, self.block.deviations()))

    def conditional_scales(self) -> tuple[Vector, Vector]:
        """Return the scale twice, and beside it what the block has of both."""
        least, most = self.block.conditional_scales()
        return self._placed(self.scale, least), self._placed(self.scale, most)

    @property
    def rank(self) -> int:
        """How many scales are not 0, and the columns of the block."""
        return int(np.count_nonzero(self.scale)) + self.block.rank

    def mapped(self, matrix: Vector) -> AbstractShape:
        """Return the dense shape of matrix·L; `matrix` has shape (m, d)."""
        found = np.zeros((len(matrix), self.dimension))
        found[:, self.alone] = matrix[:, self.alone] * self.scale
        found[:, self.places] = matrix[:, self.places] @ self.block.factor
        return DenseShape(found)

    def dense(self) -> Vector:
        """Return M, shape (d, d)."""
        found = np.diag(self._placed(self.scale**2, np.zeros(self.places.size)))
        found[np.ix_(self.places, self.places)] = self.block.dense()
        return found

    def entries(self, rows: Integers, columns: Integers) -> Vector:
        """Return entries of M, by rows and columns that broadcast together."""
        variances = self._placed(self.scale**2, np.zeros(self.places.size))
        found = np.where(rows == columns, variances[rows], 0.0)
        place = np.full(self.dimension, -1)
        place[self.places] = np.arange(self.places.size)
        first, second = np.broadcast_arrays(place[rows], place[columns])
        inside = (first >= 0) & (second >= 0)
        found[inside] = self.block.dense()[first[inside], second[inside]]
        return found

    def scaled(self, factor: float | Vector) -> Self:
        """Return the shape of factor·z; `factor` is a number or has shape (d,), one a row."""
        rows = np.broadcast_to(np.asarray(factor, dtype=np.float64), (self.dimension,))
        block = self.block.scaled(rows[self.places])
        return type(self)(frozen(np.abs(rows[self.alone]) * self.scale), self.places, block)

    def row(self, index: int) -> tuple[Integers, Vector]:
        """Return where row `index` of L is not zero, and its entries there."""
        at = int(np.searchsorted(self.places, index))
        if at < self.places.size and self.places[at] == index:
            where, entries = self.block.row(at)
            return self.places[where], entries
        return np.array([index], dtype=np.int64), self.scale[index - at : index - at + 1]

    def box_radius_up(self, half_width: Vector) -> float:
        """Return at least √(Σ(half_widthᵢ/scaleᵢ)² + what the block has)."""
        own = norm_up(half_width[self.alone], self.scale)
        other = self.block.box_radius_up(half_width[self.places])
        return norm_up(np.array([own, other]), np.ones(2))
