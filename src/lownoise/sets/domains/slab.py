# SPDX-License-Identifier: Apache-2.0
"""What lies between two parallel planes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import number, vector
from lownoise.sets.domains.abstract import AbstractDomain
from lownoise.sets.domains.image import check_size

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector


@final
@dataclass(frozen=True, eq=False, init=False)
class Slab(AbstractDomain):
    """The slab {x : lower ≤ ⟨normal, x⟩ ≤ upper}; a half-space where one of both is infinite.

    No domain of records by itself, as it is unbounded: a part of `ln.intersection`.

    Args:
        normal: not 0, shape (d,).
        lower: in the unit of ⟨normal, x⟩; may be −∞.
        upper: in the same unit, above `lower`; may be ∞.

    Raises:
        DomainError: where the normal is 0 or not finite, or the slab is empty, flat or everything.

    Examples:
        >>> total = Slab([1, 1, 1], 0, 10)
        >>> total.contains(np.array([5.0, 6.0, -1.0]))
        True
    """

    normal: Vector
    lower: float
    upper: float

    def __init__(self, normal: ArrayLike, lower: float, upper: float) -> None:
        a = vector(normal, field="Slab.normal", error=DomainError)
        check_size(a, "Slab.normal")
        if not np.any(a):
            raise DomainError("Slab.normal is 0 and has no direction; give another")
        low = number(lower, field="Slab.lower", error=DomainError)
        high = number(upper, field="Slab.upper", error=DomainError)
        if not low < high:
            raise DomainError(
                f"Slab.lower={low:g} is not below Slab.upper={high:g}; give room between them"
            )
        if math.isinf(low) and math.isinf(high):
            raise DomainError("Slab.lower and Slab.upper are infinite; give one of them at least")
        check_size(np.array([b for b in (low, high) if math.isfinite(b)]), "Slab.lower, upper")
        object.__setattr__(self, "normal", a)
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.normal.size

    @property
    def center(self) -> Vector:
        """The point of its middle plane, or of its only one, that is nearest to zero."""
        ends = [b for b in (self.lower, self.upper) if math.isfinite(b)]
        unit = self.normal / np.max(np.abs(self.normal))
        level = sum(ends) / len(ends) / float(np.max(np.abs(self.normal)))
        return np.asarray(unit * (level / float(unit @ unit)))

    def support(self, direction: Vector) -> float:
        """Return max ⟨θ, x⟩, infinite where θ is not along the normal; θ has shape (d,)."""
        share = float(direction @ self.normal) / float(self.normal @ self.normal)
        if np.any(np.abs(direction - share * self.normal) > 1e-12 * np.abs(direction)):
            return math.inf
        return 0.0 if share == 0 else share * (self.upper if share > 0 else self.lower)

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), lies between the planes."""
        return bool(self.lower <= float(self.normal @ point) <= self.upper)

    def clamp(self, points: Vector) -> Vector:
        """Return `points`, shape (..., d), each clipped to the nearest point between the planes."""
        level = np.asarray(points) @ self.normal
        move = (np.clip(level, self.lower, self.upper) - level) / float(self.normal @ self.normal)
        return np.asarray(points + move[..., None] * self.normal)
