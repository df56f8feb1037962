# SPDX-License-Identifier: Apache-2.0
"""Linear images of unit balls: what balls, ellipsoids, zonotopes and their sums have in common.

For S = F·B and y > 0 every Fx with x ∈ B has Σ yᵢxᵢ² ≤ energy(y), so S is covered by the ellipsoid
energy(y)·F diag(1/y) Fᵀ, and max ‖Xs‖ ≤ √energy(y)·‖X F diag(1/√y)‖₂ for every matrix X. Some y
makes that nearly an equality; which one, an optimiser may say: any y is a proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self, final
from weakref import WeakValueDictionary

import numpy as np

from lownoise.errors import PlanError
from lownoise.numbers.arrays import frozen
from lownoise.numbers.norms import euclidean
from lownoise.numbers.rounding import FEW, POWER, ROUGH, grown, growth, shrunk, spectral_up
from lownoise.sets.bodies.abstract import AbstractBody, half_signs
from lownoise.sets.bodies.lengths import image_length, longest_up
from lownoise.sets.bodies.multipliers import checked_multipliers, odd_sums_up, squares_of
from lownoise.sets.bodies.points import SymmetricPoints, exact_images
from lownoise.sets.norms.choice import of_image
from lownoise.sets.unit_balls import NormBall, signed_corners

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sensitivity.factors import AbstractShape
    from lownoise.sets.norms import AbstractNorm
    from lownoise.sets.unit_balls import AbstractUnitBall

_FEW_ROWS = 16
# corners that something holds: the same ones are not listed again
_HELD: WeakValueDictionary[tuple[tuple[int, ...], bytes], SymmetricPoints] = WeakValueDictionary()
_MOST_GENERATORS = 21  # whose 2^20 pairs of opposite corners are listed


@final
@dataclass(frozen=True, eq=False)
class ImageBody(AbstractBody):
    """The body S = F·B.

    Args:
        factor: F, shape (d, k); or shape (d,), its diagonal.
        base: B, k coordinates.
        multipliers: y > 0, shape (k,), that is thought to make the bound on its length small; of a
            cube also odd sums of signs below it, shape (1 + n, k), as in `bodies.multipliers`.

    Raises:
        PlanError: where the factor or the multipliers have not k columns, or one is not above 0.
    """

    factor: Vector
    base: AbstractUnitBall
    multipliers: Vector | None = None

    def __post_init__(self) -> None:
        k = self.base.dimension
        if self.factor.shape[-1] != k:
            raise PlanError(f"ImageBody.factor has not the {k} columns of its base; give one each")
        if self.multipliers is not None:
            checked_multipliers(self.multipliers, self.base)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.factor.shape[0])

    @property
    def diagonal(self) -> bool:
        """Whether F is a diagonal."""
        return self.factor.ndim == 1

    @cached_property
    def dense(self) -> Vector:
        """F as a matrix, shape (d, k)."""
        return frozen(np.diag(self.factor)) if self.diagonal else self.factor

    def inner_radius(self, weights: Vector) -> float:
        """Return the least axis of a ball that is only stretched; 0: unknown."""
        if not (self.diagonal and self.base.ball_order == 2):  # noqa: PLR2004
            return 0.0
        return shrunk(float(np.min(np.abs(self.factor) * weights)))

    @cached_property
    def corners(self) -> Vector | None:
        """Points of B whose symmetric hull holds it, hardly more, (N, k); None where too many."""
        return signed_corners(self.base)

    @property
    def spanning(self) -> Vector:
        """The columns of F as rows, shape (k, d)."""
        return self.dense.T

    def around(self) -> tuple[Vector, bool]:
        """Return the columns of F where they are all corners, and few about an ellipsoid.

        k^{1/4} times the unit vectors and signs/√k hold the unit ball, as |θ|₂² ≤ |θ|_∞·|θ|₁; and
        so do √k times the unit vectors.
        """
        k, order = self.base.dimension, self.base.ball_order
        if order == 1 or (order and k == 1):
            return self.dense.T, True
        if order != 2:  # noqa: PLR2004
            return super().around()
        signs = half_signs(k)
        if signs is None:
            return math.sqrt(k) * self.dense.T, False
        return k**0.25 * np.vstack([np.eye(k), signs / math.sqrt(k)]) @ self.dense.T, False

    def length_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·s‖ over the body; `center` is 0."""
        return self.longest_image_up(matrix)

    def longest_image_up(self, matrix: Vector, attained: float = 0.0) -> float:
        """Return the same, where a length that some point has, or nearly, is known."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            image = matrix * self.factor if self.diagonal else matrix @ self.factor
            if not np.all(np.isfinite(image)):
                return math.inf
            size = np.abs(matrix) @ (np.abs(self.dense) @ self.base.widths())
            hidden = grown(growth(self.dimension + 3) * euclidean(size), ROUGH)
            longest = max(self._piece_up(image, *piece) for piece in self.base.pieces())
            if len(image) <= _FEW_ROWS:  # at most what its rows reach alone; equal for one
                longest = min(longest, euclidean(self.base.support_up(image)))
            if self.multipliers is not None and self.multipliers.ndim > 1:
                longest = min(longest, odd_sums_up(image, self.multipliers))
            if self.corners is not None:
                longest = min(longest, longest_up(image, self.corners))
            else:
                longest = image_length(image, self.base, longest, attained=attained).upper
            return grown(grown(longest, FEW) + hidden, FEW)

    def _piece_up(self, image: Vector, kept: Integers, base: AbstractUnitBall) -> float:
        """Return at least max ‖image·x‖ over a body on some coordinates, by the best y at hand."""
        own = image if kept.size == self.base.dimension else image[:, kept]
        most = float(np.max(np.abs(own), initial=0.0)) or 1.0
        part = own / most  # so that squares neither vanish nor overflow
        squares = np.maximum(np.einsum("ij,ij->j", part, part), 2.0**-80)
        candidates = [squares, np.ones(kept.size)]
        if self.multipliers is not None:
            candidates.insert(0, squares_of(self.multipliers)[kept])
        return min(_bounded(own, base, y) for y in candidates)

    def radius_up(self, shape: AbstractShape) -> float:
        """Return at least max √(sᵀ M⁻¹ s): in closed form where F and M are diagonals."""
        scale = shape.independent
        if scale is None:
            return super().radius_up(shape)
        if not self.diagonal:  # no more than that of the box around it
            return min(super().radius_up(shape), shape.box_radius_up(self.widths()))
        return self._diagonal_radius_up(scale)

    def _diagonal_radius_up(self, scale: Vector) -> float:
        """Return at least max √Σ(sᵢ/scaleᵢ)² where F is a diagonal; `scale` has shape (d,)."""
        used = self.factor != 0
        with np.errstate(divide="ignore", over="ignore"):
            ratios = np.where(used, self.factor / np.where(used, scale, 1.0), 0.0)
            squares = np.square(ratios)
        if not np.all(np.isfinite(squares)):
            return np.inf
        lost = self.dimension * 2.0**-1000 if np.any(squares[used] < 2.0**-900) else 0.0
        energy = self.base.energy_up(squares)
        if self.corners is not None:
            own = float(np.max(np.square(self.corners) @ squares))
            energy = min(energy, own * (1 + growth(self.dimension + 9)))
        return float(np.sqrt(grown(energy, POWER) + lost))

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·s|, row by row, shape (r,); `center` is 0."""
        image = matrix * self.factor if self.diagonal else matrix @ self.factor
        size = np.abs(matrix) @ (np.abs(self.dense) @ self.base.widths())
        hidden = grown(growth(self.dimension + 3) * size, ROUGH)
        return np.asarray(grown(self.base.support_up(image) + hidden, FEW))

    def widths(self) -> Vector:
        """Return the greatest change of each coordinate, shape (d,), rounded up."""
        if self.diagonal:
            return grown(np.abs(self.factor) * self.base.widths(), FEW)
        return grown(self.base.support_up(self.factor), FEW)

    def answer_length(self, answers: Vector | None) -> float:
        """Return the greatest Euclidean change of the answers; in closed form for a diagonal."""
        if answers is None and self.diagonal:
            return self._diagonal_radius_up(np.ones(self.dimension))
        return super().answer_length(answers)

    def answer_widths(self, answers: Vector | None) -> Vector:
        """Return the greatest change of each answer."""
        return self.widths() if answers is None else super().answer_widths(answers)

    def sensitivity_up(self, norm: AbstractNorm) -> float:
        """Return at least max ‖s‖: what the norm says of images."""
        return norm.image_up(self)

    def norm(self, distance: float) -> AbstractNorm:
        """Return that of an image, as far as one can be sampled."""
        return of_image(self, distance)

    def scaled(self, factor: float) -> Self:
        """Return factor·S; `factor` is a power of two."""
        return replace(self, factor=frozen(factor * self.factor))

    def mapped(self, rows: Vector) -> AbstractBody:
        """Return the image by rows·F, and around it what rounding of the product hides."""
        exact = self.selected(rows)
        if exact is not None:
            return exact
        size = np.abs(rows) @ (np.abs(self.dense) @ self.base.widths())
        off = grown(growth(rows.shape[1] + 3) * size)
        return ImageBody(frozen(rows @ self.dense), self.base).rounded(off)

    def selected(self, rows: Vector) -> ImageBody | None:
        """Return rows·S where each row keeps one coordinate, up to its sign: that is exact."""
        if not selects(rows):
            return None
        kept = np.argmax(np.abs(rows), axis=1)
        rising = self.diagonal and bool(np.all(np.diff(kept) > 0))
        own = self.base.restricted(kept) if rising else None
        if own is not None:
            return ImageBody(frozen(self.factor[kept]), own)
        return ImageBody(frozen(rows @ self.dense), self.base)

    def projected(self, kept: Integers) -> ImageBody:
        """Return F's rows times B, less what they do not look at where B is a ball or a product."""
        if self.diagonal:
            own = self.base.restricted(kept)
            if own is not None:
                return ImageBody(frozen(self.factor[kept]), own)
        rows = self.dense[kept]
        used = np.flatnonzero(np.any(rows, axis=0))
        simple = all(part.ball_order for part in self.base.factors)
        own = self.base.restricted(used) if simple and 0 < used.size < rows.shape[1] else None
        if own is None:
            return ImageBody(frozen(rows), self.base)
        return ImageBody(frozen(np.ascontiguousarray(rows[:, used])), own)

    def with_multipliers(self, multipliers: Vector) -> Self:
        """Return the body with coefficients for the bound on its length."""
        return replace(self, multipliers=frozen(multipliers))


@final
@dataclass(frozen=True, eq=False)
class SymmetricBox(AbstractBody):
    """The image {s : |sᵢ| ≤ half_widthᵢ} of a cube; `half_width` has shape (d,), not negative.

    Args:
        half_width: of the box.
        inner: where the box only surrounds the changes, at most the square roots of a diagonal
            that a second moment of them has at least, which is what evidence about them may say;
            None where its corners are changes.

    Examples:
        >>> box = SymmetricBox(np.array([3.0, 4.0]))
        >>> box.answer_length(None), box.projected(np.array([1])).half_width
        (5.0, array([4.]))
        >>> box.mapped(np.array([[1.0, 1.0]])).widths().round(9)
        array([7.])
    """

    half_width: Vector
    inner: Vector | None = None

    def inner_radius(self, weights: Vector) -> float:
        """Return the least half of a side; 0 where the box only surrounds the changes."""
        return shrunk(float(np.min(self.half_width * weights))) if self.inner is None else 0.0

    @property
    def proved(self) -> Vector:
        """What independent signs of true changes are the corners of, shape (d,)."""
        return self.half_width if self.inner is None else self.inner

    @cached_property
    def image(self) -> ImageBody:
        """The same body as an image."""
        return ImageBody(self.half_width, NormBall(self.dimension, math.inf))

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.half_width.size

    @property
    def spanning(self) -> Vector:
        """Its half widths along the axes."""
        return np.diag(self.half_width)

    def length_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·s‖; `center` is 0."""
        return self.image.length_up(matrix, center)

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·s|, row by row; `center` is 0."""
        return self.image.extent_up(matrix, center)

    def radius_up(self, shape: AbstractShape) -> float:
        """Return at least max √(sᵀ M⁻¹ s), as the noise itself knows it best."""
        return shape.box_radius_up(self.half_width)

    def sensitivity_up(self, norm: AbstractNorm) -> float:
        """Return at least max ‖s‖: what the norm says of boxes."""
        return norm.box_up(self.half_width)

    def norm(self, distance: float) -> AbstractNorm:
        """Return that of the image."""
        return self.image.norm(distance)

    def widths(self) -> Vector:
        """Return the half widths, exactly."""
        return self.half_width

    def answer_length(self, answers: Vector | None) -> float:
        """Return the greatest Euclidean change of the answers."""
        if answers is None:
            return float(np.linalg.norm(self.half_width))
        return super().answer_length(answers)

    def answer_widths(self, answers: Vector | None) -> Vector:
        """Return the greatest change of each answer."""
        return self.half_width if answers is None else super().answer_widths(answers)

    def scaled(self, factor: float) -> SymmetricBox:
        """Return factor·S; `factor` is a power of two."""
        inner = None if self.inner is None else frozen(factor * self.inner)
        return SymmetricBox(frozen(factor * self.half_width), inner)

    def rounded(self, slack: Vector) -> SymmetricBox:
        """Return the box that is wider by the slack, rounded up."""
        wide = self.half_width + slack
        wider = frozen(np.where(wide > 0, np.nextafter(wide, np.inf), 0.0))
        return SymmetricBox(wider, self.inner)

    def mapped(self, rows: Vector) -> AbstractBody:
        """Return a box where each row keeps one coordinate, else an image, or hardly more."""
        if selects(rows):
            inner = None if self.inner is None else frozen(np.abs(rows) @ self.inner)
            return SymmetricBox(frozen(np.abs(rows) @ self.half_width), inner)
        if exact_images(self.half_width[None], rows) is None:
            return self.image.mapped(rows)
        return ImageBody(frozen(rows * self.half_width), NormBall(rows.shape[1], math.inf))

    def projected(self, kept: Integers) -> SymmetricBox:
        """Return the box in those coordinates."""
        inner = None if self.inner is None else frozen(self.inner[kept])
        return SymmetricBox(frozen(self.half_width[kept]), inner)


def selects(rows: Vector) -> bool:
    """Return whether each row keeps one coordinate, up to its sign."""
    size = np.abs(rows)
    return bool(np.all((size == 0) | (size == 1)) and np.all(np.sum(size, axis=1) == 1))


def _bounded(image: Vector, base: AbstractUnitBall, y: Vector) -> float:
    y = y / np.max(y)  # the bound is the same, and nothing of the image vanishes beside it
    bound = spectral_up(image / np.sqrt(y)) * math.sqrt(base.energy_up(y))
    return math.inf if math.isnan(bound) else grown(bound, POWER)


def image_body(factor: Vector, base: AbstractUnitBall) -> ImageBody | SymmetricPoints:
    """Return F·B as the body of which most is known: a list of its corners where they are few.

    Args:
        factor: F, shape (d, k); or shape (d,), its diagonal.
        base: B, k coordinates.

    Examples:
        >>> image_body(np.array([[1.0, 1.0], [0.0, 1.0]]), NormBall(2, np.inf)).points
        array([[ 2.,  1.],
               [ 0., -1.]])
    """
    order = base.ball_order
    if factor.ndim == 1 or order is None:
        return ImageBody(factor, base)
    if order == 1 or base.dimension == 1:
        return SymmetricPoints(frozen(factor.T.copy()))
    if not math.isinf(order) or base.dimension > _MOST_GENERATORS:
        return ImageBody(factor, base)
    known = _HELD.get(key := (factor.shape, factor.tobytes()))
    if known is not None:
        return known
    corners = np.empty((1 << (base.dimension - 1), len(factor)))
    corners[0] = factor[:, 0]
    for j, generator in enumerate(factor.T[1:]):
        np.subtract(corners[: 1 << j], generator, out=corners[1 << j : 2 << j])
        corners[: 1 << j] += generator
    return _HELD.setdefault(key, SymmetricPoints(frozen(corners), ImageBody(factor, base)))
