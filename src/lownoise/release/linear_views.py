# SPDX-License-Identifier: Apache-2.0
"""What is particular to the answers of linear queries and parities."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.questions.queries import OUTSIDE, AbstractQueries, of_records
from lownoise.release.pure_bound import by_volume, repeats, unbeaten
from lownoise.release.views import AbstractRowView
from lownoise.sensitivity.residuals import ParityChanges
from lownoise.sensitivity.residuals.cost import exchanged_costs, parity_costs

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.questions import AbstractSummed, Parity  # noqa: F401 (in quotes, below)
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains.coordinates import Coordinates


@final
class QueryView(AbstractRowView["AbstractSummed"]):
    """Sums of what each row adds, such as linear queries."""

    @property
    def names(self) -> tuple[str, ...]:
        """What each answer is, m names."""
        return self.question.names

    @property
    def note(self) -> str:
        """What a ledger says of the release."""
        before = "" if self._terms.gaussian else f"{self._terms.name}: "
        return f"{before}{self.question.note}"

    @cached_property
    def chosen(self) -> Coordinates:
        """The queries that evidence speaks of, and how all follow; Gaussian noise is on those."""
        if not self._terms.gaussian:  # which may have counts of records summed instead
            return self.question.coordinates(self._terms.relation)
        found: Coordinates = self._terms.mechanism.totals.coordinates
        return found

    @cached_property
    def body(self) -> AbstractBody:
        """All changes that one neighbour makes to the summed queries."""
        relation, exchanged = self._terms.relation, self._terms.exchanged
        return self.question.changes(relation, self.chosen, exchanged=exchanged)

    @property
    def evidence_about(self) -> tuple[AbstractBody, Vector, Vector | None]:
        """All changes, weights of one, and what answers are made of."""
        return self.body, self.matters, self.embed

    @property
    def embed(self) -> Vector | None:
        """The matrix from summed queries to all; None where all are summed."""
        return self.chosen.embed

    def unbeaten(self, epsilon: float) -> float:
        """Return what no ε-DP mechanism's error is below on every table."""
        return unbeaten(self._terms, epsilon)

    @cached_property
    def most(self) -> float:
        """How often each change that proves `least` can be made."""
        return math.inf if self._terms.size is None else repeats(self._terms)

    @cached_property
    def isotropic(self) -> float:
        """The standard deviation of i.i.d. Gaussian noise on all answers at the same budget."""
        return self.body.answer_length(self.embed) / self.gaussian_parameter

    @cached_property
    def histogram(self) -> Vector:
        """The deviation of each answer summed from i.i.d. noise on the count of every record.

        At the same budget, shape (m,); infinite where it exceeds the floats. Under `substitute` the
        sum of these counts is public.
        """
        if not isinstance(self.question, AbstractQueries):
            raise PlanError(f"ln.{type(self.question).__name__} has no histogram to compare")
        W, size = self.question.matrix, self._terms.size
        if size is not None:
            W = W - np.mean(W, axis=1, keepdims=True)
        lengths = np.asarray(np.sqrt(np.einsum("ij,ij->i", W, W)))
        sensitivity = 1.0 if self.alone else math.sqrt(2)
        return frozen(lengths * sensitivity / self.gaussian_parameter)

    @property
    def left_out(self) -> str:
        """Those outside the records."""
        return self.question.left_out

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What every release of such sums rests on, whatever its noise."""
        return _assumptions(self, self.question.assumptions)

    @property
    def derived(self) -> dict[str, Any]:
        """What a file says of the deviations, for its readers, as JSON values."""
        own = super().derived
        return own if self._terms.gaussian else {"names": list(self.names), **own}


@final
class ParityView(AbstractRowView["Parity"]):
    """Parities."""

    @property
    def names(self) -> tuple[str, ...]:
        """What each answer is, m names."""
        return tuple(f"parity {i}" for i in range(self.question.count))

    @property
    def note(self) -> str:
        """What a ledger says of the release."""
        return f"{self.question.count:,} parity of records"

    def unbeaten(self, epsilon: float) -> float:
        """Return what no ε-DP mechanism's error is below on every table, by volume."""
        return by_volume(self._terms, epsilon)

    @property
    def body(self) -> ParityChanges:
        """What each pattern of changed bits costs, and how many parities each degree has."""
        counts = np.array(self.question.counts, dtype=np.float64)
        return ParityChanges(self._costs, counts)

    @cached_property
    def _costs(self) -> Vector:
        """What the inverse variance of each degree is multiplied by in μ², a row a pattern."""
        question = self.question
        bits, relation = len(question.attributes), str(self._terms.relation)
        if self._terms.exchanged:
            return exchanged_costs(bits, question.degrees)
        return parity_costs(bits, question.degrees, relation)

    @property
    def matters(self) -> Vector:
        """√ω of each degree."""
        return np.sqrt(self.question.degree_weights)

    @cached_property
    def isotropic(self) -> float:
        """The standard deviation of i.i.d. Gaussian noise on all answers at the same budget."""
        sensitivity = math.sqrt(float(np.max(np.sum(self._costs, axis=1))))
        return sensitivity / self.gaussian_parameter

    @cached_property
    def histogram(self) -> Vector:
        """The deviation of each answer summed from i.i.d. noise on the count of every record."""
        question, size = self.question, self._terms.size
        bits = len(question.attributes)
        length = 2.0 ** (bits / 2) if bits < 2000 else math.inf  # noqa: PLR2004 (floats end)
        public = [size is not None and degree == 0 for degree in question.degrees]
        lengths = np.repeat(np.where(public, 0.0, length), question.counts)
        sensitivity = 1.0 if self.alone else math.sqrt(2)
        return frozen(lengths * sensitivity / self.gaussian_parameter)

    @property
    def left_out(self) -> str:
        """Those outside the records."""
        return OUTSIDE if self.question.drops else ""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What every release of parities rests on."""
        return _assumptions(self, of_records(self.left_out))

    @property
    def derived(self) -> dict[str, Any]:
        """One number a degree says all, as JSON values."""
        question, terms = self.question, self._terms
        if terms.gaussian:
            found = terms.mechanism.totals.by_degree(terms.mechanism.noise)
        else:
            found = terms.mechanism.deviations[np.cumsum([0, *question.counts[:-1]])]
        rows = zip(question.degrees, question.counts, found.tolist(), strict=True)
        return {
            "parities": [
                {"degree": k, "count": count, "standard_deviation": deviation}
                for k, count, deviation in rows
            ]
        }


def _assumptions(view: QueryView | ParityView, more: tuple[str, ...]) -> tuple[str, ...]:
    """Return what every release rests on, whatever its noise, beside what a question says."""
    size = view.size
    neighbour = "takes any other values in its row" if size is not None else "is added or removed"
    public = () if size is None else (f"The number of rows, {size:,}, is public.",)
    return (view.neighbour(neighbour), *more, *public)
