# SPDX-License-Identifier: Apache-2.0
"""Sets that are described in full, and what bounds the squares of lengths over them.

* Points are looked at one by one.
* center + F·B about another center c is the image of B × [−1, 1] under (F, center − c), as far as
  lengths go, and any coefficients of `ImageBody` prove a bound; of a Euclidean ball the best ones
  prove the maximum itself (the S-lemma), of a cube at most √(π/2) times it.
* What slabs and balls share is bounded by the sum of their quadratics (`section`).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import LAST, POWER, ROUGH, grown, growth
from lownoise.sets.bodies.image import ImageBody
from lownoise.sets.bodies.lengths import climbed_from
from lownoise.sets.bodies.multipliers import farthest_multipliers
from lownoise.sets.bodies.points import PointDifferences, TranslatedPoints
from lownoise.sets.bodies.reach import AbstractSet, Farthest
from lownoise.sets.bodies.section import SectionBody
from lownoise.sets.pairs import farthest_pairs
from lownoise.sets.unit_balls import NormBall, product_ball

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies.section import Section
    from lownoise.sets.unit_balls import AbstractUnitBall

_BLOCK = 1 << 22  # numbers
_STARTS = 4
_SEARCHED = 600.0  # numbers that take as long as the search along a direction
_HALVINGS = 200


class PointSet(AbstractSet):
    """A list of points; a point is encoded as its number in the list.

    Args:
        points: shape (N, d).
    """

    def __init__(self, points: Vector) -> None:
        self.rows = points
        low, high = np.min(points, axis=0), np.max(points, axis=0)
        middle = points[0] + np.mean(points - points[0], axis=0)
        self.center = frozen(np.clip(middle, low, high))
        far = np.maximum(high - self.center, self.center - low)
        self.extent = frozen(np.where(far > 0, np.nextafter(far, np.inf), 0.0))

    @property
    def width(self) -> int:
        """One number."""
        return 1

    @cached_property
    def spanning(self) -> Vector:
        """Points that are far out along the axes, and as many as span the flat."""
        about = self.rows - self.rows[0]
        ends = np.concatenate([[0], np.argmax(about, axis=0), np.argmin(about, axis=0)])
        used = np.flatnonzero(self.extent > 0)
        if used.size and len(self.rows) > 1:
            from scipy.linalg import qr

            scaled = about[:, used] / self.extent[used]
            pivots = qr(scaled.T, mode="r", pivoting=True, check_finite=False)[1]
            ends = np.concatenate([ends, pivots[: used.size]])
        return np.unique(ends)[:, None].astype(np.float64)

    def encoded(self, indices: Integers) -> Vector:
        """Return the codes of the points of those numbers, shape (n, w)."""
        return indices[:, None].astype(np.float64)

    def place(self, encoded: Vector) -> Vector:
        """Return the points of those numbers."""
        return np.asarray(self.rows[encoded[..., 0].astype(np.int64)])

    def knows(self, encoded: Vector) -> bool:
        """Return whether there is a point of that number."""
        i = float(encoded[0])
        return i.is_integer() and 0 <= i < len(self.rows)

    def farthest(self, matrix: Vector, center: Vector) -> Farthest:
        """Return the farthest point, and at least its squared length."""
        lengths = np.linalg.norm((self.rows - center) @ matrix.T, axis=1)
        upper = TranslatedPoints(self.rows).length_up(matrix, center)
        return Farthest(self.encoded(np.array([int(np.argmax(lengths))]))[0], _squared(upper))

    def farthest_pair(self, matrix: Vector) -> Farthest:
        """Return the farthest pair, and at least its squared length."""
        found = farthest_pairs((self.rows - self.center) @ matrix.T)
        pair = np.append(found.first[:1], found.second[:1]) if found.first.size else np.zeros(2)
        upper = PointDifferences(self.rows).length_up(matrix, np.zeros(self.dimension))
        return Farthest(self.encoded(pair.astype(np.int64)), _squared(upper))

    @property
    def effort(self) -> float:
        """One a point."""
        return float(len(self.rows))

    def support_up(self, direction: Vector, about: Vector) -> float:
        """Return at least max ⟨θ, x − about⟩."""
        return float(self.supports_up(direction[None], about)[0])

    def supports_up(self, directions: Vector, about: Vector) -> Vector:
        """Return at least max ⟨θ, x − about⟩, row by row."""
        moved = self.rows - about
        lost = growth(self.dimension + 4) * (np.abs(directions) @ np.max(np.abs(moved), axis=0))
        step = max(_BLOCK // len(moved), 1)
        parts = range(0, len(directions), step)
        found = [np.max(directions[i : i + step] @ moved.T, axis=1) for i in parts]
        return np.asarray(np.concatenate(found) + grown(lost, ROUGH))

    def extreme(self, direction: Vector) -> Vector:
        """Return the code of the extreme point."""
        return np.asarray(self.extremes(direction[None])[0])

    def extremes(self, directions: Vector) -> Vector:
        """Return the code of the extreme point for each row."""
        return self.encoded(np.argmax(directions @ self.rows.T, axis=1))


@final
class ImageSet(AbstractSet):
    """{center + F·x : x ∈ B}; a point is encoded as its x.

    Args:
        factor: F, shape (d, k).
        base: B, k coordinates.
        center: shape (d,).
    """

    def __init__(self, factor: Vector, base: AbstractUnitBall, center: Vector) -> None:
        self.factor = factor
        self.base = base
        self.center = center
        self.extent = frozen(grown(base.support_up(factor), POWER))

    @property
    def width(self) -> int:
        """The coordinates of B."""
        return self.base.dimension

    @cached_property
    def spanning(self) -> Vector:
        """Points along the base's axes, as many as span the flat, and those far out in K."""
        ends = self.base.extreme(np.vstack([self.factor, -self.factor]))
        used = np.flatnonzero(np.any(self.factor != 0, axis=0))
        if not used.size:
            return np.zeros((1, self.width))
        from scipy.linalg import qr

        wide = self.extent > 0
        scaled = self.factor[np.ix_(wide, used)] / self.extent[wide, None]
        pivots = qr(scaled, mode="r", pivoting=True, check_finite=False)[1]
        axes = np.eye(self.width)[used[pivots[: len(self.factor)]]]
        axes /= self.base.norm_up(axes)[:, None]
        return np.vstack([np.zeros((1, self.width)), axes, -axes, ends])

    @cached_property
    def doubt(self) -> Vector:
        """Rounding of k products, their sum and the center."""
        size = np.abs(self.factor) @ self.base.widths()
        used = np.any(self.factor != 0, axis=1)
        off = growth(self.width + 9) * size + (np.abs(self.center) + size) * 2.0**-51
        return np.asarray(np.where(used, off, 0.0))

    def place(self, encoded: Vector) -> Vector:
        """Return center + F·x, x brought into B."""
        x = np.reshape(encoded, (-1, self.width))
        x = x / np.maximum(self.base.norm_up(x), 1.0)[:, None]
        return (self.center + x @ self.factor.T).reshape(*encoded.shape[:-1], self.dimension)

    def farthest(self, matrix: Vector, center: Vector) -> Farthest:
        """Return a point far out, and a bound by the best coefficients at hand."""
        offset = self.center - center
        image, away = matrix @ self.factor, matrix @ offset
        lost = 2.0**-52 * float(np.linalg.norm(np.abs(matrix) @ np.abs(offset)))
        x = climbed(self.base, image, away)
        attained = float(np.linalg.norm(image @ x + away))
        upper = _bounded(matrix, self.factor, self.base, self.base, attained)
        if np.any(offset):
            size = float(np.linalg.norm(np.abs(matrix) @ np.abs(offset)))
            upper = (upper + size) * (1 + growth(self.dimension + len(matrix) + 9))
            factor = np.hstack([self.factor, offset[:, None]])
            base = product_ball([self.base, NormBall(1, math.inf)])
            upper = min(upper, _bounded(matrix, factor, base, self.base, attained))
        upper += lost
        return Farthest(x, _squared(upper))

    def farthest_pair(self, matrix: Vector) -> Farthest:
        """Return opposite points: K − K is twice K about its center."""
        x = climbed(self.base, matrix @ self.factor, np.zeros(len(matrix)))
        upper = 2 * _bounded(matrix, self.factor, self.base, self.base)
        return Farthest(np.stack([x, -x]), _squared(upper))

    @property
    def effort(self) -> float:
        """One a column, where the ball's reach is no search."""
        return math.inf if self.base.searched or self.base.only_near else float(self.width)

    def support_up(self, direction: Vector, about: Vector) -> float:
        """Return at least max ⟨θ, x − about⟩."""
        return float(self.supports_up(direction[None], about)[0])

    def supports_up(self, directions: Vector, about: Vector) -> Vector:
        """Return at least max ⟨θ, x − about⟩, row by row."""
        own = ImageBody(self.factor, self.base).extent_up(directions, about)
        off = self.center - about
        lost = growth(self.dimension + 4) * (np.abs(directions) @ np.abs(off))
        return np.asarray(directions @ off + own + lost * 2 + 2.0**-50 * own)

    def extreme(self, direction: Vector) -> Vector:
        """Return the x that is extreme along Fᵀθ."""
        return np.asarray(self.extremes(direction[None])[0])

    def extremes(self, directions: Vector) -> Vector:
        """Return the x that is extreme along Fᵀθ for each row."""
        return self.base.extreme(directions @ self.factor)


@final
class SectionSet(AbstractSet):
    """What slabs and balls share; a point is encoded as its coordinates about the middle.

    Args:
        section: K about the middle.
        middle: a point inside, shape (d,).
    """

    def __init__(self, section: Section, middle: Vector) -> None:
        self.section = section
        self.center = middle
        self.extent = section.extent

    @property
    def width(self) -> int:
        """The coordinates."""
        return self.dimension

    @cached_property
    def spanning(self) -> Vector:
        """Points far out along the axes."""
        axes = np.eye(self.dimension)
        return np.vstack([np.zeros(self.dimension), self.section.far(np.vstack([axes, -axes]))])

    @cached_property
    def doubt(self) -> Vector:
        """What adding the middle rounds."""
        return np.asarray((np.abs(self.center) + self.extent) * 2.0**-50)

    def place(self, encoded: Vector) -> Vector:
        """Return the points, brought inside."""
        rows = np.reshape(encoded, (-1, self.dimension))
        _, norms = SectionBody(self.section, "translates").changes(rows)
        inside = np.where(np.isfinite(norms), 1 / np.maximum(norms, 1.0), 0.0)
        return (self.center + rows * inside[:, None]).reshape(encoded.shape)

    def farthest(self, matrix: Vector, center: Vector) -> Farthest:
        """Return a point far out, and a bound by the sum of the parts' quadratics."""
        at = center - self.center
        body = SectionBody(self.section, "translates")
        lost = 2.0**-52 * float(np.linalg.norm(np.abs(matrix) @ np.abs(at)))
        return Farthest(self._climbed(matrix, -at), _squared(body.length_up(matrix, at) + lost))

    def farthest_pair(self, matrix: Vector) -> Farthest:
        """Return points at both ends, and a bound of the same kind."""
        x = self._climbed(matrix, np.zeros(self.dimension))
        ahead = (matrix @ x) @ matrix
        body = SectionBody(self.section, "differences")
        upper = body.length_up(matrix, np.zeros(self.dimension))
        return Farthest(self.section.far(np.stack([ahead, -ahead])), _squared(upper))

    def _climbed(self, matrix: Vector, offset: Vector) -> Vector:
        axes = np.linalg.svd(matrix, full_matrices=False)[2][:_STARTS]
        x = self.section.far(np.vstack([axes, -axes]))
        for _ in range(_STARTS):
            x = self.section.far(((x + offset) @ matrix.T) @ matrix)
        return np.asarray(x[np.argmax(np.linalg.norm((x + offset) @ matrix.T, axis=1))])

    @property
    def loose(self) -> bool:
        """It is: the sum of its quadratics is far from its shape, as a rule."""
        return True

    @property
    def effort(self) -> float:
        """Many: each direction is a search."""
        return _SEARCHED

    def support_up(self, direction: Vector, about: Vector) -> float:
        """Return at least max ⟨θ, x − about⟩."""
        return float(self.supports_up(direction[None], about)[0])

    def supports_up(self, directions: Vector, about: Vector) -> Vector:
        """Return at least max ⟨θ, x − about⟩, row by row."""
        off = self.center - about
        lost = growth(self.dimension + 4) * (np.abs(directions) @ np.abs(off))
        own = self.section.support_up(directions)
        return np.asarray(own + directions @ off + 2 * lost + 2.0**-50 * np.abs(own))

    def extreme(self, direction: Vector) -> Vector:
        """Return a point nearly extreme along θ."""
        return np.asarray(self.extremes(direction[None])[0])

    def extremes(self, directions: Vector) -> Vector:
        """Return points nearly extreme along each row."""
        return self.section.far(directions)


def climbed(base: AbstractUnitBall, image: Vector, away: Vector) -> Vector:
    """Return x in B that makes ‖X·x + o‖ great: to what is extreme along the gradient, and again.

    Args:
        base: B, k coordinates.
        image: X, shape (r, k).
        away: o, shape (r,).
    """
    starts = _trust_region(image, away)[0][None] if base.ball_order == 2 else None  # noqa: PLR2004
    return climbed_from(base, image, away, starts)


def image_extent(image: Vector, away: Vector, base: AbstractUnitBall) -> float:
    """Return at least max ‖X·x + o‖ over B.

    Args:
        image: X, shape (r, k).
        away: o, shape (r,).
        base: B, k coordinates.
    """
    r = len(away)
    factor = np.hstack([image, away[:, None]])
    lifted = product_ball([base, NormBall(1, math.inf)])
    return min(
        _bounded(np.eye(r), factor, lifted, base),
        (_bounded(np.eye(r), image, base, base) + float(np.linalg.norm(away)))
        * (1 + growth(r + 9)),
    )


def _bounded(
    matrix: Vector,
    factor: Vector,
    base: AbstractUnitBall,
    own: AbstractUnitBall,
    attained: float = 0.0,
) -> float:
    """Return at least max ‖matrix·F·x‖ over a base: own × [−1, 1], or own alone.

    `attained` is a length that is attained, or nearly; of a ball the coefficients prove the best.
    """
    body = ImageBody(frozen(factor), base)
    image = matrix @ factor
    if np.any(image):
        if own.ball_order == 2:  # noqa: PLR2004
            attained = math.inf
            body = body.with_multipliers(
                np.ones(own.dimension) if base is own else _ball_multipliers(image)
            )
        else:
            body = body.with_multipliers(farthest_multipliers(image, base))
    return body.longest_image_up(matrix, attained)


def _ball_multipliers(image: Vector) -> Vector:
    """Return the coefficients that prove the maximum of ‖Xu + o‖ over a ball; o comes last.

    λ‖u‖² + κ is at least ‖Xu + o‖² for all u where λ ≥ A = XᵀX, κ = ‖o‖² + bᵀ(λ − A)⁻¹b and
    b = Xᵀo.
    """
    own, away = image[:, :-1], image[:, -1]
    _, multiplier, rest = _trust_region(own, away)
    least = 2.0**-60 * max(multiplier, rest)
    return np.append(np.full(own.shape[1], max(multiplier, least)), max(rest, least))


def _trust_region(image: Vector, away: Vector) -> tuple[Vector, float, float]:
    """Return the farthest u of the ball, its multiplier λ, and κ."""
    if not len(image):
        return np.zeros(image.shape[1]), 0.0, 0.0
    axes, lengths, turned = np.linalg.svd(image, full_matrices=False)
    w = np.square(lengths)
    pull = lengths * (axes.T @ away)
    size = float(np.linalg.norm(pull))
    low = float(w[0]) + 1e-13 * max(float(w[0]), size, 1e-300)
    high = low + size

    def length(value: float) -> float:
        return float(np.linalg.norm(pull / (value - w)))

    outside = length(low) > 1
    for _ in range(_HALVINGS if outside else 0):
        half = (low + high) / 2
        if not low < half < high:
            break
        low, high = (half, high) if length(half) > 1 else (low, half)
    multiplier = high if outside else low
    u = pull / (multiplier - w)
    rest = math.sqrt(max(0.0, 1 - float(u @ u)))
    u[0] += rest if u[0] >= 0 else -rest
    kappa = float(away @ away) + float(np.sum(pull * pull / (multiplier - w)))
    return u @ turned, multiplier, kappa


def _squared(upper: float) -> float:
    return grown(upper * upper, LAST)
