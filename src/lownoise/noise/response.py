# SPDX-License-Identifier: Apache-2.0
"""Randomised response: every record is answered for on its own, truly or at random.

A record is reported as it is with chance q, and else as any of the N records alike. Two records
give a report with chances whose ratio is at most (q + (1 − q)/N)/((1 − q)/N) = 1 + qN/(1 − q), so a
report is ln(1 + qN/(1 − q))-DP whoever collects it, and so are all of them together when one record
takes another value. With yⱼ reports of record j, (yⱼ − n(1 − q)/N)/q is an unbiased count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.abstract import Loss
from lownoise.noise.queries import AbstractRecords
from lownoise.noise.totals import check_rows
from lownoise.numbers.arrays import frozen
from lownoise.numbers.intervals import precision
from lownoise.numbers.rounding import shrunk, up
from lownoise.privacy import noise_curve
from lownoise.samplers.lazy import below
from lownoise.sensitivity.relations import SUBSTITUTE

if TYPE_CHECKING:
    from lownoise.engines.counts import Histogram
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.questions import AbstractQueries
    from lownoise.sensitivity.relations import AbstractWord

MOST_REPORTS = 10**7
_WORDS = 2.0**64
_BLOCK = 1 << 18


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class ResponseMechanism(AbstractRecords):
    """The number of reports of each record.

    Args:
        question: the queries and the records; no row may be left out.
        size: the public number of records n.
        keep: q in (0, 1), a whole number over 2^64: the chance that a report is kept true.

    Raises:
        PlanError: where a number is out of range, or rows would be dropped.
    """

    question: AbstractQueries
    size: int
    keep: float
    most_rounding: ClassVar[float | None] = None  # nothing is rounded

    def __post_init__(self) -> None:
        if self.question.drops:
            raise PlanError("dropping rows would change the public size; use a stand-in")
        whole = 0 < self.keep < 1 and (self.keep * _WORDS).is_integer()
        if not whole or not 1 <= self.size <= MOST_REPORTS:
            raise PlanError("ResponseMechanism.keep or size is out of range; plan again")

    @property
    def relation(self) -> AbstractWord:
        """One record takes another value."""
        return SUBSTITUTE

    def check_released(self, integers: Any) -> None:  # noqa: ANN401 (a row of them)
        """Return: reports may be any."""

    @property
    def length(self) -> int:
        """How many integers a release has: one a record."""
        return self.question.record_count

    @property
    def estimated(self) -> bool:
        """It is known."""
        return False

    @cached_property
    def loss(self) -> Loss:
        """What a report reveals, rounded up."""
        from flint import arb, fmpq

        q = Fraction(self.keep)
        ratio = 1 + q * self.length / (1 - q)
        with precision(128):
            epsilon = up(float(arb(fmpq(ratio.numerator, ratio.denominator)).log().upper()))
        if self.length == 1:  # there is nothing to tell
            return Loss(epsilon, 0.0, 0.0, 0.0)
        return Loss(
            epsilon,
            0.0,
            noise_curve.response_rho_up(q, self.length),
            noise_curve.response_mu_up(q, self.length),
        )

    def run(self, records: Histogram, *, randomness: Randomness) -> tuple[int, ...]:
        """Return the number of reports of each record.

        The coins and the random reports are drawn for all n rows alike, whatever they are.

        Raises:
            TableError: where the table has not the public number of rows.
        """
        check_rows(self.size, records.count)
        return tuple(self._reports(records.counts, randomness).tolist())

    def _reports(self, counts: Integers, randomness: Randomness) -> Integers:
        ends = np.cumsum(counts)
        reports = np.zeros(self.length, dtype=np.int64)
        for start in range(0, self.size, _BLOCK):
            n = min(_BLOCK, self.size - start)
            kept = randomness.words(n) < np.uint64(int(self.keep * _WORDS))
            # the rows of one record stand together: their order is not theirs to choose
            true = np.searchsorted(ends, np.arange(start, start + n), side="right")
            random = below(self.length, n, randomness)
            reports += np.bincount(np.where(kept, true, random), minlength=self.length)
        return reports

    def check(self, integers: tuple[int, ...]) -> None:
        """Refuse numbers of reports that n rows cannot have given.

        Raises:
            PlanError: where one is below 0, or they are not n together.
        """
        if min(integers) < 0 or sum(integers) != self.size:
            raise PlanError(f"integers are no {self.size:,} reports of records")

    def covariance(self) -> Vector:
        """Refuse: the covariance depends on the data.

        Raises:
            PlanError: as said.
        """
        raise PlanError("covariance of randomised response depends on the data; none is stated")

    def answers(self, integers: tuple[int, ...]) -> Vector:
        """Return the unbiased answers, shape (m,)."""
        reports = np.array(integers, dtype=np.float64)
        counts = (reports - self.size * ((1 - self.keep) / self.length)) / self.keep
        return frozen(self.question.matrix[:, 0] * self.size + self._apart @ counts)

    @cached_property
    def _apart(self) -> Vector:
        """What each record adds beyond what the first adds: 0 in an answer that never moves."""
        W = self.question.matrix
        return frozen(W - W[:, :1])

    @cached_property
    def deviations(self) -> Vector:
        """The greatest standard deviation of each answer over all tables, shape (m,)."""
        W, q, n = self._apart, self.keep, self.size
        mean, square = np.mean(W, axis=1), np.mean(W**2, axis=1)
        # a report of record j adds w_j with chance q, and else one of all alike
        second = q * W**2 + (1 - q) * square[:, None]
        first = q * W + (1 - q) * mean[:, None]
        return frozen(np.sqrt(n * np.maximum(second - first**2, 0).max(axis=1)) / q)

    @cached_property
    def total_variance(self) -> float:
        """The greatest sum of all answers' variances over all tables."""
        W, q = self._apart, self.keep
        square, mean = np.sum(np.mean(W**2, axis=1)), np.mean(W, axis=1)
        second = q * np.sum(W**2, axis=0) + (1 - q) * square
        first = np.sum((q * W + (1 - q) * mean[:, None]) ** 2, axis=0)
        return float(self.size * np.max(second - first) / q**2)

    @cached_property
    def ranges(self) -> Vector:
        """How far apart what two reports add to each answer can be, shape (m,)."""
        W = self.question.matrix
        return frozen((W.max(axis=1) - W.min(axis=1)) / self.keep)


def keep_for(epsilon: float, records: int) -> float:
    """Return the greatest q, over 2^64, that reveals at most ε.

    Args:
        epsilon: ε > 0.
        records: N ≥ 2.

    Examples:
        >>> round(keep_for(1.0, 2), 6)  # tanh(1/2)
        0.462117
    """
    keep = -math.expm1(-epsilon) / (1 + (records - 1) * math.exp(-epsilon))
    return math.floor(shrunk(keep) * 2.0**53) / 2.0**53
