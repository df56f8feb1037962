# SPDX-License-Identifier: Apache-2.0
"""What every norm of pure noise can say of itself, and the covariance of its noise.

Norms of images: ‖s‖ = stretch·‖X·s‖_r, what polytopes with known facets and balls share.

All that is said of them is rounded up: a product of n terms in floats is within γ_n of the product
of absolute values, in any order (Higham 2002, section 3.1), and norms of balls grow with |xᵢ|, so
that bounds on the entries of X·s give bounds on the norm.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen, slices
from lownoise.numbers.rounding import growth
from lownoise.sets.pairs import farthest_pairs
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Chosen, Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sets.bodies import (
        AbstractBody,
        ImageBody,
        PointDifferences,
        SectionBody,
        SymmetricPoints,
    )
    from lownoise.sets.unit_balls import AbstractUnitBall

_TINY = 2.0**-900  # more than all that can vanish below the smallest float
_BLOCK = 1 << 22  # numbers
_MOST_CORNERS = 7  # signs, whose 2^6 pairs of opposite choices are listed
_FEW_PAIRS = 1 << 12
_MOST_PAIRS = 3e9  # differences of numbers; beyond, twice the greatest distance must do


def ball_norm_up(size: Vector, order: float) -> Vector:
    """Return at least ‖x‖_order, row by row; nothing is added where the order is ∞.

    Args:
        size: |x| or more, shape (n, k).
        order: in [1, ∞].

    Examples:
        >>> ball_norm_up(np.array([[0.5, 1.0]]), math.inf)
        array([1.])
    """
    if math.isinf(order) or size.shape[1] == 1:
        return np.asarray(np.max(size, axis=1))
    if order == 1:
        return np.asarray(np.sum(size, axis=1) * (1 + growth(size.shape[1] + 9)))
    return NormBall(size.shape[1], order).norm_up(size)


@final
@dataclass(frozen=True, eq=False)
class Form:
    """The norm stretch·‖X·s‖_order.

    Args:
        matrix: X, shape (k, d).
        order: in [1, ∞].
        stretch: at least 1; infinite where nothing is known.
    """

    matrix: Vector
    order: float
    stretch: float = 1.0

    def _sizes(self, points: Vector) -> Vector:
        """Return at least |X·s|, shape (n, k)."""
        x = self.matrix
        size = np.abs(points) @ np.abs(x).T
        lost = growth(x.shape[1] + 9) * size + np.where(np.any(points, axis=1), _TINY, 0.0)[:, None]
        return np.asarray((np.abs(points @ x.T) + lost) * (1 + growth(9)))

    def norm_up(self, points: Vector) -> Vector:
        """Return at least the norm, row by row; shapes (n, d) and (n,)."""
        step = max(_BLOCK // max(sum(self.matrix.shape), 1), 1)
        found = [
            ball_norm_up(self._sizes(points[at : at + step]), self.order)
            for at in range(0, len(points), step)
        ]
        return np.concatenate([np.zeros(0), *found]) * self.stretch * (1 + growth(9))

    def _outward(self, value: float) -> float:
        return value * self.stretch * (1 + growth(9))

    def extents_up(self, extents: Vector) -> float:
        """Return at least the norm of every s with |X·s| ≤ extents, shape (k,)."""
        return self._outward(float(ball_norm_up(extents[None], self.order)[0]))

    def box_up(self, half_width: Vector) -> float:
        """Return at least the greatest norm over a box; equal where X is a diagonal or r = ∞."""
        size = np.abs(self.matrix) @ half_width * (1 + growth(half_width.size + 9))
        return self.extents_up(size + (_TINY if np.any(half_width) else 0.0))

    def body_up(self, body: AbstractBody) -> float:
        """Return at least the greatest norm over a body, by what it says of its length."""
        zero, length = np.zeros(body.dimension), math.inf
        if self.order == 2:  # noqa: PLR2004
            length = self._outward(body.length_up(self.matrix, zero))
            if body.firm:
                return length
        return min(self.extents_up(body.extent_up(self.matrix, zero)), length)

    def image_up(self, body: ImageBody) -> float:
        """Return at least the greatest norm over an image of a unit ball."""
        found = self.body_up(body)
        if body.base.ball_order == 1:
            found = min(found, float(np.max(self.norm_up(body.dense.T), initial=0.0)))
        return found

    def differences_up(self, points: Vector) -> float:
        """Return at least the greatest norm of x − y over pairs of points, shape (N, d)."""
        about = points - points[0]
        lost = growth(points.shape[1] + 12) * (np.abs(about) @ np.abs(self.matrix).T) + _TINY
        image, most = about @ self.matrix.T, 2 * np.max(lost, axis=0) * (1 + growth(9))
        widths = (np.max(image, axis=0) - np.min(image, axis=0)) * (1 + growth(9)) + most
        found = self.extents_up(widths)
        if math.isinf(self.order) or len(image) <= 1 or image.shape[1] == 1:
            return found if len(image) > 1 else 0.0
        rounding = float(ball_norm_up(most[None], self.order)[0])
        middle = (np.max(image, axis=0) + np.min(image, axis=0)) / 2
        centred = image - middle  # rounded once more, and so are differences of its rows
        rounding += 4 * growth(9) * float(np.max(ball_norm_up(np.abs(centred), self.order)))
        rounding += 4 * growth(9) * float(np.max(ball_norm_up(np.abs(image), self.order)))
        if self.order == 2:  # noqa: PLR2004
            longest = farthest_pairs(centred).longest
        else:
            longest = _longest(centred, self.order)
        return min(found, self._outward((longest + rounding) * (1 + growth(99))))


def _longest(rows: Vector, order: float) -> float:
    """Return at least max ‖x − y‖_order: ‖x‖ + ‖y‖ says which pairs are to be looked at."""
    sizes = ball_norm_up(np.abs(rows), order)
    turn = np.argsort(-sizes, kind="stable")
    rows, sizes = rows[turn], sizes[turn]
    if float(len(rows)) ** 2 * rows.shape[1] / 2 > _MOST_PAIRS:
        return float(sizes[0] + sizes[1]) * (1 + growth(9))
    best = 0.0
    for i in range(1, len(rows)):
        if sizes[i] + sizes[0] <= best:
            break
        near = int(np.searchsorted(-sizes[:i], sizes[i] - best, side="right"))
        if near:
            best = max(best, float(np.max(ball_norm_up(np.abs(rows[:near] - rows[i]), order))))
    return best


def blocks_of(base: AbstractUnitBall) -> list[tuple[slice, float]]:
    """Return the coordinates and the order of each ℓ_r ball that a unit ball is the product of.

    None at all where it is not one.

    Examples:
        >>> blocks_of(NormBall(2, 1.0))
        [(slice(0, 2, None), 1.0)]
    """
    own = slices(ball.dimension for ball in base.factors)
    pairs = zip(own, (ball.ball_order for ball in base.factors), strict=True)
    found = [(at, order) for at, order in pairs if order is not None]
    return found if len(found) == len(own) else []


class AbstractNorm(ABC):
    """The norm ‖·‖ whose unit ball is a symmetric convex body that can be sampled."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of coordinates d."""

    @property
    @abstractmethod
    def uniform(self) -> AbstractUniform:
        """Uniform points of the unit ball, whose dimension is their rank."""

    @abstractmethod
    def norm_up(self, points: Vector) -> Vector:
        """Return at least ‖s‖, row by row, and hardly more; shapes (n, d) and (n,).

        Infinite for what is not in the span of the unit ball.
        """

    @abstractmethod
    def scaled(self, factor: float) -> AbstractNorm:
        """Return the norm of factor·(unit ball), every number rounded to a float; factor > 0."""

    @property
    def steady(self) -> bool:
        """Whether lengths are no products of matrices, which each processor rounds its own way."""
        return True

    @property
    def euclidean(self) -> int:
        """The d of a norm that is the Euclidean length of d free linear forms.

        1 of every other, which noise of one number is a bound for.
        """
        return 1

    @property
    def ellipsoid(self) -> Vector | None:
        """F where the unit ball is F·(Euclidean ball), shape (d, d) or (d,); else None."""
        return None

    @property
    def axes(self) -> tuple[Vector, float] | None:
        """How far the unit ball reaches along each axis, (d,), and how its points lie there.

        The latter as `noise.coordinates` has it, of every coordinate; None where it is not known.
        """
        return None

    @property
    def forms(self) -> tuple[Form, ...]:
        """Norms of images of s, the greatest of which is at least ‖s‖ and hardly more; or none."""
        return ()

    def akin_up(self, body: AbstractBody) -> float:
        """Return at least max ‖s‖ over a body akin to the unit ball, infinite for all others.

        The same for kinds of bodies that are known more closely: `akin_box_up` and so on.
        """
        return math.inf

    def akin_box_up(self, half_width: Vector) -> float:
        """Return what `akin_up` does of a box, shape (d,)."""
        return math.inf

    def akin_image_up(self, body: ImageBody) -> float:
        """Return what `akin_up` does of an image of a unit ball."""
        return self.akin_up(body)

    def akin_points_up(self, body: SymmetricPoints) -> float:
        """Return what `akin_up` does of a hull of points."""
        return self.akin_up(body)

    def akin_differences_up(self, body: PointDifferences) -> float:
        """Return what `akin_up` does of differences of points."""
        return self.akin_up(body)

    def akin_section_up(self, body: SectionBody) -> float:
        """Return what `akin_up` does of a section."""
        return self.akin_up(body)

    def sensitivity_up(self, body: AbstractBody) -> float:
        """Return at least max ‖s‖ over the body of changes, and hardly more.

        Exactly 1 where the body is the unit ball itself, given by the same numbers.

        Raises:
            PlanError: where the body is of a kind whose size in this norm is not known, or of
                another dimension.
        """
        if body.dimension != self.dimension:
            raise PlanError(
                f"body has {body.dimension} coordinates; give {self.dimension}, as the norm has"
            )
        return body.sensitivity_up(self)

    def box_up(self, half_width: Vector) -> float:
        """Return at least max ‖s‖ over a box: what `sensitivity_up` of it is."""
        if not np.any(half_width):
            return 0.0
        found = self.akin_box_up(half_width)
        if math.isfinite(found):
            return found
        found = self._by_forms(lambda form: form.box_up(half_width))
        moving = np.flatnonzero(half_width)
        if moving.size <= _MOST_CORNERS:
            ends = np.zeros((1 << (moving.size - 1), self.dimension))
            ends[:, moving] = corners(moving.size) * half_width[moving]
            found = min(found, float(np.max(self.norm_up(ends))))
        if not math.isfinite(found):  # ‖s‖ ≤ Σ |sᵢ|·‖eᵢ‖
            axes = self.norm_up(np.diag(half_width)[moving])
            found = float(np.sum(axes)) * (1 + growth(moving.size + 9))
        return self._sure(found, "a box")

    def points_up(self, body: SymmetricPoints) -> float:
        """Return at least max ‖s‖ over a hull of points and their opposites."""
        found = self.akin_points_up(body)
        if body.image is not None and not math.isfinite(found):
            found = self.akin_image_up(body.image)
        if math.isfinite(found):
            return found
        found = float(np.max(self.norm_up(body.points), initial=0.0))
        return self._sure(found, type(body).__name__)

    def differences_up(self, body: PointDifferences) -> float:
        """Return at least max ‖x − y‖ over pairs of points."""
        found = self.akin_differences_up(body)
        if math.isfinite(found):
            return found
        found = self._by_forms(lambda form: form.differences_up(body.points))
        n = len(body.points)
        # codes are whole numbers below 2^53: so are their differences, exactly
        if n * (n - 1) // 2 <= _FEW_PAIRS and integral(body.points):
            apart = body.vertices(np.stack(np.triu_indices(n, 1), axis=1))
            found = min(found, float(np.max(self.norm_up(apart), initial=0.0)))
        return self._sure(found, type(body).__name__)

    def image_up(self, body: ImageBody) -> float:
        """Return at least max ‖s‖ over an image of a unit ball."""
        found = self.akin_image_up(body)
        if math.isfinite(found) and found <= 1:
            return found
        found = min(found, self._by_forms(lambda form: form.image_up(body)))
        if body.corners is not None:
            size = np.max(np.abs(body.corners) @ np.abs(body.dense).T, axis=0)
            over = self.box_up(growth(body.base.dimension + 3) * size)
            most = float(np.max(self.norm_up(body.corners @ body.dense.T)))
            found = min(found, (most + over) * (1 + growth(9)))
        ends = None if math.isfinite(found) else _ends(body)
        if ends is not None:
            found = float(np.max(self.norm_up(ends)))
        return self._sure(found, type(body).__name__)

    def section_up(self, body: SectionBody) -> float:
        """Return at least max ‖s‖ over a section."""
        found = self.akin_section_up(body)
        return found if math.isfinite(found) else self._by_length(body)

    def body_up(self, body: AbstractBody) -> float:
        """Return at least max ‖s‖ over a body of any other kind, by what it says of its length."""
        found = self.akin_up(body)
        return found if math.isfinite(found) else self._by_length(body)

    def _by_length(self, body: AbstractBody) -> float:
        return self._sure(self._by_forms(lambda form: form.body_up(body)), type(body).__name__)

    def _by_forms(self, ask: Callable[[Form], float]) -> float:
        found = float(np.max([ask(form) for form in self.forms])) if self.forms else math.inf
        return found if found >= 0 else math.inf  # not a number proves nothing

    def _sure(self, found: float, kind: str) -> float:
        if math.isfinite(found):
            return found
        raise PlanError(
            f"{kind} has no known size in the norm of a {type(self).__name__} of dimension "
            f"{self.dimension}; use the norm of that body",
        )


def exactly_one(found: Vector, points: Vector, held: Vector) -> Vector:
    """Return norms of `points`, 1 where they exceed that for one of the points that are held.

    Args:
        found: shape (n,).
        points: shape (n, d).
        held: points of the unit ball, with their opposites, shape (N, d).
    """
    above = np.flatnonzero(found > 1)
    if above.size:
        found[above[among(points[above], held)]] = 1.0
    return np.asarray(found)


def corners(width: int) -> Vector:
    """Return the choices of `width` signs, one of each and its opposite; (2^(width − 1), width)."""
    bits = (np.arange(1 << (width - 1))[:, None] >> np.arange(width)) & 1
    return np.asarray(1.0 - 2.0 * bits)


def integral(points: Vector) -> bool:
    """Return whether all are whole numbers whose differences are exact."""
    return bool(np.all(points == np.floor(points)) and np.max(np.abs(points)) <= 2.0**52)


def _ends(body: ImageBody) -> Vector | None:
    """Return what an image is the symmetric hull of, where that is a short list."""
    k, order = body.base.dimension, body.base.ball_order
    if order == 1:
        return np.ascontiguousarray(body.dense.T)
    few = order == math.inf and k <= _MOST_CORNERS
    return np.asarray(corners(k) @ body.dense.T) if few else None


def turned(points: Vector) -> Vector:
    """Return each row or its opposite, the first number that is not 0 being positive."""
    first = np.argmax(points != 0, axis=1)
    sign = np.where(points[np.arange(len(points)), first] < 0, -1.0, 1.0)
    return np.asarray(points * sign[:, None] + 0.0)  # no negative zeros


def _keys(rows: Vector) -> Any:  # noqa: ANN401 (raw bytes have no type of their own)
    whole = np.ascontiguousarray(rows)
    return whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).ravel()


def among(points: Vector, others: Vector) -> Chosen:
    """Return which rows are rows of a list or opposites of them, number for number, shape (n,).

    Examples:
        >>> among(np.array([[-1.0, 0.0], [1.0, 1.0]]), np.array([[1.0, 0.0]]))
        array([ True, False])
    """
    return np.asarray(np.isin(_keys(turned(points)), _keys(turned(others))))


def distinct(points: Vector) -> Vector:
    """Return the rows that are not 0, one of each and its opposite.

    Examples:
        >>> distinct(np.array([[0.0, 0.0], [1.0, 2.0], [-1.0, -2.0]]))
        array([[1., 2.]])
    """
    moved = points[np.any(points, axis=1)]
    return frozen(np.unique(turned(moved), axis=0)) if len(moved) else frozen(moved.copy())
