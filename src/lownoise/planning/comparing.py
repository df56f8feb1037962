# SPDX-License-Identifier: Apache-2.0
"""Which of the noises that a budget allows is taken: all are fitted, the one of least error wins.

A question gives its noises as builders by the names of mechanisms. The choice follows from the
arguments of `plan` alone: no cache, no account and no table has a part in it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from lownoise.errors import LownoiseError, PlanError, quoted
from lownoise.noise.abstract import NOISES
from lownoise.release.comparison import GAUSSIAN, Alternative, Comparison

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lownoise.planning.release_plan import Plan, Request
    from lownoise.planning.stream_plan import StreamPlan, StreamRequest
    from lownoise.release.terms import Terms

    Builders = dict[str, Callable[[], Plan]]
    Asked: TypeAlias = Request | StreamRequest

P = TypeVar("P", "Plan", "StreamPlan")
_NOTES = {  # the simplest first
    "laplace": "independent Laplace noise on the answers, epsilon split",
    "laplace_residual": "independent Laplace noise on residual spaces, epsilon split",
    "laplace_histogram": "Laplace noise on the count of every record",
    "geometric": "whole numbers on the answers, independent, epsilon split",
    "geometric_residual": "whole numbers on residual spaces, independent, epsilon split",
    "geometric_histogram": "whole numbers on the count of every record",
    "discrete_staircase": "whole numbers on the answers, each of a staircase, epsilon split",
    "discrete_k_norm": "whole numbers of the shape of what one record can change",
    "randomized_response": "each record is answered for on its own",
    GAUSSIAN: "Gaussian noise of the shape of what one record can change",
    "k_norm": "noise of the shape of what one record can change",
    "staircase": "noise of that shape, or of the ellipsoid, whose density is a staircase",
    "ellipsoid": "K-norm noise of the least ellipsoid around all changes",
    "recursive": "K-norm noise level by level",
    "radial": "a mixture of balls around the least ellipsoid, for epsilon and delta",
}


def compared(builders: Mapping[str, Callable[[], P]], request: Asked) -> P:
    """Return the plan of the mechanism that is named, or of the one with the least error.

    One that is named is the only one built.

    Args:
        builders: the noises that the budget allows the question, by name.
        request: what was asked.

    Raises:
        LownoiseError: where none can be had: why the first cannot.
        PlanError: where the one that is named cannot be had.
    """
    if request.mechanism is not None:
        return _named(builders, request.mechanism)
    made: dict[str, P] = {}
    refused: dict[str, LownoiseError] = {}
    for name, build in builders.items():
        try:
            made[name] = _checked(build())
        except LownoiseError as error:
            refused[name] = error
    if not made:
        raise next(iter(refused.values()))
    # of equals the simplest: numbers that differ in their last digits are equal
    simplest = [*_NOTES, *(name for name in made if name not in _NOTES)]
    ranked = sorted(
        made.values(),
        key=lambda own: (float(f"{own.terms.compared:.9e}"), simplest.index(own.terms.name)),
    )
    best = ranked[0]
    if len(builders) == 1 and best.terms.gaussian:
        return best
    rows = [alternative(own.terms) for own in ranked]
    rows += [Alternative(name, None, str(error)) for name, error in refused.items()]
    return replace(best, terms=replace(best.terms, alternatives=Comparison(rows)))


def apart(rows: Comparison, name: str) -> float:
    """Return what parts of the least of the others' errors a noise is above or below it.

    Infinite where it is alone, or was not made.
    """
    errors = {own.mechanism: own.error for own in rows if own.error is not None}
    own = errors.pop(name, None)
    if own is None or not errors:
        return math.inf
    least = min(errors.values())
    return abs(own - least) / least if least > 0 else math.inf


def alternative(terms: Terms) -> Alternative:
    """Return what a comparison says of terms."""
    own = NOISES[terms.name].of.note if terms.name in NOISES.names else ""
    cost = terms.cost
    return Alternative(
        terms.name,
        terms.compared,
        _NOTES.get(terms.name, own),
        rho=cost.rho,
        mu=cost.mu,
        delta=0.0 if terms.gaussian else cost.delta,
        readings=terms.readings,
        terms=terms,
    )


def _named(builders: Mapping[str, Callable[[], P]], name: str) -> P:
    if name not in builders:
        raise PlanError(
            f"mechanism={quoted(name)} is not for this question; give one of {', '.join(builders)}"
        )
    if name == GAUSSIAN:
        return _checked(builders[name]())
    try:
        found = _checked(builders[name]())
    except PlanError as error:
        raise PlanError(f"mechanism={quoted(name)} is not available here: {error}") from None
    return found.as_asked(replace(found.terms, alternatives=Comparison([alternative(found.terms)])))


def _checked(plan: P) -> P:
    """Refuse a plan beyond its budget, or with an error that floats do not hold or save.

    Raises:
        PlanError: as said.
    """
    plan.terms.check_budget()
    with np.errstate(all="ignore"):
        known = math.isfinite(plan.terms.compared) and math.isfinite(plan.terms.error)
    if not known:
        raise PlanError("its error is beyond what floats hold; use a larger unit")
    return plan
