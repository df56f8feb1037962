# SPDX-License-Identifier: Apache-2.0
"""How much noise linear queries have, and what other noise they would have; how they are called."""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.questions import Parity, Queries
from lownoise.report import numbers
from lownoise.report.names import shown
from lownoise.report.spread import Totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.release.linear import LinearTerms

NO_BITS = "(number of rows)"
_FEW_DIGITS = 8


@final
@dataclass(frozen=True, kw_only=True)
class Noise:
    """The noise of one answer, and of those like it.

    Args:
        name: of one of them.
        about: what it counts.
        count: how many there are.
        own: the standard deviation of its noise.
        isotropic: that of i.i.d. noise on all answers at the same budget.
        histogram: that of sums over the counts of all records, each with i.i.d. noise.
    """

    name: str
    about: str
    count: int
    own: float
    isotropic: float
    histogram: float


def largest_first(terms: LinearTerms, most: int) -> tuple[list[Noise], int]:
    """Return the answers with the largest noise, and how many kinds of them are left out.

    Parities of one degree are one kind, every query is one of its own.
    """
    places, counts = _kinds(terms.question)
    own, full = terms.standard_deviation[places], terms.histogram[places]
    order = np.argsort(-own, kind="stable")
    found = [
        Noise(
            name=name(terms.question, place),
            about=about(terms.question, place),
            count=count,
            own=float(own[k]),
            isotropic=terms.isotropic if own[k] > 0 else 0.0,
            histogram=float(full[k]),
        )
        for k in order[:most].tolist()
        for place, count in [(int(places[k]), int(counts[k]))]
    ]
    return found, max(order.size - most, 0)


def totals(terms: LinearTerms) -> dict[str, Totals]:
    """Return the totals over all answers of this plan's noise, "plan", and of the two others."""
    own = terms.standard_deviation
    round_noise = np.where(own > 0, terms.isotropic, 0.0)
    return {
        "plan": _total(own),
        "isotropic": _total(round_noise),
        "histogram": _total(terms.histogram),
    }


def _total(deviations: Vector) -> Totals:
    top = float(np.max(deviations))
    if top == 0 or math.isinf(top):
        return Totals(typical=top, largest=top)
    squares = float(np.mean(np.square(deviations / top)))
    return Totals(typical=top * math.sqrt(squares), largest=top)


@singledispatch
def _kinds(question: object) -> tuple[Integers, Integers]:
    """Return one answer of each kind, and how many answers are of it."""
    raise PlanError(f"question={type(question).__name__} has no report; give ln.Queries(…)")


@_kinds.register(Queries)
def _(question: Queries) -> tuple[Integers, Integers]:
    return np.arange(question.count), np.ones(question.count, dtype=np.int64)


@_kinds.register(Parity)
def _(question: Parity) -> tuple[Integers, Integers]:
    counts = np.array(question.counts)
    return np.cumsum(counts) - counts, counts


@singledispatch
def name(question: object, place: int) -> str:
    """Return what an answer is called."""
    raise PlanError(f"question={type(question).__name__} has no report; give ln.Queries(…)")


@name.register(Queries)
def _(question: Queries, place: int) -> str:
    return f"query {place}"


@name.register(Parity)
def _(question: Parity, place: int) -> str:
    bits = [shown(bit) for bit in question.names(_bits(question, place))]
    return " ⊕ ".join(bits) if bits else NO_BITS


@singledispatch
def about(question: object, place: int) -> str:
    """Return what an answer counts."""
    raise PlanError(f"question={type(question).__name__} has no report; give ln.Queries(…)")


@about.register(Queries)
def _(question: Queries, place: int) -> str:
    row = question.matrix[place]
    used = row[row != 0]
    if not used.size:
        return "nothing"
    which = f"{used.size:,} of {row.size:,} records"
    if used.size == 1:
        labels = question.universe.record(int(np.flatnonzero(row)[0]))
        which = ", ".join(map(shown, labels))
    low, high = float(np.min(used)), float(np.max(used))
    if low == high == 1:
        return which
    if low == high:
        return f"{which}, {_brief(low)} each"
    return f"{which}, {_brief(low)} to {_brief(high)} each"


@about.register(Parity)
def _(question: Parity, place: int) -> str:
    degree = len(_bits(question, place))
    return f"parity of {degree} bit{'s' * (degree != 1)}" if degree else "every row"


def _brief(value: float) -> str:
    text = numbers.shortest(value)
    return text if len(text) <= _FEW_DIGITS else numbers.significant(value)


def _bits(question: Parity, place: int) -> Sequence[int]:
    """Return the bits of the parity at `place`, without a walk through those before it."""
    ends = list(itertools.accumulate(question.counts))
    degree = bisect.bisect_right(ends, place)
    left = place - (ends[degree] - question.counts[degree])
    size, bits, first = question.degrees[degree], len(question.attributes), 0
    found: list[int] = []
    while len(found) < size:
        block = math.comb(bits - first - 1, size - len(found) - 1)  # sets that begin with `first`
        if left < block:
            found.append(first)
        else:
            left -= block
        first += 1
    return found
