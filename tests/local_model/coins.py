# SPDX-License-Identifier: Apache-2.0
"""The plainest randomizer that the protocol allows: a biased coin for each coordinate.

So that what collects reports is tested by one whose every number can be computed by hand, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from lownoise.local_model.encoder import AbstractEncoder
from lownoise.local_model.randomizer import FULL, AbstractRandomizer, LocalLoss

DIGEST = "5e" * 32


@final
@dataclass(frozen=True)
class Coins(AbstractRandomizer):
    """Each of r coordinates of the cube is ±1, +1 with chance 1/2 + y/4: an estimate is 2x."""

    dimension: int = 3
    takes: ClassVar = "cube"

    @classmethod
    def fitted(cls, dimension: int, epsilon: float, delta: float = 0.0) -> Coins:  # noqa: ARG003
        return cls(dimension)

    @property
    def loss(self) -> LocalLoss:
        return LocalLoss(1.1 * self.dimension)  # ln 3 each

    @property
    def lowest(self) -> Any:
        return np.full(self.dimension, -1)

    @property
    def highest(self) -> Any:
        return np.full(self.dimension, 1)

    def reports(self, encoded: Any, *, randomness: Any) -> Any:
        words = randomness.words(encoded.size).reshape(encoded.shape) >> np.uint64(36)
        return np.where(words.astype(np.int64) < 2 * FULL + encoded, 1, -1)

    def allowed(self, reports: Any) -> Any:
        return np.all(np.abs(reports) == 1, axis=1)

    def sums(self, reports: Any) -> Any:
        return np.concatenate([reports.sum(axis=0), (reports.T @ reports).ravel()])

    def mean(self, sums: Any, count: int) -> Any:
        return np.array([2 * own / count for own in sums[: self.dimension]])

    def covariance(self, sums: Any, count: int) -> Any:
        m, r = self.mean(sums, count), self.dimension
        second = 4 * sums[r:].reshape(r, r).astype(np.float64)
        return (second - count * np.outer(m, m)) / (count * (count - 1))

    def variances(self, answers: Any) -> Any:
        return (4 * answers**2) if answers.ndim == 1 else 4 * (answers**2).sum(axis=1)

    def total_variance(self, answers: Any) -> float:
        return float(np.sum(self.variances(answers)))

    def influence(self, answers: Any) -> Any:
        return 4 * np.abs(answers) if answers.ndim == 1 else 4 * np.abs(answers).sum(axis=1)


@final
@dataclass(frozen=True)
class Plain(AbstractEncoder):
    """What any randomizer takes, as it is; answers are what it estimates."""

    makes: Any = "cube"
    dimension: int = 0

    @classmethod
    def of(cls, randomizer: AbstractRandomizer) -> Plain:
        return cls(randomizer.takes, randomizer.dimension)

    @property
    def length(self) -> int:
        return self.dimension

    def encode(self, records: Any) -> Any:
        return np.asarray(records)

    def decode(self, mean: Any) -> Any:
        return np.array(mean)

    @property
    def answers(self) -> Any:
        return np.ones(self.dimension)

    def apart(self, question: Any) -> float:
        return 0.0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"c{j}" for j in range(self.dimension))


def sizes(randomizer: AbstractRandomizer) -> list[int]:
    """Return how many labels each table has, one table or more, where labels are taken."""
    if randomizer.takes == "label":
        return [randomizer.dimension]
    return [part.labels for part in randomizer.parts]


def records(randomizer: AbstractRandomizer, count: int) -> Any:
    """Return encoded records of all kinds, shape (count, r), or (count, T) of T labels."""
    rng, r = np.random.default_rng(count), randomizer.dimension
    if "label" in randomizer.takes:
        return rng.integers(sizes(randomizer), size=(count, len(sizes(randomizer))))
    rows = rng.uniform(-1, 1, size=(count, r))
    if randomizer.takes == "ball":
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)
    return np.trunc(rows * (FULL - 1)).astype(np.int64)
