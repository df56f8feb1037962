# SPDX-License-Identifier: Apache-2.0
"""How an account reads its budget: what adds up over its spends, and what each sum may come to.

A reading is fixed before, or in the transaction of, an account's first spend, and every spend is
counted by it. Each sum then has a cap that no answer can move, which is what makes the account a
privacy filter: it holds for spends that are chosen after seeing the answers to those before. The
proofs are in docs/theory.md. To take the least of several readings after the fact is no filter.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, final

from lownoise.errors import BudgetError, quoted
from lownoise.numbers.rounding import (
    decimal_down,
    exact,
    float_up,
    root_down,
    root_up,
    up,
)
from lownoise.privacy import gaussian_curve, zcdp_curve
from lownoise.privacy.budget import (
    KNOWN,
    ApproxDP,
    Budget,
    GaussianDP,
    PureDP,
    Zcdp,
)
from lownoise.privacy.events import READINGS, Event

if TYPE_CHECKING:
    from collections.abc import Sequence

Pair = tuple[float, float]
Spent = tuple[Event, Pair | None]
"""A spend: what happened, and the (ε, δ) that was frozen with it where its reading adds those."""
Sums = dict[str, Fraction]
"""What adds up, by name: "square" (of μ), "rho", "epsilon", "delta"."""


class AbstractReading(ABC):
    """What an account adds up, by its name `kind`.

    `adds` says it in words, `rules_out` what it cannot pay for.
    """

    kind: ClassVar[str]
    adds: ClassVar[str]
    rules_out: ClassVar[str]

    @property
    def like(self) -> str:
        """The plain reading by which its spends are priced: itself."""
        return self.kind

    @abstractmethod
    def caps(self, budget: Budget) -> Sums:
        """Return the most that each sum may come to.

        Raises:
            BudgetError: where the budget cannot be read so.
        """

    @abstractmethod
    def counted(self, event: Event, pair: Pair | None) -> Sums | None:
        """Return what one spend adds to each sum; None where this reading cannot pay for it."""

    @abstractmethod
    def spent(self, budget: Budget, spends: Sequence[Spent]) -> Budget:
        """Return what `spends` take together, in the terms of the budget, rounded up."""

    def pair(self, event: Event, asked: Budget | None) -> Pair | None:
        """Return the (ε, δ) that is frozen with a spend that was asked with a budget.

        None where the reading adds no such pairs, or none is known.
        """
        return None

    def charge(self, event: Event, pair: Pair | None) -> Sums:
        """Return `counted`.

        Raises:
            BudgetError: where this reading cannot pay for the spend.
        """
        found = self.counted(event, pair)
        if found is None:
            raise BudgetError(
                f"a spend known by its {event.recorded_by} alone cannot be paid where {self.adds}; "
                f"{self._remedy(event)}",
            )
        return found

    def total(self, spends: Sequence[Spent]) -> Sums:
        """Return the sums of what `spends` add.

        Raises:
            BudgetError: as `charge`.
        """
        found: Sums = {}
        for (event, pair), times in Counter(spends).items():
            for name, number in self.charge(event, pair).items():
                found[name] = found.get(name, Fraction(0)) + times * number
        return found

    def within(self, budget: Budget, spends: Sequence[Spent]) -> bool:
        """Return whether `spends` together stay within `budget`.

        Raises:
            BudgetError: where the budget cannot be read so, or a spend not be paid.
        """
        caps = self.caps(budget)
        return all(number <= caps[name] for name, number in self.total(spends).items())

    def remaining(self, budget: Budget, spends: Sequence[Spent]) -> dict[str, float]:
        """Return what is left of each sum, rounded down: of "mu", "rho", "epsilon" or "delta"."""
        total = self.total(spends)
        left = {k: v - total.get(k, Fraction(0)) for k, v in self.caps(budget).items()}
        return {
            "mu" if name == "square" else name: _down(name, max(number, Fraction(0)))
            for name, number in left.items()
        }

    def taken(self, budget: Budget, spends: Sequence[Spent]) -> dict[str, float]:
        """Return what `spends` take of each sum, rounded up; by the names of `remaining`."""
        total = self.total(spends)
        found = {k: total.get(k, Fraction(0)) for k in self.caps(budget)}
        return {
            "mu" if name == "square" else name: root_up(number)
            if name == "square"
            else float_up(number)
            for name, number in found.items()
        }

    def to_text(self) -> str:
        """Return the reading as one line of JSON; `reading_from_text` reads it back."""
        return json.dumps({"kind": self.kind})

    def _remedy(self, event: Event) -> str:
        others = " or ".join(k for k in event.readings if k != self.kind)
        return f"charge it to a dataset with an approx_dp budget and a reading of {others}"


@final
@dataclass(frozen=True)
class GaussianReading(AbstractReading):
    """Σμ²: all spends together are as one Gaussian release, of the root of their sum."""

    kind: ClassVar[str] = "gaussian"
    adds: ClassVar[str] = "mu² adds up"
    rules_out: ClassVar[str] = "spends known by a rho or by an (epsilon, delta) alone"

    def caps(self, budget: Budget) -> Sums:
        """Return the greatest Σμ²."""
        match budget:
            case GaussianDP(mu=mu):
                return {"square": max(exact(mu), Fraction(mu)) ** 2}
            case ApproxDP(epsilon=epsilon, delta=delta):
                return {"square": Fraction(gaussian_curve.parameter_down(epsilon, delta)) ** 2}
        raise unfit(self.kind, budget)

    def counted(self, event: Event, pair: Pair | None) -> Sums | None:
        """Return the μ²."""
        square = event.as_mu_square()
        return None if square is None else {"square": square}

    def spent(self, budget: Budget, spends: Sequence[Spent]) -> Budget:
        """Return the μ, or the δ that a release of it has at the budget's ε."""
        square = self.total(spends).get("square", Fraction(0))
        kept, mu = square <= self.caps(budget)["square"], root_up(square)
        if isinstance(budget, ApproxDP):
            delta = gaussian_curve.delta_up(mu, budget.epsilon)
            return ApproxDP(budget.epsilon, least(delta, budget.delta, kept=kept))
        assert isinstance(budget, GaussianDP)  # noqa: S101 (no other has such a cap)
        return GaussianDP(least(mu, budget.mu, kept=kept))


@final
@dataclass(frozen=True)
class ZcdpReading(AbstractReading):
    """Σρ: all spends together are ρ-zCDP, ρ their sum."""

    kind: ClassVar[str] = "zcdp"
    adds: ClassVar[str] = "rho adds up"
    rules_out: ClassVar[str] = "spends known by an (epsilon, delta) alone"

    def caps(self, budget: Budget) -> Sums:
        """Return the greatest Σρ."""
        match budget:
            case Zcdp(rho=rho):
                return {"rho": exact(rho)}
            case ApproxDP(epsilon=epsilon, delta=delta):
                return {"rho": Fraction(zcdp_curve.parameter_down(epsilon, delta))}
        raise unfit(self.kind, budget)

    def counted(self, event: Event, pair: Pair | None) -> Sums | None:
        """Return the ρ."""
        rho = event.as_rho()
        return None if rho is None else {"rho": rho}

    def spent(self, budget: Budget, spends: Sequence[Spent]) -> Budget:
        """Return the ρ, or the δ that follows from it at the budget's ε."""
        rho = self.total(spends).get("rho", Fraction(0))
        if isinstance(budget, ApproxDP):
            above = up(float(rho)) if rho else 0.0
            delta = zcdp_curve.delta_up(above, budget.epsilon)
            kept = rho <= self.caps(budget)["rho"]
            return ApproxDP(budget.epsilon, least(delta, budget.delta, kept=kept))
        return Zcdp(float_up(rho))


@final
@dataclass(frozen=True)
class BasicReading(AbstractReading):
    """Σε and Σδ of pairs, each of which is frozen when its spend is made."""

    kind: ClassVar[str] = "basic"
    adds: ClassVar[str] = "epsilon and delta add up"
    rules_out: ClassVar[str] = "spends asked without an (epsilon, delta), and adding by mu² or rho"

    def caps(self, budget: Budget) -> Sums:
        """Return the greatest Σε and Σδ."""
        match budget:
            case ApproxDP(epsilon=epsilon, delta=delta):
                # δ as its decimal or as its float: the caller meant one of the two
                return {"epsilon": exact(epsilon), "delta": max(exact(delta), Fraction(delta))}
        raise unfit(self.kind, budget)

    def pair(self, event: Event, asked: Budget | None) -> Pair | None:
        """Return the event's own pair, else that of the budget that it was asked with."""
        return frozen_pair(event, asked)

    def counted(self, event: Event, pair: Pair | None) -> Sums | None:
        """Return ε and δ."""
        return None if pair is None else {"epsilon": exact(pair[0]), "delta": exact(pair[1])}

    def spent(self, budget: Budget, spends: Sequence[Spent]) -> Budget:
        """Return Σε and Σδ."""
        total = self.total(spends)
        epsilon, delta = (float_up(total.get(k, Fraction(0))) for k in ("epsilon", "delta"))
        return ApproxDP(epsilon, min(delta, 1.0))

    def _remedy(self, event: Event) -> str:
        return f"ask for it with ln.approx_dp(epsilon, delta), or {super()._remedy(event)}"


@final
@dataclass(frozen=True)
class PureReading(AbstractReading):
    """Σε of pure spends: the basic reading where there is no δ."""

    kind: ClassVar[str] = "basic"
    adds: ClassVar[str] = "epsilon of pure spends adds up"
    rules_out: ClassVar[str] = "spends that are not pure"

    def caps(self, budget: Budget) -> Sums:
        """Return the greatest Σε."""
        if not isinstance(budget, PureDP):
            raise unfit(self.kind, budget)
        return {"epsilon": exact(budget.epsilon)}

    def counted(self, event: Event, pair: Pair | None) -> Sums | None:
        """Return ε."""
        own = event.as_pair()
        return None if own is None or own[1] else {"epsilon": exact(own[0])}

    def spent(self, budget: Budget, spends: Sequence[Spent]) -> Budget:
        """Return Σε."""
        return PureDP(float_up(self.total(spends).get("epsilon", Fraction(0))))

    def _remedy(self, event: Event) -> str:
        return f"release with ln.pure_dp(epsilon), or {super()._remedy(event)}"


PLAIN: dict[str, AbstractReading] = {
    r.kind: r for r in (GaussianReading(), ZcdpReading(), BasicReading())
}


def only_reading(budget: Budget) -> AbstractReading | None:
    """Return the reading of a budget that has only one; None for approx_dp, which has four."""
    match budget:
        case Zcdp():
            return PLAIN["zcdp"]
        case GaussianDP():
            return PLAIN["gaussian"]
        case PureDP():
            return PureReading()
        case ApproxDP():
            return None
    raise BudgetError(f"budget={quoted(budget)} is of no known kind; use {KNOWN}")


def first_reading(budget: Budget, event: Event) -> AbstractReading:
    """Return the reading that a first spend fixes where nobody named one.

    Examples:
        >>> from lownoise.privacy import GaussianEvent
        >>> first_reading(ApproxDP(1.0, 1e-6), GaussianEvent(0.1)).kind
        'gaussian'
    """
    return only_reading(budget) or PLAIN[event.first]


def within(budget: Budget, event: Event) -> bool:
    """Return whether one release surely stays within `budget`.

    Raises:
        BudgetError: where the budget is of no known kind, or cannot pay for such a release.

    Examples:
        >>> from lownoise.privacy import ZcdpEvent
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
        >>> from lownoise.privacy import GaussianEvent
        >>> spent(Zcdp(1.0), GaussianEvent(0.5))
        Zcdp(rho=0.125)
    """
    reading = first_reading(budget, event)
    return reading.spent(budget, [(event, reading.pair(event, budget))])


def frozen_pair(event: Event, asked: Budget | None) -> Pair | None:
    """Return the event's own (ε, δ), else that of `asked` where the event keeps it."""
    own = event.as_pair()
    if own is not None or not isinstance(asked, ApproxDP):
        return own
    kept = PLAIN[event.first].within(asked, [(event, None)])
    return (asked.epsilon, asked.delta) if kept else None


def paying(event: Event, asked: Budget | None) -> tuple[str, ...]:
    """Return the names of the readings that can pay for a release.

    Args:
        event: what it reveals.
        asked: the budget that it was asked with, or None.

    Examples:
        >>> from lownoise.privacy import GaussianEvent
        >>> paying(GaussianEvent(0.1), None), paying(GaussianEvent(0.1), ApproxDP(1.0, 1e-6))
        (('gaussian', 'zcdp', 'caps'), ('gaussian', 'zcdp', 'basic', 'caps'))
    """
    own = event.readings
    asks = frozen_pair(event, asked) is not None
    return tuple(k for k in READINGS if k in own or (k == "basic" and asks))


def least(spent: float, full: float, *, kept: bool) -> float:
    """Return what is spent, at most the whole where that is kept: what rounding adds says nothing.

    Examples:
        >>> least(1.0000000000000002e-06, 1e-06, kept=True)
        1e-06
    """
    return min(spent, full) if kept else spent


def _down(name: str, number: Fraction) -> float:
    return root_down(number) if name == "square" else decimal_down(number)


def unfit(kind: str, budget: Budget) -> BudgetError:
    """Return the refusal of a reading that a budget cannot have."""
    only = only_reading(budget)
    has = f"only {only.kind!r}" if only else "none such"
    return BudgetError(
        f"reading={quoted(kind)} does not fit {budget}, which has {has}; leave it out"
    )
