# SPDX-License-Identifier: Apache-2.0
"""A budget that several releases of one plan share: what each may reveal, and what all do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

from lownoise.errors import BudgetError, PlanError, quoted
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import (
    decimal_down,
    decimal_up,
    down,
    exact,
    root_down,
    root_up,
    shrunk,
)
from lownoise.privacy import gaussian_curve, zcdp_curve
from lownoise.privacy.budget import ApproxDP, PureDP, Zcdp, gaussian_dp, pure_dp, zcdp
from lownoise.privacy.composition import (
    MOST_BALLS,
    ball_delta_up,
    ball_parameter_down,
    response_delta_up,
    response_parameter_down,
)
from lownoise.privacy.events import (
    ApproxDPEvent,
    ApproxNoiseEvent,
    ComposedEvent,
    GaussianEvent,
    PureNoiseEvent,
)
from lownoise.privacy.readings import within

if TYPE_CHECKING:
    from lownoise.privacy.budget import Budget
    from lownoise.privacy.events import Event

MOST_USES = 1_000_000
_SPARE = shrunk(1.0)  # of what is allowed: more than rounding takes
_WORTH = 1.001  # times less noise: for less than that no δ is taken where ε alone will do


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


def checked_uses(uses: object) -> int | None:
    """Return how many releases share a budget; None where that was left out.

    Raises:
        PlanError: where it is no whole number in range.

    Examples:
        >>> checked_uses(12), checked_uses(None)
        (12, None)
    """
    if uses is None:
        return None
    number = uses.item() if hasattr(uses, "item") else uses
    if type(number) is not int or not 1 <= number <= MOST_USES:
        raise PlanError(
            f"uses={quoted(uses)} is no number of releases; give a whole number from 1 to "
            f"{MOST_USES:,}, or leave it out",
        )
    return number
