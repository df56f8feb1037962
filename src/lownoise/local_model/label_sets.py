# SPDX-License-Identifier: Apache-2.0
"""Reports that name a set of labels: what follows of any law that treats other labels alike.

S is the set, t the record's label. t is in S with chance P, another label i with Q, both t and i
with A, and two others with B. So E 1[i ∈ S] = Q + D·f_i, D = P − Q, where t has the shares f, and
with c_A = A − PQ, c_B = B − Q² (ours, all that follows):

* cov(1[i ∈ S], 1[j ∈ S]) = c_B + (c_A − c_B)(f_i + f_j) − D²·f_i·f_j where t is drawn by f.
* Var(Σ aᵢ1[i ∈ S]) = P(1−P)a_t² + Q(1−Q)(s₂ − a_t²) + 2c_A·a_t(s₁ − a_t) + c_B((s₁ − a_t)² − s₂ +
  a_t²) for one record, s₁ and s₂ being the sums of a and of its squares.

Divided by D² these are those of the estimates of shares.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lownoise.local_model.draws import log_up
from lownoise.local_model.randomizer import AbstractRandomizer, LocalLoss
from lownoise.numbers.arrays import frozen, weighed
from lownoise.numbers.rounding import ROUGH, grown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction
    from typing import Any

    from lownoise.local_model.randomizer import Takes
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.numbers.randomness import Randomness

_BLOCK = 1 << 22  # numbers at once
_ROUNDING = 1 + 2.0**-30  # of sums of variances


class AbstractLabelRandomizer(AbstractRandomizer):
    """What follows of P, Q, A and B alone."""

    takes: ClassVar[Takes] = "label"
    labels: int

    @property
    @abstractmethod
    def chances(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """P, Q, A and B, exact."""

    @property
    @abstractmethod
    def odds(self) -> Fraction:
        """The greatest ratio of the chances that two labels give a report; or the least one."""

    @abstractmethod
    def _sets(self, labels: Integers, *, randomness: Randomness) -> Integers:
        """Return reports of a block of labels, shape (n,)."""

    @abstractmethod
    def ends(self, answers: Vector) -> tuple[Vector, Vector]:
        """Return the least and the greatest Σ aᵢ1[i ∈ S] of allowed reports, of each row."""

    @property
    def dimension(self) -> int:
        """The number k of labels."""
        return self.labels

    @cached_property
    def lowest(self) -> Integers:
        """0 for each label, where a report has a bit for each."""
        return np.zeros(self.labels, dtype=np.int64)

    @cached_property
    def highest(self) -> Integers:
        """1 for each label."""
        return np.ones(self.labels, dtype=np.int64)

    def sums(self, reports: Integers) -> Integers:
        """Return how many reports hold each label, shape (k,)."""
        return np.asarray(reports.sum(axis=0, dtype=np.int64))

    @cached_property
    def loss(self) -> LocalLoss:
        """What one report reveals: ε = ln of the greatest ratio, rounded up."""
        return LocalLoss(log_up(self.odds))

    @cached_property
    def moments(self) -> tuple[float, float, float, float, float]:
        """Q, D, P(1 − P), c_A and c_B."""
        P, Q, A, B = self.chances
        return float(Q), float(P - Q), float(P * (1 - P)), float(A - P * Q), float(B - Q * Q)

    def reports(self, encoded: Integers, *, randomness: Randomness) -> Integers:
        """Return a report of each label, shape (n, c)."""
        labels = np.asarray(encoded, dtype=np.int64).reshape(-1)
        step = max(_BLOCK // self.labels, 1)
        blocks = [labels[start : start + step] for start in range(0, max(len(labels), 1), step)]
        return np.concatenate([self._sets(own, randomness=randomness) for own in blocks])

    def mean(self, sums: Any, count: int) -> Vector:  # noqa: ANN401
        """Return the unbiased estimates of the labels' shares, shape (k,); they add up to 1 or so.

        Args:
            sums: how many reports hold each label.
            count: n.
        """
        Q, D, *_ = self.moments
        return frozen((np.asarray(sums, dtype=np.float64) / count - Q) / D)

    def _own_squares(self, shares: Vector) -> Vector:
        """Return E eᵢ² of a report's estimates e, shape (k,)."""
        Q, D, *_ = self.moments
        return np.asarray(((Q + D * shares) * (1 - 2 * Q) + Q**2) / D**2)

    def second_moments(self, shares: Vector) -> Vector:
        """Return E e·eᵀ of a report's estimates e, which is linear in the shares; shape (k, k)."""
        _, D, _, cA, cB = self.moments
        found = (cB + (cA - cB) * (shares[:, None] + shares)) / D**2
        np.fill_diagonal(found, self._own_squares(shares))
        return found

    def squares(self, shares: Vector, answers: Vector, about: float = 0.0) -> Vector:
        """Return E (Σ aᵢ(eᵢ − c))² of each answer, as by `second_moments`; shape (m,).

        Args:
            shares: f, shape (k,).
            answers: the numbers a, shape (m, k), or a diagonal (k,).
            about: c.
        """
        own = self._own_squares(shares)
        if answers.ndim == 1:
            return np.asarray(answers**2 * (own - 2 * about * shares + about**2))
        _, D, _, cA, cB = self.moments
        a2, total, mean = answers**2, answers.sum(axis=1), answers @ shares
        # Σ aᵢaⱼ over i ≠ j, and with f_i + f_j in it
        pairs, weighted = total**2 - a2.sum(axis=1), 2 * (total * mean - a2 @ shares)
        found = a2 @ own + (cB * pairs + (cA - cB) * weighted) / D**2
        return np.asarray(found - 2 * about * total * mean + (about * total) ** 2)

    def covariance(self, sums: Any, count: int) -> Vector:  # noqa: ANN401
        """Return the estimate of the covariance of the shares, shape (k, k).

        E e·eᵀ − f̂f̂ᵀ of the estimates f̂ is n − 1 times that on average, since E f̂f̂ᵀ has the
        covariance of f̂ in it, a part 1/n of the law's (ours).
        """
        f = self.mean(sums, count)
        return frozen((self.second_moments(f) - f[:, None] * f) / (count - 1))

    def deviations(self, sums: Any, count: int, answers: Vector) -> Vector:  # noqa: ANN401
        """Return the standard deviations that `covariance` says, of no k² numbers; shape (m,)."""
        f = self.mean(sums, count)
        found = self.squares(f, answers) - weighed(answers, f) ** 2
        return frozen(np.sqrt(np.maximum(found, 0.0) / (count - 1)))

    def variances(self, answers: Vector) -> Vector:
        """Return the greatest variance of each answer over all labels, shape (m,)."""
        if answers.ndim == 1:
            Q, D, own, *_ = self.moments
            return frozen(answers**2 * grown(max(own, Q * (1 - Q)) / D**2, ROUGH))
        found = [self.of_labels(part).max(axis=1) for part in self._parts(answers)]
        return frozen(grown(np.concatenate(found), ROUGH))

    def total_variance(self, answers: Vector) -> float:
        """Return the greatest sum of the answers' variances over all labels, rounded up."""
        if answers.ndim == 1:
            Q, D, own, *_ = self.moments
            squares = answers**2
            other = Q * (1 - Q)
            totals = other * squares.sum() + (own - other) * squares
            return float(grown(totals.max() / D**2, ROUGH))
        summed = np.zeros(self.labels)
        for part in self._parts(answers):
            summed += self.of_labels(part).sum(axis=0)
        return float(grown(summed.max(), ROUGH))

    def influence(self, answers: Vector) -> Vector:
        """Return how far one report in place of another moves n times each answer, shape (m,)."""
        D = self.moments[1]
        if answers.ndim == 1:
            return frozen(np.abs(answers) * (_ROUNDING / D))
        least, greatest = self.ends(answers)
        return frozen((greatest - least) * (_ROUNDING / D))

    def _parts(self, answers: Vector) -> Iterator[Vector]:
        step = max(_BLOCK // self.labels, 1)
        for start in range(0, len(answers), step):
            yield answers[start : start + step]

    def of_labels(self, a: Vector) -> Vector:
        """Return the variance of each answer of one report, of each label; shape (m, k)."""
        Q, D, own, cA, cB = self.moments
        squares = a**2
        rest, rest2 = a.sum(axis=1, keepdims=True) - a, squares.sum(axis=1, keepdims=True) - squares
        found = own * squares + Q * (1 - Q) * rest2 + 2 * cA * a * rest + cB * (rest**2 - rest2)
        return np.asarray(np.maximum(found, 0.0) / D**2)
