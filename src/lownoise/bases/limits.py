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

    Moves = tuple[tuple[Vector, Vector], ...]

_SLACK = 2.0**-44
_ROUNDS = 60
_SETTLED = 1e-12
_SHORT_OF = 0.9  # of the way to the boundary: powers bend within a longer step
_START = 0.5
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


def _split(
    theta: Vector, x: Vector, multipliers: Vector, scales: Vector, orders: Vector
) -> Vector:
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
    x ≥ 0 and of x ≤ 1.
    """
    (m, k), n = theta.shape, len(orders)
    norms = [
        float(NormBase(k, float(r)).norm_up(own[None])[0])
        for own, r in zip(scales, orders, strict=True)
    ]
    x = np.full((m, k), _START / max(1.0, *norms))
    powers = _powers(x, scales, orders)
    s, lam = (1 - np.sum(powers, axis=2)) / orders, np.full((m, n), 1 / n)
    low, high = np.full((m, k), 0.1), np.full((m, k), 0.1)
    for _ in range(_ROUNDS):
        u, slope = 1 - x, powers / x[:, None]
        excess = (np.sum(powers, axis=2) - 1) / orders + s
        left = theta - _mixed(lam, slope) - high + low
        own = np.sum(lam * s, axis=1) + np.sum(low * x + high * u, axis=1)
        off = np.sum(np.abs(left) * x, axis=1) + np.sum(np.abs(excess) * lam, axis=1)
        going = own + off > _SETTLED * np.sum(theta * x, axis=1)
        if not np.any(going):
            break
        system = _System(x, s, lam, low, high, slope, orders, left, excess)
        both = system.step(-low * x, -high * u, -lam * s)
        (_, dx), (_, ds), (_, dlam), (_, dlow), (_, dhigh) = both
        reached = own / (n + 2 * k)
        target = reached * np.minimum(1.0, _ahead(u, both) / own) ** 3
        both = system.step(
            target[:, None] - low * x - dlow * dx,
            target[:, None] - high * u + dhigh * dx,
            target[:, None] - lam * s - dlam * ds,
        )
        length = _room(u, both, _SHORT_OF)
        for _, change in both:
            going &= np.all(np.isfinite(change), axis=1)
        for held, change in both:
            moved = held[going] + length[going, None] * change[going]
            held[going] = np.maximum(moved, _TINY)
        x = np.minimum(x, 1 - 2.0**-53)
        powers = _powers(x, scales, orders)
        s = np.maximum(s, (1 - np.sum(powers, axis=2)) / orders)
    return x, lam


class _System:
    """The linear equations of one step: a diagonal and a row for each norm (Woodbury)."""

    def __init__(
        self,
        x: Vector,
        s: Vector,
        lam: Vector,
        low: Vector,
        high: Vector,
        slope: Vector,
        orders: Vector,
        left: Vector,
        excess: Vector,
    ) -> None:
        self._held = x, s, lam, low, high
        self._slope, self._left, self._excess = slope, left, excess
        self._curve = _mixed(lam * (orders - 1), slope) / x + low / x + high / (1 - x)
        self._scaled = slope / self._curve[:, None]
        small = self._scaled @ slope.transpose(0, 2, 1)
        n = len(orders)
        small[:, np.arange(n), np.arange(n)] += s / lam
        self._inverse = 1 / small if n == 1 else _inverse(small)

    def step(self, aim_low: Vector, aim_high: Vector, aim_lam: Vector) -> Moves:
        """Return each unknown with its change; products of pairs are to change by the aims."""
        x, s, lam, low, high = self._held
        u = 1 - x
        right = self._left + aim_low / x - aim_high / u
        reached = np.einsum("mnk,mk->mn", self._scaled, right) + self._excess + aim_lam / lam
        dlam = np.einsum("mij,mj->mi", self._inverse, reached)
        dx = (right - _mixed(dlam, self._slope)) / self._curve
        ds = -self._excess - np.einsum("mnk,mk->mn", self._slope, dx)
        dlow, dhigh = (aim_low - low * dx) / x, (aim_high + high * dx) / u
        return (x, dx), (s, ds), (lam, dlam), (low, dlow), (high, dhigh)


def _mixed(weights: Vector, rows: Vector) -> Vector:
    return np.einsum("mn,mnk->mk", weights, rows)


def _inverse(small: Vector) -> Vector:
    try:
        return np.linalg.inv(small)
    except np.linalg.LinAlgError:
        return np.full_like(small, np.nan)  # nothing moves any more


def _room(u: Vector, both: Moves, most: float) -> Vector:
    """Return how much of a step keeps all numbers above 0, row by row, at most 1."""
    pairs = (*both, (u, -both[0][1]))
    found = [np.min(np.where(dx < 0, -x / dx, np.inf), axis=1) for x, dx in pairs]
    return np.asarray(np.minimum(1.0, most * np.min(found, axis=0)))


def _ahead(u: Vector, both: Moves) -> Vector:
    """Return the sum of the products at the end of a step."""
    length = _room(u, both, 1.0)[:, None]
    x, s, lam, low, high = (held + length * change for held, change in both)
    across = low * x + high * (u - length * both[0][1])
    return np.asarray(np.sum(lam * s, axis=1) + np.sum(across, axis=1))
