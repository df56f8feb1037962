# SPDX-License-Identifier: Apache-2.0
"""How the integers of released marginals become counts."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import QuestionError
from lownoise.noise.tables import tables_of
from lownoise.numbers.arrays import frozen
from lownoise.numbers.threads import in_order
from lownoise.release.marginals import MarginalView
from lownoise.sensitivity.orders import answers_along

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.release.marginals import Cell
    from lownoise.release.terms import Terms

_AT_ONCE = 1 << 16  # cells that are put together at once, in the cache
_MANY = 1 << 20  # cells that are worth threads
_AHEAD, _HELD = 7, 1 << 23  # runs that may wait for one that takes long, of so many cells


@final
class MarginalAnswers:
    """Released marginals.

    Every marginal whose attributes are among those of one that was asked for can be read; all of
    them agree on what they share, and are unbiased, so that a small count may be negative.

    Args:
        terms: of the release.
        integers: the release itself, in grid steps.
    """

    def __init__(self, terms: Terms, integers: Integers) -> None:
        self._terms, self._view = terms, MarginalView(terms)
        self._released = terms.mechanism.totals.noisy(integers)

    @property
    def view(self) -> MarginalView:
        """What the terms say of marginals."""
        return self._view

    def marginal(self, *names: str) -> Vector:
        """Return the counts by these attributes, one axis each in the order of the names.

        Args:
            names: of attributes; none for the number of rows, an array of shape ().

        Raises:
            QuestionError: where a name is unknown or the marginal does not follow from what was
                released.
        """
        question = self._terms.question
        return frozen(np.transpose(self._marginal(question.index(names)), question.order(names)))

    def answers(self, *names: str) -> Vector:
        """Return what was asked of the marginal of these attributes, one axis each.

        Along an ordered attribute of n cells: with "prefix" the n counts of the cells up to each
        one, with "range" the n(n + 1)/2 counts of the ranges [i … j], those from i = 0 first, each
        by rising j. Along every other attribute its cells.

        Raises:
            QuestionError: as `marginal`.
        """
        question = self._terms.question
        return frozen(np.transpose(self._answers(question.index(names)), question.order(names)))

    def _marginal(self, chosen: tuple[int, ...]) -> Vector:
        self._view.require(chosen)
        return np.asarray(self._marginals([chosen])[0])

    def _answers(self, chosen: tuple[int, ...]) -> Vector:
        found = self._marginal(chosen)
        for axis, i in enumerate(chosen):
            order = self._terms.question.attributes[i].ordered
            if order is not None:
                found = answers_along(found, axis, order)
        return found

    def stacked(self, sets: Sequence[tuple[int, ...]]) -> Vector:
        """Return the counts by several sets of attributes, shape (k, n, …).

        Args:
            sets: rising attributes, of the same sizes, and ordered ones at the same places.

        Raises:
            QuestionError: where one does not follow from what was released.
        """
        for chosen in sets:
            self._view.require(chosen)
        return self._marginals(sets)

    def _marginals(self, sets: Sequence[tuple[int, ...]]) -> Vector:
        """Return the counts by several sets of attributes of the same sizes, shape (k, n, …)."""
        totals, attributes = self._terms.mechanism.totals, self._terms.question.attributes
        return tables_of(totals.layout, attributes, sets, self._released)

    def marginals(self) -> Iterator[tuple[tuple[str, ...], Vector]]:
        """Yield every marginal that was asked for: names, and counts of shape (n, …).

        A few at a time: nothing but the released integers is held.
        """
        question = self._terms.question
        axes = self._view.layout.axes
        # an ordered attribute is like no other
        like = [(a.size, i if i in axes else -1) for i, a in enumerate(question.attributes)]
        alike = itertools.groupby(question.sets(), lambda chosen: [like[i] for i in chosen])

        def runs() -> Iterator[list[tuple[int, ...]]]:
            for shape, run in alike:
                cells = math.prod(size for size, _ in shape)
                while sets := list(itertools.islice(run, max(_AT_ONCE // cells, 1))):
                    yield sets

        def read(sets: list[tuple[int, ...]]) -> list[tuple[tuple[str, ...], Vector]]:
            names = map(question.names, sets)
            tables = map(frozen, map(np.asarray, self._marginals(sets)))
            return list(zip(names, tables, strict=True))

        if question.cells <= _MANY:
            return itertools.chain.from_iterable(map(read, runs()))
        sizes = [a.size for a in question.attributes]
        largest = max(math.prod(sizes[i] for i in chosen) for chosen in question.sets())
        ahead = max(min(_AHEAD, _HELD // largest), 1)
        return itertools.chain.from_iterable(in_order(read, runs(), ahead))

    def interval(self, *names: str, level: float = 0.95) -> tuple[Vector, Vector]:
        """Return the ends of an interval for each cell of a marginal, arrays like `marginal`.

        Each covers the exact count with chance `level` over the noise.

        Raises:
            QuestionError: as `marginal`.
            PlanError: where `level` is not between 0 and 1.
        """
        extent = self._view.half_width(level, *names)
        counts = self.marginal(*names)
        return frozen(np.asarray(counts - extent)), frozen(np.asarray(counts + extent))

    def total(self, cells: Sequence[Cell]) -> tuple[float, float]:
        """Return a sum of cells of any marginals, and the standard deviation of its noise.

        Args:
            cells: of each, names of a marginal's attributes and the number of a cell of each.

        Raises:
            QuestionError: where one of them does not exist or does not follow from what was asked.
        """
        if not cells:
            raise QuestionError("cells is empty; give at least one cell")
        variance = sum(self._terms.covariance(a, b) for a in cells for b in cells)
        value = sum(float(self.marginal(*names)[tuple(place)]) for names, place in cells)
        return value, float(np.sqrt(max(variance, 0.0)))
