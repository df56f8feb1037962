# SPDX-License-Identifier: Apache-2.0
"""A budget that several releases of one plan share: what each may reveal, and what all do.

What k uses of one noise reveal together is rounded up. Uses may be of other tables each, chosen
after the answers to those before. Each is, for two neighbours, a function of one draw from the
noise's own pair of laws, so that all of them are one of k independent draws, and their privacy
losses add up as independent numbers do (docs/theory.md, "Uses of one plan"). Of k uses of ε-DP
noise the least of these is taken:

* kε, pure;
* *randomised response*, whose losses are ±ε (Kairouz, Oh & Viswanath 2015, Theorem 3.3): with i of
  k answers false, δ = Σᵢ C(k, i)·a^i·(1 − a)^{k−i}·max(0, 1 − e^{ε′−(k−2i)ε}), a = 1/(1 + e^ε);
* of noise ∝ exp(−ε|z|) in d dimensions its own losses εη (`noise_curve`): the law of η in [−1, 1]
  is ∝ (1 − η²)^{(d−3)/2}(r + 1 − η²)e^{εη/2}. Each is put on a grid by moving it to its two
  neighbours there so that E e^{−l} stays the same; a convex function of e^{−l} then grows, and
  max(0, 1 − e^{ε′−Σl}) is one in each;
* the curve of √k·μ-GDP, and what kρ-zCDP implies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

from lownoise.errors import BudgetError, PlanError, quoted
from lownoise.numbers.intervals import precision
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import (
    decimal_down,
    decimal_up,
    down,
    exact,
    root_down,
    root_up,
    shrunk,
    up,
)
from lownoise.privacy import gaussian_curve, zcdp_curve
from lownoise.privacy.budget import ApproxDP, PureDP, Zcdp, gaussian_dp, pure_dp, zcdp
from lownoise.privacy.events import (
    ApproxDPEvent,
    ApproxNoiseEvent,
    ComposedEvent,
    GaussianEvent,
    PureNoiseEvent,
)
from lownoise.privacy.readings import within

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.privacy.budget import Budget
    from lownoise.privacy.events import Event

MOST_USES = 1_000_000
_SPARE = shrunk(1.0)  # of what is allowed: more than rounding takes
_WORTH = 1.001  # times less noise: for less than that no δ is taken where ε alone will do
_BITS = 256
_TERMS = 1 << 14  # of a sum
_NARROW = 160  # bits, of balls that are integrated
_MOST_CELLS, _SUMMED = 160, 1 << 12  # of the grid, and of the sums together
MOST_BALLS = 64  # uses: of more, √k·μ is within some hundredths
_MOST_DIMENSIONS = 1000
_LARGE = 1000.0  # no budget's ε is above it
_SETTLED = 1e-6  # of a parameter: less noise than that is not looked for
_ROUNDS = 60


def response_delta_up(uses: int, epsilon: Fraction, joint: Fraction) -> float:
    """Return at least the δ that k uses of ε-DP noise have at ε′; 1 where k is too large to sum.

    Args:
        uses: k.
        epsilon: ε of one.
        joint: ε′ of all.

    Examples:
        >>> response_delta_up(1, Fraction(1), Fraction(1))
        0.0
        >>> round(response_delta_up(2, Fraction(1), Fraction(1)), 5)  # (1 − a)²·(1 − 1/e)
        0.33783
    """
    from flint import arb

    if uses > _TERMS:
        return 1.0
    with precision(_BITS):
        one, all_ = _ball(epsilon), _ball(joint)
        total, odds, step = arb(0), (-one).exp(), (2 * one).exp()
        term = (1 + odds) ** -uses
        over = (all_ - uses * one).exp()  # e^(ε′ − loss), of no false answer
        for i in range(uses // 2 + 1):
            if (uses - 2 * i) * epsilon <= joint:
                break
            total += term * (1 - over)
            term *= odds * (uses - i) / (i + 1)
            over *= step
        return _up(total)


@lru_cache(maxsize=256)
def ball_delta_up(uses: int, dimension: int, epsilon: float, joint: float) -> float:
    """Return at least the δ that k uses of a ball's noise have at ε′; 1 where it is not summed.

    Args:
        uses: k.
        dimension: d.
        epsilon: how far neighbours are apart where the density is ∝ exp(−|z|).
        joint: ε′ of all.

    Examples:
        >>> ball_delta_up(1, 16, 1.2, 1.0) < 1e-6 < ball_delta_up(1, 16, 1.25, 1.0)
        True
    """
    from flint import arb, arb_poly

    if uses > MOST_BALLS or dimension not in range(2, _MOST_DIMENSIONS + 1) or epsilon > _LARGE:
        return 1.0
    with precision(_NARROW):
        one, all_ = arb(epsilon), arb(joint)
        cells = min(_MOST_CELLS, _SUMMED // uses)
        chances = _ball_chances(dimension, one, cells)
        if chances is None:
            return 1.0
        width = (-2 * one / cells).exp()  # e^(−h), h between two losses of the grid
        masses = [arb(0)] * (cells + 1)
        at = one.exp()  # e^(−l) at the lower end
        # under the other law the chances are the same from the other end
        for j, (chance, other) in enumerate(zip(chances, reversed(chances), strict=True)):
            upper = at * width
            # what both ends get is `chance`, and times their e^(−l) it is `other`
            below = (other - chance * upper) / (at - upper)
            masses[j] += below
            masses[j + 1] += chance - below
            at = upper
        sums = (arb_poly(masses) ** uses).coeffs()
        total, over = arb(0), (all_ - uses * one).exp()  # e^(ε′ − loss), from the greatest loss on
        for mass in reversed(sums):
            kept = 1 - over
            if kept <= 0:
                break
            total += mass * (kept if kept >= 0 else arb(kept.upper()))
            over /= width
        return _up(total)


def _ball_chances(dimension: int, epsilon: Any, cells: int) -> list[Any] | None:  # noqa: ANN401
    """Return balls of the chances that η is in each cell of [−1, 1], rising; None if too wide."""
    from flint import acb, arb

    c, kappa = epsilon / 2, arb(dimension) / 2
    r = (dimension - 1) * c.bessel_k(kappa) / (c * c.bessel_k(kappa - 1))
    power = dimension - 2

    def density(z: Any, _: Any) -> Any:  # noqa: ANN401 (η = sin z, of which it is entire)
        cosine = z.cos()
        return cosine**power * (r + cosine * cosine) * (c * z.sin()).exp()

    ends = [(arb(2 * j - cells) / cells).asin() for j in range(cells + 1)]
    found = [acb.integral(density, acb(a), acb(b)).real for a, b in pairwise(ends)]
    total = sum(found, arb(0))
    return [own / total for own in found] if total.is_finite() and total > 0 else None


@lru_cache(maxsize=256)
def ball_parameter_down(uses: int, dimension: int, epsilon: float, delta: float) -> float:
    """Return nearly the greatest ε of which k uses of a ball's noise are proved (ε′, δ)-DP.

    Examples:
        >>> 1.20 < ball_parameter_down(1, 16, 1.0, 1e-6) < 1.22
        True
    """

    def found(uses: int, own: Fraction, joint: Fraction) -> float:
        return ball_delta_up(uses, dimension, float(own), float(joint))

    return _greatest(found, uses, epsilon, delta)


@lru_cache(maxsize=256)
def response_parameter_down(uses: int, epsilon: float, delta: float) -> float:
    """Return nearly the greatest ε of which k uses are proved to be (ε′, δ)-DP, of any noise.

    Args:
        uses: k.
        epsilon: ε′ of all.
        delta: δ of all.

    Examples:
        >>> 1 / 16 < response_parameter_down(16, 1.0, 1e-6) < 1 / 8
        True
    """
    return _greatest(response_delta_up, uses, epsilon, delta)


def _greatest(
    delta_up: Callable[[int, Fraction, Fraction], float], uses: int, epsilon: float, delta: float
) -> float:
    """Return a float below which δ is at most `delta`, nearly the greatest."""
    joint = Fraction(epsilon)

    def over(parameter: float) -> float:  # ln(δ/delta)
        found = delta_up(uses, Fraction(parameter), joint)
        return math.log(found / delta) if found else -math.inf

    low = epsilon / uses
    low = low if Fraction(low) * uses <= joint else shrunk(low, 2.0**-50)  # pure: δ is 0
    below, high = -math.inf, 2 * low
    above = over(high)
    while above <= 0:
        low, below, high = high, above, 2 * high
        above = over(high)
    for _ in range(_ROUNDS):
        if high <= low * (1 + _SETTLED):
            break
        share = 0.5 if below == -math.inf else min(max(-below / (above - below), 0.02), 0.98)
        middle = low * (high / low) ** share
        found = over(middle)
        low, below, high, above = (
            (middle, found, high, above) if found <= 0 else (low, below, middle, found)
        )
    return low


def _ball(number: Fraction) -> Any:  # noqa: ANN401 (flint carries no types)
    from flint import arb, fmpq

    return arb(fmpq(number.numerator, number.denominator))


def _up(ball: Any) -> float:  # noqa: ANN401
    return min(up(float(ball.upper())), 1.0) if not ball.is_zero() else 0.0


@final
@readable
@dataclass(frozen=True)
class Shared:
    """A budget that k releases of one plan share.

    Args:
        budget: the most that all may reveal together.
        uses: k.

    Examples:
        >>> from lownoise.privacy import gaussian_dp, pure_dp
        >>> Shared(pure_dp(1.0), 4).of_pure()
        PureDP(epsilon=0.25)
        >>> round(Shared(gaussian_dp(1.0), 4).of_gaussian().mu, 9)
        0.5
    """

    budget: Budget
    uses: int

    def of_gaussian(self) -> Budget:
        """Return the budget of one release with Gaussian noise: μ/√k, and ρ/k.

        Raises:
            BudgetError: where the budget keeps no such noise, or k is too large for it.
        """
        square = Fraction(self.budget.gaussian_parameter()) ** 2 / self.uses * Fraction(_SPARE)
        try:
            if isinstance(self.budget, Zcdp):
                return zcdp(decimal_down(square / 2))
            return gaussian_dp(root_down(square))
        except BudgetError as error:
            raise self._too_many(error) from None

    def of_pure(self) -> PureDP:
        """Return the budget of one ε-DP release, whatever its noise is.

        Under (ε, δ) about the greatest by `composition.response_parameter_down`, else ε/k.

        Raises:
            BudgetError: where the budget keeps no pure noise, or k is too large for it.
        """
        if not isinstance(self.budget, (PureDP, ApproxDP)):
            raise BudgetError(f"budget={self.budget} is not pure, nor (epsilon, delta)")
        epsilon = Fraction(self._epsilon) / self.uses
        if isinstance(self.budget, ApproxDP) and self._response > _WORTH * epsilon:
            epsilon = Fraction(self._response) * Fraction(_SPARE)
        try:
            return pure_dp(decimal_down(epsilon))
        except BudgetError as error:
            raise self._too_many(error) from None

    def _too_many(self, error: BudgetError) -> BudgetError:
        return BudgetError(
            f"uses={self.uses} of {self.budget} leave each release too little ({error}); give "
            "fewer, or a larger budget",
        )

    @property
    def _response(self) -> float:
        assert isinstance(self.budget, ApproxDP)  # noqa: S101 (who asks has looked)
        return response_parameter_down(self.uses, self._epsilon, self.budget.delta)

    @property
    def _epsilon(self) -> float:
        """ε of the budget, as its decimal and as its float."""
        assert isinstance(self.budget, (PureDP, ApproxDP))  # noqa: S101 (who asks has looked)
        epsilon = self.budget.epsilon
        return epsilon if Fraction(epsilon) <= exact(epsilon) else down(epsilon)

    def joint(self, event: Event, ball: int = 0) -> Event:
        """Return what all releases reveal together, each of them `event`, rounded up.

        Args:
            event: one release.
            ball: d where its noise is that of a ball in d ≥ 2 dimensions; else 0.

        Raises:
            BudgetError: where nothing is known of the sum.
        """
        k = self.uses
        match event:
            case GaussianEvent():
                return GaussianEvent(root_up(k * event.as_mu_square()))
            case PureNoiseEvent():
                rho = decimal_up(k * event.as_rho())
                mu = decimal_up(Fraction(root_up(k * event.as_mu_square())))
                plain = k * exact(event.epsilon)
                if not isinstance(self.budget, ApproxDP) or plain <= exact(self.budget.epsilon):
                    return PureNoiseEvent(decimal_up(plain), rho, mu)
                delta = self._delta_up(event.epsilon, rho, mu, ball)
                return ComposedEvent(self.budget.epsilon, delta, rho, mu)
            case ApproxDPEvent() | ApproxNoiseEvent() if isinstance(self.budget, ApproxDP):
                own = response_delta_up(k, exact(event.epsilon), Fraction(self._epsilon))
                delta = decimal_up(k * exact(event.delta) + Fraction(own))
                return ApproxDPEvent(self.budget.epsilon, min(delta, 1.0))
        raise BudgetError(
            f"a release known by its {event.recorded_by} alone shares no budget={self.budget}; "
            "leave uses out",
        )

    def _delta_up(self, epsilon: float, rho: float, mu: float, ball: int) -> float:
        """Return at least the δ of all at the budget's ε: the least of what is proved."""
        found = (
            response_delta_up(self.uses, exact(epsilon), Fraction(self._epsilon)),
            ball_delta_up(self.uses, ball, epsilon, self._epsilon),
            gaussian_curve.delta_up(mu, self._epsilon),
            zcdp_curve.delta_up(rho, self._epsilon),
        )
        return min(decimal_up(Fraction(min(found))), 1.0)

    def keeps(self, event: Event, ball: int = 0) -> bool:
        """Return whether all releases together surely stay within the budget; as of `joint`.

        Raises:
            BudgetError: where nothing is known of the sum.
        """
        return within(self.budget, self.joint(event, ball))

    def room(self, event: Event, ball: int = 0) -> float:
        """Return what part of what is allowed one release of pure noise is, about: ε, √ρ or μ.

        The least of the parts, for each of them proves all; `keeps` has the last word.
        """
        if not isinstance(event, PureNoiseEvent):
            return math.inf
        pure = float(self.uses * exact(event.epsilon)) / self._epsilon / _SPARE
        if not isinstance(self.budget, ApproxDP):
            return pure
        epsilon, delta = self._epsilon, self.budget.delta
        rho = zcdp_curve.parameter_down(epsilon, delta)
        own = self._response
        if ball and self.uses <= MOST_BALLS:
            own = max(own, ball_parameter_down(self.uses, ball, epsilon, delta))
        least = min(
            event.epsilon / own,
            math.sqrt(self.uses) * event.mu / gaussian_curve.parameter_down(epsilon, delta),
            math.sqrt(self.uses * event.rho / rho),
        )
        return pure if pure <= _WORTH * least else least / _SPARE


def checked_uses(uses: object) -> int:
    """Return how many releases share a budget.

    Raises:
        PlanError: where it is no whole number in range.

    Examples:
        >>> checked_uses(12)
        12
    """
    one = hasattr(uses, "item") and getattr(uses, "shape", None) == ()
    number = uses.item() if one else uses  # type: ignore[attr-defined]  # asked above
    if type(number) is not int or not 1 <= number <= MOST_USES:
        raise PlanError(
            f"uses={quoted(uses)} is no number of releases; give a whole number from 1 to "
            f"{MOST_USES:,}, or leave it out",
        )
    return number
