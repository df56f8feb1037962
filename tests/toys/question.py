# SPDX-License-Identifier: Apache-2.0
"""A question from outside the package: how many rows of a column are above public thresholds."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 (which specifications read)
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.engines.counts import Histogram
from lownoise.engines.opening import rows_of
from lownoise.errors import QuestionError
from lownoise.questions import QUESTIONS, AbstractQueries

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


@QUESTIONS.kind("above", "column", "thresholds", declared=True)
@final
@dataclass(frozen=True)
class Above(AbstractQueries):
    """How many rows of a column are above each of some rising thresholds."""

    column: str
    thresholds: Sequence[float]

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            raise QuestionError(f"Above.column={self.column!r} is no name; give a text")
        if not len(self.thresholds) or np.any(np.diff(self.thresholds) <= 0):
            raise QuestionError(f"Above.thresholds={self.thresholds} do not rise; sort them")

    @property
    def matrix(self) -> Vector:  # a row is above the first k thresholds, for some k
        return np.triu(np.ones((len(self.thresholds), len(self.thresholds) + 1)), 1)

    @property
    def drops(self) -> bool:
        return False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.column} > {own:g}" for own in self.thresholds)

    @property
    def rows(self) -> str:
        return "A row without a number counts as below all thresholds."

    def histogram(self, table: Any) -> Histogram:
        counts = np.zeros(self.record_count, dtype=np.int64)
        for batch in rows_of([self.column], table):
            values = np.nan_to_num(batch[:, 0], nan=-np.inf, posinf=np.inf, neginf=-np.inf)
            counts += np.bincount(np.searchsorted(self.thresholds, values), minlength=counts.size)
        return Histogram(counts)
