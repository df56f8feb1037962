# SPDX-License-Identifier: Apache-2.0
"""The hull of a list of points: what combinations of lists and of ranges hold.

A record inside stays where it is, another goes to the nearest point. Whatever a search says, what
it gives is a mixture of the listed points, so that a record is in the hull but for the rounding of
one sum, which is known beforehand: a search that is off costs accuracy, never privacy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth
from lownoise.sets.domains.abstract import AbstractClampedDomain
from lownoise.sets.domains.faces import Faces, faces_of
from lownoise.sets.domains.points import Points
from lownoise.sets.unit_balls.mixtures import nearest_mixture

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector

_BLOCK = 1024  # rows
_LARGEST = 2.0**250
_ONE = 2.0**-20  # how near to 1 the weights of a mixture add up, or it is none
_NEAR = 1e-9  # of the reach: how near a point is in K


@final
@dataclass(frozen=True, eq=False)
class Polytope(AbstractClampedDomain):
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

    points: Vector

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.points.shape[1])

    @cached_property
    def lower(self) -> Vector:
        """The least value of each coordinate, shape (d,)."""
        return frozen(np.min(self.points, axis=0))

    @cached_property
    def upper(self) -> Vector:
        """The greatest value of each coordinate, shape (d,)."""
        return frozen(np.max(self.points, axis=0))

    @cached_property
    def center(self) -> Vector:
        """The mean of the list, shape (d,)."""
        middle = self.points[0] + np.mean(self.points - self.points[0], axis=0)
        return frozen(np.clip(middle, self.lower, self.upper))

    @cached_property
    def reach(self) -> Vector:
        """At least the greatest change of each coordinate from the center, shape (d,)."""
        far = np.maximum(self.upper - self.center, self.center - self.lower)
        return frozen(np.where(self.upper > self.lower, np.nextafter(far, np.inf), 0.0))

    @cached_property
    def rounding(self) -> Vector:
        """How far a clamped record can be off a point of K, shape (d,).

        It is the center plus a sum of N multiples of points about the center, N of them to one in
        floats, where the center itself is off the mean by as many roundings.
        """
        n = len(self.points)
        size = np.maximum(np.abs(self.lower), np.abs(self.upper))
        off = 4 * growth(n + 16) * self.reach + 2.0**-50 * (size + self.reach)
        return frozen(np.where(self.upper > self.lower, off, 0.0))

    @property
    def spanning(self) -> Vector:
        """The points about their center, shape (N, d)."""
        return self.points - self.center

    @property
    def full(self) -> bool:
        """Of a list it is found out by pivoting (`coordinates`)."""
        return False

    def support(self, direction: Vector) -> float:
        """Return max ⟨θ, x⟩ over K, for direction θ, shape (d,)."""
        return float(np.max(self.points @ direction))

    def extreme(self, directions: Vector) -> Vector:
        """Return the point of the list that is extreme along each row, shapes (n, d)."""
        found = np.empty((len(directions), self.dimension))
        for i, direction in enumerate(directions):
            found[i] = self.points[np.argmax(self.points @ direction)]
        return found

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), lies in K, within 1e-9 of its reach."""
        given = np.asarray(point, dtype=np.float64)
        last = 2.0**-50 * (np.abs(self.center) + self.reach)
        # where the center is far, a last digit of one coordinate moves the nearest point in others
        wide = self.reach > 0
        share = np.max(last[wide] / self.reach[wide], initial=0.0)
        room = (_NEAR + 4 * share) * self.reach + last + self.rounding
        return bool(np.all(np.abs(self.clamp(given) - given) <= room))

    def clamp(self, points: Vector) -> Vector:
        """Return `points`, shape (..., d), each clipped to a point of K, within `rounding`.

        No row's answer depends on the other rows.
        """
        rows = np.reshape(np.asarray(points, dtype=np.float64), (-1, self.dimension))
        found = np.empty_like(rows)
        for start in range(0, len(rows), _BLOCK):
            part = np.clip(rows[start : start + _BLOCK], -_LARGEST, _LARGEST)
            found[start : start + _BLOCK] = self._clamped(part)
        return found.reshape(np.shape(points))

    @cached_property
    def _unit(self) -> Vector:
        return np.where(self.reach > 0, self.reach, 1.0)

    @cached_property
    def _scaled(self) -> Vector:
        """The points about the center in parts of the reach, shape (N, d)."""
        return np.asarray((self.points - self.center) / self._unit)

    @cached_property
    def _faces(self) -> Faces | None:
        """Simplices that fill K, and the faces of its boundary, where they are few."""
        return faces_of(self._scaled)

    def _clamped(self, rows: Vector) -> Vector:
        wide = self.reach > 0
        goals = np.clip((rows - self.center) / self._unit, -2.0, 2.0)
        goals = np.where(wide, goals, 0.0)
        found, left = np.empty_like(rows), np.arange(len(rows))
        if self._faces is not None:
            picked, weights, told = self._faces.nearest(goals)
            found[told] = self._mixed(picked[told], weights[told])
            left = np.flatnonzero(~told)
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
    listed = Points(np.unique(points, axis=0))
    return listed if len(listed.points) == 1 else Polytope(listed.points)
