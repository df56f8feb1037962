# SPDX-License-Identifier: Apache-2.0
"""What slabs and balls with different centers have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.numbers.arrays import frozen, matrix, vector
from lownoise.sets.bodies import Section, is_slabs
from lownoise.sets.bodies.barrier import farthest
from lownoise.sets.domains.abstract import AbstractClampedDomain
from lownoise.sets.unit_balls import NormBall, side_by_side

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Vector
    from lownoise.sets.unit_balls import AbstractUnitBall

LEAST_MARGIN = 1e-6  # of the size of a part
_BLOCK = 1024  # rows; short blocks are filled up, so that a row's arithmetic is the same everywhere
_MOST_DOUBT = 1e-8


@final
@dataclass(frozen=True, eq=False)
class Intersection(AbstractClampedDomain):
    """{center + ξ : A·ξ + offset ∈ B}, B cubes and Euclidean balls; made by `ln.intersection`.

    A record outside is moved towards the center until it is inside.

    Args:
        section: A, offset and B.
        middle: a point inside, shape (d,).
    """

    section: Section
    middle: Vector

    @property
    def center(self) -> Vector:
        """A point inside that is far from the boundary, shape (d,)."""
        return self.middle

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.section.dimension

    @property
    def reach(self) -> Vector:
        """At least the greatest change of each coordinate from the center, shape (d,)."""
        return self.section.reach

    @cached_property
    def rounding(self) -> Vector:
        """How far a clamped record can be off a point of K, shape (d,).

        Its gauge is at most 1 + doubt, and the center is added.
        """
        reach = self.reach
        return frozen((2 * self.section.doubt + 2.0**-50) * reach + np.abs(self.middle) * 2.0**-50)

    @property
    def spanning(self) -> Vector:
        """The reach along each axis as rows, shape (d, d)."""
        return np.diag(self.reach)

    @property
    def full(self) -> bool:
        """It is: a neighbourhood of its center lies in it."""
        return True

    def support(self, direction: Vector) -> float:
        """Return at least max ⟨θ, x⟩ over K, nearly that; `direction` θ has shape (d,)."""
        return float(direction @ self.middle + self.section.support_up(direction[None])[0])

    def extreme(self, directions: Vector) -> Vector:
        """Return a point of K that is nearly extreme along each row, shapes (n, d)."""
        own = self.section
        balls = [rows for rows, slabs in own.groups if not slabs]
        point, _ = farthest(own.rows, own.offsets, own.slabs, balls, directions)
        return np.asarray(self.middle + point)

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), lies in K, within 1e-9 of its size."""
        about = point - self.middle
        if np.any(np.abs(about) > self.reach * (1 + 1e-9)):
            return False
        return bool(self.section.gauge(about[None])[0] <= 1 + 1e-9)

    def clamp(self, points: Vector) -> Vector:
        """Return `points`, shape (..., d), each clipped to a point of K, within `rounding`."""
        rows = np.reshape(np.asarray(points, dtype=np.float64), (-1, self.dimension))
        found = np.empty_like(rows)
        for start in range(0, len(rows), _BLOCK):
            part = rows[start : start + _BLOCK]
            block = np.broadcast_to(self.middle, (_BLOCK, self.dimension)).copy()
            block[: len(part)] = np.clip(part, self.lower, self.upper)
            about = block - self.middle
            gauge = self.section.gauge(about)[:, None]
            moved = np.where(gauge > 1, self.middle + about / np.maximum(gauge, 1.0), block)
            found[start : start + _BLOCK] = moved[: len(part)]
        return found.reshape(np.shape(points))


def checked_intersection(
    rows: ArrayLike, offsets: ArrayLike, base: AbstractUnitBall, center: ArrayLike
) -> Intersection:
    """Return the intersection, every argument checked.

    Raises:
        DomainError: where sizes do not match, a part is neither cube nor Euclidean ball, or the
            center is not well inside.
    """
    a = matrix(rows, field="Intersection.rows", error=DomainError)
    b = vector(offsets, field="Intersection.offsets", error=DomainError)
    o = vector(center, field="Intersection.center", error=DomainError)
    if a.shape != (b.size, o.size) or base.dimension != b.size:
        raise DomainError("Intersection.rows, offsets, base and center do not fit; make it again")
    parts = side_by_side(base)
    if not all(isinstance(p, NormBall) and (is_slabs(p) or p.order == 2) for p in parts):  # noqa: PLR2004
        raise DomainError("Intersection.base has a part that is neither cube nor ball")
    section = Section(a, b, base)
    if not section.margin >= LEAST_MARGIN:
        raise DomainError(
            f"Intersection.center is within {section.margin:.1e} of the boundary of a part; "
            "give parts that have more than a sliver in common"
        )
    if not np.all(np.isfinite(section.reach)):
        raise DomainError("Intersection is unbounded; add a bounded part such as ln.Box")
    if not section.doubt <= _MOST_DOUBT:
        raise DomainError(
            f"Intersection is so thin that floats resolve it to {section.doubt:.1e} only; "
            "use units in which its parts have like sizes"
        )
    return Intersection(section, o)
