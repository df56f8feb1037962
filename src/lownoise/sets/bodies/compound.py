# SPDX-License-Identifier: Apache-2.0
"""Sets made of sets: the hull of a union, and images; each composes what its parts prove.

* A hull reaches as far as one of its parts.
* Lengths of images F·x + t are lengths of x about another center (`reach.affine_farthest`).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.arrays import frozen
from lownoise.numbers.rounding import LAST, ROUGH, grown, growth
from lownoise.sets.bodies.image import ImageBody
from lownoise.sets.bodies.multipliers import farthest_multipliers
from lownoise.sets.bodies.pieces import ImageSet, PointSet, climbed
from lownoise.sets.bodies.reach import AbstractSet, Farthest, affine_farthest, farthest_of, longer
from lownoise.sets.unit_balls import NormBall, product_ball

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector


@final
class HullSet(AbstractSet):
    """The hull of a union; a point is encoded as the number of its part and its code there.

    Args:
        parts: one or more, of one dimension.
        center: shape (d,).
    """

    def __init__(self, parts: tuple[AbstractSet, ...], center: Vector) -> None:
        self.parts = parts
        self.center = center
        self.extent = frozen(np.max([part.far(center) for part in parts], axis=0))

    @property
    def width(self) -> int:
        """The number of the part, and as many more as some part needs."""
        return 1 + max(part.width for part in self.parts)

    @property
    def bounds_differences(self) -> bool:
        """Where all parts are points or images of unit balls."""
        return all(isinstance(part, (ImageSet, PointSet)) for part in self.parts)

    def _tagged(self, i: int, encoded: Vector) -> Vector:
        found = np.zeros((*encoded.shape[:-1], self.width))
        found[..., 0] = i
        found[..., 1 : 1 + encoded.shape[-1]] = encoded
        return found

    @cached_property
    def spanning(self) -> Vector:
        """What spans each part."""
        return np.vstack([self._tagged(i, part.spanning) for i, part in enumerate(self.parts)])

    @cached_property
    def doubt(self) -> Vector:
        """The greatest of the parts."""
        return np.asarray(np.max([part.doubt for part in self.parts], axis=0))

    def place(self, encoded: Vector) -> Vector:
        """Return each point of its part."""
        rows = np.reshape(encoded, (-1, self.width))
        found = np.empty((len(rows), self.dimension))
        for i, part in enumerate(self.parts):
            own = rows[:, 0] == i
            if np.any(own):
                found[own] = part.place(rows[own, 1 : 1 + part.width])
        return found.reshape(*encoded.shape[:-1], self.dimension)

    def knows(self, encoded: Vector) -> bool:
        """Return whether there is such a part, and it knows the point."""
        i = float(encoded[0])
        if not (i.is_integer() and 0 <= i < len(self.parts)):
            return False
        part = self.parts[int(i)]
        return part.knows(encoded[1 : 1 + part.width])

    def farthest(self, matrix: Vector, center: Vector) -> Farthest:
        """Return what the farthest part says."""
        own = [part.farthest(matrix, center) for part in self.parts]
        lengths = [
            np.linalg.norm(matrix @ (part.place(answer.point) - center))
            for part, answer in zip(self.parts, own, strict=True)
        ]
        i = int(np.argmax(lengths))
        return Farthest(self._tagged(i, own[i].point), max(answer.upper for answer in own))

    def farthest_pair(self, matrix: Vector) -> Farthest:
        """Return the farthest of all pairs of parts."""
        best, longest, upper = None, -1.0, 0.0
        for i, one in enumerate(self.parts):
            for j in range(i, len(self.parts)):
                two = self.parts[j]
                answer = one.farthest_pair(matrix) if i == j else _apart(one, two, matrix, upper)
                upper = max(upper, answer.upper)
                if not answer.point.size:
                    continue
                pair = farthest_of(one, matrix, answer.point) if i == j else answer.point
                first, second = pair[0][: one.width], pair[1][: two.width]
                length = float(np.linalg.norm(matrix @ (one.place(first) - two.place(second))))
                if length > longest:
                    longest = length
                    best = np.stack([self._tagged(i, first), self._tagged(j, second)])
        assert best is not None  # noqa: S101 (every part has a pair with itself)
        return Farthest(best, upper)

    @property
    def loose(self) -> bool:
        """Where a part is."""
        return any(part.loose for part in self.parts)

    def sorted_parts(self) -> tuple[AbstractSet | None, AbstractSet | None]:
        """Return the hulls of those parts that are loose and that are not."""
        if len({part.loose for part in self.parts}) == 1:
            return super().sorted_parts()
        firm, loose = (
            HullSet(tuple(p for p in self.parts if p.loose == own), self.center)
            for own in (False, True)
        )
        return firm, loose

    @property
    def effort(self) -> float:
        """That of all parts."""
        return sum(part.effort for part in self.parts)

    def support_up(self, direction: Vector, about: Vector) -> float:
        """Return at least max ⟨θ, x − about⟩."""
        return max(part.support_up(direction, about) for part in self.parts)

    def supports_up(self, directions: Vector, about: Vector) -> Vector:
        """Return at least max ⟨θ, x − about⟩, row by row."""
        own = [part.supports_up(directions, about) for part in self.parts]
        return np.asarray(np.max(own, axis=0))

    def extreme(self, direction: Vector) -> Vector:
        """Return what the part says that reaches farthest along θ."""
        return np.asarray(self.extremes(direction[None])[0])

    def extremes(self, directions: Vector) -> Vector:
        """Return the same for each row."""
        own = [part.extremes(directions) for part in self.parts]
        far = [
            np.sum(directions * (part.place(answer) - self.center), axis=1)
            for part, answer in zip(self.parts, own, strict=True)
        ]
        tagged = np.array([self._tagged(i, answer) for i, answer in enumerate(own)])
        return np.asarray(tagged[np.argmax(far, axis=0), np.arange(len(directions))])


@final
class MappedSet(AbstractSet):
    """{shift + F·x : x in a set}; a point is encoded as x is.

    Args:
        factor: F, shape (m, d).
        part: the set.
        shift: shape (m,).
    """

    def __init__(self, factor: Vector, part: AbstractSet, shift: Vector) -> None:
        self.factor = factor
        self.part = part
        self.shift = shift
        self.center = frozen(shift + factor @ part.center)
        sizes = np.abs(factor) @ part.extent * (1 + growth(part.dimension + 9))
        ends = [
            max(part.support_up(side, part.center) for side in (row, -row)) if np.any(row) else 0.0
            for row in factor
        ]
        # the center is rounded, and so are differences to it
        off = growth(part.dimension + 9) * (np.abs(factor) @ np.abs(part.center) + np.abs(shift))
        moves = np.any(factor * (part.extent > 0), axis=1)
        self.extent = frozen(np.where(moves, np.minimum(sizes, np.maximum(ends, 0.0)) + off, 0.0))

    @property
    def width(self) -> int:
        """That of the part."""
        return self.part.width

    @property
    def bounds_differences(self) -> bool:
        """Where the part does."""
        return self.part.bounds_differences

    @property
    def spanning(self) -> Vector:
        """Images of what spans the part."""
        return self.part.spanning

    @cached_property
    def doubt(self) -> Vector:
        """That of the part, and rounding of products and sums."""
        size = np.abs(self.factor) @ (np.abs(self.part.center) + self.part.extent)
        off = growth(self.part.dimension + 9) * (size + np.abs(self.shift))
        moves = np.any(self.factor * (self.part.extent > 0), axis=1)
        return np.asarray(np.where(moves, np.abs(self.factor) @ self.part.doubt + off, 0.0))

    def place(self, encoded: Vector) -> Vector:
        """Return the images."""
        return np.asarray(self.shift + self.part.place(encoded) @ self.factor.T)

    def knows(self, encoded: Vector) -> bool:
        """Return whether the part does."""
        return self.part.knows(encoded)

    def _pulled(self, matrix: Vector) -> tuple[Vector, float]:
        """Return matrix·F, and how far lengths about the part's center are off by its rounding."""
        linear, off = self._rounded(matrix)
        return linear, grown(float(np.linalg.norm(off @ self.part.extent)), ROUGH)

    def _rounded(self, matrix: Vector) -> tuple[Vector, Vector]:
        """Return matrix·F, and how far off each number may be."""
        off = growth(len(self.factor) + 4) * (np.abs(matrix) @ np.abs(self.factor))
        return np.asarray(matrix @ self.factor), np.asarray(off)

    def farthest(self, matrix: Vector, center: Vector) -> Farthest:
        """Return the image of what is farthest, and the part's bound."""
        linear, lost = self._pulled(matrix)
        middle = self.part.center
        constant = matrix @ (self.factor @ middle + self.shift - center)
        size = np.abs(self.factor) @ np.abs(middle) + np.abs(self.shift) + np.abs(center)
        off = growth(len(self.factor) + middle.size + 9) * (np.abs(matrix) @ size)
        answer = affine_farthest(self.part, linear, middle, constant)
        return Farthest(answer.point, longer(answer.upper, lost + float(np.linalg.norm(off))))

    def farthest_pair(self, matrix: Vector) -> Farthest:
        """Return the images of the farthest pair, and the part's bound."""
        linear, lost = self._pulled(matrix)
        answer = self.part.farthest_pair(linear)
        return Farthest(answer.point, longer(answer.upper, 2 * lost))

    @property
    def loose(self) -> bool:
        """Where the part is."""
        return self.part.loose

    @property
    def effort(self) -> float:
        """That of the part."""
        return self.part.effort

    def support_up(self, direction: Vector, about: Vector) -> float:
        """Return at least max ⟨θ, x − about⟩."""
        return float(self.supports_up(direction[None], about)[0])

    def supports_up(self, directions: Vector, about: Vector) -> Vector:
        """Return at least max ⟨θ, x − about⟩, row by row."""
        pulled, lost = self._rounded(directions)
        middle = self.part.center
        at = self.factor @ middle + self.shift - about
        size = np.abs(self.factor) @ np.abs(middle) + np.abs(self.shift) + np.abs(about)
        off = growth(at.size + middle.size + 9) * (np.abs(directions) @ size)
        own = self.part.supports_up(pulled, middle)
        more = grown(lost @ self.part.extent + off, ROUGH) + 2.0**-50 * np.abs(own)
        return np.asarray(own + directions @ at + more)

    def extreme(self, direction: Vector) -> Vector:
        """Return what is extreme along Fᵀθ."""
        return self.part.extreme(direction @ self.factor)

    def extremes(self, directions: Vector) -> Vector:
        """Return what is extreme along Fᵀθ for each row."""
        return self.part.extremes(directions @ self.factor)


def _apart(one: AbstractSet, two: AbstractSet, matrix: Vector, at_least: float) -> Farthest:
    """Return a pair of points of two sets, and at least max ‖matrix·(x − y)‖².

    Args:
        one: points, or an image.
        two: either.
        matrix: shape (r, d).
        at_least: a square: pairs that are proved to be nearer need no bound of their own.
    """
    if isinstance(two, PointSet) and not isinstance(one, PointSet):
        answer = _apart(two, one, matrix, at_least)
        return Farthest(answer.point[::-1] if answer.point.size else answer.point, answer.upper)
    if isinstance(one, PointSet):
        return _from_points(one, two, matrix, at_least)
    assert isinstance(one, ImageSet)  # noqa: S101 (what else bounds differences in a hull)
    assert isinstance(two, ImageSet)  # noqa: S101
    offset = one.center - two.center
    factor = np.hstack([one.factor, -two.factor, offset[:, None]])
    both = product_ball([one.base, two.base])
    base = product_ball([one.base, two.base, NormBall(1, np.inf)])
    image = matrix @ factor
    x = climbed(both, image[:, :-1], image[:, -1])
    body = ImageBody(frozen(factor), base)
    if np.any(image):
        body = body.with_multipliers(farthest_multipliers(image, base))
    lost = 2.0**-52 * float(np.linalg.norm(np.abs(matrix) @ np.abs(offset)))
    upper = body.length_up(matrix, np.zeros(one.dimension)) + lost
    k, pair = one.width, np.zeros((2, max(one.width, two.width)))
    pair[0, :k], pair[1, : two.width] = x[:k], x[k:]
    return Farthest(pair, grown(upper * upper, LAST))


def _from_points(one: PointSet, two: AbstractSet, matrix: Vector, at_least: float) -> Farthest:
    about = grown(two.farthest(matrix, two.center).upper ** 0.5)
    away = (one.rows - two.center) @ matrix.T
    # rounding of lengths that only prune: what they leave out is bounded by them
    size = np.linalg.norm(np.abs(one.rows - two.center) @ np.abs(matrix).T, axis=1)
    most = np.linalg.norm(away, axis=1) + growth(one.dimension + len(matrix) + 9) * size + about
    order = np.argsort(-most, kind="stable")
    pair, upper, longest = np.zeros((0, 0)), 0.0, -1.0
    for i in order:
        if grown(most[i] * most[i]) <= max(at_least, upper):
            break
        answer = two.farthest(matrix, one.rows[i])
        upper = max(upper, answer.upper)
        length = float(np.linalg.norm(matrix @ (two.place(answer.point) - one.rows[i])))
        if length > longest:
            longest, pair = length, np.zeros((2, max(one.width, two.width)))
            pair[0, : one.width] = one.encoded(np.array([i]))[0]
            pair[1, : two.width] = answer.point
    return Farthest(pair, max(upper, at_least))
