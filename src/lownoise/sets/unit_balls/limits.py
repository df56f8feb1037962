# SPDX-License-Identifier: Apache-2.0
"""Several norms and caps that hold at once: how far that reaches, by Lagrange's multipliers.

For {x ≥ 0 : x ≤ cap, ‖sⱼ∘x‖_{rⱼ} ≤ 1 for every j} every split θ = Σ θⱼ + rest is a bound,

    ⟨θ, x⟩ ≤ Σⱼ ‖θⱼ/sⱼ‖_{rⱼ*} + Σᵢ |restᵢ|·capᵢ,

and it is the least where θⱼ = λⱼ·∇(‖sⱼ∘x‖^{rⱼ}/rⱼ) with the multipliers λ of the farthest x
(Lagrangian duality). A primal-dual interior point method finds x and λ together (Mehrotra 1992);
its second derivatives are a diagonal and one row for each norm. What it returns is proved anew.

A primal-dual interior point method (Mehrotra 1992): unknowns and their multipliers go down a
central path on which the products of both are equal. Second derivatives are a diagonal and a few
rows, one for each norm and one for each coordinate of the image. Nothing here is trusted as a
bound. No row's numbers depend on another row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.norms import dual_order, row_norms_up
from lownoise.numbers.rounding import TINY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lownoise.numbers.arrays import Vector

_SETTLED = (1e-12, 1e-12)
_NEAREST = (1e-17, 1e-14)  # squares of distances
_NEARLY, _STEPS = 1e-6, 6
_BLOCK = 64  # rows; short blocks are filled up, so that a row's arithmetic is the same everywhere
_TINY = 1e-300
_MOST = 16  # norms at once, whose gradients are all held
_ROUNDS, _FEWER = 60, 25  # of the nearest, which is as near as floats tell by then
_SHORT_OF = 0.9  # of the way to the boundary: powers bend within a longer step
_START = 0.5
_BEHIND = 1e-3
_LOST = 1e3


@final
@dataclass(frozen=True, eq=False)
class Limits:
    """{x ≥ 0 : x ≤ cap, ‖scaleⱼ∘x‖_{orderⱼ} ≤ 1 for every j}.

    Args:
        cap: above 0, shape (k,).
        scales: at least 0, shape (n, k); 0 where a norm does not see a coordinate.
        orders: in [1, ∞), shape (n,).

    Examples:
        >>> corner = Limits(np.ones(2), np.array([[0.8, 0.8], [1.0, 1.0]]), np.array([1.0, 2.0]))
        >>> bound, point = corner.farthest(np.array([[1.0, 0.1], [1.0, 1.0]]))
        >>> bound.round(9), point.round(6)[0]
        (array([1.00498756, 1.25      ]), array([0.995037, 0.099504]))
    """

    cap: Vector
    scales: Vector
    orders: Vector

    def placed(self, at: slice, size: int) -> Limits:
        """Return the limits of x with these limits of x[at]; `size` is the number of x."""
        cap, scales = np.full(size, np.inf), np.zeros((len(self.orders), size))
        cap[at], scales[:, at] = self.cap, self.scales
        return Limits(cap, scales, self.orders)

    def rescaled(self, scale: Vector) -> Limits:
        """Return the limits of x with these limits of scale∘x; `scale` has shape (k,)."""
        return Limits(self.cap / scale, self.scales * scale, self.orders)

    def squared(self) -> Limits:
        """Return the limits of x², where every order is at least 2."""
        return Limits(np.square(self.cap), np.square(self.scales), self.orders / 2)

    def farthest(self, sizes: Vector) -> tuple[Vector, Vector]:
        """Return at least max ⟨θ, x⟩, and x that nearly keeps the limits, row by row.

        Args:
            sizes: θ ≥ 0, shape (m, k).

        Returns:
            The bounds, shape (m,), and the points, shape (m, k).
        """
        highest = np.max(sizes, axis=1)
        theta = sizes / np.where(highest > 0, highest, 1.0)[:, None] * self.cap
        top = np.max(theta, axis=1)
        theta = theta / np.where(top > 0, top, 1.0)[:, None]
        bound, x = np.sum(theta, axis=1), np.ones_like(theta)
        if len(self.orders):
            scales = self.scales * self.cap
            with np.errstate(all="ignore"):  # what is not finite is not used, and is no bound
                x, multipliers = central(theta, scales, self.orders, settled=_SETTLED)
                bound = np.fmin(bound, _split(theta, x, multipliers, scales, self.orders))
        n, k = self.scales.shape
        slack = TINY + (n + 4) * k * 2.0**-50
        return bound * (1 + slack) * top * highest, x * self.cap

    def nearest(self, factor: Vector, goals: Vector) -> Vector:
        """Return x of any signs, |x| within the limits, whose image F·x is nearest to each goal.

        Distances are within 1e-8 of the least, or so, where F reaches about 1 in each coordinate.
        A coordinate under a cap alone is moved to [0, 1], others are differences of two numbers
        above 0. No row's answer depends on the other rows.

        Args:
            factor: F, shape (d, k).
            goals: shape (m, d).

        Examples:
            >>> square = Limits(np.ones(2), np.zeros((0, 2)), np.zeros(0))
            >>> x = square.nearest(np.array([[1.0, 1.0]]), np.array([[3.0], [0.5]]))
            >>> x.round(6).sum(axis=1)
            array([2. , 0.5])
        """
        capped = ~np.any(self.scales > 0, axis=0)
        two = np.where(capped, 2.0, 1.0) * self.cap
        doubled = np.hstack([factor * two, -(factor * self.cap)[:, ~capped]])
        scales = self.scales * self.cap
        scales = np.hstack([scales, scales[:, ~capped]])
        middle = factor @ np.where(capped, self.cap, 0.0)
        found = np.empty((len(goals), self.cap.size))
        for start in range(0, len(goals), _BLOCK):
            part = goals[start : start + _BLOCK] + middle
            block = np.zeros((_BLOCK, len(factor)))
            block[: len(part)] = part
            with np.errstate(all="ignore"):  # what is not finite does not move a row
                p, _ = central(block, scales, self.orders, settled=_NEAREST, factor=doubled)
                p = p if len(self.orders) else _mended(p, block, doubled)
            x = np.where(capped, 2 * p[:, : capped.size] - 1, p[:, : capped.size])
            x[:, ~capped] -= p[:, capped.size :]
            found[start : start + _BLOCK] = (x * self.cap)[: len(part)]
        return found


def shared(parts: Sequence[Limits | None]) -> Limits | None:
    """Return what holds where all of these do; None where one is, or more than are held at once."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or sum(part.orders.size for part in known) > _MOST:
        return None
    cap = np.min([part.cap for part in known], axis=0)
    orders = np.concatenate([part.orders for part in known])
    return Limits(cap, np.vstack([part.scales for part in known]), orders)


def _mended(p: Vector, goals: Vector, factor: Vector) -> Vector:
    """Return p moved to its goal, where it is so near that it must be a point of the image.

    Coordinates move in proportion to the square of their room, in two steps of Newton.
    """
    for _ in range(_STEPS):
        off = goals - (factor @ p[:, :, None])[:, :, 0]
        room = np.minimum(p, 1 - p)
        system = (factor * room[:, None]) @ factor.T
        each = np.arange(len(factor))
        system[:, each, each] += 2.0**-50 * system[:, each, each] + _TINY
        weights = solved(factored(system), off)
        moved = np.clip(p + room * (factor.T @ weights[:, :, None])[:, :, 0], 0.0, 1.0)
        left = goals - (factor @ moved[:, :, None])[:, :, 0]
        nearer = np.square(left).sum(axis=1) < np.square(off).sum(axis=1)
        near = np.square(off).sum(axis=1) < _NEARLY**2
        p = np.where((nearer & near)[:, None], moved, p)
    return p


def _split(theta: Vector, x: Vector, multipliers: Vector, scales: Vector, orders: Vector) -> Vector:
    """Return the bound that the multipliers prove, for caps of 1."""
    parts = multipliers[:, :, None] * powers_of(x, scales, orders) / x[:, None]
    total = np.sum(parts, axis=1)
    parts *= np.minimum(1.0, theta / np.maximum(total, _TINY))[:, None]
    bound = np.sum(np.abs(theta - np.sum(parts, axis=1)), axis=1)
    for j, order in enumerate(orders):
        # what a norm does not see has no part of its split
        own = parts[:, j] / np.where(scales[j] > 0, scales[j], 1.0)
        bound = bound + row_norms_up(own, dual_order(float(order)))
    return np.asarray(bound)


def powers_of(x: Vector, scales: Vector, orders: Vector) -> Vector:
    """Return (scaleⱼ∘x)^orderⱼ, shape (m, n, k)."""
    found = x[:, None] * scales
    for j, order in enumerate(orders):
        if order == 2:  # noqa: PLR2004
            np.square(found[:, j], out=found[:, j])
        elif order != 1:
            np.power(found[:, j], order, out=found[:, j])
    return found


def central(
    theta: Vector,
    scales: Vector,
    orders: Vector,
    *,
    settled: tuple[float, float],
    factor: Vector | None = None,
) -> tuple[Vector, Vector]:
    """Return x in (0, 1) and the multipliers of the norms, at the end of the central path.

    Letters: s is the room of each norm, λ its multiplier; low and high are the multipliers of
    x ≥ 0 and of x ≤ 1. All of them are columns of one array.

    Args:
        theta: θ, shape (m, k): what is made greatest is ⟨θ, x⟩; or with a factor, shape (m, d):
            what is made least is ‖F·x − θ‖.
        scales: at least 0, at most 1, shape (n, k), of the norms ‖scaleⱼ∘x‖.
        orders: of the norms, shape (n,).
        settled: what products, and what equations, may leave: in parts of ⟨θ, x⟩, or of 1.
        factor: F, shape (d, k).
    """
    (m, _), (n, k) = theta.shape, scales.shape
    norms = [
        float(row_norms_up(own[None], float(r))[0]) for own, r in zip(scales, orders, strict=True)
    ]
    held = np.empty((m, 3 * k + 2 * n))
    x, low, high, s, lam = _parts(held, n)
    x[:], low[:], high[:], lam[:] = _START / max([1.0, *norms]), 0.1, 0.1, 1 / max(n, 1)
    powers = powers_of(x, scales, orders)
    s[:] = (1 - powers.sum(axis=2)) / orders
    near, best = np.full(m, np.inf), held.copy()
    for _ in range(_ROUNDS if factor is None else _FEWER):
        u, slope = 1 - x, powers / x[:, None]
        excess = (powers.sum(axis=2) - 1) / orders + s
        gain = theta if factor is None else _pulled(theta, x, factor)
        left = gain - _mixed(lam, slope) - high + low
        own = (lam * s).sum(axis=1) + (low * x + high * u).sum(axis=1)
        off = (np.abs(left) * x).sum(axis=1) + (np.abs(excess) * lam).sum(axis=1)
        rest = own / settled[0] + off / settled[1]
        nearer = rest < near
        near[nearer], best[nearer] = rest[nearer], held[nearer]
        unit = (theta * x).sum(axis=1) if factor is None else 1.0
        going = (own > settled[0] * unit) | (off > settled[1] * unit)
        if factor is not None:
            going &= rest <= _LOST * near  # where floats tell no more it only gets worse
        if not going.any():
            break
        system = _System(held, slope, orders, left, excess, factor)
        change = system.step(-low * x, -high * u, -lam * s)
        dx, dlow, dhigh, ds, dlam = _parts(change, n)
        xt, lowt, hight, st, lamt = _parts(held + _room(held, change, u, 1.0) * change, n)
        ahead = (lamt * st).sum(axis=1) + (lowt * xt + hight * (1 - xt)).sum(axis=1)
        # products do not run ahead of the equations: on the boundary none can be mended
        target = np.maximum(own * np.minimum(1.0, ahead / own) ** 3, _BEHIND * off)
        target = (target / (n + 2 * k))[:, None]
        change = system.step(
            target - low * x - dlow * dx,
            target - high * u + dhigh * dx,
            target - lam * s - dlam * ds,
        )
        length = _room(held, change, u, _SHORT_OF)
        going &= np.isfinite(change).all(axis=1)
        held[going] = np.maximum(held + length * change, _TINY)[going]
        np.minimum(x, 1 - 2.0**-53, out=x)
        powers = powers_of(x, scales, orders)
        np.maximum(s, (1 - powers.sum(axis=2)) / orders, out=s)
    return best[:, :k], best[:, 3 * k + n :]


def _pulled(goals: Vector, x: Vector, factor: Vector) -> Vector:
    """Return Fᵀ(goal − F·x), row by row; sums go in one order for all rows."""
    left = goals - np.einsum("mk,dk->md", x, factor)
    return np.asarray(np.einsum("md,dk->mk", left, factor))


def _parts(held: Vector, n: int) -> tuple[Vector, Vector, Vector, Vector, Vector]:
    """Return x, low, high, s and λ, as they stand in the array."""
    k = (held.shape[1] - 2 * n) // 3
    x, low, high = held[:, :k], held[:, k : 2 * k], held[:, 2 * k : 3 * k]
    return x, low, high, held[:, 3 * k : 3 * k + n], held[:, 3 * k + n :]


class _System:
    """The linear equations of one step: a diagonal and a few rows (Woodbury)."""

    def __init__(
        self,
        held: Vector,
        slope: Vector,
        orders: Vector,
        left: Vector,
        excess: Vector,
        factor: Vector | None,
    ) -> None:
        n = self._n = len(orders)
        self._x, self._low, self._high, self._s, self._lam = _parts(held, n)
        self._left, self._excess = left, excess
        self._u = 1 - self._x
        self._curve = _mixed(self._lam * (orders - 1), slope) / self._x
        self._curve += self._low / self._x + self._high / self._u
        # a row of F counts like a norm of its own, whose room is 1 for a multiplier of 1
        room = self._s / self._lam
        self._rows, self._behind = slope, np.zeros((len(held), 0))
        if factor is not None:
            images = np.broadcast_to(factor, (len(held), *factor.shape))
            self._rows = np.concatenate([slope, images], axis=1)
            self._behind = np.zeros((len(held), len(factor)))
            room = np.concatenate([room, self._behind + 1], axis=1)
        self._scaled = self._rows / self._curve[:, None]
        small = self._scaled @ self._rows.transpose(0, 2, 1)
        each = np.arange(small.shape[1])
        small[:, each, each] += room
        self._room, self._factors = room, factored(small)

    def step(self, aim_low: Vector, aim_high: Vector, aim_lam: Vector) -> Vector:
        """Return the change of everything; products of pairs are to change by the aims."""
        x, u, rows = self._x, self._u, self._rows
        right = self._left + aim_low / x - aim_high / u
        behind = np.concatenate([self._excess + aim_lam / self._lam, self._behind], axis=1)
        found = solved(self._factors, np.einsum("mnk,mk->mn", self._scaled, right) + behind)
        dx = (right - _mixed(found, rows)) / self._curve
        if self._behind.size:
            # once more with what is left: a coordinate of little curve is moved by what cancels
            again = np.einsum("mnk,mk->mn", rows, dx) + behind - self._room * found
            more = solved(self._factors, again)
            found, dx = found + more, dx - _mixed(more, rows) / self._curve
        ds = -self._excess - np.einsum("mnk,mk->mn", rows[:, : self._n], dx)
        dlow, dhigh = (aim_low - self._low * dx) / x, (aim_high + self._high * dx) / u
        return np.asarray(np.concatenate([dx, dlow, dhigh, ds, found[:, : self._n]], axis=1))


def _mixed(weights: Vector, rows: Vector) -> Vector:
    return np.asarray(np.einsum("mn,mnk->mk", weights, rows))


def factored(systems: Vector) -> Vector:
    """Return D and the unit triangle L of every L D Lᵀ, in one array, shape (m, n, n).

    Entry by entry, as library routines would stop all rows where one of them has no solution.
    """
    found = systems.copy()
    for j in range(found.shape[1] - 1):
        column = found[:, j + 1 :, j] / found[:, j, j, None]
        found[:, j + 1 :, j + 1 :] -= column[:, :, None] * found[:, None, j, j + 1 :]
        found[:, j + 1 :, j] = column
    return found


def solved(factors: Vector, right: Vector) -> Vector:
    """Return the solutions of factored systems, shape (m, n)."""
    found = right.copy()
    n = found.shape[1]
    for j in range(n - 1):
        found[:, j + 1 :] -= factors[:, j + 1 :, j] * found[:, j, None]
    found /= np.einsum("mjj->mj", factors)
    for j in range(n - 1, 0, -1):
        found[:, :j] -= factors[:, j, :j] * found[:, j, None]
    return found


def _room(held: Vector, change: Vector, u: Vector, most: float) -> Vector:
    """Return how much of a step keeps all numbers above 0, and u = 1 − x; shape (m, 1)."""
    away = np.maximum((-change / held).max(axis=1), (change[:, : u.shape[1]] / u).max(axis=1))
    return np.asarray(np.where(away > most, most / away, 1.0)[:, None])
