# SPDX-License-Identifier: Apache-2.0
"""What every noise shape can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, final

import numpy as np

from lownoise.errors import FileError
from lownoise.kinds import Kinds
from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors.dense import DenseShape


@final
@dataclass(frozen=True, eq=False)
class Whitening:
    """A map X that nearly undoes L.

    For every s, ‖L⁻¹s‖ ≤ ‖X·s‖/(1 − defect), because L⁻¹ = (XL)⁻¹X.

    Args:
        matrix: X, shape (d, d).
        defect: at least ‖I − XL‖₂; where it is not below 1, nothing is known of L⁻¹.
    """

    matrix: Vector
    defect: float


class AbstractShape(ABC):
    """A covariance M = L·Lᵀ given by its factor L, whose entries are exactly the stored floats."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of coordinates d."""

    @property
    @abstractmethod
    def sources(self) -> int:
        """The number of columns of L: how many independent normal numbers it takes."""

    @property
    @abstractmethod
    def whitening(self) -> Whitening:
        """An approximate inverse of L, and how far it is from one."""

    @property
    def independent(self) -> Vector | None:
        """The standard deviations where all coordinates are independent, shape (d,); else None."""
        return None

    def parts(self, places: Integers) -> tuple[Vector, DenseShape] | None:
        """Return the deviations of all but some coordinates, and the shape of those.

        None where not all others are independent of each other and of those.

        Args:
            places: those coordinates, rising, shape (k,).
        """
        return None

    @property
    @abstractmethod
    def longest_row(self) -> int:
        """The most entries in a row of L: how many roundings `apply` makes in one answer."""

    @abstractmethod
    def apply(self, vector: Vector) -> Vector:
        """Return L·vector; shapes (k,) and (d,)."""

    @abstractmethod
    def solve(self, vector: Vector) -> Vector:
        """Return the least z with L·z = vector, infinite where none exists; shapes (d,), (k,)."""

    def diagonal(self) -> Vector:
        """Return the diagonal of M, the variances, shape (d,)."""
        return frozen(self.deviations() ** 2)

    @abstractmethod
    def deviations(self) -> Vector:
        """Return the standard deviations, shape (d,)."""

    @abstractmethod
    def conditional_scales(self) -> tuple[Vector, Vector]:
        """Return each standard deviation given all other coordinates, and without; (d,) each."""

    @property
    @abstractmethod
    def rank(self) -> int:
        """The rank of M: in how many directions there is noise."""

    @abstractmethod
    def mapped(self, matrix: Vector) -> AbstractShape:
        """Return the shape of matrix·z for noise z of this shape; `matrix` has shape (m, d)."""

    def seen(self, matrix: Vector) -> Vector:
        """Return matrix·L, what a few functions make of the noise, shapes (n, d) and (n, k)."""
        found = np.zeros((len(matrix), self.sources))
        for i in range(self.dimension):
            where, entries = self.row(i)
            found[:, where] += matrix[:, i : i + 1] * entries
        return found

    @final
    def quadratic_form(self, vector: Vector) -> float:
        """Return vectorᵀ M⁺ vector, infinite outside the range of M; `vector` has shape (d,)."""
        return float(np.sum(self.solve(vector) ** 2))

    @abstractmethod
    def dense(self) -> Vector:
        """Return M itself, shape (d, d); only for people who ask for it."""

    def entries(self, rows: Integers, columns: Integers) -> Vector:
        """Return entries of M, by rows and columns that broadcast together."""
        return np.asarray(self.dense()[rows, columns])

    @abstractmethod
    def scaled(self, factor: float | Vector) -> Self:
        """Return the shape of factor·z for noise z of this shape; `factor` is a number or (d,)."""

    @abstractmethod
    def row(self, index: int) -> tuple[Integers, Vector]:
        """Return where row `index` of L is not zero, and its entries there; shapes (k,), (k,)."""

    @abstractmethod
    def apply_abs(self, vector: Vector) -> Vector:
        """Return |L|·vector, rounded to nearest, for error bounds; shapes (d,) and (d,)."""

    @abstractmethod
    def box_radius_up(self, half_width: Vector) -> float:
        """Return at least max √(sᵀM⁻¹s) over |sᵢ| ≤ half_widthᵢ; `half_width` has shape (d,)."""


SHAPES: Kinds[AbstractShape] = Kinds("noise")
_WIDEST = 2.0**52  # grid steps; noise of that size still fits 64 bits


def check_width(values: Vector, field: str) -> None:
    """Refuse noise that a file states and that 64 bits do not hold.

    Raises:
        FileError: as said.
    """
    if np.any(np.abs(values) > _WIDEST):
        raise FileError(f"noise.{field} is beyond 2^52 grid steps")
