# SPDX-License-Identifier: Apache-2.0
"""Sets made of sets: side by side, the hull of a union, and images; each composes what parts prove.

* A hull reaches as far as one of its parts.
* Lengths of images F·x + t are lengths of x about another center (`known.affine_farthest`).
* Side by side, ‖Σ Aᵢzᵢ‖² = Σ ‖Aᵢzᵢ‖² + 2Σ zᵢᵀXᵢⱼzⱼ with X = AᵢᵀAⱼ = Σ s·u·vᵀ, and every term of
  the last sum is split: 2s⟨u, zᵢ⟩⟨v, zⱼ⟩ ≤ s⟨u, zᵢ⟩²/t + s·t⟨v, zⱼ⟩². Where the blocks do not
  meet, as of the least noise of a product, nothing is lost.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.arrays import frozen
from lownoise.bases import NormBase, product_base
from lownoise.bodies.hint import far_hint
from lownoise.bodies.image import ImageBody
from lownoise.bodies.known import AbstractKnown, Told, affine_farthest
from lownoise.bodies.pieces import ImageSet, PointSet, climbed, image_reach
from lownoise.rounding import growth

if TYPE_CHECKING:
    from lownoise.arrays import Vector

_CLIMBS = 20
_RISES = 1e-12
_MOST = 2.0**13  # choices of points, one from each list
_SMALL = 1e-15  # of a length: a coupling that is bounded by its size alone


@final
class ProductSet(AbstractKnown):
    """All (x, y, …), each from its own set; a point is told by what tells its parts.

    Args:
        parts: one or more.
    """

    def __init__(self, parts: tuple[AbstractKnown, ...]) -> None:
        self.parts = parts
        self.center = frozen(np.concatenate([part.center for part in parts]))
        self.reach = frozen(np.concatenate([part.reach for part in parts]))
        self.blocks = _slices([part.dimension for part in parts])
        self._told = _slices([part.width for part in parts])

    @property
    def width(self) -> int:
        """The numbers of all parts."""
        return sum(part.width for part in self.parts)

    @property
    def tells_differences(self) -> bool:
        """Where all parts do."""
        return all(part.tells_differences for part in self.parts)

    @cached_property
    def spread(self) -> Vector:
        """One point, and each part's with the others still."""
        own = [part.spread for part in self.parts]
        first = np.concatenate([rows[0] for rows in own])
        found = [first[None]]
        for at, rows in zip(self._told, own, strict=True):
            moved = np.tile(first, (len(rows) - 1, 1))
            moved[:, at] = rows[1:]
            found.append(moved)
        return np.vstack(found)

    @property
    def points(self) -> Vector:
        """Those that span it."""
        return self.spread

    @property
    def doubt(self) -> Vector:
        """That of the parts."""
        return np.concatenate([part.doubt for part in self.parts])

    def place(self, told: Vector) -> Vector:
        """Return the parts' points side by side."""
        pairs = zip(self.parts, self._told, strict=True)
        return np.concatenate([part.place(told[..., at]) for part, at in pairs], axis=-1)

    def knows(self, told: Vector) -> bool:
        """Return whether all parts do."""
        pairs = zip(self.parts, self._told, strict=True)
        return all(part.knows(told[at]) for part, at in pairs)

    def farthest(self, matrix: Vector, center: Vector) -> Told:
        """Return the parts' farthest points, climbed from; and the sum of the parts' bounds."""
        far = self.far(center)
        maps, lost = self._split(matrix, far)
        own = [
            part.farthest(a, center[at])
            for part, a, at in zip(self.parts, maps, self.blocks, strict=True)
        ]
        best = self._climbed(matrix, np.concatenate([told.point for told in own]), center)
        upper = (sum(told.upper for told in own) + lost) * (1 + growth(len(own) + 9))
        if any(len(a) > len(matrix) for a in maps):  # they meet, and splitting lost something
            found = self._listed(matrix, center)
            if found is not None:
                starts = (best, self._climbed(matrix, found.point[0], center))
                best = max(starts, key=lambda x: self._length(matrix, x, center))
                upper = min(upper, found.upper)
        return Told(best, upper)

    def _length(self, matrix: Vector, point: Vector, center: Vector) -> float:
        return float(np.linalg.norm(matrix @ (self.place(point) - center)))

    def _listed(self, matrix: Vector, center: Vector | None) -> Told | None:
        """Return at least max ‖Σ Aᵢzᵢ‖², z about the center, or differences where there is none.

        Images are one image, and every choice of points is looked at that can be the farthest.
        """
        lists = [part for part in self.parts if isinstance(part, PointSet)]
        images = [part for part in self.parts if isinstance(part, ImageSet)]
        sizes = [len(p.rows) if center is not None else len(p.rows) ** 2 for p in lists]
        if len(lists) + len(images) < len(self.parts) or np.prod(sizes, initial=1.0) > _MOST:
            return None
        r = len(matrix)
        choices, doubt = np.zeros((1, r)), 0.0
        columns = []
        for part, at in zip(self.parts, self.blocks, strict=True):
            a = matrix[:, at]
            far = part.far(part.center if center is None else center[at])
            doubt += 2 * growth(part.dimension + 9) * float(np.linalg.norm(np.abs(a) @ far))
            if isinstance(part, ImageSet):
                columns.append((1.0 if center is not None else 2.0) * a @ part.factor)
                size = np.abs(a) @ (np.abs(part.factor) @ part.base.widths())
                doubt += 2 * growth(part.dimension + 9) * float(np.linalg.norm(size))
                if center is not None:
                    choices = choices + a @ (part.center - center[at])
            elif isinstance(part, PointSet):
                rows = part.rows - center[at] if center is not None else _differences(part.rows)
                choices = (choices[:, None] + rows @ a.T).reshape(-1, r)
        doubt *= 1 + growth(len(self.parts) + 9)
        lengths = np.linalg.norm(choices, axis=1) * (1 + growth(r + 9))
        if not images:
            i = int(np.argmax(lengths))
            return Told(
                self._chosen(i, sizes, np.zeros(0), pairs=center is None),
                _longer(lengths[i] ** 2, doubt),
            )
        image = np.hstack(columns)
        base = product_base([part.base for part in images])
        around = image_reach(image, np.zeros(r), base)
        longest, at_most = -1.0, 0
        for i in np.argsort(-lengths, kind="stable"):
            if (lengths[i] + around) * (1 + growth(9)) <= longest:
                break
            reached = image_reach(image, choices[i], base)
            if reached > longest:
                longest, at_most = reached, int(i)
        x = climbed(base, image, choices[at_most])
        return Told(
            self._chosen(at_most, sizes, x, pairs=center is None), _longer(longest * longest, doubt)
        )

    def _chosen(self, i: int, sizes: list[int], x: Vector, *, pairs: bool) -> Vector:
        """Return what tells the i-th choice of points with x in the images, and another; (2, w)."""
        rest, at = list(np.unravel_index(i, sizes)) if sizes else [], 0
        found: tuple[list[Vector], list[Vector]] = ([], [])
        for part in self.parts:
            if isinstance(part, PointSet):
                n, own = len(part.rows), int(rest.pop(0))
                pair = divmod(own, n) if pairs else (own, own)
                for side, index in zip(found, pair, strict=True):
                    side.append(np.array([float(index)]))
            else:
                own_x = x[at : at + part.width]
                at += part.width
                found[0].append(own_x)
                found[1].append(-own_x)
        return np.stack([np.concatenate(side) for side in found])

    def farthest_pair(self, matrix: Vector) -> Told:
        """Return the parts' farthest pairs, and the sum of their bounds."""
        maps, lost = self._split(matrix, 2 * self.reach)
        own = [part.farthest_pair(a) for part, a in zip(self.parts, maps, strict=True)]
        first, second = own[0].point
        for told in own[1:]:  # each part either way round, whichever is longer
            pairs = [
                (np.append(first, told.point[i]), np.append(second, told.point[1 - i]))
                for i in (0, 1)
            ]
            first, second = max(pairs, key=lambda pair: self._apart(matrix, *pair))
        upper = (sum(told.upper for told in own) + lost) * (1 + growth(len(own) + 9))
        if any(len(a) > len(matrix) for a in maps):
            found = self._listed(matrix, None)
            if found is not None:
                both = ((first, second), tuple(found.point))
                first, second = max(both, key=lambda pair: self._apart(matrix, *pair))
                upper = min(upper, found.upper)
        return Told(np.stack([first, second]), upper)

    def _apart(self, matrix: Vector, first: Vector, second: Vector) -> float:
        known, end = zip(self.parts, self._told, self.blocks, strict=True), first.size
        total = np.zeros(len(matrix))
        for part, told, at in known:
            if told.stop <= end:
                moved = part.place(first[told]) - part.place(second[told])
                total += matrix[:, at] @ moved
        return float(np.linalg.norm(total))

    def _climbed(self, matrix: Vector, point: Vector, center: Vector) -> Vector:
        image = matrix @ (self.place(point) - center)
        for _ in range(_CLIMBS):
            higher = self.extreme(image @ matrix)
            reached = matrix @ (self.place(higher) - center)
            if not np.linalg.norm(reached) > np.linalg.norm(image) * (1 + _RISES):
                break
            point, image = higher, reached
        return point

    def _split(self, matrix: Vector, far: Vector) -> tuple[list[Vector], float]:
        """Return maps of the parts whose squares add up to at least that of `matrix`, but for this.

        Args:
            matrix: A, shape (r, d).
            far: at least |z|, shape (d,).
        """
        maps: list[list[Vector]] = [[matrix[:, at]] for at in self.blocks]
        size = float(np.linalg.norm(np.abs(matrix) @ far)) ** 2
        lost = 0.0
        for i, j in combinations(range(len(self.parts)), 2):
            one, two = self.blocks[i], self.blocks[j]
            left, right = matrix[:, one], matrix[:, two]
            met = left.T @ right
            off = growth(len(matrix) + 4) * (np.abs(left).T @ np.abs(right))
            if not np.any(off):
                continue
            rest = np.abs(met)
            if float(far[one] @ rest @ far[two]) > _SMALL * size:
                turn, lengths, back = np.linalg.svd(
                    far[one, None] * met * far[two], full_matrices=False
                )
                kept = lengths > _SMALL * lengths[0]
                root = np.sqrt(lengths[kept])[:, None]
                rows = [
                    np.where(f > 0, u / np.where(f > 0, f, 1.0), 0.0) * root
                    for u, f in ((turn.T[kept], far[one]), (back[kept], far[two]))
                ]
                maps[i].append(rows[0])
                maps[j].append(rows[1])
                made = rows[0].T @ rows[1]
                rest = np.abs(met - made)
                rest += growth(len(root) + 4) * (np.abs(rows[0]).T @ np.abs(rows[1]))
            lost += 2 * float(far[one] @ (rest + off) @ far[two])
        return [np.vstack(own) for own in maps], lost * (1 + growth(2 * self.dimension + 30))

    def support_up(self, direction: Vector, about: Vector) -> float:
        """Return at least max ⟨θ, x − about⟩: what the parts' are together."""
        own = [
            part.support_up(direction[at], about[at])
            for part, at in zip(self.parts, self.blocks, strict=True)
        ]
        return sum(own) + growth(len(own) + 2) * sum(abs(value) for value in own)

    def extreme(self, direction: Vector) -> Vector:
        """Return the parts' extreme points."""
        pairs = zip(self.parts, self.blocks, strict=True)
        return np.concatenate([part.extreme(direction[at]) for part, at in pairs])


@final
class HullSet(AbstractKnown):
    """The hull of a union; a point is told by the number of its part and what tells it there.

    Args:
        parts: one or more, of one dimension.
        center: shape (d,).
    """

    def __init__(self, parts: tuple[AbstractKnown, ...], center: Vector) -> None:
        self.parts = parts
        self.center = center
        self.reach = frozen(np.max([part.far(center) for part in parts], axis=0))

    @property
    def width(self) -> int:
        """The number of the part, and as many more as some part needs."""
        return 1 + max(part.width for part in self.parts)

    @property
    def tells_differences(self) -> bool:
        """Where all parts are points or images of unit bodies."""
        return all(isinstance(part, (ImageSet, PointSet)) for part in self.parts)

    def _tagged(self, i: int, told: Vector) -> Vector:
        found = np.zeros((*told.shape[:-1], self.width))
        found[..., 0] = i
        found[..., 1 : 1 + told.shape[-1]] = told
        return found

    @cached_property
    def spread(self) -> Vector:
        """What spans each part."""
        return np.vstack([self._tagged(i, part.spread) for i, part in enumerate(self.parts)])

    @property
    def points(self) -> Vector:
        """Those that span it."""
        return self.spread

    @cached_property
    def doubt(self) -> Vector:
        """The greatest of the parts."""
        return np.asarray(np.max([part.doubt for part in self.parts], axis=0))

    def place(self, told: Vector) -> Vector:
        """Return each point of its part."""
        rows = np.reshape(told, (-1, self.width))
        found = np.empty((len(rows), self.dimension))
        for i, part in enumerate(self.parts):
            own = rows[:, 0] == i
            if np.any(own):
                found[own] = part.place(rows[own, 1 : 1 + part.width])
        return found.reshape(*told.shape[:-1], self.dimension)

    def knows(self, told: Vector) -> bool:
        """Return whether there is such a part, and it knows the point."""
        i = float(told[0])
        if not (i.is_integer() and 0 <= i < len(self.parts)):
            return False
        part = self.parts[int(i)]
        return part.knows(told[1 : 1 + part.width])

    def farthest(self, matrix: Vector, center: Vector) -> Told:
        """Return what the farthest part says."""
        own = [part.farthest(matrix, center) for part in self.parts]
        lengths = [
            np.linalg.norm(matrix @ (part.place(told.point) - center))
            for part, told in zip(self.parts, own, strict=True)
        ]
        i = int(np.argmax(lengths))
        return Told(self._tagged(i, own[i].point), max(told.upper for told in own))

    def farthest_pair(self, matrix: Vector) -> Told:
        """Return the farthest of all pairs of parts."""
        best, longest, upper = None, -1.0, 0.0
        for i, one in enumerate(self.parts):
            for j in range(i, len(self.parts)):
                two = self.parts[j]
                told = one.farthest_pair(matrix) if i == j else _apart(one, two, matrix, upper)
                upper = max(upper, told.upper)
                if not told.point.size:
                    continue
                first, second = told.point[0][: one.width], told.point[1][: two.width]
                length = float(np.linalg.norm(matrix @ (one.place(first) - two.place(second))))
                if length > longest:
                    longest = length
                    best = np.stack([self._tagged(i, first), self._tagged(j, second)])
        assert best is not None  # noqa: S101 (every part has a pair with itself)
        return Told(best, upper)

    def support_up(self, direction: Vector, about: Vector) -> float:
        """Return at least max ⟨θ, x − about⟩."""
        return max(part.support_up(direction, about) for part in self.parts)

    def extreme(self, direction: Vector) -> Vector:
        """Return what the part says that reaches farthest along θ."""
        own = [part.extreme(direction) for part in self.parts]
        pairs = zip(self.parts, own, strict=True)
        i = int(np.argmax([direction @ (part.place(told) - self.center) for part, told in pairs]))
        return self._tagged(i, own[i])


@final
class MappedSet(AbstractKnown):
    """{shift + F·x : x in a set}; a point is told by what tells x.

    Args:
        factor: F, shape (m, d).
        part: the set.
        shift: shape (m,).
    """

    def __init__(self, factor: Vector, part: AbstractKnown, shift: Vector) -> None:
        self.factor = factor
        self.part = part
        self.shift = shift
        self.center = frozen(shift + factor @ part.center)
        sizes = np.abs(factor) @ part.reach * (1 + growth(part.dimension + 9))
        ends = [
            max(part.support_up(side, part.center) for side in (row, -row)) if np.any(row) else 0.0
            for row in factor
        ]
        # the center is rounded, and so are differences to it
        off = growth(part.dimension + 9) * (np.abs(factor) @ np.abs(part.center) + np.abs(shift))
        moves = np.any(factor * (part.reach > 0), axis=1)
        self.reach = frozen(np.where(moves, np.minimum(sizes, np.maximum(ends, 0.0)) + off, 0.0))

    @property
    def width(self) -> int:
        """That of the part."""
        return self.part.width

    @property
    def tells_differences(self) -> bool:
        """Where the part does."""
        return self.part.tells_differences

    @property
    def spread(self) -> Vector:
        """Images of what spans the part."""
        return self.part.spread

    @property
    def points(self) -> Vector:
        """Those of the part."""
        return self.part.points

    @cached_property
    def doubt(self) -> Vector:
        """That of the part, and rounding of products and sums."""
        size = np.abs(self.factor) @ (np.abs(self.part.center) + self.part.reach)
        off = growth(self.part.dimension + 9) * (size + np.abs(self.shift))
        moves = np.any(self.factor * (self.part.reach > 0), axis=1)
        return np.asarray(np.where(moves, np.abs(self.factor) @ self.part.doubt + off, 0.0))

    def place(self, told: Vector) -> Vector:
        """Return the images."""
        return np.asarray(self.shift + self.part.place(told) @ self.factor.T)

    def knows(self, told: Vector) -> bool:
        """Return whether the part does."""
        return self.part.knows(told)

    def _pulled(self, matrix: Vector) -> tuple[Vector, float]:
        """Return matrix·F, and how far lengths about the part's center are off by its rounding."""
        linear = matrix @ self.factor
        off = growth(len(self.factor) + 4) * (np.abs(matrix) @ np.abs(self.factor))
        return linear, float(np.linalg.norm(off @ self.part.reach)) * (1 + 2.0**-30)

    def farthest(self, matrix: Vector, center: Vector) -> Told:
        """Return the image of what is farthest, and the part's bound."""
        linear, lost = self._pulled(matrix)
        middle = self.part.center
        constant = matrix @ (self.factor @ middle + self.shift - center)
        size = np.abs(self.factor) @ np.abs(middle) + np.abs(self.shift) + np.abs(center)
        off = growth(len(self.factor) + middle.size + 9) * (np.abs(matrix) @ size)
        told = affine_farthest(self.part, linear, middle, constant)
        return Told(told.point, _longer(told.upper, lost + float(np.linalg.norm(off))))

    def farthest_pair(self, matrix: Vector) -> Told:
        """Return the images of the farthest pair, and the part's bound."""
        linear, lost = self._pulled(matrix)
        told = self.part.farthest_pair(linear)
        return Told(told.point, _longer(told.upper, 2 * lost))

    def support_up(self, direction: Vector, about: Vector) -> float:
        """Return at least max ⟨θ, x − about⟩."""
        pulled, lost = self._pulled(direction[None])
        middle = self.part.center
        at = self.factor @ middle + self.shift - about
        size = np.abs(self.factor) @ np.abs(middle) + np.abs(self.shift) + np.abs(about)
        off = growth(direction.size + middle.size + 9) * float(np.abs(direction) @ size)
        own = self.part.support_up(pulled[0], middle)
        return own + float(direction @ at) + (lost + off) * (1 + 2.0**-30) + 2.0**-50 * abs(own)

    def extreme(self, direction: Vector) -> Vector:
        """Return what is extreme along Fᵀθ."""
        return self.part.extreme(direction @ self.factor)


def _apart(one: AbstractKnown, two: AbstractKnown, matrix: Vector, known: float) -> Told:
    """Return a pair of points of two sets, and at least max ‖matrix·(x − y)‖².

    Args:
        one: points, or an image.
        two: either.
        matrix: shape (r, d).
        known: a square: pairs that are proved to be nearer need no bound of their own.
    """
    if isinstance(two, PointSet) and not isinstance(one, PointSet):
        told = _apart(two, one, matrix, known)
        return Told(told.point[::-1] if told.point.size else told.point, told.upper)
    if isinstance(one, PointSet):
        return _from_points(one, two, matrix, known)
    assert isinstance(one, ImageSet)  # noqa: S101 (what else tells differences in a hull)
    assert isinstance(two, ImageSet)  # noqa: S101
    offset = one.center - two.center
    factor = np.hstack([one.factor, -two.factor, offset[:, None]])
    both = product_base([one.base, two.base])
    base = product_base([one.base, two.base, NormBase(1, np.inf)])
    image = matrix @ factor
    x = climbed(both, image[:, :-1], image[:, -1])
    body = ImageBody(frozen(factor), base)
    if np.any(image):
        body = body.hinted(far_hint(image, base))
    lost = 2.0**-52 * float(np.linalg.norm(np.abs(matrix) @ np.abs(offset)))
    upper = body.reach_up(matrix, np.zeros(one.dimension)) + lost
    k, pair = one.width, np.zeros((2, max(one.width, two.width)))
    pair[0, :k], pair[1, : two.width] = x[:k], x[k:]
    return Told(pair, upper * upper * (1 + 2.0**-50))


def _from_points(one: PointSet, two: AbstractKnown, matrix: Vector, known: float) -> Told:
    about = two.farthest(matrix, two.center).upper ** 0.5 * (1 + 2.0**-40)
    away = (one.rows - two.center) @ matrix.T
    # rounding of lengths that only prune: what they leave out is bounded by them
    size = np.linalg.norm(np.abs(one.rows - two.center) @ np.abs(matrix).T, axis=1)
    most = np.linalg.norm(away, axis=1) + growth(one.dimension + len(matrix) + 9) * size + about
    order = np.argsort(-most, kind="stable")
    pair, upper, longest = np.zeros((0, 0)), 0.0, -1.0
    for i in order:
        if most[i] * most[i] * (1 + 2.0**-40) <= max(known, upper):
            break
        told = two.farthest(matrix, one.rows[i])
        upper = max(upper, told.upper)
        length = float(np.linalg.norm(matrix @ (two.place(told.point) - one.rows[i])))
        if length > longest:
            longest, pair = length, np.zeros((2, max(1, two.width)))
            pair[0, 0], pair[1, : two.width] = i, told.point
    return Told(pair, max(upper, known))


def _differences(rows: Vector) -> Vector:
    """Return all x − y, shape (N², d)."""
    return (rows[:, None] - rows).reshape(-1, rows.shape[1])


def _longer(square: float, more: float) -> float:
    """Return at least the square of a length that is `more` longer."""
    length = np.sqrt(square) * (1 + 2.0**-50) + more * (1 + 2.0**-30)
    return float(length * length * (1 + 2.0**-50))


def _slices(sizes: list[int]) -> list[slice]:
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]
