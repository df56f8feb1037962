# SPDX-License-Identifier: Apache-2.0
"""Uniform points of the unit ball of the operator norm, in any number of dimensions.

The r × c corner of a random orthogonal matrix with r + c + 1 rows is uniform among the r × c
matrices X with ‖X‖ ≤ 1. For let G = (G₁, G₂), r × c beside r × (r + 1), have independent standard
normal entries, and LLᵀ = GGᵀ. Rows of L⁻¹G are what Gram and Schmidt make of those of G. The joint
density of G₁ and A = G₂G₂ᵀ is ∝ exp(−tr(G₁G₁ᵀ + A)/2)·det(A)⁰, as G₂ has one column more than rows
(Wishart 1928). With S = G₁G₁ᵀ + A = LLᵀ and G₁ = LX it is A = L(I − XXᵀ)Lᵀ: S and X have the joint
density ∝ exp(−tr S/2)·det(S)^{c/2} where XXᵀ ≤ I. So X is uniform there, and independent of S.
One row, r = 1, is Archimedes' theorem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.normals import NormalVector, normals
from lownoise.samplers.lazy import Composed
from lownoise.samplers.uniform.abstract import AbstractUniform

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy

_BLOCK = 1 << 20  # numbers


@final
@dataclass(frozen=True)
class UniformContractions(AbstractUniform):
    """Uniform points of {X : ‖X‖ ≤ 1}, the greatest singular value, entries row by row.

    Args:
        rows: r ≥ 1.
        columns: c ≥ 1.

    Raises:
        PlanError: where one is below 1.

    Examples:
        >>> UniformContractions(1, 2).second_moment()  # a disc
        array([0.25, 0.25])
    """

    rows: int
    columns: int

    def __post_init__(self) -> None:
        if min(self.rows, self.columns) < 1:
            raise PlanError(
                f"UniformContractions has {self.rows} rows and {self.columns} columns; give 1 or "
                "more of each",
            )

    @property
    def dimension(self) -> int:
        """The number of entries r·c."""
        return self.rows * self.columns

    @property
    def _short(self) -> int:
        """The lesser number of rows and columns: the transpose is as uniform."""
        return min(self.rows, self.columns)

    @property
    def _long(self) -> int:
        return max(self.rows, self.columns)

    @property
    def _width(self) -> int:
        return self.rows + self.columns + 1

    def draw(self, randomness: Randomness) -> Lazy:
        """Return a point, known by its bits so far."""
        words = randomness.words(self._short * self._width)
        return Composed(self.dimension, (NormalVector(words),), self._corner)

    def _corner(self, balls: list[Any]) -> list[Any]:
        """Return the corner of the orthonormal rows, by Gram and Schmidt."""
        width = self._width
        made: list[list[Any]] = []
        for at in range(0, len(balls), width):
            row = balls[at : at + width]
            for other in made:
                share = _inner(row, other)
                row = [x - share * y for x, y in zip(row, other, strict=True)]
            length = _inner(row, row).rsqrt()
            made.append([x * length for x in row])
        corner = [row[: self._long] for row in made]
        if self.rows > self.columns:
            corner = [list(column) for column in zip(*corner, strict=True)]
        return [x for row in corner for x in row]

    def second_moment(self) -> Vector:
        """Return the diagonal of E u·uᵀ: an entry of an orthogonal matrix has 1/(r + c + 1)."""
        return frozen(np.full(self.dimension, 1 / self._width))

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` points in floats, for predictions and tests alone; shape (count, r·c)."""
        size = self._short * self._width
        found = np.empty((count, self.dimension))
        step = max(_BLOCK // size, 1)
        for at in range(0, count, step):
            number = min(step, count - at)
            g = normals(randomness.words(number * size))[0].reshape(number, self._short, -1)
            # columns of Q, turned so that those of R have a diagonal above 0 (Stewart 1980)
            q, r = np.linalg.qr(np.swapaxes(g, 1, 2))
            q = q * np.where(np.einsum("nii->ni", r) < 0, -1.0, 1.0)[:, None, :]
            corner = q[:, : self._long, :]
            own = corner if self.rows > self.columns else np.swapaxes(corner, 1, 2)
            found[at : at + number] = own.reshape(number, -1)
        return found


def _inner(first: list[Any], second: list[Any]) -> Any:  # noqa: ANN401 (flint carries no types)
    return sum(map(arb.__mul__, first, second), arb(0))
