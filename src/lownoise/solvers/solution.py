# SPDX-License-Identifier: Apache-2.0
"""What a solver returns, whatever the body, and what all solvers say of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import (
    Claim,
)
from lownoise.numbers.arrays import frozen
from lownoise.sensitivity.factors import DenseShape
from lownoise.solvers.generation import SOLVED, Progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.certificate import AbstractDual
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.frames import Frame
    from lownoise.sets.bodies import (
        AbstractBody,
    )


RTOL = 1e-6
NO_WIDTH = "solved: no width"
NEAR = "solved: the least of the ellipsoids that can be proved to cover it; the gap says the rest"


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """An ellipsoid that covers a body, with the evidence that it is nearly least.

    Args:
        claim: the ellipsoid in the coordinates of its frame, and its evidence.
        status: how the search ended, and what helps where it ended early.
        iterations: the number of Newton steps.
    """

    claim: Claim
    status: str
    iterations: int


def honest(status: str, claim: Claim, rtol: float) -> str:
    """Return the status, saying where ellipsoids of another form may do better."""
    return NEAR if status == SOLVED and claim.certificate().gap > rtol else status


def nothing(
    body: AbstractBody,
    order: float,
    weights: Vector,
    queries: Vector | None,
    frame: Frame,
    dual: AbstractDual,
) -> Claim:
    """Return the claim that a single point, or what no query sees of a body, needs no noise.

    It stands at the point, or at 0 where the body may not be moved, as differences may not.
    """
    at = body.directions.copy() if body.moves else np.zeros(body.dimension)
    return Claim(
        body=body,
        order=order,
        queries=queries,
        weights=weights,
        frame=frame,
        shape=DenseShape(np.zeros((0, 0))),
        center=frozen(at),
        dual=dual,
    )


def in_unit(
    progress: Callable[[Progress], None] | None,
    unit: float,
) -> Callable[[Progress], None] | None:
    """Return the callback for bounds in parts of `unit`."""
    if progress is None:
        return None
    return lambda at: progress(Progress(at.iteration, at.lower * unit, at.upper * unit))
