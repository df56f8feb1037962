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

from lownoise.sets.unit_balls.interior import central, factored, powers_of, solved
from lownoise.sets.unit_balls.norm import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_SLACK = 2.0**-44
_SETTLED = (1e-12, 1e-12)
_NEAREST = (1e-17, 1e-14)  # squares of distances
_NEARLY, _STEPS = 1e-6, 6
_BLOCK = 64  # rows; short blocks are filled up, so that a row's arithmetic is the same everywhere
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
                x, multipliers = central(theta, scales, self.orders, settled=_SETTLED)
                bound = np.fmin(bound, _split(theta, x, multipliers, scales, self.orders))
        n, k = self.scales.shape
        slack = _SLACK + (n + 4) * k * 2.0**-50
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
        bound = bound + NormBall(theta.shape[1], float(order)).support_up(own)
    return np.asarray(bound)
