# SPDX-License-Identifier: Apache-2.0
"""Noise is enlarged until the loss that is measured on its final form is covered.

The optimiser's word ends here: whatever noise it proposed, the loss is that of the final integers
and the final noise. No other loop decides how much noise there is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from lownoise.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

_SPARE = 1e-9  # of the noise: less than that is left where it is
_NOTHING = 2.0**-500  # of what is allowed: where nothing moves, but for rounding up
_ROUNDS = 500
M = TypeVar("M")


def covering(
    scaled: Callable[[float], M], revealed: Callable[[M], float], allowed: float, start: float = 1.0
) -> M:
    """Return the mechanism with the least noise among scaled(factor) that reveals what is allowed.

    Args:
        scaled: the mechanism whose noise is so many times what was asked for.
        revealed: μ of a mechanism, or ε, from its final noise, rounded up.
        allowed: the most that it may be, above 0.
        start: the factor that is tried first.

    Raises:
        PlanError: where a direction that records can move in has no noise, or no factor is enough.
    """
    factor, found, grown = start, scaled(start), False
    for _ in range(_ROUNDS):
        spent = revealed(found)
        if not math.isfinite(spent):
            raise PlanError("noise leaves a direction that records can move in; plan again")
        room = spent / allowed
        # what had to grow is left as it is: a program may say another size each time it is asked
        if spent <= allowed and (grown or not _NOTHING < room < 1 - _SPARE):
            return found
        # what covers with room to spare shrinks; what does not, grows by a float at the least
        least = math.nextafter(factor, math.inf)
        grown = grown or room >= 1
        factor = factor * room if room < 1 else max(factor * room, least)
        found = scaled(factor)
    raise PlanError("no noise of this shape reveals so little; give a larger budget")
