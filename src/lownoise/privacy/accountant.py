# SPDX-License-Identifier: Apache-2.0
"""How events add up against a total budget.

Gaussian releases compose exactly: μ² adds, and the whole is one Gaussian release (Dong, Roth & Su
2022, Corollary 2). Releases of which only ρ is known join them through dp-accounting's Rényi
accountant; those of which only (ε, δ) is known add by basic composition on top.

Pure releases add their ε. Where a budget is not pure they count as the ρ, or the μ, of their noise
where it is known, else as those that randomised response has (see `pure_curve`), and under (ε, δ)
in whichever way leaves the least δ: each way is an upper bound, so the least of them is one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING

from lownoise.errors import BudgetError
from lownoise.privacy.budget import KNOWN, ApproxDP, Budget, GaussianDP, PureDP, Zcdp, exact
from lownoise.privacy.events import (
    ApproxDPEvent,
    Event,
    GaussianEvent,
    PureDPEvent,
    PureNoiseEvent,
    ZcdpEvent,
)
from lownoise.privacy.gaussian_curve import delta_up
from lownoise.privacy.pure_curve import mu_square_up, rho_up
from lownoise.rounding import sqrt_up, up

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAST = 5e-324
_LARGE = 1000  # no budget's ε is above it, and beyond it floats might overflow
_FLOATS = 1e-9  # upward: dp-accounting computes in floats that are rounded to nearest


@singledispatch
def within(budget: object, events: Sequence[Event]) -> bool:
    """Return whether all `events` together surely stay within `budget`.

    Raises:
        BudgetError: where an event has no reading under a budget of this kind.

    Examples:
        >>> within(Zcdp(0.3), [ZcdpEvent(0.1)] * 3), within(Zcdp(0.3), [ZcdpEvent(0.1)] * 4)
        (True, False)
    """
    raise BudgetError(f"budget={budget!r} is of no known kind; use {KNOWN}")


@within.register(Zcdp)
def _(budget: Zcdp, events: Sequence[Event]) -> bool:
    return rho_of(events) <= exact(budget.rho)


@within.register(ApproxDP)
def _(budget: ApproxDP, events: Sequence[Event]) -> bool:
    # δ as its decimal or as its float: the caller meant one of the two
    return _delta(events, budget.epsilon) <= max(exact(budget.delta), Fraction(budget.delta))


@within.register(GaussianDP)
def _(budget: GaussianDP, events: Sequence[Event]) -> bool:
    most = max(exact(budget.mu), Fraction(budget.mu))
    return mu_square_of(events) <= most**2


@within.register(PureDP)
def _(budget: PureDP, events: Sequence[Event]) -> bool:
    return epsilon_of(events) <= exact(budget.epsilon)


@singledispatch
def spent(budget: object, events: Sequence[Event]) -> Budget:
    """Return what `events` take together, in the terms of `budget`, rounded up.

    Raises:
        BudgetError: as `within`.

    Examples:
        >>> spent(Zcdp(1.0), [ZcdpEvent(0.1)] * 3)
        Zcdp(rho=0.3)
    """
    raise BudgetError(f"budget={budget!r} is of no known kind; use {KNOWN}")


@spent.register(Zcdp)
def _(_: Zcdp, events: Sequence[Event]) -> Budget:
    return Zcdp(float_up(rho_of(events)))


@spent.register(ApproxDP)
def _(budget: ApproxDP, events: Sequence[Event]) -> Budget:
    return ApproxDP(budget.epsilon, delta_spent(events, budget.epsilon))


@spent.register(GaussianDP)
def _(_: GaussianDP, events: Sequence[Event]) -> Budget:
    return GaussianDP(_exact_root_up(mu_square_of(events)))


@spent.register(PureDP)
def _(_: PureDP, events: Sequence[Event]) -> Budget:
    return PureDP(float_up(epsilon_of(events)))


@singledispatch
def event_of(budget: object) -> Event:
    """Return the event of a release of which only `budget` is known.

    Raises:
        BudgetError: where the budget is of no known kind.
    """
    raise BudgetError(f"budget={budget!r} is of no known kind; use {KNOWN}")


@event_of.register(Zcdp)
def _(budget: Zcdp) -> Event:
    return ZcdpEvent(budget.rho)


@event_of.register(ApproxDP)
def _(budget: ApproxDP) -> Event:
    return ApproxDPEvent(budget.epsilon, budget.delta)


@event_of.register(GaussianDP)
def _(budget: GaussianDP) -> Event:
    # for composition a μ-GDP release is a Gaussian one at worst (Dong, Roth & Su 2022)
    return GaussianEvent(budget.mu)


@event_of.register(PureDP)
def _(budget: PureDP) -> Event:
    return PureDPEvent(budget.epsilon)


def epsilon_of(events: Sequence[Event]) -> Fraction:
    """Return the exact sum of the ε of `events`.

    Raises:
        BudgetError: where an event is not known to be pure.

    Examples:
        >>> epsilon_of([PureDPEvent(0.1)] * 3)
        Fraction(3, 10)
    """
    pure = [exact(e.epsilon) for e in _pure(events)]
    if len(pure) < len(events):
        raise BudgetError(
            "a spend that is not pure fits in no pure_dp budget; release with ln.pure_dp(epsilon), "
            "or charge it to a dataset with a zcdp or approx_dp budget",
        )
    return sum(pure, Fraction(0))


def mu_square_of(events: Sequence[Event]) -> Fraction:
    """Return the sum of the μ² of `events`: exact for Gaussian ones, rounded up for pure ones.

    Raises:
        BudgetError: where an event is known by its ρ or its (ε, δ) only.
    """
    if not all(isinstance(e, (GaussianEvent, PureDPEvent, PureNoiseEvent)) for e in events):
        raise BudgetError(
            "a spend known by its rho or its (epsilon, delta) has no mu; charge it to a dataset "
            "with a zcdp or approx_dp budget",
        )
    return gaussian_square(events) + sum(map(_mu_square, _pure(events)), Fraction(0))


def rho_of(events: Sequence[Event]) -> Fraction:
    """Return the sum of the ρ of `events`: exact, but for pure ones rounded up.

    Raises:
        BudgetError: where an event is known by its (ε, δ) only.
    """
    if any(isinstance(e, ApproxDPEvent) for e in events):
        raise BudgetError(
            "an (epsilon, delta) spend has no rho; charge it to a dataset with an approx_dp budget "
            "(or as ln.pure_dp(epsilon) where delta is 0)",
        )
    known = sum((exact(e.rho) for e in events if isinstance(e, ZcdpEvent)), Fraction(0))
    return gaussian_square(events) / 2 + known + sum(map(_rho, _pure(events)), Fraction(0))


def gaussian_square(events: Sequence[Event]) -> Fraction:
    """Return the exact sum of μ² over the Gaussian events."""
    return sum((Fraction(e.mu) ** 2 for e in events if isinstance(e, GaussianEvent)), Fraction(0))


def delta_spent(events: Sequence[Event], epsilon: float) -> float:
    """Return at least the δ of all `events` together at ε = `epsilon`; 1 where ε is overspent.

    Examples:
        >>> delta_spent([GaussianEvent(0.75), GaussianEvent(1.0)], 1.0) == delta_up(1.25, 1.0)
        True
    """
    return min(float_up(_delta(events, epsilon)), 1.0)


def float_up(number: Fraction) -> float:
    """Return the number where it is a float or its decimal, else the float above it."""
    rounded = float(number)
    return rounded if max(Fraction(rounded), exact(rounded)) >= number else up(rounded)


def _pure(events: Sequence[Event]) -> list[PureDPEvent | PureNoiseEvent]:
    return [e for e in events if isinstance(e, (PureDPEvent, PureNoiseEvent))]


def _rho(event: PureDPEvent | PureNoiseEvent) -> Fraction:
    """Return at least the ρ of a pure event: that of its noise where it is known."""
    if isinstance(event, PureNoiseEvent):
        return exact(event.rho)
    return rho_up(exact(event.epsilon))


def _mu_square(event: PureDPEvent | PureNoiseEvent) -> Fraction:
    """Return at least the μ² of a pure event: that of its noise where it is known."""
    if isinstance(event, PureNoiseEvent):
        return exact(event.mu) ** 2
    return mu_square_up(exact(event.epsilon))


def _delta(events: Sequence[Event], epsilon: float) -> Fraction:
    """Return at least the δ of all `events` together, and 1 where their ε alone is too much."""
    known = [e for e in events if isinstance(e, ApproxDPEvent)]
    rhos = [e.rho for e in events if isinstance(e, ZcdpEvent)]
    taken = sum((exact(e.epsilon) for e in known), Fraction(0))
    delta = sum((exact(e.delta) for e in known), Fraction(0))
    square, pure = gaussian_square(events), _pure(events)
    epsilons = [exact(e.epsilon) for e in pure]
    least = _delta_left(square, rhos, epsilon, taken + sum(epsilons))
    if pure and least > 0 and max(epsilons) <= _LARGE:
        as_rhos = [*rhos, *(up(float(_rho(e))) for e in pure)]
        least = min(least, _delta_left(square, as_rhos, epsilon, taken))
        if not rhos:
            square += sum(map(_mu_square, pure), Fraction(0))
            least = min(least, _delta_left(square, rhos, epsilon, taken))
    return delta + least


def _delta_left(square: Fraction, rhos: list[float], epsilon: float, taken: Fraction) -> Fraction:
    """Return at least the δ of one Gaussian release of μ² = `square` and of all `rhos`.

    It is stated at ε = `epsilon` less what is `taken` of it by basic composition.
    """
    left = exact(epsilon) - taken
    if left < 0:
        return Fraction(1)
    at = float(left) if taken else epsilon
    if taken and Fraction(at) > left:
        at = math.nextafter(at, 0.0)
    mu = _exact_root_up(square)
    return Fraction(_renyi_delta(mu, rhos, at) if rhos else delta_up(mu, at))


def _renyi_delta(mu: float, rhos: list[float], epsilon: float) -> float:
    from dp_accounting import dp_event, rdp

    accountant = rdp.RdpAccountant()
    if mu:
        accountant.compose(dp_event.GaussianDpEvent(math.nextafter(1 / mu, 0.0)))
    for rho in rhos:
        accountant.compose(dp_event.ZCDpEvent(rho))
    found = float(accountant.get_delta(epsilon)) * (1 + _FLOATS)
    return min(max(found, _LEAST), 1.0)  # never 0 by underflow


def _exact_root_up(square: Fraction) -> float:
    """Return the square root of a fraction: exact where it is a float, else rounded up."""
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    if root * root == square and Fraction(float(root)) == root:
        return float(root)
    return sqrt_up(up(float(square)))
