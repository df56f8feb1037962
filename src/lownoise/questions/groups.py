# SPDX-License-Identifier: Apache-2.0
"""Means by groups: of each cell of a table's margins, the sums of columns and the number of rows.

A record in group g whose values are x adds e_g ⊗ (x − center, 1): a count for each marginal of the
groups, a vector in place of the number 1. So a question is two of those that are there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

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

_MOST_CELLS = 1 << 20  # of all groups together, whose sums are kept while a table is read
_MOST_SUMS = 1 << 23


def _read(value: Any, field: str) -> Any:  # noqa: ANN401 (a file; what is read says its name)
    return QUESTIONS.read(value)


_QUESTION = Form(QUESTIONS.write, _read)


@QUESTIONS.kind("mean_by_groups", Field("mean", _QUESTION), Field("groups", _QUESTION))
@final
@readable
@dataclass(frozen=True, eq=False)
class GroupedMean:
    """The sums of d columns and the number of rows in groups: what `ln.Mean(…, by=…)` asks.

    Args:
        mean: the columns, their domain, center and stand-in.
        groups: the attributes that rows are grouped by, and which of their margins are asked for.

    Raises:
        QuestionError: where an attribute is ordered, groups are too many to be summed in memory, or
            the domain is a program.
    """

    mean: Mean
    groups: Marginals

    def __post_init__(self) -> None:
        from lownoise.questions.mean import Mean

        if not isinstance(self.mean, Mean) or not isinstance(self.groups, Marginals):
            raise QuestionError("by groups there are means alone; give ln.Mean(columns, …, by=…)")
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
        """How many numbers each group has: the sums and the count."""
        return len(self.columns) + 1

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


ALL = "all rows"
