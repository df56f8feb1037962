# SPDX-License-Identifier: Apache-2.0
"""The cells of a released marginal with their labels and intervals, one row a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.release.tables import TableRelease


@final
@dataclass(frozen=True, kw_only=True)
class CellRow:
    """One cell: its category of each attribute, its count, the interval's ends, the deviation."""

    labels: tuple[str, ...]
    count: float
    low: float
    high: float
    deviation: float


def cell_rows(release: TableRelease, names: Sequence[str], level: float) -> Iterator[CellRow]:
    """Yield the cells of a marginal, the last attribute running fastest.

    Args:
        release: what was released.
        names: of the marginal's attributes, in the order of the labels.
        level: the chance with which each interval covers.

    Raises:
        QuestionError: where the marginal does not follow from what was released.
        PlanError: where `level` is not between 0 and 1.
    """
    question = release.terms.question
    chosen = [question.attributes[question.index([name])[0]] for name in names]
    counts = release.marginal(*names)
    low, high = release.interval(*names, level=level)
    deviations = np.broadcast_to(np.asarray(release.standard_deviation(*names)), counts.shape)
    for cell in np.ndindex(counts.shape):
        labels = tuple(a.label(k) for a, k in zip(chosen, cell, strict=True))
        yield CellRow(
            labels=labels,
            count=float(counts[cell]),
            low=float(low[cell]),
            high=float(high[cell]),
            deviation=float(deviations[cell]),
        )


def first_marginal(release: TableRelease) -> tuple[str, ...]:
    """Return the attribute of the first one-way marginal that was asked for, else a smallest."""
    question = release.terms.question
    best: tuple[int, ...] | None = None
    for chosen in question.sets():
        if len(chosen) == 1:
            return question.names(chosen)
        if best is None or not best or 0 < len(chosen) < len(best):
            best = chosen
    return question.names(best or ())
