# SPDX-License-Identifier: Apache-2.0
"""What terms say of marginals."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.certificate.product import ProductDual
from lownoise.certificate.tables import OrderedDual, ResidualDual
from lownoise.errors import PlanError, QuestionError, quoted
from lownoise.kinds import row_of
from lownoise.noise.baselines import cells_an_answer, squared_change
from lownoise.noise.tables import weighted_errors
from lownoise.numbers.arguments import checked_level, is_integer
from lownoise.numbers.arrays import frozen
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.numbers.rounding import SLACK
from lownoise.questions import Marginals
from lownoise.questions.wording import counted_as, left_out
from lownoise.release.guarantees import farthest
from lownoise.release.pure_bound import by_volume
from lownoise.release.regions import normal_quantile
from lownoise.release.tails import sum_bound, sum_quantile
from lownoise.release.views import AbstractView
from lownoise.sensitivity.orders import answer_count, answer_rows
from lownoise.sensitivity.relations import ADD_REMOVE, SUBSTITUTE
from lownoise.sensitivity.residuals import (
    TableChanges,
    marginal_orbits,
    ordered_blocks,
    product_blocks,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lownoise.noise.marginal_noise import AbstractMarginalNoise
    from lownoise.noise.marginals import AbstractLayout, MarginalTotals
    from lownoise.numbers.arrays import Vector

_DRAWS, _SEED = 20_000, 20_100_602
_MOST_DRAWN = 256  # answers, and integers

Cell = tuple["Sequence[str]", "Sequence[int]"]
_RARE = 1e-4  # chances beyond which bounds are stated, not quantiles


@final
class MarginalView(AbstractView[Marginals]):
    """What terms say of marginals."""

    folder = True

    @property
    def gaussian(self) -> bool:
        """Whether the noise is Gaussian."""
        return self._terms.gaussian

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
        count, width = question.count, len(question.attributes)
        of = f"{width} attribute{'s' * (width != 1)}"
        return f"{count:,} marginal{'s' * (count != 1)} of {of}"

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
    def body(self) -> Any:  # noqa: ANN401 (as the evidence has it)
        """What one record changes: all that the evidence is about."""
        if self._terms.exchanged and isinstance(self._terms.evidence, ResidualDual):
            return TableChanges(marginal_orbits(self.question), ADD_REMOVE, exchanged=True)
        public = self._terms.size is not None
        if self._terms.exchanged and isinstance(self._terms.evidence, OrderedDual):
            known = ordered_blocks(self.question, public=False)
            if self._terms.evidence.leaves(known.categories):
                return replace(known, becoming=True)
            public = self._terms.evidence.becoming  # as files of before have it
        elif self._terms.gaussian:
            return self._totals.changes
        about = row_of(_BODIES, self._terms.evidence)
        assert about is not None  # noqa: S101 (what all evidence on marginals has)
        return about(self.question, public=public)

    def unbeaten(self, epsilon: float) -> float:
        """Return what no ε-DP mechanism's error is below on every table, by volume."""
        return by_volume(self._terms, epsilon)

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

    def row_variances(self, names: Sequence[str], rows: Vector, cells: Sequence[int]) -> Vector:
        """Return the variances of sums along one attribute, in one cell of others, shape (k,).

        Args:
            names: the attribute, then the others.
            rows: what each of its cells counts in each sum, shape (k, n).
            cells: of the others, in the order of their names.

        Raises:
            QuestionError: as `standard_deviation`.
        """
        chosen = self.question.index(names)
        self.require(chosen)
        places = [self.question.index([name])[0] for name in names]
        sizes, axes = [a.size for a in self.question.attributes], self.layout.axes
        own, fixed = places[0], dict(zip(places[1:], cells, strict=True))
        ordered = [i for i in chosen if i in axes]
        parts = [rows if i == own else np.eye(sizes[i])[[fixed[i]]] for i in ordered]
        found = np.zeros(len(rows))
        for inside in _subsets([i for i in chosen if i not in axes]):
            outside = [j for j in chosen if j not in axes and j not in inside]
            # along an attribute that is not ordered, Σᵢ lᵢ² − (Σᵢ lᵢ)²/n, or (Σᵢ lᵢ/n)²
            alone = math.prod(1 - 1 / sizes[i] for i in inside if i != own)
            alone *= math.prod(sizes[j] ** -2.0 for j in outside if j != own)
            share = np.full(len(rows), float(alone))
            if own in inside:
                share *= (rows**2).sum(axis=1) - rows.sum(axis=1) ** 2 / sizes[own]
            elif own in outside:
                share *= (rows.sum(axis=1) / sizes[own]) ** 2
            found += self._noise.between(inside, (ordered, parts), (ordered, parts)) * share
        return found

    def half_width(self, level: float, *names: str) -> float | Vector:
        """Return how far counts of a marginal stray at most with chance `level`, each by itself.

        Pure noise and its sums are log-concave, or sums of independent numbers of a known law.

        Args:
            level: between 0 and 1.
            names: as of `standard_deviation`, which has the shape of what is returned.

        Raises:
            QuestionError: as `standard_deviation`.
            PlanError: where `level` is not between 0 and 1.
        """
        deviations = self.standard_deviation(*names)
        if self._terms.gaussian:
            return np.asarray(normal_quantile(level) * deviations)
        parts = self._noise.parts(self.question.index(names))
        outside = 1 - checked_level(level)
        if (known := self._noise.strays(np.asarray(deviations), outside)) is not None:
            return known
        if parts is None or (outside < _RARE and parts.counts.sum() != 1):
            wide = self.tail(outside) * deviations
            return np.asarray(
                wide if parts is None else np.minimum(wide, sum_bound(parts, outside))
            )
        return sum_quantile(parts, level)

    def tail(self, outside: float) -> float:
        """Return how many deviations no answer strays beyond but with chance `outside`."""
        return farthest(self._noise, outside)

    def half_widths(self, level: float) -> Vector:
        """Return the greatest `half_width` of each kind of marginal that was asked for."""
        asked = (names for names, _, _ in self.deviations())
        return np.array([np.max(self.half_width(level, *names)) for names in asked])

    @property
    def mean_error(self) -> float:
        """E‖√ω·error‖_p of all answers, from 20,000 draws of the noise.

        Raises:
            PlanError: where they are too many to be drawn.
        """
        if max(self.layout.length, self.question.answers) > _MOST_DRAWN:
            raise PlanError("answers are too many for intervals from draws; use standard_deviation")
        noise = self._noise.simulate(_DRAWS, SimulationRandomness(_SEED))
        errors = weighted_errors(self.question, self._terms.mechanism.totals, noise)
        return float(np.mean(np.linalg.norm(errors, ord=self._terms.order, axis=1)))

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
            names = self.question.names(orbits.members_of(orbit))
            found.append((names, orbits.copies(orbit), math.sqrt(float(np.mean(variances)))))
        return tuple(found)

    @cached_property
    def isotropic(self) -> float:
        """The standard deviation of i.i.d. Gaussian noise on all answers at the same budget.

        At most that under `substitute` where an attribute is ordered.
        """
        square = squared_change(self.question, public=not self.alone)
        return math.sqrt(square) / self.gaussian_parameter

    def histogram(self, chosen: Sequence[int]) -> float:
        """Return the deviation of an answer summed from i.i.d. noise on all attributes' full table.

        At the same budget, in records, the root mean square over the marginal's answers; infinite
        where it exceeds the floats.
        """
        sizes = [a.size for j, a in enumerate(self.question.attributes) if j not in set(chosen)]
        square = 1.0 if self.alone else 2.0
        square *= cells_an_answer(self.question, chosen)
        log = sum(map(math.log, sizes)) + math.log(square)
        if log >= 1400:  # noqa: PLR2004 (where floats end)
            return math.inf
        return math.exp(log / 2) / self.gaussian_parameter

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
            if not is_integer(cell_number):
                raise QuestionError(
                    f"cell={quoted(cell_number)} of {quoted(attribute.name)} is no whole number; "
                    f"give one from 0 to {attribute.size - 1}",
                )
            attribute.label(int(cell_number))
            found[i] = int(cell_number)
        return chosen, found

    @property
    def left_out(self) -> str:
        """Those whose categories are not declared."""
        return left_out(self.question.attributes)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the promise rests on, one sentence each."""
        public = self._terms.size is not None
        neighbour = "takes any other values in its row" if public else "is added or removed"
        said = [
            self.neighbour(neighbour),
            "The categories of each attribute are public; none of them was taken from this table.",
        ]
        said += filter(None, [counted_as(self.question.attributes)])
        if self.question.drops:
            said.append(self.left_out)
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


def _table_changes(question: Marginals, *, public: bool) -> TableChanges:
    """Return what one record changes in tables of which no attribute is ordered."""
    return TableChanges(marginal_orbits(question), SUBSTITUTE if public else ADD_REMOVE)


# what evidence of each kind is about
_BODIES: dict[type, Callable[..., Any]] = {
    ResidualDual: _table_changes,
    OrderedDual: ordered_blocks,
    ProductDual: product_blocks,
}


def _subsets(chosen: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the sets of attributes inside `chosen`."""
    sets = itertools.chain.from_iterable(
        itertools.combinations(chosen, k) for k in range(len(chosen) + 1)
    )
    return list(sets)
