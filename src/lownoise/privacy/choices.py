# SPDX-License-Identifier: Apache-2.0
"""Which reading an account has, those with numbers of their own, and that of old accounts.

`Caps` has three limits; `Aside` sets a δ aside, and adds up the ρ or μ² of all but that.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal, final

from lownoise.errors import BudgetError, LedgerError, quoted
from lownoise.numbers.readable import readable
from lownoise.numbers.rounding import down, exact, float_up, root_up, up
from lownoise.privacy import gaussian_curve, zcdp_curve
from lownoise.privacy.budget import ApproxDP, Budget
from lownoise.privacy.events import GaussianEvent
from lownoise.privacy.readings import (
    PLAIN,
    AbstractReading,
    least,
    only_reading,
    unfit,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.privacy.events import Event
    from lownoise.privacy.readings import Pair, Spent, Sums


ReadingName = Literal["gaussian", "zcdp", "basic"]
_GIVE = (
    'give "gaussian", "zcdp", "basic", ln.Caps(epsilon=, delta=, mu=) or ln.Aside(delta=), '
    "--caps or --aside on the command line"
)
_CURRENCIES = ("zcdp", "gaussian")


@final
@readable
@dataclass(frozen=True)
class Caps(AbstractReading):
    """A reading of an approx_dp account with separate caps for Gaussian and other spends.

    Pure spends, and spends known by an (ε, δ), add up to at most `epsilon` and `delta`. Gaussian
    spends add up to at most `mu`. δ + δ_μ(ε_account − ε) must be at most the account's δ.

    Args:
        epsilon: ε of all spends that are not Gaussian.
        delta: δ of these spends.
        mu: μ of all Gaussian spends together.

    Examples:
        >>> Caps(epsilon=0.5, delta=1e-7, mu=0.1).to_text()
        '{"kind": "caps", "epsilon": 0.5, "delta": 1e-07, "mu": 0.1}'
    """

    epsilon: float
    delta: float
    mu: float
    kind: ClassVar[str] = "caps"
    adds: ClassVar[str] = "mu² of Gaussian spends, and epsilon and delta of others, add up"
    rules_out: ClassVar[str] = "spends known by a rho alone"

    def caps(self, budget: Budget) -> Sums:
        """Return the three caps, which were checked against the budget."""
        self.check(budget)
        return {
            "epsilon": exact(self.epsilon),
            "delta": exact(self.delta),
            "square": Fraction(self.mu) ** 2,
        }

    def check(self, budget: Budget) -> None:
        """Refuse caps that are more than `budget` together.

        Raises:
            BudgetError: where they are, or where a number is not one in [0, ∞).
        """
        if not isinstance(budget, ApproxDP):
            raise unfit(self.kind, budget)
        for name, number in vars(self).items():
            plain = isinstance(number, (int, float)) and not isinstance(number, bool)
            if not (plain and 0 <= number <= sys.float_info.max):
                raise BudgetError(
                    f"caps.{name}={quoted(number)} is no number; give one of at least 0"
                )
        left = exact(budget.epsilon) - max(exact(self.epsilon), Fraction(self.epsilon))
        if left < 0:
            raise BudgetError(
                f"caps.epsilon={self.epsilon:g} is more than that of {budget}; give less",
            )
        at = float(left)
        at = at if Fraction(at) <= left else down(at)
        taken = Fraction(gaussian_curve.delta_up(float(self.mu), at))
        taken += max(exact(self.delta), Fraction(self.delta))
        if taken > max(exact(budget.delta), Fraction(budget.delta)):
            raise BudgetError(
                f"caps come to a delta of {float(taken):.6g} at the epsilon of {budget}; lower "
                "caps.mu, caps.delta or caps.epsilon",
            )

    def counted(self, event: Event, pair: Pair | None) -> Sums | None:
        """Return μ² of a Gaussian spend, ε and δ of another."""
        if isinstance(event, GaussianEvent):
            return {"square": event.as_mu_square()}
        own = event.as_pair()
        return None if own is None else {"epsilon": exact(own[0]), "delta": exact(own[1])}

    def spent(self, budget: Budget, spends: Sequence[Spent]) -> Budget:
        """Return the δ that the sums come to at the budget's ε."""
        total = self.total(spends)
        epsilon, delta, square = (
            total.get(name, Fraction(0)) for name in ("epsilon", "delta", "square")
        )
        assert isinstance(budget, ApproxDP)  # noqa: S101 (checked at creation)
        at = max(down(float(exact(budget.epsilon) - epsilon)), 0.0) if epsilon else budget.epsilon
        rest = Fraction(gaussian_curve.delta_up(root_up(square), at))
        kept = all(number <= self.caps(budget)[name] for name, number in total.items())
        delta_spent = min(float_up(delta + rest), 1.0)
        return ApproxDP(budget.epsilon, least(delta_spent, budget.delta, kept=kept))

    def to_text(self) -> str:
        """Return the reading as one line of JSON."""
        return json.dumps({"kind": self.kind, **asdict(self)})


@final
@dataclass(frozen=True)
class MixedReading(AbstractReading):
    """That of an old account whose spends would have fixed several: it pays for nothing more.

    What still holds is the sum of pairs, each by a rule that looks at no later spend: a spend's own
    pair, and for the i-th spend known by its μ or ρ alone the ε that it has at δ/2^i.
    """

    kind: ClassVar[str] = "mixed"
    adds: ClassVar[str] = "spends of several kinds were taken by an older version"
    rules_out: ClassVar[str] = "any further spend"

    def caps(self, budget: Budget) -> Sums:
        """Return nothing: nothing is left."""
        return {}

    def counted(self, event: Event, pair: Pair | None) -> Sums | None:
        """Return nothing: nothing more is paid."""
        return None

    def charge(self, event: Event, pair: Pair | None) -> Sums:
        """Refuse every spend.

        Raises:
            LedgerError: always.
        """
        raise LedgerError(
            "dataset has spends that an older version took by no one reading, so its account "
            "pays for nothing more; open another with what may still be spent, see "
            "`lownoise ledger show`",
        )

    def remaining(self, budget: Budget, spends: Sequence[Spent]) -> dict[str, float]:
        """Return nothing: nothing is left."""
        return {}

    def spent(self, budget: Budget, spends: Sequence[Spent]) -> Budget:
        """Return Σε and Σδ."""
        assert isinstance(budget, ApproxDP)  # noqa: S101 (no other budget mixes)
        epsilon, delta, share = Fraction(0), Fraction(0), budget.delta
        for event, _ in spends:
            pair = event.as_pair()
            if pair is None:
                share /= 2
                pair = _epsilon_up(event, share), share
            epsilon += exact(pair[0])
            delta += exact(pair[1])
        return ApproxDP(float_up(epsilon), min(float_up(delta), 1.0))


@final
@readable
@dataclass(frozen=True)
class Aside(AbstractReading):
    """A reading of an approx_dp account that adds up ρ or μ² and sets a δ' aside.

    A spend may have a ρ or μ except with a probability δᵢ, such as radial noise or one known only
    by an (ε, δ). The δᵢ add up to at most δ' = `delta`. The ρ or μ² add up to at most what the rest
    of the account's δ allows: δ' + (1 − δ')·δ_ρ(ε) ≤ δ.

    Args:
        delta: δ', above 0 and below the account's δ.
        reading: how the rest adds up: "zcdp" (ρ) or "gaussian" (μ²).

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
        if not isinstance(self.reading, str) or self.reading not in _CURRENCIES:
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


Numbered = Caps | Aside
"""Readings with numbers of their own."""
_MADE: dict[str, type[Numbered]] = {Caps.kind: Caps, Aside.kind: Aside}


def named(reading: str | Numbered) -> AbstractReading:
    """Return the reading of that name.

    Raises:
        BudgetError: where there is none.
    """
    if isinstance(reading, (Caps, Aside)):
        return reading
    found = PLAIN.get(reading) if isinstance(reading, str) else None
    if found is None:
        raise BudgetError(f"reading={quoted(reading)} is unknown; {_GIVE}")
    return found


def chosen(reading: str | Numbered, budget: Budget) -> AbstractReading:
    """Return the reading that was named for a budget.

    Raises:
        BudgetError: where there is none of that name, or the budget cannot be read so.

    Examples:
        >>> from lownoise.privacy import Zcdp
        >>> chosen("zcdp", Zcdp(1.0)).kind
        'zcdp'
    """
    found, only = named(reading), only_reading(budget)
    if only is not None and only.kind == found.kind:
        return only
    found.caps(budget)
    return found


def reading_from_text(text: str) -> AbstractReading:
    """Return the reading that `to_text` wrote.

    Raises:
        LedgerError: where it is none that this version knows.
    """
    try:
        fields = json.loads(text)
        kind = fields.pop("kind")
        kinds = {**PLAIN, "mixed": MixedReading()}
        made = _MADE.get(kind)
        return kinds[kind] if made is None else made(**fields)
    except (BudgetError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise LedgerError(
            "ledger reading is of no kind that this version knows; upgrade lownoise"
        ) from None


def fitting(budget: Budget, spends: Sequence[Spent]) -> AbstractReading | None:
    """Return the reading of an account that was kept before accounts had one.

    It is the one that each of its spends would have fixed as the first. To look for a reading that
    adds up spends of several kinds would be to pick it after their answers were seen.

    None where nothing was spent and the budget has several; the mixed one where the spends would
    have fixed several, or are more together than the one lets.
    """
    only = only_reading(budget)
    if only or not spends:
        return only
    reading, *others = {event.first for event, _ in spends}
    if others:
        return MixedReading()
    found = PLAIN[reading]
    owned = [(event, found.pair(event, None)) for event, _ in spends]
    return found if found.within(budget, owned) else MixedReading()


def _epsilon_up(event: Event, delta: float) -> float:
    """Return at least the ε that an event known by its μ or ρ alone has at `delta`."""
    if isinstance(event, GaussianEvent):
        return gaussian_curve.epsilon_up(event.mu, delta)
    rho = event.as_rho()
    return zcdp_curve.epsilon_up(up(float(rho)), delta) if rho else 0.0


def _float_down(number: Fraction) -> float:
    found = float(number)
    return found if Fraction(found) <= number else down(found)
