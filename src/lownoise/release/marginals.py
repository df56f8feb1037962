# SPDX-License-Identifier: Apache-2.0
"""Marginals: what terms say of them, and how a release's integers become counts."""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import QuestionError, quoted
from lownoise.noise.baselines import cells_an_answer, squared_change
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import SLACK
from lownoise.questions import Marginals
from lownoise.release.regions import normal_quantile
from lownoise.release.views import AbstractView
from lownoise.sensitivity.factors.tables import centered
from lownoise.sensitivity.orders import answer_count, answer_rows, answers_along
from lownoise.sensitivity.residuals import marginal_orbits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lownoise.noise.marginal_noise import AbstractMarginalNoise
    from lownoise.noise.marginals import AbstractLayout, MarginalTotals
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.release.terms import Terms
    from lownoise.sensitivity.residuals import Blocks, Products, TableChanges

_AT_ONCE = 1 << 16  # cells that are put together at once, in the cache
Cell = tuple["Sequence[str]", "Sequence[int]"]


@final
class MarginalView(AbstractView[Marginals]):
    """What terms say of marginals."""

    folder = True

    @property
    def names(self) -> tuple[str, ...]:
        """Marginals are told by the names of their attributes, of which there may be very many.

        Raises:
            QuestionError: always.
        """
        raise QuestionError("names of marginals are those of their attributes; use marginals()")

    @property
    def note(self) -> str:
        """What a ledger says of the release."""
        question = self.question
        return f"{question.count:,} marginals of {len(question.attributes)} attributes"

    @property
    def _totals(self) -> MarginalTotals:
        found: MarginalTotals = self._terms.mechanism.totals
        return found

    @property
    def _noise(self) -> AbstractMarginalNoise:
        found: AbstractMarginalNoise = self._terms.mechanism.noise
        return found

    @property
    def layout(self) -> AbstractLayout:
        """Which integers are summed."""
        return self._totals.layout

    @cached_property
    def weighted(self) -> tuple[Vector, Vector]:
        """The deviations of the answers, each times √ω, and how often each occurs."""
        variances, orbits = self._noise.answer_variances(), self.layout.orbits
        counts = [len(v) for v in variances]
        weights = np.repeat(orbits.weights, counts)
        copies = np.repeat(orbits.cells, counts)
        return frozen(np.sqrt(weights * np.concatenate(variances))), frozen(copies)

    @property
    def upper(self) -> float:
        """At least ‖√ω·std‖_p over all answers of all marginals."""
        return self._terms.objective * (1 + SLACK)

    @property
    def body(self) -> TableChanges | Blocks | Products:
        """What one record changes: all that the evidence is about."""
        return self._totals.changes

    @property
    def matters(self) -> Vector:
        """√ω of each orbit."""
        return np.sqrt(self.layout.orbits.weights)

    def variances(self, chosen: Sequence[int], *, answers: bool = False) -> Vector:
        """Return the variances in the marginal of these attributes, in records².

        Args:
            chosen: the attributes, rising.
            answers: of the counts along its ordered attributes, not of its cells.

        Returns:
            An array with one axis an attribute, in their order, of length 1 where the variance is
            the same along it.

        Raises:
            QuestionError: where it does not follow from the marginals that were asked for.
        """
        self.require(chosen)
        attributes, axes = self.question.attributes, self.layout.axes
        ordered = [i for i in chosen if i in axes]
        plain = [i for i in chosen if i not in axes]
        parts = [
            answer_rows(attributes[i].ordered if answers else None, attributes[i].size).astype(
                np.float64
            )
            for i in ordered
        ]
        total = np.zeros(math.prod(len(part) for part in parts))
        for inside in _subsets(plain):
            rest = math.prod(attributes[j].size ** -2.0 for j in plain if j not in inside)
            own = math.prod(1 - 1 / attributes[i].size for i in inside)
            sums = (ordered, parts)
            total += self._noise.between(inside, sums, sums) * own * rest
        lengths = iter([len(part) for part in parts])
        return total.reshape([next(lengths) if i in axes else 1 for i in chosen])

    def standard_deviation(self, *names: str, answers: bool = False) -> float | Vector:
        """Return the standard deviation of the noise of each cell of a marginal, in records.

        Args:
            names: of attributes.
            answers: of each count along its ordered attributes, not of each cell.

        Returns:
            One number where no attribute is ordered, else an array like the marginal.

        Raises:
            QuestionError: where it does not follow from the marginals that were asked for.
        """
        chosen = self.question.index(names)
        found = np.sqrt(self.variances(chosen, answers=answers))
        if not any(i in self.layout.axes for i in chosen):
            return float(found.reshape(()))
        # an attribute with one category that is ordered has one answer, too
        attributes = [self.question.attributes[i] for i in chosen]
        shape = [answer_count(a.ordered if answers else None, a.size) for a in attributes]
        return frozen(np.transpose(np.broadcast_to(found, shape), self.question.order(names)))

    def covariance(self, first: Cell, second: Cell) -> float:
        """Return the covariance of the noise of two cells, in records².

        Args:
            first: the names of a marginal's attributes, and a cell of each.
            second: another.

        Raises:
            QuestionError: where one of them does not exist or does not follow from what was asked.
        """
        (B, x), (C, y) = self._cell(first), self._cell(second)
        self.require(B)
        self.require(C)
        sizes, axes = [a.size for a in self.question.attributes], self.layout.axes
        along = [
            (
                [i for i in chosen if i in axes],
                [np.eye(sizes[i])[at[i]][None] for i in chosen if i in axes],
            )
            for chosen, at in ((B, x), (C, y))
        ]
        total = 0.0
        for inside in _subsets([i for i in B if i in C and i not in axes]):
            product = math.prod((x[i] == y[i]) - 1 / sizes[i] for i in inside)
            rest = math.prod(1 / sizes[j] for j in B if j not in inside and j not in axes)
            rest *= math.prod(1 / sizes[j] for j in C if j not in inside and j not in axes)
            total += float(self._noise.between(inside, *along)[0]) * product * rest
        return total

    def deviations(self) -> tuple[tuple[tuple[str, ...], int, float], ...]:
        """Return for each orbit of marginals one of them, how many there are, the deviation.

        That is the standard deviation of the noise of each cell, in records; the root mean square
        over its answers where an attribute is ordered.
        """
        orbits = marginal_orbits(self.question)
        found = []
        for orbit, variances in zip(orbits.asked, self._noise.answer_variances(), strict=True):
            members: list[int] = []
            for kind in orbit:
                own = np.flatnonzero(orbits.kinds == kind).tolist()
                members.append(next(i for i in own if i not in members))
            names = self.question.names(sorted(members))
            found.append((names, orbits.copies(orbit), math.sqrt(float(np.mean(variances)))))
        return tuple(found)

    @cached_property
    def isotropic(self) -> float:
        """The standard deviation of i.i.d. Gaussian noise on all answers at the same budget.

        At most that under `substitute` where an attribute is ordered.
        """
        square = squared_change(self.question, public=self._terms.size is not None)
        return math.sqrt(square) / self._terms.parameter

    def histogram(self, chosen: Sequence[int]) -> float:
        """Return the deviation of an answer summed from i.i.d. noise on all attributes' full table.

        At the same budget, in records, the root mean square over the marginal's answers; infinite
        where it exceeds the floats.
        """
        sizes = [a.size for j, a in enumerate(self.question.attributes) if j not in set(chosen)]
        square = 1.0 if self._terms.size is None else 2.0
        square *= cells_an_answer(self.question, chosen)
        log = sum(map(math.log, sizes)) + math.log(square)
        return math.exp(log / 2) / self._terms.parameter if log < 1400 else math.inf  # noqa: PLR2004

    def require(self, chosen: Sequence[int]) -> None:
        """Refuse a marginal that does not follow from those that were asked for.

        Raises:
            QuestionError: as said.
        """
        question = self.question
        if not self.layout.follows(chosen):
            raise QuestionError(
                f"marginal={question.names(chosen)} does not follow from what was released; "
                "ask for one whose attributes are among those of a released marginal",
            )

    def _cell(self, cell: Cell) -> tuple[tuple[int, ...], dict[int, int]]:
        names, places = cell
        chosen = self.question.index(names)
        if len(places) != len(names):
            raise QuestionError(
                f"cell={tuple(places)} of the marginal {tuple(names)} has not one number an "
                "attribute; give one of each",
            )
        by_name = dict(zip(names, places, strict=True))
        found = {}
        for i in chosen:
            attribute = self.question.attributes[i]
            cell_number = by_name[attribute.name]
            if isinstance(cell_number, bool) or not isinstance(cell_number, (int, np.integer)):
                raise QuestionError(
                    f"cell={quoted(cell_number)} of {quoted(attribute.name)} is no whole number; "
                    f"give one from 0 to {attribute.size - 1}",
                )
            attribute.label(int(cell_number))
            found[i] = int(cell_number)
        return chosen, found

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the promise rests on, one sentence each."""
        neighbour = (
            "takes any other values in its row" if self._terms.size is not None else "comes or goes"
        )
        said = [
            f"One person is one row; between neighbouring tables one row {neighbour}.",
            "The categories of each attribute are public; none of them was taken from this table.",
        ]
        if any(a.outside is not None for a in self.question.attributes):
            said.append(
                "A missing value and one outside the declared categories count in the cell that is "
                "declared for them.",
            )
        if self.question.drops:
            said.append(
                "A row with a missing value or one outside the declared categories is left out "
                "where its attribute declares no cell for them; nothing says how many were.",
            )
        said.append(
            "All counts are unbiased and agree on what they share; a count may be negative."
        )
        return tuple(said)

    @property
    def derived(self) -> dict[str, Any]:
        """What a file says of the deviations, for its readers, as JSON values."""
        return {
            "marginals": [
                {"like": list(names), "count": count, "standard_deviation": deviation}
                for names, count, deviation in self.deviations()
            ]
        }


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
        self._terms, self._integers, self._view = terms, integers, MarginalView(terms)

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

    def _marginals(self, sets: Sequence[tuple[int, ...]]) -> Vector:
        """Return the counts by several sets of attributes of the same sizes, shape (k, n, …).

        T_B = Σ_{A⊆B} (centred table of A)·Π_{j∈B∖A} 1/nⱼ, an axis at a time: what is centred along
        the axis, and the even spread of what is summed over it. The joint cells of ordered
        attributes are one axis, the last.
        """
        totals, attributes = self._terms.mechanism.totals, self._terms.question.attributes
        axes = totals.layout.axes
        sizes = [attributes[i].size for i in sets[0]]
        plain = [j for j, i in enumerate(sets[0]) if i not in axes]
        ordered = [i for i in sets[0] if i in axes]
        parts: dict[tuple[int, ...], Vector] = {}  # by places in the sets
        for k in range(len(plain) + 1):
            for inside in itertools.combinations(plain, k):
                if all(sizes[j] > 1 for j in inside):
                    own_sets = [tuple(chosen[j] for j in inside) for chosen in sets]
                    parts[inside] = totals.differences(own_sets, ordered, self._integers)
        for j in reversed(plain):
            size = sizes[j]
            merged: dict[tuple[int, ...], Vector] = {}
            for inside in [key for key in parts if j not in key]:
                # the axes before it are still differences, those after are done
                axis = 1 + len(inside)
                shared = np.expand_dims(parts[inside], axis) / size
                own = parts.get((*inside, j))
                if own is None:  # one category
                    merged[inside] = np.broadcast_to(shared, _with(shared.shape, axis, size))
                else:
                    merged[inside] = centered(own, axis)
                    merged[inside] += shared
            parts = merged
        last = [j for j in range(len(sizes)) if j not in plain]
        table = parts[()].reshape(len(sets), *[sizes[j] for j in (*plain, *last)])
        return np.transpose(table, [0, *(1 + (*plain, *last).index(j) for j in range(len(sizes)))])

    def marginals(self) -> Iterator[tuple[tuple[str, ...], Vector]]:
        """Yield every marginal that was asked for: names, and counts of shape (n, …).

        A few at a time: nothing but the released integers is held.
        """
        question = self._terms.question
        axes = self._view.layout.axes
        # an ordered attribute is like no other
        like = [(a.size, i if i in axes else -1) for i, a in enumerate(question.attributes)]
        alike = itertools.groupby(question.sets(), lambda chosen: [like[i] for i in chosen])
        for shape, run in alike:
            cells = math.prod(size for size, _ in shape)
            while sets := list(itertools.islice(run, max(_AT_ONCE // cells, 1))):
                for chosen, counts in zip(sets, self._marginals(sets), strict=True):
                    yield question.names(chosen), frozen(np.asarray(counts))

    def interval(self, *names: str, level: float = 0.95) -> tuple[Vector, Vector]:
        """Return the ends of an interval for each cell of a marginal, arrays like `marginal`.

        Each covers the exact count with chance `level` over the noise.

        Raises:
            QuestionError: as `marginal`.
            PlanError: where `level` is not between 0 and 1.
        """
        extent = normal_quantile(level) * self._terms.standard_deviation(*names)
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


def _subsets(chosen: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the sets of attributes inside `chosen`."""
    sets = itertools.chain.from_iterable(
        itertools.combinations(chosen, k) for k in range(len(chosen) + 1)
    )
    return list(sets)


def _with(shape: tuple[int, ...], axis: int, size: int) -> tuple[int, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])
