# SPDX-License-Identifier: Apache-2.0
"""Exact integer totals plus the rounding of pure noise: the release itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from lownoise.noise.pure.abstract import AbstractPureNoise, Loss
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.sensitivity.changes import Reach


class Grid(Protocol):
    """Integers that follow from a table, how far one neighbour moves them, and their answers."""

    @property
    def size(self) -> int | None:
        """The public number of records, None under `add_remove`."""

    @property
    def length(self) -> int:
        """How many integers there are, r."""

    @property
    def reach(self) -> Reach:
        """The body of all changes that one neighbour makes to the integers."""

    def exact(self, totals: Any) -> tuple[int, ...]:  # noqa: ANN401 (what an engine read)
        """Return the integers without noise."""

    @property
    def unit(self) -> Vector:
        """What one step is worth in each summed answer, shape (r,)."""

    @property
    def embed(self) -> Vector | None:
        """The matrix from summed answers to all answers, None where all are summed."""

    def answers(self, integers: tuple[int, ...]) -> Vector:
        """Return the answers, shape (m,)."""


@final
@dataclass(frozen=True, eq=False)
class AdditiveMechanism:
    """Integers plus rounded noise.

    Args:
        grid: the integers.
        noise: what is added, in their unit.

    Raises:
        PlanError: where there is not one number of noise an integer.
    """

    grid: Grid
    noise: AbstractPureNoise

    def __post_init__(self) -> None:
        if self.noise.dimension != self.grid.length:
            raise PlanError("noise has not one number an integer; plan again")

    @property
    def size(self) -> int | None:
        """The public number of records, None under `add_remove`."""
        return self.grid.size

    @property
    def length(self) -> int:
        """How many integers a release has."""
        return self.grid.length

    @property
    def estimated(self) -> bool:
        """Whether the deviations were estimated by simulation and not computed."""
        return self.noise.estimated

    @cached_property
    def loss(self) -> Loss:
        """What one run reveals, from the final integers and the final noise alone."""
        return self.noise.loss(self.grid.reach)

    def run(self, totals: Any, *, randomness: Randomness) -> tuple[int, ...]:  # noqa: ANN401
        """Return the noisy integers: the release itself.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        exact = self.grid.exact(totals)
        return tuple(q + z for q, z in zip(exact, self.noise.integers(randomness), strict=True))

    def answers(self, integers: tuple[int, ...]) -> Vector:
        """Return the released answers, shape (m,)."""
        return self.grid.answers(integers)

    @property
    def _matrix(self) -> Vector | None:
        """From noise to answers, shape (m, r); None where it is the unit's diagonal."""
        embed = self.grid.embed
        return None if embed is None else np.asarray(embed * self.grid.unit)

    @cached_property
    def deviations(self) -> Vector:
        """The standard deviation of each answer, shape (m,)."""
        return self.spread(self.grid.embed)[0]

    def spread(self, embed: Vector | None) -> tuple[Vector, Vector]:
        """Return how answers that follow from the summed ones stray; shapes (m,) and (m,).

        Args:
            embed: the answers from the summed ones, shape (m, r); None where they are the same.

        Returns:
            Their standard deviations, and the covariance of each with the last.
        """
        own, unit = self.noise.covariance(), self.grid.unit
        if embed is None:
            flat = own.ndim == 1
            last = np.append(np.zeros(own.size - 1), own[-1]) if flat else own[:, -1]
            deviations = np.sqrt(own if flat else np.diag(own)) * unit
            return frozen(deviations), frozen(last * unit * unit[-1])
        matrix = np.asarray(embed * unit)
        product = matrix * own if own.ndim == 1 else matrix @ own
        variance = np.einsum("ij,ij->i", product, matrix)
        return frozen(np.sqrt(np.maximum(variance, 0.0))), frozen(product @ matrix[-1])

    def covariance(self) -> Vector:
        """Return the covariance of the answers, shape (m, m)."""
        own, matrix = self.noise.covariance(), self._matrix
        dense = np.diag(own) if own.ndim == 1 else own
        if matrix is None:
            unit = self.grid.unit
            return frozen(dense * unit * unit[:, None])
        return frozen(matrix @ dense @ matrix.T)

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return the noise of `count` releases in the answers' units; shape (count, m)."""
        drawn, matrix = self.noise.simulate(count, randomness), self._matrix
        return np.asarray(drawn * self.grid.unit if matrix is None else drawn @ matrix.T)
