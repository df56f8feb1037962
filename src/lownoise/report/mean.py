# SPDX-License-Identifier: Apache-2.0
"""Means, or sums and the count: their answers, other noise beside, and the bounds of columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import order_norm
from lownoise.privacy import ApproxDP
from lownoise.questions import Sum
from lownoise.report import charts, spelling
from lownoise.report.parts import Caution, Column, Estimate, Prose, Section, Table
from lownoise.report.spelling import shown
from lownoise.report.view import (
    FILE_HAS,
    MOST_ROWS,
    NOTHING,
    AbstractView,
    Row,
    Wording,
    columns,
    estimates,
    noise_section,
    totals,
)
from lownoise.sets.domains import AbstractMoments, Points, Polytope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lownoise.numbers.arrays import Vector
    from lownoise.report.parts import Part
    from lownoise.sets.domains import AbstractDomain

RATIO = (
    "Sums and the count are unbiased. Each mean is their ratio, which is not exactly unbiased; its "
    "interval has the stated probability."
)
UNKNOWN = "If the count may be zero, a mean may be anything in its column’s range."
_FEW_ROWS = 6  # of what follows from moments, in a terminal
_FEWEST, _WIDEST = 3, 12  # columns of a matrix that is read at a glance
_NAMED = 4  # columns with too much noise
_PLENTY = 1000  # rows, where their number is private: in fewer, wide noise is no surprise
_REST = "{hidden} more pairs; release.moments has all."
_FOLLOW = (
    "These are computed from the released numbers and cost no further privacy. {} Intervals are "
    "by the delta method, which needs noise that is small beside the variances. A negative "
    "variance is caused by noise, and has no correlation."
)


@final
@dataclass(frozen=True, kw_only=True)
class MeanView(AbstractView):
    """What means, or sums and the count, or sums alone, say of themselves."""

    @property
    def counted(self) -> bool:
        """Whether answers are sums and the count."""
        return self.terms.size is None and not isinstance(self.terms.question, Sum)

    @property
    def _moments(self) -> bool:
        """Whether further answers are means of products."""
        question = self.terms.question
        return not isinstance(question, Sum) and isinstance(question.domain, AbstractMoments)

    @property
    def _weighted(self) -> bool:
        """Whether columns matter unlike."""
        return bool(np.any(self.terms.weights[: len(self.terms.question.columns)] != 1))

    @cached_property
    def wording(self) -> Wording:
        """What means, or sums and the count, are called."""
        terms, count = self.terms, len(self.terms.question.columns)
        private, weight = self.counted, ""
        if private and self.gaussian:
            weight = (
                f"The count's deviation has weight {spelling.significant(terms.weights[-1])}, "
                "which sets the share of the budget that is spent on the count."
            )
        mixed = False
        if self.gaussian:
            noise, totals = terms.mechanism.noise, terms.mechanism.totals
            mixed = noise.shape.longest_row > 1 or totals.embed is not None
        between = "correlated" if mixed else "independent"
        weighted = self._weighted and not self.gaussian
        asked = spelling.count(count, "sum" if isinstance(terms.question, Sum) else "mean")
        if self._moments:
            of = len(terms.question.sources)
            asked = f"{spelling.count(count, 'moment')} in {spelling.count(of, 'column')}"
        return Wording(
            asked=f"{asked}, as sums and the count" if private else asked,
            measure=spelling.measure(
                terms.order, "weighted " if private or self._weighted else "", "", ""
            ),
            noise=f"Gaussian, {between} between answers, rounded to a grid",
            whose="the worst means, times the number of rows"
            if private and not self.gaussian
            else "",
            how=spelling.in_order(terms.order, weighted=weighted),
            unit=spelling.in_units(weighted=weighted),
            weight=weight,
        )

    def answers(self) -> Section:
        """Return the answers with their intervals, after the means that follow from sums."""
        release = self.release
        found = estimates(release.estimate, release.interval(self.level))
        table = self._table(
            (Column("Estimate", "estimate", self.level), Column("Standard deviation")),
            found,
            map(spelling.significant, release.standard_deviation.tolist()),
            caption=(
                f"Estimates with {self.percent} intervals, and standard deviations of the noise, "
                "in each column’s unit."
            ),
            title="What they are made of: the sums and the count" if self.counted else "",
        )
        parts: tuple[Part, ...] = (table, Prose(self.intervals(), note=True))
        more: tuple[Part, ...] = ()
        if self._moments:
            more = self._variances()
        parts = (*self._means(), *more, *parts) if self.counted else (*parts, *more)
        return Section("answers", "Answers", (*self._too_wide(), *parts))

    def rows(self) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return every answer, after the means where these are made of sums and a count."""
        names, answers = super().rows()
        return names, chain(self._mean_rows(), answers) if self.counted else answers

    def _mean_rows(self) -> Iterator[Row]:
        """Yield the mean of each column; no number where the count may be zero."""
        known, ends = self._stated_means()
        numbers = (known, *ends.T, self.release.ratios.deviations + 0 * known)
        columns = zip(self.terms.question.sources, *(n.tolist() for n in numbers), strict=False)
        for name, value, low, high, deviation in columns:
            label = (f"mean({name})",)
            yield Row(labels=label, estimate=value, low=low, high=high, deviation=deviation)

    def _stated_means(self) -> tuple[Vector, Vector]:
        """Return means, NaN where noise bounds none, and their intervals."""
        ends, box = self.release.mean_interval(self.level), self.terms.question.domain
        every = (ends[:, 0] == box.lower) & (ends[:, 1] == box.upper)
        unknown = every & (box.lower < box.upper)
        return np.where(unknown, np.nan, self.release.mean), ends

    def _too_wide(self) -> tuple[Caution, ...]:
        terms, question = self.terms, self.terms.question
        own, rows = terms.standard_deviation[None, : len(question.columns)], terms.size
        if isinstance(question, Sum):
            return too_wide(self, question.mean.domain, own, rows)
        # of a public number of rows the answers are means
        return too_wide(self, question.domain, own, None if rows is None else 1)

    def _variances(self) -> tuple[Part, ...]:
        """Return variances, covariances and correlations."""
        found = self.release.moments
        names = [shown(name) for name in found.columns]
        left, right = np.triu_indices(len(names))
        pairs = [(i, j) for i, j in zip(left.tolist(), right.tolist(), strict=True) if i < j]
        rows = [
            (names[i] if i == j else f"{names[i]} and {names[j]}", each)
            for i, j, each in zip(
                left.tolist(),
                right.tolist(),
                estimates(
                    found.covariance[left, right],
                    found.covariance_interval(self.level)[left, right],
                ),
                strict=True,
            )
        ]
        parts: list[Part] = [
            Table(
                columns=(
                    Column("Of", "name"),
                    Column("Estimate", "estimate", self.level, even=False),
                ),
                rows=tuple(rows[:MOST_ROWS]),
                caption=f"Over all rows, divided by their number, with {self.percent} intervals.",
                title="Variances and covariances",
                hidden=max(len(rows) - MOST_ROWS, 0),
                rest=_REST,
                terminal=_FEW_ROWS,
            )
        ]
        matrix = _FEWEST <= len(names) <= _WIDEST
        if matrix:
            parts.append(_correlations(names, found.correlation))
        if pairs:
            hidden = max(len(pairs) - MOST_ROWS, 0)
            first, second = np.array(pairs[:MOST_ROWS]).T
            own = estimates(
                found.correlation[first, second],
                found.correlation_interval(self.level)[first, second],
            )
            parts.append(
                Table(
                    columns=(
                        Column("Of", "name"),
                        Column("Estimate", "estimate", self.level, even=False),
                    ),
                    rows=tuple(
                        (f"{names[i]} and {names[j]}", each)
                        for (i, j), each in zip(pairs[:MOST_ROWS], own, strict=True)
                    ),
                    caption=f"Limited to −1 and 1, with {self.percent} intervals.",
                    title="Correlations",
                    hidden=hidden,
                    rest=_REST,
                    terminal=0 if matrix else _FEW_ROWS,
                )
            )
        said = "Covariances and correlations are not exactly unbiased."
        if self.terms.size is not None:
            said = "Covariances are unbiased; correlations are not exactly unbiased."
        return (*parts, Prose(_FOLLOW.format(said), label="moments", note=True))

    def _table(
        self,
        headings: tuple[Column, ...],
        *columns: Iterable[str | Estimate],
        caption: str,
        title: str = "",
    ) -> Table:
        """Return a table of all answers: their names, and columns that stand beside them."""
        names = map(shown, self.terms.names)
        return Table(
            columns=(Column("Answer", "name"), *headings),
            rows=tuple(zip(names, *columns, strict=True))[:MOST_ROWS],
            caption=caption,
            title=title,
            hidden=max(len(self.terms.names) - MOST_ROWS, 0),
            rest=FILE_HAS,
            terminal=MOST_ROWS,
        )

    def _means(self) -> tuple[Part, ...]:
        # of moments the columns': variances say more than means of products
        names = [shown(name) for name in self.terms.question.sources][:MOST_ROWS]
        known, ends = self._stated_means()
        found = estimates(known, ends)[: len(names)]
        ratio = f"{RATIO} {UNKNOWN}" if np.any(np.isnan(known)) else RATIO
        how = " by Fieller’s method" if self.gaussian else ""
        table = Table(
            columns=(
                Column("Mean of", "name"),
                Column("Estimate", "estimate", self.level, even=False),
            ),
            rows=tuple(zip(names, found, strict=True)),
            caption=f"Center + sum/count, with {self.percent} intervals{how}.",
            title="Means",
            terminal=MOST_ROWS,
        )
        return table, Prose(ratio, label="means", note=True)

    def noise(self) -> tuple[Section, ...]:
        """Return the deviations of a plan's answers; a release has them beside its answers."""
        if self.release is not None:
            return ()
        terms = self.terms
        noises = {"Standard deviation": terms.standard_deviation}
        if self.gaussian:
            noises |= {"i.i.d. Gaussian": terms.isotropic, "Laplace, split": terms.laplace}
        table = self._table(
            columns("Answer", *noises)[1:],
            *(map(spelling.significant, noise.tolist()) for noise in noises.values()),
            caption="Standard deviations of the noise, in each column’s unit, at the same budget.",
        )
        return noise_section(self, "Noise of each answer", table, self._too_wide())

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
            "Total variance": lambda noise: variance_ratio(terms.standard_deviation, noise)
        }
        if terms.order != 2:  # noqa: PLR2004
            by = spelling.capital(spelling.measure(terms.order, "", "", ""))
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
        found = variance_ratio(terms.standard_deviation, terms.isotropic)
        saved = spelling.times(found, "i.i.d. Gaussian noise on the same domain at the same budget")
        other = variance_ratio(terms.standard_deviation, terms.laplace)
        if other > 1 and not spelling.same(other):
            more = spelling.times(other, "Laplace noise, the budget split").split(" is ")[1]
            saved = f"{saved[:-1]}, and {more}"
        saved += spelling.UNWEIGHTED * self._weighted
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
        if variance_ratio(terms.standard_deviation, terms.laplace) < 1:
            less = "Laplace noise has the smaller total variance here. "
        if not isinstance(terms.budget, ApproxDP):
            return f"{less}Laplace noise has the same rho, split evenly between the answers."
        return (
            f"{less}Laplace noise has the same epsilon, split evenly between the answers, and "
            "delta 0. Its rho, which adds up over releases, is not this plan's, so the certificate "
            "and the lower bound do not cover it."
        )

    def public(self) -> tuple[Part, ...]:
        """Return the public points of each column."""
        asked = self.terms.question
        question = asked.mean if isinstance(asked, Sum) else asked
        domain = question.domain.source
        points = {"Lower": domain.lower, "Upper": domain.upper}
        if self.counted:
            points["Center"] = question.center[: domain.dimension]  # that of columns comes first
        said = [list(map(spelling.shortest, point.tolist())) for point in points.values()]
        missing = list(map(spelling.shortest, question.missing.tolist()))
        if question.drops_missing:
            missing = ["row left out"] * len(question.sources)
        about = "; the center, from which sums are measured" if self.counted else ""
        bounds = Table(
            columns=columns("Column", *points, "If missing"),
            rows=tuple(zip(map(shown, question.sources), *said, missing, strict=True))[:MOST_ROWS],
            caption=(
                f"Public bounds: a value outside counts as the nearest bound{about}; and what a "
                "missing value counts as."
            ),
            folded=_ranges(domain),
        )
        return (bounds,)


def too_wide(
    view: AbstractView,
    domain: AbstractDomain,
    deviations: Vector,
    rows: Vector | float | None,
    groups: str = "",
) -> tuple[Caution, ...]:
    """Return which columns' noise is wider than their ranges, and what helps; () where none is.

    Where the number of rows is private, columns are named whose noise is that wide in a thousand of
    them, and only where weights make it less: with many more rows a small budget is enough.

    Args:
        view: of what.
        domain: of one record.
        deviations: of the noise of each column, shape (k, d).
        rows: over how many rows they add up, shape (k, 1) or one number; None where it is private.
        groups: "groups of " where rows are grouped.
    """
    terms, width = view.terms, domain.upper - domain.lower
    ranges = deviations / np.where(width > 0, width, np.inf)
    narrow = np.all(terms.weights[: width.size] == 1) & (width < width.max())
    wide = np.any(ranges > (_PLENTY if rows is None else rows), axis=0)
    if rows is None:
        wide &= narrow
    if not np.any(wide):
        return ()
    names = [shown(terms.question.columns[i]) for i in np.flatnonzero(wide)]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    where = groups and f" in {groups}average size"
    if rows is None:
        least = spelling.at_least(float(ranges[:, wide].min()), 2)
        where = f" in {groups or 'a table of '}fewer than {least} rows"
    helps = (
        'errors count in the columns’ own units; weights="range" measures them in ranges.'
        if np.any(wide & narrow)
        else "the budget or the number of rows is too small; ln.budget_for finds the budget for a "
        "given error."
    )
    said = f"{', '.join(names[:_NAMED])}{more}: the noise is wider than the range{where}; {helps}"
    return (Caution(said, "too wide"),)


def _correlations(names: list[str], correlation: Vector) -> Table:
    """Return correlations as a matrix, below its diagonal."""
    rows = [
        (f"{i + 1} {name}", *(_decimals(own) for own in correlation[i, :i]))
        for i, name in enumerate(names)
    ]
    shares = np.tril(np.nan_to_num(correlation), -1).tolist()
    return Table(
        columns=(Column("Column", "name"), *(Column(f"{i}") for i in range(1, len(names)))),
        rows=tuple(row + ("",) * (len(names) - len(row)) for row in rows),
        caption="Of each column with those before it, by number; limited to −1 and 1.",
        title="Correlations at a glance",
        terminal=len(names),
        shares=tuple((0.0, *own[:-1]) for own in shares),
    )


def _decimals(value: float) -> str:
    """Return a correlation as tables of these have it, without its 0 before the point."""
    if np.isnan(value):
        return "none"
    said = f"{round(value, 2) + 0.0:.2f}"  # which is no −0
    return said.replace("-", "−").replace("0.", ".", 1)


def variance_ratio(own: Vector, other: Vector) -> float:
    """Return the total variance of another noise over this one's."""
    return totals(own).ratio(totals(other))


def _ranges(domain: object) -> str:
    """Return what the table of bounds is called."""
    if isinstance(domain, Points):
        return f"Ranges of the columns in the list of {len(domain.points):,} points"
    if isinstance(domain, Polytope):
        return f"Ranges of the columns in the hull of {len(domain.points):,} points"
    return "Bounds of the columns"
