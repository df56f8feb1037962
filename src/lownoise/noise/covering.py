# SPDX-License-Identifier: Apache-2.0
"""Noise is enlarged until the radius that is measured on its final form is covered."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol, TypeVar

from lownoise.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.privacy import GaussianEvent

_SPARE = 1e-9  # of the noise: less than that is left where it is


class Revealing(Protocol):
    """What says what one run of it reveals."""

    @property
    def event(self) -> GaussianEvent:
        """What one run reveals, from the final noise alone."""


M = TypeVar("M", bound=Revealing)


def covering(scaled: Callable[[float], M], parameter: float) -> M:
    """Return the mechanism with the least noise among scaled(factor) that reveals at most μ.

    Args:
        scaled: the mechanism whose noise is so many times what was asked for.
        parameter: μ > 0.

    Raises:
        PlanError: where a direction that records can move in has no noise.
    """
    factor = 1.0
    mechanism = scaled(factor)
    if not math.isfinite(mechanism.event.mu):
        raise PlanError("noise leaves a direction that records can move in; plan again")
    room = mechanism.event.mu / parameter
    if 0 < room < 1 - _SPARE:  # it covers with room to spare
        factor *= room
        mechanism = scaled(factor)
    while not mechanism.event.mu <= parameter:
        factor = max(factor * (mechanism.event.mu / parameter), math.nextafter(factor, math.inf))
        mechanism = scaled(factor)
    return mechanism
