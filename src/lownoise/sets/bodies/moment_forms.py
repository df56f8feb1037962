# SPDX-License-Identifier: Apache-2.0
"""How far moments reach in a form that flips of signs leave as it is: bounds, rounded up (ours).

A form of that kind has numbers nᵢ of zᵢ and nᵢⱼ of zᵢzⱼ, and one block of squares t = z². Of a few
columns a search over a cube is close. Of many, both greatest values are bounded over corners:

* Σ lᵢtᵢ + Σ qᵢⱼtᵢtⱼ over t ∈ {0, 1}^d is at most Σ (lᵢ + Σ q⁺ᵢⱼ/2)⁺, as tᵢtⱼ ≤ (tᵢ + tⱼ)/2;
  and, with 1 − t for t, likewise from the corner t = 1. Nothing is lost where no qᵢⱼ is below 0 and
  the greatest is at t = 1, or where all qᵢⱼ are 0.
* Differences, with u as in `moments`, have Σ nᵢⱼ(1 − uᵢuⱼ)² = Σ nᵢⱼ(1 + uᵢ²uⱼ²) − uᵀNu over
  0 ≤ i < j, where u₀ = 1 and n₀ᵢ = nᵢ. Where N + diag(y) ⪰ 0, −uᵀNu ≤ Σ yᵢuᵢ²: the greatest cut of
  a graph and its relaxation. What is left is convex in each uᵢ², and bounded from the corner
  u² = 1: 2Σ nᵢⱼ + y₀ + Σ max(yᵢ, aᵢ), aᵢ = Σⱼ eᵢⱼ − nᵢ − Σⱼ nᵢⱼ/2. Any y is a proof; the best is
  nearly found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from lownoise.numbers.rounding import POWER, grown, growth, spectral_up, up

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.numbers.arrays import Vector
    from lownoise.sets.bodies.moments import AbstractMomentSet

_NEAR = 2.0**-20  # how near the greatest value a search comes
_MOST_CELLS = 1 << 14
_MOST_ROUNDS = 200
_LAST = 1e-9  # of the sum of y: the barrier's weight at the end
_NEWTON = 30
_CENTRED = 1e-3
_FAINT = 2.0**-40  # of the greatest number of a form, so that none vanishes


@final
@dataclass(frozen=True, eq=False)
class Greatest:
    """What a search over a cube found.

    Args:
        at: where the function is great, shape (d,).
        upper: at least its greatest value.
    """

    at: Vector
    upper: float


def greatest(
    value: Callable[[Vector], Vector],
    bend: Callable[[Vector, Vector], Vector],
    dimension: int,
    size: float,
) -> Greatest:
    """Return at least the greatest value of a function over [−1, 1]^d, and a point near it.

    The bound is one wherever the search ends: of a cell it is the greatest value at a corner and
    Σ cᵢhᵢ²/2. What values round off is the caller's to add.

    Args:
        value: of points, shapes (n, d) and (n,).
        bend: of cells, their middles and half sides, shapes (n, d): at least c ≥ 0, −c being below
            every second derivative along a coordinate.
        dimension: d.
        size: of the function, in parts of which the search is near its end.

    Examples:
        >>> found = greatest(lambda u: u[:, 0] - u[:, 0] ** 2, lambda m, h: np.full(m.shape, 2.0),
        ...                  1, 1.0)
        >>> 0.25 <= found.upper < 0.25 + 1e-6
        True
    """
    ends_of = corners(dimension)
    middle, half = np.zeros((1, dimension)), np.ones((1, dimension))
    best, at, upper = -np.inf, np.zeros(dimension), -np.inf
    for _ in range(_MOST_ROUNDS):
        ends = (middle[:, None, :] + ends_of * half[:, None, :]).reshape(-1, dimension)
        values = value(ends)
        top = int(np.argmax(values))
        if values[top] > best:
            best, at = float(values[top]), ends[top]
        c = bend(middle, half) * np.square(half) / 2
        bounds = np.max(values.reshape(len(middle), -1), axis=1) + np.sum(c, axis=1)
        open_ = bounds > best + _NEAR * size
        upper = max(upper, float(np.max(bounds[~open_], initial=-np.inf)))
        if not np.any(open_):
            return Greatest(at, max(upper, best))
        middle, half, c, bounds = middle[open_], half[open_], c[open_], bounds[open_]
        if len(middle) * len(ends_of) * dimension > _MOST_CELLS * 64:
            break
        side = np.argmax(c, axis=1)
        rows = np.arange(len(middle))
        half[rows, side] /= 2
        step = np.zeros_like(half)
        step[rows, side] = half[rows, side]
        middle, half = np.vstack([middle - step, middle + step]), np.vstack([half, half])
    return Greatest(at, max(upper, best, float(np.max(bounds))))


def corners(dimension: int) -> Vector:
    """Return all rows of signs, shape (2^d, d)."""
    return np.asarray(1.0 - 2.0 * np.indices((2,) * dimension).reshape(dimension, -1).T)


def moments_up(singles: Vector, products: Vector, gram: Vector, doubt: Vector) -> float:
    """Return at least the greatest Σ nᵢtᵢ + Σ nᵢⱼtᵢtⱼ + (t, 1)ᵀG(t, 1) over t in [0, 1]^d.

    Args:
        singles: nᵢ ≥ 0, shape (d,).
        products: nᵢⱼ ≥ 0, and 0 where i = j; symmetric, shape (d, d).
        gram: G, whose diagonal is not below 0, shape (d + 1, d + 1).
        doubt: how far off each entry of G can be.

    Examples:
        >>> none, one = np.zeros((3, 3)), np.ones((2, 2)) - np.eye(2)
        >>> 5.0 <= moments_up(np.array([1.0, 3.0]), one, none, none) < 5.0 + 1e-9
        True
    """
    d = singles.size
    apart = 1 - np.eye(d)
    q = (products + 2 * gram[:d, :d]) * apart
    off = (2 * doubt[:d, :d] + 2.0**-50 * (products + 2 * np.abs(gram[:d, :d]))) * apart
    linear = singles + np.diag(gram)[:d] + 2 * gram[:d, d]
    size = singles + np.diag(gram)[:d] + 2 * np.abs(gram[:d, d])
    wrong = np.diag(doubt)[:d] + 2 * doubt[:d, d] + 2.0**-50 * size
    half = np.sum(np.maximum(q + off, 0.0), axis=1) / 2
    start = float(gram[d, d] + doubt[d, d])
    low = start + float(np.sum(np.maximum(linear + wrong + half, 0.0)))
    fall = linear + np.sum(q, axis=1)
    top = start + float(np.sum(linear + wrong) + np.sum(q + off) / 2)
    high = top + float(np.sum(np.maximum(half - fall + wrong + np.sum(off, axis=1), 0.0)))
    rounded = growth(8 * d * d + 99) * (start + float(np.sum(size) + 2 * np.sum(np.abs(q) + off)))
    return min(low, high) + rounded


def apart_up(singles: Vector, products: Vector, block: Vector) -> float:
    """Return at least the greatest form of differences, of as many columns as there are.

    Args:
        singles: nᵢ ≥ 0, shape (d,).
        products: nᵢⱼ ≥ 0, and 0 where i = j; symmetric, shape (d, d).
        block: e of the squares, nowhere below −nᵢⱼ/2, its diagonal not below 0; shape (d, d).

    Examples:
        >>> one = np.ones((2, 2)) - np.eye(2)
        >>> 8.0 <= apart_up(np.ones(2), one, 0 * one) < 9.0 + 1e-6
        True
    """
    d = singles.size
    graph = np.zeros((d + 1, d + 1))
    graph[0, 1:] = graph[1:, 0] = singles
    graph[1:, 1:] = products
    unit = float(np.max(graph, initial=0.0))
    if not unit > 0:
        return float(np.sum(np.abs(block))) * (1 + growth(d * d + 9))
    graph, e = graph / unit, block / unit
    least = np.sum(e, axis=1) - np.sum(graph[1:], axis=1) + np.sum(graph[1:, 1:], axis=1) / 2
    least += growth(4 * d + 20) * (np.sum(np.abs(e), axis=1) + np.sum(graph[1:], axis=1))
    y = _multipliers(graph, least)
    form = graph + np.diag(y)
    bound = float(np.max(np.sum(np.abs(form), axis=1))) * (1 + growth(2 * d + 9))
    lacks = max(spectral_up(bound * np.eye(d + 1) - form) - bound, 0.0) + 2.0**-48 * bound
    y = y + lacks
    found = float(y[0] + np.sum(np.maximum(y[1:], least)) + np.sum(graph))
    return up((found + growth(4 * d * d + 60) * (found + float(np.sum(np.abs(y))))) * unit)


def _multipliers(graph: Vector, least: Vector) -> Vector:
    """Return y ≥ (−∞, least) with N + diag(y) ⪰ 0, nearly, and nearly the least sum; (d + 1,).

    By Newton's method on Σ yᵢ − μ(log det(N + diag(y)) + Σ log(yᵢ − leastᵢ)), μ falling.
    """
    y = np.sum(graph, axis=1) * 1.01
    y[1:] = np.maximum(y[1:], least + 1e-3 * (np.abs(least) + y[1:]))
    total = float(np.sum(y))
    at, most = np.arange(1, y.size), total / y.size
    weight = most

    def inside(trial: Vector) -> Vector | None:
        if not np.all(trial[1:] > least):
            return None
        try:
            return np.asarray(np.linalg.cholesky(graph + np.diag(trial)), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None

    while weight > _LAST * most:
        for _ in range(_NEWTON):
            inverse = np.linalg.inv(graph + np.diag(y))
            near = 1 / (y[1:] - least)
            slope = 1 - weight * np.diag(inverse)
            slope[1:] -= weight * near
            bend = weight * np.square(inverse)
            bend[at, at] += weight * np.square(near)
            try:
                step = -np.linalg.solve(bend, slope)
            except np.linalg.LinAlgError:
                return np.asarray(y)
            gain, part = -float(slope @ step), 1.0
            while inside(y + part * step) is None and part > _CENTRED**4:
                part /= 2
            if part <= _CENTRED**4:
                return np.asarray(y)
            y = y + (part if part == 1 else 0.9 * part) * step
            if gain < _CENTRED * weight:
                break
        weight /= 20
    return np.asarray(y)


def block_form(block: Vector) -> tuple[Vector, Vector]:
    """Return BᵀB, and how far off it can be."""
    size = np.abs(block).T @ np.abs(block)
    return block.T @ block, growth(len(block) + 4) * size


@final
class Averaged:
    """YᵀY averaged over flips of signs, and what it bounds.

    Args:
        y: Y, shape (k, n).
        together: the columns of Y that no flip tells apart, and of what is constant, shape (k, m).
        of: the moments.
    """

    def __init__(self, y: Vector, together: Vector, of: AbstractMomentSet) -> None:
        d = of.width
        squares = np.sum(y * y, axis=0)
        floor = _FAINT * max(float(np.max(squares)), float(np.sum(together * together)), 1e-280)
        self.singles = squares[:d] + floor
        self.products = squares[of.products] + floor
        alone = np.hstack([y[:, :d], y[:, of.products]])
        numbers = np.append(self.singles, self.products)
        m = together.shape[1]
        rows = np.vstack([together, np.sqrt(floor) * np.eye(m)])
        self.block = np.asarray(np.linalg.qr(rows, mode="r"))
        inverse = np.linalg.inv(self.block)
        x = together @ inverse
        self._rest = np.abs(together - x @ self.block) + growth(m + 4) * (
            np.abs(together) + np.abs(x) @ np.abs(self.block)
        )
        cover = (alone / numbers) @ alone.T + x @ x.T
        size = np.abs(alone) / numbers @ np.abs(alone).T + np.abs(x) @ np.abs(x).T
        self._cover = (cover + cover.T) / 2
        self._doubt = growth(4 * y.shape[1] + 99) * float(np.linalg.norm(size))
        self._size = float(np.linalg.norm(np.sum(np.abs(y), axis=1)))
        self._entries = y.shape[1]

    def length_up(self, form: float, times: float = 1.0) -> float:
        """Return at least the greatest length, where the form is at most this.

        Args:
            form: at least the greatest sᵀNs.
            times: the greatest entry of s.
        """
        own = np.sqrt((spectral_up(self._cover) + self._doubt) * form)
        rest = float(np.linalg.norm(np.sum(self._rest, axis=1)))
        hidden = growth(self._entries + 40) * self._size  # of Y and of the half widths
        return grown(float(own + times * (rest + hidden)), POWER)
