# SPDX-License-Identifier: Apache-2.0
"""What a release reveals, how it adds up, and where it is written down."""

from lownoise.privacy.budget import (
    ApproxDP,
    Budget,
    GaussianDP,
    PureDP,
    Zcdp,
    approx_dp,
    convert,
    gaussian_dp,
    pure_dp,
    zcdp,
)
from lownoise.privacy.choices import Aside, Caps
from lownoise.privacy.entries import StreamPosition
from lownoise.privacy.events import (
    ApproxDPEvent,
    ApproxNoiseEvent,
    ComposedEvent,
    Event,
    GaussianEvent,
    PureDPEvent,
    PureNoiseEvent,
    ZcdpEvent,
)
from lownoise.privacy.ledger import Ledger, Payer, checked_ledger
from lownoise.privacy.local_budget import LocalDP, local_dp
from lownoise.privacy.shared import Shared

__all__ = [
    "ApproxDP",
    "ApproxDPEvent",
    "ApproxNoiseEvent",
    "Aside",
    "Budget",
    "Caps",
    "ComposedEvent",
    "Event",
    "GaussianDP",
    "GaussianEvent",
    "Ledger",
    "LocalDP",
    "Payer",
    "PureDP",
    "PureDPEvent",
    "PureNoiseEvent",
    "Shared",
    "StreamPosition",
    "Zcdp",
    "ZcdpEvent",
    "approx_dp",
    "checked_ledger",
    "convert",
    "gaussian_dp",
    "local_dp",
    "pure_dp",
    "zcdp",
]
