# SPDX-License-Identifier: Apache-2.0
"""What slabs and balls with different centers have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.kinds import Field
from lownoise.numbers.arrays import frozen, matrix, vector
from lownoise.numbers.rounding import growth
from lownoise.sets.bodies import (
    LiftedOracle,
    OracleBody,
    OracleDifferences,
    Section,
    SectionBody,
    is_slabs,
)
from lownoise.sets.bodies.barrier import farthest
from lownoise.sets.bodies.rotations import rotated
from lownoise.sets.bodies.vertices import CornerSet, section_set
from lownoise.sets.domains.abstract import DOMAINS, AbstractDomain
from lownoise.sets.unit_balls import (
    UNIT_BALLS,
    NormBall,
    product_ball,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies.pieces import SectionSet
    from lownoise.sets.domains.abstract import Piece
    from lownoise.sets.unit_balls import AbstractUnitBall

LEAST_MARGIN = 1e-6  # of the size of a part
_MOST_DOUBT = 1e-8


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
    parts = base.factors
    if not all(isinstance(p, NormBall) and (is_slabs(p) or p.order == 2) for p in parts):  # noqa: PLR2004
        raise DomainError("Intersection.base has a part that is neither cube nor ball")
    section = Section(a, b, base)
    if not section.margin >= LEAST_MARGIN:
        raise DomainError(
            f"Intersection.center is within {section.margin:.1e} of the boundary of a part; "
            "give parts that have more than a sliver in common"
        )
    if not np.all(np.isfinite(section.extent)):
        raise DomainError("Intersection is unbounded; add a bounded part such as ln.Box")
    if not section.doubt <= _MOST_DOUBT:
        raise DomainError(
            f"Intersection is so thin that floats resolve it to {section.doubt:.1e} only; "
            "use units in which its parts have like sizes"
        )
    return Intersection(section, o)


@DOMAINS.kind(
    "intersection",
    "rows",
    "offsets",
    Field("base", UNIT_BALLS.member),
    Field("center", attribute="middle"),
    make=checked_intersection,
)
@final
@dataclass(frozen=True, eq=False, repr=False)
class Intersection(AbstractDomain):
    """{center + ξ : A·ξ + offset ∈ B}, B cubes and Euclidean balls; made by `ln.intersection`.

    A record outside is moved towards the center until it is inside.

    Args:
        section: A, offset and B.
        middle: a point inside, shape (d,).
    """

    in_blocks: ClassVar[bool] = True
    intersects: ClassVar[bool] = True

    section: Section
    middle: Vector

    @property
    def rows(self) -> Vector:
        """A, shape (m, d)."""
        return self.section.rows

    @property
    def offsets(self) -> Vector:
        """The offsets, shape (m,)."""
        return self.section.offsets

    @property
    def base(self) -> AbstractUnitBall:
        """B, cubes and Euclidean balls side by side, m coordinates."""
        return self.section.base

    @property
    def center(self) -> Vector:
        """A point inside that is far from the boundary, shape (d,)."""
        return self.middle

    @property
    def extent(self) -> Vector:
        """At least the greatest change of each coordinate from the center, shape (d,)."""
        return self.section.extent

    @cached_property
    def rounding(self) -> Vector:
        """How far a clamped record can be off a point of K, shape (d,).

        Its gauge is at most 1 + doubt, and the center is added.
        """
        extent = self.extent
        return frozen((2 * self.section.doubt + 2.0**-50) * extent + np.abs(self.middle) * 2.0**-50)

    @property
    def spanning(self) -> Vector:
        """The reach along each axis as rows, shape (d, d)."""
        return np.diag(self.extent)

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
        if np.any(np.abs(about) > self.extent * (1 + 1e-9)):
            return False
        return bool(self.section.gauge(about[None])[0] <= 1 + 1e-9)

    def clip_rows(self, rows: Vector) -> Vector:
        """Return rows, each moved towards the center until it is in K, shapes (n, d)."""
        block = np.clip(rows, self.lower, self.upper)
        about = block - self.middle
        gauge = self.section.gauge(about)[:, None]
        return np.where(gauge > 1, self.middle + about / np.maximum(gauge, 1.0), block)

    def corners(self) -> Vector | None:
        """Return its corners, moved out by 2^-28 of its reach at most; None if round."""
        known = self._bounding_set
        return known.rows if isinstance(known, CornerSet) else None

    def bounding_set(self) -> SectionSet | CornerSet:
        """Return its corners where they are few, else what the sum of its quadratics bounds."""
        return section_set(self.section, self.middle)

    def _scaled(self, step: Vector) -> Section:
        return Section(frozen(self.section.rows * step), self.section.offsets, self.section.base)

    def differences(self, pivots: Integers, step: Vector) -> SectionBody:
        """Return the differences of two of its points: it is full, and every pivot is there."""
        oracle = OracleDifferences(self._bounding_set, pivots, step)
        return SectionBody(self._scaled(step), "differences", oracle=oracle, turning=rotated)

    def lifted(self, pivots: Integers, step: Vector, center: Vector) -> SectionBody:
        """Return the section whose last column is the offset, cut at a count of 1.

        A(x − middle) + offset = A(x − v) + (A(v − middle) + offset)·1, so ±(x − v, 1) is in the
        section with that column, and with the slab |last| ≤ 1; its rounding is divided away.
        """
        own, section = self.section, self._scaled(step)
        away = center - self.middle
        size = np.abs(own.rows) @ np.abs(away)
        off = growth(self.dimension + 9) * float(np.linalg.norm(size + np.abs(own.offsets)))
        column = own.rows @ away + own.offsets
        m, d = own.rows.shape
        rows = np.zeros((m + 1, d + 1))
        rows[:m, :d], rows[:m, d], rows[m, d] = section.rows, column, 1.0
        rows[:m] /= 1 + off if np.any(away) else 1.0
        base = product_ball([own.base, NormBall(1, math.inf)])
        lifted = Section(frozen(rows), frozen(np.zeros(m + 1)), base)
        shift = frozen(np.append(-away / step, 1.0))
        oracle = LiftedOracle(self._bounding_set, pivots, step, center)
        return SectionBody(
            lifted, "lifted", inside=section, shift=shift, oracle=oracle, turning=rotated
        )

    def translates(self, pivots: Integers, center: Vector) -> SectionBody:
        """Return half its differences: what lies about its center reaches as far, at least."""
        return self.differences(pivots, np.full(pivots.size, 2.0))

    def enclosed(self, *, mixed: bool = False) -> tuple[SectionBody, Vector]:
        """Return it wherever it may stand, about the point inside."""
        d, zero = self.dimension, frozen(np.zeros(self.dimension))
        oracle = OracleBody(section_set(self.section, zero), np.arange(d), np.ones(d))
        body = SectionBody(self.section, "translates", oracle=oracle, turning=rotated)
        return body, self.middle

    def contains_difference(self, point: Vector) -> bool:
        """Return whether no part of the intersection says that `point`, shape (d,), is too far."""
        section = self.section
        norm = section.base.norm_up((section.rows @ point / 2)[None])[0]
        return bool(norm <= 1 + 1e-9) and all(
            abs(float(a @ point)) <= self.width(a) * (1 + 1e-9) for a in section.rows
        )

    def pieces(self) -> list[Piece]:
        """Return its parts, each about its own center: G(x − c) with Gc = G·middle − offset."""
        found: list[Piece] = []
        balls = self.section.base.factors
        for (rows, _), base in zip(self.section.groups, balls, strict=True):
            a = self.section.rows[rows]
            shift = np.linalg.lstsq(a, self.section.offsets[rows], rcond=None)[0]
            found.append((a, self.middle - shift, base))
        return found
