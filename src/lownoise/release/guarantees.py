# SPDX-License-Identifier: Apache-2.0
"""What the terms of every release promise, and what follows alike from whichever noise it is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, final

import numpy as np

from lownoise.bounds import unbiased_add_remove, unbiased_substitute
from lownoise.certificate import order_norm
from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import square_up
from lownoise.privacy import ApproxDP, gaussian_parameter
from lownoise.privacy.gaussian_curve import delta_up, epsilon_up

if TYPE_CHECKING:
    from lownoise.certificate import Certificate
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget, GaussianEvent
    from lownoise.sensitivity.factors import AbstractShape

_LARGEST_DENSE = 10_000


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


class Mechanism(Protocol):
    """The final integers and the final noise."""

    @property
    def size(self) -> int | None:
        """The public number of records, None under `add_remove`."""

    @property
    def event(self) -> GaussianEvent:
        """What one run reveals."""


class AbstractTerms(ABC):
    """The terms of a release: a question's budget, order and mechanism, and what they promise."""

    budget: Budget
    order: float
    mechanism: Mechanism

    @property
    @abstractmethod
    def objective(self) -> float:
        """What was made small."""

    @property
    @abstractmethod
    def error(self) -> float:
        """The error of the answers."""

    @property
    @abstractmethod
    def certificate(self) -> Certificate:
        """How small the objective can be made."""

    @property
    @abstractmethod
    def lower_bound(self) -> float:
        """What no unbiased mechanism's `error` is below."""

    @property
    @abstractmethod
    def assumptions(self) -> tuple[str, ...]:
        """What the promises rest on, one sentence each."""

    @property
    def size(self) -> int | None:
        """The public number of records, None under `add_remove`."""
        return self.mechanism.size

    @cached_property
    def parameter(self) -> float:
        """The greatest μ that the budget allows one Gaussian release."""
        return gaussian_parameter(self.budget)

    @cached_property
    def cost(self) -> Cost:
        """What the release reveals, from the final noise, rounded up."""
        return cost_of(self.mechanism.event, self.budget)

    def check_budget(self) -> None:
        """Refuse to release what reveals more than the budget.

        Raises:
            PlanError: as said.
        """
        if not self.mechanism.event.mu <= self.parameter:
            raise PlanError("plan reveals more than its budget; make it anew with ln.plan")


def cost_of(event: GaussianEvent, budget: Budget) -> Cost:
    """Return what a Gaussian release reveals, told as its budget is."""
    if isinstance(budget, ApproxDP):
        return Cost(event, budget.epsilon, delta_up(event.mu, budget.epsilon))
    delta = 1e-6
    return Cost(event, epsilon_up(event.mu, delta), delta)


def unbiased_bound(least: float, terms: AbstractTerms) -> float:
    """Return what no unbiased mechanism's error is below, on any dataset (see `bounds.zcdp`).

    It binds every mechanism that is ρ-zCDP for the ρ = μ²/2 that the budget allows a Gaussian.

    Args:
        least: at most the least error of Gaussian noise at μ = 1.
        terms: whose budget and relation they are.
    """
    rho = square_up(terms.parameter) / 2
    if terms.size is not None:  # the least noise is that of all differences already
        return unbiased_substitute(least, 1, rho)
    return unbiased_add_remove(least, rho)


def binding(budget: Budget) -> tuple[str, ...]:
    """Return what the lower bound binds where that is not what the budget says."""
    if not isinstance(budget, ApproxDP):
        return ()
    said = (
        "The lower bound binds unbiased mechanisms that are zCDP at the same rho; "
        "(epsilon, delta) alone allows others that fail on some neighbouring table."
    )
    return (said,)


def dense_covariance(noise: AbstractShape) -> Vector:
    """Return the covariance of the answers, shape (m, m).

    Raises:
        PlanError: beyond 10,000 answers; ask `standard_deviation`.
    """
    if noise.dimension > _LARGEST_DENSE:
        raise PlanError(
            f"covariance of {noise.dimension} answers would fill the memory; "
            "use standard_deviation, or mechanism.answer_noise for a factor of it",
        )
    return frozen(noise.dense())


def error_bound(standard_deviation: Vector, order: float, counts: Vector | None = None) -> float:
    """Return at most (E‖error‖_p²)^{1/2} of independent or dependent Gaussian answers, shape (m,).

    Args:
        standard_deviation: of each answer, shape (k,).
        order: p.
        counts: how many answers have each of them, shape (k,); one by default.

    It is exact at p = 2 and for one answer. Otherwise the least of three: ‖std‖₂; c_p‖std‖_p with
    c_p = √2·(Γ((p+1)/2)/√π)^{1/p} (Jensen); and m^{1/p}·√(2 ln m + 2)·max std
    (E max gᵢ² ≤ 2 ln m + 2, union bound).

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
