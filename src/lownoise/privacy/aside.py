# SPDX-License-Identifier: Apache-2.0
"""The reading of an account that sets a δ aside, and adds up the ρ or μ² of all but that."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal, final

from lownoise.errors import BudgetError, quoted
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import down, exact, float_up, root_up, up
from lownoise.privacy import gaussian_curve, zcdp_curve
from lownoise.privacy.budget import ApproxDP, Budget
from lownoise.privacy.readings import AbstractReading, least

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.privacy.events import Event
    from lownoise.privacy.readings import Pair, Spent, Sums

_CURRENCIES = ("zcdp", "gaussian")


@final
@readable
@dataclass(frozen=True)
class Aside(AbstractReading):
    """A reading of an approx_dp account that pays for spends known by ρ or μ but for a chance δ.

    Each spend adds its δ to at most `delta`, and the ρ or μ² of all but that to at most what
    implies the rest of the account's δ: with δ' the one set aside, δ' + (1 − δ')·δ_ρ(ε) ≤ δ.
    Radial noise, and whatever is known by an (ε, δ) alone, is paid so; what has no δ of its own
    adds none.

    Args:
        delta: the most that may be set aside, above 0 and below the account's.
        reading: what adds up of the rest: "zcdp" (ρ) or "gaussian" (μ²).

    Raises:
        BudgetError: where `reading` is none of these.

    Examples:
        >>> Aside(delta=1e-7).to_text()
        '{"kind": "aside", "delta": 1e-07, "reading": "zcdp"}'
    """

    delta: float
    reading: Literal["zcdp", "gaussian"] = "zcdp"
    kind: ClassVar[str] = "aside"
    rules_out: ClassVar[str] = "spends known by neither rho or mu nor an (epsilon, delta)"

    def __post_init__(self) -> None:
        if self.reading not in _CURRENCIES:
            raise BudgetError(
                f'aside.reading={quoted(self.reading)} adds up nothing; give "zcdp" or "gaussian"'
            )

    @property
    def like(self) -> str:
        """The plain reading by which its spends are priced."""
        return self.reading

    @property
    def adds(self) -> str:  # type: ignore[override]
        """What adds up, in words."""
        return f"{'rho' if self.reading == 'zcdp' else 'mu²'} adds up beside a delta set aside"

    def caps(self, budget: Budget) -> Sums:
        """Return the most of δ, and of ρ or μ² beside it.

        Raises:
            BudgetError: where the budget has no δ, or none is left beside what is set aside.
        """
        if not isinstance(budget, ApproxDP):
            raise BudgetError(
                f"{budget} has no delta to set aside; open the account with "
                "ln.approx_dp(epsilon, delta), or leave aside out"
            )
        number = self.delta
        plain = isinstance(number, (int, float)) and not isinstance(number, bool)
        if not (plain and 0 < number <= sys.float_info.max):
            raise BudgetError(f"aside.delta={quoted(number)} is no chance; give one above 0")
        most = max(exact(number), Fraction(number))
        rest = _float_down((Fraction(budget.delta) - most) / (1 - most)) if most < 1 else 0.0
        if not rest > 0:
            raise BudgetError(
                f"aside.delta={number:g} leaves nothing of the delta of {budget}; give less"
            )
        if self.reading == "zcdp":
            own = {"rho": Fraction(zcdp_curve.parameter_down(budget.epsilon, rest))}
        else:
            own = {"square": Fraction(gaussian_curve.parameter_down(budget.epsilon, rest)) ** 2}
        return {**own, "delta": exact(number)}

    def counted(self, event: Event, pair: Pair | None) -> Sums | None:
        """Return δ, and the ρ or μ² of all but that."""
        name = "rho" if self.reading == "zcdp" else "square"
        own = event.rho_aside() if self.reading == "zcdp" else event.mu_square_aside()
        return None if own is None else {"delta": own[0], name: own[1]}

    def spent(self, budget: Budget, spends: Sequence[Spent]) -> Budget:
        """Return the δ that the sums come to at the budget's ε."""
        total, caps = self.total(spends), self.caps(budget)
        aside = total.get("delta", Fraction(0))
        assert isinstance(budget, ApproxDP)  # noqa: S101 (checked by the caps)
        if self.reading == "zcdp":
            rho = total.get("rho", Fraction(0))
            rest = zcdp_curve.delta_up(up(float(rho)) if rho else 0.0, budget.epsilon)
        else:
            mu = root_up(total.get("square", Fraction(0)))
            rest = gaussian_curve.delta_up(mu, budget.epsilon)
        # (1 − δ')·rest, δ' at most 1
        found = min(float_up(aside + max(1 - aside, Fraction(0)) * Fraction(rest)), 1.0)
        kept = all(number <= caps[name] for name, number in total.items())
        return ApproxDP(budget.epsilon, least(found, budget.delta, kept=kept))

    def to_text(self) -> str:
        """Return the reading as one line of JSON."""
        return json.dumps({"kind": self.kind, **asdict(self)})


def _float_down(number: Fraction) -> float:
    found = float(number)
    return found if Fraction(found) <= number else down(found)
