# SPDX-License-Identifier: Apache-2.0
"""What is asked of a solver, both sides of its search so far, and what it returns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, final

import numpy as np

from lownoise.certificate import Claim
from lownoise.numbers.arrays import frozen, triangle_of
from lownoise.sensitivity.factors import DenseShape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lownoise.certificate import AbstractDual
    from lownoise.certificate.evidence import Changes
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.frames import Frame
    from lownoise.solvers.newton import State, Step


SOLVED = "solved"
STUCK = "stopped where floats resolve no more; the bounds are proved as they are, or raise rtol"
INTERRUPTED = "interrupted; the bounds are proved as they are, run again for a smaller gap"
Noise = TypeVar("Noise")
Dual = TypeVar("Dual")
Found = TypeVar("Found", bound="State")


@final
@dataclass(frozen=True)
class Progress:
    """How far a solver is: what a callback is given.

    Args:
        iteration: Newton steps so far.
        lower: the best lower bound.
        upper: the best upper bound, infinite before the first pass over all vertices.
    """

    iteration: int
    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """upper/lower − 1."""
        return self.upper / self.lower - 1 if self.lower > 0 else math.inf


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted(Generic[Noise, Dual]):
    """Noise at μ = 1 that nearly is the least of its kind, and the evidence.

    Args:
        noise: as the solver says.
        dual: the evidence for the lower bound.
        status: how the search ended.
        iterations: the number of steps.
    """

    noise: Noise
    dual: Dual
    status: str
    iterations: int


@final
class Sides(Generic[Noise, Dual]):
    """The best of both sides that a search has found so far.

    Args:
        rtol: the relative gap to reach.
        progress: called with a `Progress` after every step.
        tie: of two that cover and cost the same but for this share, the later is kept.
    """

    def __init__(
        self,
        rtol: float = 0.0,
        progress: Callable[[Progress], None] | None = None,
        *,
        tie: float = 0.0,
    ) -> None:
        self.rtol, self.progress, self._tie = rtol, progress, tie
        self.lower, self.upper, self.steps = 0.0, math.inf, 0
        self.farthest = math.inf  # what was found to stick out explains so much of `upper`
        self.noise: Noise | None = None
        self.dual: Dual | None = None

    @property
    def gap(self) -> float:
        """upper/lower − 1."""
        return self.upper / self.lower - 1 if self.lower > 0 else math.inf

    @property
    def ahead(self) -> float:
        """The gap that is explained: less than `gap` where a bound over all is loose."""
        return min(self.upper, self.farthest) / self.lower - 1 if self.lower > 0 else math.inf

    @property
    def met(self) -> bool:
        """Whether both sides are as near as was asked for."""
        return self.gap <= self.rtol

    def prove(self, lower: float, dual: Dual) -> None:
        """Take evidence in."""
        if lower > self.lower or self.dual is None:
            self.lower, self.dual = lower, dual

    def cover(self, upper: float, noise: Noise) -> None:
        """Take noise in that covers all."""
        if upper < self.upper * (1 + self._tie) or self.noise is None:
            self.upper, self.noise = min(self.upper, upper), noise

    def tell(self) -> None:
        """Tell how far the search is."""
        if self.progress is not None:
            self.progress(Progress(self.steps, self.lower, self.upper))

    def walk(
        self,
        steps: Iterator[Step[Found]],
        *,
        aim: float,
        most: int,
        each: Callable[[Step[Found]], bool],
        last: Callable[[Step[Found]], None],
    ) -> str | None:
        """Take steps on what is listed; return how they ended, None where they were too many.

        Args:
            steps: without end.
            aim: the gap on what is listed at which they end.
            most: how many more than one are taken.
            each: takes in a step that is not the last, and says whether it is enough.
            last: takes in the last one, also where floats or an interrupt end the search.
        """
        status: str | None = STUCK
        now = None
        try:
            for taken, now in enumerate(steps):
                if now.gap <= aim or taken >= most:
                    status = SOLVED if now.gap <= aim else None
                    break
                if each(now):
                    return SOLVED
        except np.linalg.LinAlgError:
            if now is None:
                raise
        except KeyboardInterrupt:
            self.progress = None  # it has had its say
            if now is not None:
                last(now)
            raise
        assert now is not None  # noqa: S101 (the first step always comes)
        last(now)
        return status

    def searched(self, search: Callable[[], str]) -> Fitted[Noise, Dual]:
        """Return what a search leaves; an interrupt ends it with the best that was found."""
        try:
            status = search()
        except KeyboardInterrupt:
            if self.noise is None or self.dual is None:
                raise
            status = INTERRUPTED
        assert self.noise is not None  # noqa: S101 (the first step always gives one)
        assert self.dual is not None  # noqa: S101 (likewise)
        return Fitted(noise=self.noise, dual=self.dual, status=status, iterations=self.steps)


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

    @property
    def full_shape(self) -> AbstractShape:
        """The ellipsoid in all coordinates of the body, where it was kept to some of them."""
        frame, shape = self.claim.frame, self.claim.shape
        if frame is None or frame.exact or not isinstance(shape, DenseShape):
            return shape
        return DenseShape(frame.up() @ shape.factor)


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
    return NEAR if status == SOLVED and claim.proved.gap > rtol else status


def lower_triangle(factor: Vector) -> Vector:
    """Return a lower triangle with the same product with its transpose, its diagonal at least 0."""
    found = triangle_of(factor.T).T
    return np.asarray(np.where(np.diag(found) < 0, -1.0, 1.0) * found)


def unit_of(points: Vector, start: Vector, asked: Vector) -> float:
    """Return a power of two near the size of the greatest answer, so that nothing overflows."""
    extent = np.maximum(np.max(points, axis=0) - start, start - np.min(points, axis=0))
    size = np.abs(asked) if asked.ndim == 1 else np.max(np.abs(asked), axis=0)
    return math.ldexp(1.0, math.frexp(float(np.max(extent * size)))[1])
