# SPDX-License-Identifier: Apache-2.0
"""Totals of columns, without their count: what budgets, revenues and hours are asked for."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import FileError, QuestionError
from lownoise.kinds import Field, Form
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.questions.encoding import QUESTION, QUESTIONS, Parts
from lownoise.questions.mean import AbstractColumns, AbstractGrouped, Mean
from lownoise.sets.domains import Box

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from lownoise.questions.attributes import Categories
    from lownoise.questions.marginals import Marginals
    from lownoise.sets.domains import AbstractDomain


def _read(value: Any, field: str) -> Mean:  # noqa: ANN401 (a file; what is read says its name)
    found = QUESTIONS.read(value)
    if not isinstance(found, Mean):
        raise FileError(f"{field} is no question of kind mean")
    return found


def _made(mean: Mean) -> Sum:
    missing = "drop" if mean.drops_missing else mean.missing
    return Sum(mean.sources, mean.domain, missing=missing)


@QUESTIONS.kind("sum", Field("mean", Form(QUESTIONS.write, _read)), make=_made)
@final
@readable
@dataclass(frozen=True, eq=False, init=False)
class Sum(AbstractColumns):
    """The totals Σ x of d columns over the records of a table, without the number of records.

    Under `add_remove` nothing is spent on a count, and no center is needed. For means use
    `ln.Mean`, which releases sums and the count.

    Args:
        columns: d different names; the answers have their order.
        domain: the set of possible records; values outside are clipped to it.
        missing: as for `ln.Mean`: null, NaN and text that is not a number count as the domain's
            center, as a point of the domain, or with "drop" as nothing.
        by: groups, with way, sets, group_weights and outside, as for `ln.Mean`.

    Raises:
        QuestionError: as `ln.Mean`.

    Examples:
        >>> import lownoise as ln
        >>> hours = ln.Sum(["hours"], ln.Box([0], [60]))
        >>> plan = ln.plan(hours, budget=ln.gaussian_dp(0.5), relation="add_remove")
        >>> plan.standard_deviation.round(6).tolist()
        [120.0]
    """

    parts: ClassVar[Parts] = Parts(
        view="release.sum_view:SumView",
        read="release.stored:read_sum",
        gaussian="planning.sums:plan_sum",
        pure="planning.sums:pure_sums",
        page="report.mean:MeanView",
    )

    mean: Mean

    def __init__(
        self,
        columns: Sequence[str],
        domain: AbstractDomain,
        *,
        missing: ArrayLike | str = "center",
        by: Mapping[str, Categories] | None = None,
        way: int | None = None,
        sets: Sequence[Sequence[str]] | None = None,
        group_weights: Sequence[float] | None = None,
        outside: str | Mapping[str, object] = "drop",
    ) -> None:
        object.__setattr__(self, "mean", Mean(columns, domain, missing=missing))

    def in_groups(self, groups: Marginals) -> GroupedSum:
        """Return the totals of each group."""
        return GroupedSum(self, groups)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the answers."""
        return self.mean.columns

    @cached_property
    def coming(self) -> Mean:
        """The mean about zero of a table in which one record comes or goes: a change of one."""
        return _about_zero(copy.copy(self.mean))

    def of_units(self, total: AbstractDomain | None, rows: int | None) -> Mean:
        """Return the same of a table of units, each with one row: what its rows add up to, clipped.

        Every point of that row's domain is what some rows add up to, so that what is proved of
        points of a domain is proved of totals.

        Args:
            total: what is clipped to; None where rows come and go, or so many alike.
            rows: how many of a unit's rows add up at most; None for all.

        Raises:
            QuestionError: where rows are of no box that holds 0, or the totals do not hold 0, or no
                rows add up to some of them.
        """
        if total is None:
            return self.coming
        return _about_zero(Mean(self.mean.sources, _added_up(self.mean.domain, total, rows)))


@QUESTIONS.kind("sum_by_groups", Field("total", QUESTION), Field("groups", QUESTION))
@final
@readable
@dataclass(frozen=True, eq=False)
class GroupedSum(AbstractGrouped):
    """The totals of d columns in groups, without a count: what `ln.Sum(…, by=…)` asks.

    Args:
        total: the columns, their domain and stand-in.
        groups: the attributes that rows are grouped by, and which of their margins are asked for.

    Raises:
        QuestionError: as of all by groups.
    """

    counted: ClassVar[bool] = False

    total: Sum
    groups: Marginals

    @cached_property
    def mean(self) -> Mean:  # type: ignore[override]  # a field of others
        """The mean about zero of a table in which one record comes or goes."""
        if not isinstance(self.total, Sum):
            raise QuestionError("by groups there are totals of ln.Sum(columns, …, by=…)")
        return self.total.coming


def _about_zero(mean: Mean) -> Mean:
    object.__setattr__(mean, "center", frozen(np.zeros(mean.domain.dimension)))
    object.__setattr__(mean, "comes", True)
    return mean


def _added_up(each: AbstractDomain, total: AbstractDomain, rows: int | None) -> AbstractDomain:
    """Return the totals among these that so many rows of a box add up to.

    Raises:
        QuestionError: as `Sum.of_units`.
    """
    zero = np.zeros(each.dimension)
    if not isinstance(each, Box) or not each.contains(zero):
        raise QuestionError(
            "unit_total is of rows in a box that holds 0, of which fewer and smaller ones add up "
            "to less; give Sum.domain=ln.Box(lower, upper) with lower <= 0 <= upper"
        )
    if total.dimension != each.dimension or total.oracles or not total.contains(zero):
        raise QuestionError(
            "unit_total is no domain of one coordinate a column that holds 0, what no rows add up "
            "to; give numbers, or a domain as ln.Box(lower, upper)"
        )
    times = math.inf if rows is None else float(rows)
    ends = (each.lower, each.upper)
    low, high = (np.where(end != 0, times * np.where(end != 0, end, 1.0), 0.0) for end in ends)
    if isinstance(total, Box):
        return Box(np.maximum(total.lower, low), np.minimum(total.upper, high))
    if np.any(total.lower < low) or np.any(total.upper > high):
        raise QuestionError(
            "unit_total has points that no such rows add up to; give a box, or larger bounds of "
            "rows"
        )
    return total
