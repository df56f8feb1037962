# SPDX-License-Identifier: Apache-2.0
"""What is promised of marginals before a record is read: noise, how good it is, what it costs."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import Certificate
from lownoise.certificate.ordered import OrderedDual, ordered_lower_bound
from lownoise.certificate.product import ProductDual, product_lower_bound
from lownoise.certificate.residual import ResidualDual, residual_lower_bound
from lownoise.errors import PlanError, QuestionError, told
from lownoise.noise import OrderedMechanism, ProductMechanism, ResidualMechanism
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import SLACK, order_norm
from lownoise.questions.ordered import answer_count, answer_rows
from lownoise.questions.residuals import marginal_orbits
from lownoise.release.guarantees import AbstractTerms, binding, error_bound, unbiased_bound
from lownoise.release.tables.round_noise import cells_an_answer, squared_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget
    from lownoise.questions import Marginals
    from lownoise.questions.residuals import Orbits

_TINY = 2.0**-50
Cell = tuple["Sequence[str]", "Sequence[int]"]
TableMechanism = ResidualMechanism | OrderedMechanism | ProductMechanism


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class TableTerms(AbstractTerms):
    """The terms of a release of marginals.

    Args:
        question: which marginals.
        budget: the most that may be spent.
        order: p in [2, ∞], the norm of the error.
        dual: the evidence for the certificate.
        mechanism: the final noise.
    """

    question: Marginals
    budget: Budget
    order: float
    dual: ResidualDual | OrderedDual | ProductDual
    mechanism: TableMechanism

    @property
    def relation(self) -> str:
        """What a neighbour is."""
        return self.mechanism.relation

    @property
    def orbits(self) -> Orbits:
        """The marginals up to the exchange of attributes: their unordered parts."""
        return self.mechanism.orbits

    @cached_property
    def _weighted(self) -> tuple[Vector, Vector]:
        """The deviations of the answers, each times √ω, and how often each occurs."""
        variances = self.mechanism.answer_variances()
        counts = [len(v) for v in variances]
        weights = np.repeat(self.orbits.weights, counts)
        copies = np.repeat(self.orbits.cells, counts)
        return frozen(np.sqrt(weights * np.concatenate(variances))), frozen(copies)

    @cached_property
    def objective(self) -> float:
        """‖√ω·(standard deviations)‖_p over all answers of all marginals."""
        return order_norm(self._weighted[0], self.order, self._weighted[1])

    @cached_property
    def error(self) -> float:
        """(E‖√ω·error‖_p²)^{1/2} over all answers: exact at p = 2, where it is √(Σ ω·variance)."""
        return error_bound(self._weighted[0], self.order, self._weighted[1])

    @cached_property
    def _least(self) -> float:
        return _least(self.dual, self.mechanism, self.order)

    @cached_property
    def certificate(self) -> Certificate:
        """Bounds on the least `objective` of any Gaussian noise within the budget."""
        return Certificate(self._least / self.parameter * (1 - _TINY), self.objective * (1 + SLACK))

    @cached_property
    def lower_bound(self) -> float:
        """What no unbiased mechanism's `error` is below, on any dataset (see `bounds.zcdp`)."""
        return unbiased_bound(self._least, self)

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
        attributes, axes = self.question.attributes, self.mechanism.axes
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
            total += self.mechanism.covariance(inside, sums, sums) * own * rest
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
        if not any(i in self.mechanism.axes for i in chosen):
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
        sizes, axes = [a.size for a in self.question.attributes], self.mechanism.axes
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
            total += float(self.mechanism.covariance(inside, *along)[0]) * product * rest
        return total

    def deviations(self) -> tuple[tuple[tuple[str, ...], int, float], ...]:
        """Return for each orbit of marginals one of them, how many there are, the deviation.

        That is the standard deviation of the noise of each cell, in records; the root mean square
        over its answers where an attribute is ordered.
        """
        orbits = marginal_orbits(self.question)
        found = []
        for orbit, variances in zip(orbits.asked, self.mechanism.answer_variances(), strict=True):
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
        moved = squared_change(self.question, public=self.size is not None)
        return math.sqrt(moved) / self.parameter

    def histogram(self, chosen: Sequence[int]) -> float:
        """Return the deviation of an answer summed from i.i.d. noise on all attributes' full table.

        At the same budget, in records, the root mean square over the marginal's answers; infinite
        where it exceeds the floats.
        """
        sizes = [a.size for j, a in enumerate(self.question.attributes) if j not in set(chosen)]
        moved = 1.0 if self.size is None else 2.0
        moved *= cells_an_answer(self.question, chosen)
        log = sum(map(math.log, sizes)) + math.log(moved)
        return math.exp(log / 2) / self.parameter if log < 1400 else math.inf  # noqa: PLR2004

    def require(self, chosen: Sequence[int]) -> None:
        """Refuse a marginal that does not follow from those that were asked for.

        Raises:
            QuestionError: as said.
        """
        question = self.question
        if not self.mechanism.follows(chosen):
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
                    f"cell={told(cell_number)} of {told(attribute.name)} is no whole number; "
                    f"give one from 0 to {attribute.size - 1}",
                )
            attribute.label(int(cell_number))
            found[i] = int(cell_number)
        return chosen, found

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the promise rests on, one sentence each."""
        neighbour = (
            "takes any other values in its row" if self.size is not None else "comes or goes"
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
        return (*said, *binding(self.budget))


def _subsets(chosen: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the sets of attributes inside `chosen`."""
    sets = itertools.chain.from_iterable(
        itertools.combinations(chosen, k) for k in range(len(chosen) + 1)
    )
    return list(sets)


@singledispatch
def _least(dual: object, mechanism: TableMechanism, order: float) -> float:
    """Return at most the least objective at μ = 1, recomputed from evidence."""
    raise PlanError(f"dual={type(dual).__name__} is evidence of no known kind; plan again")


@_least.register(ResidualDual)
def _(dual: ResidualDual, mechanism: TableMechanism, order: float) -> float:
    return residual_lower_bound(dual, mechanism.orbits, order, mechanism.relation)


@_least.register(OrderedDual)
def _(dual: OrderedDual, mechanism: TableMechanism, order: float) -> float:
    if not isinstance(mechanism, OrderedMechanism):
        raise PlanError("OrderedDual is evidence for ordered attributes alone; plan again")
    return ordered_lower_bound(dual, mechanism.blocks, order)


@_least.register(ProductDual)
def _(dual: ProductDual, mechanism: TableMechanism, order: float) -> float:
    if not isinstance(mechanism, ProductMechanism):
        raise PlanError("ProductDual is evidence for noise that is a product; plan again")
    return product_lower_bound(dual, mechanism.products, order)
