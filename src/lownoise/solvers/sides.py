# SPDX-License-Identifier: Apache-2.0
"""Both sides of a search so far: the least noise, the best evidence, and how it goes on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
