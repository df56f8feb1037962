# SPDX-License-Identifier: Apache-2.0
"""What every local randomizer says of itself, and the one thing that it does.

A report is a row of integers. Its law depends on the record through the encoded integers alone, and
any two rows that an encoder can make give any set of reports with chances within e^ε of each other
(002, Definition 5): that is proved of the stored numbers, each as it is, and of no other.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, final

import numpy as np

from lownoise.kinds import Kinds
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable

if TYPE_CHECKING:
    from typing import Any, Self

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness

Takes = Literal["ball", "cube", "label", "labels"]
# "ball": r integers y with |y|² ≤ FULL², a point y/FULL of the unit ball; "cube": r integers with
# |yᵢ| ≤ FULL, a point of [-1, 1]^r; "label": one integer of 0 … r − 1, the vertex of the simplex;
# "labels": one such integer for each of several tables, which have r cells together
FULL = 2**26  # so that squares of lengths are exact in doubles


@final
@readable
@dataclass(frozen=True)
class LocalLoss:
    """What one report reveals, each number rounded up.

    Args:
        epsilon: ε; infinite for Gaussian reports.
        delta: δ, 0 where nothing is left out.
        mu: μ of a Gaussian report; infinite where ε says all.
    """

    epsilon: float
    delta: float = 0.0
    mu: float = math.inf

    def within(self, epsilon: float, delta: float = 0.0) -> bool:
        """Return whether it surely is at most ε, as its decimal and as its float, and δ."""
        from fractions import Fraction

        from lownoise.numbers.rounding import exact

        if math.isfinite(self.epsilon):
            allowed = min(exact(epsilon), Fraction(epsilon))
            return Fraction(self.epsilon) <= allowed and self.delta <= delta
        if not delta or not math.isfinite(self.mu):
            return False
        from lownoise.privacy.gaussian_curve import parameter_down

        return self.mu <= parameter_down(epsilon, delta)


class AbstractRandomizer(ABC):
    """The randomizer of one device, in its final numbers."""

    takes: ClassVar[Takes]

    @classmethod
    @abstractmethod
    def fitted(cls, dimension: int, epsilon: float, delta: float = 0.0) -> Self:
        """Return the one of the least error that reveals at most ε (or (ε, δ)).

        Args:
            dimension: r.
            epsilon: ε > 0, meant both as the decimal that it prints as and as its float.
            delta: δ, 0 for pure privacy; what a pure randomizer has no use for.

        Raises:
            PlanError: where there is none, and why.
        """

    @property
    @abstractmethod
    def dimension(self) -> int:
        """How many numbers its reports estimate, r: coordinates, or shares of labels."""

    @property
    @abstractmethod
    def loss(self) -> LocalLoss:
        """What one report reveals of the record, from the final numbers alone, rounded up."""

    @property
    @abstractmethod
    def lowest(self) -> Integers:
        """The least value of each integer of a report, shape (c,)."""

    @property
    @abstractmethod
    def highest(self) -> Integers:
        """The greatest value of each integer of a report, shape (c,)."""

    @abstractmethod
    def reports(self, encoded: Integers, *, randomness: Randomness) -> Integers:
        """Return a report of each encoded record, exactly as the law says.

        The work done, beside retries that randomness alone decides, is the same for all records.

        Args:
            encoded: what an encoder made, shape (n, r), or (n, 1) of labels.
            randomness: where the bits come from.

        Returns:
            Integers within `lowest` and `highest`, shape (n, c).
        """

    def allowed(self, reports: Integers) -> Any:  # noqa: ANN401
        """Return which rows can be reports at all, shape (n,) of truth values; given shape (n, c).

        What it can tell of honest reports is nothing: all of them are allowed.
        """
        fitting = (reports >= self.lowest) & (reports <= self.highest)
        # row by row it takes longer, and is needed only where some report is wrong
        return np.ones(len(reports), np.bool_) if np.all(fitting) else np.all(fitting, axis=1)

    @abstractmethod
    def sums(self, reports: Integers) -> Any:  # noqa: ANN401 (Python integers, of any size)
        """Return what many reports say together, as exact integers that add up: shape (T,).

        Args:
            reports: allowed ones, shape (n, c).
        """

    @abstractmethod
    def mean(self, sums: Any, count: int) -> Vector:  # noqa: ANN401
        """Return the unbiased estimate of the mean of encoded records, shape (r,).

        Of points in the unit ball or cube; of labels their shares.

        Args:
            sums: what `sums` returned, added up.
            count: the number n of reports, at least 1.
        """

    @abstractmethod
    def covariance(self, sums: Any, count: int) -> Vector:  # noqa: ANN401
        """Return an estimate of the covariance of `mean`, shape (r, r), of at least 2 reports.

        Its expectation is the covariance of `mean` where people are drawn at random, and at least
        that where they are these (it counts how they differ, too).
        """

    def deviations(self, sums: Any, count: int, answers: Vector) -> Vector:  # noqa: ANN401
        """Return the standard deviations of answers that `covariance` says, shape (m,).

        Args:
            sums: as of `covariance`.
            count: at least 2.
            answers: as of `variances`.
        """
        own = self.covariance(sums, count)
        squares = (
            answers**2 * np.diagonal(own)
            if answers.ndim == 1
            else np.einsum("ij,ij->i", answers @ own, answers)
        )
        return frozen(np.sqrt(np.maximum(squares, 0.0)))

    @abstractmethod
    def variances(self, answers: Vector) -> Vector:
        """Return the greatest variance of each answer over all records, of one report; shape (m,).

        Args:
            answers: the matrix from estimates to answers, shape (m, r), or its diagonal (r,).
        """

    @abstractmethod
    def total_variance(self, answers: Vector) -> float:
        """Return at least the greatest sum of all answers' variances over all records.

        Args:
            answers: as of `variances`.
        """

    @abstractmethod
    def influence(self, answers: Vector) -> Vector:
        """Return at least how far one report, honest or not, moves n times each answer; shape (m,).

        Args:
            answers: as of `variances`.
        """


RANDOMIZERS: Kinds[AbstractRandomizer] = Kinds("randomizer")
