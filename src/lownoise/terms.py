# SPDX-License-Identifier: Apache-2.0
"""What is promised before a record is read: the noise, how good it is, and what it costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.arrays import frozen
from lownoise.bodies import SectionBody, answer_radius, answer_widths
from lownoise.bounds import may_have_room, unbiased_add_remove, unbiased_change, unbiased_substitute
from lownoise.certificate import Certificate, lower_bound, order_norm, upper_bound
from lownoise.coordinates import summed_body
from lownoise.domains import (
    AbstractClampedDomain,
    AbstractCompound,
    BallPower,
    Box,
    CubePower,
    Oracle,
    Points,
    oracles_in,
)
from lownoise.errors import PlanError
from lownoise.mechanisms import GaussianMechanism, baselines
from lownoise.neighbours import Change
from lownoise.privacy import ApproxDP, Budget, gaussian_parameter
from lownoise.privacy.gaussian_curve import delta_up, epsilon_up
from lownoise.rounding import square_up

if TYPE_CHECKING:
    from lownoise.arrays import Vector
    from lownoise.certificate import AbstractDual
    from lownoise.neighbours import Relation
    from lownoise.privacy import GaussianEvent
    from lownoise.sensitivity import Body
    from lownoise.workloads import Mean

_LARGEST_DENSE = 10_000
_LEAST = 2.0**-900
_TINY = 2.0**-50


@final
@dataclass(frozen=True)
class Cost:
    """What one release reveals, whatever was asked for.

    Args:
        event: the Gaussian release, μ-GDP.
        epsilon: the ε at which `delta` is stated: the budget's, or the ε of δ = 1e-6 for another
            kind of budget.
        delta: at least the exact δ there.

    `rho` is μ²/2, rounded up: the release is ρ-zCDP.
    """

    event: GaussianEvent
    epsilon: float
    delta: float

    @property
    def mu(self) -> float:
        """The release is μ-GDP."""
        return self.event.mu

    @property
    def rho(self) -> float:
        """The release is ρ-zCDP, ρ = μ²/2 rounded up."""
        return square_up(self.event.mu) / 2


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Terms:
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
    def size(self) -> int | None:
        """The public number of records, None under `add_remove`."""
        return self.mechanism.size

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

    @cached_property
    def parameter(self) -> float:
        """The greatest μ that the budget allows one Gaussian release."""
        return gaussian_parameter(self.budget)

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
        noise = self.mechanism.answer_noise
        if noise.dimension > _LARGEST_DENSE:
            raise PlanError(
                f"covariance of {noise.dimension} answers would fill the memory; "
                "use standard_deviation, or mechanism.answer_noise for a factor of it",
            )
        return frozen(noise.dense())

    @cached_property
    def objective(self) -> float:
        """√tr_{p/2}(covariance) = ‖standard deviations‖_p."""
        return order_norm(self.standard_deviation, self.order)

    @cached_property
    def error(self) -> float:
        """(E‖error‖_p²)^{1/2} of the answers: exact at p = 2 (and for one answer), else a bound.

        The bound is the least of three: ‖std‖₂; c_p‖std‖_p with c_p = √2·(Γ((p+1)/2)/√π)^{1/p}
        (Jensen); and m^{1/p}·√(2 ln m + 2)·max std (E max gᵢ² ≤ 2 ln m + 2, union bound).
        """
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
        rho = square_up(self.parameter) / 2
        if isinstance(self.relation, Change):
            fits = may_have_room(self.question.domain, self.relation)
            return unbiased_change(gamma, rho) if fits else 0.0
        if self.size is not None:  # the least noise is that of K − K over n already
            return unbiased_substitute(gamma, 1, rho)
        return unbiased_add_remove(gamma, rho)

    @cached_property
    def cost(self) -> Cost:
        """What the release reveals, from the final noise, rounded up."""
        return cost_of(self.mechanism.event, self.budget)

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
        domain = self.question.domain
        unit = _neighbour(self.relation)
        said = [
            f"One person is one row; a neighbouring table is one in which one row {unit}.",
            *clamping(domain),
        ]
        if self.question.drops_missing:
            said.append("A row that lacks a value in any of the columns is left out.")
        else:
            said.append("A missing value counts as the stand-in, by default the center.")
        if self.size is not None:
            said.append(f"The number of rows, {self.size:,}, is public.")
        else:
            said.append(
                "The sums and the count are unbiased; a mean made of them is not exactly unbiased.",
            )
        if isinstance(self.relation, Change):
            said.append(
                "The lower bound holds on tables with a row that every change of the body, or its "
                "opposite, keeps inside the domain.",
            )
        if isinstance(self.budget, ApproxDP):
            said.append(
                "The lower bound binds unbiased mechanisms that are zCDP at the same rho; "
                "(epsilon, delta) alone allows others that fail on some neighbouring table.",
            )
        if not self.mechanism.event.mu and self.size is not None:
            said.append("The domain is one point, so nothing is revealed and nothing is noised.")
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


def cost_of(event: GaussianEvent, budget: Budget) -> Cost:
    """Return what a Gaussian release reveals, told as its budget is."""
    if isinstance(budget, ApproxDP):
        return Cost(event, budget.epsilon, delta_up(event.mu, budget.epsilon))
    delta = 1e-6
    return Cost(event, epsilon_up(event.mu, delta), delta)


def error_bound(standard_deviation: Vector, order: float, counts: Vector | None = None) -> float:
    """Return `Terms.error` for independent or dependent Gaussian answers, shape (m,).

    Args:
        standard_deviation: of each answer, shape (k,).
        order: p.
        counts: how many answers have each of them, shape (k,); one by default.

    Examples:
        >>> round(error_bound(np.array([3.0, 4.0]), 2.0), 12)
        5.0
        >>> error_bound(np.array([3.0]), math.inf)
        3.0
    """
    total = order_norm(standard_deviation, 2.0, counts)
    m = standard_deviation.size if counts is None else float(np.sum(counts))
    if order == 2 or m == 1:  # noqa: PLR2004
        return total
    largest = math.sqrt(2 * math.log(m) + 2) * order_norm(standard_deviation, math.inf)
    if math.isinf(order):
        return min(total, largest)
    log_moment = math.lgamma((order + 1) / 2) - math.lgamma(0.5)
    jensen = (
        math.sqrt(2) * math.exp(log_moment / order) * order_norm(standard_deviation, order, counts)
    )
    return min(total, jensen, float(m ** (1 / order)) * largest)
