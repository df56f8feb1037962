# SPDX-License-Identifier: Apache-2.0
"""What every gauge can say of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lownoise.arrays import Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sensitivity import Reach


class AbstractGauge(ABC):
    """The norm ‖·‖ whose unit ball is a symmetric convex body that can be sampled."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of coordinates d."""

    @property
    @abstractmethod
    def uniform(self) -> AbstractUniform:
        """Uniform points of the unit ball."""

    @abstractmethod
    def norm_up(self, points: Vector) -> Vector:
        """Return at least ‖s‖, row by row, and hardly more; shapes (n, d) and (n,)."""

    @abstractmethod
    def reach_up(self, body: Reach) -> float:
        """Return at least max ‖s‖ over the body of changes, and hardly more.

        Raises:
            PlanError: where the body is of a kind whose reach in this norm is not known.
        """
