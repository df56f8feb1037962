# SPDX-License-Identifier: Apache-2.0
"""What is asked of a solver and what it returns, whatever the body."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.certificate import Claim
from lownoise.numbers.arrays import frozen, triangle_of
from lownoise.sensitivity.factors import DenseShape
from lownoise.solvers.sides import SOLVED, Progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.certificate import AbstractDual
    from lownoise.certificate.evidence import Changes
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.frames import Frame


RTOL = 1e-6
FLOOR_SHARE = 0.1  # of rtol: what the floor under query weights may cost
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


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Asked:
    """What is asked of the ellipsoid around a body of d coordinates.

    Args:
        order: p in [2, ∞].
        weights: ω > 0 on the answers, shape (m,).
        queries: L, shape (m, d); None for the identity.
        rtol: the relative gap to reach.
        progress: called after every step.
        in_order: where the body is flat, keep its first independent coordinates.
        odd_sums: whether odd sums of signs may be what proves the noise of a cube's image.
    """

    order: float
    weights: Vector
    queries: Vector | None = None
    rtol: float = RTOL
    progress: Callable[[Progress], None] | None = None
    in_order: bool = False
    odd_sums: bool = False

    @property
    def rows(self) -> Vector:
        """The matrix ωL, shape (m, d)."""
        return (
            np.diag(self.weights) if self.queries is None else self.weights[:, None] * self.queries
        )

    def seen(self, frame: Frame) -> Vector:
        """Return ωL in the coordinates of a frame, shape (m, r); or (r,), its diagonal."""
        seen = frame.seen(self.queries)
        return self.weights if seen is None else self.weights[:, None] * seen

    def heard(self, unit: float) -> Callable[[Progress], None] | None:
        """Return the callback for bounds in parts of `unit`."""
        report = self.progress
        if report is None:
            return None
        return lambda at: report(Progress(at.iteration, at.lower * unit, at.upper * unit))

    def claim(
        self,
        body: Changes,
        frame: Frame | None,
        shape: AbstractShape,
        dual: AbstractDual,
        center: Vector | None = None,
    ) -> Claim:
        """Return the claim that an ellipsoid about a center, 0 by default, is nearly the least."""
        return Claim(
            body=body,
            order=self.order,
            queries=self.queries,
            weights=self.weights,
            frame=frame,
            shape=shape,
            center=frozen(np.zeros(body.dimension) if center is None else center),
            dual=dual,
        )

    def nothing(self, body: AbstractBody, frame: Frame, dual: AbstractDual) -> Solution:
        """Return that a single point, or what no query sees of a body, needs no noise.

        It stands at the point, or at 0 where the body may not be moved, as differences may not.
        """
        at = body.base_point.copy() if body.moves else None
        return Solution(
            self.claim(body, frame, DenseShape(np.zeros((0, 0))), dual, at), NO_WIDTH, 0
        )


def honest(status: str, claim: Claim, rtol: float) -> str:
    """Return the status, saying where ellipsoids of another form may do better."""
    return NEAR if status == SOLVED and claim.certificate().gap > rtol else status


def lower_triangle(factor: Vector) -> Vector:
    """Return a lower triangle with the same product with its transpose, its diagonal at least 0."""
    found = triangle_of(factor.T).T
    return np.asarray(np.where(np.diag(found) < 0, -1.0, 1.0) * found)


def unit_of(points: Vector, start: Vector, asked: Vector) -> float:
    """Return a power of two near the size of the greatest answer, so that nothing overflows."""
    extent = np.maximum(np.max(points, axis=0) - start, start - np.min(points, axis=0))
    size = np.abs(asked) if asked.ndim == 1 else np.max(np.abs(asked), axis=0)
    return math.ldexp(1.0, math.frexp(float(np.max(extent * size)))[1])
