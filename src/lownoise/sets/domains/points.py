# SPDX-License-Identifier: Apache-2.0
"""Finite lists of points, and their hulls: what combinations of lists and of ranges hold.

A record inside a hull stays where it is, another goes to the nearest point. Whatever a search says,
what it gives is a mixture of the listed points, so that a record is in the hull but for the
rounding of one sum, which is known beforehand: a search that is off costs accuracy, never privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.kinds import Field, Form
from lownoise.numbers.arrays import frozen, matrix
from lownoise.numbers.readable import number_of
from lownoise.numbers.rounding import growth
from lownoise.sets.bodies import (
    PointDifferences,
    SymmetricPoints,
    TranslatedPoints,
)
from lownoise.sets.bodies.pieces import PointSet
from lownoise.sets.domains.abstract import (
    DOMAINS,
    AbstractDomain,
    Difference,
)
from lownoise.sets.domains.coordinates import pivot_coordinates
from lownoise.sets.domains.encoding import domain_to_dict, read_domain
from lownoise.sets.domains.image import Image
from lownoise.sets.domains.nearest import Faces, faces_of, nearest_point
from lownoise.sets.unit_balls import NormBall
from lownoise.sets.unit_balls.mixtures import nearest_mixture

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains.coordinates import Coordinates

_LARGEST = 2.0**250  # products of coordinates, and sums of them, stay finite
_NARROWEST = 2.0**-250
_MOST_CORNERS = 2**18
_MOST_LOOKS = 2**20  # sums of a point and a change
_PAIR = 2
_ONE = 2.0**-20  # how near to 1 the weights of a mixture add up, or it is none
_NEAR = 1e-9  # of the reach: how near a point is in K


class AbstractListed(AbstractDomain):
    """What a list and its hull have in common: noise depends on the hull alone."""

    points: Vector  # shape (N, d)

    @property
    def _size(self) -> str:
        return f"{number_of(len(self.points), 'point')}, {number_of(self.dimension, 'column')}"

    @cached_property
    def lower(self) -> Vector:
        """The least value of each coordinate, shape (d,)."""
        return frozen(np.min(self.points, axis=0))

    @cached_property
    def upper(self) -> Vector:
        """The greatest value of each coordinate, shape (d,)."""
        return frozen(np.max(self.points, axis=0))

    @property
    def spanning(self) -> Vector:
        """The points about their center, shape (N, d)."""
        return self.points - self.center

    @property
    def full(self) -> bool:
        """Of a list it is found out by pivoting (`coordinates`)."""
        return False

    def support(self, direction: Vector) -> float:
        """Return max of ⟨direction, x⟩ over K; `direction` has shape (d,)."""
        return float(np.max(self.points @ direction))

    def extreme(self, directions: Vector) -> Vector:
        """Return the point of the list that is extreme along each row, shapes (n, d)."""
        found = np.empty((len(directions), self.dimension))
        for i, direction in enumerate(directions):
            found[i] = self.points[np.argmax(self.points @ direction)]
        return found

    def coordinates(self) -> Coordinates:
        """Return those that give the others, in every point of the list."""
        return pivot_coordinates(TranslatedPoints(self.points), self.start)

    @property
    def start(self) -> Vector:
        """The first point, shape (d,)."""
        return np.asarray(self.points[0])

    def fits(self, chosen: Coordinates) -> bool:
        """Return whether every point is what its summed coordinates say."""
        return chosen.fits(self.points - self.points[0], self.upper - self.lower)

    def bounding_set(self) -> PointSet:
        """Return the list: points are looked at one by one."""
        return PointSet(self.points)

    def differences(self, pivots: Integers, step: Vector) -> PointDifferences:
        """Return the differences, of which no list is made."""
        return PointDifferences(self._seen(self.points, pivots, step))

    def lifted(self, pivots: Integers, step: Vector, center: Vector) -> SymmetricPoints:
        """Return the hull of ±((x − center)/step, 1), point by point."""
        about = self._seen(self.points - center, pivots, step)
        return SymmetricPoints(frozen(np.hstack([about, np.ones((len(about), 1))])))

    def translates(self, pivots: Integers, center: Vector) -> TranslatedPoints:
        """Return the points, wherever they may stand."""
        return TranslatedPoints(self._seen(self.points, pivots, np.ones(pivots.size)))

    def symmetrized(self, pivots: Integers, step: Vector) -> SymmetricPoints:
        """Return the points and their opposites."""
        return SymmetricPoints(self._seen(self.points, pivots, step))

    def _seen(self, points: Vector, pivots: Integers, step: Vector) -> Vector:
        """Return some columns in steps, shape (N, r), without a copy where it is the list."""
        if np.array_equal(pivots, np.arange(self.dimension)) and np.all(step == 1):
            return frozen(points)
        return frozen(np.ascontiguousarray(points[:, pivots] / step))

    def as_image(self) -> Image | None:
        """Return the segment between two points; None of more.

        Examples:
            >>> Points([[0.0], [1.0], [5.0]]).as_image() is None
            True
        """
        if len(self.points) > _PAIR:
            return None
        first, last = self.points[0], self.points[-1]
        middle = first / 2 + last / 2
        far = np.maximum(np.abs(last - middle), np.abs(first - middle))
        half = np.where(last != first, np.copysign(np.nextafter(far, np.inf), last - first), 0.0)
        return Image(frozen(half[:, None]), NormBall(1, math.inf), frozen(middle))

    def corners(self) -> Vector | None:
        """Return the list, shape (N, d); None where it has more than 2^18 points."""
        return self.points if len(self.points) <= _MOST_CORNERS else None


@DOMAINS.kind("points", "points", declared=True)
@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Points(AbstractListed):
    """A finite set: every record is one of these points.

    The noise depends on their convex hull alone, so repeated and interior points cost nothing. A
    record that is not in the list is clipped to the nearest point of it, each coordinate measured
    in parts of its own range, also where it lies between two of them. Where records may be mixtures
    of the points, give their hull: `ln.hull(ln.Points(…))`.

    Args:
        points: shape (N, d), one row a point, each column in its unit. An array that is read-only
            and owns its numbers is not copied. Numbers of a float32 array are the decimals that it
            prints, as those of a float64 array are: 0.1 is a tenth. Rows of a float32 column are
            nearest to these.

    Raises:
        DomainError: where it is not a table of finite numbers, is empty, or has a number beyond
            2^250 or a column whose range is positive and below 2^-250.

    Examples:
        >>> triangle = Points([[0, 0], [1, 0], [0, 1]])
        >>> triangle.support(np.array([1.0, 2.0]))
        2.0
        >>> triangle.clamp(np.array([0.9, -3.0]))
        array([1., 0.])
    """

    intersects: ClassVar[bool] = True

    points: Vector

    def may_have_room(self, changes: AbstractBody, *, both: bool = False) -> bool:
        """Return whether a point of the list has: all are looked through."""
        if not isinstance(changes, SymmetricPoints):
            return False
        known = {tuple(row) for row in self.points.tolist()}
        if len(self.points) * len(changes.points) > _MOST_LOOKS:
            return False
        enough = all if both else any
        return any(
            all(enough(tuple(y) in known for y in (x + s, x - s)) for s in changes.points)
            for x in self.points
        )

    def __init__(self, points: ArrayLike) -> None:
        if isinstance(points, np.ndarray) and points.dtype in (np.float32, np.float16):
            points = points.astype(np.str_).astype(np.float64)
        checked = matrix(points, field="Points.points", error=DomainError)
        if checked.size == 0:
            raise DomainError(
                f"Points.points has shape {checked.shape}; give at least one point of one number",
            )
        low, high = np.min(checked, axis=0), np.max(checked, axis=0)
        large = np.flatnonzero((high > _LARGEST) | (low < -_LARGEST))
        if large.size:
            j = int(large[0])
            most = high[j] if high[j] > _LARGEST else low[j]
            raise DomainError(
                f"Points.points has {most} in column {j}, beyond 2^250; use a larger unit",
            )
        width = high - low
        narrow = np.flatnonzero((width > 0) & (width < _NARROWEST))
        if narrow.size:
            j = int(narrow[0])
            raise DomainError(
                f"Points.points spans {width[j]} in column {j}, below 2^-250; use a smaller unit",
            )
        object.__setattr__(self, "points", checked)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is public of it, and what becomes of a row outside, one sentence each."""
        return (
            "The listed points, center and stand-in are public; none was taken from this table.",
            "A row that is not in the list counts as the nearest row of it; how many is not published.",  # noqa: E501
        )

    @property
    def lists(self) -> tuple[AbstractDomain, ...]:
        """Itself."""
        return (self,)

    def hulled(self) -> Points | Polytope:
        """Return its hull.

        Examples:
            >>> Points([[0.0], [1.0]]).hulled().clamp(np.array([0.25]))
            array([0.25])
        """
        return hull_of(self.points)

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), is one of the points, to the last bit."""
        return bool(np.any(np.all(self.points == point, axis=1)))

    def contains_difference(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), is a difference of two of the points, in floats."""
        points = self.points
        return any(bool(np.any(np.all(x - points == point, axis=1))) for x in points)

    def clip_rows(self, rows: Vector) -> Vector:
        """Return the point of the list that is nearest to each row, shapes (n, d)."""
        return np.asarray(self.points[self.nearest(rows)])

    def nearest(self, rows: Vector) -> Integers:
        """Return the index of the nearest point of each row, shapes (n, d) and (n,).

        Each value is first clamped into its column's range; distances are then in parts of the
        ranges, and of equally near points one is always chosen for the same row. A column of one
        value counts for nothing. Each row's answer depends on that row alone.
        """
        if not self._wide.size:
            return np.zeros(len(rows), dtype=np.int64)
        _, indices = self._tree.query(self._scaled(rows))
        return np.asarray(indices, dtype=np.int64)

    @cached_property
    def _wide(self) -> Integers:
        return np.flatnonzero(self.upper > self.lower)

    def _scaled(self, rows: Vector) -> Vector:
        """Return the rows in parts of each range, shape (n, k), columns of one value left out."""
        low, high = self.lower[self._wide], self.upper[self._wide]
        return (np.clip(rows[:, self._wide], low, high) - low) / (high - low)

    @cached_property
    def _tree(self) -> Any:  # noqa: ANN401
        from scipy.spatial import KDTree

        return KDTree(self._scaled(self.points))


def _of_vertices(vertices: ArrayLike) -> Polytope:
    return Polytope(Points(vertices).points)


@DOMAINS.kind("vertices", Field("vertices", attribute="points"), make=_of_vertices)
@final
@dataclass(frozen=True, eq=False, repr=False)
class Polytope(AbstractListed):
    """The hull of a list of points; made by `ln.hull`, and by what combines lists.

    A record outside goes to the nearest point, each coordinate in parts of its reach and cut at
    twice that.

    Args:
        points: shape (N, d), one row a point; those inside cost nothing.

    Examples:
        >>> triangle = Polytope(np.eye(3))
        >>> triangle.clamp(np.array([[0.2, 0.5, 0.3], [0.4, 0.4, 0.4]])).round(9)
        array([[0.2       , 0.5       , 0.3       ],
               [0.33333333, 0.33333333, 0.33333333]])
    """

    exact_corners: ClassVar[bool] = True

    points: Vector

    @cached_property
    def rounding(self) -> Vector:
        """How far a clamped record can be off a point of K, shape (d,).

        It is the center plus a sum of N multiples of points about the center, N of them to one in
        floats, where the center itself is off the mean by as many roundings.
        """
        n = len(self.points)
        size = np.maximum(np.abs(self.lower), np.abs(self.upper))
        off = 4 * growth(n + 16) * self.extent + 2.0**-50 * (size + self.extent)
        return frozen(np.where(self.upper > self.lower, off, 0.0))

    def contains_difference(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), is a difference, within 1e-9 of the widths."""
        given = np.asarray(point, dtype=np.float64)
        widths = self.upper - self.lower
        home = np.zeros(self.dimension)
        near = nearest_point(self.difference().extreme, home, given, widths)
        last = 2.0**-48 * np.max(np.abs(self.points), axis=0)
        return bool(np.all(np.abs(near - given) <= _NEAR * widths + last))

    @cached_property
    def _unit(self) -> Vector:
        return np.where(self.extent > 0, self.extent, 1.0)

    @cached_property
    def _scaled(self) -> Vector:
        """The points about the center in parts of the reach, shape (N, d)."""
        return np.asarray((self.points - self.center) / self._unit)

    @cached_property
    def _faces(self) -> Faces | None:
        """Simplices that fill K, and the faces of its boundary, where they are few."""
        return faces_of(self._scaled)

    def clip_rows(self, rows: Vector) -> Vector:
        """Return the point of K that is nearest to each row, shapes (n, d)."""
        rows, wide = np.clip(rows, -_LARGEST, _LARGEST), self.extent > 0
        goals = np.clip((rows - self.center) / self._unit, -2.0, 2.0)
        goals = np.where(wide, goals, 0.0)
        found, left = np.empty_like(rows), np.arange(len(rows))
        if self._faces is not None:
            picked, weights, settled = self._faces.nearest(goals)
            found[settled] = self._mixed(picked[settled], weights[settled])
            left = np.flatnonzero(~settled)
        mixtures = []
        for goal in goals[left]:
            mixed = nearest_mixture(self._scaled, goal)
            at = np.flatnonzero(mixed)
            mixtures.append((at, mixed[at]))
        most = max((at.size for at, _ in mixtures), default=0)
        picked, weights = np.full((left.size, most), -1), np.zeros((left.size, most))
        for i, (at, own) in enumerate(mixtures):
            picked[i, : at.size], weights[i, : at.size] = at, own
        found[left] = self._mixed(picked, weights)
        return found

    @cached_property
    def _about(self) -> Vector:
        """The points about the center, and the center last, shape (N + 1, d)."""
        return np.vstack([self.points - self.center, np.zeros(self.dimension)])

    def _mixed(self, picked: Integers, weights: Vector) -> Vector:
        """Return the mixtures of some points, −1 the center; shapes (m, k), (m, k) and (m, d).

        What is no mixture, whatever found it, is the first point: so much of K rests on nothing.
        """
        moved, total = np.zeros((len(picked), self.dimension)), np.zeros((len(picked), 1))
        for i in range(picked.shape[1]):  # point by point: the same sum for every row
            moved += weights[:, i : i + 1] * self._about[picked[:, i]]
            total += weights[:, i : i + 1]
        mixes = np.all(weights >= 0, axis=1, keepdims=True) & (np.abs(total - 1) <= _ONE)
        moved /= np.where(mixes, total, 1.0)
        return np.asarray(np.where(mixes, self.center + moved, self.points[0]))


def hull_of(points: Vector) -> Points | Polytope:
    """Return the hull of a list, shape (N, d), each point once; of one point, that point.

    Raises:
        DomainError: as `ln.Points`.
    """
    domain = Points(np.unique(points, axis=0))
    return domain if len(domain.points) == 1 else Polytope(domain.points)


def difference_body(domain: AbstractDomain) -> AbstractDomain:
    """Return K − K, the body of all changes from one record to another.

    Its least ellipsoid is the least noise under `substitute`, never more and up to √(2d/(d + 1))
    less than twice the least ellipsoid of K itself.

    Args:
        domain: K.

    Raises:
        DomainError: where the domain is of another kind.

    Examples:
        >>> import lownoise as ln
        >>> difference_body(ln.Box([0, 1], [1, 5])).upper
        array([1., 4.])
        >>> difference_body(ln.Points([[0.0], [2.0]])).support(np.array([1.0]))
        2.0
    """
    if not isinstance(domain, AbstractDomain) or not domain.of_records:
        raise DomainError(
            f"domain={type(domain).__name__} has no known difference body; use ln.Points or ln.Box",
        )
    return domain.difference()


def _difference_to_json(base: AbstractDomain) -> Any:  # noqa: ANN401
    return base.points.tolist() if isinstance(base, AbstractListed) else domain_to_dict(base)


def _difference_of(base: Any) -> AbstractDomain:  # noqa: ANN401
    return difference_body(read_domain(base) if isinstance(base, dict) else Points(base))


DOMAINS.kind(
    "differences",
    Field("differences", Form(_difference_to_json), attribute="base"),
    make=_difference_of,
)(Difference)
