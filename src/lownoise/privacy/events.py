# SPDX-License-Identifier: Apache-2.0
"""What happened to a dataset: facts, apart from how an accountant reads them.

The vocabulary only grows: a kind that a ledger has recorded never changes its meaning.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import ClassVar, final

from lownoise.errors import LedgerError


@final
@dataclass(frozen=True)
class GaussianEvent:
    """A Gaussian release whose noise covers the sensitivity body with radius `mu` (μ-GDP)."""

    mu: float
    kind: ClassVar[str] = "gaussian"


@final
@dataclass(frozen=True)
class ZcdpEvent:
    """A release of which only its ρ is known."""

    rho: float
    kind: ClassVar[str] = "zcdp"


@final
@dataclass(frozen=True)
class ApproxDPEvent:
    """A release of which only its (ε, δ) is known."""

    epsilon: float
    delta: float
    kind: ClassVar[str] = "approx_dp"


@final
@dataclass(frozen=True)
class PureDPEvent:
    """A release that is ε-DP, ε read as the decimal that prints; see `budget.decimal_up`."""

    epsilon: float
    kind: ClassVar[str] = "pure_dp"


@final
@dataclass(frozen=True)
class PureNoiseEvent:
    """A pure release whose noise is known: it is ε-DP, ρ-zCDP and μ-GDP, all three at once.

    Each number is rounded up so that its float and the decimal that prints are both enough; see
    `budget.decimal_up`. ρ and μ are at most what ε alone implies, as a rule far less.
    """

    epsilon: float
    rho: float
    mu: float
    kind: ClassVar[str] = "pure_noise"


Event = GaussianEvent | ZcdpEvent | ApproxDPEvent | PureDPEvent | PureNoiseEvent
_KINDS: dict[str, type[Event]] = {
    c.kind: c for c in (GaussianEvent, ZcdpEvent, ApproxDPEvent, PureDPEvent, PureNoiseEvent)
}


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
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        known = False
    if not known:
        raise LedgerError("ledger entry is of no kind that this version knows; upgrade lownoise")
    return event
