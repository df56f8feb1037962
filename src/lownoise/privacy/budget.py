# SPDX-License-Identifier: Apache-2.0
"""Privacy budgets: the most that one Gaussian release may reveal under each, and what each implies.

A budget's numbers mean the decimals that the user typed: three spends of 0.1 fill 0.3 exactly. What
follows in another kind is tight and on the safe side:

* μ-GDP implies (μ²/2)-zCDP, because every such mechanism is a post-processing of N(0,1) against
  N(μ,1), whose Rényi divergence of order α is αμ²/2; and it implies (ε, δ) by the exact curve.
* ρ-zCDP implies (ε, δ) for every order α > 1, and the best is taken: see `zcdp_curve`.
* ε-DP implies all three, by randomised response: see `pure_curve`.
* Nothing else follows: (ε, δ) leaves δ of the outcomes unbounded, so no ρ and no μ; from ρ-zCDP
  no μ is known that would be tight; and Gaussian noise has every ρ, μ or (ε, δ) and no pure ε.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

from lownoise.errors import BudgetError, quoted, quoted_number
from lownoise.numbers.arrays import real
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import decimal_up, down, exact, float_up, up
from lownoise.privacy import pure_curve, zcdp_curve
from lownoise.privacy.events import (
    ApproxDPEvent,
    GaussianEvent,
    PureDPEvent,
    ZcdpEvent,
)
from lownoise.privacy.gaussian_curve import epsilon_up, parameter_down

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.privacy.events import Event

Kind = Literal["zcdp", "gaussian_dp", "approx_dp", "pure_dp"]


class AbstractBudget(ABC):
    """The most that may be revealed, in the terms of one definition of privacy: its `kind`."""

    kind: ClassVar[Kind]

    @abstractmethod
    def gaussian_parameter(self) -> float:
        """Return the greatest float μ such that one μ-GDP Gaussian release stays within the budget.

        Raises:
            BudgetError: where no Gaussian noise keeps it.
        """

    @property
    @abstractmethod
    def event(self) -> Event:
        """A release of which only this budget is known."""

    @abstractmethod
    def implied(self, kind: Kind, delta: float | None) -> Budget:
        """Return the least guarantee of `kind` that follows, with δ for "approx_dp": `convert`.

        Raises:
            BudgetError: where none does.
        """


@final
@readable
@dataclass(frozen=True)
class Zcdp(AbstractBudget):
    """ρ-zero-concentrated differential privacy (002, Definition 10)."""

    rho: float
    kind: ClassVar[Kind] = "zcdp"

    def __str__(self) -> str:
        return f"{self.rho:g}-zCDP"

    def gaussian_parameter(self) -> float:
        """Return √2ρ: N(0, M/(2ρ)) is ρ-zCDP (002, Lemma 13), μ²/2 = ρ."""
        # ρ as the decimal and as its float, so that the cost is within it however it is read
        twice = 2 * min(exact(self.rho), Fraction(self.rho))
        mu = up(math.sqrt(twice))
        while Fraction(mu) ** 2 > twice:
            mu = down(mu)
        return mu

    @property
    def event(self) -> Event:
        """Its ρ alone."""
        return ZcdpEvent(self.rho)

    def implied(self, kind: Kind, delta: float | None) -> Budget:
        """Return the (ε, δ) of the best order."""
        if kind == "gaussian_dp":
            raise BudgetError(
                f"budget={self} implies no known mu; plan with it, and the cost of a Gaussian "
                "release says its mu",
            )
        return self if delta is None else ApproxDP(zcdp_curve.epsilon_up(self.rho, delta), delta)


@final
@readable
@dataclass(frozen=True)
class ApproxDP(AbstractBudget):
    """(ε, δ)-differential privacy."""

    epsilon: float
    delta: float
    kind: ClassVar[Kind] = "approx_dp"

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {self.delta:g})-DP"

    def gaussian_parameter(self) -> float:
        """Return the μ of the exact curve."""
        return parameter_down(self.epsilon, self.delta)

    @property
    def event(self) -> Event:
        """Its (ε, δ) alone."""
        return ApproxDPEvent(self.epsilon, self.delta)

    def implied(self, kind: Kind, delta: float | None) -> Budget:
        """Return the same with a larger δ."""
        if delta is None:
            raise BudgetError(
                f"budget={self} implies no {kind}, because delta of the outcomes are not bounded; "
                f"state {kind} to begin with",
            )
        if delta < self.delta:
            raise BudgetError(
                f"delta={delta:g} is below that of {self}; no epsilon follows for a smaller delta",
            )
        return ApproxDP(self.epsilon, delta)


@final
@readable
@dataclass(frozen=True)
class GaussianDP(AbstractBudget):
    """μ-Gaussian differential privacy: neighbours are as alike as N(0,1) and N(μ,1), or more."""

    mu: float
    kind: ClassVar[Kind] = "gaussian_dp"

    def __str__(self) -> str:
        return f"{self.mu:g}-GDP"

    def gaussian_parameter(self) -> float:
        """Return μ, as the decimal and as its float."""
        return self.mu if Fraction(self.mu) <= exact(self.mu) else down(self.mu)

    @property
    def event(self) -> Event:
        """A Gaussian release: no worse one composes (Dong, Roth & Su 2022)."""
        return GaussianEvent(self.mu)

    def implied(self, kind: Kind, delta: float | None) -> Budget:
        """Return ρ = μ²/2, or the (ε, δ) of the exact curve."""
        if kind == "zcdp":
            return Zcdp(float_up(max(exact(self.mu), Fraction(self.mu)) ** 2 / 2))
        return self if delta is None else ApproxDP(epsilon_up(self.mu, delta), delta)


@final
@readable
@dataclass(frozen=True)
class PureDP(AbstractBudget):
    """ε-differential privacy: no outcome is more than e^ε times likelier under a neighbour."""

    epsilon: float
    kind: ClassVar[Kind] = "pure_dp"

    def __str__(self) -> str:
        return f"{self.epsilon:g}-DP"

    def gaussian_parameter(self) -> float:
        """Refuse: P(Z > t)/P(Z > t + s) grows without bound with t, whatever the deviation.

        Raises:
            BudgetError: as said.
        """
        raise BudgetError(
            f"budget={self} is pure, which no Gaussian noise keeps, and no other is made here; "
            "give ln.approx_dp(epsilon, delta) or ln.zcdp(rho)",
        )

    @property
    def event(self) -> Event:
        """Its ε alone."""
        return PureDPEvent(self.epsilon)

    def implied(self, kind: Kind, delta: float | None) -> Budget:
        """Return what randomised response has."""
        epsilon = max(exact(self.epsilon), Fraction(self.epsilon))
        if kind == "zcdp":
            return Zcdp(decimal_up(pure_curve.rho_up(epsilon)))
        if kind == "gaussian_dp":
            return GaussianDP(decimal_up(pure_curve.mu_up(epsilon)))
        if delta is None:
            return self
        return ApproxDP(min(pure_curve.epsilon_up(epsilon, delta), self.epsilon), delta)


Budget = Zcdp | ApproxDP | GaussianDP | PureDP
KNOWN = "ln.zcdp(rho), ln.gaussian_dp(mu), ln.approx_dp(epsilon, delta) or ln.pure_dp(epsilon)"


def gaussian_dp(mu: float) -> GaussianDP:
    """Return the budget of μ-GDP.

    Args:
        mu: μ in [1e-6, 1000].

    Raises:
        BudgetError: where μ is not a number in that range.

    Examples:
        >>> gaussian_dp(1.0)
        GaussianDP(mu=1.0)
    """
    return GaussianDP(_within("gaussian_dp.mu", mu, 1e-6, 1e3))


def zcdp(rho: float) -> Zcdp:
    """Return the budget of ρ-zCDP.

    Args:
        rho: ρ in [1e-12, 1e6].

    Raises:
        BudgetError: where ρ is not a number in that range.

    Examples:
        >>> zcdp(0.5)
        Zcdp(rho=0.5)
    """
    return Zcdp(_within("zcdp.rho", rho, 1e-12, 1e6))


def approx_dp(epsilon: float, delta: float) -> ApproxDP:
    """Return the budget of (ε, δ)-differential privacy.

    Args:
        epsilon: ε in [1e-6, 1000].
        delta: δ in [1e-100, 1); choose it far below 1/n.

    Raises:
        BudgetError: where a number is outside its range.

    Examples:
        >>> approx_dp(1.0, 1e-6)
        ApproxDP(epsilon=1.0, delta=1e-06)
    """
    checked_epsilon = _within("approx_dp.epsilon", epsilon, 1e-6, 1e3)
    if isinstance(delta, (int, float)) and delta == 0:
        raise BudgetError(
            "approx_dp.delta=0 is out of range; give at least 1e-100, or ask for "
            "ln.pure_dp(epsilon), which has none"
        )
    return ApproxDP(checked_epsilon, _within("approx_dp.delta", delta, 1e-100, 1 - 2.0**-53))


def pure_dp(epsilon: float, delta: None = None) -> PureDP:
    """Return the budget of ε-differential privacy, with no δ.

    Args:
        epsilon: ε in [1e-6, 1000].
        delta: not allowed; use `ln.approx_dp` for a δ.

    Raises:
        BudgetError: where ε is not a number in that range, or a δ is given.

    Examples:
        >>> pure_dp(1.0)
        PureDP(epsilon=1.0)
    """
    if delta is not None:
        raise BudgetError(
            f"pure_dp.delta={quoted(delta)} is given; pure privacy has no delta, leave it out or "
            "give ln.approx_dp(epsilon, delta)",
        )
    return PureDP(_within("pure_dp.epsilon", epsilon, 1e-6, 1e3))


def _within(field: str, value: float, least: float, most: float) -> float:
    try:
        number = real(value)
    except (TypeError, ValueError, OverflowError):
        raise BudgetError(
            f"{field}={quoted_number(value)} is not a number; give one in [{least:g}, {most:g}]"
        ) from None
    if not least <= number <= most:
        top = "below 1" if most < 1 else f"at most {most:g}"
        raise BudgetError(f"{field}={number:g} is out of range; give at least {least:g} and {top}")
    return number


_MADE: dict[str, Callable[..., Budget]] = {
    "zcdp": zcdp,
    "approx_dp": approx_dp,
    "gaussian_dp": gaussian_dp,
    "pure_dp": pure_dp,
}


def budget_to_dict(budget: Budget) -> dict[str, Any]:
    """Return the budget as JSON values.

    Examples:
        >>> budget_to_dict(zcdp(0.5))
        {'kind': 'zcdp', 'rho': 0.5}
    """
    return {"kind": budget.kind, **asdict(budget)}


def checked_budget(budget: Budget) -> Budget:
    """Return the budget where its numbers are in range, however it was built.

    Raises:
        BudgetError: where it is no budget, or a number of it is out of range.

    Examples:
        >>> checked_budget(Zcdp(-1.0))
        Traceback (most recent call last):
        lownoise.errors.BudgetError: zcdp.rho=-1 is out of range; give at least 1e-12 and at most...
    """
    if not isinstance(budget, Budget):
        raise BudgetError(f"budget={quoted(budget)} is of no known kind; use {KNOWN}")
    return budget_from_dict(budget_to_dict(budget))


def budget_from_dict(fields: dict[str, Any]) -> Budget:
    """Return the budget that `budget_to_dict` described, checked as if it were new.

    Raises:
        BudgetError: where its kind is unknown or a number out of range.
    """
    numbers = dict(fields)
    kind = numbers.pop("kind", None)
    if kind not in _MADE:
        raise BudgetError(
            f"budget.kind={quoted(kind)} is unknown; this version knows {', '.join(_MADE)}"
        )
    try:
        return _MADE[kind](**numbers)
    except TypeError:
        raise BudgetError(f"budget={quoted(fields)} has other fields than {kind} needs") from None


def convert(budget: Budget, kind: Kind, *, delta: float | None = None) -> Budget:
    """Return the strongest guarantee of `kind` that `budget` implies for every mechanism.

    Args:
        budget: the known guarantee.
        kind: "zcdp", "gaussian_dp", "approx_dp" or "pure_dp".
        delta: δ of the result, for "approx_dp" only.

    Raises:
        BudgetError: where nothing of that kind follows, or δ is missing, superfluous or out of
            range.

    Examples:
        >>> from lownoise import gaussian_dp
        >>> convert(gaussian_dp(1.0), "zcdp")
        Zcdp(rho=0.5)
        >>> round(convert(Zcdp(0.1), "approx_dp", delta=1e-6).epsilon, 3)
        2.142
        >>> round(convert(PureDP(1.0), "gaussian_dp").mu, 4)
        1.232
    """
    if not isinstance(kind, str) or kind not in _MADE:
        raise BudgetError(f"kind={quoted(kind)} is unknown; give one of {', '.join(_MADE)}")
    if not isinstance(budget, Budget):
        raise BudgetError(f"budget={quoted(budget)} is of no known kind; use {KNOWN}")
    if (kind == "approx_dp") != (delta is not None):
        raise BudgetError(
            f"delta={quoted(delta)} does not fit {kind}; give it for approx_dp and only then"
        )
    if delta is not None:
        delta = approx_dp(1.0, delta).delta
    if kind == "pure_dp" and budget.kind != "pure_dp":
        raise BudgetError(
            f"budget={budget} implies no pure_dp, because Gaussian noise may have it and is not "
            "pure; state ln.pure_dp(epsilon) to begin with",
        )
    return budget.implied(kind, delta)
