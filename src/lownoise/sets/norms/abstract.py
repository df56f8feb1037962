# SPDX-License-Identifier: Apache-2.0
"""What every gauge can say of itself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from lownoise.errors import PlanError
from lownoise.sets.norms.reach import body_reach_up

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sensitivity.changes import Reach
    from lownoise.sets.norms.form import Form


class AbstractNorm(ABC):
    """The norm ‖·‖ whose unit ball is a symmetric convex body that can be sampled."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of coordinates d."""

    @property
    @abstractmethod
    def uniform(self) -> AbstractUniform:
        """Uniform points of the unit ball, whose dimension is their rank."""

    @abstractmethod
    def norm_up(self, points: Vector) -> Vector:
        """Return at least ‖s‖, row by row, and hardly more; shapes (n, d) and (n,).

        Infinite for what is not in the span of the unit ball.
        """

    @abstractmethod
    def scaled(self, factor: float) -> AbstractNorm:
        """Return the gauge of factor·(unit ball), every number rounded to a float; factor > 0."""

    @property
    def euclidean(self) -> int:
        """The d of a norm that is the Euclidean length of d free linear forms.

        1 of every other, which noise of one number is a bound for.
        """
        return 1

    @property
    def forms(self) -> tuple[Form, ...]:
        """Norms of images of s, the greatest of which is at least ‖s‖ and hardly more; or none."""
        return ()

    def own_up(self, body: Reach) -> float:
        """Return at least max ‖s‖ over a body akin to the unit ball, infinite for all others."""
        return math.inf

    def reach_up(self, body: Reach) -> float:
        """Return at least max ‖s‖ over the body of changes, and hardly more.

        Exactly 1 where the body is the unit ball itself, given by the same numbers.

        Raises:
            PlanError: where the body is of a kind whose reach in this norm is not known, or of
                another dimension.
        """
        own = getattr(body, "dimension", self.dimension)
        if own != self.dimension:
            raise PlanError(f"body has {own} coordinates; give {self.dimension}, as the norm has")
        return body_reach_up(body, self)
