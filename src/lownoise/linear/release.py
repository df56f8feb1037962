# SPDX-License-Identifier: Apache-2.0
"""Linear queries that may be published, with their error, their proof and their cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise import codec
from lownoise.arrays import frozen
from lownoise.linear.codec import derived, terms_from_dict, terms_to_dict
from lownoise.regions import Region, chi_quantile, normal_quantile, simultaneous_quantile
from lownoise.release import Spend

if TYPE_CHECKING:
    from os import PathLike

    from lownoise.arrays import Vector
    from lownoise.linear.terms import LinearTerms


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class LinearRelease:
    """Answers that may be published, with their error, their proof and their cost.

    Args:
        terms: what was promised.
        integers: the release itself, in grid steps; all else follows from it and the terms.
        spend: where it was paid, None where nothing was recorded.
        created: when (UTC, ISO 8601).
        versions: of Python, numpy and lownoise.
    """

    terms: LinearTerms
    integers: tuple[int, ...]
    spend: Spend | None
    created: str
    versions: dict[str, str]

    @cached_property
    def estimate(self) -> Vector:
        """The answers, sums over all records, shape (m,): in the order of the question."""
        return self.terms.mechanism.answers(self.integers)

    @property
    def standard_deviation(self) -> Vector:
        """The standard deviation of each answer's noise, shape (m,)."""
        return self.terms.standard_deviation

    @property
    def covariance(self) -> Vector:
        """The covariance of the answers' noise, shape (m, m), formed on request."""
        return self.terms.covariance

    @property
    def recorded(self) -> bool:
        """Whether a ledger holds the spend."""
        return self.spend is not None

    def interval(self, level: float = 0.95) -> Vector:
        """Return an interval for each answer on the table, shape (m, 2): lower, upper.

        Each covers the exact answer with chance `level` over the noise.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        return self._around(normal_quantile(level))

    def simultaneous_interval(self, level: float = 0.95) -> Vector:
        """Return intervals that cover all exact answers together, shape (m, 2): lower, upper.

        All of them hold with chance at least `level` (Šidák; exact where answers are independent).

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        return self._around(simultaneous_quantile(level, self.terms.question.count))

    def _around(self, deviations: float) -> Vector:
        reach = deviations * self.standard_deviation
        return frozen(np.stack([self.estimate - reach, self.estimate + reach], axis=1))

    def region(self, level: float = 0.95) -> Region:
        """Return the ellipsoid that holds the exact answers with chance `level`: the smallest one.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        noise = self.terms.mechanism.answer_noise
        free = noise.rank  # a direction without noise is exact, and adds no freedom
        radius = chi_quantile(level, free) if free else 0.0
        return Region(center=self.estimate, noise=noise, radius=radius)

    def to_json(self) -> str:
        """Return the release as JSON, versioned; `from_json` reads it back exactly."""
        spend = self.spend and {"dataset": self.spend.dataset, "number": self.spend.number}
        return codec.dump(
            "release",
            {
                "terms": terms_to_dict(self.terms),
                "integers": [str(k) for k in self.integers],
                "spend": spend,
                "created": self.created,
                "versions": self.versions,
                "derived": self.derived(),
            },
        )

    def derived(self) -> dict[str, Any]:
        """Return what follows from terms and integers, as JSON values: what a file states too."""
        return {**derived(self.terms), "estimate": self.estimate.tolist()}

    @classmethod
    def from_json(cls, text: str) -> LinearRelease:
        """Return the release that `to_json` wrote.

        Raises:
            FileError: where the text is no release of a version that is known.
        """

        def read() -> LinearRelease:
            fields = codec.load("release", text)
            terms = terms_from_dict(fields["terms"])
            integers = tuple(int(k) for k in fields["integers"])
            if len(integers) != terms.mechanism.length:
                raise ValueError
            paid = fields["spend"]
            return cls(
                terms=terms,
                integers=integers,
                spend=None if paid is None else Spend(str(paid["dataset"]), int(paid["number"])),
                created=str(fields["created"]),
                versions={str(k): str(v) for k, v in fields["versions"].items()},
            )

        return codec.guarded(read)

    def save(self, path: str | PathLike[str]) -> None:
        """Write `to_json` to a file, all of it or nothing.

        Raises:
            FileError: where it cannot be written.
        """
        codec.write(Path(path), self.to_json())
