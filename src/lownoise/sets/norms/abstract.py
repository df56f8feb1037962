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
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import growth
from lownoise.sets.bodies.points import farthest_pairs
from lownoise.sets.norms.reach import body_reach_up
from lownoise.sets.unit_balls import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector
    from lownoise.samplers.uniform import AbstractUniform
    from lownoise.sensitivity.changes import Reach
    from lownoise.sets.bodies import AbstractBody, ImageBody

_TINY = 2.0**-900  # more than all that can vanish below the smallest float
_BLOCK = 1 << 22  # numbers
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
        """Return at least the greatest norm over a body, by what it says of its reach."""
        zero = np.zeros(body.dimension)
        found = self.extents_up(body.extent_up(self.matrix, zero))
        if self.order == 2:  # noqa: PLR2004
            found = min(found, self._outward(body.reach_up(self.matrix, zero)))
        return found

    def image_up(self, body: ImageBody) -> float:
        """Return at least the greatest norm over an image of a unit body."""
        found = self.body_up(body)
        if isinstance(body.base, NormBall) and body.base.order == 1:
            found = min(found, float(np.max(self.norm_up(body.dense.T), initial=0.0)))
        return found

    def differences_up(self, points: Vector) -> float:
        """Return at least the greatest norm of x − y over pairs of points, shape (N, d)."""
        about = points - points[0]
        lost = growth(points.shape[1] + 12) * (np.abs(about) @ np.abs(self.matrix).T) + _TINY
        image, most = about @ self.matrix.T, 2 * np.max(lost, axis=0) * (1 + growth(9))
        spread = (np.max(image, axis=0) - np.min(image, axis=0)) * (1 + growth(9)) + most
        found = self.extents_up(spread)
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


def covariance(gauge: AbstractNorm, scale: float) -> Vector:
    """Return E z·zᵀ of noise of density ∝ exp(−‖z‖/scale), a float for predictions.

    z = scale·r·u with r ~ Gamma(k + 1) and u uniform in the unit ball of k dimensions (001, Remark
    4.2), so that E r² = (k + 1)(k + 2).

    Args:
        gauge: the norm.
        scale: b > 0; its reach divided by ε.

    Returns:
        Shape (d, d); or (d,), the diagonal, where all other entries are 0.

    Examples:
        >>> from lownoise.sets.unit_balls import NormBall
        >>> from lownoise.sets.norms import ImageNorm
        >>> import numpy as np
        >>> covariance(ImageNorm(np.ones(2), NormBall(2, 1.0)), 1.0).round(9)  # Laplace
        array([2., 2.])
    """
    k = gauge.uniform.rank
    return frozen(scale**2 * (k + 1) * (k + 2) * gauge.uniform.second_moment())


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
        """Return the gauge of factor·(unit ball), every number rounded to a float; factor > 0."""

    @property
    def euclidean(self) -> int:
        """The d of a norm that is the Euclidean length of d free linear forms.

        1 of every other, which noise of one number is a bound for.
        """
        return 1

    @property
    def forms(self) -> tuple[Form, ...]:
        """Norms of images of s, the greatest of which is at least ‖s‖ and hardly more; or none."""
        return ()

    def own_up(self, body: Reach) -> float:
        """Return at least max ‖s‖ over a body akin to the unit ball, infinite for all others."""
        return math.inf

    def reach_up(self, body: Reach) -> float:
        """Return at least max ‖s‖ over the body of changes, and hardly more.

        Exactly 1 where the body is the unit ball itself, given by the same numbers.

        Raises:
            PlanError: where the body is of a kind whose reach in this norm is not known, or of
                another dimension.
        """
        own = getattr(body, "dimension", self.dimension)
        if own != self.dimension:
            raise PlanError(f"body has {own} coordinates; give {self.dimension}, as the norm has")
        return body_reach_up(body, self)
