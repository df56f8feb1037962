# SPDX-License-Identifier: Apache-2.0
"""Distributions and quantiles that are read from released marginals, at no cost of privacy.

Let N rows have a value, F(i) of them in the categories up to i. The q-quantile lies in the first
category i with T(i) = F(i) − qN ≥ 0, i*. T is linear in the counts, so the noise of T̂ has mean zero
and a variance that is known; let it stray to one side by more than zσ with chance (1 − level)/2 at
most. The first i with T̂(i) + zσ(i) ≥ 0 is later than i* only where T̂(i*) < −zσ(i*), though T(i*) ≥
0; the last i with T̂(i − 1) − zσ(i − 1) < 0 is earlier than i* only where T̂(i* − 1) ≥ zσ(i* − 1),
though T(i* − 1) < 0. So the categories from the one to the other hold the quantile with chance
`level`, however many there are (ours).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError, QuestionError, quoted, quoted_number
from lownoise.numbers.arguments import checked_level, checked_number
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.release.answer_table import AbstractTabular, AnswerColumn, AnswerTable, ends_of
from lownoise.release.regions import normal_quantile, simultaneous_quantile
from lownoise.release.shares import shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.questions import Attribute
    from lownoise.release.marginal_answers import MarginalAnswers
    from lownoise.release.shares import Shares


_AT_ONCE = 1 << 22  # numbers of sums along a column, built at once
_MOST_CATEGORIES = 1 << 13  # whose variances take a square of time


@final
@readable
@dataclass(frozen=True)
class Quantile(AbstractTabular):
    """A quantile of a column, and where the exact one is.

    Args:
        q: which one, in [0, 1].
        value: near it, straight lines between the ends of ranges; NaN where no row was seen. Those
            of one release never cross.
        lower: at most the exact quantile of the values, moved into the declared ranges,
        upper: and at least, both with chance `level`.
        level: over the noise.
    """

    q: float
    value: float
    lower: float
    upper: float
    level: float

    def table(self) -> AnswerTable:
        """Return one row: q, the value, and the ends of the interval."""
        unit, ends = "the column’s unit", ends_of("quantile", f"{self.level:g}")
        near = "a value near the quantile, from released counts; no number where no row was seen"
        described = {"q": "which quantile it is", "value": near, **ends}
        cells = (self.q, self.value, self.lower, self.upper)
        return AnswerTable(
            tuple(
                AnswerColumn(name, np.array([cell]), said, "a share" if name == "q" else unit)
                for (name, said), cell in zip(described.items(), cells, strict=True)
            )
        )


@final
@readable
@dataclass(frozen=True, eq=False)
class Cumulative(AbstractTabular):
    """How many rows are at most each of some values, and a band that holds all exact counts.

    Args:
        values: the upper end of each range, or each category's number, shape (k,).
        counts: the rows up to each, unbiased, so that they may fall, shape (k,).
        lower: at most the exact ones,
        upper: and at least, all together with chance `level`, shapes (k,).
        level: over the noise.
    """

    values: Vector
    counts: Vector
    lower: Vector
    upper: Vector
    level: float

    def table(self) -> AnswerTable:
        """Return a row a value: what is at most it, and the band."""
        band = f"end of a band that holds all exact counts together with chance {self.level:g}"
        value = "the upper end of a range, or a category’s number"
        count = "the released number of rows up to it: the exact one and noise"
        return AnswerTable(
            (
                AnswerColumn("at_most", self.values, value, "the column’s unit"),
                AnswerColumn("count", self.counts, count, "rows"),
                AnswerColumn("low", self.lower, f"the lower {band}", "rows"),
                AnswerColumn("high", self.upper, f"the upper {band}", "rows"),
            )
        )


@final
class Distributed:
    """One column of released marginals, in one group of rows.

    Args:
        answers: the marginals.
        column: of numbers; None for the one that is asked for in its order.
        where: the category of each attribute that rows are grouped by; none of all rows.

    Raises:
        QuestionError: where there is no such column or group, or the column's categories are no
            rising numbers.
    """

    def __init__(
        self, answers: MarginalAnswers, column: str | None, where: Mapping[str, object] | None
    ) -> None:
        self._view = view = answers.view
        question = view.question
        self._attribute = own = _column(question.attributes, column)
        if own.categories > _MOST_CATEGORIES:
            raise QuestionError(
                f"{quoted(own.name)} has {own.categories:,} categories, and quantiles and bands "
                f"are read of up to {_MOST_CATEGORIES:,}; declare fewer, or read its marginal"
            )
        if not isinstance(where, (Mapping, NoneType)):
            raise QuestionError(
                f"where={quoted_number(where)} names no group; give the category of each attribute "
                'that has one, as where={"sex": "F"}'
            )
        groups = dict(where or {})
        if own.name in groups:
            raise QuestionError(f"where={quoted(own.name)} is the column itself; leave it out")
        self._names = (own.name, *groups)
        question.index(self._names)
        known = {a.name: a for a in question.attributes}
        self._cells: tuple[int, ...] = tuple(
            known[name].cell(value) for name, value in groups.items()
        )
        table = answers.marginal(*self._names)
        group = np.moveaxis(table, 0, -1)[self._cells]
        self._counts = np.cumsum(group[: own.categories])
        self._ends = _ends(own)

    def cumulative(self, level: float) -> Cumulative:
        """Return the cumulative counts, and a band; see `Release.distribution`."""
        k = self._counts.size
        if self._view.gaussian:
            factor = simultaneous_quantile(level, k)
        else:
            factor = self._view.tail((1 - checked_level(level)) / k)
        half = factor * self._deviations(0.0)
        lower, upper = self._counts - half, self._counts + half
        return Cumulative(
            self._ends[1], frozen(self._counts), frozen(lower), frozen(upper), float(level)
        )

    def quantile(self, q: float, level: float) -> Quantile:
        """Return a quantile; see `Release.quantile`."""
        share = checked_number("q", q)
        if not 0 <= share <= 1:
            raise PlanError(f"q={share:g} is out of range; give one from 0 to 1")
        k, F = self._counts.size, self._counts
        if self._view.gaussian:
            factor = normal_quantile(level)
        else:
            factor = self._view.tail(1 - checked_level(level))
        stray = factor * self._deviations(share)
        T = F - share * F[-1]
        reaching = np.flatnonzero(T + stray >= 0)
        first = int(reaching[0]) if reaching.size else k - 1
        short = np.flatnonzero(T[:-1] - stray[:-1] < 0)
        last = max(int(short[-1]) + 1 if short.size else 0, first)
        below, above = self._ends
        lower, upper = float(below[first]), float(above[last])
        value = self._value(share)
        within = value if math.isnan(value) else min(max(value, lower), upper)
        return Quantile(share, within, lower, upper, float(level))

    def _value(self, share: float) -> float:
        """Return where the nearest rising counts reach a share of their last."""
        from scipy.optimize import isotonic_regression

        rising = np.maximum(isotonic_regression(self._counts).x, 0.0)
        if not rising[-1] > 0:
            return math.nan
        wanted = share * rising[-1]
        place = int(np.searchsorted(rising, wanted))
        start = float(rising[place - 1]) if place else 0.0
        step = float(rising[place]) - start
        part = (wanted - start) / step if step > 0 else 1.0
        below, above = (float(ends[place]) for ends in self._ends)
        return float(below + part * (above - below))

    def _deviations(self, share: float) -> Vector:
        """Return the deviations of T(i), or of F(i) where `share` is 0, shape (k,)."""
        k, size = self._counts.size, self._attribute.size
        found = np.empty(k)
        step = max(_AT_ONCE // size, 1)
        for start in range(0, k, step):
            stop = min(start + step, k)
            rows = np.zeros((stop - start, size))
            rows[:, :k] = np.tri(stop - start, k, start) - share
            found[start:stop] = self._view.row_variances(self._names, rows, self._cells)
        return np.sqrt(np.maximum(found, 0.0))


class Counted(ABC):
    """What has released marginals, from which more is read."""

    @property
    @abstractmethod
    def _marginals(self) -> MarginalAnswers: ...

    def distribution(
        self,
        column: str | None = None,
        *,
        where: Mapping[str, object] | None = None,
        level: float = 0.95,
    ) -> Cumulative:
        """Return the number of rows up to each value of a column, with a simultaneous band.

        Args:
            column: an attribute of numbers, preferably of ranges; by default the only ordered one.
            where: for a group of rows, the category of each attribute that defines the group.
            level: the probability, over the noise, with which the band covers all exact counts: by
                Šidák's inequality for Gaussian noise, else by the union bound.

        Raises:
            QuestionError: where there is no such column or group, or its marginal does not follow
                from what was released.
            PlanError: where the question was not of marginals, or the level is out of range.
        """
        return Distributed(self._marginals, column, where).cumulative(level)

    def quantile(
        self,
        q: float,
        column: str | None = None,
        *,
        where: Mapping[str, object] | None = None,
        level: float = 0.95,
    ) -> Quantile:
        """Return a quantile of a column, with an interval that covers the exact quantile.

        The ends of the interval are edges of ranges, so it is at least as wide as a range. The
        value is post-processed, and may be biased. Rows with a missing value do not count.

        Args:
            q: in [0, 1]; 0.5 is the median.
            column: as of `distribution`.
            where: as of `distribution`.
            level: the probability, over the noise, with which the interval covers the quantile.

        Raises:
            QuestionError: as `distribution`.
            PlanError: as `distribution`, and where q is out of range.

        Examples:
            >>> import pandas as pd
            >>> import lownoise as ln
            >>> ages = ln.Distribution("age", range(0, 101, 5))
            >>> plan = ln.plan(ages, budget=ln.zcdp(1e6), relation="add_remove")
            >>> release = plan.release(pd.DataFrame({"age": range(100)}))
            >>> found = release.quantile(0.52)
            >>> round(found.value, 1), found.lower, found.upper
            (52.0, 50.0, 55.0)
        """
        return Distributed(self._marginals, column, where).quantile(q, level)

    def shares(self, *names: str, of: str | Sequence[str] = (), level: float = 0.95) -> Shares:
        """Return counts by these attributes as shares of their groups', each with an interval.

        Args:
            names: of attributes, as of `Release.marginal`.
            of: those of them whose categories are the groups; none: shares of all rows.
            level: the chance over the noise with which each interval holds the exact share.

        Raises:
            QuestionError: as `Release.marginal`, and where `of` names no groups of the marginal.
            PlanError: as `distribution`.

        Examples:
            >>> import pandas as pd
            >>> import lownoise as ln
            >>> counts = ln.Count({"sex": ["F", "M"], "work": ["no", "yes"]})
            >>> plan = ln.plan(counts, budget=ln.zcdp(1e6), relation="add_remove")
            >>> rows = pd.DataFrame({"sex": [*"FFFMM"], "work": ["no", "yes", "yes", "no", "no"]})
            >>> found = plan.release(rows).shares("sex", "work", of="sex")
            >>> abs(found.shares.round(2)).tolist()
            [[0.33, 0.67], [1.0, 0.0]]
        """
        return shares(self._marginals, names, of, level)


def _column(attributes: tuple[Attribute, ...], name: str | None) -> Attribute:
    """Return the attribute whose distribution is read."""
    if name is not None:
        found = [a for a in attributes if a.name == name]
    else:
        ordered = [a for a in attributes if a.ordered]
        found = ordered or [a for a in attributes if a.edges is not None]
    if len(found) != 1:
        order = "" if isinstance(name, str) else "its name comes second, as quantile(0.5, column); "
        raise QuestionError(
            f"column={quoted(name)} is no attribute; {order}name one of "
            f"{', '.join(a.name for a in attributes)}"
            if name is not None
            else "column is missing: not just one attribute is ordered; name one, as column="
        )
    return found[0]


def _ends(attribute: Attribute) -> tuple[Vector, Vector]:
    """Return the lower and the upper end of each category, shapes (categories,)."""
    if attribute.edges is not None:
        edges = np.array(attribute.edges)
        return frozen(edges[:-1]), frozen(edges[1:])
    if attribute.labels is None:
        values = np.arange(float(attribute.categories))
    else:
        values = attribute.numbers
    if not (np.all(np.isfinite(values)) and np.all(np.diff(values) > 0)):
        raise QuestionError(
            f"column={quoted(attribute.name)} has categories that are no rising numbers, and no "
            "distribution; read its marginal"
        )
    return frozen(values), frozen(values)
