# SPDX-License-Identifier: Apache-2.0
"""What is promised of a pure release before a record is read: noise, error, bound and cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import Certificate, order_norm
from lownoise.errors import PlanError
from lownoise.noise.grid import MeanGrid
from lownoise.noise.pure import ResponseMechanism
from lownoise.noise.queries import query_coordinates
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import down
from lownoise.privacy import ApproxDP, ApproxDPEvent, PureDP, PureNoiseEvent, pure_curve
from lownoise.privacy.budget import decimal_up, exact
from lownoise.questions import Mean, Queries
from lownoise.release.linear.terms import query_assumptions
from lownoise.release.pure.bound import mean_reach, middle, unbeaten
from lownoise.release.pure.spread import log_concave_error
from lownoise.release.terms import mean_assumptions

if TYPE_CHECKING:
    from lownoise.certificate import AbstractDual
    from lownoise.noise.pure import AdditiveMechanism
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.coordinates import Coordinates
    from lownoise.sensitivity.relations import Relation

_LARGEST_DENSE = 10_000
_MOST_EPSILON = 1000  # no budget's is above it


@final
@dataclass(frozen=True)
class Alternative:
    """A mechanism that was compared.

    Args:
        mechanism: its name.
        error: as `PureTerms.error` has it; None where the mechanism was not available.
        note: why it was not, or what it is.
    """

    mechanism: str
    error: float | None
    note: str


@final
@dataclass(frozen=True)
class PureCost:
    """What one release reveals, whatever was asked for; both numbers are rounded up.

    Args:
        epsilon: ε.
        delta: δ: 0 unless points are drawn by a walk whose law is known in total variation only.
        rho: ρ of the noise, at most what ε implies; None where δ is above 0.
        mu: μ of the noise, likewise.
    """

    epsilon: float
    delta: float
    rho: float | None
    mu: float | None

    @property
    def event(self) -> PureNoiseEvent | ApproxDPEvent:
        """What an account records, which reads numbers as the decimals that print."""
        if self.rho is not None and self.mu is not None:
            numbers = (self.epsilon, self.rho, self.mu)
            return PureNoiseEvent(*(decimal_up(Fraction(number)) for number in numbers))
        return ApproxDPEvent(decimal_up(Fraction(self.epsilon)), decimal_up(Fraction(self.delta)))

    @property
    def guarantee(self) -> str:
        """What the user gets, in words."""
        epsilon, delta = _brief_up(self.epsilon), _brief_up(self.delta)
        if self.delta == 0:
            return f"{epsilon}-DP, pure"
        return f"({epsilon}, {delta})-DP: the walk is close in total variation"


def _brief_up(number: float) -> str:
    """Return six digits where they say no less, else all of them."""
    short = f"{number:g}"
    return short if float(short) >= number else repr(number)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class PureTerms:
    """The terms of a pure release.

    Args:
        question: what is asked.
        budget: the most that may be spent.
        relation: what a neighbour is.
        order: p in [2, ∞], the norm of the error.
        weights: ω on the answers, shape (m,); where means come as sums and the count, on the d
            columns.
        name: which mechanism it is.
        mechanism: the final integers and the final noise.
        alternatives: what was compared, the best first.
        dual: evidence that no noise around all changes is small, or None.
    """

    question: Mean | Queries
    budget: PureDP | ApproxDP
    relation: Relation
    order: float
    weights: Vector
    name: str
    mechanism: AdditiveMechanism | ResponseMechanism
    alternatives: tuple[Alternative, ...]
    dual: AbstractDual | None

    @property
    def size(self) -> int | None:
        """The public number of records, None under `add_remove`."""
        return self.mechanism.size

    @property
    def names(self) -> tuple[str, ...]:
        """What each answer is, m names."""
        if not isinstance(self.question, Mean):
            return tuple(f"query {i}" for i in range(self.question.count))
        columns = self.question.columns
        if self.size is not None:
            return columns
        return (*(f"sum({c} - center)" for c in columns), "count")

    @property
    def chosen(self) -> Coordinates:
        """The answers that are summed, of which the evidence speaks, and how all follow."""
        if isinstance(self.question, Queries):
            return query_coordinates(self.question, str(self.relation))
        grid = getattr(self.mechanism, "grid", None)
        assert isinstance(grid, MeanGrid)  # noqa: S101 (what all mechanisms of means have)
        return grid.coordinates

    @property
    def parameter(self) -> float:
        """The greatest float ε within the budget."""
        return allowed(self.budget)

    @property
    def delta(self) -> float:
        """The δ that the budget allows: 0 where it is pure."""
        return self.budget.delta if isinstance(self.budget, ApproxDP) else 0.0

    @cached_property
    def cost(self) -> PureCost:
        """What the release reveals, from the final integers and the final noise, rounded up."""
        loss = self.mechanism.loss
        if loss.delta:
            return PureCost(loss.epsilon, loss.delta, None, None)
        if not loss.epsilon <= _MOST_EPSILON:
            return PureCost(loss.epsilon, 0.0, math.inf, math.inf)
        epsilon = Fraction(loss.epsilon)
        rho = min(loss.rho, decimal_up(pure_curve.rho_up(epsilon)))
        mu = min(loss.mu, decimal_up(pure_curve.mu_up(epsilon)))
        return PureCost(loss.epsilon, 0.0, rho, mu)

    @property
    def within_budget(self) -> bool:
        """Whether the cost is at most the budget."""
        return self.cost.epsilon <= self.parameter and self.cost.delta <= self.delta

    def check_budget(self) -> None:
        """Refuse to release what reveals more than the budget.

        Raises:
            PlanError: as said.
        """
        if not self.within_budget:
            raise PlanError("plan reveals more than its budget; make it anew with ln.plan")

    @property
    def standard_deviation(self) -> Vector:
        """The standard deviation of each answer's noise, shape (m,).

        For randomised response it is the greatest over all tables; with noise drawn by a walk it is
        estimated by simulation.
        """
        return self.mechanism.deviations

    @property
    def covariance(self) -> Vector:
        """The covariance of the answers, shape (m, m), formed on request.

        Raises:
            PlanError: beyond 10,000 answers, or for randomised response, whose covariance depends
                on the data.
        """
        if isinstance(self.mechanism, ResponseMechanism):
            raise PlanError("covariance of randomised response depends on the data; none is stated")
        if self.standard_deviation.size > _LARGEST_DENSE:
            raise PlanError(
                f"covariance of {self.standard_deviation.size} answers would fill the memory; use "
                "standard_deviation",
            )
        return self.mechanism.covariance()

    @cached_property
    def worst_means(self) -> Vector:
        """The standard deviations of sums about the worst mean in the columns' bounds, shape (d,).

        To first order n times what the means themselves stray by. The center does not matter, nor
        does where the domain lies.

        Raises:
            PlanError: where the question is no mean of sums and a count.
        """
        mechanism, question = self.mechanism, self.question
        grid = getattr(mechanism, "grid", None)
        if not (isinstance(question, Mean) and isinstance(grid, MeanGrid) and self.size is None):
            raise PlanError("worst_means are of sums and the count, under add_remove")
        assert not isinstance(mechanism, ResponseMechanism)  # noqa: S101 (it has no such grid)
        deviations, beside = mechanism.spread(grid.embed_about(middle(question.domain)))
        far = mean_reach(question.domain)
        own = np.square(deviations[:-1]) + 2 * far * np.abs(beside[:-1])
        return frozen(np.sqrt(own + np.square(far * deviations[-1])))

    @cached_property
    def _weighted(self) -> Vector:
        if isinstance(self.question, Mean) and self.size is None:
            return frozen(self.weights * self.worst_means)
        return frozen(self.weights * self.standard_deviation)

    @cached_property
    def objective(self) -> float:
        """‖ω·standard deviations‖_p; of sums and the count, those of `worst_means`."""
        return order_norm(self._weighted, self.order)

    @cached_property
    def error(self) -> float:
        """(E‖ω·error‖_p²)^{1/2}: exact at p = 2 (and for one answer), else a bound.

        Where means come as sums and the count it is that of the worst means, times the number of
        records: see `worst_means`.
        """
        if isinstance(self.mechanism, ResponseMechanism):
            least = math.inf
            if np.all(self.weights == 1):
                least = math.sqrt(self.mechanism.total_variance)
            return min(least, order_norm(self._weighted, 2.0))
        return log_concave_error(self._weighted, self.order)

    @property
    def certificate(self) -> Certificate:
        """Bounds on the least `error` of any mechanism of this ε, over all tables."""
        return Certificate(self.lower_bound, self.error)

    @cached_property
    def lower_bound(self) -> float:
        """What no mechanism of this ε has an error below on every table (see `bounds.volume`).

        Of any mechanism, biased or not; 0 where nothing is proved.
        """
        if isinstance(self.budget, ApproxDP):
            return 0.0
        return unbeaten(
            self.question,
            self.relation,
            self.size,
            self.budget.epsilon,
            self.order,
            self.weights,
            chosen=self.chosen,
            dual=self.dual,
        )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the promises rest on, one sentence each."""
        if isinstance(self.question, Mean):
            said = list(mean_assumptions(self.question, self.relation, self.size))
        else:
            said = list(query_assumptions(self.question, self.size))
        said.append(
            "The lower bound is of the greatest error over all tables, and binds biased mechanisms "
            "too.",
        )
        if self.mechanism.estimated:
            said.append("The deviations were estimated by simulating the noise; the cost was not.")
        if isinstance(self.mechanism, ResponseMechanism):
            said.append("The deviations are the greatest over all tables.")
        return tuple(said)


def allowed(budget: PureDP | ApproxDP) -> float:
    """Return the greatest float ε that is within the budget, however its decimal is read.

    Examples:
        >>> allowed(PureDP(0.5)), allowed(PureDP(0.1)) < 0.1
        (0.5, True)
    """
    epsilon = budget.epsilon
    return epsilon if Fraction(epsilon) <= exact(epsilon) else down(epsilon)
