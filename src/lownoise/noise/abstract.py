# SPDX-License-Identifier: Apache-2.0
"""What every noise can say of itself.

The noise is a real vector, drawn without looking at the totals; what is published is the totals,
integers, plus its rounding: `samplers.lazy` says why rounding reveals nothing more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lownoise.errors import PlanError
from lownoise.kinds import Kinds
from lownoise.numbers.arrays import frozen
from lownoise.samplers.lazy import rounded

if TYPE_CHECKING:
    from lownoise.noise.loss import Loss
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.samplers.lazy import Lazy
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies import AbstractBody


class AbstractStructure(ABC):
    """Changes whose greatest length in Gaussian noise follows from how they are made."""

    @abstractmethod
    def radius_up(self, shape: AbstractShape) -> float:
        """Return at least the greatest length of a change in noise of this shape.

        Raises:
            PlanError: where the noise is not of the form that is known for them.
        """


class AbstractNoise(ABC):
    """Real-valued noise on r integers, in their unit.

    One from outside says its name and fields by `@NOISES.kind`, how it is read from the body of
    changes, a distance in total variation and its fields (`make`), and by `fitted` how much of it a
    plan takes where `mechanism=` names it.
    """

    note: ClassVar[str] = ""  # what a comparison of mechanisms says of it

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of integers r."""

    @abstractmethod
    def loss(self, changes: AbstractBody) -> Loss:
        """Return what integers reveal that one neighbour moves by points of `changes`."""

    def draw(self, randomness: Randomness) -> Lazy:
        """Return the noise, known by its bits so far.

        Raises:
            PlanError: where it is not drawn bit by bit.
        """
        raise PlanError(f"noise={type(self).__name__} is not drawn bit by bit; use its integers")

    def integers(self, randomness: Randomness) -> list[int]:
        """Return the rounding of one draw, r integers."""
        return rounded(self.draw(randomness), randomness=randomness)

    def part(self, piece: Any, randomness: Randomness) -> Integers:  # noqa: ANN401 (of the totals)
        """Return the rounding of one draw where the totals' integers come: by default all of it."""
        return np.array(self.integers(randomness), dtype=object)

    def covariance(self) -> Vector:
        """Return its covariance, shape (r, r); or shape (r,), its diagonal, where that is all.

        Raises:
            PlanError: where it fits no matrix.
        """
        raise PlanError(f"covariance of {type(self).__name__} is no matrix; ask it of two cells")

    def simulate(self, count: int, randomness: Randomness) -> Vector:
        """Return `count` draws in floats, for predictions and tests alone; shape (count, r).

        Raises:
            PlanError: where it fits no row.
        """
        raise PlanError(f"noise={type(self).__name__} stands in no row; draw its pieces")

    def answer_factor(self, unit: Vector, embed: Vector | None) -> AbstractShape:
        """Return a factor of the answers' covariance; arguments as of `deviations`.

        Raises:
            PlanError: where the noise is no Gaussian.
        """
        raise PlanError(
            "region is the ellipsoid of Gaussian noise; for other noise use simultaneous_interval",
        )

    @classmethod
    def fitted(cls, setting: Any) -> Any:  # noqa: ANN401, ARG003 (planning is above)
        """Return the mechanism with the least such noise within a budget.

        Args:
            setting: the totals, what errors weigh and the budget, a `planning.pure_noise.Setting`.

        Raises:
            PlanError: where plans fit it otherwise, or it cannot cover the changes.
        """
        raise PlanError(f"noise={cls.__name__} is not fitted by name")

    @property
    @abstractmethod
    def estimated(self) -> bool:
        """Whether the covariance was estimated by simulation and not computed."""

    def deviations(self, unit: Vector, embed: Vector | None) -> Vector:
        """Return the standard deviations of answers that follow from the integers, shape (m,).

        Args:
            unit: what one step of each integer is worth, shape (r,).
            embed: from the integers' worth to the answers, shape (m, r); None for the identity.
        """
        return self.spread(unit, embed)[0]

    def spread(self, unit: Vector, embed: Vector | None) -> tuple[Vector, Vector]:
        """Return how answers stray, and how each does with the last; shapes (m,) and (m,).

        Args:
            unit: as of `deviations`.
            embed: as of `deviations`.

        Returns:
            The standard deviations, and the covariance of each answer with the last.
        """
        own = self.covariance()
        if embed is None:
            flat = own.ndim == 1
            last = np.append(np.zeros(own.size - 1), own[-1]) if flat else own[:, -1]
            deviations = np.sqrt(own if flat else np.diag(own)) * unit
            return frozen(deviations), frozen(last * unit * unit[-1])
        matrix = np.asarray(embed * unit)
        product = matrix * own if own.ndim == 1 else matrix @ own
        variance = np.einsum("ij,ij->i", product, matrix)
        return frozen(np.sqrt(np.maximum(variance, 0.0))), frozen(product @ matrix[-1])

    def answer_covariance(self, unit: Vector, embed: Vector | None) -> Vector:
        """Return the covariance of the answers, shape (m, m); arguments as of `deviations`."""
        own = self.covariance()
        dense = np.diag(own) if own.ndim == 1 else own
        if embed is None:
            return frozen(dense * unit * unit[:, None])
        matrix = np.asarray(embed * unit)
        return frozen(matrix @ dense @ matrix.T)


NOISES: Kinds[AbstractNoise] = Kinds("noise")  # by the names of mechanisms
