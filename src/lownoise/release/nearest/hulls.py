# SPDX-License-Identifier: Apache-2.0
"""The nearest point of a hull or cone of points that an oracle finds, with a proved distance.

Wolfe's algorithm: the nearest point of the affine hull of a few corners, corners dropped on the way
there, and the corner that is extreme along what is left added, until none is beyond the plane.

For x in a convex set S and y anywhere let x* be the point of S nearest to y. Then ⟨y − x*, x − x*⟩
≤ 0, so ‖x − x*‖² ≤ ⟨y − x, x* − x⟩ ≤ max over v in S of ⟨y − x, v − x⟩: whatever the search did.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Chosen, Vector

    Corner = Callable[[Vector], tuple[Vector, Vector, float]]

_ROUNDING = 2.0**-46  # of an inner product, beside the sizes of what is multiplied
_SLIGHT = 2.0**-48  # a weight that counts as none
_APART = 1e-3  # of a unit corner from the flat of those before: closer ones lose digits in squares
_PATIENCE = 100  # corners in which the gap has to halve


@final
@dataclass(frozen=True, eq=False)
class Nearest:
    """A point of a convex set, and how far it can be from the one that is nearest.

    Args:
        point: in the coordinates of the corners, shape (m,).
        seen: in those where distances are Euclidean, shape (k,).
        distance: ‖y − seen‖.
        gap: at least ‖seen − nearest‖, as far as floats add up.
        iterations: corners that were looked for.
        converged: whether the gap is what was asked for.
    """

    point: Vector
    seen: Vector
    distance: float
    gap: float
    iterations: int
    converged: bool


def nearest_point(
    target: Vector,
    corner: Corner,
    *,
    start: Vector,
    cone: float | None = None,
    rtol: float,
    unit: float,
    most: int,
) -> Nearest:
    """Return a point of the hull, or of the cone, of corners that is nearly nearest to the target.

    Args:
        target: y, shape (k,).
        corner: takes a direction r, shape (k,); returns a corner that is extreme along it, in its
            own coordinates, shape (m,), and in those of y, and a bound on ⟨r, v⟩ over all corners.
        start: a first direction.
        cone: at least the sum of weights that the nearest point has; None for a hull, where they
            sum to one.
        rtol: the gap to stop at, in parts of the distance.
        unit: a distance that counts as none at all, times rtol.
        most: corners that are looked for.

    Raises:
        PlanError: where a corner is not finite.
    """
    search = _Search(target, cone)
    best, since = math.inf, 0
    if cone is None:
        search.add(*_checked(corner(start))[:2])
    for count in range(1, most + 1):
        left = target - search.seen
        point, seen, above = _checked(corner(left))
        distance = float(np.linalg.norm(left))
        gap = search.gap(left, above)
        if gap <= best / 2:
            best, since = gap, count
        done = gap <= rtol * max(distance, unit)
        if done or count >= since + _PATIENCE or search.has(seen):
            break
        search.add(point, seen)
        search.descend()
    return Nearest(
        search.point(point.size),
        search.seen,
        distance,
        gap,
        count,
        done,
    )


class _Search:
    """The corners that hold weight."""

    def __init__(self, target: Vector, cone: float | None) -> None:
        self.target, self.cone = target, cone
        self.points: list[Vector] = []
        self.corners = np.zeros((0, target.size))
        self.gram = np.zeros((0, 0))
        self.pull = np.zeros(0)
        self.weights = np.zeros(0)

    @property
    def seen(self) -> Vector:
        return self.weights @ self.corners

    def point(self, size: int) -> Vector:
        found = np.zeros(size)
        for weight, own in zip(self.weights.tolist(), self.points, strict=True):
            found += weight * own
        return found

    def has(self, corner: Vector) -> bool:
        return bool(np.any(np.all(self.corners == corner, axis=1)))

    def add(self, point: Vector, corner: Vector) -> None:
        beside = self.corners @ corner
        k = len(self.points)
        gram = np.empty((k + 1, k + 1))
        gram[:k, :k], gram[k, :k], gram[:k, k] = self.gram, beside, beside
        gram[k, k] = corner @ corner
        self.gram = gram
        self.pull = np.append(self.pull, corner @ self.target)
        self.corners = np.vstack([self.corners, corner])
        self.points.append(point)
        self.weights = np.append(self.weights, 0.0 if k or self.cone is not None else 1.0)

    def gap(self, left: Vector, above: float) -> float:
        """Return at least how far the point is from the nearest one."""
        seen = self.seen
        along = float(left @ seen)
        beyond = above if self.cone is None else max(above, 0.0) * self.cone
        sizes = float(np.linalg.norm(left) * (np.linalg.norm(seen) + np.linalg.norm(self.target)))
        return math.sqrt(max(beyond - along, 0.0) + _ROUNDING * sizes)

    def descend(self) -> None:
        """Go to the nearest point of the flat of the corners, dropping those whose weight is 0."""
        while len(self.points) > (0 if self.cone is not None else 1):
            aim = self._flat()
            if np.all(aim > _SLIGHT):
                self.weights = aim if self.cone is not None else aim / np.sum(aim)
                return
            falls = aim <= _SLIGHT
            room = self.weights[falls] / np.maximum(self.weights[falls] - aim[falls], 1e-300)
            step = min(1.0, float(np.min(room)))
            weights = self.weights + step * (aim - self.weights)
            keep = weights > _SLIGHT * np.max(weights)
            if np.all(keep):  # none was at its end by a rounding
                keep[np.flatnonzero(falls)[np.argmin(room)]] = False
            self._keep(keep, weights)

    def _keep(self, keep: Chosen, weights: Vector) -> None:
        places = np.flatnonzero(keep)
        self.points = [self.points[i] for i in places]
        self.corners, self.pull = self.corners[places], self.pull[places]
        self.gram = self.gram[np.ix_(places, places)]
        own = np.maximum(weights[places], 0.0)
        self.weights = own if self.cone is not None else own / np.sum(own)

    def _flat(self) -> Vector:
        """Return the weights of the nearest point of the corners' flat, or of their span."""
        if self.cone is not None:
            return _solved(self.gram, self.pull, self.corners, self.target)
        # about the first corner: weights of the others, and what they leave for it
        first = self.gram[0]
        gram = self.gram[1:, 1:] - first[None, 1:] - first[1:, None] + first[0]
        pull = self.pull[1:] - self.pull[0] - first[1:] + first[0]
        about = self.corners[0]
        rest = _solved(gram, pull, self.corners[1:] - about, self.target - about)
        return np.append(1.0 - np.sum(rest), rest)


def _solved(gram: Vector, pull: Vector, rows: Vector, target: Vector) -> Vector:
    """Return the weights of the rows that come nearest to the target."""
    if not len(gram):
        return np.zeros(0)
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    try:
        factor = np.linalg.cholesky(gram / np.outer(scale, scale))
        if np.min(np.diag(factor)) > _APART:
            found = np.linalg.solve(factor.T, np.linalg.solve(factor, pull / scale))
            return np.asarray(found / scale)
    except np.linalg.LinAlgError:
        pass
    size = np.maximum(np.linalg.norm(rows, axis=1), 1e-300)
    even = (rows / size[:, None]).T
    return np.asarray(np.linalg.lstsq(even, target, rcond=1e-14)[0] / size)


def _checked(found: tuple[Vector, Vector, float]) -> tuple[Vector, Vector, float]:
    point, seen, above = found
    if not (np.all(np.isfinite(seen)) and math.isfinite(above)):
        raise PlanError("domain gave a corner that is not finite; give bounds within 1e100")
    return point, seen, above
