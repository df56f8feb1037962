# SPDX-License-Identifier: Apache-2.0
"""What follows from a loss and from deviations alone: what is paid, and how far answers stray.

Pure noise z has a symmetric log-concave density (e^{−‖z‖} is one, and so are those of sums and
linear images), so every answer's noise X is symmetric and log-concave on the line. Then
p ↦ ln(E|X|^p/Γ(p + 1)) is concave and 0 at 0 (Borell 1973), so (E|X|^p/Γ(p + 1))^{1/p} falls, and
E|X|^p ≤ Γ(p + 1)·(E X²/2)^{p/2} for p ≥ 2: no moments exceed a Laplace number's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.bounds import unbiased_add_remove, unbiased_substitute
from lownoise.certificate import order_norm
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import decimal_up, down, exact, square_up
from lownoise.privacy import ApproxDP, ApproxDPEvent, PureNoiseEvent, pure_curve
from lownoise.privacy.gaussian_curve import delta_up, epsilon_up

if TYPE_CHECKING:
    from lownoise.noise.abstract import Loss
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget, GaussianEvent, PureDP

_POWERS = np.concatenate([np.arange(2.0, 12.0, 0.5), np.geomspace(12.0, 400.0, 40)])
_OUTWARD = 1 + 2.0**-40
_MOST_EPSILON = 1000  # no budget's is above it


@final
@readable
@dataclass(frozen=True)
class Cost:
    """What one release of Gaussian noise reveals, whatever was asked for.

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
@readable
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


def pure_cost(loss: Loss) -> PureCost:
    """Return what a release of pure noise reveals; ρ and μ are at most what ε implies."""
    if loss.delta:
        return PureCost(loss.epsilon, loss.delta, None, None)
    if not loss.epsilon <= _MOST_EPSILON:
        return PureCost(loss.epsilon, 0.0, math.inf, math.inf)
    epsilon = Fraction(loss.epsilon)
    rho = min(loss.rho, decimal_up(pure_curve.rho_up(epsilon)))
    mu = min(loss.mu, decimal_up(pure_curve.mu_up(epsilon)))
    return PureCost(loss.epsilon, 0.0, rho, mu)


def cost_of(event: GaussianEvent, budget: Budget) -> Cost:
    """Return what a Gaussian release reveals, told as its budget is."""
    if isinstance(budget, ApproxDP):
        return Cost(event, budget.epsilon, delta_up(event.mu, budget.epsilon))
    delta = 1e-6
    return Cost(event, epsilon_up(event.mu, delta), delta)


def unbiased_bound(least: float, parameter: float, size: int | None) -> float:
    """Return what no unbiased mechanism's error is below, on any dataset (see `bounds.unbiased`).

    It binds every mechanism that is ρ-zCDP for the ρ = μ²/2 that the budget allows a Gaussian.

    Args:
        least: at most the least error of Gaussian noise at μ = 1.
        parameter: that μ.
        size: the public number of records, None under `add_remove`.
    """
    rho = square_up(parameter) / 2
    if size is not None:  # the least noise is that of all differences already
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


def log_concave_error(standard_deviation: Vector, order: float) -> float:
    """Return at most (E‖error‖_p²)^{1/2} of answers with symmetric log-concave noise, shape (m,).

    It is ‖std‖₂ at p = 2. Otherwise the least of that and, over q from 2 to p, of
    (E‖x‖_q^q)^{1/q} ≤ Γ(q + 1)^{1/q}/√2·‖std‖_q, as ‖x‖_p ≤ ‖x‖_q.

    Examples:
        >>> log_concave_error(np.array([3.0, 4.0]), 2.0)
        5.0
        >>> log_concave_error(np.ones(1000), math.inf) < math.sqrt(1000) / 2
        True
    """
    total = order_norm(standard_deviation, 2.0)
    if order == 2 or standard_deviation.size == 1:  # noqa: PLR2004
        return total
    found = [total]
    for q in [*_POWERS[order > _POWERS].tolist(), *([] if math.isinf(order) else [order])]:
        moment = math.exp(math.lgamma(q + 1) / q) / math.sqrt(2)
        found.append(moment * order_norm(standard_deviation, q) * _OUTWARD)
    return min(found)


def tail_quantile(chance: float) -> float:
    """Return t with P(|X| > t·σ) ≤ `chance` for every symmetric log-concave X of variance σ².

    By Markov's inequality for the moments above, the best of many powers.

    Examples:
        >>> 3.0 < tail_quantile(0.05) < 3.4
        True
    """
    logs = [(math.lgamma(p + 1) - math.log(chance)) / p for p in _POWERS.tolist()]
    return math.exp(min(logs)) / math.sqrt(2) * _OUTWARD


def allowed(budget: PureDP | ApproxDP) -> float:
    """Return the greatest float ε that is within the budget, however its decimal is read.

    Examples:
        >>> from lownoise.privacy import PureDP
        >>> allowed(PureDP(0.5)), allowed(PureDP(0.1)) < 0.1
        (0.5, True)
    """
    epsilon = budget.epsilon
    return epsilon if Fraction(epsilon) <= exact(epsilon) else down(epsilon)
