# SPDX-License-Identifier: Apache-2.0
"""Sets side by side, and how what they prove composes.

‖Σ Aᵢzᵢ‖² = Σ ‖Aᵢzᵢ‖² + 2Σ zᵢᵀXᵢⱼzⱼ with Xᵢⱼ = AᵢᵀAⱼ = Σ s·u·vᵀ, and every term of the last sum is
split: 2s⟨u, zᵢ⟩⟨v, zⱼ⟩ ≤ s⟨u, zᵢ⟩² + s⟨v, zⱼ⟩². Where the blocks do not meet, as of the least
noise of a product, nothing is lost. Where they do, and parts are lists and images, every choice of
points that can be the farthest is looked at, with all images as one.

Changes to records of a product: as one body, and part by part.

The least noise of a product is that of its parts side by side (002, Lemma 60), and evidence for the
parts is evidence for the whole, so solvers and certificates look at the parts; privacy looks at the
whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Self, final

import numpy as np

from lownoise.numbers.arrays import frozen, slices
from lownoise.numbers.rounding import growth, shrunk
from lownoise.sets.bodies.abstract import AbstractBody
from lownoise.sets.bodies.image import SymmetricBox
from lownoise.sets.bodies.pieces import ImageSet, PointSet, climbed, image_extent
from lownoise.sets.bodies.reach import AbstractSet, Farthest, farthest_of, longer
from lownoise.sets.norms.choice import norm_of, unknown
from lownoise.sets.norms.product import ProductNorm
from lownoise.sets.unit_balls import product_ball

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Integers, Vector
    from lownoise.sets.bodies.oracle import AbstractOracleBody
    from lownoise.sets.norms import AbstractNorm

_CLIMBS = 20
_RISES = 1e-12
_MOST = 2.0**13  # choices of points, one from each list
_STARTS = 2
_SMALL = 1e-15  # of a length: a coupling that is bounded by its size alone


@final
class ProductSet(AbstractSet):
    """All (x, y, …), each from its own set; a point is encoded as its parts are, side by side.

    Args:
        parts: one or more.
    """

    def __init__(self, parts: tuple[AbstractSet, ...]) -> None:
        self.parts = parts
        self.center = frozen(np.concatenate([part.center for part in parts]))
        self.extent = frozen(np.concatenate([part.extent for part in parts]))
        self.blocks = slices([part.dimension for part in parts])
        self._encoded = slices([part.width for part in parts])

    @property
    def width(self) -> int:
        """The numbers of all parts."""
        return sum(part.width for part in self.parts)

    @property
    def bounds_differences(self) -> bool:
        """Where all parts do."""
        return all(part.bounds_differences for part in self.parts)

    @cached_property
    def spanning(self) -> Vector:
        """One point, and each part's with the others fixed."""
        own = [part.spanning for part in self.parts]
        first = np.concatenate([rows[0] for rows in own])
        found = [first[None]]
        for at, rows in zip(self._encoded, own, strict=True):
            moved = np.tile(first, (len(rows) - 1, 1))
            moved[:, at] = rows[1:]
            found.append(moved)
        return np.vstack(found)

    @property
    def doubt(self) -> Vector:
        """That of the parts."""
        return np.concatenate([part.doubt for part in self.parts])

    def place(self, encoded: Vector) -> Vector:
        """Return the parts' points side by side."""
        pairs = zip(self.parts, self._encoded, strict=True)
        return np.concatenate([part.place(encoded[..., at]) for part, at in pairs], axis=-1)

    def knows(self, encoded: Vector) -> bool:
        """Return whether all parts do."""
        pairs = zip(self.parts, self._encoded, strict=True)
        return all(part.knows(encoded[at]) for part, at in pairs)

    def farthest(self, matrix: Vector, center: Vector) -> Farthest:
        """Return the parts' farthest points, climbed from; and the sum of the parts' bounds."""
        far = self.far(center)
        maps, lost = self._split(matrix, far)
        own = [
            part.farthest(a, center[at])
            for part, a, at in zip(self.parts, maps, self.blocks, strict=True)
        ]
        axes = np.linalg.svd(matrix, full_matrices=False)[2][:_STARTS]
        points = [np.concatenate([answer.point for answer in own])]
        points += [self.extreme(side) for axis in axes for side in (axis, -axis)]
        start = max(points, key=lambda x: self._length(matrix, x, center))
        best = self._climbed(matrix, start, center)
        upper = (sum(answer.upper for answer in own) + lost) * (1 + growth(len(own) + 9))
        if any(len(a) > len(matrix) for a in maps):  # they meet, and splitting lost something
            found = self._length_of_points(matrix, center)
            if found is not None:
                starts = (best, self._climbed(matrix, found.point[0], center))
                best = max(starts, key=lambda x: self._length(matrix, x, center))
                upper = min(upper, found.upper)
        return Farthest(best, upper)

    def _length(self, matrix: Vector, point: Vector, center: Vector) -> float:
        return float(np.linalg.norm(matrix @ (self.place(point) - center)))

    def _length_of_points(self, matrix: Vector, center: Vector | None) -> Farthest | None:
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
            return Farthest(
                self._chosen(i, sizes, np.zeros(0), pairs=center is None),
                longer(lengths[i] ** 2, doubt),
            )
        image = np.hstack(columns)
        base = product_ball([part.base for part in images])
        around = image_extent(image, np.zeros(r), base)
        longest, at_most = -1.0, 0
        for i in np.argsort(-lengths, kind="stable"):
            if (lengths[i] + around) * (1 + growth(9)) <= longest:
                break
            extent = image_extent(image, choices[i], base)
            if extent > longest:
                longest, at_most = extent, int(i)
        x = climbed(base, image, choices[at_most])
        return Farthest(
            self._chosen(at_most, sizes, x, pairs=center is None), longer(longest * longest, doubt)
        )

    def _chosen(self, i: int, sizes: list[int], x: Vector, *, pairs: bool) -> Vector:
        """Return the codes of the i-th choice of points with x in the images, and of another."""
        rest, at = list(np.unravel_index(i, sizes)) if sizes else [], 0
        found: tuple[list[Vector], list[Vector]] = ([], [])
        for part in self.parts:
            if isinstance(part, PointSet):
                n, own = len(part.rows), int(rest.pop(0))
                pair = divmod(own, n) if pairs else (own, own)
                for side, index in zip(found, pair, strict=True):
                    side.append(part.encoded(np.array([index]))[0])
            else:
                own_x = x[at : at + part.width]
                at += part.width
                found[0].append(own_x)
                found[1].append(-own_x)
        return np.stack([np.concatenate(side) for side in found])

    def farthest_pair(self, matrix: Vector) -> Farthest:
        """Return the parts' farthest pairs, and the sum of their bounds."""
        maps, lost = self._split(matrix, 2 * self.extent)
        own = [part.farthest_pair(a) for part, a in zip(self.parts, maps, strict=True)]
        (first, second), *rest = (
            farthest_of(part, a, answer.point)
            for part, a, answer in zip(self.parts, maps, own, strict=True)
        )
        for point in rest:  # each part either way round, whichever is longer
            pairs = [(np.append(first, point[i]), np.append(second, point[1 - i])) for i in (0, 1)]
            first, second = max(pairs, key=lambda pair: self._apart(matrix, *pair))
        upper = (sum(answer.upper for answer in own) + lost) * (1 + growth(len(own) + 9))
        if any(len(a) > len(matrix) for a in maps):
            found = self._length_of_points(matrix, None)
            if found is not None:
                both = ((first, second), tuple(found.point))
                first, second = max(both, key=lambda pair: self._apart(matrix, *pair))
                upper = min(upper, found.upper)
        return Farthest(np.stack([first, second]), upper)

    def _apart(self, matrix: Vector, first: Vector, second: Vector) -> float:
        known, end = zip(self.parts, self._encoded, self.blocks, strict=True), first.size
        total = np.zeros(len(matrix))
        for part, columns, at in known:
            if columns.stop <= end:
                moved = part.place(first[columns]) - part.place(second[columns])
                total += matrix[:, at] @ moved
        return float(np.linalg.norm(total))

    def _climbed(self, matrix: Vector, point: Vector, center: Vector) -> Vector:
        image = matrix @ (self.place(point) - center)
        for _ in range(_CLIMBS):
            higher = self.extreme(image @ matrix)
            change = matrix @ (self.place(higher) - center)
            if not np.linalg.norm(change) > np.linalg.norm(image) * (1 + _RISES):
                break
            point, image = higher, change
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
        return float(self.supports_up(direction[None], about)[0])

    @property
    def loose(self) -> bool:
        """Where a part is."""
        return any(part.loose for part in self.parts)

    @property
    def effort(self) -> float:
        """That of all parts."""
        return sum(part.effort for part in self.parts)

    def supports_up(self, directions: Vector, about: Vector) -> Vector:
        """Return at least max ⟨θ, x − about⟩, row by row: what the parts' are together."""
        own = [
            part.supports_up(directions[:, at], about[at])
            for part, at in zip(self.parts, self.blocks, strict=True)
        ]
        return np.asarray(sum(own) + growth(len(own) + 2) * sum(np.abs(value) for value in own))

    def extreme(self, direction: Vector) -> Vector:
        """Return the parts' extreme points."""
        return np.asarray(self.extremes(direction[None])[0])

    def extremes(self, directions: Vector) -> Vector:
        """Return the parts' extreme points for each row."""
        pairs = zip(self.parts, self.blocks, strict=True)
        return np.hstack([part.extremes(directions[:, at]) for part, at in pairs])


def _differences(rows: Vector) -> Vector:
    """Return all x − y, shape (N², d)."""
    return (rows[:, None] - rows).reshape(-1, rows.shape[1])


@final
@dataclass(frozen=True, eq=False)
class JointBody(AbstractBody):
    """The body of a product, with the same kind of body of each part.

    Args:
        combined: of the product; where it is lifted the count is last.
        parts: of each part, in order; where the whole is lifted each has a count of its own, last.
        offsets: where the parts' bodies have their origin, shape (d,), if they may be translated.
    """

    combined: AbstractOracleBody
    parts: tuple[AbstractBody, ...]
    offsets: Vector | None = None

    @property
    def counted(self) -> bool:
        """Whether a record counts, too."""
        return self.count > 0

    @property
    def count(self) -> float:
        """What one record counts."""
        return self.combined.count

    @property
    def blocks(self) -> list[slice]:
        """The coordinates of each part, without the count."""
        return slices(part.dimension - self.counted for part in self.parts)

    @property
    def spanning(self) -> Vector:
        """Vertices that span the whole."""
        return self.combined.spanning

    @property
    def moves(self) -> bool:
        """Whether an ellipsoid may choose its center."""
        return self.combined.moves

    @property
    def base_point(self) -> Vector:
        """What the whole says."""
        return self.combined.base_point

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.combined.dimension

    def length_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·(s − center)‖ over the whole."""
        return self.combined.length_up(matrix, center)

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(s − center)|, row by row."""
        return self.combined.extent_up(matrix, center)

    def scaled(self, factor: float) -> Self:
        """Return factor·S; `factor` is a power of two."""
        parts = tuple(part.scaled(factor) for part in self.parts)
        offsets = None if self.offsets is None else frozen(factor * self.offsets)
        return type(self)(self.combined.scaled(factor), parts, offsets)

    def projections(self, blocks: list[slice]) -> list[AbstractBody | None]:
        """Return the parts where these are their blocks."""
        parts = self.product_parts()
        if parts is None or [p.dimension for p in parts] != [b.stop - b.start for b in blocks]:
            return super().projections(blocks)
        return list(parts)

    def product_parts(self) -> tuple[AbstractBody, ...] | None:
        """Return bodies of blocks of coordinates, whose product holds the changes of a product.

        Of one record that changes it is their product. ±(x − v, 1), of one that comes or goes, lies
        in the product of all ±(xᵢ − vᵢ) and of what one record counts. None where a part has no
        known projection.
        """
        if not self.counted:
            return self.parts
        own = [part.projected(np.arange(part.dimension - 1)) for part in self.parts]
        known = tuple(part for part in own if part is not None)
        count = SymmetricBox(frozen(np.array([self.count])))
        return (*known, count) if len(known) == len(own) else None

    def norm(self, distance: float) -> AbstractNorm:
        """Return the product of the parts' norms."""
        parts = self.product_parts()
        if parts is None:
            raise unknown(self)
        share = shrunk(distance / len(parts))  # they add up
        return ProductNorm(tuple(norm_of(part, share) for part in parts))

    def split(self, queries: Vector | None) -> list[tuple[Integers, Vector | None]] | None:
        """Return which answers are of each part, and its queries; None where one is of several.

        The count's own answer, the last one, is left out of every part's.

        Args:
            queries: L, shape (m, d); None for the identity.
        """
        if queries is None:
            return [(np.arange(at.start, at.stop), None) for at in self.blocks]
        own = queries[:-1] if self.counted else queries
        if self.counted and np.any(queries[-1, :-1]):
            return None
        used = np.stack([np.any(own[:, at] != 0, axis=1) for at in self.blocks])
        if np.any(np.count_nonzero(used, axis=0) > 1):
            return None
        # an answer that looks at the count alone goes with the first part
        used[0] |= ~np.any(used, axis=0)
        found: list[tuple[Integers, Vector | None]] = []
        for rows, at in zip(used, self.blocks, strict=True):
            asked = own[rows][:, at]
            if self.counted:
                k = asked.shape[1]
                asked = np.vstack([np.hstack([asked, own[rows, -1:]]), np.eye(k + 1)[-1:]])
                asked[-1, -1] = queries[-1, -1]
            found.append((np.flatnonzero(rows), frozen(asked)))
        return found
