# SPDX-License-Identifier: Apache-2.0
"""How far a set reaches in an affine map: what every oracle body asks, and what is made of it.

They give points of their own and upper bounds on ‖A(x − c)‖². Of a user's program both are that
program's word; of the sets in `compound` both are proved. A point is encoded as a row of numbers,
and `place` decodes it: a point of F·B is encoded as its x in B, so that it is one for certain.

What lengths need for that is rounded up. And the least ball around a set that a program bounds,
with points of it that are far apart.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.rounding import LAST, ROUGH, grown, growth

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.sensitivity.factors import AbstractShape


@final
@dataclass(frozen=True, eq=False)
class Farthest:
    """What is known of a greatest value.

    Args:
        point: the code of a point of the set that is far out, shape (w,); or of two, shape (2, w),
            or of several pairs, shape (n, 2, w).
        upper: at least the greatest value over the set.
    """

    point: Vector
    upper: float


class AbstractSet(ABC):
    """A bounded set K ⊂ R^d that says how far it reaches."""

    center: Vector
    extent: Vector

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.center.size)

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers encode a point."""

    @property
    @abstractmethod
    def spanning(self) -> Vector:
        """Codes of points that span the flat that K fills, shape (n, w)."""

    @property
    def bounds_differences(self) -> bool:
        """Whether it bounds differences of its points, too: it does, as a rule."""
        return True

    @property
    def sides(self) -> tuple[Vector, Vector] | None:
        """The least and greatest of each coordinate, where these are known without a search."""
        return None

    def length_up(self, step: Vector, origin: Vector | None = None, count: float = 0.0) -> float:
        """Return at least the greatest length of what `radius_up` is of, in steps, shape (d,).

        Asked where `sides` are known.
        """
        return math.inf

    def sums_up(self, step: Vector, origin: Vector) -> Farthest | None:
        """Return at least the greatest Σ|sᵢ|/stepᵢ, s = x − origin, and not a code but sizes |s|.

        None where it is not known. Asked where `length_up` is finite.
        """
        return None

    def radius_up(
        self, shape: AbstractShape, origin: Vector | None = None, count: float = 0.0
    ) -> float | None:
        """Return at least max √(sᵀM⁻¹s) where that is bounded otherwise than by lengths; else None.

        Args:
            shape: of the noise M on all coordinates, and on the count where there is one.
            origin: where s is (x − origin, count), shape (d,); None where s is a difference.
            count: what a record counts; 0 where that is none of the coordinates.
        """
        return None

    @property
    def points(self) -> Vector:
        """Codes of points to start a search from, shape (n, w): those that span it, as a rule."""
        return self.spanning

    @property
    def doubt(self) -> Vector:
        """How far off `place` is, shape (d,)."""
        return np.zeros(self.dimension)

    @abstractmethod
    def place(self, encoded: Vector) -> Vector:
        """Return the points of those codes, shapes (..., w) and (..., d)."""

    def knows(self, encoded: Vector) -> bool:
        """Return whether a row, shape (w,), is the code of a point of K.

        Where `place` brings whatever is encoded into K, every row of numbers is.
        """
        return bool(np.all(np.isfinite(encoded)))

    def far(self, center: Vector) -> Vector:
        """Return at least |x − center| over K, shape (d,)."""
        return np.asarray(grown(self.extent + np.abs(self.center - center), LAST))

    @abstractmethod
    def farthest(self, matrix: Vector, center: Vector) -> Farthest:
        """Return a point far out under a map, and at least max ‖matrix·(x − center)‖²."""

    @abstractmethod
    def farthest_pair(self, matrix: Vector) -> Farthest:
        """Return two points far apart, and at least max ‖matrix·(x − y)‖²."""

    @property
    def effort(self) -> float:
        """About how many numbers are looked at for one direction; infinite: do not ask for many."""
        return math.inf

    @property
    def loose(self) -> bool:
        """Whether widths say much more than its bounds on lengths, which take a search."""
        return False

    def sorted_parts(self) -> tuple[AbstractSet | None, AbstractSet | None]:
        """Return two sets that together reach as far, the second loose; None for an empty one."""
        return (None, self) if self.loose else (self, None)

    @abstractmethod
    def support_up(self, direction: Vector, about: Vector) -> float:
        """Return at least max ⟨θ, x − about⟩ over K; shapes (d,)."""

    def supports_up(self, directions: Vector, about: Vector) -> Vector:
        """Return the same of each row of directions, shapes (n, d) and (n,)."""
        return np.array([self.support_up(direction, about) for direction in directions])

    @abstractmethod
    def extreme(self, direction: Vector) -> Vector:
        """Return the code of a point that should be extreme along θ, shape (w,)."""

    def extremes(self, directions: Vector) -> Vector:
        """Return the same of each row of directions, shapes (n, d) and (n, w)."""
        return np.array([self.extreme(direction) for direction in directions])


_MOST_CENTERS = 40
NEAR = 1e-9  # of the radius: how near its least is enough
_ASCENTS = 6
_GAIN = 1e-9


def affine_farthest(
    held: AbstractSet, linear: Vector, origin: Vector, constant: Vector
) -> Farthest:
    """Return a point far out, and at least max ‖A(x − origin) + a‖², the square completed.

    With e = A(c − origin) + a and a center c that makes Aᵀe vanish, it is the greatest
    ‖A(x − c)‖² plus ‖e‖².

    Args:
        held: the set.
        linear: A, shape (r, d).
        origin: shape (d,).
        constant: a, shape (r,).
    """
    middle = _middle(held, linear, origin, constant)
    answer = held.farthest(linear, middle)
    shift = middle - origin
    rest = linear @ shift + constant
    d, m = shift.size, len(linear)
    off = growth(d + 4) * (np.abs(linear) @ np.abs(shift) + np.abs(constant))
    # ‖Az + e‖² = ‖Az‖² + 2⟨z, Aᵀe⟩ + ‖e‖², and Aᵀe is nearly 0
    pull = np.abs(rest @ linear) + np.abs(linear).T @ (off + growth(m + 2) * np.abs(rest))
    cross = 2 * float(held.far(middle) @ pull)
    length = float(np.linalg.norm(rest)) + float(np.linalg.norm(off))
    return Farthest(answer.point, answer.upper + (cross + length**2) * (1 + growth(d + m + 60)))


_BEYOND = 2.0**20  # of the reach: a center farther out says nothing in floats


def _middle(held: AbstractSet, linear: Vector, origin: Vector, constant: Vector) -> Vector:
    """Return the center about which the length has no linear term, shape (d,)."""
    extent = held.extent
    used = extent > 0
    scaled = linear[:, used] * extent[used]
    found = held.center.copy()
    if not np.any(scaled):
        return found
    parts = np.linalg.lstsq(scaled, constant + linear @ (found - origin))[0]
    if np.all(np.abs(parts) < _BEYOND):
        found[used] -= parts * extent[used]
    return found


def root_up(square: float) -> float:
    """Return at least the root of a bound on a square."""
    return math.sqrt(square) * (1 + growth(20))


def longer(square: float, more: float) -> float:
    """Return at least the square of a length that is `more` longer."""
    length = grown(np.sqrt(square), LAST) + grown(more, ROUGH)
    return float(grown(length * length, LAST))


def farthest_of(part: AbstractSet, matrix: Vector, pairs: Vector) -> Vector:
    """Return the codes of one pair of those that a set gave, the farthest under a map; (2, w).

    Args:
        part: the set.
        matrix: shape (k, d).
        pairs: codes of one pair, shape (2, w), or of several, shape (n, 2, w).
    """
    several = np.reshape(pairs, (-1, 2, pairs.shape[-1]))
    apart = (part.place(several[:, 0]) - part.place(several[:, 1])) @ matrix.T
    return np.asarray(several[np.argmax(np.sum(apart * apart, axis=1))])


@final
@dataclass(frozen=True, eq=False)
class CoveringBall:
    """The codes of the points that hold a ball, and at least its radius."""

    points: Vector
    upper: float


def least_ball(program: AbstractSet, matrix: Vector, near: float) -> CoveringBall:
    """Return at least the least radius of a ball around matrix·K, and nearly that.

    The ball of a few points grows with the farthest point beyond it (Fischer, Gärtner and Kutz
    2003, in another order); every center gives a proof, so that it may stop anywhere.
    """
    center, upper = program.center, math.inf
    points, held = np.zeros((0, program.dimension)), np.zeros((0, program.width))
    for _ in range(_MOST_CENTERS):
        answer = program.farthest(matrix, center)
        upper = min(upper, root_up(answer.upper))
        point = program.place(answer.point)
        if np.any(np.all(points == point, axis=1)):
            break
        points, held = np.vstack([points, point]), np.vstack([held, answer.point])
        images = (points - points[0]) @ matrix.T
        weights, radius = _ball_of(images)
        if upper <= radius * (1 + near):
            break
        center = points[0] + weights @ (points - points[0])
    return CoveringBall(held, upper)


def _ball_of(images: Vector) -> tuple[Vector, float]:
    """Return weights whose mean is the center of the least ball around a few points, its radius.

    Points that weigh less than nothing in the sphere through all of them are left out, the least
    first, and what sticks out comes back.
    """
    chosen = [0]
    weights = np.zeros(len(images))
    radius = 0.0
    for _ in range(4 * len(images) + 8):
        while True:
            w = _sphere(images[chosen])
            if np.min(w) >= 0 or len(chosen) == 1:
                break
            del chosen[int(np.argmin(w))]
        weights = np.zeros(len(images))
        weights[chosen] = np.maximum(w, 0.0)
        weights /= np.sum(weights)
        lengths = np.linalg.norm(images - weights @ images, axis=1)
        radius = float(np.max(lengths[chosen]))
        if np.max(lengths) <= radius * (1 + NEAR / 4):
            break
        chosen.append(int(np.argmax(lengths)))
    middle = weights @ images
    variance = float(weights @ np.square(np.linalg.norm(images - middle, axis=1)))
    return weights, min(radius, math.sqrt(max(variance, 0.0)))


def _sphere(images: Vector) -> Vector:
    """Return weights of sum 1 whose mean is equally far from all of the points, shape (k,)."""
    k = len(images)
    about = images - images[0]
    gram = about @ about.T
    size = float(np.max(np.diag(gram))) or 1.0
    system = np.zeros((k + 1, k + 1))
    system[:k, :k], system[:k, k], system[k, :k] = 2 * gram / size, 1.0, 1.0
    right = np.append(np.diag(gram) / size, 1.0)
    return np.asarray(np.linalg.lstsq(system, right)[0][:k])


def far_pairs(program: AbstractSet, matrix: Vector, held: Vector) -> Vector:
    """Return pairs far apart under a map: each point's farthest, and that one's, and so on."""
    known = program.points
    images = program.place(known) @ matrix.T
    start = known[np.argmax(np.linalg.norm(images - images.mean(axis=0), axis=1))]
    found = []
    for first in (start, *held[-2:]):
        x, length = first, 0.0
        for _ in range(_ASCENTS):
            at = program.place(x)
            y = program.farthest(matrix, at).point
            apart = float(np.linalg.norm(matrix @ (program.place(y) - at)))
            if not apart > length * (1 + _GAIN):
                break
            pair, x, length = np.stack([x, y]), y, apart
        if length > 0:
            found.append(pair)
    shape = (0, 2, program.width)
    return np.array(found) if found else np.zeros(shape)
