# SPDX-License-Identifier: Apache-2.0
"""Mechanisms by their names, and what was compared as JSON values."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from lownoise.errors import FileError
from lownoise.kinds import expect
from lownoise.noise.abstract import NOISES
from lownoise.privacy.events import READINGS
from lownoise.release.comparison import GAUSSIAN, Alternative, Comparison

RESPONSE, COUNTS, _TABLES = "randomized_response", "laplace_histogram", "laplace_residual"
_SAME = 1e-8
_OF_COMPARED = ("rho", "mu", "delta", "readings")  # which files before 0.2.0 do not state


def names(*, of_means: bool = False) -> tuple[str, ...]:
    """Return the names of all mechanisms of pure noise, and of randomised response.

    Args:
        of_means: whether those that count records alone are left out.
    """
    found = (*NOISES.names, RESPONSE, _TABLES)
    return tuple(own for own in found if not of_means or own not in (RESPONSE, COUNTS, _TABLES))


def compared_to_dict(own: Alternative) -> dict[str, Any]:
    """Return a mechanism that was compared, as JSON values."""
    known = {"rho": own.rho, "mu": own.mu}
    return {
        "mechanism": own.mechanism,
        "error": own.error,
        "note": own.note,
        **{name: number for name, number in known.items() if number is not None},
        **({"delta": own.delta} if own.delta else {}),
        **({"readings": list(own.readings)} if own.readings else {}),
    }


def compared_from_list(encoded: list[dict[str, Any]], chosen: str) -> Comparison:
    """Return the mechanisms that were compared: each once, the best first, one of them chosen."""
    found = Comparison(_alternative(each) for each in encoded)
    names = [own.mechanism for own in found]
    errors = [math.inf if own.error is None else own.error for own in found]
    available = [own.mechanism for own in found if own.error is not None]
    # of equals to nine digits the simplest is first
    rising = all(a <= b * (1 + _SAME) for a, b in pairwise(errors))
    if len(set(names)) < len(names) or chosen not in available or not rising:
        raise FileError("compared has not each mechanism once, the best first, with the chosen one")
    return found


def _alternative(fields: dict[str, Any]) -> Alternative:
    name, error, note = fields["mechanism"], fields["error"], fields["note"]
    expect("compared.mechanism", name, (GAUSSIAN, *names()))
    rho, mu, readings = fields.get("rho"), fields.get("mu"), fields.get("readings", [])
    delta = fields.get("delta", 0.0)
    numbers_or_none = all(
        own is None or (isinstance(own, float) and 0 <= own < math.inf)
        for own in (error, rho, mu, delta)
    )
    known = len(fields) == 3 + sum(own in fields for own in _OF_COMPARED)
    if not numbers_or_none or not isinstance(note, str) or not known:
        raise FileError("compared states an error that is no number, or a note that is no text")
    if not (isinstance(readings, list) and all(own in READINGS for own in readings)):
        raise FileError("compared states readings that no account has")
    return Alternative(name, error, note, rho=rho, mu=mu, delta=delta, readings=tuple(readings))
