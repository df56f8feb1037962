# SPDX-License-Identifier: Apache-2.0
"""Sections of unit balls: what slabs and balls with different centers have in common.

K = {ξ : z = Aξ + offset lies in a product of slabs |zᵢ| ≤ 1 and balls ‖z‖₂ ≤ 1}. For y ≥ 0, equal
on the rows of a ball, the quadratics of its parts add up (Yₖ of one part each):

    Σ yᵢzᵢ² ≤ energy(y) on K.

Two points of K with the midpoint m and the difference s have z(m) ± σ/2 in the parts, σ = As. A
slab then says |zᵢ(m)| + |σᵢ|/2 ≤ 1, so σᵢ² ≤ 4(1 − |zᵢ(m)|); a ball σ² ≤ 4(1 − ‖z(m)‖²). And
yᵢ|zᵢ| ≥ λᵢzᵢ for |λᵢ| ≤ yᵢ, yᵢzᵢ² ≥ λᵢzᵢ − λᵢ²/(4yᵢ). So for every such λ, with Aᵀλ ≈ 0,

    Σ yᵢσᵢ² ≤ 4·(energy(y) + Σ_balls λ²/(4y) − ⟨λ, offset⟩ + |Aᵀλ|·reach)

on K − K (ours; for a simplex that is its least ellipsoid, and twice the least one of K is not).
Any (y, λ) is a proof; which ones prove much, an optimiser may say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self, final

import numpy as np

from lownoise.numbers.arrays import frozen, slices
from lownoise.numbers.rounding import grown, growth, spectral_up
from lownoise.sets.bodies.abstract import AbstractBody
from lownoise.sets.bodies.barrier import farthest
from lownoise.sets.norms import WalkNorm

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Chosen, Vector
    from lownoise.sets.bodies.oracle import AbstractOracleBody
    from lownoise.sets.bodies.rotations import Rotated
    from lownoise.sets.norms import AbstractNorm
    from lownoise.sets.unit_balls import AbstractUnitBall

_SLACK = 2.0**-44
_MOST_SUPPORTS = 4.0e11  # products that supports may take before coarser bounds must do
_STEPS = 80  # about how many steps a support takes
_CLOSELY = 2e10  # the same, where they are as extreme as floats tell
_MANY = 16
_QUICK = 1e7  # the barrier's last weight, where points need to be extreme to about 1e-6


@final
@dataclass(frozen=True, eq=False)
class Section:
    """{ξ : A·ξ + offset ∈ B} with 0 inside, B a product of cubes and Euclidean balls.

    Args:
        rows: A, injective, shape (M, d).
        offsets: shape (M,); in the interior of B.
        base: B, M coordinates.
    """

    rows: Vector
    offsets: Vector
    base: AbstractUnitBall

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self.rows.shape[1])

    @cached_property
    def groups(self) -> list[tuple[slice, bool]]:
        """The rows of each part, and whether they are slabs."""
        parts = self.base.factors
        own = slices(part.dimension for part in parts)
        return [(rows, is_slabs(part)) for rows, part in zip(own, parts, strict=True)]

    @cached_property
    def slabs(self) -> Chosen:
        """Which rows are slabs, shape (M,)."""
        found = np.zeros(len(self.rows), dtype=np.bool_)
        for rows, slab in self.groups:
            found[rows] = slab
        return np.asarray(found)

    @cached_property
    def balls(self) -> list[slice]:
        """The rows of each ball."""
        return [rows for rows, slab in self.groups if not slab]

    @cached_property
    def margin(self) -> float:
        """At most how far the offsets are from the boundary of the parts."""
        return 1 - float(self.base.norm_up(self.offsets[None])[0])

    @cached_property
    def doubt(self) -> float:
        """How far a gauge of at most about 1 can be off, for points within `extent`.

        Sums of d products are off by (d + 2)·2^-53 of the sum of sizes; where a part's offset is
        `margin` from its boundary that moves a gauge by 1/margin times as much.
        """
        size = np.abs(self.rows) @ self.extent
        wide = max(float(np.linalg.norm(size[rows])) for rows, _ in self.groups)
        count = self.dimension + len(self.rows) + 60
        return count * 2.0**-52 * (1 + wide) / self.margin

    @cached_property
    def extent(self) -> Vector:
        """At least max |ξⱼ| for each coordinate, shape (d,)."""
        d = self.dimension
        found = self._coarse
        if self._affordable(2 * d):
            axes = np.eye(d)
            near = np.maximum(self._proved(axes, found), self._proved(-axes, found))
            found = np.minimum(found, near)
        return frozen(np.maximum(found, 0.0))

    @cached_property
    def _coarse(self) -> Vector:
        """Bounds from rows of one coordinate each, else from a left inverse of A."""
        room = 1 + np.abs(self.offsets)
        found = np.full(self.dimension, np.inf)
        alone = np.count_nonzero(self.rows, axis=1) == 1
        for i in np.flatnonzero(alone):
            j = int(np.flatnonzero(self.rows[i])[0])
            found[j] = min(found[j], room[i] / abs(self.rows[i, j]) * (1 + _SLACK))
        if np.all(np.isfinite(found)):
            return found
        inverse = np.linalg.pinv(self.rows)
        left = np.abs(np.eye(self.dimension) - inverse @ self.rows)
        left += growth(len(room) + 9) * (np.abs(inverse) @ np.abs(self.rows))
        near = np.abs(inverse) @ room
        size = np.max(near, initial=0.0)
        unit = np.where(near > 0, near, size)
        # |ξ| ≤ near + left·|ξ|, and `left` is far below 1 in these units
        share = float(np.max(left @ unit / unit))
        if not share < 1:
            return found
        return np.asarray(np.minimum(found, grown(unit / (1 - share))))

    def _affordable(self, count: int) -> bool:
        m, d = self.rows.shape
        return bool(float(count) * _STEPS * d * d * (m + d) <= _MOST_SUPPORTS)

    def _proved(self, directions: Vector, extent: Vector) -> Vector:
        """Return at least max ⟨θ, ξ⟩, by multipliers: θ = Aᵀλ + rest; of many, less closely."""
        last = _QUICK if len(directions) > _MANY + 2 * self.dimension else _CLOSELY
        own = farthest(self.rows, self.offsets, self.slabs, self.balls, directions, last)
        multipliers = own[1]
        rest = np.abs(directions - multipliers @ self.rows)
        rest += growth(len(self.rows) + 9) * (np.abs(multipliers) @ np.abs(self.rows))
        found = self.base.support_up(multipliers) - multipliers @ self.offsets + rest @ extent
        lost = (np.abs(multipliers) @ (1 + np.abs(self.offsets))) * len(self.rows) * 2.0**-50
        found = found + lost + np.abs(found) * _SLACK
        return np.where(np.isfinite(found), found, np.inf)  # not a number proves nothing

    def support_up(self, directions: Vector) -> Vector:
        """Return at least max ⟨θ, ξ⟩, row by row, hardly more where that is affordable; (n,)."""
        coarse = np.abs(directions) @ self.extent * (1 + _SLACK)
        if not self._affordable(len(directions)):
            return np.asarray(coarse)
        return np.minimum(coarse, self._proved(directions, self.extent))

    def extreme(self, directions: Vector) -> tuple[Vector, Vector]:
        """Return points inside, nearly extreme along each row, and multipliers."""
        return farthest(self.rows, self.offsets, self.slabs, self.balls, directions)

    def far(self, directions: Vector, last: float = _QUICK) -> Vector:
        """Return points inside, extreme along each row to about 10/last: quicker than `extreme`."""
        return farthest(self.rows, self.offsets, self.slabs, self.balls, directions, last)[0]

    def gauge(self, points: Vector) -> Vector:
        """Return the least γ with ξ/γ inside, row by row, within `doubt`; points within `extent`.

        Sums go column by column: a row's arithmetic does not depend on the rows beside it.
        """
        columns = np.ascontiguousarray(points.T)
        found = np.zeros(len(points))
        for rows, slab in self.groups:
            squared, across = np.zeros(len(points)), np.zeros(len(points))
            for i in range(rows.start, rows.stop):
                w = np.zeros(len(points))
                for j in np.flatnonzero(self.rows[i]):
                    w += self.rows[i, j] * columns[j]
                at = self.offsets[i]
                if slab:
                    np.maximum(found, np.where(w > 0, w / (1 - at), -w / (1 + at)), out=found)
                else:
                    squared += w * w
                    across += at * w
            if not slab:
                # ‖z₀ + w/γ‖ = 1: γ²(1 − ‖z₀‖²) − 2γ⟨z₀, w⟩ − ‖w‖² = 0
                own = self.offsets[rows]
                room = 1 - float(np.sum(own * own))
                root = np.sqrt(across * across + squared * room)
                np.maximum(found, (across + root) / room, out=found)
        return found


Kind = Literal["differences", "translates", "lifted"]


@final
@dataclass(frozen=True, eq=False)
class SectionBody(AbstractBody):
    """Changes between points of a section K, or K itself, or one record that comes or goes.

    Args:
        section: K; for "lifted" a symmetric section around the body, its offsets 0.
        kind: "differences" is K − K; "translates" is K, wherever it stands; "lifted" is all
            ±((ξ, 0) + shift) with ξ in `inside`.
        multipliers: (p, n) > 0 with y = p + n and λ = 2(p − n), shape (2M,): what proves much.
        inside: a section of one coordinate less, for "lifted".
        shift: shape (d,), for "lifted".
        oracle: the same changes as those of a set by its corners, or of which widths are asked.
        turning: returns what is left of it where it can be turned about few directions.
    """

    section: Section
    kind: Kind
    multipliers: Vector | None = None
    inside: Section | None = None
    shift: Vector | None = None
    oracle: AbstractOracleBody | None = None
    turning: Callable[[SectionBody], Rotated | None] | None = None

    @property
    def moves(self) -> bool:
        """Whether its ellipsoid may choose its center."""
        return self.kind == "translates"

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return self.section.dimension

    @property
    def spanning(self) -> Vector:
        """Its reach along each axis: it is full."""
        return np.diag(self.far)

    @cached_property
    def far(self) -> Vector:
        """At least |sⱼ| for each coordinate, shape (d,)."""
        if self.kind == "translates":
            return self.section.extent
        return frozen(self.extent_up(np.eye(self.dimension), self.base_point))

    def length_up(self, matrix: Vector, center: Vector) -> float:
        """Return at least max ‖matrix·(s − center)‖ over the body."""
        far = self.far + np.abs(center)
        longest = float(np.linalg.norm(self.extent_up(matrix, center))) * (1 + _SLACK)
        for y, tilt in self._candidates():
            longest = min(longest, self._bounded(matrix, center, y, tilt, far))
        turned = self.rotated
        if turned is not None:
            longest = turned.length_up(matrix, center, longest)
        if turned is not None and turned.keeps(matrix):
            pass  # nothing is lost: cones of more directions would prove no more
        elif self.oracle is not None and self.oracle.resolves(len(matrix)):
            longest = min(longest, self.oracle.farthest(matrix, center, limit=longest).upper)
        return longest if longest >= 0 else math.inf  # not a number proves nothing

    @cached_property
    def rotated(self) -> Rotated | None:
        """What is left of it where it can be turned about few directions."""
        return None if self.turning is None else self.turning(self)

    def _candidates(self) -> list[tuple[Vector, Vector]]:
        m = len(self.section.rows)
        found = [(np.ones(m), np.zeros(m))]
        if self.multipliers is not None and self.multipliers.shape == (2 * m,):
            p, n = self.multipliers[:m], self.multipliers[m:]
            found.insert(0, (p + n, 2 * (p - n)))
        return found

    def _bounded(
        self, matrix: Vector, center: Vector, y: Vector, tilt: Vector, far: Vector
    ) -> float:
        """Return at least max ‖X(s − c)‖: X = Z·√y·A + rest, for any Z."""
        from scipy.linalg import solve_triangular

        total = self.energy_up(y, tilt, center)
        root = np.sqrt(y)[:, None] * self.section.rows
        if not math.isfinite(total) or not np.all(np.isfinite(root)):
            return math.inf
        turn, triangle = np.linalg.qr(root)
        if not np.all(np.diag(triangle) != 0):
            return math.inf
        z = solve_triangular(triangle, matrix.T, trans="T", check_finite=False).T @ turn.T
        if not np.all(np.isfinite(z)):
            return math.inf
        m, d = root.shape
        rest = np.abs(matrix - z @ root) + growth(m + 9) * (np.abs(z) @ np.abs(root))
        off = float(np.linalg.norm((rest + growth(9) * np.abs(matrix)) @ far))
        # √y·a is rounded twice
        stretch = math.sqrt(total) + 2.0**-50 * float(np.linalg.norm(np.abs(root) @ far))
        return (spectral_up(z) * stretch * (1 + growth(d + 9)) + off) * (1 + _SLACK)

    def energy_up(self, y: Vector, tilt: Vector, center: Vector) -> float:
        """Return at least max Σ yᵢ⟨aᵢ, s − c⟩² over the body: see the top of this file."""
        section = self.section
        a, offsets = section.rows, section.offsets
        m, d = a.shape
        energy = section.base.energy_up(y)
        if self.kind == "lifted":
            return energy * (1 + _SLACK)
        extent = section.extent
        if self.kind == "translates":
            # Σ y(z − ζ)² = Σ yz² − 2⟨g, ξ − c⟩ − Σ yζ², where ζ = Ac + offset, g = Aᵀyζ
            at = a @ center + offsets
            size = np.abs(a) @ np.abs(center) + np.abs(offsets)
            pull = np.abs(a.T @ (y * at)) + growth(m + d + 9) * (np.abs(a.T) @ (y * size))
            lost = growth(m + 2 * d + 20) * float(y @ np.square(size + np.abs(at)))
            found = energy - float(y @ (at * at)) + lost
            return max(found + 2 * float(pull @ (extent + np.abs(center))), 0.0) * (1 + _SLACK)
        slabs = section.slabs
        tilt = np.where(slabs, np.clip(tilt, -y, y), tilt)
        bent = float(np.sum(np.square(tilt[~slabs]) / (4 * y[~slabs])))
        pull = np.abs(a.T @ tilt) + growth(m + 9) * (np.abs(a.T) @ np.abs(tilt))
        lost = growth(m + 20) * float(np.abs(tilt) @ np.abs(offsets))
        found = energy + bent - float(tilt @ offsets) + lost + float(pull @ extent)
        return 4 * max(found, 0.0) * (1 + _SLACK)

    def extent_up(self, matrix: Vector, center: Vector) -> Vector:
        """Return at least max |matrix·(s − center)|, row by row, shape (r,)."""
        if self.inside is not None and self.shift is not None:
            at, size = matrix @ self.shift, np.abs(matrix) @ np.abs(self.shift)
            ahead = self.inside.support_up(matrix[:, :-1]) + at
            back = self.inside.support_up(-matrix[:, :-1]) - at
            lost = growth(self.dimension + 9) * size + np.abs(matrix) @ np.abs(center)
            return np.asarray((np.maximum(ahead, back) + lost) * (1 + _SLACK))
        ahead = self.section.support_up(matrix)
        back = self.section.support_up(-matrix)
        if self.kind == "differences":
            return np.asarray((ahead + back) * (1 + _SLACK))
        at = matrix @ center
        lost = growth(self.dimension + 9) * (np.abs(matrix) @ np.abs(center))
        return np.asarray((np.maximum(ahead - at, back + at) + lost) * (1 + _SLACK))

    @property
    def width_of_points(self) -> int:
        """How many numbers `changes` takes for each."""
        e = self.section.dimension if self.inside is None else self.inside.dimension
        return 2 * e if self.kind == "differences" else e

    def changes(self, points: Vector) -> tuple[Vector, Vector]:
        """Return changes of the body's span, and gauges: each over its gauge is in the body.

        Args:
            points: ξ, shape (n, e); for "differences" ξ and η side by side, shape (n, 2e).
        """
        section = self.section if self.inside is None else self.inside
        e = section.dimension
        pair = points.reshape(-1, e)
        fits = np.all(np.abs(pair) <= 2 * section.extent, axis=1)
        gauge = section.gauge(pair) + 4 * section.doubt
        gauge = np.where(fits, np.maximum(gauge, 1.0), np.inf)
        if self.kind == "differences":
            return points[:, :e] - points[:, e:], np.max(gauge.reshape(-1, 2), axis=1)
        if self.shift is None:
            return points, gauge
        # only points that are inside can be lifted: the last coordinate does not shrink with them
        inner = points / gauge[:, None]
        lifted = np.hstack([inner, np.zeros((len(points), 1))]) + self.shift
        return lifted, np.where(np.isfinite(gauge), 1.0, np.inf)

    def scaled(self, factor: float) -> Self:
        """Return factor·S; `factor` is a power of two."""
        return replace(
            self,
            section=_stretched(self.section, factor),
            inside=None if self.inside is None else _stretched(self.inside, factor),
            shift=None if self.shift is None else frozen(factor * self.shift),
            oracle=None if self.oracle is None else self.oracle.scaled(factor),
        )

    def with_multipliers(self, multipliers: Vector) -> Self:
        """Return the body with multipliers for the bound on its length."""
        return replace(self, multipliers=frozen(multipliers))

    def sensitivity_up(self, norm: AbstractNorm) -> float:
        """Return at least max ‖s‖: what the norm says of sections."""
        return norm.section_up(self)

    @property
    def norm_rows(self) -> Vector:
        """A with ‖A·s‖_B ≤ 1 on all changes: half of a section's rows; all if it is lifted."""
        rows = self.section.rows
        return rows if self.kind == "lifted" else frozen(rows / 2)

    def norm(self, distance: float) -> AbstractNorm:
        """Return that of a section, which is walked in."""
        return WalkNorm(self.norm_rows, self.section.base)


def _stretched(section: Section, factor: float) -> Section:
    return Section(frozen(section.rows / factor), section.offsets, section.base)


def is_slabs(part: AbstractUnitBall) -> bool:
    """Return whether a part is a cube: every row a slab of its own."""
    return part.ball_order is not None and (math.isinf(part.ball_order) or part.dimension == 1)
