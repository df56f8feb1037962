# SPDX-License-Identifier: Apache-2.0
"""Answers under pure differential privacy, with their error, their bound and their cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.noise.pure import AdditiveMechanism, ResponseMechanism
from lownoise.questions import Mean
from lownoise.release import codec
from lownoise.release.answers import AbstractAnswers, Origin, Spend, integers_from
from lownoise.release.pure.codec import terms_from_dict
from lownoise.release.pure.intervals import (
    ratio_reach,  # its import registers how far answers stray
)
from lownoise.release.regions import ratio_interval
from lownoise.release.release import ratio, within_bounds

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.release.pure.terms import PureTerms
    from lownoise.sets.domains import AbstractDomain


@final
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PureRelease(AbstractAnswers):
    """Means, sums and the count, or linear queries, released under pure differential privacy.

    `estimate` has the answers in the order of the question; under `add_remove` means come as sums
    about the center, and the count last.

    Args:
        terms: what is guaranteed.
        integers: the release itself; all else follows from it and the terms.
        spend: where it was paid, None where nothing was recorded.
        created: when (UTC, ISO 8601).
        versions: of Python, numpy and lownoise.
    """

    terms: PureTerms
    integers: tuple[int, ...]
    spend: Spend | None
    created: str
    versions: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """What each answer is, m names."""
        return self.terms.names

    @property
    def mean(self) -> Vector:
        """The mean of each column, shape (d,), as `Release.mean`.

        Raises:
            PlanError: where the question was no mean.
        """
        question = self._means()
        if self.terms.size is not None:
            return self.estimate
        return ratio(self.estimate, question.center)

    def mean_interval(self, level: float = 0.95) -> Vector:
        """Return an interval for each column's mean, shape (d, 2): lower, upper.

        Under `add_remove` it is Fieller's, as of `Release`, with as many deviations as the noise of
        sum − θ·count needs whatever θ is; it covers with chance `level` at least. Where the count
        may be zero it is unbounded: then all of the column's bounds are given.

        Raises:
            PlanError: where `level` is not between 0 and 1, or the question was no mean.
        """
        self._means()
        return self.interval(level) if self.terms.size is not None else self._ratios(level, 1)

    def simultaneous_mean_interval(self, level: float = 0.95) -> Vector:
        """Return intervals that cover all columns' means together, shape (d, 2): lower, upper.

        As `mean_interval`, each at its share of the chance to miss.

        Raises:
            PlanError: as `mean_interval`.
        """
        question = self._means()
        if self.terms.size is not None:
            return self.simultaneous_interval(level)
        return self._ratios(level, len(question.columns))

    def _ratios(self, level: float, together: int) -> Vector:
        mechanism = self.terms.mechanism
        assert isinstance(mechanism, AdditiveMechanism)  # noqa: S101 (what means are released by)
        deviations, beside = mechanism.spread(mechanism.grid.embed)
        ends = ratio_interval(
            self.estimate[:-1],
            float(self.estimate[-1]),
            variance=np.square(deviations[:-1]),
            covariance=beside[:-1],
            spread=float(deviations[-1]),
            reach=ratio_reach(mechanism, level, together),
        )
        return within_bounds(self._means(), ends)

    def _means(self) -> Mean:
        question = self.terms.question
        if not isinstance(question, Mean):
            raise PlanError("mean is of columns; linear queries have estimate and interval")
        return question

    @classmethod
    def from_json(cls, text: str, domain: AbstractDomain | None = None) -> PureRelease:
        """Return the release that `to_json` wrote.

        Args:
            text: the document.
            domain: the set, where it is or holds an `ln.Oracle`: a program, which no file holds.

        Raises:
            FileError: where the text is no release of a version that is known.
        """

        def read() -> PureRelease:
            fields = codec.load("release", text)
            terms = terms_from_dict(fields["terms"], domain)
            origin = Origin.from_dict(fields)
            integers = integers_from(fields, terms.mechanism.length)
            if isinstance(terms.mechanism, ResponseMechanism):
                terms.mechanism.check(integers)
            return cls(
                terms=terms,
                integers=integers,
                spend=origin.spend,
                created=origin.created,
                versions=origin.versions,
            )

        return codec.guarded(read)
