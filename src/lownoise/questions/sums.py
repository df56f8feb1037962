# SPDX-License-Identifier: Apache-2.0
"""Totals of columns, without their count: what budgets, revenues and hours are asked for."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import FileError
from lownoise.kinds import Field, Form
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.questions.encoding import QUESTIONS
from lownoise.questions.mean import Mean, groups_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from lownoise.questions.attributes import Categories
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
class Sum:
    """The totals Σ x of d columns over the records of a table, without the number of records.

    Under `add_remove` a record adds x to them or takes it away: nothing is spent on a count, and no
    center matters. Where means are wanted ask `ln.Mean`, which has both.

    Args:
        columns: their names, d different ones; their order is the answers' order.
        domain: where records live; values outside are clipped to it.
        missing: as of `ln.Mean`; null, NaN and text that is no number then count as the domain's
            center, as a point of the domain, or with "drop" as nothing.
        by: groups, for totals by these, with way, sets, group_weights and outside as of `ln.Mean`.

    Raises:
        QuestionError: as `ln.Mean`.

    Examples:
        >>> import lownoise as ln
        >>> hours = ln.Sum(["hours"], ln.Box([0], [60]))
        >>> plan = ln.plan(hours, budget=ln.gaussian_dp(0.5), relation="add_remove")
        >>> plan.standard_deviation.round(6).tolist()
        [120.0]
    """

    mean: Mean

    def __new__(
        cls,
        *given: Any,  # noqa: ANN401 (as of `__init__`)
        by: Mapping[str, Categories] | None = None,
        way: int | None = None,
        sets: Sequence[Sequence[str]] | None = None,
        group_weights: Sequence[float] | None = None,
        outside: str | Mapping[str, object] = "drop",
        **more: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401 (where groups are given, the totals of them)
        """Return the question; with `by` that of totals by groups, which is of another kind."""
        groups = groups_of(by, way, sets, group_weights, outside)
        if groups is None:
            return super().__new__(cls)
        from lownoise.questions.groups import GroupedSum

        return GroupedSum(cls(*given, **more), groups)

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

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the answers."""
        return self.mean.columns

    @cached_property
    def coming(self) -> Mean:
        """The mean about zero of a table in which one record comes or goes: a change of one."""
        found = copy.copy(self.mean)
        object.__setattr__(found, "center", frozen(np.zeros(self.mean.domain.dimension)))
        object.__setattr__(found, "comes", True)
        return found
