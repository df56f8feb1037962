# SPDX-License-Identifier: Apache-2.0
"""Linear images of unit balls: the form that every domain with a center of symmetry takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from lownoise.errors import DomainError
from lownoise.kinds import Field
from lownoise.numbers.arrays import frozen, matrix, vector
from lownoise.numbers.rounding import shrunk
from lownoise.sets.bodies import ImageBody, SymmetricPoints, image_body, is_slabs
from lownoise.sets.bodies.pieces import ImageSet
from lownoise.sets.domains.abstract import DOMAINS, AbstractDomain
from lownoise.sets.domains.nearest import corrected_weights, left_inverse, nearest_weights
from lownoise.sets.unit_balls import (
    UNIT_BALLS,
    CappedBall,
    IntersectionBall,
    NormBall,
    product_ball,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies import AbstractBody
    from lownoise.sets.domains.abstract import Piece
    from lownoise.sets.unit_balls import AbstractUnitBall

LARGEST = 2.0**250  # products of coordinates, and sums of them, stay finite
_NARROWEST = 2.0**-250
_LOST = 1e-13  # of the greatest singular value, a column: more than floats lose
_DIRECT = 1e-9  # of the reach: how near clamping leaves points of K
_CONVEX, _SEARCHED = 3e-7, 1e-4
_ATTAINED = 1e-13
_ROOM_ROUNDING = 1e-9  # of a length, which is rounded up
_REGULAR = 1e-10
_SQUARE = 1e-9  # how far from singular a factor must be for its inverse to have facets
_MOST_CORNERS = 2**18


def checked_image(factor: ArrayLike, base: AbstractUnitBall, shift: ArrayLike) -> Image:
    """Return the image, every argument checked.

    Raises:
        DomainError: where the sizes do not match, or a number cannot be computed with.
    """
    f = checked_factor(factor, "Image.factor")
    columns = f.shape[-1]
    if columns != base.dimension:
        raise DomainError(
            f"Image.factor has {columns} columns for a body of {base.dimension} coordinates; "
            "give one column each",
        )
    center = vector(shift, field="Image.shift", error=DomainError)
    return Image(f, base, checked_center(center, f.shape[0], "Image.shift"))


@DOMAINS.kind(
    "image",
    "factor",
    Field("base", UNIT_BALLS.member),
    "shift",
    make=checked_image,
)
@final
@dataclass(frozen=True, eq=False, repr=False)
class Image(AbstractDomain):
    """{shift + F·x : x ∈ B} for a unit ball B; made by `ln.Ball`, `ln.image` and so on.

    A record outside is moved: where F is injective towards the center until it is inside, otherwise
    to the nearest point, each coordinate in parts of its reach and cut at twice that.

    Args:
        factor: F, shape (d, k); or shape (d,), its diagonal.
        base: B, k coordinates.
        shift: the center of symmetry, shape (d,).
    """

    in_blocks: ClassVar[bool] = True
    intersects: ClassVar[bool] = True

    factor: Vector
    base: AbstractUnitBall
    shift: Vector

    @property
    def center(self) -> Vector:
        """The center of symmetry, shape (d,)."""
        return self.shift

    @property
    def diagonal(self) -> bool:
        """Whether F is a diagonal."""
        return self.factor.ndim == 1

    @cached_property
    def extent(self) -> Vector:
        """The greatest change of each coordinate from the center, shape (d,), within rounding."""
        if self.diagonal:
            return frozen(np.abs(self.factor) * self.base.widths())
        return frozen(self.base.support_up(self.factor))

    @property
    def spanning(self) -> Vector:
        """The columns of F as rows, shape (k, d)."""
        return np.diag(self.factor) if self.diagonal else self.factor.T

    @property
    def full(self) -> bool:
        """Whether F is a diagonal; of other images it is not known."""
        return self.diagonal

    def support(self, direction: Vector) -> float:
        """Return max ⟨θ, x⟩ over K as its body B knows it; `direction` θ has shape (d,)."""
        pulled = direction * self.factor if self.diagonal else direction @ self.factor
        return float(direction @ self.center + self.base.support_up(pulled[None])[0])

    def contains(self, point: Vector) -> bool:
        """Return whether `point`, shape (d,), lies in K, within 1e-9 of its reach.

        Where F is nearly singular (beyond about 1e6) rounding of the point alone can decide. Where
        F is not injective points of the boundary are told within 1e-8 of zonotopes, 1e-7 of sums
        of balls and boxes, and 1e-4 of hulls of round bodies and of Kronecker products: the search
        for the nearest point ends there.
        """
        room = self._room
        if np.all(np.abs(self.clamp(point) - point) <= room):
            return True
        if not self._flat_faced:
            return False
        about = np.clip(point, -LARGEST, LARGEST) - self.center
        x = corrected_weights(self.factor, self.base, about, self.extent)
        return bool(np.all(np.abs(self.center + self.factor @ x - point) <= room))

    def may_have_room(self, changes: AbstractBody, *, both: bool = False) -> bool:
        """Return whether the center has; of an ellipsoid by the greatest length of a change."""
        d, k = self.dense.shape
        inverse = np.diag(1 / self.factor) if self.diagonal and self.factor.all() else self._inverse
        if self.base.ball_order == 2 and d == k and inverse is not None:  # noqa: PLR2004
            one, _ = changes.around()
            most = 2.0 if len(one) == 1 and not both else 1.0
            return changes.length_up(inverse, np.zeros(d)) <= most * (1 + _ROOM_ROUNDING)
        return super().may_have_room(changes, both=both)

    def extreme(self, directions: Vector) -> Vector:
        """Return a point of K that is extreme along each row, shapes (n, d)."""
        pulled = directions * self.factor if self.diagonal else directions @ self.factor
        x = self.base.extreme(pulled)
        return np.asarray(self.center + (x * self.factor if self.diagonal else x @ self.factor.T))

    @cached_property
    def rounding(self) -> Vector:
        """How far a clamped record can be off a point of K, shape (d,).

        Base coordinates whose norm is at most 1 + 2^-44 are multiplied by F in floats, and the
        center is added: k + 2 roundings of what is at most the sum of absolute values.
        """
        k = self.base.dimension
        if self.diagonal:
            size = np.abs(self.factor) * self.base.widths()
            return frozen(
                np.where(self.factor != 0, 2.0**-42 * size + _ulp(self.center, size), 0.0)
            )
        size = np.abs(self.factor) @ self.base.widths()
        used = np.any(self.factor != 0, axis=1)
        return frozen(np.where(used, (2.0**-42 + k * 2.0**-51) * size + _ulp(self.center, size), 0))

    @property
    def dense(self) -> Vector:
        """F as a matrix, shape (d, k)."""
        return np.diag(self.factor) if self.diagonal else self.factor

    def bounding_set(self) -> ImageSet:
        """Return what is known of images: any coefficients of a covering form prove a bound."""
        return ImageSet(frozen(self.dense), self.base, self.center)

    def _seen(self, pivots: Integers, step: Vector) -> Vector:
        """Return the rows of F that matter, in steps; what never moves is left out."""
        if self.diagonal and pivots.size == self.dimension:
            return self.factor / step
        return np.asarray(self.dense[pivots] / step[:, None])

    def differences(self, pivots: Integers, step: Vector) -> ImageBody | SymmetricPoints:
        """Return twice the image about zero: K about its center is symmetric."""
        return image_body(frozen(2 * self._seen(pivots, step)), self.base)

    def lifted(self, pivots: Integers, step: Vector, center: Vector) -> ImageBody | SymmetricPoints:
        """Return the image of B × [−1, 1] under [[F, offset], [0, 1]]: ±(offset + F·B) × {1}."""
        factor, offset = self._seen(pivots, step), (self.center - center)[pivots] / step
        lifted = product_ball([self.base, NormBall(1, math.inf)])
        if factor.ndim == 1 and not np.any(offset):
            return image_body(frozen(np.append(factor, 1.0)), lifted)
        dense = np.diag(factor) if factor.ndim == 1 else factor
        r, k = dense.shape
        matrix = np.zeros((r + 1, k + 1))
        matrix[:r, :k], matrix[:r, k], matrix[r, k] = dense, offset, 1.0
        return image_body(frozen(matrix), lifted)

    def translates(self, pivots: Integers, center: Vector) -> ImageBody | SymmetricPoints:
        """Return the image about zero."""
        return image_body(frozen(self._seen(pivots, np.ones(pivots.size))), self.base)

    def symmetrized(self, pivots: Integers, step: Vector) -> ImageBody | SymmetricPoints:
        """Return the hull of K and −K.

        ±(c + F·x) have the hull {τc + F·z : |τ| ≤ 1, z ∈ B}: z = λx − (1 − λ)x', τ = 2λ − 1.
        """
        factor = self._seen(pivots, step)
        if not np.any(self.center):
            return image_body(frozen(factor), self.base)
        offset = (self.center[pivots] / step)[:, None]
        lifted = product_ball([self.base, NormBall(1, math.inf)])
        dense = np.diag(factor) if factor.ndim == 1 else factor
        return image_body(frozen(np.hstack([dense, offset])), lifted)

    def enclosed(self, *, mixed: bool = False) -> tuple[ImageBody | SymmetricPoints, Vector]:
        """Return the image about zero, as a list where that says more of several coordinates."""
        factor = self.dense if mixed else self.factor
        return image_body(frozen(factor), self.base), self.center

    def difference(self) -> Image:
        """Return twice the image, about zero."""
        return Image(frozen(2 * self.factor), self.base, frozen(np.zeros(self.dimension)))

    def as_image(self) -> Image:
        """Return it."""
        return self

    def inscribed(self, weights: Vector) -> Vector:
        """Return the singular values of ωF times the radius of the largest ball in B, falling.

        Args:
            weights: ω > 0, shape (d,).
        """
        order, k = self.base.ball_order, self.base.dimension
        if order is None:
            return super().inscribed(weights)
        if self.diagonal:
            axes = np.sort(np.abs(weights * self.factor))[::-1]
        else:
            axes = np.linalg.svd(weights[:, None] * self.factor, compute_uv=False)
            axes = np.maximum(axes - _LOST * k * axes.max(initial=0.0), 0.0)
        # |x|_q ≤ k^{1/q − 1/2}·|x| where q < 2, and ≤ |x| else
        radius = 1.0 if order >= 2 else k ** (0.5 - 1 / order)  # noqa: PLR2004
        return frozen(shrunk(axes * radius))

    def along_axes(self) -> Image | None:
        """Return it where F is a diagonal."""
        return self if self.diagonal else None

    def corners(self) -> Vector | None:
        """Return the images of the ball's corners; None where it is round, or has over 2^18."""
        base = self.base
        if not isinstance(base, NormBall):
            return None
        k = base.size
        if base.order == 1 or k == 1:
            signed: Vector = np.vstack([np.eye(k), -np.eye(k)])
        elif math.isinf(base.order) and 2.0**k <= _MOST_CORNERS:
            signed = np.asarray(1.0 - 2.0 * np.indices((2,) * k).reshape(k, 2**k).T, np.float64)
        else:
            return None
        moved = signed * self.factor if self.diagonal else signed @ self.factor.T
        return np.asarray(self.center + moved)

    def pieces(self) -> list[Piece]:
        """Return the cubes and Euclidean balls that its ball is made of, pulled back.

        Raises:
            DomainError: where the factor has no inverse, or a part is neither cube nor ball.
        """
        d, k = self.dense.shape
        size = np.linalg.norm(self.dense, axis=0)
        singular = k != d or not np.all(size > 0)
        if singular or np.linalg.svd(self.dense / size, compute_uv=False)[-1] < _SQUARE:
            raise DomainError(
                f"intersection has an image by a {d} x {k} matrix that has no inverse; give its "
                "facets as ln.Slab, or domains that fill all coordinates"
            )
        found: list[Piece] = []
        inverse = np.linalg.inv(self.dense)
        at = 0
        for base in self.base.factors:
            rows = inverse[at : at + base.dimension]
            at += base.dimension
            found += [(s[:, None] * rows, self.shift, unit) for s, unit in _units(base)]
        return found

    @cached_property
    def _inverse(self) -> Vector | None:
        """A left inverse of F, or None where F is not injective or a diagonal."""
        return None if self.diagonal else left_inverse(self.factor)

    @property
    def nearness(self) -> float:
        """How near clipping leaves points of K to where they are, beside their half ranges."""
        if self.base.searched:
            return _SEARCHED
        searched = not self.diagonal and self._inverse is None
        if not searched or self._flat_faced:
            return _DIRECT
        return _CONVEX if self.base.limits is not None else _SEARCHED

    @property
    def _flat_faced(self) -> bool:
        """Whether K is an image of a polytope, in which a nearest point is searched for."""
        searched = not self.diagonal and self._inverse is None
        return searched and isinstance(self.base, NormBall) and self.base.order in (1.0, math.inf)

    @cached_property
    def _shortest(self) -> Vector:
        """What maps a record to its shortest weights, shape (k, d)."""
        unit = np.where(self.extent > 0, self.extent, 1.0)
        return np.asarray(np.linalg.pinv(self.factor / unit[:, None], rcond=_REGULAR) / unit)

    def clip_rows(self, rows: Vector) -> Vector:
        """Return rows, each clipped to a point of K; sums go column by column, alike for each."""
        about = np.clip(rows, -LARGEST, LARGEST) - self.center
        if self.diagonal:
            used = self.factor != 0
            x = np.where(used, about / np.where(used, self.factor, 1.0), 0.0)
        elif self._inverse is not None:
            x = _multiplied(about, self._inverse)
        else:
            x = self._searched(rows, about)
        x = self.base.brought_in(x)
        if self.diagonal:
            return np.asarray(self.center + x * self.factor)
        return np.asarray(self.center + _multiplied(x, self.factor))

    def _searched(self, rows: Vector, about: Vector) -> Vector:
        # what the shortest weights reach, with a norm that is admitted, needs no search
        found = _multiplied(about, self._shortest)
        off = np.abs(_multiplied(found, self.factor) - about)
        there = (self.base.norm_up(found) <= 1) & np.all(off <= _ATTAINED * self.extent, axis=1)
        found[~there] = 0.0
        if not np.all(there):
            points = about[~there]
            found[~there] = nearest_weights(self.factor, self.base, points, self.extent)
        return found


def checked_factor(factor: ArrayLike, field: str) -> Vector:
    """Return a matrix, or the diagonal of one.

    Raises:
        DomainError: where it is neither, is empty, or is not finite.
    """
    try:
        flat = np.ndim(factor) == 1 and np.size(factor) > 0
    except ValueError:
        flat = False
    if flat:
        found = vector(factor, field=field, error=DomainError)
    else:
        found = matrix(factor, field=field, error=DomainError)
        if not found.size:
            raise DomainError(f"{field} has shape {found.shape}; give at least one number")
    check_size(found, field)
    return found


def checked_center(center: Vector, dimension: int, field: str) -> Vector:
    """Return the center.

    Raises:
        DomainError: where it has another number of coordinates, or one beyond 2^250.
    """
    if center.size != dimension:
        raise DomainError(f"{field} has {center.size} coordinates for {dimension}; give one each")
    check_size(center, field)
    return center


def center_or_zero(center: ArrayLike | None, dimension: int, field: str) -> Vector:
    """Return the center that a constructor is given, zero by default.

    Raises:
        DomainError: where it is no vector of so many numbers, or has one beyond 2^250.
    """
    if center is None:
        return frozen(np.zeros(dimension))
    given = vector(center, field=field, error=DomainError)
    return frozen(checked_center(given, dimension, field))


def check_size(values: Vector, field: str) -> None:
    """Refuse numbers whose products could overflow or vanish.

    Raises:
        DomainError: where one is beyond 2^250, or is not 0 and within 2^-250 of it.
    """
    size = np.abs(values)
    wrong = np.argwhere((size > LARGEST) | ((size > 0) & (size < _NARROWEST)))
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        where = ", ".join(str(i) for i in at)
        side = "beyond 2^250" if size[at] > 1 else "within 2^-250 of zero"
        raise DomainError(f"{field}[{where}]={values[at]:g} is {side}; use another unit")


def _ulp(center: Vector, size: Vector) -> Vector:
    return np.asarray((np.abs(center) + size) * 2.0**-51)


def _multiplied(rows: Vector, matrix: Vector) -> Vector:
    """Return rows·matrixᵀ, one column at a time: the same sums for every row."""
    columns = np.ascontiguousarray(rows.T)
    found = np.zeros((len(matrix), len(rows)))
    for i, j in np.argwhere(matrix):
        found[i] += matrix[i, j] * columns[j]
    return np.ascontiguousarray(found.T)


def _units(base: AbstractUnitBall) -> list[tuple[Vector, AbstractUnitBall]]:
    """Return the cubes and Euclidean balls, each in its scale, that a unit ball is made of."""
    ones = np.ones(base.dimension)
    if isinstance(base, NormBall) and (is_slabs(base) or base.order == 2):  # noqa: PLR2004
        return [(ones, base)]
    if isinstance(base, CappedBall) and base.order == 2:  # noqa: PLR2004
        k = base.dimension
        return [(ones, NormBall(k, 2.0)), (1 / base.cap, NormBall(k, math.inf))]
    if isinstance(base, IntersectionBall):
        pairs = zip(base.parts, base.scales, strict=True)
        return [(scale * s, unit) for part, scale in pairs for s, unit in _units(part)]
    raise DomainError(
        "intersection off a common center is known for cubes and Euclidean balls only; give parts "
        "of order 2 or infinity, or the same center to all"
    )
