# SPDX-License-Identifier: Apache-2.0
"""What follows from a loss and from deviations alone: what is paid, and how far answers stray.

A noise says how large the moments of every answer's noise X are at most, from which tails follow.
Where its density is symmetric and log-concave (e^{−‖z‖} is, and so are those of sums and linear
images), so is that of X on the line, and E|X|^p ≤ Γ(p + 1)·(E X²/2)^{p/2} for p ≥ 2 (Borell 1973).
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import order_norm
from lownoise.noise.coordinates import log_concave_moment
from lownoise.numbers.arrays import frozen
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import decimal_up, down, exact, grown, square_up
from lownoise.privacy import ApproxDP, ApproxNoiseEvent, PureNoiseEvent, pure_curve
from lownoise.privacy.gaussian_curve import delta_up, epsilon_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.noise.abstract import AbstractNoise, Loss
    from lownoise.numbers.arrays import Vector
    from lownoise.privacy import Budget, GaussianEvent, PureDP

_ROUNDED = 2.0**-40  # of special functions
_POWERS = np.concatenate([np.arange(2.0, 12.0, 0.5), np.geomspace(12.0, 400.0, 40)])
MOST_EPSILON = 1000  # no budget's is above it


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
        delta: δ: 0 unless the noise is radial, or points are drawn by a walk whose law is known in
            total variation only.
        rho: ρ of the noise, at most what ε implies; where δ is above 0, ρ of all but that δ.
        mu: μ of the noise, likewise.
    """

    epsilon: float
    delta: float
    rho: float
    mu: float

    @property
    def event(self) -> PureNoiseEvent | ApproxNoiseEvent:
        """What an account records, which reads numbers as the decimals that print."""
        epsilon, delta, rho, mu = (decimal_up(Fraction(number)) for number in astuple(self))
        if self.delta:
            return ApproxNoiseEvent(epsilon, delta, rho, mu)
        return PureNoiseEvent(epsilon, rho, mu)

    @property
    def guarantee(self) -> str:
        """What the user gets, in words."""
        epsilon, delta = brief_up(self.epsilon), brief_up(self.delta)
        if self.delta == 0:
            return f"{epsilon}-DP, pure"
        return f"({epsilon}, {delta})-DP"


def brief_up(number: float) -> str:
    """Return six digits where they say no less, else all of them."""
    short = f"{number:g}"
    return short if float(short) >= number else repr(number)


def pure_cost(loss: Loss) -> PureCost:
    """Return what a release of pure noise reveals; ρ and μ are at most what ε implies.

    Of what is (ε, δ)-DP all but δ is a function of randomised response (docs/theory.md), too.
    """
    if not loss.epsilon <= MOST_EPSILON:
        return PureCost(loss.epsilon, loss.delta, math.inf, math.inf)
    epsilon = Fraction(loss.epsilon)
    rho = min(loss.rho, decimal_up(pure_curve.rho_up(epsilon)))
    mu = min(loss.mu, decimal_up(pure_curve.mu_up(epsilon)))
    return PureCost(loss.epsilon, loss.delta, rho, mu)


def cost_of(event: GaussianEvent, budget: Budget) -> Cost:
    """Return what a Gaussian release reveals, told as its budget is."""
    if isinstance(budget, ApproxDP):
        return Cost(event, budget.epsilon, delta_up(event.mu, budget.epsilon))
    delta = 1e-6
    return Cost(event, epsilon_up(event.mu, delta), delta)


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
    jensen = _jensen(order) * order_norm(standard_deviation, order, counts)
    return min(total, jensen, float(m ** (1 / order)) * largest)


def gaussian_factor(order: float, answers: int) -> float:
    """Return c such that (E‖Z‖_p²)^{1/2} ≤ c·‖std‖_p for m Gaussian answers (see `error_bound`).

    Examples:
        >>> gaussian_factor(2.0, 5), round(gaussian_factor(4.0, 10**6), 6)
        (1.0, 1.316074)
    """
    if order == 2 or answers == 1:  # noqa: PLR2004
        return 1.0
    inverse = 0.0 if math.isinf(order) else 1 / order
    largest = math.pow(answers, inverse) * math.sqrt(2 * math.log(answers) + 2)
    return min(math.pow(answers, 0.5 - inverse), largest, _jensen(order))


def _jensen(order: float) -> float:
    """Return c_p."""
    if math.isinf(order):
        return math.inf
    log_moment = math.lgamma((order + 1) / 2) - math.lgamma(0.5)
    return math.sqrt(2) * math.exp(log_moment / order)


def moment_error(
    standard_deviation: Vector,
    order: float,
    counts: Vector | None = None,
    moment: Callable[[float], float] = log_concave_moment,
) -> float:
    """Return at most (E‖error‖_p²)^{1/2} of answers, shape (m,).

    Args:
        standard_deviation: of each answer, shape (k,).
        order: p.
        counts: how many answers have each of them, shape (k,); one by default.
        moment: M(q), at least (E|X|^q)^{1/q}/σ of each answer; of log-concave noise by default.

    It is ‖std‖₂ at p = 2. Otherwise the least of that and, over q from 2 to p, of
    (E‖x‖_q^q)^{1/q} ≤ M(q)·‖std‖_q, as ‖x‖_p ≤ ‖x‖_q.

    Examples:
        >>> moment_error(np.array([3.0, 4.0]), 2.0)
        5.0
        >>> moment_error(np.ones(1000), math.inf) < math.sqrt(1000) / 2
        True
    """
    total = order_norm(standard_deviation, 2.0, counts)
    m = standard_deviation.size if counts is None else float(np.sum(counts))
    if order == 2 or m == 1:  # noqa: PLR2004
        return total
    powers = [*_POWERS[order > _POWERS].tolist(), *([] if math.isinf(order) else [order])]
    found = (grown(moment(q) * order_norm(standard_deviation, q, counts)) for q in powers)
    return min(total, *found)


def tail_quantile(chance: float, moment: Callable[[float], float] | None = None) -> float:
    """Return t with P(|X| > t·σ) ≤ `chance` for every answer's noise X of variance σ².

    By Markov's inequality for its moments, the best of many powers.

    Args:
        chance: above 0.
        moment: as of `moment_error`; None where X is symmetric and log-concave.

    Examples:
        >>> 2.1 < tail_quantile(0.05) < 2.2, 3.0 < tail_quantile(0.05, log_concave_moment) < 3.4
        (True, True)
    """
    if moment is None:
        return _log_concave_quantile(chance)
    logs = [math.log(moment(p)) - math.log(chance) / p for p in _POWERS.tolist()]
    return grown(math.exp(min(logs)))


@lru_cache(maxsize=64)
def _log_concave_quantile(chance: float) -> float:
    """Return t with P(|X| > t·σ) ≤ `chance` for every symmetric log-concave X of variance σ².

    The least such t, but for a part in 400, and hardly more than a Laplace number's (ours). Let
    P(|X| > t) = p. The density g of |X| does not rise, so some c·e^{−b(s−t)}, b ≥ 0, is g(t) at t
    and has the mass of g on [0, t]. Their quotient is log-concave and 1 at t, so that g is first
    below and then above it: g has the greater second moment there. And beyond t, g is below it, so
    that of all masses p it has the least second moment where it is the same up to some L and 0
    then. So σ² is at least that of the exponential density cut off at L: with ℓ = bL,

        t ≤ σ·y/√N,   y = −ln(p + (1 − p)e^{−ℓ}),   N = E(x² | x ≤ ℓ), x exponential of mean 1.

    Both y and N rise with ℓ, and the most is bounded between neighbours on a grid. Where ℓ is small
    (y ≤ (1 − p)ℓ, N ≥ e^{−ℓ}ℓ²/3) it is a uniform number's.
    """
    cuts, moments = _cut_exponentials()
    y = -np.log(chance + (1 - chance) * np.exp(-cuts))
    short = math.sqrt(3) * (1 - chance) * math.exp(cuts[0] / 2)
    long = -math.log(chance) / math.sqrt(moments[-1])
    return grown(max(short, float(np.max(y[1:] / np.sqrt(moments[:-1]))), long))


@lru_cache(maxsize=1)
def _cut_exponentials() -> tuple[Vector, Vector]:
    """Return where exponential densities of mean 1 are cut off, rising, and E x² of each."""
    from scipy.special import gammainc

    cuts = np.geomspace(1e-3, 60, 4096)
    return frozen(cuts), frozen(2 * gammainc(3, cuts) / gammainc(1, cuts) * (1 - _ROUNDED))


def farthest(noise: AbstractNoise, chance: float) -> float:
    """Return how many deviations answers stray beyond with a chance at most, without draws.

    Deviations that are estimated may be a tenth too small, which moments' bounds leave room for.

    Args:
        noise: of the answers.
        chance: above 0.
    """
    known = noise.quantile(chance)
    if known is not None:
        return known
    exact = noise.log_concave and not noise.estimated
    return tail_quantile(chance, None if exact else noise.moment)


def allowed(budget: PureDP | ApproxDP) -> float:
    """Return the greatest float ε that is within the budget, however its decimal is read.

    Examples:
        >>> from lownoise.privacy import PureDP
        >>> allowed(PureDP(0.5)), allowed(PureDP(0.1)) < 0.1
        (0.5, True)
    """
    epsilon = budget.epsilon
    return epsilon if Fraction(epsilon) <= exact(epsilon) else down(epsilon)
