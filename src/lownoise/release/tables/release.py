# SPDX-License-Identifier: Apache-2.0
"""Marginals that may be published, with their error, their proof and their cost."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import QuestionError
from lownoise.numbers.arrays import frozen
from lownoise.questions.ordered import answers_along
from lownoise.release.readable import Readable
from lownoise.release.regions import normal_quantile
from lownoise.sensitivity.factors.differences import centered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.release.answers import Spend
    from lownoise.release.tables.terms import Cell, TableTerms

_AT_ONCE = 1 << 16  # cells that are put together at once, in the cache


@final
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TableRelease(Readable):
    """Released marginals.

    Every marginal whose attributes are among those of one that was asked for can be read; all of
    them agree on what they share, and are unbiased, so that a small count may be negative.

    Args:
        terms: what is guaranteed.
        integers: the release itself, in grid steps; all else follows from it and the terms. In
            memory, or on disk where the release has a path.
        spend: where it was paid, None where nothing was recorded.
        created: when (UTC, ISO 8601).
        versions: of Python, numpy and lownoise.
    """

    terms: TableTerms
    integers: Integers
    spend: Spend | None
    created: str
    versions: dict[str, str]

    @property
    def recorded(self) -> bool:
        """Whether a ledger holds the spend."""
        return self.spend is not None

    def marginal(self, *names: str) -> Vector:
        """Return the counts by these attributes, one axis each in the order of the names.

        Args:
            names: of attributes; none for the number of rows, an array of shape ().

        Raises:
            QuestionError: where a name is unknown or the marginal does not follow from what was
                released.
        """
        question = self.terms.question
        return frozen(np.transpose(self._marginal(question.index(names)), question.order(names)))

    def answers(self, *names: str) -> Vector:
        """Return what was asked of the marginal of these attributes, one axis each.

        Along an ordered attribute of n cells: with "prefix" the n counts of the cells up to each
        one, with "range" the n(n + 1)/2 counts of the ranges [i … j], those from i = 0 first, each
        by rising j. Along every other attribute its cells.

        Raises:
            QuestionError: as `marginal`.
        """
        question = self.terms.question
        return frozen(np.transpose(self._answers(question.index(names)), question.order(names)))

    def _marginal(self, chosen: tuple[int, ...]) -> Vector:
        self.terms.require(chosen)
        return np.asarray(self._marginals([chosen])[0])

    def _answers(self, chosen: tuple[int, ...]) -> Vector:
        found = self._marginal(chosen)
        for axis, i in enumerate(chosen):
            order = self.terms.question.attributes[i].ordered
            if order is not None:
                found = answers_along(found, axis, order)
        return found

    def _marginals(self, sets: Sequence[tuple[int, ...]]) -> Vector:
        """Return the counts by several sets of attributes of the same sizes, shape (k, n, …).

        T_B = Σ_{A⊆B} (centred table of A)·Π_{j∈B∖A} 1/nⱼ, an axis at a time: what is centred along
        the axis, and the even spread of what is summed over it. The joint cells of ordered
        attributes are one axis, the last.
        """
        mechanism, attributes = self.terms.mechanism, self.terms.question.attributes
        axes = mechanism.axes
        sizes = [attributes[i].size for i in sets[0]]
        plain = [j for j, i in enumerate(sets[0]) if i not in axes]
        ordered = [i for i in sets[0] if i in axes]
        parts: dict[tuple[int, ...], Vector] = {}  # by places in the sets
        for k in range(len(plain) + 1):
            for inside in itertools.combinations(plain, k):
                if all(sizes[j] > 1 for j in inside):
                    own_sets = [tuple(chosen[j] for j in inside) for chosen in sets]
                    parts[inside] = mechanism.differences(own_sets, ordered, self.integers)
        for j in reversed(plain):
            size = sizes[j]
            merged: dict[tuple[int, ...], Vector] = {}
            for inside in [key for key in parts if j not in key]:
                # the axes before it are still differences, those after are done
                axis = 1 + len(inside)
                spread = np.expand_dims(parts[inside], axis) / size
                own = parts.get((*inside, j))
                if own is None:  # one category
                    merged[inside] = np.broadcast_to(spread, _with(spread.shape, axis, size))
                else:
                    merged[inside] = centered(own, axis)
                    merged[inside] += spread
            parts = merged
        last = [j for j in range(len(sizes)) if j not in plain]
        table = parts[()].reshape(len(sets), *[sizes[j] for j in (*plain, *last)])
        return np.transpose(table, [0, *(1 + (*plain, *last).index(j) for j in range(len(sizes)))])

    def marginals(self) -> Iterator[tuple[tuple[str, ...], Vector]]:
        """Yield every marginal that was asked for: names, and counts of shape (n, …).

        A few at a time: nothing but the released integers is held.
        """
        question = self.terms.question
        axes = self.terms.mechanism.axes
        # an ordered attribute is like no other
        like = [(a.size, i if i in axes else -1) for i, a in enumerate(question.attributes)]
        alike = itertools.groupby(question.sets(), lambda chosen: [like[i] for i in chosen])
        for shape, run in alike:
            cells = math.prod(size for size, _ in shape)
            while sets := list(itertools.islice(run, max(_AT_ONCE // cells, 1))):
                for chosen, counts in zip(sets, self._marginals(sets), strict=True):
                    yield question.names(chosen), frozen(np.asarray(counts))

    def standard_deviation(self, *names: str, answers: bool = False) -> float | Vector:
        """Return the standard deviation of the noise of each cell of a marginal, in rows.

        Args:
            names: of attributes.
            answers: of each count that `answers` returns, not of each cell.

        Returns:
            One number where no attribute is ordered, else an array like `marginal` or `answers`.

        Raises:
            QuestionError: as `marginal`.
        """
        return self.terms.standard_deviation(*names, answers=answers)

    def covariance(self, first: Cell, second: Cell) -> float:
        """Return the covariance of the noise of two cells, in rows².

        Args:
            first: names of a marginal's attributes, and the number of a cell of each.
            second: another.

        Raises:
            QuestionError: where one of them does not exist or does not follow from what was asked.
        """
        return self.terms.covariance(first, second)

    def interval(self, *names: str, level: float = 0.95) -> tuple[Vector, Vector]:
        """Return the ends of an interval for each cell of a marginal, arrays like `marginal`.

        Each covers the exact count with chance `level` over the noise.

        Raises:
            QuestionError: as `marginal`.
            PlanError: where `level` is not between 0 and 1.
        """
        reach = normal_quantile(level) * self.standard_deviation(*names)
        counts = self.marginal(*names)
        return frozen(np.asarray(counts - reach)), frozen(np.asarray(counts + reach))

    def total(self, cells: Sequence[Cell]) -> tuple[float, float]:
        """Return a sum of cells of any marginals, and the standard deviation of its noise.

        Args:
            cells: of each, names of a marginal's attributes and the number of a cell of each.

        Raises:
            QuestionError: where one of them does not exist or does not follow from what was asked.
        """
        if not cells:
            raise QuestionError("cells is empty; give at least one cell")
        variance = sum(self.covariance(a, b) for a in cells for b in cells)
        value = sum(float(self.marginal(*names)[tuple(place)]) for names, place in cells)
        return value, float(np.sqrt(max(variance, 0.0)))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the release to a new folder: `release.json` and `integers.npy`.

        Raises:
            FileError: where the folder exists or cannot be written.
        """
        from lownoise.release.tables import files

        files.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> TableRelease:
        """Return the release in a folder; its integers stay on disk until they are read.

        Raises:
            FileError: where it is no release of a version that is known, or is damaged.
        """
        from lownoise.release.tables import files

        return files.load(path)


def _with(shape: tuple[int, ...], axis: int, size: int) -> tuple[int, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])
