# SPDX-License-Identifier: Apache-2.0
"""A check of a file, all of them, and whether what a file states is what follows from its terms."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from lownoise.errors import LownoiseError, quoted
from lownoise.numbers.readable import readable
from lownoise.release import codec, stored
from lownoise.release.readable import Readable

if TYPE_CHECKING:
    from collections.abc import Callable

_UNBEATEN = "lower_bound"
_NOT_DRAWN = ("cost", "estimate")  # what noise reveals, and what was released with it
_NEAR = 1e-9  # of a number
_SIMULATED = 0.125  # of a deviation that is known from draws of a walk, from 24 points on
_NOTHING = 2.0**-44  # of the greatest number beside it: what is left of differences


@final
@readable
@dataclass(frozen=True)
class Check:
    """One thing that must hold: its name, whether it does, and the numbers."""

    name: str
    holds: bool
    found: str


@final
@dataclass(frozen=True, repr=False)
class Verification(Readable):
    """What was checked; truthy where everything holds."""

    checks: tuple[Check, ...]

    def __bool__(self) -> bool:
        return all(check.holds for check in self.checks)


def holding(name: str, read: Callable[[], str]) -> Check:
    """Return that what raises no error holds, with what it says."""
    try:
        return Check(name, holds=True, found=codec.guarded(read))
    except LownoiseError as error:
        return Check(name, holds=False, found=str(error))


def as_stated(
    stated: object, computed: dict[str, Any], beside: list[str], off: float = _NEAR
) -> list[Check]:
    """Return a check for each number that the file states beside its terms.

    Args:
        stated: what the file says that follows.
        computed: what does.
        beside: the names of what else stands in the file, at the top.
        off: how far numbers may be from what is computed, as a part of them, but for costs.
    """
    claims = stated if isinstance(stated, dict) else {}
    more = [*beside, *sorted(quoted(name) for name in claims if name not in computed)]
    return [
        Check("nothing else is stated", not more, ", ".join(more) or "all of it follows"),
        *(
            Check(f"{name} as stated", _agrees(name, claims.get(name), value, off), _text(value))
            for name, value in computed.items()
            if name in claims or name != stored.ADDED
        ),
    ]


def off_of(mechanism: object) -> float:
    """Return how far numbers may be from what a file states of a mechanism, as a part of them.

    Deviations that draws estimate are others where a comparison of floats falls the other way.
    """
    return _SIMULATED if getattr(mechanism, "estimated", False) else _NEAR


def _agrees(name: str, stated: Any, computed: object, off: float, least: float = 0.0) -> bool:  # noqa: ANN401
    """Return whether a file states what follows: floats up to their last digits, all else exactly.

    Costs, errors and bounds follow through products and factorizations of matrices, whose last bits
    differ between machines and versions. What no mechanism beats may be stated as less than what is
    proved of it now: later versions prove more, and a file's bound stays true.
    """
    if isinstance(computed, dict) and isinstance(stated, dict):
        same = stated.keys() == computed.keys()
        return same and all(_agrees(name, stated[k], v, off) for k, v in computed.items())
    if isinstance(computed, list) and isinstance(stated, list):
        both = zip(stated, computed, strict=False)
        sizes = [abs(x) for x in computed if isinstance(x, float) and math.isfinite(x)]
        least = _NOTHING * max(sizes, default=0.0)
        return len(stated) == len(computed) and all(_agrees(name, *own, off, least) for own in both)
    if not isinstance(computed, float) or not isinstance(stated, float):
        return type(stated) is type(computed) and bool(stated == computed)
    if name == _UNBEATEN:
        return 0 <= stated <= computed * (1 + _NEAR)
    return near(stated, computed, least, _NEAR if name.startswith(_NOT_DRAWN) else off)


def near(
    stated: float | None, computed: float | None, least: float = 0.0, off: float = _NEAR
) -> bool:
    """Return whether two numbers are one but for their last digits, or for `least`."""
    if stated is None or computed is None:
        return stated is computed
    return stated == computed or math.isclose(stated, computed, rel_tol=off, abs_tol=least)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
