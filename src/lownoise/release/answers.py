# SPDX-License-Identifier: Apache-2.0
"""Released answers in a row: their intervals, and their document; whatever was asked."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from functools import cached_property, singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, final

import numpy as np

from lownoise.errors import FileError, PlanError
from lownoise.numbers.arrays import frozen
from lownoise.release import codec
from lownoise.release.guarantees import AbstractTerms
from lownoise.release.readable import Readable
from lownoise.release.regions import Region, chi_quantile, normal_quantile, simultaneous_quantile

if TYPE_CHECKING:
    from os import PathLike

    from lownoise.numbers.arrays import Vector


@final
@dataclass(frozen=True)
class Spend:
    """Where a release was paid: the ledger's dataset and the number of the entry."""

    dataset: str
    number: int


@final
@dataclass(frozen=True)
class Origin:
    """Who paid for a release (None where nothing was recorded), when, and what made it."""

    spend: Spend | None
    created: str
    versions: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        spend = self.spend and {"dataset": self.spend.dataset, "number": self.spend.number}
        return {"spend": spend, "created": self.created, "versions": self.versions}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Origin:
        """Return what `to_dict` described, checked.

        Raises:
            FileError: where a field is not what `to_dict` writes.
        """
        paid, versions = fields["spend"], fields["versions"]
        spend = None if paid is None else Spend(paid["dataset"], paid["number"])
        texts = [fields["created"], *versions, *versions.values()]
        if spend is not None:
            texts.append(spend.dataset)
            whole = isinstance(spend.number, int) and not isinstance(spend.number, bool)
            if not whole or spend.number < 1 or len(paid) > 2:  # noqa: PLR2004
                raise FileError("spend.number is no number of an entry")
        if not all(isinstance(text, str) for text in texts):
            raise FileError("release states a field that is no text")
        return cls(spend, fields["created"], dict(versions))


class Mechanism(Protocol):
    """What turns released integers into answers."""

    def answers(self, integers: tuple[int, ...]) -> Vector:
        """Return the answers in their units, shape (m,)."""


class AnswerTerms(Protocol):
    """Terms whose answers stand in a row."""

    @property
    def mechanism(self) -> Mechanism:
        """The final integers and the final noise."""

    @property
    def standard_deviation(self) -> Vector:
        """The standard deviation of each answer's noise, shape (m,)."""

    @property
    def covariance(self) -> Vector:
        """The covariance of the answers, shape (m, m)."""


class AbstractAnswers(Readable, ABC):
    """A release of m answers: terms, integers and origin; all else follows from these."""

    terms: AnswerTerms
    integers: tuple[int, ...]
    spend: Spend | None
    created: str
    versions: dict[str, str]

    @cached_property
    def estimate(self) -> Vector:
        """The answers in their units, shape (m,): in the order of the question."""
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

        Each covers the exact value with chance `level` over the noise; it says nothing of how the
        table was sampled.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        return self._around(half_widths(self.terms, level))

    def simultaneous_interval(self, level: float = 0.95) -> Vector:
        """Return intervals that cover all exact values together, shape (m, 2): lower, upper.

        All of them hold with chance at least `level`.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        return self._around(joint_half_widths(self.terms, level))

    def _around(self, reach: Vector) -> Vector:
        return frozen(np.stack([self.estimate - reach, self.estimate + reach], axis=1))

    def region(self, level: float = 0.95) -> Region:
        """Return the ellipsoid that holds the exact values with chance `level`: the smallest one.

        Raises:
            PlanError: where `level` is not between 0 and 1, or the noise is no Gaussian.
        """
        return region(self.terms, self.estimate, level)

    def to_json(self) -> str:
        """Return the release as JSON, versioned; `from_json` reads it back exactly."""
        return codec.dump(
            "release",
            {
                "terms": codec.terms_to_dict(self.terms),
                "integers": [str(k) for k in self.integers],
                **Origin(self.spend, self.created, self.versions).to_dict(),
                "derived": self.derived(),
            },
        )

    def derived(self) -> dict[str, Any]:
        """Return what follows from terms and integers, as JSON values: what a file states too."""
        return {**codec.derived(self.terms), "estimate": self.estimate.tolist()}

    def save(self, path: str | PathLike[str]) -> None:
        """Write `to_json` to a file, all of it or nothing.

        Raises:
            FileError: where it cannot be written.
        """
        codec.write(Path(path), self.to_json())


@singledispatch
def half_widths(terms: object, level: float) -> Vector:
    """Return how far from its answer the exact one is with chance `level`, one by one, shape (m,).

    Raises:
        PlanError: where `level` is not between 0 and 1, or the terms are of no known kind.
    """
    raise PlanError(f"terms={type(terms).__name__} are of no known kind; plan again")


@singledispatch
def joint_half_widths(terms: object, level: float) -> Vector:
    """Return how far from their answers all exact ones are with chance `level`, shape (m,).

    Raises:
        PlanError: as `half_widths`.
    """
    raise PlanError(f"terms={type(terms).__name__} are of no known kind; plan again")


@singledispatch
def region(terms: object, estimate: Vector, level: float) -> Region:
    """Return the smallest ellipsoid that holds the exact values with chance `level`.

    Raises:
        PlanError: where `level` is not between 0 and 1, or the noise is no Gaussian.
    """
    raise PlanError(
        "region is the ellipsoid of Gaussian noise; for other noise use simultaneous_interval",
    )


@half_widths.register(AbstractTerms)
def _(terms: Any, level: float) -> Vector:  # noqa: ANN401 (terms whose answers stand in a row)
    return np.asarray(normal_quantile(level) * terms.standard_deviation)


@joint_half_widths.register(AbstractTerms)
def _(terms: Any, level: float) -> Vector:  # noqa: ANN401
    # Šidák; exact where answers are independent
    deviations = terms.standard_deviation
    return np.asarray(simultaneous_quantile(level, deviations.size) * deviations)


@region.register(AbstractTerms)
def _(terms: Any, estimate: Vector, level: float) -> Region:  # noqa: ANN401
    noise = terms.mechanism.answer_noise
    free = noise.rank  # a direction without noise is exact, and adds no freedom
    radius = chi_quantile(level, free) if free else 0.0
    return Region(center=estimate, noise=noise, radius=radius)


def integers_from(fields: dict[str, Any], length: int) -> tuple[int, ...]:
    """Return the integers of a document.

    Raises:
        ValueError: where they are not so many whole numbers.
    """
    integers = tuple(int(k) for k in fields["integers"])
    if len(integers) != length:
        raise ValueError
    return integers
