# SPDX-License-Identifier: Apache-2.0
"""Ranges, one for each coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from lownoise.errors import DomainError, PlanError
from lownoise.numbers.arrays import frozen, vector
from lownoise.numbers.readable import brief
from lownoise.numbers.rounding import FEW, shrunk
from lownoise.sets.bodies import (
    AbstractBody,
    SymmetricBox,
    SymmetricPoints,
    beside_a_count,
    off_middle,
)
from lownoise.sets.bodies.pieces import PointSet
from lownoise.sets.domains.abstract import DOMAINS, AbstractDomain
from lownoise.sets.domains.coordinates import every_coordinate
from lownoise.sets.domains.image import Image
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies.reach import AbstractSet
    from lownoise.sets.domains.abstract import Piece
    from lownoise.sets.domains.coordinates import Coordinates

_LARGEST = 2.0**500  # squares of bounds, and their sums over any number of coordinates, stay finite
_NARROWEST = 2.0**-400  # squares of widths stay normal numbers
_MOST_CORNERS = 2**18
_WIDTH_ROUNDING = 1e-9  # of a width, which is rounded up
_WRITTEN = 4  # coordinates of a box whose bounds are all shown
_FEW = 2**10  # corners: a list proves the greatest length itself
_ENCLOSED = 12  # ranges of a box whose corners are listed where answers are made of several


@DOMAINS.kind("box", "lower", "upper", declared=True)
@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Box(AbstractDomain):
    """The box {x : lower ≤ x ≤ upper}.

    Args:
        lower: least value of each coordinate, shape (d,), in the unit of that coordinate.
        upper: greatest value of each coordinate, shape (d,), in the same units.

    Raises:
        DomainError: where a bound is not finite, is beyond 2^500, crosses its partner, or where a
            range is positive but narrower than 2^-400.

    Examples:
        >>> ages_and_incomes = Box([0, 0], [120, 1e6])
        >>> ages_and_incomes
        Box([0, 0], [120, 1e+06])
        >>> Box([-1] * 10, [1] * 10)
        Box(10 columns, from -1 to 1)
        >>> ages_and_incomes.center
        array([6.e+01, 5.e+05])
    """

    exact_corners: ClassVar[bool] = True
    intersects: ClassVar[bool] = True

    lower: Vector
    upper: Vector

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        low = vector(lower, field="Box.lower", error=DomainError)
        high = vector(upper, field="Box.upper", error=DomainError)
        if low.shape != high.shape:
            raise DomainError(
                f"Box.lower has {low.size} coordinates and Box.upper has {high.size}; "
                "give both the same number",
            )
        for name, bound in (("lower", low), ("upper", high)):
            large = np.flatnonzero(np.abs(bound) > _LARGEST)
            if large.size:
                i = int(large[0])
                raise DomainError(
                    f"Box.{name}[{i}]={bound[i]} is beyond 2^500; use a larger unit",
                )
        crossed = np.flatnonzero(low > high)
        if crossed.size:
            i = int(crossed[0])
            raise DomainError(
                f"Box.lower[{i}]={low[i]} exceeds Box.upper[{i}]={high[i]}; swap them",
            )
        width = high - low
        narrow = np.flatnonzero((width > 0) & (width < _NARROWEST))
        if narrow.size:
            i = int(narrow[0])
            raise DomainError(
                f"Box.upper[{i}]-Box.lower[{i}]={width[i]} is below 2^-400; use a smaller unit",
            )
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)

    def __repr__(self) -> str:
        if self.dimension > _WRITTEN:
            return AbstractDomain.__repr__(self)
        return f"Box({brief(self.lower)}, {brief(self.upper)})"

    @property
    def center(self) -> Vector:
        """The middle of each range, shape (d,)."""
        return frozen(np.clip(self.lower / 2 + self.upper / 2, self.lower, self.upper))

    def support(self, direction: Vector) -> float:
        """Return Σ max(θᵢ lowerᵢ, θᵢ upperᵢ) for direction θ, shape (d,).

        Examples:
            >>> Box([0, -1], [1, 1]).support(np.array([1.0, -2.0]))
            3.0
        """
        return math.fsum(np.maximum(direction * self.lower, direction * self.upper))

    def extreme(self, directions: Vector) -> Vector:
        """Return the corner that is extreme along each row, shapes (n, d)."""
        return np.where(directions < 0, self.lower, self.upper)

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), lies in the box.

        Examples:
            >>> Box([0], [1]).contains(np.array([1.0]))
            True
        """
        return bool(np.all((self.lower <= point) & (point <= self.upper)))

    def may_have_room(self, changes: AbstractBody, *, both: bool = False) -> bool:
        """Return whether a point of the box has, by the widths."""
        widths = changes.widths()
        # where several coordinates change, some s and its opposite each need an end of each
        ends = 1 if np.count_nonzero(widths) == 1 and not both else 2
        return bool(np.all(ends * widths <= (self.upper - self.lower) * (1 + _WIDTH_ROUNDING)))

    def clip_rows(self, rows: Vector) -> Vector:
        """Return rows, each coordinate clipped to its range, shapes (n, d).

        Examples:
            >>> Box([0, 0], [1, 1]).clamp(np.array([-3.0, 0.5]))
            array([0. , 0.5])
        """
        return np.clip(rows, self.lower, self.upper)

    @property
    def extent(self) -> Vector:
        """At least the greatest change of each coordinate from the center, shape (d,)."""
        return self._image.extent

    @property
    def spanning(self) -> Vector:
        """The half widths along each axis as rows, shape (d, d)."""
        return self._image.spanning

    @property
    def full(self) -> bool:
        """It is: all its coordinates are summed."""
        return True

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is public of it, and what becomes of a value outside, one sentence each."""
        return (
            "The bounds, center and stand-in are public; none of them was taken from this table.",
            "A value outside the bounds counts as the nearest bound; how many is not published.",
        )

    def coordinates(self) -> Coordinates:
        """Return all of them."""
        return every_coordinate(self.center)

    def fits(self, chosen: Coordinates) -> bool:
        """Return whether all coordinates are summed."""
        return chosen.complete

    def bounding_set(self) -> AbstractSet:
        """Return its corners where they are few, else what is known of the image of a cube."""
        wide = np.count_nonzero(self.upper > self.lower)
        listed = self.corners() if 2.0**wide <= _FEW else None
        return self._image.bounding_set() if listed is None else PointSet(frozen(listed))

    def differences(self, pivots: Integers, step: Vector) -> SymmetricBox:
        """Return the box of the widths."""
        return SymmetricBox(frozen((self.upper - self.lower)[pivots] / step))

    def lifted(self, pivots: Integers, step: Vector, center: Vector) -> AbstractBody:
        """Return the body of changes about the public point, and of the count.

        About its middle m a box is symmetric, so ±((K − m) × {1}) has the hull (K − m) × [−1, 1].
        About another point v it is a sheared cube, and where the ranges are too many for that the
        box around it, with what its corners prove. What roundings could add is drawn in: a bound
        that corners prove is true. No noise is measured on it, but pure noise of a product, whose
        codes are taken about the middle.
        """
        below, above = (center - self.lower)[pivots], (self.upper - center)[pivots]
        found = off_middle(shrunk(-below / step, FEW), shrunk(above / step, FEW), 1.0)
        if found is not None:
            return found
        inner = None
        if not np.array_equal(below, above):
            inner = frozen(beside_a_count(below / step, above / step))
        return SymmetricBox(frozen(np.append(np.maximum(above, below) / step, 1.0)), inner)

    def translates(self, pivots: Integers, center: Vector) -> AbstractBody:
        """Return the hull of K − v and its opposite, v the public point.

        About another point than the middle that is a zonotope, and where the ranges are too many
        for that the box around it: corners of K, each as likely, have at least diag((b − a)²/4).
        """
        below, above = (center - self.lower)[pivots], (self.upper - center)[pivots]
        found = off_middle(shrunk(-below, FEW), shrunk(above, FEW), None)
        if found is not None:
            return found
        inner = None
        if pivots.size > 1 and not np.array_equal(below, above):
            inner = frozen(shrunk((self.upper - self.lower)[pivots] / 2, FEW))
        return SymmetricBox(frozen(np.maximum(above, below)), inner)

    def as_part(self) -> Image:
        """Return the image of a cube: it is none wider about another point than its center."""
        return self._image

    def symmetrized(self, pivots: Integers, step: Vector) -> AbstractBody:
        """Return the hull of K and −K: of a box about zero the box itself."""
        if np.array_equal(self.lower, -self.upper):
            return SymmetricBox(frozen(self.upper[pivots] / step))
        return self._image.symmetrized(pivots, step)

    def enclosed(self, *, mixed: bool = False) -> tuple[AbstractBody, Vector]:
        """Return the box about its center; where answers are made of several ranges its corners.

        Raises:
            PlanError: where the corners are too many.
        """
        half = np.nextafter((self.upper - self.lower) / 2, np.inf)
        half[self.upper == self.lower] = 0.0
        if not mixed:
            return SymmetricBox(frozen(half)), self.center
        wide = np.flatnonzero(half)
        if wide.size > _ENCLOSED:
            raise PlanError(
                f"workload on a box of {wide.size} ranges would list 2^{wide.size} corners; "
                "leave the workload out, or list the points that records can be with ln.Points",
            )
        # a box is symmetric: one of each pair of opposite corners will do
        signs = np.array([(1, *rest) for rest in product((1, -1), repeat=max(wide.size - 1, 0))])
        corners = np.zeros((len(signs), self.dimension))
        corners[:, wide] = signs[:, : wide.size] * half[wide]
        return SymmetricPoints(frozen(corners)), self.center

    def difference(self) -> Box:
        """Return the box of twice its widths about zero."""
        width = self.upper - self.lower
        return Box(-width, width)

    def inscribed(self, weights: Vector) -> Vector:
        """Return those of the image of a cube, shape (d,).

        Args:
            weights: ω > 0, shape (d,).
        """
        return self.as_image().inscribed(weights)

    def as_image(self) -> Image:
        """Return it as the image of a cube.

        Examples:
            >>> Box([0, 0], [2, 4]).as_image().factor
            array([1., 2.])
        """
        return self._image

    @cached_property
    def _image(self) -> Image:
        middle = self.center
        half = np.maximum(self.upper - middle, middle - self.lower)
        half = np.where(self.upper > self.lower, np.nextafter(half, np.inf), 0.0)
        return Image(frozen(half), NormBall(self.dimension, math.inf), middle)

    def along_axes(self) -> Image:
        """Return it as the image of a cube, to the last digit of its half widths."""
        half = np.maximum(self.upper - self.center, self.center - self.lower)
        return Image(frozen(half), NormBall(self.dimension, math.inf), self.center)

    def corners(self) -> Vector | None:
        """Return its corners, shape (N, d); None where they are more than 2^18.

        Examples:
            >>> Box([0, 0], [1, 2]).corners()
            array([[1., 2.],
                   [1., 0.],
                   [0., 2.],
                   [0., 0.]])
        """
        wide = np.flatnonzero(self.upper > self.lower)
        if 2.0**wide.size > _MOST_CORNERS:
            return None
        found = np.broadcast_to(self.upper, (2**wide.size, self.dimension)).copy()
        low = np.indices((2,) * wide.size).reshape(wide.size, 2**wide.size).T == 1
        found[:, wide] = np.where(low, self.lower[wide], self.upper[wide])
        return found

    def pieces(self) -> list[Piece]:
        """Return the cube that it is the image of.

        Raises:
            DomainError: where a range has no width.
        """
        half = (self.upper - self.lower) / 2
        if not np.all(half > 0):
            i = int(np.flatnonzero(~(half > 0))[0])
            raise DomainError(
                f"intersection has a box of no width in coordinate {i}; leave that column out, its "
                "value is known"
            )
        return [(np.diag(1 / half), self.center, NormBall(self.dimension, math.inf))]
