# SPDX-License-Identifier: Apache-2.0
"""The three bodies of a set that is known by a program: itself, its differences, its lifted hull.

Each is asked for max ‖A·s‖ by one question about x ∈ K:

* K about any center is what the program maximises;
* (x − v, 1) has A(x − v, 1) = A₁(x − c) + e with e = A₁(c − v) + a: the square of a length about
  the center c that makes A₁ᵀe vanish, plus ‖e‖², completing the square;
* x − y is at most twice as long as the farthest point is from any center. The best center is found
  by adding farthest points one by one; where K − c is symmetric nothing is lost, and otherwise at
  most √(2d/(d + 1)) (Jung), unless the program maximises over pairs.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import LAST, grown, growth, up
from lownoise.sets.bodies.abstract import AbstractBody
from lownoise.sets.bodies.lengths import body_length, most_cones
from lownoise.sets.bodies.reach import NEAR, affine_farthest, far_pairs, least_ball, root_up

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.bodies.reach import AbstractSet

_LOOSELY = 2.0**-17  # how close bounds are where each direction is a search


@final
@dataclass(frozen=True, eq=False)
class OracleExtent:
    """How far a body reaches under a map.

    Args:
        points: evidence for vertices that are far out, as `vertices` takes it.
        upper: at least the greatest length.
    """

    points: Vector
    upper: float


@dataclass(frozen=True, eq=False)
class AbstractOracleBody(AbstractBody):
    """Changes to some coordinates of a record that lies in a set known by a program.

    Args:
        program: K.
        pivots: the coordinates, shape (r,).
        step: the unit of each, powers of two, so that nothing is rounded; shape (r,).
    """

    program: AbstractSet
    pivots: Integers
    step: Vector

    @abstractmethod
    def vertices(self, points: Vector) -> Vector:
        """Return the points of the body that those of K make, shape (n, dimension).

        Args:
            points: codes of points of K, shape (n, w), or of pairs of them, shape (n, 2, w).
        """

    def farthest(
        self, matrix: Vector, center: Vector, *, near: float = NEAR, limit: float = math.inf
    ) -> OracleExtent:
        """Return at least max ‖matrix·(s − center)‖ over the body, and who may reach it.

        What the program says of lengths, and in few dimensions what widths do.

        Args:
            matrix: shape (k, dimension).
            center: shape (dimension,).
            near: how near its least the bound has to be, relatively, where that takes a search.
            limit: at least the greatest length, as is known from elsewhere.
        """
        rows = len(matrix)
        most = most_cones(rows, self.program.effort) if np.any(matrix) else 0
        if not most:
            own = self._farthest(matrix, center, near)
            return replace(own, upper=min(own.upper, limit))
        if self.searched and near > NEAR:  # what is known sticks out, or there is another look
            rough = float(np.linalg.norm(self.extent_up(matrix, center)))
            return OracleExtent(self.seeds[:0], rough * (1 + growth(2 * rows + 60)))
        firm, loose = self._sorted()
        away, least = np.zeros((0, rows)), 0.0
        if firm is not None:
            known = firm._farthest(matrix, center, near)  # noqa: SLF001 (of its own kind)
            least = known.upper
            if len(known.points):
                away = (firm.vertices(known.points) - center) @ matrix.T
        rest = self if loose is None else loose
        far = np.abs(matrix) @ (self._far + np.abs(center)) * growth(rows + 9)

        def widths(directions: Vector) -> Vector:
            own = rest.extent_up(directions @ matrix, center)
            return np.asarray(own + np.abs(directions) @ far)

        bound = min(limit, least) if loose is None else limit
        attained = float(np.max(np.linalg.norm(away, axis=1), initial=0.0))
        close = {"close": _LOOSELY} if self.searched else {}
        found = body_length(widths, rows, bound, most, attained=attained, **close)
        directions = away if found.direction is None else np.vstack([away, found.direction])
        points = self.extreme(directions @ matrix)
        return OracleExtent(points, found.upper if loose is None else max(found.upper, least))

    def _sorted(self) -> tuple[Self | None, Self | None]:
        """Return two bodies that together reach as far: of lengths well known, and of others."""
        firm, loose = self.program.sorted_parts()
        return (
            None if firm is None else replace(self, program=firm),
            None if loose is None else replace(self, program=loose),
        )

    def resolves(self, rows: int) -> bool:
        """Return whether what it says of lengths is close, of a map to so many dimensions."""
        return not self.searched or most_cones(rows, self.program.effort) > 0

    @abstractmethod
    def _farthest(self, matrix: Vector, center: Vector, near: float) -> OracleExtent:
        """Return what the program says."""

    @property
    def searched(self) -> bool:
        """Whether what the program says of lengths takes many questions, and is far off."""
        return self.program.loose

    @cached_property
    def _far(self) -> Vector:
        """At least |s| for each coordinate, shape (dimension,)."""
        return self.extent_up(np.eye(self.dimension), np.zeros(self.dimension))

    @property
    def seeds(self) -> Vector:
        """Evidence for vertices that span the body: points that span K, as a rule."""
        return self.program.spanning

    def knows(self, points: Vector) -> bool:
        """Return whether `points` are of the right shape, and of K as far as the program tells."""
        return self._has_points(points, (self.program.width,))

    def extreme(self, directions: Vector) -> Vector:
        """Return evidence for vertices that should be extreme along each row, both ways."""
        return self._ends_along(directions)

    def _ends_along(self, directions: Vector) -> Vector:
        """Return codes of points of K along each row, and then the other way, shape (2n, w)."""
        theta = self._raised(directions)
        return self.program.extremes(np.vstack([theta, -theta]))

    @property
    def spanning(self) -> Vector:
        """Vertices that span the body."""
        return self.vertices(self.seeds)

    @property
    def count(self) -> float:
        """What one record counts, the last coordinate; 0 where that is none of them."""
        return 0.0

    @property
    def dimension(self) -> int:
        """The number of coordinates r, and one for a count."""
        return self.pivots.size + bool(self.count)

    def length_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·(s − center)‖ over the body."""
        return self.farthest(matrix, center).upper

    def radius_up(self, shape: AbstractShape) -> float:
        """Return at least max √(sᵀ M⁻¹ s): what the program says of noise, or else of lengths."""
        whole = self.pivots.size == self.program.dimension
        known = self._radius_up(shape) if whole else None
        return super().radius_up(shape) if known is None else known

    def _radius_up(self, shape: AbstractShape) -> float | None:
        """Return what the program says of noise on all coordinates, if anything."""
        return None

    def widths(self) -> Vector:
        """Return the greatest change of each coordinate, rounded up."""
        known = self.program.sides
        if known is None:
            return super().widths()
        low, high = (side[self.pivots] for side in known)
        return np.asarray(grown(self._widths(low, high), LAST))

    def _widths(self, low: Vector, high: Vector) -> Vector:
        """Return the same where the least and greatest of each coordinate are known, (r,)."""
        base = self._kept(self.program.spanning[:1])[0]
        return np.asarray(np.maximum(high - base, base - low) / self.step)

    def answer_widths(self, answers: Vector | None) -> Vector:
        """Return the greatest change of each answer, shape (m,)."""
        plain = answers is None and self.program.sides is not None
        return self.widths() if plain else super().answer_widths(answers)

    def answer_length(self, answers: Vector | None) -> float:
        """Return the greatest Euclidean change of the answers."""
        plain = answers is None and self.program.sides is not None
        one = np.ones(self.dimension)
        return self._length_in_up(one) if plain else super().answer_length(answers)

    @cached_property
    def firm(self) -> bool:
        """Where the program knows lengths of whole records in units of their coordinates."""
        return math.isfinite(self.length_in_up(np.ones(self.dimension)))

    def length_in_up(self, unit: Vector) -> float:
        """Return at least the greatest length in units, shape (dimension,), or infinity."""
        whole = self.program.sides is not None and self.pivots.size == self.program.dimension
        return self._length_in_up(unit) if whole else math.inf

    def _length_in_up(self, unit: Vector) -> float:
        return math.inf

    def _raised(self, matrix: Vector) -> Vector:
        """Return the map of whole records that `matrix` is of the body's coordinates."""
        whole = np.zeros((len(matrix), self.program.dimension))
        whole[:, self.pivots] = matrix[:, : self.pivots.size] / self.step
        return whole

    @property
    def doubt(self) -> Vector:
        """How far off the vertices are that points make, shape (r,), and 0 for a count."""
        off = self.program.doubt[self.pivots] / self.step
        return np.asarray(np.append(off, np.zeros(self.dimension - off.size)))

    def _kept(self, points: Vector) -> Vector:
        return np.asarray(self.program.place(points)[..., self.pivots])

    def _point_at(self, center: Vector) -> Vector:
        """Return a point whose coordinates in the body are `center`, shape (d,)."""
        found = self.program.center.copy()
        found[self.pivots] = center * self.step
        return found

    def _has_points(self, points: Vector, shape: tuple[int, ...]) -> bool:
        if points.shape != (len(points), *shape):
            return False
        return all(self.program.knows(x) for x in np.reshape(points, (-1, self.program.width)))

    def scaled(self, factor: float) -> Self:
        """Return factor·S; `factor` is a power of two."""
        return replace(self, step=frozen(self.step / factor))


@final
@dataclass(frozen=True, eq=False)
class OracleBody(AbstractOracleBody):
    """K itself, wherever it may stand: what Γ_p(K) is of."""

    @property
    def moves(self) -> bool:
        """An ellipsoid may choose its center."""
        return True

    @property
    def base_point(self) -> Vector:
        """One of them."""
        return np.asarray(self.spanning[0])

    def vertices(self, points: Vector) -> Vector:
        """Return their coordinates."""
        return self._kept(points) / self.step

    def _farthest(self, matrix: Vector, center: Vector, near: float) -> OracleExtent:
        """Return at least max ‖matrix·(x − center)‖."""
        answer = self.program.farthest(self._raised(matrix), self._point_at(center))
        return OracleExtent(answer.point[None], root_up(answer.upper))

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(x − center)|, row by row."""
        ends = _ends(self.program, self._raised(matrix), self._point_at(center))
        return _outward(np.maximum(*ends), np.zeros(len(matrix)))


@final
@dataclass(frozen=True, eq=False)
class OracleDifferences(AbstractOracleBody):
    """All x − y."""

    @property
    def searched(self) -> bool:
        """Where the program does not bound differences, too."""
        return self.program.loose or not self.program.bounds_differences

    def _sorted(self) -> tuple[Self | None, Self | None]:
        """Return the body as one of both: differences are of two parts."""
        return (None, self) if self.searched else (self, None)

    @property
    def seeds(self) -> Vector:
        """Pairs that span all differences."""
        seeds = self.program.spanning
        rest = seeds[1:] if len(seeds) > 1 else seeds
        return np.stack([rest, np.broadcast_to(seeds[0], rest.shape)], axis=1)

    def vertices(self, points: Vector) -> Vector:
        """Return x − y for each pair."""
        return (self._kept(points[:, 0]) - self._kept(points[:, 1])) / self.step

    def knows(self, points: Vector) -> bool:
        """Return whether these are pairs of points of K, shape (n, 2, d)."""
        return self._has_points(points, (2, self.program.width))

    def _farthest(self, matrix: Vector, center: Vector, near: float) -> OracleExtent:
        """Return at least max ‖matrix·(x − y)‖; `center` is 0."""
        whole = self._raised(matrix)
        if self.program.bounds_differences:
            answer = self.program.farthest_pair(whole)
            pairs = np.reshape(answer.point, (-1, 2, self.program.width))
            return OracleExtent(pairs, root_up(answer.upper))
        found = least_ball(self.program, whole, near)
        return OracleExtent(far_pairs(self.program, whole, found.points), 2 * found.upper)

    def _radius_up(self, shape: AbstractShape) -> float | None:
        return self.program.radius_up(shape.scaled(self.step))

    def _length_in_up(self, unit: Vector) -> float:
        return self.program.length_up(self.step * unit)

    def _widths(self, low: Vector, high: Vector) -> Vector:
        return np.asarray((high - low) / self.step)

    def extreme(self, directions: Vector) -> Vector:
        """Return the pair of both ends along each row."""
        ends = self._ends_along(directions)
        return np.stack([ends[: len(directions)], ends[len(directions) :]], axis=1)

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least the width along each row; `center` is 0."""
        program = self.program
        rows = self._raised(matrix)
        widths = np.sum(_ends(program, rows, program.center), axis=0)
        return np.asarray(grown(np.maximum(widths, 0.0), LAST))


@final
@dataclass(frozen=True, eq=False)
class LiftedOracle(AbstractOracleBody):
    """The hull of ±((x − origin)/step, count).

    Args:
        origin: a public point of whole records, shape (d,).
        count: what one record counts, a power of two.
    """

    origin: Vector
    count: float = 1.0

    def vertices(self, points: Vector) -> Vector:
        """Return ((x − origin)/step, count)."""
        about = (self._kept(points) - self.origin[self.pivots]) / self.step
        return np.hstack([about, np.full((len(points), 1), self.count)])

    def _farthest(self, matrix: Vector, center: Vector, near: float) -> OracleExtent:
        """Return at least max ‖A₁(x − origin) + a‖, the square completed; `center` is 0."""
        linear, constant = self._raised(matrix), matrix[:, -1] * self.count
        answer = affine_farthest(self.program, linear, self.origin, constant)
        return OracleExtent(answer.point[None], root_up(answer.upper))

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |A₁(x − origin) + a|, row by row; `center` is 0."""
        rows, constant = self._raised(matrix), matrix[:, -1] * self.count
        ahead, back = _ends(self.program, rows, self.origin)
        return _outward(np.maximum(ahead + constant, back - constant), np.abs(constant))

    def _radius_up(self, shape: AbstractShape) -> float | None:
        whole = shape.scaled(np.append(self.step, 1.0))
        return self.program.radius_up(whole, self.origin, self.count)

    def _length_in_up(self, unit: Vector) -> float:
        count = up(self.count / float(unit[-1]))
        return self.program.length_up(self.step * unit[:-1], self.origin, count)

    def sums_in_up(self, unit: Vector) -> tuple[float, Vector] | None:
        """Return what the program says of sums of sizes about a point, and the count."""
        if not self.firm:
            return None
        found = self.program.sums_up(self.step * unit[:-1], self.origin)
        if found is None:
            return None
        upper = up(found.upper + up(self.count / float(unit[-1])))
        return upper, np.append(found.point / self.step, self.count)

    def _widths(self, low: Vector, high: Vector) -> Vector:
        origin = self.origin[self.pivots]
        return np.append(np.maximum(high - origin, origin - low) / self.step, self.count)

    def scaled(self, factor: float) -> Self:
        """Return factor·S; `factor` is a power of two."""
        return replace(self, step=frozen(self.step / factor), count=self.count * factor)


def _outward(values: Vector, sizes: Vector) -> Vector:
    return np.asarray(grown(np.maximum(values, 0.0), LAST) + sizes * 2.0**-51)


def _ends(program: AbstractSet, rows: Vector, center: Vector) -> tuple[Vector, Vector]:
    """Return at least max ⟨row, x − center⟩ and max ⟨−row, x − center⟩, shapes (n,)."""
    found = np.zeros((2, len(rows)))
    used = np.any(rows != 0, axis=1)
    if np.any(used):
        both = program.supports_up(np.vstack([rows[used], -rows[used]]), center)
        found[:, used] = both.reshape(2, -1)
    return found[0], found[1]
