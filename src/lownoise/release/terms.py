# SPDX-License-Identifier: Apache-2.0
"""What is promised before a record is read: the noise, how good it is, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.bounds import may_have_room, unbiased_change
from lownoise.certificate import Certificate, lower_bound, order_norm, upper_bound
from lownoise.noise import GaussianMechanism, baselines
from lownoise.numbers.rounding import square_up
from lownoise.release.guarantees import (
    AbstractTerms,
    binding,
    dense_covariance,
    error_bound,
    unbiased_bound,
)
from lownoise.sensitivity.coordinates import summed_body
from lownoise.sensitivity.relations import Change, checked_relation
from lownoise.sets.bodies import SectionBody

if TYPE_CHECKING:
    from lownoise.certificate import AbstractDual
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget
    from lownoise.questions import Mean
    from lownoise.sensitivity.changes import Body
    from lownoise.sensitivity.relations import Relation

_LEAST = 2.0**-900
_TINY = 2.0**-50


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Terms(AbstractTerms):
    """The terms of a release.

    Args:
        question: what is asked.
        budget: the most that may be spent.
        order: p ∈ [2, ∞], the norm of the error.
        weights: ω on the answers that the noise was fitted to, shape (m,): the user's, ones by
            default; under `add_remove` the count's follows from its share.
        dual: the evidence for the certificate.
        plain_dual: the evidence for the same body with all weights one.
        mechanism: the final integers and the final noise.
    """

    question: Mean
    budget: Budget
    order: float
    weights: Vector
    dual: AbstractDual
    plain_dual: AbstractDual
    mechanism: GaussianMechanism

    @property
    def relation(self) -> Relation:
        """What a neighbour is."""
        return self.mechanism.relation

    @property
    def names(self) -> tuple[str, ...]:
        """What each answer is, m names."""
        columns = self.question.columns
        if self.size is not None:
            return columns
        return (*(f"sum({c} - center)" for c in columns), "count")

    @cached_property
    def body(self) -> Body:
        """All changes that one neighbour makes to the summed coordinates, and the count."""
        question, chosen = self.question, self.mechanism.coordinates
        found = summed_body(question.domain, self.relation, question.center, chosen)
        if isinstance(found, SectionBody) and self.mechanism.hint is not None:
            return found.with_multipliers(self.mechanism.hint)
        return found

    def _least(self, dual: AbstractDual, weights: Vector) -> float:
        """Return at most the least objective at μ = 1."""
        found = lower_bound(dual, self.body, self.order, weights, self.mechanism.embed)
        # numbers below 2^-1022 are rounded to their last bits: near them nothing is proved
        return found / (self.size or 1) * (1 - _TINY) if found >= _LEAST else 0.0

    @property
    def standard_deviation(self) -> Vector:
        """The standard deviation of each answer's noise, in its unit, shape (m,)."""
        return self.mechanism.answer_noise.deviations()

    @property
    def covariance(self) -> Vector:
        """The covariance of the answers, shape (m, m), formed on request.

        Raises:
            PlanError: beyond 10,000 answers; ask `standard_deviation`.
        """
        return dense_covariance(self.mechanism.answer_noise)

    @cached_property
    def objective(self) -> float:
        """√tr_{p/2}(covariance) = ‖standard deviations‖_p."""
        return order_norm(self.standard_deviation, self.order)

    @cached_property
    def error(self) -> float:
        """(E‖error‖_p²)^{1/2} of the answers: exact at p = 2 (and for one answer), else a bound."""
        return error_bound(self.standard_deviation, self.order)

    @cached_property
    def certificate(self) -> Certificate:
        """Bounds on the least ‖ω·std‖_p of any Gaussian noise within the budget."""
        lower = self._least(self.dual, self.weights) / self.parameter
        return Certificate(
            lower * (1 - _TINY),
            upper_bound(self.mechanism.answer_noise, self.order, self.weights),
        )

    @cached_property
    def lower_bound(self) -> float:
        """What no unbiased mechanism's `error` is below, on any dataset (see `bounds.zcdp`).

        It binds every mechanism that is ρ-zCDP for the ρ = μ²/2 that the budget allows a Gaussian.
        Where the relation is a body of changes it speaks of tables with a row that each of them, or
        its opposite, keeps inside the domain; where there can be no such row, it is 0.
        """
        gamma = self._least(self.plain_dual, np.ones(self.weights.size))
        if isinstance(self.relation, Change):
            fits = may_have_room(self.question.domain, self.relation)
            return unbiased_change(gamma, square_up(self.parameter) / 2) if fits else 0.0
        return unbiased_bound(gamma, self)

    @cached_property
    def isotropic(self) -> Vector:
        """Standard deviations of i.i.d. Gaussian noise at the same budget, shape (m,)."""
        reach = self.body.answer_length(self.mechanism.embed) / (self.size or 1)
        return baselines.isotropic_gaussian(reach, self.weights.size, self.parameter)

    @cached_property
    def laplace(self) -> Vector:
        """Standard deviations of Laplace noise with the budget split evenly, shape (m,)."""
        widths = self.body.answer_widths(self.mechanism.embed) / (self.size or 1)
        return baselines.split_laplace(self.budget, widths)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the promises rest on, one sentence each."""
        said = list(mean_assumptions(self.question, self.relation, self.size))
        if isinstance(self.relation, Change):
            said.append(
                "The lower bound holds on tables with a row that every change of the body, or its "
                "opposite, keeps inside the domain.",
            )
        said.extend(binding(self.budget))
        if not self.mechanism.event.mu and self.size is not None:
            said.append("The domain is one point, so nothing is revealed and nothing is noised.")
        return tuple(said)


def mean_assumptions(question: Mean, relation: Relation, size: int | None) -> tuple[str, ...]:
    """Return what every release of means rests on, whatever its noise, one sentence each."""
    unit = checked_relation(relation).sentence
    said = [
        f"One person is one row; a neighbouring table is one in which one row {unit}.",
        *question.domain.assumptions,
    ]
    if question.drops_missing:
        said.append("A row that lacks a value in any of the columns is left out.")
    else:
        said.append("A missing value counts as the stand-in, by default the center.")
    if size is not None:
        said.append(f"The number of rows, {size:,}, is public.")
    else:
        said.append(
            "The sums and the count are unbiased; a mean made of them is not exactly unbiased.",
        )
    return tuple(said)
