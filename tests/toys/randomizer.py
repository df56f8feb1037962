# SPDX-License-Identifier: Apache-2.0
"""A randomizer from outside the package: every column's sign, each by randomised response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.local_model import FULL, RANDOMIZERS, AbstractRandomizer, LocalLoss

if TYPE_CHECKING:
    from lownoise.local_model.randomizer import Takes
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness

_UNIT = 2**52


@RANDOMIZERS.kind("toy_signs", "columns", "keep")
@final
@dataclass(frozen=True)
class ToySigns(AbstractRandomizer):
    """A sign of each column, true with chance (1 + keep)/2, the column lifted to ±1 first."""

    columns: int
    keep: float
    takes: ClassVar[Takes] = "cube"

    def __post_init__(self) -> None:
        if type(self.columns) is not int or self.columns < 1 or not 0 < self.keep < 1:
            raise FileError("toy_signs.columns or keep is out of range")

    @classmethod
    def fitted(cls, dimension: int, epsilon: float, delta: float = 0.0) -> ToySigns:  # noqa: ARG003
        if dimension > 8:
            raise PlanError("dimension is above 8, of which signs would say too little")
        keep = math.floor(math.tanh(epsilon / dimension / 2) * (1 - 2.0**-40) * _UNIT) / _UNIT
        return cls(dimension, keep)

    @property
    def dimension(self) -> int:
        return self.columns

    @property
    def loss(self) -> LocalLoss:
        q = Fraction(self.keep)
        each = math.log((1 + q) / (1 - q))  # and up, by more than what a logarithm is off
        return LocalLoss(self.columns * each * (1 + 2.0**-45))

    @property
    def lowest(self) -> Integers:
        return np.full(self.columns, -1)

    @property
    def highest(self) -> Integers:
        return np.full(self.columns, 1)

    def reports(self, encoded: Integers, *, randomness: Randomness) -> Integers:
        def uniform() -> Any:
            words = randomness.words(encoded.size) >> np.uint64(11)
            return words.reshape(encoded.shape).astype(np.int64)

        lifted = np.where(uniform() < (encoded + FULL) * 2**26, 1, -1)
        kept = uniform() < round((1 + self.keep) / 2 * 2**53)
        return np.where(kept, lifted, -lifted)

    def allowed(self, reports: Integers) -> Any:
        return np.all(np.abs(reports) == 1, axis=1)

    def sums(self, reports: Integers) -> Any:
        return np.concatenate([reports.sum(axis=0), (reports.T @ reports).ravel()])

    def mean(self, sums: Any, count: int) -> Vector:
        return np.array([int(k) for k in sums[: self.columns]], dtype=float) / (count * self.keep)

    def covariance(self, sums: Any, count: int) -> Vector:
        second = np.array([int(k) for k in sums[self.columns :]], dtype=float)
        mean = self.mean(sums, count)
        square = second.reshape(self.columns, -1) / (count * self.keep**2)
        return (square - np.outer(mean, mean)) / (count - 1)

    def variances(self, answers: Vector) -> Vector:
        rows = np.diag(answers) if answers.ndim == 1 else answers
        return np.sum(rows**2, axis=1) / self.keep**2

    def total_variance(self, answers: Vector) -> float:
        return float(np.sum(self.variances(answers)))

    def influence(self, answers: Vector) -> Vector:
        rows = np.diag(answers) if answers.ndim == 1 else answers
        return np.abs(rows).sum(axis=1) / self.keep
