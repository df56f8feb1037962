# SPDX-License-Identifier: Apache-2.0
"""Means, or sums and the count: their answers, other noise beside, and the bounds of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import order_norm
from lownoise.privacy import ApproxDP
from lownoise.report import charts, sentences, spelling
from lownoise.report.parts import Column, Prose, Section, Table
from lownoise.report.spelling import shown
from lownoise.report.view import (
    FILE_HAS,
    HOLDS,
    MOST_ROWS,
    NOTHING,
    AbstractView,
    columns,
    estimates,
    rows_of,
    totals,
)
from lownoise.sets.domains import Points, Polytope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lownoise.numbers.arrays import Vector
    from lownoise.report.parts import Part
    from lownoise.report.view import Row

_RATIO = (
    "Sums and count are unbiased. Each mean is their ratio: not exactly unbiased, but its interval "
    "covers at its level."
)


@final
@dataclass(frozen=True, kw_only=True)
class MeanView(AbstractView):
    """What means, or sums and the count, say of themselves."""

    def asked(self) -> str:
        """Return "4 means", or "4 sums and the count"."""
        count = len(self.terms.question.columns)
        if self.terms.size is None:
            return f"{sentences.count(count, 'sum')} and the count"
        return sentences.count(count, "mean")

    def measure(self, *, plain: bool = False) -> str:
        """Return what the plan makes small."""
        weighted = "" if plain or self.terms.size is not None else "weighted "
        return sentences.measure(self.terms.order, weighted, "", "")

    def weight(self) -> str:
        """Return how the count's weight counts."""
        if self.terms.size is not None or not self.gaussian:
            return ""
        weight = spelling.significant(float(self.terms.weights[-1]))
        return (
            f"The count's standard deviation enters {weight} times, so that a set share of the "
            "privacy is spent on the count."
        )

    def unit(self) -> str:
        """Return in which unit errors, bounds and deviations are."""
        return "in the columns’ units"

    def whose(self) -> str:
        """Return what the error is of."""
        if self.terms.size is None and not self.gaussian:
            return "the worst means, times the number of rows"
        return "all answers together"

    def answers(self) -> Section:
        """Return the answers with their intervals, and the means that follow."""
        terms, release = self.terms, self.release
        others = [("i.i.d. Gaussian", terms.isotropic)] if self.gaussian else []
        head = (
            Column("Answer", "name"),
            Column("Estimate", "estimate", self.level),
            Column("Standard deviation"),
            *(Column(name) for name, _ in others),
        )
        noises = [release.standard_deviation, *(noise for _, noise in others)]
        table = Table(
            columns=head,
            rows=tuple(
                zip(
                    map(shown, terms.names),
                    estimates(release.estimate, release.interval(self.level)),
                    *(map(spelling.significant, noise.tolist()) for noise in noises),
                    strict=True,
                )
            )[:MOST_ROWS],
            caption=(
                f"Estimates with {self.percent} intervals, and standard deviations of the noise, "
                "in each column’s unit."
            ),
            hidden=max(len(terms.names) - MOST_ROWS, 0),
            rest=FILE_HAS,
            terminal=MOST_ROWS,
        )
        least = "" if self.gaussian else " at least"
        said = (
            f"{sentences.covers(self.percent, least=least)} Numbers are rounded to their "
            "uncertainty; the release file holds every digit."
        )
        means = self._means() if terms.size is None else ()
        return Section("answers", "Answers", (table, Prose(said, note=True), *means))

    def names(self) -> Iterable[str]:
        """Return what the answers are called."""
        return tuple(self.terms.names)

    def rows(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return every answer."""
        return ("answer",), rows_of(self)

    def _means(self) -> tuple[Part, ...]:
        names = [shown(name) for name in self.terms.question.columns][:MOST_ROWS]
        found = estimates(self.release.mean, self.release.mean_interval(self.level))[:MOST_ROWS]
        how = " by Fieller’s method" if self.gaussian else ""
        table = Table(
            columns=(
                Column("Mean of", "name"),
                Column("Estimate", "estimate", self.level, even=False),
            ),
            rows=tuple(zip(names, found, strict=True)),
            caption=f"Center + sum/count, with {self.percent} intervals{how}.",
            title="The means that follow",
            terminal=MOST_ROWS,
        )
        said = "These means cost nothing more: they are made of the numbers above."
        return table, Prose(said, note=True), Prose(_RATIO, label="means", note=True)

    def noise(self) -> tuple[Section, ...]:
        """Return the deviations of a plan's answers; a release has them beside its answers."""
        if self.release is not None:
            return ()
        terms = self.terms
        noises = {"Standard deviation": terms.standard_deviation}
        if self.gaussian:
            noises |= {"i.i.d. Gaussian": terms.isotropic, "Laplace, split": terms.laplace}
        said = [map(spelling.significant, noise.tolist()) for noise in noises.values()]
        table = Table(
            columns=columns("Answer", *noises),
            rows=tuple(zip(map(shown, terms.names), *said, strict=True))[:MOST_ROWS],
            caption="Standard deviations of the noise, in each column’s unit, at the same budget.",
            hidden=max(len(terms.names) - MOST_ROWS, 0),
            rest=FILE_HAS,
            terminal=MOST_ROWS,
        )
        return (Section("noise", "Noise of each answer", (table, Prose(HOLDS, note=True))),)

    def compared(self) -> tuple[Section, ...]:
        """Return how i.i.d. and Laplace noise compare, answer by answer and in total."""
        terms = self.terms
        title = "Compared with usual noise"
        if not np.any(terms.standard_deviation > 0):
            return (Section("compared", title, (Prose(NOTHING),)),)
        noises = {
            "This plan": terms.standard_deviation,
            "i.i.d. Gaussian": terms.isotropic,
            "Laplace, budget split": terms.laplace,
        }
        measures: dict[str, Callable[[Vector], float]] = {
            "Total variance": lambda noise: _variance_ratio(terms.standard_deviation, noise)
        }
        if terms.order != 2:  # noqa: PLR2004
            by = sentences.capital(self.measure(plain=True))
            own = order_norm(terms.standard_deviation, terms.order)
            measures[by] = lambda noise: order_norm(noise, terms.order) / own
        table = Table(
            columns=columns("Noise", *measures),
            rows=tuple(
                (name, *(f"{spelling.significant(ratio(noise))}×" for ratio in measures.values()))
                for name, noise in noises.items()
            ),
            caption="Totals over all answers, as a multiple of this plan’s.",
        )
        found = _variance_ratio(terms.standard_deviation, terms.isotropic)
        saved = sentences.times(
            found, "i.i.d. Gaussian noise on the same domain at the same budget"
        )
        parts: tuple[Part, ...] = (
            Prose(saved, label="i.i.d. noise"),
            charts.multiples(terms),
            *charts.ellipses(terms),
            table,
            Prose(self._laplace(), note=True),
        )
        return (Section("compared", title, parts),)

    def _laplace(self) -> str:
        """Return what the comparison with Laplace noise compares."""
        terms, less = self.terms, ""
        if _variance_ratio(terms.standard_deviation, terms.laplace) < 1:
            less = "Laplace noise has the smaller total variance here. "
        if not isinstance(terms.budget, ApproxDP):
            return f"{less}Laplace noise is set to the same rho, an even part for each answer."
        return (
            f"{less}Laplace noise is set to the same epsilon, an even part for each answer, with "
            "delta 0; its rho, which is what adds up over releases, is not this plan's, so neither "
            "the certificate nor the lower bound speaks of it."
        )

    def gaussian_noise(self) -> str:
        """Return what Gaussian noise it is."""
        mechanism = self.terms.mechanism
        mixed = mechanism.noise.shape.longest_row > 1 or mechanism.totals.embed is not None
        between = "correlated" if mixed else "independent"
        return f"Gaussian, {between} between answers, rounded to a grid"

    def relation(self) -> str:
        """Return what a neighbour is: a word, or how far a body reaches in each column."""
        return sentences.relation(self.terms.relation, self.terms.question.columns)

    def weighted(self) -> bool:
        """Return whether the error counts some answers more than others."""
        return not self.gaussian and bool(np.any(self.terms.weights != 1))

    def public(self) -> tuple[Part, ...]:
        """Return the public points of each column."""
        question, domain = self.terms.question, self.terms.question.domain
        points = {"Lower": domain.lower, "Upper": domain.upper}
        if self.terms.size is None:
            points["Center"] = question.center
        said = [list(map(spelling.shortest, point.tolist())) for point in points.values()]
        missing = list(map(spelling.shortest, question.missing.tolist()))
        if question.drops_missing:
            missing = ["row left out"] * len(question.columns)
        about = ", the point that sums are taken about" if self.terms.size is None else ""
        bounds = Table(
            columns=columns("Column", *points, "If missing"),
            rows=tuple(zip(map(shown, question.columns), *said, missing, strict=True))[:MOST_ROWS],
            caption=(
                f"Public bounds that values were clipped to{about}, and what stands in for a "
                "missing value."
            ),
            folded=_ranges(domain),
        )
        return (bounds,)


def _variance_ratio(own: Vector, other: Vector) -> float:
    return totals(own).ratio(totals(other))


def _ranges(domain: object) -> str:
    """Return what the table of bounds is called."""
    if isinstance(domain, Points):
        return f"Ranges of the columns in the list of {len(domain.points):,} points"
    if isinstance(domain, Polytope):
        return f"Ranges of the columns in the hull of {len(domain.points):,} points"
    return "Bounds of the columns"
