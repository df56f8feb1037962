# SPDX-License-Identifier: Apache-2.0
"""Whether a point is in the hull of points and their opposites, by a linear programme.

‖x‖ = min {Σ|λⱼ| : Σ λⱼpⱼ = x} = max {⟨w, x⟩ : |⟨w, pⱼ⟩| ≤ 1}. Of any λ the first says that x is in
the hull, of any w the second that it is not; the simplex method finds both. It starts from a basis
found before that does best for this point, and goes past every sign that it may on its way (a long
step). Floats find them and say for certain where both sides of 1 are far enough; what they leave
open is decided in rational numbers, with Bland's rule, and with as many bits of x as it takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from flint import arb, fmpq, fmpq_mat

from lownoise.errors import PlanError
from lownoise.numbers.arrays import matrix, vector
from lownoise.numbers.rounding import POWER, ROUGH, grown, growth
from lownoise.samplers.walks.membership import AbstractMembership

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lownoise.numbers.arrays import Integers, Vector

_KEPT = 64  # bases that a point may start from
_NORMALS = 192  # that a point may be seen to be outside by
_ADDED = 4  # of those that one call found
_TOLERANCE = 1e-11  # of dual feasibility, in floats
_APART = 2.0**-16  # of 1: farther from it the search ends
_MOST_TURNS = 8  # for each coordinate
_NUDGE = 2.0**-37
_SMALL = 1e-9  # that is not divided by
_WORK = 12.0  # a proposal takes as long as so many of a cube


@final
@dataclass(frozen=True, eq=False)
class Spanned(AbstractMembership):
    """The hull of ±p₁, …, ±p_N.

    Args:
        rows: p, shape (N, d), of rank d; exactly the stored floats.
        axes: at least ‖eᵢ‖, shape (d,).

    Raises:
        PlanError: where an argument has another shape, or floats find no basis.

    Examples:
        >>> cross = Spanned(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.ones(2))
        >>> cross.norms_up(np.array([[0.25, 0.25], [2.0, 2.0], [1.0, -1.0]])).round(9)
        array([0.25, 2.  , 2.  ])
        >>> cross.holds([arb(1), arb(1) - arb(2) ** -50]), cross.holds([arb(1), arb(1.5)])
        (True, False)
    """

    rows: ArrayLike
    axes: ArrayLike

    def __post_init__(self) -> None:
        """Check, and make the arrays read-only."""
        rows = matrix(self.rows, field="Spanned.rows", error=PlanError)
        axes = vector(self.axes, field="Spanned.axes", error=PlanError)
        if not rows.size or axes.size != rows.shape[1] or not np.all(axes > 0):
            raise PlanError(f"Spanned.axes must be {rows.shape[1]} positive numbers; give one each")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "axes", axes)
        _ = self._pool

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return int(self._rows.shape[1])

    @property
    def work(self) -> float:
        """A programme a proposal."""
        return _WORK

    @property
    def _rows(self) -> Vector:
        return np.asarray(self.rows)

    @cached_property
    def _pool(self) -> _Pool:
        from scipy.linalg import qr

        unit = np.max(np.abs(self._rows), axis=0)
        turn = qr((self._rows / np.where(unit > 0, unit, 1.0)).T, mode="r", pivoting=True)[1]
        first = np.sort(turn[: self.dimension])
        try:
            inverse = np.linalg.inv(self._rows[first].T)
        except np.linalg.LinAlgError:
            raise PlanError("Spanned.rows are flat; leave out a coordinate") from None
        return _Pool(first[None], inverse[None])

    def axes_up(self) -> Vector:
        """Return at least ‖eᵢ‖, shape (d,)."""
        return np.asarray(self.axes)

    def norms(self, points: Vector) -> Vector:
        """Return at least the norm where that is below 1, at most where above, and 1 in doubt."""
        own, most = self._pool.normals, self._most_up(self._pool.normals)
        lost = growth(self.dimension + 4) * float(np.max(np.abs(own))) * np.abs(points).sum(axis=1)
        known = np.max(np.abs(points @ own.T) / most, axis=1) - 2 * lost / float(np.min(most))
        left = np.flatnonzero(~(known > 1 + _APART))
        if left.size:
            some = points[left]
            found = self._solved(some, sides=True)
            upper, lower = self._upper(found, some), self._lower(found, some)
            known[left] = np.where(upper < 1, upper, np.where(lower > 1, lower, 1.0))
        return np.asarray(known)

    def norms_up(self, points: Vector) -> Vector:
        """Return at least the norm and hardly more, row by row."""
        return self._upper(self._solved(points), points)

    def doubt(self, extent: Vector) -> float:
        """Return next to nothing: `norms` are on the safe side."""
        return 2.0**-50

    def cuts(self, points: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the programme's own normals, each with its greatest value on the points."""
        normals = self._solved(points).normals
        return normals, self._most_up(normals), np.zeros_like(normals)

    def holds(self, balls: list[Any]) -> bool | None:
        """Ask the optimal basis of the middle of the balls, in rational numbers."""
        if not all(x.is_finite() for x in balls):
            return None
        near = np.array([[float(x.mid()) for x in balls]])
        basis = self._solved(near).chosen[0].tolist()
        inverse, signs = self._optimal(basis, [_rational(x) for x in balls])
        rows = [[arb(x) for x in row] for row in inverse]
        size = sum((abs(_inner(row, balls)) for row in rows), arb(0))
        if size <= 1:
            return True
        normal = [
            sum(map(_signed, signs, column), fmpq(0)) for column in zip(*inverse, strict=True)
        ]
        return False if _inner([arb(x) for x in normal], balls) > 1 else None

    def _upper(self, found: _Found, points: Vector) -> Vector:
        """Return at least the norm: Σ|λ| of the basis, and what it leaves of x along the axes."""
        columns = self._rows[found.chosen]
        left = np.abs(points - np.einsum("mi,mij->mj", found.weights, columns))
        size = np.abs(points) + np.einsum("mi,mij->mj", np.abs(found.weights), np.abs(columns))
        left += grown(growth(self.dimension + 4) * size, ROUGH) + 2.0**-900
        total = np.sum(np.abs(found.weights), axis=1) + left @ np.asarray(self.axes)
        return np.asarray(total * (1 + growth(self.dimension + 9)))

    def _lower(self, found: _Found, points: Vector) -> Vector:
        """Return at most the norm: ⟨w, x⟩ over the greatest |⟨w, pⱼ⟩|."""
        height = np.einsum("mj,mj->m", found.normals, points)
        lost = growth(self.dimension + 4) * np.einsum(
            "mj,mj->m", np.abs(found.normals), np.abs(points)
        )
        return np.asarray((height - grown(lost, ROUGH)) / self._most_up(found.normals))

    def _most_up(self, normals: Vector) -> Vector:
        """Return at least max |⟨w, pⱼ⟩|, row by row, and a little more, above 0."""
        size = np.abs(normals) @ np.max(np.abs(self._rows), axis=0)
        most = np.max(np.abs(normals @ self._rows.T), axis=1)
        return np.asarray(grown(most + growth(self.dimension + 4) * size, POWER) + 2.0**-900)

    def _solved(self, points: Vector, *, sides: bool = False) -> _Found:
        """Return bases, weights and normals, near the best, or such as tell the side of 1."""
        m, d = points.shape
        # ties are broken by another point nearby, whose basis is as sound for this one
        size = np.max(np.abs(points) / self._unit, axis=1, keepdims=True)
        moved = points + size * (_NUDGE * np.cos(np.arange(1.0, d + 1)) * self._unit)
        chosen, inverses = self._pool.start(points)
        found = _Found(chosen.copy(), np.empty((m, d)), np.empty((m, d)))
        at = np.arange(m)
        changed: list[Any] = []
        for _ in range(_MOST_TURNS * d):
            weights = np.einsum("mij,mj->mi", inverses, moved[at])
            signs = np.where(weights < 0, -1.0, 1.0)
            normals = np.einsum("mij,mi->mj", inverses, signs)
            heights = normals @ self._rows.T
            best = np.argmax(np.abs(heights), axis=1)
            top = heights[np.arange(len(at)), best]
            found.chosen[at], found.normals[at] = chosen, normals
            found.weights[at] = np.einsum("mij,mj->mi", inverses, points[at])
            going = np.abs(top) > 1 + _TOLERANCE
            if sides:  # Σ|λ| is ⟨w, x⟩, too
                size = np.sum(np.abs(weights), axis=1)
                going &= (size > 1 - _APART) & (size < (1 + _APART) * np.abs(top))
            turn = np.sign(top)[:, None] * np.einsum("mij,mj->mi", inverses, self._rows[best])
            leaves, going = _leaving(weights, turn, np.abs(top), going)
            if not going.any():
                break
            kept = np.flatnonzero(going)
            at, chosen, inverses = at[kept], chosen[kept], inverses[kept]
            own = np.arange(len(kept))
            out, turn, signed = leaves[kept], turn[kept], np.sign(top)[kept]
            row = inverses[own, out] / turn[own, out][:, None]
            inverses = inverses - turn[:, :, None] * row[:, None, :]
            inverses[own, out] = row * signed[:, None]
            chosen[own, out] = best[kept]
            changed = at[:_ADDED].tolist()
        if changed:
            self._pool.add(found.chosen[changed], found.normals[changed], self._rows)
        return found

    @cached_property
    def _unit(self) -> Vector:
        return np.asarray(np.max(np.abs(self._rows), axis=0))

    @cached_property
    def _exact(self) -> list[list[Any]]:
        return [[fmpq(*x.as_integer_ratio()) for x in row] for row in self._rows.tolist()]

    def _optimal(self, basis: list[int], point: list[Any]) -> tuple[list[list[Any]], list[int]]:
        """Return the inverse and the signs of an optimal basis, by Bland's rule from this one."""
        rows, d = self._exact, self.dimension
        signs: list[int] = []
        while True:
            columns = [[rows[k][i] for k in basis] for i in range(d)]
            inverse = fmpq_mat(d, d, [x for row in columns for x in row]).inv().tolist()
            weights = [_inner(row, point) for row in inverse]
            if not signs:
                signs = [-1 if x < 0 else 1 for x in weights]
            normal = [
                sum(map(_signed, signs, column), fmpq(0)) for column in zip(*inverse, strict=True)
            ]
            heights = ((k, _inner(normal, row)) for k, row in enumerate(rows))
            enters = next(((k, 1 if h > 0 else -1) for k, h in heights if abs(h) > 1), None)
            if enters is None:
                return inverse, signs
            column = [enters[1] * _inner(row, rows[enters[0]]) for row in inverse]
            falls = [
                (i, s * x) for i, (s, x) in enumerate(zip(signs, column, strict=True)) if s * x > 0
            ]
            out = min(falls, key=lambda pair: (abs(weights[pair[0]]) / pair[1], basis[pair[0]]))[0]
            basis[out], signs[out] = enters


@final
@dataclass(frozen=True, eq=False)
class _Found:
    """What the simplex method found of some points.

    Args:
        chosen: which of the points, shape (m, d).
        weights: λ of these, shape (m, d).
        normals: w, shape (m, d).
    """

    chosen: Integers
    weights: Vector
    normals: Vector


@final
class _Pool:
    """The bases found last, with their inverses."""

    def __init__(self, chosen: Integers, inverses: Vector) -> None:
        self._held = (chosen, inverses)  # replaced as one, whoever else reads
        self.normals = inverses.sum(axis=1)  # those of the bases with all signs +

    def start(self, points: Vector) -> tuple[Integers, Vector]:
        """Return the basis of the least Σ|λ| for each point, shape (m, d), and the inverses."""
        chosen, inverses = self._held
        k, d, _ = inverses.shape
        images = points @ inverses.reshape(k * d, d).T
        sizes = np.abs(images).reshape(len(points), k, d).sum(axis=2)
        best = np.argmin(sizes, axis=1)
        return chosen[best], inverses[best]

    def add(self, found: Integers, normals: Vector, rows: Vector) -> None:
        """Keep some bases and normals more; the oldest go, but for the first."""
        self.normals = np.concatenate([self.normals[:1], self.normals[-_NORMALS:][1:], normals])
        chosen, inverses = self._held
        try:
            more = np.linalg.inv(np.swapaxes(rows[found], 1, 2))
        except np.linalg.LinAlgError:
            return
        room = slice(max(len(chosen) + len(found) - _KEPT, 0) + 1, None)
        self._held = (
            np.concatenate([chosen[:1], chosen[room], found]),
            np.concatenate([inverses[:1], inverses[room], more]),
        )


def _leaving(weights: Vector, turn: Vector, top: Vector, going: Any) -> tuple[Integers, Any]:  # noqa: ANN401
    """Return which weight leaves: the first past which Σ|λ| does not fall any more.

    With θ of the new weight the others are λ − θ·turn, and each that changes its sign takes
    2|turn| from the slope top − 1.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(weights * turn > 0, weights / turn, np.inf)
        ratios = np.where((weights == 0) & (turn > 0), 0.0, ratios)  # its sign is taken for +
    order = np.argsort(ratios, axis=1)
    sizes = np.take_along_axis(np.abs(turn), order, axis=1)
    sizes = np.where(np.isfinite(np.take_along_axis(ratios, order, axis=1)), sizes, 0.0)
    past = np.cumsum(2 * sizes, axis=1) >= (top - 1)[:, None]
    first = np.argmax(past, axis=1)
    own = np.arange(len(weights))
    leaves = order[own, first]
    going = going & past[own, first] & (np.abs(turn[own, leaves]) > _SMALL)
    return leaves, going


def _inner(first: list[Any], second: list[Any]) -> Any:  # noqa: ANN401 (flint carries no types)
    return sum((a * b for a, b in zip(first, second, strict=True)), 0 * second[0])


def _signed(sign: int, x: Any) -> Any:  # noqa: ANN401
    return x if sign > 0 else -x


def _rational(ball: Any) -> Any:  # noqa: ANN401
    mantissa, exponent = ball.mid().man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)
