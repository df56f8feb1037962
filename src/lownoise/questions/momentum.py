# SPDX-License-Identifier: Apache-2.0
"""The workload of gradient descent with momentum: running sums of sums that forget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import LAST, grown
from lownoise.questions.answers import BITS, MomentumAnswers
from lownoise.questions.streams import (
    WORKLOADS,
    AbstractStreamWorkload,
    checked_rate,
    checked_rounds,
)

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.questions.answers import AbstractAnswers


@WORKLOADS.kind("momentum", "rounds", "rate")
@final
@readable
@dataclass(frozen=True, init=False)
class Momentum(AbstractStreamWorkload):
    """Running sums of decayed sums, as in gradient descent with momentum.

    With v_t = x_t + rate·v_{t−1}, answer t is v_1 + … + v_t, so that x_s counts
    1 + rate + … + rate^(t−s) times.

    Args:
        rounds: n ≥ 1, how many rounds there will be at most.
        rate: between 0 and 1, the factor by which v decays per round.

    Raises:
        QuestionError: where a number is out of range.

    Examples:
        >>> Momentum(3, 0.5).first_column()
        array([1.  , 1.5 , 1.75])
    """

    rounds: int
    rate: float

    def __init__(self, rounds: int, rate: float) -> None:
        object.__setattr__(self, "rounds", checked_rounds("Momentum.rounds", rounds))
        object.__setattr__(self, "rate", checked_rate("Momentum.rate", rate))

    @property
    def longest(self) -> float:
        """At least n/(1 − rate)."""
        return self.rounds * min(float(self.rounds), grown(1.0, LAST) / (1 - self.rate))

    def exact(self, coordinates: int) -> AbstractAnswers:
        """Return running sums before the first round: in units of 2^-64 of a step."""
        return MomentumAnswers(self.rate, coordinates)

    def slack(self, largest: float) -> float:
        """Return a half, and what each round loses of each sum that forgets: less than a unit."""
        return 0.5 + 2.0**-BITS * self.longest

    def first_column(self, count: int | None = None) -> Vector:
        """Return (1 − rate^t)/(1 − rate) for t = 1, 2, …."""
        t = np.arange(1, (self.rounds if count is None else count) + 1, dtype=float)
        return np.asarray(-np.expm1(t * math.log(self.rate)) / (1 - self.rate))
