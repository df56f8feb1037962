# SPDX-License-Identifier: Apache-2.0
"""What every domain can say of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lownoise.arrays import Vector


class AbstractDomain(ABC):
    """A bounded, non-empty set K ⊂ R^d, the same whatever the data are."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of coordinates d."""

    @property
    @abstractmethod
    def center(self) -> Vector:
        """A public point in the middle of K, shape (d,)."""

    @abstractmethod
    def support(self, direction: Vector) -> float:
        """Return max of ⟨direction, x⟩ over x in K; `direction` has shape (d,)."""

    @abstractmethod
    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), lies in K, decided without rounding."""

    @abstractmethod
    def clamp(self, points: Vector) -> Vector:
        """Return `points`, shape (..., d), each moved to a point of K, up to rounding."""

    def width(self, direction: Vector) -> float:
        """Return w_K(θ) = h_K(θ) + h_K(−θ) for direction θ, shape (d,) (002, section 3)."""
        return self.support(direction) + self.support(-direction)
