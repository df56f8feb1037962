# SPDX-License-Identifier: Apache-2.0
"""Randomizers of one of k labels: each report names a set of labels that the record may have.

Three laws of that set S, t being the record's label:

* *direct*: S = {j}, j uniform with chance λ and t otherwise (k-ary randomized response).
* *unary*: t is in S with chance p, every other label with chance q, independently.
* *subset*: S is a uniform set of s labels among those that hold t, or with chance `missed` among
  those that do not.

Of one share of 0 the variance of `label_sets`, Q(1−Q)/D², at the best parameters is
(k − 2 + e^ε)/(e^ε − 1)² directly, 4e^ε/(e^ε − 1)² in unary encoding.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.local_model.draws import (
    GRAIN,
    chance_up,
    coins,
    expect_chance,
    expect_integer,
    odds_down,
    places,
    subsets,
)
from lownoise.local_model.label_sets import AbstractLabelRandomizer
from lownoise.local_model.randomizer import RANDOMIZERS

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Integers, Vector
    from lownoise.numbers.randomness import Randomness

_MOST_LABELS = 10**6
_MOST_BITS = 10**5  # of a report of one bit a label


@RANDOMIZERS.kind("direct", "labels", "uniform")
@final
@dataclass(frozen=True, kw_only=True)
class DirectResponse(AbstractLabelRandomizer):
    """One label: the true one, or with a chance any of them.

    Args:
        labels: k in [2, 10^6].
        uniform: λ, the chance that the label is uniform among all k.

    Raises:
        FileError: where a field is out of range.

    Examples:
        >>> randomizer = DirectResponse.fitted(4, 1.0)
        >>> round(randomizer.uniform, 6), randomizer.loss.epsilon <= 1
        (0.699511, True)
    """

    labels: int
    uniform: float

    def __post_init__(self) -> None:
        expect_integer("direct.labels", self.labels, 2, _MOST_LABELS)
        expect_chance("direct.uniform", self.uniform)

    @classmethod
    def fitted(cls, dimension: int, epsilon: float, delta: float = 0.0) -> DirectResponse:  # noqa: ARG003
        """Return the one of the least λ: the ratio is 1 + k(1 − λ)/λ ≤ e^ε.

        Raises:
            PlanError: where there are too few labels or too many, or ε is out of range.
        """
        _expect_labels(dimension, _MOST_LABELS)
        return cls(
            labels=dimension, uniform=chance_up(dimension / (odds_down(epsilon) - 1 + dimension))
        )

    @property
    def odds(self) -> Fraction:
        """(1 − λ + λ/k)/(λ/k)."""
        return self.chances[0] / self.chances[1]

    @cached_property
    def chances(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """P = 1 − λ + λ/k and Q = λ/k; no set has two labels."""
        uniform = Fraction(self.uniform)
        return 1 - uniform + uniform / self.labels, uniform / self.labels, 0 * uniform, 0 * uniform

    @cached_property
    def lowest(self) -> Integers:
        """0."""
        return np.zeros(1, dtype=np.int64)

    @cached_property
    def highest(self) -> Integers:
        """The last label."""
        return np.array([self.labels - 1])

    def _sets(self, labels: Integers, *, randomness: Randomness) -> Integers:
        other = places(len(labels), self.labels, randomness=randomness)
        chosen = coins(self.uniform, labels.shape, randomness=randomness)
        return np.where(chosen, other, labels)[:, None]

    def sums(self, reports: Integers) -> Integers:
        """Return how many reports name each label, shape (k,)."""
        return np.bincount(reports[:, 0], minlength=self.labels).astype(np.int64)

    def ends(self, answers: Vector) -> tuple[Vector, Vector]:
        """Return the least and the greatest number of each row, shape (m,) each."""
        return answers.min(axis=1), answers.max(axis=1)


@RANDOMIZERS.kind("unary", "labels", "kept", "added")
@final
@dataclass(frozen=True, kw_only=True)
class UnaryEncoding(AbstractLabelRandomizer):
    """One bit a label, each drawn on its own.

    Args:
        labels: k in [2, 10^5].
        kept: p, the chance that the record's label has a 1.
        added: q, the chance that another label has one, below p.

    Raises:
        FileError: where a field is out of range.

    Examples:
        >>> randomizer = UnaryEncoding.fitted(4, 1.0)
        >>> randomizer.kept, round(randomizer.added, 6), randomizer.loss.epsilon <= 1
        (0.5, 0.268941, True)
    """

    labels: int
    kept: float
    added: float

    def __post_init__(self) -> None:
        expect_integer("unary.labels", self.labels, 2, _MOST_BITS)
        expect_chance("unary.kept", self.kept)
        expect_chance("unary.added", self.added)
        if self.added >= self.kept:
            raise FileError("unary.added is not below unary.kept: reports would say nothing")

    @classmethod
    def fitted(cls, dimension: int, epsilon: float, delta: float = 0.0) -> UnaryEncoding:  # noqa: ARG003
        """Return the one with p = 1/2, q = 1/(e^ε + 1): the least error of a share near 0.

        Raises:
            PlanError: where there are too few labels or too many, or ε is out of range.
        """
        _expect_labels(dimension, _MOST_BITS)
        return cls(labels=dimension, kept=0.5, added=chance_up(1 / (odds_down(epsilon) + 1)))

    @property
    def odds(self) -> Fraction:
        """p(1 − q)/((1 − p)q): two labels differ in two bits."""
        P, Q, *_ = self.chances
        return P * (1 - Q) / ((1 - P) * Q)

    @cached_property
    def chances(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """P = p, Q = q, and independent."""
        P, Q = Fraction(self.kept), Fraction(self.added)
        return P, Q, P * Q, Q * Q

    def _sets(self, labels: Integers, *, randomness: Randomness) -> Integers:
        rows = np.arange(len(labels))
        found = coins(self.added, (len(labels), self.labels), randomness=randomness)
        found[rows, labels] = coins(self.kept, labels.shape, randomness=randomness)
        return found.astype(np.int64)

    def ends(self, answers: Vector) -> tuple[Vector, Vector]:
        """Return the sums of the numbers below 0 and of those above it, shape (m,) each."""
        return np.minimum(answers, 0).sum(axis=1), np.maximum(answers, 0).sum(axis=1)


@RANDOMIZERS.kind("subset", "labels", "size", "missed")
@final
@dataclass(frozen=True, kw_only=True)
class SubsetSelection(AbstractLabelRandomizer):
    """A set of s labels, as k bits; or as s rising labels where that is shorter.

    Args:
        labels: k in [2, 10^5].
        size: s in [1, k − 1].
        missed: the chance that the record's label is not in the set, below 1 − s/k.

    Raises:
        FileError: where a field is out of range.

    Examples:
        >>> randomizer = SubsetSelection.fitted(8, 1.0)
        >>> randomizer.size, round(randomizer.missed, 6), randomizer.loss.epsilon <= 1
        (2, 0.524633, True)
    """

    labels: int
    size: int
    missed: float

    def __post_init__(self) -> None:
        expect_integer("subset.labels", self.labels, 2, _MOST_BITS)
        expect_integer("subset.size", self.size, 1, self.labels - 1)
        expect_chance("subset.missed", self.missed)
        if self.odds <= 1:
            raise FileError("subset.missed is no less than by chance: reports would say nothing")

    @classmethod
    def fitted(cls, dimension: int, epsilon: float, delta: float = 0.0) -> SubsetSelection:  # noqa: ARG003
        """Return the one of the least error of all shares, over all s.

        Raises:
            PlanError: where there are too few labels or too many, or ε is out of range.
        """
        _expect_labels(dimension, _MOST_BITS)
        odds = odds_down(epsilon)
        size = _best_size(dimension, float(min(odds, Fraction(GRAIN))))
        out = dimension - size
        return cls(labels=dimension, size=size, missed=chance_up(out / (size * odds + out)))

    @property
    def odds(self) -> Fraction:
        """p(k − s)/((1 − p)s): of sets with the label, s of k, and without it, k − s of k."""
        missed = Fraction(self.missed)
        return (1 - missed) * (self.labels - self.size) / (missed * self.size)

    @cached_property
    def chances(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """P = p and, with s − 1 or s of the k − 1 others in the set, Q, A and B."""
        k, s, missed = self.labels, self.size, Fraction(self.missed)
        P = 1 - missed
        Q = (s - P) / (k - 1)
        both = P * (s - 1) * (s - 2) + missed * s * (s - 1)
        return P, Q, P * (s - 1) / (k - 1), both / max((k - 1) * (k - 2), 1)

    @cached_property
    def _indexed(self) -> bool:
        """Whether a report lists labels, and is not a bit for each."""
        return self.size * (self.labels - 1).bit_length() < self.labels

    @cached_property
    def lowest(self) -> Integers:
        """From 0 to s − 1 of rising labels, 0 of bits."""
        return np.arange(self.size) if self._indexed else super().lowest

    @cached_property
    def highest(self) -> Integers:
        """From k − s to k − 1 of rising labels, 1 of bits."""
        own = self._indexed
        return np.arange(self.labels - self.size, self.labels) if own else super().highest

    def _sets(self, labels: Integers, *, randomness: Randomness) -> Integers:
        count, k = len(labels), self.labels
        missed = coins(self.missed, labels.shape, randomness=randomness)
        others = subsets(self.size, ~missed, k - 1, randomness=randomness)
        # the k − 1 places are the labels beside the record's, in order
        place = np.arange(k - 1)
        found = np.zeros((count, k), dtype=np.bool_)
        rows = np.arange(count)
        found[rows[:, None], place + (place >= labels[:, None])] = others
        found[rows, labels] = ~missed
        if self._indexed:
            return np.nonzero(found)[1].reshape(count, self.size).astype(np.int64)
        return found.astype(np.int64)

    def allowed(self, reports: Integers) -> Chosen:
        """Return which rows are sets of s labels, shape (n,)."""
        within = np.all((reports >= self.lowest) & (reports <= self.highest), axis=1)
        if self._indexed:
            return np.asarray(within & np.all(np.diff(reports, axis=1) > 0, axis=1))
        return np.asarray(within & (reports.sum(axis=1) == self.size))

    def sums(self, reports: Integers) -> Integers:
        """Return how many reports have each label, shape (k,)."""
        if self._indexed:
            return np.bincount(reports.ravel(), minlength=self.labels).astype(np.int64)
        return super().sums(reports)

    def ends(self, answers: Vector) -> tuple[Vector, Vector]:
        """Return the sums of the least s numbers and of the greatest s, shape (m,) each."""
        ranked, s = np.sort(answers, axis=1), self.size
        return ranked[:, :s].sum(axis=1), ranked[:, -s:].sum(axis=1)


def _best_size(labels: int, odds: float) -> int:
    """Return the size s of the least total variance of shares at the best chance of each."""
    s = np.arange(1, labels, dtype=np.float64)
    kept = s * odds / (s * odds + labels - s)
    other = (s - kept) / (labels - 1)
    total = (labels - 1) * other * (1 - other) + kept * (1 - kept)
    return 1 + int(np.argmin(total / (kept - other) ** 2))


def _expect_labels(labels: int, most: int) -> None:
    if not 2 <= labels <= most:  # noqa: PLR2004
        raise PlanError(f"{labels} labels are out of range of these reports; have 2 to {most}")
