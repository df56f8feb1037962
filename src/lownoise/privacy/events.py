# SPDX-License-Identifier: Apache-2.0
"""What happened to a dataset: facts, and what each is known to be in the terms of each reading.

The vocabulary only grows: a kind that a ledger has recorded never changes its meaning.
"""

from __future__ import annotations

import json
import math
from abc import ABC
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import ClassVar, final, get_args

from lownoise.errors import LedgerError
from lownoise.numbers.rounding import exact
from lownoise.privacy.pure_curve import mu_square_up, rho_up

READINGS = ("gaussian", "zcdp", "basic", "caps", "aside")
_Sum = tuple[Fraction, Fraction]


class AbstractEvent(ABC):
    """A release: what is known of it as an (ε, δ), as a ρ and as a μ, None where nothing is.

    `recorded_by` is the cost that it was recorded by; `first` is the reading that it fixes where it
    is the first spend of an account whose reading nobody named.
    """

    kind: ClassVar[str]
    recorded_by: ClassVar[str]
    first: ClassVar[str]

    def as_pair(self) -> tuple[float, float] | None:
        """Return (ε, δ), read as the decimals that print."""
        return None

    def as_rho(self) -> Fraction | None:
        """Return at least the ρ."""
        return None

    def as_mu_square(self) -> Fraction | None:
        """Return at least the μ²."""
        return None

    def rho_aside(self) -> _Sum | None:
        """Return (δ, ρ): but for a chance δ it is ρ-zCDP, that ρ at least."""
        own = self.as_rho()
        return None if own is None else (Fraction(0), own)

    def mu_square_aside(self) -> _Sum | None:
        """Return (δ, μ²): but for a chance δ it is μ-GDP, that μ² at least."""
        own = self.as_mu_square()
        return None if own is None else (Fraction(0), own)

    @property
    def readings(self) -> tuple[str, ...]:
        """The readings of accounts that can pay for it, of `READINGS`.

        Where it was asked with an (ε, δ), "basic" is one too; see `readings.paying`. "aside" is
        named where no "zcdp" and no "gaussian" pays but with a δ set aside; those that set one
        aside pay for what the others do, too.

        Examples:
            >>> GaussianEvent(0.1).readings, PureDPEvent(0.1).readings
            (('gaussian', 'zcdp', 'caps'), ('gaussian', 'zcdp', 'basic', 'caps'))
        """
        pair = self.as_pair() is not None
        known = {
            "gaussian": self.as_mu_square() is not None,
            "zcdp": self.as_rho() is not None,
            "basic": pair,
            "caps": pair or self.kind == GaussianEvent.kind,
            "aside": self.as_rho() is None and self.rho_aside() is not None,
        }
        return tuple(k for k in READINGS if known[k])


@final
@dataclass(frozen=True)
class GaussianEvent(AbstractEvent):
    """A Gaussian release whose noise covers the sensitivity body with radius `mu` (μ-GDP)."""

    mu: float
    kind: ClassVar[str] = "gaussian"
    recorded_by: ClassVar[str] = "mu"
    first: ClassVar[str] = "gaussian"

    def as_rho(self) -> Fraction:
        """Return μ²/2: the Rényi divergence of order α is αμ²/2."""
        return Fraction(self.mu) ** 2 / 2

    def as_mu_square(self) -> Fraction:
        """Return μ², μ as its float."""
        return Fraction(self.mu) ** 2


@final
@dataclass(frozen=True)
class ZcdpEvent(AbstractEvent):
    """A release of which only its ρ is known."""

    rho: float
    kind: ClassVar[str] = "zcdp"
    recorded_by: ClassVar[str] = "rho"
    first: ClassVar[str] = "zcdp"

    def as_rho(self) -> Fraction:
        """Return ρ, as its decimal."""
        return exact(self.rho)


@final
@dataclass(frozen=True)
class ApproxDPEvent(AbstractEvent):
    """A release of which only its (ε, δ) is known; it is pure where δ = 0."""

    epsilon: float
    delta: float
    kind: ClassVar[str] = "approx_dp"
    recorded_by: ClassVar[str] = "(epsilon, delta)"
    first: ClassVar[str] = "basic"

    def as_pair(self) -> tuple[float, float]:
        """Return (ε, δ)."""
        return self.epsilon, self.delta

    def as_rho(self) -> Fraction | None:
        """Return the ρ that a pure ε implies; none where δ > 0."""
        return None if self.delta else rho_up(exact(self.epsilon))

    def as_mu_square(self) -> Fraction | None:
        """Return the μ² that a pure ε implies; none where δ > 0."""
        return None if self.delta else mu_square_up(exact(self.epsilon))

    def rho_aside(self) -> _Sum:
        """Return δ and the ρ that ε implies: but for δ it is a function of randomised response."""
        return exact(self.delta), rho_up(exact(self.epsilon))

    def mu_square_aside(self) -> _Sum:
        """Return δ and the μ² that ε implies, likewise."""
        return exact(self.delta), mu_square_up(exact(self.epsilon))


@final
@dataclass(frozen=True)
class PureDPEvent(AbstractEvent):
    """A release that is ε-DP, ε read as the decimal that prints; see `rounding.decimal_up`."""

    epsilon: float
    kind: ClassVar[str] = "pure_dp"
    recorded_by: ClassVar[str] = "epsilon"
    first: ClassVar[str] = "basic"

    def as_pair(self) -> tuple[float, float]:
        """Return (ε, 0)."""
        return self.epsilon, 0.0

    def as_rho(self) -> Fraction:
        """Return the ρ of randomised response, the greatest that ε allows."""
        return rho_up(exact(self.epsilon))

    def as_mu_square(self) -> Fraction:
        """Return the μ² of randomised response, the greatest that ε allows."""
        return mu_square_up(exact(self.epsilon))


@final
@dataclass(frozen=True)
class PureNoiseEvent(AbstractEvent):
    """A pure release whose noise is known: it is ε-DP, ρ-zCDP and μ-GDP, all three at once.

    Each number is rounded up so that its float and the decimal that prints are both enough; see
    `rounding.decimal_up`. ρ and μ are at most what ε alone implies, as a rule far less.
    """

    epsilon: float
    rho: float
    mu: float
    kind: ClassVar[str] = "pure_noise"
    recorded_by: ClassVar[str] = "epsilon, rho and mu"
    first: ClassVar[str] = "basic"

    def as_pair(self) -> tuple[float, float]:
        """Return (ε, 0)."""
        return self.epsilon, 0.0

    def as_rho(self) -> Fraction:
        """Return the noise's own ρ."""
        return exact(self.rho)

    def as_mu_square(self) -> Fraction:
        """Return the square of the noise's own μ."""
        return exact(self.mu) ** 2


@final
@dataclass(frozen=True)
class ApproxNoiseEvent(AbstractEvent):
    """A release whose noise is known: it is (ε, δ)-DP, and but for that δ ρ-zCDP and μ-GDP.

    Each number is rounded up as those of `PureNoiseEvent`. ρ and μ are at most what ε alone
    implies; for what a chance δ leaves out there is none of either.
    """

    epsilon: float
    delta: float
    rho: float
    mu: float
    kind: ClassVar[str] = "approx_noise"
    recorded_by: ClassVar[str] = "(epsilon, delta), and rho and mu but for that delta,"
    first: ClassVar[str] = "basic"

    def as_pair(self) -> tuple[float, float]:
        """Return (ε, δ)."""
        return self.epsilon, self.delta

    def rho_aside(self) -> _Sum:
        """Return δ and the noise's own ρ but for that."""
        return exact(self.delta), exact(self.rho)

    def mu_square_aside(self) -> _Sum:
        """Return δ and the square of the noise's own μ but for that."""
        return exact(self.delta), exact(self.mu) ** 2


@final
@dataclass(frozen=True)
class ComposedEvent(AbstractEvent):
    """Uses of one noise that share a budget: (ε, δ)-DP, ρ-zCDP and μ-GDP, all three at once.

    Each number is proved of all uses together and rounded up as those of `PureNoiseEvent`.
    """

    epsilon: float
    delta: float
    rho: float
    mu: float
    kind: ClassVar[str] = "composed"
    recorded_by: ClassVar[str] = "(epsilon, delta), rho and mu"
    first: ClassVar[str] = "basic"

    def as_pair(self) -> tuple[float, float]:
        """Return (ε, δ)."""
        return self.epsilon, self.delta

    def as_rho(self) -> Fraction:
        """Return the sum of the uses' ρ."""
        return exact(self.rho)

    def as_mu_square(self) -> Fraction:
        """Return the sum of the uses' μ²."""
        return exact(self.mu) ** 2


Event = (
    GaussianEvent
    | ZcdpEvent
    | ApproxDPEvent
    | PureDPEvent
    | PureNoiseEvent
    | ApproxNoiseEvent
    | ComposedEvent
)
_KINDS: dict[str, type[Event]] = {c.kind: c for c in get_args(Event)}


def event_to_text(event: Event) -> str:
    """Return the event as one line of JSON; floats read back exactly.

    Examples:
        >>> event_to_text(GaussianEvent(0.5))
        '{"kind": "gaussian", "mu": 0.5}'
    """
    return json.dumps({"kind": event.kind, **asdict(event)})


def event_from_text(text: str) -> Event:
    """Return the event that `event_to_text` wrote.

    Raises:
        LedgerError: where the text is no event that this version knows.
    """
    try:
        fields = json.loads(text)
        event = _KINDS[fields.pop("kind")](**fields)
        numbers = asdict(event).values()
        known = all(type(v) in (int, float) and 0 <= float(v) < math.inf for v in numbers)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        known = False
    if not known:
        raise LedgerError("ledger entry is of no kind that this version knows; upgrade lownoise")
    return event
