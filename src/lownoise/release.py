# SPDX-License-Identifier: Apache-2.0
"""Terms and a table become a release: reserve, sum, settle, add noise."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np

from lownoise import codec
from lownoise.arrays import frozen
from lownoise.domains.encoding import oracle_of
from lownoise.errors import LedgerError, PlanError, TableError
from lownoise.neighbours import Change
from lownoise.regions import Region, chi_quantile, normal_quantile, simultaneous_quantile

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from lownoise.arrays import Vector
    from lownoise.domains import AbstractKnownDomain
    from lownoise.engines import Totals
    from lownoise.entropy import Entropy
    from lownoise.privacy import GaussianEvent, Ledger
    from lownoise.terms import Terms

T = TypeVar("T")


@final
@dataclass(frozen=True)
class Spend:
    """Where a release was paid: the ledger's dataset and the number of the entry."""

    dataset: str
    number: int


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Release:
    """Answers that may be published, with their error, their proof and their cost.

    Args:
        terms: what was promised.
        integers: the release itself, in grid steps; all else follows from it and the terms.
        spend: where it was paid, None where nothing was recorded.
        created: when (UTC, ISO 8601).
        versions: of Python, numpy and lownoise.
    """

    terms: Terms
    integers: tuple[int, ...]
    spend: Spend | None
    created: str
    versions: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """What each answer is, m names."""
        return self.terms.names

    @cached_property
    def estimate(self) -> Vector:
        """The answers in their units, shape (m,): means in column order, or sums and the count."""
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

        Each covers the exact answer with chance `level` over the noise; it says nothing of how the
        table was sampled.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        reach = normal_quantile(level) * self.standard_deviation
        return frozen(np.stack([self.estimate - reach, self.estimate + reach], axis=1))

    def simultaneous_interval(self, level: float = 0.95) -> Vector:
        """Return intervals that cover all exact answers together, shape (m, 2): lower, upper.

        All of them hold with chance at least `level` (Šidák; exact where answers are independent).

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        reach = simultaneous_quantile(level, len(self.names)) * self.standard_deviation
        return frozen(np.stack([self.estimate - reach, self.estimate + reach], axis=1))

    def region(self, level: float = 0.95) -> Region:
        """Return the ellipsoid that holds the exact answers with chance `level`: the smallest one.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        noise = self.terms.mechanism.answer_noise
        # a direction without noise is exact, and adds no freedom
        free = noise.rank
        radius = chi_quantile(level, free) if free else 0.0
        return Region(center=self.estimate, noise=noise, radius=radius)

    @property
    def mean(self) -> Vector:
        """The mean of each column, shape (d,).

        Under `substitute` it is the estimate. Under `add_remove` it is center + sum/count, which is
        post-processing and not exactly unbiased; NaN where the noisy count is not positive.
        """
        if self.terms.size is not None:
            return self.estimate
        *sums, count = self.estimate.tolist()
        center = self.terms.question.center
        if count <= 0:
            return frozen(np.full(center.size, math.nan))
        return frozen(center + np.array(sums) / count)

    def mean_interval(self, level: float = 0.95) -> Vector:
        """Return an interval for each column's mean, shape (d, 2): lower, upper.

        Under `add_remove` it is Fieller's: every θ with |sum − θ·count| within its own deviation,
        cut to the bounds; it covers with chance `level` at least, ratio or not.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        if self.terms.size is not None:
            return self.interval(level)
        question = self.terms.question
        z = normal_quantile(level)
        s, n = self.estimate[:-1], self.estimate[-1]
        a, b = self.standard_deviation[:-1], self.standard_deviation[-1]
        square = n**2 - (z * b) ** 2
        if n > 0 and square > 0:
            root = z * np.sqrt(np.maximum((s * b) ** 2 + a**2 * square, 0.0))
            lower, upper = (s * n - root) / square, (s * n + root) / square
        else:  # the count may be zero: nothing is excluded
            lower, upper = np.full(s.size, -np.inf), np.full(s.size, np.inf)
        ends = np.stack([question.center + lower, question.center + upper], axis=1)
        box = question.domain
        return frozen(np.clip(ends, box.lower[:, None], box.upper[:, None]))

    def to_json(self) -> str:
        """Return the release as JSON, versioned; `from_json` reads it back exactly."""
        spend = self.spend and {"dataset": self.spend.dataset, "number": self.spend.number}
        return codec.dump(
            "release",
            {
                "terms": codec.terms_to_dict(self.terms),
                "integers": [str(k) for k in self.integers],
                "spend": spend,
                "created": self.created,
                "versions": self.versions,
                "derived": self.derived(),
            },
        )

    def derived(self) -> dict[str, Any]:
        """Return what follows from terms and integers, as JSON values: what a file states too."""
        return {**codec.derived(self.terms), "estimate": self.estimate.tolist()}

    @classmethod
    def from_json(cls, text: str, domain: AbstractKnownDomain | None = None) -> Release:
        """Return the release that `to_json` wrote.

        Args:
            text: the document.
            domain: the set, where it is or holds an `ln.Oracle`: a program, which no file holds.

        Raises:
            FileError: where the text is no release of a version that is known.
        """

        def read() -> Release:
            fields = codec.load("release", text)
            terms = codec.terms_from_dict(fields["terms"], domain)
            integers = tuple(int(k) for k in fields["integers"])
            if len(integers) != terms.mechanism.noise.dimension:
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


def execute(terms: Terms, table: Any, ledger: Ledger | None, *, entropy: Entropy) -> Release:  # noqa: ANN401
    """Reserve the cost, sum the table, settle the cost, add the noise, and return the answers.

    Args:
        terms: what was promised.
        table: as `engines.tables.open_table` takes it.
        ledger: the account that pays, or None.
        entropy: where the noise comes from; `SystemEntropy()` for anything that is published.

    Raises:
        LedgerError: where the account cannot pay; then no record has been read.
        TableError: where the table cannot be opened or does not fit; then nothing is spent.
        EngineError: where reading its rows failed; then the spend stays reserved.
        PlanError: where the terms reveal more than their budget.
    """
    from lownoise.engines import duckdb

    if not terms.mechanism.event.mu <= terms.parameter:
        raise PlanError("plan reveals more than its budget; make it anew with ln.plan")
    if oracle_of(terms.question.domain) is not None:
        codec.derived(terms)  # a program that fails must do so before anything is paid

    def read() -> Totals:
        totals = duckdb.totals(terms.mechanism.query, table)
        terms.mechanism.check(totals)
        return totals

    totals, spend = charged(ledger, terms.mechanism.event, _note(terms), read)
    integers = terms.mechanism.run(totals, entropy=entropy)
    return Release(terms=terms, integers=integers, spend=spend, created=now(), versions=versions())


def charged(
    ledger: Ledger | None, event: GaussianEvent, note: str, read: Callable[[], T]
) -> tuple[T, Spend | None]:
    """Reserve the cost, read the table, settle the cost; return what was read, and who paid.

    Args:
        ledger: the account that pays, or None.
        event: what will be revealed.
        note: what the ledger says of it.
        read: reads the table; a `TableError` of it must follow from the schema and from what is
            public, for it gives the spend back.

    Raises:
        LedgerError: where the account cannot pay; then nothing has been read.
    """
    number = ledger.reserve(event, note) if ledger else 0
    try:
        found = read()
        if ledger:
            ledger.settle(number)  # from here on nothing gives the spend back
    except (TableError, LedgerError):
        if ledger:
            with suppress(LedgerError):  # what cannot be cancelled counts
                ledger.cancel(number)
        raise
    return found, Spend(ledger.dataset, number) if ledger else None


def now() -> str:
    """Return the time, UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


_FEW_NAMES = 3  # in a ledger's note


def _note(terms: Terms) -> str:
    columns = terms.question.columns
    few = len(columns) <= _FEW_NAMES
    hidden = "changes in a body: " if isinstance(terms.relation, Change) else ""
    return f"{hidden}mean of {', '.join(columns) if few else f'{len(columns)} columns'}"[:200]


def versions() -> dict[str, str]:
    """Return the versions that a release is made with."""
    import platform
    from importlib.metadata import version

    return {
        "lownoise": version("lownoise"),
        "numpy": version("numpy"),
        "python": platform.python_version(),
    }
