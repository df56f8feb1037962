# SPDX-License-Identifier: Apache-2.0
"""How much noise the cells of marginals have, by orbit, and what other noise would have there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.questions.ordered import answer_count

if TYPE_CHECKING:
    from lownoise.release.tables import TableTerms


@final
@dataclass(frozen=True, kw_only=True)
class Spread:
    """The noise of one marginal, and of those like it.

    Args:
        names: the attributes of one of them.
        count: how many there are.
        cells: how many cells each has, or counts along its ordered attributes.
        typical: the root mean square of the standard deviations of its cells, in rows.
        largest: the largest of them.
        isotropic: the deviation of i.i.d. noise on all cells at the same budget.
        histogram: that of sums over the full table of all attributes, each cell with i.i.d. noise.
    """

    names: tuple[str, ...]
    count: int
    cells: int
    typical: float
    largest: float
    isotropic: float
    histogram: float


def spreads(terms: TableTerms) -> list[Spread]:
    """Return the noise of each orbit of marginals, the largest first."""
    question = terms.question
    found = []
    for names, count, deviation in terms.deviations():
        chosen = question.index(names)
        attributes = [question.attributes[i] for i in chosen]
        cells = math.prod(answer_count(a.ordered, a.size) for a in attributes)
        ordered = any(a.ordered for a in attributes)
        # along an ordered attribute each answer has a deviation of its own
        deviations = terms.standard_deviation(*names, answers=True) if ordered else deviation
        public = terms.size is not None and not chosen
        found.append(
            Spread(
                names=names,
                count=count,
                cells=cells,
                typical=float(np.sqrt(np.mean(np.square(deviations)))),
                largest=float(np.max(deviations)),
                isotropic=0.0 if public else terms.isotropic,
                histogram=0.0 if public else terms.histogram(chosen),
            )
        )
    return sorted(found, key=lambda s: (-s.largest, len(s.names)))


@final
@dataclass(frozen=True, kw_only=True)
class Totals:
    """One kind of noise over all cells of all marginals.

    Args:
        typical: the root mean square of the cells' standard deviations, in rows.
        largest: the largest of them.
    """

    typical: float
    largest: float


def totals(found: list[Spread]) -> dict[str, Totals]:
    """Return the totals of this plan's noise, "plan", and of the two others by their names."""
    cells = sum(float(s.count) * s.cells for s in found)

    def over(kind: str, largest: str) -> Totals:
        # by the largest, so that no square leaves the floats
        top = max(getattr(s, largest) for s in found)
        if top == 0 or math.isinf(top):
            return Totals(typical=top, largest=top)
        squares = sum(s.count * s.cells / cells * (getattr(s, kind) / top) ** 2 for s in found)
        return Totals(typical=top * math.sqrt(squares), largest=top)

    return {
        "plan": over("typical", "largest"),
        "isotropic": over("isotropic", "isotropic"),
        "histogram": over("histogram", "histogram"),
    }


def variance_ratio(found: dict[str, Totals], other: str) -> float:
    """Return the total variance of another noise over this plan's; NaN where the plan has none."""
    own = found["plan"].typical
    return (found[other].typical / own) ** 2 if own > 0 else math.nan
