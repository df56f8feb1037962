# SPDX-License-Identifier: Apache-2.0
"""Several norms and caps that hold at once: how far that reaches, by Lagrange's multipliers.

For {x ≥ 0 : x ≤ cap, ‖sⱼ∘x‖_{rⱼ} ≤ 1 for every j} every split θ = Σ θⱼ + rest is a bound,

    ⟨θ, x⟩ ≤ Σⱼ ‖θⱼ/sⱼ‖_{rⱼ*} + Σᵢ |restᵢ|·capᵢ,

and it is the least where θⱼ = λⱼ·∇(‖sⱼ∘x‖^{rⱼ}/rⱼ) with the multipliers λ of the farthest x
(Lagrangian duality). A primal-dual interior point method finds x and λ together (Mehrotra 1992);
its second derivatives are a diagonal and one row for each norm. What it returns is proved anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.bases.norm import NormBase

if TYPE_CHECKING:
    from lownoise.arrays import Vector

_SLACK = 2.0**-44
_ROUNDS = 60
_SETTLED = 1e-12
_SHORT_OF = 0.9  # of the way to the boundary: powers bend within a longer step
_START = 0.5
_BEHIND = 1e-3
_TINY = 1e-300
_MOST = 16  # norms at once, whose gradients are all held


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

    @property
    def solvable(self) -> bool:
        """Whether they are few enough to be held at once."""
        return len(self.orders) <= _MOST

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
                x, multipliers = _central(theta, scales, self.orders)
                bound = np.fmin(bound, _split(theta, x, multipliers, scales, self.orders))
        n, k = self.scales.shape
        slack = _SLACK + (n + 4) * k * 2.0**-50
        return bound * (1 + slack) * top * highest, x * self.cap


def _powers(x: Vector, scales: Vector, orders: Vector) -> Vector:
    """Return (scaleⱼ∘x)^orderⱼ, shape (m, n, k)."""
    found = x[:, None] * scales
    for j, order in enumerate(orders):
        if order == 2:  # noqa: PLR2004
            np.square(found[:, j], out=found[:, j])
        elif order != 1:
            np.power(found[:, j], order, out=found[:, j])
    return found


def _split(theta: Vector, x: Vector, multipliers: Vector, scales: Vector, orders: Vector) -> Vector:
    """Return the bound that the multipliers prove, for caps of 1."""
    parts = multipliers[:, :, None] * _powers(x, scales, orders) / x[:, None]
    total = np.sum(parts, axis=1)
    parts *= np.minimum(1.0, theta / np.maximum(total, _TINY))[:, None]
    bound = np.sum(np.abs(theta - np.sum(parts, axis=1)), axis=1)
    for j, order in enumerate(orders):
        # what a norm does not see has no part of its split
        own = parts[:, j] / np.where(scales[j] > 0, scales[j], 1.0)
        bound = bound + NormBase(theta.shape[1], float(order)).support_up(own)
    return np.asarray(bound)


def _central(theta: Vector, scales: Vector, orders: Vector) -> tuple[Vector, Vector]:
    """Return x in (0, 1) and the multipliers of the norms, at the end of the central path.

    Letters: s is the room of each norm, λ its multiplier; low and high are the multipliers of
    x ≥ 0 and of x ≤ 1. All of them are columns of one array.
    """
    (m, k), n = theta.shape, len(orders)
    norms = [
        float(NormBase(k, float(r)).norm_up(own[None])[0])
        for own, r in zip(scales, orders, strict=True)
    ]
    held = np.empty((m, 3 * k + 2 * n))
    x, low, high, s, lam = _parts(held, n)
    x[:], low[:], high[:], lam[:] = _START / max(1.0, *norms), 0.1, 0.1, 1 / n
    powers = _powers(x, scales, orders)
    s[:] = (1 - powers.sum(axis=2)) / orders
    near, best = np.full(m, np.inf), held.copy()
    for _ in range(_ROUNDS):
        u, slope = 1 - x, powers / x[:, None]
        excess = (powers.sum(axis=2) - 1) / orders + s
        left = theta - _mixed(lam, slope) - high + low
        own = (lam * s).sum(axis=1) + (low * x + high * u).sum(axis=1)
        off = (np.abs(left) * x).sum(axis=1) + (np.abs(excess) * lam).sum(axis=1)
        going = own + off > _SETTLED * (theta * x).sum(axis=1)
        nearer = own + off < near
        near[nearer] = (own + off)[nearer]
        best[nearer] = held[nearer]
        if not going.any():
            break
        system = _System(held, slope, orders, left, excess)
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
        powers = _powers(x, scales, orders)
        np.maximum(s, (1 - powers.sum(axis=2)) / orders, out=s)
    return best[:, :k], best[:, 3 * k + n :]


def _parts(held: Vector, n: int) -> tuple[Vector, Vector, Vector, Vector, Vector]:
    """Return x, low, high, s and λ, as they stand in the array."""
    k = (held.shape[1] - 2 * n) // 3
    x, low, high = held[:, :k], held[:, k : 2 * k], held[:, 2 * k : 3 * k]
    return x, low, high, held[:, 3 * k : 3 * k + n], held[:, 3 * k + n :]


class _System:
    """The linear equations of one step: a diagonal and a row for each norm (Woodbury)."""

    def __init__(
        self, held: Vector, slope: Vector, orders: Vector, left: Vector, excess: Vector
    ) -> None:
        n = len(orders)
        self._x, self._low, self._high, self._s, self._lam = _parts(held, n)
        self._slope, self._left, self._excess = slope, left, excess
        self._u = 1 - self._x
        self._curve = _mixed(self._lam * (orders - 1), slope) / self._x
        self._curve += self._low / self._x + self._high / self._u
        self._scaled = slope / self._curve[:, None]
        small = self._scaled @ slope.transpose(0, 2, 1)
        small[:, np.arange(n), np.arange(n)] += self._s / self._lam
        self._inverse = 1 / small if n == 1 else _inverse(small)

    def step(self, aim_low: Vector, aim_high: Vector, aim_lam: Vector) -> Vector:
        """Return the change of everything; products of pairs are to change by the aims."""
        x, u = self._x, self._u
        right = self._left + aim_low / x - aim_high / u
        reached = np.einsum("mnk,mk->mn", self._scaled, right)
        reached += self._excess + aim_lam / self._lam
        dlam = np.einsum("mij,mj->mi", self._inverse, reached)
        dx = (right - _mixed(dlam, self._slope)) / self._curve
        ds = -self._excess - np.einsum("mnk,mk->mn", self._slope, dx)
        dlow, dhigh = (aim_low - self._low * dx) / x, (aim_high + self._high * dx) / u
        return np.asarray(np.concatenate([dx, dlow, dhigh, ds, dlam], axis=1))


def _mixed(weights: Vector, rows: Vector) -> Vector:
    return np.asarray(np.einsum("mn,mnk->mk", weights, rows))


def _inverse(small: Vector) -> Vector:
    try:
        return np.asarray(np.linalg.inv(small), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(small, np.nan)  # nothing moves any more


def _room(held: Vector, change: Vector, u: Vector, most: float) -> Vector:
    """Return how much of a step keeps all numbers above 0, and u = 1 − x; shape (m, 1)."""
    away = np.maximum((-change / held).max(axis=1), (change[:, : u.shape[1]] / u).max(axis=1))
    return np.asarray(np.where(away > most, most / away, 1.0)[:, None])
