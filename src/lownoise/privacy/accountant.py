# SPDX-License-Identifier: Apache-2.0
"""One release against one budget: whether it stays within, what it takes, what an account records.

How the spends of an account add up is its reading's affair: see `readings`.
"""

from __future__ import annotations

from functools import singledispatch

from lownoise.errors import BudgetError, told
from lownoise.privacy.budget import KNOWN, ApproxDP, Budget, GaussianDP, PureDP, Zcdp
from lownoise.privacy.events import (
    ApproxDPEvent,
    Event,
    GaussianEvent,
    PureDPEvent,
    ZcdpEvent,
)
from lownoise.privacy.readings import first_reading


def within(budget: Budget, event: Event) -> bool:
    """Return whether one release surely stays within `budget`.

    Raises:
        BudgetError: where the budget is of no known kind, or cannot pay for such a release.

    Examples:
        >>> within(Zcdp(0.3), ZcdpEvent(0.3)), within(Zcdp(0.3), ZcdpEvent(0.4))
        (True, False)
    """
    reading = first_reading(budget, event)
    return reading.within(budget, [(event, reading.pair(event, budget))])


def spent(budget: Budget, event: Event) -> Budget:
    """Return what one release takes, in the terms of `budget`, rounded up.

    Raises:
        BudgetError: as `within`.

    Examples:
        >>> spent(Zcdp(1.0), GaussianEvent(0.5))
        Zcdp(rho=0.125)
    """
    reading = first_reading(budget, event)
    return reading.spent(budget, [(event, reading.pair(event, budget))])


@singledispatch
def event_of(budget: object) -> Event:
    """Return the event of a release of which only `budget` is known.

    Raises:
        BudgetError: where the budget is of no known kind.
    """
    raise BudgetError(f"budget={told(budget)} is of no known kind; use {KNOWN}")


@event_of.register(Zcdp)
def _event_of_zcdp(budget: Zcdp) -> Event:
    return ZcdpEvent(budget.rho)


@event_of.register(ApproxDP)
def _event_of_approx_dp(budget: ApproxDP) -> Event:
    return ApproxDPEvent(budget.epsilon, budget.delta)


@event_of.register(GaussianDP)
def _event_of_gaussian_dp(budget: GaussianDP) -> Event:
    # for composition a μ-GDP release is a Gaussian one at worst (Dong, Roth & Su 2022)
    return GaussianEvent(budget.mu)


@event_of.register(PureDP)
def _event_of_pure_dp(budget: PureDP) -> Event:
    return PureDPEvent(budget.epsilon)
