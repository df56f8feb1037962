# SPDX-License-Identifier: Apache-2.0
"""Extreme points of what slabs and balls share, by a barrier; nothing here is trusted as a bound.

For {ξ : |zᵢ| ≤ 1 on slabs, ‖z‖₂ ≤ 1 on each ball, z = Aξ + offset} the barrier is
−Σ log(1 − z²) − Σ log(1 − ‖z‖²). Its minimum with −t⟨θ, ξ⟩ is inside, within ν/t of the greatest
⟨θ, ξ⟩, and the gradient of the barrier over t is a multiplier λ with Aᵀλ = θ (Boyd and
Vandenberghe 2004, section 11.2): what proves that nothing is much farther.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.errors import DomainError

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Chosen, Vector

_GROW = 30.0
_FURTHEST = 1e14
_LAST = 2e10  # of the first weight
_SMOOTH = 2e4  # from where the path is so nearly straight in 1/t that steps are squared
_INNER = 40
_NEARLY = 1e-3
_SETTLED = 1e-7
_SAFE = 1e-2  # a barrier is self-concordant: whole steps stay inside, where values are roundings
_BLOCK = 1 << 22  # numbers in the Hessians of a batch
_PRODUCTS = 1 << 16  # numbers of all rows' products at most, where they are formed once


@np.errstate(all="ignore")  # what is not finite is not used, and is no bound
def farthest(
    rows: Vector,
    offsets: Vector,
    slabs: Chosen,
    balls: list[slice],
    directions: Vector,
    last: float = _LAST,
) -> tuple[Vector, Vector]:
    """Return points inside that are nearly extreme along each direction, and multipliers.

    Args:
        rows: A, shape (M, d).
        offsets: what is added, shape (M,); 0 is inside.
        slabs: which rows are slabs of their own, shape (M,).
        balls: the rows of each ball.
        directions: θ, shape (n, d).
        last: the weight t to end at.

    Raises:
        DomainError: where floats cannot tell the body from a flat one.
    """
    m, d = rows.shape
    # in units of powers of two that bring all coordinates to one size: squares stay finite
    most = np.max(np.abs(rows), axis=0)
    unit = np.exp2(np.floor(np.log2(np.where(most > 0, most, 1.0))))
    rows, directions = rows / unit, directions / unit
    step = max(_BLOCK // (d * (d + m)), 1)
    points, multipliers = np.zeros((len(directions), d)), np.zeros((len(directions), m))
    for i in range(0, len(directions), step):
        part = slice(i, i + step)
        found = _followed(_Barrier(rows, offsets, slabs, balls), directions[part], last)
        points[part], multipliers[part] = found
    return points / unit, multipliers


class _Barrier:
    """Sizes are of n points at once, of their m values z and of the k parts."""

    def __init__(self, rows: Vector, offsets: Vector, slabs: Chosen, balls: list[slice]) -> None:
        self.rows, self.offsets, self.balls = rows, offsets, balls
        self.alone = slabs.astype(float)
        each = np.eye(len(rows))
        parts = [each[:, ball].sum(axis=1, keepdims=True) for ball in balls]
        self.gather: Vector = np.hstack([each[:, slabs], *parts])
        d = rows.shape[1]
        few = len(rows) * d * d <= _PRODUCTS
        self.products = (rows[:, :, None] * rows[:, None, :]).reshape(-1, d * d) if few else None

    def at(self, points: Vector) -> tuple[Vector, Vector]:
        """Return the values z, shape (n, m), and what each part leaves of 1, shape (n, k)."""
        z = points @ self.rows.T + self.offsets
        return z, 1 - np.square(z) @ self.gather

    def derivatives(self, z: Vector, room: Vector) -> tuple[Vector, Vector]:
        """Return the gradient in z, shape (n, m), and the second derivatives in ξ, (n, d, d)."""
        n, d = len(z), self.rows.shape[1]
        twice = 2 * ((1 / room) @ self.gather.T)
        gradient = z * twice
        weight = twice + gradient * gradient * self.alone
        if self.products is not None:
            hessian = (weight @ self.products).reshape(n, d, d)
        else:
            hessian = self.rows.T @ (weight[:, :, None] * self.rows)
        for ball in self.balls:
            slope = gradient[:, ball] @ self.rows[ball]
            hessian += slope[:, :, None] * slope[:, None, :]
        return gradient, hessian

    def turned(self, z: Vector, room: Vector, change: Vector) -> Vector:
        """Return how the gradient in z changes with z, to first order."""
        along = (z * change) @ self.gather / np.square(room)
        return np.asarray(
            2 * change * ((1 / room) @ self.gather.T) + 4 * z * (along @ self.gather.T)
        )


def _value(room: Vector) -> Vector:
    """Return the barrier row by row, infinite outside."""
    return np.asarray(-np.sum(np.log(np.maximum(room, 0.0)), axis=1))


def _followed(barrier: _Barrier, directions: Vector, last: float) -> tuple[Vector, Vector]:
    """Return the points and multipliers at the end of the central path, all rows at once."""
    n, d = directions.shape
    size = np.linalg.norm(directions, axis=1, keepdims=True)
    # a direction in the unit of the body: how far the barrier's own ellipsoid reaches
    try:
        metric = np.linalg.inv(barrier.derivatives(*barrier.at(np.zeros((1, d))))[1][0])
    except np.linalg.LinAlgError:
        raise DomainError(
            "intersection has parts too unlike in size for floats to search; bring coordinates to "
            "like units"
        ) from None
    extent = np.sqrt(np.maximum(np.einsum("ni,ij,nj->n", directions, metric, directions), 0.0))
    theta: Vector = np.asarray(directions / np.where(extent > 0, extent, 1.0)[:, None])
    point: Vector = np.zeros((n, d))
    # where floats carry a row no further, what its last center said still holds
    center, weight = point, np.ones((n, 1))
    t = 1.0
    while True:
        enough = _SETTLED if t >= last else _NEARLY
        settled, ahead = _centered(barrier, point, np.asarray(t * theta), enough)
        center = np.where(settled[:, None], point, center)
        weight = np.where(settled[:, None], t, weight)
        if t >= last:
            break
        grow = _GROW if t < _SMOOTH else _GROW * _GROW
        point = _predicted(barrier, point, (1 - 1 / grow) * ahead, grow * t * theta)
        t *= grow
    scale = np.where(extent > 0, extent, 0.0)[:, None] * (size > 0)
    return point, _multipliers(barrier, center, weight, theta) * scale


def _centered(
    barrier: _Barrier, point: Vector, theta: Vector, enough: float
) -> tuple[Chosen, Vector]:
    """Bring points to the least of the barrier − ⟨θ, ξ⟩ by Newton's method, those that are not yet.

    Returns:
        Which points arrived, nearly, and H⁻¹θ there, shape (n, d).
    """
    settled, ahead = np.zeros(len(point), bool), np.zeros_like(point)
    left = np.arange(len(point))
    for _ in range(_INNER):
        own, pull = point[left], theta[left]
        z, room = barrier.at(own)
        gradient, hessian = barrier.derivatives(z, room)
        slope = gradient @ barrier.rows - pull
        try:
            found = np.linalg.solve(hessian, np.stack([-slope, pull], axis=2))
        except np.linalg.LinAlgError:
            break
        move, ahead[left] = found[:, :, 0], found[:, :, 1]
        decrement = np.asarray(-np.sum(slope * move, axis=1), np.float64)
        lost = ~np.isfinite(decrement)
        move[lost], decrement[lost] = 0.0, 0.0
        settled[left] = decrement < _NEARLY
        open_ = decrement >= enough
        left = left[open_]
        if not left.size:
            break
        step = np.asarray(move[open_], np.float64)
        change, gain = step @ barrier.rows.T, np.sum(pull[open_] * step, axis=1)
        bend = (2 * (z[open_] * change) @ barrier.gather, np.square(change) @ barrier.gather)
        length = _length(room[open_], bend, decrement[open_], gain)
        point[left] += step * length[:, None]
    return settled, ahead


def _predicted(barrier: _Barrier, point: Vector, ahead: Vector, theta: Vector) -> Vector:
    """Return the points along the tangent of the central path in 1/t, where that is nearer.

    Args:
        barrier: as of `_followed`.
        point: the centers of a weight t, shape (n, d).
        ahead: how far they would be at the next, to first order, shape (n, d).
        theta: the next weight times the directions, shape (n, d).
    """
    other = point + ahead
    values = [_value(barrier.at(own)[1]) - np.sum(theta * own, axis=1) for own in (point, other)]
    return np.where((values[1] < values[0])[:, None], other, point)


def _multipliers(barrier: _Barrier, point: Vector, t: Vector, theta: Vector) -> Vector:
    """Return λ with Aᵀλ = θ: the gradient over t, and what one more Newton step would add."""
    z, room = barrier.at(point)
    gradient, hessian = barrier.derivatives(z, room)
    found = gradient / t
    for _ in range(2):
        rest = t * (theta - found @ barrier.rows)
        try:
            move = np.linalg.solve(hessian, rest[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            break
        more = barrier.turned(z, room, move @ barrier.rows.T) / t
        good = np.all(np.isfinite(more), axis=1, keepdims=True)
        found = found + np.where(good, more, 0.0)
    return np.asarray(found)


def _length(room: Vector, bend: tuple[Vector, Vector], decrement: Vector, gain: Vector) -> Vector:
    """Return step lengths that decrease the barrier, halved from 1 where whole ones might not.

    At length s a part leaves room − s·(bend₀ + s·bend₁).
    """
    length = np.ones(len(room))
    start = _value(room)
    for _ in range(50):
        s = length[:, None]
        value = _value(room - s * (bend[0] + s * bend[1])) - length * gain
        bad = ~(value <= start - 0.1 * length * decrement + 1e-12 * np.abs(start))
        bad &= (decrement > _SAFE) | ~np.isfinite(value)
        if not np.any(bad):
            break
        length = np.where(bad, length / 2, length)
    return np.where(bad, 0.0, length)


@np.errstate(all="ignore")
def middle(
    rows: Vector, offsets: Vector, slabs: Chosen, balls: list[slice]
) -> tuple[Vector, float]:
    """Return the point where the greatest norm of a part is least, and that norm.

    The norm is below 1 where the parts have a point in common with a neighbourhood of it.

    Args:
        rows: A, shape (M, d).
        offsets: b, shape (M,); a part's norm is that of Aξ + b.
        slabs: which rows are slabs of their own, shape (M,).
        balls: the rows of each ball.
    """
    d = rows.shape[1]
    # one variable more, τ: −log(τ² − ‖z‖²) for each part, and τ at most 4 times where it starts
    point: Vector = np.asarray(-np.linalg.lstsq(rows, offsets, rcond=None)[0], np.float64)
    level = 1.5 * _greatest(rows @ point + offsets, slabs, balls) + 1e-3
    t = 1.0 / level
    parts = [np.array([i]) for i in np.flatnonzero(slabs)]
    parts += [np.arange(len(rows))[ball] for ball in balls]
    gather = np.zeros((len(parts), len(rows)))
    for i, part in enumerate(parts):
        gather[i, part] = 1.0
    while True:
        for _ in range(_INNER):
            z = rows @ point + offsets
            room = level * level - gather @ np.square(z)
            each = gather.T @ (1 / room)
            slope = np.append(rows.T @ (2 * z * each), t - np.sum(2 * level / room))
            lean = gather @ (2 * z[:, None] * rows) / room[:, None]  # ∂ log room, negated
            full = np.hstack([lean, -2 * level / room[:, None]])
            hessian = full.T @ full
            hessian[:d, :d] += rows.T @ (2 * each[:, None] * rows)
            hessian[d, d] -= float(np.sum(2 / room))
            move = -np.linalg.lstsq(hessian, slope, rcond=None)[0]
            decrement = -float(slope @ move)
            if not decrement > _SETTLED:
                break
            length = 1.0
            value = t * level - float(np.sum(np.log(room)))
            for _ in range(60):
                at, tau = point + length * move[:d], level + length * move[d]
                left = tau * tau - gather @ np.square(rows @ at + offsets)
                if tau > 0 and np.all(left > 0):
                    lowest = t * tau - float(np.sum(np.log(left)))
                    if lowest <= value - 0.1 * length * decrement + 1e-12 * abs(value):
                        break
                length /= 2
            else:
                break
            point, level = np.asarray(at, np.float64), float(tau)
        if t * level > 1e9 * len(parts) or t > _FURTHEST:
            break
        t *= _GROW
    return point, _greatest(rows @ point + offsets, slabs, balls)


def _greatest(z: Vector, slabs: Chosen, balls: list[slice]) -> float:
    most = float(np.max(np.abs(z[slabs]), initial=0.0))
    return max([most, *(float(np.linalg.norm(z[ball])) for ball in balls)])
