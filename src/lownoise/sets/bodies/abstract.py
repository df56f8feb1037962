# SPDX-License-Identifier: Apache-2.0
"""What every body of changes can say of itself, and every set whose lengths can be bounded.

Privacy rests on what ends in `_up`: it reads the final integers and the final noise, and rounds
up.

A set over which squares of lengths can be bounded is what every oracle body asks. It gives points
of its own and upper bounds on ‖A(x − c)‖². Of a user's program both are that program's word; of the
sets in `compound` both are proved. A point is encoded as a row of numbers, and `place` decodes it:
a point of F·B is encoded as its x in B, so that it is one for certain.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import order_norm
from lownoise.numbers.rounding import LAST, down, grown, growth, up
from lownoise.sets.norms.choice import chosen, enlarged, unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.norms import AbstractNorm

_MOST_SIGNS = 8  # coordinates whose corners are listed
_FAR = 2.0**600  # farther than any domain


def half_signs(count: int) -> Vector | None:
    """Return half of all rows of signs, the others being their opposites; None where too many."""
    if count > _MOST_SIGNS:
        return None
    found = 1.0 - 2.0 * np.indices((2,) * count).reshape(count, -1).T
    return np.asarray(found[: max(len(found) // 2, 1)])


class AbstractBody(ABC):
    """A bounded convex set of changes, known by how far it reaches in any direction."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of coordinates d."""

    @property
    @abstractmethod
    def spanning(self) -> Vector:
        """Rows that together with `base_point` span what the body spans, shape (n, d)."""

    @property
    def moves(self) -> bool:
        """Whether it stands for all its translates: an ellipsoid may choose its center.

        Of a symmetric body the best center is 0.
        """
        return False

    @property
    def moment(self) -> Vector:
        """A second moment of what the body is made of, shape (d, d): where it is wide."""
        spanning = self.spanning
        return np.asarray(spanning.T @ spanning / max(len(spanning), 1))

    @property
    def base_point(self) -> Vector:
        """The point that differences are taken from to span the body, shape (d,): 0, as a rule."""
        return np.zeros(self.dimension)

    def around(self) -> tuple[Vector, bool]:
        """Return points, shape (N, d), whose hull with their opposites holds the body about 0.

        And whether they are its own: others are corners of its widths, one far away where too many.
        """
        widths = self.widths()
        moving = np.flatnonzero(widths)
        signs = half_signs(moving.size)
        if signs is None:
            return np.full((1, widths.size), _FAR), False
        points = np.zeros((len(signs), widths.size))
        points[:, moving] = signs * widths[moving]
        return points, moving.size <= 1

    def fits(self, contains: Callable[[Vector], bool], at: Vector, *, both: bool) -> bool:
        """Return whether every point s of the body is known to fit a convex set about x.

        Args:
            contains: whether a point is in the set.
            at: x, shape (d,); where there is one change, ±s, its middle.
            both: whether x + s and x − s are to be in the set, and not one of them.
        """
        points, own = self.around()
        if len(points) == 1 and not both:
            points, own = points / 2, False
        enough = any if own and not both else all
        return all(enough(contains(y) for y in (at + s, at - s)) for s in points)

    @abstractmethod
    def length_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·(s − center)‖ over the body; shapes (r, d) and (d,).

        Of a body that does not move, `center` is 0.
        """

    @abstractmethod
    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(s − center)|, row by row, shape (r,).

        Of a body that does not move, `center` is 0.
        """

    def radius_up(self, shape: AbstractShape) -> float:
        """Return at least max √(sᵀ M⁻¹ s) over the body: the μ of noise of this `shape`."""
        white = shape.whitening
        if not white.defect < 1:
            return math.inf
        length = self.length_up(white.matrix, np.zeros(self.dimension))
        return up(length / down(1 - white.defect)) if length else 0.0

    def covering_up(self, shape: AbstractShape, order: float, weights: Vector) -> float:
        """Return at least ‖ω·deviations‖_p of the least multiple of `shape` that covers the body.

        Args:
            shape: in the body's own coordinates.
            order: p in [2, ∞].
            weights: ω > 0, shape (d,).
        """
        return self.radius_up(shape) * grown(order_norm(weights * shape.deviations(), order))

    def sensitivity_up(self, norm: AbstractNorm) -> float:
        """Return at least max ‖s‖ over the body: what `norm` says of bodies of this kind.

        Raises:
            PlanError: where it says nothing of them.
        """
        return norm.body_up(self)

    def norm(self, distance: float) -> AbstractNorm:
        """Return the norm whose unit ball is the body, or hardly more; see `norm_of`.

        Args:
            distance: what total variation is allowed, where no sampler is exact.

        Raises:
            PlanError: where no such unit ball can be sampled exactly.
        """
        raise unknown(self)

    def widths(self) -> Vector:
        """Return the greatest change of each coordinate, shape (d,), rounded up."""
        return self.extent_up(np.eye(self.dimension), self.base_point)

    def inner_radius(self, weights: Vector) -> float:
        """Return R where a ball of radius R is inside once coordinates have weights; 0: unknown.

        Args:
            weights: above 0, shape (d,).
        """
        return 0.0

    def answer_length(self, answers: Vector | None) -> float:
        """Return the greatest Euclidean change of the answers, for comparison with other noise.

        Args:
            answers: the matrix from changes to answers, shape (m, d); None for the identity.
        """
        matrix = np.eye(self.dimension) if answers is None else answers
        return self.length_up(matrix, np.zeros(self.dimension))

    def answer_widths(self, answers: Vector | None) -> Vector:
        """Return the greatest change of each answer, shape (m,); arguments as `answer_length`."""
        matrix = np.eye(self.dimension) if answers is None else answers
        return self.extent_up(matrix, np.zeros(self.dimension))

    def scaled(self, factor: float) -> AbstractBody:
        """Return factor·S; `factor` is a power of two, so nothing is rounded.

        Raises:
            PlanError: where a body of this kind has no form there.
        """
        raise PlanError(
            f"a body of kind {type(self).__name__} has no known multiple; use ln.Box or ln.Points"
        )

    def rounded(self, slack: Vector) -> AbstractBody:
        """Return the body and, around each of its points, a box: what rounding of records adds.

        Args:
            slack: how far off each coordinate can be, shape (d,), at least 0.
        """
        return RoundedBody(self, frozen(slack))

    def mapped(self, rows: Vector) -> AbstractBody:
        """Return rows·S, or a body around it that differs by what rounding hides.

        Args:
            rows: shape (k, d); each entry a whole number over 2^b, for a small b.

        Raises:
            PlanError: where a body of this kind has no form there, or has too fine numbers.
        """
        raise PlanError(
            f"a body of kind {type(self).__name__} has no known image; use ln.Box or ln.Points"
        )

    def projected(self, kept: Integers) -> AbstractBody | None:
        """Return the projection to rising coordinates, shape (r,); None where none is known."""
        return None

    def projections(self, blocks: list[slice]) -> list[AbstractBody | None]:
        """Return projections to blocks of coordinates, whose product holds the body."""
        return [self.projected(np.arange(at.start, at.stop)) for at in blocks]

    @property
    def multipliers(self) -> Vector | None:
        """What is thought to make the bound on its length small; None where nothing is."""
        return None

    def with_multipliers(self, multipliers: Vector) -> AbstractBody:
        """Return the body with multipliers that are thought to make the bound on its length small.

        Any are a proof. Of a body whose bound takes none, it is the body itself.
        """
        return self


@final
@dataclass(frozen=True, eq=False)
class RoundedBody(AbstractBody):
    """A body and, around each of its points, a box: what rounding of records adds.

    Made by `rounded`.

    Args:
        body: where exact records can move.
        slack: how far off each coordinate can be, shape (d,), at least 0.
    """

    body: AbstractBody
    slack: Vector

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.body.dimension

    @property
    def spanning(self) -> Vector:
        """What spans the body and, about the same point, each side of the box."""
        box = self.base_point + np.diag(self.slack)[self.slack > 0]
        return np.vstack([self.body.spanning, box])

    @property
    def moves(self) -> bool:
        """Where the body does."""
        return self.body.moves

    @property
    def base_point(self) -> Vector:
        """That of the body."""
        return self.body.base_point

    def length_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least the body's, and the longest that a corner of the box can be."""
        most = np.abs(matrix) @ self.slack
        box = float(np.linalg.norm(most)) * (1 + growth(2 * matrix.size + 60))
        return up(self.body.length_up(matrix, center) + box)

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least the body's, and those of the box."""
        box = np.abs(matrix) @ self.slack * (1 + growth(self.dimension + 9))
        return np.asarray(grown(self.body.extent_up(matrix, center) + box, LAST))

    def radius_up(self, shape: AbstractShape) -> float:
        """Return at least the body's radius, and the box's."""
        found = self.body.radius_up(shape) + shape.box_radius_up(self.slack)
        return up(found) if found else 0.0

    def sensitivity_up(self, norm: AbstractNorm) -> float:
        """Return at least the body's, and the box's."""
        found = self.body.sensitivity_up(norm)
        return up(found + norm.box_up(self.slack)) if np.any(self.slack) else found

    def norm(self, distance: float) -> AbstractNorm:
        """Return the body's, enlarged until it holds the box, too."""
        return enlarged(chosen(self.body, distance), self)

    def widths(self) -> Vector:
        """Return the greatest change of each coordinate, shape (d,), rounded up."""
        return grown(self.body.widths() + self.slack, LAST)

    def scaled(self, factor: float) -> AbstractBody:
        """Return factor·S; `factor` is a power of two."""
        return RoundedBody(self.body.scaled(factor), frozen(factor * self.slack))

    def rounded(self, slack: Vector) -> AbstractBody:
        """Return the body with both boxes."""
        return RoundedBody(self.body, frozen(grown(self.slack + slack)))

    def mapped(self, rows: Vector) -> AbstractBody:
        """Return the body's image, and around it the image of the box."""
        return self.body.mapped(rows).rounded(grown(np.abs(rows) @ self.slack))

    def projected(self, kept: Integers) -> AbstractBody | None:
        """Return the body's projection, and around it that of the box."""
        own = self.body.projected(kept)
        return None if own is None else own.rounded(self.slack[kept])

    def with_multipliers(self, multipliers: Vector) -> AbstractBody:
        """Return the body with them, rounded alike."""
        return RoundedBody(self.body.with_multipliers(multipliers), self.slack)


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
