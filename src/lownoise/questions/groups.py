# SPDX-License-Identifier: Apache-2.0
"""Means and totals by groups: of each cell of a table's margins, sums of columns, and maybe counts.

A record in group g whose values are x adds e_g ⊗ (x − center, 1), to totals alone e_g ⊗ x: a count
for each marginal of the groups, a vector in place of the number 1. So a question is two of those
that are there.
"""

from __future__ import annotations

import math
from abc import ABC
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import QuestionError
from lownoise.kinds import Field, Form
from lownoise.numbers.readable import readable
from lownoise.questions.encoding import QUESTIONS
from lownoise.questions.marginals import Marginals
from lownoise.sets.domains.encoding import oracle_of

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.questions.mean import Mean
    from lownoise.questions.sums import Sum

_MOST_CELLS = 1 << 20  # of all groups together, whose sums are kept while a table is read
_MOST_SUMS = 1 << 23


def _read(value: Any, field: str) -> Any:  # noqa: ANN401 (a file; what is read says its name)
    return QUESTIONS.read(value)


_QUESTION = Form(QUESTIONS.write, _read)


class AbstractGrouped(ABC):
    """What is asked of the columns of each group of some margins.

    Raises:
        QuestionError: where an attribute is ordered, groups are too many to be summed in memory, or
            the domain is a program.
    """

    mean: Mean  # of the records of one group; of totals the one that they are
    groups: Marginals
    counted: ClassVar[bool]  # whether groups have a count each

    def __post_init__(self) -> None:
        from lownoise.questions.mean import Mean

        if not isinstance(self.mean, Mean) or not isinstance(self.groups, Marginals):
            raise QuestionError(
                "by groups there are means and totals alone; give ln.Mean(columns, …, by=…)"
            )
        if oracle_of(self.mean.domain) is not None:
            raise QuestionError(
                "Mean.domain is a program, and groups need a set that a file holds; give the set"
            )
        if self.groups.ordered:
            raise QuestionError(
                "by has an ordered attribute, and groups have none; ask ln.Distribution for counts"
            )
        cells = math.prod(a.size for a in self.groups.attributes)
        most = min(_MOST_CELLS, _MOST_SUMS // (len(self.columns) + 1))
        if cells > most:
            raise QuestionError(
                f"by has {cells:,} groups in all; give at most {most:,}, by fewer attributes or "
                "wider categories"
            )
        if self.count > _MOST_SUMS:
            raise QuestionError(
                f"by asks for {self.count:,} answers; ask for at most {_MOST_SUMS:,}, by a lower "
                "way or fewer sets"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are summed."""
        return self.mean.columns

    @property
    def drops(self) -> bool:
        """Whether a row may be left out."""
        return self.groups.drops or self.mean.drops_missing

    @property
    def length(self) -> int:
        """How many numbers each group has: the sums, and the count where there is one."""
        return len(self.columns) + self.counted

    @property
    def count(self) -> int:
        """The number of answers, m."""
        return self.groups.cells * self.length

    @property
    def weights(self) -> Vector:
        """What one unit of each group's error matters beside the others', shape (cells,)."""
        groups = self.groups
        way = groups.way is not None
        own = [
            np.full(
                math.prod(groups.attributes[i].size for i in chosen),
                math.sqrt(groups.weights[len(chosen) if way else k]),
            )
            for k, chosen in enumerate(groups.sets())
        ]
        return np.concatenate(own)

    def labels(self) -> list[str]:
        """Return what each group is called, in the order of the answers, shape (cells,).

        Examples:
            >>> from lownoise.questions import Mean
            >>> from lownoise.sets.domains import Box
            >>> pay = Mean(["pay"], Box([0], [9]), by={"sex": ["F", "M"]}, way=1)
            >>> pay.labels()
            ['all rows', 'sex=F', 'sex=M']
        """
        found = []
        for chosen in self.groups.sets():
            own = [self.groups.attributes[i] for i in chosen]
            for place in np.ndindex(*(a.size for a in own)):
                cell = [f"{a.name}={a.label(k)}" for a, k in zip(own, place, strict=True)]
                found.append(", ".join(cell) or ALL)
        return found


@QUESTIONS.kind("mean_by_groups", Field("mean", _QUESTION), Field("groups", _QUESTION))
@final
@readable
@dataclass(frozen=True, eq=False)
class GroupedMean(AbstractGrouped):
    """The sums of d columns and the number of rows in groups: what `ln.Mean(…, by=…)` asks.

    Args:
        mean: the columns, their domain, center and stand-in.
        groups: the attributes that rows are grouped by, and which of their margins are asked for.

    Raises:
        QuestionError: as of all by groups.
    """

    counted: ClassVar[bool] = True

    mean: Mean
    groups: Marginals


@QUESTIONS.kind("sum_by_groups", Field("total", _QUESTION), Field("groups", _QUESTION))
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
        from lownoise.questions.sums import Sum

        if not isinstance(self.total, Sum):
            raise QuestionError("by groups there are totals of ln.Sum(columns, …, by=…)")
        return self.total.coming


ALL = "all rows"
