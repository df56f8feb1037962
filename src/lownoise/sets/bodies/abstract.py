# SPDX-License-Identifier: Apache-2.0
"""What every body of changes can say of itself.

Privacy rests on what ends in `_up`: it reads the final integers and the final noise, and rounds
up.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import order_norm
from lownoise.numbers.rounding import LAST, down, grown, growth, norm_up, up
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

    @property
    def firm(self) -> bool:
        """Whether lengths are known without a search, so that widths of images say no more."""
        return False

    def length_in_up(self, unit: Vector) -> float:
        """Return at least the greatest length in a unit of each coordinate, where it is `firm`.

        Args:
            unit: above 0, shape (d,).
        """
        return math.inf

    def sums_in_up(self, unit: Vector) -> tuple[float, Vector] | None:
        """Return at least the greatest Σ|sᵢ|/unitᵢ, and sizes |sᵢ| about there; None: not known."""
        return None

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
            PlanError: where a body of this kind has too fine numbers.
        """
        return MappedBody(self, frozen(rows))

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

    @property
    def firm(self) -> bool:
        """Where the body is."""
        return self.body.firm

    def length_in_up(self, unit: Vector) -> float:
        """Return at least the body's, and the longest that a corner of the box can be."""
        return up(self.body.length_in_up(unit) + norm_up(self.slack, unit))

    def sums_in_up(self, unit: Vector) -> tuple[float, Vector] | None:
        """Return at least the body's, and a corner's of the box."""
        found = self.body.sums_in_up(unit)
        box = float(np.sum(self.slack / unit)) * (1 + growth(self.dimension + 9))
        return None if found is None else (up(found[0] + box), found[1])

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
class MappedBody(AbstractBody):
    """rows·S of a body that has no form there: all it knows is what the body itself can say.

    Made by `mapped`. No norm is known of it but on a line, and how far it reaches in any other is.

    Args:
        body: S, which does not move.
        rows: shape (k, d).

    Examples:
        >>> from lownoise.sets.bodies import SymmetricBox
        >>> own = MappedBody(SymmetricBox(np.array([3.0, 4.0])), np.array([[1.0, 1.0]]))
        >>> own.widths().round(9)
        array([7.])
    """

    body: AbstractBody
    rows: Vector

    @property
    def dimension(self) -> int:
        """The number of rows k."""
        return len(self.rows)

    @property
    def spanning(self) -> Vector:
        """The images of what spans the body."""
        return np.asarray(self.body.spanning @ self.rows.T)

    def length_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least the body's under both maps, and what the product of them is off by."""
        both, off = self._after(matrix)
        found = self.body.length_up(both, np.zeros(self.body.dimension))
        return up(found + float(np.linalg.norm(off)) * (1 + growth(off.size + 9)))

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least the body's, row by row."""
        both, off = self._after(matrix)
        found = self.body.extent_up(both, np.zeros(self.body.dimension))
        return np.asarray(grown(found + off, LAST))

    @cached_property
    def _size(self) -> Vector:
        return np.abs(self.rows) @ self.body.widths()

    def _after(self, matrix: Vector) -> tuple[Vector, Vector]:
        size = np.abs(matrix) @ self._size
        return matrix @ self.rows, grown(growth(sum(self.rows.shape) + 9) * size)

    def scaled(self, factor: float) -> AbstractBody:
        """Return factor·S; `factor` is a power of two."""
        return MappedBody(self.body.scaled(factor), self.rows)
