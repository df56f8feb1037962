# SPDX-License-Identifier: Apache-2.0
"""Terms and a table become a release: reserve, sum, settle, add noise."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np

from lownoise.errors import LedgerError, LownoiseError, TableError
from lownoise.numbers.arrays import frozen
from lownoise.privacy import checked_ledger
from lownoise.release import codec
from lownoise.release.answers import AbstractAnswers, Origin, Spend, integers_from
from lownoise.release.regions import normal_quantile, ratio_interval, simultaneous_quantile
from lownoise.sensitivity.relations import Change, relation_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from lownoise.engines import Totals
    from lownoise.numbers.arrays import Vector
    from lownoise.numbers.randomness import Randomness
    from lownoise.privacy import Budget, Event, Ledger
    from lownoise.questions import Mean
    from lownoise.release.terms import Terms
    from lownoise.sensitivity.relations import Relation
    from lownoise.sets.domains import AbstractDomain

T = TypeVar("T")


@final
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Release(AbstractAnswers):
    """Means, or sums and the count, that may be published, with error, proof and cost.

    `estimate` has the means in column order, or the sums and the count.

    Args:
        terms: what is guaranteed.
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

    @property
    def mean(self) -> Vector:
        """The mean of each column, shape (d,).

        Under `substitute` it is the estimate. Under `add_remove` it is center + sum/count, which is
        post-processing and not exactly unbiased; NaN where the noisy count is not positive.
        """
        if self.terms.size is not None:
            return self.estimate
        return ratio(self.estimate, self.terms.question.center)

    def mean_interval(self, level: float = 0.95) -> Vector:
        """Return an interval for each column's mean, shape (d, 2): lower, upper.

        Under `add_remove` it is Fieller's: every θ that sum − θ·count, whose noise has the variance
        σ_s² − 2θσ_sc + θ²σ_c², does not exclude. It covers with chance `level`, ratio or not, and
        is cut to the column's bounds. Where the count may be zero it is unbounded: then all of the
        bounds are given.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        if self.terms.size is not None:
            return self.interval(level)
        return self._ratios(normal_quantile(level))

    def simultaneous_mean_interval(self, level: float = 0.95) -> Vector:
        """Return intervals that cover all columns' means together, shape (d, 2): lower, upper.

        As `mean_interval`, by Šidák's inequality for the d normal numbers sum − θ·count.

        Raises:
            PlanError: where `level` is not between 0 and 1.
        """
        if self.terms.size is not None:
            return self.simultaneous_interval(level)
        return self._ratios(simultaneous_quantile(level, self.mean.size))

    def _ratios(self, reach: float) -> Vector:
        noise = self.terms.mechanism.answer_noise
        count = noise.dimension - 1
        places, entries = noise.row(count)
        row = np.zeros(noise.sources)
        row[places] = entries
        question, deviations = self.terms.question, self.standard_deviation
        ends = ratio_interval(
            self.estimate[:count],
            float(self.estimate[count]),
            variance=np.square(deviations[:count]),
            covariance=noise.apply(row)[:count],
            spread=float(deviations[count]),
            reach=reach,
        )
        return within_bounds(question, ends)

    @classmethod
    def from_json(cls, text: str, domain: AbstractDomain | None = None) -> Release:
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
            origin = Origin.from_dict(fields)
            return cls(
                terms=terms,
                integers=integers_from(fields, terms.mechanism.noise.dimension),
                spend=origin.spend,
                created=origin.created,
                versions=origin.versions,
            )

        return codec.guarded(read)


def ratio(estimate: Vector, center: Vector) -> Vector:
    """Return center + sum/count, shape (d,); NaN where the count, which is last, is not above 0."""
    *sums, count = estimate.tolist()
    if count <= 0:
        return frozen(np.full(center.size, math.nan))
    return frozen(center + np.array(sums) / count)


def within_bounds(question: Mean, ends: Vector | None) -> Vector:
    """Return intervals about the center cut to the bounds; the bounds where there are none."""
    box = question.domain
    bounds = np.stack([box.lower, box.upper], axis=1)
    if ends is None:
        return frozen(bounds)
    return frozen(np.clip(question.center[:, None] + ends, bounds[:, :1], bounds[:, 1:]))


def execute(terms: Terms, table: Any, ledger: Ledger | None, *, randomness: Randomness) -> Release:  # noqa: ANN401
    """Reserve the cost, sum the table, settle the cost, add the noise, and return the answers.

    Args:
        terms: what is guaranteed.
        table: as `engines.reading.source_of` takes it.
        ledger: the account that pays, or None.
        randomness: where the noise comes from; `SystemRandomness()` for anything that is published.

    Raises:
        LedgerError: where the account cannot pay; then no record has been read.
        TableError: where the table cannot be opened, lacks a column or has not the public number
            of rows; then nothing is spent.
        EngineError: where reading its rows failed; then the spend stays reserved.
        PlanError: where the terms reveal more than their budget.
    """
    from lownoise.engines import reading

    terms.check_budget()
    if codec.program(terms) is not None:
        codec.derived(terms)  # a program that fails must do so before anything is paid

    def read() -> Totals:
        totals = reading.totals(terms.mechanism.query, table)
        terms.mechanism.check(totals)
        return totals

    totals, spend = charged(
        ledger,
        terms.mechanism.event,
        _note(terms),
        read,
        asked=terms.budget,
        relation=terms.relation,
    )
    with unseen():
        integers = terms.mechanism.run(totals, randomness=randomness)
    return Release(terms=terms, integers=integers, spend=spend, created=now(), versions=versions())


def charged(
    ledger: Ledger | None,
    event: Event,
    note: str,
    read: Callable[[], T],
    *,
    asked: Budget | None = None,
    relation: Relation | str | None = None,
) -> tuple[T, Spend | None]:
    """Reserve the cost, read the table, settle the cost; return what was read, and who paid.

    Args:
        ledger: the account that pays, or None.
        event: what will be revealed.
        note: what the ledger says of it.
        read: reads the table; a `TableError` of it must follow from the schema alone, for it gives
            the spend back.
        asked: the budget that the release was asked with.
        relation: what its neighbours are.

    Raises:
        BudgetError: where the account's reading cannot pay for such an event; likewise.
        LedgerError: where it is no account, cannot pay, or has paid for spends of another relation;
            then nothing has been read.
        EngineError: where reading failed; then the spend stays reserved.
    """
    ledger = checked_ledger(ledger)
    name = None if relation is None else relation_name(relation)
    number = ledger.reserve(event, note, asked=asked, relation=name) if ledger else 0
    try:
        with unseen():
            found = read()
        if ledger:
            ledger.settle(number)  # from here on nothing gives the spend back
    except (TableError, LedgerError):
        if ledger:
            with suppress(LedgerError):  # what cannot be cancelled counts
                ledger.cancel(number)
        raise
    return found, Spend(ledger.dataset, number) if ledger else None


def unseen() -> AbstractContextManager[None]:
    """Return a block that sees records, and says nothing of them whatever happens in it.

    No warning comes out of it, and of errors only our own, which say what is public; any other
    becomes one `EngineError`.
    """
    from lownoise.engines.quiet import alike

    return alike(
        "release failed while it saw records, and its spend stays; check that memory and temporary "
        "disk suffice",
        LownoiseError,
    )


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
