# SPDX-License-Identifier: Apache-2.0
"""What is promised before a record is read: the noise, how good it is, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.bounds import may_have_room, unbiased_change
from lownoise.certificate import Certificate, lower_bound, order_norm, upper_bound
from lownoise.errors import PlanError
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
from lownoise.sensitivity.relations import Change
from lownoise.sets.bodies import SectionBody, answer_radius, answer_widths
from lownoise.sets.domains import (
    AbstractClampedDomain,
    AbstractCompound,
    BallPower,
    Box,
    CubePower,
    Oracle,
    Points,
    lists_in,
    oracles_in,
)

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
            return found.hinted(self.mechanism.hint)
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
        reach = answer_radius(self.body, self.mechanism.embed) / (self.size or 1)
        return baselines.isotropic_gaussian(reach, self.weights.size, self.parameter)

    @cached_property
    def laplace(self) -> Vector:
        """Standard deviations of Laplace noise with the budget split evenly, shape (m,)."""
        widths = answer_widths(self.body, self.mechanism.embed) / (self.size or 1)
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
    unit = _neighbour(relation)
    said = [
        f"One person is one row; a neighbouring table is one in which one row {unit}.",
        *clamping(question.domain),
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


def _neighbour(relation: Relation) -> str:
    if isinstance(relation, Change):
        return (
            "changes, once moved into its domain, by a point of a given body or its opposite; "
            "larger changes are hidden less"
        )
    return "takes any other value of its domain" if relation == "substitute" else "comes or goes"


@singledispatch
def clamping(domain: object) -> tuple[str, ...]:
    """Return what is public about a domain and what becomes of a record outside it."""
    raise PlanError(f"domain={type(domain).__name__} is of no known kind; plan again")


@clamping.register(Box)
def _(domain: Box) -> tuple[str, ...]:
    return (
        "The bounds, center and stand-in are public; none of them was taken from this table.",
        "A value outside the bounds counts as the nearest bound; nothing says how many did.",
    )


@clamping.register(AbstractClampedDomain)
def _(domain: AbstractClampedDomain) -> tuple[str, ...]:
    return (
        "The domain, center and stand-in are public; none of them was taken from this table.",
        "A row outside the domain is moved into it; nothing says how many were.",
    )


@clamping.register(Oracle)
def _(domain: Oracle) -> tuple[str, ...]:
    return (
        f"The program {domain.name!r} knows the set; its bounds and clamp are taken to be right.",
        "The set, center and stand-in are public; none of them was taken from this table.",
        "A row outside the set is moved into it; nothing says how many were.",
    )


@clamping.register(AbstractCompound)
def _(domain: AbstractCompound) -> tuple[str, ...]:
    said = tuple(
        f"The program {own.name!r} knows a part; its bounds and clamp are taken to be right."
        for own in oracles_in(domain)
    )
    if lists_in(domain):
        said += ("A part of a row counts as the nearest of the points listed for it.",)
    return (
        *said,
        "The domain, center and stand-in are public; none of them was taken from this table.",
        "A row outside the domain is moved into it; nothing says how many were.",
    )


@clamping.register(CubePower)
def _(domain: CubePower) -> tuple[str, ...]:
    return (
        "The domain, center and stand-in are public; none of them was taken from this table.",
        "A row that is no tensor of signs counts as one near it; nothing says how many did.",
        "A row that lacks any of its values counts as the stand-in as a whole.",
    )


@clamping.register(BallPower)
def _(domain: BallPower) -> tuple[str, ...]:
    said = [
        "The domain, center and stand-in are public; none of them was taken from this table.",
        "A row that is no tensor of a ball counts as one near it; nothing says how many did.",
    ]
    if domain.whole:
        said.append("A row that lacks any of its values counts as the stand-in as a whole.")
    return tuple(said)


@clamping.register(Points)
def _(domain: Points) -> tuple[str, ...]:
    return (
        "The listed points, center and stand-in are public; none was taken from this table.",
        "A row that is not in the list counts as the nearest row of it; nothing says how many did.",
    )
