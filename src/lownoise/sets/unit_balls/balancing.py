# SPDX-License-Identifier: Apache-2.0
"""Rows and columns brought into balance: the optimisation behind bodies of matrices.

Nothing here needs to be exact: bounds are computed from what is returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lownoise.sets.unit_balls.norm import NormBall

if TYPE_CHECKING:
    from lownoise.numbers.arrays import Vector

_LEAST = 1e-150
_CYCLES = 40
_SETTLED = 1e-9
_ROUNDING = 1e-13
_SCALINGS = 40
_THIN = 1e-30
_FAR = 50.0
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def least_sums(y: Vector) -> list[tuple[Vector, Vector]]:
    """Return pairs a, b with yᵢⱼ ≤ aᵢ + bⱼ, and not much less; y ≥ 0, shape (r, c).

    Examples:
        >>> sums = [a[:, None] + b for a, b in least_sums(np.array([[1.0, 2.0], [3.0, 4.0]]))]
        >>> bool(np.allclose(sums[0], [[1.0, 2.0], [3.0, 4.0]]))
        True
    """
    rows, columns = np.max(y, axis=1), np.max(y, axis=0)
    fitted = np.mean(y, axis=1) - np.mean(y) / 2
    starts = [fitted, rows / 2, rows, np.zeros_like(rows)]
    found = []
    for start in starts:
        b = np.max(y - start[:, None], axis=0)
        a = np.max(y - b, axis=1)
        b = np.max(y - a[:, None], axis=0)
        found.append((a, b))
    found.append((rows / 2, columns / 2))
    return [(_raised(y, a, b), b) for a, b in found]


def _raised(y: Vector, a: Vector, b: Vector) -> Vector:
    """Return a, raised by what rounding can have hidden."""
    size = np.max(np.abs(a)) + np.max(np.abs(b)) + np.max(y)
    return np.asarray(a + max(float(np.max(y - (a[:, None] + b))), 0.0) + 2.0**-50 * size)


def scalings(z: Vector) -> list[tuple[Vector, Vector]]:
    """Return pairs f, h ≥ 0 such that z/(fᵢhⱼ) has sums more alike; z ≥ 0, shape (r, c).

    The first is all ones; the last is Sinkhorn's; the others are powers of that.
    """
    f = np.where(np.sum(z, axis=1) > 0, 1.0, 0.0)
    h = np.where(np.sum(z, axis=0) > 0, 1.0, 0.0)
    z = z / np.max(z)
    for _ in range(_SCALINGS):
        f = z @ np.divide(1.0, h, out=np.zeros_like(h), where=h > 0)
        h = np.divide(1.0, f, out=np.zeros_like(f), where=f > 0) @ z
        if not (np.all(np.isfinite(f)) and np.all(np.isfinite(h))):
            return [(np.ones(z.shape[0]), np.ones(z.shape[1]))]
    f, h = f / np.max(f), h / np.max(h)
    return [(np.where(f > 0, f**share, 0.0), np.where(h > 0, h**share, 0.0)) for share in _SHARES]


def balanced(g: Vector, order: float) -> Vector:
    """Return z with nearly the greatest Σ√(gz), its sums of rows and columns in balls of ℓ_order/2.

    The dual problem is, with s dual to order/2,

        min over a, b ≥ 0 of Σ gᵢⱼ/(aᵢ + bⱼ) + ‖a‖_s + ‖b‖_s,   z = g/(a + b)².

    By Cauchy's inequality g/(a + b) is at most g·(λ²/a + (1 − λ)²/b), with equality for
    λ = a/(a + b): so with λ fixed rows and columns part, and each has a closed form. Every third
    step is extrapolated where that gains (squared extrapolation, Varadhan and Roland 2008).

    Args:
        g: shape (r, c), at least 0, not all 0.
        order: above 2.

    Examples:
        >>> z = balanced(np.array([[4.0, 1.0], [1.0, 4.0]]), 4.0)
        >>> np.sum(z.sum(axis=0) ** 2).round(9)
        np.float64(1.0)
    """
    g = np.maximum(g / np.max(g), _LEAST)
    r, c = g.shape
    rows, columns = NormBall(r, order), NormBall(c, order)

    def stepped(x: Vector) -> Vector:
        z = g / np.square(x[:r, None] + x[r:])
        part = np.square(x) * np.append(np.sum(z, axis=1), np.sum(z, axis=0))
        v = np.append(rows.spread(part[:r]), columns.spread(part[r:]))
        return _kept(np.sqrt(part / np.maximum(v, _LEAST)))

    def value(x: Vector) -> float:
        size = rows.energy_up(x[:r]) + columns.energy_up(x[r:])
        return size + float(np.sum(g / (x[:r, None] + x[r:])))

    x = np.append(np.sqrt(np.sum(g, axis=1)), np.sqrt(np.sum(g, axis=0)))
    for _ in range(_CYCLES):
        start, first = x, stepped(x)
        second = stepped(first)
        change = np.log(first / start)
        bend = np.log(second / first) - change
        x, reached = second, value(second)
        if (size := float(np.linalg.norm(bend))) > 0:
            length = max(float(np.linalg.norm(change)) / size, 1.0)
            ahead = 2 * length * change + length**2 * bend
            tried = stepped(_kept(start * np.exp(np.clip(ahead, -_FAR, _FAR))))
            if value(tried) <= reached * (1 + _ROUNDING):
                x = tried
        if float(np.max(np.abs(change))) < _SETTLED:
            break
    return np.asarray(g / np.square(x[:r, None] + x[r:]))


def _kept(x: Vector) -> Vector:
    return np.maximum(x, _THIN * float(np.max(x)))
