# SPDX-License-Identifier: Apache-2.0
"""What every domain can say of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies.known import AbstractKnown


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
        """Return max of ⟨direction, x⟩ over x in K; `direction` has shape (d,).

        Of Kronecker products, whose maximum is hard to find, a bound.
        """

    @abstractmethod
    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), lies in K, as nearly as K can tell."""

    @abstractmethod
    def clamp(self, points: Vector) -> Vector:
        """Return `points`, shape (..., d), each clipped to a point of K, up to rounding."""

    def extreme(self, directions: Vector) -> Vector:
        """Return a point of K that is extreme along each row, shapes (n, d).

        Raises:
            DomainError: where no such point is known how to find.
        """
        raise DomainError(
            f"domain={type(self).__name__} has no known extreme points; ask support for a bound",
        )

    def width(self, direction: Vector) -> float:
        """Return w_K(θ) = h_K(θ) + h_K(−θ) for direction θ, shape (d,) (002, section 3)."""
        return self.support(direction) + self.support(-direction)


class AbstractDifference(AbstractDomain):
    """{x − y : x, y in `base`}; made by `difference_body`."""

    base: AbstractDomain

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.base.dimension

    @property
    def center(self) -> Vector:
        """Zero, shape (d,)."""
        return frozen(np.zeros(self.dimension))

    def support(self, direction: Vector) -> float:
        """Return the width of the domain along `direction`, shape (d,), or what it has for it."""
        return self.base.width(np.asarray(direction, dtype=np.float64))

    def extreme(self, directions: Vector) -> Vector:
        """Return the difference that is extreme along each row, shapes (n, d)."""
        return self.base.extreme(directions) - self.base.extreme(-directions)

    def clamp(self, points: Vector) -> Vector:
        """Refuse: no record lies in a difference body.

        Raises:
            DomainError: always.
        """
        name = type(self).__name__
        raise DomainError(f"{name} holds changes, not records; clamp into the domain itself")


class AbstractClampedDomain(AbstractDomain):
    """A domain whose records are clipped to it in floats, and are off it by a known rounding."""

    @property
    @abstractmethod
    def reach(self) -> Vector:
        """At least the greatest change of each coordinate from the center, shape (d,)."""

    @property
    @abstractmethod
    def rounding(self) -> Vector:
        """How far a clamped record can be off a point of K, shape (d,); 0 where nothing moves."""

    @property
    @abstractmethod
    def spanning(self) -> Vector:
        """Rows that span what K spans about its center, shape (n, d)."""

    @property
    @abstractmethod
    def full(self) -> bool:
        """Whether no coordinate of its points follows from others, as far as is known."""

    @property
    def whole(self) -> bool:
        """Whether a record that lacks any of its values counts as the stand-in in all of them."""
        return False

    @cached_property
    def lower(self) -> Vector:
        """The least value of each coordinate, shape (d,), within rounding."""
        return frozen(self.center - self.reach)

    @cached_property
    def upper(self) -> Vector:
        """The greatest value of each coordinate, shape (d,), within rounding."""
        return frozen(self.center + self.reach)


class AbstractKnownDomain(AbstractClampedDomain):
    """A domain that is known by how far it reaches in quadratic forms."""

    @property
    @abstractmethod
    def program(self) -> AbstractKnown:
        """What knows it."""
