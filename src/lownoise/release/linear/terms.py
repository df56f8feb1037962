# SPDX-License-Identifier: Apache-2.0
"""What is promised of linear queries before a record is read: noise, how good it is, its cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import Certificate, lower_bound, order_norm, upper_bound
from lownoise.certificate.parity import ParityDual, parity_lower_bound
from lownoise.errors import PlanError
from lownoise.noise import ParityMechanism, QueryMechanism
from lownoise.noise.queries import query_body
from lownoise.numbers.arrays import frozen
from lownoise.questions import Parity, Queries
from lownoise.release.guarantees import (
    AbstractTerms,
    binding,
    dense_covariance,
    error_bound,
    unbiased_bound,
)

if TYPE_CHECKING:
    from lownoise.certificate import AbstractDual
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget

_TINY = 2.0**-50
_LEAST = 2.0**-900


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class LinearTerms(AbstractTerms):
    """The terms of a release of linear queries or parities.

    Args:
        budget: the most that may be spent.
        order: p in [2, ∞], the norm of the error.
        dual: the evidence for the certificate.
        mechanism: the question, the final integers and the final noise.
    """

    budget: Budget
    order: float
    dual: AbstractDual | ParityDual
    mechanism: QueryMechanism | ParityMechanism

    @property
    def question(self) -> Queries | Parity:
        """What is asked."""
        return self.mechanism.question

    @property
    def relation(self) -> str:
        """What a neighbour is."""
        return self.mechanism.relation

    @cached_property
    def standard_deviation(self) -> Vector:
        """The standard deviation of each answer's noise, shape (m,)."""
        return frozen(self.mechanism.answer_noise.deviations())

    @property
    def covariance(self) -> Vector:
        """The covariance of the answers, shape (m, m), formed on request.

        Raises:
            PlanError: beyond 10,000 answers; ask `standard_deviation`.
        """
        return dense_covariance(self.mechanism.answer_noise)

    @cached_property
    def _weighted(self) -> Vector:
        return frozen(self.question.weights * self.standard_deviation)

    @cached_property
    def objective(self) -> float:
        """‖√ω·(standard deviations)‖_p."""
        return order_norm(self._weighted, self.order)

    @cached_property
    def error(self) -> float:
        """(E‖√ω·error‖_p²)^{1/2}: exact at p = 2, where it is √(Σ ω·variance), else a bound."""
        return error_bound(self._weighted, self.order)

    @cached_property
    def _least(self) -> float:
        """At most the least objective at μ = 1."""
        found = _lower_bound(self.mechanism, self.dual, self.order)
        # numbers below 2^-1022 are rounded to their last bits: near them nothing is proved
        return found * (1 - _TINY) if found >= _LEAST else 0.0

    @cached_property
    def certificate(self) -> Certificate:
        """Bounds on the least `objective` of any Gaussian noise within the budget."""
        upper = upper_bound(self.mechanism.answer_noise, self.order, self.question.weights)
        return Certificate(self._least / self.parameter * (1 - _TINY), upper)

    @cached_property
    def lower_bound(self) -> float:
        """What no unbiased mechanism's `error` is below, on any dataset (see `bounds.zcdp`)."""
        return unbiased_bound(self._least, self)

    @cached_property
    def isotropic(self) -> float:
        """The standard deviation of i.i.d. Gaussian noise on all answers at the same budget."""
        return _moved(self.mechanism) / self.parameter

    @cached_property
    def histogram(self) -> Vector:
        """The deviation of each answer summed from i.i.d. noise on the count of every record.

        At the same budget, shape (m,); infinite where it exceeds the floats. Under `substitute` the
        sum of these counts is public.
        """
        moved = 1.0 if self.size is None else math.sqrt(2)
        return frozen(_lengths(self.question, self.size) * moved / self.parameter)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the promises rest on, one sentence each."""
        return (*query_assumptions(self.question, self.size), *binding(self.budget))


def query_assumptions(question: Queries | Parity, size: int | None) -> tuple[str, ...]:
    """Return what every release of linear queries rests on, whatever its noise."""
    neighbour = "takes any other values in its row" if size is not None else "comes or goes"
    said = [
        f"One person is one row; between neighbouring tables one row {neighbour}.",
        "The queries and the records they count are public; none was taken from this table.",
    ]
    if question.drops:
        said.append("A row outside these records is left out; nothing says how many were.")
    else:
        said.append("A row outside these records counts as the one that stands in for it.")
    if size is not None:
        said.append(f"The number of rows, {size:,}, is public.")
    return tuple(said)


@singledispatch
def _lower_bound(mechanism: object, dual: object, order: float) -> float:
    raise PlanError(f"mechanism={type(mechanism).__name__} is of no known kind; plan again")


@_lower_bound.register(QueryMechanism)
def _(mechanism: QueryMechanism, dual: AbstractDual, order: float) -> float:
    question, chosen = mechanism.question, mechanism.grid.coordinates
    body = query_body(question, mechanism.relation, chosen)
    return lower_bound(dual, body, order, np.ones(question.count), chosen.embed)


@_lower_bound.register(ParityMechanism)
def _(mechanism: ParityMechanism, dual: ParityDual, order: float) -> float:
    question = mechanism.question
    counts = np.array(question.counts, dtype=np.float64)
    return parity_lower_bound(dual, mechanism.costs, counts, question.degree_weights, order)


@singledispatch
def _moved(mechanism: object) -> float:
    """Return how far one neighbour moves all answers together, at most."""
    raise PlanError(f"mechanism={type(mechanism).__name__} is of no known kind; plan again")


@_moved.register(QueryMechanism)
def _(mechanism: QueryMechanism) -> float:
    chosen = mechanism.grid.coordinates
    body = query_body(mechanism.question, mechanism.relation, chosen)
    return body.answer_length(chosen.embed)


@_moved.register(ParityMechanism)
def _(mechanism: ParityMechanism) -> float:
    return math.sqrt(float(np.max(np.sum(mechanism.costs, axis=1))))


@singledispatch
def _lengths(question: object, size: int | None) -> Vector:
    """Return the Euclidean length of what the records add to each answer, shape (m,)."""
    raise PlanError(f"question={type(question).__name__} is of no known kind; plan again")


@_lengths.register(Queries)
def _(question: Queries, size: int | None) -> Vector:
    W = question.matrix
    if size is not None:
        W = W - np.mean(W, axis=1, keepdims=True)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", W, W)))


@_lengths.register(Parity)
def _(question: Parity, size: int | None) -> Vector:
    bits = len(question.attributes)
    length = 2.0 ** (bits / 2) if bits < 2000 else math.inf  # noqa: PLR2004 (what floats hold)
    public = [size is not None and degree == 0 for degree in question.degrees]
    return np.repeat(np.where(public, 0.0, length), question.counts)
