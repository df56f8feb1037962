# SPDX-License-Identifier: Apache-2.0
"""Which reports have been counted: their identifiers, sorted, and what stood in them.

An identifier has 128 bits: sorted by the first 64, the rest is compared where those are equal. A
report takes 17 bytes here, and its values in the smallest integers that hold them where a remedy
for repeated reports may take them back. What is found depends on the reports, not on their order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Literal, final

import numpy as np

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Integers, Words

_KINDS = (np.int8, np.int16, np.int32, np.int64)


def smallest(lowest: Integers, highest: Integers) -> type[np.signedinteger]:
    """Return the smallest type of integers that holds all values of a report.

    Examples:
        >>> smallest(np.array([0, -200]), np.array([1, 100])).__name__
        'int16'
    """
    low, high = int(np.min(lowest)), int(np.max(highest))
    fitting = [own for own in _KINDS if np.iinfo(own).min <= low and high <= np.iinfo(own).max]
    return fitting[0]


@final
@dataclass(frozen=True, eq=False)
class Run:
    """Reports with different identifiers, sorted by them.

    Args:
        high: the first 64 bits of each identifier, shape (n,).
        low: the other 64.
        values: of each report, shape (n, c), in small integers; (n, 0) where they are not kept.
        contested: whether reports with that identifier differed, so that none counts; (n,).
    """

    high: Words
    low: Words
    values: Integers
    contested: Chosen

    def __len__(self) -> int:
        return int(self.high.size)

    def places(self, other: Run) -> Integers:
        """Return where each identifier of another run stands in this one; −1 where it does not."""
        if not len(self):
            return np.full(len(other), -1)
        first = np.searchsorted(self.high, other.high)
        at = np.minimum(first, len(self) - 1)
        half = self.high[at] == other.high
        whole = half & (self.low[at] == other.low)
        found = np.where(whole, at, -1)
        for i in np.flatnonzero(half & ~whole):  # several identifiers share their first half
            last = np.searchsorted(self.high, other.high[i], side="right")
            k = int(first[i] + np.searchsorted(self.low[first[i] : last], other.low[i]))
            if k < last and self.low[k] == other.low[i]:
                found[i] = k
        return found

    def taken(self, chosen: Chosen | Integers) -> Run:
        """Return some of the reports, in the order given, which keeps them sorted."""
        return Run(self.high[chosen], self.low[chosen], self.values[chosen], self.contested[chosen])

    def beside(self, other: Run) -> Run:
        """Return the reports of both, which share no identifier."""
        pairs = zip(self._columns, other._columns, strict=True)
        joined = Run(*(np.concatenate(pair) for pair in pairs))
        return joined.taken(_order(joined.high, joined.low, "stable"))

    @property
    def _columns(self) -> tuple[Words, Words, Integers, Chosen]:
        return self.high, self.low, self.values, self.contested


def _order(high: Words, low: Words, kind: Literal["quicksort", "stable"]) -> Integers:
    """Return what sorts identifiers; sorted runs after each other cost "stable" little."""
    order = np.argsort(high, kind=kind)
    ordered = high[order]
    equal = ordered[1:] == ordered[:-1]
    if np.any(equal):
        tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
        own = order[tied]
        order[tied] = own[np.lexsort((low[own], high[own]))]
    return order


@final
@dataclass(frozen=True, eq=False)
class Repeats:
    """What came more than once.

    Args:
        surplus: how many reports came after one of the same identifier.
        alike: whether an identifier came again with the same values, and with no others.
        contested: how many identifiers came with different values.
        back: the values of all reports that were counted and must not be, shape (k, c).
    """

    surplus: int
    alike: bool
    contested: int
    back: Integers


def run_of(high: Words, low: Words, values: Integers) -> tuple[Run, Repeats]:
    """Return a run of reports, each identifier once, and what came more than once.

    Args:
        high: the first 64 bits of the identifiers, shape (n,).
        low: the other 64.
        values: shape (n, c); (n, 0) where none are kept.
    """
    order = _order(high, low, "quicksort")
    high, low, values = high[order], low[order], values[order]
    again = np.zeros(high.size, dtype=np.bool_)
    again[1:] = (high[1:] == high[:-1]) & (low[1:] == low[:-1])
    if not np.any(again):
        return Run(high, low, values, again), Repeats(
            surplus=0, alike=False, contested=0, back=values[:0]
        )
    differs = again.copy()
    differs[1:] &= np.any(values[1:] != values[:-1], axis=1)
    group = np.cumsum(~again) - 1
    contested = np.bincount(group, weights=differs) > 0
    run = Run(high[~again], low[~again], values[~again], contested)
    return run, Repeats(
        surplus=int(np.sum(again)),
        alike=bool(np.any(again & ~contested[group])),
        contested=int(np.sum(contested)),
        back=values[again | contested[group]],
    )


@final
@dataclass(eq=False)
class Seen:
    """All reports that were counted: runs, each at least twice as long as the next."""

    runs: list[Run] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    def all(self, width: int, kind: type[np.signedinteger]) -> Run:
        """Return all of them as one run, which is not to be changed.

        Args:
            width: how many values each has.
            kind: of which type they are.
        """
        if len(self.runs) == 1:
            return self.runs[0]
        words, chosen = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.bool_)
        nothing = Run(words, words, np.zeros((0, width), dtype=kind), chosen)
        return reduce(Run.beside, reversed(self.runs), nothing)

    def repeats(self, run: Run) -> tuple[Repeats, Chosen, list[Integers]]:
        """Return what would come more than once with another run; nothing is changed.

        Args:
            run: reports, each identifier once.

        Returns:
            What would; which of the other's identifiers are new; and where those stand, own run by
            own run, that are contested from then on.
        """
        surplus, alike, contested = 0, False, 0
        back, marks, new = [run.values[:0]], [], np.ones(len(run), dtype=np.bool_)
        for own in self.runs:
            places = own.places(run)
            theirs = np.flatnonzero(places >= 0)
            ours = places[theirs]
            new[theirs] = False
            before, beside = own.contested[ours], run.contested[theirs]
            after = before | beside | np.any(own.values[ours] != run.values[theirs], axis=1)
            surplus += theirs.size
            alike |= bool(np.any(~after))
            contested += int(np.sum(after & ~before)) - int(np.sum(beside))
            # of two equal reports the second goes, of two that differ both
            back += [own.values[ours[after & ~before]], run.values[theirs[~beside]]]
            marks.append(ours[after])
        return Repeats(surplus, alike, contested, np.concatenate(back)), new, marks

    def add(self, run: Run, new: Chosen, marks: list[Integers]) -> None:
        """Add a run of which `repeats` has said the rest."""
        for own, contested in zip(self.runs, marks, strict=True):
            own.contested[contested] = True
        if np.any(new):
            self.runs.append(run.taken(new))
        while len(self.runs) > 1 and len(self.runs[-2]) < 2 * len(self.runs[-1]):
            last = self.runs.pop()
            self.runs[-1] = self.runs[-1].beside(last)
